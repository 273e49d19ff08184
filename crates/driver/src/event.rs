//! Events: marks in streams, and the time between them.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::stream::{Stream, handle_for, ready};
use rtcg_cuda_sys::{CUevent, CUipcEventHandle, CUresult, c_char};
use std::sync::Arc;

struct Inner {
    ctx: Context,
    handle: CUevent,
}

/// An event. Cloning gives another reference to the same one.
#[derive(Clone)]
pub struct Event(Arc<Inner>);

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Event({:?})", self.0.handle)
    }
}

impl Event {
    /// Creates an event in the current context; `flags` as `CUevent_flags`.
    pub fn new(flags: u32) -> Result<Self> {
        Self::new_in(&Context::require()?, flags)
    }

    /// [`Event::new`] in a context that is current in the driver.
    pub(crate) fn new_in(ctx: &Context, flags: u32) -> Result<Self> {
        let mut handle = CUevent::null();
        // SAFETY: writes one handle.
        unsafe { call_in!(ctx, cuEventCreate(&raw mut handle, flags)) }?;
        Ok(Self(Arc::new(Inner { ctx: ctx.clone(), handle })))
    }

    /// Opens an event of another process from its [`Event::ipc_handle`].
    pub fn from_ipc_handle(bytes: [u8; 64]) -> Result<Self> {
        let ctx = Context::require()?;
        let ipc = CUipcEventHandle { reserved: bytes.map(|b| b as c_char) };
        let mut handle = CUevent::null();
        // SAFETY: writes one handle; the driver checks the bytes.
        unsafe { call_in!(ctx, cuIpcOpenEventHandle(&raw mut handle, ipc)) }?;
        Ok(Self(Arc::new(Inner { ctx, handle })))
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUevent {
        self.0.handle
    }

    /// The context the event belongs to.
    pub fn context(&self) -> &Context {
        &self.0.ctx
    }

    /// Marks the present end of a stream.
    pub fn record(&self, stream: Option<&Stream>) -> Result<()> {
        let table = self.0.ctx.live_table("cuEventRecord")?;
        let stream = handle_for("cuEventRecord", table, stream)?;
        // SAFETY: event and stream are alive and of the same driver.
        unsafe { call!(table, cuEventRecord(self.0.handle, stream)) }
    }

    /// Waits until the mark is reached.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: the event is alive.
        unsafe { call_in!(self.0.ctx, cuEventSynchronize(self.0.handle)) }
    }

    /// Whether the mark is reached.
    pub fn query(&self) -> Result<bool> {
        // SAFETY: the event is alive.
        ready(unsafe { call_in!(self.0.ctx, cuEventQuery(self.0.handle)) })
    }

    /// Milliseconds from `start` to this event; both must have been reached.
    pub fn time_since(&self, start: &Event) -> Result<f32> {
        let mut ms = 0.0;
        let table = start.0.ctx.live_table("cuEventElapsedTime")?;
        if self.0.ctx.live_table("cuEventElapsedTime")? != table {
            let detail = "the events belong to different drivers";
            return Err(Error::new("cuEventElapsedTime", CUresult::CUDA_ERROR_INVALID_HANDLE, detail));
        }
        let (start, end) = (start.0.handle, self.0.handle);
        // SAFETY: both events are alive and of the same driver, one float is written.
        unsafe { call!(table, cuEventElapsedTime(&raw mut ms, start, end)) }?;
        Ok(ms)
    }

    /// Milliseconds from this event to `end`.
    pub fn time_till(&self, end: &Event) -> Result<f32> {
        end.time_since(self)
    }

    /// The bytes by which another process opens this event. It must have been created with the
    /// flags `INTERPROCESS` and `DISABLE_TIMING`.
    pub fn ipc_handle(&self) -> Result<[u8; 64]> {
        let mut ipc = CUipcEventHandle::default();
        // SAFETY: the event is alive, one structure is written.
        unsafe { call_in!(self.0.ctx, cuIpcGetEventHandle(&raw mut ipc, self.0.handle)) }?;
        Ok(ipc.reserved.map(|b| b as u8))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: this is the last use of the handle.
        self.ctx.drop_resource(|table| unsafe { call!(table, cuEventDestroy(self.handle)) });
    }
}
