//! Exceptions: the one place where the core's errors become Python's.

use crate::interrupt::{may_have_pending_exception, take_pending_exception};
use pyo3::exceptions::{PyException, PyIndexError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use rtcg::array::{ArrayError, ArrayErrorKind};
use rtcg::compile::CompileError;
use rtcg::driver::libraries::Library;

pyo3::create_exception!(rtcg.driver, Error, PyException, "Base of all errors of the driver and the compiler.");
pyo3::create_exception!(rtcg.driver, LaunchError, Error, "A kernel failed or needs more than the device has.");
pyo3::create_exception!(rtcg.driver, MemoryError, Error, "Out of memory.");
pyo3::create_exception!(
    rtcg.driver,
    RuntimeError,
    Error,
    "An error outside the program: no device, no such file, not ready."
);
pyo3::create_exception!(rtcg.driver, LogicError, Error, "An invalid call, or a kernel that failed.");
pyo3::create_exception!(rtcg._native, FusionError, PyTypeError, "A fused function reads elements of an array.");

pyo3::create_exception!(
    rtcg.cublas,
    LibraryError,
    pyo3::exceptions::PyRuntimeError,
    "A failed call of a library; `status` is its code (None without a call), `status_name` the name of that."
);
pyo3::create_exception!(rtcg.cublas, CublasError, LibraryError, "A failed call of cuBLAS.");
pyo3::create_exception!(rtcg.cufft, CufftError, LibraryError, "A failed call of cuFFT.");
pyo3::create_exception!(rtcg.cusolver, CusolverError, LibraryError, "A failed call of cuSOLVER.");

/// The most bytes of an object's text in a message.
const MAX_SHOWN_BYTES: usize = 200;

/// An object as a message shows it: a long text is shortened.
#[cold]
pub(crate) fn shown(object: &Bound<'_, PyAny>) -> String {
    object.repr().map_or_else(|_| "?".to_owned(), |text| shortened(text.to_string(), MAX_SHOWN_BYTES))
}

/// The most bytes of a message, which may quote what a program gave.
const MAX_MESSAGE_BYTES: usize = 16 << 10;

/// A text of at most about `most` bytes, with the end left out.
fn shortened(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let end = (0..=most).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    format!("{}... ({} more bytes)", &text[..end], text.len() - end)
}

/// An error of the driver.
#[cold]
#[inline(never)]
pub(crate) fn driver_error(error: rtcg::driver::Error) -> PyErr {
    if let Some(raised) = take_pending_exception() {
        return raised;
    }
    // A linker's log, which has a line for each of its errors, is given whole.
    let most = if error.call.starts_with("cuLink") { usize::MAX } else { MAX_MESSAGE_BYTES };
    let message = shortened(error.to_string(), most);
    match error.pycuda_class_name() {
        "LaunchError" => LaunchError::new_err(message),
        "MemoryError" => MemoryError::new_err(message),
        "RuntimeError" => RuntimeError::new_err(message),
        "LogicError" => LogicError::new_err(message),
        _ => Error::new_err(message),
    }
}

/// An error of the compiler: `CompileError(msg, command_line, stdout, stderr)`, a class of Python's side because it
/// has attributes. Of a long log the message has a part.
pub(crate) fn compile_error(py: Python<'_>, error: CompileError) -> PyErr {
    if let Some(raised) = take_pending_exception() {
        return raised;
    }
    static ERROR_CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = match ERROR_CLASS.import(py, "rtcg.driver", "CompileError") {
        Ok(class) => class,
        Err(error) => return error,
    };
    let shown = error.readable_log();
    let made = class.call1((error.message, error.command_line, "", error.log)).and_then(|made| {
        made.setattr("source", &*error.source)?;
        made.setattr("_readable_log", shown)?;
        Ok(made)
    });
    made.map_or_else(|error| error, PyErr::from_value)
}

/// An error of an array operation.
pub(crate) fn array_error(py: Python<'_>, error: ArrayError) -> PyErr {
    if let Some(raised) = take_pending_exception() {
        return raised;
    }
    let message = shortened(error.to_string(), MAX_MESSAGE_BYTES);
    match error.kind() {
        ArrayErrorKind::Value => PyValueError::new_err(message),
        ArrayErrorKind::Type => PyTypeError::new_err(message),
        ArrayErrorKind::Overflow => PyOverflowError::new_err(message),
        ArrayErrorKind::Index => PyIndexError::new_err(message),
        ArrayErrorKind::Axis => axis_error(py, message),
        ArrayErrorKind::LinearAlgebra => linear_algebra_error(py, message),
        ArrayErrorKind::Traced => FusionError::new_err(message),
        _ => {
            if let Some(source) = error.downcast_source::<rtcg::driver::Error>() {
                driver_error(source.clone())
            } else if let Some(source) = error.downcast_source::<PyErr>() {
                source.clone_ref(py)
            } else if let Some(source) = error.downcast_source::<CompileError>() {
                compile_error(py, source.clone())
            } else {
                RuntimeError::new_err(message)
            }
        }
    }
}

/// An error of a generated kernel, or of a C++ name, which may be compiled.
pub(crate) fn generator_error(py: Python<'_>, error: impl Into<rtcg::Error>) -> PyErr {
    match error.into() {
        rtcg::Error::Driver(error) => driver_error(error),
        rtcg::Error::Compile(error) => compile_error(py, *error),
        rtcg::Error::Array(error) => array_error(py, error),
        rtcg::Error::Library(error) => library_error(py, &error),
        other => RuntimeError::new_err(other.to_string()),
    }
}

/// The exception of a library's error.
#[cold]
pub(crate) fn library_error(py: Python<'_>, error: &rtcg::driver::libraries::LibraryError) -> PyErr {
    let message = error.to_string();
    let made = match error.library {
        Library::Cublas => CublasError::new_err(message),
        Library::Cufft => CufftError::new_err(message),
        Library::Cusolver => CusolverError::new_err(message),
    };
    let value = made.value(py);
    let _ = value.setattr("status", error.status).and_then(|()| value.setattr("status_name", error.status_name));
    made
}

/// NumPy's error of axes, which is both a `ValueError` and an `IndexError`.
fn axis_error(py: Python<'_>, message: String) -> PyErr {
    static AXIS_ERROR_CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    numpy_error(AXIS_ERROR_CLASS.import(py, "numpy.exceptions", "AxisError"), message)
}

/// NumPy's error of singular matrices and the like, a `ValueError`.
fn linear_algebra_error(py: Python<'_>, message: String) -> PyErr {
    static LINALG_ERROR_CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    numpy_error(LINALG_ERROR_CLASS.import(py, "numpy.linalg", "LinAlgError"), message)
}

fn numpy_error(class: PyResult<&Bound<'_, PyType>>, message: String) -> PyErr {
    class.map_or_else(|error| error, |class| PyErr::from_type(class.clone(), (message,)))
}

/// Shorthand for results of the driver.
pub(crate) trait OrRaise<T> {
    /// The value, or the Python exception.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for rtcg::driver::Result<T> {
    #[inline]
    fn or_raise(self) -> PyResult<T> {
        if may_have_pending_exception() {
            take_pending_exception().map_or(Ok(()), Err)?;
        }
        self.map_err(driver_error)
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("Error", py.get_type::<Error>())?;
    m.add("LaunchError", py.get_type::<LaunchError>())?;
    m.add("MemoryError", py.get_type::<MemoryError>())?;
    m.add("RuntimeError", py.get_type::<RuntimeError>())?;
    m.add("LogicError", py.get_type::<LogicError>())?;
    m.add("LibraryError", py.get_type::<LibraryError>())?;
    m.add("CublasError", py.get_type::<CublasError>())?;
    m.add("CufftError", py.get_type::<CufftError>())?;
    m.add("CusolverError", py.get_type::<CusolverError>())
}
