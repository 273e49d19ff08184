//! Limits the size of a cache, by evicting the least recently used files.
//!
//! The files are counted when this process has stored a sixteenth of the limit since the last count, or when no process
//! has counted for an hour; so the limit may be exceeded by that much per process for a while.

use crate::atomic_file::TEMPORARY_EXTENSION;
use crate::{DiskCache, SizeLimitScope};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

const SWEEP_INTERVAL: Duration = Duration::from_secs(3600);

/// Counts the bytes that this process has stored in a cache since it last counted the files.
#[derive(Debug, Default)]
pub struct SweepTrigger(AtomicU64);

impl SweepTrigger {
    /// Makes a trigger with no bytes stored.
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }
}

struct CachedFile {
    path: PathBuf,
    size: u64,
    used: SystemTime,
}

impl DiskCache {
    /// Call this after writing `bytes`. When due, it counts the files and removes the oldest ones.
    pub fn sweep_if_due(&self, bytes: u64, pace: &SweepTrigger) {
        let marker = self.sweep_marker_path();
        let stored = pace.0.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let counted = std::fs::metadata(&marker).and_then(|m| m.modified());
        let is_fresh = counted.is_ok_and(|time| time.elapsed().is_ok_and(|age| age < SWEEP_INTERVAL));
        if is_fresh && stored < self.limit / 16 {
            return;
        }
        pace.0.store(0, Ordering::Relaxed);
        let _ = std::fs::write(&marker, b"");
        self.evict_oldest();
    }

    /// Counts the files with this extension, and the bytes of all files that count against the limit.
    pub fn count_files_and_bytes(&self, extension: &str) -> (u64, u64) {
        let files = self.cached_files();
        let counted = files.iter().filter(|file| file.path.extension().is_some_and(|e| e == extension)).count();
        (counted as u64, files.iter().map(|file| file.size).sum())
    }

    /// The file whose modification time says when the files were last counted.
    fn sweep_marker_path(&self) -> PathBuf {
        match self.size_scope {
            SizeLimitScope::OwnDirectory => self.folder.join("last-scan"),
            SizeLimitScope::AllVersions(prefix) => self.parent_directory().join(format!("{prefix}last-scan")),
        }
    }

    fn parent_directory(&self) -> &Path {
        self.folder.parent().unwrap_or(Path::new("."))
    }

    /// Removes what was used longest ago until nine tenths of the limit are left; that leaves room for a while.
    fn evict_oldest(&self) {
        let mut files = self.cached_files();
        let mut total: u64 = files.iter().map(|file| file.size).sum();
        if total <= self.limit {
            return;
        }
        files.sort_by_key(|file| file.used);
        for file in files {
            if total <= self.limit / 10 * 9 {
                return;
            }
            if std::fs::remove_file(&file.path).is_ok() {
                total -= file.size;
            }
        }
    }

    /// The files that count, two levels below the folders that do; anything else is not ours to count or remove.
    fn cached_files(&self) -> Vec<CachedFile> {
        let folders = match self.size_scope {
            SizeLimitScope::OwnDirectory => vec![self.folder.clone()],
            SizeLimitScope::AllVersions(prefix) => {
                subfolders(self.parent_directory()).filter(|path| is_version_folder(path, prefix)).collect()
            }
        };
        folders.iter().flat_map(|folder| subfolders(folder)).flat_map(|shard| cached_files_in_shard(&shard)).collect()
    }
}

fn is_version_folder(path: &Path, prefix: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let version = name.and_then(|name| name.strip_prefix(prefix)).unwrap_or_default();
    !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit())
}

fn dir_entries(folder: &Path) -> impl Iterator<Item = std::fs::DirEntry> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten()
}

/// The folders in a folder; links are none.
fn subfolders(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    dir_entries(folder).filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).map(|e| e.path())
}

/// The files of a shard. Temporary ones that a killed process has left are removed on the way.
fn cached_files_in_shard(shard: &Path) -> Vec<CachedFile> {
    let mut kept = Vec::new();
    for entry in dir_entries(shard) {
        let Some(metadata) = entry.metadata().ok().filter(std::fs::Metadata::is_file) else { continue };
        let (path, used) = (entry.path(), metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH));
        if path.extension().is_none_or(|e| e != TEMPORARY_EXTENSION) {
            kept.push(CachedFile { path, size: metadata.len(), used });
        } else if used.elapsed().is_ok_and(|age| age > SWEEP_INTERVAL) {
            let _ = std::fs::remove_file(&path);
        }
    }
    kept
}
