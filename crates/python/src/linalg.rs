//! Native parts of `pycuda.linalg`. They run with the interpreter released: most wait for the device.

use crate::errors::array_error;
use crate::gpuarray::PyGpuArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::array::{GpuArray, Result, Triangle};

type Array<'a, 'py> = &'a Bound<'py, PyGpuArray>;

/// What `body` makes of an array, in memory from its allocator and with the interpreter released.
fn computed<T: Send>(a: Array<'_, '_>, body: impl FnOnce(&GpuArray) -> Result<T> + Send) -> PyResult<T> {
    let (py, array) = (a.py(), &a.get().array);
    PyGpuArray::in_memory_of(a, || py.detach(|| body(array))).map_err(|error| array_error(py, error))
}

/// [`computed`] as an object like the array.
fn array_of<'py>(
    a: Array<'_, 'py>,
    body: impl FnOnce(&GpuArray) -> Result<GpuArray> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    PyGpuArray::like(a, computed(a, body)?)
}

/// [`computed`] as a tuple of objects like the array.
fn tuple_of<'py, const N: usize>(
    a: Array<'_, 'py>,
    body: impl FnOnce(&GpuArray) -> Result<[GpuArray; N]> + Send,
) -> PyResult<Bound<'py, PyTuple>> {
    let objects: Vec<_> =
        computed(a, body)?.into_iter().map(|array| PyGpuArray::like(a, array)).collect::<PyResult<_>>()?;
    PyTuple::new(a.py(), objects)
}

#[pyfunction]
fn linalg_solve<'py>(a: Array<'_, 'py>, b: Array<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let matrices = &a.get().array;
    array_of(b, |b| matrices.solve(b))
}

#[pyfunction]
fn linalg_inv<'py>(a: Array<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    array_of(a, GpuArray::inv)
}

#[pyfunction]
fn linalg_inv_or_nan<'py>(a: Array<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    array_of(a, GpuArray::inv_or_nan)
}

#[pyfunction]
fn linalg_det<'py>(a: Array<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    array_of(a, GpuArray::det)
}

#[pyfunction]
fn linalg_slogdet<'py>(a: Array<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
    tuple_of(a, |a| a.slogdet().map(|found| [found.sign, found.log]))
}

#[pyfunction]
fn linalg_cholesky<'py>(a: Array<'_, 'py>, upper: bool) -> PyResult<Bound<'py, PyAny>> {
    array_of(a, |a| a.cholesky(if upper { Triangle::Upper } else { Triangle::Lower }))
}

/// Two arrays, or for mode "r" one.
#[pyfunction]
fn linalg_qr<'py>(a: Array<'_, 'py>, mode: &str) -> PyResult<Bound<'py, PyTuple>> {
    match mode {
        "reduced" | "complete" => tuple_of(a, |a| a.qr(mode == "complete").map(Into::into)),
        "r" => tuple_of(a, |a| Ok([a.qr_triangle()?])),
        "raw" => tuple_of(a, |a| a.qr_raw().map(Into::into)),
        _ => Err(PyValueError::new_err(format!("Unrecognized mode '{mode}'"))),
    }
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(linalg_solve, m)?)?;
    m.add_function(wrap_pyfunction!(linalg_inv, m)?)?;
    m.add_function(wrap_pyfunction!(linalg_inv_or_nan, m)?)?;
    m.add_function(wrap_pyfunction!(linalg_det, m)?)?;
    m.add_function(wrap_pyfunction!(linalg_slogdet, m)?)?;
    m.add_function(wrap_pyfunction!(linalg_cholesky, m)?)?;
    m.add_function(wrap_pyfunction!(linalg_qr, m)?)
}
