//! Handles compilations that are still running when the process ends.
//!
//! Establishes: NVRTC's objects, which `exit` destroys, are destroyed after its threads have ended. A compilation that
//! was abandoned, or that a daemon thread waits for, is told to end and waited for. One that does not end in time (a
//! front end rarely checks) would crash the process, which therefore ends at once, with the status it had. Assumes:
//! `exit` runs the handlers registered last first, so the handler is registered after NVRTC was loaded, and again when
//! a compilation is abandoned, for what that has created meanwhile.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long the end of the process waits for compilations.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Registrations, at most: each takes memory until the process ends.
const MAX_REGISTRATIONS: usize = 32;

static IS_EXITING: AtomicBool = AtomicBool::new(false);
static N_RUNNING: AtomicUsize = AtomicUsize::new(0);
static N_REGISTRATIONS: AtomicUsize = AtomicUsize::new(0);
/// The process whose threads are counted; a fork has none of them.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Whether the process is ending, so that compilations are to end too.
pub(crate) fn is_exiting() -> bool {
    IS_EXITING.load(Ordering::Relaxed)
}

/// A compilation that runs, from before its thread starts until NVRTC has returned.
pub(crate) struct RunningCompilation(u32);

impl RunningCompilation {
    pub(crate) fn start() -> Self {
        let process = std::process::id();
        if PROCESS.swap(process, Ordering::SeqCst) != process {
            N_RUNNING.store(0, Ordering::SeqCst);
            N_REGISTRATIONS.store(0, Ordering::SeqCst);
        }
        N_RUNNING.fetch_add(1, Ordering::SeqCst);
        if N_REGISTRATIONS.load(Ordering::Relaxed) == 0 {
            register();
        }
        Self(process)
    }
}

impl Drop for RunningCompilation {
    fn drop(&mut self) {
        if self.0 == PROCESS.load(Ordering::SeqCst) {
            N_RUNNING.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Has the handler run before those that were registered up to now.
pub(crate) fn register() {
    if N_REGISTRATIONS.fetch_add(1, Ordering::Relaxed) < MAX_REGISTRATIONS {
        imp::register();
    }
}

/// Whether all compilations have ended.
fn end_compilations() -> bool {
    if PROCESS.load(Ordering::SeqCst) != std::process::id() {
        return true;
    }
    IS_EXITING.store(true, Ordering::SeqCst);
    let start = Instant::now();
    let mut has_waited = false;
    while N_RUNNING.load(Ordering::SeqCst) > 0 {
        if start.elapsed() > MAX_WAIT {
            return false;
        }
        has_waited = true;
        std::thread::sleep(Duration::from_millis(2));
    }
    // A thread that has just left NVRTC still destroys what NVRTC keeps for each thread.
    if has_waited {
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "handlers of the process's end are calls of C")]
mod imp {
    use std::ffi::{c_int, c_void};
    use std::ptr;

    unsafe extern "C" {
        fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }

    extern "C" fn handle_exit(status: c_int, _unused: *mut c_void) {
        if super::end_compilations() {
            return;
        }
        // SAFETY: writes what C's streams hold, and ends the process; nothing of it is used afterwards.
        unsafe {
            libc::fflush(ptr::null_mut());
            libc::_exit(status);
        }
    }

    pub(super) fn register() {
        // SAFETY: a function that lives as long as the process. Refused, the process ends as without it.
        let _ = unsafe { on_exit(handle_exit, ptr::null_mut()) };
    }
}

/// Elsewhere a handler is not told the status, so that the process goes on with its end.
#[cfg(all(unix, not(all(target_os = "linux", target_env = "gnu"))))]
#[allow(unsafe_code, reason = "handlers of the process's end are calls of C")]
mod imp {
    extern "C" fn handle_exit() {
        super::end_compilations();
    }

    pub(super) fn register() {
        // SAFETY: a function that lives as long as the process.
        let _ = unsafe { libc::atexit(handle_exit) };
    }
}

#[cfg(not(unix))]
mod imp {
    pub(super) fn register() {}
}
