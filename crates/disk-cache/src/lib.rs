//! A cache on disk that processes share: files named by keys, in a folder of limited size.
//!
//! Establishes: other processes see a file whole or not at all, since it is written under a temporary name and renamed,
//! so that they need no lock (a loss of power may leave a truncated one, as files are not synced). The least recently
//! used files are evicted first. Files of others in the folder are neither counted nor removed. Entries
//! ([`DiskCache::write_entry`]) say what they are, and are none when they were damaged; of other files the caller checks
//! the contents.
//!
//! A cache may be private ([`CachePermissions::Private`]): then folders and files must belong to the user, or to the
//! system's, and be writable by no one else, as is needed for code that is executed.

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

/// What files are named by.
pub type FileKey = [u8; 32];

/// Who may write what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CachePermissions {
    /// Whoever the folder's rights allow.
    Shared,
    /// The user with this number alone, beside the system's; folders and files are made so.
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
    /// Those of all folders beside it whose names are this and a number: other versions of the same cache.
    AllVersions(&'static str),
}

/// A cache: `folder/ab/cdef....extension`.
#[derive(Debug, Clone)]
pub struct DiskCache {
    /// Its folder, which need not exist.
    pub folder: PathBuf,
    /// Bytes that it is kept below.
    pub limit: u64,
    /// Who may write it.
    pub access: CachePermissions,
    /// What counts against the limit.
    pub size_scope: SizeLimitScope,
}

impl DiskCache {
    /// The file of a key.
    pub fn path_for_key(&self, key: &FileKey, extension: &str) -> PathBuf {
        let hex: String = key.iter().map(|b| format!("{b:02x}")).collect();
        self.folder.join(&hex[..2]).join(format!("{}.{extension}", &hex[2..]))
    }

    /// What a file of the cache holds; `None` if there is none, or others could have written it.
    pub fn read_file(&self, path: &Path) -> Option<Vec<u8>> {
        match self.access {
            CachePermissions::Shared => std::fs::read(path).ok(),
            CachePermissions::Private { user } if self.folder_state() == FolderState::Good => {
                atomic_file::read_private_file(path, user)
            }
            CachePermissions::Private { .. } => None,
        }
    }

    /// Puts a file of these parts in place, whole or not at all, and makes the folders for it.
    ///
    /// # Errors
    /// When the folder cannot be written, or is none that may be used.
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
