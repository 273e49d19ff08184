//! The chaos schedule of operations: a random order in which only stream order and stream points hold.
//!
//! Establishes: under [`Schedule::Chaos`](rtcg_vgpu_abi::schedule::Schedule) a submitted operation only waits in
//! its queue. One operation at a time runs, whichever the seed chooses of those at the head of a queue
//! whose stream points are reached: some when others are submitted, the others when a thread waits. A program
//! with one thread therefore has the same order in every run, and in a program that forgets an event the
//! operations are reordered with some seed.

use rtcg_vgpu_abi::IgnorePoison;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::{OperationQueue, OperationWork, Stream, StreamOperation, StreamPoint, is_in_host_call};
use rtcg_vgpu_abi::schedule::{self, Schedule};

/// Streams whose queues may hold something, in the order in which they got it.
static PENDING_STREAMS: Mutex<Vec<Arc<Stream>>> = Mutex::new(Vec::new());
/// Held by the thread that runs an operation.
static RUN_LOCK: Mutex<()> = Mutex::new(());
/// Somebody looks after operations that nobody waits for.
static HAS_WATCHER_THREAD: AtomicBool = AtomicBool::new(false);
/// The operations of ended contexts must not wait for their time.
static RUN_PENDING_NOW: AtomicBool = AtomicBool::new(false);
/// Counts submissions and waits.
static ACTIVITY_COUNT: AtomicU64 = AtomicU64::new(0);
/// Operations that no thread waits for run after this time without any call.
const UNATTENDED_DELAY: Duration = Duration::from_millis(1500);
const WATCH_INTERVAL: Duration = Duration::from_millis(20);
/// Streams with waiting operations that are kept at most.
const MAX_PENDING_STREAMS: usize = 64;

/// Whether operations run in a random order.
pub(super) fn is_chaos_on() -> bool {
    matches!(schedule::current_schedule(), Schedule::Chaos(_))
}

fn lock_pending_streams() -> MutexGuard<'static, Vec<Arc<Stream>>> {
    PENDING_STREAMS.lock().ignore_poison()
}

/// Takes note of a stream with a new operation, and runs some that may run.
pub(super) fn queue_submitted_stream(stream: &Arc<Stream>) {
    let mut list = lock_pending_streams();
    if !list.iter().any(|s| s.id == stream.id) {
        list.push(stream.clone());
    }
    let n = list.len();
    drop(list);
    ACTIVITY_COUNT.fetch_add(1, Ordering::Relaxed);
    start_watcher_thread();
    if is_in_host_call() {
        return;
    }
    let steps = if n > MAX_PENDING_STREAMS { n } else { schedule::random_choice(4).saturating_sub(1) };
    (0..steps).all(|_| run_random_operation());
}

/// One step for a program that asks again and again whether something is done.
pub(crate) fn run_random_operation_on_query() {
    if is_chaos_on() && !is_in_host_call() {
        run_random_operation();
    }
}

/// Runs all that waits, before another order begins.
pub(crate) fn run_all_pending_operations() {
    while run_random_operation() {}
}

/// Has what waits run at once, on another thread.
pub(super) fn run_pending_on_watcher_thread() {
    RUN_PENDING_NOW.store(true, Ordering::Release);
    start_watcher_thread();
}

fn is_first_operation_ready(queue: &OperationQueue) -> bool {
    !queue.has_worker && queue.operations.front().is_some_and(|op| op.fences.iter().all(StreamPoint::is_point_reached))
}

/// Runs one operation. False when none can run, or another thread runs one.
pub(super) fn run_random_operation() -> bool {
    let Ok(_turn) = RUN_LOCK.try_lock() else { return false };
    ACTIVITY_COUNT.fetch_add(1, Ordering::Relaxed);
    let streams: Vec<Arc<Stream>> = {
        let mut list = lock_pending_streams();
        list.retain(|s| !s.lock_queue().operations.is_empty());
        list.iter().filter(|s| is_first_operation_ready(&s.lock_queue())).cloned().collect()
    };
    if streams.is_empty() {
        return false;
    }
    let stream = &streams[schedule::random_choice(streams.len())];
    let mut queue = stream.lock_queue();
    if !is_first_operation_ready(&queue) {
        return true;
    }
    let Some(operation) = queue.operations.pop_front() else { return true };
    queue.has_worker = true;
    drop(queue);
    if matches!(operation.work, OperationWork::External(_)) {
        stream.hand_on(operation);
        return true;
    }
    run_operation(stream, operation);
    stream.lock_queue().has_worker = false;
    true
}

fn run_operation(stream: &Arc<Stream>, operation: StreamOperation) {
    if !matches!(operation.work, OperationWork::Host(_)) {
        return stream.run_operation(operation);
    }
    // Functions of the program run on a thread of ours, as always.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            rtcg_vgpu_exec::mark_internal_thread();
            stream.run_operation(operation);
        });
    });
}

/// Starts the thread that runs operations that no thread waits for.
fn start_watcher_thread() {
    if HAS_WATCHER_THREAD.swap(true, Ordering::AcqRel) {
        return;
    }
    let started = std::thread::Builder::new().name("rtcg-chaos".into()).spawn(|| {
        rtcg_vgpu_exec::mark_internal_thread();
        let (mut seen, mut since) = (0, Instant::now());
        loop {
            std::thread::sleep(WATCH_INTERVAL);
            let now = ACTIVITY_COUNT.load(Ordering::Relaxed);
            if now != seen {
                (seen, since) = (now, Instant::now());
            }
            if RUN_PENDING_NOW.swap(false, Ordering::AcqRel) || since.elapsed() > UNATTENDED_DELAY {
                run_all_pending_operations();
                if lock_pending_streams().is_empty() {
                    break;
                }
            }
        }
        HAS_WATCHER_THREAD.store(false, Ordering::Release);
        if !lock_pending_streams().is_empty() {
            start_watcher_thread();
        }
    });
    if started.is_err() {
        HAS_WATCHER_THREAD.store(false, Ordering::Release);
    }
}
