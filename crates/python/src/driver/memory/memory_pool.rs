//! `MemoryPool`: the driver's own pools, from which memory in stream order comes.

use crate::driver::device::PyDevice;
use crate::driver::memory::virtual_memory::{access_rights_from_flags, borrow_fd};
use crate::driver::memory::{PyDeviceAllocation, device_or_current};
use crate::driver::stream::{PyStream, as_driver_stream};
use crate::enums::enum_member;
use crate::errors::OrRaise;
use crate::integer::int;
use crate::resource_lifetime::{
    DropDetached, FilledByInit, Ready, context_manager_methods, filled_object, impl_from_core, impl_new_for_init,
};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use rtcg::driver::MemoryPool;
use rtcg::driver::sys::*;
use std::os::fd::IntoRawFd;
use std::sync::Arc;

/// A memory pool of the driver, for allocations in stream order.
///
/// Parameters
/// ----------
/// device : Device, optional
///     Default: the device of the current context.
/// max_size : int
///     Maximum size in bytes; 0: no limit.
/// exportable : bool
///     Whether it can be exported to another process.
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
    /// The default pool of a device.
    #[staticmethod]
    #[pyo3(signature = (device = None))]
    fn get_default(device: Option<&Bound<'_, PyDevice>>) -> PyResult<Self> {
        MemoryPool::default_of_device(device_or_current(device)?).or_raise().map(Self::from)
    }

    /// The pool that a device now uses for allocations in stream order.
    #[staticmethod]
    #[pyo3(signature = (device = None))]
    fn get_current(device: Option<&Bound<'_, PyDevice>>) -> PyResult<Self> {
        MemoryPool::current_of_device(device_or_current(device)?).or_raise().map(Self::from)
    }

    /// A pool that another process exported as a file descriptor, which the caller keeps and closes.
    #[staticmethod]
    #[pyo3(signature = (fd, device = None))]
    fn from_fd(#[pyo3(from_py_with = int)] fd: i32, device: Option<&Bound<'_, PyDevice>>) -> PyResult<Self> {
        MemoryPool::import(device_or_current(device)?, borrow_fd(fd)?).or_raise().map(Self::from)
    }

    /// The pool as a file descriptor for another process; the caller closes it.
    fn export_fd(slf: Ready<'_, Self>) -> PyResult<i32> {
        slf.0.export().or_raise().map(IntoRawFd::into_raw_fd)
    }

    /// The handle of memory of this pool for a process that has imported the pool, 64 bytes.
    #[staticmethod]
    fn export_pointer<'py>(py: Python<'py>, memory: &PyDeviceAllocation) -> PyResult<Bound<'py, PyByteArray>> {
        memory.ptr()?;
        Ok(PyByteArray::new(py, &MemoryPool::export_pointer(&memory.0).or_raise()?))
    }

    /// Memory of the process that exported this pool, from its handle.
    fn import_pointer(slf: Ready<'_, Self>, data: &Bound<'_, PyAny>) -> PyResult<PyDeviceAllocation> {
        let bytes = crate::driver::event::ipc_handle_bytes(data)?;
        slf.0.import_pointer(bytes).or_raise().map(|memory| PyDeviceAllocation(Arc::new(memory)))
    }

    /// Use this pool for its device's allocations in stream order, until another is made current or it is closed.
    fn make_current(slf: Ready<'_, Self>) -> PyResult<()> {
        slf.0.make_current().or_raise()
    }

    /// Memory of `size` bytes for `stream`, freed in its order.
    #[pyo3(signature = (size, stream = None))]
    fn allocate(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        #[pyo3(from_py_with = int)] size: usize,
        stream: Option<&Bound<'_, PyStream>>,
    ) -> PyResult<PyDeviceAllocation> {
        let stream = as_driver_stream(stream)?;
        let memory = py.detach(|| slf.0.allocate(size, stream)).or_raise()?;
        Ok(PyDeviceAllocation(Arc::new(memory)))
    }

    /// Return unused memory to the device until no more than `min_bytes_to_keep` are reserved.
    #[pyo3(signature = (min_bytes_to_keep = 0))]
    fn trim(slf: Ready<'_, Self>, py: Python<'_>, #[pyo3(from_py_with = int)] min_bytes_to_keep: usize) -> PyResult<()> {
        py.detach(|| slf.0.trim_to(min_bytes_to_keep)).or_raise()
    }

    /// An attribute, by `mem_pool_attribute`.
    fn get_attribute(slf: Ready<'_, Self>, #[pyo3(from_py_with = int)] attribute: u32) -> PyResult<u64> {
        slf.0.attribute(CUmemPool_attribute(attribute)).or_raise()
    }

    /// Set an attribute: a reuse setting (0 or 1), the release threshold, or a high-water mark to 0.
    fn set_attribute(slf: Ready<'_, Self>, #[pyo3(from_py_with = int)] attribute: u32, #[pyo3(from_py_with = int)] value: u64) -> PyResult<()> {
        slf.0.set_attribute(CUmemPool_attribute(attribute), value).or_raise()
    }

    /// Bytes that the pool keeps when a stream is synchronised.
    #[getter]
    fn release_threshold(slf: Ready<'_, Self>) -> PyResult<u64> {
        slf.0.attribute(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD).or_raise()
    }

    #[setter]
    fn set_release_threshold(slf: Ready<'_, Self>, value: u64) -> PyResult<()> {
        slf.0.set_attribute(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, value).or_raise()
    }

    /// Bytes in use.
    #[getter]
    fn used_bytes(slf: Ready<'_, Self>) -> PyResult<u64> {
        slf.0.attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT).or_raise()
    }

    /// Bytes that the pool has reserved on the device.
    #[getter]
    fn reserved_bytes(slf: Ready<'_, Self>) -> PyResult<u64> {
        slf.0.attribute(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT).or_raise()
    }

    /// The largest `used_bytes` since `reset_peaks`.
    #[getter]
    fn peak_used_bytes(slf: Ready<'_, Self>) -> PyResult<u64> {
        slf.0.attribute(CU_MEMPOOL_ATTR_USED_MEM_HIGH).or_raise()
    }

    /// The largest `reserved_bytes` since `reset_peaks`.
    #[getter]
    fn peak_reserved_bytes(slf: Ready<'_, Self>) -> PyResult<u64> {
        slf.0.attribute(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH).or_raise()
    }

    /// Reset the peaks to the present values.
    fn reset_peaks(slf: Ready<'_, Self>) -> PyResult<()> {
        slf.0.set_attribute(CU_MEMPOOL_ATTR_USED_MEM_HIGH, 0).or_raise()?;
        slf.0.set_attribute(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, 0).or_raise()
    }

    /// Set the access of a device to the memory of the pool, by `mem_access_flags`.
    fn set_access(slf: Ready<'_, Self>, device: &Bound<'_, PyDevice>, #[pyo3(from_py_with = int)] flags: u32) -> PyResult<()> {
        slf.0.set_access(&filled_object(device)?.0, access_rights_from_flags(flags)?).or_raise()
    }

    /// The access of a device to the memory of the pool, from `mem_access_flags`.
    fn get_access<'py>(slf: Ready<'_, Self>, py: Python<'py>, device: &Bound<'py, PyDevice>) -> PyResult<Bound<'py, PyAny>> {
        let rights = slf.0.access(&filled_object(device)?.0).or_raise()?;
        enum_member(py, "mem_access_flags", rights.to_driver_flags().0)
    }

    /// The device that owns the memory.
    #[getter]
    fn device(slf: Ready<'_, Self>) -> PyDevice {
        PyDevice::from(slf.0.device())
    }

    /// The driver's handle, for other libraries.
    #[getter]
    fn handle(slf: Ready<'_, Self>) -> usize {
        slf.0.handle().addr()
    }

    fn __eq__(slf: Ready<'_, Self>, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyMemoryPool>().is_ok_and(|other| other.get().is_filled() && other.get().0 == slf.0)
    }

    fn __hash__(slf: Ready<'_, Self>) -> usize {
        slf.0.handle().addr()
    }

    /// Release the pool. Memory from it stays valid until it is freed.
    fn close(slf: Ready<'_, Self>, py: Python<'_>) -> PyResult<()> {
        py.detach(|| slf.0.close()).or_raise()
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyMemoryPool>()
}
