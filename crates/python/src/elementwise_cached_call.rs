//! The cached call of an elementwise kernel.
//!
//! A loop calls a kernel with arrays of the same layouts again and again. The kernel caches its last call: the classes
//! of its arguments, the layouts of its arrays and the packed arguments. A call that matches writes its addresses and
//! numbers into a copy and launches. A call that differs in anything takes the general path, which checks everything,
//! and replaces the cached call.
//!
//! Establishes: what `call_matcher` does.

use crate::driver::launch::call_matcher::{
    ArgumentSource, ArrayLayout, CachedArgument, CachedArguments, CallCache, write_arguments,
};
use crate::errors::generator_error;
use crate::gpuarray::PyGpuArray;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use rtcg::array::{DType, fuse};
use rtcg::codegen::c_declarations::Argument;
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
        if arguments.len() != args.len() || fuse::is_active() {
            return None;
        }
        let mut packed = launch.packed_arguments();
        // SAFETY: every argument ends within the packed ones; that was made sure of in `new`.
        unsafe { write_arguments(arguments, args.iter_borrowed(), packed.as_mut_ptr())? };
        if !launch.fits_alignment(&packed) {
            return None;
        }
        // The launch may let the interpreter go, and another call replace what is cached.
        let cached = cached.clone();
        // SAFETY: the arguments are of the dtypes and layouts that were checked when the kernel was last called; what
        // the snippet does with them is the business of who wrote it.
        let launched = unsafe { cached.launch.launch_if_current(&packed) }?;
        Some(launched.map_err(|error| generator_error(args.py(), error)))
    }

    /// Remembers a call that has succeeded; nothing if calls like it cannot be made from the cache.
    pub(crate) fn cache_call(&self, declared: &[Argument], args: &Bound<'_, PyTuple>, launch: Option<CachedLaunch>) {
        let cached = launch.and_then(|launch| CachedCall::new(declared, args, launch));
        self.replace(args.py(), cached.map(Arc::new));
    }
}

impl CachedCall {
    fn new(declared: &[Argument], args: &Bound<'_, PyTuple>, launch: CachedLaunch) -> Option<Self> {
        let (packed, mut arguments) = (launch.packed_arguments(), CachedArguments::new());
        for (index, (arg, declared)) in args.iter_borrowed().zip(declared).enumerate() {
            let source = argument_source(declared, &arg, &launch)?;
            let argument = CachedArgument::new(&arg, source, u16::try_from(launch.argument_offset(index)).ok()?);
            (argument.end() <= packed.len()).then(|| arguments.push(argument))?;
        }
        Some(Self { launch, arguments })
    }
}

fn argument_source(declared: &Argument, arg: &Bound<'_, PyAny>, launch: &CachedLaunch) -> Option<ArgumentSource> {
    if declared.is_vector {
        let array = &arg.cast_exact::<PyGpuArray>().ok()?.get().current_state().array;
        // Whether memory of another context is within reach may change.
        return launch.is_for(array.context()).then(|| {
            ArgumentSource::ArrayOfLayout(Box::new((ArrayLayout::new(array), Arc::downgrade(array.context()))))
        });
    }
    match declared.ctype.number()? {
        DType::F32 if arg.is_exact_instance_of::<PyInt>() => Some(ArgumentSource::IntAsFloat),
        DType::F64 if arg.is_exact_instance_of::<PyInt>() => Some(ArgumentSource::IntAsDouble),
        number if number.is_integer() || matches!(number, DType::F32 | DType::F64) => {
            ArgumentSource::of_number(arg, number)
        }
        _ => None,
    }
}
