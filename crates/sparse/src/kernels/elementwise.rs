//! Elementwise functions of two CSR matrices whose columns ascend strictly in each row: elements that are not stored
//! are 0, and results that are 0 are dropped.
//!
//! An element goes after the kept elements of its own matrix that precede it, and those that only the other matrix has.
//! Both numbers are sums of flags, and a binary search in the row of the other matrix finds which of its elements come
//! before. So every thread handles one element, however long rows are.
//!
//! Parameters of `union_flags`: flags of elements of both matrices, then the parts of both, rows, elements of both. Of
//! `union_fill`: `data`, `indices` and `indptr` of the result, the prefix sums of the flags, the parts of both, rows,
//! elements of both.

use super::THREADS;
use super::elements::{c_type, conversion, element_functions};
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// A function of two elements, for [`Csr::combine`](crate::Csr::combine).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ElementOp {
    /// `a + b`; for truth values, OR.
    Add,
    /// `a - b`.
    Subtract,
    /// `a * b`; for truth values, AND.
    Multiply,
    /// The larger one; NaN if either is NaN. Complex numbers are ordered as in NumPy.
    Maximum,
    /// The smaller one; NaN if either is NaN.
    Minimum,
    /// `a != b`.
    NotEqual,
    /// `a < b`.
    Less,
    /// `a > b`.
    Greater,
}

impl ElementOp {
    /// Whether results are truth values.
    pub(crate) fn is_comparison(self) -> bool {
        matches!(self, Self::NotEqual | Self::Less | Self::Greater)
    }

    fn expression(self, is_complex: bool) -> &'static str {
        match self {
            Self::Add => "T_add(a, b)",
            Self::Subtract => "T_sub(a, b)",
            Self::Multiply => "T_mul(a, b)",
            // Complex numbers are ordered by their real parts, then by their imaginary ones, as in NumPy.
            Self::Maximum if is_complex => "(AFTER(a, b) || a.x != a.x || a.y != a.y ? a : b)",
            Self::Minimum if is_complex => "(AFTER(b, a) || a.x != a.x || a.y != a.y ? a : b)",
            Self::Less if is_complex => "AFTER(b, a)",
            Self::Greater if is_complex => "AFTER(a, b)",
            Self::NotEqual if is_complex => "(a.x != b.x || a.y != b.y)",
            Self::Maximum => "(a > b || a != a ? a : b)",
            Self::Minimum => "(a < b || a != a ? a : b)",
            Self::NotEqual => "(a != b)",
            Self::Less => "(a < b)",
            Self::Greater => "(a > b)",
        }
    }
}

/// Which kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ElementwiseStage {
    /// Whether elements are kept.
    Flags,
    /// The result.
    Fill,
}

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ElementwiseSpec {
    /// The dtypes of stored elements of both matrices.
    pub(crate) values: [DType; 2],
    /// The dtype in which is computed.
    pub(crate) vector: DType,
    /// The indices of both matrices.
    pub(crate) index: DType,
    /// The indices of the result.
    pub(crate) result_index: DType,
    pub(crate) op: ElementOp,
    pub(crate) stage: ElementwiseStage,
}

impl KernelSpec for ElementwiseSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.stage {
            ElementwiseStage::Flags => "union_flags",
            ElementwiseStage::Fill => "union_fill",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        text.push_str(&element_functions("T", self.vector));
        for (name, value) in ["V", "W"].iter().zip(self.values) {
            let _ = writeln!(text, "typedef {} {name};", c_type(value));
            text.push_str(&conversion(("T", self.vector), (name, value)));
        }
        let result = if self.op.is_comparison() { DType::Bool } else { self.vector };
        let _ = writeln!(
            text,
            "typedef {} I;\ntypedef {} J;\ntypedef {} R;\nenum {{ THREADS = {THREADS} }};\n\
             #define AFTER(a, b) ((a).x > (b).x || ((a).x == (b).x && (a).y > (b).y))\n\
             RT_FUNCTION R function(T a, T b) {{ return {}; }}\n#define IS_NOT_ZERO(r) {}",
            c_type(self.index),
            c_type(self.result_index),
            c_type(result),
            self.op.expression(self.vector.is_complex()),
            if result.is_complex() { "((r).x != 0 || (r).y != 0)" } else { "((r) != 0)" }
        );
        text.push_str(SEARCHES);
        text.push_str(match self.stage {
            ElementwiseStage::Flags => FLAGS,
            ElementwiseStage::Fill => FILL,
        });
        text
    }
}

const SEARCHES: &str = "\
// The last row that begins at or before an element.
RT_FUNCTION long long row_of(RT_GLOBAL const I *indptr, long long rows, long long k)
{
  long long low = 0, high = rows;
  while (high - low > 1) {
    const long long middle = (low + high) / 2;
    if (indptr[middle] <= k) low = middle; else high = middle;
  }
  return low;
}
// The first element of a row whose column is not before this one.
RT_FUNCTION long long first_at(RT_GLOBAL const I *indices, long long low, long long high, I column)
{
  while (low < high) {
    const long long middle = (low + high) / 2;
    if (indices[middle] < column) low = middle + 1; else high = middle;
  }
  return low;
}
";

const FLAGS: &str = "\
RT_KERNEL union_flags(RT_GLOBAL unsigned char *flags, RT_GLOBAL const V *a_data, RT_GLOBAL const I *a_indices, RT_GLOBAL const I *a_indptr, RT_GLOBAL const W *b_data, RT_GLOBAL const I *b_indices, RT_GLOBAL const I *b_indptr, long long rows, long long a_count, long long b_count)
{
  const long long step = (long long)RT_GROUP_COUNT * THREADS;
  for (long long k = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID; k < a_count + b_count; k += step) {
    R result;
    if (k < a_count) {
      const long long row = row_of(a_indptr, rows, k), end = b_indptr[row + 1];
      const long long other = first_at(b_indices, b_indptr[row], end, a_indices[k]);
      const int is_there = other < end && b_indices[other] == a_indices[k];
      result = function(T_from_V(a_data[k]), is_there ? T_from_W(b_data[other]) : T_zero());
    } else {
      const long long q = k - a_count, row = row_of(b_indptr, rows, q), end = a_indptr[row + 1];
      const long long other = first_at(a_indices, a_indptr[row], end, b_indices[q]);
      if (other < end && a_indices[other] == b_indices[q]) { flags[k] = 0; continue; }
      result = function(T_zero(), T_from_W(b_data[q]));
    }
    flags[k] = IS_NOT_ZERO(result);
  }
}
";

const FILL: &str = "\
// Kept elements of `a` before `k`, and of `b` before `q`; the sums are those of `a`, then those of `b`.
#define BEFORE(k) ((k) > 0 ? sums[(k) - 1] : 0)
#define PLACE(k, q) (BEFORE(k) + BEFORE(a_count + (q)) - BEFORE(a_count))
RT_KERNEL union_fill(RT_GLOBAL R *data, RT_GLOBAL J *indices, RT_GLOBAL J *indptr, RT_GLOBAL const long long *sums, RT_GLOBAL const V *a_data, RT_GLOBAL const I *a_indices, RT_GLOBAL const I *a_indptr, RT_GLOBAL const W *b_data, RT_GLOBAL const I *b_indices, RT_GLOBAL const I *b_indptr, long long rows, long long a_count, long long b_count)
{
  const long long step = (long long)RT_GROUP_COUNT * THREADS, start = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID;
  for (long long row = start; row <= rows; row += step)
    indptr[row] = (J)PLACE((long long)a_indptr[row], (long long)b_indptr[row]);
  for (long long k = start; k < a_count + b_count; k += step) {
    if (sums[k] == BEFORE(k)) continue;
    if (k < a_count) {
      const I column = a_indices[k];
      const long long row = row_of(a_indptr, rows, k), end = b_indptr[row + 1];
      const long long other = first_at(b_indices, b_indptr[row], end, column);
      const int is_there = other < end && b_indices[other] == column;
      const long long place = PLACE(k, other);
      indices[place] = (J)column;
      data[place] = function(T_from_V(a_data[k]), is_there ? T_from_W(b_data[other]) : T_zero());
    } else {
      const long long q = k - a_count, row = row_of(b_indptr, rows, q);
      const long long other = first_at(a_indices, a_indptr[row], a_indptr[row + 1], b_indices[q]);
      const long long place = PLACE(other, q);
      indices[place] = (J)b_indices[q];
      data[place] = function(T_zero(), T_from_W(b_data[q]));
    }
  }
}
";
