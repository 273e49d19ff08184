//! The kernels behind arrays, each a small value that can be compared and hashed, and makes its source.

mod fft;
mod fused;
mod gather;
mod linalg;
mod matmul;
mod offsets;
mod op;
mod pointwise;
mod radix;
mod reduce;
mod scan;
mod sort;
mod tiled;
mod types;

pub use fft::{FFT_STAGES, Fft, FftHelper, FftHelperKernel, FftLoad, FftResult, FftSource, FftStore};
pub use fused::{FUSED_ZEROS, Fused, FusedOutput, NO_STEP, Step, Steps, is_fusable};
pub use gather::{Bounds, Direction, Gather};
pub use linalg::{
    LINALG_NOT_CONVERGED, LINALG_NOT_FINITE, LINALG_PANEL, LINALG_RANK_DEFICIENT, LINALG_REGISTER_PANEL_THREADS,
    LINALG_RHS_PER_BLOCK, LINALG_STATE, LINALG_THREADS, LINALG_TILE, LINALG_WARP_RHS, LINALG_WY_BLOCK, Linalg,
    LinalgStep,
};
pub use matmul::{
    MATMUL_BLOCK_SIDE, MATMUL_TILE, Matmul, MatmulOperand, MatmulTile, MatmulUnit, SKINNY_THREADS, SimpleMatmul,
    SkinnyMatmul, TiledMatmul, matmul_sum_bytes,
};
pub use offsets::{IndexSpace, division_by};
pub use op::{Op, OpTypes, Role, UnsupportedDType};
pub use pointwise::{AccessPattern, Operand, OperandKind, Pointwise};
pub use radix::{Payload, RADIX, RADIX_THREADS, Radix, RadixStage};
pub use reduce::{Reduce, Reduction};
pub use scan::{Scan, ScanOp, ScanStage};
pub use sort::{SORT_TILE, Sort, SortStage};
pub use tiled::{TILE_ITEMSIZE, TILE_SIDE, TILE_THREADS, TransposeTile};

use std::borrow::Cow;

/// Any kernel of arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArrayKernel {
    /// Element by element.
    Pointwise(Pointwise),
    /// Runs of elements to one each.
    Reduce(Reduce),
    /// Through arrays of indices.
    Gather(Gather),
    /// Scans (cumulative sums and products).
    Scan(Scan),
    /// Sorting by comparisons, and searching.
    Sort(Sort),
    /// Sorting by digits.
    Radix(Radix),
    /// Matrix products.
    Matmul(Matmul),
    /// A pass of Fourier transforms.
    Fft(Fft),
    /// What goes with Fourier transforms.
    FftHelperKernel(FftHelperKernel),
    /// A step of linear algebra.
    Linalg(Linalg),
}

impl ArrayKernel {
    /// The kernel's name in its source.
    pub fn name(&self) -> Cow<'static, str> {
        match self {
            ArrayKernel::Pointwise(kernel) => kernel.name().into(),
            ArrayKernel::Reduce(kernel) => kernel.name().into(),
            ArrayKernel::Gather(kernel) => kernel.name().into(),
            ArrayKernel::Scan(kernel) => kernel.name().into(),
            ArrayKernel::Sort(kernel) => kernel.name().into(),
            ArrayKernel::Radix(kernel) => kernel.name().into(),
            ArrayKernel::Matmul(kernel) => kernel.name().into(),
            ArrayKernel::Fft(kernel) => kernel.name().into(),
            ArrayKernel::FftHelperKernel(kernel) => kernel.name().into(),
            ArrayKernel::Linalg(kernel) => kernel.name().into(),
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
