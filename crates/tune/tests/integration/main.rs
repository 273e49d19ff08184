//! What the crate does, across processes.

#[path = "../../../../tests/support/own_process.rs"]
mod own_process;
mod store_processes;
