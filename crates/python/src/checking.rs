//! Checks and schedules of the virtual GPU, for `rtcg.checking`.

use crate::errors::OrRaise;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rtcg::driver::Context;
use rtcg::driver::check::{self, CheckSet, Finding};
use rtcg::driver::schedule::{self, Schedule};

/// Select the checks of this process.
#[pyfunction]
fn enable_checks(checks: &str) -> PyResult<()> {
    let wanted = CheckSet::parse(checks).ok_or_else(|| {
        PyValueError::new_err(format!(
            "checks is {checks:?}; expected 1, all, none, or a list of memory, init, race, sync, leak, fatal"
        ))
    })?;
    check::configure_checks(wanted).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// The findings so far, as dictionaries, when the current context's work is done if it is checked. An error of a kernel
/// stays for the next call of the program that waits; it is among the findings, too.
#[pyfunction]
fn list_check_findings(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let is_checked = |context: Context| context.device().is_checked();
    let mut waited = Ok(());
    // A wait would invalidate a capture.
    if Context::current_or_foreign().is_some_and(is_checked) && !rtcg::driver::is_any_capturing() {
        waited = py.detach(Context::synchronize);
    }
    let list = PyList::empty(py);
    let findings = check::findings();
    if findings.is_empty() {
        // An error that is no finding, such as one of compilation; the wait has taken it from the context.
        waited.or_raise()?;
    }
    for finding in findings {
        list.append(finding_to_dict(py, &finding)?)?;
    }
    Ok(list)
}

fn finding_to_dict<'py>(py: Python<'py>, f: &Finding) -> PyResult<Bound<'py, PyDict>> {
    let d = PyDict::new(py);
    d.set_item("kind", f.kind.kind_name())?;
    d.set_item("kernel", &f.kernel)?;
    d.set_item("block", (f.block[0], f.block[1], f.block[2]))?;
    d.set_item("thread", (f.thread[0], f.thread[1], f.thread[2]))?;
    d.set_item("address", f.address)?;
    d.set_item("size", f.size)?;
    d.set_item("allocation", f.allocation.as_deref())?;
    d.set_item("instruction", &f.instruction)?;
    d.set_item("ptx_line", f.ptx_line)?;
    d.set_item("source", f.source.clone())?;
    d.set_item("count", f.count)?;
    d.set_item("message", &f.message)?;
    let other = f.other.as_ref().map(|o| {
        let d = PyDict::new(py);
        d.set_item("block", (o.block[0], o.block[1], o.block[2]))?;
        d.set_item("thread", (o.thread[0], o.thread[1], o.thread[2]))?;
        d.set_item("instruction", &o.instruction)?;
        d.set_item("ptx_line", o.ptx_line)?;
        d.set_item("source", o.source.clone())?;
        PyResult::Ok(d)
    });
    d.set_item("other", other.transpose()?)?;
    Ok(d)
}

/// Discard all findings.
#[pyfunction]
fn clear_check_findings() {
    check::clear_findings();
}

/// Set the order in which threads run.
#[pyfunction]
fn set_thread_schedule(order: &str) -> PyResult<()> {
    let wanted = Schedule::parse(order).ok_or_else(|| {
        PyValueError::new_err(format!("schedule is {order:?}; expected normal, deterministic or chaos:SEED"))
    })?;
    schedule::set_schedule(wanted);
    Ok(())
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m, functions enable_checks, list_check_findings, clear_check_findings, set_thread_schedule; }
}
