//! All integration tests of the tables of functions, in one binary.

#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;

mod layout;
mod nvrtc;
mod table;
