//! The word that compiled code polls at back edges: whether, and why, a launch is to stop.
//!
//! Establishes: the first reason to stop stays. [`CHECK_INTERRUPT`] is no reason to stop: it sends the
//! launch's caller off to ask whether there is one, and he takes it back.

use std::sync::atomic::{AtomicU32, Ordering};

/// Go on.
pub(crate) const NOT_STOPPED: u32 = 0;
/// A warp has faulted.
pub(crate) const FAILED: u32 = 1;
/// The caller is to ask whether the user wants the launch to end.
pub(crate) const CHECK_INTERRUPT: u32 = 2;
/// The launch has taken longer than allowed.
pub(crate) const TIMEOUT: u32 = 3;
/// The user wants it to end.
pub(crate) const INTERRUPTED: u32 = 4;
/// Its context is going away.
pub(crate) const CANCELLED: u32 = 5;

/// Whether a word says that the launch is to stop.
pub(crate) fn is_stop_reason(word: u32) -> bool {
    word != NOT_STOPPED && word != CHECK_INTERRUPT
}

/// Sets a reason unless there is one already.
pub(crate) fn set_stop_reason(word: &AtomicU32, reason: u32) {
    let _ = word.fetch_update(Ordering::AcqRel, Ordering::Acquire, |now| (!is_stop_reason(now)).then_some(reason));
}
