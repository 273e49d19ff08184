//! The error of array operations, classified by how the caller can react.

use std::error::Error;
use std::fmt;

/// Result of array operations.
pub type Result<T> = std::result::Result<T, ArrayError>;

/// The kind of an [`ArrayError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrayErrorKind {
    /// Shapes, sizes or layouts do not fit (Python: `ValueError`).
    Value,
    /// The dtypes do not allow the operation (Python: `TypeError`).
    Type,
    /// A Python integer does not fit the dtype (Python: `OverflowError`).
    Overflow,
    /// An index lies outside its axis (Python: `IndexError`).
    Index,
    /// An axis lies outside the array (Python: `numpy.exceptions.AxisError`).
    Axis,
    /// A matrix is unsuitable, or an iteration did not converge (Python: `numpy.linalg.LinAlgError`).
    LinearAlgebra,
    /// An element was read on the host while a function was being traced for fusion (Python: `FusionError`).
    Traced,
    /// The device or the compiler failed; see the source error.
    Runtime,
}

/// The error of an array operation.
#[derive(Debug)]
pub struct ArrayError {
    kind: ArrayErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ArrayError {
    /// Makes an error of this kind with a message.
    pub fn new(kind: ArrayErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// An invalid argument or call.
    pub fn value_error(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::Value, message)
    }

    /// Dtypes that the operation does not support.
    pub fn type_error(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::Type, message)
    }

    /// A number outside the range of its dtype.
    pub fn overflow_error(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::Overflow, message)
    }

    /// An index outside its axis.
    pub fn index_error(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::Index, message)
    }

    /// An axis outside an array of `ndim` axes.
    pub fn axis_error(axis: isize, ndim: usize) -> Self {
        let message = format!("axis {axis} is out of bounds for array of dimension {ndim}");
        Self::new(ArrayErrorKind::Axis, message)
    }

    /// An unsuitable matrix, or an iteration that did not converge.
    pub fn linear_algebra_error(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::LinearAlgebra, message)
    }

    /// Wraps an error from the runtime.
    pub fn runtime_error(source: impl Error + Send + Sync + 'static) -> Self {
        Self { kind: ArrayErrorKind::Runtime, message: source.to_string(), source: Some(Box::new(source)) }
    }

    /// The kind of the error.
    pub fn kind(&self) -> ArrayErrorKind {
        self.kind
    }

    /// The runtime's own error, if it is of type `E`; otherwise this one again.
    ///
    /// # Errors
    /// This error, if its source is of another type or missing.
    pub fn into_source<E: Error + 'static>(mut self) -> std::result::Result<E, Self> {
        match self.source.take().map(|source| source.downcast::<E>()) {
            Some(Ok(source)) => Ok(*source),
            Some(Err(other)) => Err(Self { source: Some(other), ..self }),
            None => Err(self),
        }
    }

    /// The runtime's own error, if it is of type `E`.
    pub fn downcast_source<E: Error + 'static>(&self) -> Option<&E> {
        self.source.as_deref().and_then(|source| source.downcast_ref())
    }
}

impl fmt::Display for ArrayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ArrayError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
