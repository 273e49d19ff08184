//! Native parts of the module's functions: gathering, sorting, running totals, products, joining.

use super::context::array_context;
use super::operands::{optional_dtype, require_array};
use super::transfer::in_stream;
use super::{PyGpuArray, raise};
use crate::driver::stream::PyStream;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::array::{Bounds, GpuArray, Order, ScanOp, normalize_axis};

type Any<'py> = Bound<'py, PyAny>;
type Array<'a, 'py> = &'a Bound<'py, PyGpuArray>;

/// `array` and the axis, counted from the front; flattened without one.
fn with_axis(py: Python<'_>, array: &GpuArray, axis: Option<isize>) -> PyResult<(GpuArray, usize)> {
    match axis {
        Some(axis) => Ok((array.clone(), raise(py, normalize_axis(axis, array.ndim()))?)),
        None => Ok((raise(py, array.ravel(Order::C))?, 0)),
    }
}

fn bounds_of(mode: &str) -> PyResult<Bounds> {
    match mode {
        "raise" => Ok(Bounds::Raise),
        "wrap" => Ok(Bounds::Wrap),
        "clip" => Ok(Bounds::Clip),
        other => Err(PyValueError::new_err(format!("mode is '{other}'; expected 'raise', 'wrap' or 'clip'"))),
    }
}

#[pyfunction]
#[pyo3(signature = (a, indices, axis = None, out = None, mode = "raise", stream = None))]
fn array_take<'py>(
    a: Array<'_, 'py>,
    indices: &Any<'py>,
    axis: Option<isize>,
    out: Option<Array<'_, 'py>>,
    mode: &str,
    stream: Option<&Bound<'py, PyStream>>,
) -> PyResult<Any<'py>> {
    let py = a.py();
    let own = &a.get().array;
    let indices = require_array(own.context(), indices)?;
    let (array, axis) = with_axis(py, own, axis)?;
    let bounds = bounds_of(mode)?;
    let target = out.map(|out| &out.get().array);
    let taken = in_stream(stream, || raise(py, array.take(&indices, axis, bounds, target)))?;
    match out {
        Some(out) => Ok(out.clone().into_any()),
        None => PyGpuArray::like(a, taken),
    }
}

/// Writes to the flattened array, or along `axis`.
#[pyfunction]
#[pyo3(signature = (a, indices, values, axis = None, mode = "raise", stream = None))]
fn array_put<'py>(
    a: Array<'_, 'py>,
    indices: &Any<'py>,
    values: &Any<'py>,
    axis: Option<isize>,
    mode: &str,
    stream: Option<&Bound<'py, PyStream>>,
) -> PyResult<()> {
    let py = a.py();
    let own = &a.get().array;
    let (indices, values) = (require_array(own.context(), indices)?, require_array(own.context(), values)?);
    let (array, along) = with_axis(py, own, axis)?;
    let bounds = bounds_of(mode)?;
    in_stream(stream, || raise(py, array.put(&indices, &values, along, bounds)))?;
    // The flat form of an array with gaps is a copy, which goes back.
    if axis.is_none() && array.device_ptr() != own.device_ptr() {
        let shape: Vec<isize> = own.shape().iter().map(|&n| n as isize).collect();
        raise(py, array.reshape(&shape, Order::C).and_then(|back| own.assign(&back)))?;
    }
    Ok(())
}

#[pyfunction]
fn array_nonzero<'py>(a: Array<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
    let py = a.py();
    let found = raise(py, py.detach(|| a.get().array.nonzero()))?;
    let found: Vec<_> = found.into_iter().map(|array| Bound::new(py, PyGpuArray::wrap(array))).collect::<PyResult<_>>()?;
    PyTuple::new(py, found)
}

#[pyfunction]
fn array_flatnonzero<'py>(a: Array<'_, 'py>) -> PyResult<Any<'py>> {
    let py = a.py();
    PyGpuArray::like(a, raise(py, py.detach(|| a.get().array.flat_nonzero()))?)
}

#[pyfunction]
#[pyo3(signature = (a, op, axis = None, dtype = None, stream = None))]
fn array_cumulative<'py>(
    a: Array<'_, 'py>,
    op: &str,
    axis: Option<isize>,
    dtype: Option<&Any<'py>>,
    stream: Option<&Bound<'py, PyStream>>,
) -> PyResult<Any<'py>> {
    let py = a.py();
    let op = match op {
        "sum" => ScanOp::Sum,
        "prod" => ScanOp::Product,
        "max" => ScanOp::Maximum,
        "min" => ScanOp::Minimum,
        other => return Err(PyTypeError::new_err(format!("'{other}' is no running total"))),
    };
    let dtype = optional_dtype(py, dtype)?;
    let (array, axis) = with_axis(py, &a.get().array, axis)?;
    PyGpuArray::like(a, in_stream(stream, || raise(py, array.cumulative(op, axis, dtype)))?)
}

#[pyfunction]
#[pyo3(signature = (a, axis = Some(-1), descending = false))]
fn array_sort<'py>(a: Array<'_, 'py>, axis: Option<isize>, descending: bool) -> PyResult<Any<'py>> {
    let py = a.py();
    let (array, axis) = with_axis(py, &a.get().array, axis)?;
    PyGpuArray::like(a, raise(py, array.sorted(axis, descending))?)
}

#[pyfunction]
#[pyo3(signature = (a, axis = Some(-1), descending = false))]
fn array_argsort<'py>(a: Array<'_, 'py>, axis: Option<isize>, descending: bool) -> PyResult<Any<'py>> {
    let py = a.py();
    let (array, axis) = with_axis(py, &a.get().array, axis)?;
    PyGpuArray::like(a, raise(py, array.argsort(axis, descending))?)
}

#[pyfunction]
#[pyo3(signature = (a, v, side = "left"))]
fn array_searchsorted<'py>(a: Array<'_, 'py>, v: &Any<'py>, side: &str) -> PyResult<Any<'py>> {
    let py = a.py();
    let right = match side {
        "left" => false,
        "right" => true,
        other => return Err(PyValueError::new_err(format!("side is '{other}'; expected 'left' or 'right'"))),
    };
    let values = require_array(a.get().array.context(), v)?;
    PyGpuArray::like(a, raise(py, a.get().array.search_sorted(&values, right))?)
}

#[pyfunction]
#[pyo3(signature = (a, b, out = None))]
fn array_matmul<'py>(py: Python<'py>, a: &Any<'py>, b: &Any<'py>, out: Option<Array<'_, 'py>>) -> PyResult<Any<'py>> {
    let ctx = array_context()?;
    let (x, y) = (require_array(&ctx, a)?, require_array(&ctx, b)?);
    let product = raise(py, x.matmul(&y))?;
    if let Some(out) = out {
        raise(py, out.get().array.assign(&product))?;
        return Ok(out.clone().into_any());
    }
    match [a, b].into_iter().find_map(|operand| operand.cast::<PyGpuArray>().ok()) {
        Some(like) => PyGpuArray::like(like, product),
        None => Ok(Bound::new(py, PyGpuArray::wrap(product))?.into_any()),
    }
}

/// The inner product of all elements, in any shape.
#[pyfunction]
#[pyo3(signature = (a, b, dtype = None, stream = None))]
fn array_dot_flat<'py>(
    a: Array<'_, 'py>,
    b: Array<'_, 'py>,
    dtype: Option<&Any<'py>>,
    stream: Option<&Bound<'py, PyStream>>,
) -> PyResult<Any<'py>> {
    let py = a.py();
    let dtype = optional_dtype(py, dtype)?;
    let result = in_stream(stream, || a.get().array.dot_flat(&b.get().array, dtype));
    PyGpuArray::like(a, raise(py, result)?)
}

/// A device array of anything: arrays stay, arrays of other libraries on the device are shared, the rest is copied.
#[pyfunction]
fn array_from<'py>(object: &Any<'py>) -> PyResult<Any<'py>> {
    if object.is_instance_of::<PyGpuArray>() {
        return Ok(object.clone());
    }
    let array = require_array(&array_context()?, object)?;
    Ok(Bound::new(object.py(), PyGpuArray::wrap(array))?.into_any())
}

#[pymethods]
impl PyGpuArray {
    fn __matmul__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        matmul_operator(slf, other, false)
    }

    fn __rmatmul__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<Any<'py>> {
        matmul_operator(slf, other, true)
    }

    fn __imatmul__<'py>(slf: &Bound<'py, Self>, other: &Any<'py>) -> PyResult<()> {
        let py = slf.py();
        let own = &slf.get().array;
        let other = require_array(own.context(), other)?;
        let product = raise(py, own.matmul(&other))?;
        if product.shape() != own.shape() {
            return Err(PyValueError::new_err(format!(
                "matmul in place: the product has shape {}, the array {}",
                rtcg::array::Tuple(product.shape()),
                rtcg::array::Tuple(own.shape())
            )));
        }
        raise(py, own.assign(&product))
    }
}

fn matmul_operator<'py>(slf: &Bound<'py, PyGpuArray>, other: &Any<'py>, reflected: bool) -> PyResult<Any<'py>> {
    let py = slf.py();
    let own = &slf.get().array;
    match super::operands::operand_of(own.context(), other)? {
        None => Ok(py.NotImplemented().into_bound(py)),
        Some(super::operands::Operand::Scalar(_)) => {
            Err(PyValueError::new_err("matmul: an operand has no axes; use multiply for scalars"))
        }
        Some(_) => {
            let other = require_array(own.context(), other)?;
            let (x, y) = if reflected { (&other, own) } else { (own, &other) };
            PyGpuArray::like(slf, raise(py, x.matmul(y))?)
        }
    }
}

pub(super) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(array_take, m)?)?;
    m.add_function(wrap_pyfunction!(array_put, m)?)?;
    m.add_function(wrap_pyfunction!(array_nonzero, m)?)?;
    m.add_function(wrap_pyfunction!(array_flatnonzero, m)?)?;
    m.add_function(wrap_pyfunction!(array_cumulative, m)?)?;
    m.add_function(wrap_pyfunction!(array_sort, m)?)?;
    m.add_function(wrap_pyfunction!(array_argsort, m)?)?;
    m.add_function(wrap_pyfunction!(array_searchsorted, m)?)?;
    m.add_function(wrap_pyfunction!(array_matmul, m)?)?;
    m.add_function(wrap_pyfunction!(array_dot_flat, m)?)?;
    m.add_function(wrap_pyfunction!(array_from, m)?)
}
