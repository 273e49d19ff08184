//! Release regions: driver calls that give something back, during which the program's locks are released in case the
//! driver waits.
//!
//! Freeing memory and unloading code wait for the streams of a context. A host function queued in one of them may need
//! a lock of the program, such as Python's, that the calling thread holds, perhaps without knowing: the last reference
//! to a kernel may be dropped anywhere. So may the thread of another rank, for which a collective waits. So these calls
//! are blocking regions (`rtcg_hal`).
//!
//! Establishes: every call that a drop of this crate makes, and every explicit free, is in a release region, including
//! the acquisition of contexts' locks. Assumes that callers hold no lock of their own for which another thread waits
//! while holding the program's lock.

use crate::launch_queue::is_host_work_pending;
use rtcg_hal::blocking_region;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Communicators that are open: the device may wait for another rank, which may be a thread of this process.
static N_COMMUNICATORS: AtomicUsize = AtomicUsize::new(0);

/// From now on, what waits for the device may wait for ranks.
pub(crate) fn note_communicator_opened() {
    N_COMMUNICATORS.fetch_add(1, Ordering::Relaxed);
}

/// A communicator has ended.
pub(crate) fn note_communicator_closed() {
    N_COMMUNICATORS.fetch_sub(1, Ordering::Relaxed);
}

/// Runs `body`, which gives something back to the driver, in a blocking region if the device may wait for this process.
#[inline]
pub(crate) fn releasing_region<T>(body: impl FnOnce() -> T) -> T {
    if is_host_work_pending() || N_COMMUNICATORS.load(Ordering::Relaxed) > 0 { blocking_region(body) } else { body() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch_queue::PendingHostWork;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static N_RELEASES: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn locks_are_let_go_while_the_device_may_wait_for_the_process() {
        rtcg_hal::set_blocking_hook(|body| {
            N_RELEASES.fetch_add(1, Ordering::SeqCst);
            body();
        });
        let pending = PendingHostWork::new();
        let before = N_RELEASES.load(Ordering::SeqCst);
        assert_eq!(releasing_region(|| 5), 5);
        assert!(N_RELEASES.load(Ordering::SeqCst) > before);
        drop(pending);
    }
}
