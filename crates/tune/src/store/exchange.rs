//! Exchange of results: export, publication, merging and pruning.

use super::Store;
use super::error::{StoreError, StoreErrorKind};
use super::file::{self, Header, Layer};
use super::folder_lock::FolderLock;
use super::kernel_key::KernelKey;
use super::record::{MAX_DEPTH, Record, RecordReader};
use super::records::{FailureCounts, Records};
use crate::strict_json::parse;
use serde_json::Value as Json;
use std::collections::HashSet;
use std::path::Path;

const EXPORT_VERSION: u32 = 1;

impl Store {
    /// Exports all results as one JSON text, one line per result.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub fn export(&self) -> Result<String, StoreError> {
        let mut kernels = Vec::new();
        for kernel in self.kernels() {
            let lines: Vec<String> = lines_of(&self.read(&kernel)?).iter().map(Json::to_string).collect();
            let header = Header::new(&kernel, None).to_line();
            kernels.push(format!("{{\"header\":{},\n\"records\":[\n{}\n]}}", header.trim_end(), lines.join(",\n")));
        }
        Ok(format!("{{\"rtcg_tuning_export\":{EXPORT_VERSION},\"kernels\":[\n{}\n]}}\n", kernels.join(",\n")))
    }

    /// Imports the results of an exported text that this store's folder lacks. Returns the number of results added, and
    /// names what could not be read.
    ///
    /// # Errors
    /// When the text is not an export, or the store cannot be written.
    pub fn import(&self, text: &str) -> Result<(usize, Vec<String>), StoreError> {
        let (mut added, mut refused) = (0, Vec::new());
        for (kernel, records) in read_export(text).map_err(|message| wrong_import(&message))? {
            match kernel {
                Ok(kernel) => {
                    refused.extend(records.damaged.iter().map(|message| format!("{}: {message}", kernel.name)));
                    added += self.add_unknown(&kernel, &records)?;
                }
                Err(message) => refused.push(message),
            }
        }
        Ok((added, refused))
    }

    /// Adds the results of another store that this store's folder lacks. Returns the number of results added, and names
    /// what could not be read.
    ///
    /// # Errors
    /// When either store cannot be read, or this one cannot be written.
    pub fn merge(&self, other: &Store) -> Result<(usize, Vec<String>), StoreError> {
        let (mut added, mut damaged) = (0, Vec::new());
        for kernel in other.kernels() {
            let records = other.read(&kernel)?;
            added += self.add_unknown(&kernel, &records)?;
            damaged.extend(records.damaged);
        }
        Ok((added, damaged))
    }

    fn add_unknown(&self, kernel: &KernelKey, records: &Records) -> Result<usize, StoreError> {
        let own = file::read_file(&self.folder().join(kernel.file_name()), kernel)?;
        let known = own.map_or_else(Vec::new, |own| lines_of(&own.records));
        let mut known: HashSet<String> = known.iter().map(Json::to_string).collect();
        let lines = lines_of(records).into_iter().map(|line| line.to_string());
        let lines: Vec<String> = lines.filter(|line| known.insert(line.clone())).collect();
        if !lines.is_empty() {
            file::append_lines(self.folder(), kernel, &lines)?;
            self.refresh(kernel);
        }
        Ok(lines.len())
    }

    /// Keeps, for each device and problem, the chosen result, the `keep` best, and the counts of failures. Returns the
    /// number of results dropped. Other processes' writes wait meanwhile.
    ///
    /// # Errors
    /// When the file in the writable folder cannot be read or replaced.
    pub fn prune(&self, kernel: &KernelKey, keep: usize) -> Result<usize, StoreError> {
        let path = self.folder().join(kernel.file_name());
        if !path.is_file() {
            return Ok(0);
        }
        let lock = FolderLock::take(self.folder())?;
        let Layer { version, records } = file::read_locked_file(&path, kernel)?;
        let kept = records.best_of_each(keep);
        let dropped = records.records.len() - kept.records.len();
        if dropped > 0 || !records.damaged.is_empty() {
            file::replace_file(&path, &text_of(kernel, version, &kept))?;
        }
        drop(lock);
        self.tables.replace(kernel, || self.read_or_say(kernel));
        Ok(dropped)
    }

    /// Publishes, for each kernel, device and problem, the chosen result and the `keep` best, as a version in a folder
    /// that other stores read; replaces files of the same kernels there. Returns the number of results written.
    ///
    /// # Errors
    /// When results cannot be read, or the folder cannot be written.
    pub fn publish(&self, folder: &Path, version: u32, keep: usize) -> Result<usize, StoreError> {
        std::fs::create_dir_all(folder).map_err(|error| StoreError::io(folder, "cannot be made", &error))?;
        let _lock = FolderLock::take(folder)?;
        let mut written = 0;
        for kernel in self.kernels() {
            let best = Records { failures: Vec::new(), ..self.read(&kernel)?.best_of_each(keep) };
            if !best.records.is_empty() {
                file::replace_file(&folder.join(kernel.file_name()), &text_of(&kernel, Some(version), &best))?;
            }
            written += best.records.len();
        }
        Ok(written)
    }
}

/// What an exported file has of a kernel.
pub(super) fn read_exported(path: &Path, kernel: &KernelKey) -> Result<Option<Layer>, StoreError> {
    let mut layer = Layer { version: None, records: Records::default() };
    for (exported, records) in read_exported_file(path)? {
        if exported.is_ok_and(|exported| exported == *kernel) {
            layer.records.extend(records);
        }
    }
    Ok(Some(layer))
}

/// The kernels of an exported file; none where it cannot be read, which reading it says.
pub(super) fn kernels_of_exported(path: &Path) -> Vec<KernelKey> {
    let kernels = read_exported_file(path).unwrap_or_default();
    kernels.into_iter().filter_map(|(kernel, _)| kernel.ok()).collect()
}

/// A kernel, or why it is none, and its results.
type ExportedKernel = (Result<KernelKey, String>, Records);

fn read_exported_file(path: &Path) -> Result<Vec<ExportedKernel>, StoreError> {
    let bytes = file::read_bytes(path)?.unwrap_or_default();
    let text = std::str::from_utf8(&bytes).map_err(|_| StoreError::content(path, "is no text"))?;
    read_export(text).map_err(|message| StoreError::content(path, &message))
}

fn read_export(text: &str) -> Result<Vec<ExportedKernel>, String> {
    let root = parse(text.as_bytes(), MAX_DEPTH + 4).map_err(|error| format!("is no JSON: {error}"))?;
    match root["rtcg_tuning_export"].as_u64() {
        Some(1) => {}
        Some(version) => return Err(format!("has format {version}; this version knows {EXPORT_VERSION}")),
        None => return Err("is no export of results".into()),
    }
    let Json::Object(mut root) = root else { return Err("is no export of results".into()) };
    let Some(Json::Array(kernels)) = root.remove("kernels") else { return Err("has no list of kernels".into()) };
    Ok(kernels.into_iter().map(read_exported_kernel).collect())
}

fn read_exported_kernel(mut entry: Json) -> ExportedKernel {
    let mut records = Records::default();
    let kernel = Header::read(entry["header"].take()).and_then(|header| header.kernel());
    if let (Ok(kernel), Json::Array(entries)) = (&kernel, entry["records"].take()) {
        let mut reader = RecordReader::new(&kernel.parameters);
        for (place, value) in entries.into_iter().enumerate() {
            let read = if value.get("failures").is_some() {
                FailureCounts::read(value).map(|counts| records.failures.push(counts))
            } else {
                reader.read(value).map(|record| records.records.push(record))
            };
            if let Err(message) = read {
                records.add_damage(format!("result {}: {message}", place + 1));
            }
        }
    }
    (kernel, records)
}

fn wrong_import(message: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Content, format!("the import {message}"))
}

/// The lines of results and of numbers of failures.
fn lines_of(records: &Records) -> Vec<Json> {
    let results = records.records.iter().map(Record::to_json);
    results.chain(records.failures.iter().map(FailureCounts::to_json)).collect()
}

fn text_of(kernel: &KernelKey, version: Option<u32>, records: &Records) -> String {
    let lines = lines_of(records).into_iter().map(|line| format!("{line}\n"));
    lines.fold(Header::new(kernel, version).to_line(), |text, line| text + &line)
}
