//! Why a store could not be read or written.

use crate::strict_json::printable;
use std::fmt;
use std::io;
use std::path::Path;

/// A failure of the store. A search may go on after any of them: what was measured is known in memory still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreError {
    kind: StoreErrorKind,
    message: String,
}

/// What a caller can do about a failure of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The disk, a quota or the file is full: make room and try again.
    Full,
    /// The folder or file may not be written (or read) by this user: name another.
    Permission,
    /// Another process has held the lock of the folder too long.
    Locked,
    /// The file is of a newer version of this program.
    Version,
    /// What a file, an import or a record contains is not what it should be.
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

    /// What a caller can do about it.
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
