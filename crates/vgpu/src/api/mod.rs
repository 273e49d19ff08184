//! The driver's functions as C sees them: they check what they are given, call the core, and turn
//! its result into a code. No panic leaves them.

pub(crate) mod array;
mod call_gate;
pub(crate) mod context;
pub(crate) mod copy;
pub(crate) mod device;
pub(crate) mod driver_table;
pub(crate) mod event;
pub(crate) mod external;
pub(crate) mod external_work;
pub(crate) mod function;
pub(crate) mod graph;
pub(crate) mod graph_capture;
pub(crate) mod graph_exec;
pub(crate) mod graph_node;
pub(crate) mod graphics;
pub(crate) mod init;
pub(crate) mod ipc;
pub(crate) mod jit_options;
pub(crate) mod launch;
pub(crate) mod library;
pub(crate) mod linker;
pub(crate) mod memcpy_2d_3d;
pub(crate) mod memory;
pub(crate) mod memory_pool;
pub(crate) mod memset;
pub(crate) mod mipmap;
pub(crate) mod module;
pub(crate) mod occupancy;
pub(crate) mod pointer;
pub(crate) mod ptx_linker;
pub(crate) mod stream;
pub(crate) mod stream_memory;
pub(crate) mod texture;
pub(crate) mod texture_ref;
pub(crate) mod virtual_memory;

use std::ffi::{CStr, c_char};

use rtcg_cuda_sys::*;

use crate::driver;
use crate::error::{self, catch_panic};
use driver_table::FunctionAddress;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

pub(crate) use crate::c_handles::Handle;
pub(crate) use crate::error::unsupported_feature;

/// Every function of the virtual GPU by its name in the declaration list.
pub(crate) const ALL_EXPORTS: &[&[(&str, FunctionAddress)]] = &[
    init::EXPORTS,
    device::EXPORTS,
    context::EXPORTS,
    memory::EXPORTS,
    virtual_memory::EXPORTS,
    copy::EXPORTS,
    memcpy_2d_3d::EXPORTS,
    array::EXPORTS,
    memset::EXPORTS,
    pointer::EXPORTS,
    memory_pool::EXPORTS,
    stream::EXPORTS,
    stream_memory::EXPORTS,
    event::EXPORTS,
    module::EXPORTS,
    library::EXPORTS,
    linker::EXPORTS,
    function::EXPORTS,
    launch::EXPORTS,
    occupancy::EXPORTS,
    mipmap::EXPORTS,
    texture::EXPORTS,
    texture_ref::EXPORTS,
    graph::EXPORTS,
    ipc::EXPORTS,
    graph_node::EXPORTS,
    graph_exec::EXPORTS,
    graph_capture::EXPORTS,
    graphics::EXPORTS,
    external::EXPORTS,
];

/// Defines driver functions, checks each against its declared type, and lists them.
///
/// `driver_functions!` makes functions that fail before `cuInit`; `driver_functions!(any time: ...)`
/// those that may be called before.
macro_rules! driver_functions {
    (any time: $($rest:tt)*) => { $crate::api::driver_functions!(@ call_without_init_check $($rest)*); };
    (@ $call:ident $(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            #[allow(non_snake_case, clippy::too_many_arguments, reason = "the driver's functions")]
            pub(crate) unsafe extern "C" fn $name($($arg: $ty),*) -> CUresult {
                // SAFETY: as for the C function of this name, the caller promises that each
                // pointer is null or valid for what the function documents; handles are checked.
                #[allow(unused_unsafe, reason = "not every function uses pointers")]
                $crate::api::$call(stringify!($name), || unsafe { $body })
            }
            const _: rtcg_cuda_sys::fn_type::$name = $name;
        )*
        /// The functions of this file.
        pub(crate) const EXPORTS: &[(&str, $crate::api::driver_table::FunctionAddress)] =
            &[$((stringify!($name), $crate::api::driver_table::FunctionAddress($name as *const std::ffi::c_void)),)*];
    };
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $crate::api::driver_functions!(@ call_if_initialised $(fn $name($($arg: $ty),*) $body)*);
    };
}
pub(crate) use driver_functions;

/// Runs the body of a driver function that needs an initialised driver.
pub(crate) fn call_if_initialised(name: &str, body: impl FnOnce() -> Res) -> CUresult {
    match driver::check_initialised().and_then(|()| call_gate::check_call(name)) {
        Ok(()) => call_without_init_check(name, body),
        Err(error) => result_code(Err(error)),
    }
}

/// Runs the body of a driver function.
pub(crate) fn call_without_init_check(_name: &str, body: impl FnOnce() -> Res) -> CUresult {
    result_code(catch_panic(body))
}

fn result_code(outcome: Res) -> CUresult {
    match outcome {
        Ok(()) => CUresult::CUDA_SUCCESS,
        Err(error) => {
            error::set_last_error_detail(&error);
            CUresult(error.code.0)
        }
    }
}

/// Writes a result through a pointer that must not be null.
///
/// # Safety
/// `place` is null or valid for writing a `T`.
pub(crate) unsafe fn write_out<T>(place: *mut T, value: T) -> Res {
    ensure(!place.is_null(), ResultCode::INVALID_VALUE)?;
    // SAFETY: not null, so valid by this function's contract. C callers may pass unaligned places.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// Writes a result through a pointer that may be null.
///
/// # Safety
/// `place` is null or valid for writing a `T`.
pub(crate) unsafe fn write_out_if_not_null<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: as for `put`.
        unsafe { place.write_unaligned(value) };
    }
}

/// The text of a C string; what is not UTF-8 cannot name anything.
///
/// # Safety
/// `str_from_c` is null or a NUL-terminated string that outlives the call.
pub(crate) unsafe fn str_from_c<'a>(text: *const c_char) -> Res<&'a str> {
    ensure(!text.is_null(), ResultCode::INVALID_VALUE)?;
    // SAFETY: not null, so a string by this function's contract.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| ResultCode::INVALID_VALUE.into())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::ALL_EXPORTS;

    #[test]
    fn every_function_is_exported_once() {
        let mut seen = HashSet::new();
        let twice: Vec<_> =
            ALL_EXPORTS.iter().copied().flatten().map(|(name, _)| name).filter(|n| !seen.insert(*n)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
