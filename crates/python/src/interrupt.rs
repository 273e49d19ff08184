//! Ctrl-C while a driver call or a compilation waits, and kernels that still run when the interpreter ends.
//!
//! Establishes: signals are handled while the virtual GPU makes the main thread wait, and what a
//! handler raises ends the wait and comes out of the call, whatever else the call would return.

use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;

thread_local! {
    /// What a signal handler raised while a driver call of this thread was waiting.
    static PENDING_EXCEPTION: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Whether a handler has raised in any thread, ever: without one, calls have nothing to look for.
static ANY_HANDLER_RAISED: AtomicBool = AtomicBool::new(false);

/// The thread that imported this module first, if it was Python's main thread.
static MAIN_THREAD: OnceLock<ThreadId> = OnceLock::new();

/// Lets Python handle its signals; true when a handler raised, as that of Ctrl-C does.
fn is_interrupted() -> bool {
    if PENDING_EXCEPTION.with_borrow(Option::is_some) {
        return true;
    }
    // Python handles signals in its main thread only. Another one must not wait for the interpreter
    // here: who holds it may wait for the work that this thread has taken up.
    if MAIN_THREAD.get().is_some_and(|main| *main != std::thread::current().id()) {
        return false;
    }
    // Without an interpreter (at its end) nobody can interrupt.
    match Python::try_attach(|py| py.check_signals()) {
        Some(Err(error)) => {
            PENDING_EXCEPTION.set(Some(error));
            ANY_HANDLER_RAISED.store(true, Ordering::Relaxed);
            true
        }
        _ => false,
    }
}

/// Whether [`take_pending_exception`] can have something. Costs nothing.
#[inline]
pub(crate) fn may_have_pending_exception() -> bool {
    ANY_HANDLER_RAISED.load(Ordering::Relaxed)
}

/// What was raised while a call of this thread waited.
pub(crate) fn take_pending_exception() -> Option<PyErr> {
    PENDING_EXCEPTION.take()
}

/// Waits for kernels that still run, but not for ever.
#[pyfunction]
fn finish_work_at_exit(py: Python<'_>) -> PyResult<()> {
    py.detach(rtcg::driver::finish_or_cancel_work);
    take_pending_exception().map_or(Ok(()), Err)
}

/// Whether this is the thread that the process began with; false where the system does not tell.
fn is_initial_thread() -> bool {
    // By its number: glibc has the function only since 2.30.
    // SAFETY: neither call has a precondition.
    #[cfg(target_os = "linux")]
    return unsafe { libc::c_long::from(libc::getpid()) == libc::syscall(libc::SYS_gettid) };
    #[cfg(not(target_os = "linux"))]
    false
}

/// Whether this thread is Python's main one. `threading`, whose import costs a millisecond, is asked where it is there.
fn is_on_main_thread(py: Python<'_>) -> PyResult<bool> {
    let loaded = py.import("sys")?.getattr("modules")?.contains("threading")?;
    if !loaded && is_initial_thread() {
        return Ok(true);
    }
    let threading = py.import("threading")?;
    Ok(threading.call_method0("main_thread")?.is(threading.call_method0("current_thread")?))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    if is_on_main_thread(m.py())? {
        let _ = MAIN_THREAD.set(std::thread::current().id());
    }
    rtcg::driver::set_interrupt_check(is_interrupted);
    rtcg::array::set_interrupt_check(is_interrupted);
    rtcg::compile::set_interrupt_check(is_interrupted);
    let at_exit = wrap_pyfunction!(finish_work_at_exit, m)?;
    m.py().import("atexit")?.call_method1("register", (at_exit,)).map(drop)
}
