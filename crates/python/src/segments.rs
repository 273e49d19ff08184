//! Native parts of `rtcg.algorithm`. They run with the interpreter released: all wait for the device.

use crate::array_calls::{ArrayArg, BoundAny, compute_array, compute_array_tuple, core_array};
use crate::gpuarray::parse_optional_dtype;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::array::{ScanOp, reduce_by_key, unique_by_key};

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

/// The reduction of each segment.
#[pyfunction]
fn segmented_reduce<'py>(
    values: ArrayArg<'_, 'py>,
    offsets: ArrayArg<'_, 'py>,
    op: &str,
    dtype: Option<&BoundAny<'py>>,
) -> PyResult<BoundAny<'py>> {
    let (at, op) = (core_array(offsets), scan_op_named(op)?);
    let dtype = parse_optional_dtype(values.py(), dtype)?;
    compute_array(values, |array| array.segmented_reduce(op, &at, dtype))
}

/// The scan of each segment.
#[pyfunction]
fn segmented_scan<'py>(
    values: ArrayArg<'_, 'py>,
    offsets: ArrayArg<'_, 'py>,
    op: &str,
    is_exclusive: bool,
    dtype: Option<&BoundAny<'py>>,
) -> PyResult<BoundAny<'py>> {
    let (at, op) = (core_array(offsets), scan_op_named(op)?);
    let dtype = parse_optional_dtype(values.py(), dtype)?;
    compute_array(values, |array| array.segmented_scan(op, &at, is_exclusive, dtype))
}

/// The sorted elements of each segment, and their indices.
#[pyfunction]
fn segmented_sort<'py>(
    values: ArrayArg<'_, 'py>,
    offsets: ArrayArg<'_, 'py>,
    is_descending: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let at = core_array(offsets);
    compute_array_tuple(values, |array| array.segmented_sort(&at, is_descending))
}

/// The start of each run of equal elements, followed by the total length.
#[pyfunction]
fn run_offsets<'py>(values: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
    compute_array(values, |array| array.run_offsets())
}

/// The element and the length of each run of equal elements.
#[pyfunction]
fn run_length_encode<'py>(values: ArrayArg<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
    compute_array_tuple(values, |array| array.run_length_encode())
}

/// Each element, repeated as its count says.
#[pyfunction]
fn run_length_decode<'py>(values: ArrayArg<'_, 'py>, counts: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
    let times = core_array(counts);
    compute_array(values, |array| array.run_length_decode(&times))
}

/// The key of each run and the reduction of its values.
#[pyfunction(name = "reduce_by_key")]
fn py_reduce_by_key<'py>(
    keys: ArrayArg<'_, 'py>,
    values: ArrayArg<'_, 'py>,
    op: &str,
    dtype: Option<&BoundAny<'py>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let (keys, op) = (core_array(keys), scan_op_named(op)?);
    let dtype = parse_optional_dtype(values.py(), dtype)?;
    compute_array_tuple(values, |array| reduce_by_key(&keys, array, op, dtype))
}

/// The first key of each run and its value.
#[pyfunction(name = "unique_by_key")]
fn py_unique_by_key<'py>(keys: ArrayArg<'_, 'py>, values: ArrayArg<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
    let keys = core_array(keys);
    compute_array_tuple(values, |array| unique_by_key(&keys, array))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m,
        functions segmented_reduce, segmented_scan, segmented_sort, run_offsets, run_length_encode, run_length_decode,
            py_reduce_by_key, py_unique_by_key;
    }
}
