//! The product of packets and a vector: each block handles a packet, whose part of the vector is in shared memory.
//!
//! Parameters: `y`, `data`, `columns`, `lengths`, `slice_starts`, `base_rows`, `first_slices`, `x`.

use super::THREADS;
use super::elements::element_functions;
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Rows of a slice.
pub(crate) const SLICE_ROWS: usize = 32;

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PacketSpmvSpec {
    /// The dtype of elements and vectors.
    pub(crate) dtype: DType,
    /// Rows of a packet, at most.
    pub(crate) max_rows: u32,
}

impl KernelSpec for PacketSpmvSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "packet_spmv".into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        text.push_str(&element_functions("T", self.dtype));
        let _ = writeln!(text, "enum {{ MAX_ROWS = {}, THREADS = {THREADS}, SLICE = {SLICE_ROWS} }};", self.max_rows);
        text.push_str(SOURCE);
        text
    }
}

const SOURCE: &str = "\
RT_KERNEL packet_spmv(RT_GLOBAL T *y, RT_GLOBAL const T *data, RT_GLOBAL const unsigned short *columns, RT_GLOBAL const int *lengths, RT_GLOBAL const long long *slice_starts, RT_GLOBAL const int *base_rows, RT_GLOBAL const int *first_slices, RT_GLOBAL const T *x)
{
  RT_SHARED T local[MAX_ROWS];
  const int base = base_rows[RT_GROUP_ID], rows = base_rows[RT_GROUP_ID + 1] - base;
  for (int k = RT_LOCAL_ID; k < rows; k += THREADS) local[k] = x[base + k];
  RT_BARRIER();
  for (int row = RT_LOCAL_ID; row < rows; row += THREADS) {
    const long long start = slice_starts[first_slices[RT_GROUP_ID] + row / SLICE] + row % SLICE;
    T sum = T_zero();
    for (int k = 0; k < lengths[base + row]; k++) {
      const long long at = start + SLICE * (long long)k;
      sum = T_mul_add(data[at], local[columns[at]], sum);
    }
    y[base + row] = T_add(y[base + row], sum);
  }
}
";
