//! The call of a tuned kernel: which compiled kernel and launch geometry stand for the problem of a call.
//!
//! Python's class finds them, launches, and says which arguments the choice depends on. A later call whose problem is
//! the same goes straight to the kernel, so that a tuned kernel costs little more than a plain one.
//!
//! Establishes: the cache is used by one thread at a time, which holds the interpreter and runs no Python code while
//! it reads the cache: all objects that are compared are Python's own numbers, scalars of NumPy's, or arrays.

use crate::driver::fastcall::{CallableType, KeywordArgs, PositionalArgs, call_method_body};
use crate::driver::launch::arguments::numpy_scalar;
use crate::driver::launch::cached_call::scalar_value;
use crate::driver::launch::function::{PyFunction, call_function_object};
use crate::gpuarray::PyGpuArray;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFloat, PyInt, PyString, PyTuple, PyType};
use rtcg::array::{DType, Layout};
use rtcg::driver::Context;
use smallvec::SmallVec;
use std::cell::UnsafeCell;
use std::ffi::c_long;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// Arguments, and the keywords of the launch.
const MAX_ITEMS: usize = 32;
/// Calls that are remembered: some problems, in contexts of several devices, may take turns.
const MAX_CALLS: usize = 8;

/// What an argument must be so that the choice stays.
enum ProblemCheck {
    /// This object, or an equal number of the same class.
    Number(Py<PyAny>),
    /// An array of these elements in this layout.
    Array(DType, Arc<Layout>),
}

/// How a call was made.
struct CachedTunedCall {
    /// The context that is current, which another library may have made so.
    context: Option<Context>,
    names: Option<Py<PyTuple>>,
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
struct PyTunedCall(UnsafeCell<Vec<CachedTunedCall>>);

// SAFETY: every use is by one thread, which holds the interpreter.
unsafe impl Sync for PyTunedCall {}
// SAFETY: it is used only by a thread that holds the interpreter, and Python's objects may go to other threads.
unsafe impl Send for PyTunedCall {}

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
    fn _forget_call(&self, _py: Python<'_>) {
        // SAFETY: the interpreter is held. What was there is dropped outside of the cell.
        let old = unsafe { std::mem::take(&mut *self.0.get()) };
        drop(old);
    }
}

/// What the interpreter calls for `kernel(...)`.
unsafe extern "C" fn tuned_vectorcall(
    slf: *mut PyObject,
    args: *const *mut PyObject,
    nargsf: usize,
    names: *mut PyObject,
) -> *mut PyObject {
    let n_positional = nargsf & (usize::MAX >> 1);
    // SAFETY: called by the interpreter only, with an object of the class; it passes `n_positional` arguments, then a
    // value for each name.
    unsafe {
        let py = Python::assume_attached();
        let object = Borrowed::from_ptr(py, slf);
        let this = object.cast_unchecked::<PyTunedCall>().get();
        match call_cached(py, this, args, n_positional, names) {
            Some(result) => result,
            None => call_method_body(find_and_launch, slf, args, n_positional, names),
        }
    }
}

/// # Safety
/// As [`tuned_vectorcall`].
unsafe fn call_cached(
    py: Python<'_>,
    this: &PyTunedCall,
    args: *const *mut PyObject,
    n_positional: usize,
    names: *mut PyObject,
) -> Option<*mut PyObject> {
    let mut items = [MaybeUninit::<*mut PyObject>::uninit(); MAX_ITEMS];
    // SAFETY: the caller's promise; nothing that is called while the cell is read runs Python code, and the kernel's own
    // call comes after that, with the function held.
    unsafe {
        let cached = (*this.0.get()).iter().rev().find(|cached| {
            let is_in_context = cached.context.as_ref().is_some_and(Context::is_current)
                || Context::current().is_none() && Context::current_or_foreign() == cached.context;
            is_in_context
                && cached.n_positional == n_positional
                && has_same_names(py, cached.names.as_ref(), names)
                && cached.checks.iter().all(|(at, check)| check.accepts(&Borrowed::from_ptr(py, *args.add(*at))))
        })?;
        let n_args = cached.order.len();
        for (item, at) in items.iter_mut().zip(&cached.order) {
            item.write(*args.add(*at));
        }
        for (item, object) in items[n_args..].iter_mut().zip(&cached.geometry) {
            item.write(object.as_ptr());
        }
        // Another thread may replace what is cached during the call, so that it is held.
        let [block, grid, shared] = cached.geometry.each_ref().map(Py::as_ptr);
        let held = [cached.function.as_ptr(), cached.geometry_names.as_ptr(), block, grid, shared];
        held.iter().for_each(|object| ffi::Py_INCREF(*object));
        let result = call_function_object(held[0], items.as_ptr().cast(), n_args, held[1]);
        held.iter().for_each(|object| ffi::Py_DECREF(*object));
        Some(result)
    }
}

/// Whether the names of keywords are the ones of a call that is remembered: the same objects, which interned names are.
///
/// # Safety
/// `names` must be null or a tuple.
unsafe fn has_same_names(py: Python<'_>, known: Option<&Py<PyTuple>>, names: *mut PyObject) -> bool {
    let Some(known) = known else { return names.is_null() };
    if known.as_ptr() == names {
        return true;
    }
    if names.is_null() {
        return false;
    }
    // SAFETY: the caller's promise.
    let names = unsafe { Borrowed::from_ptr(py, names).cast_unchecked::<PyTuple>() };
    let known = known.bind(py);
    names.len() == known.len() && names.iter_borrowed().zip(known.iter_borrowed()).all(|(a, b)| a.is(&*b))
}

impl ProblemCheck {
    /// The check by which calls with an argument like this one are the same problem.
    fn new(argument: &Bound<'_, PyAny>) -> Option<Self> {
        if let Ok(array) = argument.cast_exact::<PyGpuArray>() {
            let array = &array.get().initial_state()?.array;
            return Some(Self::Array(array.dtype(), array.layout_arc().clone()));
        }
        let is_number = argument.is_exact_instance_of::<PyInt>() || argument.is_exact_instance_of::<PyFloat>();
        let is_value = is_number || argument.is_none() || argument.is_exact_instance_of::<PyString>();
        // Others would be recognised as the same object only.
        let is_compared = match numpy_scalar(argument) {
            Some(scalar) => matches!(scalar.nbytes, 4 | 8),
            None => is_value && (!argument.is_exact_instance_of::<PyInt>() || argument.extract::<c_long>().is_ok()),
        };
        is_compared.then(|| Self::Number(argument.clone().unbind()))
    }

    #[inline]
    fn accepts(&self, argument: &Bound<'_, PyAny>) -> bool {
        match self {
            Self::Number(known) => {
                known.as_ptr() == argument.as_ptr() || is_same_number(known.bind(argument.py()), argument)
            }
            Self::Array(dtype, layout) => argument.cast_exact::<PyGpuArray>().is_ok_and(|array| {
                let state = array.get().initial_state();
                state.is_some_and(|state| state.array.dtype() == *dtype && state.array.matches_layout(layout))
            }),
        }
    }
}

/// Whether two numbers of one class are equal bit for bit.
fn is_same_number(known: &Bound<'_, PyAny>, argument: &Bound<'_, PyAny>) -> bool {
    if known.get_type_ptr() != argument.get_type_ptr() {
        return false;
    }
    if known.is_exact_instance_of::<PyInt>() {
        // SAFETY: both are ints; one that is no C `long` is -1 and an exception, which is taken back.
        let (a, b) = unsafe { (ffi::PyLong_AsLong(known.as_ptr()), ffi::PyLong_AsLong(argument.as_ptr())) };
        return a == b && !(a == -1 && PyErr::take(known.py()).is_some());
    }
    if known.is_exact_instance_of::<PyFloat>() {
        // SAFETY: both are floats.
        return unsafe {
            ffi::PyFloat_AsDouble(known.as_ptr()).to_bits() == ffi::PyFloat_AsDouble(argument.as_ptr()).to_bits()
        };
    }
    match numpy_scalar(known).map(|scalar| scalar.nbytes) {
        // SAFETY: both are scalars of this class, whose value has so many bytes behind the object's head.
        Some(4) => unsafe { scalar_value::<u32>(known) == scalar_value::<u32>(argument) },
        // SAFETY: both are scalars of this class, whose value has eight bytes behind the object's head.
        Some(8) => unsafe { scalar_value::<u64>(known) == scalar_value::<u64>(argument) },
        _ => false,
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
        // SAFETY: the interpreter is held.
        let calls = unsafe { &mut *slf.cast::<PyTunedCall>()?.get().0.get() };
        let oldest = (calls.len() == MAX_CALLS).then(|| calls.remove(0));
        calls.push(cached);
        // Outside of the cell, which what is dropped may lead to.
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
            names: names.map(|names| Bound::clone(&names).unbind()),
            n_positional: args.len(),
            checks,
            order,
            function: function.unbind(),
            geometry: [block.unbind(), grid.unbind(), shared.unbind()],
            geometry_names: PyTuple::new(py, ["block", "grid", "shared"])?.unbind(),
        }))
    }
}
