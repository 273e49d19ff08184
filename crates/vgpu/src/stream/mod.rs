//! Streams: queues of operations with an order of their own.
//!
//! Establishes: the operations of a stream run one after the other, each after its stream points, and
//! operation number `n` of a stream is finished exactly when `completed >= n`. The legacy default
//! stream waits for every blocking stream of its context and they wait for it; that order is fixed
//! under one lock of the context when an operation is submitted, so waits never form a cycle.
//!
//! The thread that claims a queue runs its operations: the submitting thread if the stream is idle and the
//! operation is short ([`InlineClaim`]), a thread that waits for the stream, or a runner thread.

pub(crate) mod attributes;
pub(crate) mod capture;
pub(crate) mod chaos_schedule;
pub(crate) mod context;
pub(crate) mod event;
pub(crate) mod external_work;
mod ipc_event;
pub(crate) mod limits;
pub(crate) mod memory_op;
mod runner;

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use crate::error::catch_panic;
use crate::stream::attributes::AdviceAttributes;
use crate::stream::context::Context;
use crate::stream::event::CompletionRecord;
use crate::stream::external_work::ExternalCompletion;
use capture::StreamCapture;
use rtcg_vgpu_abi::error::{Error, Res, ResultCode};
use rtcg_vgpu_abi::{IgnorePoison, handle_table::HandleTable};
use rtcg_vgpu_exec as exec;

/// Streams made by `cuStreamCreate`.
pub(crate) static STREAMS: HandleTable<Stream> = HandleTable::new(0x12);

/// How a stream relates to the legacy default stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamKind {
    /// The legacy default stream itself.
    Legacy,
    /// Waits for it and is waited for.
    Blocking,
    /// Ignores it (`CU_STREAM_NON_BLOCKING`).
    NonBlocking,
}

/// A queue of operations.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Unique in the process.
    pub(crate) id: u64,
    /// Its context; gone when nothing of it is left.
    pub(crate) ctx: Weak<Context>,
    /// Identifier of its context.
    pub(crate) ctx_id: u64,
    /// Relation to the legacy default stream.
    pub(crate) kind: StreamKind,
    /// As given at creation, clamped; reported, without effect on scheduling.
    pub(crate) priority: i32,
    /// Advice that the program gave.
    pub(crate) attributes: Mutex<AdviceAttributes>,
    /// Whether `capture` is set.
    pub(crate) capturing: AtomicBool,
    /// What is submitted becomes nodes of a graph meanwhile.
    pub(crate) capture: Mutex<Option<StreamCapture>>,
    queue: Mutex<OperationQueue>,
    progress: Condvar,
    submitted: AtomicU64,
    completed: AtomicU64,
}

#[derive(Debug, Default)]
struct OperationQueue {
    operations: VecDeque<StreamOperation>,
    /// A thread has claimed the queue and runs its operations (or one that never was in it).
    has_worker: bool,
    /// A runner thread has been asked for.
    scheduled: bool,
    /// Threads that wait for `progress`; a wake-up without waiters would still be a system call.
    n_waiting: u32,
}

/// A point in a stream's order.
#[derive(Debug, Clone)]
pub(crate) struct StreamPoint {
    stream: Arc<Stream>,
    number: u64,
}

/// Fences of one operation.
pub(crate) type StreamPoints = SmallVec<[StreamPoint; 2]>;

struct StreamOperation {
    number: u64,
    fences: StreamPoints,
    ctx: Arc<Context>,
    /// How often the context had been interrupted when this was submitted.
    generation: u64,
    work: OperationWork,
}

impl std::fmt::Debug for StreamOperation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operation").field("number", &self.number).finish_non_exhaustive()
    }
}

impl StreamOperation {
    /// Waits for what comes before it in other streams.
    fn wait_for_stream_points(&self) {
        // An interrupted wait is met again, and dealt with, where the operation runs.
        let _ = self.fences.iter().try_for_each(|f| f.wait_until_reached(&self.ctx, self.generation));
    }
}

impl OperationWork {
    /// Whether the thread that runs a queue hands the operation on, with the claim of the stream.
    fn is_handed_on(&self) -> bool {
        matches!(self, OperationWork::Host(_) | OperationWork::External(_))
    }
}

/// What an operation does when it reaches the head of the stream.
pub(crate) enum OperationWork {
    /// Device work; skipped once the context has failed, and a failure of it fails the context.
    Device(Box<dyn FnOnce() -> Res + Send>),
    /// Giving something back; done whatever has become of the context.
    CleanUp(Box<dyn FnOnce() -> Res + Send>),
    /// A call into the program. It runs on the thread for such calls, one after the other in the whole
    /// process, and is told what became of the work before it.
    Host(Box<dyn FnOnce(Res) + Send>),
    /// Work of something beside the driver: it is started, and the stream stays claimed by no thread until that something
    /// finishes it.
    External(Box<dyn FnOnce(ExternalCompletion) + Send>),
    /// The time is to be written down.
    Record(Arc<CompletionRecord>),
    /// Nothing but its fences.
    Wait,
}

thread_local! {
    static RUNNING_OPERATION: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
    static IN_HOST_CALL: Cell<bool> = const { Cell::new(false) };
    static DRAIN_DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// How deep waiting threads may work off other streams' queues on one stack.
const MAX_DRAIN_DEPTH: u32 = 6;

/// Whether the calling thread is inside a host function that a stream called: few driver calls are
/// permitted there, and none that waits, for a stream could wait for itself.
pub(crate) fn is_in_host_call() -> bool {
    IN_HOST_CALL.try_with(Cell::get).unwrap_or(false)
}

/// Context and stream whose operation the calling thread runs, or ran last.
pub(crate) fn running_operation() -> (u64, u64) {
    RUNNING_OPERATION.get()
}

impl Stream {
    /// A new idle stream.
    pub(crate) fn new(ctx: Weak<Context>, ctx_id: u64, kind: StreamKind, priority: i32) -> Arc<Stream> {
        static NEXT_STREAM_ID: AtomicU64 = AtomicU64::new(1);
        Arc::new(Stream {
            id: NEXT_STREAM_ID.fetch_add(1, Ordering::Relaxed),
            ctx,
            ctx_id,
            kind,
            priority,
            attributes: Mutex::default(),
            capturing: AtomicBool::new(false),
            capture: Mutex::default(),
            queue: Mutex::default(),
            progress: Condvar::new(),
            submitted: AtomicU64::new(0),
            completed: AtomicU64::new(0),
        })
    }

    /// Whether everything submitted so far is finished.
    pub(crate) fn is_idle(&self) -> bool {
        self.completed.load(Ordering::Acquire) >= self.submitted.load(Ordering::Acquire)
    }

    /// The point in the order after everything submitted so far.
    pub(crate) fn last_submitted_point(self: &Arc<Self>) -> StreamPoint {
        StreamPoint { stream: self.clone(), number: self.submitted.load(Ordering::Acquire) }
    }

    /// Claims an idle stream for an operation that the calling thread runs itself, right now.
    /// `None` when the stream is busy or the operation has to wait for something.
    pub(crate) fn try_run_inline<'a>(self: &'a Arc<Self>, ctx: &Arc<Context>) -> Option<InlineClaim<'a>> {
        if chaos_schedule::is_chaos_on() {
            return None;
        }
        let order = (self.kind != StreamKind::NonBlocking).then(|| ctx.lock_legacy_stream_order());
        let mut queue = self.lock_queue();
        if queue.has_worker || !queue.operations.is_empty() {
            return None;
        }
        if let Some(mut order) = order {
            if !order.implicit_stream_points(self).iter().all(StreamPoint::is_point_reached) {
                return None;
            }
            order.add_busy_stream(self);
        }
        queue.has_worker = true;
        RUNNING_OPERATION.set((self.ctx_id, self.id));
        let number = self.submitted.fetch_add(1, Ordering::AcqRel) + 1;
        Some(InlineClaim { stream: self, number })
    }

    /// Appends an operation; it runs after everything submitted to this stream before, after what
    /// the legacy default stream's rules ask for, and after `fences`.
    pub(crate) fn submit_operation(
        self: &Arc<Self>,
        ctx: &Arc<Context>,
        mut fences: StreamPoints,
        work: OperationWork,
    ) -> StreamPoint {
        let order = (self.kind != StreamKind::NonBlocking).then(|| ctx.lock_legacy_stream_order());
        let mut queue = self.lock_queue();
        if let Some(mut order) = order {
            fences.extend(order.implicit_stream_points(self));
            order.add_busy_stream(self);
        }
        fences.retain(|f| !f.is_point_reached());
        let number = self.submitted.fetch_add(1, Ordering::AcqRel) + 1;
        if matches!(work, OperationWork::External(_)) {
            external_work::note_submission();
        }
        queue.operations.push_back(StreamOperation {
            number,
            fences,
            ctx: ctx.clone(),
            generation: ctx.cancel.interrupt_generation(),
            work,
        });
        if chaos_schedule::is_chaos_on() {
            drop(queue);
            chaos_schedule::queue_submitted_stream(self);
            return StreamPoint { stream: self.clone(), number };
        }
        // In a fixed order an operation ends before the next one is submitted; but one that others finish may need
        // that one.
        let at_once = external_work::is_all_external_work_done()
            && rtcg_vgpu_abi::schedule::current_schedule().is_reproducible()
            && !is_in_host_call();
        self.schedule_runner_if_needed(queue);
        let fence = StreamPoint { stream: self.clone(), number };
        if at_once {
            // An interrupted wait is the next call's matter.
            let _ = fence.wait_until_reached(ctx, ctx.cancel.interrupt_generation());
        }
        fence
    }

    /// Runs work in the stream's order: at once in the calling thread if it is `short` and the
    /// stream idle, else later.
    pub(crate) fn run_or_submit(
        self: &Arc<Self>,
        ctx: &Arc<Context>,
        short: bool,
        work: impl FnOnce() -> Res + Send + 'static,
    ) -> Res {
        let turn = if short { self.try_run_inline(ctx) } else { None };
        match turn {
            Some(_turn) => work().inspect_err(|e| {
                ctx.poison(e);
            }),
            None => {
                self.submit_operation(ctx, StreamPoints::new(), OperationWork::Device(Box::new(work)));
                Ok(())
            }
        }
    }

    /// Runs work in the stream's order and returns when it is finished.
    pub(crate) fn run_and_wait(
        self: &Arc<Self>,
        ctx: &Arc<Context>,
        work: impl FnOnce() -> Res + Send + 'static,
    ) -> Res {
        if let Some(_turn) = self.try_run_inline(ctx) {
            let outcome = work().inspect_err(|e| {
                ctx.poison(e);
            });
            // What waits for nothing also tells what went wrong before.
            return outcome.and_then(|()| ctx.take_pending_error());
        }
        // The work may use memory that is the caller's only while the call lasts, so after an
        // interruption it must either be over or never begin.
        let begun = Arc::new(AtomicBool::new(false));
        let first = begun.clone();
        let work = move || if first.swap(true, Ordering::AcqRel) { Ok(()) } else { work() };
        let fence = self.submit_operation(ctx, StreamPoints::new(), OperationWork::Device(Box::new(work)));
        let waited = ctx.wait_for_all_streams([fence.clone()]);
        if waited.is_err() && begun.swap(true, Ordering::AcqRel) {
            fence.wait_without_running_operations(None);
        }
        waited?;
        ctx.check_async_errors()
    }

    fn lock_queue(&self) -> MutexGuard<'_, OperationQueue> {
        self.queue.lock().ignore_poison()
    }

    /// Ensures that a thread runs the queue's operations. Consumes the lock so that no thread is woken
    /// under it.
    fn schedule_runner_if_needed(self: &Arc<Self>, mut queue: MutexGuard<'_, OperationQueue>) {
        if queue.has_worker || queue.scheduled || queue.operations.is_empty() {
            return;
        }
        let is_call =
            |op: &mut StreamOperation| op.work.is_handed_on() && op.fences.iter().all(StreamPoint::is_point_reached);
        if let Some(operation) = queue.operations.pop_front_if(is_call) {
            queue.has_worker = true;
            drop(queue);
            return self.hand_on(operation);
        }
        queue.scheduled = true;
        drop(queue);
        runner::schedule_stream(self.clone());
    }

    /// Works the queue off on a runner thread.
    fn run_queue(self: &Arc<Self>) {
        let mut queue = self.lock_queue();
        queue.scheduled = false;
        if queue.has_worker {
            // Whoever has claimed the queue looks after the rest when he is done.
            return;
        }
        queue.has_worker = true;
        while let Some(operation) = queue.operations.pop_front() {
            drop(queue);
            if operation.work.is_handed_on() {
                operation.wait_for_stream_points();
                return self.hand_on(operation);
            }
            self.run_operation(operation);
            queue = self.lock_queue();
        }
        queue.has_worker = false;
    }

    /// Has an operation run that no thread of ours runs; the stream stays claimed until it is finished.
    fn hand_on(self: &Arc<Self>, operation: StreamOperation) {
        match operation.work {
            OperationWork::External(start) => {
                let StreamOperation { number, ctx, generation, .. } = operation;
                start(ExternalCompletion { stream: self.clone(), ctx, number, generation });
            }
            _ => runner::run_on_host_call_thread(self.clone(), operation),
        }
    }

    /// Runs a host function on the thread for them; what follows in the queue is a runner's.
    fn run_host_operation(self: &Arc<Self>, operation: StreamOperation) {
        self.run_operation(operation);
        self.give_up_claim();
    }

    /// Leaves the rest of the queue to a runner.
    fn give_up_claim(self: &Arc<Self>) {
        let mut queue = self.lock_queue();
        queue.has_worker = false;
        self.schedule_runner_if_needed(queue);
    }

    /// Works the queue off up to operation `number` on a thread that has to wait for it. Stops
    /// early at a host call. Returns the lock.
    fn drain_queue_until<'a>(
        self: &'a Arc<Self>,
        number: u64,
        mut queue: MutexGuard<'a, OperationQueue>,
    ) -> MutexGuard<'a, OperationQueue> {
        queue.has_worker = true;
        while queue.operations.front().is_some_and(|op| op.number <= number && !op.work.is_handed_on()) {
            let Some(operation) = queue.operations.pop_front() else { break };
            drop(queue);
            self.run_operation(operation);
            queue = self.lock_queue();
        }
        queue.has_worker = false;
        queue
    }

    fn run_operation(self: &Arc<Self>, operation: StreamOperation) {
        RUNNING_OPERATION.set((self.ctx_id, self.id));
        let StreamOperation { number, fences, ctx, generation, work } = operation;
        let waited = fences.iter().try_for_each(|f| f.wait_until_reached(&ctx, generation));
        match work {
            OperationWork::Device(_) if waited.is_err() || is_interrupted_generation(&ctx, generation) => {}
            OperationWork::Device(work) => run_device_work(&ctx, generation, work),
            OperationWork::CleanUp(work) => {
                if let Err(error) = catch_panic(work) {
                    ctx.record_failure(&error);
                }
            }
            OperationWork::Host(call) => run_host_call(&ctx, generation, call),
            // Handed on where it is taken from the queue.
            OperationWork::External(_) => {}
            OperationWork::Record(record) => record.mark_completed(),
            OperationWork::Wait => {}
        }
        self.complete_operation(number);
    }

    fn complete_operation(&self, number: u64) {
        let queue = self.lock_queue();
        self.publish_completion(number, &queue);
    }

    /// The lock keeps a waiting thread from missing the news.
    fn publish_completion(&self, number: u64, queue: &MutexGuard<'_, OperationQueue>) {
        self.completed.store(number, Ordering::Release);
        if queue.n_waiting > 0 {
            self.progress.notify_all();
        }
    }

    /// Waits on behalf of `ctx`, and fails when its work is dropped or the user wants no more waiting.
    fn wait_for_operation(self: &Arc<Self>, number: u64, ctx: &Context, generation: u64) -> Res {
        if self.completed.load(Ordering::Acquire) >= number {
            return Ok(());
        }
        let mut queue = self.lock_queue();
        while self.completed.load(Ordering::Acquire) < number {
            if is_interrupted_generation(ctx, generation) {
                return Err(interruption_error());
            }
            if chaos_schedule::is_chaos_on() {
                drop(queue);
                let ran = chaos_schedule::run_random_operation();
                queue = self.lock_queue();
                if ran {
                    continue;
                }
            }
            let can_help = !chaos_schedule::is_chaos_on()
                && !queue.has_worker
                && queue.operations.front().is_some_and(|op| !op.work.is_handed_on());
            let depth = DRAIN_DEPTH.try_with(Cell::get).unwrap_or(MAX_DRAIN_DEPTH);
            if can_help && depth < MAX_DRAIN_DEPTH {
                DRAIN_DEPTH.set(depth + 1);
                queue = self.drain_queue_until(number, queue);
                DRAIN_DEPTH.set(depth);
                // What is left belongs to a runner; the one asked for may have come and gone.
                self.schedule_runner_if_needed(queue);
                queue = self.lock_queue();
                continue;
            }
            queue = self.wait_for_progress(queue, exec::CHECK_INTERVAL);
            if self.completed.load(Ordering::Acquire) < number && exec::can_check_interrupt() {
                drop(queue);
                if exec::is_interrupt_requested() {
                    ctx.interrupt();
                }
                queue = self.lock_queue();
            }
        }
        // Dropped work counts as completed.
        if is_interrupted_generation(ctx, generation) { Err(interruption_error()) } else { Ok(()) }
    }

    /// Waits for progress for at most `time`.
    fn wait_for_progress<'a>(
        &'a self,
        mut queue: MutexGuard<'a, OperationQueue>,
        time: Duration,
    ) -> MutexGuard<'a, OperationQueue> {
        queue.n_waiting += 1;
        queue = self.progress.wait_timeout(queue, time).ignore_poison().0;
        queue.n_waiting -= 1;
        queue
    }
}

/// Whether what was submitted to the context in its generation `generation` is not to be done any more.
pub(crate) fn is_interrupted_generation(ctx: &Context, generation: u64) -> bool {
    ctx.cancel.interrupt_generation() != generation || ctx.cancel.is_cancelled()
}

/// The error of what is not done because of an interruption.
pub(crate) fn interruption_error() -> Error {
    let detail = "interrupted: the running kernels of the context were stopped and its queued work was dropped";
    Error { transient: true, ..ResultCode::LAUNCH_TIMEOUT.with_detail(detail) }
}

fn run_device_work(ctx: &Context, generation: u64, work: Box<dyn FnOnce() -> Res + Send>) {
    if ctx.is_poisoned() {
        return;
    }
    let outcome = catch_panic(work);
    // Whoever interrupted the work knows, and whoever waits for it is told by the wait.
    if let Err(error) = outcome
        .or_else(|e| if e.transient && ctx.cancel.interrupt_generation() != generation { Ok(()) } else { Err(e) })
    {
        ctx.record_failure(&error);
    }
}

fn run_host_call(ctx: &Context, generation: u64, call: Box<dyn FnOnce(Res) + Send>) {
    let before =
        if is_interrupted_generation(ctx, generation) { Err(interruption_error()) } else { ctx.check_not_poisoned() };
    IN_HOST_CALL.set(true);
    let outcome = catch_panic(|| {
        call(before);
        Ok(())
    });
    IN_HOST_CALL.set(false);
    if let Err(error) = outcome {
        ctx.record_failure(&error);
    }
}

impl StreamPoint {
    /// Whether the point has been passed.
    pub(crate) fn is_point_reached(&self) -> bool {
        self.stream.completed.load(Ordering::Acquire) >= self.number
    }

    /// Waits on behalf of `ctx` until the point has been passed; fails when the context is
    /// interrupted or destroyed meanwhile (since its generation `generation`).
    pub(crate) fn wait_until_reached(&self, ctx: &Context, generation: u64) -> Res {
        self.stream.wait_for_operation(self.number, ctx, generation)
    }

    /// Waits without working the queue off, and whatever becomes of the context. Whether the point
    /// was passed before the deadline.
    pub(crate) fn wait_without_running_operations(&self, deadline: Option<Instant>) -> bool {
        if chaos_schedule::is_chaos_on() {
            chaos_schedule::run_pending_on_watcher_thread();
        }
        let mut queue = self.stream.lock_queue();
        while !self.is_point_reached() {
            if deadline.is_some_and(|d| Instant::now() >= d) {
                return false;
            }
            queue = self.stream.wait_for_progress(queue, exec::CHECK_INTERVAL);
        }
        true
    }

    /// The stream it is a point of.
    pub(crate) fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }
}

/// The right to run one operation of a stream in the calling thread; the operation is finished
/// when this is dropped.
#[derive(Debug)]
pub(crate) struct InlineClaim<'a> {
    stream: &'a Arc<Stream>,
    number: u64,
}

impl Drop for InlineClaim<'_> {
    fn drop(&mut self) {
        let mut queue = self.stream.lock_queue();
        self.stream.publish_completion(self.number, &queue);
        queue.has_worker = false;
        self.stream.schedule_runner_if_needed(queue);
    }
}

/// The blocking streams of a context that may have unfinished work, and the legacy default stream:
/// what decides which implicit fences an operation gets.
#[derive(Debug, Default)]
pub(crate) struct LegacyStreamOrder {
    busy: Vec<Arc<Stream>>,
}

impl LegacyStreamOrder {
    /// What a new operation of `stream` waits for because of the legacy default stream.
    fn implicit_stream_points(&mut self, stream: &Arc<Stream>) -> StreamPoints {
        let wanted = |other: &&Arc<Stream>| {
            let related = stream.kind == StreamKind::Legacy || other.kind == StreamKind::Legacy;
            related && other.id != stream.id && !other.is_idle()
        };
        self.busy.iter().filter(wanted).map(Stream::last_submitted_point).collect()
    }

    fn add_busy_stream(&mut self, stream: &Arc<Stream>) {
        if self.busy.len() > 8 {
            self.busy.retain(|s| !s.is_idle());
        }
        if !self.busy.iter().any(|s| s.id == stream.id) {
            self.busy.push(stream.clone());
        }
    }
}
