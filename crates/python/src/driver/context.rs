//! `Context`: each thread has a stack of them.

use crate::driver::device::PyDevice;
use crate::driver::memory::in_flight_buffers;
use crate::enums::enum_member;
use crate::errors::OrRaise;
use crate::integer::int;
use crate::resource_lifetime::free_with_gil_released;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::driver::{Context, ContextKind, sys};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};

/// A context of a device, made by `Device.make_context` or `Device.retain_primary_context`.
///
/// Each thread has a stack of contexts. The top of the stack is the current context, in which memory, modules and
/// streams are created. A ``with`` block makes a context current; `push` and `pop` do the same by hand.
#[pyclass(name = "Context", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyContext(
    pub(crate) OwnedContext,
    /// Whether a ``with`` block will find it pushed already, by `make_context`.
    AtomicBool,
);

/// A context, dropped with the interpreter released unless it outlives this reference: asking for the current context
/// would otherwise cost mostly that.
pub(crate) struct OwnedContext(ManuallyDrop<Context>);

impl Deref for OwnedContext {
    type Target = Context;

    #[inline]
    fn deref(&self) -> &Context {
        &self.0
    }
}

impl Drop for OwnedContext {
    fn drop(&mut self) {
        // SAFETY: the context is taken once, and nothing sees it afterwards.
        let context = unsafe { ManuallyDrop::take(&mut self.0) };
        if !context.is_held_by_stack() {
            free_with_gil_released(move || drop(context));
        }
    }
}

impl PyContext {
    pub(crate) fn new(context: Context) -> Self {
        Self(OwnedContext(ManuallyDrop::new(context)), AtomicBool::new(false))
    }

    /// A context that was pushed when it was made.
    pub(crate) fn from_pushed_context(context: Context) -> Self {
        Self(OwnedContext(ManuallyDrop::new(context)), AtomicBool::new(true))
    }
}

#[pymethods]
impl PyContext {
    /// Push the context that another library has made current in this thread.
    #[staticmethod]
    #[pyo3(signature = (flags = 0))]
    fn attach(#[pyo3(from_py_with = int)] flags: u32) -> PyResult<Self> {
        let _ = flags;
        Context::attach().or_raise().map(Self::new)
    }

    /// Pop the top of the stack. Raises `LogicError` if the stack is empty.
    #[staticmethod]
    fn pop() -> PyResult<()> {
        Context::pop().or_raise().map(drop)
    }

    /// The device of the current context; raises `LogicError` if there is none.
    #[staticmethod]
    fn get_device(py: Python<'_>) -> PyResult<Py<PyDevice>> {
        PyDevice::cached_py_device(py, Context::current_device().or_raise()?)
    }

    /// Wait until all work of the current context is done; raises any error that occurred in it.
    #[staticmethod]
    fn synchronize(py: Python<'_>) -> PyResult<()> {
        let result = py.detach(Context::synchronize);
        in_flight_buffers::release_completed();
        result.or_raise()
    }

    /// The context on top of this thread's stack, else the one that another library has made current.
    #[staticmethod]
    fn get_current() -> Option<Self> {
        Context::current_or_foreign().map(Self::new)
    }

    /// Replace the top of the stack by `context`; None pops it. An addition to PyCUDA.
    #[staticmethod]
    #[pyo3(signature = (context))]
    fn set_current(context: Option<&PyContext>) -> PyResult<()> {
        Context::set_current(context.map(|context| &*context.0)).or_raise()
    }

    /// The flags of the current context, from `ctx_flags`. An addition to PyCUDA.
    #[staticmethod]
    fn get_flags() -> PyResult<u32> {
        Context::flags().or_raise()
    }

    /// Set a `limit` of the current context, in the unit of that limit (bytes or a number).
    #[staticmethod]
    fn set_limit(#[pyo3(from_py_with = int)] limit: u32, #[pyo3(from_py_with = int)] value: usize) -> PyResult<()> {
        Context::set_limit(sys::CUlimit(limit), value).or_raise()
    }

    /// The value of a `limit` of the current context, in the unit of that limit.
    #[staticmethod]
    fn get_limit(#[pyo3(from_py_with = int)] limit: u32) -> PyResult<usize> {
        Context::limit(sys::CUlimit(limit)).or_raise()
    }

    /// How the current context divides its L1 cache.
    #[staticmethod]
    fn get_cache_config(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        enum_member(py, "func_cache", Context::cache_config().or_raise()?.0)
    }

    /// Request a division of the L1 cache by `func_cache`, for kernels that do not request one.
    #[staticmethod]
    fn set_cache_config(#[pyo3(from_py_with = int)] config: u32) -> PyResult<()> {
        Context::set_cache_config(sys::CUfunc_cache(config)).or_raise()
    }

    /// The width of shared-memory banks, a `shared_config`.
    #[staticmethod]
    fn get_shared_config(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        enum_member(py, "shared_config", Context::shared_config().or_raise()?.0)
    }

    /// ``(least, greatest)`` priority of streams: smaller numbers go first, and others are clamped to the range.
    #[staticmethod]
    fn get_stream_priority_range() -> PyResult<(i32, i32)> {
        Context::stream_priority_range().or_raise()
    }

    /// Request a width of shared-memory banks by `shared_config`; current devices have only one.
    #[staticmethod]
    fn set_shared_config(#[pyo3(from_py_with = int)] config: u32) -> PyResult<()> {
        Context::set_shared_config(sys::CUsharedconfig(config)).or_raise()
    }

    /// Let kernels of the current context access memory of `peer`, a context of another device; `flags` is 0.
    ///
    /// Raises `LogicError` if access is already enabled or not possible (`Device.can_access_peer`).
    #[staticmethod]
    #[pyo3(signature = (peer, flags = 0))]
    fn enable_peer_access(peer: &PyContext, #[pyo3(from_py_with = int)] flags: u32) -> PyResult<()> {
        Context::enable_peer_access(&peer.0, flags).or_raise()
    }

    /// Revoke the access that `enable_peer_access` granted; raises `LogicError` if there is none. `flags` is
    /// ignored.
    #[staticmethod]
    #[pyo3(signature = (peer, flags = 0))]
    fn disable_peer_access(peer: &PyContext, #[pyo3(from_py_with = int)] flags: u32) -> PyResult<()> {
        let _ = flags;
        Context::disable_peer_access(&peer.0).or_raise()
    }

    /// Push the context on this thread's stack and make it current; raises `LogicError` if it was detached.
    fn push(&self) -> PyResult<()> {
        self.0.push().or_raise()
    }

    /// Destroy (or release) the context now. Raises `LogicError` if called twice.
    fn detach(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.detach()).or_raise()
    }

    /// Like `detach`, but may be called repeatedly. An addition to PyCUDA.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.close()).or_raise()
    }

    /// Whether the context has not been detached.
    #[getter]
    fn is_alive(&self) -> bool {
        self.0.is_alive()
    }

    /// ``"created"``, ``"primary"``, or ``"foreign"`` for a context that another library made.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.kind() {
            ContextKind::Created => "created",
            ContextKind::Primary => "primary",
            ContextKind::Foreign => "foreign",
        }
    }

    /// The device of this context; `get_device` returns that of the current context.
    #[getter(device)]
    fn own_device(&self) -> PyDevice {
        PyDevice::from(self.0.device())
    }

    fn __repr__(&self) -> String {
        let device = self.0.device();
        let state = if self.0.is_alive() { "" } else { ", which has ended" };
        format!("<rtcg.driver.Context of device {}: {}{state}>", device.ordinal(), device.name().unwrap_or_default())
    }

    /// Push the context, unless `make_context` has just done so; the end of the block pops it.
    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let this = slf.get();
        let is_on_top = Context::current().is_some_and(|top| top == *this.0);
        if !(this.1.swap(false, Ordering::Relaxed) && is_on_top) {
            this.push()?;
        }
        Ok(slf)
    }

    /// Pop the context if it is still on top.
    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        if Context::current().is_some_and(|top| top == *self.0) {
            // The thread has no context after one that `make_context` pushed, and what it had after others.
            return if self.0.kind() == ContextKind::Created { Self::pop() } else { end_context_push() };
        }
        // It was popped or detached inside of the block.
        Ok(())
    }

    /// The version of the driver API that the context was made for, such as 3020.
    fn get_api_version(&self) -> PyResult<u32> {
        self.0.api_version().or_raise()
    }

    /// The driver's handle, for other libraries.
    #[getter]
    fn handle(&self) -> usize {
        self.0.handle().addr()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyContext>().is_ok_and(|other| *other.get().0 == *self.0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }
}

/// Declare the context that threads take which have none.
#[pyfunction]
#[pyo3(signature = (context))]
fn set_default_context(context: Option<&PyContext>) -> PyResult<()> {
    Context::set_default(context.map(|context| &*context.0)).or_raise()
}

/// The context that threads take which have none; None if there is none yet.
#[pyfunction]
fn default_context() -> Option<PyContext> {
    Context::default_context().map(PyContext::new)
}

/// The current context; in a thread without one the default context, which may be declared by this.
#[pyfunction]
fn current_or_declared_context() -> PyResult<PyContext> {
    Context::current_or_declared().map(PyContext::new).or_raise()
}

/// Pop what was pushed for a block of the program; the thread takes the default context as before.
#[pyfunction]
fn end_context_push() -> PyResult<()> {
    Context::end_push().or_raise().map(drop)
}

/// The primary context of a device, retained such that threads take the default context as before.
#[pyfunction]
fn primary_context(py: Python<'_>, device: &PyDevice) -> PyResult<PyContext> {
    py.detach(|| device.0.retain_primary_context_unseen()).or_raise().map(PyContext::new)
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(end_context_push, m)?)?;
    m.add_function(wrap_pyfunction!(primary_context, m)?)?;
    m.add_function(wrap_pyfunction!(set_default_context, m)?)?;
    m.add_function(wrap_pyfunction!(default_context, m)?)?;
    m.add_function(wrap_pyfunction!(current_or_declared_context, m)?)?;
    m.add_class::<PyContext>()
}
