//! Temporary folders that nobody else has created and nobody else can write or read.
//!
//! Their names can be guessed. Creating one fails if the name already exists, even as a link, and then another name is
//! tried; so everything in a folder was put there by this process.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A new temporary folder, which is removed when dropped.
#[derive(Debug)]
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Creates a folder whose name begins with `prefix`.
    ///
    /// # Errors
    /// When the folder for temporary files cannot be written.
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

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Keeps the folder and returns its path.
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
