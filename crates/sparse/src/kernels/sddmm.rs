//! Sampled dense-dense products: each group of lanes handles an element of the sparse matrix, and each of its lanes
//! every n-th product; the lanes' sums are added in a tree.
//!
//! Parameters: the result, `data`, `indices`, `indptr` of the pattern, both matrices, rows, elements, the length of
//! sums, elements from one row and one column to the next of both matrices, then `alpha` and `beta` as pairs of
//! doubles.

use super::THREADS;
use super::elements::{c_type, conversion, element_functions};
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SddmmSpec {
    /// The dtype of stored elements of the pattern.
    pub(crate) value: DType,
    /// The dtype of the dense matrices and the result.
    pub(crate) vector: DType,
    /// `I32` or `I64`.
    pub(crate) index: DType,
    /// Lanes of an element: a power of two up to 32.
    pub(crate) lanes: u8,
    /// Products are scaled and those of the pattern added; else they are multiplied by the elements of the pattern.
    pub(crate) is_sum: bool,
}

impl KernelSpec for SddmmSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "csr_sampled_matmul".into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        text.push_str(&element_functions("T", self.vector));
        let _ = writeln!(text, "typedef {} V;\ntypedef {} I;", c_type(self.value), c_type(self.index));
        text.push_str(&conversion(("T", self.vector), ("V", self.value)));
        let _ = writeln!(text, "enum {{ THREADS = {THREADS}, LANES = {} }};", self.lanes);
        let scalar = |name: &str| match self.vector.is_complex() {
            true => format!("RT_PAIR_{}({name}_real, {name}_imag)", self.vector.real_part().c_type()),
            false => format!("(T){name}_real"),
        };
        let store = match self.is_sum {
            true => format!(
                "T_add(T_mul({}, sum), {})",
                scalar("alpha"),
                // What is scaled by 0 is not read, as in BLAS.
                format_args!(
                    "beta_real != 0 || beta_imag != 0 ? T_mul({}, T_from_V(data[k])) : T_zero()",
                    scalar("beta")
                )
            ),
            false => "T_mul(T_from_V(data[k]), sum)".to_owned(),
        };
        text.push_str(&SOURCE.replace("STORED", &store));
        text
    }
}

const SOURCE: &str = "\
RT_KERNEL csr_sampled_matmul(RT_GLOBAL T *result, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const T *x, RT_GLOBAL const T *y, long long rows, long long count, long long length, long long x_row, long long x_column, long long y_row, long long y_column, double alpha_real, double alpha_imag, double beta_real, double beta_imag)
{
  const unsigned lane = RT_LOCAL_ID % LANES;
  const long long step = (long long)RT_GROUP_COUNT * (THREADS / LANES);
  // A block's threads make as many turns as each other, for lanes exchange values.
  for (long long first = RT_GROUP_ID * (long long)(THREADS / LANES); first < count; first += step) {
    const long long k = first + RT_LOCAL_ID / LANES;
    T sum = T_zero();
    if (k < count) {
      // The last row that begins at or before the element.
      long long low = 0, high = rows;
      while (high - low > 1) {
        const long long middle = (low + high) / 2;
        if (indptr[middle] <= k) low = middle; else high = middle;
      }
      RT_GLOBAL const T *left = x + low * x_row, *right = y + indices[k] * y_column;
      for (long long n = lane; n < length; n += LANES) sum = T_mul_add(left[n * x_column], right[n * y_row], sum);
    }
    for (unsigned n = LANES / 2; n > 0; n /= 2) sum = T_add(sum, T_shuffle_down(sum, n));
    if (lane == 0 && k < count) result[k] = STORED;
  }
}
";
