//! Batched matrix products, by kernels that differ in what a block computes and by what means.

mod simple;
mod tiled;

pub use simple::{MATMUL_SIDE, MATMUL_TILE, SimpleMatmul};
pub use tiled::{MatmulOperand, MatmulTile, MatmulUnit, TiledMatmul};

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Matmul {
    /// Any dtype and strides.
    Simple(SimpleMatmul),
    /// Large tiles, for compute capability 8.0 and later.
    Tiled(TiledMatmul),
}

impl Matmul {
    /// The kernel's name.
    pub fn name(&self) -> &'static str {
        "array_matmul"
    }

    /// The kernel as CUDA C++ source.
    pub fn source(&self) -> String {
        match self {
            Matmul::Simple(kernel) => kernel.source(),
            Matmul::Tiled(kernel) => kernel.source(),
        }
    }
}
