//! The virtual GPU as `libcuda.so.1`: the driver API under its C names.
//!
//! Every function of the declaration list is exported under the symbol that NVIDIA's library
//! gives it (`current_versions`), also in the forms of earlier CUDA versions (`legacy_versions`) and in those whose
//! null stream is the calling thread's own (`per_thread_stream`). What the virtual GPU does not
//! implement returns `CUDA_ERROR_NOT_SUPPORTED`. `cuGetProcAddress` chooses among the forms
//! (`proc_address`). There is no logic of a driver here: that is `rtcg-vgpu`, whose functions catch
//! panics, and nothing in this crate can panic.
#![allow(unsafe_code, reason = "symbols that C programs call")]

mod current_versions;
mod legacy_versions;
mod per_thread_stream;
mod proc_address;
mod symbol_version;
mod unsupported;

use rtcg_cuda_sys::{DriverKind, DriverTable};
use std::ffi::c_void;
use std::sync::OnceLock;

/// Tells rtcg that what it loads as `libcuda` is the virtual GPU, which takes PTX only.
#[unsafe(no_mangle)]
extern "C" fn rtcg_virtual_gpu() {}

/// The functions by which a library of collectives does work in the order of a stream.
#[unsafe(no_mangle)]
extern "C" fn rtcg_external_work() -> *const rtcg_cuda_sys::ExternalWork {
    rtcg_vgpu::external_work()
}

/// The functions behind the exported symbols.
fn exported_driver_table() -> &'static DriverTable {
    static DRIVER_TABLE: OnceLock<DriverTable> = OnceLock::new();
    DRIVER_TABLE.get_or_init(|| {
        rtcg_vgpu::code_cache::enable_code_cache();
        DriverTable::from_resolver(DriverKind::Virtual, resolve_symbol)
    })
}

/// The functions that speak about the library itself are this crate's, all others the virtual
/// GPU's.
fn resolve_symbol(name: &str) -> Option<*const c_void> {
    match name {
        "cuGetProcAddress" => {
            Some(proc_address::get_proc_address as rtcg_cuda_sys::fn_type::cuGetProcAddress as *const c_void)
        }
        "cuGetExportTable" => {
            Some(proc_address::get_export_table as rtcg_cuda_sys::fn_type::cuGetExportTable as *const c_void)
        }
        _ => rtcg_vgpu::resolve_function(name),
    }
}
