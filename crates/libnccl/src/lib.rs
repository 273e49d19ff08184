//! The virtual NCCL as `libnccl.so.2`: NVIDIA's functions under their C names, for programs whose driver is the virtual
//! GPU as `libcuda.so.1`.
//!
//! There is no logic of collectives here: that is `rtcg-vnccl`, whose functions catch panics. This library finds the
//! virtual GPU when it is first called, and fails with `ncclSystemError` where the driver is another one.
#![allow(unsafe_code, reason = "symbols that C programs call")]

use rtcg_cuda_sys::nccl::*;
use rtcg_cuda_sys::types::*;
use rtcg_cuda_sys::{CUstream, DriverTable, NcclTable};
use std::sync::OnceLock;

fn exported_table() -> &'static NcclTable {
    static TABLE: OnceLock<&'static NcclTable> = OnceLock::new();
    TABLE.get_or_init(|| {
        if let (Ok(driver), Some(work)) = (DriverTable::real_driver(), rtcg_cuda_sys::external_work_of_libcuda()) {
            // NVIDIA's library has the CUDA runtime inside, which does that. Its failure is that of the calls that follow.
            // SAFETY: takes a number.
            unsafe { driver.cuInit(0) };
            rtcg_vnccl::set_driver(driver, work);
        }
        rtcg_vnccl::virtual_nccl_table()
    })
}

macro_rules! export_nccl_functions {
    ($($name:ident since $since:literal ($($arg:ident: $ty:ty),*);)*) => {$(
        #[doc = concat!("NVIDIA's `", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, clippy::too_many_arguments, reason = "NVIDIA's functions")]
        unsafe extern "C" fn $name($($arg: $ty),*) -> ncclResult_t {
            // SAFETY: the caller promises what the C function of this name demands.
            unsafe { exported_table().$name($($arg),*) }
        }
    )*

    /// The functions under the names by which profilers call them that have replaced the others.
    mod profiled {
        use super::*;
        $(
            #[unsafe(export_name = concat!("p", stringify!($name)))]
            #[allow(non_snake_case, clippy::too_many_arguments, reason = "NVIDIA's functions")]
            unsafe extern "C" fn $name($($arg: $ty),*) -> ncclResult_t {
                // SAFETY: as above.
                unsafe { exported_table().$name($($arg),*) }
            }
        )*
    }
    };
}
rtcg_cuda_sys::for_each_nccl_function!(export_nccl_functions);

/// Exports a function that returns no code, also under the name by which profilers call it.
macro_rules! export_other_functions {
    ($(#[doc = $doc:literal] fn $name:ident / $profiled:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)? $body:block)*) => {$(
        #[doc = $doc]
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "NVIDIA's function")]
        unsafe extern "C" fn $name($($arg: $ty),*) $(-> $result)? $body

        #[doc = $doc]
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "NVIDIA's function")]
        unsafe extern "C" fn $profiled($($arg: $ty),*) $(-> $result)? {
            // SAFETY: the caller promises what the C function demands.
            unsafe { $name($($arg),*) }
        }
    )*};
}
export_other_functions! {
    /// Forgets the settings of NCCL's log, which there is none of here.
    fn ncclResetDebugInit / pncclResetDebugInit() {}

    /// Prints all parameters, which there are none of here.
    fn ncclParamDumpAll / pncclParamDumpAll() {}

    /// The text of a code.
    fn ncclGetErrorString / pncclGetErrorString(result: ncclResult_t) -> *const c_char {
        // SAFETY: takes any value.
        unsafe { exported_table().ncclGetErrorString(result) }
    }

    /// The text of the last failure.
    fn ncclGetLastError / pncclGetLastError(comm: ncclComm_t) -> *const c_char {
        // SAFETY: handles are checked.
        unsafe { exported_table().ncclGetLastError(comm) }
    }
}
