//! The state of the disk cache, for reports.

use super::{ENTRY_EXTENSION, cache_directory, open_disk_cache};
use std::path::{Path, PathBuf};

/// The state of the disk cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheStatus {
    /// Its folder, which need not exist yet.
    pub dir: PathBuf,
    /// Number of compiled programs.
    pub n_programs: u64,
    /// Total size of all files in bytes.
    pub n_bytes: u64,
    /// Size limit in bytes.
    pub limit_bytes: u64,
    /// Why it cannot be written, if that is the case.
    pub unwritable: Option<String>,
}

/// Returns the state of the cache; `None` if the disk cache is off.
pub fn cache_status() -> Option<CacheStatus> {
    let dir = cache_directory()?;
    let disk = open_disk_cache(&dir);
    let (n_programs, n_bytes) = disk.count_files_and_bytes(ENTRY_EXTENSION);
    let unwritable = probe_writable(&dir).err().map(|error| error.to_string());
    Some(CacheStatus { n_programs, n_bytes, limit_bytes: disk.limit, unwritable, dir })
}

/// Writes a file there and removes it; where the folder does not exist, in the one it would be made in.
fn probe_writable(dir: &Path) -> std::io::Result<()> {
    if dir.exists() && !dir.is_dir() {
        return Err(std::io::ErrorKind::NotADirectory.into());
    }
    let existing = dir.ancestors().find(|d| d.is_dir()).unwrap_or(dir);
    let file = existing.join(format!(".rtcg-probe-{}", std::process::id()));
    std::fs::write(&file, b"?")?;
    std::fs::remove_file(&file)
}
