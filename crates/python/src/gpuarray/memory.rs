//! Device memory that Python objects own: of allocators, and of other libraries.

use super::PyGpuArray;
use crate::driver::memory::PyDeviceAllocation;
use crate::driver::memory::device_pointer::DevicePtr;
use crate::driver::memory::pool::PyPooledDeviceAllocation;
use crate::errors::LogicError;
use crate::owner::Owner;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::array::{ArrayBuffer, ArrayContext, ArrayError, DType, GpuArray, Layout, PythonTuple};
use rtcg::driver::memory::{DeviceAllocation, mem_get_address_range};
use rtcg::driver::{is_any_capturing, retain_in_capture};
use rtcg::{Allocator, DeviceBuffer};
use std::any::Any;
use std::sync::Arc;

/// Device memory that a Python object owns.
pub(crate) struct ForeignBuffer {
    ptr: u64,
    pub(crate) owner: Owner,
    memory: MemoryOwner,
}

/// What is known of the memory, so that it can be told when it was freed and which stream uses it.
enum MemoryOwner {
    Pooled(Arc<DeviceBuffer>),
    Plain(Arc<DeviceAllocation>),
    Unknown,
}

impl ForeignBuffer {
    /// The memory at `ptr`, which lives as long as `owner`.
    pub(crate) fn from_address(ptr: u64, owner: Bound<'_, PyAny>) -> Arc<dyn ArrayBuffer> {
        let memory = if let Ok(pooled) = owner.cast::<PyPooledDeviceAllocation>() {
            MemoryOwner::Pooled(pooled.get().0.clone())
        } else if let Ok(plain) = owner.cast::<PyDeviceAllocation>() {
            MemoryOwner::Plain(plain.get().0.clone())
        } else {
            MemoryOwner::Unknown
        };
        Arc::new(Self { ptr, owner: Owner::new(owner), memory })
    }
}

impl ForeignBuffer {
    /// The pool's block, if it is one.
    pub(super) fn pooled(&self) -> Option<&Arc<DeviceBuffer>> {
        if let MemoryOwner::Pooled(memory) = &self.memory { Some(memory) } else { None }
    }
}

impl ArrayBuffer for ForeignBuffer {
    fn device_ptr(&self) -> u64 {
        self.ptr
    }

    fn record_use(&self) {
        if is_any_capturing() {
            let held = || Arc::new(Python::attach(|py| self.owner.clone_ref(py)));
            retain_in_capture(rtcg::current_stream().as_ref(), held);
        }
        if let MemoryOwner::Pooled(memory) = &self.memory {
            memory.record_use();
        }
    }

    fn wait_for_uses(&self) -> rtcg::array::Result<()> {
        match &self.memory {
            MemoryOwner::Pooled(memory) => memory.wait_for_uses(),
            _ => Ok(()),
        }
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn ensure_computed(&self) -> rtcg::array::Result<()> {
        let is_freed = match &self.memory {
            MemoryOwner::Pooled(memory) => return memory.ensure_computed(),
            MemoryOwner::Plain(memory) => memory.is_freed(),
            MemoryOwner::Unknown => false,
        };
        let freed =
            || ArrayError::runtime_error(LogicError::new_err("the memory of the array was freed (gpudata.free())"));
        if is_freed { Err(freed()) } else { Ok(()) }
    }
}

/// The bytes of a buffer's memory, counted from the buffer's address, where they are known: of addresses that came
/// without an owner, and of memory of other libraries, the driver knows the allocation.
fn memory_range(buffer: &Arc<dyn ArrayBuffer>, wanted: (isize, isize)) -> Option<(isize, isize)> {
    let any = match buffer.clone().as_any().downcast::<DeviceBuffer>() {
        Ok(own) => return Some((0, own.nbytes() as isize)),
        Err(other) => other,
    };
    let foreign = any.downcast::<ForeignBuffer>().ok()?;
    match &foreign.memory {
        MemoryOwner::Pooled(memory) => Some((0, memory.nbytes() as isize)),
        MemoryOwner::Plain(memory) => Some((0, memory.nbytes() as isize)),
        MemoryOwner::Unknown => allocation_range(foreign.ptr, wanted),
    }
}

/// The bytes of the allocation that holds `ptr`, counted from there. Mappings of virtual memory that follow each other
/// are one range as far as it is `wanted`.
fn allocation_range(ptr: u64, wanted: (isize, isize)) -> Option<(isize, isize)> {
    const MAPPING_GRANULARITY: usize = 2 << 20;
    let range_at = |offset: isize| {
        let (base, nbytes) = mem_get_address_range(ptr.wrapping_add_signed(offset as i64)).ok()?;
        let low = base.wrapping_sub(ptr) as i64 as isize;
        Some((low, low.saturating_add(nbytes as isize)))
    };
    let is_mapping = |range: &(isize, isize)| ((range.1 - range.0) as usize).is_multiple_of(MAPPING_GRANULARITY);
    let mut whole = range_at(0)?;
    while is_mapping(&whole) && wanted.1 > whole.1 {
        let Some(next) = range_at(whole.1).filter(|next| next.0 == whole.1 && is_mapping(next)) else { break };
        whole.1 = next.1;
    }
    while is_mapping(&whole) && wanted.0 < whole.0 {
        let Some(next) = range_at(whole.0 - 1).filter(|next| next.1 == whole.0 && is_mapping(next)) else { break };
        whole.0 = next.0;
    }
    Some(whole)
}

/// An array over memory that a caller describes.
///
/// # Errors
/// `ValueError` when elements lie outside of the memory, as far as that is known.
pub(super) fn array_inside_memory(
    name: &str,
    ctx: &Arc<ArrayContext>,
    buffer: Option<Arc<dyn ArrayBuffer>>,
    layout: Layout,
    dtype: DType,
) -> PyResult<GpuArray> {
    let wanted = layout.byte_extent(dtype.itemsize());
    if let Some(buffer) = buffer.as_ref().filter(|_| layout.size() > 0)
        && let Some((low, high)) = memory_range(buffer, wanted)
        && (wanted.0 < low || wanted.1 > high)
    {
        return Err(PyValueError::new_err(format!(
            "{name}: an array of shape {}, strides {} and dtype {dtype} takes the bytes {} to {} from the start of its \
             memory, which has the bytes {low} to {high}; expected a layout that does not reach outside of it",
            PythonTuple(&layout.shape),
            PythonTuple(&layout.strides),
            wanted.0,
            wanted.1
        )));
    }
    Ok(GpuArray::from_buffer(ctx, buffer, layout, dtype))
}

/// A Python callable that takes a number of bytes and returns memory, as the core calls it.
fn allocator_from_callable(py: Python<'_>, allocator: &Py<PyAny>) -> Allocator {
    let allocator = allocator.clone_ref(py);
    Arc::new(move |nbytes| {
        Python::attach(|py| {
            let memory = allocator.bind(py).call1((nbytes,))?;
            let ptr = memory.extract::<DevicePtr>()?.0;
            Ok(ForeignBuffer::from_address(ptr, memory))
        })
        .map_err(|error: PyErr| ArrayError::runtime_error(error))
    })
}

/// The result of `function`, called with `allocator` as the source of memory for new arrays; None is the default
/// one.
#[pyfunction]
#[pyo3(signature = (allocator, function, *args))]
pub(super) fn call_with_allocator<'py>(
    allocator: Option<Py<PyAny>>,
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    PyGpuArray::with_optional_allocator(function.py(), allocator.as_ref(), || function.call1(args))
}

impl PyGpuArray {
    /// Runs `body` with memory of new arrays from the allocator of `slf`, unless the caller of a whole
    /// function named another one.
    pub(crate) fn with_allocator_of<T>(slf: &Bound<'_, Self>, body: impl FnOnce() -> T) -> T {
        let contents = slf.get().current_state();
        let allocator = contents.allocator.as_ref().filter(|_| !rtcg::has_allocator());
        Self::with_optional_allocator(slf.py(), allocator, body)
    }

    /// Runs `body` with memory of new arrays from `allocator`; without one from the pool.
    pub(crate) fn with_optional_allocator<T>(
        py: Python<'_>,
        allocator: Option<&Py<PyAny>>,
        body: impl FnOnce() -> T,
    ) -> T {
        match allocator {
            None => body(),
            Some(allocator) => rtcg::with_allocator(allocator_from_callable(py, allocator), body),
        }
    }

    /// What `body` computes for each element of `slf`, in memory from its allocator.
    pub(crate) fn compute_elementwise<'py>(
        slf: &Bound<'py, Self>,
        body: impl FnOnce() -> rtcg::array::Result<GpuArray>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let made = super::to_py_result(slf.py(), Self::with_allocator_of(slf, body))?;
        Self::elementwise_result(slf, made)
    }

    /// What `body` makes in memory from the allocator of `slf`, as an array beside `slf`.
    pub(crate) fn make_like<'py>(
        slf: &Bound<'py, Self>,
        body: impl FnOnce() -> rtcg::array::Result<GpuArray>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let made = super::to_py_result(slf.py(), Self::with_allocator_of(slf, body))?;
        Self::new_like(slf, made)
    }
}
