//! Batched matrix products, by kernels that differ in what a block computes and by what means.
//!
//! Parameters of all: the result (contiguous), `a`, `b`, then `m`, `n`, `k`, the byte strides of `a` (row,
//! column) and `b`, the number of batches, and the byte offsets of each batch's operands.

mod simple;

pub use simple::{MATMUL_SIDE, MATMUL_TILE, SimpleMatmul};

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Matmul {
    /// Any dtype and strides.
    Simple(SimpleMatmul),
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
        }
    }
}
