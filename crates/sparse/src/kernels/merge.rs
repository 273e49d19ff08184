//! Products of a CSR matrix and a vector along the merge path (Merrill and Garland 2016): every block gets the same
//! total of row ends and elements, however long rows are.
//!
//! A block processes a tile of the path. It multiplies the tile's elements, adjacent threads adjacent ones, and puts
//! products and row ends in shared memory. Then each lane adds up a short row and a warp each long one, in an order of
//! additions that depends only on positions. Another kernel adds a tile's part of a row that continues in the next
//! tile, always in the same order.
//!
//! The starts of tiles are cached from the first product of a matrix. A block trusts a cached start only if it lies on
//! the path, so that writes to the arrays since then only cost time.
//!
//! Parameters of `csr_merge_starts`: the row in which each tile begins, `indptr`, rows, elements. Of `csr_merge_tiles`:
//! `y`, `data`, `indices`, `indptr`, `x`, rows, elements, then the rows and sums that tiles carry over, and where tiles
//! begin; with a dot product also where each block puts its part of `conj(x) . y`, and the state of a solver, because
//! the kernel does nothing once the solver has stopped. The dot product is linear in `y`, so each tile adds up the
//! contributions of its own parts of rows, whichever tile ends them; a block then processes every n-th tile, since
//! there are as many parts as blocks. Of `csr_merge_carries`: `y`, rows and sums, the number of tiles, rows.

use super::elements::{block_sum, c_type, conversion, element_functions, load_once, sum_dtype};
use super::spmv::SpmvEpilogue;
use super::{STOP_FLAG, THREADS};
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Which kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum MergeStage {
    /// A thread for each tile looks for the row that it begins in.
    Starts,
    /// A block for each tile.
    Tiles,
    /// A warp for each tile adds what tiles carry over.
    Carries,
}

/// Elements and ends of rows of a block: six of each thread. More would be under way together, but would leave less of a
/// multiprocessor's memory to cache `x`.
pub(crate) const TILE: u32 = THREADS * 6;

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
    /// Elements and ends of rows of a tile.
    pub(crate) tile: u32,
    pub(crate) stage: MergeStage,
}

impl MergeSpmvSpec {
    /// The C type and the number of words that hold a tile's products and ends of rows.
    fn words(&self) -> (&'static str, usize) {
        let itemsize = self.vector.itemsize();
        let word = if itemsize >= 4 { "T" } else { "int" };
        (word, self.tile as usize + (2 * 4usize).div_ceil(itemsize.max(4)))
    }
}

impl KernelSpec for MergeSpmvSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.stage {
            MergeStage::Starts => "csr_merge_starts",
            MergeStage::Tiles => "csr_merge_tiles",
            MergeStage::Carries => "csr_merge_carries",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        let _ =
            writeln!(text, "typedef {} I;\nenum {{ THREADS = {THREADS}, TILE = {} }};", c_type(self.index), self.tile);
        if self.stage != MergeStage::Carries {
            text.push_str(ROWS_BEFORE);
        }
        if self.stage != MergeStage::Starts {
            text.push_str(&element_functions("T", self.vector));
        }
        if self.stage == MergeStage::Tiles {
            let _ = writeln!(text, "typedef {} V;", c_type(self.value));
            text.push_str(&conversion(("T", self.vector), ("V", self.value)));
            text.push_str(&load_once("V", self.value));
            text.push_str(&load_once("I", self.index));
            let (word, words) = self.words();
            let is_added = self.epilogue == SpmvEpilogue::Accumulate;
            let store = if is_added { "place = T_add(place, sum)" } else { "place = sum" };
            let _ = writeln!(
                text,
                "enum {{ ITEMS = TILE / THREADS, WORDS = {words}, LONG = 32 }};\ntypedef {word} Word;\n#define STORE(place, sum) {store}"
            );
            text.push_str(ROW_SUM);
            if self.epilogue == SpmvEpilogue::StoreAndDot {
                let sum = sum_dtype(self.vector);
                text.push_str(&element_functions("D", sum));
                text.push_str(&conversion(("D", sum), ("T", self.vector)));
                text.push_str(&block_sum("D", THREADS));
                text.push_str(WITH_DOT);
                let parameters = ", RT_GLOBAL D *partials, RT_GLOBAL const double *state";
                let gate = format!("  if (state[{STOP_FLAG}] != 0) return;\n");
                text.push_str(&TILES.replace("DOT_PARAMETERS", parameters).replace("GATE\n", &gate));
            } else {
                text.push_str(WITHOUT_DOT);
                text.push_str(&TILES.replace("DOT_PARAMETERS", "").replace("GATE\n", ""));
            }
        }
        text.push_str(match self.stage {
            MergeStage::Starts => STARTS,
            MergeStage::Tiles => "",
            MergeStage::Carries => CARRIES,
        });
        text
    }
}

const ROWS_BEFORE: &str = "\
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
";

const STARTS: &str = "\
RT_KERNEL csr_merge_starts(RT_GLOBAL I *starts, RT_GLOBAL const I *indptr, long long rows, long long elements)
{
  const long long total = rows + elements, tiles = (total + TILE - 1) / TILE;
  const long long tile = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID;
  if (tile > tiles) return;
  starts[tile] = (I)rows_before(indptr + 1, rows, elements, tile < tiles ? tile * TILE : total);
}
";

/// Of rows whose products lie in shared memory: each lane of a warp has one.
pub(crate) const ROW_SUM: &str = "\
// The sum of a lane's row; one of more than LONG products is added up by the whole warp.
RT_FUNCTION T row_sum(RT_SHARED_POINTER const T *products, int begin, int end)
{
  const int lane = RT_LOCAL_ID % 32;
  T sum = T_zero();
  if (end - begin <= LONG) for (int k = begin; k < end; k++) sum = T_add(sum, products[k]);
  for (unsigned left = RT_BALLOT(end - begin > LONG); left != 0; left &= left - 1) {
    const int owner = RT_FIRST_BIT(left), from = RT_SHUFFLE(begin, owner), to = RT_SHUFFLE(end, owner);
    T part = T_zero();
    for (int k = from + lane; k < to; k += 32) part = T_add(part, products[k]);
    for (unsigned n = 16; n > 0; n /= 2) part = T_add(part, T_shuffle_down(part, n));
    part = T_shuffle(part, 0);
    if (lane == owner) sum = part;
  }
  return sum;
}
";

/// What is done with a part `sum` of row `row`, and at the end. The tiles of a block share memory, one after the other.
const WITH_DOT: &str = "\
#define EACH_TILE for (long long tile = RT_GROUP_ID; tile * TILE < total; tile += RT_GROUP_COUNT)
#define BEGIN_TILE() RT_BARRIER()
#define BEGIN_DOT D dot = D_zero();
#define ADD_DOT(row, sum) dot = D_mul_add(D_conj(D_from_T(x[row])), D_from_T(sum), dot);
#define END_DOT dot = D_block_sum(dot); if (RT_LOCAL_ID == 0) partials[RT_GROUP_ID] = dot;
";
const WITHOUT_DOT: &str = "\
#define EACH_TILE const long long tile = RT_GROUP_ID;
#define BEGIN_TILE()
#define BEGIN_DOT
#define ADD_DOT(row, sum)
#define END_DOT
";

const TILES: &str = "\
// The same as `rows_before`, which is `guess` if the path passes there.
RT_FUNCTION long long checked_rows_before(RT_GLOBAL const I *ends, long long rows, long long elements, long long diagonal, long long guess)
{
  const long long low = diagonal > elements ? diagonal - elements : 0, high = diagonal < rows ? diagonal : rows;
  if (guess >= low && guess <= high) {
    const long long before = guess > low ? ends[guess - 1] : 0, behind = guess < high ? ends[guess] : diagonal;
    if (before <= diagonal - guess && behind >= diagonal - guess) return guess;
  }
  return rows_before(ends, rows, elements, diagonal);
}
RT_KERNEL csr_merge_tiles(RT_GLOBAL T *y, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const T *x, long long rows, long long elements, RT_GLOBAL I *carry_rows, RT_GLOBAL T *carry_sums, RT_GLOBAL const I *startsDOT_PARAMETERS)
{
GATE
  RT_SHARED Word words[WORDS];
  RT_SHARED long long first_rows[2];
  const unsigned t = RT_LOCAL_ID;
  const long long total = rows + elements;
  BEGIN_DOT
  EACH_TILE {
    const long long start = tile * TILE;
    const int steps = (int)(total - start < TILE ? total - start : TILE);
    BEGIN_TILE();
    if (t < 2) first_rows[t] = checked_rows_before(indptr + 1, rows, elements, start + (t ? steps : 0), starts[tile + t]);
    RT_BARRIER();
    const I first_row = (I)first_rows[0], first = (I)(start - first_rows[0]);
    const int row_count = (int)(first_rows[1] - first_rows[0]), count = steps - row_count;
    // Products lie from the front of the memory on; the elements before each of the tile's rows, and behind the last one,
    // up to its end.
    RT_SHARED_POINTER T *products = (RT_SHARED_POINTER T *)words;
    RT_SHARED_POINTER int *ends = (RT_SHARED_POINTER int *)(words + WORDS) - (row_count + 2);
    I columns[ITEMS];
    V values[ITEMS];
    RT_UNROLL for (int n = 0; n < ITEMS; n++) {
      const int k = t + n * THREADS;
      columns[n] = -1;
      if (k < count) { columns[n] = I_load_once(indices + first + k); values[n] = V_load_once(data + first + k); }
    }
    for (int k = t; k < row_count; k += THREADS) ends[k + 1] = (int)(indptr[first_row + k + 1] - first);
    if (t == 0) { ends[0] = 0; ends[row_count + 1] = count; }
    RT_UNROLL for (int n = 0; n < ITEMS; n++)
      if (columns[n] >= 0) products[t + n * THREADS] = T_mul(T_from_V(values[n]), x[columns[n]]);
    RT_BARRIER();
    const int lane = t % 32;
    // The lanes of a warp agree on when to stop. The last row is the one that goes on in the next tile.
    for (int base = t - lane; base <= row_count; base += THREADS) {
      const int row = base + lane;
      const T sum = row_sum(products, row <= row_count ? ends[row] : 0, row <= row_count ? ends[row + 1] : 0);
      if (row < row_count) STORE(y[first_row + row], sum);
      else if (row == row_count) { carry_rows[tile] = first_row + row; carry_sums[tile] = sum; }
      if (row <= row_count && first_row + row < rows) { ADD_DOT(first_row + row, sum) }
    }
  }
  END_DOT
}
";

const CARRIES: &str = "\
RT_KERNEL csr_merge_carries(RT_GLOBAL T *y, RT_GLOBAL const I *carry_rows, RT_GLOBAL const T *carry_sums, long long tiles, long long rows)
{
  const unsigned lane = RT_LOCAL_ID % 32;
  const long long tile = RT_GROUP_ID * (long long)(THREADS / 32) + RT_LOCAL_ID / 32;
  // The lanes of a warp agree on what follows.
  if (tile >= tiles) return;
  const I row = carry_rows[tile];
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
            let (index, epilogue, stage) = (DType::I64, SpmvEpilogue::StoreAndDot, MergeStage::Tiles);
            let spec = MergeSpmvSpec { value: vector, vector, index, epilogue, tile: TILE, stage };
            let itemsize = vector.itemsize().max(4);
            let bytes = spec.words().1 * itemsize;
            // Products before ends of rows, which are one for each row and two more.
            assert!(bytes >= TILE as usize * itemsize + 8 && bytes + 16 + 32 * 16 <= 48 << 10, "{vector}: {bytes}");
        }
    }
}
