//! All integration tests of the compiler, in one binary: instructions, without kernels and their launches.

mod ops_approx;
mod ops_direct;
mod ops_gpu;
mod ops_reference;
mod ops_speed;
mod ops_support;
