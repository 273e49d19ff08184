//! The cached call of an elementwise kernel.
//!
//! A loop calls a kernel with arrays of the same layouts again and again. The kernel caches its last call: the classes
//! of its arguments, the layouts of its arrays and the packed arguments. A call that matches writes its addresses and
//! numbers into a copy and launches. A call that differs in anything takes the general path, which checks everything,
//! and replaces the cached call. `driver::cached_call` does the same for kernels of modules.
//!
//! Establishes: the cache is used by one thread at a time, which holds the interpreter and runs no Python code
//! meanwhile, since all objects that are read are of exact classes and arrays have their memory.

use crate::driver::launch::arguments::numpy_scalar;
use crate::driver::launch::cached_call::{scalar_value, write_int};
use crate::errors::OrRaise;
use crate::gpuarray::PyGpuArray;
use pyo3::ffi::{self, PyTypeObject};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyTuple};
use rtcg::array::{ArrayContext, DType, Layout, blocking_region, fuse};
use rtcg::codegen::c_declarations::Argument;
use rtcg::driver::signature::NumberType;
use rtcg::generators::CachedLaunch;
use std::cell::UnsafeCell;
use std::sync::{Arc, Weak};

/// What the bytes of an argument are made of.
enum ArgumentSource {
    /// The address of an array of these elements in this layout and this context, which is the one of the call.
    Array(DType, Arc<Layout>, Weak<ArrayContext>),
    /// So many bytes behind the head of a scalar of NumPy's.
    Bytes(u8),
    /// An `int` in an integer type of C.
    Int { nbytes: u8, signed: bool },
    /// An `int` as `float` or `double`.
    RealInt(RealType),
    /// A `float` as `float` or `double`.
    RealFloat(RealType),
}

/// A floating-point type of C.
#[derive(Clone, Copy)]
enum RealType {
    Float,
    Double,
}

impl RealType {
    #[inline]
    fn write_real(self, value: f64, to: &mut [u8]) {
        match self {
            Self::Float => to[..4].copy_from_slice(&(value as f32).to_ne_bytes()),
            Self::Double => to[..8].copy_from_slice(&value.to_ne_bytes()),
        }
    }
}

/// One argument.
struct CachedArgument {
    class: *const PyTypeObject,
    source: ArgumentSource,
}

/// How a call was made.
struct CachedCall {
    cached_launch: CachedLaunch,
    steps: Box<[CachedArgument]>,
}

// SAFETY: the class pointers are only compared.
unsafe impl Send for CachedCall {}
// SAFETY: the class pointers are only compared.
unsafe impl Sync for CachedCall {}

/// How a kernel was last called, if a call like it can be made from the cache.
#[derive(Default)]
pub(crate) struct CachedCallCell(UnsafeCell<Option<Arc<CachedCall>>>);

// SAFETY: every use is by the methods, which are given the interpreter, so that one thread at a time is in them; none
// of them lets the interpreter go while it holds a reference to the contents.
unsafe impl Sync for CachedCallCell {}

impl CachedCallCell {
    /// Calls the kernel if the call is like the last one; `None`, with nothing done, if it is not.
    #[inline]
    pub(crate) fn call_cached(&self, args: &Bound<'_, PyTuple>) -> Option<PyResult<()>> {
        // SAFETY: the interpreter is held, and no Python code runs as long as the reference is used.
        let cached = unsafe { &*self.0.get() }.as_ref()?;
        if cached.steps.len() != args.len() || !cached.cached_launch.is_prepared() || fuse::is_active() {
            return None;
        }
        let (mut packed, places) = cached.cached_launch.packed_arguments();
        for ((arg, step), place) in args.iter_borrowed().zip(&cached.steps).zip(places) {
            if arg.get_type_ptr().cast_const() != step.class {
                return None;
            }
            // SAFETY: the class was compared.
            unsafe { step.source.write_argument(&arg, &mut packed[*place..])? };
        }
        if !cached.cached_launch.fits_alignment(&packed) {
            return None;
        }
        if cached.cached_launch.may_wait() {
            // Without the interpreter, which another call may use to replace the recipe.
            let cached = cached.clone();
            // SAFETY: the arguments are of the checked dtypes and layouts; the snippet is the user's.
            return Some(blocking_region(|| unsafe { cached.cached_launch.launch(&packed) }).or_raise());
        }
        // SAFETY: the arguments are of the dtypes and layouts that were checked when the kernel was last called; what
        // the snippet does with them is the business of who wrote it.
        Some(unsafe { cached.cached_launch.launch(&packed) }.or_raise())
    }

    /// Remembers a call that has succeeded; nothing if calls like it cannot be made from the cache.
    pub(crate) fn cache_call(
        &self,
        declared: &[Argument],
        args: &Bound<'_, PyTuple>,
        cached_launch: Option<CachedLaunch>,
    ) {
        let cached = cached_launch.and_then(|cached_launch| {
            let context = cached_launch.context_number();
            let steps =
                args.iter_borrowed().zip(declared).map(|(arg, argument)| make_cached_argument(argument, &arg, context));
            Some(Arc::new(CachedCall { cached_launch, steps: steps.collect::<Option<_>>()? }))
        });
        // SAFETY: the interpreter is held. What was there is dropped outside, since that may call a driver.
        let old = unsafe { std::mem::replace(&mut *self.0.get(), cached) };
        drop(old);
    }
}

fn make_cached_argument(argument: &Argument, arg: &Bound<'_, PyAny>, context: u64) -> Option<CachedArgument> {
    let class = arg.get_type_ptr().cast_const();
    if argument.is_vector {
        let array = &arg.cast_exact::<PyGpuArray>().ok()?.get().current_state().array;
        // Whether memory of another context is within reach may change.
        if array.context().context_number() != context {
            return None;
        }
        let context = Arc::downgrade(array.context());
        return Some(CachedArgument {
            class,
            source: ArgumentSource::Array(array.dtype(), array.layout_arc().clone(), context),
        });
    }
    let number = number_type_of_argument(argument)?;
    let (is_int, is_float) = (arg.is_exact_instance_of::<PyInt>(), arg.is_exact_instance_of::<PyFloat>());
    let source = match (numpy_scalar(arg), number) {
        (Some(scalar), _) if scalar.number == number && matches!(scalar.nbytes, 1 | 2 | 4 | 8) => {
            ArgumentSource::Bytes(scalar.nbytes as u8)
        }
        (None, NumberType::Int { nbytes, signed }) if is_int => ArgumentSource::Int { nbytes, signed },
        (None, NumberType::Float) if is_int => ArgumentSource::RealInt(RealType::Float),
        (None, NumberType::Double) if is_int => ArgumentSource::RealInt(RealType::Double),
        (None, NumberType::Float) if is_float => ArgumentSource::RealFloat(RealType::Float),
        (None, NumberType::Double) if is_float => ArgumentSource::RealFloat(RealType::Double),
        _ => return None,
    };
    Some(CachedArgument { class, source })
}

/// The number that a scalar is declared as, of those that the short way knows.
fn number_type_of_argument(argument: &Argument) -> Option<NumberType> {
    rtcg::ctype_number_type(&argument.ctype).filter(|number| {
        matches!(number, NumberType::Int { nbytes: 1 | 2 | 4 | 8, .. } | NumberType::Float | NumberType::Double)
    })
}

impl ArgumentSource {
    /// Writes the bytes of `arg` to the beginning of `to`; `None` where the general way must look at it.
    ///
    /// # Safety
    /// `arg` must be of the class that this was made for.
    #[inline(always)]
    unsafe fn write_argument(&self, arg: &Bound<'_, PyAny>, to: &mut [u8]) -> Option<()> {
        // SAFETY: the class is the caller's promise.
        unsafe {
            match self {
                Self::Array(dtype, layout, context) => {
                    let array = &arg.cast_unchecked::<PyGpuArray>().get().initial_state()?.array;
                    // What was deferred would be computed here, and that may run Python code.
                    if array.dtype() != *dtype
                        || !array.matches_layout(layout)
                        || !std::ptr::eq(&raw const **array.context(), context.as_ptr())
                        || fuse::is_deferred(array)
                    {
                        return None;
                    }
                    let memory = array.buffer()?.address_recording_use().ok()?;
                    let address = memory.wrapping_add(array.layout().offset as u64);
                    to[..8].copy_from_slice(&address.to_ne_bytes());
                }
                Self::Bytes(4) => to[..4].copy_from_slice(&scalar_value::<[u8; 4]>(arg)),
                Self::Bytes(8) => to[..8].copy_from_slice(&scalar_value::<[u8; 8]>(arg)),
                Self::Bytes(2) => to[..2].copy_from_slice(&scalar_value::<[u8; 2]>(arg)),
                Self::Bytes(_) => to[0] = scalar_value(arg),
                Self::Int { nbytes, signed } => {
                    let to = to.get_mut(..usize::from(*nbytes))?;
                    write_int(arg, to.as_mut_ptr(), *nbytes, *signed)?;
                }
                Self::RealInt(real) => {
                    let mut value = [0; 8];
                    write_int(arg, value.as_mut_ptr(), 8, true)?;
                    real.write_real(i64::from_ne_bytes(value) as f64, to);
                }
                Self::RealFloat(real) => real.write_real(ffi::PyFloat_AsDouble(arg.as_ptr()), to),
            }
        }
        Some(())
    }
}
