//! All integration tests of the compiler, in one binary: instructions, without kernels and their launches.
#![allow(unsafe_code, reason = "runs machine code")]
#![allow(unreachable_pub, reason = "what files of tests share")]

mod approx;
mod direct;
mod gpu;
mod reference;
mod speed;
mod support;
