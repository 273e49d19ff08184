//! A disk cache that processes share: files named by keys, in a folder of limited size.
//!
//! Establishes: other processes see a file whole or not at all, since it is written under a temporary name and renamed,
//! so they need no lock (a power failure may leave a truncated file, because files are not synced). The least recently
//! used files are evicted first. Foreign files in the folder are neither counted nor removed. Entries
//! ([`DiskCache::write_entry`]) describe themselves and are misses if damaged; for other files the caller checks the
//! contents.
//!
//! A cache may be private ([`CachePermissions::Private`]): folders and files must then belong to the user or the
//! system, and be writable by no one else, as is needed for code that is executed.
//!
//! The crate also makes folders for temporary files (`temporary_folder.rs`).

#![deny(unsafe_code)]

mod atomic_file;
mod entry;
mod evict;
mod folder;
mod temporary_folder;

pub use entry::{Checksum, FileMagic, checksum};
pub use evict::SweepTrigger;
pub use folder::{FolderState, user_cache_folder};
use std::path::{Path, PathBuf};
pub use temporary_folder::TemporaryFolder;

/// The key by which a file is named.
pub type FileKey = [u8; 32];

/// Who may write the files that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CachePermissions {
    /// Anyone whom the folder's permissions allow.
    Shared,
    /// Only the user with this id, and the system; folders and files are created accordingly.
    Private {
        /// The effective user of this process.
        user: u32,
    },
}

/// Which files count against the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeLimitScope {
    /// Those of the cache's folder.
    OwnDirectory,
    /// Those of all sibling folders named by this prefix and a number: other versions of the same cache.
    AllVersions(&'static str),
}

/// A disk cache of files `folder/ab/cdef....extension`.
#[derive(Debug, Clone)]
pub struct DiskCache {
    /// Its folder, which need not exist.
    pub folder: PathBuf,
    /// Size limit in bytes.
    pub limit: u64,
    /// Who may write to it.
    pub access: CachePermissions,
    /// Which files count against the limit.
    pub size_scope: SizeLimitScope,
}

impl DiskCache {
    /// The path of a key's file.
    pub fn path_for_key(&self, key: &FileKey, extension: &str) -> PathBuf {
        let hex: String = key.iter().map(|b| format!("{b:02x}")).collect();
        self.folder.join(&hex[..2]).join(format!("{}.{extension}", &hex[2..]))
    }

    /// Reads a file of the cache; `None` if it does not exist, or if others could have written it.
    pub fn read_file(&self, path: &Path) -> Option<Vec<u8>> {
        match self.access {
            CachePermissions::Shared => std::fs::read(path).ok(),
            CachePermissions::Private { user } if self.folder_state() == FolderState::Good => {
                atomic_file::read_private_file(path, user)
            }
            CachePermissions::Private { .. } => None,
        }
    }

    /// Writes a file from these parts, atomically, and creates its folders.
    ///
    /// # Errors
    /// When the folder cannot be written, or must not be used.
    pub fn write_file(&self, path: &Path, parts: &[&[u8]]) -> std::io::Result<()> {
        let shard = path.parent().unwrap_or(&self.folder);
        match self.access {
            CachePermissions::Shared => std::fs::create_dir_all(shard)?,
            CachePermissions::Private { .. } => {
                self.access.make_folder(&self.folder)?;
                self.access.make_folder(shard)?;
            }
        }
        atomic_file::write_atomically(path, parts, self.access != CachePermissions::Shared)
    }
}
