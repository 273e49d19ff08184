//! Where caches lie, and whether what lies there may be used.

use crate::{CachePermissions, DiskCache};
use std::path::{Path, PathBuf};

/// A cache's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderState {
    /// There is none yet.
    Missing,
    /// It may be used.
    Good,
    /// It is no folder, or others than the user of a private cache may write it.
    NotTrusted,
}

/// The folder `name` among the caches of the user; `None` where no home is known. Reads the environment.
pub fn user_cache_folder(name: &str) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = || variable("HOME").or_else(|| variable("USERPROFILE"));
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA").or_else(home)
    } else if cfg!(target_os = "macos") {
        home().map(|h| h.join("Library/Caches"))
    } else {
        variable("XDG_CACHE_HOME").or_else(|| home().map(|h| h.join(".cache")))
    };
    base.map(|b| b.join(name))
}

impl DiskCache {
    /// What its folder is now.
    pub fn folder_state(&self) -> FolderState {
        let metadata = match self.access {
            CachePermissions::Shared => std::fs::metadata(&self.folder),
            // A link leads where others may have put something.
            CachePermissions::Private { .. } => std::fs::symlink_metadata(&self.folder),
        };
        let Ok(metadata) = metadata else { return FolderState::Missing };
        let is_good = metadata.is_dir()
            && match self.access {
                CachePermissions::Shared => true,
                CachePermissions::Private { user } => is_owned_and_private(&metadata, user),
            };
        if is_good { FolderState::Good } else { FolderState::NotTrusted }
    }
}

/// Whether a file or folder belongs to the user, and nobody else may write it.
#[cfg(unix)]
pub(crate) fn is_owned_and_private(metadata: &std::fs::Metadata, user: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == user && metadata.mode() & 0o022 == 0
}

/// Whose a file is cannot be seen here, so that nothing is private.
#[cfg(not(unix))]
pub(crate) fn is_owned_and_private(_metadata: &std::fs::Metadata, _user: u32) -> bool {
    false
}

/// Makes a folder for this user alone, unless it exists; those above it as usual.
pub(crate) fn make_folder_private(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent)?;
    }
    #[cfg_attr(not(unix), expect(unused_mut, reason = "rights are set on Unix only"))]
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    }
}
