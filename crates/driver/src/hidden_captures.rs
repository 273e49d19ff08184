//! Captures that a library makes for itself. Other threads that wait for the context must not notice them.
//!
//! The driver refuses to wait for a context while one of its streams is captured, in any mode, and makes the capture
//! invalid. So waits are held back until such a capture, which is short, has ended; and a capture begins when waits that
//! are about to be submitted have been.

use crate::process_state;
use std::cell::Cell;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a wait is held back at most: a capture that needs what the waiting thread holds fails then, and ends.
const LONGEST_CAPTURE: Duration = Duration::from_secs(5);
/// When a wait that has been submitted has surely been accepted by the driver, though it may take longer to return.
const SUBMITTED: Duration = Duration::from_millis(2);

#[derive(Default)]
struct Traffic {
    /// Hidden captures in progress.
    captures: usize,
    /// Waits that have been submitted to a driver and have not returned.
    waits: usize,
}

static TRAFFIC: Mutex<Traffic> = Mutex::new(Traffic { captures: 0, waits: 0 });
static CHANGED: Condvar = Condvar::new();

thread_local! {
    /// Hidden captures of this thread, which its own waits are part of.
    static OWN_CAPTURES: Cell<usize> = const { Cell::new(0) };
}

fn locked_traffic() -> MutexGuard<'static, Traffic> {
    TRAFFIC.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Until it is dropped, waits of other threads for contexts are held back. Made before a capture is begun, by the thread
/// that captures, and dropped after its end.
#[derive(Debug)]
pub struct HiddenCapture(std::marker::PhantomData<*const ()>);

impl HiddenCapture {
    /// Waits for at most 2 ms.
    #[allow(clippy::new_without_default, reason = "making one holds up other threads")]
    pub fn new() -> Self {
        let mut traffic = locked_traffic();
        traffic.captures += 1;
        OWN_CAPTURES.set(OWN_CAPTURES.get() + 1);
        drop(CHANGED.wait_timeout_while(traffic, SUBMITTED, |traffic| traffic.waits > 0));
        Self(std::marker::PhantomData)
    }
}

impl Drop for HiddenCapture {
    fn drop(&mut self) {
        OWN_CAPTURES.set(OWN_CAPTURES.get() - 1);
        locked_traffic().captures -= 1;
        CHANGED.notify_all();
    }
}

struct SubmittedWait;

impl Drop for SubmittedWait {
    fn drop(&mut self) {
        let mut traffic = locked_traffic();
        traffic.waits -= 1;
        // Waking nobody is a system call too.
        if traffic.captures > 0 {
            CHANGED.notify_all();
        }
    }
}

/// Calls `wait`, which waits for a context, when no other thread has a hidden capture.
pub(crate) fn between_hidden_captures<T>(wait: impl FnOnce() -> T) -> T {
    // In a child process, the lock may be held by a thread that it does not have.
    if OWN_CAPTURES.get() > 0 || process_state::is_forked() {
        return wait();
    }
    let mut traffic = locked_traffic();
    let until = Instant::now() + LONGEST_CAPTURE;
    while traffic.captures > 0 {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        traffic = CHANGED.wait_timeout(traffic, left).unwrap_or_else(PoisonError::into_inner).0;
    }
    traffic.waits += 1;
    drop(traffic);
    let _submitted = SubmittedWait;
    wait()
}
