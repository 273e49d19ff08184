//! Statistics of a pool.

/// Statistics of a pool since its creation.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct PoolStatistics {
    /// Unused blocks held for reuse.
    pub held_blocks: usize,
    /// Blocks in use.
    pub active_blocks: usize,
    /// Bytes obtained from the driver, in held and active blocks.
    pub managed_bytes: usize,
    /// Bytes requested for the blocks in use.
    pub active_bytes: usize,
    /// The largest `managed_bytes` so far.
    pub peak_managed_bytes: usize,
    /// The largest `active_bytes` so far.
    pub peak_active_bytes: usize,
    /// Allocations so far.
    pub n_allocations: u64,
    /// Allocations that reused a block.
    pub n_reused: u64,
    /// Blocks obtained from the driver.
    pub n_taken: u64,
    /// Blocks returned to the driver.
    pub n_returned: u64,
}

impl PoolStatistics {
    #[inline]
    pub(super) fn count_lease(&mut self, nbytes: usize) {
        self.active_blocks += 1;
        self.active_bytes += nbytes;
        self.peak_active_bytes = self.peak_active_bytes.max(self.active_bytes);
        self.n_allocations += 1;
    }

    #[inline]
    pub(super) fn count_lease_end(&mut self, nbytes: usize) {
        self.active_blocks -= 1;
        self.active_bytes -= nbytes;
    }

    pub(super) fn count_new_block(&mut self, size: usize) {
        self.managed_bytes += size;
        self.peak_managed_bytes = self.peak_managed_bytes.max(self.managed_bytes);
        self.n_taken += 1;
    }

    pub(super) fn count_freed_block(&mut self, size: usize) {
        self.managed_bytes -= size;
        self.n_returned += 1;
    }
}
