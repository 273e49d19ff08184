//! `Library` and `Kernel`: code that belongs to no context.

use crate::driver::device::PyDevice;
use crate::driver::launch::function::KernelObject;
use crate::driver::memory::device_or_current;
use crate::driver::module::{PyModuleHandle, jit_options};
use crate::errors::OrRaise;
use crate::host_buffer::HostBuffer;
use crate::integer::int;
use crate::resource_lifetime::{DropDetached, FilledByInit, closeable_methods, filled_object, impl_from_core};
use pyo3::prelude::*;
use rtcg::driver::{Kernel, Library, sys};
use std::path::PathBuf;

/// Code that belongs to no context: the driver loads it into each context that uses it.
///
/// Made by `library_from_buffer` or `library_from_file`, which need no context; using a closed library is an error.
/// The objects that it returns keep it loaded. Requires a driver of CUDA 12 or newer.
#[pyclass(name = "Library", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyLibrary(DropDetached<Library>);

impl_from_core!(PyLibrary over Library);

/// A kernel of a `Library`. Without a `device`, methods refer to that of the current context.
#[pyclass(name = "Kernel", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyKernel(DropDetached<Kernel>);

impl_from_core!(PyKernel over Kernel);

impl FilledByInit for PyLibrary {}

closeable_methods! { PyLibrary;
    /// The driver's handle, for other libraries.
    #[getter]
    fn handle(&self) -> usize {
        self.0.handle().addr()
    }

    /// The kernel with this name, for all contexts.
    fn get_kernel(&self, name: &str) -> PyResult<PyKernel> {
        self.0.kernel(name).or_raise().map(PyKernel::from)
    }

    /// All kernels.
    fn get_kernels(&self) -> PyResult<Vec<PyKernel>> {
        Ok(self.0.kernels().or_raise()?.into_iter().map(PyKernel::from).collect())
    }

    /// The library's module in the current context. It stays loaded until the library is unloaded.
    fn get_module(&self, py: Python<'_>) -> PyResult<PyModuleHandle> {
        py.detach(|| self.0.module()).or_raise().map(PyModuleHandle::from)
    }

    /// The kernel with this name as a function of the current context.
    fn get_function(&self, py: Python<'_>, name: &str) -> PyResult<KernelObject> {
        py.detach(|| self.0.function(name)).or_raise().map(KernelObject)
    }

    /// ``(address, size in bytes)`` of a variable in the current context.
    fn get_global(&self, py: Python<'_>, name: &str) -> PyResult<(u64, usize)> {
        py.detach(|| self.0.global(name)).or_raise()
    }

    /// ``(address, size in bytes)`` of a managed variable.
    ///
    /// Real GPUs have one for all contexts; the virtual GPU has one per context.
    fn get_managed(&self, py: Python<'_>, name: &str) -> PyResult<(u64, usize)> {
        py.detach(|| self.0.managed(name)).or_raise()
    }

    /// The address of a function that host and device can both call, on devices that support it.
    fn get_unified_function(&self, name: &str) -> PyResult<usize> {
        self.0.unified_function(name).or_raise()
    }
}

#[pymethods]
impl PyKernel {
    /// The name of the kernel in the driver.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// The driver's handle, for other libraries.
    #[getter]
    fn handle(&self) -> usize {
        self.0.handle().addr()
    }

    /// The library that the kernel belongs to.
    #[getter]
    fn library(&self) -> PyLibrary {
        PyLibrary::from(self.0.library().clone())
    }

    /// The kernel as a function of the current context.
    fn get_function(&self, py: Python<'_>) -> PyResult<KernelObject> {
        py.detach(|| self.0.function()).or_raise().map(KernelObject)
    }

    /// A `function_attribute` on a device.
    #[pyo3(signature = (attribute, device = None))]
    fn get_attribute(
        &self,
        #[pyo3(from_py_with = int)] attribute: u32,
        device: Option<&Bound<'_, PyDevice>>,
    ) -> PyResult<i32> {
        let device = device_or_current(device)?;
        self.0.attribute(sys::CUfunction_attribute(attribute), &device).or_raise()
    }

    /// Set a `function_attribute` for all present and future contexts of a device.
    #[pyo3(signature = (attribute, value, device = None))]
    fn set_attribute(
        &self,
        #[pyo3(from_py_with = int)] attribute: u32,
        #[pyo3(from_py_with = int)] value: i32,
        device: Option<&Bound<'_, PyDevice>>,
    ) -> PyResult<()> {
        let device = device_or_current(device)?;
        self.0.set_attribute(sys::CUfunction_attribute(attribute), value, &device).or_raise()
    }

    /// Request a division of the L1 cache by `func_cache` on a device.
    #[pyo3(signature = (fc, device = None))]
    fn set_cache_config(
        &self,
        #[pyo3(from_py_with = int)] fc: u32,
        device: Option<&Bound<'_, PyDevice>>,
    ) -> PyResult<()> {
        let device = device_or_current(device)?;
        self.0.set_cache_config(sys::CUfunc_cache(fc), &device).or_raise()
    }

    /// The offset and size of each parameter in bytes.
    #[getter]
    fn parameters(&self) -> PyResult<Vec<(usize, usize)>> {
        Ok(self.0.params().or_raise()?.into_iter().map(|param| (param.offset, param.nbytes)).collect())
    }

    fn __repr__(&self) -> String {
        format!("<rtcg.driver.Kernel {}>", self.0.name())
    }
}

/// Load PTX, a cubin or a fat binary from a file for all contexts: returns a `Library`; no context is needed.
///
/// Errors are those of `module_from_file`.
#[pyfunction]
fn library_from_file(py: Python<'_>, filename: PathBuf) -> PyResult<PyLibrary> {
    py.detach(|| Library::from_file(&filename)).or_raise().map(PyLibrary::from)
}

/// Load PTX, a cubin or a fat binary for all contexts: returns a `Library`; no context is needed.
///
/// `device` selects the driver if there are both real and virtual devices; by default it is that of the current
/// context, else that of the first device.
#[pyfunction]
#[pyo3(signature = (buffer, options = None, message_handler = None, device = None))]
fn library_from_buffer(
    py: Python<'_>,
    buffer: &Bound<'_, PyAny>,
    options: Option<Vec<(u32, usize)>>,
    message_handler: Option<&Bound<'_, PyAny>>,
    device: Option<&Bound<'_, PyDevice>>,
) -> PyResult<PyLibrary> {
    let buffer = HostBuffer::from_object(buffer, "buffer")?;
    let options = jit_options(options);
    let device = device.map(filled_object).transpose()?.map(|device| *device.0);
    // SAFETY: the buffer outlives the call, and images are immutable by convention.
    let image = unsafe { buffer.as_bytes() };
    let (result, log) = py.detach(|| Library::from_image_with(image, &options, device.as_ref()));
    if let Some(handler) = message_handler.filter(|handler| !handler.is_none()) {
        handler.call1((result.is_ok(), log.info, log.error))?;
    }
    result.or_raise().map(PyLibrary::from)
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m, classes PyLibrary, PyKernel; functions library_from_file, library_from_buffer; }
}
