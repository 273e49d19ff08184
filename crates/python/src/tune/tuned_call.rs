//! The call of a tuned kernel: which compiled kernel and launch geometry stand for the problem of a call.
//!
//! Python's class finds them, launches, and says which arguments the choice depends on. A later call whose problem is
//! the same goes straight to the kernel, so that a tuned kernel costs little more than a plain one.
//!
//! Establishes: what `call_matcher` does.

use crate::driver::fastcall::{CallableType, KeywordArgs, PositionalArgs, RawArguments, call_method_body};
use crate::driver::launch::arguments::numpy_scalar;
use crate::driver::launch::call_matcher::{ArgumentSource, ArrayLayout, CachedArgument, CachedNames, CallCache};
use crate::driver::launch::function::{PyFunction, call_function_object};
use crate::gpuarray::PyGpuArray;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFloat, PyInt, PyString, PyTuple, PyType};
use rtcg::array::DType;
use rtcg::driver::Context;
use smallvec::SmallVec;
use std::mem::MaybeUninit;

/// Arguments, and the keywords of the launch.
const MAX_ITEMS: usize = 32;
/// Calls that are remembered: some problems, in contexts of several devices, may take turns.
const MAX_CALLS: usize = 8;

/// What an argument must be so that the choice stays.
enum ProblemCheck {
    /// This object, or a number of the same class with these bits.
    Value(Py<PyAny>, Option<(CachedArgument, u64)>),
    /// An array of this layout.
    Array(ArrayLayout),
}

/// How a call was made.
struct CachedTunedCall {
    /// The context that is current, which another library may have made so.
    context: Option<Context>,
    names: CachedNames,
    n_positional: usize,
    checks: SmallVec<[(usize, ProblemCheck); 6]>,
    /// The kernel's arguments, by their places in the call.
    order: SmallVec<[usize; 16]>,
    function: Py<PyAny>,
    geometry: [Py<PyAny>; 3],
    geometry_names: Py<PyTuple>,
}

/// Base of the class of tuned kernels.
///
/// A subclass has a method `_launch(args, kwargs)`, which launches and returns `(function, block, grid, shared,
/// order, problem)`: `order` and `problem` locate the kernel's arguments and those that the choice depends on, each
/// by position or keyword. It returns None if the next call must call it again.
#[pyclass(name = "TunedCallBase", module = "rtcg._native", frozen, subclass, weakref, dict)]
#[derive(Default)]
struct PyTunedCall(CallCache<Vec<CachedTunedCall>>);

static TUNED_CALL_TYPE: PyOnceLock<CallableType> = PyOnceLock::new();

/// The class that Python's tuned kernels are derived from.
pub(super) fn tuned_call_class(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    Ok(tuned_call_type(py)?.python_class(py).clone())
}

fn tuned_call_type(py: Python<'_>) -> PyResult<&CallableType> {
    TUNED_CALL_TYPE.get_or_try_init(py, || {
        CallableType::new(&py.get_type::<PyTunedCall>(), c"rtcg._native.TunedCall", tuned_vectorcall)
    })
}

#[pymethods]
impl PyTunedCall {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self::default()
    }

    #[pyo3(signature = (*_args, **_kwargs))]
    fn __init__(
        slf: &Bound<'_, Self>,
        _args: &Bound<'_, PyTuple>,
        _kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        tuned_call_type(slf.py())?.make_callable(slf)
    }

    /// The call where the interpreter makes a tuple and a dictionary: of subclasses, before Python 3.12.
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let mut items: SmallVec<[*mut PyObject; MAX_ITEMS]> = args.iter_borrowed().map(|item| item.as_ptr()).collect();
        let mut names: SmallVec<[Bound<'py, PyAny>; 8]> = SmallVec::new();
        for (name, value) in kwargs.into_iter().flatten() {
            // The dictionary holds the value as long as the call.
            items.push(value.as_ptr());
            names.push(name);
        }
        let names = if names.is_empty() { None } else { Some(PyTuple::new(py, names)?) };
        let names = names.as_ref().map_or(std::ptr::null_mut(), |names| names.as_ptr());
        // SAFETY: the items live as long as the tuple and the dictionary, which the interpreter holds.
        unsafe { Bound::from_owned_ptr_or_err(py, tuned_vectorcall(slf.as_ptr(), items.as_ptr(), args.len(), names)) }
    }

    /// The next call asks which kernel to take.
    fn _forget_call(&self, py: Python<'_>) {
        self.0.replace(py, Vec::new());
    }
}

/// What the interpreter calls for `kernel(...)`.
unsafe extern "C" fn tuned_vectorcall(
    slf: *mut PyObject,
    args: *const *mut PyObject,
    nargsf: usize,
    names: *mut PyObject,
) -> *mut PyObject {
    let row = RawArguments::new(args, nargsf & (usize::MAX >> 1), names);
    // SAFETY: called by the interpreter only, with an object of the class; it passes a value for each name behind the
    // positional arguments.
    unsafe {
        let py = Python::assume_attached();
        let object = Borrowed::from_ptr(py, slf);
        let this = object.cast_unchecked::<PyTunedCall>().get();
        match call_cached(py, this, row) {
            Some(result) => result,
            None => call_method_body(find_and_launch, slf, row),
        }
    }
}

/// # Safety
/// As [`tuned_vectorcall`].
unsafe fn call_cached(py: Python<'_>, this: &PyTunedCall, row: RawArguments) -> Option<*mut PyObject> {
    let mut items = [MaybeUninit::<*mut PyObject>::uninit(); MAX_ITEMS];
    // SAFETY: the caller's promise; nothing that is called while the cache is read runs Python code, and the kernel's own
    // call comes after that, with the function held.
    unsafe {
        let cached = this.0.get_mut(py).iter().rev().find(|cached| {
            let is_in_context = cached.context.as_ref().is_some_and(Context::is_current)
                || Context::current().is_none() && Context::current_or_foreign() == cached.context;
            is_in_context
                && cached.n_positional == row.n_positional
                && cached.names.accept(py, row.names)
                && cached.checks.iter().all(|(at, check)| check.accepts(&row.item(py, *at)))
        })?;
        let n_args = cached.order.len();
        for (item, at) in items.iter_mut().zip(&cached.order) {
            item.write(row.item(py, *at).as_ptr());
        }
        for (item, object) in items[n_args..].iter_mut().zip(&cached.geometry) {
            item.write(object.as_ptr());
        }
        // Another thread may replace what is cached during the call, so that it is held.
        let [block, grid, shared] = cached.geometry.each_ref().map(Py::as_ptr);
        let held = [cached.function.as_ptr(), cached.geometry_names.as_ptr(), block, grid, shared];
        held.iter().for_each(|object| ffi::Py_INCREF(*object));
        let result = call_function_object(held[0], RawArguments::new(items.as_ptr().cast(), n_args, held[1]));
        held.iter().for_each(|object| ffi::Py_DECREF(*object));
        Some(result)
    }
}

impl ProblemCheck {
    /// The check by which calls with an argument like this one are the same problem.
    fn new(argument: &Bound<'_, PyAny>) -> Option<Self> {
        if let Ok(array) = argument.cast_exact::<PyGpuArray>() {
            return Some(Self::Array(ArrayLayout::new(&array.get().initial_state()?.array)));
        }
        let number = match numpy_scalar(argument) {
            Some(scalar) => Some(scalar.number),
            None if argument.is_exact_instance_of::<PyInt>() => Some(DType::I64),
            None if argument.is_exact_instance_of::<PyFloat>() => Some(DType::F64),
            None if argument.is_none() || argument.is_exact_instance_of::<PyString>() => None,
            // Others would be recognised as the same object only.
            None => return None,
        };
        let known = match number {
            Some(number) => {
                let number = CachedArgument::new(argument, ArgumentSource::of_number(argument, number)?, 0);
                let bits = number.bits(argument)?;
                Some((number, bits))
            }
            None => None,
        };
        Some(Self::Value(argument.clone().unbind(), known))
    }

    #[inline]
    fn accepts(&self, argument: &Bound<'_, PyAny>) -> bool {
        match self {
            Self::Value(object, number) => {
                object.is(argument)
                    || number.as_ref().is_some_and(|(number, bits)| number.bits(argument) == Some(*bits))
            }
            Self::Array(layout) => argument
                .cast_exact::<PyGpuArray>()
                .is_ok_and(|array| array.get().initial_state().is_some_and(|state| layout.accepts(&state.array))),
        }
    }
}

/// Asks the subclass, and remembers what it answered.
fn find_and_launch<'py>(
    slf: &Bound<'py, PyAny>,
    args: PositionalArgs<'_, 'py>,
    keywords: KeywordArgs<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = args.py();
    let given = PyDict::new(py);
    keywords.for_each_keyword(|name, value| given.set_item(name, value))?;
    let answer = slf.call_method1("_launch", (args.to_tuple()?, given))?;
    let KeywordArgs { names, values } = keywords;
    let cached = match answer.is_none() {
        true => None,
        false => CachedTunedCall::new(&answer, args, names, values)?,
    };
    if let Some(cached) = cached {
        // SAFETY: neither method runs Python code.
        let calls = unsafe { slf.cast::<PyTunedCall>()?.get().0.get_mut(py) };
        let oldest = (calls.len() == MAX_CALLS).then(|| calls.remove(0));
        calls.push(cached);
        // Outside of the cache, which what is dropped may lead to.
        drop(oldest);
    }
    Ok(py.None().into_bound(py))
}

impl CachedTunedCall {
    /// What is remembered of an answer; `None` where a call like it cannot be recognised.
    fn new<'py>(
        answer: &Bound<'py, PyAny>,
        args: PositionalArgs<'_, 'py>,
        names: Option<Borrowed<'_, 'py, PyTuple>>,
        values: PositionalArgs<'_, 'py>,
    ) -> PyResult<Option<Self>> {
        type Answer<'py> = (
            Bound<'py, PyAny>,
            Bound<'py, PyAny>,
            Bound<'py, PyAny>,
            Bound<'py, PyAny>,
            Vec<Bound<'py, PyAny>>,
            Vec<Bound<'py, PyAny>>,
        );
        let (function, block, grid, shared, order, problem): Answer<'py> = answer.extract()?;
        if !function.is_instance_of::<PyFunction>() {
            return Err(PyTypeError::new_err("_launch() must return a Function first"));
        }
        let place = |which: &Bound<'py, PyAny>| -> PyResult<usize> {
            if let Ok(position) = which.extract::<usize>() {
                return Ok(position);
            }
            let keyword =
                names.iter().flat_map(|names| names.iter_borrowed()).position(|name| name.eq(which).unwrap_or(false));
            let at = keyword.ok_or_else(|| PyTypeError::new_err(format!("no argument {which} was given")))?;
            Ok(args.len() + at)
        };
        let item = |at: usize| args.get_arg(at).or_else(|| values.get_arg(at.checked_sub(args.len())?));
        let order = order.iter().map(place).collect::<PyResult<SmallVec<_>>>()?;
        if order.len() + 3 > MAX_ITEMS {
            return Ok(None);
        }
        let mut checks = SmallVec::new();
        for at in problem.iter().map(place) {
            let at = at?;
            match item(at).and_then(|argument| ProblemCheck::new(&argument)) {
                Some(check) => checks.push((at, check)),
                None => return Ok(None),
            }
        }
        let py = args.py();
        Ok(Some(Self {
            context: Context::current_or_foreign(),
            names: CachedNames::new(names),
            n_positional: args.len(),
            checks,
            order,
            function: function.unbind(),
            geometry: [block.unbind(), grid.unbind(), shared.unbind()],
            geometry_names: PyTuple::new(py, ["block", "grid", "shared"])?.unbind(),
        }))
    }
}
