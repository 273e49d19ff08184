//! What all that can be given back has in common: `close()`, the `with` statement, and being dropped
//! with the interpreter released.

use pyo3::PyClass;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;
use std::ops::Deref;
use std::sync::OnceLock;

/// Methods of a class, `close(py)` among them; the end of a `with` statement calls it.
macro_rules! context_manager_methods {
    ($class:ident; $($body:tt)*) => {
        #[::pyo3::pymethods]
        impl $class {
            $($body)*

            fn __enter__(slf: ::pyo3::Bound<'_, Self>) -> ::pyo3::Bound<'_, Self> {
                slf
            }

            #[pyo3(signature = (*_exception))]
            fn __exit__(
                slf: $crate::resource_lifetime::Ready<'_, Self>,
                py: ::pyo3::Python<'_>,
                _exception: &::pyo3::Bound<'_, ::pyo3::types::PyTuple>,
            ) -> ::pyo3::PyResult<()> {
                Self::close(slf, py)
            }
        }
    };
}

/// Methods of a class, with the freeing method of upstream's name, which is an error the second time;
/// `close()`, which is not; and the `with` statement.
macro_rules! resource_methods {
    ($class:ident, free = $free:ident, is_freed = |$a:ident| $is_freed:expr, release = |$b:ident| $release:expr; $($body:tt)*) => {
        $crate::resource_lifetime::context_manager_methods! { $class;
            $($body)*

            /// Free the memory now. Raises `LogicError` if called twice.
            fn $free(
                slf: $crate::resource_lifetime::Ready<'_, Self>,
                py: ::pyo3::Python<'_>,
            ) -> ::pyo3::PyResult<()> {
                let $b = &slf.0;
                $crate::errors::OrRaise::or_raise(py.detach(|| $release))
            }

            /// Free the memory now, unless already done.
            fn close(
                slf: $crate::resource_lifetime::Ready<'_, Self>,
                py: ::pyo3::Python<'_>,
            ) -> ::pyo3::PyResult<()> {
                let $a = &slf.0;
                if $is_freed { Ok(()) } else { Self::$free(slf, py) }
            }
        }
    };
}

/// Methods of a class whose core object can be closed, any number of times; `with` closes it at the end.
macro_rules! closeable_methods {
    ($class:ident; $($body:tt)*) => {
        $crate::resource_lifetime::context_manager_methods! { $class;
            $($body)*

            /// Release the resource now, unless already done; later use is an error. The end of a ``with`` block
            /// does the same.
            fn close(
                slf: $crate::resource_lifetime::Ready<'_, Self>,
                py: ::pyo3::Python<'_>,
            ) -> ::pyo3::PyResult<()> {
                $crate::errors::OrRaise::or_raise(py.detach(|| slf.0.close()))
            }

            /// Whether `close` was called.
            #[getter]
            fn is_closed(slf: $crate::resource_lifetime::Ready<'_, Self>) -> bool {
                slf.0.is_closed()
            }
        }
    };
}

pub(crate) use {closeable_methods, context_manager_methods, resource_methods};

/// Frees memory with the interpreter released: the driver may wait for work that another thread, which
/// wants the interpreter, has to do. At the interpreter's end the memory is left to its drop.
pub(crate) fn free_with_gil_released(free: impl FnOnce() + Send) {
    let _ = ::pyo3::Python::try_attach(|py| py.detach(free));
}

/// A value that is dropped with the interpreter released, as what Python objects are made of: the driver
/// may wait for work that another thread, which wants the interpreter, has to do, and so may the lock of
/// a context.
pub(crate) struct DropDetached<T: Send>(LateInit<T>);

impl<T: Send> Default for DropDetached<T> {
    fn default() -> Self {
        Self(LateInit::default())
    }
}

impl<T: Send> DropDetached<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(LateInit::new(value))
    }

    /// What `__init__` puts in place.
    pub(crate) fn init_value(&self, value: T) -> PyResult<()> {
        self.0.init_value(value)
    }

    #[inline]
    pub(crate) fn is_filled(&self) -> bool {
        self.0.is_filled()
    }
}

impl<T: Send> Deref for DropDetached<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Send + PartialEq> PartialEq for DropDetached<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is_filled() && other.is_filled() && **self == **other
    }
}

impl<T: Send> Drop for DropDetached<T> {
    fn drop(&mut self) {
        if let Some(value) = self.0.take_value() {
            free_with_gil_released(move || drop(value));
        }
    }
}

/// A value that is there from the beginning where Rust code makes the object, and that `__init__` puts in place where
/// Python does, so that subclasses may have constructors with other arguments.
pub(crate) enum LateInit<T> {
    Made(T),
    FromInit(OnceLock<T>),
}

impl<T> Default for LateInit<T> {
    fn default() -> Self {
        Self::FromInit(OnceLock::new())
    }
}

impl<T> LateInit<T> {
    #[inline]
    pub(crate) fn new(value: T) -> Self {
        Self::Made(value)
    }

    /// Puts the value in place, or gives it back if there was one.
    #[inline]
    pub(crate) fn set_once(&self, value: T) -> Result<(), T> {
        match self {
            Self::Made(_) => Err(value),
            Self::FromInit(cell) => cell.set(value),
        }
    }

    pub(crate) fn init_value(&self, value: T) -> PyResult<()> {
        self.set_once(value).map_err(|_| PyRuntimeError::new_err("__init__ was called a second time"))
    }

    #[inline]
    pub(crate) fn is_filled(&self) -> bool {
        self.get().is_some()
    }

    /// The value, if `__init__` was called.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        match self {
            Self::Made(value) => Some(value),
            Self::FromInit(cell) => cell.get(),
        }
    }

    fn take_value(&mut self) -> Option<T> {
        match std::mem::take(self) {
            Self::Made(value) => Some(value),
            Self::FromInit(cell) => cell.into_inner(),
        }
    }
}

impl<T> Deref for LateInit<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.get().unwrap_or_else(|| panic_uninitialised())
    }
}

/// The uses of an object that `__init__` has not filled go by [`Ready`], which refuses it.
#[cold]
pub(crate) fn panic_uninitialised() -> ! {
    std::panic::resume_unwind(Box::new(NOT_INITIALISED))
}

pub(crate) const NOT_INITIALISED: &str = "__init__ of the base class was not called; a subclass has to call it before the object \
                               is used, and so has a program that calls __new__";

/// A class of objects that Python makes: `__new__` makes them, `__init__` fills them.
pub(crate) trait FilledByInit: PyClass<Frozen = True> + Sync {
    /// Whether the object was made by Rust code, or `__init__` was called.
    fn is_filled(&self) -> bool {
        true
    }
}

/// An object that is filled. As the receiver of a method and as an argument it refuses any other with a `TypeError`.
pub(crate) struct Ready<'a, T> {
    object: &'a T,
}

impl<'a, T> Ready<'a, T> {
    /// For what outlives the receiver.
    pub(crate) fn object(self) -> &'a T {
        self.object
    }
}

impl<T> Clone for Ready<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ready<'_, T> {}

impl<T> Deref for Ready<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.object
    }
}

impl<'a, 'py, T: FilledByInit> TryFrom<&'a Bound<'py, T>> for Ready<'a, T> {
    type Error = PyErr;

    #[inline]
    fn try_from(bound: &'a Bound<'py, T>) -> PyResult<Self> {
        let object = bound.get();
        if object.is_filled() { Ok(Self { object }) } else { Err(not_initialised_error(bound)) }
    }
}

/// What a Python object of the class holds, if it is filled.
#[inline]
pub(crate) fn filled_object<'a, T: FilledByInit>(object: &'a Bound<'_, T>) -> PyResult<&'a T> {
    Ready::try_from(object).map(Ready::object)
}

/// An object that is filled, as an argument.
pub(crate) struct ReadyArgument<'py, T> {
    object: Bound<'py, T>,
}

impl<T: FilledByInit> Deref for ReadyArgument<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.object.get()
    }
}

impl<'py, T: FilledByInit> FromPyObject<'_, 'py> for ReadyArgument<'py, T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let object = object.cast::<T>()?.to_owned();
        Ready::try_from(&object)?;
        Ok(Self { object })
    }
}

#[cold]
fn not_initialised_error<T>(object: &Bound<'_, T>) -> PyErr {
    let kind = object.as_any().get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{kind}: {NOT_INITIALISED}"))
}

/// `__new__` of a class that `__init__` fills: it takes whatever a subclass' constructor takes.
macro_rules! impl_new_for_init {
    ($class:ident, $signature:literal) => {
        #[::pyo3::pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = (*_args, **_kwargs), text_signature = $signature)]
            fn new(
                _args: &::pyo3::Bound<'_, ::pyo3::types::PyTuple>,
                _kwargs: Option<&::pyo3::Bound<'_, ::pyo3::types::PyDict>>,
            ) -> Self {
                Self(Default::default())
            }
        }

        impl $crate::resource_lifetime::FilledByInit for $class {
            fn is_filled(&self) -> bool {
                self.0.is_filled()
            }
        }
    };
}

/// How a Python class of one core object is made.
macro_rules! impl_from_core {
    ($class:ident over $inner:ty) => {
        impl From<$inner> for $class {
            fn from(value: $inner) -> Self {
                Self($crate::resource_lifetime::DropDetached::new(value))
            }
        }
    };
}

pub(crate) use {impl_from_core, impl_new_for_init};
