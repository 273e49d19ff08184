//! `rtcg.tools`' memory pools.

use crate::driver::memory::host_memory::{HostArrayGeometry, checked_numpy_array};
use crate::driver::memory::{allocation_memoryview, use_after_free_error};
use crate::driver::stream::{PyStream, as_driver_stream};
use crate::errors::OrRaise;
use crate::integer::int;
use crate::resource_lifetime::{
    DropDetached, FilledByInit, LateInit, Ready, filled_object, free_with_gil_released, impl_from_core,
    impl_new_for_init, resource_methods,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rtcg::DeviceBuffer;
use rtcg::driver::pool::{
    DeviceMemoryPool, PageLockedAllocator, PageLockedMemoryPool, PoolStatistics, PooledHostAllocation,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether there ever was a pool of device memory.
static POOL_IN_USE: AtomicBool = AtomicBool::new(false);

/// False while no argument of a kernel can be memory of a pool.
pub(crate) fn is_pool_in_use() -> bool {
    POOL_IN_USE.load(Ordering::Relaxed)
}

/// Says that memory of a pool can be an argument of a kernel from now on.
pub(crate) fn mark_pool_in_use() {
    POOL_IN_USE.store(true, Ordering::Relaxed);
}

/// Device memory of a pool, returned to it with the last reference, by `free` or at the end of a ``with`` block.
#[pyclass(name = "PooledDeviceAllocation", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyPooledDeviceAllocation(pub(crate) Arc<DeviceBuffer>);

impl Drop for PyPooledDeviceAllocation {
    fn drop(&mut self) {
        if !self.0.is_freed() && self.0.free_may_wait() && Arc::strong_count(&self.0) == 1 {
            // A second `free`, by another thread, is an error that nobody needs.
            free_with_gil_released(|| drop(self.0.free()));
        }
    }
}

impl PyPooledDeviceAllocation {
    pub(crate) fn ptr(&self) -> PyResult<u64> {
        if self.0.is_freed() {
            return Err(use_after_free_error("pooled device allocation", self.0.nbytes(), self.0.ptr()));
        }
        Ok(self.0.ptr())
    }
}

impl FilledByInit for PyPooledDeviceAllocation {}

resource_methods! {
    PyPooledDeviceAllocation, free = free, is_freed = |memory| memory.is_freed(), release = |memory| memory.free();

    /// Size in bytes, as requested.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.nbytes()
    }

    /// Declare that work in another stream (None: the default stream) also uses this memory. Launches and copies of
    /// this package do so automatically.
    #[pyo3(signature = (stream = None))]
    fn used_in(&self, stream: Option<&Bound<'_, PyStream>>) -> PyResult<()> {
        self.0.used_in(as_driver_stream(stream)?);
        Ok(())
    }

    /// A writable view of `size` bytes at `offset`; only for memory that the host can access.
    #[pyo3(signature = (size, offset = 0))]
    fn as_buffer<'py>(&self, py: Python<'py>, #[pyo3(from_py_with = int)] size: usize, #[pyo3(from_py_with = int)] offset: usize) -> PyResult<Bound<'py, PyAny>> {
        allocation_memoryview(py, self.ptr()?, self.0.nbytes(), size, offset)
    }

    fn __repr__(&self) -> String {
        let freed = if self.0.is_freed() { ", freed" } else { "" };
        format!("<rtcg.tools.PooledDeviceAllocation {:#x}, {} bytes{freed}>", self.0.ptr(), self.0.nbytes())
    }

    fn __len__(&self) -> usize {
        self.0.nbytes()
    }

    fn __int__(&self) -> PyResult<u64> {
        self.ptr()
    }

    fn __index__(&self) -> PyResult<u64> {
        self.ptr()
    }
}

/// Page-locked memory of a pool; the base of the pool's arrays.
#[pyclass(name = "PooledHostAllocation", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyPooledHostAllocation(PooledHostAllocation);

impl Drop for PyPooledHostAllocation {
    fn drop(&mut self) {
        if !self.0.is_freed() && self.0.free_may_wait() {
            // As above.
            free_with_gil_released(|| drop(self.0.free()));
        }
    }
}

impl FilledByInit for PyPooledHostAllocation {}

resource_methods! {
    PyPooledHostAllocation, free = free, is_freed = |memory| memory.is_freed(), release = |memory| memory.free();

    /// Size in bytes, as requested.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.nbytes()
    }

    fn __len__(&self) -> usize {
        self.0.nbytes()
    }
}

/// A pool's numbers by name.
fn statistics_dict<'py>(py: Python<'py>, all: &PoolStatistics) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let sizes = [
        ("held_blocks", all.held_blocks),
        ("active_blocks", all.active_blocks),
        ("managed_bytes", all.managed_bytes),
        ("active_bytes", all.active_bytes),
        ("peak_managed_bytes", all.peak_managed_bytes),
        ("peak_active_bytes", all.peak_active_bytes),
    ];
    let counts = [
        ("allocations", all.n_allocations),
        ("reused", all.n_reused),
        ("taken_from_driver", all.n_taken),
        ("returned_to_driver", all.n_returned),
    ];
    sizes.into_iter().try_for_each(|(name, value)| dict.set_item(name, value))?;
    counts.into_iter().try_for_each(|(name, value)| dict.set_item(name, value))?;
    Ok(dict)
}

/// The methods that both kinds of pools have.
macro_rules! pool_methods {
    ($class:ident over $pool:ident; $($body:tt)*) => {
        #[pymethods]
        impl $class {
            $($body)*

            /// Number of unused blocks.
            #[getter]
            fn held_blocks(slf: Ready<'_, Self>) -> usize {
                slf.0.statistics().held_blocks
            }

            /// Number of blocks in use.
            #[getter]
            fn active_blocks(slf: Ready<'_, Self>) -> usize {
                slf.0.statistics().active_blocks
            }

            /// Bytes that the pool has obtained from the driver.
            #[getter]
            fn managed_bytes(slf: Ready<'_, Self>) -> usize {
                slf.0.statistics().managed_bytes
            }

            /// Bytes requested in the blocks in use.
            #[getter]
            fn active_bytes(slf: Ready<'_, Self>) -> usize {
                slf.0.statistics().active_bytes
            }

            /// All statistics of the pool, with peaks and counts, as a dict.
            fn statistics<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                statistics_dict(py, &slf.0.statistics())
            }

            /// The bin for a size in bytes; sizes in the same bin share blocks.
            #[staticmethod]
            fn bin_number(#[pyo3(from_py_with = int)] size: usize) -> usize {
                $pool::bin_number(size)
            }

            /// The size in bytes of the blocks of a bin.
            #[staticmethod]
            fn alloc_size(#[pyo3(from_py_with = int)] bin: usize) -> PyResult<usize> {
                $pool::alloc_size(bin).or_raise()
            }

            /// Return all unused blocks to the driver.
            fn free_held(slf: Ready<'_, Self>, py: Python<'_>) {
                py.detach(|| slf.0.free_held());
            }

            /// Return all unused blocks to the driver, now and whenever blocks are freed.
            fn stop_holding(slf: Ready<'_, Self>, py: Python<'_>) {
                py.detach(|| slf.0.stop_holding());
            }

            /// Stop holding memory.
            fn close(slf: Ready<'_, Self>, py: Python<'_>) {
                Self::stop_holding(slf, py);
            }

            fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
                slf
            }

            #[pyo3(signature = (*_exception))]
            fn __exit__(slf: Ready<'_, Self>, py: Python<'_>, _exception: &Bound<'_, pyo3::types::PyTuple>) {
                Self::stop_holding(slf, py);
            }
        }
    };
}

/// A pool that keeps freed device memory for later allocations of about the same size.
///
/// Memory that a stream has returned is available to the same stream at once, and to another one when the first has
/// completed its work. May be used from any thread and outlive its contexts.
#[pyclass(name = "DeviceMemoryPool", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyDeviceMemoryPool(DropDetached<DeviceMemoryPool>);

impl_from_core!(PyDeviceMemoryPool over DeviceMemoryPool);
impl_new_for_init!(PyDeviceMemoryPool, "()");

#[pymethods]
impl PyDeviceMemoryPool {
    #[pyo3(signature = (*, _labelled = false))]
    fn __init__(&self, _labelled: bool) -> PyResult<()> {
        POOL_IN_USE.store(true, Ordering::Relaxed);
        self.0.init_value(if _labelled { DeviceMemoryPool::new_labelled() } else { DeviceMemoryPool::new() })
    }
}

pool_methods! {
    PyDeviceMemoryPool over DeviceMemoryPool;

    /// Allocate `size` bytes for work in `stream`, by default the default stream.
    ///
    /// Raises
    /// ------
    /// MemoryError
    ///     If the device does not have enough memory even after garbage collection and after returning unused blocks to
    ///     the driver, largest first.
    #[pyo3(signature = (size, stream = None))]
    fn allocate(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        size: usize,
        stream: Option<&Bound<'_, PyStream>>,
    ) -> PyResult<PyPooledDeviceAllocation> {
        let stream = as_driver_stream(stream)?;
        if let Some(memory) = slf.0.allocate_if_held(size, stream) {
            return Ok(PyPooledDeviceAllocation(Arc::new(memory.into())));
        }
        let memory = py.detach(|| slf.0.allocate(size, stream)).or_raise()?;
        Ok(PyPooledDeviceAllocation(Arc::new(memory.into())))
    }

    /// `allocate` with a label that says what the memory is for; also returns whether memory was taken from the
    /// driver.
    #[pyo3(signature = (size, stream, label))]
    fn _allocate_labelled(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        size: usize,
        stream: Option<&Bound<'_, PyStream>>,
        label: &str,
    ) -> PyResult<(PyPooledDeviceAllocation, bool)> {
        let stream = as_driver_stream(stream)?;
        let (memory, was_taken) = py.detach(|| slf.0.allocate_labelled(size, stream, label)).or_raise()?;
        Ok((PyPooledDeviceAllocation(Arc::new(memory.into())), was_taken))
    }

    /// The labelled blocks in use: (size, label, count), largest first.
    fn _labelled_block_counts(slf: Ready<'_, Self>) -> Vec<(usize, String, usize)> {
        slf.0.histogram().into_iter().map(|block| (block.nbytes, block.label.to_string(), block.count)).collect()
    }

    fn _allocation_report(slf: Ready<'_, Self>, size: usize, label: &str) -> String {
        slf.0.allocation_report(size, label)
    }
}

/// The allocator of a `PageLockedMemoryPool`: `flags` are from `host_alloc_flags`.
#[pyclass(name = "PageLockedAllocator", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyPageLockedAllocator(LateInit<PageLockedAllocator>);

impl_new_for_init!(PyPageLockedAllocator, "(flags=0)");

#[pymethods]
impl PyPageLockedAllocator {
    #[pyo3(signature = (flags = 0))]
    fn __init__(&self, #[pyo3(from_py_with = int)] flags: u32) -> PyResult<()> {
        self.0.init_value(PageLockedAllocator { flags: flags.into() })
    }

    /// The `host_alloc_flags` of its allocations.
    #[getter]
    fn flags(slf: Ready<'_, Self>) -> u32 {
        slf.0.flags.0
    }
}

/// A pool that keeps freed page-locked memory for later arrays of about the same size.
#[pyclass(name = "PageLockedMemoryPool", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyPageLockedMemoryPool(DropDetached<PageLockedMemoryPool>);

impl_from_core!(PyPageLockedMemoryPool over PageLockedMemoryPool);
impl_new_for_init!(PyPageLockedMemoryPool, "(allocator=None)");

#[pymethods]
impl PyPageLockedMemoryPool {
    #[pyo3(signature = (allocator = None))]
    fn __init__(&self, allocator: Option<&Bound<'_, PyPageLockedAllocator>>) -> PyResult<()> {
        let allocator =
            allocator.map(filled_object).transpose()?.map_or_else(Default::default, |allocator| *allocator.0);
        self.0.init_value(PageLockedMemoryPool::new(allocator))
    }
}

pool_methods! {
    PyPageLockedMemoryPool over PageLockedMemoryPool;

    /// A page-locked array with undefined contents; ``.base`` is its `PooledHostAllocation`.
    #[pyo3(signature = (shape, dtype, order = "C"))]
    fn allocate<'py>(
        slf: Ready<'_, Self>,
        py: Python<'py>,
        shape: &Bound<'py, PyAny>,
        dtype: &Bound<'py, PyAny>,
        order: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let HostArrayGeometry { shape, dtype, fortran, nbytes } = HostArrayGeometry::from_shape_and_dtype(shape, dtype, order)?;
        let memory = match slf.0.allocate_if_held(nbytes, None) {
            Some(memory) => memory,
            None => py.detach(|| slf.0.allocate(nbytes, None)).or_raise()?,
        };
        let (data, room) = (memory.as_ptr(), memory.nbytes());
        let owner = Bound::new(py, PyPooledHostAllocation(memory))?.into_any();
        checked_numpy_array(owner, data, room, &dtype, &shape, fortran)
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m,
        classes PyPooledDeviceAllocation, PyPooledHostAllocation, PyDeviceMemoryPool, PyPageLockedAllocator,
            PyPageLockedMemoryPool;
    }
}
