//! Choices of one thread: for a call that is measured with another choice, and for calls that only compile their
//! kernels, so that a tuner can compile in some threads while another one measures.
//!
//! Establishes: other calls never find the plan of such a call, and other threads are not affected.

use crate::thread_flag::ThreadFlag;
use crate::tuning::Choices;
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
    /// None: the rules.
    choices: Option<Arc<dyn Choices>>,
    epoch: u64,
    is_ahead: bool,
}

/// Runs an array call on this thread with these choices instead of the installed ones.
pub fn with_thread_choices<T>(choices: Arc<dyn Choices>, call: impl FnOnce() -> T) -> T {
    run(Some(choices), false, call)
}

/// Runs an array call on this thread with these choices, or by the rules, such that it compiles and loads its kernels but launches none
/// of the library's own. Its result has undefined contents, and reading elements is an error. The caller's own kernels
/// are launched as usual, so the call should contain none, and should change nothing in place.
pub fn compile_ahead<T>(choices: Option<Arc<dyn Choices>>, call: impl FnOnce() -> T) -> T {
    run(choices, true, call)
}

fn run<T>(choices: Option<Arc<dyn Choices>>, is_ahead: bool, call: impl FnOnce() -> T) -> T {
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
pub fn launching<T>(work: impl FnOnce() -> T) -> T {
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

/// Whether the calling thread only compiles; launches then do nothing.
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
    CHOICES.with_borrow(|here| here.as_ref().and_then(|here| here.choices.clone()))
}

/// In place of a context's epoch: one that no other call has.
#[cold]
pub(crate) fn thread_epoch() -> u64 {
    CHOICES.with_borrow(|here| here.as_ref().map_or(u64::MAX, |here| here.epoch))
}
