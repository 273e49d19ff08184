//! Ctrl-C while a driver call waits, and kernels that still run when the interpreter ends.
//!
//! Establishes: signals are handled while the virtual GPU makes the main thread wait, and what a
//! handler raises ends the wait and comes out of the call, whatever else the call would return.

use pyo3::prelude::*;
use std::cell::RefCell;

thread_local! {
    /// What a signal handler raised while a driver call of this thread was waiting.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Lets Python handle its signals; true when a handler raised, as that of Ctrl-C does.
fn is_interrupted() -> bool {
    if RAISED.with_borrow(Option::is_some) {
        return true;
    }
    // Without an interpreter (at its end) nobody can interrupt.
    match Python::try_attach(|py| py.check_signals()) {
        Some(Err(error)) => {
            RAISED.set(Some(error));
            true
        }
        _ => false,
    }
}

/// What was raised while a call of this thread waited.
pub(crate) fn take_raised() -> Option<PyErr> {
    RAISED.take()
}

/// Waits for kernels that still run, but not for ever.
#[pyfunction]
fn end_work(py: Python<'_>) -> PyResult<()> {
    py.detach(rtcg::driver::end_work);
    take_raised().map_or(Ok(()), Err)
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    rtcg::driver::set_interrupt_check(is_interrupted);
    let at_exit = wrap_pyfunction!(end_work, m)?;
    m.py().import("atexit")?.call_method1("register", (at_exit,)).map(drop)
}
