//! Host functions that run in stream order.
//!
//! Establishes: a function lives until it has run, or as long as the graph that contains it; a panic inside it does not
//! reach the driver; and a function that can never run, because its context failed, is still dropped if the driver
//! reports this. A host function must not call the driver; that is CUDA's rule, and the driver returns `NOT_PERMITTED`.

use super::capture::retain_in_any_capture;
use crate::context::loaded_drivers;
use crate::error::{Error, ErrorKind, Result};
use crate::launch_queue::PendingHostWork;
use crate::process_state;
use crate::stream::{Stream, checked_stream_handle};
use rtcg_cuda_sys::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

type StreamCallback = Box<dyn FnOnce(Result<()>) + Send>;

/// A function that is called once, and then no longer waited for.
struct OnceCallback<F> {
    function: F,
    awaited: PendingHostWork,
}

/// A function that a driver thread calls, each time its graph runs. It must not call the driver.
pub type HostFn = dyn Fn() + Send + Sync;

/// What a host function's pointer names; any launch of the graph may wait for it.
struct GraphHostFn {
    function: Box<HostFn>,
    _awaited: PendingHostWork,
}

/// A host function as the driver wants it, and what must stay alive for it.
pub(crate) fn host_node_params(function: Box<HostFn>) -> (CUDA_HOST_NODE_PARAMS, Arc<dyn Any + Send + Sync>) {
    let call = Arc::new(GraphHostFn { function, _awaited: PendingHostWork::new() });
    let data = Arc::as_ptr(&call).cast_mut().cast();
    (CUDA_HOST_NODE_PARAMS { fn_: Some(run_graph_host_fn), userData: data }, call)
}

/// Drops something on a thread of the driver.
pub(crate) fn drop_on_driver_thread(call: &'static str, object: impl Sized) {
    if process_state::is_forked_or_exiting() {
        std::mem::forget(object);
    } else {
        report_panic(call, || drop(object));
    }
}

/// Runs `body`; a panic is reported as a failed clean-up, since no caller could get it.
fn report_panic(call: &'static str, body: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(body)) {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        let detail = format!("a host function panicked: {text}");
        let error = Error::new(call, CUresult::CUDA_ERROR_UNKNOWN, detail);
        let _ = catch_unwind(AssertUnwindSafe(|| loaded_drivers::report_cleanup_error(&error)));
    }
}

unsafe extern "C" fn run_stream_callback(_: CUstream, status: CUresult, data: *mut c_void) {
    // SAFETY: `data` is the box that `add_callback` gave away; the driver calls this once.
    let once = unsafe { Box::from_raw(data.cast::<OnceCallback<StreamCallback>>()) };
    if process_state::is_forked_or_exiting() {
        std::mem::forget(once);
        return;
    }
    let OnceCallback { function: callback, awaited: _awaited } = *once;
    let result = if status.is_success() {
        Ok(())
    } else {
        let detail = "the work before the callback failed";
        Err(Error { kind: ErrorKind::from_code(status), ..Error::new("cuStreamAddCallback", status, detail) })
    };
    report_panic("cuStreamAddCallback", || callback(result));
}

unsafe extern "C" fn run_stream_host_fn(data: *mut c_void) {
    // SAFETY: `data` is the box that `launch_host_func` gave away; outside of a capture the driver
    // calls this once.
    let once = unsafe { Box::from_raw(data.cast::<OnceCallback<Box<HostFn>>>()) };
    if process_state::is_forked_or_exiting() {
        std::mem::forget(once);
        return;
    }
    let OnceCallback { function, awaited: _awaited } = *once;
    report_panic("cuLaunchHostFunc", function);
}

unsafe extern "C" fn run_graph_host_fn(data: *mut c_void) {
    // SAFETY: an object of `host_node_params`, which the graph keeps alive.
    let call = unsafe { &*data.cast::<GraphHostFn>() };
    if !process_state::is_forked_or_exiting() {
        report_panic("cuLaunchHostFunc", || (call.function)());
    }
}

impl Stream {
    /// Calls `callback` on a driver thread when all earlier work is done; later work waits for it. If that work failed,
    /// the callback receives the error. Cannot be captured in a graph.
    pub fn add_callback(&self, callback: impl FnOnce(Result<()>) + Send + 'static) -> Result<()> {
        let table = self.context().driver_table_if_alive("cuStreamAddCallback")?;
        let handle = checked_stream_handle("cuStreamAddCallback", table, Some(self))?;
        let callback: StreamCallback = Box::new(callback);
        let data = Box::into_raw(Box::new(OnceCallback { function: callback, awaited: PendingHostWork::new() }));
        // SAFETY: the stream is alive; the driver hands `data` back to `run_stream_callback`.
        let result =
            unsafe { call_driver!(table, cuStreamAddCallback(handle, Some(run_stream_callback), data.cast(), 0)) };
        // SAFETY: the driver refused and will not call; the box is ours again.
        result.inspect_err(|_| drop(unsafe { Box::from_raw(data) }))
    }

    /// Calls `function` on a driver thread when all earlier work has succeeded; later work waits for it. If earlier
    /// work failed, it is not called. In a stream that is being captured it becomes a node, is called by each launch of
    /// the graph, and is dropped with the graph.
    pub fn launch_host_func(&self, function: impl Fn() + Send + Sync + 'static) -> Result<()> {
        let table = self.context().driver_table_if_alive("cuLaunchHostFunc")?;
        let handle = checked_stream_handle("cuLaunchHostFunc", table, Some(self))?;
        let function: Box<HostFn> = Box::new(function);
        if self.is_capturing()? {
            return self.capture_host_func(table, handle, function);
        }
        let data = Box::into_raw(Box::new(OnceCallback { function, awaited: PendingHostWork::new() }));
        // SAFETY: the stream is alive; the driver hands `data` back to the function.
        let result = unsafe { call_driver!(table, cuLaunchHostFunc(handle, Some(run_stream_host_fn), data.cast())) };
        // SAFETY: the driver refused and will not call; the box is ours again.
        result.inspect_err(|_| drop(unsafe { Box::from_raw(data) }))
    }

    /// What the graph keeps it keeps before the driver can call it.
    fn capture_host_func(&self, table: &'static DriverTable, handle: CUstream, function: Box<HostFn>) -> Result<()> {
        let (raw, object) = host_node_params(function);
        retain_in_any_capture(self, || object)?;
        // SAFETY: the stream is alive, the function as long as the graph.
        unsafe { call_driver!(table, cuLaunchHostFunc(handle, raw.fn_, raw.userData)) }
    }
}
