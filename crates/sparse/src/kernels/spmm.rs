//! Products of a matrix in compressed sparse rows and a dense one: a group of lanes has a row, and each of them columns; of
//! few columns, each of them elements, and sums of lanes are added in a tree.
//!
//! Parameters: `y` in C order, or column by column, `data`, `indices`, `indptr`, `x`, rows, columns, and the elements from one row and one
//! column of `x` to the next.

use super::THREADS;
use super::dialect::CUDA_PRELUDE;
use super::elements::{c_type, conversion, element_functions};
use rtcg_codegen::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CsrSpmmSpec {
    /// The dtype of stored elements.
    pub(crate) value: DType,
    /// The dtype of the dense matrices, in which is computed.
    pub(crate) vector: DType,
    /// `I32` or `I64`.
    pub(crate) index: DType,
    /// Lanes of a row: a power of two up to 32.
    pub(crate) lanes: u8,
    /// So many columns, all of which a lane has for every so-manieth element; 0 where lanes have columns.
    pub(crate) narrow: u8,
    /// Whether `y` is stored column by column.
    pub(crate) by_columns: bool,
}

/// Columns that a lane has sums of in registers.
pub(crate) const MAX_NARROW_COLUMNS: usize = 16;

impl KernelSpec for CsrSpmmSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "csr_spmm".into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        text.push_str(&element_functions("T", self.vector));
        let _ = writeln!(text, "typedef {} V;\ntypedef {} I;", c_type(self.value), c_type(self.index));
        text.push_str(&conversion(("T", self.vector), ("V", self.value)));
        let _ = writeln!(text, "enum {{ LANES = {}, ROWS = {} }};", self.lanes, THREADS / u32::from(self.lanes));
        let place = if self.by_columns { "(column) * rows + (row)" } else { "(row) * columns + (column)" };
        let _ = writeln!(text, "#define PLACE(row, column) {place}");
        if self.narrow > 0 {
            let _ = writeln!(text, "enum {{ COLUMNS = {} }};", self.narrow);
        }
        text.push_str(if self.narrow > 0 { NARROW } else { SOURCE });
        text
    }
}

const SOURCE: &str = "\
RT_KERNEL csr_spmm(RT_GLOBAL T *y, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const T *x, unsigned long long rows, unsigned long long columns, long long row_step, long long column_step)
{
  const unsigned long long step = (unsigned long long)RT_GROUP_COUNT * ROWS;
  for (unsigned long long row = (unsigned long long)RT_GROUP_ID * ROWS + RT_LOCAL_ID / LANES; row < rows; row += step) {
    const I first = indptr[row], end = indptr[row + 1];
    for (unsigned long long column = RT_LOCAL_ID % LANES; column < columns; column += LANES) {
      RT_GLOBAL const T *from = x + column * column_step;
      T sum = T_zero();
      for (I k = first; k < end; k++) sum = T_mul_add(T_from_V(data[k]), from[indices[k] * row_step], sum);
      y[PLACE(row, column)] = sum;
    }
  }
}
";

const NARROW: &str = "\
RT_KERNEL csr_spmm(RT_GLOBAL T *y, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const T *x, unsigned long long rows, unsigned long long columns, long long row_step, long long column_step)
{
  const unsigned lane = RT_LOCAL_ID % LANES;
  const unsigned long long step = (unsigned long long)RT_GROUP_COUNT * ROWS;
  // A block's threads make as many turns as each other, for lanes exchange values.
  for (unsigned long long first = (unsigned long long)RT_GROUP_ID * ROWS; first < rows; first += step) {
    const unsigned long long row = first + RT_LOCAL_ID / LANES;
    T sums[COLUMNS];
    RT_UNROLL for (int c = 0; c < COLUMNS; c++) sums[c] = T_zero();
    if (row < rows) {
      const I end = indptr[row + 1];
      for (I k = indptr[row] + lane; k < end; k += LANES) {
        const T value = T_from_V(data[k]);
        RT_GLOBAL const T *from = x + indices[k] * row_step;
        RT_UNROLL for (int c = 0; c < COLUMNS; c++) sums[c] = T_mul_add(value, from[c * column_step], sums[c]);
      }
    }
    RT_UNROLL for (int c = 0; c < COLUMNS; c++) {
      for (unsigned n = LANES / 2; n > 0; n /= 2) sums[c] = T_add(sums[c], T_shuffle_down(sums[c], n));
      if (lane == 0 && row < rows) y[PLACE(row, c)] = sums[c];
    }
  }
}
";
