//! The kernels behind arrays, each a small value that can be compared and hashed, and makes its source.

mod c_types;
mod element_offsets;
mod fft;
mod fused;
mod gather;
mod linalg;
mod matmul;
mod op;
mod pointwise;
mod radix_sort;
mod reduce;
mod scan;
mod sort;
mod transpose_tile;

pub use element_offsets::{IndexSpace, division_multiplier_and_shift};
pub use fft::{FFT_STAGES, FftHelper, FftHelperKernel, FftLoad, FftPassSpec, FftResult, FftSource, FftStore};
pub use fused::{FUSED_ZERO_ARG_COUNT, FusedOutput, FusedSpec, FusedStep, FusedSteps, NO_INPUT_STEP, is_fusable};
pub use gather::{BoundsMode, GatherDirection, GatherSpec};
pub use linalg::{
    LINALG_ITERATION_STATE_LEN, LINALG_NOT_CONVERGED, LINALG_NOT_FINITE, LINALG_PANEL_COLUMNS, LINALG_RANK_DEFICIENT,
    LINALG_REGISTER_PANEL_THREADS, LINALG_RHS_PER_BLOCK, LINALG_RHS_PER_WARP_BLOCK, LINALG_THREADS, LINALG_TILE_SIDE,
    LINALG_WY_BLOCK_COLUMNS, LinalgSpec, LinalgStep,
};
pub use matmul::{
    MATMUL_BLOCK_SIDE, MATMUL_TILE_SIDE, MatmulOperand, MatmulSpec, MatmulTile, MatmulUnit, SKINNY_THREADS,
    SimpleMatmul, SkinnyMatmul, TiledMatmul, matmul_accumulator_bytes,
};
pub use op::{Op, OpTypes, OperandRole, UnsupportedDType};
pub use pointwise::{AccessPattern, OperandKind, PointwiseOperand, PointwiseSpec};
pub use radix_sort::{RADIX_BINS, RADIX_HISTOGRAM_THREADS, RadixSpec, RadixStage, SortPayload};
pub use reduce::{ReduceSpec, ReductionOp};
pub use scan::{ScanOp, ScanSpec, ScanStage};
pub use sort::{SORT_TILE_ITEMS, SortSpec, SortStage};
pub use transpose_tile::{MAX_TRANSPOSE_TILE_ITEMSIZE, TRANSPOSE_TILE_SIDE, TRANSPOSE_TILE_THREADS, TransposeTile};

use std::borrow::Cow;

/// Any kernel of arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArrayKernel {
    /// Element by element.
    Pointwise(PointwiseSpec),
    /// Runs of elements to one each.
    Reduce(ReduceSpec),
    /// Through arrays of indices.
    Gather(GatherSpec),
    /// Scans (cumulative sums and products).
    Scan(ScanSpec),
    /// Sorting by comparisons, and searching.
    Sort(SortSpec),
    /// Sorting by digits.
    Radix(RadixSpec),
    /// Matrix products.
    Matmul(MatmulSpec),
    /// A pass of Fourier transforms.
    Fft(FftPassSpec),
    /// What goes with Fourier transforms.
    FftHelperKernel(FftHelperKernel),
    /// A step of linear algebra.
    Linalg(LinalgSpec),
}

impl ArrayKernel {
    /// The kernel's name in its source.
    pub fn kernel_name(&self) -> Cow<'static, str> {
        match self {
            ArrayKernel::Pointwise(kernel) => kernel.kernel_name().into(),
            ArrayKernel::Reduce(kernel) => kernel.kernel_name().into(),
            ArrayKernel::Gather(kernel) => kernel.kernel_name().into(),
            ArrayKernel::Scan(kernel) => kernel.kernel_name().into(),
            ArrayKernel::Sort(kernel) => kernel.kernel_name().into(),
            ArrayKernel::Radix(kernel) => kernel.kernel_name().into(),
            ArrayKernel::Matmul(kernel) => kernel.kernel_name().into(),
            ArrayKernel::Fft(kernel) => kernel.kernel_name().into(),
            ArrayKernel::FftHelperKernel(kernel) => kernel.kernel_name().into(),
            ArrayKernel::Linalg(kernel) => kernel.kernel_name().into(),
        }
    }

    /// The kernel as CUDA C++ source.
    pub fn source(&self) -> String {
        match self {
            ArrayKernel::Pointwise(kernel) => kernel.source(),
            ArrayKernel::Reduce(kernel) => kernel.source(),
            ArrayKernel::Gather(kernel) => kernel.source(),
            ArrayKernel::Scan(kernel) => kernel.source(),
            ArrayKernel::Sort(kernel) => kernel.source(),
            ArrayKernel::Radix(kernel) => kernel.source(),
            ArrayKernel::Matmul(kernel) => kernel.source(),
            ArrayKernel::Fft(kernel) => kernel.source(),
            ArrayKernel::FftHelperKernel(kernel) => kernel.source(),
            ArrayKernel::Linalg(kernel) => kernel.source(),
        }
    }
}
