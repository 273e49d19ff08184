//! Products of two CSR matrices, row by row (Gustavson 1978), after Nagasaka, Nukada and Matsuoka (2017) and Parger,
//! Winter, Mlakar and Steinberger (2020): rows are counted, then filled, by kernels for bins of similar size. A team of
//! threads (a warp or a block) handles a row, with a hash table of columns in shared memory. For the longest rows there
//! is a bitmap of columns in global memory instead, and the position of an element is the number of bits before its
//! own.
//!
//! Each group of `lanes` of a team handles a row of the right matrix. What they find goes into the table at once, and
//! is added in turn, group after group, so the order of sums depends only on the matrices. If a group has more than one
//! lane, no column may occur twice in a row of the right matrix.
//!
//! On a SIMD CPU, whose barriers cost more than the work they order, each thread handles a row, with a table in global
//! memory.
//!
//! Parameters of `spgemm_work`: for each row the number of products that make it, at most `columns`; `indices` and
//! `indptr` of the left matrix, `indptr` of the right one, rows, columns. Of `spgemm_bins`: the bins of rows, then the
//! number of rows of each bin, the sum of sizes and the largest one, sizes, rows. Of `spgemm_count` and
//! `spgemm_count_long`: sizes, the list of rows, its length, the three index arrays, `indices` of the right matrix;
//! memory and words of a bitmap, or for tables of threads memory, slots and the number of threads. Of `spgemm_fill` and
//! `spgemm_fill_long`: `data`, `indices`, `indptr` of the result, the same list, the parts of both matrices; the same
//! tables.

use super::THREADS;
use super::elements::{block_sum, c_type, conversion, element_functions};
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// The most elements, or products, of rows of each bin; those of the last bin are longer.
pub(crate) const BIN_LIMITS: [usize; 6] = [0, 32, 128, 512, 1024, 4096];

/// The bin of rows that do not fit in tables, and the number of bins.
pub(crate) const LONG_BIN: usize = BIN_LIMITS.len();
pub(crate) const BINS: usize = LONG_BIN + 1;

/// The last bin of rows whose elements fit in tables: columns and sums are in 48 KiB of shared memory.
pub(crate) const LAST_FILLED_BIN: usize = LONG_BIN - 2;

/// What has a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Team {
    /// A thread, with a table in global memory.
    Thread,
    /// A warp.
    Warp,
    /// A block.
    Block,
    /// A block, with a bitmap in global memory.
    BlockWithBitmap,
}

/// Which kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SpgemmStage {
    /// Products of each row.
    Work,
    /// Bins of rows by their sizes.
    Bins,
    /// Elements of rows of a bin.
    Count,
    /// The rows of a bin.
    Fill,
}

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SpgemmSpec {
    /// The dtypes of stored elements of the left and the right matrix.
    pub(crate) values: [DType; 2],
    /// The dtype of the product.
    pub(crate) result: DType,
    /// The indices of both matrices.
    pub(crate) index: DType,
    /// The indices of the product.
    pub(crate) result_index: DType,
    /// Columns do not fit in 32 bits.
    pub(crate) has_wide_keys: bool,
    /// Rows are listed; else all of them are meant.
    pub(crate) has_list: bool,
    pub(crate) team: Team,
    /// Slots of a table in shared memory.
    pub(crate) slots: usize,
    /// Lanes of a row of the right matrix.
    pub(crate) lanes: u8,
    pub(crate) stage: SpgemmStage,
}

impl SpgemmSpec {
    /// Threads that have a row together.
    pub(crate) fn team_threads(&self) -> u32 {
        match self.team {
            Team::Thread => 1,
            Team::Warp => 32,
            Team::Block | Team::BlockWithBitmap => THREADS,
        }
    }
}

impl KernelSpec for SpgemmSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match (self.stage, self.team) {
            (SpgemmStage::Work, _) => "spgemm_work",
            (SpgemmStage::Bins, _) => "spgemm_bins",
            (SpgemmStage::Count, Team::BlockWithBitmap) => "spgemm_count_long",
            (SpgemmStage::Count, _) => "spgemm_count",
            (SpgemmStage::Fill, Team::BlockWithBitmap) => "spgemm_fill_long",
            (SpgemmStage::Fill, _) => "spgemm_fill",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        let _ = writeln!(
            text,
            "typedef {} I;\ntypedef {} J;\nenum {{ THREADS = {THREADS}, TEAM = {}, LANES = {}, SLOTS = {} }};\n\
             #define LISTED_ROW(place) {}",
            c_type(self.index),
            c_type(self.result_index),
            self.team_threads(),
            self.lanes,
            self.slots,
            if self.has_list { "list[place]" } else { "(place)" }
        );
        match self.stage {
            SpgemmStage::Work => {
                text.push_str(&element_functions("N", DType::I64));
                text.push_str(&block_sum("N", THREADS));
                text.push_str(WORK);
                return text;
            }
            SpgemmStage::Bins => {
                let limits: Vec<_> = BIN_LIMITS.iter().map(|limit| format!("(size > {limit})")).collect();
                let _ = writeln!(text, "enum {{ BINS = {BINS} }};\n#define BIN_OF(size) ({})", limits.join(" + "));
                text.push_str(&element_functions("N", DType::I64));
                text.push_str(&block_sum("N", THREADS));
                text.push_str(BINNING);
                return text;
            }
            SpgemmStage::Count | SpgemmStage::Fill => {}
        }
        if self.team == Team::BlockWithBitmap {
            text.push_str(BITMAP);
        } else {
            let (key, bits) = if self.has_wide_keys { ("long long", 64) } else { ("int", 32) };
            let unsigned = if self.has_wide_keys { "unsigned long long" } else { "unsigned" };
            let _ = writeln!(text, "typedef {key} K;\ntypedef {unsigned} U;\nenum {{ KEY_BITS = {bits} }};");
        }
        text.push_str(match self.team {
            Team::Thread => THREAD_TABLE,
            Team::Warp => WARP_TEAM,
            Team::Block | Team::BlockWithBitmap => BLOCK_TEAM,
        });
        if matches!(self.team, Team::Warp | Team::Block) {
            text.push_str(TABLE);
        }
        if self.stage == SpgemmStage::Count {
            text.push_str(&element_functions("N", DType::I64));
            text.push_str(&block_sum("N", THREADS));
            text.push_str(match self.team {
                Team::Thread => COUNT_THREAD,
                Team::Warp | Team::Block => COUNT,
                Team::BlockWithBitmap => COUNT_LONG,
            });
            return text;
        }
        text.push_str(&element_functions("T", self.result));
        for (name, value) in ["V", "W"].iter().zip(self.values) {
            let _ = writeln!(text, "typedef {} {name};", c_type(value));
            text.push_str(&conversion(("T", self.result), (name, value)));
        }
        if self.result.is_complex() {
            text.push_str("#define IS_ZERO(value) ((value).x == 0 && (value).y == 0)\n");
        } else {
            text.push_str("#define IS_ZERO(value) ((value) == 0)\n");
        }
        let (place, sum) = match self.team == Team::BlockWithBitmap {
            true => ("place_of(words, ranks, b_indices[e])", "data[out + slot]"),
            false => ("find_slot(table, (K)b_indices[e])", "sums[slot]"),
        };
        text.push_str(match self.team {
            Team::Thread => FILL_THREAD,
            Team::Warp | Team::Block => FILL,
            Team::BlockWithBitmap => FILL_LONG,
        });
        text.replace("ADD_PRODUCTS", &ADD_PRODUCTS.replace("PLACE", place).replace("SUM", sum))
    }
}

const WORK: &str = "\
enum { SHORT = 64 };
RT_KERNEL spgemm_work(RT_GLOBAL long long *work, RT_GLOBAL const I *a_indices, RT_GLOBAL const I *a_indptr, RT_GLOBAL const I *b_indptr, long long rows, long long columns)
{
  RT_SHARED int long_rows[THREADS];
  RT_SHARED int long_count;
  const long long step = (long long)RT_GROUP_COUNT * THREADS;
  for (long long first = RT_GROUP_ID * (long long)THREADS; first < rows; first += step) {
    if (RT_LOCAL_ID == 0) long_count = 0;
    RT_BARRIER();
    const long long row = first + RT_LOCAL_ID;
    if (row < rows) {
      const I end = a_indptr[row + 1];
      I k = a_indptr[row];
      if (end - k > SHORT) long_rows[RT_ATOMIC_ADD(&long_count, 1)] = RT_LOCAL_ID;
      else {
        long long sum = 0;
        for (; k < end; k++) { const I j = a_indices[k]; sum += b_indptr[j + 1] - b_indptr[j]; }
        work[row] = sum < columns ? sum : columns;
      }
    }
    RT_BARRIER();
    // The block has its long rows together.
    const int count = long_count;
    for (int n = 0; n < count; n++) {
      const long long other = first + long_rows[n], end = a_indptr[other + 1];
      long long sum = 0;
      for (long long k = a_indptr[other] + RT_LOCAL_ID; k < end; k += THREADS) {
        const I j = a_indices[k];
        sum += b_indptr[j + 1] - b_indptr[j];
      }
      sum = N_block_sum(sum);
      if (RT_LOCAL_ID == 0) work[other] = sum < columns ? sum : columns;
    }
    RT_BARRIER();
  }
}
";

const BINNING: &str = "\
RT_KERNEL spgemm_bins(RT_GLOBAL unsigned char *bins, RT_GLOBAL unsigned long long *counts, RT_GLOBAL const long long *sizes, long long rows)
{
  RT_SHARED unsigned found[BINS];
  if (RT_LOCAL_ID < BINS) found[RT_LOCAL_ID] = 0;
  RT_BARRIER();
  const long long step = (long long)RT_GROUP_COUNT * THREADS;
  long long sum = 0, most = 0;
  for (long long row = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID; row < rows; row += step) {
    const long long size = sizes[row];
    if (size > most) most = size;
    const int bin = BIN_OF(size);
    bins[row] = bin;
    sum += size;
    RT_ATOMIC_ADD(&found[bin], 1u);
  }
  sum = N_block_sum(sum);
  if (RT_LOCAL_ID < BINS && found[RT_LOCAL_ID]) RT_ATOMIC_ADD(&counts[RT_LOCAL_ID], (unsigned long long)found[RT_LOCAL_ID]);
  if (RT_LOCAL_ID == 0) RT_ATOMIC_ADD(&counts[BINS], (unsigned long long)sum);
  if (most > 0) RT_ATOMIC_MAX(&counts[BINS + 1], (unsigned long long)most);
}
";

const WARP_TEAM: &str = "\
#define TEAM_BARRIER() RT_WARP_BARRIER()
#define TEAM_ANY(condition) RT_WARP_ANY(condition)
";

const BLOCK_TEAM: &str = "\
#define TEAM_BARRIER() RT_BARRIER()
#define TEAM_ANY(condition) RT_BLOCK_ANY(condition)
";

/// A table of columns, of which at most half of the slots are taken.
const TABLE: &str = "\
enum { TEAMS = THREADS / TEAM };
// Where a column is, or where it was put; -1 - slot in the second case.
RT_FUNCTION int find_or_put(RT_SHARED_POINTER K *table, K column)
{
  unsigned slot = (unsigned)((U)column * 2654435761u) % SLOTS;
  for (;;) {
    const K found = (K)RT_ATOMIC_CAS((RT_SHARED_POINTER U *)&table[slot], (U)-1, (U)column);
    if (found == column) return (int)slot;
    if (found == (K)-1) return -1 - (int)slot;
    slot = (slot + 1) % SLOTS;
  }
}
RT_FUNCTION int find_slot(RT_SHARED_POINTER K *table, K column)
{
  const int slot = find_or_put(table, column);
  return slot < 0 ? -1 - slot : slot;
}
";

const COUNT: &str = "\
RT_KERNEL spgemm_count(RT_GLOBAL long long *sizes, RT_GLOBAL const long long *list, long long count, RT_GLOBAL const I *a_indices, RT_GLOBAL const I *a_indptr, RT_GLOBAL const I *b_indices, RT_GLOBAL const I *b_indptr)
{
  RT_SHARED K tables[TEAMS][SLOTS];
  RT_SHARED int totals[TEAMS];
  const unsigned team = RT_LOCAL_ID / TEAM, t = RT_LOCAL_ID % TEAM;
  RT_SHARED_POINTER K *table = tables[team];
  for (long long place = (long long)RT_GROUP_ID * TEAMS + team; place < count; place += (long long)RT_GROUP_COUNT * TEAMS) {
    const long long row = LISTED_ROW(place);
    for (unsigned k = t; k < SLOTS; k += TEAM) table[k] = (K)-1;
    if (t == 0) totals[team] = 0;
    TEAM_BARRIER();
    int found = 0;
    const long long a_end = a_indptr[row + 1];
    for (long long k = a_indptr[row] + t / LANES; k < a_end; k += TEAM / LANES) {
      const long long j = a_indices[k];
      const I end = b_indptr[j + 1];
      for (I e = b_indptr[j] + t % LANES; e < end; e += LANES) found += find_or_put(table, (K)b_indices[e]) < 0;
    }
    RT_ATOMIC_ADD(&totals[team], found);
    TEAM_BARRIER();
    if (t == 0) sizes[row] = totals[team];
    TEAM_BARRIER();
  }
}
";

/// All products of a row, to the sums of their places.
const ADD_PRODUCTS: &str = "\
    const long long a_end = a_indptr[row + 1];
    for (long long first = a_indptr[row]; first < a_end; first += TEAM / LANES) {
      const long long k = first + t / LANES;
      I e = 0, end = 0;
      T left = T_zero();
      if (k < a_end) {
        const long long j = a_indices[k];
        left = T_from_V(a_data[k]);
        e = b_indptr[j] + t % LANES;
        end = b_indptr[j + 1];
      }
      while (TEAM_ANY(e < end)) {
        long long slot = -1;
        T right = T_zero();
        if (e < end) { slot = PLACE; right = T_from_W(b_data[e]); }
        for (unsigned warp = 0; warp < TEAM / 32; warp++) {
          if (t / 32 == warp)
            for (unsigned group = 0; group < 32 / LANES; group++) {
              if (slot >= 0 && t % 32 / LANES == group) SUM = T_mul_add(left, right, SUM);
              RT_WARP_BARRIER();
            }
          if (TEAM > 32) TEAM_BARRIER();
        }
        e += LANES;
      }
    }
    TEAM_BARRIER();
";

const FILL: &str = "\
RT_KERNEL spgemm_fill(RT_GLOBAL unsigned long long *zeros, RT_GLOBAL T *data, RT_GLOBAL J *indices, RT_GLOBAL const J *indptr, RT_GLOBAL const long long *list, long long count, RT_GLOBAL const V *a_data, RT_GLOBAL const I *a_indices, RT_GLOBAL const I *a_indptr, RT_GLOBAL const W *b_data, RT_GLOBAL const I *b_indices, RT_GLOBAL const I *b_indptr)
{
  RT_SHARED K tables[TEAMS][SLOTS];
  RT_SHARED T all_sums[TEAMS][SLOTS];
  const unsigned team = RT_LOCAL_ID / TEAM, t = RT_LOCAL_ID % TEAM;
  RT_SHARED_POINTER K *table = tables[team];
  RT_SHARED_POINTER T *sums = all_sums[team];
  for (long long place = (long long)RT_GROUP_ID * TEAMS + team; place < count; place += (long long)RT_GROUP_COUNT * TEAMS) {
    const long long row = LISTED_ROW(place);
    for (unsigned k = t; k < SLOTS; k += TEAM) { table[k] = (K)-1; sums[k] = T_zero(); }
    TEAM_BARRIER();
ADD_PRODUCTS
    // A bitonic sort (Batcher 1968); slots that are free have the largest keys.
    for (unsigned size = 2; size <= SLOTS; size *= 2)
      for (unsigned stride = size / 2; stride > 0; stride /= 2) {
        for (unsigned pair = t; pair < SLOTS / 2; pair += TEAM) {
          const unsigned low = 2 * pair - pair % stride, high = low + stride;
          const K x = table[low], y = table[high];
          if (((U)x > (U)y) == ((low & size) == 0)) {
            const T sum = sums[low];
            table[low] = y;
            table[high] = x;
            sums[low] = sums[high];
            sums[high] = sum;
          }
        }
        TEAM_BARRIER();
      }
    const long long out = indptr[row];
    const unsigned length = (unsigned)(indptr[row + 1] - out);
    int found = 0;
    for (unsigned k = t; k < length; k += TEAM) {
      indices[out + k] = (J)table[k];
      data[out + k] = sums[k];
      found += IS_ZERO(sums[k]);
    }
    if (found > 0) RT_ATOMIC_ADD(zeros, (unsigned long long)found);
    TEAM_BARRIER();
  }
}
";

/// A bit for each column, of one block.
const BITMAP: &str = "\
RT_FUNCTION void mark_columns(RT_GLOBAL unsigned *words, long long word_count, long long row, RT_GLOBAL const I *a_indices, RT_GLOBAL const I *a_indptr, RT_GLOBAL const I *b_indices, RT_GLOBAL const I *b_indptr)
{
  for (long long k = RT_LOCAL_ID; k < word_count; k += THREADS) words[k] = 0;
  RT_BARRIER();
  const long long a_end = a_indptr[row + 1];
  for (long long k = a_indptr[row] + RT_LOCAL_ID / LANES; k < a_end; k += THREADS / LANES) {
    const long long j = a_indices[k];
    const I end = b_indptr[j + 1];
    for (I e = b_indptr[j] + RT_LOCAL_ID % LANES; e < end; e += LANES)
      RT_ATOMIC_OR(&words[b_indices[e] / 32], 1u << b_indices[e] % 32);
  }
  RT_BARRIER();
}
RT_FUNCTION long long place_of(RT_GLOBAL const unsigned *words, RT_GLOBAL const unsigned *ranks, long long column)
{
  return ranks[column / 32] + RT_POPCOUNT(words[column / 32] & ((1u << column % 32) - 1u));
}
";

const COUNT_LONG: &str = "\
RT_KERNEL spgemm_count_long(RT_GLOBAL long long *sizes, RT_GLOBAL const long long *list, long long count, RT_GLOBAL const I *a_indices, RT_GLOBAL const I *a_indptr, RT_GLOBAL const I *b_indices, RT_GLOBAL const I *b_indptr, RT_GLOBAL unsigned *memory, long long word_count)
{
  RT_GLOBAL unsigned *words = memory + RT_GROUP_ID * 2 * word_count;
  for (long long place = RT_GROUP_ID; place < count; place += RT_GROUP_COUNT) {
    const long long row = LISTED_ROW(place);
    mark_columns(words, word_count, row, a_indices, a_indptr, b_indices, b_indptr);
    long long found = 0;
    for (long long k = RT_LOCAL_ID; k < word_count; k += THREADS) found += RT_POPCOUNT(words[k]);
    found = N_block_sum(found);
    if (RT_LOCAL_ID == 0) sizes[row] = found;
    RT_BARRIER();
  }
}
";

const FILL_LONG: &str = "\
RT_KERNEL spgemm_fill_long(RT_GLOBAL unsigned long long *zeros, RT_GLOBAL T *data, RT_GLOBAL J *indices, RT_GLOBAL const J *indptr, RT_GLOBAL const long long *list, long long count, RT_GLOBAL const V *a_data, RT_GLOBAL const I *a_indices, RT_GLOBAL const I *a_indptr, RT_GLOBAL const W *b_data, RT_GLOBAL const I *b_indices, RT_GLOBAL const I *b_indptr, RT_GLOBAL unsigned *memory, long long word_count)
{
  RT_SHARED unsigned counts[THREADS];
  RT_GLOBAL unsigned *words = memory + RT_GROUP_ID * 2 * word_count, *ranks = words + word_count;
  const unsigned t = RT_LOCAL_ID;
  for (long long place = RT_GROUP_ID; place < count; place += RT_GROUP_COUNT) {
    const long long row = LISTED_ROW(place), out = indptr[row];
    mark_columns(words, word_count, row, a_indices, a_indptr, b_indices, b_indptr);
    // A thread has adjacent words.
    const long long share = (word_count + THREADS - 1) / THREADS, first = t * share;
    const long long end = first + share < word_count ? first + share : word_count;
    unsigned bits = 0;
    for (long long k = first; k < end; k++) bits += RT_POPCOUNT(words[k]);
    counts[t] = bits;
    RT_BARRIER();
    for (unsigned n = 1; n < THREADS; n *= 2) {
      const unsigned before = t >= n ? counts[t - n] : 0;
      RT_BARRIER();
      counts[t] += before;
      RT_BARRIER();
    }
    unsigned rank = counts[t] - bits;
    for (long long k = first; k < end; k++) {
      ranks[k] = rank;
      const unsigned word = words[k];
      for (unsigned bit = 0; word >> bit; bit++) {
        if ((word >> bit & 1u) == 0) continue;
        indices[out + rank] = (J)(32 * k + bit);
        data[out + rank] = T_zero();
        rank++;
        if (bit == 31) break;
      }
    }
    RT_BARRIER();
ADD_PRODUCTS
    int found = 0;
    for (long long k = out + t; k < indptr[row + 1]; k += THREADS) found += IS_ZERO(data[k]);
    if (found > 0) RT_ATOMIC_ADD(zeros, (unsigned long long)found);
  }
}
";

const THREAD_TABLE: &str = "\
// Where a column is, or the free slot where it goes.
RT_FUNCTION long long slot_of(RT_GLOBAL const K *table, long long slots, K column)
{
  long long slot = (unsigned)((U)column * 2654435761u) & (slots - 1);
  while (table[slot] != column && table[slot] != (K)-1) slot = (slot + 1) & (slots - 1);
  return slot;
}
";

const COUNT_THREAD: &str = "\
RT_KERNEL spgemm_count(RT_GLOBAL long long *sizes, RT_GLOBAL const long long *list, long long count, RT_GLOBAL const I *a_indices, RT_GLOBAL const I *a_indptr, RT_GLOBAL const I *b_indices, RT_GLOBAL const I *b_indptr, RT_GLOBAL K *memory, long long slots, long long threads)
{
  const long long thread = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID;
  if (thread >= threads) return;
  RT_GLOBAL K *table = memory + thread * slots;
  for (long long place = thread; place < count; place += threads) {
    const long long row = LISTED_ROW(place);
    for (long long k = 0; k < slots; k++) table[k] = (K)-1;
    long long found = 0;
    const I a_end = a_indptr[row + 1];
    for (I k = a_indptr[row]; k < a_end; k++) {
      const I j = a_indices[k], end = b_indptr[j + 1];
      for (I e = b_indptr[j]; e < end; e++) {
        const K column = (K)b_indices[e];
        const long long slot = slot_of(table, slots, column);
        found += table[slot] != column;
        table[slot] = column;
      }
    }
    sizes[row] = found;
  }
}
";

const FILL_THREAD: &str = "\
RT_KERNEL spgemm_fill(RT_GLOBAL unsigned long long *zeros, RT_GLOBAL T *data, RT_GLOBAL J *indices, RT_GLOBAL const J *indptr, RT_GLOBAL const long long *list, long long count, RT_GLOBAL const V *a_data, RT_GLOBAL const I *a_indices, RT_GLOBAL const I *a_indptr, RT_GLOBAL const W *b_data, RT_GLOBAL const I *b_indices, RT_GLOBAL const I *b_indptr, RT_GLOBAL K *memory, RT_GLOBAL int *all_places, long long slots, long long threads)
{
  const long long thread = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID;
  if (thread >= threads) return;
  RT_GLOBAL K *table = memory + thread * slots;
  RT_GLOBAL int *places = all_places + thread * slots;
  int zero_count = 0;
  for (long long place = thread; place < count; place += threads) {
    const long long row = LISTED_ROW(place), out = indptr[row];
    for (long long k = 0; k < slots; k++) table[k] = (K)-1;
    long long length = 0;
    const I a_end = a_indptr[row + 1];
    for (I k = a_indptr[row]; k < a_end; k++) {
      const I j = a_indices[k], end = b_indptr[j + 1];
      for (I e = b_indptr[j]; e < end; e++) {
        const K column = (K)b_indices[e];
        const long long slot = slot_of(table, slots, column);
        if (table[slot] != column) { table[slot] = column; indices[out + length] = (J)column; length++; }
      }
    }
    // A sort with falling distances (Shell 1959) of columns alone: lanes write one after the other.
    RT_GLOBAL J *columns = indices + out;
    for (long long gap = length > 10 ? length * 5 / 11 : 1; gap > 0; gap = gap > 2 ? gap * 5 / 11 : gap - 1)
      for (long long k = gap; k < length; k++) {
        const J column = columns[k];
        long long to = k;
        for (; to >= gap && columns[to - gap] > column; to -= gap) columns[to] = columns[to - gap];
        columns[to] = column;
      }
    RT_GLOBAL T *sums = data + out;
    for (long long k = 0; k < length; k++) { places[slot_of(table, slots, (K)columns[k])] = (int)k; sums[k] = T_zero(); }
    for (I k = a_indptr[row]; k < a_end; k++) {
      const I j = a_indices[k], end = b_indptr[j + 1];
      const T left = T_from_V(a_data[k]);
      for (I e = b_indptr[j]; e < end; e++) {
        const int to = places[slot_of(table, slots, (K)b_indices[e])];
        sums[to] = T_mul_add(left, T_from_W(b_data[e]), sums[to]);
      }
    }
    for (long long k = 0; k < length; k++) zero_count += IS_ZERO(sums[k]);
  }
  if (zero_count > 0) RT_ATOMIC_ADD(zeros, (unsigned long long)zero_count);
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_fit_in_the_shared_memory_that_every_block_gets() {
        for (stage, element) in [(SpgemmStage::Count, 0), (SpgemmStage::Fill, 16)] {
            let last = if stage == SpgemmStage::Fill { LAST_FILLED_BIN } else { LONG_BIN - 1 };
            for (bin, limit) in BIN_LIMITS.iter().enumerate().take(last + 1).skip(1) {
                let spec = SpgemmSpec {
                    values: [DType::C128; 2],
                    result: DType::C128,
                    index: DType::I64,
                    result_index: DType::I64,
                    has_wide_keys: false,
                    has_list: true,
                    team: if bin <= 2 { Team::Warp } else { Team::Block },
                    slots: 2 * limit,
                    lanes: 32,
                    stage,
                };
                let bytes = (THREADS / spec.team_threads()) as usize * (spec.slots * (4 + element) + 4);
                assert!(bytes <= 48 << 10, "{bin}: {bytes}");
            }
        }
    }
}
