//! Records the results of a search, even while they cannot be written.

use super::Store;
use super::error::StoreError;
use super::file::append_lines;
use super::kernel_key::KernelKey;
use super::record::Record;
use std::time::{Duration, Instant};

/// Writes the results of one kernel as they arrive. What cannot be written (because of a full disk or a locked folder)
/// is kept in memory and retried with later results, and once more at the end.
#[derive(Debug)]
pub struct Recorder {
    store: Store,
    kernel: KernelKey,
    unwritten: Vec<String>,
    failure: Option<WriteFailure>,
}

/// Why results cannot be written now, and when to try again: trying takes a tenth of a search's time at most.
#[derive(Debug)]
struct WriteFailure {
    error: StoreError,
    retry_at: Instant,
}

const MIN_PAUSE: Duration = Duration::from_secs(1);

impl Recorder {
    /// Makes a recorder for the results of a kernel.
    pub fn new(store: &Store, kernel: &KernelKey) -> Self {
        Self { store: store.clone(), kernel: kernel.clone(), unwritten: Vec::new(), failure: None }
    }

    /// Adds a result. Look-ups of this process find it at once, whether or not it could be written.
    ///
    /// # Errors
    /// When it could not be written yet, or cannot be stored at all.
    pub fn add(&mut self, record: &Record) -> Result<(), StoreError> {
        self.unwritten.push(record.to_line(&self.kernel)?);
        let written = match &self.failure {
            Some(failure) if Instant::now() < failure.retry_at => Err(failure.error.clone()),
            _ => self.flush(),
        };
        self.store.tables.add(&self.kernel, record);
        written
    }

    /// Writes what could not be written before.
    ///
    /// # Errors
    /// When that fails again.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        match append_lines(self.store.folder(), &self.kernel, &self.unwritten) {
            Ok(()) => {
                self.unwritten.clear();
                self.failure = None;
                Ok(())
            }
            Err(error) => {
                let retry_at = Instant::now() + (10 * start.elapsed()).max(MIN_PAUSE);
                self.failure = Some(WriteFailure { error: error.clone(), retry_at });
                Err(error)
            }
        }
    }

    /// The number of results that could not be written yet.
    pub fn n_unwritten(&self) -> usize {
        self.unwritten.len()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // Whoever wants to know calls `flush`.
        let _ = self.flush();
    }
}
