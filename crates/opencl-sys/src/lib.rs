//! The OpenCL interface as a table of functions.
//!
//! OpenCL has its own driver table: the first word of every object points to a table of 149 functions (the extension
//! `cl_khr_icd`). So one process may hold objects of many platforms, and a client never asks which. One declaration
//! list ([`for_each_opencl_function!`]) gives [`DispatchTable`] and the function types ([`fn_type`]).
//!
//! [`vendor`] finds the libraries of vendors, and opens them: the only place that does. [`Platform`] is what they have.
//!
//! | folder, file | contents |
//! |---|---|
//! | `functions.rs`, `types.rs`, `constants.rs` | the declaration list, types and constants |
//! | `vendor/` | the search for vendors' libraries, and opening them |
//! | `probe_program/` | the program that probes each library in a separate process |
#![allow(unsafe_code, reason = "functions of C libraries, and their structures")]

pub mod constants;
mod functions;
mod platform;
pub mod types;
pub mod vendor;

pub use constants::*;
pub use platform::{ClStatus, Platform};
pub use types::*;
