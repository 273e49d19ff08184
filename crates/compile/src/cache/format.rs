//! The file formats of the cache: manifests and entries. [`rtcg_disk_cache`] detects files that are damaged or have
//! another kind or key; reading still assumes nothing: any length may be wrong, and everything wrong reads as `None`.

use crate::hash::CacheKey;
use crate::includes::{FileDependency, FileStamp};
use crate::request::{Artifact, BinaryKind};
use rtcg_disk_cache::FileMagic;
use std::path::PathBuf;
use std::sync::Arc;

/// Changes whenever the meaning of a stored file changes. Part of the directory's name.
pub(crate) const FORMAT_VERSION: u32 = 5;

pub(crate) const MANIFEST_MAGIC: &FileMagic = b"rtcgMAN2";
pub(crate) const ENTRY_MAGIC: &FileMagic = b"rtcgBIN2";

/// One known result of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ManifestEntry {
    /// Where its binary is.
    pub(crate) entry: CacheKey,
    /// The compiler in words, with its version.
    pub(crate) compiler: String,
    /// The compiler's file, when it is known.
    pub(crate) compiler_file: Option<FileDependency>,
    /// The headers read.
    pub(crate) files: Vec<FileDependency>,
    /// Paths that must not exist.
    pub(crate) missing: Vec<PathBuf>,
}

impl ManifestEntry {
    /// Whether every header is as it was.
    pub(crate) fn is_up_to_date(&self) -> bool {
        self.files.iter().all(FileDependency::is_unchanged) && !self.missing.iter().any(|p| p.exists())
    }
}

#[derive(Default)]
struct CacheFileWriter(Vec<u8>);

impl CacheFileWriter {
    fn put_number(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn put_bytes(&mut self, bytes: &[u8]) {
        self.put_number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn put_dependency(&mut self, file: &FileDependency) {
        self.put_bytes(file.path.as_os_str().as_encoded_bytes());
        self.0.extend_from_slice(&file.checksum);
        self.put_number(file.stamp.size);
        self.put_number(file.stamp.modified_ns as u64);
        self.put_number(file.stamp.changed_ns as u64);
        self.put_number(file.stamp.inode);
    }
}

struct CacheFileReader<'a>(&'a [u8]);

impl<'a> CacheFileReader<'a> {
    fn take_bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn read_number(&mut self) -> Option<u64> {
        self.take_bytes(8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes)
    }

    fn read_bytes(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.read_number()?).ok()?;
        self.take_bytes(count)
    }

    fn read_text(&mut self) -> Option<String> {
        self.read_bytes().and_then(|b| std::str::from_utf8(b).ok()).map(str::to_owned)
    }

    fn read_path(&mut self) -> Option<PathBuf> {
        path_from_bytes(self.read_bytes()?)
    }

    fn read_array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take_bytes(N).and_then(|b| b.try_into().ok())
    }

    fn read_dependency(&mut self) -> Option<FileDependency> {
        Some(FileDependency {
            path: self.read_path()?,
            checksum: self.read_array()?,
            stamp: FileStamp {
                size: self.read_number()?,
                modified_ns: self.read_number()? as i64,
                changed_ns: self.read_number()? as i64,
                inode: self.read_number()?,
            },
        })
    }

    /// `number` items. The count is not trusted with an allocation.
    fn read_list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.read_number()?;
        (0..count).map(|_| item(self)).collect()
    }
}

#[cfg(unix)]
fn path_from_bytes(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_from_bytes(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

pub(crate) fn encode_manifest(results: &[ManifestEntry]) -> Vec<u8> {
    let mut out = CacheFileWriter::default();
    out.put_number(results.len() as u64);
    for stored in results {
        out.0.extend_from_slice(&stored.entry);
        out.put_bytes(stored.compiler.as_bytes());
        out.put_number(u64::from(stored.compiler_file.is_some()));
        if let Some(file) = &stored.compiler_file {
            out.put_dependency(file);
        }
        out.put_number(stored.files.len() as u64);
        stored.files.iter().for_each(|f| out.put_dependency(f));
        out.put_number(stored.missing.len() as u64);
        stored.missing.iter().for_each(|p| out.put_bytes(p.as_os_str().as_encoded_bytes()));
    }
    out.0
}

pub(crate) fn decode_manifest(bytes: &[u8]) -> Option<Vec<ManifestEntry>> {
    let mut input = CacheFileReader(bytes);
    input.read_list(|input| {
        Some(ManifestEntry {
            entry: input.read_array()?,
            compiler: input.read_text()?,
            compiler_file: match input.read_number()? {
                0 => None,
                _ => Some(input.read_dependency()?),
            },
            files: input.read_list(CacheFileReader::read_dependency)?,
            missing: input.read_list(CacheFileReader::read_path)?,
        })
    })
}

pub(crate) fn encode_artifact(artifact: &Artifact) -> Vec<u8> {
    let mut out = CacheFileWriter::default();
    out.put_number(artifact.kind as u64);
    out.put_bytes(artifact.log.as_bytes());
    out.put_number(artifact.lowered_names.len() as u64);
    for (expression, name) in &artifact.lowered_names {
        out.put_bytes(expression.as_bytes());
        out.put_bytes(name.as_bytes());
    }
    out.put_bytes(&artifact.bytes);
    out.0
}

pub(crate) fn decode_artifact(bytes: &[u8]) -> Option<Artifact> {
    let mut input = CacheFileReader(bytes);
    Some(Artifact {
        kind: match input.read_number()? {
            k if k == BinaryKind::Cubin as u64 => BinaryKind::Cubin,
            k if k == BinaryKind::Ptx as u64 => BinaryKind::Ptx,
            k if k == BinaryKind::Fatbin as u64 => BinaryKind::Fatbin,
            k if k == BinaryKind::LtoIr as u64 => BinaryKind::LtoIr,
            _ => return None,
        },
        log: input.read_text()?,
        lowered_names: input.read_list(|input| Some((input.read_text()?, input.read_text()?)))?,
        bytes: Arc::from(input.read_bytes()?),
        from_cache: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_artifact() -> Artifact {
        Artifact {
            bytes: Arc::from(&b"some bytes"[..]),
            kind: BinaryKind::Ptx,
            log: "warning: w".to_owned(),
            lowered_names: vec![("f<int>".to_owned(), "_Z1fIiEvv".to_owned())],
            from_cache: true,
        }
    }

    fn sample_manifest_entry() -> ManifestEntry {
        let stamp = FileStamp { size: 1, modified_ns: -2, changed_ns: 3, inode: 4 };
        let file = FileDependency { path: "/a/b".into(), checksum: [7; 16], stamp };
        ManifestEntry {
            entry: [1; 32],
            compiler: "NVRTC 13.0".to_owned(),
            compiler_file: Some(file.clone()),
            files: vec![file.clone(), file],
            missing: vec!["/c".into()],
        }
    }

    #[test]
    fn manifests_and_artifacts_round_trip() {
        assert_eq!(decode_artifact(&encode_artifact(&sample_artifact())), Some(sample_artifact()));
        let all = vec![
            sample_manifest_entry(),
            ManifestEntry { compiler_file: None, files: vec![], ..sample_manifest_entry() },
        ];
        assert_eq!(decode_manifest(&encode_manifest(&all)), Some(all));
    }

    #[test]
    fn what_is_too_short_or_has_absurd_lengths_is_a_cache_miss() {
        let good = encode_artifact(&sample_artifact());
        for length in 0..good.len() {
            assert_eq!(decode_artifact(&good[..length]), None, "cut to {length}");
        }
        assert_eq!(decode_manifest(&u64::MAX.to_le_bytes()), None);
        assert_eq!(decode_artifact(&[0, u64::MAX - 3].map(u64::to_le_bytes).concat()), None);
    }
}
