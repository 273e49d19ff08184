//! [`GeneratorError`]: what is wrong with a generated kernel's arguments.

use std::fmt;

/// The family of a [`GeneratorError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GeneratorErrorKind {
    /// Shapes, sizes, ranges or declarations (Python: `ValueError`).
    Value,
    /// Types or the number of arguments (Python: `TypeError`).
    Type,
}

/// A call of a generated kernel with invalid arguments, or an invalid description of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratorError {
    /// The family.
    pub kind: GeneratorErrorKind,
    /// What is wrong, with the values given.
    pub message: String,
}

impl GeneratorError {
    pub(crate) fn value_error(message: impl Into<String>) -> crate::Error {
        crate::Error::Generator(Self { kind: GeneratorErrorKind::Value, message: message.into() })
    }

    pub(crate) fn type_error(message: impl Into<String>) -> crate::Error {
        crate::Error::Generator(Self { kind: GeneratorErrorKind::Type, message: message.into() })
    }
}

impl fmt::Display for GeneratorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for GeneratorError {}
