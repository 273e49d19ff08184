//! `rtcg.fuse`: the ends of a block in which operations are deferred.

use crate::errors::{FusionError, array_error};
use pyo3::prelude::*;
use rtcg::array::fuse;

/// Open a block; a block that traces a function refuses copies of elements to the host.
#[pyfunction]
fn fuse_enter(traced: bool) {
    fuse::enter(traced);
}

/// End a block; the end of the outermost one evaluates all deferred results that are still referenced.
#[pyfunction]
fn fuse_leave(py: Python<'_>, traced: bool) -> PyResult<()> {
    fuse::leave(traced).map_err(|error| array_error(py, error))
}

/// Evaluate the deferred operations of this thread.
#[pyfunction]
fn fuse_flush(py: Python<'_>) -> PyResult<()> {
    fuse::flush().map_err(|error| array_error(py, error))
}

/// Whether this thread defers operations.
#[pyfunction]
fn fuse_is_active() -> bool {
    fuse::is_active()
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("FusionError", m.py().get_type::<FusionError>())?;
    add_contents! { m, functions fuse_enter, fuse_leave, fuse_is_active, fuse_flush; }
}
