//! Products of a big matrix and a thin one, which has few columns: nothing is computed that is not asked for, and the big
//! matrix is read once, at the speed of memory. A product with few rows is one with few columns of the transposes.
//!
//! Parameters: the result, the big and the thin operand, a structure of lengths and byte strides, the byte offsets of
//! each batch's matrices of both (or none, where strides do), and room for what blocks leave that share terms, with its
//! tickets.

use super::super::types::{preamble, storage};
use super::accumulated;
use crate::DType;
use crate::combine::COMBINE;
use std::fmt::Write;

/// Threads of a block.
pub const SLENDER_THREADS: u32 = 256;

/// A kernel, as everything that decides its source. Numbers are powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SlenderMatmul {
    /// The dtype of operands and result.
    pub dtype: DType,
    /// Neighbouring threads take neighbouring terms, else neighbouring rows of the big operand.
    pub along: bool,
    /// Columns of the thin operand that a block has.
    pub width: u8,
    /// Rows of a thread; the elements of a pack if not `along`.
    pub rows: u8,
    /// Elements that are read at once.
    pub pack: u8,
    /// Packs of a row that a thread reads before it uses the first one.
    pub unroll: u8,
    /// Threads that share the terms of the same sums; with `along` neighbours, else at least 8.
    pub team: u16,
    /// Terms of the thin operand that are brought to shared memory at a time; 0 where threads read it themselves.
    pub chunk: u16,
    /// The neighbours in the big operand that neighbouring threads take lie beside each other.
    pub is_dense: bool,
    /// So do the terms of a column of the thin operand.
    pub is_thin_dense: bool,
    /// A step's elements of the big operand are read before those of the step before are used.
    pub is_ahead: bool,
    /// Blocks share the terms.
    pub is_split: bool,
}

impl SlenderMatmul {
    /// Sums of a block, for each of which it leaves a value where blocks share the terms.
    pub fn outputs(&self) -> usize {
        SLENDER_THREADS as usize / usize::from(self.team) * usize::from(self.rows) * usize::from(self.width)
    }

    /// The kernel as CUDA C++ source.
    pub(super) fn source(&self) -> String {
        let mut text = preamble([self.dtype].into_iter(), false) + COMBINE;
        let _ = writeln!(text, "typedef {} E; typedef {} T;", storage(self.dtype), accumulated(self.dtype));
        // Booleans are combined as NumPy does it: "and" for the product, "or" for the sum.
        let (joined, with_term) = match self.dtype {
            DType::Bool => ("a | b", "sum | (x & y)"),
            _ => ("a + b", "sum + x * y"),
        };
        let _ = writeln!(text, "#define JOINED {joined}\n#define WITH_TERM {with_term}");
        // Threads that stage nothing have a number of terms there, but no use for it.
        let chunk = self.chunk.max(1);
        let numbers = [
            ("WIDTH", u16::from(self.width)),
            ("ROWS", u16::from(self.rows)),
            ("PACK", u16::from(self.pack)),
            ("UNROLL", u16::from(self.unroll)),
            ("TEAM", self.team),
            ("CHUNK", chunk),
            ("IS_STAGED", u16::from(self.chunk > 0)),
            ("IS_DENSE", u16::from(self.is_dense)),
            ("IS_THIN_DENSE", u16::from(self.is_thin_dense)),
            ("IS_AHEAD", u16::from(self.is_ahead)),
            ("IS_SPLIT", u16::from(self.is_split)),
        ];
        for (name, number) in numbers {
            let _ = writeln!(text, "constexpr int {name} = {number};");
        }
        text.push_str(include_str!("slender.cuh"));
        text.push_str(if self.along { include_str!("slender_along.cuh") } else { include_str!("slender_across.cuh") });
        text
    }
}
