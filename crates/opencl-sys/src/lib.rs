//! The OpenCL interface as a table of functions.
//!
//! OpenCL has its own driver table: the first word of every object points to a table of 149 functions (the extension
//! `cl_khr_icd`). So one process may hold objects of many platforms, and a client never asks which. One declaration
//! list ([`for_each_opencl_function!`]) gives [`DispatchTable`] and the function types ([`fn_type`]).
#![allow(unsafe_code)]

pub mod constants;
mod functions;
pub mod types;

pub use constants::*;
pub use types::*;
