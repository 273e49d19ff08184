//! Native parts of `rtcg.algorithm`. They run with the interpreter released: all wait for the device.

use crate::gpuarray::{PyGpuArray, parse_optional_dtype, to_py_result};
use crate::sparse_formats::{ArrayArg, BoundAny, core_array};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rtcg::array::{GpuArray, Result, ScanOp, reduce_by_key, unique_by_key};

type Pair<'py> = (BoundAny<'py>, BoundAny<'py>);

fn scan_op_named(name: &str) -> PyResult<ScanOp> {
    match name {
        "sum" => Ok(ScanOp::Sum),
        "prod" => Ok(ScanOp::Product),
        "max" => Ok(ScanOp::Maximum),
        "min" => Ok(ScanOp::Minimum),
        other => {
            let message = format!("op is '{other}'; expected 'sum', 'prod', 'max' or 'min'");
            Err(PyValueError::new_err(message))
        }
    }
}

fn one<'py>(like: ArrayArg<'_, 'py>, body: impl FnOnce() -> Result<GpuArray> + Send) -> PyResult<BoundAny<'py>> {
    let py = like.py();
    PyGpuArray::new_like(like, to_py_result(py, PyGpuArray::with_allocator_of(like, || py.detach(body)))?)
}

fn two<'py>(like: ArrayArg<'_, 'py>, body: impl FnOnce() -> Result<[GpuArray; 2]> + Send) -> PyResult<Pair<'py>> {
    let py = like.py();
    let [first, second] = to_py_result(py, PyGpuArray::with_allocator_of(like, || py.detach(body)))?;
    Ok((PyGpuArray::new_like(like, first)?, PyGpuArray::new_like(like, second)?))
}

/// What each segment is combined to.
#[pyfunction]
fn segmented_reduce<'py>(
    values: ArrayArg<'_, 'py>,
    offsets: ArrayArg<'_, 'py>,
    op: &str,
    dtype: Option<&BoundAny<'py>>,
) -> PyResult<BoundAny<'py>> {
    let (array, at, op) = (core_array(values), core_array(offsets), scan_op_named(op)?);
    let dtype = parse_optional_dtype(values.py(), dtype)?;
    one(values, || array.segmented_reduce(op, &at, dtype))
}

/// What the elements of a segment up to each one are combined to.
#[pyfunction]
fn segmented_scan<'py>(
    values: ArrayArg<'_, 'py>,
    offsets: ArrayArg<'_, 'py>,
    op: &str,
    is_exclusive: bool,
    dtype: Option<&BoundAny<'py>>,
) -> PyResult<BoundAny<'py>> {
    let (array, at, op) = (core_array(values), core_array(offsets), scan_op_named(op)?);
    let dtype = parse_optional_dtype(values.py(), dtype)?;
    one(values, || array.segmented_scan(op, &at, is_exclusive, dtype))
}

/// The elements of each segment in order, and their indices.
#[pyfunction]
fn segmented_sort<'py>(
    values: ArrayArg<'_, 'py>,
    offsets: ArrayArg<'_, 'py>,
    is_descending: bool,
) -> PyResult<Pair<'py>> {
    let (array, at) = (core_array(values), core_array(offsets));
    two(values, || array.segmented_sort(&at, is_descending))
}

/// Where runs of equal elements begin, and the length behind them.
#[pyfunction]
fn run_offsets<'py>(values: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
    let array = core_array(values);
    one(values, || array.run_offsets())
}

/// The element of each run of equal elements, and its length.
#[pyfunction]
fn run_length_encode<'py>(values: ArrayArg<'_, 'py>) -> PyResult<Pair<'py>> {
    let array = core_array(values);
    two(values, || array.run_length_encode())
}

/// Each element as often as its count says.
#[pyfunction]
fn run_length_decode<'py>(values: ArrayArg<'_, 'py>, counts: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
    let (array, times) = (core_array(values), core_array(counts));
    one(values, || array.run_length_decode(&times))
}

/// The key of each run, and what the values beside it are combined to.
#[pyfunction(name = "reduce_by_key")]
fn py_reduce_by_key<'py>(
    keys: ArrayArg<'_, 'py>,
    values: ArrayArg<'_, 'py>,
    op: &str,
    dtype: Option<&BoundAny<'py>>,
) -> PyResult<Pair<'py>> {
    let (by, array, op) = (core_array(keys), core_array(values), scan_op_named(op)?);
    let dtype = parse_optional_dtype(keys.py(), dtype)?;
    two(values, || reduce_by_key(&by, &array, op, dtype))
}

/// The first key of each run, and the value beside it.
#[pyfunction(name = "unique_by_key")]
fn py_unique_by_key<'py>(keys: ArrayArg<'_, 'py>, values: ArrayArg<'_, 'py>) -> PyResult<Pair<'py>> {
    let (by, array) = (core_array(keys), core_array(values));
    two(values, || unique_by_key(&by, &array))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(segmented_reduce, m)?)?;
    m.add_function(wrap_pyfunction!(segmented_scan, m)?)?;
    m.add_function(wrap_pyfunction!(segmented_sort, m)?)?;
    m.add_function(wrap_pyfunction!(run_offsets, m)?)?;
    m.add_function(wrap_pyfunction!(run_length_encode, m)?)?;
    m.add_function(wrap_pyfunction!(run_length_decode, m)?)?;
    m.add_function(wrap_pyfunction!(py_reduce_by_key, m)?)?;
    m.add_function(wrap_pyfunction!(py_unique_by_key, m)?)
}
