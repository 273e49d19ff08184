//! Copies between host and device.

use super::operands::empty_host_like;
use super::{PyGpuArray, to_py_result};
use crate::driver::stream::{PyStream, as_driver_stream};
use crate::host_buffer::HostBuffer;
use crate::resource_lifetime::Ready;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rtcg::array::{DType, Order, PythonTuple};

/// Runs `body` with array operations in `stream`.
pub(crate) fn run_in_stream<T>(
    stream: Option<&Bound<'_, PyStream>>,
    body: impl FnOnce() -> PyResult<T>,
) -> PyResult<T> {
    match as_driver_stream(stream)? {
        None => body(),
        stream => rtcg::run_in_stream(stream, body),
    }
}

impl PyGpuArray {
    /// The index order of host copies: Fortran order only for arrays that are in it.
    fn host_order(&self) -> Order {
        let fortran =
            self.current_state().array.is_contiguous(Order::F) && !self.current_state().array.is_contiguous(Order::C);
        if fortran { Order::F } else { Order::C }
    }

    /// A new host array with the elements; waits.
    pub(crate) fn to_host<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let order = self.host_order();
        let host = empty_host_like(py, self, order)?;
        self.copy_to_host_array(py, &host, order)?;
        Ok(host)
    }

    fn copy_to_host_array(&self, py: Python<'_>, host: &Bound<'_, PyAny>, order: Order) -> PyResult<()> {
        let buffer = HostBuffer::from_writable(host, "ary")?;
        // SAFETY: the buffer is writable and outlives the copy.
        let bytes = unsafe { buffer.bytes_mut() };
        let stream = rtcg::current_stream();
        let result =
            py.detach(|| rtcg::run_in_stream(stream.as_ref(), || self.current_state().array.read(bytes, order)));
        match crate::interrupt::take_pending_exception() {
            Some(raised) => Err(raised),
            None => to_py_result(py, result),
        }
    }

    /// `ary` checked against size and dtype, contiguous in `order`.
    fn checked_host_array<'py>(
        &self,
        py: Python<'py>,
        ary: &Bound<'py, PyAny>,
        order: Order,
    ) -> PyResult<Bound<'py, PyAny>> {
        let numpy = py.import("numpy")?;
        let host = numpy.call_method1("asarray", (ary,))?.cast_into::<PyUntypedArray>()?;
        let own = self.array_descr(py)?;
        let array = &self.current_state().array;
        let (shape, size) = (array.shape(), array.size());
        if host.len() != size {
            return Err(PyValueError::new_err(format!(
                "ary has shape {} and size {}; expected shape {} and size {size}",
                PythonTuple(host.shape()),
                host.len(),
                PythonTuple(shape)
            )));
        }
        if !host.dtype().is_equiv_to(&own) {
            return Err(PyValueError::new_err(format!("ary has dtype {}; expected {own}", host.dtype())));
        }
        let shaped = if host.shape() == shape {
            host.into_any()
        } else {
            let message =
                format!("ary has shape {}; it is reshaped to {}", PythonTuple(host.shape()), PythonTuple(shape));
            let category = py.get_type::<PyUserWarning>();
            PyErr::warn(py, &category, &std::ffi::CString::new(message)?, 2)?;
            host.call_method1("reshape", (pyo3::types::PyTuple::new(py, shape)?,))?
        };
        let kwargs = PyDict::new(py);
        kwargs.set_item("order", if order == Order::F { "F" } else { "C" })?;
        numpy.getattr("asarray")?.call((shaped,), Some(&kwargs))
    }

    fn check_host_target(&self, py: Python<'_>, ary: &Bound<'_, PyAny>) -> PyResult<()> {
        let target = ary.cast::<PyUntypedArray>().map_err(|_| not_an_array_error(ary))?;
        if target.shape() != self.current_state().array.shape() {
            return Err(PyValueError::new_err(format!(
                "ary has shape {}; expected {}",
                PythonTuple(target.shape()),
                PythonTuple(self.current_state().array.shape())
            )));
        }
        let own = self.array_descr(py)?;
        if !target.dtype().is_equiv_to(&own) {
            return Err(PyTypeError::new_err(format!("ary has dtype {}; expected {own}", target.dtype())));
        }
        Ok(())
    }
}

#[pymethods]
impl PyGpuArray {
    /// Overwrite all elements with those of a host array; waits.
    #[pyo3(signature = (ary, async_ = false, stream = None))]
    fn set(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        ary: &Bound<'_, PyAny>,
        async_: bool,
        stream: Option<Bound<'_, PyStream>>,
    ) -> PyResult<()> {
        let _ = async_;
        let order = slf.host_order();
        let host = slf.checked_host_array(py, ary, order)?;
        let buffer = HostBuffer::from_object(&host, "ary")?;
        // SAFETY: the buffer outlives the copy.
        let bytes = unsafe { buffer.as_bytes() };
        let stream = as_driver_stream(stream.as_ref())?.cloned();
        to_py_result(
            py,
            py.detach(|| rtcg::run_in_stream(stream.as_ref(), || slf.current_state().array.write(bytes, order))),
        )
    }

    /// Copy a host array into this one, asynchronously in `stream`.
    ///
    /// `ary` has this array's shape and dtype. Page-locked memory must stay unchanged until the stream has done the
    /// copy.
    #[pyo3(signature = (ary, stream = None))]
    fn set_async(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        ary: &Bound<'_, PyAny>,
        stream: Option<Bound<'_, PyStream>>,
    ) -> PyResult<()> {
        Self::set(slf, py, ary, true, stream)
    }

    /// Copy to the host, to `ary` or to a new array in the same memory order; waits.
    #[pyo3(signature = (ary = None, pagelocked = false, async_ = false, stream = None))]
    fn get<'py>(
        slf: Ready<'_, Self>,
        py: Python<'py>,
        ary: Option<Bound<'py, PyAny>>,
        pagelocked: bool,
        async_: bool,
        stream: Option<Bound<'py, PyStream>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = async_;
        let ary = ary.filter(|ary| !ary.is_none());
        let order = slf.host_order();
        run_in_stream(stream.as_ref(), || {
            if let Some(given) = ary {
                slf.check_host_target(py, &given)?;
                let array = given.cast::<PyUntypedArray>()?;
                let direct = match order {
                    Order::C => array.is_c_contiguous(),
                    Order::F => array.is_fortran_contiguous(),
                };
                if direct {
                    slf.copy_to_host_array(py, &given, order)?;
                } else {
                    given.set_item(py.Ellipsis(), slf.to_host(py)?)?;
                }
                return Ok(given);
            }
            if !pagelocked {
                return slf.to_host(py);
            }
            let shape = pyo3::types::PyTuple::new(py, slf.current_state().array.shape())?;
            let letter = if order == Order::F { "F" } else { "C" };
            let args = (shape, slf.array_descr(py)?, letter);
            let host = py.import("rtcg.driver")?.call_method1("pagelocked_empty", args)?;
            slf.copy_to_host_array(py, &host, order)?;
            Ok(host)
        })
    }

    /// Copy to the host, asynchronously in `stream`; the returned array is valid once the stream has done the copy.
    ///
    /// The target is `ary` if given, else new page-locked memory, for which the call does not wait.
    #[pyo3(signature = (stream = None, ary = None))]
    fn get_async<'py>(
        slf: Ready<'_, Self>,
        py: Python<'py>,
        stream: Option<Bound<'py, PyStream>>,
        ary: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::get(slf, py, ary, false, true, stream)
    }

    /// The only element as a Python number; waits.
    #[pyo3(signature = (*args))]
    fn item<'py>(slf: &Bound<'py, Self>, args: &Bound<'py, pyo3::types::PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if args.is_empty() {
            if slf.get().current_state().array.size() != 1 {
                return Err(PyValueError::new_err("can only convert an array of size 1 to a Python scalar"));
            }
            return slf.get().item_object(py);
        }
        let (index, source) = match args.get_item(0)? {
            // One number counts elements in C order.
            flat if args.len() == 1 && !flat.is_instance_of::<pyo3::types::PyTuple>() => (
                flat,
                Bound::new(py, Self::from_array(to_py_result(py, slf.get().current_state().array.ravel(Order::C))?))?
                    .into_any(),
            ),
            index if args.len() == 1 => (index, slf.clone().into_any()),
            _ => (args.clone().into_any(), slf.clone().into_any()),
        };
        source.get_item(index)?.cast::<PyGpuArray>()?.get().item_object(py)
    }

    /// The elements as nested lists; waits.
    fn tolist<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        slf.to_host(py)?.call_method0("tolist")
    }

    fn __float__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().get_type::<pyo3::types::PyFloat>().call1((single_element(slf)?,))
    }

    fn __int__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().get_type::<pyo3::types::PyInt>().call1((single_element(slf)?,))
    }

    fn __complex__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        py.get_type::<pyo3::types::PyComplex>().call1((single_element(slf)?,))
    }

    /// The rounded element of an array without axes, such as a sum, as a number.
    #[pyo3(signature = (ndigits = None))]
    fn __round__<'py>(slf: &Bound<'py, Self>, ndigits: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        if slf.get().current_state().array.ndim() != 0 {
            return Err(PyTypeError::new_err("round() takes an array without axes; a.round() rounds each element"));
        }
        slf.get().item_object(slf.py())?.call_method1("__round__", (ndigits,))
    }

    fn __index__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let dtype = slf.get().current_state().array.dtype();
        if dtype == DType::Bool || !dtype.is_integral() || slf.get().current_state().array.ndim() != 0 {
            return Err(PyTypeError::new_err("only integer scalar arrays can be converted to a scalar index"));
        }
        single_element(slf)?.call_method0("__index__")
    }
}

fn single_element<'py>(slf: &Bound<'py, PyGpuArray>) -> PyResult<Bound<'py, PyAny>> {
    if slf.get().current_state().array.size() == 1 {
        return slf.get().item_object(slf.py());
    }
    Err(PyTypeError::new_err("only length-1 arrays can be converted to Python scalars"))
}

fn not_an_array_error(ary: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("ary is {}; expected a NumPy array", crate::errors::shown(ary)))
}
