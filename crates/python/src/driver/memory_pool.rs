//! `MemoryPool`: the driver's own pools, from which memory in stream order comes.

use crate::driver::device::PyDevice;
use crate::driver::memory::{PyDeviceAllocation, device_or_current};
use crate::driver::stream::{PyStream, as_driver_stream};
use crate::driver::virtual_memory::{access_rights_from_flags, borrow_fd};
use crate::enums::enum_member;
use crate::errors::OrRaise;
use crate::integer::int;
use crate::resource_lifetime::{DropDetached, context_manager_methods, impl_from_core, impl_new_for_init};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use rtcg::driver::MemoryPool;
use rtcg::driver::sys::*;
use std::os::fd::IntoRawFd;
use std::sync::Arc;

/// A pool of the driver, from which memory in stream order comes.
///
/// Parameters
/// ----------
/// device : Device, optional
///     Default: the device of the current context.
/// max_size : int
///     Bytes that the pool may have; 0: no limit.
/// exportable : bool
///     Whether it can go to another process.
#[pyclass(name = "MemoryPool", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyMemoryPool(pub(crate) DropDetached<MemoryPool>);

impl_from_core!(PyMemoryPool over MemoryPool);
impl_new_for_init!(PyMemoryPool, "(device=None, max_size=0, exportable=False)");

#[pymethods]
impl PyMemoryPool {
    #[pyo3(signature = (device = None, max_size = 0, exportable = false))]
    fn __init__(
        &self,
        device: Option<&Bound<'_, PyDevice>>,
        #[pyo3(from_py_with = int)] max_size: usize,
        exportable: bool,
    ) -> PyResult<()> {
        self.0.init_value(MemoryPool::new(device_or_current(device)?, max_size, exportable).or_raise()?)
    }
}

context_manager_methods! { PyMemoryPool;
    /// The pool that a device has from the beginning.
    #[staticmethod]
    #[pyo3(signature = (device = None))]
    fn get_default(device: Option<&Bound<'_, PyDevice>>) -> PyResult<Self> {
        MemoryPool::default_of_device(device_or_current(device)?).or_raise().map(Self::from)
    }

    /// The pool that allocations in stream order on a device use now.
    #[staticmethod]
    #[pyo3(signature = (device = None))]
    fn get_current(device: Option<&Bound<'_, PyDevice>>) -> PyResult<Self> {
        MemoryPool::current_of_device(device_or_current(device)?).or_raise().map(Self::from)
    }

    /// A pool that another process exported as a file descriptor, which stays the caller's.
    #[staticmethod]
    #[pyo3(signature = (fd, device = None))]
    fn from_fd(#[pyo3(from_py_with = int)] fd: i32, device: Option<&Bound<'_, PyDevice>>) -> PyResult<Self> {
        MemoryPool::import(device_or_current(device)?, borrow_fd(fd)?).or_raise().map(Self::from)
    }

    /// The pool as a file descriptor for another process; the caller closes it.
    fn export_fd(&self) -> PyResult<i32> {
        self.0.export().or_raise().map(IntoRawFd::into_raw_fd)
    }

    /// What stands for memory of this pool in a process that has imported it, 64 bytes.
    #[staticmethod]
    fn export_pointer<'py>(py: Python<'py>, memory: &PyDeviceAllocation) -> PyResult<Bound<'py, PyByteArray>> {
        memory.ptr()?;
        Ok(PyByteArray::new(py, &MemoryPool::export_pointer(&memory.0).or_raise()?))
    }

    /// Memory of the process that exported this pool.
    fn import_pointer(&self, data: &Bound<'_, PyAny>) -> PyResult<PyDeviceAllocation> {
        let bytes = crate::driver::event::ipc_handle_bytes(data)?;
        self.0.import_pointer(bytes).or_raise().map(|memory| PyDeviceAllocation(Arc::new(memory)))
    }

    /// Make it the pool of its device's allocations in stream order, until another one is or it is closed.
    fn make_current(&self) -> PyResult<()> {
        self.0.make_current().or_raise()
    }

    /// Memory of `size` bytes for `stream`, freed in its order.
    #[pyo3(signature = (size, stream = None))]
    fn allocate(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = int)] size: usize,
        stream: Option<&Bound<'_, PyStream>>,
    ) -> PyResult<PyDeviceAllocation> {
        let stream = as_driver_stream(stream);
        let memory = py.detach(|| self.0.allocate(size, stream)).or_raise()?;
        Ok(PyDeviceAllocation(Arc::new(memory)))
    }

    /// Give unused memory back to the device until no more than `min_bytes_to_keep` are reserved.
    #[pyo3(signature = (min_bytes_to_keep = 0))]
    fn trim(&self, py: Python<'_>, #[pyo3(from_py_with = int)] min_bytes_to_keep: usize) -> PyResult<()> {
        py.detach(|| self.0.trim_to(min_bytes_to_keep)).or_raise()
    }

    /// An attribute, by `mem_pool_attribute`.
    fn get_attribute(&self, #[pyo3(from_py_with = int)] attribute: u32) -> PyResult<u64> {
        self.0.attribute(CUmemPool_attribute(attribute)).or_raise()
    }

    /// Set an attribute: a reuse setting (0 or 1), the release threshold, or a high-water mark to 0.
    fn set_attribute(&self, #[pyo3(from_py_with = int)] attribute: u32, #[pyo3(from_py_with = int)] value: u64) -> PyResult<()> {
        self.0.set_attribute(CUmemPool_attribute(attribute), value).or_raise()
    }

    /// Bytes that the pool keeps when a stream is waited for.
    #[getter]
    fn release_threshold(&self) -> PyResult<u64> {
        self.0.attribute(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD).or_raise()
    }

    #[setter]
    fn set_release_threshold(&self, value: u64) -> PyResult<()> {
        self.0.set_attribute(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, value).or_raise()
    }

    /// Bytes in use.
    #[getter]
    fn used_bytes(&self) -> PyResult<u64> {
        self.0.attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT).or_raise()
    }

    /// Bytes that the pool has of the device.
    #[getter]
    fn reserved_bytes(&self) -> PyResult<u64> {
        self.0.attribute(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT).or_raise()
    }

    /// The largest `used_bytes` since `reset_peaks`.
    #[getter]
    fn peak_used_bytes(&self) -> PyResult<u64> {
        self.0.attribute(CU_MEMPOOL_ATTR_USED_MEM_HIGH).or_raise()
    }

    /// The largest `reserved_bytes` since `reset_peaks`.
    #[getter]
    fn peak_reserved_bytes(&self) -> PyResult<u64> {
        self.0.attribute(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH).or_raise()
    }

    /// Reset the peaks to the current numbers.
    fn reset_peaks(&self) -> PyResult<()> {
        self.0.set_attribute(CU_MEMPOOL_ATTR_USED_MEM_HIGH, 0).or_raise()?;
        self.0.set_attribute(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, 0).or_raise()
    }

    /// Say what a device may do with the pool's memory, by `mem_access_flags`.
    fn set_access(&self, device: &Bound<'_, PyDevice>, #[pyo3(from_py_with = int)] flags: u32) -> PyResult<()> {
        self.0.set_access(&device.get().0, access_rights_from_flags(flags)?).or_raise()
    }

    /// What a device may do with the pool's memory: a `mem_access_flags`.
    fn get_access<'py>(&self, py: Python<'py>, device: &Bound<'py, PyDevice>) -> PyResult<Bound<'py, PyAny>> {
        let rights = self.0.access(&device.get().0).or_raise()?;
        enum_member(py, "mem_access_flags", rights.to_driver_flags().0)
    }

    /// The device whose memory it is.
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice::from(self.0.device())
    }

    /// The driver's handle, for other libraries.
    #[getter]
    fn handle(&self) -> usize {
        self.0.handle().addr()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyMemoryPool>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self) -> usize {
        self.0.handle().addr()
    }

    /// Give the pool up. Memory from it stays until it is freed.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.close()).or_raise()
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyMemoryPool>()
}
