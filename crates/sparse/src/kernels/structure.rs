//! Extremes of index arrays, for checking them: each block stores the smallest and the largest index, and the smallest
//! and the largest number of elements in a row.
//!
//! Parameters: four numbers per block, `indices`, `indptr`, the number of indices, rows (0 without `indptr`).

use super::THREADS;
use super::elements::c_type;
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct StructureSpec {
    /// The integers of both arrays.
    pub(crate) index: DType,
}

impl KernelSpec for StructureSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "index_extremes".into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        let _ = writeln!(text, "typedef {} I;\nenum {{ THREADS = {THREADS} }};", c_type(self.index));
        text.push_str(SOURCE);
        text
    }
}

const SOURCE: &str = "\
RT_KERNEL index_extremes(RT_GLOBAL long long *extremes, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, long long count, long long rows)
{
  RT_SHARED long long found[4][THREADS];
  const long long most = 0x7fffffffffffffffll, step = (long long)RT_GROUP_COUNT * THREADS;
  const long long first = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID;
  long long low = most, high = -most, shortest = most, longest = -most;
  for (long long k = first; k < count; k += step) {
    const long long index = indices[k];
    if (index < low) low = index;
    if (index > high) high = index;
  }
  for (long long row = first; row < rows; row += step) {
    const long long length = (long long)indptr[row + 1] - (long long)indptr[row];
    if (length < shortest) shortest = length;
    if (length > longest) longest = length;
  }
  found[0][RT_LOCAL_ID] = low;
  found[1][RT_LOCAL_ID] = high;
  found[2][RT_LOCAL_ID] = shortest;
  found[3][RT_LOCAL_ID] = longest;
  RT_BARRIER();
  if (RT_LOCAL_ID >= 4) return;
  long long value = found[RT_LOCAL_ID][0];
  for (int k = 1; k < THREADS; k++) {
    const long long other = found[RT_LOCAL_ID][k];
    if (RT_LOCAL_ID % 2 ? other > value : other < value) value = other;
  }
  extremes[4 * RT_GROUP_ID + RT_LOCAL_ID] = value;
  // The ends of `indptr` follow the numbers of all blocks.
  if (rows > 0 && RT_GROUP_ID == 0 && RT_LOCAL_ID < 2)
    extremes[4 * RT_GROUP_COUNT + RT_LOCAL_ID] = RT_LOCAL_ID ? indptr[rows] : indptr[0];
}
";
