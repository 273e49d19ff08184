//! Products of a BSR matrix and a vector or a dense matrix. The source is generated for a fixed block size, so that
//! small blocks are unrolled.
//!
//! With 32 lanes, a warp processes block rows. For blocks of up to 32 elements, each lane handles one position in every
//! n-th block of a row, so that the lanes read adjacent elements. For larger blocks a warp handles one block row; each
//! lane handles one row within the blocks and every n-th column of all of them. With one lane, each thread handles a
//! row. All variants add in a fixed order. Parameters: `y`, `data`, `indices`, `indptr`, `x`, block rows; with dense
//! matrices, in C order, also the number of columns.

use super::elements::{c_type, conversion, element_functions};
use super::{THREADS, gpu_elements_ahead};
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BsrSpec {
    /// The dtype of stored elements.
    pub(crate) value: DType,
    /// The dtype of vectors and dense matrices, in which is computed.
    pub(crate) vector: DType,
    /// `I32` or `I64`.
    pub(crate) index: DType,
    /// Rows and columns of a block.
    pub(crate) block: [u32; 2],
    /// Lanes of a row of blocks (32), or of a row (1); of dense matrices those of a row, each of which has columns.
    pub(crate) lanes: u8,
    /// Blocks of a row that lanes read side by side, where blocks have up to 32 elements.
    pub(crate) parts: u8,
    /// The product is added to what is there.
    pub(crate) accumulate: bool,
    /// The product is one with a dense matrix.
    pub(crate) is_dense: bool,
}

impl BsrSpec {
    /// Whether each lane has a place in blocks.
    pub(crate) fn has_lane_per_element(&self) -> bool {
        self.block[0] * self.block[1] <= 32
    }

    /// Rows of blocks that a warp has.
    pub(crate) fn rows_of_warp(&self) -> usize {
        let lanes = self.block[0] * self.block[1] * u32::from(self.parts);
        if self.has_lane_per_element() { 32 / lanes as usize } else { 1 }
    }
}

impl KernelSpec for BsrSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        if self.is_dense { "bsr_spmm" } else { "bsr_spmv" }.into()
    }

    fn source(&self) -> String {
        let [rows, columns] = self.block;
        let mut text = CUDA_PRELUDE.to_owned();
        text.push_str(&element_functions("T", self.vector));
        let _ = writeln!(text, "typedef {} V;\ntypedef {} I;", c_type(self.value), c_type(self.index));
        text.push_str(&conversion(("T", self.vector), ("V", self.value)));
        let together = rows.min(32);
        let _ = writeln!(
            text,
            "enum {{ THREADS = {THREADS}, R = {rows}, C = {columns}, LANES = {}, TOGETHER = {together}, PARTS = {}, \
             AHEAD = {} }};\n#define STORE(place, sum) {}",
            self.lanes,
            if self.has_lane_per_element() { self.parts.into() } else { 32 / together },
            gpu_elements_ahead(self.vector),
            if self.accumulate { "place = T_add(place, sum)" } else { "place = sum" }
        );
        text.push_str(match (self.is_dense, self.lanes) {
            (true, _) => DENSE,
            (false, 1) => THREAD_PER_ROW,
            (false, _) if self.has_lane_per_element() => LANE_PER_ELEMENT,
            (false, _) => WARP_PER_BLOCK_ROW,
        });
        text
    }
}

const THREAD_PER_ROW: &str = "\
RT_KERNEL bsr_spmv(RT_GLOBAL T *y, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const T *x, long long block_rows)
{
  const long long step = (long long)RT_GROUP_COUNT * THREADS, rows = block_rows * R;
  for (long long row = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID; row < rows; row += step) {
    const long long block_row = row / R;
    const I end = indptr[block_row + 1];
    T sum = T_zero();
    for (I k = indptr[block_row]; k < end; k++) {
      RT_GLOBAL const V *from = data + ((long long)k * R + row % R) * C;
      RT_GLOBAL const T *with = x + (long long)indices[k] * C;
      for (int c = 0; c < C; c++) sum = T_mul_add(T_from_V(from[c]), with[c], sum);
    }
    STORE(y[row], sum);
  }
}
";

const LANE_PER_ELEMENT: &str = "\
RT_KERNEL bsr_spmv(RT_GLOBAL T *y, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const T *x, long long block_rows)
{
  enum { GROUP = PARTS * R * C, TURN = 32 / GROUP };
  const int lane = RT_LOCAL_ID % 32, group = lane / GROUP, part = lane % GROUP / (R * C), r = lane % (R * C) / C, c = lane % C;
  const long long step = (long long)RT_GROUP_COUNT * (THREADS / 32) * TURN;
  // The lanes of a warp agree on when to stop, for they exchange values.
  for (long long base = (RT_GROUP_ID * (long long)(THREADS / 32) + RT_LOCAL_ID / 32) * TURN; base < block_rows; base += step) {
    const long long block_row = base + group;
    const bool is_there = group < TURN && block_row < block_rows;
    const I end = is_there ? indptr[block_row + 1] : 0;
    T own = T_zero();
    for (I k = is_there ? indptr[block_row] + part : 0; k < end; k += PARTS * AHEAD) {
      I columns[AHEAD];
      V values[AHEAD];
      RT_UNROLL for (int n = 0; n < AHEAD; n++) {
        columns[n] = -1;
        if (end - k > n * PARTS) {
          columns[n] = indices[k + n * PARTS];
          values[n] = data[((long long)(k + n * PARTS) * R + r) * C + c];
        }
      }
      RT_UNROLL for (int n = 0; n < AHEAD; n++)
        if (columns[n] >= 0) own = T_mul_add(T_from_V(values[n]), x[(long long)columns[n] * C + c], own);
    }
    // The first lane of each row within the blocks adds up its row, and then those of all parts.
    T of_part = own;
    RT_UNROLL for (int n = 1; n < C; n++) of_part = T_add(of_part, T_shuffle(own, (lane + n) % 32));
    T sum = of_part;
    RT_UNROLL for (int n = 1; n < PARTS; n++) sum = T_add(sum, T_shuffle(of_part, (lane + n * R * C) % 32));
    if (is_there && part == 0 && c == 0) STORE(y[block_row * R + r], sum);
  }
}
";

const WARP_PER_BLOCK_ROW: &str = "\
RT_KERNEL bsr_spmv(RT_GLOBAL T *y, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const T *x, long long block_rows)
{
  const unsigned lane = RT_LOCAL_ID % 32;
  const int part = lane / TOGETHER;
  const long long step = (long long)RT_GROUP_COUNT * (THREADS / 32);
  // The lanes of a warp have a row of blocks together, so they agree on when to stop.
  for (long long block_row = RT_GROUP_ID * (long long)(THREADS / 32) + RT_LOCAL_ID / 32; block_row < block_rows; block_row += step) {
    const long long first = indptr[block_row], columns = (indptr[block_row + 1] - first) * C;
    for (int top = 0; top < R; top += TOGETHER) {
      const int r = top + lane % TOGETHER;
      T sum = T_zero();
      if (part < PARTS && r < R)
        for (long long k = part; k < columns; k += PARTS) {
          const long long block = first + k / C;
          const int c = (int)(k % C);
          sum = T_mul_add(T_from_V(data[(block * R + r) * C + c]), x[(long long)indices[block] * C + c], sum);
        }
      for (int n = 16; n > 0; n /= 2) {
        if (n >= PARTS) continue;
        const T other = T_shuffle_down(sum, n * TOGETHER);
        if (part < n && part + n < PARTS) sum = T_add(sum, other);
      }
      if (part == 0 && r < R) STORE(y[block_row * R + r], sum);
    }
  }
}
";

const DENSE: &str = "\
RT_KERNEL bsr_spmm(RT_GLOBAL T *y, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const T *x, long long block_rows, long long columns)
{
  const long long step = (long long)RT_GROUP_COUNT * (THREADS / LANES), rows = block_rows * R;
  for (long long row = RT_GROUP_ID * (long long)(THREADS / LANES) + RT_LOCAL_ID / LANES; row < rows; row += step) {
    const I first = indptr[row / R], end = indptr[row / R + 1];
    for (long long column = RT_LOCAL_ID % LANES; column < columns; column += LANES) {
      T sum = T_zero();
      for (I k = first; k < end; k++) {
        RT_GLOBAL const V *from = data + ((long long)k * R + row % R) * C;
        RT_GLOBAL const T *with = x + (long long)indices[k] * C * columns + column;
        for (int c = 0; c < C; c++) sum = T_mul_add(T_from_V(from[c]), with[c * columns], sum);
      }
      y[row * columns + column] = sum;
    }
  }
}
";
