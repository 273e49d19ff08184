//! Folders for temporary files that nobody else has made, can write or can read.
//!
//! Their names can be guessed. Making one fails where something of that name is there, a link too, and then another name
//! is tried: what is in a folder was put there by this process.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A new folder among the temporary files, which is removed when dropped.
#[derive(Debug)]
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes one whose name begins with `prefix`.
    ///
    /// # Errors
    /// Where the folder for temporary files cannot be written.
    pub fn new(prefix: &str) -> std::io::Result<Self> {
        static N_FOLDERS: AtomicU64 = AtomicU64::new(0);
        loop {
            let count = N_FOLDERS.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("{prefix}-{}-{count}", std::process::id()));
            match crate::folder::make_new_folder(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The folder, which stays.
    pub fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}
