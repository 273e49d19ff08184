//! What a pool has and did.

/// Numbers of a pool since it was made.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct PoolStatistics {
    /// Blocks that wait to be handed out again.
    pub held_blocks: usize,
    /// Blocks handed out and not given back yet.
    pub active_blocks: usize,
    /// Bytes that the pool has from the driver, in both kinds of blocks.
    pub managed_bytes: usize,
    /// Bytes asked for in the blocks handed out.
    pub active_bytes: usize,
    /// The largest `managed_bytes` so far.
    pub peak_managed_bytes: usize,
    /// The largest `active_bytes` so far.
    pub peak_active_bytes: usize,
    /// Blocks handed out so far.
    pub n_allocations: u64,
    /// Of these, blocks that were used before.
    pub n_reused: u64,
    /// Blocks taken from the driver.
    pub n_taken: u64,
    /// Blocks given back to the driver.
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
