//! Products of a CSR matrix and a dense one: a group of lanes handles a row, and each lane columns of the result; if
//! there are few columns, each lane handles elements, and the lanes' sums are added in a tree. If row lengths differ
//! widely, a warp handles a tile of the merge path (Yang, Buluc and Owens 2018) and its lanes columns; another kernel
//! adds a tile's part of a row that continues in the next tile, in the order of tiles.
//!
//! Parameters: `y` in C order, or column by column, `data`, `indices`, `indptr`, `x`, rows, columns, and the elements
//! from one row and one column of `x` to the next; of `csr_spmm_tiles` also the number of elements, rows and sums that
//! tiles carry over, and the rows in which tiles begin. Of `csr_spmm_carries`: `y`, rows and sums that are carried
//! over, tiles, rows, columns.

use super::THREADS;
use super::elements::{c_type, conversion, element_functions};
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// What lanes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SpmmKernel {
    /// Columns of a row.
    Columns,
    /// Elements of a row, each with all of so many columns.
    Elements(u8),
    /// Columns of a tile of the merge path.
    Tiles,
    /// Sums of one row and column that tiles carry over.
    Carries,
}

/// Elements and ends of rows of a tile.
pub(crate) const SPMM_TILE: u32 = 512;

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
    /// Columns of a lane side by side, and elements that it asks for together, of a tile.
    pub(crate) per_lane: u8,
    pub(crate) ahead: u8,
    /// Whether `y` is stored column by column.
    pub(crate) by_columns: bool,
    pub(crate) kernel: SpmmKernel,
}

/// Columns that a lane has sums of in registers.
pub(crate) const MAX_NARROW_COLUMNS: usize = 16;

impl KernelSpec for CsrSpmmSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.kernel {
            SpmmKernel::Columns | SpmmKernel::Elements(_) => "csr_spmm",
            SpmmKernel::Tiles => "csr_spmm_tiles",
            SpmmKernel::Carries => "csr_spmm_carries",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        text.push_str(&element_functions("T", self.vector));
        let _ = writeln!(text, "typedef {} V;\ntypedef {} I;", c_type(self.value), c_type(self.index));
        text.push_str(&conversion(("T", self.vector), ("V", self.value)));
        let place = if self.by_columns { "(column) * rows + (row)" } else { "(row) * columns + (column)" };
        let _ = writeln!(
            text,
            "enum {{ LANES = {}, ROWS = {}, PER_LANE = {}, AHEAD = {}, THREADS = {THREADS}, TILE = {SPMM_TILE} }};\n\
             #define PLACE(row, column) {place}",
            self.lanes,
            THREADS / u32::from(self.lanes),
            self.per_lane,
            self.ahead
        );
        if let SpmmKernel::Elements(columns) = self.kernel {
            let _ = writeln!(text, "enum {{ COLUMNS = {columns} }};");
        }
        match self.kernel {
            SpmmKernel::Columns => text.push_str(COLUMNS),
            SpmmKernel::Tiles => text.push_str(&TILES.replace("ADD_ELEMENTS\n", ADD_ELEMENTS)),
            SpmmKernel::Elements(_) => text.push_str(NARROW),
            SpmmKernel::Carries => text.push_str(CARRIES),
        }
        text
    }
}

/// Adds the elements from `k` on up to `end` to the sums of columns `column`, `column + LANES` and so on.
const ADD_ELEMENTS: &str = "\
      T sums[PER_LANE];
      RT_UNROLL for (int p = 0; p < PER_LANE; p++) sums[p] = T_zero();
      for (; k < end; k += AHEAD) {
        I others[AHEAD];
        T values[AHEAD];
        RT_UNROLL for (int n = 0; n < AHEAD; n++) {
          others[n] = -1;
          if (end - k > n) { others[n] = indices[k + n]; values[n] = T_from_V(data[k + n]); }
        }
        RT_UNROLL for (int n = 0; n < AHEAD; n++)
          RT_UNROLL for (int p = 0; p < PER_LANE; p++)
            if (others[n] >= 0 && column + p * LANES < columns)
              sums[p] = T_mul_add(values[n], x[others[n] * row_step + (column + p * LANES) * column_step], sums[p]);
      }
";

/// Rows are short where this is chosen; what is under way comes from many of them.
const COLUMNS: &str = "\
RT_KERNEL csr_spmm(RT_GLOBAL T *y, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const T *x, unsigned long long rows, unsigned long long columns, long long row_step, long long column_step)
{
  const unsigned long long step = (unsigned long long)RT_GROUP_COUNT * ROWS;
  for (unsigned long long row = (unsigned long long)RT_GROUP_ID * ROWS + RT_LOCAL_ID / LANES; row < rows; row += step) {
    const I first = indptr[row], end = indptr[row + 1];
    for (unsigned long long column = RT_LOCAL_ID % LANES; column < columns; column += LANES) {
      RT_GLOBAL const T *from = x + column * column_step;
      T sum = T_zero();
      I k = first;
      // Products of a long row are added by levels, as dense sums are.
      if (end - k > 256) {
        T parts = T_zero();
        for (unsigned count = 1; end - k > 256; count++) {
          T part = T_zero();
          RT_NO_UNROLL for (int n = 0; n < 256; n++, k++) part = T_mul_add(T_from_V(data[k]), from[indices[k] * row_step], part);
          parts = T_add(parts, part);
          if (count % 128 == 0) { sum = T_add(sum, parts); parts = T_zero(); }
        }
        sum = T_add(sum, parts);
      }
      for (; k < end; k++) sum = T_mul_add(T_from_V(data[k]), from[indices[k] * row_step], sum);
      y[PLACE(row, column)] = sum;
    }
  }
}
";

const TILES: &str = "\
RT_KERNEL csr_spmm_tiles(RT_GLOBAL T *y, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const T *x, long long rows, long long columns, long long row_step, long long column_step, long long elements, RT_GLOBAL I *carry_rows, RT_GLOBAL T *carry_sums, RT_GLOBAL const I *starts)
{
  const long long tile = RT_GROUP_ID * (long long)ROWS + RT_LOCAL_ID / LANES, total = rows + elements;
  if (tile * TILE >= total) return;
  const I first_row = starts[tile], last_row = starts[tile + 1];
  const I first = (I)(tile * TILE - first_row), last = (I)((total - tile * TILE < TILE ? total : (tile + 1) * TILE) - last_row);
  for (long long column = RT_LOCAL_ID % LANES; column < columns; column += LANES * PER_LANE) {
    I k = first;
    // The last row is the one that goes on in the next tile.
    for (I row = first_row; row <= last_row; row++) {
      const I end = row < last_row ? indptr[row + 1] : last;
ADD_ELEMENTS
      k = end;
      RT_UNROLL for (int p = 0; p < PER_LANE; p++) {
        const long long at = column + p * LANES;
        if (at < columns) { if (row < last_row) y[PLACE(row, at)] = sums[p]; else carry_sums[tile * columns + at] = sums[p]; }
      }
    }
    if (column == 0) carry_rows[tile] = last_row;
  }
}
";

const CARRIES: &str = "\
RT_KERNEL csr_spmm_carries(RT_GLOBAL T *y, RT_GLOBAL const I *carry_rows, RT_GLOBAL const T *carry_sums, long long tiles, long long rows, long long columns)
{
  const long long place = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID, tile = place / columns, column = place % columns;
  if (tile >= tiles) return;
  const I row = carry_rows[tile];
  if (row >= rows || (tile > 0 && carry_rows[tile - 1] == row)) return;
  T sum = T_zero();
  for (long long k = tile; k < tiles && carry_rows[k] == row; k++) sum = T_add(sum, carry_sums[k * columns + column]);
  y[PLACE(row, column)] = T_add(y[PLACE(row, column)], sum);
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
    T upper[COLUMNS];
    RT_UNROLL for (int c = 0; c < COLUMNS; c++) sums[c] = upper[c] = T_zero();
    if (row < rows) {
      const I end = indptr[row + 1];
      I k = indptr[row] + lane;
      // Products of a long row are added by levels, as dense sums are.
      for (int level = 0; end - k > LANES * 256; level = (level + 1) % 128) {
        if (level == 0) {
          RT_UNROLL for (int c = 0; c < COLUMNS; c++) {
            upper[c] = T_add(upper[c], sums[c]);
            sums[c] = T_zero();
          }
        }
        T part[COLUMNS];
        RT_UNROLL for (int c = 0; c < COLUMNS; c++) part[c] = T_zero();
        RT_NO_UNROLL for (int n = 0; n < 256; n++, k += LANES) {
          const T value = T_from_V(data[k]);
          RT_GLOBAL const T *from = x + indices[k] * row_step;
          RT_UNROLL for (int c = 0; c < COLUMNS; c++) part[c] = T_mul_add(value, from[c * column_step], part[c]);
        }
        RT_UNROLL for (int c = 0; c < COLUMNS; c++) sums[c] = T_add(sums[c], part[c]);
      }
      for (; k < end; k += LANES) {
        const T value = T_from_V(data[k]);
        RT_GLOBAL const T *from = x + indices[k] * row_step;
        RT_UNROLL for (int c = 0; c < COLUMNS; c++) sums[c] = T_mul_add(value, from[c * column_step], sums[c]);
      }
    }
    RT_UNROLL for (int c = 0; c < COLUMNS; c++) {
      sums[c] = T_add(sums[c], upper[c]);
      for (unsigned n = LANES / 2; n > 0; n /= 2) sums[c] = T_add(sums[c], T_shuffle_down(sums[c], n));
      if (lane == 0 && row < rows) y[PLACE(row, c)] = sums[c];
    }
  }
}
";
