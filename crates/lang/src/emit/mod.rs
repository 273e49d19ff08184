//! From statements to the source of kernels, as snippets of the one family of kernels.
//!
//! | file | contents |
//! |---|---|
//! | `writer.rs` | the statements of an element as C |
//! | `numbers.rs` | numbers, types and operations as C |
//! | `kernels.rs` | elementwise kernels, reductions and scans from statements |

mod kernels;
mod numbers;
mod writer;

pub use kernels::{emit, emit_merge_step, emit_row_reduction, emit_warps};

use crate::ir::{Atom, Var};
use rtcg_codegen::pointwise::ElementwiseSnippet;
use rtcg_codegen::reduction::ReductionSnippet;
use rtcg_codegen::scan::ScanSnippet;
use rtcg_hal::DType;

/// What a kernel is given, behind its outputs.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// An array whose element at the index of the kernel is read.
    Element(Var),
    /// An array of which an element is read for each index of some axes of the space, in this order.
    Strided(Var, Vec<usize>),
    /// An array of which other elements are read, without gaps.
    Array(Var),
    /// A number that the host knows.
    Host(Var),
    /// A number in device memory.
    Device(Var),
    /// The length of an array along an axis.
    Dim(Var, usize),
    /// A length of the space.
    Length(Atom),
    /// The word that an index out of bounds sets.
    Flag,
}

/// The kernel of a statement.
#[derive(Debug, Clone)]
pub enum Kernel {
    /// One output for each value, of the shape of the space.
    Elementwise(ElementwiseSnippet),
    /// As above, for a range of indices: outputs have further axes.
    Ranged(ElementwiseSnippet),
    /// All values in one structure.
    Reduction(ReductionSnippet),
    /// As above, for each index of the axes but the last.
    RowReduction(ReductionSnippet),
    /// Outputs of one axis, or, for an ordered reduction, of one element.
    Scan(ScanSnippet),
}

/// A kernel and its arguments: the outputs, then the inputs.
#[derive(Debug, Clone)]
pub struct Emitted {
    /// The kernel.
    pub kernel: Kernel,
    /// Behind the outputs.
    pub inputs: Vec<Input>,
    /// The fields of the structure in which values are combined: dtype and offset in bytes; its size.
    pub fields: (Vec<(DType, usize)>, usize),
}

/// What the emitter asks of whoever launches kernels.
pub trait Facts {
    /// Whether the lengths of an array are those of the space.
    fn has_lengths(&self, array: Var, lengths: &[Atom]) -> bool;
    /// Whether a scalar is in device memory.
    fn is_on_device(&self, scalar: Var) -> bool;
    /// Whether all indices of the space fit in 32 bits.
    fn is_small(&self, lengths: &[Atom]) -> bool;
}
