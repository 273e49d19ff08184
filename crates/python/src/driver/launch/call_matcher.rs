//! What the caches of calls share: recognising a call that is like an earlier one, and writing its arguments' bytes.
//!
//! A loop makes the same call with other arrays and numbers again and again. A callable caches how it was last called:
//! the class of each argument and where its bytes come from ([`CachedArgument`]), and the names of the keywords
//! ([`CachedNames`]). A call that matches only copies bytes; any other takes the general path, which checks everything
//! and replaces what is cached. Such caches are those of kernels (`cached_call`), of elementwise kernels
//! (`elementwise_cached_call`) and of tuned kernels (`tune::tuned_call`).
//!
//! Establishes: matching runs no Python code and does not release the interpreter, since all objects that are read are
//! of exact classes of this package, of NumPy's scalars, or of Python's own numbers, and arrays have their memory.

use crate::array_object::PyGpuArray;
use crate::driver::launch::arguments::{NumpyScalar, numpy_scalar};
use crate::driver::memory::PyDeviceAllocation;
use crate::driver::memory::pool::PyPooledDeviceAllocation;
use pyo3::PyTypeInfo;
use pyo3::ffi::{self, PyObject, PyTypeObject};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyTuple};
use rtcg::array::{ArrayContext, DType, DTypeKind, GpuArray, Layout, fuse};
use smallvec::SmallVec;
use std::cell::UnsafeCell;
use std::ffi::c_long;
use std::sync::{Arc, Weak};

/// What a callable knows of earlier calls. One thread at a time uses it, the one that holds the interpreter.
#[derive(Default)]
pub(crate) struct CallCache<T>(UnsafeCell<T>);

// SAFETY: every use is given the interpreter, so that one thread at a time is in it.
unsafe impl<T: Send> Sync for CallCache<T> {}

impl<T> CallCache<T> {
    /// # Safety
    /// As long as the reference is used, no Python code may run and the interpreter must not be released.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "the caller promises that there is one reference at a time")]
    pub(crate) unsafe fn get_mut<'a>(&'a self, _py: Python<'a>) -> &'a mut T {
        // SAFETY: the interpreter is held, and no other use can begin before the reference is gone.
        unsafe { &mut *self.0.get() }
    }

    /// What was there is dropped outside of the cache, for that may call a driver or run Python code.
    pub(crate) fn replace(&self, py: Python<'_>, value: T) {
        // SAFETY: the reference is gone before anything is dropped.
        let old = std::mem::replace(unsafe { self.get_mut(py) }, value);
        drop(old);
    }
}

/// A class as an address, which is only compared. The classes that arguments are matched by live as long as the process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClassAddress(*const PyTypeObject);

// SAFETY: the address is only compared.
unsafe impl Send for ClassAddress {}
// SAFETY: the address is only compared.
unsafe impl Sync for ClassAddress {}

impl ClassAddress {
    #[inline(always)]
    pub(crate) fn of_object(object: &Bound<'_, PyAny>) -> Self {
        Self(object.get_type_ptr())
    }

    pub(crate) fn of_class<T: PyTypeInfo>(py: Python<'_>) -> Self {
        Self(T::type_object_raw(py))
    }
}

/// The names of a call's keywords.
pub(crate) struct CachedNames(Option<Py<PyTuple>>);

impl CachedNames {
    pub(crate) fn new(names: Option<Borrowed<'_, '_, PyTuple>>) -> Self {
        Self(names.map(|names| Bound::clone(&names).unbind()))
    }

    /// Whether the names of a call are the same objects, which interned names are; they are the same tuple where the
    /// same line is executed again.
    ///
    /// # Safety
    /// `names` must be null or a tuple.
    #[inline(always)]
    pub(crate) unsafe fn accept(&self, py: Python<'_>, names: *mut PyObject) -> bool {
        let known = self.0.as_ref().map_or(std::ptr::null_mut(), Py::as_ptr);
        // SAFETY: neither is null; `names` is a tuple by the caller's promise.
        known == names || !known.is_null() && !names.is_null() && unsafe { are_same_items(py, known, names) }
    }
}

/// # Safety
/// Both must be tuples.
#[cold]
unsafe fn are_same_items(py: Python<'_>, a: *mut PyObject, b: *mut PyObject) -> bool {
    // SAFETY: the caller's promise.
    let [a, b] = [a, b].map(|names| unsafe { Borrowed::from_ptr(py, names).cast_unchecked::<PyTuple>() });
    a.len() == b.len() && a.iter_borrowed().zip(b.iter_borrowed()).all(|(a, b)| a.is(&*b))
}

/// What the bytes of an argument are made of.
pub(crate) enum ArgumentSource {
    /// The address of a `DeviceAllocation`.
    Allocation,
    /// The address of a `PooledDeviceAllocation`.
    Pooled,
    /// The address of a `GPUArray` of such elements, whatever its layout.
    Array(Option<DType>),
    /// The address of an array with this layout, in this context. A pool learns that it is used.
    ArrayOfLayout(Box<(ArrayLayout, Weak<ArrayContext>)>),
    /// So many bytes behind the head of a scalar of NumPy's.
    Bytes(u8),
    /// An `int` in the type of C with this many bytes.
    Int { nbytes: u8, signed: bool },
    /// A `float` as `float`.
    Float,
    /// A `float` as `double`.
    Double,
    /// An `int` as `float`.
    IntAsFloat,
    /// An `int` as `double`.
    IntAsDouble,
}

/// The elements of an array and how they lie in memory.
pub(crate) struct ArrayLayout(DType, Arc<Layout>);

impl ArrayLayout {
    pub(crate) fn new(array: &GpuArray) -> Self {
        Self(array.dtype(), array.layout_arc().clone())
    }

    #[inline(always)]
    pub(crate) fn accepts(&self, array: &GpuArray) -> bool {
        array.dtype() == self.0 && array.matches_layout(&self.1)
    }
}

/// One argument: the class that it must have, and its bytes with their offset among those of all arguments.
pub(crate) struct CachedArgument {
    class: ClassAddress,
    offset: u16,
    source: ArgumentSource,
}

impl CachedArgument {
    pub(crate) fn new(arg: &Bound<'_, PyAny>, source: ArgumentSource, offset: u16) -> Self {
        Self { class: ClassAddress::of_object(arg), offset, source }
    }

    #[inline(always)]
    fn is_of_class(&self, arg: &Bound<'_, PyAny>) -> bool {
        ClassAddress::of_object(arg) == self.class
    }

    /// The bytes of a number, as one that can be compared; `None` if it is unlike the number that this was made for.
    #[inline(always)]
    pub(crate) fn bits(&self, number: &Bound<'_, PyAny>) -> Option<u64> {
        // SAFETY: the class was compared.
        if self.is_of_class(number) { unsafe { self.source.bits(number) } } else { None }
    }

    /// Where the bytes end.
    pub(crate) fn end(&self) -> usize {
        usize::from(self.offset) + self.source.nbytes()
    }

    pub(crate) fn is_pooled_memory(&self) -> bool {
        matches!(self.source, ArgumentSource::Pooled | ArgumentSource::Array(_))
    }
}

/// The arguments of a kernel.
pub(crate) type CachedArguments = SmallVec<[CachedArgument; 8]>;

/// Writes the bytes of arguments; `None` if one is unlike its cached one.
///
/// # Safety
/// There must be room from `start` to the [`CachedArgument::end`] of each.
#[inline(always)]
pub(crate) unsafe fn write_arguments<'a, 'py: 'a>(
    cached: &[CachedArgument],
    args: impl Iterator<Item = Borrowed<'a, 'py, PyAny>>,
    start: *mut u8,
) -> Option<()> {
    for (arg, cached) in args.zip(cached) {
        if !cached.is_of_class(&arg) {
            return None;
        }
        // SAFETY: the class was compared; the caller gives the room.
        unsafe { cached.source.write(&arg, start.add(cached.offset.into()))? };
    }
    Some(())
}

/// # Safety
/// There must be room for `value` at `to`.
#[inline(always)]
unsafe fn put<T>(to: *mut u8, value: T) -> Option<()> {
    // SAFETY: the caller's promise.
    unsafe { to.cast::<T>().write_unaligned(value) };
    Some(())
}

impl ArgumentSource {
    /// # Safety
    /// `arg` must be of the class that this was made for, and there must be room for its bytes at `to`.
    #[inline(always)]
    unsafe fn write(&self, arg: &Bound<'_, PyAny>, to: *mut u8) -> Option<()> {
        // SAFETY: the caller's promise. The lower bytes of a number come first on the machines that drivers exist for.
        unsafe {
            match self {
                Self::Allocation => {
                    let memory = &arg.cast_unchecked::<PyDeviceAllocation>().get().0;
                    put(to, (!memory.is_freed()).then(|| memory.ptr())?)
                }
                Self::Bytes(4) => put::<u32>(to, scalar_value(arg)),
                Self::Bytes(8) => put::<u64>(to, scalar_value(arg)),
                Self::Bytes(2) => put::<u16>(to, scalar_value(arg)),
                Self::Bytes(_) => put::<u8>(to, scalar_value(arg)),
                Self::Int { nbytes, signed } => put_int(to, int_value(arg)?, *nbytes, *signed),
                Self::Float => put_float(to, float_value(arg)),
                Self::Double => put(to, float_value(arg)),
                Self::IntAsFloat => put(to, int_value(arg)? as f64 as f32),
                Self::IntAsDouble => put(to, int_value(arg)? as f64),
                Self::Array(number) => {
                    let array = array_value(arg)?;
                    if array.dtype().number() != *number || array.check_memory().is_err() {
                        return None;
                    }
                    put(to, array.device_ptr().unwrap_or(0))
                }
                Self::ArrayOfLayout(known) => {
                    let (array, (layout, context)) = (array_value(arg)?, &**known);
                    if !layout.accepts(array) || !std::ptr::eq(&raw const **array.context(), context.as_ptr()) {
                        return None;
                    }
                    let memory = array.buffer()?.address_recording_use().ok()?;
                    put(to, memory.wrapping_add(array.layout().offset as u64))
                }
                Self::Pooled => {
                    let memory = &arg.cast_unchecked::<PyPooledDeviceAllocation>().get().0;
                    put(to, (!memory.is_freed()).then(|| memory.ptr())?)
                }
            }
        }
    }

    /// The bytes as a number. Not inlined, so that what compares classes first stays short.
    ///
    /// # Safety
    /// `arg` must be of the class that this was made for.
    #[inline(never)]
    unsafe fn bits(&self, arg: &Bound<'_, PyAny>) -> Option<u64> {
        let mut word = 0u64;
        // SAFETY: the caller's promise; no source has more than 8 bytes.
        unsafe { self.write(arg, (&raw mut word).cast())? };
        Some(word)
    }

    fn nbytes(&self) -> usize {
        match self {
            Self::Bytes(n) | Self::Int { nbytes: n, .. } => usize::from(*n),
            Self::Float | Self::IntAsFloat => 4,
            _ => 8,
        }
    }

    /// The source of an address.
    pub(crate) fn of_memory(arg: &Bound<'_, PyAny>) -> Option<Self> {
        if arg.is_exact_instance_of::<PyDeviceAllocation>() {
            return Some(Self::Allocation);
        }
        arg.is_exact_instance_of::<PyPooledDeviceAllocation>().then_some(Self::Pooled)
    }

    pub(crate) fn of_scalar(scalar: NumpyScalar) -> Option<Self> {
        matches!(scalar.nbytes, 1 | 2 | 4 | 8).then_some(Self::Bytes(scalar.nbytes as u8))
    }

    /// The source of a number of Python's own: an `int` for an integer, a `float` for what has a fraction.
    pub(crate) fn of_python_number(arg: &Bound<'_, PyAny>, number: DType) -> Option<Self> {
        match number {
            DType::F32 if arg.is_exact_instance_of::<PyFloat>() => Some(Self::Float),
            DType::F64 if arg.is_exact_instance_of::<PyFloat>() => Some(Self::Double),
            _ if !number.is_integer() || !arg.is_exact_instance_of::<PyInt>() => None,
            integer => {
                let signed = integer.kind() == DTypeKind::Signed;
                Some(Self::Int { nbytes: integer.itemsize() as u8, signed })
            }
        }
    }

    /// The source of a number of exactly this type, or of Python's own that becomes it.
    pub(crate) fn of_number(arg: &Bound<'_, PyAny>, number: DType) -> Option<Self> {
        match numpy_scalar(arg) {
            Some(scalar) => Self::of_scalar(scalar).filter(|_| scalar.number == number),
            None => Self::of_python_number(arg, number),
        }
    }
}

/// The array of an object; `None` where it is deferred, for to compute it may run Python code.
///
/// # Safety
/// The object must be a `GPUArray`.
#[inline(always)]
unsafe fn array_value<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a GpuArray> {
    // SAFETY: the caller's promise.
    let array = &unsafe { object.cast_unchecked::<PyGpuArray>() }.get().initial_state()?.array;
    (!fuse::is_deferred(array)).then_some(array)
}

/// The value of a scalar of NumPy's.
///
/// # Safety
/// The object must be one whose value is a `T` that lies right behind the object's head.
#[inline(always)]
unsafe fn scalar_value<T>(scalar: &Bound<'_, PyAny>) -> T {
    // SAFETY: the caller's promise.
    unsafe { scalar.as_ptr().byte_add(size_of::<PyObject>()).cast::<T>().read_unaligned() }
}

/// # Safety
/// The object must be a `float`.
#[inline(always)]
unsafe fn float_value(number: &Bound<'_, PyAny>) -> f64 {
    // SAFETY: the caller's promise.
    unsafe { ffi::PyFloat_AsDouble(number.as_ptr()) }
}

/// The value of an `int` that is a C `long`.
///
/// # Safety
/// The object must be an `int`.
#[inline(always)]
unsafe fn int_value(number: &Bound<'_, PyAny>) -> Option<c_long> {
    // SAFETY: the object is an int. One that is no C `long` is -1 and an exception, which is taken back.
    let value = unsafe { ffi::PyLong_AsLong(number.as_ptr()) };
    if value == -1 && PyErr::take(number.py()).is_some() { None } else { Some(value) }
}

/// # Safety
/// There must be room for a `float` at `to`.
#[inline(always)]
unsafe fn put_float(to: *mut u8, value: f64) -> Option<()> {
    let narrow = value as f32;
    // SAFETY: the caller's promise.
    if narrow.is_infinite() && value.is_finite() { None } else { unsafe { put(to, narrow) } }
}

/// # Safety
/// There must be room for `nbytes` at `to`, which are 1, 2, 4 or 8.
#[inline(always)]
unsafe fn put_int(to: *mut u8, value: c_long, nbytes: u8, signed: bool) -> Option<()> {
    let unused = 64 - 8 * u32::from(nbytes);
    let fits = if signed {
        value << unused >> unused == value
    } else {
        value >= 0 && (value << unused) as u64 >> unused == value as u64
    };
    if !fits {
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe {
        match nbytes {
            4 => put(to, value as u32),
            8 => put(to, value as u64),
            2 => put(to, value as u16),
            _ => put(to, value as u8),
        }
    }
}
