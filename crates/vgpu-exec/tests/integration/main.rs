//! All integration tests of the engine, in one binary: Rust functions stand for compiled kernels.

#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;

mod atomics;
mod native;
mod output;
mod support;
mod window;
mod window_memory;
