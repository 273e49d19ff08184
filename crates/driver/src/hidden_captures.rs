//! Captures that a library makes for its own purposes, and of which threads that wait for the context must not notice.
//!
//! The driver refuses to wait for a context while one of its streams is captured, in any mode, and invalidates the
//! capture. Waits are therefore held back until such a capture, which is short, has ended; and a capture begins only
//! after waits that are about to be submitted have been.

use crate::process_state;
use rtcg_hal::lock_ignoring_poison;
use std::cell::Cell;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a wait is held back at most: a capture that needs what the waiting thread holds fails then, and ends.
const LONGEST_CAPTURE: Duration = Duration::from_secs(5);
/// When a wait has surely been accepted by the driver, though it may take longer to return: its thread may lose its
/// processor before the call, for several time slices where there are many threads.
const ACCEPTED: Duration = Duration::from_millis(250);

struct Traffic {
    /// Hidden captures in progress.
    captures: usize,
    /// Waits that have been submitted to a driver and have not returned.
    waits: usize,
    /// When the last of them was submitted.
    last_wait: Option<Instant>,
}

impl Traffic {
    /// How long a wait may still be on its way to the driver.
    fn until_accepted(&self) -> Duration {
        match self.last_wait {
            Some(at) if self.waits > 0 => ACCEPTED.saturating_sub(at.elapsed()),
            _ => Duration::ZERO,
        }
    }
}

static TRAFFIC: Mutex<Traffic> = Mutex::new(Traffic { captures: 0, waits: 0, last_wait: None });
static CHANGED: Condvar = Condvar::new();

thread_local! {
    /// Hidden captures of this thread, which its own waits are part of.
    static OWN_CAPTURES: Cell<usize> = const { Cell::new(0) };
}

fn locked_traffic() -> MutexGuard<'static, Traffic> {
    lock_ignoring_poison(&TRAFFIC)
}

/// Holds back other threads' waits for contexts until it is dropped. The capturing thread makes it before it begins the
/// capture, and drops it after the end.
#[derive(Debug)]
pub struct HiddenCapture(std::marker::PhantomData<*const ()>);

impl HiddenCapture {
    /// Waits until other threads' waits for contexts have returned or have lasted 250 ms.
    #[allow(clippy::new_without_default, reason = "making one holds up other threads")]
    pub fn new() -> Self {
        let mut traffic = locked_traffic();
        traffic.captures += 1;
        OWN_CAPTURES.set(OWN_CAPTURES.get() + 1);
        // As captures are counted already, no further waits begin.
        let left = traffic.until_accepted();
        drop(CHANGED.wait_timeout_while(traffic, left, |traffic| traffic.waits > 0));
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
    let held_back = CHANGED.wait_timeout_while(locked_traffic(), LONGEST_CAPTURE, |traffic| traffic.captures > 0);
    let mut traffic = held_back.unwrap_or_else(PoisonError::into_inner).0;
    traffic.waits += 1;
    traffic.last_wait = Some(Instant::now());
    drop(traffic);
    let _submitted = SubmittedWait;
    wait()
}
