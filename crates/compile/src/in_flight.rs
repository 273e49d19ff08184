//! Tracks the requests being compiled, so that threads that want the same program at once compile it only once.

use crate::hash::CacheKey;
use crate::signals::{CHECK_INTERVAL, is_interrupted};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What is being compiled, with the process that does it: a forked one has none of the threads that would finish. A fork
/// while another thread holds the lock itself leaves it locked, as other locks of a process with threads.
static IN_FLIGHT: Mutex<Vec<(u32, CacheKey)>> = Mutex::new(Vec::new());
static FINISHED: Condvar = Condvar::new();

fn lock_in_flight() -> MutexGuard<'static, Vec<(u32, CacheKey)>> {
    IN_FLIGHT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A compilation in this thread; others that want the same program wait until this is dropped.
pub(crate) struct InFlight((u32, CacheKey));

impl InFlight {
    /// Registers a compilation. `None` where another thread has compiled the same meanwhile, successfully or not: this
    /// one has waited for it, and should look for its result; or was interrupted, and compiles itself, which ends at once.
    pub(crate) fn begin_or_wait(key: &CacheKey) -> Option<Self> {
        let entry = (std::process::id(), *key);
        let mut in_flight = lock_in_flight();
        if !in_flight.contains(&entry) {
            in_flight.push(entry);
            return Some(Self(entry));
        }
        while in_flight.contains(&entry) {
            let waited = FINISHED.wait_timeout(in_flight, CHECK_INTERVAL).unwrap_or_else(PoisonError::into_inner);
            // A handler may compile, too.
            drop(waited.0);
            if is_interrupted() {
                break;
            }
            in_flight = lock_in_flight();
        }
        None
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        lock_in_flight().retain(|entry| *entry != self.0);
        FINISHED.notify_all();
    }
}
