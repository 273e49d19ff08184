//! Skinny products: a large matrix A times a matrix B with few columns. The kernel computes no padding and reads A
//! once, at memory bandwidth. A product with few rows is computed as one with few columns of the transposes.
//!
//! Parameters: the result, A, B, a structure of lengths and byte strides, the byte offsets of each batch's matrices of
//! both (or none, where strides suffice), and space for the partial sums of blocks that split `k`, with their
//! completion counters.

use super::super::c_types::storage_type;
use super::MATMUL_KERNEL_NAME;
use super::accumulator_type;
use super::epilogue::{MatmulEpilogue, MatmulKernel, finish_source};
use crate::block_reduce::BLOCK_REDUCE_SOURCE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Threads per block.
pub const SKINNY_THREADS: u32 = 256;

/// A kernel, described by everything that determines its source. All numbers are powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SkinnyMatmul {
    /// The dtype of operands and result.
    pub dtype: DType,
    /// Whether adjacent threads take adjacent elements along `k`, rather than adjacent rows of A.
    pub row_major: bool,
    /// Columns of B per block.
    pub width: u8,
    /// Rows per thread; the elements of a pack if not `row_major`.
    pub rows: u8,
    /// Elements that are loaded at once.
    pub pack: u8,
    /// Packs of a row that a thread loads before it uses the first one.
    pub unroll: u8,
    /// Threads that split `k` for the same sums; adjacent threads if `row_major`, otherwise at least 8.
    pub threads_per_sum: u16,
    /// Elements of B along `k` that are loaded into shared memory at a time; 0 if threads load B themselves.
    pub staged_k: u16,
    /// Whether the elements of A that adjacent threads take are contiguous.
    pub is_a_dense: bool,
    /// Whether a column of B is contiguous along `k`.
    pub is_b_dense: bool,
    /// Whether the elements of A for a step are loaded before those of the previous step are used.
    pub is_prefetched: bool,
    /// Whether blocks split `k`.
    pub is_split_k: bool,
}

impl SkinnyMatmul {
    /// Sums per block; if blocks split `k`, each leaves a partial sum for every one.
    pub fn outputs_per_block(&self) -> usize {
        SKINNY_THREADS as usize / usize::from(self.threads_per_sum) * usize::from(self.rows) * usize::from(self.width)
    }
}

impl KernelSpec for SkinnyMatmul {
    fn kernel_name(&self) -> Cow<'static, str> {
        MATMUL_KERNEL_NAME.into()
    }

    fn source(&self) -> String {
        self.source_with(None)
    }
}

impl MatmulKernel for SkinnyMatmul {
    fn source_with(&self, epilogue: Option<&MatmulEpilogue>) -> String {
        let plain = (&*storage_type(self.dtype), "rt_cast<O>(sum)", true);
        let mut text = finish_source(epilogue, self.dtype, &accumulator_type(self.dtype), plain) + BLOCK_REDUCE_SOURCE;
        let _ = writeln!(text, "typedef {} E; typedef {} T;", storage_type(self.dtype), accumulator_type(self.dtype));
        // Booleans are combined as NumPy does it: "and" for the product, "or" for the sum.
        let (add_sums, multiply_add) = match self.dtype {
            DType::Bool => ("a | b", "sum | (x & y)"),
            _ => ("a + b", "sum + x * y"),
        };
        let _ = writeln!(text, "#define ADD {add_sums}\n#define MULTIPLY_ADD {multiply_add}");
        // Threads that stage nothing have a number of terms there, but no use for it.
        let staged_k = self.staged_k.max(1);
        let numbers = [
            ("WIDTH", u16::from(self.width)),
            ("ROWS", u16::from(self.rows)),
            ("PACK", u16::from(self.pack)),
            ("UNROLL", u16::from(self.unroll)),
            ("THREADS_PER_SUM", self.threads_per_sum),
            ("STAGED_K", staged_k),
            ("IS_STAGED", u16::from(self.staged_k > 0)),
            ("IS_A_DENSE", u16::from(self.is_a_dense)),
            ("IS_B_DENSE", u16::from(self.is_b_dense)),
            ("IS_PREFETCHED", u16::from(self.is_prefetched)),
            ("IS_SPLIT_K", u16::from(self.is_split_k)),
        ];
        for (name, number) in numbers {
            let _ = writeln!(text, "constexpr int {name} = {number};");
        }
        text.push_str(include_str!("skinny.cuh"));
        text.push_str(if self.row_major {
            include_str!("skinny_row_major.cuh")
        } else {
            include_str!("skinny_column_major.cuh")
        });
        text
    }
}
