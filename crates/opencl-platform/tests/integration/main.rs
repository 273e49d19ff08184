//! The objects of the platform through its dispatch table: lifetimes, callbacks, errors, queues, shared memory.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "calls OpenCL's functions, as programs in C do")]

#[path = "../setup/mod.rs"]
#[macro_use]
mod setup;
#[path = "../../../../tests/support/depth.rs"]
mod depth;
#[path = "../../../../tests/support/own_process.rs"]
#[macro_use]
mod own_process;

mod callbacks;
mod error_codes;
mod lifetimes;
mod printf;
mod profiling;
mod random;
mod random_commands;
mod several_devices;
mod shared_memory;
mod threads;
mod wrong_handles;
