//! Conversions of CSR matrices to diagonals and dense blocks, with one thread per row or block row.
//!
//! Parameters of `dia_fill`: the diagonals (zeros), their offsets, `data`, `indices`, `indptr`, for each diagonal the
//! number of nonempty ones up to it, a byte per diagonal that says whether it is nonempty, rows, columns. Of
//! `bsr_counts`: 0 and the number of blocks in each block row, `indices`, `indptr`, block rows. Of `bsr_fill`: the
//! blocks (zeros), their columns, `data`, `indices`, `indptr`, where block rows begin, block rows.

use super::THREADS;
use super::elements::{c_type, element_functions};
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Which kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ConversionStage {
    /// Elements of diagonals.
    Diagonals,
    /// The number of blocks, of so many rows and columns, in each row of blocks.
    CountBlocks(u8),
    /// Elements of blocks.
    FillBlocks(u8),
}

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ConversionSpec {
    /// The dtype of stored elements.
    pub(crate) value: DType,
    /// `I32` or `I64`.
    pub(crate) index: DType,
    pub(crate) stage: ConversionStage,
}

impl KernelSpec for ConversionSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.stage {
            ConversionStage::Diagonals => "dia_fill",
            ConversionStage::CountBlocks(_) => "bsr_counts",
            ConversionStage::FillBlocks(_) => "bsr_fill",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        text.push_str(&element_functions("V", self.value));
        let size = match self.stage {
            ConversionStage::Diagonals => 1,
            ConversionStage::CountBlocks(size) | ConversionStage::FillBlocks(size) => size,
        };
        let _ = writeln!(text, "typedef {} I;\nenum {{ THREADS = {THREADS}, SIZE = {size} }};", c_type(self.index));
        match self.stage {
            ConversionStage::Diagonals => text.push_str(DIAGONALS),
            ConversionStage::CountBlocks(_) => text.push_str(COUNT_BLOCKS),
            ConversionStage::FillBlocks(_) => text.push_str(FILL_BLOCKS),
        }
        text
    }
}

const DIAGONALS: &str = "\
RT_KERNEL dia_fill(RT_GLOBAL V *stored, RT_GLOBAL long long *offsets, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const long long *slots, RT_GLOBAL const unsigned char *is_there, long long rows, long long columns)
{
  const long long step = (long long)RT_GROUP_COUNT * THREADS, first = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID;
  for (long long k = first; k < rows + columns - 1; k += step)
    if (is_there[k]) offsets[slots[k] - 1] = k - (rows - 1);
  for (long long row = first; row < rows; row += step) {
    const I end = indptr[row + 1];
    for (I k = indptr[row]; k < end; k++) {
      RT_GLOBAL V *place = stored + (slots[indices[k] - row + rows - 1] - 1) * columns + indices[k];
      *place = V_add(*place, data[k]);
    }
  }
}
";

/// Rows of a block are merged by the blocks that their columns lie in.
const COUNT_BLOCKS: &str = "\
RT_KERNEL bsr_counts(RT_GLOBAL long long *counts, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, long long block_rows)
{
  const long long step = (long long)RT_GROUP_COUNT * THREADS;
  for (long long top = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID; top < block_rows; top += step) {
    I places[SIZE];
    for (int r = 0; r < SIZE; r++) places[r] = indptr[top * SIZE + r];
    long long blocks = 0;
    for (;;) {
      I least = -1;
      for (int r = 0; r < SIZE; r++)
        if (places[r] < indptr[top * SIZE + r + 1] && (least < 0 || indices[places[r]] / SIZE < least)) least = indices[places[r]] / SIZE;
      if (least < 0) break;
      blocks++;
      for (int r = 0; r < SIZE; r++)
        while (places[r] < indptr[top * SIZE + r + 1] && indices[places[r]] / SIZE == least) places[r]++;
    }
    counts[top + 1] = blocks;
    if (top == 0) counts[0] = 0;
  }
}
";

const FILL_BLOCKS: &str = "\
RT_KERNEL bsr_fill(RT_GLOBAL V *stored, RT_GLOBAL I *columns, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const long long *starts, long long block_rows)
{
  const long long step = (long long)RT_GROUP_COUNT * THREADS;
  for (long long top = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID; top < block_rows; top += step) {
    I places[SIZE];
    for (int r = 0; r < SIZE; r++) places[r] = indptr[top * SIZE + r];
    for (long long at = starts[top]; at < starts[top + 1]; at++) {
      I least = -1;
      for (int r = 0; r < SIZE; r++)
        if (places[r] < indptr[top * SIZE + r + 1] && (least < 0 || indices[places[r]] / SIZE < least)) least = indices[places[r]] / SIZE;
      columns[at] = least;
      for (int r = 0; r < SIZE; r++)
        for (; places[r] < indptr[top * SIZE + r + 1] && indices[places[r]] / SIZE == least; places[r]++) {
          RT_GLOBAL V *place = stored + (at * SIZE + r) * SIZE + indices[places[r]] % SIZE;
          *place = V_add(*place, data[places[r]]);
        }
    }
  }
}
";
