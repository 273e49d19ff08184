//! The driver table of the virtual GPU and the lookup of its functions by name.
//!
//! Every function is checked against the type that `rtcg-cuda-sys` declares for its name where it
//! is defined (the macro `driver_functions!`), so a pointer found here always has that type.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::OnceLock;

use rtcg_cuda_sys::{CUcontext, DriverFn, DriverKind, DriverTable};

use super::ALL_EXPORTS;
use crate::stream::context;

/// The address of a driver function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FunctionAddress(pub(crate) *const c_void);

// SAFETY: the address of a function is valid on every thread.
unsafe impl Send for FunctionAddress {}
// SAFETY: sharing the address reads a number.
unsafe impl Sync for FunctionAddress {}

/// The driver table of the virtual GPU.
pub fn virtual_driver_table() -> &'static DriverTable {
    static VIRTUAL_DRIVER_TABLE: OnceLock<DriverTable> = OnceLock::new();
    VIRTUAL_DRIVER_TABLE.get_or_init(|| DriverTable::from_resolver(DriverKind::Virtual, resolve_function))
}

/// The address of the function with this name, or `None` if the virtual GPU does not have it.
///
/// A name is that of `rtcg_cuda_sys::FunctionInfo::name`: unsuffixed for the current form of a
/// function, suffixed for earlier forms.
pub fn resolve_function(name: &str) -> Option<*const c_void> {
    static FUNCTIONS_BY_NAME: OnceLock<HashMap<&'static str, FunctionAddress>> = OnceLock::new();
    let by_name = FUNCTIONS_BY_NAME.get_or_init(|| ALL_EXPORTS.iter().flat_map(|list| list.iter().copied()).collect());
    by_name.get(name).map(|entry| entry.0)
}

/// The address of the function that `libcuda` exports under this symbol (`cuMemAlloc_v2`).
pub fn resolve_symbol(symbol: &str) -> Option<*const c_void> {
    let function = DriverFn::ALL_FUNCTIONS.iter().find(|f| f.function_info().symbol == symbol)?;
    resolve_function(function.function_info().name)
}

/// What is known about the fault that poisoned a context: kernel, block, thread, address, source
/// line. `None` when the context (the calling thread's current one for a null handle) is not
/// poisoned.
pub fn last_fault_report(ctx: CUcontext) -> Option<String> {
    let context = if ctx.is_null() {
        context::top_of_context_stack()?
    } else {
        context::context_by_handle(ctx.addr() as u64).ok()?
    };
    context.fault_report()
}
