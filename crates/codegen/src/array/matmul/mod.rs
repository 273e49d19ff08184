//! Batched matrix products, by kernels that differ in what a block computes and by what means.

mod simple;
mod skinny;
mod tiled;

use super::c_types::compute_type;
use crate::DType;
use std::borrow::Cow;

pub use simple::{MATMUL_BLOCK_SIDE, MATMUL_TILE_SIDE, SimpleMatmul};
pub use skinny::{SKINNY_THREADS, SkinnyMatmul};
pub use tiled::{MatmulOperand, MatmulTile, MatmulUnit, TiledMatmul};

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatmulSpec {
    /// Any dtype and strides.
    Simple(SimpleMatmul),
    /// Few rows or columns.
    Skinny(SkinnyMatmul),
    /// Large tiles, for compute capability 8.0 and later.
    Tiled(TiledMatmul),
}

impl MatmulSpec {
    /// The kernel's name.
    pub fn kernel_name(&self) -> &'static str {
        "array_matmul"
    }

    /// The kernel as CUDA C++ source.
    pub fn source(&self) -> String {
        match self {
            MatmulSpec::Simple(kernel) => kernel.source(),
            MatmulSpec::Skinny(kernel) => kernel.source(),
            MatmulSpec::Tiled(kernel) => kernel.source(),
        }
    }
}

/// The C type of sums, which is not rounded or cut before the last one: short integers are summed in 32 bits, which
/// have the same low ones.
fn accumulator_type(dtype: DType) -> Cow<'static, str> {
    match dtype {
        DType::Bool | DType::U8 | DType::U16 => "unsigned int".into(),
        DType::I8 | DType::I16 => "int".into(),
        other => compute_type(other),
    }
}

/// Bytes of a sum before it is rounded to the dtype of the result.
pub fn matmul_accumulator_bytes(dtype: DType) -> usize {
    dtype.itemsize().max(4)
}
