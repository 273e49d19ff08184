//! Streams.

use crate::context::{Context, current_table};
use crate::error::{Error, Result};
use crate::event::Event;
use rtcg_cuda_sys::{CU_STREAM_NON_BLOCKING, CUresult, CUstream, DriverTable};
use std::sync::Arc;

struct Inner {
    ctx: Context,
    handle: CUstream,
    owned: bool,
}

/// A stream of the context it was created in. Cloning gives another reference to the same one.
/// Where an `Option<&Stream>` is taken, `None` means the legacy default stream.
#[derive(Clone)]
pub struct Stream(Arc<Inner>);

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stream({:?})", self.0.handle)
    }
}

impl Stream {
    /// Creates a stream in the current context; `flags` as `CUstream_flags`.
    pub fn new(flags: u32) -> Result<Self> {
        let ctx = Context::require()?;
        let mut handle = CUstream::null();
        // SAFETY: writes one handle.
        unsafe { call_in!(ctx, cuStreamCreate(&raw mut handle, flags)) }?;
        Ok(Self(Arc::new(Inner { ctx, handle, owned: true })))
    }

    /// Creates a stream with a priority; see [`Context::stream_priority_range`].
    pub fn with_priority(flags: u32, priority: i32) -> Result<Self> {
        let ctx = Context::require()?;
        let mut handle = CUstream::null();
        // SAFETY: writes one handle.
        unsafe { call_in!(ctx, cuStreamCreateWithPriority(&raw mut handle, flags, priority)) }?;
        Ok(Self(Arc::new(Inner { ctx, handle, owned: true })))
    }

    /// Wraps a stream that another library made in the current context; it is not destroyed here.
    ///
    /// # Safety
    /// `handle` must be a stream of the current context's driver and outlive all uses.
    pub unsafe fn from_external(handle: CUstream) -> Result<Self> {
        let ctx = Context::require()?;
        Ok(Self(Arc::new(Inner { ctx, handle, owned: false })))
    }

    /// The driver's handle.
    #[inline]
    pub fn handle(&self) -> CUstream {
        self.0.handle
    }

    /// Whether both are references to the same stream.
    #[inline]
    pub(crate) fn is_same(&self, other: &Stream) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether this is the only reference.
    pub(crate) fn is_unique(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Whether it and the legacy default stream wait for each other.
    pub(crate) fn is_blocking(&self) -> bool {
        let mut flags = 0;
        // SAFETY: the stream is alive, one value is written.
        let asked = unsafe { call_in!(self.0.ctx, cuStreamGetFlags(self.0.handle, &raw mut flags)) };
        asked.is_ok() && flags & CU_STREAM_NON_BLOCKING.0 == 0
    }

    /// The context the stream belongs to.
    pub fn context(&self) -> &Context {
        &self.0.ctx
    }

    /// The priority.
    pub fn priority(&self) -> Result<i32> {
        let mut priority = 0;
        // SAFETY: the stream is alive, one int is written.
        unsafe { call_in!(self.0.ctx, cuStreamGetPriority(self.0.handle, &raw mut priority)) }?;
        Ok(priority)
    }

    /// Waits until all work in the stream is done. Errors of kernels surface here.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: the stream is alive.
        unsafe { call_in!(self.0.ctx, cuStreamSynchronize(self.0.handle)) }
    }

    /// Whether all work in the stream is done.
    pub fn is_done(&self) -> Result<bool> {
        // SAFETY: the stream is alive.
        let result = unsafe { call_in!(self.0.ctx, cuStreamQuery(self.0.handle)) };
        ready(result)
    }

    /// Makes later work in this stream wait for the event.
    pub fn wait_for_event(&self, event: &Event) -> Result<()> {
        let table = event.context().live_table("cuStreamWaitEvent")?;
        let stream = handle_for("cuStreamWaitEvent", table, Some(self))?;
        // SAFETY: stream and event are alive and of the same driver.
        unsafe { call!(table, cuStreamWaitEvent(stream, event.handle(), 0)) }
    }
}

/// "Not ready" is an answer, not an error.
pub(crate) fn ready(result: Result<()>) -> Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.code == CUresult::CUDA_ERROR_NOT_READY => Ok(false),
        Err(error) => Err(error),
    }
}

/// The handle of an optional stream, for a call through `table`: the stream must still exist and
/// be of that driver, because a driver given a foreign or dead handle may crash.
#[inline]
pub(crate) fn handle_for(call: &'static str, table: &DriverTable, stream: Option<&Stream>) -> Result<CUstream> {
    let Some(stream) = stream else { return Ok(CUstream::null()) };
    if stream.0.ctx.live_table(call)? == table {
        return Ok(stream.0.handle);
    }
    let detail = "the stream belongs to another driver (a real and a virtual device share no streams)";
    Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_HANDLE, detail))
}

/// The table of the current context, and the handle of a stream that fits it.
#[inline]
pub(crate) fn current_with(call: &'static str, stream: Option<&Stream>) -> Result<(&'static DriverTable, CUstream)> {
    let table = current_table(call)?;
    Ok((table, handle_for(call, table, stream)?))
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: this is the last use of the handle.
            self.ctx.drop_resource(|table| unsafe { call!(table, cuStreamDestroy(self.handle)) });
        }
    }
}
