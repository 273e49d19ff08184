//! Threads that run streams' operations: started when one is needed, and idle for a while before they end.
//!
//! A runner may block at a stream point, so their number is not bounded by the cores: there are never more
//! than streams with work. Host functions, which may block for as long as they like, all run on one
//! thread, one after the other; CUDA allows both. The threads are never joined; they end with the
//! process.

use rtcg_vgpu_abi::IgnorePoison;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::{Stream, StreamOperation};

#[derive(Debug)]
struct RunQueue {
    streams: VecDeque<Arc<Stream>>,
    n_idle: usize,
}

static RUN_QUEUE: Mutex<RunQueue> = Mutex::new(RunQueue { streams: VecDeque::new(), n_idle: 0 });
static WORK_AVAILABLE: Condvar = Condvar::new();
const IDLE_THREAD_TIMEOUT: Duration = Duration::from_secs(20);
const STACK_BYTES: usize = 1 << 20;

/// Has the stream's queue worked off by a runner thread.
pub(super) fn schedule_stream(stream: Arc<Stream>) {
    let mut waiting = RUN_QUEUE.lock().ignore_poison();
    waiting.streams.push_back(stream);
    if waiting.n_idle >= waiting.streams.len() {
        drop(waiting);
        WORK_AVAILABLE.notify_one();
        return;
    }
    drop(waiting);
    let started = std::thread::Builder::new().name("rtcg-stream".into()).stack_size(STACK_BYTES).spawn(runner_loop);
    if started.is_err() {
        // No thread can be had: work one queue off here. Late is better than never.
        if let Some(stream) = next_scheduled_stream(Duration::ZERO) {
            stream.run_queue();
        }
    }
}

/// Host functions that are ready to run.
struct HostCallQueue {
    waiting: VecDeque<(Arc<Stream>, StreamOperation)>,
    has_thread: bool,
}

static HOST_CALLS: Mutex<HostCallQueue> = Mutex::new(HostCallQueue { waiting: VecDeque::new(), has_thread: false });
static HOST_CALL_AVAILABLE: Condvar = Condvar::new();

/// Has a host function run on the thread for them. The stream is claimed until then.
pub(super) fn run_on_host_call_thread(stream: Arc<Stream>, operation: StreamOperation) {
    let mut calls = HOST_CALLS.lock().ignore_poison();
    calls.waiting.push_back((stream, operation));
    if calls.has_thread {
        drop(calls);
        HOST_CALL_AVAILABLE.notify_one();
        return;
    }
    calls.has_thread = true;
    drop(calls);
    let run = || {
        rtcg_vgpu_exec::mark_internal_thread();
        run_host_calls(IDLE_THREAD_TIMEOUT);
    };
    let started = std::thread::Builder::new().name("rtcg-host".into()).stack_size(STACK_BYTES).spawn(run);
    if started.is_err() {
        // No thread can be had: this one does it.
        run_host_calls(Duration::ZERO);
    }
}

fn run_host_calls(idle_timeout: Duration) {
    while let Some((stream, operation)) = next_host_call(idle_timeout) {
        stream.run_host_operation(operation);
    }
}

/// The next host function; `None`, and no thread for them any more, when there was none for `idle_timeout`.
fn next_host_call(idle_timeout: Duration) -> Option<(Arc<Stream>, StreamOperation)> {
    let calls = HOST_CALLS.lock().ignore_poison();
    let outcome = HOST_CALL_AVAILABLE.wait_timeout_while(calls, idle_timeout, |calls| calls.waiting.is_empty());
    let mut calls = outcome.ignore_poison().0;
    let next = calls.waiting.pop_front();
    calls.has_thread = next.is_some();
    next
}

fn runner_loop() {
    rtcg_vgpu_exec::mark_internal_thread();
    while let Some(stream) = next_scheduled_stream(IDLE_THREAD_TIMEOUT) {
        stream.run_queue();
    }
}

/// The next stream with work, or `None` when there was none for `idle_timeout`.
fn next_scheduled_stream(idle_timeout: Duration) -> Option<Arc<Stream>> {
    let mut waiting = RUN_QUEUE.lock().ignore_poison();
    if waiting.streams.is_empty() && !idle_timeout.is_zero() {
        waiting.n_idle += 1;
        let outcome = WORK_AVAILABLE.wait_timeout_while(waiting, idle_timeout, |w| w.streams.is_empty());
        waiting = outcome.ignore_poison().0;
        waiting.n_idle -= 1;
    }
    waiting.streams.pop_front()
}
