//! A pool that reports what its memory is used for.

use super::block_source::BlockSource;
use super::core::{PoolCore, PoolOptions};
use super::device::{DeviceMemoryPool, PooledDeviceAllocation};
use crate::error::Result;
use crate::memory::mem_get_info;
use crate::stream::Stream;
use rtcg_hal::lock_ignoring_poison;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};

/// Blocks of the same size and purpose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockCount {
    /// Bytes of each, as requested.
    pub nbytes: usize,
    /// What they are used for.
    pub label: Arc<str>,
    /// The number in use.
    pub count: usize,
}

/// A [`DeviceMemoryPool`] whose allocations carry labels. Whenever it takes memory from the driver it logs which
/// labelled blocks are in use, so that growth can be understood.
pub struct DebugMemoryPool {
    pool: DeviceMemoryPool,
    log: Mutex<Box<dyn Write + Send>>,
}

impl std::fmt::Debug for DebugMemoryPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DebugMemoryPool({:?})", self.pool.statistics())
    }
}

impl DebugMemoryPool {
    /// Makes an empty pool that writes to `log`.
    pub fn new(log: impl Write + Send + 'static) -> Self {
        Self { pool: DeviceMemoryPool::new_labelled(), log: Mutex::new(Box::new(log)) }
    }

    /// The underlying pool without labels, with its statistics.
    pub fn pool(&self) -> &DeviceMemoryPool {
        &self.pool
    }

    /// [`DeviceMemoryPool::allocate`] with a label that says what the memory is for.
    pub fn allocate(&self, nbytes: usize, stream: Option<&Stream>, label: &str) -> Result<PooledDeviceAllocation> {
        let (memory, was_taken) = self.pool.allocate_labelled(nbytes, stream, label)?;
        if was_taken {
            let text = self.pool.allocation_report(nbytes, label);
            let mut log = lock_ignoring_poison(&self.log);
            // A log that cannot be written is no reason to have no memory.
            let _ = log.write_all(text.as_bytes()).and_then(|()| log.flush());
        }
        Ok(memory)
    }
}

/// Labels.
impl DeviceMemoryPool {
    /// Makes an empty pool that records what its memory is for.
    pub fn new_labelled() -> Self {
        Self(PoolCore::new(BlockSource::Device, PoolOptions { is_labelled: true, ..PoolOptions::default() }))
    }

    /// [`DeviceMemoryPool::allocate`] in a pool made by [`DeviceMemoryPool::new_labelled`]; also returns whether it
    /// took memory from the driver.
    pub fn allocate_labelled(
        &self,
        nbytes: usize,
        stream: Option<&Stream>,
        label: &str,
    ) -> Result<(PooledDeviceAllocation, bool)> {
        let before = self.statistics().n_taken;
        let memory = self.allocate(nbytes, stream)?;
        if let Some(mut labels) = self.0.block_labels() {
            labels.insert(memory.ptr(), (nbytes, label.into()));
        }
        Ok((memory, self.statistics().n_taken != before))
    }

    /// The labelled blocks in use, largest first.
    pub fn histogram(&self) -> Vec<BlockCount> {
        let mut counts = BTreeMap::new();
        if let Some(labels) = self.0.block_labels() {
            labels.values().for_each(|(nbytes, label)| *counts.entry((*nbytes, label.clone())).or_insert(0) += 1);
        }
        let all = counts.into_iter().rev();
        all.map(|((nbytes, label), count)| BlockCount { nbytes, label, count }).collect()
    }

    /// Describes an allocation that took memory from the driver, and all blocks in use.
    pub fn allocation_report(&self, nbytes: usize, label: &str) -> String {
        let all = self.statistics();
        let (free, total) = mem_get_info().unwrap_or_default();
        let mut text = format!(
            "allocation of {nbytes} bytes for {label}\n  device: {free} of {total} bytes free; pool: {} bytes in {} \
             blocks in use, {} unused blocks, {} bytes managed\n",
            all.active_bytes, all.active_blocks, all.held_blocks, all.managed_bytes
        );
        for BlockCount { nbytes, label, count } in self.histogram() {
            text += &format!("  {count:6} x {nbytes:12} bytes  {label}\n");
        }
        text
    }
}
