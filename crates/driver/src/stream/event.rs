//! Events: markers in streams, and the time between them.
//!
//! Establishes: an event that was closed, or whose context was destroyed, is never given to a driver.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::flags::{EventFlags, EventRecordFlags};
use crate::stream::{Stream, checked_stream_handle, closed_error, is_ready_from_result};
use rtcg_cuda_sys::{
    CU_EVENT_DISABLE_TIMING, CU_EVENT_INTERPROCESS, CUevent, CUipcEventHandle, CUresult, DriverTable, c_char,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

struct EventInner {
    ctx: Context,
    handle: CUevent,
    /// As it was created; 0 where that is not known.
    flags: u32,
    recorded: AtomicBool,
    closed: AtomicBool,
}

/// An event. Cloning gives another reference to the same event.
#[derive(Clone)]
pub struct Event(Arc<EventInner>);

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Event({:?})", self.0.handle)
    }
}

impl Event {
    fn from_parts(ctx: Context, handle: CUevent, flags: u32) -> Self {
        let (recorded, closed) = (AtomicBool::new(false), AtomicBool::new(false));
        Self(Arc::new(EventInner { ctx, handle, flags, recorded, closed }))
    }

    /// Creates an event in the current context.
    pub fn new(flags: impl Into<EventFlags>) -> Result<Self> {
        Self::new_in_context(&Context::current_or_error()?, flags.into().0)
    }

    /// [`Event::new`] in a context that is current in the driver, with the flags of [`EventFlags`] as a number.
    pub fn new_in_context(ctx: &Context, flags: u32) -> Result<Self> {
        let mut handle = CUevent::null();
        // SAFETY: writes one handle.
        unsafe { call_if_alive!(ctx, cuEventCreate(&raw mut handle, flags)) }?;
        Ok(Self::from_parts(ctx.clone(), handle, flags))
    }

    /// Opens an event of another process from its handle, which [`Event::ipc_handle`] returns there.
    pub fn from_ipc_handle(bytes: [u8; 64]) -> Result<Self> {
        let ctx = Context::current_or_error()?;
        let ipc = CUipcEventHandle { reserved: bytes.map(|b| b as c_char) };
        let mut handle = CUevent::null();
        // SAFETY: writes one handle; the driver checks the bytes.
        unsafe { call_if_alive!(ctx, cuIpcOpenEventHandle(&raw mut handle, ipc)) }?;
        let event = Self::from_parts(ctx, handle, CU_EVENT_DISABLE_TIMING.0);
        // The other process may have recorded it.
        event.0.recorded.store(true, Ordering::Relaxed);
        Ok(event)
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUevent {
        self.0.handle
    }

    /// The context to which the event belongs.
    pub fn context(&self) -> &Context {
        &self.0.ctx
    }

    /// The table of an event that can be used.
    #[inline]
    pub(crate) fn driver_table_if_alive(&self, call: &'static str) -> Result<&'static DriverTable> {
        if self.0.closed.load(Ordering::Acquire) {
            return Err(closed_error(call, "event"));
        }
        self.0.ctx.driver_table_if_alive(call)
    }

    /// Records the event at the present end of a stream.
    #[inline]
    pub fn record(&self, stream: Option<&Stream>) -> Result<()> {
        let table = self.driver_table_if_alive("cuEventRecord")?;
        let handle = checked_stream_handle("cuEventRecord", table, stream)?;
        // SAFETY: event and stream are alive and of the same driver.
        let result = unsafe { call_driver!(table, cuEventRecord(self.0.handle, handle)) };
        result.map_err(|error| self.explain_record_failure(error, stream))?;
        self.0.recorded.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// [`Event::record`] with flags: with [`EventRecordFlags::EXTERNAL`] a captured graph records the event at each
    /// launch.
    pub fn record_with_flags(&self, stream: Option<&Stream>, flags: impl Into<EventRecordFlags>) -> Result<()> {
        let EventRecordFlags(flags) = flags.into();
        let table = self.driver_table_if_alive("cuEventRecordWithFlags")?;
        let handle = checked_stream_handle("cuEventRecordWithFlags", table, stream)?;
        // SAFETY: event and stream are alive and of the same driver.
        let result = unsafe { call_driver!(table, cuEventRecordWithFlags(self.0.handle, handle, flags)) };
        result.map_err(|error| self.explain_record_failure(error, stream))?;
        self.0.recorded.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// A failed recording with its reason, where that is the context.
    #[cold]
    fn explain_record_failure(&self, error: Error, stream: Option<&Stream>) -> Error {
        let of_stream = stream.map(|stream| stream.context().clone()).or_else(Context::current);
        let is_foreign = of_stream.is_some_and(|ctx| ctx != self.0.ctx);
        match error.code {
            CUresult::CUDA_ERROR_INVALID_HANDLE | CUresult::CUDA_ERROR_INVALID_CONTEXT if is_foreign => error
                .with_detail("the event belongs to another context than the stream; record it in a stream of its own"),
            _ => error,
        }
    }

    /// The handle for a launch that records the event ([`crate::LaunchOptions::programmatic_event`]). The event counts
    /// as recorded from now on.
    ///
    /// # Errors
    /// When it was closed, or was not made with `DISABLE_TIMING` alone, which such launches require.
    pub fn handle_for_launch_attribute(&self) -> Result<CUevent> {
        self.driver_table_if_alive("cuLaunchKernelEx")?;
        if self.0.flags & (CU_EVENT_DISABLE_TIMING.0 | CU_EVENT_INTERPROCESS.0) != CU_EVENT_DISABLE_TIMING.0 {
            let detail = "an event that a launch records is made with DISABLE_TIMING and without INTERPROCESS";
            return Err(Error::new("cuLaunchKernelEx", CUresult::CUDA_ERROR_INVALID_VALUE, detail));
        }
        self.0.recorded.store(true, Ordering::Relaxed);
        Ok(self.0.handle)
    }

    /// Whether the event was recorded through this object. An event that was not counts as reached.
    pub fn is_recorded(&self) -> bool {
        self.0.recorded.load(Ordering::Relaxed)
    }

    /// Destroys the event; remaining references become unusable. Further calls do nothing.
    ///
    /// As in CUDA, no other thread may be using the event at that moment.
    pub fn close(&self) -> Result<()> {
        if self.0.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        // SAFETY: this is the last use of the handle; every other call looks at `closed`.
        self.0.ctx.free_in_context(|table| unsafe { call_driver!(table, cuEventDestroy(self.0.handle)) })
    }

    /// Whether [`Event::close`] was called.
    pub fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }

    /// Waits until the event is reached.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: the event is alive.
        unsafe { call_if_alive!(self, cuEventSynchronize(self.0.handle)) }
    }

    /// Whether the event has been reached.
    pub fn query(&self) -> Result<bool> {
        // SAFETY: the event is alive.
        is_ready_from_result(unsafe { call_if_alive!(self, cuEventQuery(self.0.handle)) })
    }

    /// Milliseconds from `start` to this event on the device, with a resolution of about half a microsecond on a GPU.
    /// Both must belong to the same context and have been recorded and reached ([`Event::synchronize`] waits for that).
    ///
    /// # Errors
    /// When either was not recorded or not reached, or was made with `DISABLE_TIMING`.
    pub fn time_since(&self, start: &Event) -> Result<f32> {
        let mut ms = 0.0;
        let table = start.driver_table_if_alive("cuEventElapsedTime")?;
        if self.driver_table_if_alive("cuEventElapsedTime")? != table {
            let detail = "the events belong to different drivers";
            return Err(Error::new("cuEventElapsedTime", CUresult::CUDA_ERROR_INVALID_HANDLE, detail));
        }
        let handles = (start.0.handle, self.0.handle);
        // SAFETY: both events are alive and of the same driver, one float is written.
        unsafe { call_driver!(table, cuEventElapsedTime(&raw mut ms, handles.0, handles.1)) }
            .map_err(|error| self.explain_elapsed_failure(start, error))?;
        Ok(ms)
    }

    /// Why there is no time between two events.
    #[cold]
    fn explain_elapsed_failure(&self, start: &Event, error: Error) -> Error {
        let name = |first| if first { "the first event" } else { "the second event" };
        for (event, is_first) in [(start, true), (self, false)] {
            let who = name(is_first);
            if event.0.flags & CU_EVENT_DISABLE_TIMING.0 != 0 {
                return error.with_detail(format!("{who} was created with DISABLE_TIMING"));
            }
            if !event.is_recorded() {
                return error.with_detail(format!("{who} was never recorded; call record() before"));
            }
            if error.code == CUresult::CUDA_ERROR_NOT_READY && !event.query().unwrap_or(true) {
                return error.with_detail(format!("{who} has not happened yet; call its synchronize() before"));
            }
        }
        error
    }

    /// Milliseconds from this event to `end`.
    pub fn time_till(&self, end: &Event) -> Result<f32> {
        end.time_since(self)
    }

    /// The handle with which another process opens this event. The event must have been created with the flags
    /// `INTERPROCESS` and `DISABLE_TIMING`.
    pub fn ipc_handle(&self) -> Result<[u8; 64]> {
        let mut ipc = CUipcEventHandle::default();
        // SAFETY: the event is alive, one structure is written.
        unsafe { call_if_alive!(self, cuIpcGetEventHandle(&raw mut ipc, self.0.handle)) }.map_err(|error| {
            let wanted = CU_EVENT_INTERPROCESS.0 | CU_EVENT_DISABLE_TIMING.0;
            if error.detail.is_some() || self.0.flags & wanted == wanted {
                return error;
            }
            error.with_detail("an event for other processes is created with INTERPROCESS | DISABLE_TIMING")
        })?;
        Ok(ipc.reserved.map(|b| b as u8))
    }
}

impl Drop for EventInner {
    fn drop(&mut self) {
        if *self.closed.get_mut() {
            return;
        }
        // SAFETY: this is the last use of the handle.
        self.ctx.free_on_drop(|table| unsafe { call_driver!(table, cuEventDestroy(self.handle)) });
    }
}
