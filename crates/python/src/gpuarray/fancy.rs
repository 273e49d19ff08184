//! Indexing with integer and boolean arrays.

use super::PyGpuArray;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

pub(super) fn get<'py>(slf: &Bound<'py, PyGpuArray>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let _ = slf;
    Err(PyIndexError::new_err(format!("indexing with {index} is not supported")))
}

pub(super) fn set<'py>(
    slf: &Bound<'py, PyGpuArray>,
    index: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let _ = (slf, value);
    Err(PyIndexError::new_err(format!("assignment to the index {index} is not supported")))
}
