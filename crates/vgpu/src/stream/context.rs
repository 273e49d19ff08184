//! Contexts: who is current on which thread, what they own, and what became of them.
//!
//! Establishes: a context that has been destroyed or that a fault has poisoned is known as such to
//! every call that uses it. Destroying a context waits for its work (for a while, then stops it),
//! then makes the handles of everything it owned stale and frees its memory; objects that queued
//! work still holds die with that work.
//!
//! A device's primary context has one handle for the life of the process. Whoever has it current
//! when it ends keeps it current, and can use it again once it is retained again.
//!
//! An interrupted context stays sound: its running kernels are stopped, what was queued is
//! dropped, and the calls that wait for either fail.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use std::time::{Duration, Instant};

use crate::device::{Device, virtual_devices};
use crate::memory::account;
use crate::memory::heap::{BlockOwner, HeapBlock, MemoryKind};
use crate::memory::pool::release_unused_reservations;
use crate::module::Kernel;
use crate::stream::limits::ContextLimits;
use crate::stream::{self, LegacyStreamOrder, Stream, StreamKind};
use rtcg_cuda_sys::CUctx_flags;
use rtcg_vgpu_abi::error::{Error, Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::calls::{FLAGS_AFTER_RESET, FLAGS_OF_ACTIVE_PRIMARY};
use rtcg_vgpu_abi::{IgnorePoison, handle_table::HandleTable};
use rtcg_vgpu_exec as exec;
use rtcg_vgpu_exec::launch::CancelFlag;
use rtcg_vgpu_exec::runtime_calls::printf;

/// All contexts by handle.
pub(crate) static CONTEXTS: HandleTable<Context> = HandleTable::new(0x11);

/// Frees all that belongs to the context of a number.
static RESOURCE_RELEASE: OnceLock<fn(u64)> = OnceLock::new();

/// Sets who frees what contexts leave behind, which lies in modules above this one.
pub(crate) fn set_resource_release(release: fn(u64)) {
    let _ = RESOURCE_RELEASE.set(release);
}

fn release_resources(id: u64) {
    if let Some(release) = RESOURCE_RELEASE.get() {
        release(id);
    }
}

/// Held while a context begins and while what the last one leaves behind is cleared away.
static LIFETIME_LOCK: Mutex<()> = Mutex::new(());

/// A context.
#[derive(Debug)]
pub(crate) struct Context {
    /// Unique in the process.
    pub(crate) id: u64,
    /// What C code holds.
    pub(crate) handle: u64,
    /// The device it belongs to.
    pub(crate) device: &'static Device,
    /// Whether it is its device's primary context.
    pub(crate) primary: bool,
    /// `CU_CTX_...` flags.
    pub(crate) flags: AtomicU32,
    /// Limits and preferences.
    pub(crate) settings: Mutex<ContextSettings>,
    /// Contexts whose memory this one may use.
    pub(crate) peers: Arc<crate::memory::peer_access::PeerAccess>,
    /// Stops running kernels.
    pub(crate) cancel: Arc<CancelFlag>,
    /// The legacy default stream.
    pub(crate) legacy: Arc<Stream>,
    order: Mutex<LegacyStreamOrder>,
    streams: Mutex<Vec<Weak<Stream>>>,
    /// `cuCtxAttach` and `cuCtxDetach` count here; creation counts as one.
    usage: AtomicU32,
    destroyed: AtomicBool,
    failed: AtomicU32,
    /// The error that poisoned the context, with its report.
    failure: Mutex<Option<Error>>,
    /// Whether a call has returned the error that poisoned the context.
    error_reported: AtomicBool,
    /// An error of queued work that does not poison the context; the next wait returns it.
    pending: Mutex<Option<Error>>,
}

/// What `cuCtxSetLimit` and its relatives set.
#[derive(Debug)]
pub(crate) struct ContextSettings {
    /// The limits.
    pub(crate) limits: ContextLimits,
    /// `CUfunc_cache`
    pub(crate) cache_config: u32,
    /// `CUsharedconfig`
    pub(crate) shared_config: u32,
}

impl Default for ContextSettings {
    fn default() -> ContextSettings {
        ContextSettings { limits: ContextLimits::default(), cache_config: 0, shared_config: 1 }
    }
}

/// The primary context of a device.
#[derive(Debug, Default)]
pub(crate) struct PrimaryContext {
    context: Option<Arc<Context>>,
    /// 0 before it is first retained.
    handle: u64,
    retained: u32,
    flags: u32,
}

thread_local! {
    static CONTEXT_STACK: RefCell<Vec<Arc<Context>>> = const { RefCell::new(Vec::new()) };
    static DEFAULT_STREAMS: RefCell<HashMap<u64, Arc<Stream>>> = RefCell::new(HashMap::new());
}

/// How long the end of a context waits for its work before it stops it.
const DESTROY_TIMEOUT: Duration = Duration::from_secs(3);

const FLAGS_MASK: u32 = 0xff;
const SCHEDULING_MASK: u32 = 7;

fn check_context_flags(flags: u32) -> Res {
    ensure(flags & !FLAGS_MASK == 0, ResultCode::INVALID_VALUE)?;
    ensure(matches!(flags & SCHEDULING_MASK, 0 | 1 | 2 | 4), ResultCode::INVALID_VALUE)
}

impl Context {
    /// A new context, current nowhere.
    pub(crate) fn create(device: &'static Device, flags: u32) -> Res<Arc<Context>> {
        // Dumps that the program asks for are dumps.
        let (asked, dumps) = (CUctx_flags::CU_CTX_USER_COREDUMP_ENABLE.0, CUctx_flags::CU_CTX_COREDUMP_ENABLE.0);
        let flags = if flags & asked != 0 { flags & !asked | dumps } else { flags };
        Context::create_with_handle(device, flags, false, 0)
    }

    /// A new context, behind the handle of an ended one if one is given.
    fn create_with_handle(device: &'static Device, flags: u32, primary: bool, handle: u64) -> Res<Arc<Context>> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        check_context_flags(flags)?;
        device.check_not_ended()?;
        // A context without a window could not hold memory: say so now.
        crate::memory::account::device_heap()?;
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let _none_ends = LIFETIME_LOCK.lock().ignore_poison();
        let make = |handle| {
            Arc::new_cyclic(|weak: &Weak<Context>| Context {
                id,
                handle,
                device,
                primary,
                flags: AtomicU32::new(flags),
                settings: Mutex::default(),
                peers: Arc::new(crate::memory::peer_access::PeerAccess::new(device.ordinal)),
                cancel: Arc::new(CancelFlag::new()),
                legacy: Stream::new(weak.clone(), id, StreamKind::Legacy, 0),
                order: Mutex::default(),
                streams: Mutex::default(),
                usage: AtomicU32::new(1),
                destroyed: AtomicBool::new(false),
                failed: AtomicU32::new(0),
                failure: Mutex::new(None),
                error_reported: AtomicBool::new(false),
                pending: Mutex::new(None),
            })
        };
        let context = if handle == 0 { CONTEXTS.insert_with(make)?.1 } else { make(handle) };
        if handle != 0 {
            CONTEXTS.replace_object(handle, context.clone())?;
        }
        context.add_stream(&context.legacy.clone());
        context.cancel.set_peer_access(context.peers.clone());
        exec::register_cancel_flag(Arc::downgrade(&context.cancel));
        Ok(context)
    }

    /// Destroys the context: waits for its work, stops what takes too long, then frees all it owns.
    pub(crate) fn destroy(self: &Arc<Self>) -> Res {
        if self.destroyed.swap(true, Ordering::AcqRel) {
            return ResultCode::CONTEXT_IS_DESTROYED.err();
        }
        self.wait_without_running_operations(Some(Instant::now() + DESTROY_TIMEOUT));
        self.cancel.cancel_launches();
        self.wait_without_running_operations(None);
        printf::flush_output();
        self.print_unreported_errors();
        CONTEXTS.remove_orphaned_objects(|c| c.id == self.id && !c.primary);
        release_resources(self.id);
        let _none_begins = LIFETIME_LOCK.lock().ignore_poison();
        if CONTEXTS.find_object(Context::is_alive).is_none() {
            // The heap of device-side `malloc` is one for all contexts and goes with the last.
            crate::memory::leaks::report_malloc_leaks(exec::runtime_calls::device_memory_in_use());
            exec::runtime_calls::reset_device_malloc();
        }
        let _ = CONTEXT_STACK.try_with(|s| {
            let mut stack = s.borrow_mut();
            if stack.last().is_some_and(|top| top.id == self.id && !self.primary) {
                stack.pop();
            }
        });
        Ok(())
    }

    /// Whether the context still exists.
    pub(crate) fn is_alive(&self) -> bool {
        !self.destroyed.load(Ordering::Acquire)
    }

    /// Fails when the context is destroyed or poisoned.
    pub(crate) fn check_usable(&self) -> Res {
        ensure(self.is_alive(), ResultCode::CONTEXT_IS_DESTROYED)?;
        self.check_not_poisoned()
    }

    /// Fails when the context is poisoned. Work that is queued when a context is being destroyed is
    /// still done, so it asks this.
    pub(crate) fn check_not_poisoned(&self) -> Res {
        if self.failed.load(Ordering::Acquire) == 0 {
            return Ok(());
        }
        self.error_reported.store(true, Ordering::Relaxed);
        let failure = self.failure.lock().ignore_poison();
        Err(failure.clone().unwrap_or(ResultCode::UNKNOWN.into()))
    }

    /// Whether the context is poisoned. Queued work is not done then, but that reports no error.
    pub(crate) fn is_poisoned(&self) -> bool {
        self.failed.load(Ordering::Acquire) != 0
    }

    /// Reports what went wrong in the context to the standard error if no call has said so. The
    /// context or the process is about to end.
    pub(crate) fn print_unreported_errors(&self) {
        let failure = self.failure.lock().ignore_poison().take();
        let failure = failure.filter(|_| !self.error_reported.swap(true, Ordering::Relaxed));
        let pending = self.pending.lock().ignore_poison().take();
        for error in failure.iter().chain(&pending) {
            let name = error.code.name().and_then(|n| n.to_str().ok()).unwrap_or("unknown error");
            let detail = error.detail.as_deref().unwrap_or("no details are known");
            eprintln!("rtcg: {name}, which no call has reported: {detail}");
        }
    }

    /// Stops the context's running kernels and drops what is queued, because the user wants it.
    pub(crate) fn interrupt(&self) {
        self.cancel.interrupt_launches();
    }

    /// The error of calls that an interruption ends. Returns when the stopped kernels have ended,
    /// so that the memory they use can be freed.
    pub(crate) fn interruption_error(&self) -> Error {
        let begun = Instant::now();
        while !self.cancel.has_no_running_launches() && begun.elapsed() < DESTROY_TIMEOUT {
            std::thread::sleep(Duration::from_micros(200));
        }
        stream::interruption_error()
    }

    /// Takes note of queued work that failed: a fault poisons the context, anything else is what the
    /// next wait returns.
    pub(crate) fn record_failure(&self, error: &Error) {
        if !self.poison(error) {
            self.pending.lock().ignore_poison().get_or_insert_with(|| error.clone());
        }
    }

    /// Spoils the context for good if the error is one that does; the first one is kept.
    pub(crate) fn poison(&self, error: &Error) -> bool {
        if error.transient || !is_sticky_error(error.code) {
            return false;
        }
        let mut failure = self.failure.lock().ignore_poison();
        let first = failure.get_or_insert_with(|| error.clone()).code.0;
        self.failed.store(first, Ordering::Release);
        if faults_end_devices() {
            self.device.end(first);
        }
        true
    }

    /// The report of the fault that poisoned the context.
    pub(crate) fn fault_report(&self) -> Option<String> {
        let failure = self.failure.lock().ignore_poison();
        failure.as_ref().and_then(|e| e.detail.as_deref().map(str::to_owned))
    }

    /// Waits for all streams and says what went wrong in them.
    pub(crate) fn synchronize(&self) -> Res {
        self.wait_for_all_streams(self.stream_points())?;
        release_unused_reservations();
        self.check_async_errors()
    }

    /// What a wait for work of this context returns.
    pub(crate) fn check_async_errors(&self) -> Res {
        printf::flush_output();
        self.check_usable()?;
        self.take_pending_error()
    }

    /// What went wrong in work that does not poison the context, told once.
    pub(crate) fn take_pending_error(&self) -> Res {
        let pending = self.pending.lock().ignore_poison().take();
        pending.map_or(Ok(()), Err)
    }

    /// Points after everything that has been submitted to any stream.
    pub(crate) fn stream_points(&self) -> Vec<stream::StreamPoint> {
        let streams = self.all_streams();
        streams.iter().filter(|s| !s.is_idle()).map(|s| s.last_submitted_point()).collect()
    }

    /// All streams of the context that still accept work.
    pub(crate) fn all_streams(&self) -> Vec<Arc<Stream>> {
        let mut streams = self.streams.lock().ignore_poison();
        streams.retain(|s| s.strong_count() > 0);
        streams.iter().filter_map(Weak::upgrade).collect()
    }

    /// Waits for the streams that the legacy default stream waits for.
    pub(crate) fn wait_for_blocking_streams(&self) -> Res {
        self.wait_for_all_streams(self.points_of_blocking_streams())
    }

    /// Points after what has been submitted to the legacy default stream and the streams that it waits for, where that is
    /// not finished.
    pub(crate) fn points_of_blocking_streams(&self) -> Vec<stream::StreamPoint> {
        let mut fences = self.stream_points();
        fences.retain(|f| f.stream().kind != StreamKind::NonBlocking);
        fences
    }

    /// Waits for points of any streams, on behalf of a call.
    pub(crate) fn wait_for_all_streams(&self, fences: impl IntoIterator<Item = stream::StreamPoint>) -> Res {
        let generation = self.cancel.interrupt_generation();
        fences
            .into_iter()
            .try_for_each(|f| f.wait_until_reached(self, generation))
            .map_err(|_| self.interruption_error())
    }

    /// Waits for all streams without working them off itself, so that it can stop waiting: when
    /// the deadline is over or the user wants it.
    fn wait_without_running_operations(&self, deadline: Option<Instant>) {
        let next = || {
            let soon = Instant::now() + exec::CHECK_INTERVAL;
            Some(deadline.map_or(soon, |d| d.min(soon)))
        };
        for fence in self.stream_points() {
            while !fence.wait_without_running_operations(next()) {
                if deadline.is_some_and(|d| Instant::now() >= d) || exec::is_interrupt_requested() {
                    return;
                }
            }
        }
    }

    /// Makes a stream one that waits for the context include.
    pub(crate) fn add_stream(&self, stream: &Arc<Stream>) {
        let mut streams = self.streams.lock().ignore_poison();
        // Of streams that are gone a weak reference keeps the memory. They are looked for whenever the list
        // would have to grow, so that at most as many are kept as there were at once, and adding stays cheap.
        if streams.len() == streams.capacity() {
            streams.retain(|s| s.strong_count() > 0);
        }
        streams.push(Arc::downgrade(stream));
    }

    /// The lock under which the order between blocking streams is fixed.
    pub(crate) fn lock_legacy_stream_order(&self) -> MutexGuard<'_, LegacyStreamOrder> {
        self.order.lock().ignore_poison()
    }

    /// The settings.
    pub(crate) fn lock_settings(&self) -> MutexGuard<'_, ContextSettings> {
        self.settings.lock().ignore_poison()
    }

    /// Takes note of a launch, which may fix or raise limits.
    pub(crate) fn note_launch(&self, kernel: &Kernel) {
        if kernel.touches_limits() {
            self.lock_settings().limits.note_launch(kernel);
        }
    }

    /// The calling thread's default stream.
    pub(crate) fn per_thread_stream(self: &Arc<Self>) -> Res<Arc<Stream>> {
        let get = |map: &RefCell<HashMap<u64, Arc<Stream>>>| {
            let mut map = map.borrow_mut();
            map.retain(|_, s| s.ctx.strong_count() > 0);
            let stream = map.entry(self.id).or_insert_with(|| {
                let stream = Stream::new(Arc::downgrade(self), self.id, StreamKind::Blocking, 0);
                self.add_stream(&stream);
                stream
            });
            stream.clone()
        };
        DEFAULT_STREAMS.try_with(get).map_err(|_| ResultCode::INVALID_CONTEXT.into())
    }

    /// `cuCtxAttach`
    pub(crate) fn attach(&self) {
        self.usage.fetch_add(1, Ordering::AcqRel);
    }

    /// `cuCtxDetach`: destroys the context with its last use.
    pub(crate) fn detach(self: &Arc<Self>) -> Res {
        if self.usage.fetch_sub(1, Ordering::AcqRel) == 1 { self.destroy() } else { Ok(()) }
    }

    /// `CU_CTX_...` flags.
    pub(crate) fn set_flags(&self, flags: u32) -> Res {
        check_context_flags(flags)?;
        self.flags.store(flags, Ordering::Release);
        Ok(())
    }
}

/// Waits for the work of all contexts, for a few seconds, and stops what still runs then. For
/// programs that are about to end and free what kernels use, which waits for them.
pub fn finish_or_cancel_work() {
    let deadline = Instant::now() + DESTROY_TIMEOUT;
    CONTEXTS.for_each(|ctx| {
        ctx.wait_without_running_operations(Some(deadline));
        let running = ctx.cancel.running_kernels();
        if !running.is_empty() {
            eprintln!("rtcg: still running at the end of the program, and stopped: {}", running.join(", "));
        }
        ctx.interrupt();
        let _ = ctx.interruption_error();
    });
}

/// What a fault ends, as `RTCG_FAULTS` says: `true` for the whole device, `None` where it is not set.
pub(crate) fn fault_scope_from_environment() -> Result<Option<bool>, String> {
    let parse = |text: &str| match text {
        "context" => Some(false),
        "sticky" => Some(true),
        _ => None,
    };
    rtcg_vgpu_abi::env::read_setting("RTCG_FAULTS", "context or sticky", parse)
}

/// Whether a fault ends its device for the process.
pub(crate) fn faults_end_devices() -> bool {
    static FAULTS_END_DEVICES: OnceLock<bool> = OnceLock::new();
    // The driver's initialisation has reported a text that cannot be read.
    *FAULTS_END_DEVICES.get_or_init(|| fault_scope_from_environment().ok().flatten().unwrap_or(false))
}

/// Errors after which the context can only be destroyed.
fn is_sticky_error(code: ResultCode) -> bool {
    matches!(code.0, 700 | 702 | 710 | 714..=719 | 721)
}

/// The context behind a handle, which must be alive.
pub(crate) fn context_by_handle(handle: u64) -> Res<Arc<Context>> {
    let context = alive_or_primary_context(handle)?;
    ensure(context.is_alive(), ResultCode::INVALID_CONTEXT)?;
    Ok(context)
}

/// The context behind a handle, which must be alive or a primary one: that can be made current whenever.
pub(crate) fn alive_or_primary_context(handle: u64) -> Res<Arc<Context>> {
    CONTEXTS.get_object_or(handle, ResultCode::INVALID_CONTEXT)
}

/// The calling thread's current context, destroyed or not. A primary context that ended and was
/// retained again is the new one.
pub(crate) fn top_of_context_stack() -> Option<Arc<Context>> {
    let context = CONTEXT_STACK.try_with(|s| s.borrow().last().cloned()).ok().flatten()?;
    if context.primary && !context.is_alive() {
        return CONTEXTS.get_object_or(context.handle, ResultCode::INVALID_CONTEXT).ok();
    }
    Some(context)
}

/// The calling thread's current context; without one, the context that owns what a call ends.
pub(crate) fn current_or_owner_context(owner: u64) -> Res<Arc<Context>> {
    if top_of_context_stack().is_some() {
        return current_alive_context();
    }
    CONTEXTS.find_object(|c| c.id == owner).ok_or(ResultCode::INVALID_CONTEXT.into())
}

/// The calling thread's current context, for queries of a primary context that need not exist.
pub(crate) fn current_or_primary_context() -> Res<Arc<Context>> {
    top_of_context_stack().filter(|c| c.primary).map_or_else(current_alive_context, Ok)
}

/// The calling thread's current context, alive but perhaps poisoned.
pub(crate) fn current_alive_context() -> Res<Arc<Context>> {
    ensure(!stream::is_in_host_call(), ResultCode::NOT_PERMITTED)?;
    let context = top_of_context_stack().ok_or(ResultCode::INVALID_CONTEXT)?;
    ensure(context.is_alive(), ResultCode::CONTEXT_IS_DESTROYED)?;
    Ok(context)
}

/// The calling thread's current context, ready for work.
pub(crate) fn current() -> Res<Arc<Context>> {
    let context = current_alive_context()?;
    context.check_usable()?;
    Ok(context)
}

/// Puts a context on the calling thread's stack.
pub(crate) fn push_current(context: Arc<Context>) -> Res {
    CONTEXT_STACK.try_with(|s| s.borrow_mut().push(context)).map_err(|_| ResultCode::INVALID_CONTEXT.into())
}

/// Takes the current context off the calling thread's stack.
pub(crate) fn pop_current() -> Res<Arc<Context>> {
    CONTEXT_STACK.try_with(|s| s.borrow_mut().pop()).ok().flatten().ok_or(ResultCode::INVALID_CONTEXT.into())
}

/// Replaces the top of the calling thread's stack; `None` empties that place.
pub(crate) fn set_current(context: Option<Arc<Context>>) -> Res {
    let _ = CONTEXT_STACK.try_with(|s| s.borrow_mut().pop());
    context.map_or(Ok(()), push_current)
}

/// Memory of a context.
impl Context {
    /// Allocates and charges the device.
    pub(crate) fn alloc_block(&self, size: u64, kind: MemoryKind, pool: u64, flags: u32) -> Res<HeapBlock> {
        let owner = BlockOwner { ctx: self.id, device: self.device.ordinal, pool };
        account::alloc_block(owner, self.device, size, kind, flags)
    }

    /// Allocates; if there is no room, once more after the work that may free some.
    pub(crate) fn alloc_with_retry(&self, size: usize, kind: MemoryKind, pool: u64, flags: u32) -> Res<HeapBlock> {
        match self.alloc_block(size as u64, kind, pool, flags) {
            Err(error) if error.code == ResultCode::OUT_OF_MEMORY => {
                self.synchronize()?;
                account::device_heap()?.trim_free_pages();
                self.alloc_block(size as u64, kind, pool, flags)
            }
            outcome => outcome,
        }
    }
}

impl Device {
    fn lock_primary_context(&self) -> MutexGuard<'static, PrimaryContext> {
        static PRIMARY_CONTEXTS: OnceLock<Box<[Mutex<PrimaryContext>]>> = OnceLock::new();
        let all = PRIMARY_CONTEXTS.get_or_init(|| virtual_devices().iter().map(|_| Mutex::default()).collect());
        all[self.ordinal as usize].lock().ignore_poison()
    }

    /// `cuDevicePrimaryCtxRetain`
    pub(crate) fn retain_primary(&'static self) -> Res<Arc<Context>> {
        self.check_not_ended()?;
        let mut primary = self.lock_primary_context();
        let context = match primary.context.clone().filter(|c| c.is_alive()) {
            Some(context) => context,
            None => {
                let context = Context::create_with_handle(self, primary.flags, true, primary.handle)?;
                primary.handle = context.handle;
                primary.context = Some(context.clone());
                context
            }
        };
        primary.retained += 1;
        Ok(context)
    }

    /// `cuDevicePrimaryCtxRelease`
    pub(crate) fn release_primary(&self) -> Res {
        let mut primary = self.lock_primary_context();
        ensure(primary.retained > 0, ResultCode::INVALID_CONTEXT)?;
        primary.retained -= 1;
        if primary.retained > 0 {
            return Ok(());
        }
        let context = primary.context.take();
        drop(primary);
        context.filter(|c| c.is_alive()).map_or(Ok(()), |c| c.destroy())
    }

    /// `cuDevicePrimaryCtxReset`: the context is destroyed even if it is retained, and its flags are
    /// those of a new one.
    pub(crate) fn reset_primary(&self) -> Res {
        let mut primary = self.lock_primary_context();
        primary.flags = FLAGS_AFTER_RESET;
        let context = primary.context.take();
        drop(primary);
        context.filter(|c| c.is_alive()).map_or(Ok(()), |c| c.destroy())
    }

    /// `cuDevicePrimaryCtxSetFlags`
    pub(crate) fn set_primary_flags(&self, flags: u32) -> Res {
        check_context_flags(flags)?;
        let mut primary = self.lock_primary_context();
        primary.flags = flags;
        primary.context.as_ref().map_or(Ok(()), |c| c.set_flags(flags | FLAGS_OF_ACTIVE_PRIMARY))
    }

    /// `cuDevicePrimaryCtxGetState`: flags, and whether the context exists.
    pub(crate) fn primary_state(&self) -> (u32, bool) {
        let primary = self.lock_primary_context();
        (primary.flags, primary.context.as_ref().is_some_and(|c| c.is_alive()))
    }
}
