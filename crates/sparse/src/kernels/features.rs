//! The features that make the products of a matrix fast or slow, in one pass: row lengths, diagonals, the elements that
//! slices of 32 rows would store, and the number of dense blocks that contain elements.
//!
//! Parameters of `csr_features`: for each block the length of the longest row, the sum of squared lengths, the maximum
//! distance from the diagonal and the elements of slices; a byte per diagonal; `indices`, `indptr`, rows. Of
//! `csr_block_counts`: for blocks of 2 to 6 rows and each thread, the number of blocks and of elements; `indices`,
//! `indptr`, the first row.

use super::THREADS;
use super::elements::c_type;
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// The largest block that is counted.
pub(crate) const MAX_BLOCK: usize = 6;

/// Rows of blocks that are looked at, a thread each.
pub(crate) const SAMPLED: usize = 8 * THREADS as usize;

/// Elements of a row whose diagonals are marked.
pub(crate) const MAX_MARKED: usize = 256;

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FeatureSpec {
    /// `I32` or `I64`.
    pub(crate) index: DType,
    /// Whether dense blocks are counted, in a part of the rows.
    pub(crate) counts_blocks: bool,
}

impl KernelSpec for FeatureSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        if self.counts_blocks { "csr_block_counts" } else { "csr_features" }.into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        let _ = writeln!(
            text,
            "typedef {} I;\nenum {{ THREADS = {THREADS}, MAX_BLOCK = {MAX_BLOCK}, SAMPLED = {SAMPLED}, MOST = {MAX_MARKED} }};",
            c_type(self.index)
        );
        text.push_str(if self.counts_blocks { BLOCK_COUNTS } else { FEATURES });
        text
    }
}

/// A long row has too many diagonals in any case, so its first elements are enough.
const FEATURES: &str = "\
RT_KERNEL csr_features(RT_GLOBAL long long *numbers, RT_GLOBAL unsigned char *diagonals, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, long long rows)
{
  RT_SHARED long long found[4][THREADS];
  const long long step = (long long)RT_GROUP_COUNT * THREADS;
  long long longest = 0, squares = 0, bandwidth = 0, stored = 0;
  // The threads of a block make as many turns as each other, for lanes exchange values.
  for (long long base = RT_GROUP_ID * (long long)THREADS; base < rows; base += step) {
    const long long row = base + RT_LOCAL_ID, begin = row < rows ? indptr[row] : 0, end = row < rows ? indptr[row + 1] : 0;
    long long length = end - begin;
    squares += length * length;
    for (long long k = begin; k < end && k < begin + MOST; k++) diagonals[rows - 1 - row + indices[k]] = 1;
    for (int last = 0; last < 2 && length > 0; last++) {
      const long long offset = indices[last ? end - 1 : begin] - row, distance = offset < 0 ? -offset : offset;
      if (distance > bandwidth) bandwidth = distance;
    }
    for (unsigned n = 16; n > 0; n /= 2) {
      const long long other = RT_SHUFFLE_DOWN(length, n);
      if (other > length) length = other;
    }
    // The first lane has the longest row of 32.
    if (RT_LOCAL_ID % 32 == 0) stored += 32 * length;
    if (length > longest) longest = length;
  }
  found[0][RT_LOCAL_ID] = longest;
  found[1][RT_LOCAL_ID] = squares;
  found[2][RT_LOCAL_ID] = bandwidth;
  found[3][RT_LOCAL_ID] = stored;
  RT_BARRIER();
  if (RT_LOCAL_ID >= 4) return;
  long long value = 0;
  for (int k = 0; k < THREADS; k++) {
    const long long other = found[RT_LOCAL_ID][k];
    if (RT_LOCAL_ID % 2) value += other; else if (other > value) value = other;
  }
  numbers[4 * RT_GROUP_ID + RT_LOCAL_ID] = value;
}
";

/// Rows of a block are merged by their columns, which ascend; where they do not, blocks count more than once.
const BLOCK_COUNTS: &str = "\
RT_KERNEL csr_block_counts(RT_GLOBAL int *counts, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, long long first_row, long long rows)
{
  const int thread = RT_GROUP_ID * THREADS + RT_LOCAL_ID;
  for (int size = 2; size <= MAX_BLOCK; size++) {
    const long long top = first_row + (long long)thread * size;
    long long places[MAX_BLOCK], ends[MAX_BLOCK];
    int blocks = 0, elements = 0;
    if (top + size <= rows) {
      for (int r = 0; r < size; r++) {
        places[r] = indptr[top + r];
        ends[r] = indptr[top + r + 1];
        if (ends[r] > places[r] + MOST) ends[r] = places[r] + MOST;
        elements += (int)(ends[r] - places[r]);
      }
      for (;;) {
        long long least = 0x7fffffffffffffffll;
        for (int r = 0; r < size; r++)
          if (places[r] < ends[r] && indices[places[r]] / size < least) least = indices[places[r]] / size;
        if (least == 0x7fffffffffffffffll) break;
        blocks++;
        for (int r = 0; r < size; r++)
          while (places[r] < ends[r] && indices[places[r]] / size == least) places[r]++;
      }
    }
    counts[((size - 2) * 2) * SAMPLED + thread] = blocks;
    counts[((size - 2) * 2 + 1) * SAMPLED + thread] = elements;
  }
}
";
