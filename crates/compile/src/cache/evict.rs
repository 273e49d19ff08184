//! Keeps the cache directory below its size, dropping what was used longest ago.
//!
//! The directory is scanned when this process has stored a sixteenth of the limit since its last
//! scan, or when no process has scanned for an hour; so the limit can be overstepped by that much
//! per process for a while.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

const DEFAULT_LIMIT: u64 = 1 << 30;
const HOUR: Duration = Duration::from_secs(3600);

static STORED: AtomicU64 = AtomicU64::new(0);

/// `RTCG_CACHE_SIZE` in bytes, with an optional suffix K, M or G; 1 GiB when not set.
pub(super) fn limit() -> u64 {
    static LIMIT: OnceLock<u64> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let Some(text) = std::env::var("RTCG_CACHE_SIZE").ok().filter(|text| !text.is_empty()) else {
            return DEFAULT_LIMIT;
        };
        parse_size(&text).unwrap_or_else(|| {
            eprintln!("rtcg: RTCG_CACHE_SIZE is {text:?}; expected a number of bytes such as 512M; 1 GiB is used");
            DEFAULT_LIMIT
        })
    })
}

fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches(['B', 'b']).trim_end_matches(['i', 'I']);
    let (digits, shift) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 10),
        (at, 'm' | 'M') => (&text[..at], 20),
        (at, 'g' | 'G') => (&text[..at], 30),
        _ => (text, 0),
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// To be called after `bytes` were written to the cache in `dir`.
pub(super) fn after_store(dir: &Path, bytes: u64) {
    let limit = limit();
    let marker = dir.join("rtcg-last-scan");
    let stored = STORED.fetch_add(bytes, Ordering::Relaxed) + bytes;
    let fresh =
        std::fs::metadata(&marker).and_then(|m| m.modified()).is_ok_and(|t| t.elapsed().is_ok_and(|age| age < HOUR));
    if fresh && stored < limit / 16 {
        return;
    }
    STORED.store(0, Ordering::Relaxed);
    let _ = std::fs::write(&marker, b"");
    sweep(dir, limit);
}

/// Programs in the cache, and bytes of all its files.
pub(super) fn usage(dir: &Path) -> (u64, u64) {
    let mut files = Vec::new();
    collect(dir, 0, &mut files);
    let programs = files.iter().filter(|f| f.path.extension().is_some_and(|e| e == "entry")).count();
    (programs as u64, files.iter().map(|f| f.size).sum())
}

struct File {
    path: PathBuf,
    size: u64,
    used: SystemTime,
}

/// Removes oldest files until nine tenths of the limit are left; that leaves room for a while.
fn sweep(dir: &Path, limit: u64) {
    let mut files = Vec::new();
    collect(dir, 0, &mut files);
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

/// Lists the cache's own files; anything else in the directory is not ours to count or remove.
/// Temporary files that a killed process left behind are removed on the way.
fn collect(dir: &Path, depth: u32, files: &mut Vec<File>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(metadata) = entry.metadata() else { continue };
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if metadata.is_dir() && (depth == 1 || (depth == 0 && name.starts_with("rtcg-"))) {
            collect(&path, depth + 1, files);
        } else if depth == 2 && metadata.is_file() {
            let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if !name.ends_with(".tmp") {
                files.push(File { path, size: metadata.len(), used });
            } else if used.elapsed().is_ok_and(|age| age > HOUR) {
                let _ = std::fs::remove_file(&path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_parse() {
        assert_eq!(parse_size("100"), Some(100));
        assert_eq!(parse_size(" 2k "), Some(2048));
        assert_eq!(parse_size("3MiB"), Some(3 << 20));
        assert_eq!(parse_size("1G"), Some(1 << 30));
        assert_eq!(parse_size("much"), None);
        assert_eq!(parse_size(""), None);
        assert_eq!(parse_size("99999999999999G"), None);
    }

    #[test]
    fn the_oldest_files_go_first_and_foreign_files_stay() {
        let dir = std::env::temp_dir().join(format!("rtcg-evict-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(dir.join("rtcg-1/ab")).unwrap();
        std::fs::write(dir.join("foreign.cubin"), vec![0; 5000]).unwrap();
        for age in 0..10u64 {
            let path = dir.join(format!("rtcg-1/ab/{age}.entry"));
            std::fs::write(&path, vec![0; 100]).unwrap();
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age * 60)).unwrap();
        }
        sweep(&dir, 500);
        let mut left: Vec<_> =
            std::fs::read_dir(dir.join("rtcg-1/ab")).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["0.entry", "1.entry", "2.entry", "3.entry"]);
        assert!(dir.join("foreign.cubin").exists());
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
