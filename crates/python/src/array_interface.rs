//! The CUDA array interface of other libraries, as far as all its readers agree on it.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The dictionary of an object's `__cuda_array_interface__`, which must have no mask: arrays of the device have none,
/// and elements that are masked are not to be computed with.
pub(crate) fn unmasked_interface<'py>(interface: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let interface = interface.cast_into::<PyDict>().map_err(|error| {
        let given = crate::errors::shown(&error.into_inner());
        PyTypeError::new_err(format!("__cuda_array_interface__ is {given}; expected a dict"))
    })?;
    match interface.get_item("mask")?.filter(|mask| !mask.is_none()) {
        None => Ok(interface),
        Some(_) => Err(PyValueError::new_err(
            "__cuda_array_interface__ has a mask; expected None: fill the masked elements, or select the others",
        )),
    }
}
