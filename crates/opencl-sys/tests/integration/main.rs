//! The search for vendors, and their libraries.
#![allow(unsafe_code)]

#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;

mod vendors;
