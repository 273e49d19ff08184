//! Batched matrix products, by kernels that differ in the tile that a block computes and in the instructions used.

mod emulation;
mod epilogue;
mod simple;
mod skinny;
mod tiled;

use super::c_types::compute_type;
pub use emulation::{
    EMULATION_MAX_TERMS, EMULATION_SCALE_VECTORS, EMULATION_VECTOR_BYTES, EmulationJoin, EmulationSplit, MarkedMatmul,
    ResidueMatmul, emulation_moduli, emulation_norm_limit, emulation_planes, emulation_split_threads,
};
pub use epilogue::{
    EPILOGUE_NAMES, EPILOGUE_THREADS, EpilogueKernel, EpilogueOperand, FusedMatmul, MatmulEpilogue, MatmulKernel,
};
use rtcg_hal::DType;
pub use simple::{MATMUL_BLOCK_SIDE, SimpleMatmul};
pub use skinny::{SKINNY_THREADS, SkinnyMatmul};
use std::borrow::Cow;
pub use tiled::{ArgminMatmul, MatmulOperand, MatmulTile, MatmulUnit, TiledMatmul};

/// The name of each of these kernels.
const MATMUL_KERNEL_NAME: &str = "array_matmul";

/// The C type of sums, which is not rounded or cut before the last one: short integers are summed in 32 bits, which
/// have the same low ones.
pub(super) fn accumulator_type(dtype: DType) -> Cow<'static, str> {
    match dtype {
        DType::Bool | DType::U8 | DType::U16 => "unsigned int".into(),
        DType::I8 | DType::I16 => "int".into(),
        other => compute_type(other),
    }
}

/// Size in bytes of a sum before it is rounded to the dtype of the result.
pub fn matmul_accumulator_bytes(dtype: DType) -> usize {
    dtype.itemsize().max(4)
}
