//! All integration tests of the tables of functions, in one binary.
#![allow(unsafe_code, reason = "calls functions of C libraries")]

#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;

mod driver_table;
#[cfg(unix)]
mod installations;
mod layout;
mod libraries;
mod nvrtc;
