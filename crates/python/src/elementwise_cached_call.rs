//! The cached call of an elementwise kernel.
//!
//! A loop calls a kernel with arrays of the same layouts again and again. The kernel caches its last call: the classes
//! of its arguments, the layouts of its arrays and the packed arguments. A call that matches writes its addresses and
//! numbers into a copy and launches. A call that differs in anything takes the general path, which checks everything,
//! and replaces the cached call.
//!
//! Establishes: what `call_matcher` does.

use crate::driver::call_matcher::{
    ArgumentSource, ArrayLayout, CachedArgument, CachedArguments, CallCache, write_arguments,
};
use crate::errors::OrRaise;
use crate::gpuarray::PyGpuArray;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use rtcg::array::{blocking_region, fuse};
use rtcg::codegen::c_declarations::Argument;
use rtcg::driver::signature::NumberType;
use rtcg::generators::CachedLaunch;
use std::sync::Arc;

/// How a call was made.
pub(crate) struct CachedCall {
    launch: CachedLaunch,
    arguments: CachedArguments,
}

/// How a kernel was last called, if a call like it can be made from the cache.
pub(crate) type CachedCallCell = CallCache<Option<Arc<CachedCall>>>;

impl CachedCallCell {
    /// Calls the kernel if the call is like the last one; `None`, with nothing done, if it is not.
    #[inline]
    pub(crate) fn call_cached(&self, args: &Bound<'_, PyTuple>) -> Option<PyResult<()>> {
        // SAFETY: no Python code runs as long as the reference is used.
        let cached = unsafe { self.get_mut(args.py()) }.as_ref()?;
        let CachedCall { launch, arguments } = &**cached;
        if arguments.len() != args.len() || !launch.is_prepared() || fuse::is_active() {
            return None;
        }
        let (mut packed, _) = launch.packed_arguments();
        // SAFETY: every argument ends within the packed ones; that was made sure of in `new`.
        unsafe { write_arguments(arguments, args.iter_borrowed(), packed.as_mut_ptr())? };
        if !launch.fits_alignment(&packed) {
            return None;
        }
        if launch.may_wait() {
            // Without the interpreter, which another call may use to replace what is cached.
            let cached = cached.clone();
            // SAFETY: the arguments are of the checked dtypes and layouts; the snippet is the user's.
            return Some(blocking_region(|| unsafe { cached.launch.launch(&packed) }).or_raise());
        }
        // SAFETY: the arguments are of the dtypes and layouts that were checked when the kernel was last called; what
        // the snippet does with them is the business of who wrote it.
        Some(unsafe { launch.launch(&packed) }.or_raise())
    }

    /// Remembers a call that has succeeded; nothing if calls like it cannot be made from the cache.
    pub(crate) fn cache_call(&self, declared: &[Argument], args: &Bound<'_, PyTuple>, launch: Option<CachedLaunch>) {
        let cached = launch.and_then(|launch| CachedCall::new(declared, args, launch));
        self.replace(args.py(), cached.map(Arc::new));
    }
}

impl CachedCall {
    fn new(declared: &[Argument], args: &Bound<'_, PyTuple>, launch: CachedLaunch) -> Option<Self> {
        let (packed, places) = launch.packed_arguments();
        let mut arguments = CachedArguments::new();
        for ((arg, declared), place) in args.iter_borrowed().zip(declared).zip(places) {
            let source = argument_source(declared, &arg, launch.context_number())?;
            let argument = CachedArgument::new(&arg, source, u16::try_from(*place).ok()?);
            (argument.end() <= packed.len()).then(|| arguments.push(argument))?;
        }
        Some(Self { launch, arguments })
    }
}

fn argument_source(declared: &Argument, arg: &Bound<'_, PyAny>, context: u64) -> Option<ArgumentSource> {
    if declared.is_vector {
        let array = &arg.cast_exact::<PyGpuArray>().ok()?.get().current_state().array;
        // Whether memory of another context is within reach may change.
        return (array.context().context_number() == context).then(|| {
            ArgumentSource::ArrayOfLayout(Box::new((ArrayLayout::new(array), Arc::downgrade(array.context()))))
        });
    }
    let number = rtcg::ctype_number_type(&declared.ctype)?;
    match number {
        NumberType::Float if arg.is_exact_instance_of::<PyInt>() => Some(ArgumentSource::IntAsFloat),
        NumberType::Double if arg.is_exact_instance_of::<PyInt>() => Some(ArgumentSource::IntAsDouble),
        NumberType::Float | NumberType::Double | NumberType::Int { .. } => ArgumentSource::of_number(arg, number),
        _ => None,
    }
}
