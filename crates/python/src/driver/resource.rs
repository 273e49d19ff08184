//! What all that can be given back has in common: `close()`, the `with` statement, and being dropped
//! with the interpreter released.

use std::mem::ManuallyDrop;
use std::ops::Deref;

/// Methods of a class, `close(py)` among them; the end of a `with` statement calls it.
macro_rules! with_methods {
    ($class:ident; $($body:tt)*) => {
        #[::pyo3::pymethods]
        impl $class {
            $($body)*

            fn __enter__(slf: ::pyo3::Bound<'_, Self>) -> ::pyo3::Bound<'_, Self> {
                slf
            }

            #[pyo3(signature = (*_exception))]
            fn __exit__(
                &self,
                py: ::pyo3::Python<'_>,
                _exception: &::pyo3::Bound<'_, ::pyo3::types::PyTuple>,
            ) -> ::pyo3::PyResult<()> {
                self.close(py)
            }
        }
    };
}

/// Methods of a class, with the freeing method of upstream's name, which is an error the second time;
/// `close()`, which is not; and the `with` statement.
macro_rules! resource_methods {
    ($class:ident, free = $free:ident, is_freed = |$a:ident| $is_freed:expr, release = |$b:ident| $release:expr; $($body:tt)*) => {
        $crate::driver::resource::with_methods! { $class;
            $($body)*

            /// Give the memory back now. A second time is a `LogicError`.
            fn $free(&self, py: ::pyo3::Python<'_>) -> ::pyo3::PyResult<()> {
                let $b = &self.0;
                $crate::errors::OrRaise::or_raise(py.detach(|| $release))
            }

            /// Give the memory back now, if that was not done before.
            fn close(&self, py: ::pyo3::Python<'_>) -> ::pyo3::PyResult<()> {
                let $a = &self.0;
                if $is_freed { Ok(()) } else { self.$free(py) }
            }
        }
    };
}

/// Methods of a class whose core object can be closed, any number of times; `with` closes it at the end.
macro_rules! closing_methods {
    ($class:ident; $($body:tt)*) => {
        $crate::driver::resource::with_methods! { $class;
            $($body)*

            fn close(&self, py: ::pyo3::Python<'_>) -> ::pyo3::PyResult<()> {
                $crate::errors::OrRaise::or_raise(py.detach(|| self.0.close()))
            }

            #[getter]
            fn is_closed(&self) -> bool {
                self.0.is_closed()
            }
        }
    };
}

pub(crate) use {closing_methods, resource_methods, with_methods};

/// Frees memory with the interpreter released: the driver may wait for work that another thread, which
/// wants the interpreter, has to do. At the interpreter's end the memory is left to its drop.
pub(crate) fn without_interpreter(free: impl FnOnce() + Send) {
    let _ = ::pyo3::Python::try_attach(|py| py.detach(free));
}

/// A value that is dropped with the interpreter released, as what Python objects are made of: the driver
/// may wait for work that another thread, which wants the interpreter, has to do, and so may the lock of
/// a context.
pub(crate) struct Detached<T: Send>(ManuallyDrop<T>);

impl<T: Send> Detached<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }
}

impl<T: Send> Deref for Detached<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Send + PartialEq> PartialEq for Detached<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Send> Drop for Detached<T> {
    fn drop(&mut self) {
        // SAFETY: the value is taken once, and nothing sees it afterwards.
        let value = unsafe { ManuallyDrop::take(&mut self.0) };
        without_interpreter(move || drop(value));
    }
}

/// How a Python class of one core object is made.
macro_rules! detached {
    ($class:ident over $inner:ty) => {
        impl From<$inner> for $class {
            fn from(value: $inner) -> Self {
                Self($crate::driver::resource::Detached::new(value))
            }
        }
    };
}

pub(crate) use detached;
