//! Products of a matrix in compressed sparse rows and a vector along the merge path (Merrill and Garland 2016): every
//! thread has as many ends of rows and elements together as every other one, however long rows are.
//!
//! A block has a tile of the path. It multiplies the tile's elements, adjacent threads adjacent ones, and puts products and
//! ends of rows in shared memory; each thread walks its part of the path. What a thread has of a row that it does not end
//! is added by a scan over the block, and what a block has of such a row by the second kernel, always in the same order.
//!
//! Parameters of `csr_merge_tiles`: `y`, `data`, `indices`, `indptr`, `x`, rows, elements, then the rows and sums that tiles
//! carry over; with a dot product also where each block puts its part of `conj(x) . y`, and the state of a solver that the
//! kernel does nothing for once it has stopped. The dot product is linear in `y`, so that each tile adds up what its own
//! parts of rows contribute, whoever ends them. Of `csr_merge_carries`: `y`, these two, the number of tiles, rows.

use super::dialect::CUDA_PRELUDE;
use super::elements::{block_sum, c_type, conversion, element_functions, sum_dtype};
use super::spmv::SpmvEpilogue;
use super::{STOP_FLAG, THREADS};
use rtcg_codegen::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Which kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum MergeStage {
    /// A block for each tile.
    Tiles,
    /// A warp for each tile adds what tiles carry over.
    Carries,
}

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct MergeSpmvSpec {
    /// The dtype of stored elements.
    pub(crate) value: DType,
    /// The dtype of the vectors, in which is computed.
    pub(crate) vector: DType,
    /// `I32` or `I64`.
    pub(crate) index: DType,
    pub(crate) epilogue: SpmvEpilogue,
    pub(crate) stage: MergeStage,
}

impl MergeSpmvSpec {
    fn has_dot(&self) -> bool {
        self.epilogue == SpmvEpilogue::StoreAndDot
    }

    /// Steps of a thread: products of a tile fit in 16 KiB of shared memory.
    fn items(&self) -> usize {
        64 / self.vector.itemsize().max(8)
    }

    /// Steps of a tile.
    pub(crate) fn tile_items(&self) -> usize {
        THREADS as usize * self.items()
    }
}

impl KernelSpec for MergeSpmvSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.stage {
            MergeStage::Tiles => "csr_merge_tiles",
            MergeStage::Carries => "csr_merge_carries",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        text.push_str(&element_functions("T", self.vector));
        let _ = writeln!(text, "typedef {} V;\ntypedef {} I;", c_type(self.value), c_type(self.index));
        text.push_str(&conversion(("T", self.vector), ("V", self.value)));
        let _ = writeln!(
            text,
            "enum {{ THREADS = {THREADS}, ITEMS = {}, TILE = {} }};\n#define STORE(place, sum) {}",
            self.items(),
            self.tile_items(),
            if self.epilogue == SpmvEpilogue::Accumulate { "place = T_add(place, sum)" } else { "place = sum" }
        );
        if self.has_dot() {
            let sum = sum_dtype(self.vector);
            text.push_str(&element_functions("D", sum));
            text.push_str(&conversion(("D", sum), ("T", self.vector)));
            text.push_str(&block_sum("D", THREADS));
        }
        text.push_str(if self.has_dot() { WITH_DOT } else { WITHOUT_DOT });
        text.push_str(match self.stage {
            MergeStage::Tiles => TILES,
            MergeStage::Carries => CARRIES,
        });
        if self.stage == MergeStage::Tiles && self.has_dot() {
            let parameters = ", RT_GLOBAL D *partials, RT_GLOBAL const double *state)\n{\n";
            let gate = format!("  if (state[{STOP_FLAG}] != 0) return;\n");
            text = text.replace(")\n{\n  // A block", &format!("{parameters}{gate}  // A block"));
        }
        text
    }
}

/// What is done with a part `sum` of row `row`, and at the end.
const WITH_DOT: &str = "\
#define BEGIN_DOT D dot = D_zero();
#define ADD_DOT(row, sum) dot = D_mul_add(D_conj(D_from_T(x[row])), D_from_T(sum), dot);
#define END_DOT dot = D_block_sum(dot); if (RT_LOCAL_ID == 0) partials[RT_GROUP_ID] = dot;
";
const WITHOUT_DOT: &str = "\
#define BEGIN_DOT
#define ADD_DOT(row, sum)
#define END_DOT
";

const TILES: &str = "\
// How many rows end among the first `diagonal` steps of a path through `rows` ends and `elements` elements.
RT_FUNCTION long long rows_before(RT_GLOBAL const I *ends, long long rows, long long elements, long long diagonal)
{
  long long low = diagonal > elements ? diagonal - elements : 0, high = diagonal < rows ? diagonal : rows;
  while (low < high) {
    const long long middle = (low + high) / 2;
    if (ends[middle] <= diagonal - middle - 1) low = middle + 1; else high = middle;
  }
  return low;
}
RT_KERNEL csr_merge_tiles(RT_GLOBAL T *y, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const T *x, long long rows, long long elements, RT_GLOBAL long long *carry_rows, RT_GLOBAL T *carry_sums)
{
  // A block has every so-manieth tile.
  RT_SHARED T products[TILE];
  RT_SHARED int ends[TILE + 1];
  RT_SHARED long long first_rows[2];
  RT_SHARED T sums[THREADS];
  RT_SHARED int sum_rows[THREADS];
  const unsigned t = RT_LOCAL_ID;
  const long long total = rows + elements;
  BEGIN_DOT
  for (long long start = RT_GROUP_ID * (long long)TILE; start < total; start += RT_GROUP_COUNT * (long long)TILE) {
    const int steps = (int)(total - start < TILE ? total - start : TILE);
    RT_BARRIER();
    if (t < 2) first_rows[t] = rows_before(indptr + 1, rows, elements, start + (t ? steps : 0));
    RT_BARRIER();
    const long long first_row = first_rows[0], first = start - first_row;
    const int row_count = (int)(first_rows[1] - first_row), count = steps - row_count;
    for (int k = t; k < row_count; k += THREADS) ends[k] = (int)(indptr[first_row + k + 1] - first);
    // The row that goes on in the next tile ends behind all elements.
    if (t == 0) ends[row_count] = TILE + 1;
    for (int k = t; k < count; k += THREADS)
      products[k] = T_mul(T_from_V(data[first + k]), x[indices[first + k]]);
    RT_BARRIER();
    const int begin = t * ITEMS < steps ? t * ITEMS : steps, end = begin + ITEMS < steps ? begin + ITEMS : steps;
    int row = begin > count ? begin - count : 0, high = begin < row_count ? begin : row_count;
    while (row < high) {
      const int middle = (row + high) / 2;
      if (ends[middle] <= begin - middle - 1) row = middle + 1; else high = middle;
    }
    T sum = T_zero();
    for (int step = begin, element = begin - row; step < end; step++) {
      if (element < ends[row]) { sum = T_add(sum, products[element]); element++; }
      else { STORE(y[first_row + row], sum); ADD_DOT(first_row + row, sum) sum = T_zero(); row++; }
    }
    // Sums of rows that end in later threads: those of one row are added in a tree, and the first thread has the result.
    sums[t] = sum;
    sum_rows[t] = row;
    RT_BARRIER();
    for (unsigned n = 1; n < THREADS; n *= 2) {
      const T other = t + n < THREADS && sum_rows[t + n] == row ? sums[t + n] : T_zero();
      RT_BARRIER();
      sum = T_add(sum, other);
      sums[t] = sum;
      RT_BARRIER();
    }
    if (t == 0 || sum_rows[t - 1] != row) {
      if (row < row_count) y[first_row + row] = T_add(y[first_row + row], sum);
      else { carry_rows[start / TILE] = first_row + row; carry_sums[start / TILE] = sum; }
      if (first_row + row < rows) { ADD_DOT(first_row + row, sum) }
    }
  }
  END_DOT
}
";

const CARRIES: &str = "\
RT_KERNEL csr_merge_carries(RT_GLOBAL T *y, RT_GLOBAL const long long *carry_rows, RT_GLOBAL const T *carry_sums, long long tiles, long long rows)
{
  const unsigned lane = RT_LOCAL_ID % 32;
  const long long tile = RT_GROUP_ID * (long long)(THREADS / 32) + RT_LOCAL_ID / 32;
  // The lanes of a warp agree on what follows.
  if (tile >= tiles) return;
  const long long row = carry_rows[tile];
  if (row >= rows || (tile > 0 && carry_rows[tile - 1] == row)) return;
  T sum = T_zero();
  for (long long k = tile + lane; k < tiles && carry_rows[k] == row; k += 32) sum = T_add(sum, carry_sums[k]);
  for (unsigned n = 16; n > 0; n /= 2) sum = T_add(sum, T_shuffle_down(sum, n));
  if (lane == 0) y[row] = T_add(y[row], sum);
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_fit_in_the_shared_memory_that_every_block_gets() {
        for vector in [DType::Bool, DType::F32, DType::F64, DType::C128] {
            let spec = MergeSpmvSpec {
                value: vector,
                vector,
                index: DType::I64,
                epilogue: SpmvEpilogue::StoreAndDot,
                stage: MergeStage::Tiles,
            };
            let itemsize = vector.itemsize();
            let bytes = spec.tile_items() * (itemsize + 4) + THREADS as usize * (itemsize + 4) + 32 + 8 * 16;
            assert!(bytes <= 48 << 10, "{vector}: {bytes}");
        }
    }
}
