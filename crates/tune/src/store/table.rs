//! Results of kernels that have been read, shared by all look-ups.

use super::kernel_key::KernelKey;
use super::record::Record;
use super::records::Records;
use rtcg_hal::lock_ignoring_poison;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The results of one kernel. Its epoch changes whenever they do.
#[derive(Debug, Default)]
pub struct Table {
    records: RwLock<Arc<Records>>,
    epoch: AtomicU64,
}

impl Table {
    fn new(records: Records) -> Self {
        Self { records: RwLock::new(Arc::new(records)), epoch: AtomicU64::new(0) }
    }

    /// The current results.
    pub fn records(&self) -> Arc<Records> {
        Arc::clone(&self.records.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A number that changes with every update.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    fn change(&self, change: impl FnOnce(&mut Arc<Records>)) {
        change(&mut self.records.write().unwrap_or_else(PoisonError::into_inner));
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }
}

/// The tables of a store.
#[derive(Debug, Default)]
pub(super) struct Tables(Mutex<FxHashMap<KernelKey, Arc<Table>>>);

impl Tables {
    fn get(&self, kernel: &KernelKey) -> Option<Arc<Table>> {
        lock_ignoring_poison(&self.0).get(kernel).cloned()
    }

    /// The table of a kernel, read on first use.
    pub(super) fn get_or_read(&self, kernel: &KernelKey, read: impl FnOnce() -> Records) -> Arc<Table> {
        let mut tables = lock_ignoring_poison(&self.0);
        Arc::clone(tables.entry(kernel.clone()).or_insert_with(|| Arc::new(Table::new(read()))))
    }

    /// Tells of a new result.
    pub(super) fn add(&self, kernel: &KernelKey, record: &Record) {
        if let Some(table) = self.get(kernel) {
            table.change(|records| Arc::make_mut(records).records.push(record.clone()));
        }
    }

    /// Adds what files have more. What this process added stays, also what was added since the files were read, or
    /// could not be written.
    pub(super) fn refresh(&self, kernel: &KernelKey, read: impl FnOnce() -> Records) {
        if let Some(table) = self.get(kernel) {
            let read = read();
            table.change(|records| *records = Arc::new(read.union(records)));
        }
    }

    /// Takes what the files have now in place of what was read and added.
    pub(super) fn replace(&self, kernel: &KernelKey, read: impl FnOnce() -> Records) {
        if let Some(table) = self.get(kernel) {
            table.change(|records| *records = Arc::new(read()));
        }
    }
}
