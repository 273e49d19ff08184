//! SELL-C-sigma (Kreutzer and others 2014) with C = 32: rows in slices of 32, stored column by column, each slice as
//! wide as its longest row. Contains kernels that convert from CSR, and the product with a vector, with one thread per
//! row.
//!
//! Parameters of `sell_keys`: the keys that sort rows by decreasing length within each window, `indptr`, rows, rows per
//! window. Of `sell_slices`: for each slice the elements up to it, its smallest column, and the distance of the largest
//! column from that; `indices`, `indptr`, the permutation, rows. Of `sell_fill`: the stored elements and columns, then
//! the parts of the matrix, where slices begin, their smallest columns, the permutation, rows. Of `sell_spmv`: `y`, the
//! stored elements and columns, `starts`, `bases`, the permutation, `x`, rows.

use super::elements::{c_type, conversion, element_functions, load_once};
use super::{THREADS, spmv::SpmvEpilogue};
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Rows of a slice.
pub(crate) const SLICE_ROWS: usize = 32;

/// Which kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SellStage {
    /// Keys that sort rows.
    Keys,
    /// Widths and columns of slices.
    Slices,
    /// The stored elements.
    Fill,
    /// The product; `Store` or `Accumulate`. A lane asks for so many elements together.
    Product(SpmvEpilogue, u8),
}

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SellSpec {
    /// The dtype of stored elements.
    pub(crate) value: DType,
    /// The dtype of the vectors, in which is computed.
    pub(crate) vector: DType,
    /// The dtype of the indices of the matrix.
    pub(crate) index: DType,
    /// The dtype of stored columns: `index`, or `U16` for their distance from the least one of the slice.
    pub(crate) column: DType,
    /// The dtype of the permutation, where there is one.
    pub(crate) permutation: Option<DType>,
    pub(crate) stage: SellStage,
}

impl KernelSpec for SellSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.stage {
            SellStage::Keys => "sell_keys",
            SellStage::Slices => "sell_slices",
            SellStage::Fill => "sell_fill",
            SellStage::Product(..) => "sell_spmv",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        let (i, c) = (c_type(self.index), c_type(self.column));
        let p = c_type(self.permutation.unwrap_or(DType::I32));
        let row = if self.permutation.is_some() { "(long long)permutation[place]" } else { "(long long)(place)" };
        let (pad, column) = match self.column {
            DType::U16 => ("65535", "bases[slice] + code"),
            _ => ("-1", "code"),
        };
        let _ = writeln!(
            text,
            "typedef {i} I;\ntypedef {c} C;\ntypedef {p} P;\nenum {{ THREADS = {THREADS}, SLICE = {SLICE_ROWS} }};\n\
             #define ROW(place) {row}\n#define PAD ((C){pad})\n#define COLUMN(code) ({column})"
        );
        match self.stage {
            SellStage::Keys => text.push_str(KEYS),
            SellStage::Slices => text.push_str(SLICES),
            SellStage::Fill => {
                text.push_str(&element_functions("V", self.value));
                let base = if self.column == DType::U16 { "bases[slice]" } else { "0" };
                let _ = writeln!(text, "#define BASE {base}");
                text.push_str(FILL);
            }
            SellStage::Product(epilogue, ahead) => {
                text.push_str(&element_functions("T", self.vector));
                let _ = writeln!(text, "typedef {} V;", c_type(self.value));
                text.push_str(&conversion(("T", self.vector), ("V", self.value)));
                text.push_str(&load_once("V", self.value));
                text.push_str(&load_once("C", self.column));
                let start = if epilogue == SpmvEpilogue::Accumulate { "y[row]" } else { "T_zero()" };
                let _ = writeln!(text, "#define START {start}\nenum {{ AHEAD = {ahead} }};");
                text.push_str(&PRODUCT.replace("ELEMENTS\n", if ahead > 1 { ELEMENTS_AHEAD } else { ELEMENTS }));
            }
        }
        text
    }
}

const KEYS: &str = "\
RT_KERNEL sell_keys(RT_GLOBAL long long *keys, RT_GLOBAL const I *indptr, long long rows, long long window)
{
  const long long step = (long long)RT_GROUP_COUNT * THREADS;
  for (long long row = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID; row < rows; row += step)
    keys[row] = ((row / window) << 32) + (0x7fffffffll - (long long)(indptr[row + 1] - indptr[row]));
}
";

const SLICES: &str = "\
RT_KERNEL sell_slices(RT_GLOBAL long long *sizes, RT_GLOBAL long long *bases, RT_GLOBAL long long *spans, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const P *permutation, long long rows)
{
  const long long slices = (rows + SLICE - 1) / SLICE, step = (long long)RT_GROUP_COUNT * (THREADS / SLICE);
  const unsigned lane = RT_LOCAL_ID % SLICE;
  // The lanes of a warp have a slice together, so they agree on when to stop.
  for (long long slice = RT_GROUP_ID * (long long)(THREADS / SLICE) + RT_LOCAL_ID / SLICE; slice < slices; slice += step) {
    const long long place = slice * SLICE + lane;
    long long length = 0, low = 0x7fffffffffffffffll, high = -1;
    if (place < rows) {
      const long long row = ROW(place), end = indptr[row + 1];
      length = end - indptr[row];
      for (long long k = end - length; k < end; k++) {
        const long long column = indices[k];
        if (column < low) low = column;
        if (column > high) high = column;
      }
    }
    for (unsigned n = SLICE / 2; n > 0; n /= 2) {
      const long long other_length = RT_SHUFFLE_DOWN(length, n), other_low = RT_SHUFFLE_DOWN(low, n);
      const long long other_high = RT_SHUFFLE_DOWN(high, n);
      if (other_length > length) length = other_length;
      if (other_low < low) low = other_low;
      if (other_high > high) high = other_high;
    }
    if (lane == 0) {
      sizes[slice + 1] = length * SLICE;
      bases[slice] = high < 0 ? 0 : low;
      spans[slice] = high < 0 ? 0 : high - low;
      if (slice == 0) sizes[0] = 0;
    }
  }
}
";

const FILL: &str = "\
RT_KERNEL sell_fill(RT_GLOBAL V *stored, RT_GLOBAL C *columns, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const long long *starts, RT_GLOBAL const long long *bases, RT_GLOBAL const P *permutation, long long rows)
{
  const long long step = (long long)RT_GROUP_COUNT * THREADS, places = (rows + SLICE - 1) / SLICE * SLICE;
  for (long long place = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID; place < places; place += step) {
    const long long slice = place / SLICE, end = starts[slice + 1];
    long long from = 0, last = 0;
    if (place < rows) {
      const long long row = ROW(place);
      from = indptr[row];
      last = indptr[row + 1];
    }
    for (long long at = starts[slice] + place % SLICE; at < end; at += SLICE, from++) {
      stored[at] = from < last ? data[from] : V_zero();
      columns[at] = from < last ? (C)(indices[from] - BASE) : PAD;
    }
  }
}
";

const PRODUCT: &str = "\
RT_KERNEL sell_spmv(RT_GLOBAL T *y, RT_GLOBAL const V *data, RT_GLOBAL const C *columns, RT_GLOBAL const long long *starts, RT_GLOBAL const long long *bases, RT_GLOBAL const P *permutation, RT_GLOBAL const T *x, long long rows)
{
  const long long step = (long long)RT_GROUP_COUNT * THREADS;
  for (long long place = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID; place < rows; place += step) {
    const long long slice = place / SLICE, end = starts[slice + 1], row = ROW(place);
    T sum = START;
ELEMENTS
    y[row] = sum;
  }
}
";

const ELEMENTS: &str = "\
    for (long long at = starts[slice] + place % SLICE; at < end; at += SLICE) {
      // A place that has no element must not read `x`, whose infinities would make it NaN.
      const C code = columns[at];
      if (code != PAD) sum = T_mul_add(T_from_V(data[at]), x[COLUMN(code)], sum);
    }
";

const ELEMENTS_AHEAD: &str = "\
    for (long long at = starts[slice] + place % SLICE; at < end; at += SLICE * AHEAD) {
      C codes[AHEAD];
      V values[AHEAD];
      RT_UNROLL for (int n = 0; n < AHEAD; n++) {
        codes[n] = PAD;
        if (at + n * SLICE < end) { codes[n] = C_load_once(columns + at + n * SLICE); values[n] = V_load_once(data + at + n * SLICE); }
      }
      // A place that has no element must not read `x`, whose infinities would make it NaN.
      RT_UNROLL for (int n = 0; n < AHEAD; n++)
        if (codes[n] != PAD) sum = T_mul_add(T_from_V(values[n]), x[COLUMN(codes[n])], sum);
    }
";
