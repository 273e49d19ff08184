//! The lock of a folder of results, held while a line is written or a file is replaced.

use super::error::{StoreError, StoreErrorKind};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

/// Nobody holds a lock longer than a write takes, unless it was stopped in that moment.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Other processes, and other threads of this one, wait while this exists.
pub(super) struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Waits for the lock. Where the file system knows no locks, there is none to wait for: appended lines are single
    /// writes, and stay whole on local disks even so.
    pub(super) fn take(folder: &Path) -> Result<Self, StoreError> {
        // Beside the files, since these are replaced, and a locked file cannot be read on Windows.
        let path = folder.join("lock");
        let failed = |error| StoreError::io(&path, "cannot be opened", &error);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        let (start, mut pause) = (Instant::now(), Duration::from_micros(20));
        loop {
            match file.try_lock() {
                Ok(()) | Err(TryLockError::Error(_)) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if start.elapsed() > TIMEOUT => {
                    let message = format!("another process has held {} for {TIMEOUT:?}", path.display());
                    return Err(StoreError::new(StoreErrorKind::Locked, message));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(pause),
            }
            pause = (2 * pause).min(Duration::from_millis(2));
        }
    }
}
