//! Products of a DIA matrix and a vector, with one thread per row.
//!
//! Parameters: `y`, `data`, `offsets`, `x`, rows, stored columns, elements per stored diagonal, the number of
//! diagonals.

use super::elements::{c_type, conversion, element_functions, load_once};
use super::{THREADS, spmv::SpmvEpilogue};
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct DiaSpmvSpec {
    /// The dtype of stored elements.
    pub(crate) value: DType,
    /// The dtype of the vectors, in which is computed.
    pub(crate) vector: DType,
    /// `Store` or `Accumulate`.
    pub(crate) epilogue: SpmvEpilogue,
    /// Elements that a thread asks for together; more than one are read past the caches.
    pub(crate) ahead: u8,
}

impl KernelSpec for DiaSpmvSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "dia_spmv".into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        text.push_str(&element_functions("T", self.vector));
        let _ = writeln!(text, "typedef {} V;", c_type(self.value));
        text.push_str(&conversion(("T", self.vector), ("V", self.value)));
        text.push_str(&load_once("V", self.value));
        let start = if self.epilogue == SpmvEpilogue::Accumulate { "y[row]" } else { "T_zero()" };
        let _ = writeln!(text, "enum {{ THREADS = {THREADS}, AHEAD = {} }};\n#define START {start}", self.ahead);
        text.push_str(&SOURCE.replace("DIAGONALS\n", if self.ahead > 1 { DIAGONALS_AHEAD } else { DIAGONALS }));
        text
    }
}

const SOURCE: &str = "\
RT_KERNEL dia_spmv(RT_GLOBAL T *y, RT_GLOBAL const V *data, RT_GLOBAL const long long *offsets, RT_GLOBAL const T *x, unsigned long long rows, unsigned long long columns, unsigned long long width, int count)
{
  const unsigned long long step = (unsigned long long)RT_GROUP_COUNT * THREADS;
  for (unsigned long long row = (unsigned long long)RT_GROUP_ID * THREADS + RT_LOCAL_ID; row < rows; row += step) {
    T sum = START;
DIAGONALS
    y[row] = sum;
  }
}
";

const DIAGONALS: &str = "\
    for (int k = 0; k < count; k++) {
      // Negative columns are very large ones.
      const unsigned long long column = row + offsets[k];
      if (column < columns) sum = T_mul_add(T_from_V(data[k * width + column]), x[column], sum);
    }
";

const DIAGONALS_AHEAD: &str = "\
    for (int k = 0; k < count; k += AHEAD) {
      V values[AHEAD];
      T others[AHEAD];
      // Negative columns are very large ones.
      RT_UNROLL for (int n = 0; n < AHEAD; n++) {
        const unsigned long long column = k + n < count ? row + offsets[k + n] : columns;
        if (column < columns) { values[n] = V_load_once(data + (k + n) * width + column); others[n] = x[column]; }
      }
      RT_UNROLL for (int n = 0; n < AHEAD; n++)
        if (k + n < count && row + offsets[k + n] < columns) sum = T_mul_add(T_from_V(values[n]), others[n], sum);
    }
";
