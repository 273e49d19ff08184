//! What became of this process since the driver was initialised: forked, or about to exit.
//!
//! A CUDA context does not survive `fork`: the child has the memory of the objects but neither
//! the driver's threads nor its device files. So in the child every call fails and every drop
//! does nothing. The same holds for drops while the process exits, when the driver may be gone.

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
pub(crate) fn install_hooks() {
    static HOOKS_INSTALLED: Once = Once::new();
    HOOKS_INSTALLED.call_once(register_atexit);
}

#[cfg(unix)]
fn register_atexit() {
    extern "C" fn in_child() {
        IS_FORKED.store(true, Ordering::Relaxed);
        epoch::advance_epoch();
    }
    extern "C" fn at_exit() {
        IS_EXITING.store(true, Ordering::Relaxed);
    }
    // SAFETY: both handlers only change static atomics, which is allowed at any time.
    unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
        libc::atexit(at_exit);
    }
}

#[cfg(not(unix))]
fn register_atexit() {
    extern "C" fn at_exit() {
        IS_EXITING.store(true, Ordering::Relaxed);
    }
    // SAFETY: as above.
    unsafe { libc::atexit(at_exit) };
}
