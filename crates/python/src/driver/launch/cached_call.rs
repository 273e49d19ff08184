//! The cached call of a kernel.
//!
//! A loop calls a kernel with the same keywords and arguments of the same types again and again. The kernel caches its
//! last call: the classes of the arguments, the offsets of their bytes, and the grid and block as objects. A call that
//! matches only copies bytes. A call that differs takes the general path, which checks everything, and replaces the
//! cached call.
//!
//! Establishes: the cache is used by one thread at a time, which holds the interpreter and runs no Python code
//! meanwhile, since all objects that are read are of exact classes of this package, of NumPy's scalars, or of Python's
//! own numbers and tuples. The cached objects themselves cannot change.

use crate::array_object::PyGpuArray;
use crate::driver::fastcall::{KeywordArgs, PositionalArgs};
use crate::driver::launch::arguments::{NumpyScalar, numpy_scalar};
use crate::driver::launch::function::PyFunction;
use crate::driver::launch::geometry::extract_small_integer;
use crate::driver::launch::keywords::{LaunchKeyword, keyword_by_name};
use crate::driver::launch::prepared_call::{PreparedArgType, PreparedLayout};
use crate::driver::memory::PyDeviceAllocation;
use crate::driver::memory::pool::{PyPooledDeviceAllocation, is_pool_in_use};
use crate::driver::stream::PyStream;
use crate::errors::OrRaise;
use pyo3::ffi::{self, PyObject, PyTypeObject};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyTuple};
use rtcg::array::fuse;
use rtcg::driver::Stream;
use rtcg::driver::signature::{NumberType, ParamKind};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

/// The way a kernel is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CallKind {
    /// `func(*args, block=, grid=, ...)`
    Direct,
    /// `prepared_call(grid, block, *args)`
    Prepared,
    /// `prepared_async_call(grid, block, stream, *args)`
    PreparedAsync,
    /// `prepared_timed_call(grid, block, *args)`, which is never remembered.
    PreparedTimed,
}

/// What the bytes of an argument are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ArgumentSource {
    /// The address of a `DeviceAllocation`.
    Allocation,
    /// The address of a `PooledDeviceAllocation`.
    Pooled,
    /// The address of a `GPUArray` of such elements.
    Array(Option<NumberType>),
    /// So many bytes behind the head of a scalar of NumPy's.
    Bytes(u8),
    /// An `int` in the type of C with this many bytes.
    Int { nbytes: u8, signed: bool },
    /// A `float` as `float`.
    Float,
    /// A `float` as `double`.
    Double,
}

/// One argument.
#[derive(Clone, Copy, Debug)]
struct CachedArgument {
    class: *const PyTypeObject,
    offset: u16,
    source: ArgumentSource,
}

const MAX_ARGS: usize = 16;
const MAX_ARG_WORDS: usize = 2 * MAX_ARGS;

/// An index that is none.
const NO_INDEX: u8 = u8::MAX;

/// Three numbers and the object that they were read from.
struct CachedDimensions {
    value: [u32; 3],
    /// `None` where the call does not say.
    object: Option<Py<PyAny>>,
    /// The object's place in the row of arguments.
    at: u8,
}

/// How a call was made.
struct CachedCall {
    kind: CallKind,
    n_positional: u8,
    /// With the values of keywords.
    n_items: u8,
    /// Where the kernel's own arguments begin.
    first: u8,
    stream_at: u8,
    shared_at: u8,
    n_steps: u8,
    n_words: u8,
    has_pooled: bool,
    nbytes: u16,
    shared: u32,
    names: Option<Py<PyTuple>>,
    grid: CachedDimensions,
    block: CachedDimensions,
    shared_object: Option<Py<PyAny>>,
    stream_class: *const PyTypeObject,
    steps: [CachedArgument; MAX_ARGS],
}

/// How a kernel was last called, if a call like it can be made from the cache.
#[derive(Default)]
pub(crate) struct CachedCallCell(UnsafeCell<Option<Box<CachedCall>>>);

// SAFETY: every use is by `call_cached`, `cache_call` and `clear_cached_call`, which are given the interpreter, so that one thread
// at a time is in them; none of them runs Python code while it holds a reference to the contents.
unsafe impl Sync for CachedCallCell {}
// SAFETY: the class pointers are only compared; the rest may go to another thread.
unsafe impl Send for CachedCallCell {}

impl CachedDimensions {
    /// The numbers of `object`, if it is a tuple of Python's own integers.
    fn new(object: &Bound<'_, PyAny>, at: usize) -> Option<Self> {
        Some(Self { value: dimensions_of_tuple(object)?, object: Some(object.clone().unbind()), at: at as u8 })
    }

    const ABSENT_DIMENSIONS: Self = Self { value: [1; 3], object: None, at: NO_INDEX };

    /// The numbers that a call like the last one says.
    #[inline(always)]
    fn read_dimensions(&mut self, args: PositionalArgs<'_, '_>) -> Option<[u32; 3]> {
        if self.at == NO_INDEX {
            return Some(self.value);
        }
        let object = args.get_arg(self.at.into())?;
        if self.object.as_ref().is_some_and(|known| known.as_ptr() == object.as_ptr()) {
            return Some(self.value);
        }
        *self = Self::new(&object, self.at.into())?;
        Some(self.value)
    }
}

/// The dimensions in a tuple of one to three integers, all of Python's own classes.
#[inline(never)]
fn dimensions_of_tuple(object: &Bound<'_, PyAny>) -> Option<[u32; 3]> {
    let tuple = object.cast_exact::<PyTuple>().ok()?;
    let mut value = [1; 3];
    if !(1..=3).contains(&tuple.len()) {
        return None;
    }
    for (slot, item) in value.iter_mut().zip(tuple.iter_borrowed()) {
        *slot = extract_small_integer(&item)?;
    }
    Some(value)
}

impl ArgumentSource {
    /// Writes the bytes of `arg`, which is of the class that this is for; `None` where the general way must look at it.
    ///
    /// # Safety
    /// `to` must have room for them.
    #[inline(always)]
    unsafe fn write_argument(self, arg: &Bound<'_, PyAny>, to: *mut u8) -> Option<()> {
        // SAFETY: the class was compared by the caller, who also gives the room.
        unsafe {
            match self {
                Self::Allocation => {
                    let memory = &arg.cast_unchecked::<PyDeviceAllocation>().get().0;
                    if memory.is_freed() {
                        return None;
                    }
                    to.cast::<u64>().write_unaligned(memory.ptr());
                }
                Self::Bytes(4) => to.cast::<u32>().write_unaligned(scalar_value(arg)),
                Self::Bytes(8) => to.cast::<u64>().write_unaligned(scalar_value(arg)),
                Self::Bytes(2) => to.cast::<u16>().write_unaligned(scalar_value(arg)),
                Self::Bytes(_) => to.write(scalar_value(arg)),
                Self::Int { nbytes, signed } => write_int(arg, to, nbytes, signed)?,
                Self::Float | Self::Double => self.write_float(arg, to)?,
                Self::Array(number) => {
                    let array = &arg.cast_unchecked::<PyGpuArray>().get().initial_state()?.array;
                    // What was deferred would be computed here, and that may run Python code.
                    if rtcg::element_number_type(array.dtype()) != number
                        || fuse::is_deferred(array)
                        || array.check_memory().is_err()
                    {
                        return None;
                    }
                    to.cast::<u64>().write_unaligned(array.device_ptr().unwrap_or(0));
                }
                Self::Pooled => {
                    let memory = &arg.cast_unchecked::<PyPooledDeviceAllocation>().get().0;
                    if memory.is_freed() {
                        return None;
                    }
                    to.cast::<u64>().write_unaligned(memory.ptr());
                }
            }
        }
        Some(())
    }

    /// # Safety
    /// As [`ArgumentSource::write_argument`], with a `float`.
    #[inline(always)]
    unsafe fn write_float(self, arg: &Bound<'_, PyAny>, to: *mut u8) -> Option<()> {
        // SAFETY: the object is a float.
        let value = unsafe { ffi::PyFloat_AsDouble(arg.as_ptr()) };
        if self == Self::Double {
            // SAFETY: the caller's promise.
            unsafe { to.cast::<f64>().write_unaligned(value) };
            return Some(());
        }
        let narrow = value as f32;
        if narrow.is_infinite() && value.is_finite() {
            return None;
        }
        // SAFETY: the caller promises room for the value.
        unsafe { to.cast::<f32>().write_unaligned(narrow) };
        Some(())
    }

    fn argument_bytes(self) -> usize {
        match self {
            Self::Bytes(n) | Self::Int { nbytes: n, .. } => n.into(),
            Self::Float => 4,
            _ => 8,
        }
    }

    fn is_pooled_memory(self) -> bool {
        matches!(self, Self::Pooled | Self::Array(_))
    }
}

/// The value of a scalar of NumPy's.
///
/// # Safety
/// The object must be one whose value is a `T` that lies right behind the object's head.
#[inline(always)]
pub(crate) unsafe fn scalar_value<T>(scalar: &Bound<'_, PyAny>) -> T {
    // SAFETY: the caller's promise.
    unsafe { scalar.as_ptr().byte_add(size_of::<PyObject>()).cast::<T>().read_unaligned() }
}

/// # Safety
/// The object must be an `int`, and `to` have room for `argument_bytes`, which is a power of two up to 8.
#[inline(always)]
pub(crate) unsafe fn write_int(arg: &Bound<'_, PyAny>, to: *mut u8, nbytes: u8, signed: bool) -> Option<()> {
    // SAFETY: the object is an int. One that is no C `long` is -1 and an exception, which is taken back below.
    let value = unsafe { ffi::PyLong_AsLong(arg.as_ptr()) };
    if value == -1 && PyErr::take(arg.py()).is_some() {
        return None;
    }
    let unused = 64 - 8 * u32::from(nbytes);
    let fits = if signed {
        value << unused >> unused == value
    } else {
        value >= 0 && (value << unused) as u64 >> unused == value as u64
    };
    if !fits {
        return None;
    }
    // SAFETY: the caller's promise; the lower bytes come first on the machines that drivers exist for.
    unsafe {
        match nbytes {
            4 => to.cast::<u32>().write_unaligned(value as u32),
            8 => to.cast::<u64>().write_unaligned(value as u64),
            2 => to.cast::<u16>().write_unaligned(value as u16),
            _ => to.write(value as u8),
        }
    }
    Some(())
}

impl CachedCallCell {
    /// Calls the kernel if the call is like the last one; `None`, with nothing done, if it is not.
    #[inline(always)]
    pub(crate) fn call_cached(&self, this: &PyFunction, kind: CallKind, row: RawArguments<'_>) -> Option<PyResult<()>> {
        // SAFETY: the interpreter is held, and no Python code runs as long as the reference is used.
        let cached = unsafe { &mut *self.0.get() }.as_deref_mut()?;
        let known_names = cached.names.as_ref().map_or(std::ptr::null_mut(), Py::as_ptr);
        if cached.kind != kind
            || usize::from(cached.n_positional) != row.n_positional
            || known_names != row.names
            || !this.driver_function().is_prepared()
        {
            return None;
        }
        // SAFETY: the interpreter gave these many arguments, and a value for each of the names, which are the known ones.
        let args = unsafe { PositionalArgs::new(row.py, std::slice::from_raw_parts(row.items, cached.n_items.into())) };
        let (grid, block) = (cached.grid.read_dimensions(args)?, cached.block.read_dimensions(args)?);
        if cached.shared_at != NO_INDEX {
            let object = args.get_arg(cached.shared_at.into())?;
            cached.shared_object.as_ref().filter(|known| known.as_ptr() == object.as_ptr())?;
        }
        let mut words = [MaybeUninit::<u64>::uninit(); MAX_ARG_WORDS];
        let first = usize::from(cached.first);
        let bytes = cached.pack_argument_words(args.skip_args(first), &mut words)?;
        let shared = cached.shared;
        let stream = match cached.stream_at {
            NO_INDEX => None,
            at => args.get_arg(at.into()).filter(|stream| !stream.is_none()),
        };
        let stream = match &stream {
            None => None,
            Some(stream) if stream.get_type_ptr().cast_const() == cached.stream_class => {
                // SAFETY: the class was compared.
                let stream = unsafe { stream.cast_unchecked::<PyStream>() }.get();
                if !stream.0.is_filled() {
                    return None;
                }
                Some(&*stream.0)
            }
            Some(_) => return None,
        };
        let pooled = cached.has_pooled && is_pool_in_use();
        // From here on the recipe may be another call's.
        let result = launch_cached(this, args.py(), grid, block, shared, stream, bytes);
        if pooled && result.is_ok() {
            record_pointer_use(args, stream);
        }
        Some(result)
    }

    /// Nothing is known of the last call.
    pub(crate) fn clear_cached_call(&self, _py: Python<'_>) {
        // SAFETY: the interpreter is held; what is dropped are tuples and numbers, which run no Python code.
        unsafe { *self.0.get() = None };
    }

    /// Remembers a call that has succeeded.
    #[inline(never)]
    pub(crate) fn cache_call(&self, this: &PyFunction, call: &CompletedCall<'_, '_>) {
        let cached = if this.driver_function().is_prepared() { CachedCall::new(this, call) } else { None };
        // SAFETY: as in `clear_cached_call`.
        unsafe { *self.0.get() = cached.map(Box::new) };
    }
}

#[inline(always)]
fn launch_cached(
    this: &PyFunction,
    py: Python<'_>,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: Option<&Stream>,
    bytes: &[u8],
) -> PyResult<()> {
    // SAFETY: the arguments have the types that were checked when the kernel was last called; what the kernel does
    // with them is the business of who wrote it.
    let launch = || unsafe { this.driver_function().launch(grid, block, shared, stream, bytes) };
    // Others get the interpreter where the launch may wait, perhaps for them.
    if this.driver_function().launch_may_wait() { without_gil(py, launch).or_raise() } else { launch().or_raise() }
}

#[inline(never)]
fn without_gil<T: Send>(py: Python<'_>, body: impl FnOnce() -> T + Send) -> T {
    py.detach(body)
}

/// Tells pools that a launch in `stream` uses those of its arguments that are their memory.
#[cold]
fn record_pointer_use(args: PositionalArgs<'_, '_>, stream: Option<&Stream>) {
    args.iter_args().for_each(|arg| crate::driver::memory::device_pointer::record_pointer_use(&arg, stream));
}

impl CachedCall {
    /// The packed arguments in `words`.
    #[inline(always)]
    fn pack_argument_words<'w>(
        &self,
        args: PositionalArgs<'_, '_>,
        words: &'w mut [MaybeUninit<u64>; MAX_ARG_WORDS],
    ) -> Option<&'w [u8]> {
        // What lies between arguments is zero.
        words.iter_mut().take(self.n_words.into()).for_each(|word| {
            word.write(0);
        });
        let start = words.as_mut_ptr().cast::<u8>();
        for (arg, step) in args.iter_args().zip(&self.steps[..usize::from(self.n_steps).min(MAX_ARGS)]) {
            if arg.get_type_ptr().cast_const() != step.class {
                return None;
            }
            // SAFETY: every step ends within `argument_bytes`, which `n_words` cover; that was made sure of in `new`.
            unsafe { step.source.write_argument(&arg, start.add(step.offset.into()))? };
        }
        // SAFETY: so many bytes were written, at least as zeros.
        Some(unsafe { std::slice::from_raw_parts(start, self.nbytes.into()) })
    }
}

/// A row of arguments as the interpreter gives it: positional ones, then a value for each name.
#[derive(Clone, Copy)]
pub(crate) struct RawArguments<'py> {
    py: Python<'py>,
    items: *const *mut PyObject,
    n_positional: usize,
    /// Null without keywords.
    names: *mut PyObject,
}

impl<'py> RawArguments<'py> {
    /// # Safety
    /// The interpreter must have given them for the present call.
    #[inline(always)]
    pub(crate) unsafe fn from_vectorcall_args(
        py: Python<'py>,
        items: *const *mut PyObject,
        n_positional: usize,
        names: *mut PyObject,
    ) -> Self {
        Self { py, items, n_positional, names }
    }
}

/// A call that has succeeded.
pub(crate) struct CompletedCall<'a, 'py> {
    pub(crate) kind: CallKind,
    /// Positional arguments.
    pub(crate) args: PositionalArgs<'a, 'py>,
    pub(crate) keywords: &'a KeywordArgs<'a, 'py>,
}

impl CachedCall {
    /// What is to be remembered of a call; `None` of one that must go the general way.
    fn new(this: &PyFunction, call: &CompletedCall<'_, '_>) -> Option<Self> {
        let CompletedCall { kind, args, keywords: KeywordArgs { names, values } } = call;
        let py = args.py();
        let n_positional = u8::try_from(args.len()).ok().filter(|n| *n < 64)?;
        let dimensions = |at| args.get_arg(at).and_then(|object| CachedDimensions::new(&object, at));
        let (first, stream_at, grid, block) = match kind {
            CallKind::Direct => (0, NO_INDEX, CachedDimensions::ABSENT_DIMENSIONS, CachedDimensions::ABSENT_DIMENSIONS),
            CallKind::Prepared => (2, NO_INDEX, dimensions(0)?, dimensions(1)?),
            CallKind::PreparedAsync => (3, 2, dimensions(0)?, dimensions(1)?),
            CallKind::PreparedTimed => return None,
        };
        let mut cached = Self {
            kind: *kind,
            n_positional,
            n_items: u8::try_from(args.len() + values.len()).ok().filter(|n| *n > 0)?,
            first,
            stream_at,
            shared_at: NO_INDEX,
            n_steps: 0,
            n_words: 0,
            has_pooled: false,
            nbytes: 0,
            shared: 0,
            names: names.as_ref().map(|names| Bound::clone(names).unbind()),
            grid,
            block,
            shared_object: None,
            stream_class: py.get_type::<PyStream>().as_type_ptr(),
            steps: [CachedArgument { class: std::ptr::null(), offset: 0, source: ArgumentSource::Allocation };
                MAX_ARGS],
        };
        for (index, (name, value)) in
            names.iter().flat_map(|names| names.iter_borrowed()).zip(values.iter_args()).enumerate()
        {
            cached.read_keyword(&name, &value, args.len() + index)?;
        }
        cached.plan_argument_sources(this, args.skip_args(first.into()))?;
        Some(cached)
    }

    fn read_keyword(&mut self, name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, at: usize) -> Option<()> {
        let is_direct = self.kind == CallKind::Direct;
        match keyword_by_name(name.py(), name).ok()? {
            LaunchKeyword::Block if is_direct => self.block = CachedDimensions::new(value, at)?,
            LaunchKeyword::Grid if is_direct => self.grid = CachedDimensions::new(value, at)?,
            LaunchKeyword::Stream if is_direct => self.stream_at = at as u8,
            LaunchKeyword::Shared if is_direct => self.read_shared_bytes(value, at)?,
            LaunchKeyword::SharedSize if !is_direct => self.read_shared_bytes(value, at)?,
            _ => return None,
        }
        Some(())
    }

    fn read_shared_bytes(&mut self, value: &Bound<'_, PyAny>, at: usize) -> Option<()> {
        self.shared = extract_small_integer(value)?;
        self.shared_object = Some(value.clone().unbind());
        self.shared_at = at as u8;
        Some(())
    }

    /// Where each argument comes from and goes to.
    fn plan_argument_sources(&mut self, this: &PyFunction, args: PositionalArgs<'_, '_>) -> Option<()> {
        let function = this.driver_function();
        let prepared = (self.kind != CallKind::Direct).then(|| this.prepared_types()).flatten();
        if args.len() > MAX_ARGS {
            return None;
        }
        for (index, arg) in args.iter_args().enumerate() {
            let (source, offset) = match (self.kind, prepared) {
                (CallKind::Direct, _) => {
                    let declared = function.param_declaration(index).map(|declared| declared.kind);
                    (direct_call_source(&arg, declared)?, function.params()?.get(index)?.offset)
                }
                (_, Some(prepared)) => prepared_call_source(&arg, prepared, index)?,
                (_, None) => return None,
            };
            let end = offset + source.argument_bytes();
            if end > size_of::<[u64; MAX_ARG_WORDS]>() {
                return None;
            }
            self.steps[index] = CachedArgument { class: arg.get_type_ptr(), offset: offset as u16, source };
            self.has_pooled |= source.is_pooled_memory();
            self.nbytes = self.nbytes.max(end as u16);
        }
        self.n_steps = args.len() as u8;
        self.n_words = self.nbytes.div_ceil(8) as u8;
        Some(())
    }
}

/// Where an address comes from.
fn device_memory_source(arg: &Bound<'_, PyAny>) -> Option<ArgumentSource> {
    if arg.is_exact_instance_of::<PyDeviceAllocation>() {
        return Some(ArgumentSource::Allocation);
    }
    arg.is_exact_instance_of::<PyPooledDeviceAllocation>().then_some(ArgumentSource::Pooled)
}

/// Where the bytes of an argument come from that the general way took for a parameter.
fn direct_call_source(arg: &Bound<'_, PyAny>, declared: Option<ParamKind>) -> Option<ArgumentSource> {
    if let Some(source) = device_memory_source(arg) {
        return Some(source);
    }
    // A cached call does not look at strides. `strict` promises to, for every call.
    if !rtcg::argument_types_are_strict()
        && let Ok(array) = arg.cast_exact::<PyGpuArray>()
    {
        return Some(ArgumentSource::Array(rtcg::element_number_type(array.get().current_state().array.dtype())));
    }
    if let Some(scalar) = numpy_scalar(arg) {
        return numpy_scalar_source(scalar);
    }
    let Some(ParamKind::Value(number)) = declared else { return None };
    python_number_source(arg, number)
}

fn numpy_scalar_source(scalar: NumpyScalar) -> Option<ArgumentSource> {
    matches!(scalar.nbytes, 1 | 2 | 4 | 8).then_some(ArgumentSource::Bytes(scalar.nbytes as u8))
}

/// Where the bytes of a number of Python's own come from.
fn python_number_source(arg: &Bound<'_, PyAny>, number: NumberType) -> Option<ArgumentSource> {
    match number {
        NumberType::Int { nbytes, signed } if arg.is_exact_instance_of::<PyInt>() => {
            Some(ArgumentSource::Int { nbytes, signed })
        }
        NumberType::Float if arg.is_exact_instance_of::<PyFloat>() => Some(ArgumentSource::Float),
        NumberType::Double if arg.is_exact_instance_of::<PyFloat>() => Some(ArgumentSource::Double),
        _ => None,
    }
}

/// Where the bytes of an argument of a prepared call come from, and where they go.
fn prepared_call_source(
    arg: &Bound<'_, PyAny>,
    prepared: &PreparedLayout,
    index: usize,
) -> Option<(ArgumentSource, usize)> {
    let (slot, place) = prepared.type_and_param(index)?;
    let number = match slot {
        PreparedArgType::Pointer => match device_memory_source(arg) {
            Some(source) => return Some((source, place.offset)),
            None => NumberType::Int { nbytes: 8, signed: false },
        },
        PreparedArgType::Signed(size) => NumberType::Int { nbytes: size as u8, signed: true },
        PreparedArgType::Unsigned(size) => NumberType::Int { nbytes: size as u8, signed: false },
        PreparedArgType::Float => NumberType::Float,
        PreparedArgType::Double => NumberType::Double,
        _ => return None,
    };
    let source = match numpy_scalar(arg) {
        Some(scalar) => numpy_scalar_source(scalar).filter(|_| scalar.number == number)?,
        None => python_number_source(arg, number)?,
    };
    Some((source, place.offset))
}
