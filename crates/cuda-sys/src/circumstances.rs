//! One number that changes whenever something happens that calls made very often would have to look at.
//!
//! A trace begins, the process forks, a context goes, a stream is entered: each is rare, and a launch that asked
//! after all of them would spend more time on that than on the rest. So whoever makes such a change calls
//! [`changed`], and who has looked at everything remembers the number that [`present`] gave *before* it looked.
//! As long as that is still the present one, nothing needs to be looked at again.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A number that [`present`] never returns.
pub const NEVER: usize = 0;

/// In a cache line of its own, which no store disturbs.
#[repr(align(64))]
struct Changes(AtomicUsize);

static CHANGES: Changes = Changes(AtomicUsize::new(NEVER + 1));

/// The number of the present circumstances.
#[inline(always)]
pub fn present() -> usize {
    CHANGES.0.load(Ordering::Acquire)
}

/// Says that the circumstances are others now. To be called after the change. It may be called in a forked
/// child and by a handler of signals.
pub fn changed() {
    CHANGES.0.fetch_add(1, Ordering::AcqRel);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen() {
        let before = present();
        assert_ne!(before, NEVER);
        changed();
        assert_ne!(present(), before);
    }
}
