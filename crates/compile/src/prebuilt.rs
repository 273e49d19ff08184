//! Prebuilt programs: the PTX of sources that generators write again and again, in one file.
//!
//! A file of prebuilt programs needs neither a compiler nor a cache that was filled before. It holds programs whose
//! sources include no headers, under a key of everything that determines their PTX except for the compiler's version.
//! [`start_recording`] and [`write_recording`] make a file from what a process compiles.
//!
//! `RTCG_PREBUILT` names another file, or disables it if empty.
//!
//! Layout: magic, the number of programs, for each its key, offset and length (by key), then their PTX.

use crate::hash::CacheKey;
use crate::request::{Artifact, BinaryKind};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

const MAGIC: &[u8; 8] = b"rtcgptx1";
const ROW_BYTES: usize = 32 + 8 + 8;

static FILE: OnceLock<PathBuf> = OnceLock::new();
static INDEX: OnceLock<Option<Index>> = OnceLock::new();
static RECORDING: Mutex<Option<BTreeMap<CacheKey, Arc<[u8]>>>> = Mutex::new(None);

/// Where each program is in the file.
struct Index {
    path: PathBuf,
    rows: Vec<(CacheKey, u64, u64)>,
}

/// Sets the file of prebuilt programs for this process; only the first call counts. The file is opened at the first
/// look-up; one that is missing or invalid counts as empty.
pub fn use_prebuilt_programs(path: impl Into<PathBuf>) {
    let _ = FILE.set(path.into());
}

/// Starts recording the programs that are compiled, or found in a cache, and that a file of prebuilt programs may hold.
pub fn start_recording() {
    *recording() = Some(BTreeMap::new());
}

/// Writes what was recorded since [`start_recording`] to a file, and returns the number of programs.
///
/// # Errors
/// When the file cannot be written.
pub fn write_recording(path: &Path) -> io::Result<usize> {
    let programs = recording().take().unwrap_or_default();
    let mut bytes = MAGIC.to_vec();
    bytes.extend((programs.len() as u64).to_le_bytes());
    let mut offset = (bytes.len() + programs.len() * ROW_BYTES) as u64;
    for (key, ptx) in &programs {
        bytes.extend(key);
        bytes.extend(offset.to_le_bytes());
        bytes.extend((ptx.len() as u64).to_le_bytes());
        offset += ptx.len() as u64;
    }
    programs.values().for_each(|ptx| bytes.extend(&**ptx));
    let unfinished = path.with_extension("unfinished");
    File::create(&unfinished)?.write_all(&bytes)?;
    std::fs::rename(&unfinished, path)?;
    Ok(programs.len())
}

fn recording() -> std::sync::MutexGuard<'static, Option<BTreeMap<CacheKey, Arc<[u8]>>>> {
    RECORDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether programs are remembered.
pub(crate) fn is_recording() -> bool {
    recording().is_some()
}

/// Remembers a program if there is a recording and nothing but its PTX matters.
pub(crate) fn record_program(key: &CacheKey, artifact: &Artifact) {
    let is_plain = artifact.kind == BinaryKind::Ptx && artifact.log.is_empty() && artifact.lowered_names.is_empty();
    if let Some(programs) = recording().as_mut().filter(|_| is_plain) {
        programs.insert(*key, Arc::clone(&artifact.bytes));
    }
}

/// The prebuilt program of a key.
pub(crate) fn find_program(key: &CacheKey) -> Option<Artifact> {
    let index = INDEX.get_or_init(|| Index::open(&prebuilt_file()?).ok()).as_ref()?;
    let at = index.rows.binary_search_by(|row| row.0.cmp(key)).ok()?;
    let bytes = index.read_program(at).ok()?;
    let (log, lowered_names) = Default::default();
    Some(Artifact { bytes: bytes.into(), kind: BinaryKind::Ptx, log, lowered_names, from_cache: true })
}

/// The file of prebuilt programs, if there is one.
pub fn prebuilt_file() -> Option<PathBuf> {
    match std::env::var_os("RTCG_PREBUILT") {
        Some(named) if named.is_empty() => None,
        Some(named) => Some(named.into()),
        None => FILE.get().cloned(),
    }
}

impl Index {
    fn open(path: &Path) -> io::Result<Index> {
        let damaged = || io::Error::from(io::ErrorKind::InvalidData);
        let mut file = File::open(path)?;
        let mut head = [0; 16];
        file.read_exact(&mut head)?;
        let word = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).unwrap_or_default();
        let total = file.metadata()?.len();
        let count = word(&head[8..]);
        if head[..8] != *MAGIC || count > total / ROW_BYTES as u64 {
            return Err(damaged());
        }
        let mut table = vec![0; count as usize * ROW_BYTES];
        file.read_exact(&mut table)?;
        let row = |bytes: &[u8]| {
            let key = bytes[..32].try_into().unwrap_or_default();
            (key, word(&bytes[32..40]), word(&bytes[40..]))
        };
        let rows: Vec<(CacheKey, u64, u64)> = table.chunks(ROW_BYTES).map(row).collect();
        let inside = |&(_, offset, bytes): &(_, u64, u64)| offset.checked_add(bytes).is_some_and(|end| end <= total);
        if !rows.iter().all(inside) || !rows.is_sorted_by_key(|row| row.0) {
            return Err(damaged());
        }
        Ok(Index { path: path.to_owned(), rows })
    }

    fn read_program(&self, at: usize) -> io::Result<Vec<u8>> {
        let (_, offset, length) = self.rows[at];
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = vec![0; length as usize];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temporary_file(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("rtcg-prebuilt-{name}-{}", std::process::id()))
    }

    fn program(text: &str) -> Artifact {
        let (log, lowered_names) = Default::default();
        Artifact { bytes: text.as_bytes().into(), kind: BinaryKind::Ptx, log, lowered_names, from_cache: false }
    }

    #[test]
    fn recorded_programs_are_found_in_the_written_file() {
        let path = temporary_file("recorded");
        start_recording();
        record_program(&[2; 32], &program("second"));
        record_program(&[1; 32], &program("first"));
        record_program(&[3; 32], &Artifact { log: "a warning".into(), ..program("noisy") });
        assert_eq!(write_recording(&path).unwrap(), 2);
        let index = Index::open(&path).unwrap();
        let text = |at: usize| String::from_utf8(index.read_program(at).unwrap()).unwrap();
        assert_eq!(index.rows.iter().map(|row| row.0[0]).collect::<Vec<_>>(), [1, 2]);
        assert_eq!((text(0).as_str(), text(1).as_str()), ("first", "second"));
        // Nothing is remembered any more.
        record_program(&[4; 32], &program("late"));
        assert_eq!(write_recording(&path).unwrap(), 0);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn damaged_files_have_no_programs() {
        let path = temporary_file("damaged");
        let row = |key: u8, offset: u64| [&[key; 32][..], &offset.to_le_bytes(), &4_u64.to_le_bytes()].concat();
        let file =
            |rows: &[Vec<u8>]| [&MAGIC[..], &(rows.len() as u64).to_le_bytes(), &rows.concat(), b"text"].concat();
        let good = file(&[row(1, 64)]);
        let opens = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            Index::open(&path).is_ok()
        };
        assert!(opens(&good));
        assert!(!opens(&good[..good.len() - 1]), "a program beyond the end");
        assert!(!opens(&good[..40]), "a table beyond the end");
        assert!(!opens(&file(&[row(1, u64::MAX)])), "an offset that overflows");
        assert!(!opens(&file(&[row(2, 112), row(1, 112)])), "keys out of order");
        assert!(!opens(&[&b"another1"[..], &good[8..]].concat()), "another magic");
        assert!(!opens(b""));
        std::fs::remove_file(&path).unwrap();
    }
}
