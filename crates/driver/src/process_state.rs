//! Whether this process has been forked since the driver was initialised, or is about to exit.
//!
//! A CUDA context does not survive `fork`: the child has the memory of the objects but neither the driver's threads nor
//! its device files. So in the child every call fails and every drop does nothing. Drops also do nothing while the
//! process exits, because the driver may be gone.

use rtcg_cuda_sys::epoch;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_FORKED: AtomicBool = AtomicBool::new(false);
static IS_EXITING: AtomicBool = AtomicBool::new(false);

/// True in a child of the process that initialised the driver.
#[inline]
pub(crate) fn is_forked() -> bool {
    IS_FORKED.load(Ordering::Relaxed)
}

/// True when nothing can or need be freed any more.
#[inline]
pub(crate) fn is_forked_or_exiting() -> bool {
    is_forked() || IS_EXITING.load(Ordering::Relaxed)
}

/// Starts watching; called when the driver is initialised, so that a process that forks before
/// that may use the driver in its child.
pub(crate) fn install_fork_and_exit_handlers() {
    static FORK_AND_EXIT_HANDLERS: Once = Once::new();
    FORK_AND_EXIT_HANDLERS.call_once(register_handlers);
}

#[cfg(unix)]
fn register_handlers() {
    extern "C" fn mark_forked_child() {
        IS_FORKED.store(true, Ordering::Relaxed);
        epoch::advance_epoch();
    }
    extern "C" fn mark_exiting() {
        IS_EXITING.store(true, Ordering::Relaxed);
    }
    // SAFETY: both handlers only change static atomics, which is allowed at any time.
    unsafe {
        libc::pthread_atfork(None, None, Some(mark_forked_child));
        libc::atexit(mark_exiting);
    }
}

#[cfg(not(unix))]
fn register_handlers() {
    extern "C" fn mark_exiting() {
        IS_EXITING.store(true, Ordering::Relaxed);
    }
    // SAFETY: the handler only stores to a static, so it may run at any point of the exit.
    unsafe { libc::atexit(mark_exiting) };
}
