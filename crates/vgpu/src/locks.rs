//! Locks whose holders never leave broken state behind.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock whose holder never leaves broken state behind.
pub(crate) fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
