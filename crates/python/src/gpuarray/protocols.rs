//! NumPy's protocols: printing, `__array__`, `__array_ufunc__`, `__array_function__`, copying and pickling.

use super::PyGpuArray;
use super::transfer::run_in_stream;
use crate::resource_lifetime::Ready;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

#[pymethods]
impl PyGpuArray {
    /// A host copy for functions that know only NumPy's arrays; waits.
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        slf: Ready<'_, Self>,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(pyo3::exceptions::PyValueError::new_err(
                "a device array cannot become a NumPy array without a copy",
            ));
        }
        let host = run_in_stream(None, || slf.to_host(py))?;
        match dtype.filter(|dtype| !dtype.is_none()) {
            Some(dtype) => host.call_method1("astype", (dtype,)),
            None => Ok(host),
        }
    }

    #[pyo3(signature = (ufunc, method, *inputs, **kwargs))]
    fn __array_ufunc__<'py>(
        slf: &Bound<'py, Self>,
        ufunc: &Bound<'py, PyAny>,
        method: &str,
        inputs: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        array_protocol_function(slf.py(), "array_ufunc")?.call((ufunc, method, inputs), kwargs)
    }

    fn __array_function__<'py>(
        slf: &Bound<'py, Self>,
        func: &Bound<'py, PyAny>,
        types: &Bound<'py, PyAny>,
        args: &Bound<'py, PyAny>,
        kwargs: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        array_protocol_function(slf.py(), "array_function")?.call1((func, types, args, kwargs))
    }

    fn __str__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        array_protocol_function(slf.py(), "array_str")?.call1((slf,))
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        array_protocol_function(slf.py(), "array_repr")?.call1((slf,))
    }

    /// Default object formatter.
    fn __format__<'py>(slf: &Bound<'py, Self>, format: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if slf.get().current_state().array.ndim() == 0 {
            return slf.get().item_object(py)?.call_method1("__format__", (format,));
        }
        slf.str()?.call_method1("__format__", (format,))
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.call_method0("copy")
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let _ = memo;
        slf.call_method0("copy")
    }

    /// What Dask names the array by: a hash of its elements, which is computed on the device. Waits.
    fn __dask_tokenize__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        array_protocol_function(slf.py(), "dask_token")?.call1((slf,))
    }

    /// Pickle the host copy, out of band by protocol 5; unpickling copies it to the device that is then current, or
    /// to that of the default context in a thread without one.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let restore = py.import("rtcg._pickling")?.getattr("restore_array")?;
        let arguments = PyTuple::new(py, [slf.get().to_host(py)?])?;
        PyTuple::new(py, [restore, arguments.into_any()])
    }
}

fn array_protocol_function<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("rtcg._array_protocols")?.getattr(name)
}
