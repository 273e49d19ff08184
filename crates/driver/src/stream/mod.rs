//! Streams: in-order queues of work.
//!
//! Establishes: a stream that was closed, or whose context was destroyed, is never passed to a driver. One function,
//! [`checked_stream_handle`], decides what `None` means for an optional stream.

#[macro_use]
mod calls;
pub(crate) mod capture;
mod event;
pub(crate) mod host_call;
mod pending;

pub use event::Event;

use crate::active_captures::{on_stream_destroyed, with_relaxed_capture_mode};
use crate::context::{Context, current_driver_table};
use crate::error::{Error, Result};
use crate::flags::{StreamFlags, WaitValueFlags, WriteValueFlags};
use crate::launch_queue::PendingHostWork;
use rtcg_cuda_sys::{
    CU_STREAM_LEGACY, CU_STREAM_NON_BLOCKING, CU_STREAM_PER_THREAD, CUdeviceptr, CUresult, CUstream, DriverTable, epoch,
};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

struct StreamInner {
    ctx: Context,
    handle: CUstream,
    owned: bool,
    closed: AtomicBool,
    /// Known from the creation, or asked for once: drivers refuse the query while the stream is captured.
    flags: OnceLock<u32>,
    /// What keeps a stream of others alive.
    _keeper: Option<Box<dyn Any + Send + Sync>>,
}

/// A stream of the context in which it was created. Cloning gives another reference to the same stream.
///
/// An `Option<&Stream>` of `None` means the stream that the calling thread has entered with
/// [`Stream::push_current_stream`] or, without one, the legacy default stream.
#[derive(Clone)]
pub struct Stream(Arc<StreamInner>);

thread_local! {
    /// The handle that `None` stands for where no stream was entered is null.
    static CURRENT_STREAM_STACK: RefCell<Vec<Stream>> = const { RefCell::new(Vec::new()) };
    static HAS_CURRENT_STREAM: Cell<bool> = const { Cell::new(false) };
}

/// The number of threads that have entered one, or that ended in one.
static N_THREADS_WITH_CURRENT_STREAM: AtomicUsize = AtomicUsize::new(0);

/// Whether any thread has entered a stream.
#[inline]
pub(crate) fn any_thread_has_current_stream() -> bool {
    N_THREADS_WITH_CURRENT_STREAM.load(Ordering::Relaxed) != 0
}

/// Whether this thread has entered one. What is the thread's own is read in a function of its own, so that it is
/// not read before the count, which is nearly always 0.
#[inline(always)]
fn has_current_stream() -> bool {
    #[cold]
    #[inline(never)]
    fn read_has_current_stream() -> bool {
        HAS_CURRENT_STREAM.get()
    }
    any_thread_has_current_stream() && read_has_current_stream()
}

/// Says whether this thread has entered a stream.
fn set_has_current_stream(is_inside: bool) {
    if HAS_CURRENT_STREAM.replace(is_inside) == is_inside {
        return;
    }
    if is_inside {
        N_THREADS_WITH_CURRENT_STREAM.fetch_add(1, Ordering::Relaxed);
    } else {
        N_THREADS_WITH_CURRENT_STREAM.fetch_sub(1, Ordering::Relaxed);
    }
    epoch::advance_epoch();
}

impl PartialEq for Stream {
    /// The same stream of the driver.
    fn eq(&self, other: &Self) -> bool {
        self.0.handle == other.0.handle && self.0.ctx == other.0.ctx
    }
}

impl Eq for Stream {}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stream({:?})", self.0.handle)
    }
}

/// How streams come to be and what they say about themselves.
impl Stream {
    fn from_parts(ctx: Context, handle: CUstream, owned: bool) -> Self {
        Self::from_parts_with_keeper(ctx, handle, owned, None)
    }

    fn from_created_handle(ctx: Context, handle: CUstream, flags: u32) -> Self {
        let stream = Self::from_parts(ctx, handle, true);
        let _ = stream.0.flags.set(flags);
        stream
    }

    fn from_parts_with_keeper(
        ctx: Context,
        handle: CUstream,
        owned: bool,
        keeper: Option<Box<dyn Any + Send + Sync>>,
    ) -> Self {
        let (closed, flags) = (AtomicBool::new(false), OnceLock::new());
        Self(Arc::new(StreamInner { ctx, handle, owned, closed, flags, _keeper: keeper }))
    }

    /// Creates a stream in the current context.
    pub fn new(flags: impl Into<StreamFlags>) -> Result<Self> {
        let StreamFlags(flags) = flags.into();
        let ctx = Context::current_or_error()?;
        let mut handle = CUstream::null();
        // SAFETY: writes one handle.
        unsafe { call_if_alive!(ctx, cuStreamCreate(&raw mut handle, flags)) }?;
        Ok(Self::from_created_handle(ctx, handle, flags))
    }

    /// Creates a stream with a priority; see [`Context::stream_priority_range`].
    pub fn with_priority(flags: impl Into<StreamFlags>, priority: i32) -> Result<Self> {
        let StreamFlags(flags) = flags.into();
        let ctx = Context::current_or_error()?;
        let mut handle = CUstream::null();
        // SAFETY: writes one handle.
        unsafe { call_if_alive!(ctx, cuStreamCreateWithPriority(&raw mut handle, flags, priority)) }?;
        Ok(Self::from_created_handle(ctx, handle, flags))
    }

    /// Wraps a stream that another library made in the current context; it is not destroyed here.
    ///
    /// # Safety
    /// `handle` must be a stream of the current context's driver and outlive all uses.
    pub unsafe fn from_external(handle: CUstream) -> Result<Self> {
        let ctx = Context::current_or_error()?;
        Ok(Self::from_parts(ctx, handle, false))
    }

    /// [`Stream::from_external`] with an object that keeps the stream alive and is dropped with
    /// the last reference.
    ///
    /// # Safety
    /// `handle` must be a stream of the current context's driver as long as `keeper` lives.
    pub unsafe fn from_external_with_keeper(handle: CUstream, keeper: Box<dyn Any + Send + Sync>) -> Result<Self> {
        Ok(Self::from_parts_with_keeper(Context::current_or_error()?, handle, false, Some(keeper)))
    }

    /// [`Stream::from_external`] for a stream of this context.
    ///
    /// # Safety
    /// `handle` must be a stream of the context and outlive all uses.
    pub unsafe fn from_external_in(ctx: &Context, handle: CUstream) -> Self {
        Self::from_parts(ctx.clone(), handle, false)
    }

    /// [`Stream::legacy_default`] of this context.
    pub(crate) fn legacy_default_of(ctx: &Context) -> Self {
        Self::from_parts(ctx.clone(), CU_STREAM_LEGACY, false)
    }

    /// The legacy default stream of the current context. It and all blocking streams wait for each other.
    pub fn legacy_default() -> Result<Self> {
        Ok(Self::from_parts(Context::current_or_error()?, CU_STREAM_LEGACY, false))
    }

    /// The per-thread default stream: the handle refers to a separate stream in each thread that uses it.
    pub fn per_thread_default() -> Result<Self> {
        Ok(Self::from_parts(Context::current_or_error()?, CU_STREAM_PER_THREAD, false))
    }

    /// The driver's handle.
    #[inline]
    pub fn handle(&self) -> CUstream {
        self.0.handle
    }

    /// The handle, if the stream was not closed and is one of `ctx`, which must be alive.
    #[inline(always)]
    pub(crate) fn handle_if_open_in_context(&self, ctx: &Context) -> Option<CUstream> {
        let is_open = !self.0.closed.load(Ordering::Acquire) && self.0.ctx.is_same_object(ctx);
        is_open.then_some(self.0.handle)
    }

    /// Whether both are references to the same stream.
    #[inline]
    pub(crate) fn is_same_object(&self, other: &Stream) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether this is the only reference.
    pub(crate) fn is_only_reference(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Whether it and the legacy default stream wait for each other, as far as that is known.
    pub(crate) fn is_blocking(&self) -> bool {
        let flags = match self.0.flags.get() {
            Some(flags) => Ok(*flags),
            // The question would invalidate the capture, in whatever mode.
            None if self.is_capturing().unwrap_or(false) => return false,
            None => with_relaxed_capture_mode(|| self.flags()),
        };
        flags.is_ok_and(|flags| flags & CU_STREAM_NON_BLOCKING.0 == 0)
    }

    /// Whether it is the legacy default stream by its handle.
    #[inline]
    pub(crate) fn is_legacy_default(&self) -> bool {
        self.0.handle == CU_STREAM_LEGACY
    }

    /// The context to which the stream belongs.
    pub fn context(&self) -> &Context {
        &self.0.ctx
    }

    /// Whether the stream is destroyed with its last reference.
    pub fn is_owned(&self) -> bool {
        self.0.owned
    }

    /// The table of a stream that can be used.
    #[inline]
    fn driver_table_if_alive(&self, call: &'static str) -> Result<&'static DriverTable> {
        if self.0.closed.load(Ordering::Acquire) {
            return Err(closed_error(call, "stream"));
        }
        self.0.ctx.driver_table_if_alive(call)
    }

    /// The priority.
    pub fn priority(&self) -> Result<i32> {
        let mut priority = 0;
        // SAFETY: the stream is alive, one int is written.
        unsafe { call_if_alive!(self, cuStreamGetPriority(self.0.handle, &raw mut priority)) }?;
        Ok(priority)
    }

    /// The flags with which it was created, as `CUstream_flags`.
    pub fn flags(&self) -> Result<u32> {
        let mut flags = 0;
        // SAFETY: the stream is alive, one unsigned int is written.
        unsafe { call_if_alive!(self, cuStreamGetFlags(self.0.handle, &raw mut flags)) }?;
        Ok(*self.0.flags.get_or_init(|| flags))
    }

    /// An identifier that no other stream of the process has or had.
    pub fn id(&self) -> Result<u64> {
        let mut id = 0;
        // SAFETY: the stream is alive, one number is written.
        unsafe { call_if_alive!(self, cuStreamGetId(self.0.handle, &raw mut id)) }?;
        Ok(id)
    }

    /// Destroys the stream; remaining references become unusable. Enqueued work still runs. Further calls do nothing; a
    /// stream of another owner is not destroyed and only becomes unusable through this object.
    ///
    /// As in CUDA, no other thread may be using the stream at that moment.
    pub fn close(&self) -> Result<()> {
        if self.0.closed.swap(true, Ordering::AcqRel) || !self.0.owned {
            return Ok(());
        }
        on_stream_destroyed(self.0.ctx.driver_table(), self.0.handle);
        self.0.ctx.free_in_context(|table| {
            // SAFETY: this is the last use of the handle; every other call looks at `closed_error`.
            unsafe { call_driver!(table, cuStreamDestroy(self.0.handle)) }
        })
    }

    /// Whether [`Stream::close`] was called.
    pub fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }
}

/// The stream that `None` stands for.
impl Stream {
    /// The stream that the calling thread entered last, if any.
    #[inline]
    pub fn current() -> Option<Self> {
        if has_current_stream() { Self::top_of_current_stream_stack() } else { None }
    }

    #[cold]
    #[inline(never)]
    fn top_of_current_stream_stack() -> Option<Self> {
        CURRENT_STREAM_STACK.try_with(|stack| stack.borrow().last().cloned()).ok().flatten()
    }

    /// Makes `None` mean this stream in the calling thread, until [`Stream::pop_current_stream`].
    pub fn push_current_stream(&self) -> Result<()> {
        self.driver_table_if_alive("Stream::push_current_stream")?;
        let _ = CURRENT_STREAM_STACK.try_with(|stack| stack.borrow_mut().push(self.clone()));
        set_has_current_stream(true);
        Ok(())
    }

    /// Undoes the calling thread's last [`Stream::push_current_stream`] of this stream.
    pub fn pop_current_stream(&self) -> Result<()> {
        let left = CURRENT_STREAM_STACK.try_with(|stack| {
            let mut stack = stack.borrow_mut();
            let found = stack.iter().rposition(|entered| entered == self).map(|index| stack.remove(index));
            set_has_current_stream(!stack.is_empty());
            found.is_some()
        });
        match left {
            Ok(false) => {
                let detail = "the stream was not entered in this thread";
                Err(Error::new("Stream::pop_current_stream", CUresult::CUDA_ERROR_INVALID_VALUE, detail))
            }
            _ => Ok(()),
        }
    }
}

/// The use of an object that was closed.
#[cold]
pub(crate) fn closed_error(call: &'static str, what: &str) -> Error {
    Error::new(call, CUresult::CUDA_ERROR_INVALID_HANDLE, format!("the {what} was closed"))
}

/// Waiting, and work other than kernels and copies.
impl Stream {
    /// Waits until all work in the stream has finished. Reports errors of kernels.
    pub fn synchronize(&self) -> Result<()> {
        let queue = self.0.ctx.launch_queue();
        let waited = queue.snapshot_awaited_launches();
        // SAFETY: the stream is alive.
        unsafe { call_if_alive!(self, cuStreamSynchronize(self.0.handle)) }?;
        queue.finish_stream_wait(self.0.handle, waited);
        Ok(())
    }

    /// Whether all work in the stream has finished.
    pub fn is_done(&self) -> Result<bool> {
        // SAFETY: the stream is alive.
        let result = unsafe { call_if_alive!(self, cuStreamQuery(self.0.handle)) };
        is_ready_from_result(result)
    }

    /// Makes later work in this stream wait for the event.
    pub fn wait_for_event(&self, event: &Event) -> Result<()> {
        let table = event.driver_table_if_alive("cuStreamWaitEvent")?;
        let stream = checked_stream_handle("cuStreamWaitEvent", table, Some(self))?;
        // SAFETY: stream and event are alive and of the same driver.
        unsafe { call_driver!(table, cuStreamWaitEvent(stream, event.handle(), 0)) }
    }

    /// Writes a 4-byte value to device memory after earlier work.
    ///
    /// # Safety
    /// The address must be device memory that lives until then.
    pub unsafe fn write_value32(&self, ptr: CUdeviceptr, value: u32, flags: impl Into<WriteValueFlags>) -> Result<()> {
        let WriteValueFlags(flags) = flags.into();
        // SAFETY: the stream is alive; the address is the caller's promise.
        unsafe { call_if_alive!(self, cuStreamWriteValue32(self.0.handle, ptr, value, flags)) }
    }

    /// Writes an 8-byte value to device memory after earlier work.
    ///
    /// # Safety
    /// As [`Stream::write_value32`].
    pub unsafe fn write_value64(&self, ptr: CUdeviceptr, value: u64, flags: impl Into<WriteValueFlags>) -> Result<()> {
        let WriteValueFlags(flags) = flags.into();
        // SAFETY: the stream is alive; the caller's promise for the address.
        unsafe { call_if_alive!(self, cuStreamWriteValue64(self.0.handle, ptr, value, flags)) }
    }

    /// Makes later work wait until a 4-byte word in device memory satisfies the comparison with `value` given by
    /// `flags`.
    ///
    /// # Safety
    /// As [`Stream::write_value32`].
    pub unsafe fn wait_value32(&self, ptr: CUdeviceptr, value: u32, flags: impl Into<WaitValueFlags>) -> Result<()> {
        let WaitValueFlags(flags) = flags.into();
        PendingHostWork::add_never_finished();
        // SAFETY: the stream is alive; the caller's promise for the address.
        unsafe { call_if_alive!(self, cuStreamWaitValue32(self.0.handle, ptr, value, flags)) }
    }

    /// [`Stream::wait_value32`] for 8 bytes.
    ///
    /// # Safety
    /// As [`Stream::write_value32`].
    pub unsafe fn wait_value64(&self, ptr: CUdeviceptr, value: u64, flags: impl Into<WaitValueFlags>) -> Result<()> {
        let WaitValueFlags(flags) = flags.into();
        PendingHostWork::add_never_finished();
        // SAFETY: the stream is alive; the caller's promise for the address.
        unsafe { call_if_alive!(self, cuStreamWaitValue64(self.0.handle, ptr, value, flags)) }
    }
}

/// "Not ready" is an answer, not an error.
pub(crate) fn is_ready_from_result(result: Result<()>) -> Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.code == CUresult::CUDA_ERROR_NOT_READY => Ok(false),
        Err(error) => Err(error),
    }
}

/// The handle of an optional stream, for a call through `table`: the stream must still exist and
/// be of that driver, because a driver given a foreign or dead handle may crash.
#[inline]
pub(crate) fn checked_stream_handle(
    call: &'static str,
    table: &DriverTable,
    stream: Option<&Stream>,
) -> Result<CUstream> {
    let Some(stream) = stream else {
        return if has_current_stream() { current_stream_handle(call, table) } else { Ok(CUstream::null()) };
    };
    if stream.driver_table_if_alive(call)? == table {
        return Ok(stream.0.handle);
    }
    let detail = "the stream belongs to another driver (a real and a virtual device share no streams)";
    Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_HANDLE, detail))
}

/// The handle of the stream that this thread has entered.
#[cold]
fn current_stream_handle(call: &'static str, table: &DriverTable) -> Result<CUstream> {
    match Stream::current() {
        Some(stream) => checked_stream_handle(call, table, Some(&stream)),
        None => Ok(CUstream::null()),
    }
}

/// The table of the current context, and the handle of a stream that fits it.
#[inline]
pub(crate) fn current_table_and_stream_handle(
    call: &'static str,
    stream: Option<&Stream>,
) -> Result<(&'static DriverTable, CUstream)> {
    let table = current_driver_table(call)?;
    Ok((table, checked_stream_handle(call, table, stream)?))
}

impl Drop for StreamInner {
    fn drop(&mut self) {
        if self.owned && !*self.closed.get_mut() {
            on_stream_destroyed(self.ctx.driver_table(), self.handle);
            // SAFETY: this is the last use of the handle.
            self.ctx.free_on_drop(|table| unsafe { call_driver!(table, cuStreamDestroy(self.handle)) });
        }
    }
}
