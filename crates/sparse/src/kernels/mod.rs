//! Kernels of this crate. Each is a [`rtcg_hal::KernelSpec`] whose source is generated for its dtypes: CUDA C
//! without templates, with CUDA's keywords under the names of `rtcg_codegen::dialect`.

pub(crate) mod bsr;
pub(crate) mod components;
pub(crate) mod conversion;
pub(crate) mod dia;
pub(crate) mod elements;
pub(crate) mod elementwise;
pub(crate) mod extremes;
pub(crate) mod features;
pub(crate) mod hot_columns;
pub(crate) mod incomplete;
pub(crate) mod merge;
pub(crate) mod order;
pub(crate) mod packets;
pub(crate) mod sddmm;
pub(crate) mod sell;
pub(crate) mod spgemm;
pub(crate) mod spmm;
pub(crate) mod spmv;
pub(crate) mod structure;
pub(crate) mod triangular;

/// Threads of a block.
pub(crate) const THREADS: u32 = 256;

/// Where the state of a solver, an array of doubles, says whether iterations have stopped.
pub(crate) const STOP_FLAG: usize = 0;

/// Elements that a lane asks for on a GPU before it waits for the first; wide ones take registers.
pub(crate) fn gpu_elements_ahead(vector: rtcg_hal::DType) -> u8 {
    if vector.itemsize() > 8 { 4 } else { 8 }
}
