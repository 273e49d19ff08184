//! Matrices as kernels copy them by the box.

use crate::dtype::DType;

/// A stack of matrices as bulk tensor copies between device memory and shared memory see it: boxes of lines of 128 bytes,
/// whose 16-byte chunks lie in shared memory in the order of the 128-byte swizzle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorBoxes {
    /// The type of an element.
    pub dtype: DType,
    /// Where the first one is.
    pub address: u64,
    /// Elements of a line, lines of a matrix, matrices. What a box has beyond them is read as 0, and not written.
    pub extents: [u64; 3],
    /// Bytes from a line to the next, and from a matrix to the next: multiples of 16.
    pub byte_strides: [u64; 2],
    /// Lines of a box.
    pub lines: u32,
}

/// A description of [`TensorBoxes`] that a kernel takes as an argument. The first word is the address.
pub type TensorMap = [u64; 16];
