//! Blocking regions: calls and locks that may wait, and during which the interpreter lock is released.
//!
//! Python holds one lock for all its threads while it calls this library. A launch that waits for space in the device's
//! queue must release it, because a host function that needs the lock may be queued before the launch. So must a thread
//! that waits for a mutex whose owner is in such a launch. A hook releases the lock, so that this crate does not depend
//! on Python.
//!
//! Establishes: a mutex that is held during a launch is only taken by [`lock_blocking`], so that no thread waits for
//! the mutex while it holds the lock that the mutex's owner needs.

use crate::error::{ArrayError, Result};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

/// Calls its argument once, with the locks released that other threads may need.
pub type BlockingHook = fn(&mut dyn FnMut());

static BLOCKING_HOOK: OnceLock<BlockingHook> = OnceLock::new();

/// Sets the hook that releases locks while waiting. Only the first call counts.
pub fn set_blocking_hook(hook: BlockingHook) {
    let _ = BLOCKING_HOOK.set(hook);
}

static INTERRUPT_CHECK: OnceLock<fn() -> bool> = OnceLock::new();

/// Sets the check by which [`check_interrupt`] learns of an interrupt. Only the first call counts.
pub fn set_interrupt_check(check: fn() -> bool) {
    let _ = INTERRUPT_CHECK.set(check);
}

/// For polling loops: fails once the program was interrupted, for instance by Ctrl-C.
///
/// # Errors
/// When it was interrupted.
pub fn check_interrupt() -> Result<()> {
    match INTERRUPT_CHECK.get() {
        Some(check) if check() => Err(ArrayError::value_error("interrupted")),
        _ => Ok(()),
    }
}

/// Runs `body`, which may block the thread, inside the hook.
pub fn blocking_region<T>(body: impl FnOnce() -> T) -> T {
    let Some(hook) = BLOCKING_HOOK.get() else { return body() };
    let (mut body, mut result) = (Some(body), None);
    hook(&mut || result = body.take().map(|body| body()).or(result.take()));
    match (result, body) {
        (Some(result), _) => result,
        (None, Some(body)) => body(),
        (None, None) => unreachable!("the body is taken only to make the result"),
    }
}

/// Locks a mutex that may be held during a launch.
pub fn lock_blocking<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(error)) => error.into_inner(),
        Err(TryLockError::WouldBlock) => blocking_region(|| lock_ignoring_poison(mutex)),
    }
}

/// Takes a mutex that is held briefly. A panic cannot leave what it guards half changed.
pub fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static N_WAITS: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn only_locks_that_are_held_are_waited_for_by_the_hook() {
        set_blocking_hook(|body| {
            N_WAITS.fetch_add(1, Ordering::SeqCst);
            body();
        });
        let before = N_WAITS.load(Ordering::SeqCst);
        let mutex = Mutex::new(1);
        *lock_blocking(&mutex) += 1;
        assert_eq!(N_WAITS.load(Ordering::SeqCst), before);
        std::thread::scope(|scope| {
            let guard = lock_blocking(&mutex);
            let other = scope.spawn(|| *lock_blocking(&mutex));
            while N_WAITS.load(Ordering::SeqCst) == before {
                std::thread::yield_now();
            }
            drop(guard);
            assert_eq!(other.join().unwrap(), 2);
        });
        assert_eq!(blocking_region(|| 5), 5);
    }
}
