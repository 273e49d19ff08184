//! All integration tests of the compiler, in one binary: instructions, without kernels and their launches.

mod approx;
mod direct;
mod gpu;
mod reference;
mod speed;
mod support;
