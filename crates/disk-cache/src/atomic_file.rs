//! Single files: written under a temporary name and renamed, read if permitted, marked as used.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// The ending of names of files that are being written.
pub(crate) const TEMPORARY_EXTENSION: &str = "tmp";

/// A file that is used is marked so once in that time: its modification time is the clock of the eviction, and a
/// write for each use would cost more than the use.
const RECENT_USE_MARK_INTERVAL: Duration = Duration::from_secs(3600);

/// Puts a file in place whole or not at all.
pub(crate) fn write_atomically(path: &Path, parts: &[&[u8]], private: bool) -> std::io::Result<()> {
    let temporary = temporary_path_beside(path);
    let mut file = file_open_options(private).write(true).create_new(true).open(&temporary)?;
    let written = parts.iter().try_for_each(|part| file.write_all(part));
    drop(file);
    let placed = written.and_then(|()| std::fs::rename(&temporary, path));
    if placed.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    placed
}

fn temporary_path_beside(path: &Path) -> PathBuf {
    static N_TEMPORARIES: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_nanos();
    let count = N_TEMPORARIES.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".{}-{count}-{now}.{TEMPORARY_EXTENSION}", std::process::id()))
}

/// How files are opened: those of a private cache are no links, and are made for the user alone.
#[cfg(unix)]
fn file_open_options(private: bool) -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    if private {
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW);
    }
    options
}

#[cfg(not(unix))]
fn file_open_options(_private: bool) -> OpenOptions {
    File::options()
}

/// What a file holds that belongs to the user and that nobody else may write.
#[cfg(unix)]
pub(crate) fn read_private_file(path: &Path, user: u32) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut file = file_open_options(true).read(true).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || !crate::folder::is_owned_and_private(&metadata, user) {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).ok()?);
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(not(unix))]
pub(crate) fn read_private_file(_path: &Path, _user: u32) -> Option<Vec<u8>> {
    None
}

impl crate::DiskCache {
    /// Marks a file of the cache as used, so that it is kept longer; the mark is at most an hour old.
    pub fn mark_recently_used(&self, path: &Path) {
        let Ok(modified) = std::fs::symlink_metadata(path).and_then(|m| m.modified()) else { return };
        if modified.elapsed().is_ok_and(|age| age > RECENT_USE_MARK_INTERVAL)
            && let Ok(file) = file_open_options(self.access != crate::CachePermissions::Shared).write(true).open(path)
        {
            let _ = file.set_modified(SystemTime::now());
        }
    }
}
