//! Functions that may be called before `cuInit`: error texts, versions, initialisation, lookup.

use std::ffi::{c_char, c_int, c_uint, c_void};

use rtcg_cuda_sys::*;

use super::driver_table::{resolve_function, resolve_symbol};
use super::{driver_functions, str_from_c, write_out, write_out_if_not_null};
use crate::device::DRIVER_VERSION;
use crate::driver;
use rtcg_vgpu_abi::error::{ResultCode, ensure};

driver_functions! { any time:
    fn cuGetErrorString(error: CUresult, pStr: *mut *const c_char) {
        match ResultCode(error.0).description() {
            Some(text) => write_out(pStr, text.as_ptr()),
            None => write_out(pStr, std::ptr::null()).and(ResultCode::INVALID_VALUE.err()),
        }
    }

    fn cuGetErrorName(error: CUresult, pStr: *mut *const c_char) {
        match ResultCode(error.0).name() {
            Some(name) => write_out(pStr, name.as_ptr()),
            None => write_out(pStr, std::ptr::null()).and(ResultCode::INVALID_VALUE.err()),
        }
    }

    fn cuInit(Flags: c_uint) {
        ensure(Flags == 0, ResultCode::INVALID_VALUE)?;
        driver::init_driver()
    }

    fn cuDriverGetVersion(driverVersion: *mut c_int) {
        write_out(driverVersion, DRIVER_VERSION)
    }

    fn cuGetProcAddress(symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: c_int, flags: u64, symbolStatus: *mut CUdriverProcAddressQueryResult) {
        let _ = flags;
        let name = str_from_c(symbol)?;
        let found = resolve_function(versioned_function_name(name, cudaVersion)).or_else(|| resolve_symbol(name));
        let status = CUdriverProcAddressQueryResult(u32::from(found.is_none()));
        write_out_if_not_null(symbolStatus, status);
        write_out(pfn, found.map_or(std::ptr::null_mut(), <*const c_void>::cast_mut))?;
        // With a place for the status, the status says it and the call succeeds.
        ensure(found.is_some() || !symbolStatus.is_null(), ResultCode::NOT_FOUND)
    }
}

/// The form of a function that programs built against a CUDA version expect under a name, where
/// later versions changed the signature.
fn versioned_function_name(name: &str, version: c_int) -> &str {
    match name {
        "cuCtxCreate" if version < 13_000 => "cuCtxCreate_v2",
        "cuStreamGetCaptureInfo" if version < 13_000 => "cuStreamGetCaptureInfo_v2",
        "cuMemPrefetchAsync" if version < 13_000 => "cuMemPrefetchAsync_v1",
        "cuMemAdvise" if version < 13_000 => "cuMemAdvise_v1",
        _ => name,
    }
}
