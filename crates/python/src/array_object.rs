//! The object of an array, as far as the driver's functions know it: what it holds, its address, its uses.
//!
//! Establishes: what a reference to the contents shows does not change as long as the reference is held. The first
//! contents stay for the life of the object; those that attributes put in their place are counted by their users. So
//! arrays whose attributes nobody sets, which are nearly all, cost their users no count.

use crate::owner::Owner;
use crate::resource_lifetime::{FilledByInit, LateInit};
use crate::uninitialised_array::uninitialised_array;
use numpy::PyArrayDescr;
use pyo3::prelude::*;
use rtcg::array::{DType, GpuArray};
use rtcg::driver::lock_ignoring_poison;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// What an array object holds.
pub(crate) struct ArrayState {
    pub(crate) array: GpuArray,
    /// NumPy's dtype of records; the core knows only their size.
    pub(crate) record: Option<Py<PyArrayDescr>>,
    pub(crate) base: Option<Owner>,
    pub(crate) allocator: Option<Py<PyAny>>,
    /// Numbers that a program has set. The array itself goes by its shape.
    pub(crate) sizes: Option<Box<AssignedSizes>>,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct AssignedSizes {
    pub(crate) size: Option<usize>,
    pub(crate) mem_size: Option<usize>,
    pub(crate) nbytes: Option<usize>,
}

impl ArrayState {
    pub(crate) fn from_array(array: GpuArray) -> Self {
        Self { array, record: None, base: None, allocator: None, sizes: None }
    }

    /// The record for an array of the same elements.
    pub(crate) fn record_descr_for(&self, py: Python<'_>, dtype: DType) -> Option<Py<PyArrayDescr>> {
        self.record.as_ref().filter(|_| dtype == self.array.dtype()).map(|record| record.clone_ref(py))
    }

    pub(crate) fn clone_allocator(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.allocator.as_ref().map(|allocator| allocator.clone_ref(py))
    }

    /// The same but for the array.
    pub(crate) fn with_array(&self, py: Python<'_>, array: GpuArray) -> Self {
        let record = self.record.as_ref().map(|record| record.clone_ref(py));
        let base = self.base.as_ref().map(|base| base.clone_ref(py));
        Self { array, record, base, allocator: self.clone_allocator(py), sizes: self.sizes.clone() }
    }
}

/// An n-dimensional array on the device of the current context, with NumPy's arithmetic.
///
/// Operations do not wait for the device; `get`, `set` and printing do. Operands of any memory layout are
/// broadcast; result dtypes are NumPy's.
///
/// Parameters
/// ----------
/// shape : int or sequence of int
/// dtype : dtype-like, optional
///     bool, an integer, float16/32/64, bfloat16 (of ml_dtypes), complex64/128 or a structured dtype; float64 by
///     default, as in NumPy.
/// allocator : callable, optional
///     Takes a number of bytes and returns device memory; default `rtcg.driver.mem_alloc`.
/// base : object, optional
///     Kept alive as long as the array.
/// gpudata : device pointer, optional
///     Memory to use instead of a new allocation; kept alive.
/// strides : sequence of int, optional
///     Bytes from one element to the next along each axis.
/// order : {"C", "F"}
#[pyclass(name = "GPUArray", module = "rtcg.numpy", frozen, subclass, weakref, dict, sequence)]
#[derive(Default)]
pub(crate) struct PyGpuArray {
    /// The first contents: of results they are there from the beginning.
    first: LateInit<ArrayState>,
    is_replaced: AtomicBool,
    replacement: Mutex<Option<Arc<ArrayState>>>,
}

impl From<ArrayState> for PyGpuArray {
    #[inline]
    fn from(contents: ArrayState) -> Self {
        let (is_replaced, replacement) = (AtomicBool::new(false), Mutex::new(None));
        Self { first: LateInit::new(contents), is_replaced, replacement }
    }
}

/// A reference to the contents of an array object.
pub(crate) enum ArrayStateRef<'a> {
    First(&'a ArrayState),
    Later(Arc<ArrayState>),
}

impl Deref for ArrayStateRef<'_> {
    type Target = ArrayState;

    #[inline]
    fn deref(&self) -> &ArrayState {
        match self {
            Self::First(contents) => contents,
            Self::Later(contents) => contents,
        }
    }
}

/// What an object whose `__init__` was not called holds.
#[cold]
fn uninitialised_state() -> &'static ArrayState {
    static STATE: OnceLock<ArrayState> = OnceLock::new();
    STATE.get_or_init(|| ArrayState::from_array(uninitialised_array()))
}

impl FilledByInit for PyGpuArray {
    fn is_filled(&self) -> bool {
        self.first.is_filled()
    }
}

impl PyGpuArray {
    /// What the object holds, if that is what it held from the beginning.
    #[inline]
    pub(crate) fn initial_state(&self) -> Option<&ArrayState> {
        if self.is_replaced.load(Ordering::Acquire) { None } else { self.first.get() }
    }

    #[cold]
    fn replaced_state(&self) -> ArrayStateRef<'_> {
        let replacement = lock_ignoring_poison(&self.replacement);
        replacement.clone().map_or_else(|| ArrayStateRef::First(uninitialised_state()), ArrayStateRef::Later)
    }

    /// What the object holds now.
    #[inline]
    pub(crate) fn current_state(&self) -> ArrayStateRef<'_> {
        self.initial_state().map_or_else(|| self.replaced_state(), ArrayStateRef::First)
    }

    /// Puts `current_state` in the place of what was there.
    pub(crate) fn replace_state(&self, contents: ArrayState) {
        let Err(contents) = self.first.set_once(contents) else { return };
        let new = Some(Arc::new(contents));
        let old = std::mem::replace(&mut *lock_ignoring_poison(&self.replacement), new);
        self.is_replaced.store(true, Ordering::Release);
        drop(old);
    }

    /// Tells the pool that the memory came from which stream uses it.
    pub(crate) fn used_in(&self, stream: Option<&rtcg::driver::Stream>) {
        let contents = self.current_state();
        let Some(buffer) = contents.array.buffer() else { return };
        match stream {
            None => buffer.record_use(),
            Some(_) => rtcg::run_in_stream(stream, || buffer.record_use()),
        }
    }

    pub(crate) fn ptr(&self) -> u64 {
        self.current_state().array.device_ptr().unwrap_or(0)
    }
}
