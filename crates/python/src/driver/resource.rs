//! What all memory that can be given back has in common: `close()` and the `with` statement.

/// Methods of a class, with the freeing method of upstream's name, which is an error the second time;
/// `close()`, which is not; and the `with` statement.
macro_rules! resource_methods {
    ($class:ident, free = $free:ident, is_freed = |$a:ident| $is_freed:expr, release = |$b:ident| $release:expr; $($body:tt)*) => {
        #[::pyo3::pymethods]
        impl $class {
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

pub(crate) use resource_methods;

/// Frees memory with the interpreter released: the driver may wait for work that another thread, which
/// wants the interpreter, has to do. At the interpreter's end the memory is left to its drop.
pub(crate) fn without_interpreter(free: impl FnOnce() + Send) {
    let _ = ::pyo3::Python::try_attach(|py| py.detach(free));
}
