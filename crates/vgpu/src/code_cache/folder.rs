//! Where the cache lies, and whether what lies there may be executed.

use std::fs::{DirBuilder, Metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The cache's own folder in the user's. The compiler's cache counts all folders that begin so.
pub(super) const NAME: &str = "rtcg-code-1";

/// The folder that the environment asks for: `CUDA_CACHE_PATH`, else that of the compiler's cache.
pub(super) fn from_environment() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
    let disabled = variable("CUDA_CACHE_DISABLE").is_some_and(|v| v != "0");
    // Who looks at the compiler wants it to run.
    let watched =
        ["RTCG_DUMP_CLIF", "RTCG_DUMP_ASM", "RTCG_VERIFY_JIT"].iter().any(|name| std::env::var_os(name).is_some());
    if disabled || watched || std::env::var_os("PYCUDA_DISABLE_CACHE").is_some() {
        return None;
    }
    let path = |name: &str| variable(name).map(PathBuf::from);
    let home = || path("HOME");
    let of_user = || {
        let base = if cfg!(target_os = "macos") {
            home()?.join("Library/Caches")
        } else {
            path("XDG_CACHE_HOME").or_else(|| home().map(|h| h.join(".cache")))?
        };
        Some(base.join("pycuda"))
    };
    let folder = path("CUDA_CACHE_PATH").or_else(|| path("PYCUDA_CACHE_DIR")).or_else(of_user)?;
    Some(folder.join(NAME))
}

/// Whether a file or folder belongs to the user of this process, and nobody else may write it.
pub(super) fn is_ours_alone(metadata: &Metadata) -> bool {
    // SAFETY: asks for a number.
    let user = unsafe { libc::geteuid() };
    metadata.uid() == user && metadata.mode() & 0o022 == 0
}

/// Whether the folder exists and what lies there may be executed. One that may not is told of once.
pub(super) fn is_trusted(folder: &Path) -> bool {
    static TOLD: AtomicBool = AtomicBool::new(false);
    let Ok(metadata) = std::fs::symlink_metadata(folder) else { return false };
    let good = metadata.is_dir() && is_ours_alone(&metadata);
    if !good && !TOLD.swap(true, Ordering::Relaxed) {
        let folder = folder.display();
        eprintln!(
            "rtcg: machine code is not kept in {folder}: it is no folder, others may write there, or it is another user's"
        );
    }
    good
}

/// Whether code may be kept there: the folder is trusted or does not exist yet.
pub(super) fn is_usable(folder: &Path) -> bool {
    std::fs::symlink_metadata(folder).is_err() || is_trusted(folder)
}

/// Makes a folder for this user alone, unless it exists.
pub(super) fn make(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    }
}
