//! The search for vendors, and their libraries.
#![allow(unsafe_code, reason = "calls the functions of vendors' libraries")]

#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;

mod vendors;
