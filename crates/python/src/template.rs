//! `rtcg.template`: templates of source.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyTuple, PyType};
use rtcg::cgen::Source;
use rtcg::cgen::template::{Template, TemplateTuple, TemplateValue};

/// Containers within each other, at most: each is walked by recursion.
const MAX_DEPTH: usize = 100;

/// A value for templates: numbers, texts, sequences and dictionaries; another object by its `str()`.
fn template_value(object: &Bound<'_, PyAny>) -> PyResult<TemplateValue> {
    nested_value(object, 0)
}

fn nested_value(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<TemplateValue> {
    if depth > MAX_DEPTH {
        return Err(PyValueError::new_err(format!("more than {MAX_DEPTH} containers within each other")));
    }
    let inner = |object: &Bound<'_, PyAny>| nested_value(object, depth + 1);
    if object.is_none() {
        return Ok(TemplateValue::from(()));
    }
    if object.is_instance_of::<PyBool>() {
        return Ok(TemplateValue::from(object.extract::<bool>()?));
    }
    if object.is_instance_of::<PyInt>() {
        return match object.extract::<i128>() {
            Ok(number) => Ok(TemplateValue::from(number)),
            Err(_) => object.extract::<u128>().map(TemplateValue::from),
        };
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(TemplateValue::from(object.extract::<f64>()?));
    }
    if object.is_instance_of::<PyString>() {
        return Ok(TemplateValue::from(object.extract::<String>()?));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let pairs = dict.iter().map(|(key, value)| Ok((inner(&key)?, inner(&value)?)));
        return pairs.collect::<PyResult<Vec<(TemplateValue, TemplateValue)>>>().map(TemplateValue::from_pairs);
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        let items = tuple.iter().map(|item| inner(&item)).collect::<PyResult<Vec<_>>>()?;
        return Ok(TemplateValue::from(TemplateTuple::from(items)));
    }
    // Scalars and dtypes of NumPy's; types such as `numpy.float32` too.
    if !object.is_instance_of::<PyType>()
        && object.hasattr("item")?
        && object.hasattr("dtype")?
        && object.getattr("ndim")?.extract::<usize>()? == 0
    {
        return inner(&object.call_method0("item")?);
    }
    if let Ok(dtype) = object.py().import("numpy")?.getattr("dtype")?.call1((object,))
        && !object.hasattr("__iter__")?
    {
        return Ok(TemplateValue::from(dtype.getattr("name")?.extract::<String>()?));
    }
    if let Ok(items) = object.try_iter() {
        return items.map(|item| inner(&item?)).collect::<PyResult<Vec<_>>>().map(TemplateValue::from);
    }
    Ok(TemplateValue::from(object.str()?.to_string()))
}

/// Render a template: `(text, text with #line, name)`.
#[pyfunction]
fn render_template(text: &str, name: &str, values: &Bound<'_, PyDict>) -> PyResult<(String, String)> {
    let mut pairs = Vec::with_capacity(values.len());
    for (key, value) in values.iter() {
        let key: String = key.extract()?;
        let value =
            template_value(&value).map_err(|error| match error.is_instance_of::<PyValueError>(values.py()) {
                true => PyValueError::new_err(format!("value {key:?}: {}", error.value(values.py()))),
                false => PyTypeError::new_err(format!("value {key:?}: {}", error.value(values.py()))),
            })?;
        pairs.push((key, value));
    }
    let template = Template::with_name(name, text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let rendered: Source =
        template.render(TemplateValue::from_pairs(pairs)).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((rendered.text().to_owned(), rendered.text_with_line_directives()))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(render_template, m)?)
}
