//! What can go wrong with arrays, by what the caller can do about it.

use std::error::Error;
use std::fmt;

/// Result of array operations.
pub type Result<T> = std::result::Result<T, ArrayError>;

/// The family of an [`ArrayError`].
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
    /// A matrix does not allow what is asked of it, or iterations did not end (Python: `numpy.linalg.LinAlgError`).
    LinearAlgebra,
    /// An element was read on the host while a function is traced for fusion (Python: `FusionError`).
    Traced,
    /// The device or the compiler failed; the source tells.
    Runtime,
}

/// An error of an array operation.
#[derive(Debug)]
pub struct ArrayError {
    kind: ArrayErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ArrayError {
    /// An error of a family, with its message.
    pub fn new(kind: ArrayErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// An argument or a call that makes no sense.
    pub fn value_error(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::Value, message)
    }

    /// Dtypes that do not allow the operation.
    pub fn type_error(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::Type, message)
    }

    pub(crate) fn overflow_error(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::Overflow, message)
    }

    /// An index outside its axis.
    pub fn index_error(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::Index, message)
    }

    pub(crate) fn axis_error(axis: isize, ndim: usize) -> Self {
        let message = format!("axis {axis} is out of bounds for array of dimension {ndim}");
        Self::new(ArrayErrorKind::Axis, message)
    }

    pub(crate) fn linear_algebra_error(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::LinearAlgebra, message)
    }

    /// Wraps an error of the runtime.
    pub fn runtime_error(source: impl Error + Send + Sync + 'static) -> Self {
        Self { kind: ArrayErrorKind::Runtime, message: source.to_string(), source: Some(Box::new(source)) }
    }

    /// The family.
    pub fn kind(&self) -> ArrayErrorKind {
        self.kind
    }

    /// The runtime's own error, when there is one of type `E`.
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

impl From<rtcg_codegen::array::OpTypeError> for ArrayError {
    fn from(refused: rtcg_codegen::array::OpTypeError) -> Self {
        ArrayError::type_error(refused.to_string())
    }
}
