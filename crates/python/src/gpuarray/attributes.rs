//! Attributes of an array object.

use super::dtypes::{dtype_of_descr, parse_numpy_dtype};
use super::memory::{ForeignBuffer, array_inside_memory};
use super::operands::parse_shape;
use super::strided_layout;
use crate::array_object::{ArrayState, AssignedSizes, PyGpuArray};
use crate::driver::memory::device_pointer::DevicePtr;
use crate::driver::memory::pool::PyPooledDeviceAllocation;
use crate::owner::Owner;
use crate::resource_lifetime::Ready;
use numpy::PyArrayDescr;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::DeviceBuffer;
use rtcg::array::{DType, Layout, Order};

impl ArrayState {
    /// The same elements' memory in another layout, which must lie inside it where its size is known.
    fn with_layout(&self, py: Python<'_>, layout: Layout, dtype: DType, name: &str) -> PyResult<Self> {
        let array = array_inside_memory(name, self.array.context(), self.array.buffer().cloned(), layout, dtype)?;
        Ok(self.with_array(py, array))
    }
}

impl PyGpuArray {
    /// Replaces one of the numbers that a program may set.
    fn update_assigned_sizes(&self, py: Python<'_>, change: impl FnOnce(&mut AssignedSizes)) {
        let old = self.current_state();
        let mut new = old.with_array(py, old.array.clone());
        change(new.sizes.get_or_insert_default());
        self.replace_state(new);
    }
}

/// A layout of another shape: dense ones stay so, in their order, others keep their strides.
fn reshaped_layout(old: &Layout, shape: &[usize], itemsize: usize) -> Layout {
    let order = old.order(itemsize);
    if order.is_none() && shape.len() == old.ndim() {
        return Layout { shape: shape.into(), ..old.clone() };
    }
    Layout { offset: old.offset, ..Layout::contiguous(shape, itemsize, order.unwrap_or(Order::C)) }
}

#[pymethods]
impl PyGpuArray {
    /// The lengths of the axes, a tuple of int.
    #[getter]
    fn shape<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, slf.current_state().array.shape())
    }

    #[setter]
    fn set_shape(slf: Ready<'_, Self>, shape: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, old, shape) = (shape.py(), slf.current_state(), parse_shape(shape)?);
        let layout = reshaped_layout(old.array.layout(), &shape, old.array.itemsize());
        slf.replace_state(old.with_layout(py, layout, old.array.dtype(), "shape")?);
        Ok(())
    }

    /// The distance in bytes between adjacent elements along each axis, a tuple of int.
    #[getter]
    fn strides<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, slf.current_state().array.strides())
    }

    #[setter]
    fn set_strides(slf: Ready<'_, Self>, py: Python<'_>, strides: Vec<isize>) -> PyResult<()> {
        let old = slf.current_state();
        let layout = strided_layout(old.array.shape(), strides, old.array.itemsize(), true)?;
        let layout = Layout { offset: old.array.layout().offset, ..layout };
        slf.replace_state(old.with_layout(py, layout, old.array.dtype(), "strides")?);
        Ok(())
    }

    #[getter]
    fn dtype<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDescr>> {
        slf.array_descr(py)
    }

    /// Reinterpret the elements as another dtype with the same shape; strides are kept if the element size is.
    #[setter]
    fn set_dtype(slf: Ready<'_, Self>, dtype: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, old) = (dtype.py(), slf.current_state());
        let descr = parse_numpy_dtype(py, dtype)?;
        let dtype = dtype_of_descr(&descr)?;
        let layout = match dtype.itemsize() == old.array.itemsize() {
            true => old.array.layout().clone(),
            false => {
                let order = old.array.layout().order(old.array.itemsize()).unwrap_or(Order::C);
                let layout = Layout::contiguous(old.array.shape(), dtype.itemsize(), order);
                Layout { offset: old.array.layout().offset, ..layout }
            }
        };
        let record = matches!(dtype, DType::Void(_)).then(|| descr.unbind());
        slf.replace_state(ArrayState { record, ..old.with_layout(py, layout, dtype, "dtype")? });
        Ok(())
    }

    /// The number of elements.
    #[getter]
    fn size(slf: Ready<'_, Self>) -> usize {
        let contents = slf.current_state();
        contents.sizes.as_ref().and_then(|sizes| sizes.size).unwrap_or_else(|| contents.array.size())
    }

    #[setter(size)]
    fn set_size_number(slf: Ready<'_, Self>, py: Python<'_>, size: usize) {
        slf.update_assigned_sizes(py, |sizes| sizes.size = Some(size));
    }

    /// The number of elements that the allocation has room for.
    #[getter]
    fn mem_size(slf: Ready<'_, Self>) -> usize {
        let contents = slf.current_state();
        contents.sizes.as_ref().and_then(|sizes| sizes.mem_size).unwrap_or_else(|| contents.array.size())
    }

    #[setter]
    fn set_mem_size(slf: Ready<'_, Self>, py: Python<'_>, mem_size: usize) {
        slf.update_assigned_sizes(py, |sizes| sizes.mem_size = Some(mem_size));
    }

    /// The size of all elements in bytes.
    #[getter]
    fn nbytes(slf: Ready<'_, Self>) -> usize {
        let contents = slf.current_state();
        contents.sizes.as_ref().and_then(|sizes| sizes.nbytes).unwrap_or_else(|| contents.array.nbytes())
    }

    #[setter]
    fn set_nbytes(slf: Ready<'_, Self>, py: Python<'_>, nbytes: usize) {
        slf.update_assigned_sizes(py, |sizes| sizes.nbytes = Some(nbytes));
    }

    /// The array that this one is a view of, or None.
    #[getter]
    fn base(slf: Ready<'_, Self>, py: Python<'_>) -> Option<Py<PyAny>> {
        slf.current_state().base.as_ref().map(|base| base.bind(py).clone().unbind())
    }

    #[setter]
    fn set_base(slf: Ready<'_, Self>, py: Python<'_>, base: Option<Py<PyAny>>) {
        let old = slf.current_state();
        let base = base.map(|base| Owner::new(base.into_bound(py)));
        slf.replace_state(ArrayState { base, ..old.with_array(py, old.array.clone()) });
    }

    /// The allocator of the memory and of results: a callable that takes a number of bytes; None is the default.
    #[getter]
    fn allocator(slf: Ready<'_, Self>, py: Python<'_>) -> Option<Py<PyAny>> {
        slf.current_state().clone_allocator(py)
    }

    #[setter]
    fn set_allocator(slf: Ready<'_, Self>, py: Python<'_>, allocator: Option<Py<PyAny>>) {
        let old = slf.current_state();
        slf.replace_state(ArrayState { allocator, ..old.with_array(py, old.array.clone()) });
    }

    /// The memory: a `DeviceAllocation`, the allocator's result, an address for views, or None without elements.
    #[getter]
    fn gpudata<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let contents = slf.current_state();
        let Some(buffer) = contents.array.buffer() else { return Ok(None) };
        let address = || Ok(Some(slf.ptr().into_pyobject(py)?.into_any()));
        if contents.base.is_some() && contents.array.layout().offset != 0 {
            return address();
        }
        let any = buffer.clone().as_any();
        let any = match any.downcast::<DeviceBuffer>() {
            Ok(own) => {
                return Ok(Some(Bound::new(py, PyPooledDeviceAllocation(own))?.into_any()));
            }
            Err(other) => other,
        };
        if contents.array.layout().offset != 0 {
            return address();
        }
        Ok(any.downcast::<ForeignBuffer>().ok().map(|foreign| foreign.owner.bind(py).clone()))
    }

    /// Other memory, in which the array begins: anything that stands for a device address. It is kept alive.
    #[setter]
    fn set_gpudata(slf: Ready<'_, Self>, gpudata: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, old) = (gpudata.py(), slf.current_state());
        let ptr = if gpudata.is_none() { 0 } else { gpudata.extract::<DevicePtr>()?.0 };
        let layout = Layout { offset: 0, ..old.array.layout().clone() };
        let buffer = ForeignBuffer::from_address(ptr, gpudata.clone());
        let array = array_inside_memory("gpudata", old.array.context(), Some(buffer), layout, old.array.dtype())?;
        slf.replace_state(old.with_array(py, array));
        Ok(())
    }
}
