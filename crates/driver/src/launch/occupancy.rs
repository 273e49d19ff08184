//! Occupancy of kernels: how many blocks run at once.

use crate::error::Result;
use crate::launch::launch_config;
use crate::launch_options::LaunchOptions;
use crate::module::Function;
use rtcg_cuda_sys::{CUlaunchConfig, CUstream, DriverTable, c_int};

impl Function {
    /// Asks the driver with the kernel's context current.
    fn query_in_context<T>(
        &self,
        call: &'static str,
        body: impl FnOnce(&'static DriverTable) -> Result<T>,
    ) -> Result<T> {
        let table = self.0.module.driver_table_if_alive(call)?;
        self.0.module.context().with_current_locked(|| body(table))
    }

    /// The number of blocks of `block_threads` threads, with `shared_bytes` of dynamic shared memory, that fit on one
    /// multiprocessor.
    pub fn max_active_blocks(&self, block_threads: u32, shared_bytes: usize) -> Result<u32> {
        let mut blocks = 0;
        let (f, threads) = (self.0.handle, block_threads as c_int);
        // SAFETY: the function is alive, one int is written.
        self.query_in_context("cuOccupancyMaxActiveBlocksPerMultiprocessor", |table| unsafe {
            let out = &raw mut blocks;
            call_driver!(table, cuOccupancyMaxActiveBlocksPerMultiprocessor(out, f, threads, shared_bytes))
        })?;
        Ok(blocks.max(0) as u32)
    }

    /// Returns `(min_grid, block)`: the block size with the best occupancy, and the number of such blocks that fill the
    /// device. `limit` bounds the block size; 0 means no bound.
    pub fn max_potential_block_size(&self, shared_bytes: usize, limit: u32) -> Result<(u32, u32)> {
        let (mut grid, mut block) = (0, 0);
        let (f, limit) = (self.0.handle, limit as c_int);
        // SAFETY: the function is alive, two ints are written, there is no callback.
        self.query_in_context("cuOccupancyMaxPotentialBlockSize", |table| unsafe {
            let (grid, block) = (&raw mut grid, &raw mut block);
            call_driver!(table, cuOccupancyMaxPotentialBlockSize(grid, block, f, None, shared_bytes, limit))
        })?;
        Ok((grid.max(0) as u32, block.max(0) as u32))
    }

    /// The dynamic shared memory, in bytes, that each of `blocks` blocks of `block_threads` threads may use if all are
    /// to fit on one multiprocessor.
    pub fn available_dynamic_shared(&self, blocks: u32, block_threads: u32) -> Result<usize> {
        let mut nbytes = 0;
        let (f, blocks, threads) = (self.0.handle, blocks as c_int, block_threads as c_int);
        // SAFETY: the function is alive, one size is written.
        self.query_in_context("cuOccupancyAvailableDynamicSMemPerBlock", |table| unsafe {
            call_driver!(table, cuOccupancyAvailableDynamicSMemPerBlock(&raw mut nbytes, f, blocks, threads))
        })?;
        Ok(nbytes)
    }

    /// The largest possible cluster size with these blocks, in blocks.
    pub fn max_potential_cluster_size(&self, block: [u32; 3], shared_bytes: u32) -> Result<u32> {
        let mut size = 0;
        let f = self.0.handle;
        let config = self.cluster_launch_config([1; 3], block, shared_bytes);
        // SAFETY: the function is alive, one int is written, the configuration has no attributes.
        self.query_in_context("cuOccupancyMaxPotentialClusterSize", |table| unsafe {
            call_driver!(table, cuOccupancyMaxPotentialClusterSize(&raw mut size, f, &raw const config))
        })?;
        Ok(size.max(0) as u32)
    }

    /// The number of clusters of `cluster` blocks that can run on the device at once.
    pub fn max_active_clusters(&self, cluster: [u32; 3], block: [u32; 3], shared_bytes: u32) -> Result<u32> {
        let mut clusters = 0;
        let f = self.0.handle;
        let mut attributes = LaunchOptions { cluster: Some(cluster), ..LaunchOptions::default() }.launch_attributes();
        let config = launch_config(cluster, block, shared_bytes, CUstream::null(), &mut attributes);
        // SAFETY: the function is alive, one int is written, the attributes live until the end.
        self.query_in_context("cuOccupancyMaxActiveClusters", |table| unsafe {
            call_driver!(table, cuOccupancyMaxActiveClusters(&raw mut clusters, f, &raw const config))
        })?;
        Ok(clusters.max(0) as u32)
    }

    fn cluster_launch_config(&self, grid: [u32; 3], block: [u32; 3], shared_bytes: u32) -> CUlaunchConfig {
        let mut config = launch_config(grid, block, shared_bytes, CUstream::null(), &mut []);
        config.attrs = std::ptr::null_mut();
        config
    }
}
