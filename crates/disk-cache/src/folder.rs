//! The folders of caches, and whether their contents may be used.

use crate::{CachePermissions, DiskCache};
use std::path::{Path, PathBuf};

/// The state of a cache's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderState {
    /// It does not exist yet.
    Missing,
    /// It may be used.
    Good,
    /// It is not a folder, or others than the user of a private cache may write to it.
    NotTrusted,
}

/// The folder `name` among the user's caches; `None` if no home directory is known. Reads the environment.
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

impl CachePermissions {
    /// Permissions for a cache whose files determine what is executed: only this user may write, if the system has
    /// users.
    pub fn of_this_user() -> Self {
        #[cfg(unix)]
        return Self::Private { user: effective_user() };
        #[cfg(not(unix))]
        return Self::Shared;
    }

    /// Creates a folder, unless it exists, with permissions for those who may write to it.
    ///
    /// # Errors
    /// When it cannot be created, or others may write to it.
    pub fn make_folder(self, folder: &Path) -> std::io::Result<()> {
        match self {
            Self::Shared => std::fs::create_dir_all(folder),
            Self::Private { .. } => {
                make_folder_private(folder)?;
                let error = std::io::Error::new(
                    std::io::ErrorKind::PermissionDenied,
                    "others may write there, it is another user's, or it is a link",
                );
                if self.trust_folder(folder) { Ok(()) } else { Err(error) }
            }
        }
    }

    /// Whether a folder exists and nobody else may write to it.
    pub fn trust_folder(self, folder: &Path) -> bool {
        self.state_of(folder) == FolderState::Good
    }

    fn state_of(self, folder: &Path) -> FolderState {
        let metadata = match self {
            Self::Shared => std::fs::metadata(folder),
            // A link leads where others may have put something.
            Self::Private { .. } => std::fs::symlink_metadata(folder),
        };
        let Ok(metadata) = metadata else { return FolderState::Missing };
        let is_good = metadata.is_dir()
            && match self {
                Self::Shared => true,
                Self::Private { user } => is_owned_and_private(&metadata, user),
            };
        if is_good { FolderState::Good } else { FolderState::NotTrusted }
    }
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "a function of C without a safe form in the standard library")]
fn effective_user() -> u32 {
    // SAFETY: asks for a number.
    unsafe { libc::geteuid() }
}

impl DiskCache {
    /// The current state of its folder.
    pub fn folder_state(&self) -> FolderState {
        self.access.state_of(&self.folder)
    }
}

/// Whether a file or folder belongs to the user or to root, who may write everything anyway, and nobody else may write
/// to it.
#[cfg(unix)]
pub(crate) fn is_owned_and_private(metadata: &std::fs::Metadata, user: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    (metadata.uid() == user || metadata.uid() == 0) && metadata.mode() & 0o022 == 0
}

/// The owner of a file is unknown on this platform, so no file counts as private.
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
    match make_new_folder(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    }
}

/// Makes a folder for this user alone; nothing of that name may be there.
pub(crate) fn make_new_folder(folder: &Path) -> std::io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "rights are set on Unix only"))]
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
