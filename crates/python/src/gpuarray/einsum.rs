//! Native part of `einsum`.

use super::context::array_context;
use super::operands::{parse_optional_dtype, require_array};
use super::{PyGpuArray, parse_order, to_py_result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rtcg::array::{EinsumOptions, EinsumPath, GpuArray, einsum};
use std::sync::Arc;

/// The path of `optimize`: names, or steps as lists of operands.
fn parse_path(path: &Bound<'_, PyAny>) -> PyResult<EinsumPath> {
    match path.extract::<String>() {
        Ok(name) if name == "greedy" => Ok(EinsumPath::Greedy),
        Ok(name) if name == "optimal" => Ok(EinsumPath::Optimal),
        Ok(name) => Err(PyValueError::new_err(format!("optimize is '{name}'; expected 'greedy' or 'optimal'"))),
        Err(_) => Ok(EinsumPath::Given(path.extract()?)),
    }
}

/// The sum of products of arrays; a single operand without a sum gives a view.
#[pyfunction]
#[pyo3(signature = (subscripts, operands, out = None, dtype = None, order = None, path = None))]
fn array_einsum<'py>(
    py: Python<'py>,
    subscripts: &str,
    operands: Vec<Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyGpuArray>>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&str>,
    path: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let ctx = array_context()?;
    let arrays: Vec<GpuArray> = operands.iter().map(|operand| require_array(&ctx, operand)).collect::<PyResult<_>>()?;
    let arrays: Vec<&GpuArray> = arrays.iter().collect();
    let target = out.map(|out| out.get().current_state());
    let options = EinsumOptions {
        out: target.as_deref().map(|target| &target.array),
        dtype: parse_optional_dtype(py, dtype)?,
        order: order.map(parse_order).transpose()?,
        path: path.map(parse_path).transpose()?.unwrap_or_default(),
    };
    let compute = || einsum(subscripts, &arrays, options);
    let like = operands.iter().find_map(|operand| operand.cast::<PyGpuArray>().ok());
    let result = match like {
        Some(like) => PyGpuArray::with_allocator_of(like, compute),
        None => compute(),
    };
    let result = to_py_result(py, result)?;
    let is_view = result.buffer().zip(arrays[0].buffer()).is_some_and(|(a, b)| Arc::ptr_eq(a, b));
    match (out, like) {
        (Some(out), _) => Ok(out.clone().into_any()),
        (None, Some(like)) if arrays.len() == 1 && is_view => PyGpuArray::view_of(like, result, None),
        (None, Some(like)) => PyGpuArray::new_like(like, result),
        (None, None) => Ok(Bound::new(py, PyGpuArray::from_array(result))?.into_any()),
    }
}

pub(super) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(array_einsum, m)?)
}
