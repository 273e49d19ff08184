//! Solves triangular systems in one launch: rows wait for the elements of the solution that they need.
//!
//! After Liu, Li, Hogg, Duff and Vinter, "A Synchronization-Free Algorithm for Parallel Sparse Triangular Solves"
//! (2016), with rows in the order of their levels, and with a loop that all lanes of a warp leave together, so that
//! rows of one warp may wait for each other (as in Su et al., "CapelliniSpTRSV", 2020). Warps draw tickets: what a row
//! waits for has an earlier ticket, so some warp is working on it, whatever the order in which blocks begin.
//!
//! An element of the solution is posted as the complement of its bits, in memory that was zero: a nonzero word is an
//! element that has arrived, and no fence is needed. Each element is computed by the same operations in the same order
//! in every run.

use super::elements::{c_type, division, element_functions};
use rtcg_codegen::dialect::{CUDA_INTER_BLOCK, CUDA_PRELUDE};
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Words of 64 bits at the beginning of what warps share: the next ticket, and what was found.
pub(crate) const STATE_WORDS: usize = 8;

/// Words of the state behind the ticket. Rows are numbered from the last one on, from 1, so that 0 is none and the
/// largest number is that of the first row.
pub(crate) const SINGULAR_ROW: usize = 1;
/// As [`SINGULAR_ROW`], of a row whose columns do not ascend.
pub(crate) const UNSORTED_ROW: usize = 2;
/// The largest level or colour.
pub(crate) const MOST_LEVELS: usize = 3;

/// Functions of elements `T`, those by which blocks tell each other of elements, and tickets.
pub(crate) fn inter_block_prelude(value: DType, index: DType) -> String {
    let mut text = format!("{CUDA_PRELUDE}{CUDA_INTER_BLOCK}");
    text.push_str(&element_functions("T", value));
    text.push_str(&division("T", value));
    let _ = writeln!(text, "typedef {} I;\nenum {{ STATE_WORDS = {STATE_WORDS} }};", c_type(index));
    let (word, real) =
        (if value == DType::F32 { "unsigned" } else { "unsigned long long" }, value.real_part().c_type());
    let _ = writeln!(text, "typedef {word} W;");
    text.push_str(
        &match value {
            DType::C64 => PAIR_IN_ONE_WORD.to_owned() + PAIRS,
            DType::C128 => TWO_WORDS.to_owned() + PAIRS,
            _ => ONE_WORD.to_owned(),
        }
        .replace("REAL", real),
    );
    text.push_str(TICKETS);
    text
}

const TICKETS: &str = "\
RT_FUNCTION unsigned long long draw_ticket(RT_GLOBAL unsigned long long *state)
{
  unsigned long long ticket = 0;
  if (RT_LOCAL_ID % 32 == 0) ticket = RT_ATOMIC_ADD(state, 1ull);
  return RT_SHUFFLE(ticket, 0);
}
";

const ONE_WORD: &str = "\
RT_FUNCTION bool T_is_zero(T a) { return a == 0; }
RT_FUNCTION T T_broadcast(T a, unsigned lane) { return RT_SHUFFLE(a, lane); }
RT_FUNCTION bool T_arrived(RT_GLOBAL const W *posted, unsigned long long i, T *value)
{
  const W bits = RT_LOAD_RELAXED(W, posted + i);
  *value = RT_OF_BITS_REAL(~bits);
  return bits != 0;
}
RT_FUNCTION void T_post(RT_GLOBAL W *posted, unsigned long long i, T value)
{
  const W bits = ~RT_BITS_REAL(value);
  RT_STORE_RELAXED(W, posted + i, bits ? bits : 1);
}
RT_FUNCTION bool T_square_root(T *value)
{
  const bool is_positive = *value > 0;
  *value = sqrt(*value);
  return is_positive;
}
";

const PAIRS: &str = "\
RT_FUNCTION bool T_is_zero(T a) { return a.x == 0 && a.y == 0; }
RT_FUNCTION T T_broadcast(T a, unsigned lane) { return RT_PAIR_REAL(RT_SHUFFLE(a.x, lane), RT_SHUFFLE(a.y, lane)); }
RT_FUNCTION bool T_square_root(T *value)
{
  const bool is_positive = value->x > 0;
  *value = RT_PAIR_REAL(sqrt(value->x), 0);
  return is_positive;
}
";

const PAIR_IN_ONE_WORD: &str = "\
RT_FUNCTION bool T_arrived(RT_GLOBAL const W *posted, unsigned long long i, T *value)
{
  const W bits = RT_LOAD_RELAXED(W, posted + i);
  *value = RT_PAIR_float(RT_OF_BITS_float(~(unsigned)bits), RT_OF_BITS_float(~(unsigned)(bits >> 32)));
  return bits != 0;
}
RT_FUNCTION void T_post(RT_GLOBAL W *posted, unsigned long long i, T value)
{
  const W bits = ~((W)RT_BITS_float(value.y) << 32 | RT_BITS_float(value.x));
  RT_STORE_RELAXED(W, posted + i, bits ? bits : 1);
}
";

const TWO_WORDS: &str = "\
RT_FUNCTION bool T_arrived(RT_GLOBAL const W *posted, unsigned long long i, T *value)
{
  const W x = RT_LOAD_RELAXED(W, posted + 2 * i), y = RT_LOAD_RELAXED(W, posted + 2 * i + 1);
  *value = RT_PAIR_double(RT_OF_BITS_double(~x), RT_OF_BITS_double(~y));
  return x != 0 && y != 0;
}
RT_FUNCTION void T_post(RT_GLOBAL W *posted, unsigned long long i, T value)
{
  const W x = ~RT_BITS_double(value.x), y = ~RT_BITS_double(value.y);
  RT_STORE_RELAXED(W, posted + 2 * i, x ? x : 1);
  RT_STORE_RELAXED(W, posted + 2 * i + 1, y ? y : 1);
}
";

/// What is found of each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RowNumber {
    /// One more than the largest level of the rows that it needs, which stand before it, or behind it.
    Level { is_lower: bool },
    /// The least number from 1 that no neighbour before it has (greedy colouring).
    Colour,
}

/// What is looked for on the diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum DiagonalCheck {
    /// Nothing.
    Anything,
    /// An element.
    Stored,
    /// An element that is not zero.
    NonZero,
}

/// The kernel that numbers rows: a thread has a row. Parameters: the numbers (int32, zero before), for each row where its
/// elements on the other side of the diagonal begin, the state, `data`, `indices`, `indptr`, rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RowNumberSpec {
    pub(crate) value: DType,
    /// `I32` or `I64`.
    pub(crate) index: DType,
    pub(crate) number: RowNumber,
    pub(crate) diagonal: DiagonalCheck,
}

impl KernelSpec for RowNumberSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.number {
            RowNumber::Level { .. } => "csr_levels",
            RowNumber::Colour => "csr_colours",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = inter_block_prelude(self.value, self.index);
        let is_lower = self.number != RowNumber::Level { is_lower: false };
        let (is_colour, checks) = (self.number == RowNumber::Colour, self.diagonal != DiagonalCheck::Anything);
        let _ = writeln!(
            text,
            "enum {{ IS_LOWER = {}, IS_COLOUR = {}, NEEDS_DIAGONAL = {}, NEEDS_NUMBER = {}, UNROLL = 4,\n  \
             SINGULAR_ROW = {SINGULAR_ROW}, UNSORTED_ROW = {UNSORTED_ROW}, MOST_LEVELS = {MOST_LEVELS} }};",
            u8::from(is_lower),
            u8::from(is_colour),
            u8::from(checks),
            u8::from(self.diagonal == DiagonalCheck::NonZero),
        );
        text.push_str(&ROW_NUMBERS.replace("KERNEL_NAME", &self.kernel_name()));
        text
    }
}

const ROW_NUMBERS: &str = "\
// The least number from 1 on that no row of these elements has; all of them are known.
RT_FUNCTION int least_unused(RT_GLOBAL const int *numbers, RT_GLOBAL const I *indices, I first, I end)
{
  for (int base = 0;; base += 64) {
    unsigned long long used = 0;
    for (I k = first; k < end; k++) {
      const int number = RT_LOAD_RELAXED(int, numbers + indices[k]) - 1 - base;
      if (number >= 0 && number < 64) used |= 1ull << number;
    }
    for (int n = 0; n < 64; n++)
      if (!(used >> n & 1)) return base + n + 1;
  }
}
RT_KERNEL KERNEL_NAME(RT_GLOBAL int *numbers, RT_GLOBAL I *split, RT_GLOBAL unsigned long long *state, RT_GLOBAL const T *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, unsigned long long rows)
{
  for (;;) {
    const unsigned long long first_item = draw_ticket(state) * 32;
    if (first_item >= rows) return;
    const unsigned long long item = first_item + RT_LOCAL_ID % 32;
    const long long row = IS_LOWER ? item : rows - 1 - item;
    bool done = item >= rows;
    I first = 0, k = 0, end = 0;
    if (!done) {
      first = indptr[row];
      end = indptr[row + 1];
      I at = first;
      long long before = -1;
      bool ascends = true;
      for (I p = first; p < end; p++) {
        const long long column = indices[p];
        ascends = ascends && column > before;
        before = column;
        if (IS_LOWER ? column < row : column <= row) at = p + 1;
      }
      split[row] = at;
      if (NEEDS_DIAGONAL) {
        const bool is_inside = IS_LOWER ? at < end : at > first;
        const I place = IS_LOWER ? at : at - 1;
        if (!is_inside || indices[place] != row || (NEEDS_NUMBER && T_is_zero(data[place])))
          RT_ATOMIC_MAX(state + SINGULAR_ROW, rows - row);
      }
      if (IS_LOWER) end = at; else first = at;
      k = first;
      // A row that is out of order may name rows with later tickets, which must not be waited for.
      if (!ascends) { RT_ATOMIC_MAX(state + UNSORTED_ROW, rows - row); k = end; }
    }
    int number = 0;
    for (;;) {
      if (k < end) {
        int known[UNROLL];
        bool ready = true;
        RT_UNROLL for (int u = 0; u < UNROLL; u++) {
          known[u] = k + u < end ? RT_LOAD_RELAXED(int, numbers + indices[k + u]) : -1;
          ready = ready && known[u] != 0;
        }
        if (ready) {
          RT_UNROLL for (int u = 0; u < UNROLL; u++)
            if (known[u] > number) number = known[u];
          k += UNROLL;
        }
      }
      if (!done && k >= end) {
        number++;
        if (IS_COLOUR) number = least_unused(numbers, indices, first, end);
        RT_STORE_RELAXED(int, numbers + row, number);
        if (number > (long long)RT_LOAD_RELAXED(unsigned long long, state + MOST_LEVELS))
          RT_ATOMIC_MAX(state + MOST_LEVELS, (unsigned long long)number);
        done = true;
      }
      // Lanes leave together: one of them may have what another one waits for.
      if (RT_ALL(done)) break;
    }
  }
}
";

/// The kernel that solves, with one right side, whose rows groups of lanes have, or with several, each element of which a
/// lane has. Parameters: the solution, the state with room for posted elements behind it (zero before), `data`,
/// `indices`, `indptr`, where elements on the other side of the diagonal begin, the order of rows, the right side, which
/// of its rows a row has and where its result goes (or null), rows, columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TriangularSpec {
    pub(crate) value: DType,
    /// `I32` or `I64`.
    pub(crate) index: DType,
    pub(crate) is_lower: bool,
    pub(crate) is_unit: bool,
    /// Lanes of a row: a power of two up to 32; 1 with several right sides.
    pub(crate) lanes: u8,
    pub(crate) has_columns: bool,
}

impl KernelSpec for TriangularSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "csr_triangular_solve".into()
    }

    fn source(&self) -> String {
        let mut text = inter_block_prelude(self.value, self.index);
        let [is_lower, is_unit, has_columns] = [self.is_lower, self.is_unit, self.has_columns].map(u8::from);
        let _ = writeln!(
            text,
            "enum {{ LANES = {}, UNROLL = 4, IS_LOWER = {is_lower}, IS_UNIT = {is_unit}, HAS_COLUMNS = {has_columns} }};",
            self.lanes
        );
        text.push_str(SOLVE);
        text
    }
}

const SOLVE: &str = "\
RT_KERNEL csr_triangular_solve(RT_GLOBAL T *y, RT_GLOBAL unsigned long long *state, RT_GLOBAL const T *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const I *split, RT_GLOBAL const long long *order, RT_GLOBAL const T *b, RT_GLOBAL const long long *source, RT_GLOBAL const long long *target, unsigned long long rows, unsigned long long all_columns)
{
  RT_GLOBAL W *posted = (RT_GLOBAL W *)(state + STATE_WORDS);
  const unsigned group = RT_LOCAL_ID % 32 / LANES, lane = RT_LOCAL_ID % LANES;
  const unsigned long long columns = HAS_COLUMNS ? all_columns : 1, items = rows * columns;
  for (;;) {
    const unsigned long long first_item = draw_ticket(state) * (32 / LANES), item = first_item + group;
    if (first_item >= items) return;
    bool done = item >= items;
    long long row = 0;
    unsigned long long column = 0;
    I k = 0, end = 0;
    T right = T_zero(), pivot = T_zero(), sum = T_zero();
    if (!done) {
      const unsigned long long place = HAS_COLUMNS ? item / columns : item;
      column = item - place * columns;
      row = order[place];
      const I at = split[row];
      k = (IS_LOWER ? indptr[row] : at) + lane;
      end = IS_LOWER ? at : indptr[row + 1];
      if (!IS_UNIT) pivot = data[IS_LOWER ? at : at - 1];
      right = b[(source ? source[row] : row) * columns + column];
    }
    I needed[UNROLL];
    T values[UNROLL];
#define FETCH() \\
    RT_UNROLL for (int u = 0; u < UNROLL; u++) \\
      if (k + u * LANES < end) { needed[u] = indices[k + u * LANES]; values[u] = data[k + u * LANES]; }
    FETCH()
    for (;;) {
      if (k < end) {
        T x[UNROLL];
        bool ready = true;
        RT_UNROLL for (int u = 0; u < UNROLL; u++)
          if (k + u * LANES < end) ready = T_arrived(posted, needed[u] * columns + column, &x[u]) && ready;
        if (ready) {
          RT_UNROLL for (int u = 0; u < UNROLL; u++)
            if (k + u * LANES < end) sum = T_mul_add(values[u], x[u], sum);
          k += UNROLL * LANES;
          FETCH()
        }
      }
      const unsigned all = LANES == 32 ? 0xffffffffu : (1u << LANES % 32) - 1;
      const unsigned ended = LANES == 1 ? k >= end : RT_BALLOT(k >= end) >> (group * LANES) & all;
      const bool is_due = !done && ended == all;
      if (LANES == 1 || RT_ANY(is_due)) {
        T total = sum;
        for (unsigned n = LANES / 2; n > 0; n /= 2) total = T_add(total, T_shuffle_down(total, n));
        if (is_due && lane == 0) {
          const T difference = T_sub(right, total), value = IS_UNIT ? difference : T_div(difference, pivot);
          T_post(posted, row * columns + column, value);
          y[(target ? target[row] : row) * columns + column] = value;
        }
        done = done || is_due;
      }
      // Lanes leave together: one of them may have what another one waits for.
      if (RT_ALL(done)) break;
    }
  }
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_posted_in_words_that_are_written_at_once() {
        let of = |dtype| inter_block_prelude(dtype, DType::I32);
        assert!(of(DType::F32).contains("typedef unsigned W;") && of(DType::F32).contains("RT_BITS_float(value)"));
        assert!(of(DType::F64).contains("RT_OF_BITS_double(~bits)"));
        assert!(of(DType::C64).contains("(unsigned)(bits >> 32)"));
        assert!(of(DType::C128).contains("posted + 2 * i + 1") && !of(DType::C128).contains("REAL"));
    }
}
