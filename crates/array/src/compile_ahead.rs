//! Calls that compile their kernels and launch nothing, so that a tuner's threads compile while another one measures.
//!
//! Establishes: what such a call plans is never found by another call, and nothing that it was given changes.

use crate::thread_flag::ThreadFlag;
use rtcg_codegen::tuning::Choices;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static IS_AHEAD: Cell<bool> = const { Cell::new(false) };
    static AHEAD: RefCell<Option<Ahead>> = const { RefCell::new(None) };
}
static AHEAD_FLAG: ThreadFlag = ThreadFlag::new(&IS_AHEAD);

struct Ahead {
    choices: Arc<dyn Choices>,
    epoch: u64,
}

/// Runs a call of arrays on this thread with these choices: its kernels are compiled and loaded, and none is launched. What
/// it returns has any contents; reading elements is an error.
pub fn compile_ahead<T>(choices: Arc<dyn Choices>, call: impl FnOnce() -> T) -> T {
    struct Restore(Option<Ahead>);
    impl Drop for Restore {
        fn drop(&mut self) {
            AHEAD_FLAG.set_for_thread(self.0.is_some());
            AHEAD.set(self.0.take());
        }
    }
    static NEXT_EPOCH: AtomicU64 = AtomicU64::new(u64::MAX);
    let ahead = Ahead { choices, epoch: NEXT_EPOCH.fetch_sub(1, Ordering::Relaxed) };
    let restore = Restore(AHEAD.replace(Some(ahead)));
    AHEAD_FLAG.set_for_thread(true);
    let result = call();
    drop(restore);
    result
}

/// Whether the calling thread only compiles. Launches do nothing then.
#[inline(always)]
pub fn is_compiling_ahead() -> bool {
    AHEAD_FLAG.is_set()
}

/// The choices of a thread that only compiles.
pub(crate) fn choices_ahead() -> Option<Arc<dyn Choices>> {
    AHEAD.with_borrow(|ahead| ahead.as_ref().map(|ahead| Arc::clone(&ahead.choices)))
}

/// In place of a context's epoch: one that no other call has.
#[cold]
pub(crate) fn epoch_ahead() -> u64 {
    AHEAD.with_borrow(|ahead| ahead.as_ref().map_or(u64::MAX, |ahead| ahead.epoch))
}
