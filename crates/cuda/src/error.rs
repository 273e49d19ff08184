//! The error of this crate: which part failed, with that part's own error inside.

use rtcg_hal::ArrayError;
use std::fmt;

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Where a failure came from, with the error of that part inside.
///
/// `Debug`, which `unwrap` and a `main` returning this error print, shows the same message as `Display`, because it
/// would otherwise escape the newlines of a compiler's log.
///
/// The error is `Send + Sync`, so `?` converts it to `anyhow::Error`.
#[non_exhaustive]
pub enum Error {
    /// The driver, real or virtual.
    Driver(rtcg_driver::Error),
    /// The compiler.
    Compile(Box<rtcg_compile::CompileError>),
    /// An array operation, or the arguments or the description of a generated kernel.
    Array(ArrayError),
    /// A collective, or a communicator.
    Nccl(rtcg_driver::nccl::NcclError),
    /// cuBLAS, cuFFT or cuSOLVER.
    Library(Box<rtcg_driver::libraries::LibraryError>),
}

impl Error {
    /// An invalid argument, call or description of a kernel.
    pub fn value_error(message: impl Into<String>) -> Self {
        Error::Array(ArrayError::value_error(message))
    }

    /// Types, or a number of arguments, that a call does not take.
    pub fn type_error(message: impl Into<String>) -> Self {
        Error::Array(ArrayError::type_error(message))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Driver(error) => error.fmt(f),
            Error::Compile(error) => error.fmt(f),
            Error::Array(error) => error.fmt(f),
            Error::Nccl(error) => error.fmt(f),
            Error::Library(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    /// What caused the inner error, whose message this one's is.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Driver(error) => error.source(),
            Error::Compile(error) => error.source(),
            Error::Array(error) => error.source(),
            Error::Nccl(error) => error.source(),
            Error::Library(error) => error.source(),
        }
    }
}

impl From<rtcg_driver::Error> for Error {
    fn from(error: rtcg_driver::Error) -> Self {
        Error::Driver(error)
    }
}

impl From<rtcg_driver::nccl::NcclError> for Error {
    fn from(error: rtcg_driver::nccl::NcclError) -> Self {
        Error::Nccl(error)
    }
}

impl From<rtcg_driver::libraries::LibraryError> for Error {
    fn from(error: rtcg_driver::libraries::LibraryError) -> Self {
        Error::Library(Box::new(error))
    }
}

impl From<rtcg_compile::CompileError> for Error {
    fn from(error: rtcg_compile::CompileError) -> Self {
        Error::Compile(Box::new(error))
    }
}

impl From<ArrayError> for Error {
    /// The error of the part that failed, where arrays passed one on.
    fn from(error: ArrayError) -> Self {
        let error = error.into_source::<rtcg_driver::Error>().map(Error::Driver);
        error
            .or_else(|error| error.into_source::<rtcg_compile::CompileError>().map(Error::from))
            .unwrap_or_else(Error::Array)
    }
}

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn debug_is_the_message() {
        let error = Error::from(rtcg_driver::Error::new("cuInit", Default::default(), "one\ntwo"));
        assert_eq!(format!("{error:?}"), error.to_string());
        assert!(error.to_string().ends_with("one\ntwo"));
    }
}
