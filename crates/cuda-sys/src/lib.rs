//! The CUDA driver API, NVRTC and nvJitLink as tables of functions.
//!
//! One declaration list ([`for_each_driver_function!`]) gives the lazily resolved slots of
//! [`DriverTable`], the function types ([`fn_type`]), the enumeration [`DriverFn`] and the
//! coverage report. A table is filled by the real `libcuda` ([`DriverTable::real_driver`]) or by another
//! implementation of the same API ([`DriverTable::from_resolver`]).
//!
//! This is the only crate that opens CUDA libraries. A missing library is a [`LoadError`] that
//! lists what was tried; a missing symbol makes the call return `CUDA_ERROR_NOT_SUPPORTED` and is
//! explained by [`DriverTable::missing_symbol`]. Nothing here panics.
#![allow(unsafe_code)]

pub mod epoch;
mod functions;
mod library;
mod load;
pub mod nvjitlink;
pub mod nvrtc;
pub mod search;
mod table;
pub mod trace;
pub mod types;

pub use load::LoadError;
pub use nvjitlink::NvJitLinkTable;
pub use nvrtc::{NvrtcTable, nvrtcProgram, nvrtcResult, wheels_extra};
pub use search::{add_search_root, find_nvcc, header_directories};
pub use table::{DriverFn, DriverTable, FunctionCoverage, FunctionInfo, MissingSymbol, TableKind, fn_type};
pub use types::*;
