//! Device memory.

use crate::driver::event::handle_bytes;
use crate::driver::host::checked_array;
use crate::driver::stream::{PyStream, stream_of};
use crate::errors::{LogicError, OrRaise};
use crate::pointer::DevicePtr;
use numpy::PyArrayDescr;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use rtcg::driver::{DeviceAllocation, IpcMemory, ManagedAllocation, memory};
use std::sync::Arc;

/// Device memory, freed with the last reference or by `free()`.
#[pyclass(name = "DeviceAllocation", module = "pycuda._driver", frozen, subclass)]
pub(crate) struct PyDeviceAllocation(pub(crate) Arc<DeviceAllocation>);

impl PyDeviceAllocation {
    pub(crate) fn ptr(&self) -> PyResult<u64> {
        address_of(&self.0)
    }
}

/// The address of memory that was not freed yet.
fn address_of(memory: &DeviceAllocation) -> PyResult<u64> {
    if memory.is_freed() {
        return Err(LogicError::new_err("device allocation used after free()"));
    }
    Ok(memory.ptr())
}

#[pymethods]
impl PyDeviceAllocation {
    fn free(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.free()).or_raise()
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.0.nbytes()
    }

    /// A writable memoryview over the device's addresses; only for memory that the host can reach.
    #[pyo3(signature = (size, offset = 0))]
    fn as_buffer<'py>(&self, py: Python<'py>, size: usize, offset: usize) -> PyResult<Bound<'py, PyAny>> {
        view_address(py, self.ptr()?, size, offset)
    }

    fn __repr__(&self) -> String {
        format!("<pycuda.driver.DeviceAllocation {:#x}, {} bytes>", self.0.ptr(), self.0.nbytes())
    }

    fn __int__(&self) -> PyResult<u64> {
        self.ptr()
    }

    fn __index__(&self) -> PyResult<u64> {
        self.ptr()
    }
}

/// Memory that host and device share by migration.
#[pyclass(name = "ManagedAllocation", module = "pycuda._driver", frozen, subclass)]
pub(crate) struct PyManagedAllocation(pub(crate) ManagedAllocation);

impl PyManagedAllocation {
    fn ptr(&self) -> PyResult<u64> {
        address_of(self.0.allocation())
    }
}

#[pymethods]
impl PyManagedAllocation {
    #[new]
    fn new(nbytes: usize, flags: u32) -> PyResult<Self> {
        ManagedAllocation::new(nbytes, flags).or_raise().map(Self)
    }

    fn free(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.free()).or_raise()
    }

    fn get_device_pointer(&self) -> PyResult<u64> {
        self.ptr()
    }

    /// An array over this memory, which it keeps alive.
    fn _as_array<'py>(
        slf: Bound<'py, Self>,
        dtype: &Bound<'py, PyArrayDescr>,
        shape: Vec<usize>,
        fortran: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.get().ptr()?;
        let memory = &slf.get().0;
        let (data, room) = (memory.as_ptr(), memory.allocation().nbytes());
        checked_array(slf.into_any(), data, room, dtype, &shape, fortran)
    }

    #[pyo3(signature = (size, offset = 0))]
    fn as_buffer<'py>(&self, py: Python<'py>, size: usize, offset: usize) -> PyResult<Bound<'py, PyAny>> {
        view_address(py, self.ptr()?, size, offset)
    }

    #[pyo3(signature = (mem_flags, stream = None))]
    fn attach(&self, mem_flags: u32, stream: Option<&Bound<'_, PyStream>>) -> PyResult<()> {
        self.0.attach(mem_flags, stream_of(stream)).or_raise()
    }

    fn __int__(&self) -> PyResult<u64> {
        self.ptr()
    }

    fn __index__(&self) -> PyResult<u64> {
        self.ptr()
    }
}

/// Memory of another process.
#[pyclass(name = "IPCMemoryHandle", module = "pycuda._driver", frozen, subclass)]
pub(crate) struct PyIpcMemory(IpcMemory);

#[pymethods]
impl PyIpcMemory {
    #[new]
    #[pyo3(signature = (devhandle, flags = 1))]
    fn new(devhandle: &Bound<'_, PyAny>, flags: u32) -> PyResult<Self> {
        IpcMemory::open(handle_bytes(devhandle)?, flags).or_raise().map(Self)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.close()).or_raise()
    }

    fn __int__(&self) -> u64 {
        self.0.ptr()
    }

    fn __index__(&self) -> u64 {
        self.0.ptr()
    }
}

/// A memoryview over addresses. That the host can reach them is the user's promise.
#[pyfunction]
#[pyo3(signature = (address, size, offset = 0))]
fn view_address(py: Python<'_>, address: u64, size: usize, offset: usize) -> PyResult<Bound<'_, PyAny>> {
    const WRITE: std::ffi::c_int = 0x200;
    let size = isize::try_from(size).map_err(|_| PyOverflowError::new_err("size is too large"))?;
    let start = std::ptr::with_exposed_provenance_mut((address as usize).wrapping_add(offset));
    // SAFETY: only makes a view object; what may be done with it is said above.
    unsafe { Bound::from_owned_ptr_or_err(py, pyo3::ffi::PyMemoryView_FromMemory(start, size, WRITE)) }
}

#[pyfunction]
fn mem_get_info() -> PyResult<(usize, usize)> {
    memory::mem_get_info().or_raise()
}

/// One attempt; `pycuda.driver.mem_alloc` collects garbage and tries again.
#[pyfunction]
fn mem_alloc(py: Python<'_>, bytes: usize) -> PyResult<PyDeviceAllocation> {
    let memory = py.detach(|| memory::mem_alloc(bytes)).or_raise()?;
    Ok(PyDeviceAllocation(Arc::new(memory)))
}

#[pyfunction]
fn mem_alloc_pitch(
    py: Python<'_>,
    width: usize,
    height: usize,
    access_size: u32,
) -> PyResult<(PyDeviceAllocation, usize)> {
    let (memory, pitch) = py.detach(|| memory::mem_alloc_pitch(width, height, access_size)).or_raise()?;
    Ok((PyDeviceAllocation(Arc::new(memory)), pitch))
}

#[pyfunction]
fn mem_get_address_range(ptr: DevicePtr) -> PyResult<(u64, usize)> {
    memory::mem_get_address_range(ptr.0).or_raise()
}

#[pyfunction]
fn mem_get_ipc_handle(py: Python<'_>, devptr: DevicePtr) -> PyResult<Bound<'_, PyByteArray>> {
    Ok(PyByteArray::new(py, &memory::mem_get_ipc_handle(devptr.0).or_raise()?))
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyDeviceAllocation>()?;
    m.add_class::<PyManagedAllocation>()?;
    m.add_class::<PyIpcMemory>()?;
    m.add_function(wrap_pyfunction!(view_address, m)?)?;
    m.add_function(wrap_pyfunction!(mem_get_info, m)?)?;
    m.add_function(wrap_pyfunction!(mem_alloc, m)?)?;
    m.add_function(wrap_pyfunction!(mem_alloc_pitch, m)?)?;
    m.add_function(wrap_pyfunction!(mem_get_address_range, m)?)?;
    m.add_function(wrap_pyfunction!(mem_get_ipc_handle, m)?)
}
