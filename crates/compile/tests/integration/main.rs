//! All integration tests of the compilers and their cache, in one binary.

#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;

mod cache;
mod compile;
mod lto;
mod nvcc;
mod nvcc_compatibility;
