//! Device memory that Python objects own: of allocators, and of other libraries.

use super::PyGpuArray;
use crate::driver::device_pointer::DevicePtr;
use crate::driver::memory::PyDeviceAllocation;
use crate::driver::pool::PyPooledDeviceAllocation;
use crate::errors::LogicError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::array::{ArrayBuffer, ArrayError, GpuArray};
use rtcg::driver::memory::DeviceAllocation;
use rtcg::driver::{is_any_capturing, retain_in_capture};
use rtcg::{Allocator, DeviceBuffer};
use std::any::Any;
use std::sync::Arc;

/// Device memory that a Python object owns.
pub(crate) struct ForeignBuffer {
    ptr: u64,
    pub(crate) owner: Py<PyAny>,
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
        Arc::new(Self { ptr, owner: owner.unbind(), memory })
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

/// The bytes of an array's memory, where that is known.
pub(super) fn buffer_capacity_bytes(array: &GpuArray) -> Option<usize> {
    let any = match array.buffer()?.clone().as_any().downcast::<DeviceBuffer>() {
        Ok(own) => return Some(own.nbytes()),
        Err(other) => other,
    };
    match &any.downcast::<ForeignBuffer>().ok()?.memory {
        MemoryOwner::Pooled(memory) => Some(memory.nbytes()),
        MemoryOwner::Plain(memory) => Some(memory.nbytes()),
        MemoryOwner::Unknown => None,
    }
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

/// What `function` returns when new arrays get their memory from `allocator`; None is the usual one.
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

    /// What `body` makes in memory from the allocator of `slf`, as an array beside `slf`.
    pub(crate) fn make_like<'py>(
        slf: &Bound<'py, Self>,
        body: impl FnOnce() -> rtcg::array::Result<GpuArray>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let made = super::to_py_result(slf.py(), Self::with_allocator_of(slf, body))?;
        Self::new_like(slf, made)
    }
}
