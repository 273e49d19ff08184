//! The file of one kernel: a header, then one line per result.
//!
//! Establishes: lines are whole, whatever other processes do, since a folder has a lock and a line is a single write at
//! the end of the file; a torn line (after a full disk, a killed process, a loss of power) only loses itself; a file
//! that another program or a newer version wrote is never appended to.

use super::error::{StoreError, StoreErrorKind};
use super::folder_lock::FolderLock;
use super::kernel_key::KernelKey;
use super::record::{MAX_LINE_BYTES, RecordReader, parse_line};
use super::records::{FailureCounts, Records};
use crate::strict_json::printable;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Files larger than this are neither written nor read: no search of ours takes so much.
pub(super) const MAX_FILE_BYTES: u64 = 1 << 28;
const FORMAT_VERSION: u32 = 1;

/// The first line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    rtcg_tuning: u32,
    kernel: String,
    hash: String,
    parameters: Vec<String>,
    /// The version of results that were published; those of searches have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<u32>,
}

impl Header {
    pub(super) fn new(kernel: &KernelKey, version: Option<u32>) -> Self {
        let KernelKey { name, hash, parameters } = kernel.clone();
        Self { rtcg_tuning: FORMAT_VERSION, kernel: name, hash, parameters, version }
    }

    /// Its line, with the end of the line.
    pub(super) fn to_line(&self) -> String {
        format!("{}\n", serde_json::to_string(self).unwrap_or_default())
    }

    /// The kernel that the file is about.
    pub(super) fn kernel(&self) -> Result<KernelKey, String> {
        KernelKey::from_parts(self.kernel.clone(), self.hash.clone(), &self.parameters)
    }

    /// The header in a line that looks like one. Of other versions nothing but the version is known.
    pub(super) fn read(value: Json) -> Result<Self, String> {
        if let Some(version) = value["rtcg_tuning"].as_u64().filter(|&version| version != u64::from(FORMAT_VERSION)) {
            let rtcg_tuning = u32::try_from(version).unwrap_or(u32::MAX);
            let (kernel, hash, parameters) = Default::default();
            return Ok(Self { rtcg_tuning, kernel, hash, parameters, version: None });
        }
        serde_json::from_value(value).map_err(|error| format!("header: {}", printable(&error.to_string())))
    }

    /// Refuses the file of another kernel or of a newer version.
    fn check(&self, path: &Path, kernel: &KernelKey) -> Result<(), StoreError> {
        if self.rtcg_tuning != FORMAT_VERSION {
            let found = self.rtcg_tuning;
            let message = format!("{} has format {found}; this version knows {FORMAT_VERSION}", path.display());
            return Err(StoreError::new(StoreErrorKind::Version, message));
        }
        match self.kernel() {
            Ok(found) if found == *kernel => Ok(()),
            _ => Err(StoreError::content(path, "is about another kernel than its name says")),
        }
    }
}

/// What may stand in a line.
enum Line {
    Header(Header),
    Result(Json),
    Failures(Json),
}

impl Line {
    fn read(line: &[u8]) -> Result<Self, String> {
        let value = parse_line(line)?;
        if value.get("rtcg_tuning").is_some() {
            return Header::read(value).map(Line::Header);
        }
        Ok(if value.get("failures").is_some() { Line::Failures(value) } else { Line::Result(value) })
    }
}

/// Adds lines (without their ends) in one write. The folder is made where there is none.
pub(super) fn append_lines(folder: &Path, kernel: &KernelKey, lines: &[String]) -> Result<(), StoreError> {
    let path = folder.join(kernel.file_name());
    let failed = |error: io::Error| StoreError::io(&path, "cannot be written", &error);
    std::fs::create_dir_all(folder).map_err(|error| StoreError::io(folder, "cannot be made", &error))?;
    let _lock = FolderLock::take(folder)?;
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(&path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let length = if metadata.is_file() { metadata.len() } else { 0 };
    let mut text = String::new();
    // A line that another process did not finish is closed.
    if length > 0 && !ends_with_newline(&mut file).map_err(failed)? {
        text.push('\n');
    }
    if length == 0 || !has_header(&mut file, &path, kernel)? {
        text.push_str(&Header::new(kernel, None).to_line());
    }
    lines.iter().for_each(|line| text.extend([line.as_str(), "\n"]));
    if length + text.len() as u64 > MAX_FILE_BYTES {
        let message = format!("{} would have more than {MAX_FILE_BYTES} bytes; prune it", path.display());
        return Err(StoreError::new(StoreErrorKind::Full, message));
    }
    file.write_all(text.as_bytes()).map_err(|error| {
        // Half of a line is of no use.
        let _ = file.set_len(length);
        failed(error)
    })
}

fn ends_with_newline(file: &mut File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Whether a file has a header, which must be that of the kernel. A torn one is written again.
fn has_header(file: &mut File, path: &Path, kernel: &KernelKey) -> Result<bool, StoreError> {
    let expected = Header::new(kernel, None).to_line();
    let failed = |error: io::Error| StoreError::io(path, "cannot be read", &error);
    let mut start = Vec::with_capacity(expected.len());
    file.rewind().map_err(failed)?;
    file.take(expected.len() as u64).read_to_end(&mut start).map_err(failed)?;
    if start == expected.as_bytes() {
        return Ok(true);
    }
    file.rewind().map_err(failed)?;
    let found = first_header(file).map_err(failed)?;
    found.map_or(Ok(false), |header| header.check(path, kernel).map(|()| true))
}

/// The first header of a file: in the first line, or where an earlier one was torn.
pub(super) fn first_header(source: impl Read) -> io::Result<Option<Header>> {
    let mut lines = BufReader::new(source.take(4 * MAX_LINE_BYTES as u64));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        if let Ok(Line::Header(header)) = Line::read(&line) {
            return Ok(Some(header));
        }
        line.clear();
    }
    Ok(None)
}

/// What one file has of a kernel.
pub(super) struct Layer {
    /// The version that it was published as.
    pub(super) version: Option<u32>,
    pub(super) records: Records,
}

/// What a file has; `None` where there is no such file.
pub(super) fn read_file(path: &Path, kernel: &KernelKey) -> Result<Option<Layer>, StoreError> {
    let Some(mut bytes) = read_bytes(path)? else { return Ok(None) };
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        // Somebody may be writing that line. In a folder that has no lock to wait for, it is torn.
        let lock = path.parent().map(FolderLock::take);
        bytes = read_bytes(path)?.unwrap_or_default();
        drop(lock);
    }
    read_lines(&bytes, path, kernel).map(Some)
}

/// Reads a file while the folder's lock keeps others from writing to it.
pub(super) fn read_locked_file(path: &Path, kernel: &KernelKey) -> Result<Layer, StoreError> {
    read_lines(&read_bytes(path)?.unwrap_or_default(), path, kernel)
}

pub(super) fn read_lines(bytes: &[u8], path: &Path, kernel: &KernelKey) -> Result<Layer, StoreError> {
    let mut layer = Layer { version: None, records: Records::default() };
    let mut reader = RecordReader::new(&kernel.parameters);
    for (place, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let records = &mut layer.records;
        let read = match Line::read(line) {
            Ok(Line::Header(header)) => {
                header.check(path, kernel)?;
                layer.version = layer.version.max(header.version);
                Ok(())
            }
            Ok(Line::Result(value)) => reader.read(value).map(|record| records.records.push(record)),
            Ok(Line::Failures(value)) => FailureCounts::read(value).map(|counts| records.failures.push(counts)),
            Err(message) => Err(message),
        };
        if let Err(message) = read {
            records.add_damage(format!("{}, line {}: {message}", path.display(), place + 1));
        }
    }
    Ok(layer)
}

/// All bytes of a file. A device or a pipe has no end, and is refused.
pub(super) fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let failed = |error: io::Error| StoreError::io(path, "cannot be read", &error);
    let metadata = match std::fs::metadata(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        metadata => metadata.map_err(failed)?,
    };
    if !metadata.is_file() {
        return Err(StoreError::content(path, "is no file"));
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(MAX_FILE_BYTES) as usize);
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(StoreError::content(path, &format!("has more than {MAX_FILE_BYTES} bytes")));
    }
    Ok(Some(bytes))
}

/// Puts a file in place whole or not at all; the caller holds the folder's lock.
pub(super) fn replace_file(path: &Path, text: &str) -> Result<(), StoreError> {
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let write = || {
        let mut file = File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        // What it replaces may be the only copy of results.
        file.sync_all()
    };
    let written = write().and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&temporary);
        StoreError::io(path, "cannot be replaced", &error)
    })
}
