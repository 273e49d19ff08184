//! What native functions of arrays share: their arguments, and results that are computed with the interpreter released.

use crate::gpuarray::{PyGpuArray, to_py_result};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::array::{GpuArray, Result};

pub(crate) type BoundAny<'py> = Bound<'py, PyAny>;
pub(crate) type ArrayArg<'a, 'py> = &'a Bound<'py, PyGpuArray>;

/// The array of an argument.
pub(crate) fn core_array(array: ArrayArg<'_, '_>) -> GpuArray {
    array.get().current_state().array.clone()
}

/// What `body` makes of an array, in memory from its allocator and with the interpreter released.
pub(crate) fn compute_detached<T: Send>(
    a: ArrayArg<'_, '_>,
    body: impl FnOnce(&GpuArray) -> Result<T> + Send,
) -> PyResult<T> {
    let (py, array) = (a.py(), core_array(a));
    to_py_result(py, PyGpuArray::with_allocator_of(a, || py.detach(|| body(&array))))
}

/// [`compute_detached`] as an object like the array.
pub(crate) fn compute_array<'py>(
    a: ArrayArg<'_, 'py>,
    body: impl FnOnce(&GpuArray) -> Result<GpuArray> + Send,
) -> PyResult<BoundAny<'py>> {
    PyGpuArray::new_like(a, compute_detached(a, body)?)
}

/// [`compute_detached`] as a tuple of objects like the array.
pub(crate) fn compute_array_tuple<'py, const N: usize>(
    a: ArrayArg<'_, 'py>,
    body: impl FnOnce(&GpuArray) -> Result<[GpuArray; N]> + Send,
) -> PyResult<Bound<'py, PyTuple>> {
    let objects: Vec<_> =
        compute_detached(a, body)?.into_iter().map(|array| PyGpuArray::new_like(a, array)).collect::<PyResult<_>>()?;
    PyTuple::new(a.py(), objects)
}
