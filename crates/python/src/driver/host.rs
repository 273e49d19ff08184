//! Host memory that the device can reach, as owners of NumPy arrays.

use crate::errors::OrRaise;
use crate::host_buffer::{HostBuffer, array_over};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rtcg::driver::{AlignedHostAllocation, HostAllocation, RegisteredHost};

macro_rules! host_memory {
    ($(#[$doc:meta])* $class:ident as $name:literal over $inner:ident, $argument:ident: $ty:ty; $($extra:tt)*) => {
        $(#[$doc])*
        #[pyclass(name = $name, module = "pycuda._driver", frozen, subclass)]
        pub(crate) struct $class($inner);

        #[pymethods]
        impl $class {
            #[new]
            fn new(nbytes: usize, $argument: $ty) -> PyResult<Self> {
                $inner::new(nbytes, $argument).or_raise().map(Self)
            }

            fn free(&self) -> PyResult<()> {
                self.0.free().or_raise()
            }

            /// An array over this memory, which it keeps alive.
            fn _as_array<'py>(
                slf: Bound<'py, Self>,
                dtype: &Bound<'py, PyArrayDescr>,
                shape: Vec<usize>,
                fortran: bool,
            ) -> PyResult<Bound<'py, PyAny>> {
                let memory = &slf.get().0;
                let (data, room) = (memory.as_ptr(), memory.nbytes());
                checked_array(slf.into_any(), data, room, dtype, &shape, fortran)
            }

            $($extra)*
        }
    };
}

host_memory! {
    /// Page-locked host memory.
    PyHostAllocation as "PagelockedHostAllocation" over HostAllocation, flags: u32;

    fn get_device_pointer(&self) -> PyResult<u64> {
        self.0.device_pointer().or_raise()
    }

    fn get_flags(&self) -> PyResult<u32> {
        self.0.flags().or_raise()
    }
}

host_memory! {
    /// Host memory whose address is a multiple of an alignment.
    PyAlignedAllocation as "AlignedHostAllocation" over AlignedHostAllocation, alignment: usize;
}

/// An array over memory with `room` bytes, refused when it does not fit.
pub(crate) fn checked_array<'py>(
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
    unsafe { array_over(owner, data, dtype, shape, fortran) }
}

/// Page-locked memory that somebody else allocated.
#[pyclass(name = "RegisteredHostMemory", module = "pycuda._driver", frozen, subclass)]
pub(crate) struct PyRegisteredHost {
    memory: RegisteredHost,
    /// The array whose memory it is.
    #[pyo3(get)]
    base: Py<PyAny>,
}

#[pymethods]
impl PyRegisteredHost {
    #[new]
    #[pyo3(signature = (ary, flags = 0))]
    fn new(ary: &Bound<'_, PyAny>, flags: u32) -> PyResult<Self> {
        let buffer = HostBuffer::of(ary, "ary")?;
        // SAFETY: `base` keeps the memory alive until it is unregistered.
        let memory = unsafe { RegisteredHost::new(buffer.as_ptr(), buffer.nbytes(), flags) }.or_raise()?;
        Ok(Self { memory, base: ary.clone().unbind() })
    }

    fn unregister(&self) -> PyResult<()> {
        self.memory.unregister().or_raise()
    }

    fn get_device_pointer(&self) -> PyResult<u64> {
        self.memory.device_pointer().or_raise()
    }

    fn _as_array<'py>(
        slf: Bound<'py, Self>,
        dtype: &Bound<'py, PyArrayDescr>,
        shape: Vec<usize>,
        fortran: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let memory = &slf.get().memory;
        let (data, room) = (memory.as_ptr(), memory.nbytes());
        checked_array(slf.into_any(), data, room, dtype, &shape, fortran)
    }
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyHostAllocation>()?;
    m.add_class::<PyAlignedAllocation>()?;
    m.add_class::<PyRegisteredHost>()
}
