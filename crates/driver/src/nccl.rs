//! Collectives between devices: communicators of NCCL, or on virtual devices of a virtual NCCL.
//!
//! Establishes: a handle that exists came from the library that fits the driver of its context, and is destroyed or
//! aborted once. What a call in a group uses is kept until the group has ended.

use crate::collective::{SIGNATURE_BYTES, Signature, SignatureExchange, are_collectives_checked};
use crate::context::{Context, ContextKind, Device};
use crate::release_region;
use crate::stream::{Stream, checked_stream_handle};
use crate::{process_state, virtual_gpu};
use rtcg_cuda_sys::nccl::{
    NCCL_SPLIT_NOCOLOR, NcclTable, ncclComm_t, ncclConfig_t, ncclDataType_t, ncclRedOp_t, ncclResult_t, ncclUniqueId,
};
use rtcg_cuda_sys::{CU_STREAM_LEGACY, CUdeviceptr, CUstream, DriverKind, DriverTable, c_int, c_void};
use rtcg_hal::lock_ignoring_poison;
use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

pub use crate::collective::Collective;

/// The result of an operation on a communicator.
pub type NcclResult<T> = Result<T, NcclError>;

/// A failed call of NCCL, or one that was refused before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NcclError {
    /// The function.
    pub call: &'static str,
    /// NCCL's code.
    pub code: ncclResult_t,
    /// What is known: NCCL's text, and the reason.
    pub text: String,
}

impl std::fmt::Display for NcclError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} failed: {}", self.call, self.text)
    }
}

impl std::error::Error for NcclError {}

impl NcclError {
    /// The error of a call that is refused here.
    #[cold]
    pub fn refused(call: &'static str, code: ncclResult_t, text: impl Into<String>) -> Self {
        Self { call, code, text: text.into() }
    }

    #[cold]
    fn from_failed_call(table: &NcclTable, call: &'static str, code: ncclResult_t, comm: ncclComm_t) -> Self {
        if code == ncclResult_t::RTCG_NCCL_FUNCTION_MISSING {
            return Self::refused(call, code, table.missing_function_text(call));
        }
        // SAFETY: the handle is null or alive; the text is static or the thread's own until the next call.
        let reason = unsafe { table.ncclGetLastError(comm) };
        let reason = if reason.is_null() {
            String::new()
        } else {
            // SAFETY: a NUL-terminated string, see above.
            unsafe { CStr::from_ptr(reason) }.to_string_lossy().trim().to_owned()
        };
        let reason =
            reason.strip_prefix(call).and_then(|rest| rest.strip_prefix(": ")).map_or(reason.clone(), str::to_owned);
        let text = table.error_string(code);
        let text = if reason.is_empty() || reason == text { text } else { format!("{text} - {reason}") };
        Self::refused(call, code, text)
    }
}

impl From<crate::Error> for NcclError {
    fn from(error: crate::Error) -> Self {
        Self { call: error.call, code: ncclResult_t::ncclUnhandledCudaError, text: error.to_string() }
    }
}

/// Calls a function of the table, and makes its error.
macro_rules! call_nccl {
    ($table:expr, $comm:expr, $name:ident($($arg:expr),* $(,)?)) => {{
        let code = $table.$name($($arg),*);
        if code.is_success() { Ok(()) } else { Err(NcclError::from_failed_call($table, stringify!($name), code, $comm)) }
    }};
}

/// The library for the devices of a context.
fn table_for_context(ctx: &Context) -> NcclResult<&'static NcclTable> {
    table_for_driver(ctx.driver_table())
}

fn table_for_driver(driver: &'static DriverTable) -> NcclResult<&'static NcclTable> {
    let load_error =
        |error: rtcg_cuda_sys::LoadError| NcclError::refused("nccl", ncclResult_t::ncclSystemError, error.to_string());
    match driver.driver_kind() {
        DriverKind::Real => NcclTable::load().map_err(load_error),
        DriverKind::Virtual => virtual_gpu::nccl_table(driver)
            .ok_or_else(|| NcclError::refused("nccl", ncclResult_t::ncclSystemError, virtual_gpu::BUILT_WITHOUT)),
    }
}

/// The library for the calling thread: for its current context, else for the first device.
fn table_for_thread() -> NcclResult<&'static NcclTable> {
    match Context::current_or_foreign() {
        Some(ctx) => table_for_context(&ctx),
        None => table_for_driver(Device::new(0)?.driver_table()),
    }
}

/// The version of the NCCL for the current context, or else for the first device, `10000 * major + 100 * minor + patch`.
///
/// # Errors
/// When there is no NCCL.
pub fn nccl_version() -> NcclResult<u32> {
    let table = table_for_thread()?;
    table.version().ok_or_else(|| NcclError::refused("ncclGetVersion", ncclResult_t::ncclInternalError, "failed"))
}

/// What the ranks of a communicator find each other by: 128 bytes that one rank makes and sends to all others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct UniqueId(ncclUniqueId);

impl UniqueId {
    /// A new one, of the library for the current context, or else for the first device.
    ///
    /// # Errors
    /// When there is no NCCL.
    pub fn new() -> NcclResult<Self> {
        Self::with_table(table_for_thread()?)
    }

    fn with_table(table: &'static NcclTable) -> NcclResult<Self> {
        let mut id = ncclUniqueId { internal: [0; 128] };
        // SAFETY: writes the id.
        unsafe { call_nccl!(table, ncclComm_t::null(), ncclGetUniqueId(&raw mut id)) }?;
        Ok(Self(id))
    }

    /// That which another process made.
    pub fn from_bytes(bytes: [u8; 128]) -> Self {
        Self(ncclUniqueId { internal: bytes.map(|byte| byte as std::ffi::c_char) })
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> [u8; 128] {
        self.0.internal.map(|c| c as u8)
    }
}

struct CommunicatorInner {
    table: &'static NcclTable,
    ctx: Context,
    handle: ncclComm_t,
    rank: usize,
    n_ranks: usize,
    /// The same for communicators that were made from each other.
    family: u64,
    /// For `RTCG_CHECK=nccl`, on a real device.
    signatures: Mutex<Option<SignatureExchange>>,
    /// Whether calls need not have the context current.
    is_context_selected: bool,
    closed: AtomicBool,
    /// While `close` waits.
    closing: AtomicBool,
    /// Whether that wait is to be given up.
    abort_requested: AtomicBool,
    /// Why it was aborted, if it was.
    failure: Mutex<Option<String>>,
    /// Streams that its operations are in.
    streams: Mutex<Vec<Stream>>,
}

/// A rank of a communicator. It belongs to the context in which it was made. Cloning gives another reference.
///
/// Calls enqueue work and do not wait, except those that make, split and close communicators, which wait for all ranks.
/// With several ranks in one thread such calls, and transfers between them, must be in a [`NcclGroup`].
///
/// The last reference destroys the communicator if its work is done, and aborts it otherwise.
#[derive(Clone)]
pub struct Communicator(Arc<CommunicatorInner>);

impl std::fmt::Debug for Communicator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Communicator(rank {} of {}, {:?})", self.0.rank, self.0.n_ranks, self.0.ctx.device())
    }
}

/// All communicators, for those that must be aborted together.
static COMMUNICATORS: Mutex<Vec<Weak<CommunicatorInner>>> = Mutex::new(Vec::new());

/// Aborts all communicators of this process whose work is not done: at the end of the program, which would wait for it.
pub fn abort_unfinished_communicators() {
    let all: Vec<_> = lock_ignoring_poison(&COMMUNICATORS).iter().filter_map(Weak::upgrade).collect();
    for communicator in all.into_iter().map(Communicator) {
        if !communicator.is_closed() && !communicator.0.is_idle() {
            communicator.abort();
        }
    }
}

fn next_family() -> u64 {
    static NEXT_FAMILY: AtomicU64 = AtomicU64::new(0);
    NEXT_FAMILY.fetch_add(1, Ordering::Relaxed)
}

/// Making communicators.
impl Communicator {
    /// Joins a communicator as `rank` of `n_ranks`, with the device of the current context, which on a real device must
    /// be its primary context. Waits until all ranks have joined. In a group use [`NcclGroup::join`].
    ///
    /// # Errors
    /// When the rank is none or taken, or ranks are missing for long.
    pub fn new(n_ranks: usize, id: UniqueId, rank: usize) -> NcclResult<Self> {
        Self::new_in(&Context::current_or_error()?, n_ranks, id, rank)
    }

    /// [`Communicator::new`] with this context.
    ///
    /// # Errors
    /// As there.
    pub fn new_in(ctx: &Context, n_ranks: usize, id: UniqueId, rank: usize) -> NcclResult<Self> {
        let mut group = NcclGroup::begin_with_table(table_for_context(ctx)?)?;
        let joined = group.join(ctx, n_ranks, id, rank);
        group.end_after(joined)?.finish()
    }

    /// A communicator of this process: one rank for each context, in their order.
    ///
    /// # Errors
    /// When contexts are of one device or of several drivers.
    pub fn init_all(contexts: &[Context]) -> NcclResult<Vec<Self>> {
        let Some(first) = contexts.first() else { return Ok(Vec::new()) };
        let table = table_for_context(first)?;
        let id = UniqueId::with_table(table)?;
        let mut group = NcclGroup::begin_with_table(table)?;
        let joins = contexts.iter().enumerate().map(|(rank, ctx)| group.join(ctx, contexts.len(), id, rank));
        let joins = joins.collect::<NcclResult<Vec<_>>>();
        let joins = group.end_after(joins)?;
        let family = next_family();
        joins.into_iter().map(|join| PendingCommunicator { family, ..join }.finish()).collect()
    }

    fn wrap(table: &'static NcclTable, ctx: Context, handle: ncclComm_t, family: u64) -> NcclResult<Self> {
        let (mut rank, mut n_ranks) = (0, 0);
        // SAFETY: the handle was just made; numbers are written.
        unsafe {
            call_nccl!(table, handle, ncclCommUserRank(handle, &raw mut rank))?;
            call_nccl!(table, handle, ncclCommCount(handle, &raw mut n_ranks))?;
        }
        let (closed, streams) = (AtomicBool::new(false), Mutex::default());
        let (closing, abort_requested) = (AtomicBool::new(false), AtomicBool::new(false));
        let (rank, n_ranks) = (rank as usize, n_ranks as usize);
        let is_context_selected = ctx.device().is_virtual() || ctx.kind() == ContextKind::Primary;
        note_table_in_use(table);
        release_region::note_communicator_opened();
        let inner = Arc::new(CommunicatorInner {
            table,
            ctx,
            handle,
            rank,
            n_ranks,
            family,
            is_context_selected,
            signatures: Mutex::default(),
            closed,
            closing,
            abort_requested,
            failure: Mutex::default(),
            streams,
        });
        let mut all = lock_ignoring_poison(&COMMUNICATORS);
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(&inner));
        Ok(Self(inner))
    }

    /// Splits the communicator: ranks with one colour are a new one, in which they are ordered by `key`, then by rank. A
    /// rank with the colour `None` gets none. Waits for all ranks. In a group use [`NcclGroup::split`].
    ///
    /// # Errors
    /// When a rank is gone.
    pub fn split(&self, color: Option<u32>, key: i32) -> NcclResult<Option<Self>> {
        Ok(Self::split_all(&[(self, color, key)])?.into_iter().next().flatten())
    }

    /// [`Communicator::split`] of several ranks of this thread, each with its colour and key.
    ///
    /// # Errors
    /// As there, and inside of a group.
    pub fn split_all(ranks: &[(&Self, Option<u32>, i32)]) -> NcclResult<Vec<Option<Self>>> {
        let Some((first, _, _)) = ranks.first() else { return Ok(Vec::new()) };
        if GROUP.with_borrow(|(depth, _)| *depth > 0) {
            let text = "a split inside of a group exists at its end: use NcclGroup::split";
            return Err(NcclError::refused("ncclCommSplit", ncclResult_t::ncclInvalidUsage, text));
        }
        let mut group = NcclGroup::begin_with_table(first.0.table)?;
        let new: NcclResult<Vec<_>> =
            ranks.iter().map(|(parent, color, key)| group.split(parent, *color, *key)).collect();
        group.end_after(new)?.into_iter().map(PendingCommunicator::finish_or_none).collect()
    }

    /// A communicator without some ranks, which do not take part in the call. Waits for those that remain. Work of this
    /// one is ended first if `abort_first` is set, as it must be when a rank has died.
    ///
    /// # Errors
    /// When there are no such ranks, or this one is among them.
    pub fn shrink(&self, excluded: &[usize], abort_first: bool) -> NcclResult<Self> {
        self.check_open("ncclCommShrink")?;
        let mut list: Vec<c_int> = excluded.iter().map(|rank| c_int::try_from(*rank).unwrap_or(c_int::MAX)).collect();
        let mut handle = ncclComm_t::null();
        let (table, n) = (self.0.table, list.len() as c_int);
        self.0.ctx.with_current(|| {
            let config = std::ptr::null_mut();
            // SAFETY: the handle is alive, the list has as many elements, the handle is written.
            unsafe {
                call_nccl!(
                    table,
                    self.0.handle,
                    ncclCommShrink(
                        self.0.handle,
                        list.as_mut_ptr(),
                        n,
                        &raw mut handle,
                        config,
                        c_int::from(abort_first)
                    )
                )
            }
        })?;
        Self::wrap(table, self.0.ctx.clone(), handle, self.0.family)
    }
}

/// What a communicator says about itself, and its end.
impl Communicator {
    /// The rank.
    pub fn rank(&self) -> usize {
        self.0.rank
    }

    /// The number of ranks.
    pub fn n_ranks(&self) -> usize {
        self.0.n_ranks
    }

    /// The context to which its memory and streams belong.
    pub fn context(&self) -> &Context {
        &self.0.ctx
    }

    /// The device of that context.
    pub fn device(&self) -> Device {
        self.0.ctx.device()
    }

    /// NCCL's handle.
    pub fn handle(&self) -> ncclComm_t {
        self.0.handle
    }

    /// Whether [`Communicator::close`] or [`Communicator::abort`] was called.
    pub fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }

    #[inline]
    fn check_open(&self, call: &'static str) -> NcclResult<()> {
        if self.is_closed() || process_state::is_forked() { Err(self.closed_error(call)) } else { Ok(()) }
    }

    #[cold]
    fn closed_error(&self, call: &'static str) -> NcclError {
        let failure = lock_ignoring_poison(&self.0.failure).clone();
        let text = match failure {
            _ if process_state::is_forked() => {
                "the communicator belongs to the process from which this one was forked".into()
            }
            Some(why) => format!("the communicator was aborted: {why}"),
            None => "the communicator was closed".into(),
        };
        NcclError::refused(call, ncclResult_t::ncclInvalidUsage, text)
    }

    /// What went wrong in work that was enqueued. Does not wait.
    ///
    /// # Errors
    /// That, or that the communicator was closed.
    pub fn check_async_error(&self) -> NcclResult<()> {
        self.check_open("ncclCommGetAsyncError")?;
        self.async_error()
    }

    fn async_error(&self) -> NcclResult<()> {
        let mut code = ncclResult_t::ncclSuccess;
        let table = self.0.table;
        // SAFETY: the handle is alive, a code is written.
        unsafe { call_nccl!(table, self.0.handle, ncclCommGetAsyncError(self.0.handle, &raw mut code)) }?;
        match code {
            ncclResult_t::ncclSuccess | ncclResult_t::ncclInProgress => Ok(()),
            code => Err(NcclError::from_failed_call(table, "ncclCommGetAsyncError", code, self.0.handle)),
        }
    }

    /// Waits until the work in a stream has finished, and notices meanwhile when a rank fails. If one does, or the time is
    /// over, all communicators of this process that were made together with this one are aborted, as NCCL demands.
    ///
    /// # Errors
    /// [`ncclResult_t::ncclTimeout`], or what went wrong.
    pub fn wait(&self, stream: Option<&Stream>, timeout: Option<Duration>) -> NcclResult<()> {
        self.wait_unless(stream, timeout, || false)
    }

    /// [`Communicator::wait`] that ends, without an error or an abort, when `is_given_up` says so.
    ///
    /// # Errors
    /// As there.
    pub fn wait_unless(
        &self,
        stream: Option<&Stream>,
        timeout: Option<Duration>,
        is_given_up: impl Fn() -> bool,
    ) -> NcclResult<()> {
        let stream = match stream.cloned().or_else(Stream::current) {
            Some(stream) => stream,
            None => Stream::legacy_default_of(&self.0.ctx),
        };
        let begun = Instant::now();
        loop {
            if is_given_up() {
                return Ok(());
            }
            let failed = self.check_async_error();
            let done = if failed.is_ok() {
                self.0.ctx.with_current(|| stream.is_done()).map_err(NcclError::from)
            } else {
                Ok(false)
            };
            let failed = match (failed, done) {
                (Err(error), _) => error,
                // The failure of the communicator says more than that of the stream.
                (Ok(()), Err(error)) => self.check_async_error().err().unwrap_or(error),
                (Ok(()), Ok(true)) => return Ok(()),
                (Ok(()), Ok(false)) => {
                    let Some(limit) = timeout.filter(|limit| begun.elapsed() > *limit) else {
                        std::thread::sleep(poll_interval(begun));
                        continue;
                    };
                    let awaited = if self.device().is_virtual() { virtual_gpu::awaited(self.0.handle) } else { None };
                    let awaited = awaited.unwrap_or_else(|| "other ranks".into());
                    let text = format!("rank {} has waited for {} s for {awaited}", self.0.rank, limit.as_secs_f64());
                    // A rank that failed while this one asked says more.
                    let refused = || NcclError::refused("Communicator::wait", ncclResult_t::ncclTimeout, text);
                    self.check_async_error().err().unwrap_or_else(refused)
                }
            };
            self.abort_family(&failed);
            return Err(failed);
        }
    }

    fn abort_family(&self, why: &NcclError) {
        let all: Vec<_> = lock_ignoring_poison(&COMMUNICATORS).iter().filter_map(Weak::upgrade).collect();
        let family: Vec<_> = all.into_iter().filter(|known| known.family == self.0.family).map(Communicator).collect();
        // Each waits for the others in some versions of NCCL.
        std::thread::scope(|scope| {
            for communicator in &family {
                lock_ignoring_poison(&communicator.0.failure).get_or_insert_with(|| why.text.clone());
                scope.spawn(|| communicator.abort());
            }
        });
        // Their work has ended; that it failed is told by the error that this is for.
        for communicator in &family {
            let streams = lock_ignoring_poison(&communicator.0.streams).clone();
            streams.iter().filter(|stream| !stream.is_closed()).for_each(|stream| {
                let _ = communicator.0.ctx.with_current(|| stream.synchronize());
            });
        }
    }

    /// Waits for its work, then destroys the communicator. Later calls of it fail, but for this one.
    ///
    /// # Errors
    /// When its work failed.
    pub fn close(&self) -> NcclResult<()> {
        if self.0.closed.swap(true, Ordering::AcqRel) || process_state::is_forked() {
            return Ok(());
        }
        self.0.closing.store(true, Ordering::Release);
        let begun = Instant::now();
        while !self.0.is_idle() {
            if self.0.abort_requested.load(Ordering::Acquire) {
                self.0.end(true);
                self.0.closing.store(false, Ordering::Release);
                return Err(self.closed_error("Communicator::close"));
            }
            std::thread::sleep(poll_interval(begun));
        }
        let failed = self.async_error();
        self.0.end(failed.is_err());
        self.0.closing.store(false, Ordering::Release);
        failed
    }

    /// Ends its work, and the communicator, at once. Other ranks' work that needs this one does not end by itself with
    /// NCCL; a virtual NCCL reports it as failed.
    pub fn abort(&self) {
        lock_ignoring_poison(&self.0.failure).get_or_insert_with(|| "by this rank".to_owned());
        if process_state::is_forked() {
            return;
        }
        if !self.0.closed.swap(true, Ordering::AcqRel) {
            self.0.end(true);
        } else {
            self.0.abort_requested.store(true, Ordering::Release);
            // The thread that closes looks every few milliseconds; what comes after this call finds the work ended.
            while self.0.closing.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
    }
}

impl CommunicatorInner {
    /// Whether its work is done, as far as its streams tell.
    fn is_idle(&self) -> bool {
        let streams = lock_ignoring_poison(&self.streams).clone();
        let is_done =
            |stream: &Stream| stream.is_closed() || self.ctx.with_current(|| stream.is_done()).unwrap_or(true);
        streams.iter().all(is_done)
    }

    /// The last use of the handle.
    fn end(&self, abort: bool) {
        let end = || {
            // SAFETY: each caller has set `closed` first, and does so once.
            unsafe {
                if abort {
                    self.table.ncclCommAbort(self.handle)
                } else {
                    self.table.ncclCommDestroy(self.handle)
                };
            }
            Ok::<_, crate::Error>(())
        };
        // NCCL's own memory is gone with a context that was destroyed.
        let _ = self.ctx.with_current(end);
        release_region::note_communicator_closed();
    }
}

/// How long to wait before the next look at what began then.
fn poll_interval(begun: Instant) -> Duration {
    (begun.elapsed() / 8).clamp(Duration::from_micros(20), Duration::from_millis(2))
}

impl Drop for CommunicatorInner {
    fn drop(&mut self) {
        if *self.closed.get_mut() || process_state::is_forked() {
            return;
        }
        self.end(!self.is_idle());
    }
}

/// Work.
impl Communicator {
    /// Enqueues a collective, or one end of a transfer. `sent` and `received` are as long as NCCL documents for `count`;
    /// what a rank does not send or receive is not looked at.
    ///
    /// # Errors
    /// When the stream is of another context, or NCCL refuses the call.
    ///
    /// # Safety
    /// The addresses must be memory of the communicator's device until the work is done.
    #[allow(clippy::too_many_arguments, reason = "NCCL's arguments")]
    pub unsafe fn enqueue(
        &self,
        what: Collective,
        sent: CUdeviceptr,
        received: CUdeviceptr,
        count: usize,
        dtype: ncclDataType_t,
        op: ncclRedOp_t,
        stream: Option<&Stream>,
    ) -> NcclResult<()> {
        self.check_open("Communicator::enqueue")?;
        if are_collectives_checked() && !self.device().is_virtual() && !is_in_group() {
            self.compare_signatures(Signature::new(what, count, dtype, op), stream)?;
        }
        let CommunicatorInner { table, handle: comm, ref ctx, .. } = *self.0;
        let stream = self.stream_handle(stream)?;
        let s = std::ptr::with_exposed_provenance::<c_void>(sent as usize);
        let r = std::ptr::with_exposed_provenance_mut::<c_void>(received as usize);
        let rank = |rank: usize| c_int::try_from(rank).unwrap_or(c_int::MAX);
        let (n, t) = (count, dtype);
        // SAFETY: the handles are alive; the addresses are the caller's promise.
        let call = || unsafe {
            match what {
                Collective::AllReduce => call_nccl!(table, comm, ncclAllReduce(s, r, n, t, op, comm, stream)),
                Collective::Reduce { root } => {
                    call_nccl!(table, comm, ncclReduce(s, r, n, t, op, rank(root), comm, stream))
                }
                Collective::Broadcast { root } => {
                    call_nccl!(table, comm, ncclBroadcast(s, r, n, t, rank(root), comm, stream))
                }
                Collective::AllGather => call_nccl!(table, comm, ncclAllGather(s, r, n, t, comm, stream)),
                Collective::ReduceScatter => call_nccl!(table, comm, ncclReduceScatter(s, r, n, t, op, comm, stream)),
                Collective::AllToAll => call_nccl!(table, comm, ncclAlltoAll(s, r, n, t, comm, stream)),
                Collective::Gather { root } => {
                    call_nccl!(table, comm, ncclGather(s, r, n, t, rank(root), comm, stream))
                }
                Collective::Scatter { root } => {
                    call_nccl!(table, comm, ncclScatter(s, r, n, t, rank(root), comm, stream))
                }
                Collective::Send { peer } => call_nccl!(table, comm, ncclSend(s, n, t, rank(peer), comm, stream)),
                Collective::Recv { peer } => call_nccl!(table, comm, ncclRecv(r, n, t, rank(peer), comm, stream)),
            }
        };
        // NCCL selects the primary context of its device itself, and a virtual one that of the communicator.
        let is_selected = self.0.is_context_selected || is_in_group() || ctx.is_current();
        let outcome = if is_selected { call() } else { ctx.with_current(call) };
        outcome.map_err(|error| self.end_if_failed(error))
    }

    /// Aborts what a failed rank has ended, so that a rank that hears of it in a call is as far as one that hears of it
    /// in [`Communicator::wait`].
    #[cold]
    fn end_if_failed(&self, error: NcclError) -> NcclError {
        if !is_in_group()
            && let Err(why) = self.async_error()
        {
            self.abort_family(&why);
        }
        error
    }

    /// Waits until all ranks have said what they are about to do, and compares it.
    #[cold]
    fn compare_signatures(&self, signature: Option<Signature>, stream: Option<&Stream>) -> NcclResult<()> {
        let Some(signature) = signature else { return Ok(()) };
        if crate::active_captures::is_any_capturing() {
            return Ok(());
        }
        let mut exchange = lock_ignoring_poison(&self.0.signatures);
        self.0.ctx.with_current(|| {
            let exchange = match &mut *exchange {
                Some(exchange) => exchange,
                none => none.insert(SignatureExchange::new(self.0.n_ranks)?),
            };
            let (own, all) = exchange.write(self.0.rank, signature)?;
            let (own, all) =
                (std::ptr::with_exposed_provenance(own as usize), std::ptr::with_exposed_provenance_mut(all as usize));
            let (table, comm, stream_handle) = (self.0.table, self.0.handle, self.stream_handle(stream)?);
            // SAFETY: the memory holds the signatures of all ranks, and lives as long as the communicator.
            unsafe {
                call_nccl!(
                    table,
                    comm,
                    ncclAllGather(own, all, SIGNATURE_BYTES, ncclDataType_t::ncclUint8, comm, stream_handle)
                )?;
            }
            self.wait(stream, None)?;
            match exchange.difference()? {
                Some(text) => Err(NcclError::refused("Communicator::enqueue", ncclResult_t::ncclInvalidUsage, text)),
                None => Ok(()),
            }
        })
    }

    /// The handle of a stream for work of this communicator, which is remembered.
    fn stream_handle(&self, stream: Option<&Stream>) -> NcclResult<CUstream> {
        let current = if stream.is_none() { Stream::current() } else { None };
        let Some(stream) = stream.or(current.as_ref()) else {
            self.note_stream(CU_STREAM_LEGACY, || Stream::legacy_default_of(&self.0.ctx));
            return Ok(CUstream::null());
        };
        let Some(handle) = stream.handle_if_open_in_context(&self.0.ctx) else {
            checked_stream_handle("Communicator", self.0.ctx.driver_table(), Some(stream))?;
            let text = format!(
                "the stream is of another context than the communicator, which is of device {}",
                self.device().ordinal()
            );
            return Err(NcclError::refused("Communicator::enqueue", ncclResult_t::ncclInvalidArgument, text));
        };
        self.note_stream(handle, || stream.clone());
        Ok(handle)
    }

    /// Remembers a stream that has work of the communicator.
    fn note_stream(&self, handle: CUstream, stream: impl FnOnce() -> Stream) {
        let mut streams = lock_ignoring_poison(&self.0.streams);
        if !streams.iter().any(|known| known.handle() == handle) {
            streams.retain(|known| !known.is_closed());
            streams.push(stream());
        }
    }

    /// Makes an operation that multiplies each rank's elements by that rank's factor, then adds: `factor` is an element
    /// of the type.
    ///
    /// # Errors
    /// When NCCL refuses it.
    ///
    /// # Panics
    /// When `factor` has fewer bytes than an element.
    pub fn create_scaled_sum(&self, factor: &[u8], dtype: ncclDataType_t) -> NcclResult<ncclRedOp_t> {
        self.check_open("ncclRedOpCreatePreMulSum")?;
        assert!(dtype.size().is_some_and(|size| factor.len() >= size), "an element of {dtype:?}");
        let (table, comm, mut op) = (self.0.table, self.0.handle, ncclRedOp_t(0));
        let residence = rtcg_cuda_sys::nccl::ncclScalarHostImmediate;
        let factor = factor.as_ptr().cast_mut().cast();
        // SAFETY: the factor is read, the operation is written.
        unsafe {
            call_nccl!(table, comm, ncclRedOpCreatePreMulSum(&raw mut op, factor, dtype, residence, comm))?;
        }
        Ok(op)
    }

    /// Forgets an operation of [`Communicator::create_scaled_sum`]; work that uses it is not affected.
    ///
    /// # Errors
    /// When it is none.
    pub fn destroy_scaled_sum(&self, op: ncclRedOp_t) -> NcclResult<()> {
        self.check_open("ncclRedOpDestroy")?;
        let (table, comm) = (self.0.table, self.0.handle);
        // SAFETY: the handle is alive.
        unsafe { call_nccl!(table, comm, ncclRedOpDestroy(op, comm)) }
    }

    /// Registers memory, which lets NCCL use faster paths for it; returns NCCL's handle.
    ///
    /// # Errors
    /// When NCCL refuses it.
    ///
    /// # Safety
    /// The memory must stay allocated until [`Communicator::deregister`].
    pub unsafe fn register(&self, address: CUdeviceptr, nbytes: usize) -> NcclResult<usize> {
        self.check_open("ncclCommRegister")?;
        let (table, comm, mut handle) = (self.0.table, self.0.handle, std::ptr::null_mut());
        let address = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: the caller's promise; a handle is written.
        unsafe { call_nccl!(table, comm, ncclCommRegister(comm, address, nbytes, &raw mut handle)) }?;
        Ok(handle.expose_provenance())
    }

    /// Ends a registration.
    ///
    /// # Errors
    /// When NCCL refuses it.
    ///
    /// # Safety
    /// `registration` must be one of [`Communicator::register`] that was not ended.
    pub unsafe fn deregister(&self, registration: usize) -> NcclResult<()> {
        self.check_open("ncclCommDeregister")?;
        let (table, comm) = (self.0.table, self.0.handle);
        // SAFETY: the caller's promise.
        unsafe {
            call_nccl!(table, comm, ncclCommDeregister(comm, std::ptr::with_exposed_provenance_mut(registration)))
        }
    }
}

/// Memory by `ncclMemAlloc` in the current context, which can be registered for the fastest paths of NCCL.
#[derive(Debug)]
pub struct NcclMemory {
    table: &'static NcclTable,
    ctx: Context,
    address: CUdeviceptr,
    nbytes: usize,
}

impl NcclMemory {
    /// Allocates.
    ///
    /// # Errors
    /// When the device is out of memory, or NCCL is older than 2.19.
    pub fn new(nbytes: usize) -> NcclResult<Self> {
        let ctx = Context::current_or_error()?;
        let (table, mut address) = (table_for_context(&ctx)?, std::ptr::null_mut());
        // SAFETY: an address is written.
        unsafe { call_nccl!(table, ncclComm_t::null(), ncclMemAlloc(&raw mut address, nbytes)) }?;
        Ok(Self { table, ctx, address: address.expose_provenance() as CUdeviceptr, nbytes })
    }

    /// The address.
    pub fn address(&self) -> CUdeviceptr {
        self.address
    }

    /// Bytes that were asked for.
    pub fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// The context in which it was allocated.
    pub fn context(&self) -> &Context {
        &self.ctx
    }
}

impl Drop for NcclMemory {
    fn drop(&mut self) {
        if self.ctx.is_alive() && !process_state::is_forked() {
            let _ = self.ctx.with_current(|| {
                // SAFETY: the last use of the memory.
                unsafe { self.table.ncclMemFree(std::ptr::with_exposed_provenance_mut(self.address as usize)) };
                Ok::<_, crate::Error>(())
            });
        }
    }
}

/// Called when a group has ended, and dropped where its calls failed.
type AtGroupEnd = Box<dyn FnOnce() -> NcclResult<()>>;

thread_local! {
    /// How deep this thread is in groups, and what comes after their calls.
    static GROUP: RefCell<(usize, Vec<AtGroupEnd>)> = const { RefCell::new((0, Vec::new())) };
}

/// Whether the calling thread is in a group.
pub fn is_in_group() -> bool {
    GROUP.with_borrow(|(depth, _)| *depth > 0)
}

/// The table of all communicators so far; null before the first one.
static ONLY_TABLE: AtomicPtr<NcclTable> = AtomicPtr::new(std::ptr::null_mut());
/// Whether there are communicators of several tables.
static HAS_SEVERAL_TABLES: AtomicBool = AtomicBool::new(false);

fn note_table_in_use(table: &'static NcclTable) {
    let table = std::ptr::from_ref(table).cast_mut();
    let known = ONLY_TABLE.swap(table, Ordering::AcqRel);
    if !known.is_null() && known != table {
        HAS_SEVERAL_TABLES.store(true, Ordering::Release);
    }
}

fn only_table_in_use() -> Option<&'static NcclTable> {
    if HAS_SEVERAL_TABLES.load(Ordering::Acquire) {
        return None;
    }
    // SAFETY: null, or a table, which lives for ever.
    unsafe { ONLY_TABLE.load(Ordering::Acquire).as_ref() }
}

/// Calls an action after the calls of the thread's group, to which it may refer until then; at once where there is no
/// group. Where calls of the group fail it is dropped.
///
/// # Errors
/// Those of an action that is called at once.
pub fn at_group_end(action: impl FnOnce() -> NcclResult<()> + 'static) -> NcclResult<()> {
    if !is_in_group() {
        return action();
    }
    GROUP.with_borrow_mut(|(_, actions)| actions.push(Box::new(action)));
    Ok(())
}

/// Calls of a thread that take effect together, when the group ends; dropping it ends it too. Groups may be nested.
#[derive(Debug)]
#[must_use = "the group ends when it is dropped"]
pub struct NcclGroup {
    table: &'static NcclTable,
    /// Groups belong to a thread.
    _thread: std::marker::PhantomData<*const ()>,
    ended: bool,
}

/// A communicator that exists when its group has ended.
#[derive(Debug)]
pub struct PendingCommunicator {
    table: &'static NcclTable,
    ctx: Context,
    /// Written by the end of the group, which keeps it too.
    place: Rc<Cell<ncclComm_t>>,
    family: u64,
}

impl NcclGroup {
    /// Begins a group with the library of all communicators so far; where they have several, or there is none, with that
    /// for the current context, or else for the first device.
    ///
    /// # Errors
    /// When there is no NCCL.
    pub fn begin() -> NcclResult<Self> {
        Self::begin_with_table(only_table_in_use().map_or_else(table_for_thread, Ok)?)
    }

    fn begin_with_table(table: &'static NcclTable) -> NcclResult<Self> {
        // SAFETY: takes nothing.
        unsafe { call_nccl!(table, ncclComm_t::null(), ncclGroupStart()) }?;
        GROUP.with_borrow_mut(|(depth, _)| *depth += 1);
        Ok(Self { table, _thread: std::marker::PhantomData, ended: false })
    }

    /// Ends the group: enqueues its calls, and waits until its communicators are made.
    ///
    /// # Errors
    /// When one of its calls fails; then NCCL has done none of them, or some.
    pub fn end(mut self) -> NcclResult<()> {
        self.end_once()
    }

    /// Ends the group, which fails with what a call in it failed with.
    fn end_after<T>(self, calls: NcclResult<T>) -> NcclResult<T> {
        let ended = self.end();
        let value = calls?;
        ended.map(|()| value)
    }

    fn end_once(&mut self) -> NcclResult<()> {
        if std::mem::replace(&mut self.ended, true) {
            return Ok(());
        }
        // SAFETY: takes nothing.
        let outcome = unsafe { call_nccl!(self.table, ncclComm_t::null(), ncclGroupEnd()) };
        let actions = GROUP.with_borrow_mut(|(depth, actions)| {
            *depth -= 1;
            if *depth == 0 { std::mem::take(actions) } else { Vec::new() }
        });
        actions.into_iter().fold(outcome, |so_far, action| so_far.and_then(|()| action()))
    }

    /// [`Communicator::new`] in this group.
    ///
    /// # Errors
    /// When the rank is none.
    pub fn join(
        &mut self,
        ctx: &Context,
        n_ranks: usize,
        id: UniqueId,
        rank: usize,
    ) -> NcclResult<PendingCommunicator> {
        let number = |value: usize| c_int::try_from(value).unwrap_or(c_int::MAX);
        let place = new_place();
        let (table, n_ranks, rank) = (self.table, number(n_ranks), number(rank));
        ctx.with_current(|| {
            // SAFETY: the place lives until the group has ended, or longer.
            unsafe { call_nccl!(table, ncclComm_t::null(), ncclCommInitRank(place.as_ptr(), n_ranks, id.0, rank)) }
        })?;
        Ok(PendingCommunicator { table, ctx: ctx.clone(), place, family: next_family() })
    }

    /// [`Communicator::split`] in this group.
    ///
    /// # Errors
    /// When the communicator was closed.
    pub fn split(&mut self, parent: &Communicator, color: Option<u32>, key: i32) -> NcclResult<PendingCommunicator> {
        parent.check_open("ncclCommSplit")?;
        let color = match color.map(c_int::try_from) {
            None => NCCL_SPLIT_NOCOLOR,
            Some(Ok(color)) => color,
            Some(Err(_)) => {
                let text = format!("color={}: it must be less than 2^31", color.unwrap_or_default());
                return Err(NcclError::refused("ncclCommSplit", ncclResult_t::ncclInvalidArgument, text));
            }
        };
        let CommunicatorInner { table, handle, ref ctx, family, .. } = *parent.0;
        let place = new_place();
        let config = std::ptr::null_mut::<ncclConfig_t>();
        ctx.with_current(|| {
            // SAFETY: the place lives until the group has ended, or longer.
            unsafe { call_nccl!(table, handle, ncclCommSplit(handle, color, key, place.as_ptr(), config)) }
        })?;
        Ok(PendingCommunicator { table, ctx: ctx.clone(), place, family })
    }
}

/// A place for a handle, kept until the group has ended.
fn new_place() -> Rc<Cell<ncclComm_t>> {
    let place = Rc::new(Cell::new(ncclComm_t::null()));
    let kept = place.clone();
    let _ = at_group_end(move || {
        drop(kept);
        Ok(())
    });
    place
}

impl Drop for NcclGroup {
    fn drop(&mut self) {
        let _ = self.end_once();
    }
}

impl PendingCommunicator {
    /// The communicator, after the group has ended; `None` for a rank that a split left out.
    ///
    /// # Errors
    /// When the group has failed.
    pub fn finish_or_none(self) -> NcclResult<Option<Communicator>> {
        if self.place.get().is_null() {
            return Ok(None);
        }
        Communicator::wrap(self.table, self.ctx, self.place.get(), self.family).map(Some)
    }

    /// The communicator, after the group has ended.
    ///
    /// # Errors
    /// When the group has failed, or not ended.
    pub fn finish(self) -> NcclResult<Communicator> {
        let text = "there is no communicator: its group has not ended, or failed";
        let missing = || NcclError::refused("ncclCommInitRank", ncclResult_t::ncclInvalidUsage, text);
        self.finish_or_none()?.ok_or_else(missing)
    }
}
