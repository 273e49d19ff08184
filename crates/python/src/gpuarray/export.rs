//! What consumers of exported memory must know: which work with it is still pending, and in which stream.

use super::PyGpuArray;
use super::context::driver_context_of;
use super::memory::ForeignBuffer;
use crate::driver::context::PyContext;
use crate::errors::OrRaise;
use pyo3::prelude::*;
use rtcg::DeviceBuffer;
use rtcg::array::GpuArray;
use rtcg::driver::Stream;
use rtcg::driver::sys::CUstream;
use std::cell::Cell;
use std::sync::LazyLock;

thread_local! {
    /// How many blocks `rtcg.exports_wait` this thread is in.
    static WAITING_BLOCKS: Cell<u32> = const { Cell::new(0) };
}

/// Whether exports wait for pending work because their consumers do not.
pub(super) fn exports_wait() -> bool {
    static ALWAYS: LazyLock<bool> =
        LazyLock::new(|| std::env::var("RTCG_EXPORT_WAITS").is_ok_and(|value| value == "1"));
    WAITING_BLOCKS.get() > 0 || *ALWAYS
}

/// Begin, or end, a block of this thread in which exports wait.
#[pyfunction]
pub(super) fn set_exports_wait(begin: bool) {
    WAITING_BLOCKS.set(if begin { WAITING_BLOCKS.get() + 1 } else { WAITING_BLOCKS.get().saturating_sub(1) });
}

/// The context that an array belongs to. Later work in its legacy default stream waits for pending work with the array.
#[pyfunction]
pub(super) fn context_after_pending_work(py: Python<'_>, array: &Bound<'_, PyGpuArray>) -> PyResult<PyContext> {
    if let Some(pending) = array.get().pending_stream()? {
        order_consumer(py, 1, &pending)?;
    }
    match driver_context_of(array.get().current_state().array.context()) {
        Some(ctx) => Ok(PyContext::new(ctx)),
        None => rtcg::driver::Context::current_or_error().map(PyContext::new).or_raise(),
    }
}

/// Says in checked mode that an array is handed out while work with it is pending, and where.
pub(super) fn report_unordered_export(py: Python<'_>, array: &GpuArray, pending: &Stream) {
    let line = || {
        let frame = py.import("sys").ok()?.call_method1("_getframe", (0,)).ok()?;
        let file = frame.getattr("f_code").ok()?.getattr("co_filename").ok()?.extract().ok()?;
        Some((file, frame.getattr("f_lineno").ok()?.extract().ok()?))
    };
    pending.report_unordered_export(array.device_ptr().unwrap_or(0), array.nbytes() as u64, line);
}

/// Makes a consumer's stream, by the number that DLPack has for it, wait for what is pending.
pub(super) fn order_consumer(py: Python<'_>, consumer: i64, pending: &Stream) -> PyResult<()> {
    let handle = CUstream(std::ptr::with_exposed_provenance_mut(consumer as usize));
    if pending.handle() == handle {
        return Ok(());
    }
    let order = || {
        // SAFETY: the consumer's protocol says that it is a stream of this device; the object lives as long as this call.
        unsafe { Stream::from_external(handle) }?.wait_for_stream(pending)
    };
    // What is no stream of this context is no reason to hand out memory too early.
    match pending.context().with_current(order) {
        Ok(()) => Ok(()),
        Err(_) => py.detach(|| pending.synchronize()).or_raise(),
    }
}

impl PyGpuArray {
    /// A stream behind which all work with the memory is done that is pending now; `None` when nothing is.
    pub(super) fn pending_stream(&self) -> PyResult<Option<Stream>> {
        let state = self.current_state();
        let Some(buffer) = state.array.buffer() else { return Ok(None) };
        buffer.ensure_computed().map_err(|error| Python::attach(|py| crate::errors::array_error(py, error)))?;
        let any = match buffer.clone().as_any().downcast::<DeviceBuffer>() {
            Ok(own) => return own.pending_stream().or_raise(),
            Err(other) => other,
        };
        if let Some(pooled) = any.downcast::<ForeignBuffer>().ok().and_then(|foreign| foreign.pooled().cloned()) {
            return pooled.pending_stream().or_raise();
        }
        let Some(ctx) = driver_context_of(state.array.context()) else { return Ok(None) };
        ctx.with_current(|| Stream::join_pending([None, Stream::current()])).or_raise()
    }

    /// Waits for work with the memory that is pending, with the interpreter released.
    pub(super) fn wait_for_pending_work(&self, py: Python<'_>) -> PyResult<()> {
        let Some(stream) = self.pending_stream()? else { return Ok(()) };
        py.detach(|| stream.synchronize()).or_raise()
    }

    /// The stream that a consumer of the memory has to wait for, as the CUDA array interface numbers it; none where
    /// nothing is pending.
    pub(super) fn exported_stream(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        if exports_wait() {
            self.wait_for_pending_work(py)?;
            return Ok(None);
        }
        // The handles of the two default streams are the numbers that the interface has for them.
        Ok(self.pending_stream()?.map(|stream| stream.handle().addr()))
    }
}
