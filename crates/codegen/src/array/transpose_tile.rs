//! Kernels for operands that are contiguous along different axes, as in `a + b.T`: operands that are not contiguous
//! along the output's last axis go through square tiles in shared memory, so that every operand is read, and the output
//! written, along its own fastest axis.

use super::c_types::storage_type;
use super::element_offsets::IndexSpace;
use rtcg_hal::DType;
use std::fmt::Write;

/// Threads per block of a tiled kernel.
pub const TRANSPOSE_TILE_THREADS: u32 = 256;

/// Side length of a tile in elements. A side of 64 was half as fast, even for elements of two bytes.
pub const TRANSPOSE_TILE_SIDE: u8 = 32;
/// Maximum element size in bytes for which tiles of two operands fit in shared memory.
pub const MAX_TRANSPOSE_TILE_ITEMSIZE: usize = 16;

/// The tiling of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TransposeTile {
    /// The axis along which transposed operands are contiguous; all others are contiguous along the last axis.
    pub axis: u8,
    /// One bit per operand, set if it is transposed.
    pub transposed: u8,
    /// Side length of a tile in elements.
    pub side: u8,
}

impl TransposeTile {
    /// Number of tiles, given the lengths of the axes.
    pub fn n_tiles(&self, lengths: &[usize]) -> usize {
        let last = lengths.len().saturating_sub(1);
        let cut = |(axis, &length): (usize, &usize)| {
            if axis == usize::from(self.axis) || axis == last {
                length.div_ceil(usize::from(self.side))
            } else {
                length
            }
        };
        lengths.iter().enumerate().map(cut).product()
    }

    /// Whether an operand is one of the transposed.
    pub(super) fn is_transposed(&self, operand: usize) -> bool {
        self.transposed >> operand & 1 == 1
    }

    /// The body of a kernel whose parameters are those of a strided one. `operands` are names and dtypes of
    /// the arrays that are read, in their order, after so many that are written; `compute` makes statements of
    /// the texts of their addresses.
    pub(super) fn kernel_body(
        &self,
        space: IndexSpace,
        n_outputs: usize,
        operands: &[(&str, DType)],
        compute: impl Fn(&dyn Fn(usize) -> String) -> String,
    ) -> String {
        let (axis, last, index) = (self.axis, space.ndim - 1, space.index_type());
        let mut text = self.declarations(space, operands);
        text.push_str("  for (unsigned long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {\n");
        text.push_str(&self.tile_origin(space, n_outputs + operands.len()));
        // Adjacent threads take adjacent elements along the axis of the transposed operands.
        let _ = write!(
            text,
            "    #pragma unroll\n    for (unsigned int e = threadIdx.x; e < SIDE * SIDE; e += {TRANSPOSE_TILE_THREADS}) {{\n\
             \x20     const {index} r = row + e % SIDE, c = column + e / SIDE;\n\
             \x20     if (r < dims.size[{axis}] && c < dims.size[{last}]) {{\n"
        );
        for (at, (name, dtype)) in operands.iter().enumerate().filter(|(at, _)| self.is_transposed(*at)) {
            let _ = writeln!(
                text,
                "        {name}_tile[e / SIDE * (SIDE + 1) + e % SIDE] = *(const {} *)((const char *){name} + {});",
                storage_type(*dtype),
                self.address(space, n_outputs + at)
            );
        }
        let _ = write!(
            text,
            "      }}\n    }}\n    __syncthreads();\n\
             \x20   #pragma unroll\n    for (unsigned int e = threadIdx.x; e < SIDE * SIDE; e += {TRANSPOSE_TILE_THREADS}) {{\n\
             \x20     const {index} r = row + e / SIDE, c = column + e % SIDE;\n\
             \x20     if (r < dims.size[{axis}] && c < dims.size[{last}]) {{\n"
        );
        text.push_str(&compute(&|array| self.address(space, array)));
        text + "      }\n    }\n    __syncthreads();\n  }\n"
    }

    /// Declares the tiles, how many there are, and the shared memory of transposed operands.
    fn declarations(&self, space: IndexSpace, operands: &[(&str, DType)]) -> String {
        let (side, axis, last, index) = (self.side, self.axis, space.ndim - 1, space.index_type());
        let mut text = format!(
            "  enum {{ SIDE = {side} }};\n\
             \x20 const {index} across = (dims.size[{last}] + SIDE - 1) / SIDE, down = (dims.size[{axis}] + SIDE - 1) / SIDE;\n\
             \x20 unsigned long long tiles = (unsigned long long)across * down;\n"
        );
        for batch in (0..last).filter(|batch| *batch != axis) {
            let _ = writeln!(text, "  tiles *= dims.size[{batch}];");
        }
        for (at, (name, dtype)) in operands.iter().enumerate().filter(|(at, _)| self.is_transposed(*at)) {
            let ty = storage_type(*dtype);
            let _ = writeln!(
                text,
                "  __shared__ alignas(16) unsigned char raw{at}[SIDE * (SIDE + 1) * sizeof({ty})];\n\
                 \x20 {ty} *const {name}_tile = ({ty} *)raw{at};"
            );
        }
        text
    }

    /// The first row and column of a tile, and where its batch begins in each array.
    fn tile_origin(&self, space: IndexSpace, n_arrays: usize) -> String {
        let (axis, last) = (self.axis, space.ndim - 1);
        let (index, offset) = (space.index_type(), space.offset_type());
        let mut text = format!(
            "    unsigned long long rest = tile;\n\
             \x20   const {index} column = ({index})(rest % across) * SIDE; rest /= across;\n\
             \x20   const {index} row = ({index})(rest % down) * SIDE; rest /= down;\n"
        );
        for operand in 0..n_arrays {
            let _ = writeln!(text, "    {offset} at{operand} = 0;");
        }
        for batch in (0..last).rev().filter(|batch| *batch != axis) {
            let _ = write!(
                text,
                "    {{ const {offset} place = ({offset})(rest % dims.size[{batch}]); rest /= dims.size[{batch}];"
            );
            for operand in 0..n_arrays {
                let _ = write!(text, " at{operand} += place * dims.stride[{operand}][{batch}];");
            }
            text.push_str(" }\n");
        }
        text
    }

    /// The bytes from the beginning of an array, of which those that are written come first, to its element in row `r` and column `c`.
    fn address(&self, space: IndexSpace, operand: usize) -> String {
        let (axis, last, offset) = (self.axis, space.ndim - 1, space.offset_type());
        format!(
            "at{operand} + ({offset})r * dims.stride[{operand}][{axis}] + ({offset})c * dims.stride[{operand}][{last}]"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tile_count_covers_both_tiled_axes_and_the_others() {
        let tile = TransposeTile { axis: 0, transposed: 1, side: 32 };
        assert_eq!(tile.n_tiles(&[33, 64]), 4);
        assert_eq!(TransposeTile { axis: 1, ..tile }.n_tiles(&[3, 33, 1]), 6);
    }

    #[test]
    fn only_transposed_operands_pass_through_shared_memory() {
        let space = IndexSpace { ndim: 2, wide: false };
        let tile = TransposeTile { axis: 0, transposed: 2, side: 32 };
        let operands = [("x", DType::F32), ("y", DType::F32)];
        let text = tile.kernel_body(space, 1, &operands, |address| format!("store({});\n", address(0)));
        assert!(text.contains("y_tile[e / SIDE * (SIDE + 1) + e % SIDE] = *(const float *)((const char *)y + at2"));
        assert!(!text.contains("x_tile") && text.contains("store(at0 + "), "{text}");
    }
}
