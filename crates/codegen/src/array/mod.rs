//! The kernels of array operations, each a [`KernelSpec`](rtcg_hal::KernelSpec).

mod c_types;
mod category;
mod einsum;
pub(crate) mod element_loops;
mod element_offsets;
mod expression;
mod fft;
mod gather;
mod linalg;
mod matmul;
mod op;
mod pointwise;
mod radix_sort;
mod reduce;
pub(crate) mod reduce_loops;
mod scalar;
mod scan;
mod segments;
mod sort;
mod transpose_tile;

pub use category::{
    CATEGORY_MERGE_THREADS, CATEGORY_THREADS, CategoryCombine, CategoryExpression, CategorySpec, CategoryStage,
};
pub use einsum::{
    BlockArray, BlockEinsum, BlockStep, DirectEinsum, ELEMENT_DIM as EINSUM_ELEMENT_DIM, EinsumAxis, EinsumStride,
    EinsumTypes, fragment_pitch,
};
pub use element_offsets::{IndexSpace, division_multiplier_and_shift};
pub use expression::ExpressionSource;
pub use fft::{
    FFT_EXPRESSION_NAMES, FFT_STAGES, FftExchange, FftExpressions, FftHelper, FftHelperKernel, FftLoad, FftPassSpec,
    FftResult, FftSource, FftStore, FusedFftPass, MAX_FFT_RADIX,
};
pub use gather::{BoundsMode, GatherDirection, GatherSpec};
pub use linalg::{
    LINALG_ITERATION_STATE_LEN, LINALG_NOT_CONVERGED, LINALG_NOT_FINITE, LINALG_RANK_DEFICIENT, LINALG_THREADS,
    LINALG_WY_BLOCK_COLUMNS, LinalgSpec, LinalgStep,
};
pub use matmul::{
    ArgminMatmul, EMULATION_MAX_TERMS, EMULATION_SCALE_VECTORS, EMULATION_VECTOR_BYTES, EPILOGUE_NAMES,
    EPILOGUE_THREADS, EmulationJoin, EmulationSplit, EpilogueKernel, EpilogueOperand, FusedMatmul, MATMUL_BLOCK_SIDE,
    MarkedMatmul, MatmulEpilogue, MatmulKernel, MatmulOperand, MatmulTile, MatmulUnit, ResidueMatmul, SKINNY_THREADS,
    SimpleMatmul, SkinnyMatmul, TiledMatmul, emulation_moduli, emulation_norm_limit, emulation_planes,
    emulation_split_threads, matmul_accumulator_bytes,
};
pub use op::{Op, OpTypeError, OpTypes, OperandRole};
pub use pointwise::{AccessPattern, OperandKind, PointwiseOperand, PointwiseSpec};
pub use radix_sort::{LabelSweepSpec, RADIX_BINS, RADIX_HISTOGRAM_THREADS, RadixSpec, RadixStage, SortPayload};
pub use reduce::{ReduceSpec, ReductionOp};
pub use reduce_loops::ReduceShape;
pub use scalar::{scalar_function, scalar_helpers, scalar_type};
pub use scan::{ScanOp, ScanSpec, ScanStage};
pub use segments::{SEGMENT_THREADS, SEGMENT_TILE, SegmentSpec, SegmentStage};
pub use sort::{SortSpec, SortStage};
pub use transpose_tile::{MAX_TRANSPOSE_TILE_ITEMSIZE, TRANSPOSE_TILE_SIDE, TRANSPOSE_TILE_THREADS, TransposeTile};
