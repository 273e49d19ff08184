//! Keeps the cache below its size, dropping what was used longest ago.
//!
//! The folder is scanned when this process has kept a sixteenth of the limit since its last scan, or
//! when no process has scanned for an hour; so the limit can be overstepped by that much per process
//! for a while.

use crate::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// What NVIDIA's driver keeps.
const DEFAULT_LIMIT: u64 = 1 << 30;
const HOUR: Duration = Duration::from_secs(3600);

static STORED: AtomicU64 = AtomicU64::new(0);

/// `CUDA_CACHE_MAXSIZE` in bytes; 1 GiB when not set.
pub(super) fn limit() -> u64 {
    static LIMIT: OnceLock<u64> = OnceLock::new();
    let read = || env::setting("CUDA_CACHE_MAXSIZE", "a number of bytes", |text| text.parse().ok());
    *LIMIT.get_or_init(|| read().unwrap_or(DEFAULT_LIMIT))
}

/// To be called after `bytes` were kept in `folder`.
pub(super) fn after_store(folder: &Path, bytes: u64, limit: u64) {
    let marker = folder.join("last-scan");
    let stored = STORED.fetch_add(bytes, Ordering::Relaxed) + bytes;
    let scanned = std::fs::metadata(&marker).and_then(|m| m.modified());
    let fresh = scanned.is_ok_and(|time| time.elapsed().is_ok_and(|age| age < HOUR));
    if fresh && stored < limit / 16 {
        return;
    }
    STORED.store(0, Ordering::Relaxed);
    let _ = std::fs::write(&marker, b"");
    sweep(folder, limit);
}

struct Kept {
    path: PathBuf,
    size: u64,
    used: SystemTime,
}

/// Removes what was used longest ago until nine tenths of the limit are left; that leaves room for a while.
fn sweep(folder: &Path, limit: u64) {
    let mut files = files(folder);
    let mut total: u64 = files.iter().map(|f| f.size).sum();
    if total <= limit {
        return;
    }
    files.sort_by_key(|f| f.used);
    for file in files {
        if total <= limit / 10 * 9 {
            return;
        }
        if std::fs::remove_file(&file.path).is_ok() {
            total -= file.size;
        }
    }
}

/// The cache's files. Temporary ones that a killed process has left are removed on the way.
fn files(folder: &Path) -> Vec<Kept> {
    let mut list = vec![];
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    for entry in entries(folder).filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).flat_map(|e| entries(&e.path())) {
        let Some(metadata) = entry.metadata().ok().filter(|m| m.is_file()) else { continue };
        let (path, used) = (entry.path(), metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH));
        if path.extension().is_none_or(|e| e != "tmp") {
            list.push(Kept { path, size: metadata.len(), used });
        } else if used.elapsed().is_ok_and(|age| age > HOUR) {
            let _ = std::fs::remove_file(&path);
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let folder = std::env::temp_dir().join(format!("rtcg-code-evict-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("ab")).unwrap();
        let write = |name: String, age: u64| {
            let path = folder.join("ab").join(name);
            std::fs::write(&path, vec![0; 100]).unwrap();
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        };
        (0..10).for_each(|n| write(format!("{n}.code"), n * 60));
        write(".old.tmp".to_owned(), 7200);
        write(".new.tmp".to_owned(), 60);
        after_store(&folder, 100, 500);
        let left = std::fs::read_dir(folder.join("ab")).unwrap();
        let mut left: Vec<_> = left.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, [".new.tmp", "0.code", "1.code", "2.code", "3.code"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
