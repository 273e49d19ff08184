//! The files of the cache: manifests and entries.
//!
//! Both are `magic, key, payload, checksum`. Reading assumes nothing: any length may be wrong, and
//! everything wrong reads as `None`.

use crate::hash::{Key, checksum};
use crate::includes::{Dependency, Stamp};
use crate::request::{Artifact, BinaryKind};
use std::path::PathBuf;
use std::sync::Arc;

/// Changes whenever the meaning of a stored file changes. Part of the directory's name.
pub(crate) const VERSION: u32 = 2;

const MANIFEST: &[u8; 8] = b"rtcgMAN1";
const ENTRY: &[u8; 8] = b"rtcgBIN1";

/// One known result of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ManifestEntry {
    /// Where its binary is.
    pub(crate) entry: Key,
    /// The compiler in words, with its version.
    pub(crate) compiler: String,
    /// The compiler's file, when it is known.
    pub(crate) compiler_file: Option<Dependency>,
    /// The headers read.
    pub(crate) files: Vec<Dependency>,
    /// Paths that must not exist.
    pub(crate) missing: Vec<PathBuf>,
}

impl ManifestEntry {
    /// Whether every header is as it was.
    pub(crate) fn is_current(&self) -> bool {
        self.files.iter().all(Dependency::is_unchanged) && !self.missing.iter().any(|p| p.exists())
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn new(magic: &[u8; 8], key: &Key) -> Self {
        let mut bytes = magic.to_vec();
        bytes.extend_from_slice(key);
        Self(bytes)
    }

    fn number(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn dependency(&mut self, file: &Dependency) {
        self.bytes(file.path.as_os_str().as_encoded_bytes());
        self.0.extend_from_slice(&file.checksum);
        self.number(file.stamp.size);
        self.number(file.stamp.modified_ns as u64);
        self.number(file.stamp.changed_ns as u64);
        self.number(file.stamp.inode);
    }

    fn finish(mut self) -> Vec<u8> {
        let sum = checksum(&self.0);
        self.0.extend_from_slice(&sum);
        self.0
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Checks magic, key and checksum.
    fn new(bytes: &'a [u8], magic: &[u8; 8], key: &Key) -> Option<Self> {
        let (payload, sum) = bytes.split_last_chunk::<16>()?;
        if checksum(payload) != *sum {
            return None;
        }
        let payload = payload.strip_prefix(magic)?.strip_prefix(key)?;
        Some(Self(payload))
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        self.take(8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.number()?).ok()?;
        self.take(count)
    }

    fn text(&mut self) -> Option<String> {
        self.bytes().and_then(|b| std::str::from_utf8(b).ok()).map(str::to_owned)
    }

    fn path(&mut self) -> Option<PathBuf> {
        path_from(self.bytes()?)
    }

    fn key<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N).and_then(|b| b.try_into().ok())
    }

    fn dependency(&mut self) -> Option<Dependency> {
        Some(Dependency {
            path: self.path()?,
            checksum: self.key()?,
            stamp: Stamp {
                size: self.number()?,
                modified_ns: self.number()? as i64,
                changed_ns: self.number()? as i64,
                inode: self.number()?,
            },
        })
    }

    /// `number` items. The count is not trusted with an allocation.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        (0..count).map(|_| item(self)).collect()
    }
}

#[cfg(unix)]
fn path_from(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_from(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

pub(crate) fn encode_manifest(results: &[ManifestEntry], key: &Key) -> Vec<u8> {
    let mut out = Writer::new(MANIFEST, key);
    out.number(results.len() as u64);
    for stored in results {
        out.0.extend_from_slice(&stored.entry);
        out.bytes(stored.compiler.as_bytes());
        out.number(u64::from(stored.compiler_file.is_some()));
        if let Some(file) = &stored.compiler_file {
            out.dependency(file);
        }
        out.number(stored.files.len() as u64);
        stored.files.iter().for_each(|f| out.dependency(f));
        out.number(stored.missing.len() as u64);
        stored.missing.iter().for_each(|p| out.bytes(p.as_os_str().as_encoded_bytes()));
    }
    out.finish()
}

pub(crate) fn decode_manifest(bytes: &[u8], key: &Key) -> Option<Vec<ManifestEntry>> {
    let mut input = Reader::new(bytes, MANIFEST, key)?;
    input.list(|input| {
        Some(ManifestEntry {
            entry: input.key()?,
            compiler: input.text()?,
            compiler_file: match input.number()? {
                0 => None,
                _ => Some(input.dependency()?),
            },
            files: input.list(Reader::dependency)?,
            missing: input.list(Reader::path)?,
        })
    })
}

pub(crate) fn encode_artifact(artifact: &Artifact, key: &Key) -> Vec<u8> {
    let mut out = Writer::new(ENTRY, key);
    out.number(artifact.kind as u64);
    out.bytes(artifact.log.as_bytes());
    out.number(artifact.lowered_names.len() as u64);
    for (expression, name) in &artifact.lowered_names {
        out.bytes(expression.as_bytes());
        out.bytes(name.as_bytes());
    }
    out.bytes(&artifact.bytes);
    out.finish()
}

pub(crate) fn decode_artifact(bytes: &[u8], key: &Key) -> Option<Artifact> {
    let mut input = Reader::new(bytes, ENTRY, key)?;
    Some(Artifact {
        kind: match input.number()? {
            k if k == BinaryKind::Cubin as u64 => BinaryKind::Cubin,
            k if k == BinaryKind::Ptx as u64 => BinaryKind::Ptx,
            k if k == BinaryKind::Fatbin as u64 => BinaryKind::Fatbin,
            k if k == BinaryKind::LtoIr as u64 => BinaryKind::LtoIr,
            _ => return None,
        },
        log: input.text()?,
        lowered_names: input.list(|input| Some((input.text()?, input.text()?)))?,
        bytes: Arc::from(input.bytes()?),
        from_cache: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact() -> Artifact {
        Artifact {
            bytes: Arc::from(&b"some bytes"[..]),
            kind: BinaryKind::Ptx,
            log: "warning: w".to_owned(),
            lowered_names: vec![("f<int>".to_owned(), "_Z1fIiEvv".to_owned())],
            from_cache: true,
        }
    }

    fn stored() -> ManifestEntry {
        let stamp = Stamp { size: 1, modified_ns: -2, changed_ns: 3, inode: 4 };
        let file = Dependency { path: "/a/b".into(), checksum: [7; 16], stamp };
        ManifestEntry {
            entry: [1; 32],
            compiler: "NVRTC 13.0".to_owned(),
            compiler_file: Some(file.clone()),
            files: vec![file.clone(), file],
            missing: vec!["/c".into()],
        }
    }

    #[test]
    fn files_read_back() {
        let key = [9; 32];
        assert_eq!(decode_artifact(&encode_artifact(&artifact(), &key), &key), Some(artifact()));
        let all = vec![stored(), ManifestEntry { compiler_file: None, files: vec![], ..stored() }];
        assert_eq!(decode_manifest(&encode_manifest(&all, &key), &key), Some(all));
    }

    #[test]
    fn every_damage_is_a_miss() {
        let key = [9; 32];
        let good = encode_artifact(&artifact(), &key);
        for length in 0..good.len() {
            assert_eq!(decode_artifact(&good[..length], &key), None, "cut to {length}");
        }
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            assert_eq!(decode_artifact(&bad, &key), None, "byte {at}");
        }
        assert_eq!(decode_artifact(&good, &[8; 32]), None, "another key");
        assert_eq!(decode_manifest(&good, &key), None, "another kind of file");
    }

    #[test]
    fn absurd_lengths_with_a_right_checksum_are_misses() {
        let key = [0; 32];
        let mut out = Writer::new(MANIFEST, &key);
        out.number(u64::MAX);
        assert_eq!(decode_manifest(&out.finish(), &key), None);
        let mut out = Writer::new(ENTRY, &key);
        out.number(0);
        out.number(u64::MAX - 3);
        assert_eq!(decode_artifact(&out.finish(), &key), None);
    }
}
