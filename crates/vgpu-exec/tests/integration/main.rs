//! All integration tests of the engine, in one binary: Rust functions stand for compiled kernels.
#![allow(unsafe_code, reason = "functions that stand for kernels get pointers, as compiled code does")]
#![allow(unreachable_pub, clippy::result_large_err, reason = "what files of tests share; they look into faults")]

#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;

mod atomics;
mod model;
mod native;
mod output;
mod support;
mod window;
mod window_memory;
