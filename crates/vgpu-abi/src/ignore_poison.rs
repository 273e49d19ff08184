//! Locks whose holder may have panicked. A panic leaves nothing half changed that a lock of the virtual GPU guards, so
//! the next thread uses it.

use std::sync::{LockResult, PoisonError};

/// What every lock, and every wait for a condition variable, of these crates goes through.
pub trait IgnorePoison {
    /// The guard of the lock, or what a wait returns.
    type Guard;

    /// Takes the guard, whether or not a thread panicked while it held the lock.
    fn ignore_poison(self) -> Self::Guard;
}

impl<G> IgnorePoison for LockResult<G> {
    type Guard = G;

    fn ignore_poison(self) -> G {
        self.unwrap_or_else(PoisonError::into_inner)
    }
}
