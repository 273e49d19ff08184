//! Protects the signal handlers of the process from NVRTC.
//!
//! Up to version 13.0 a process's first compilation installs SIGINT and SIGTERM handlers that end the process, and then
//! restores others than before: without SA_ONSTACK, with SA_RESTART (`findings/nvrtc_signal_flags.sh`). Establishes
//! that this first compilation is one of an empty text, that NVRTC's handlers are installed for less than a
//! millisecond, and that all handlers are restored afterwards.
//!
//! A compilation runs in its own thread, with all signals blocked, while the caller waits for it and checks for
//! interrupts.
#![cfg_attr(unix, allow(unsafe_code, reason = "signal masks and handlers are calls of C"))]

use crate::exit_handler::{self, RunningCompilation};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread::Builder;
use std::time::Duration;

/// How often who waits for a compilation asks whether to go on waiting.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(40);

/// A compiler recurses over the source; the memory is touched only as far as it is used.
const COMPILER_STACK_BYTES: usize = 64 << 20;

static INTERRUPT_CHECK: OnceLock<fn() -> bool> = OnceLock::new();

/// Sets the check for whether to abandon the compilation that the calling thread waits for. Only the first call counts.
pub fn set_interrupt_check(check: fn() -> bool) {
    let _ = INTERRUPT_CHECK.set(check);
}

/// Whether the calling thread is to wait no longer.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPT_CHECK.get().is_some_and(|check| check())
}

/// Why there is no result of [`run_in_compiler_thread`].
pub(crate) enum NoResult {
    /// The caller was interrupted. The work was told to end, and does so when it next looks.
    Interrupted,
    /// There is no thread, or it panicked.
    Broken(String),
}

/// Runs `work` in its own thread, and passes it the flag that is set when its result is no longer awaited.
pub(crate) fn run_in_compiler_thread<T: Send + 'static>(
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> Result<T, NoResult> {
    let is_abandoned = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    let for_thread = is_abandoned.clone();
    // The thread inherits the mask of the one that makes it.
    let blocked = BlockedSignals::block_all();
    let thread = Builder::new().name("rtcg-compiler".to_owned()).stack_size(COMPILER_STACK_BYTES);
    let running = RunningCompilation::start();
    let started = thread.spawn(move || {
        let result = work(&for_thread);
        drop(running);
        drop(sender.send(result));
    });
    drop(blocked);
    started.map_err(|error| NoResult::Broken(format!("no thread for the compiler: {error}")))?;
    loop {
        match receiver.recv_timeout(CHECK_INTERVAL) {
            Ok(result) => return Ok(result),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(NoResult::Broken("the compiler broke down".into()));
            }
            Err(mpsc::RecvTimeoutError::Timeout) if is_interrupted() => {
                is_abandoned.store(true, Ordering::Relaxed);
                exit_handler::register();
                return Err(NoResult::Interrupted);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Runs `first`, which may set handlers of signals, and keeps those that there are.
pub(crate) fn keep_signal_handlers(first: impl FnOnce() + Send + 'static) {
    let handlers = SignalHandlers::read();
    let blocked = BlockedSignals::block_all();
    if let Ok(thread) = Builder::new().name("rtcg-compiler".to_owned()).spawn(first) {
        while !thread.is_finished() {
            handlers.restore_changed();
            std::thread::sleep(Duration::from_micros(100));
        }
        let _ = thread.join();
    }
    handlers.restore_changed();
    drop(blocked);
}

#[cfg(unix)]
mod imp {
    use std::mem::MaybeUninit;
    use std::ptr;

    /// The signals that have handlers and are no fault of a thread's own.
    const SIGNALS: [libc::c_int; 8] = [
        libc::SIGINT,
        libc::SIGTERM,
        libc::SIGHUP,
        libc::SIGQUIT,
        libc::SIGXFSZ,
        libc::SIGXCPU,
        libc::SIGPIPE,
        libc::SIGALRM,
    ];

    pub(super) struct SignalHandlers(Vec<(libc::c_int, libc::sigaction)>);

    fn read_handler(signal: libc::c_int) -> Option<libc::sigaction> {
        let mut found = MaybeUninit::zeroed();
        // SAFETY: writes one structure.
        let code = unsafe { libc::sigaction(signal, ptr::null(), found.as_mut_ptr()) };
        // SAFETY: all bytes were zeroed, which is a valid structure, or were written by the call.
        (code == 0).then(|| unsafe { found.assume_init() })
    }

    impl SignalHandlers {
        pub(super) fn read() -> Self {
            Self(SIGNALS.iter().filter_map(|&signal| Some((signal, read_handler(signal)?))).collect())
        }

        pub(super) fn restore_changed(&self) {
            for (signal, handler) in &self.0 {
                let is_same =
                    |now: libc::sigaction| now.sa_sigaction == handler.sa_sigaction && now.sa_flags == handler.sa_flags;
                if !read_handler(*signal).is_some_and(is_same) {
                    // SAFETY: what this process had installed itself.
                    unsafe { libc::sigaction(*signal, handler, ptr::null_mut()) };
                }
            }
        }
    }

    /// While it exists the calling thread gets no signal but those of its own faults.
    pub(super) struct BlockedSignals(libc::sigset_t);

    impl BlockedSignals {
        pub(super) fn block_all() -> Self {
            let (mut all, mut before) = (MaybeUninit::zeroed(), MaybeUninit::zeroed());
            // SAFETY: the sets are written by `sigfillset` and `pthread_sigmask`; a thread changes its own mask. Faults
            // of its own stay open: the virtual GPU handles them.
            unsafe {
                libc::sigfillset(all.as_mut_ptr());
                for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT] {
                    libc::sigdelset(all.as_mut_ptr(), fault);
                }
                libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
                Self(before.assume_init())
            }
        }
    }

    impl Drop for BlockedSignals {
        fn drop(&mut self) {
            // SAFETY: the mask that the thread had.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, ptr::null_mut()) };
        }
    }
}

#[cfg(not(unix))]
mod imp {
    pub(super) struct SignalHandlers;

    impl SignalHandlers {
        pub(super) fn read() -> Self {
            Self
        }

        pub(super) fn restore_changed(&self) {}
    }

    pub(super) struct BlockedSignals;

    impl BlockedSignals {
        pub(super) fn block_all() -> Self {
            Self
        }
    }

    impl Drop for BlockedSignals {
        fn drop(&mut self) {}
    }
}

use imp::{BlockedSignals, SignalHandlers};
