//! The store of results: one JSON Lines file per kernel, to which any number of processes can append.
//!
//! Every measurement is a line, written at once. A torn or damaged line only loses itself. One folder is written to;
//! others (beside the program, in the package) are read before it, and may also be exported files. Values that are read
//! are not checked against a space: the caller says which of them the declared space contains.

mod device;
mod error;
mod exchange;
mod explanation;
mod file;
mod folder_lock;
mod kernel_key;
mod lookup;
mod problem;
mod record;
mod recorder;
mod records;
mod source_text;
mod t4;
mod table;

pub use device::DeviceKey;
pub use error::{StoreError, StoreErrorKind};
pub use explanation::{Closeness, Explanation, Found};
pub use kernel_key::KernelKey;
pub use lookup::{Accept, Lookup};
pub use problem::{Bucket, Problem};
pub use record::{Details, Record};
pub use recorder::Recorder;
pub use records::{FailureCounts, Promise, Records};
pub use t4::{records_from_t4, t4_from_records};
pub use table::Table;

use file::Layer;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use table::Tables;

/// Folders of results. Clones share what has been read.
#[derive(Debug, Clone)]
pub struct Store {
    writable: PathBuf,
    read_only: Vec<PathBuf>,
    tables: Arc<Tables>,
}

impl Store {
    /// Makes a store that writes to one folder, which is created when needed, and also reads the others: folders of
    /// results, or exported files.
    pub fn new(writable: impl Into<PathBuf>, read_only: Vec<PathBuf>) -> Self {
        Self { writable: writable.into(), read_only, tables: Arc::default() }
    }

    /// The folder that is written to.
    pub fn folder(&self) -> &Path {
        &self.writable
    }

    /// Appends a result, as one line in a single write. A search that should continue after a failure uses
    /// [`Recorder`].
    ///
    /// # Errors
    /// When the file cannot be written, or the result cannot be stored.
    pub fn append(&self, kernel: &KernelKey, record: &Record) -> Result<(), StoreError> {
        let line = record.to_line(kernel)?;
        let written = file::append_lines(&self.writable, kernel, &[line]);
        self.tables.add(kernel, record);
        written
    }

    /// Reads all results of a kernel in all folders, and reports what could not be read.
    ///
    /// If results were published in several folders, those with the highest version count for each device and problem,
    /// and in case of a tie those of the first folder. Results of searches are added to them, and the latest chosen one
    /// is used.
    ///
    /// # Errors
    /// When the file in the writable folder exists but cannot be read at all.
    pub fn read(&self, kernel: &KernelKey) -> Result<Records, StoreError> {
        let mut published = Vec::new();
        let mut records = Records::default();
        for place in &self.read_only {
            match read_place(place, kernel) {
                Ok(layer) => published.extend(layer),
                Err(error) => records.add_damage(error.to_string()),
            }
        }
        newest_versions(&published).into_iter().for_each(|layer| records.extend(layer));
        let own = file::read_file(&self.writable.join(kernel.file_name()), kernel)?;
        records.extend(own.map_or_else(Records::default, |layer| layer.records));
        Ok(records)
    }

    /// The results of a kernel in memory: read on first use, and updated with what this process adds.
    pub fn table(&self, kernel: &KernelKey) -> Arc<Table> {
        self.tables.get_or_read(kernel, || self.read_or_say(kernel))
    }

    /// Reads the results of a kernel again, to which other processes may have added some.
    pub fn refresh(&self, kernel: &KernelKey) {
        self.tables.refresh(kernel, || self.read_or_say(kernel));
    }

    /// A launch takes the default where a file cannot be read.
    fn read_or_say(&self, kernel: &KernelKey) -> Records {
        self.read(kernel).unwrap_or_else(|error| Records { damaged: vec![error.to_string()], ..Records::default() })
    }

    /// The kernels that have results anywhere.
    pub fn kernels(&self) -> Vec<KernelKey> {
        let mut found = Vec::new();
        for place in self.read_only.iter().chain([&self.writable]) {
            found.extend(kernels_of_place(place));
        }
        found.sort_by(|a, b| (&a.name, &a.hash).cmp(&(&b.name, &b.hash)));
        found.dedup();
        found
    }
}

/// What a folder or an exported file has of a kernel.
fn read_place(place: &Path, kernel: &KernelKey) -> Result<Option<Layer>, StoreError> {
    if place.is_file() {
        exchange::read_exported(place, kernel)
    } else {
        file::read_file(&place.join(kernel.file_name()), kernel)
    }
}

/// A file under another name than its header's would never be found, and does not count.
fn kernels_of_place(place: &Path) -> Vec<KernelKey> {
    if place.is_file() {
        return exchange::kernels_of_exported(place);
    }
    let mut found = Vec::new();
    for path in std::fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let is_ours = path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file();
        let opened = is_ours.then(|| std::fs::File::open(&path).ok()).flatten();
        let header = opened.and_then(|file| file::first_header(file).ok().flatten());
        let kernel = header.and_then(|header| header.kernel().ok());
        found.extend(kernel.filter(|kernel| path.file_name().is_some_and(|name| *name == *kernel.file_name())));
    }
    found
}

/// The records of each layer but those for whose device and problem another layer has a higher version.
fn newest_versions(layers: &[Layer]) -> Vec<Records> {
    let is_same = |a: &Record, b: &Record| a.device.is_same_device(&b.device) && a.problem.is_same(&b.problem);
    let is_replaced = |record: &Record, version: Option<u32>| {
        let mut newer = layers.iter().filter(|layer| layer.version > version);
        newer.any(|layer| layer.records.records.iter().any(|other| is_same(record, other)))
    };
    let newest = |layer: &Layer| {
        let mut records = layer.records.clone();
        records.records.retain(|record| !is_replaced(record, layer.version));
        records
    };
    layers.iter().map(newest).collect()
}

#[cfg(test)]
mod tests;
