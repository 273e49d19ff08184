//! `rtcg.template`: templates of source.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyType};
use rtcg::cgen::Source;
use rtcg::cgen::template::{Template, TemplateValue};

/// A value for templates: numbers, texts, sequences and dictionaries; another object by its `str()`.
fn template_value(object: &Bound<'_, PyAny>) -> PyResult<TemplateValue> {
    if object.is_none() {
        return Ok(TemplateValue::from(()));
    }
    if object.is_instance_of::<PyBool>() {
        return Ok(TemplateValue::from(object.extract::<bool>()?));
    }
    if object.is_instance_of::<PyInt>() {
        return match object.extract::<i64>() {
            Ok(number) => Ok(TemplateValue::from(number)),
            Err(_) => object.extract::<u64>().map(TemplateValue::from),
        };
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(TemplateValue::from(object.extract::<f64>()?));
    }
    if object.is_instance_of::<PyString>() {
        return Ok(TemplateValue::from(object.extract::<String>()?));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let pairs = dict.iter().map(|(key, value)| Ok((key.str()?.to_string(), template_value(&value)?)));
        return pairs.collect::<PyResult<Vec<(String, TemplateValue)>>>().map(TemplateValue::from_pairs);
    }
    // Scalars and dtypes of NumPy's; types such as `numpy.float32` too.
    if !object.is_instance_of::<PyType>()
        && object.hasattr("item")?
        && object.hasattr("dtype")?
        && object.getattr("ndim")?.extract::<usize>()? == 0
    {
        return template_value(&object.call_method0("item")?);
    }
    if let Ok(dtype) = object.py().import("numpy")?.getattr("dtype")?.call1((object,))
        && !object.hasattr("__iter__")?
    {
        return Ok(TemplateValue::from(dtype.getattr("name")?.extract::<String>()?));
    }
    if let Ok(items) = object.try_iter() {
        return items.map(|item| template_value(&item?)).collect::<PyResult<Vec<_>>>().map(TemplateValue::from);
    }
    Ok(TemplateValue::from(object.str()?.to_string()))
}

/// `(text, text with #line, name)` of a rendered template.
#[pyfunction]
fn render_template(text: &str, name: &str, values: &Bound<'_, PyDict>) -> PyResult<(String, String)> {
    let mut pairs = Vec::with_capacity(values.len());
    for (key, value) in values.iter() {
        let key: String = key.extract()?;
        let value = template_value(&value)
            .map_err(|error| PyTypeError::new_err(format!("value {key:?}: {}", error.value(values.py()))))?;
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
