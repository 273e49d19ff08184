//! `rtcg.tracing` and `rtcg.nvtx`.

use pyo3::prelude::*;
use rtcg::driver::trace::{self, nvtx};
use std::path::PathBuf;

#[pyfunction]
fn trace_start(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    Ok(py.detach(|| trace::start(&path))?)
}

/// The file and the number of events in it; None when no trace was made.
#[pyfunction]
fn trace_stop(py: Python<'_>) -> PyResult<Option<(PathBuf, u64)>> {
    Ok(py.detach(trace::stop)?.map(|finished| (finished.path, finished.n_events)))
}

#[pyfunction]
fn trace_is_on() -> bool {
    trace::is_tracing()
}

#[pyfunction]
fn nvtx_push(name: &str) {
    nvtx::range_push(name);
}

#[pyfunction]
fn nvtx_pop() {
    nvtx::range_pop();
}

#[pyfunction]
fn nvtx_mark(name: &str) {
    nvtx::mark(name);
}

#[pyfunction]
fn nvtx_listener_library() -> Option<&'static str> {
    nvtx::listener_library_name()
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(trace_start, m)?)?;
    m.add_function(wrap_pyfunction!(trace_stop, m)?)?;
    m.add_function(wrap_pyfunction!(trace_is_on, m)?)?;
    m.add_function(wrap_pyfunction!(nvtx_push, m)?)?;
    m.add_function(wrap_pyfunction!(nvtx_pop, m)?)?;
    m.add_function(wrap_pyfunction!(nvtx_mark, m)?)?;
    m.add_function(wrap_pyfunction!(nvtx_listener_library, m)?)
}
