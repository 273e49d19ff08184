//! The cached call of a kernel.
//!
//! A loop calls a kernel with the same keywords and arguments of the same types again and again. The kernel caches its
//! last call: the classes of the arguments, the offsets of their bytes, and the grid and block as objects. A call that
//! matches only copies bytes. A call that differs takes the general path, which checks everything, and replaces the
//! cached call.
//!
//! Establishes: what `call_matcher` does; the grid, the block and the size of shared memory are recognised as objects
//! that cannot change.

use crate::array_object::PyGpuArray;
use crate::driver::fastcall::{KeywordArgs, PositionalArgs, RawArguments};
use crate::driver::launch::arguments::numpy_scalar;
use crate::driver::launch::call_matcher::{
    ArgumentSource, CachedArgument, CachedArguments, CachedNames, CallCache, ClassAddress, write_arguments,
};
use crate::driver::launch::function::PyFunction;
use crate::driver::launch::geometry::extract_small_integer;
use crate::driver::launch::keywords::{LaunchKeyword, keyword_by_name};
use crate::driver::launch::prepared_call::{PreparedArgType, PreparedLayout};
use crate::driver::memory::pool::is_pool_in_use;
use crate::driver::stream::PyStream;
use crate::errors::OrRaise;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::array::DType;
use rtcg::driver::Stream;
use rtcg::driver::signature::ParamKind;
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
pub(crate) struct CachedCall {
    kind: CallKind,
    n_positional: u8,
    /// With the values of keywords.
    n_items: u8,
    /// Where the kernel's own arguments begin.
    first: u8,
    stream_at: u8,
    shared_at: u8,
    n_words: u8,
    has_pooled: bool,
    nbytes: u16,
    shared: u32,
    names: CachedNames,
    grid: CachedDimensions,
    block: CachedDimensions,
    shared_object: Option<Py<PyAny>>,
    /// The class of streams.
    stream_class: ClassAddress,
    arguments: CachedArguments,
}

/// How a kernel was last called, if a call like it can be made from the cache.
pub(crate) type CachedCallCell = CallCache<Option<Box<CachedCall>>>;

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

impl CachedCallCell {
    /// Calls the kernel if the call is like the last one; `None`, with nothing done, if it is not.
    #[inline(always)]
    pub(crate) fn call_cached(
        &self,
        py: Python<'_>,
        this: &PyFunction,
        kind: CallKind,
        row: RawArguments,
    ) -> Option<PyResult<()>> {
        // SAFETY: no Python code runs as long as the reference is used.
        let cached = unsafe { self.get_mut(py) }.as_deref_mut()?;
        if cached.kind != kind
            || usize::from(cached.n_positional) != row.n_positional
            // SAFETY: the interpreter gives null or a tuple.
            || !unsafe { cached.names.accept(py, row.names) }
            || !this.driver_function().is_prepared()
        {
            return None;
        }
        // SAFETY: the interpreter gave these many arguments, and a value for each of the names, which are the known ones.
        let args = unsafe { row.first_items(py, cached.n_items.into()) };
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
            Some(stream) if ClassAddress::of_object(stream) == cached.stream_class => {
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
        // From here on the cache may have another call.
        let result = launch_cached(this, args.py(), grid, block, shared, stream, bytes);
        if pooled && result.is_ok() {
            record_pointer_use(args, stream);
        }
        Some(result)
    }

    /// Remembers a call that has succeeded.
    #[inline(never)]
    pub(crate) fn cache_call(&self, this: &PyFunction, call: &CompletedCall<'_, '_>) {
        let cached = if this.driver_function().is_prepared() { CachedCall::new(this, call) } else { None };
        self.replace(call.args.py(), cached.map(Box::new));
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
        // SAFETY: every argument ends within `nbytes`, which `n_words` cover; that was made sure of in `new`.
        unsafe { write_arguments(&self.arguments, args.iter_args(), start)? };
        // SAFETY: so many bytes were written, at least as zeros.
        Some(unsafe { std::slice::from_raw_parts(start, self.nbytes.into()) })
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
            n_words: 0,
            has_pooled: false,
            nbytes: 0,
            shared: 0,
            names: CachedNames::new(*names),
            grid,
            block,
            shared_object: None,
            stream_class: ClassAddress::of_class::<PyStream>(py),
            arguments: CachedArguments::new(),
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
            let argument = CachedArgument::new(&arg, source, u16::try_from(offset).ok()?);
            let end = argument.end();
            if end > size_of::<[u64; MAX_ARG_WORDS]>() {
                return None;
            }
            self.has_pooled |= argument.is_pooled_memory();
            self.nbytes = self.nbytes.max(end as u16);
            self.arguments.push(argument);
        }
        self.n_words = self.nbytes.div_ceil(8) as u8;
        Some(())
    }
}

/// Where the bytes of an argument come from that the general way took for a parameter.
fn direct_call_source(arg: &Bound<'_, PyAny>, declared: Option<ParamKind>) -> Option<ArgumentSource> {
    if let Some(source) = ArgumentSource::of_memory(arg) {
        return Some(source);
    }
    // A cached call does not look at strides. `strict` promises to, for every call.
    if !rtcg::argument_types_are_strict()
        && let Ok(array) = arg.cast_exact::<PyGpuArray>()
    {
        return Some(ArgumentSource::Array(array.get().current_state().array.dtype().number()));
    }
    if let Some(scalar) = numpy_scalar(arg) {
        return ArgumentSource::of_scalar(scalar);
    }
    let Some(ParamKind::Value(number)) = declared else { return None };
    ArgumentSource::of_python_number(arg, number)
}

/// Where the bytes of an argument of a prepared call come from, and where they go.
fn prepared_call_source(
    arg: &Bound<'_, PyAny>,
    prepared: &PreparedLayout,
    index: usize,
) -> Option<(ArgumentSource, usize)> {
    let (slot, place) = prepared.type_and_param(index)?;
    let number = match slot {
        PreparedArgType::Pointer => match ArgumentSource::of_memory(arg) {
            Some(source) => return Some((source, place.offset)),
            None => DType::U64,
        },
        PreparedArgType::Signed(size) => DType::from_numpy('i', size).ok()?,
        PreparedArgType::Unsigned(size) => DType::from_numpy('u', size).ok()?,
        PreparedArgType::Float => DType::F32,
        PreparedArgType::Double => DType::F64,
        _ => return None,
    };
    Some((ArgumentSource::of_number(arg, number)?, place.offset))
}
