//! The largest or smallest element of each row, including zeros that are not stored, and the first column that has it.
//! Each thread handles a row, whose columns ascend strictly.
//!
//! Parameters: the values, the columns, `data`, `indices`, `indptr`, rows, columns.

use super::THREADS;
use super::elements::c_type;
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RowExtremeSpec {
    /// The dtype of elements, which are real.
    pub(crate) value: DType,
    /// `I32` or `I64`.
    pub(crate) index: DType,
    /// The largest, else the least.
    pub(crate) is_largest: bool,
    /// NaN does not count, unless there is nothing else; else it is more extreme than every number.
    pub(crate) ignores_nan: bool,
}

impl KernelSpec for RowExtremeSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "csr_row_extremes".into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        let order = if self.is_largest { ">" } else { "<" };
        // Comparisons with NaN are false.
        let beats = match self.ignores_nan {
            true => format!("((a) {order} (b) || ((a) == (a) && (b) != (b)))"),
            false => format!("((b) == (b) && ((a) {order} (b) || (a) != (a)))"),
        };
        let (v, i) = (c_type(self.value), c_type(self.index));
        let _ = writeln!(
            text,
            "typedef {v} V;\ntypedef {i} I;\nenum {{ THREADS = {THREADS} }};\n#define BEATS(a, b) {beats}"
        );
        text.push_str(SOURCE);
        text
    }
}

const SOURCE: &str = "\
RT_KERNEL csr_row_extremes(RT_GLOBAL V *values, RT_GLOBAL long long *places, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, long long rows, long long columns)
{
  const long long step = (long long)RT_GROUP_COUNT * THREADS;
  for (long long row = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID; row < rows; row += step) {
    const long long first = indptr[row], end = indptr[row + 1];
    // The first zero that is not stored is the first column that does not stand where it would in a full row.
    long long gap = end - first;
    for (long long k = first; k < end; k++)
      if (indices[k] != k - first) { gap = k - first; break; }
    V best = gap < columns ? (V)0 : data[first];
    long long place = gap < columns ? gap : indices[first];
    for (long long k = first; k < end; k++) {
      const V value = data[k];
      const long long column = indices[k];
      if (BEATS(value, best) || (value == best && column < place)) { best = value; place = column; }
    }
    values[row] = best;
    places[row] = place;
  }
}
";
