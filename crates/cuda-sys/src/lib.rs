//! The CUDA driver API, NVRTC, nvJitLink, NVML, NCCL, cuBLAS, cuFFT and cuSOLVER as tables of functions.
//!
//! One declaration list ([`for_each_driver_function!`]) generates the lazily resolved slots of [`DriverTable`], the
//! function types ([`fn_type`]), the enumeration [`DriverFn`] and the coverage report. The real `libcuda`
//! ([`DriverTable::real_driver`]) or another implementation of the same API ([`DriverTable::from_resolver`]) fills a
//! table.
//!
//! This is the only crate that opens CUDA libraries. A missing library is a [`LoadError`] that lists what was tried; a
//! missing symbol makes the call return `CUDA_ERROR_NOT_SUPPORTED`, which [`DriverTable::missing_symbol`] explains.
//! Nothing here panics.
#![allow(unsafe_code, reason = "functions of C libraries, and their structures")]

mod compiler_libraries;
mod driver_table;
pub mod epoch;
mod external_work;
mod functions;
pub mod installations;
pub mod libraries;
mod load;
pub mod nccl;
pub mod nvjitlink;
pub mod nvml;
pub mod nvrtc;
pub mod quoted_source;
pub mod trace;
pub mod types;

pub use driver_table::{
    DriverFn, DriverKind, DriverTable, FunctionCoverage, FunctionInfo, MissingSymbol, external_work_of_libcuda, fn_type,
};
pub use external_work::{ExternalOperation, ExternalWork};
pub use installations::{add_search_root, cccl_directory, find_nvcc, header_directories};
pub use libraries::{cublas, cublaslt, cufft, cusolver};
pub use load::LoadError;
pub use nccl::NcclTable;
pub use nvjitlink::NvJitLinkTable;
pub use nvml::NvmlTable;
pub use nvrtc::{NvrtcTable, nvrtcProgram, nvrtcResult, wheel_suffix_for_cuda_version};
pub use types::*;
