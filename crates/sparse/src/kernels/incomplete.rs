//! Incomplete factorisations without fill-in, in place: each warp handles a row, and waits for the elements of other
//! rows that it needs.
//!
//! Rows are taken in the order of their levels, and elements are posted when they are final, as in `triangular.rs`.
//! Each lane handles elements of the row and searches other rows for their columns. Chow and Patel's fixed-point
//! iteration (2015) would need no order, but its factors depend on the number of sweeps. Parameters: the elements, the
//! state followed by room for posted elements (initially zero), `indices`, `indptr`, where elements from the diagonal
//! on begin, the order of rows, rows.

use super::triangular::{SINGULAR_ROW, inter_block_prelude};
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct IncompleteSpec {
    pub(crate) value: DType,
    /// `I32` or `I64`.
    pub(crate) index: DType,
    /// IC(0) of a lower triangle, else ILU(0).
    pub(crate) is_cholesky: bool,
}

impl KernelSpec for IncompleteSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        if self.is_cholesky { "csr_ic0" } else { "csr_ilu0" }.into()
    }

    fn source(&self) -> String {
        let mut text = inter_block_prelude(self.value, self.index);
        let is_cholesky = u8::from(self.is_cholesky);
        let _ = writeln!(text, "enum {{ IS_CHOLESKY = {is_cholesky}, SINGULAR_ROW = {SINGULAR_ROW} }};");
        text.push_str(&SOURCE.replace("KERNEL_NAME", &self.kernel_name()));
        text
    }
}

const SOURCE: &str = "\
// An element of another row, for which a lane waits.
RT_FUNCTION T T_await(RT_GLOBAL const W *posted, unsigned long long i)
{
  T value;
  while (!T_arrived(posted, i, &value)) {}
  return value;
}
// The place of a column between two places of a row, or -1.
RT_FUNCTION I find(RT_GLOBAL const I *indices, I low, I high, I column)
{
  const I end = high;
  while (low < high) {
    const I middle = low + (high - low) / 2;
    if (indices[middle] < column) low = middle + 1; else high = middle;
  }
  return low < end && indices[low] == column ? low : -1;
}
RT_KERNEL KERNEL_NAME(RT_GLOBAL T *data, RT_GLOBAL unsigned long long *state, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const I *split, RT_GLOBAL const long long *order, unsigned long long rows)
{
  RT_GLOBAL W *posted = (RT_GLOBAL W *)(state + STATE_WORDS);
  const unsigned lane = RT_LOCAL_ID % 32;
  for (;;) {
    const unsigned long long ticket = draw_ticket(state);
    if (ticket >= rows) return;
    const long long row = order[ticket];
    const I first = indptr[row], end = indptr[row + 1], diagonal = split[row];
    for (I k = first; k < diagonal; k++) {
      const I other = indices[k];
      const unsigned owner = (unsigned)(k - first) % 32;
      T factor = T_zero();
      for (I base = first; base < end; base += 32) {
        const I p = base + (I)lane;
        const bool is_square = IS_CHOLESKY && p == diagonal;
        I found = -1;
        T value = T_zero();
        if (p > k && p < end && !is_square) {
          const I column = indices[p], place = IS_CHOLESKY ? column : other;
          const I low = IS_CHOLESKY ? indptr[place] : split[place] + 1, high = IS_CHOLESKY ? split[place] : indptr[place + 1];
          found = find(indices, low, high, IS_CHOLESKY ? other : column);
          if (found >= 0) value = T_await(posted, found);
        }
        // The pivot arrives last.
        if (base == first) {
          if (lane == owner) {
            factor = T_div(data[k], T_await(posted, split[other]));
            data[k] = factor;
            if (IS_CHOLESKY) T_post(posted, k, factor);
          }
          factor = T_broadcast(factor, owner);
        }
        if (is_square) value = factor;
        if (found >= 0 || is_square) data[p] = T_sub(data[p], T_mul(factor, IS_CHOLESKY ? T_conj(value) : value));
      }
    }
    if (lane == (unsigned)(diagonal - first) % 32) {
      T pivot = data[diagonal];
      const bool is_good = IS_CHOLESKY ? T_square_root(&pivot) : !T_is_zero(pivot);
      if (IS_CHOLESKY) {
        data[diagonal] = pivot;
        T_post(posted, diagonal, pivot);
      }
      if (!is_good) RT_ATOMIC_MAX(state + SINGULAR_ROW, rows - row);
    }
    if (IS_CHOLESKY) continue;
    for (I p = first + lane; p < end; p += 32)
      if (p >= diagonal) T_post(posted, p, data[p]);
  }
}
";
