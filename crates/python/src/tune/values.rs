//! Values of parameters between Python and the core.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use rtcg::tune::{Config, SpaceError, Value};
use std::sync::Arc;

/// Tuples within each other, at most: each is walked by recursion.
const MAX_DEPTH: usize = 100;

/// A value of a parameter; scalars of NumPy's become Python's.
pub(crate) fn value_from_object(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    nested_value(object, 0)
}

fn nested_value(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > MAX_DEPTH {
        return Err(PyValueError::new_err(format!("a value has more than {MAX_DEPTH} tuples within each other")));
    }
    if object.is_instance_of::<PyBool>() {
        return Ok(Value::Bool(object.extract()?));
    }
    if object.is_instance_of::<PyInt>() {
        let number = object.extract::<i64>();
        return number.map(Value::Int).map_err(|_| PyValueError::new_err(format!("{object} does not fit 64 bits")));
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(object.extract()?));
    }
    if object.is_instance_of::<PyString>() {
        return Ok(Value::Str(object.extract()?));
    }
    if object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>() {
        let items = object.try_iter()?.map(|item| nested_value(&item?, depth + 1)).collect::<PyResult<_>>()?;
        return Ok(Value::Tuple(items));
    }
    if let Ok(item) = object.call_method0("item") {
        return nested_value(&item, depth + 1);
    }
    let kind = object.get_type().name()?;
    let expected = "expected bool, int, float, str, or a tuple of these";
    Err(PyTypeError::new_err(format!("the value {} is of type {kind}; {expected}", crate::errors::shown(object))))
}

pub(crate) fn value_to_object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::Int(number) => number.into_bound_py_any(py),
        Value::Float(number) => number.into_bound_py_any(py),
        Value::Str(text) => text.into_bound_py_any(py),
        Value::Tuple(items) => {
            let items = items.iter().map(|item| value_to_object(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, items).map(Bound::into_any)
        }
    }
}

pub(crate) fn config_to_dict<'py>(py: Python<'py>, config: &Config) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in config.iter() {
        dict.set_item(name, value_to_object(py, value)?)?;
    }
    Ok(dict)
}

pub(crate) fn config_from_dict(dict: &Bound<'_, PyDict>) -> PyResult<Config> {
    let mut names = Vec::with_capacity(dict.len());
    let mut values = Vec::with_capacity(dict.len());
    for (name, value) in dict.iter() {
        names.push(name.extract::<String>()?);
        values.push(value_from_object(&value)?);
    }
    Ok(Config::new(Arc::from(names), values))
}

pub(crate) fn space_error(error: SpaceError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
