//! Device memory, and the folder of everything else about memory: host memory, pools, address ranges, [`copy`] and the
//! copies that a structure describes. [`device_pointer`] is what a call accepts as an address, [`in_flight_buffers`]
//! hold host memory until copies are over.

mod copy;
mod copy_structure;
pub(crate) mod device_pointer;
mod host_memory;
pub(super) mod in_flight_buffers;
mod memory_pool;
pub(crate) mod pool;
pub(super) mod structured_copy;
mod virtual_memory;

use crate::driver::device::PyDevice;
use crate::driver::event::ipc_handle_bytes;
use crate::driver::memory::device_pointer::DevicePtr;
use crate::driver::memory::host_memory::checked_numpy_array;
use crate::driver::memory::memory_pool::PyMemoryPool;
use crate::driver::stream::{PyStream, as_driver_stream};
use crate::enums::enum_member;
use crate::errors::{LogicError, OrRaise};
use crate::integer::int;
use crate::resource_lifetime::{
    DropDetached, FilledByInit, LateInit, Ready, filled_object, free_with_gil_released, impl_from_core,
    impl_new_for_init, resource_methods,
};
use numpy::PyArrayDescr;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyTuple};
use rtcg::driver::{Device, DeviceAllocation, IpcMemory, ManagedAllocation, memory, sys};
use std::sync::Arc;

/// Device memory, freed with the last reference, by `free` or at the end of a ``with`` block.
#[pyclass(name = "DeviceAllocation", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyDeviceAllocation(pub(crate) Arc<DeviceAllocation>);

impl PyDeviceAllocation {
    pub(crate) fn ptr(&self) -> PyResult<u64> {
        checked_device_address(&self.0)
    }
}

impl Drop for PyDeviceAllocation {
    fn drop(&mut self) {
        if Arc::strong_count(&self.0) == 1 && !self.0.is_freed() {
            free_with_gil_released(|| self.0.free_quietly());
        }
    }
}

/// What is said when memory is used that was given back.
pub(crate) fn use_after_free_error(what: &str, nbytes: usize, address: u64) -> PyErr {
    LogicError::new_err(format!("{what} of {nbytes} bytes at {address:#x} used after free()"))
}

/// The address of memory that was not freed yet.
fn checked_device_address(memory: &DeviceAllocation) -> PyResult<u64> {
    if memory.is_freed() {
        return Err(use_after_free_error("device allocation", memory.nbytes(), memory.ptr()));
    }
    Ok(memory.ptr())
}

/// A view of the bytes of an allocation that the host can reach.
pub(crate) fn allocation_memoryview<'py>(
    py: Python<'py>,
    address: u64,
    room: usize,
    size: usize,
    offset: usize,
) -> PyResult<Bound<'py, PyAny>> {
    if offset.checked_add(size).is_none_or(|end| end > room) {
        return Err(LogicError::new_err(format!(
            "as_buffer: {size} bytes at offset {offset} are outside an allocation of {room} bytes"
        )));
    }
    memoryview_at_address(py, address, size, offset)
}

impl FilledByInit for PyDeviceAllocation {}

resource_methods! {
    PyDeviceAllocation, free = free, is_freed = |memory| memory.is_freed(), release = |memory| memory.free();

    /// Free memory of `mem_alloc_async` once `stream` has completed its present work.
    #[pyo3(signature = (stream = None))]
    fn free_async(&self, stream: Option<&Bound<'_, PyStream>>) -> PyResult<()> {
        self.0.free_async(as_driver_stream(stream)?).or_raise()
    }

    /// Size in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.nbytes()
    }

    /// A writable memoryview over the device addresses; only for memory that the host can access.
    #[pyo3(signature = (size, offset = 0))]
    fn as_buffer<'py>(&self, py: Python<'py>, #[pyo3(from_py_with = int)] size: usize, #[pyo3(from_py_with = int)] offset: usize) -> PyResult<Bound<'py, PyAny>> {
        allocation_memoryview(py, self.ptr()?, self.0.nbytes(), size, offset)
    }

    fn __repr__(&self) -> String {
        let freed = if self.0.is_freed() { ", freed" } else { "" };
        format!("<rtcg.driver.DeviceAllocation {:#x}, {} bytes{freed}>", self.0.ptr(), self.0.nbytes())
    }

    fn __int__(&self) -> PyResult<u64> {
        self.ptr()
    }

    fn __index__(&self) -> PyResult<u64> {
        self.ptr()
    }
}

/// Memory that migrates between host and device; the base of arrays made by `rtcg.driver.managed_empty`.
#[pyclass(name = "ManagedAllocation", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyManagedAllocation(pub(crate) LateInit<ManagedAllocation>);

impl_new_for_init!(PyManagedAllocation, "(nbytes, flags=0)");

impl Drop for PyManagedAllocation {
    fn drop(&mut self) {
        if let Some(memory) = self.0.get().filter(|memory| !memory.allocation().is_freed()) {
            free_with_gil_released(|| memory.allocation().free_quietly());
        }
    }
}

impl PyManagedAllocation {
    pub(crate) fn ptr(&self) -> PyResult<u64> {
        checked_device_address(self.0.allocation())
    }
}

#[pymethods]
impl PyManagedAllocation {
    #[pyo3(signature = (nbytes, flags = 0))]
    fn __init__(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = int)] nbytes: usize,
        #[pyo3(from_py_with = int)] flags: u32,
    ) -> PyResult<()> {
        self.0.init_value(py.detach(|| ManagedAllocation::new(nbytes, flags)).or_raise()?)
    }
}

resource_methods! {
    PyManagedAllocation, free = free, is_freed = |memory| memory.allocation().is_freed(), release = |memory| memory.free();

    /// The address, which is the same on host and device.
    fn get_device_pointer(slf: Ready<'_, Self>) -> PyResult<u64> {
        slf.ptr()
    }

    /// Size in bytes.
    #[getter]
    fn nbytes(slf: Ready<'_, Self>) -> usize {
        slf.0.allocation().nbytes()
    }

    /// An array over this memory, which it keeps alive.
    fn _as_array<'py>(
        slf: Bound<'py, Self>,
        dtype: &Bound<'py, PyArrayDescr>,
        shape: Vec<usize>,
        fortran: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        filled_object(&slf)?.ptr()?;
        let memory = &slf.get().0;
        let (data, room) = (memory.as_ptr(), memory.allocation().nbytes());
        checked_numpy_array(slf.into_any(), data, room, dtype, &shape, fortran)
    }

    /// A writable view of `size` bytes at `offset`; raises `LogicError` if the memory is too short.
    #[pyo3(signature = (size, offset = 0))]
    fn as_buffer<'py>(slf: Ready<'_, Self>, py: Python<'py>, #[pyo3(from_py_with = int)] size: usize, #[pyo3(from_py_with = int)] offset: usize) -> PyResult<Bound<'py, PyAny>> {
        allocation_memoryview(py, slf.ptr()?, Self::nbytes(slf), size, offset)
    }

    /// Set who may access the memory after the present work of `stream`: `mem_flags` is of `mem_attach_flags`.
    #[pyo3(signature = (mem_flags, stream = None))]
    fn attach(slf: Ready<'_, Self>, #[pyo3(from_py_with = int)] mem_flags: u32, stream: Option<&Bound<'_, PyStream>>) -> PyResult<()> {
        slf.ptr()?;
        slf.0.attach(mem_flags, as_driver_stream(stream)?).or_raise()
    }

    /// Give advice on how all of the memory will be used; see `rtcg.driver.mem_advise`.
    #[pyo3(signature = (advice, device = None))]
    fn advise(slf: Ready<'_, Self>, #[pyo3(from_py_with = int)] advice: u32, device: Option<&Bound<'_, PyDevice>>) -> PyResult<()> {
        memory::mem_advise(slf.ptr()?, Self::nbytes(slf), sys::CUmem_advise(advice), as_driver_device(device)?).or_raise()
    }

    /// Migrate all of the memory to a device (None: to the host) in stream order.
    #[pyo3(signature = (device = None, stream = None))]
    fn prefetch(slf: Ready<'_, Self>, device: Option<&Bound<'_, PyDevice>>, stream: Option<&Bound<'_, PyStream>>) -> PyResult<()> {
        memory::mem_prefetch_async(slf.ptr()?, Self::nbytes(slf), as_driver_device(device)?, as_driver_stream(stream)?).or_raise()
    }

    fn __int__(slf: Ready<'_, Self>) -> PyResult<u64> {
        slf.ptr()
    }

    fn __index__(slf: Ready<'_, Self>) -> PyResult<u64> {
        slf.ptr()
    }
}

/// The device that an optional argument names.
fn as_driver_device<'a>(device: Option<&'a Bound<'_, PyDevice>>) -> PyResult<Option<&'a Device>> {
    Ok(device.map(filled_object).transpose()?.map(|device| &*device.0))
}

/// The device that an optional argument names, else that of the current context.
pub(crate) fn device_or_current(device: Option<&Bound<'_, PyDevice>>) -> PyResult<Device> {
    match device {
        Some(device) => Ok(*filled_object(device)?.0),
        None => rtcg::driver::Context::current_device().or_raise(),
    }
}

/// Memory of another process.
#[pyclass(name = "IPCMemoryHandle", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyIpcMemory(pub(crate) DropDetached<IpcMemory>);

impl_from_core!(PyIpcMemory over IpcMemory);
impl_new_for_init!(PyIpcMemory, "(devhandle, flags=1)");

impl PyIpcMemory {
    pub(crate) fn ptr(&self) -> PyResult<u64> {
        match self.0.allocation().is_freed() {
            true => Err(LogicError::new_err("memory of another process used after close()")),
            false => Ok(self.0.ptr()),
        }
    }
}

#[pymethods]
impl PyIpcMemory {
    #[pyo3(signature = (devhandle, flags = 1))]
    fn __init__(&self, devhandle: &Bound<'_, PyAny>, #[pyo3(from_py_with = int)] flags: u32) -> PyResult<()> {
        self.0.init_value(IpcMemory::open_ipc_handle(ipc_handle_bytes(devhandle)?, flags).or_raise()?)
    }

    /// Unmap the memory now. Raises `LogicError` if called twice.
    fn close(slf: Ready<'_, Self>, py: Python<'_>) -> PyResult<()> {
        py.detach(|| slf.0.close()).or_raise()
    }

    /// Size in bytes of the allocation in the other process.
    #[getter]
    fn nbytes(slf: Ready<'_, Self>) -> usize {
        slf.0.allocation().nbytes()
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(slf: Ready<'_, Self>, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        if slf.0.allocation().is_freed() { Ok(()) } else { Self::close(slf, py) }
    }

    fn __int__(slf: Ready<'_, Self>) -> PyResult<u64> {
        slf.ptr()
    }

    fn __index__(slf: Ready<'_, Self>) -> PyResult<u64> {
        slf.ptr()
    }
}

/// A memoryview over addresses. The caller guarantees that the host can access them.
#[pyfunction]
#[pyo3(signature = (address, size, offset = 0))]
fn memoryview_at_address(
    py: Python<'_>,
    #[pyo3(from_py_with = int)] address: u64,
    #[pyo3(from_py_with = int)] size: usize,
    #[pyo3(from_py_with = int)] offset: usize,
) -> PyResult<Bound<'_, PyAny>> {
    const PYBUF_WRITE: std::ffi::c_int = 0x200;
    let size = isize::try_from(size).map_err(|_| PyOverflowError::new_err("size is too large"))?;
    let start = std::ptr::with_exposed_provenance_mut((address as usize).wrapping_add(offset));
    // SAFETY: only makes a view object; what may be done with it is said above.
    unsafe { Bound::from_owned_ptr_or_err(py, pyo3::ffi::PyMemoryView_FromMemory(start, size, PYBUF_WRITE)) }
}

/// (free, total) bytes of the current context's device.
///
/// Unused memory in pools of this process counts as free, because an allocation that does not fit otherwise takes
/// it.
#[pyfunction]
fn mem_get_info() -> PyResult<(usize, usize)> {
    memory::mem_get_info().or_raise()
}

/// Allocate `bytes` bytes of device memory in the current context.
///
/// If the device is out of memory, the call collects garbage, makes pools release their unused memory and tries the
/// allocation once more.
///
/// Raises
/// ------
/// MemoryError
///     If the device does not have enough memory (`rtcg.driver.MemoryError`).
/// LogicError
///     If `bytes` is 0 or there is no current context.
#[pyfunction]
fn mem_alloc(py: Python<'_>, #[pyo3(from_py_with = int)] bytes: usize) -> PyResult<PyDeviceAllocation> {
    let memory = py.detach(|| memory::mem_alloc(bytes)).or_raise()?;
    Ok(PyDeviceAllocation(Arc::new(memory)))
}

/// Allocate `size` bytes of device memory in stream order.
///
/// Work in `stream` may use the memory, as may other work that waits for it. The memory is freed in the order of
/// the same stream, or of the one passed to `free_async`.
///
/// Parameters
/// ----------
/// size : int
///     Bytes.
/// stream : Stream, optional
///     Default: the default stream of the current context.
/// pool : MemoryPool, optional
///     Default: the device's current pool.
#[pyfunction]
#[pyo3(signature = (size, stream = None, pool = None))]
fn mem_alloc_async(
    py: Python<'_>,
    #[pyo3(from_py_with = int)] size: usize,
    stream: Option<&Bound<'_, PyStream>>,
    pool: Option<&Bound<'_, PyMemoryPool>>,
) -> PyResult<PyDeviceAllocation> {
    let (stream, pool) = (as_driver_stream(stream)?, pool.map(filled_object).transpose()?.map(|pool| &pool.0));
    let memory = py.detach(|| match pool {
        Some(pool) => pool.allocate(size, stream),
        None => DeviceAllocation::new_async(size, stream),
    });
    Ok(PyDeviceAllocation(Arc::new(memory.or_raise()?)))
}

/// Allocate `height` rows of `width` bytes, aligned for accesses of 4, 8 or 16 bytes: a tuple ``(memory,
/// pitch)``.
///
/// `pitch` is the distance between rows in bytes. Raises `rtcg.driver.MemoryError` if the device does not have
/// enough memory.
#[pyfunction]
fn mem_alloc_pitch(
    py: Python<'_>,
    #[pyo3(from_py_with = int)] width: usize,
    #[pyo3(from_py_with = int)] height: usize,
    #[pyo3(from_py_with = int)] access_size: u32,
) -> PyResult<(PyDeviceAllocation, usize)> {
    let (memory, pitch) = py.detach(|| memory::mem_alloc_pitch(width, height, access_size)).or_raise()?;
    Ok((PyDeviceAllocation(Arc::new(memory)), pitch))
}

/// The start and the size in bytes of the allocation that holds the address `ptr`: a tuple ``(base, size)`` of
/// int.
///
/// Raises `LogicError` if no allocation of the current context holds the address. Does not wait.
#[pyfunction]
fn mem_get_address_range(ptr: DevicePtr) -> PyResult<(u64, usize)> {
    memory::mem_get_address_range(ptr.0).or_raise()
}

/// The interprocess handle of an allocation, 64 bytes, for `IPCMemoryHandle` in other processes.
///
/// The memory must stay allocated while others use it. Raises `LogicError` for memory that does not come from
/// `mem_alloc`.
#[pyfunction]
fn mem_get_ipc_handle(py: Python<'_>, devptr: DevicePtr) -> PyResult<Bound<'_, PyByteArray>> {
    Ok(PyByteArray::new(py, &memory::mem_get_ipc_handle(devptr.0).or_raise()?))
}

/// An attribute of an address, as the driver knows it.
///
/// Parameters
/// ----------
/// attribute : pointer_attribute
/// devptr : device pointer
///     Also an address in page-locked, registered or managed memory.
///
/// Returns
/// -------
/// int, bool or memory_type
#[pyfunction]
fn pointer_get_attribute<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = int)] attribute: u32,
    devptr: DevicePtr,
) -> PyResult<Bound<'py, PyAny>> {
    use sys::CUpointer_attribute as A;
    let attribute = A(attribute);
    let value = memory::pointer_attribute_u64(attribute, devptr.0).or_raise()?;
    Ok(match attribute {
        A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE => enum_member(py, "memory_type", value as u32)?,
        A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => (value as u32 as i32).into_pyobject(py)?.into_any(),
        A::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
        | A::CU_POINTER_ATTRIBUTE_IS_MANAGED
        | A::CU_POINTER_ATTRIBUTE_MAPPED
        | A::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
        | A::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
        | A::CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE => PyBool::new(py, value as u32 != 0).to_owned().into_any(),
        _ => value.into_pyobject(py)?.into_any(),
    })
}

/// Give advice on how a range of managed memory will be used, by `mem_advice`. Results do not depend on advice.
///
/// Parameters
/// ----------
/// devptr : device pointer
/// size : int
///     Bytes.
/// advice : mem_advice
/// device : Device, optional
///     The device that the advice refers to; None is the host.
#[pyfunction]
#[pyo3(signature = (devptr, size, advice, device = None))]
fn mem_advise(
    devptr: DevicePtr,
    #[pyo3(from_py_with = int)] size: usize,
    #[pyo3(from_py_with = int)] advice: u32,
    device: Option<&Bound<'_, PyDevice>>,
) -> PyResult<()> {
    devptr.check_argument_bytes("cuMemAdvise", "devptr: ", size)?;
    memory::mem_advise(devptr.0, size, sys::CUmem_advise(advice), as_driver_device(device)?).or_raise()
}

/// Migrate a range of managed memory to a device (None: to the host) in stream order; returns None and does not
/// wait.
#[pyfunction]
#[pyo3(signature = (devptr, size, device = None, stream = None))]
fn mem_prefetch_async(
    devptr: DevicePtr,
    #[pyo3(from_py_with = int)] size: usize,
    device: Option<&Bound<'_, PyDevice>>,
    stream: Option<&Bound<'_, PyStream>>,
) -> PyResult<()> {
    devptr.check_argument_bytes("cuMemPrefetchAsync", "devptr: ", size)?;
    memory::mem_prefetch_async(devptr.0, size, as_driver_device(device)?, as_driver_stream(stream)?).or_raise()
}

/// Return the advice given about a range of managed memory, by `mem_range_attribute`.
///
/// For devices, -1 is the host, and -2 means none or different ones.
#[pyfunction]
fn mem_range_get_attribute(
    #[pyo3(from_py_with = int)] attribute: u32,
    devptr: DevicePtr,
    #[pyo3(from_py_with = int)] size: usize,
) -> PyResult<i32> {
    devptr.check_argument_bytes("cuMemRangeGetAttribute", "devptr: ", size)?;
    memory::mem_range_attribute(sys::CUmem_range_attribute(attribute), devptr.0, size).or_raise()
}

/// Collects Python's garbage when memory is short. Without an interpreter (at its end) there is none.
fn collect_garbage() {
    let _ = Python::try_attach(|py| {
        let collected = py.import("gc").and_then(|gc| gc.call_method0("collect"));
        if let Err(error) = collected {
            error.write_unraisable(py, None);
        }
    });
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    memory::set_reclaim_hook(collect_garbage);
    add_contents! { m,
        classes PyDeviceAllocation, PyManagedAllocation, PyIpcMemory;
        functions memoryview_at_address, mem_get_info, mem_alloc, mem_alloc_async, mem_alloc_pitch,
            mem_get_address_range, mem_get_ipc_handle, pointer_get_attribute, mem_advise, mem_prefetch_async,
            mem_range_get_attribute;
    }?;
    host_memory::add_to_module(m)?;
    memory_pool::add_to_module(m)?;
    pool::add_to_module(m)?;
    virtual_memory::add_to_module(m)?;
    copy::add_to_module(m)?;
    structured_copy::add_to_module(m)
}
