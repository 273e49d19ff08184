//! What stands beside an array in an operation: arrays, scalars, host arrays.

use super::PyGpuArray;
use super::dtypes::{dtype_of_descr, numpy_descr};
use crate::array_object::ArrayStateRef;
use crate::errors::array_error;
use crate::host_buffer::HostBuffer;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyTuple, PyType};
use rtcg::array::{Arg, ArrayContext, DType, GpuArray, Order, Scalar, ScalarElement, WeakScalar};
use std::sync::Arc;

/// An operand that came from Python.
pub(crate) enum PyOperand<'a> {
    /// A device array.
    Array(ArrayStateRef<'a>),
    /// A host array, copied to the device.
    Uploaded(GpuArray),
    /// A Python or NumPy scalar.
    Scalar(Scalar),
}

impl PyOperand<'_> {
    /// The operand as the core takes it.
    pub(crate) fn as_core_arg(&self) -> Arg<'_> {
        match self {
            PyOperand::Array(array) => Arg::Array(&array.array),
            PyOperand::Uploaded(array) => Arg::Array(array),
            PyOperand::Scalar(scalar) => Arg::Scalar(*scalar),
        }
    }
}

/// The operand that `object` is; `None` when arrays do not combine with such objects.
pub(crate) fn parse_operand<'a>(
    ctx: &Arc<ArrayContext>,
    object: &'a Bound<'_, PyAny>,
) -> PyResult<Option<PyOperand<'a>>> {
    if let Ok(array) = object.cast::<PyGpuArray>() {
        return Ok(Some(PyOperand::Array(array.get().current_state())));
    }
    if let Some(scalar) = parse_scalar(object)? {
        return Ok(Some(PyOperand::Scalar(scalar)));
    }
    if let Ok(host) = object.cast::<PyUntypedArray>() {
        return upload_host_array(ctx, host).map(|array| Some(PyOperand::Uploaded(array)));
    }
    if object.hasattr("__cuda_array_interface__")? {
        return super::cuda_array_interface::from_array_interface(ctx, object)
            .map(|array| Some(PyOperand::Uploaded(array)));
    }
    Ok(None)
}

/// [`parse_operand`] for functions, which also take sequences.
pub(crate) fn require_operand<'a>(ctx: &Arc<ArrayContext>, object: &'a Bound<'_, PyAny>) -> PyResult<PyOperand<'a>> {
    if let Some(operand) = parse_operand(ctx, object)? {
        return Ok(operand);
    }
    let host = object.py().import("numpy")?.call_method1("asarray", (object,))?;
    upload_host_array(ctx, host.cast::<PyUntypedArray>()?).map(PyOperand::Uploaded)
}

/// The device array that `object` is or is copied to.
pub(crate) fn require_array(ctx: &Arc<ArrayContext>, object: &Bound<'_, PyAny>) -> PyResult<GpuArray> {
    match require_operand(ctx, object)? {
        PyOperand::Array(array) => Ok(array.array.clone()),
        PyOperand::Uploaded(array) => Ok(array),
        PyOperand::Scalar(scalar) => {
            let py = object.py();
            let array = GpuArray::empty(ctx, &[], scalar.dtype(), Order::C).map_err(|error| array_error(py, error))?;
            array.fill(scalar).map_err(|error| array_error(py, error))?;
            Ok(array)
        }
    }
}

/// A device copy of a host array, in C order unless it is in Fortran order; waits.
pub(crate) fn upload_host_array(ctx: &Arc<ArrayContext>, host: &Bound<'_, PyUntypedArray>) -> PyResult<GpuArray> {
    let py = host.py();
    let dtype = dtype_of_descr(&host.dtype())?;
    let order = if host.is_fortran_contiguous() && !host.is_c_contiguous() { Order::F } else { Order::C };
    let packed = if host.is_contiguous() {
        host.clone().into_any()
    } else {
        py.import("numpy")?.call_method1("ascontiguousarray", (host,))?
    };
    let buffer = HostBuffer::from_object(&packed, "ary")?;
    // SAFETY: the buffer outlives the copy.
    let bytes = unsafe { buffer.as_bytes() };
    let shape = host.shape().to_vec();
    py.detach(|| {
        let array = GpuArray::empty(ctx, &shape, dtype, order)?;
        array.write(bytes, order)?;
        Ok(array)
    })
    .map_err(|error| array_error(py, error))
}

/// A Python or NumPy scalar; `None` for anything else.
pub(crate) fn parse_scalar(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    static NUMPY_GENERIC: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    if object.is_exact_instance_of::<PyFloat>() || object.is_exact_instance_of::<PyInt>() {
        return Ok(weak_scalar(object)?.map(Scalar::Weak));
    }
    let py = object.py();
    if let Some(scalar) = parse_frequent_scalar(object)? {
        return Ok(Some(scalar));
    }
    if object.is_instance(NUMPY_GENERIC.import(py, "numpy", "generic")?)? {
        let descr = object.getattr("dtype")?.cast_into::<numpy::PyArrayDescr>()?;
        if descr.kind() == b'V' && descr.num() < 256 {
            return Ok(None);
        }
        let dtype = dtype_of_descr(&descr)?;
        let item = if descr.num() >= 256 { object.call_method0("__float__")? } else { object.call_method0("item")? };
        return Ok(weak_scalar(&item)?.map(|value| Scalar::Strong(dtype, value)));
    }
    Ok(weak_scalar(object)?.map(Scalar::Weak))
}

/// A scalar of the types of NumPy that most scalars have, in less time.
fn parse_frequent_scalar(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    static TYPES: PyOnceLock<[(Py<PyAny>, DType); 4]> = PyOnceLock::new();
    let py = object.py();
    let types = TYPES.get_or_try_init(py, || {
        let numpy = py.import("numpy")?;
        let one = |name: &str, dtype| PyResult::Ok((numpy.getattr(name)?.unbind(), dtype));
        let (float32, float64) = (one("float32", DType::F32)?, one("float64", DType::F64)?);
        PyResult::Ok([float32, float64, one("int64", DType::I64)?, one("int32", DType::I32)?])
    })?;
    let own = object.get_type();
    let Some((_, dtype)) = types.iter().find(|(known, _)| known.as_ptr() == own.as_ptr()) else { return Ok(None) };
    let value = match dtype {
        DType::F32 | DType::F64 => WeakScalar::Float(object.extract()?),
        _ => WeakScalar::Int(object.extract::<i64>()?.into()),
    };
    Ok(Some(Scalar::Strong(*dtype, value)))
}

fn weak_scalar(object: &Bound<'_, PyAny>) -> PyResult<Option<WeakScalar>> {
    Ok(Some(if let Ok(value) = object.cast::<PyBool>() {
        WeakScalar::Bool(value.is_true())
    } else if object.cast::<PyInt>().is_ok() {
        WeakScalar::Int(match object.extract::<i64>() {
            Ok(value) => value.into(),
            Err(_) => object.extract::<i128>().map_err(|_| {
                PyOverflowError::new_err("Python integer too large: it fits no integer type of an array")
            })?,
        })
    } else if object.cast::<PyFloat>().is_ok() {
        WeakScalar::Float(object.extract()?)
    } else if let Ok(value) = object.cast::<PyComplex>() {
        WeakScalar::Complex(value.getattr("real")?.extract()?, value.getattr("imag")?.extract()?)
    } else {
        return Ok(None);
    }))
}

/// One element of `dtype` from a Python value: a number, or a record that NumPy converts.
pub(crate) fn element_bytes_from_value(array: &PyGpuArray, value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    let py = value.py();
    let dtype = array.current_state().array.dtype();
    if let Some(scalar) = parse_scalar(value)? {
        if !matches!(dtype, rtcg::array::DType::Void(_)) {
            let element: ScalarElement = scalar.to_element(dtype).map_err(|error| array_error(py, error))?;
            return Ok(Some(element.bytes().to_vec()));
        }
    } else if !matches!(dtype, rtcg::array::DType::Void(_)) {
        return Ok(None);
    }
    let host = py.import("numpy")?.call_method1("asarray", (value, array.array_descr(py)?))?;
    if host.cast::<PyUntypedArray>()?.ndim() != 0 {
        return Ok(None);
    }
    host.call_method0("tobytes")?.extract().map(Some)
}

/// A host array with an array's shape and dtype, uninitialised.
pub(crate) fn empty_host_like<'py>(py: Python<'py>, array: &PyGpuArray, order: Order) -> PyResult<Bound<'py, PyAny>> {
    // Found once: a finaliser at the interpreter's end can import nothing.
    static NUMPY_EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let order = if order == Order::F { "F" } else { "C" };
    let shape = pyo3::types::PyTuple::new(py, array.current_state().array.shape())?;
    NUMPY_EMPTY.import(py, "numpy", "empty")?.call1((shape, array.array_descr(py)?, order))
}

/// The shape that Python gave: an integer or a sequence of integers.
pub(crate) fn parse_shape(shape: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let bad = || {
        let shown = crate::errors::shown(shape);
        PyTypeError::new_err(format!("shape is {shown}; expected an integer or a sequence of integers >= 0"))
    };
    let length = |axis: &Bound<'_, PyAny>| -> PyResult<usize> {
        let length: isize = axis.extract().map_err(|_| bad())?;
        usize::try_from(length)
            .map_err(|_| PyValueError::new_err(format!("negative dimensions are not allowed: {length}")))
    };
    // A tuple is told from an integer by its class, since the error that tells it otherwise costs more than the rest.
    if let Ok(tuple) = shape.cast::<PyTuple>() {
        return tuple.iter_borrowed().map(|axis| length(&axis)).collect();
    }
    if shape.extract::<isize>().is_ok() {
        return Ok(vec![length(shape)?]);
    }
    shape.try_iter().map_err(|_| bad())?.map(|axis| length(&axis?)).collect()
}

/// The dtype that an argument names, if it was given.
pub(crate) fn parse_optional_dtype(
    py: Python<'_>,
    dtype: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<rtcg::array::DType>> {
    dtype.filter(|dtype| !dtype.is_none()).map(|dtype| super::dtypes::parse_dtype(py, dtype)).transpose()
}

/// NumPy's dtype of an array's elements.
impl PyGpuArray {
    pub(crate) fn array_descr<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, numpy::PyArrayDescr>> {
        let contents = self.current_state();
        match &contents.record {
            Some(descr) => Ok(descr.bind(py).clone()),
            None => numpy_descr(py, contents.array.dtype()),
        }
    }
}
