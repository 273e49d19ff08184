//! Arrays of other libraries: the CUDA array interface, version 3.

use super::PyGpuArray;
use super::memory::{ForeignBuffer, array_inside_memory};
use crate::array_interface::unmasked_interface;
use crate::errors::array_error;
use crate::resource_lifetime::Ready;
use numpy::PyArrayDescr;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rtcg::array::{ArrayBuffer, ArrayContext, GpuArray, Layout, Order};
use std::sync::Arc;

/// An array over the memory of an object with `__cuda_array_interface__`. If the object names a
/// stream, that one is waited for.
pub(crate) fn from_array_interface(ctx: &Arc<ArrayContext>, object: &Bound<'_, PyAny>) -> PyResult<GpuArray> {
    let py = object.py();
    let interface = unmasked_interface(object.getattr("__cuda_array_interface__")?)?;
    let require = |key: &str| {
        interface
            .get_item(key)?
            .ok_or_else(|| PyValueError::new_err(format!("__cuda_array_interface__ has no entry {key:?}")))
    };
    let shape: Vec<usize> = require("shape")?.extract()?;
    let descr = PyArrayDescr::new(py, require("typestr")?)?;
    let dtype = super::dtypes::dtype_of_descr(&descr)?;
    let ptr: u64 = require("data")?.cast::<PyTuple>()?.get_item(0)?.extract()?;
    let mut layout = Layout::contiguous(&shape, dtype.itemsize(), Order::C);
    if let Some(strides) = interface.get_item("strides")?.filter(|strides| !strides.is_none()) {
        let strides: Vec<isize> = strides.extract()?;
        if strides.len() != shape.len() {
            return Err(PyValueError::new_err(format!("strides {strides:?} do not fit the shape {shape:?}")));
        }
        layout.strides = strides.into();
    }
    if interface.get_item("stream")?.is_some_and(|stream| !stream.is_none()) {
        // The default stream waits for blocking streams by itself; others are waited for here.
        ctx.device().synchronize().map_err(|error| array_error(py, error))?;
    }
    let buffer: Option<Arc<dyn ArrayBuffer>> =
        (layout.size() > 0).then(|| ForeignBuffer::from_address(ptr, object.clone()));
    array_inside_memory("__cuda_array_interface__", ctx, buffer, layout, dtype)
}

#[pymethods]
impl PyGpuArray {
    #[getter]
    fn __cuda_array_interface__<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("shape", PyTuple::new(py, slf.current_state().array.shape())?)?;
        interface.set_item("strides", PyTuple::new(py, slf.current_state().array.strides())?)?;
        interface.set_item("data", (slf.ptr(), false))?;
        interface.set_item("typestr", slf.array_descr(py)?.getattr("str")?)?;
        if slf.current_state().record.is_some() {
            interface.set_item("descr", slf.array_descr(py)?.getattr("descr")?)?;
        }
        interface.set_item("stream", slf.exported_stream(py)?)?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }
}
