//! `Module`, and modules from files and images.

use crate::driver::launch::function::KernelObject;
use crate::driver::texture::{PySurfaceReference, PyTextureReference};
use crate::errors::{OrRaise, generator_error};
use crate::host_buffer::HostBuffer;
use crate::integer::int;
use crate::resource_lifetime::{
    DropDetached, FilledByInit, LateInit, Ready, closeable_methods, impl_from_core, impl_new_for_init,
};
use pyo3::prelude::*;
use rtcg::NamedModule;
use rtcg::driver::{Linker, Module, sys};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Loaded code. Unloaded at the end of a ``with`` block.
#[pyclass(name = "Module", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyModuleHandle(pub(crate) DropDetached<NamedModule>);

impl_from_core!(PyModuleHandle over NamedModule);

impl From<Module> for PyModuleHandle {
    fn from(module: Module) -> Self {
        NamedModule::from(module).into()
    }
}

impl FilledByInit for PyModuleHandle {}

impl PyModuleHandle {
    /// What `look` finds by a name. The interpreter is released, for the compiler may run.
    fn find_by_name<T: Send>(
        &self,
        py: Python<'_>,
        look: impl FnOnce(&NamedModule) -> rtcg::Result<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| look(&self.0)).map_err(|error| generator_error(py, error))
    }
}

closeable_methods! { PyModuleHandle;
    /// The kernel with this name. Raises `LogicError` if there is none.
    fn get_function(&self, py: Python<'_>, name: &str) -> PyResult<KernelObject> {
        self.find_by_name(py, |module| module.function(name)).map(KernelObject)
    }

    /// All kernels (an addition to PyCUDA).
    fn get_functions(&self) -> PyResult<Vec<KernelObject>> {
        Ok(self.0.functions().or_raise()?.into_iter().map(KernelObject).collect())
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        crate::driver::notebook_html("module_html", slf)
    }

    /// (address, size in bytes) of a global or constant variable.
    fn get_global(&self, py: Python<'_>, name: &str) -> PyResult<(u64, usize)> {
        self.find_by_name(py, |module| module.global(name))
    }

    /// A variable as an array that shares its memory; by default with one axis that covers the whole variable.
    #[pyo3(signature = (name, dtype, shape = None))]
    fn get_global_array<'py>(
        slf: &Bound<'py, Self>,
        name: &str,
        dtype: &Bound<'py, PyAny>,
        shape: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let make = slf.py().import("rtcg.driver")?.getattr("_global_array")?;
        make.call1((slf, name, slf.get().get_global(slf.py(), name)?, dtype, shape))
    }

    /// The texture reference with this name. Raises `LogicError` if there is none.
    fn get_texref(&self, py: Python<'_>, name: &str) -> PyResult<PyTextureReference> {
        self.find_by_name(py, |module| module.texref(name)).map(PyTextureReference::from)
    }

    /// The surface reference with this name. Raises `LogicError` if there is none.
    fn get_surfref(&self, py: Python<'_>, name: &str) -> PyResult<PySurfaceReference> {
        self.find_by_name(py, |module| module.surfref(name)).map(PySurfaceReference::from)
    }
}

/// Load PTX, a cubin or a fat binary from a file into the current context: returns a `Module`.
///
/// Raises `RuntimeError` if there is no such file, and `LogicError` if the driver cannot load it.
#[pyfunction]
fn module_from_file(py: Python<'_>, filename: PathBuf) -> PyResult<PyModuleHandle> {
    py.detach(|| Module::from_file(&filename)).or_raise().map(PyModuleHandle::from)
}

/// `(option, value)` pairs as the driver wants them.
pub(crate) fn jit_options(options: Option<Vec<(u32, usize)>>) -> Vec<(sys::CUjit_option, usize)> {
    options.unwrap_or_default().into_iter().map(|(key, value)| (sys::CUjit_option(key), value)).collect()
}

/// Load PTX, a cubin or a fat binary into the current context: returns a `Module`.
#[pyfunction]
#[pyo3(signature = (buffer, options = None, message_handler = None))]
fn module_from_buffer(
    py: Python<'_>,
    buffer: &Bound<'_, PyAny>,
    options: Option<Vec<(u32, usize)>>,
    message_handler: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyModuleHandle> {
    let buffer = HostBuffer::from_object(buffer, "buffer")?;
    let options = jit_options(options);
    // SAFETY: the buffer outlives the call, and images are immutable by convention.
    let image = unsafe { buffer.as_bytes() };
    let (result, log) = py.detach(|| Module::from_image_with(image, &options));
    if let Some(handler) = message_handler.filter(|handler| !handler.is_none()) {
        handler.call1((result.is_ok(), log.info, log.error))?;
    }
    result.or_raise().map(PyModuleHandle::from)
}

/// Links several images into one module.
///
/// nvJitLink (``pip install nvidia-nvjitlink``) links LTO-IR (``jit_input_type.NVVM``), on a real GPU together with
/// all other inputs. The options ``LTO`` (find LTO-IR in fat binaries and objects too), ``FTZ``, ``PREC_DIV``,
/// ``PREC_SQRT`` and ``FMA`` apply to nvJitLink only.
#[pyclass(name = "Linker", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyLinker(LateInit<LinkerState>);

impl_new_for_init!(PyLinker, "(message_handler=None, options=None, log_verbose=False)");

struct LinkerState {
    linker: DropDetached<Mutex<Linker>>,
    message_handler: Option<Py<PyAny>>,
}

impl PyLinker {
    fn with_linker<T>(
        &self,
        py: Python<'_>,
        body: impl FnOnce(&mut Linker) -> rtcg::driver::Result<T> + Send,
    ) -> PyResult<T>
    where
        T: Send,
    {
        let result = py.detach(|| body(&mut self.0.linker.lock().unwrap_or_else(PoisonError::into_inner)));
        if let (Err(_), Some(handler)) = (&result, &self.0.message_handler) {
            let log = self.0.linker.lock().unwrap_or_else(PoisonError::into_inner).jit_log();
            handler.call1(py, (false, log.info, log.error))?;
        }
        result.or_raise()
    }
}

#[pymethods]
impl PyLinker {
    #[pyo3(signature = (message_handler = None, options = None, log_verbose = false))]
    fn __init__(
        &self,
        message_handler: Option<Py<PyAny>>,
        options: Option<Vec<(u32, usize)>>,
        log_verbose: bool,
    ) -> PyResult<()> {
        let mut options = jit_options(options);
        if log_verbose {
            options.push((sys::CU_JIT_LOG_VERBOSE, 1));
        }
        let linker = Linker::new(&options).or_raise()?;
        self.0.init_value(LinkerState { linker: DropDetached::new(Mutex::new(linker)), message_handler })
    }

    /// Add an image of a `jit_input_type`, with the name that messages use for it.
    ///
    /// Raises `LogicError` with the linker's log if it is not such an image.
    #[pyo3(signature = (data, input_type, name = "unknown"))]
    fn add_data(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = int)] input_type: u32,
        name: &str,
    ) -> PyResult<()> {
        let buffer = HostBuffer::from_object(data, "data")?;
        // SAFETY: the buffer outlives the call.
        let bytes = unsafe { buffer.as_bytes() };
        slf.with_linker(py, |linker| linker.add_data(bytes, sys::CUjitInputType(input_type), name))
    }

    /// Add a file of a `jit_input_type`; raises `RuntimeError` if there is no such file.
    fn add_file(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        filename: PathBuf,
        #[pyo3(from_py_with = int)] input_type: u32,
    ) -> PyResult<()> {
        slf.with_linker(py, |linker| linker.add_file(&filename, sys::CUjitInputType(input_type)))
    }

    /// Add options of nvJitLink itself, such as ``-fma=0`` or ``-kernels-used=f``, for links with LTO-IR.
    fn add_lto_options(slf: Ready<'_, Self>, py: Python<'_>, options: Vec<String>) -> PyResult<()> {
        slf.with_linker(py, |linker| options.iter().try_for_each(|option| linker.add_lto_option(option)))
    }

    /// Link the inputs and load the result into the current context: a `Module`.
    ///
    /// Raises `LogicError` with the linker's log if a symbol is missing or defined twice.
    fn link_module(slf: Ready<'_, Self>, py: Python<'_>) -> PyResult<PyModuleHandle> {
        let module = slf.with_linker(py, Linker::link_module)?;
        if let Some(handler) = &slf.0.message_handler {
            let log = slf.0.linker.lock().unwrap_or_else(PoisonError::into_inner).jit_log();
            handler.call1(py, (true, log.info, log.error))?;
        }
        Ok(PyModuleHandle::from(module))
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyModuleHandle>()?;
    m.add_class::<PyLinker>()?;
    m.add_function(wrap_pyfunction!(module_from_file, m)?)?;
    m.add_function(wrap_pyfunction!(module_from_buffer, m)?)
}
