//! The store of results: one file of JSON lines for each kernel, appended to by any number of processes.
//!
//! Every measurement is a line and is in the file at once. A line that was torn or damaged costs itself only. A folder
//! is writable, others may be searched before it: beside the program, in the package. Values that are read belong to
//! nobody yet: whoever takes them checks them against the declared space first.

mod keys;
mod lookup;
mod record;

pub use keys::{DeviceKey, KernelKey, Problem};
pub use lookup::{Closeness, Found, Records};
pub use record::Record;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::collections::HashSet;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Lines longer than this are damaged or hostile.
const MAX_LINE_BYTES: usize = 1 << 20;
/// Files larger than this are not read: no search of ours writes so much.
const MAX_FILE_BYTES: u64 = 1 << 28;

/// Folders of results.
#[derive(Debug, Clone)]
pub struct Store {
    writable: PathBuf,
    read_only: Vec<PathBuf>,
}

/// The first line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    rtcg_tuning: u32,
    kernel: String,
    hash: String,
    parameters: Vec<String>,
}

impl Store {
    /// A store that writes into one folder, which is made when it is needed, and reads these others too.
    pub fn new(writable: impl Into<PathBuf>, read_only: Vec<PathBuf>) -> Self {
        Self { writable: writable.into(), read_only }
    }

    /// The folder that is written to.
    pub fn folder(&self) -> &Path {
        &self.writable
    }

    /// Adds a result, with a line that is written in one piece.
    ///
    /// # Errors
    /// When the file cannot be written; the search may go on without.
    pub fn append(&self, kernel: &KernelKey, record: &Record) -> Result<(), StoreError> {
        self.append_lines(kernel, &[record.to_line()])
    }

    fn append_lines(&self, kernel: &KernelKey, lines: &[String]) -> Result<(), StoreError> {
        let path = self.writable.join(kernel.file_name());
        let error = |error: io::Error| StoreError::new(&path, &format!("cannot be written: {error}"));
        std::fs::create_dir_all(&self.writable).map_err(error)?;
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(&path).map_err(error)?;
        // Other processes wait meanwhile; the lock goes with the file.
        file.lock().map_err(error)?;
        let mut text = match file.metadata().map_err(error)?.len() {
            0 => format!("{}\n", kernel_header(kernel)),
            // A line that another process did not finish is closed.
            _ if !ends_with_newline(&mut file).map_err(error)? => "\n".to_owned(),
            _ => String::new(),
        };
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        file.write_all(text.as_bytes()).map_err(error)
    }

    /// All results of a kernel in all folders, and what could not be read.
    ///
    /// # Errors
    /// When a file is there but cannot be read at all.
    pub fn read(&self, kernel: &KernelKey) -> Result<Records, StoreError> {
        let mut records = Records::default();
        for folder in self.read_only.iter().chain([&self.writable]) {
            let path = folder.join(kernel.file_name());
            if path.exists() {
                read_file(&path, &mut records)?;
            }
        }
        Ok(records)
    }

    /// The kernels that have results in any of the folders.
    pub fn kernels(&self) -> Vec<KernelKey> {
        let mut found = Vec::new();
        for folder in self.read_only.iter().chain([&self.writable]) {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if let Some(kernel) = header_of(&entry.path())
                    && !found.contains(&kernel)
                {
                    found.push(kernel);
                }
            }
        }
        found.sort_by(|a, b| (&a.name, &a.hash).cmp(&(&b.name, &b.hash)));
        found
    }

    /// All results as one JSON text.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub fn export(&self) -> Result<String, StoreError> {
        let mut kernels = Vec::new();
        for kernel in self.kernels() {
            let lines = self.read(&kernel)?.records.iter().map(Record::to_json).collect::<Vec<Json>>();
            kernels.push(json!({"header": kernel_header(&kernel), "records": lines}));
        }
        Ok(format!("{:#}\n", json!({"rtcg_tuning_export": 1, "kernels": kernels})))
    }

    /// Adds what an exported text has and this store has not; the number of results added. What cannot be read is left
    /// out and named.
    ///
    /// # Errors
    /// When the text is no export, or the store cannot be written.
    pub fn import(&self, text: &str) -> Result<(usize, Vec<String>), StoreError> {
        let wrong = |message: &str| StoreError { message: format!("the import {message}") };
        let root: Json = serde_json::from_str(text).map_err(|error| wrong(&format!("is no JSON: {error}")))?;
        let kernels = root["kernels"].as_array().filter(|_| root["rtcg_tuning_export"] == 1);
        let kernels = kernels.ok_or_else(|| wrong("is no export of results"))?;
        let (mut added, mut refused) = (0, Vec::new());
        for entry in kernels {
            let header: Header = match serde_json::from_value(entry["header"].clone()) {
                Ok(header) => header,
                Err(error) => {
                    refused.push(format!("a kernel without header: {error}"));
                    continue;
                }
            };
            let kernel = KernelKey { name: header.kernel, hash: header.hash, parameters: header.parameters };
            let known: HashSet<String> = self.read(&kernel)?.records.iter().map(Record::to_line).collect();
            let mut lines = Vec::new();
            for value in entry["records"].as_array().into_iter().flatten() {
                match Record::from_json(value.clone()) {
                    Ok(record) => lines.extend(Some(record.to_line()).filter(|line| !known.contains(line))),
                    Err(error) => refused.push(format!("{}: {error}", kernel.name)),
                }
            }
            if !lines.is_empty() {
                self.append_lines(&kernel, &lines)?;
            }
            added += lines.len();
        }
        Ok((added, refused))
    }

    /// Keeps of each device and problem the chosen result and the `keep` best, and drops the rest; the number dropped.
    ///
    /// # Errors
    /// When the writable file cannot be read or replaced.
    pub fn prune(&self, kernel: &KernelKey, keep: usize) -> Result<usize, StoreError> {
        let path = self.writable.join(kernel.file_name());
        let mut records = Records::default();
        if path.exists() {
            read_file(&path, &mut records)?;
        }
        let kept = records.best_of_each(keep);
        let dropped = records.records.len() - kept.len();
        if dropped > 0 {
            let error = |error: io::Error| StoreError::new(&path, &format!("cannot be replaced: {error}"));
            let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
            let mut text = format!("{}\n", kernel_header(kernel));
            kept.iter().for_each(|record| text.push_str(&(record.to_line() + "\n")));
            std::fs::write(&temporary, text).map_err(error)?;
            std::fs::rename(&temporary, &path).map_err(error)?;
        }
        Ok(dropped)
    }
}

fn kernel_header(kernel: &KernelKey) -> Json {
    let header = Header {
        rtcg_tuning: 1,
        kernel: kernel.name.clone(),
        hash: kernel.hash.clone(),
        parameters: kernel.parameters.clone(),
    };
    serde_json::to_value(header).unwrap_or_default()
}

fn ends_with_newline(file: &mut File) -> io::Result<bool> {
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn read_file(path: &Path, records: &mut Records) -> Result<(), StoreError> {
    let error = |error: io::Error| StoreError::new(path, &format!("cannot be read: {error}"));
    let metadata = std::fs::metadata(path).map_err(error)?;
    if metadata.len() > MAX_FILE_BYTES {
        return Err(StoreError::new(path, &format!("has {} bytes; expected at most {MAX_FILE_BYTES}", metadata.len())));
    }
    // A device or a pipe has no end.
    if !metadata.is_file() {
        return Ok(());
    }
    let bytes = std::fs::read(path).map_err(error)?;
    for (number, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let is_header = number == 0 && line.starts_with(b"{\"rtcg_tuning\"");
        if is_header || line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match Record::from_line(line, MAX_LINE_BYTES) {
            Ok(record) => records.records.push(record),
            Err(message) => records.damaged.push(format!("{}, line {}: {message}", path.display(), number + 1)),
        }
    }
    Ok(())
}

/// The kernel that a file is about.
fn header_of(path: &Path) -> Option<KernelKey> {
    if path.extension()? != "jsonl" {
        return None;
    }
    let mut start = Vec::new();
    path.is_file().then(|| File::open(path).ok())??.take(MAX_LINE_BYTES as u64).read_to_end(&mut start).ok()?;
    let line = start.split(|&byte| byte == b'\n').next()?;
    let header: Header = serde_json::from_slice(line).ok()?;
    let kernel = KernelKey { name: header.kernel, hash: header.hash, parameters: header.parameters };
    // A file under another name would never be found.
    (path.file_name()?.to_str()? == kernel.file_name()).then_some(kernel)
}

/// Why a store could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreError {
    message: String,
}

impl StoreError {
    fn new(path: &Path, message: &str) -> Self {
        Self { message: format!("{} {message}", path.display()) }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tuning results: {}", self.message)
    }
}

impl std::error::Error for StoreError {}

#[cfg(test)]
mod tests;
