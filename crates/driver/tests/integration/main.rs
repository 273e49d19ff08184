//! All integration tests of the safe objects of the driver, in one binary.
#![allow(unsafe_code, reason = "copies and launches take addresses as numbers")]

#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;

mod captures;
mod default_context;
mod devices;
mod graph;
mod launch_cost;
mod library;
mod memory;
mod nccl;
mod objects;
mod pool_memory_checks;
mod support;
mod trace;
