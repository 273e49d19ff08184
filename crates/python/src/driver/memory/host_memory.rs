//! Host memory that the device can reach, as owners of NumPy arrays.

use crate::driver::memory::use_after_free_error;
use crate::errors::{LogicError, OrRaise};
use crate::host_buffer::{HostBuffer, numpy_array_over, refuse_object_dtype};
use crate::integer::int;
use crate::resource_lifetime::{
    DropDetached, FilledByInit, LateInit, Ready, filled_object, free_with_gil_released, impl_new_for_init,
    resource_methods,
};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rtcg::driver::{AlignedHostAllocation, HostAllocation, RegisteredHostMemory};

macro_rules! host_memory_class {
    ($(#[$doc:meta])* $class:ident as $name:literal over $inner:ident, $signature:literal; $($extra:tt)*) => {
        $(#[$doc])*
        #[pyclass(name = $name, module = "rtcg.driver", frozen, subclass, dict, weakref)]
        pub(crate) struct $class(LateInit<$inner>);

        impl_new_for_init!($class, $signature);

        resource_methods! {
            $class, free = free, is_freed = |memory| memory.is_freed(), release = |memory| memory.free();

            /// Size in bytes.
            #[getter]
            fn nbytes(slf: Ready<'_, Self>) -> usize {
                slf.0.nbytes()
            }

            /// An array over this memory, which it keeps alive.
            fn _as_array<'py>(
                slf: Bound<'py, Self>,
                dtype: &Bound<'py, PyArrayDescr>,
                shape: Vec<usize>,
                fortran: bool,
            ) -> PyResult<Bound<'py, PyAny>> {
                let memory = &filled_object(&slf)?.0;
                if memory.is_freed() {
                    return Err(use_after_free_error($name, memory.nbytes(), memory.as_ptr().addr() as u64));
                }
                let (data, room) = (memory.as_ptr(), memory.nbytes());
                checked_numpy_array(slf.into_any(), data, room, dtype, &shape, fortran)
            }

            $($extra)*
        }
    };
}

host_memory_class! {
    /// Page-locked host memory; the base of arrays made by `rtcg.driver.pagelocked_empty`.
    PyHostAllocation as "PagelockedHostAllocation" over HostAllocation, "(nbytes, flags)";

    /// The device address of this memory, if it was made with ``host_alloc_flags.DEVICEMAP``.
    fn get_device_pointer(slf: Ready<'_, Self>) -> PyResult<u64> {
        slf.0.device_pointer().or_raise()
    }

    /// The `host_alloc_flags` of its creation.
    fn get_flags(slf: Ready<'_, Self>) -> PyResult<u32> {
        slf.0.flags().or_raise()
    }
}

host_memory_class! {
    /// Aligned host memory; the base of arrays made by `rtcg.driver.aligned_empty`.
    PyAlignedAllocation as "AlignedHostAllocation" over AlignedHostAllocation, "(nbytes, alignment)";

    /// The device address of this memory, once it has been registered by `register_host_memory`.
    fn get_device_pointer(slf: Ready<'_, Self>) -> PyResult<u64> {
        rtcg::driver::memory::host_device_pointer(slf.0.as_ptr()).or_raise()
    }
}

#[pymethods]
impl PyHostAllocation {
    fn __init__(&self, py: Python<'_>, #[pyo3(from_py_with = int)] nbytes: usize, flags: u32) -> PyResult<()> {
        self.0.init_value(py.detach(|| HostAllocation::new(nbytes, flags)).or_raise()?)
    }
}

#[pymethods]
impl PyAlignedAllocation {
    fn __init__(&self, py: Python<'_>, #[pyo3(from_py_with = int)] nbytes: usize, alignment: usize) -> PyResult<()> {
        self.0.init_value(py.detach(|| AlignedHostAllocation::new(nbytes, alignment)).or_raise()?)
    }
}

impl Drop for PyHostAllocation {
    fn drop(&mut self) {
        if let Some(memory) = self.0.get().filter(|memory| !memory.is_freed()) {
            free_with_gil_released(|| memory.free_quietly());
        }
    }
}

/// Shape, element type and order of an array to be made.
pub(crate) struct HostArrayGeometry<'py> {
    pub(crate) shape: Vec<usize>,
    pub(crate) dtype: Bound<'py, PyArrayDescr>,
    pub(crate) fortran: bool,
    /// What the array needs; never 0, so that there is something to allocate.
    pub(crate) nbytes: usize,
}

impl<'py> HostArrayGeometry<'py> {
    /// Reads `shape` (an int or several), `dtype` and `order`.
    pub(crate) fn from_shape_and_dtype(
        shape: &Bound<'py, PyAny>,
        dtype: &Bound<'py, PyAny>,
        order: &str,
    ) -> PyResult<Self> {
        let fortran = match order {
            "C" => false,
            "F" => true,
            _ => return Err(LogicError::new_err(format!("order is '{order}'; expected 'C' or 'F'"))),
        };
        let signed: Vec<isize> = match shape.extract::<isize>() {
            Ok(n) => vec![n],
            Err(_) => shape.try_iter()?.map(|n| n?.extract()).collect::<PyResult<_>>()?,
        };
        let shape = signed.iter().map(|&n| usize::try_from(n)).collect::<Result<Vec<_>, _>>();
        let shape =
            shape.map_err(|_| PyValueError::new_err(format!("shape is {signed:?}; expected no negative length")))?;
        let dtype = PyArrayDescr::new(dtype.py(), dtype)?;
        refuse_object_dtype(&dtype, "the array")?;
        let nbytes = shape.iter().try_fold(dtype.itemsize(), |total, &n| total.checked_mul(n));
        let nbytes = nbytes.ok_or_else(|| PyValueError::new_err(format!("shape is {shape:?}, which is too large")))?;
        Ok(Self { shape, dtype, fortran, nbytes: nbytes.max(1) })
    }
}

/// An array over memory with `room` bytes, refused when it does not fit.
pub(crate) fn checked_numpy_array<'py>(
    owner: Bound<'py, PyAny>,
    data: *mut u8,
    room: usize,
    dtype: &Bound<'py, PyArrayDescr>,
    shape: &[usize],
    fortran: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let nbytes = shape.iter().try_fold(dtype.itemsize(), |total, &n| total.checked_mul(n));
    if nbytes.is_none_or(|nbytes| nbytes > room) {
        return Err(PyValueError::new_err(format!("an array of shape {shape:?} does not fit into {room} bytes")));
    }
    // SAFETY: the array fits, which was just checked, and keeps the owner of the memory alive.
    unsafe { numpy_array_over(owner, data, dtype, shape, fortran) }
}

/// Page-locked memory that other code allocated.
#[pyclass(name = "RegisteredHostMemory", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyRegisteredHost(
    DropDetached<RegisteredHostMemory>,
    /// The array that owns the memory.
    Py<PyAny>,
);

impl FilledByInit for PyRegisteredHost {}

resource_methods! {
    PyRegisteredHost, free = unregister, is_freed = |memory| memory.is_unregistered(), release = |memory| memory.unregister();

    #[new]
    #[pyo3(signature = (ary, flags = 0))]
    fn new(ary: &Bound<'_, PyAny>, #[pyo3(from_py_with = int)] flags: u32) -> PyResult<Self> {
        let buffer = HostBuffer::from_object(ary, "ary")?;
        // SAFETY: `base` keeps the memory alive until it is unregistered.
        let memory = unsafe { RegisteredHostMemory::new(buffer.as_ptr(), buffer.nbytes(), flags) }.or_raise()?;
        Ok(Self(DropDetached::new(memory), ary.clone().unbind()))
    }

    /// The array that owns the memory.
    #[getter]
    fn base(&self, py: Python<'_>) -> Py<PyAny> {
        self.1.clone_ref(py)
    }

    /// Size in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.nbytes()
    }

    /// The device address of the memory.
    fn get_device_pointer(&self) -> PyResult<u64> {
        self.0.device_pointer().or_raise()
    }

    fn _as_array<'py>(
        slf: Bound<'py, Self>,
        dtype: &Bound<'py, PyArrayDescr>,
        shape: Vec<usize>,
        fortran: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let memory = &slf.get().0;
        let (data, room) = (memory.as_ptr(), memory.nbytes());
        checked_numpy_array(slf.into_any(), data, room, dtype, &shape, fortran)
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m, classes PyHostAllocation, PyAlignedAllocation, PyRegisteredHost; }
}
