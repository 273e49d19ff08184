//! One number that changes whenever something happens that calls made very often would have to look at.
//!
//! A trace begins, the process forks, a context goes, a stream is entered: each is rare, and a launch that asked
//! after all of them would spend more time on that than on the rest. So whoever makes such a change calls
//! [`advance_epoch`], and who has looked at everything remembers the number that [`current_epoch`] gave *before* it looked.
//! As long as that is still the present one, nothing needs to be looked at again.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A number that [`current_epoch`] never returns.
pub const NEVER: usize = 0;

/// In a cache line of its own, which no store disturbs.
#[repr(align(64))]
struct Epoch(AtomicUsize);

static EPOCH: Epoch = Epoch(AtomicUsize::new(NEVER + 1));

/// The number of the present epoch.
#[inline(always)]
pub fn current_epoch() -> usize {
    EPOCH.0.load(Ordering::Acquire)
}

/// Says that the epoch are others now. To be called after the change. It may be called in a forked
/// child and by a handler of signals.
pub fn advance_epoch() {
    EPOCH.0.fetch_add(1, Ordering::AcqRel);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_epoch_is_seen() {
        let before = current_epoch();
        assert_ne!(before, NEVER);
        advance_epoch();
        assert_ne!(current_epoch(), before);
    }
}
