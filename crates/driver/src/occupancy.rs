//! How many blocks of a kernel run at once.

use crate::error::Result;
use crate::function::Function;
use rtcg_cuda_sys::c_int;

impl Function {
    /// Blocks of `block_threads` threads with `shared_bytes` of dynamic shared memory that fit on
    /// one multiprocessor.
    pub fn max_active_blocks(&self, block_threads: u32, shared_bytes: usize) -> Result<u32> {
        let mut blocks = 0;
        let (table, f, threads) = (self.0.table, self.0.handle, block_threads as c_int);
        // SAFETY: the function is alive, one int is written.
        self.0.module.context().hold_current(|| unsafe {
            let out = &raw mut blocks;
            call!(table, cuOccupancyMaxActiveBlocksPerMultiprocessor(out, f, threads, shared_bytes))
        })?;
        Ok(blocks.max(0) as u32)
    }

    /// `(min_grid, block)`: the block size with the best occupancy, and the blocks that fill the
    /// device with it. `limit` bounds the block size, 0 means no bound.
    pub fn max_potential_block_size(&self, shared_bytes: usize, limit: u32) -> Result<(u32, u32)> {
        let (mut grid, mut block) = (0, 0);
        let (table, f, limit) = (self.0.table, self.0.handle, limit as c_int);
        // SAFETY: the function is alive, two ints are written, there is no callback.
        self.0.module.context().hold_current(|| unsafe {
            let (grid, block) = (&raw mut grid, &raw mut block);
            call!(table, cuOccupancyMaxPotentialBlockSize(grid, block, f, None, shared_bytes, limit))
        })?;
        Ok((grid.max(0) as u32, block.max(0) as u32))
    }
}
