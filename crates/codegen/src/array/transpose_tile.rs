//! Kernels for operands that are contiguous along different axes, as in `a + b.T`: operands that are not contiguous
//! along the output's last axis go through square tiles in shared memory, so that every operand is read, and the output
//! written, along its own fastest axis.

use super::element_offsets::IndexSpace;
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

    /// Whether an array of a kernel is one of the transposed; the first one, which is written, never is.
    pub fn is_transposed(&self, array: usize) -> bool {
        array > 0 && self.transposed >> (array - 1) & 1 == 1
    }

    /// The transposed ones of a kernel's arrays, with their numbers.
    fn transposed<'a>(
        &'a self,
        arrays: &'a [(&'a str, &'a str)],
    ) -> impl Iterator<Item = (usize, &'a (&'a str, &'a str))> {
        arrays.iter().enumerate().filter(|(at, _)| self.is_transposed(*at))
    }

    /// The body of a kernel whose parameters are those of a strided one. `arrays` are names and C types, first that of
    /// the array along whose last axis tiles are written; `compute` makes statements of the texts of their addresses.
    /// `p` stands before every name that is declared.
    pub(super) fn kernel_body(
        &self,
        space: IndexSpace,
        p: &str,
        arrays: &[(&str, &str)],
        compute: impl Fn(&dyn Fn(usize) -> String) -> String,
    ) -> String {
        let (axis, last, index) = (self.axis, space.ndim - 1, space.index_type());
        let mut text = self.declarations(space, p, arrays);
        let _ = writeln!(
            text,
            "  for (unsigned long long {p}tile = blockIdx.x; {p}tile < {p}tiles; {p}tile += gridDim.x) {{"
        );
        text.push_str(&self.tile_origin(space, p, arrays.len()));
        let elements = format!(
            "    #pragma unroll\n    for (unsigned int {p}e = threadIdx.x; {p}e < {p}SIDE * {p}SIDE; {p}e += {TRANSPOSE_TILE_THREADS}) {{\n"
        );
        let inside = format!("      if ({p}r < {p}dims.size[{axis}] && {p}c < {p}dims.size[{last}]) {{\n");
        // Adjacent threads take adjacent elements along the axis of the transposed operands.
        let _ = write!(
            text,
            "{elements}      const {index} {p}r = {p}row + {p}e % {p}SIDE, {p}c = {p}column + {p}e / {p}SIDE;\n{inside}"
        );
        for (at, (name, element)) in self.transposed(arrays) {
            let _ = writeln!(
                text,
                "        {name}_tile[{p}e / {p}SIDE * ({p}SIDE + 1) + {p}e % {p}SIDE] = *(const {element} *)((const char *){name} + {});",
                self.address(space, p, at)
            );
        }
        let _ = write!(
            text,
            "      }}\n    }}\n    __syncthreads();\n{elements}\
             \x20     const {index} {p}r = {p}row + {p}e / {p}SIDE, {p}c = {p}column + {p}e % {p}SIDE;\n{inside}"
        );
        text.push_str(&compute(&|array| self.address(space, p, array)));
        text + "      }\n    }\n    __syncthreads();\n  }\n"
    }

    /// Declares the tiles, how many there are, and the shared memory of transposed operands.
    fn declarations(&self, space: IndexSpace, p: &str, arrays: &[(&str, &str)]) -> String {
        let (side, axis, last, index) = (self.side, self.axis, space.ndim - 1, space.index_type());
        let mut text = format!(
            "  enum {{ {p}SIDE = {side} }};\n\
             \x20 const {index} {p}across = ({p}dims.size[{last}] + {p}SIDE - 1) / {p}SIDE, \
             {p}down = ({p}dims.size[{axis}] + {p}SIDE - 1) / {p}SIDE;\n\
             \x20 unsigned long long {p}tiles = (unsigned long long){p}across * {p}down;\n"
        );
        for batch in (0..last).filter(|batch| *batch != axis) {
            let _ = writeln!(text, "  {p}tiles *= {p}dims.size[{batch}];");
        }
        for (at, (name, element)) in self.transposed(arrays) {
            let raw = format!("{p}raw{}", at - 1);
            let _ = writeln!(
                text,
                "  __shared__ alignas(16) unsigned char {raw}[{p}SIDE * ({p}SIDE + 1) * sizeof({element})];\n\
                 \x20 {element} *const {name}_tile = ({element} *){raw};"
            );
        }
        text
    }

    /// The first row and column of a tile, and where its batch begins in each array.
    fn tile_origin(&self, space: IndexSpace, p: &str, n_arrays: usize) -> String {
        let (axis, last) = (self.axis, space.ndim - 1);
        let (index, offset) = (space.index_type(), space.offset_type());
        let mut text = format!(
            "    unsigned long long {p}rest = {p}tile;\n\
             \x20   const {index} {p}column = ({index})({p}rest % {p}across) * {p}SIDE; {p}rest /= {p}across;\n\
             \x20   const {index} {p}row = ({index})({p}rest % {p}down) * {p}SIDE; {p}rest /= {p}down;\n"
        );
        for operand in 0..n_arrays {
            let _ = writeln!(text, "    {offset} {p}at{operand} = 0;");
        }
        for batch in (0..last).rev().filter(|batch| *batch != axis) {
            let _ = write!(
                text,
                "    {{ const {offset} place = ({offset})({p}rest % {p}dims.size[{batch}]); {p}rest /= {p}dims.size[{batch}];"
            );
            for operand in 0..n_arrays {
                let _ = write!(text, " {p}at{operand} += place * {p}dims.stride[{operand}][{batch}];");
            }
            text.push_str(" }\n");
        }
        text
    }

    /// The bytes from the beginning of an array to its element in row `r` and column `c`.
    fn address(&self, space: IndexSpace, p: &str, array: usize) -> String {
        let (axis, last, offset) = (self.axis, space.ndim - 1, space.offset_type());
        let stride = format!("{p}dims.stride[{array}]");
        format!("{p}at{array} + ({offset}){p}r * {stride}[{axis}] + ({offset}){p}c * {stride}[{last}]")
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
        let arrays = [("z", "float"), ("x", "float"), ("y", "float")];
        let text = tile.kernel_body(space, "", &arrays, |address| format!("store({});\n", address(0)));
        assert!(text.contains("y_tile[e / SIDE * (SIDE + 1) + e % SIDE] = *(const float *)((const char *)y + at2"));
        assert!(!text.contains("x_tile") && text.contains("store(at0 + "), "{text}");
    }
}
