//! `rtcg.tracing` and `rtcg.nvtx`.

use pyo3::prelude::*;
use rtcg::driver::trace::{self, nvtx};
use rtcg::profile::{Profile, ProfileRow};
use std::path::PathBuf;

#[pyfunction]
fn trace_start(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    Ok(py.detach(|| trace::start(&path))?)
}

/// Stop tracing: the file and the number of its events, or None if there is no trace.
#[pyfunction]
fn trace_stop(py: Python<'_>) -> PyResult<Option<(PathBuf, u64)>> {
    Ok(py.detach(trace::stop)?.map(|finished| (finished.path, finished.n_events)))
}

/// The summary of a trace file: a text with tables, and rows ``(group, name, calls, seconds, min, max, bytes)``.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "it is unpacked at once")]
fn profile_of_trace(
    py: Python<'_>,
    path: PathBuf,
) -> PyResult<(String, Vec<(String, String, u64, f64, f64, f64, u64)>)> {
    let profile = py.detach(|| Profile::read(&path))?;
    let text = profile.to_string();
    let row = |row: ProfileRow| {
        let group = format!("{:?}", row.group).to_lowercase();
        (group, row.name, row.calls, row.seconds, row.min_seconds, row.max_seconds, row.bytes)
    };
    Ok((text, profile.rows.into_iter().map(row).collect()))
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
    add_contents! { m,
        functions trace_start, trace_stop, trace_is_on, profile_of_trace, nvtx_push, nvtx_pop, nvtx_mark,
            nvtx_listener_library;
    }
}
