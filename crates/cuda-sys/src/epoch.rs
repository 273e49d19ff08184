//! The epoch: a number that changes whenever a prepared launch would have something to check again.
//!
//! Such changes are rare: a trace begins, the process forks, a context is destroyed, a stream is entered. A launch that
//! checked for all of them would spend most of its time on that. So code that makes such a change calls
//! [`advance_epoch`]. Code that checks everything reads [`current_epoch`] *before* it checks, and stores that number.
//! While the stored number is the current one, nothing needs to be checked again.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A value that [`current_epoch`] never returns.
pub const INVALID_EPOCH: usize = 0;

/// In a cache line of its own, which no store disturbs.
#[repr(align(64))]
struct PaddedEpoch(AtomicUsize);

static CURRENT_EPOCH: PaddedEpoch = PaddedEpoch(AtomicUsize::new(INVALID_EPOCH + 1));

/// The current epoch.
#[inline(always)]
pub fn current_epoch() -> usize {
    CURRENT_EPOCH.0.load(Ordering::Acquire)
}

/// Starts a new epoch. Call it after the change. It may be called in a forked child and by a signal handler.
pub fn advance_epoch() {
    CURRENT_EPOCH.0.fetch_add(1, Ordering::AcqRel);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_epoch_is_seen() {
        let before = current_epoch();
        assert_ne!(before, INVALID_EPOCH);
        advance_epoch();
        assert_ne!(current_epoch(), before);
    }
}
