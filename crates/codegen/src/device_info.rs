//! The device in quantities, by which kernels and their geometry are chosen.

/// Threads per block of kernels that need no particular number.
pub const BLOCK_THREADS: u32 = 256;

/// What kernels and their geometry are chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Blocks of 256 threads that are worth launching; more work is done by striding.
    pub max_blocks: u32,
    /// Bytes that one thread reads best at once.
    pub vector_bytes: u32,
    /// Shared memory of a block for pipelines of bulk copies; 0 where the device has none.
    pub bulk_copy_smem_bytes: u32,
    /// The most shared memory that a block gets on request.
    pub shared_bytes: u32,
    /// Compute capability: ten times the major number, and the minor one.
    pub compute_capability: u32,
}

impl DeviceInfo {
    /// Whether the device is a SIMD CPU: adjacent threads read adjacent elements, one at a time.
    pub fn is_simd_cpu(&self) -> bool {
        self.vector_bytes == 1
    }

    /// Blocks of [`BLOCK_THREADS`] threads for `work` independent pieces of work.
    pub fn grid_block_count(&self, work: usize) -> u32 {
        work.div_ceil(BLOCK_THREADS as usize).clamp(1, self.max_blocks as usize) as u32
    }

    /// Blocks of [`BLOCK_THREADS`] threads that the device runs at once.
    pub fn resident_blocks(&self) -> usize {
        self.max_blocks as usize / 4
    }

    /// The quantities by their names, with which constraints of tunable decisions are written.
    pub fn quantities(&self) -> [(&'static str, i64); 6] {
        [
            ("multiprocessors", self.multiprocessors.into()),
            ("max_blocks", self.max_blocks.into()),
            ("vector_bytes", self.vector_bytes.into()),
            ("bulk_copy_smem_bytes", self.bulk_copy_smem_bytes.into()),
            ("shared_bytes", self.shared_bytes.into()),
            ("compute_capability", self.compute_capability.into()),
        ]
    }
}
