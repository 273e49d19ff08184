//! Matrix products of any dtype and strides: tiles of both operands are loaded into shared memory, and each thread
//! computes a small square of the result. For devices before compute capability 8.0, and for SIMD CPUs, whose vector
//! elements act as threads.
//!
//! Parameters: the result (contiguous), `a`, `b`, then `m`, `n`, `k`, the byte strides of `a` (row, column) and `b`, the
//! number of batches, and the byte offsets of each batch's operands.

use super::super::c_types::{compute_type, storage_type};
use super::MATMUL_KERNEL_NAME;
use super::epilogue::{MatmulEpilogue, MatmulKernel, finish_source};
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// A kernel, described by everything that determines its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SimpleMatmul {
    /// The dtype of operands and result.
    pub dtype: DType,
    /// Rows, and columns, of the result that a thread computes: a power of two, at least 2.
    pub part: u8,
    /// Steps along the common axis that are loaded into shared memory at once: a power of two, at least 8.
    pub depth: u8,
    /// Unroll factor along the common axis: all steps if compile time is small compared with run time, otherwise 1.
    pub unroll: u8,
}

/// Threads along each side of a block.
pub const MATMUL_BLOCK_SIDE: u32 = 16;

impl SimpleMatmul {
    /// Rows, and columns, of the result that a block computes.
    pub fn tile_side(&self) -> usize {
        usize::from(self.part) * MATMUL_BLOCK_SIDE as usize
    }
}

impl KernelSpec for SimpleMatmul {
    fn kernel_name(&self) -> Cow<'static, str> {
        MATMUL_KERNEL_NAME.into()
    }

    fn source(&self) -> String {
        self.source_with(None)
    }
}

impl MatmulKernel for SimpleMatmul {
    fn source_with(&self, epilogue: Option<&MatmulEpilogue>) -> String {
        let plain = (&*storage_type(self.dtype), "rt_cast<O>(sum)", true);
        let mut text = finish_source(epilogue, self.dtype, &compute_type(self.dtype), plain);
        // Booleans are combined as NumPy does it: "and" for the product, "or" for the sum.
        let accumulate =
            if self.dtype == DType::Bool { "acc[r][c] | (x[r] & y[c])" } else { "acc[r][c] + x[r] * y[c]" };
        let _ = writeln!(text, "typedef {} E; typedef {} T;", storage_type(self.dtype), compute_type(self.dtype));
        let _ = writeln!(
            text,
            "enum {{ PART = {}, SIDE = 16 * PART, PITCH = SIDE + 1, DEPTH = {} }};",
            self.part, self.depth
        );
        text.push_str(
            &KERNEL_BODY_SOURCE.replace("ACCUMULATE", accumulate).replace("UNROLL", &self.unroll.to_string()),
        );
        text
    }
}

const KERNEL_BODY_SOURCE: &str = "\
extern \"C\" __global__ void array_matmul(O *out, const char *a, const char *b, unsigned long long m, unsigned long long n, unsigned long long k, long long a_row, long long a_column, long long b_row, long long b_column, unsigned long long batches, const long long *offsets RT_EPILOGUE_PARAMETER)
{
  __shared__ alignas(16) unsigned char raw_a[DEPTH * PITCH * sizeof(T)];
  __shared__ alignas(16) unsigned char raw_b[DEPTH * PITCH * sizeof(T)];
  T *tile_a = (T *)raw_a, *tile_b = (T *)raw_b;
  const unsigned int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
  const unsigned long long row0 = blockIdx.y * (unsigned long long)SIDE, column0 = blockIdx.x * (unsigned long long)SIDE;
  for (unsigned long long batch = blockIdx.z; batch < batches; batch += gridDim.z) {
    const char *a0 = a + (offsets ? offsets[2 * batch] : 0), *b0 = b + (offsets ? offsets[2 * batch + 1] : 0);
    T acc[PART][PART];
    for (int r = 0; r < PART; r++) for (int c = 0; c < PART; c++) acc[r][c] = T(0);
    for (unsigned long long k0 = 0; k0 < k; k0 += DEPTH) {
      #pragma unroll 1
      for (int part = 0; part < SIDE * DEPTH / 256; part++) {
        // Adjacent threads read along the axis whose elements are adjacent.
        const unsigned int e = t + part * 256;
        const unsigned int ar = a_column <= a_row ? e / DEPTH : e % SIDE, ak = a_column <= a_row ? e % DEPTH : e / SIDE;
        tile_a[ak * PITCH + ar] = row0 + ar < m && k0 + ak < k ? rt_cast<T>(rt_load(*(const E *)(a0 + (long long)(row0 + ar) * a_row + (long long)(k0 + ak) * a_column))) : T(0);
        const unsigned int bc = b_column <= b_row ? e % SIDE : e / DEPTH, bk = b_column <= b_row ? e / SIDE : e % DEPTH;
        tile_b[bk * PITCH + bc] = column0 + bc < n && k0 + bk < k ? rt_cast<T>(rt_load(*(const E *)(b0 + (long long)(k0 + bk) * b_row + (long long)(column0 + bc) * b_column))) : T(0);
      }
      __syncthreads();
      #pragma unroll UNROLL
      for (int j = 0; j < DEPTH; j++) {
        T x[PART], y[PART];
        #pragma unroll
        for (int r = 0; r < PART; r++) x[r] = tile_a[j * PITCH + ty + 16 * r];
        #pragma unroll
        for (int c = 0; c < PART; c++) y[c] = tile_b[j * PITCH + tx + 16 * c];
        #pragma unroll
        for (int r = 0; r < PART; r++)
          #pragma unroll
          for (int c = 0; c < PART; c++) acc[r][c] = T(ACCUMULATE);
      }
      __syncthreads();
    }
    #pragma unroll
    for (int r = 0; r < PART; r++)
      #pragma unroll
      for (int c = 0; c < PART; c++) {
        const unsigned long long row = row0 + ty + 16 * r, column = column0 + tx + 16 * c;
        if (row < m && column < n) out[(batch * m + row) * n + column] = RT_FINISH(acc[r][c], row, column, batch);
      }
  }
}
";
