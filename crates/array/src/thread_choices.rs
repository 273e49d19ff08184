//! Choices of one thread: for a call that is measured with another choice, and for calls that compile their kernels and
//! launch nothing, so that a tuner's threads compile while another one measures.
//!
//! Establishes: what such a call plans is never found by another call, and other threads go on as before.

use crate::thread_flag::ThreadFlag;
use rtcg_codegen::tuning::Choices;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static HAS_CHOICES: Cell<bool> = const { Cell::new(false) };
    static IS_AHEAD: Cell<bool> = const { Cell::new(false) };
    static CHOICES: RefCell<Option<ThreadChoices>> = const { RefCell::new(None) };
}
static CHOICES_FLAG: ThreadFlag = ThreadFlag::new(&HAS_CHOICES);
static AHEAD_FLAG: ThreadFlag = ThreadFlag::new(&IS_AHEAD);

struct ThreadChoices {
    choices: Arc<dyn Choices>,
    epoch: u64,
    is_ahead: bool,
}

/// Runs a call of arrays on this thread with these choices in place of what is installed.
pub fn with_thread_choices<T>(choices: Arc<dyn Choices>, call: impl FnOnce() -> T) -> T {
    run(choices, false, call)
}

/// Runs a call of arrays on this thread with these choices: its kernels are compiled and loaded, and none of arrays' own
/// kernels is launched. What it returns has any contents; reading elements is an error. Kernels of the caller's are
/// launched as ever: the call should have none, and change nothing in place.
pub fn compile_ahead<T>(choices: Arc<dyn Choices>, call: impl FnOnce() -> T) -> T {
    run(choices, true, call)
}

fn run<T>(choices: Arc<dyn Choices>, is_ahead: bool, call: impl FnOnce() -> T) -> T {
    struct Restore(Option<ThreadChoices>);
    impl Drop for Restore {
        fn drop(&mut self) {
            set_flags(self.0.as_ref());
            CHOICES.set(self.0.take());
        }
    }
    static NEXT_EPOCH: AtomicU64 = AtomicU64::new(u64::MAX);
    let here = ThreadChoices { choices, epoch: NEXT_EPOCH.fetch_sub(1, Ordering::Relaxed), is_ahead };
    set_flags(Some(&here));
    let restore = Restore(CHOICES.replace(Some(here)));
    let result = call();
    drop(restore);
    result
}

/// Runs work of another call, whose kernels are launched even where the calling thread only compiles.
pub(crate) fn launching<T>(work: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            AHEAD_FLAG.set_for_thread(self.0);
        }
    }
    if !is_compiling_ahead() {
        return work();
    }
    let _restore = Restore(true);
    AHEAD_FLAG.set_for_thread(false);
    work()
}

fn set_flags(choices: Option<&ThreadChoices>) {
    CHOICES_FLAG.set_for_thread(choices.is_some());
    AHEAD_FLAG.set_for_thread(choices.is_some_and(|choices| choices.is_ahead));
}

/// Whether the calling thread only compiles. Launches do nothing then.
#[inline(always)]
pub fn is_compiling_ahead() -> bool {
    AHEAD_FLAG.is_set()
}

/// Whether the calling thread has choices of its own.
#[inline(always)]
pub(crate) fn has_thread_choices() -> bool {
    CHOICES_FLAG.is_set()
}

/// The choices of this thread.
pub(crate) fn thread_choices() -> Option<Arc<dyn Choices>> {
    CHOICES.with_borrow(|here| here.as_ref().map(|here| Arc::clone(&here.choices)))
}

/// In place of a context's epoch: one that no other call has.
#[cold]
pub(crate) fn thread_epoch() -> u64 {
    CHOICES.with_borrow(|here| here.as_ref().map_or(u64::MAX, |here| here.epoch))
}
