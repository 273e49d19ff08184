//! Releasing regions: calls that give something back to the driver, and during which the program's locks are let go
//! where the driver may wait for them.
//!
//! Freeing memory and unloading code wait for the streams of a context. A host function queued in one of them may need
//! a lock of the program, such as Python's, that the calling thread holds, perhaps without knowing: the last reference
//! to a kernel may go anywhere. A hook lets go of the lock, so that this crate does not depend on Python.
//!
//! Establishes: every call that a drop of this crate makes, and every explicit free, is in a releasing region, locks of
//! contexts included. Assumes that callers hold no lock of their own that is waited for with the program's lock held.

use crate::launch_queue::is_host_work_pending;
use std::sync::OnceLock;

/// Calls its argument once, with the program's locks let go.
pub type ReleaseHook = fn(&mut dyn FnMut());

static RELEASE_HOOK: OnceLock<ReleaseHook> = OnceLock::new();

/// Says how to let go of what host functions may need. Only the first call counts.
pub fn set_release_hook(hook: ReleaseHook) {
    let _ = RELEASE_HOOK.set(hook);
}

/// Runs `body`, which gives something back to the driver, by the hook if the device may wait for this process.
#[inline]
pub(crate) fn releasing_region<T>(body: impl FnOnce() -> T) -> T {
    if is_host_work_pending() { run_by_hook(body) } else { body() }
}

#[cold]
#[inline(never)]
fn run_by_hook<T>(body: impl FnOnce() -> T) -> T {
    let Some(hook) = RELEASE_HOOK.get() else { return body() };
    let (mut body, mut result) = (Some(body), None);
    hook(&mut || result = body.take().map(|body| body()).or(result.take()));
    match (result, body) {
        (Some(result), _) => result,
        (None, Some(body)) => body(),
        (None, None) => unreachable!("the body is taken only to make the result"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch_queue::PendingHostWork;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static N_RELEASES: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn locks_are_let_go_while_the_device_may_wait_for_the_process() {
        set_release_hook(|body| {
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
