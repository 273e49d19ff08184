//! Events: marks in streams, and the time between them.

use crate::context::Context;
use crate::error::Result;
use crate::stream::{Stream, raw, ready};
use rtcg_cuda_sys::{CUevent, CUipcEventHandle, c_char};
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
        let ctx = Context::require()?;
        let mut handle = CUevent::null();
        // SAFETY: writes one handle.
        unsafe { call!(ctx.table(), cuEventCreate(&raw mut handle, flags)) }?;
        Ok(Self(Arc::new(Inner { ctx, handle })))
    }

    /// Opens an event of another process from its [`Event::ipc_handle`].
    pub fn from_ipc_handle(bytes: [u8; 64]) -> Result<Self> {
        let ctx = Context::require()?;
        let ipc = CUipcEventHandle { reserved: bytes.map(|b| b as c_char) };
        let mut handle = CUevent::null();
        // SAFETY: writes one handle; the driver checks the bytes.
        unsafe { call!(ctx.table(), cuIpcOpenEventHandle(&raw mut handle, ipc)) }?;
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
        // SAFETY: event and stream are alive.
        unsafe { call!(self.0.ctx.table(), cuEventRecord(self.0.handle, raw(stream))) }
    }

    /// Waits until the mark is reached.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: the event is alive.
        unsafe { call!(self.0.ctx.table(), cuEventSynchronize(self.0.handle)) }
    }

    /// Whether the mark is reached.
    pub fn query(&self) -> Result<bool> {
        // SAFETY: the event is alive.
        ready(unsafe { call!(self.0.ctx.table(), cuEventQuery(self.0.handle)) })
    }

    /// Milliseconds from `start` to this event; both must have been reached.
    pub fn time_since(&self, start: &Event) -> Result<f32> {
        let mut ms = 0.0;
        let (start, end) = (start.0.handle, self.0.handle);
        // SAFETY: both events are alive, one float is written.
        unsafe { call!(self.0.ctx.table(), cuEventElapsedTime(&raw mut ms, start, end)) }?;
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
        unsafe { call!(self.0.ctx.table(), cuIpcGetEventHandle(&raw mut ipc, self.0.handle)) }?;
        Ok(ipc.reserved.map(|b| b as u8))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: this is the last use of the handle.
        self.ctx.drop_resource(|table| unsafe { call!(table, cuEventDestroy(self.handle)) });
    }
}
