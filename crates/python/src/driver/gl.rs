//! `rtcg.gl`: what OpenGL and CUDA share.

use crate::driver::device::PyDevice;
use crate::driver::stream::{PyStream, as_driver_stream};
use crate::driver::texture::PyArrayHandle;
use crate::errors::OrRaise;
use crate::integer::int;
use crate::resource_lifetime::{DropDetached, FilledByInit, Ready, impl_from_core};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rtcg::driver::gl::{self, RegisteredMapping, RegisteredObject};

/// Base of registered buffers and images.
#[pyclass(name = "RegisteredObject", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyRegisteredObject(DropDetached<RegisteredObject>);

impl_from_core!(PyRegisteredObject over RegisteredObject);

impl FilledByInit for PyRegisteredObject {
    fn is_filled(&self) -> bool {
        self.0.is_filled()
    }
}

#[pymethods]
impl PyRegisteredObject {
    /// The name of the object in OpenGL.
    fn gl_handle(slf: Ready<'_, Self>) -> u32 {
        slf.0.gl_handle()
    }

    /// Return the object to OpenGL alone. Raises `LogicError` if called twice.
    fn unregister(slf: Ready<'_, Self>, py: Python<'_>) -> PyResult<()> {
        py.detach(|| slf.0.unregister()).or_raise()
    }

    /// Declare by `graphics_map_flags` how kernels will use the object when it is next mapped.
    fn set_map_flags(slf: Ready<'_, Self>, #[pyo3(from_py_with = int)] flags: u32) -> PyResult<()> {
        slf.0.set_map_flags(flags).or_raise()
    }

    /// Map the object for CUDA, in the order of `stream`: returns a `RegisteredMapping`.
    #[pyo3(signature = (stream = None))]
    fn map(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        stream: Option<&Bound<'_, PyStream>>,
    ) -> PyResult<PyRegisteredMapping> {
        let stream = as_driver_stream(stream)?;
        py.detach(|| slf.0.map(stream)).or_raise().map(PyRegisteredMapping::from)
    }
}

/// A registered buffer object.
#[pyclass(name = "RegisteredBuffer", module = "rtcg.driver", frozen, subclass, extends = PyRegisteredObject)]
struct PyRegisteredBuffer;

#[pymethods]
impl PyRegisteredBuffer {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs), text_signature = "(bufobj, flags=0)")]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        PyClassInitializer::from(PyRegisteredObject(DropDetached::default())).add_subclass(Self)
    }

    #[pyo3(signature = (bufobj, flags = 0))]
    fn __init__(
        slf: &Bound<'_, Self>,
        #[pyo3(from_py_with = int)] bufobj: u32,
        #[pyo3(from_py_with = int)] flags: u32,
    ) -> PyResult<()> {
        slf.as_super().get().0.init_value(RegisteredObject::register_buffer(bufobj, flags).or_raise()?)
    }
}

/// A registered texture or renderbuffer.
#[pyclass(name = "RegisteredImage", module = "rtcg.driver", frozen, subclass, extends = PyRegisteredObject)]
struct PyRegisteredImage;

#[pymethods]
impl PyRegisteredImage {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs), text_signature = "(bufobj, target, flags=0)")]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        PyClassInitializer::from(PyRegisteredObject(DropDetached::default())).add_subclass(Self)
    }

    #[pyo3(signature = (bufobj, target, flags = 0))]
    fn __init__(
        slf: &Bound<'_, Self>,
        #[pyo3(from_py_with = int)] bufobj: u32,
        #[pyo3(from_py_with = int)] target: u32,
        #[pyo3(from_py_with = int)] flags: u32,
    ) -> PyResult<()> {
        slf.as_super().get().0.init_value(RegisteredObject::register_image(bufobj, target, flags).or_raise()?)
    }
}

/// A registered object while it is mapped for CUDA.
#[pyclass(name = "RegisteredMapping", module = "rtcg.driver", frozen, subclass, dict, weakref)]
struct PyRegisteredMapping(DropDetached<RegisteredMapping>);

impl_from_core!(PyRegisteredMapping over RegisteredMapping);

#[pymethods]
impl PyRegisteredMapping {
    /// Return the object to OpenGL, in the order of `stream`. Raises `LogicError` if called twice.
    #[pyo3(signature = (stream = None))]
    fn unmap(&self, py: Python<'_>, stream: Option<&Bound<'_, PyStream>>) -> PyResult<()> {
        let stream = as_driver_stream(stream)?;
        py.detach(|| self.0.unmap(stream)).or_raise()
    }

    /// ``(address, size in bytes)`` of a buffer.
    fn device_ptr_and_size(&self) -> PyResult<(u64, usize)> {
        self.0.device_ptr_and_size().or_raise()
    }

    /// The `Array` of a layer and level of an image.
    fn array(
        &self,
        #[pyo3(from_py_with = int)] index: u32,
        #[pyo3(from_py_with = int)] level: u32,
    ) -> PyResult<PyArrayHandle> {
        // SAFETY: as everywhere in PyCUDA, the program keeps what its kernels use: here the
        // mapping for as long as the array.
        unsafe { self.0.mapped_array(index, level) }.or_raise().map(PyArrayHandle::from)
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        py.detach(|| self.0.unmap(None)).or_raise()
    }
}

/// Whether CUDA and OpenGL can work together here, that is, whether the driver and the library are present.
#[pyfunction]
fn have_gl_ext() -> bool {
    gl::is_available()
}

/// The devices that drive the current OpenGL context.
#[pyfunction]
fn gl_devices() -> PyResult<Vec<PyDevice>> {
    Ok(gl::devices().or_raise()?.into_iter().map(PyDevice::from).collect())
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m,
        classes PyRegisteredObject, PyRegisteredBuffer, PyRegisteredImage, PyRegisteredMapping;
        functions have_gl_ext, gl_devices;
    }
}
