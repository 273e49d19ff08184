//! Products of a CSR matrix and a vector: a group of adjacent lanes handles a row.
//!
//! Each lane adds up every n-th product of the row, and the sums are added in a tree, so the result depends only on the
//! number of lanes. A lane requests several elements before it waits for the first, because the number of loads in
//! flight limits the speed of short rows. Parameters: `y`, `data`, `indices`, `indptr`, `x`, the number of rows; with a
//! dot product also where each block puts its part of `conj(x) . y`, and the state of a solver, because the kernel does
//! nothing once the solver has stopped.

use super::elements::{block_sum, c_type, conversion, element_functions, sum_dtype};
use super::{STOP_FLAG, THREADS};
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// What is done with a row's product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SpmvEpilogue {
    /// It is stored.
    Store,
    /// It is added to what is there.
    Accumulate,
    /// It is stored, and each block adds up `conj(x) . y` of its rows: the first kernel of conjugate gradients.
    StoreAndDot,
}

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CsrSpmvSpec {
    /// The dtype of stored elements.
    pub(crate) value: DType,
    /// The dtype of the vectors, in which is computed.
    pub(crate) vector: DType,
    /// `I32` or `I64`.
    pub(crate) index: DType,
    /// Lanes of a row: a power of two up to 32.
    pub(crate) lanes: u8,
    /// Elements that a lane asks for together.
    pub(crate) ahead: u8,
    pub(crate) epilogue: SpmvEpilogue,
}

impl KernelSpec for CsrSpmvSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.epilogue {
            SpmvEpilogue::Store => "csr_spmv",
            SpmvEpilogue::Accumulate => "csr_spmv_accumulate",
            SpmvEpilogue::StoreAndDot => "csr_spmv_dot",
        }
        .into()
    }

    fn source(&self) -> String {
        let dot = self.epilogue == SpmvEpilogue::StoreAndDot;
        let mut text = CUDA_PRELUDE.to_owned();
        text.push_str(&element_functions("T", self.vector));
        let _ = writeln!(text, "typedef {} V;\ntypedef {} I;", c_type(self.value), c_type(self.index));
        text.push_str(&conversion(("T", self.vector), ("V", self.value)));
        let rows = THREADS / u32::from(self.lanes);
        let _ = writeln!(text, "enum {{ LANES = {}, ROWS = {rows}, AHEAD = {} }};", self.lanes, self.ahead);
        if dot {
            let sum = sum_dtype(self.vector);
            text.push_str(&element_functions("D", sum));
            text.push_str(&conversion(("D", sum), ("T", self.vector)));
            text.push_str(&block_sum("D", THREADS));
        }
        let more = if dot { ", RT_GLOBAL D *partials, RT_GLOBAL const double *state" } else { "" };
        let _ = write!(
            text,
            "RT_KERNEL {}(RT_GLOBAL T *y, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, \
             RT_GLOBAL const I *indptr, RT_GLOBAL const T *x, unsigned long long rows{more})\n{{\n",
            self.kernel_name()
        );
        if dot {
            let _ = write!(text, "  if (state[{STOP_FLAG}] != 0) return;\n  D dot = D_zero();\n");
        }
        // Lanes that gather one after the other gain nothing by unrolling, and each branch may part them.
        let unroll = if self.lanes == 1 { "RT_NO_UNROLL " } else { "" };
        let products = if self.ahead > 1 { PRODUCTS_AHEAD } else { PRODUCTS };
        let products = LONG_ROW.to_owned() + products;
        text.push_str(&ROW_LOOP.replace("PRODUCTS\n", &products.replace("RT_UNROLL_ROW ", unroll)));
        text.push_str(match self.epilogue {
            SpmvEpilogue::Store => "    if (lane == 0 && row < rows) y[row] = sum;\n  }\n",
            SpmvEpilogue::Accumulate => "    if (lane == 0 && row < rows) y[row] = T_add(y[row], sum);\n  }\n",
            SpmvEpilogue::StoreAndDot => {
                "    if (lane == 0 && row < rows) {\n\
                 \x20     y[row] = sum;\n\
                 \x20     dot = D_mul_add(D_conj(D_from_T(x[row])), D_from_T(sum), dot);\n\
                 \x20   }\n  }\n\
                 \x20 dot = D_block_sum(dot);\n\
                 \x20 if (RT_LOCAL_ID == 0) partials[RT_GROUP_ID] = dot;\n"
            }
        });
        text.push_str("}\n");
        text
    }
}

const ROW_LOOP: &str = "\
  const unsigned lane = RT_LOCAL_ID % LANES;
  const unsigned long long step = (unsigned long long)RT_GROUP_COUNT * ROWS;
  // A block's threads make as many turns as each other, for lanes exchange values.
  for (unsigned long long first = (unsigned long long)RT_GROUP_ID * ROWS; first < rows; first += step) {
    const unsigned long long row = first + RT_LOCAL_ID / LANES;
    T sum = T_zero();
    if (row < rows) {
      const I end = indptr[row + 1];
PRODUCTS
    }
    for (unsigned n = LANES / 2; n > 0; n /= 2) sum = T_add(sum, T_shuffle_down(sum, n));
";

/// Of a row that is long for its lanes, all but the end: products are added by levels, as dense sums are, so that rounding
/// errors hardly grow with the length.
const LONG_ROW: &str = "\
      I k = indptr[row] + lane;
      if (end - k > LANES * 256) {
        T parts = T_zero();
        for (unsigned count = 1; end - k > LANES * 256; count++) {
          T part = T_zero();
          RT_NO_UNROLL for (int n = 0; n < 256; n++, k += LANES) part = T_mul_add(T_from_V(data[k]), x[indices[k]], part);
          parts = T_add(parts, part);
          if (count % 128 == 0) { sum = T_add(sum, parts); parts = T_zero(); }
        }
        sum = T_add(sum, parts);
      }
";

const PRODUCTS: &str = "\
      RT_UNROLL_ROW for (; k < end; k += LANES) sum = T_mul_add(T_from_V(data[k]), x[indices[k]], sum);
";

const PRODUCTS_AHEAD: &str = "\
      for (; k < end; k += LANES * AHEAD) {
        I columns[AHEAD];
        V values[AHEAD];
        RT_UNROLL for (int n = 0; n < AHEAD; n++) {
          columns[n] = -1;
          if (end - k > n * LANES) { columns[n] = indices[k + n * LANES]; values[n] = data[k + n * LANES]; }
        }
        RT_UNROLL for (int n = 0; n < AHEAD; n++)
          if (columns[n] >= 0) sum = T_mul_add(T_from_V(values[n]), x[columns[n]], sum);
      }
";
