//! A traced driver call: its times, its arguments as text, and its result.

use super::timed_launch::{self, TimedLaunch};
use super::{DriverFn, DriverTable};
use crate::trace::{JsonObject, clock_ns, emit_launch_arrow, emit_thread_event, next_launch_number};
use crate::types::*;
use std::any::Any;
use std::ffi::CStr;
use std::fmt::Debug;

/// An argument that can be written down.
pub(crate) trait TraceArgument: Debug {
    fn as_any(&self) -> &dyn Any;
}

impl<T: Debug + 'static> TraceArgument for T {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

pub(crate) type TracedArguments<'a> = &'a [(&'static str, &'a dyn TraceArgument)];

/// A call in progress.
pub(crate) struct TracedCall {
    table: &'static DriverTable,
    function: DriverFn,
    launched: Option<TimedLaunch>,
    start_ns: u64,
}

impl TracedCall {
    /// Before the call; a launch gets its events here.
    pub(crate) fn begin_call(table: &DriverTable, function: DriverFn, arguments: TracedArguments<'_>) -> Self {
        // SAFETY: tables live as long as the process: both ways to make one leave it in a static.
        let table: &'static DriverTable = unsafe { &*std::ptr::from_ref(table) };
        if destroys_context(function) {
            timed_launch::write_finished_launches(timed_launch::LaunchWait::All);
        }
        let launched = is_launch(function).then(|| TimedLaunch::new(table, function, next_launch_number(), arguments));
        Self { table, function, launched, start_ns: clock_ns() }
    }

    /// After the call.
    pub(crate) fn end_call(self, code: CUresult, arguments: TracedArguments<'_>) {
        let end_ns = clock_ns();
        let mut args = JsonObject::new();
        for (position, (name, value)) in arguments.iter().enumerate() {
            let written = code.is_success() && position == 0 && writes_first_argument(self.function);
            args.push_text(name, &format_argument(*value, written));
        }
        if let Some(launched) = &self.launched {
            args.push_text("kernel", launched.kernel_name());
        }
        args.push_text("result", &format!("{code:?}"));
        let name = match &self.launched {
            Some(launched) => format!("{} {}", self.function.function_info().name, launched.kernel_name()),
            None => self.function.function_info().name.to_owned(),
        };
        emit_thread_event(|event| {
            event.push_text("ph", "X").push_text("cat", "driver").push_text("name", &name);
            event
                .push_microseconds("ts", self.start_ns)
                .push_microseconds("dur", end_ns - self.start_ns)
                .push_object("args", args);
        });
        if let Some(launched) = self.launched {
            emit_launch_arrow(self.start_ns, launched.launch_number());
            launched.record_end_event(self.table, code);
        } else if code.is_success() && waits_for_device(self.function) {
            timed_launch::write_finished_launches(timed_launch::LaunchWait::Nothing);
        }
    }
}

fn is_launch(function: DriverFn) -> bool {
    use DriverFn as F;
    matches!(function, F::cuLaunchKernel | F::cuLaunchKernelEx | F::cuLaunchCooperativeKernel | F::cuGraphLaunch)
}

/// Calls after which kernels of a real GPU have probably finished.
fn waits_for_device(function: DriverFn) -> bool {
    let name = function.function_info().name;
    name.ends_with("Synchronize") || name.starts_with("cuMemcpyDtoH")
}

/// Calls that take events with them.
fn destroys_context(function: DriverFn) -> bool {
    use DriverFn as F;
    matches!(function, F::cuCtxDestroy | F::cuCtxDetach | F::cuDevicePrimaryCtxRelease | F::cuDevicePrimaryCtxReset)
}

/// Whether the first parameter, where it is a pointer to a handle or a number, receives one.
fn writes_first_argument(function: DriverFn) -> bool {
    let name = function.function_info().name;
    // These fill arrays whose length another parameter says.
    !name.contains("Enumerate") && !name.contains("Capabilities")
}

fn format_argument(value: &dyn TraceArgument, is_written: bool) -> String {
    let any = value.as_any();
    if let Some(text) = any.downcast_ref::<*const c_char>() {
        return if text.is_null() {
            "null".to_owned()
        } else {
            // SAFETY: what the driver takes as `const char *` are NUL-terminated strings, and the
            // call has returned without touching them.
            unsafe { CStr::from_ptr(*text) }.to_string_lossy().into_owned()
        };
    }
    if let Some(address) = any.downcast_ref::<CUdeviceptr>() {
        // The type is that of every 64-bit number; small ones are hardly addresses.
        return if *address >> 16 == 0 { address.to_string() } else { format!("{address:#x}") };
    }
    if is_written && let Some(found) = format_output_argument(any) {
        return found;
    }
    format_handle(any).unwrap_or_else(|| format!("{value:?}"))
}

macro_rules! format_pointee_of_matching_type {
    ($any:ident: $($ty:ty),*) => {
        $(if let Some(pointer) = $any.downcast_ref::<*mut $ty>() {
            // SAFETY: the call succeeded, so it wrote its result there.
            return (!pointer.is_null()).then(|| unsafe { pointer.read_unaligned() }).map(|v| format_argument(&v, false));
        })*
    };
}

/// What the call wrote, for results that are one handle or number.
fn format_output_argument(any: &dyn Any) -> Option<String> {
    format_pointee_of_matching_type!(any: c_int, c_uint, usize, CUdeviceptr, f32, CUcontext, CUmodule, CUfunction, CUstream,
        CUevent, CUarray, CUmipmappedArray, CUmemoryPool, CUgraph, CUgraphExec, CUgraphNode, CUlibrary, CUkernel,
        CUtexref, CUsurfref, CUgraphicsResource, CUlimit, CUfunc_cache, CUsharedconfig);
    None
}

macro_rules! format_handles {
    ($any:ident: $($ty:ty),*) => {
        $(if let Some(handle) = $any.downcast_ref::<$ty>() {
            return Some(if handle.is_null() { "null".to_owned() } else { format!("{:#x}", handle.addr()) });
        })*
    };
}

fn format_handle(any: &dyn Any) -> Option<String> {
    format_handles!(any: CUcontext, CUmodule, CUfunction, CUstream, CUevent, CUarray, CUmipmappedArray, CUmemoryPool,
        CUgraph, CUgraphExec, CUgraphNode, CUlibrary, CUkernel, CUtexref, CUsurfref, CUgraphicsResource);
    None
}
