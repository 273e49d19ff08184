//! Why a store could not be read or written.

use crate::strict_json::printable;
use std::fmt;
use std::io;
use std::path::Path;

/// A failure of the store. A search may continue after any of them, since its results are still in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreError {
    kind: StoreErrorKind,
    message: String,
}

/// How a caller can react to a failure of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The disk, a quota or the file is full: free some space and try again.
    Full,
    /// This user may not write (or read) the folder or file: use another one.
    Permission,
    /// Another process has held the folder's lock too long.
    Locked,
    /// A newer version of this program wrote the file.
    Version,
    /// A file, an import or a record has invalid contents.
    Content,
    /// Any other failure of the file system.
    Io,
}

impl StoreError {
    pub(super) fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(super) fn content(path: &Path, message: &str) -> Self {
        Self::new(StoreErrorKind::Content, format!("{} {message}", path.display()))
    }

    /// `what` says what could not be done, such as "cannot be written".
    pub(super) fn io(path: &Path, what: &str, error: &io::Error) -> Self {
        use io::ErrorKind;
        let kind = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => StoreErrorKind::Full,
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StoreErrorKind::Permission,
            _ => StoreErrorKind::Io,
        };
        Self::new(kind, format!("{} {what}: {error}", path.display()))
    }

    /// How a caller can react.
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tuning results: {}", self.message)
    }
}

impl std::error::Error for StoreError {}

/// A name of others, in quotes, for a message.
pub(super) fn printable_name(name: &str) -> String {
    format!("{:?}", printable(name))
}
