//! Threads that work off streams' queues: started when one is needed, kept for a while when idle.
//!
//! A runner may block in a host function or in a fence, so their number is not bounded by the
//! cores: there are never more than streams with work. They are never joined; the end of the
//! process takes them along.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::Stream;

#[derive(Debug)]
struct Waiting {
    streams: VecDeque<Arc<Stream>>,
    n_idle: usize,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting { streams: VecDeque::new(), n_idle: 0 });
static ARRIVED: Condvar = Condvar::new();
const IDLE_TIME: Duration = Duration::from_secs(20);
const STACK_BYTES: usize = 1 << 20;

/// Has the stream's queue worked off by a runner thread.
pub(super) fn schedule(stream: Arc<Stream>) {
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    waiting.streams.push_back(stream);
    if waiting.n_idle >= waiting.streams.len() {
        drop(waiting);
        ARRIVED.notify_one();
        return;
    }
    drop(waiting);
    let started = std::thread::Builder::new().name("rtcg-stream".into()).stack_size(STACK_BYTES).spawn(run);
    if started.is_err() {
        // No thread can be had: work one queue off here. Late is better than never.
        if let Some(stream) = take(Duration::ZERO) {
            stream.run_queue();
        }
    }
}

fn run() {
    crate::exec::mark_own_thread();
    while let Some(stream) = take(IDLE_TIME) {
        stream.run_queue();
    }
}

/// The next stream with work, or `None` when there was none for `patience`.
fn take(patience: Duration) -> Option<Arc<Stream>> {
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    if waiting.streams.is_empty() && !patience.is_zero() {
        waiting.n_idle += 1;
        let outcome = ARRIVED.wait_timeout_while(waiting, patience, |w| w.streams.is_empty());
        waiting = outcome.unwrap_or_else(PoisonError::into_inner).0;
        waiting.n_idle -= 1;
    }
    waiting.streams.pop_front()
}
