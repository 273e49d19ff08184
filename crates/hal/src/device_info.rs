//! Properties of a device, by which kernels and their geometry are chosen.

/// Default number of threads per block.
pub const BLOCK_THREADS: u32 = 256;

/// How a device executes the threads of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutionModel {
    /// As a GPU: a warp's threads have registers and memory accesses of their own, and many warps hide latency.
    Simt = 0,
    /// As the vectors of a processor: adjacent threads should read adjacent elements, one at a time, few blocks run at
    /// once, and work that one thread does in a loop costs least.
    SimdCpu = 1,
}

impl From<ExecutionModel> for i64 {
    fn from(model: ExecutionModel) -> Self {
        model as i64
    }
}

/// The properties of a device on which the choice of kernels and their geometry depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// Maximum useful number of blocks of 256 threads; a grid-stride loop does the rest.
    pub max_blocks: u32,
    /// How it executes the threads of a block.
    pub execution: ExecutionModel,
    /// Bytes that a thread should read at once.
    pub vector_bytes: u32,
    /// Shared memory per block, in bytes, for pipelines of bulk copies; 0 if the device does not support them.
    pub bulk_copy_smem_bytes: u32,
    /// Maximum shared memory per block, in bytes, with opt-in.
    pub shared_bytes: u32,
    /// Compute capability, as ten times the major number plus the minor number.
    pub compute_capability: u32,
}

impl DeviceInfo {
    /// Whether the device is a SIMD CPU.
    pub fn is_simd_cpu(&self) -> bool {
        self.execution == ExecutionModel::SimdCpu
    }

    /// Number of blocks of [`BLOCK_THREADS`] threads for `work` independent work items.
    pub fn grid_block_count(&self, work: usize) -> u32 {
        work.div_ceil(BLOCK_THREADS as usize).clamp(1, self.max_blocks as usize) as u32
    }

    /// Number of blocks of [`BLOCK_THREADS`] threads that the device runs at once.
    pub fn resident_blocks(&self) -> usize {
        self.max_blocks as usize / 4
    }

    /// Number of blocks of so many threads that the device runs at once, whatever a kernel needs.
    pub fn resident_blocks_of(&self, threads: u32) -> usize {
        let multiprocessors = self.multiprocessors.max(1) as usize;
        let threads_each = self.resident_blocks() / multiprocessors * BLOCK_THREADS as usize;
        multiprocessors * (threads_each / threads as usize).max(1)
    }

    /// The properties by name, for use in the constraints of tunable decisions.
    pub fn quantities(&self) -> [(&'static str, i64); 7] {
        [
            ("multiprocessors", self.multiprocessors.into()),
            ("max_blocks", self.max_blocks.into()),
            ("execution", self.execution.into()),
            ("vector_bytes", self.vector_bytes.into()),
            ("bulk_copy_smem_bytes", self.bulk_copy_smem_bytes.into()),
            ("shared_bytes", self.shared_bytes.into()),
            ("compute_capability", self.compute_capability.into()),
        ]
    }
}
