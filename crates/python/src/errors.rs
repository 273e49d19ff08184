//! PyCUDA's exception classes, and the one place where core errors become them.
//!
//! `CompileError` has attributes and is therefore a Python class, in `pycuda._driver`.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use rtcg_compile::CompileError;
use rtcg_driver::{Error, ErrorKind};

/// The classes. They live in a module of their own because two of them are named like built-ins.
pub(crate) mod class {
    #![allow(missing_docs)]
    use super::PyException;

    pyo3::create_exception!(pycuda._driver, Error, PyException, "A call of the CUDA driver failed.");
    pyo3::create_exception!(pycuda._driver, LogicError, Error, "A wrong call, or a kernel that went wrong.");
    pyo3::create_exception!(pycuda._driver, LaunchError, Error, "A kernel failed or needs more than the device has.");
    pyo3::create_exception!(pycuda._driver, MemoryError, Error, "Out of device memory.");
    pyo3::create_exception!(pycuda._driver, RuntimeError, Error, "No device, no such file, or not ready.");
}

/// The Python exception for an error of the driver layer.
pub(crate) fn driver_error(error: Error) -> PyErr {
    let message = error.to_string();
    match error.kind {
        ErrorKind::Launch => class::LaunchError::new_err(message),
        ErrorKind::Memory => class::MemoryError::new_err(message),
        ErrorKind::Runtime => class::RuntimeError::new_err(message),
        ErrorKind::Logic => class::LogicError::new_err(message),
        ErrorKind::Other => class::Error::new_err(message),
    }
}

/// The Python exception for a failed compilation: `CompileError(msg, command_line, stdout, stderr)`.
pub(crate) fn compile_error(py: Python<'_>, error: CompileError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = match CLASS.import(py, "pycuda._driver", "CompileError") {
        Ok(class) => class,
        Err(error) => return error,
    };
    let mut message = error.message;
    if !error.excerpt.is_empty() {
        message = format!("{message}\n{}", error.excerpt.trim_end());
    }
    PyErr::from_type(class.clone(), (message, error.command_line, "", error.log))
}

/// Turns a result of the driver layer into one of Python.
pub(crate) trait IntoPy<T> {
    /// The value, or the Python exception.
    fn py(self) -> PyResult<T>;
}

impl<T> IntoPy<T> for rtcg_driver::Result<T> {
    #[inline]
    fn py(self) -> PyResult<T> {
        self.map_err(driver_error)
    }
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("Error", py.get_type::<class::Error>())?;
    m.add("LogicError", py.get_type::<class::LogicError>())?;
    m.add("LaunchError", py.get_type::<class::LaunchError>())?;
    m.add("MemoryError", py.get_type::<class::MemoryError>())?;
    m.add("RuntimeError", py.get_type::<class::RuntimeError>())
}
