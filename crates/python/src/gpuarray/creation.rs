//! Making arrays: of nothing, of one value, of a range, of host memory.

use super::context::array_context;
use super::dtypes::{dtype_of_descr, parse_dtype, parse_numpy_dtype};
use super::operands::{parse_scalar, parse_shape};
use super::{PyGpuArray, parse_order, to_py_result};
use crate::array_object::ArrayState;
use crate::errors::MemoryError;
use crate::resource_lifetime::Ready;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rtcg::array::{GpuArray, Layout, Order};

/// Runs `make`; when the device is out of memory, collects garbage and runs it again. The interpreter is let go
/// only where the driver allocates memory, which few calls need.
pub(crate) fn retry_after_garbage_collection<T>(
    py: Python<'_>,
    make: impl Fn() -> rtcg::array::Result<T>,
) -> PyResult<T> {
    match to_py_result(py, make()) {
        Err(error) if error.is_instance_of::<MemoryError>(py) => {
            py.import("gc")?.call_method0("collect")?;
            to_py_result(py, make())
        }
        other => other,
    }
}

/// An uninitialised array in the memory order `order`, modelled on `other`.
#[pyfunction]
pub(super) fn empty_in_order_of<'py>(
    other: &Bound<'py, PyGpuArray>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: &str,
    shape: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = other.py();
    let own = &other.get().current_state().array;
    let descr = match dtype.filter(|dtype| !dtype.is_none()) {
        Some(dtype) => parse_numpy_dtype(py, dtype)?,
        None => other.get().array_descr(py)?,
    };
    let dtype = dtype_of_descr(&descr)?;
    let shape = match shape.filter(|shape| !shape.is_none()) {
        Some(shape) => parse_shape(shape)?,
        None => own.shape().to_vec(),
    };
    let fortran = own.is_contiguous(Order::F) && !own.is_contiguous(Order::C);
    let layout = match order {
        "K" if shape == own.shape() => Layout::dense_like(own.layout(), dtype.itemsize()),
        "A" | "K" if fortran => Layout::contiguous(&shape, dtype.itemsize(), Order::F),
        "A" | "K" => Layout::contiguous(&shape, dtype.itemsize(), Order::C),
        order => Layout::contiguous(&shape, dtype.itemsize(), parse_order(order)?),
    };
    let ctx = own.context().clone();
    let array = PyGpuArray::with_allocator_of(other, || {
        retry_after_garbage_collection(py, || GpuArray::empty_with_layout(&ctx, layout.clone(), dtype))
    })?;
    let record = matches!(dtype, rtcg::array::DType::Void(_)).then(|| descr.unbind());
    let allocator = other.get().current_state().clone_allocator(py);
    PyGpuArray::new_object(py, ArrayState { array, record, base: None, allocator, sizes: None })
}

/// `count` numbers, starting at `start`, `step` apart.
#[pyfunction]
pub(super) fn arange_of(
    py: Python<'_>,
    start: &Bound<'_, PyAny>,
    step: &Bound<'_, PyAny>,
    count: usize,
    dtype: &Bound<'_, PyAny>,
) -> PyResult<PyGpuArray> {
    let (ctx, dtype) = (array_context()?, parse_dtype(py, dtype)?);
    let number = |value: &Bound<'_, PyAny>| {
        parse_scalar(value)?.ok_or_else(|| PyTypeError::new_err(format!("{value} is no number")))
    };
    let (start, step) = (number(start)?, number(step)?);
    let array = retry_after_garbage_collection(py, || {
        let array = GpuArray::empty(&ctx, &[count], dtype, Order::C)?;
        array.fill_range(start, step)?;
        Ok(array)
    })?;
    Ok(PyGpuArray::from_array(array))
}

#[pymethods]
impl PyGpuArray {
    /// Set every element to `value`; does not wait.
    #[pyo3(signature = (value, stream = None))]
    fn fill<'py>(
        slf: Bound<'py, Self>,
        value: &Bound<'py, PyAny>,
        stream: Option<Bound<'py, crate::driver::stream::PyStream>>,
    ) -> PyResult<Bound<'py, Self>> {
        super::transfer::run_in_stream(stream.as_ref(), || super::indexing::assign_elements(&slf, value))?;
        Ok(slf)
    }

    /// A copy converted to `dtype`; does not wait.
    #[pyo3(signature = (dtype, stream = None, order = "K", copy = true))]
    fn astype<'py>(
        slf: &Bound<'py, Self>,
        dtype: &Bound<'py, PyAny>,
        stream: Option<Bound<'py, crate::driver::stream::PyStream>>,
        order: &str,
        copy: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if !copy && parse_dtype(py, dtype)? == slf.get().current_state().array.dtype() && order == "K" {
            return Ok(slf.clone().into_any());
        }
        // Where operations are deferred, the copy is, too, and needs no memory unless it is kept.
        if rtcg::array::fuse::is_active() && order == "K" && stream.is_none() {
            let to = parse_dtype(py, dtype)?;
            if !matches!(to, rtcg::array::DType::Void(_)) {
                return PyGpuArray::compute_elementwise(slf, || slf.get().current_state().array.astype(to));
            }
        }
        let new = match order {
            "K" => {
                let descr = parse_numpy_dtype(py, dtype)?;
                PyGpuArray::target_of_subclass(slf, dtype_of_descr(&descr)?, Some(descr))?.map(Bound::into_any)
            }
            _ => None,
        };
        let new = new.map_or_else(|| empty_in_order_of(slf, Some(dtype), order, None), Ok)?;
        let target = new.cast::<PyGpuArray>()?.get().current_state().array.clone();
        let source = &slf.get().current_state().array;
        super::transfer::run_in_stream(stream.as_ref(), || to_py_result(py, target.assign(source)))?;
        Ok(new)
    }

    /// A copy in new device memory, in the same memory order or in `order`; does not wait.
    #[pyo3(signature = (order = "K"))]
    fn copy<'py>(slf: &Bound<'py, Self>, order: &str) -> PyResult<Bound<'py, PyAny>> {
        let new = empty_in_order_of(slf, None, order, None)?;
        let target = new.cast::<PyGpuArray>()?.get().current_state().array.clone();
        to_py_result(slf.py(), target.assign(&slf.get().current_state().array))?;
        Ok(new)
    }

    /// Set all bytes to zero; used by `rtcg.numpy.zeros`.
    fn _clear(slf: Ready<'_, Self>, py: Python<'_>) -> PyResult<()> {
        to_py_result(py, slf.current_state().array.memset_zero())
    }

    /// PyCUDA's constructor of results: an array of the same shape with another dtype or order.
    #[pyo3(signature = (dtype = None, order = "C"))]
    fn _new_like_me<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        order: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let changed = dtype.is_some_and(|dtype| !dtype.is_none());
        empty_in_order_of(slf, dtype, if changed { order } else { "K" }, None)
    }
}

pub(super) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(empty_in_order_of, m)?)?;
    m.add_function(wrap_pyfunction!(arange_of, m)?)?;
    Ok(())
}
