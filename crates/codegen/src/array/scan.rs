//! Kernels for running totals along the middle axis of arrays of three axes, (outer, n, inner),
//! contiguous in C order.
//!
//! Long rows are cut into tiles. `Tiles` writes the running totals inside each tile and the tiles' own
//! totals; those are scanned by the same kernel, and `Add` puts what came before each tile in front of
//! its elements. Every step combines neighbours in their order, so the operation need not commute.

use super::types::{computed, preamble, storage};
use crate::DType;
use std::fmt::Write;

/// What neighbours are combined with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ScanOp {
    Sum,
    Product,
    Maximum,
    Minimum,
}

/// Which part of the work a kernel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanStage {
    /// A thread for each row.
    Rows,
    /// A block for each tile.
    Tiles,
    /// The totals of earlier tiles are put before each tile's elements.
    Add,
}

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scan {
    /// What is computed.
    pub op: ScanOp,
    /// The dtype of the input.
    pub x: DType,
    /// The dtype of the output, in which is computed.
    pub out: DType,
    /// Which part of the work.
    pub stage: ScanStage,
}

/// Threads of a block.
pub const SCAN_THREADS: u32 = 256;
/// Neighbours that one thread combines.
const SCAN_ITEMS: usize = 8;
/// Elements of a tile.
pub const SCAN_TILE: usize = SCAN_THREADS as usize * SCAN_ITEMS;

impl Scan {
    /// The kernel's name.
    pub fn name(&self) -> &'static str {
        match self.stage {
            ScanStage::Rows => "array_scan_rows",
            ScanStage::Tiles => "array_scan_tiles",
            ScanStage::Add => "array_scan_add",
        }
    }

    /// The kernel as CUDA C++ source.
    pub fn source(&self) -> String {
        let mut text = preamble([self.x, self.out].into_iter(), true);
        let expression = match self.op {
            ScanOp::Sum if self.out == DType::Bool => "a || b",
            ScanOp::Product if self.out == DType::Bool => "a && b",
            ScanOp::Sum => "a + b",
            ScanOp::Product => "a * b",
            ScanOp::Maximum => "rt_max(a, b)",
            ScanOp::Minimum => "rt_min(a, b)",
        };
        let _ = write!(
            text,
            "typedef {x} X; typedef {out} O; typedef {t} T;\n\
             __device__ __forceinline__ T combine(T a, T b) {{ return T({expression}); }}\n\
             __device__ __forceinline__ T get(X x) {{ return rt_cast<T>(rt_load(x)); }}\n",
            x = storage(self.x),
            out = storage(self.out),
            t = computed(self.out),
        );
        text.push_str(match self.stage {
            ScanStage::Rows => ROWS,
            ScanStage::Tiles => TILES,
            ScanStage::Add => ADD,
        });
        text
    }
}

const ROWS: &str = "\
extern \"C\" __global__ void array_scan_rows(O *out, const X *x, unsigned long long outer, unsigned long long n, unsigned long long inner)
{
  const unsigned long long step = gridDim.x * (unsigned long long)blockDim.x;
  for (unsigned long long row = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; row < outer * inner; row += step) {
    unsigned long long at = row / inner * n * inner + row % inner;
    T acc = get(x[at]);
    out[at] = rt_cast<O>(acc);
    for (unsigned long long j = 1; j < n; j++) {
      at += inner;
      acc = combine(acc, get(x[at]));
      out[at] = rt_cast<O>(acc);
    }
  }
}
";

/// Each thread combines its neighbours; the threads' totals are scanned in shared memory in steps of
/// doubling distance (W. D. Hillis and G. L. Steele, \"Data parallel algorithms\", 1986).
const TILES: &str = "\
extern \"C\" __global__ void array_scan_tiles(O *out, const X *x, O *totals, unsigned long long outer, unsigned long long n, unsigned long long inner, unsigned long long tiles)
{
  __shared__ alignas(16) unsigned char raw[2 * 256 * sizeof(T)];
  T *now = (T *)raw, *next = now + 256;
  for (unsigned long long tile = blockIdx.x; tile < outer * inner * tiles; tile += gridDim.x) {
    const unsigned long long row = tile / tiles, part = tile % tiles;
    const unsigned long long start = row / inner * n * inner + row % inner;
    const unsigned long long first = part * 2048 + threadIdx.x * 8ull;
    const unsigned long long count = first >= n ? 0 : n - first < 8 ? n - first : 8;
    T items[8];
    T acc = T();
    #pragma unroll
    for (int k = 0; k < 8; k++) {
      if (k < count) {
        T item = get(x[start + (first + k) * inner]);
        acc = k == 0 ? item : combine(acc, item);
        items[k] = acc;
      }
    }
    // Threads past the end leave what they have alone; nobody after them needs it.
    now[threadIdx.x] = acc;
    __syncthreads();
    for (unsigned int distance = 1; distance < 256; distance *= 2) {
      next[threadIdx.x] = threadIdx.x >= distance && count > 0 ? combine(now[threadIdx.x - distance], now[threadIdx.x]) : now[threadIdx.x];
      __syncthreads();
      T *other = now; now = next; next = other;
    }
    if (count > 0) {
      const bool has_left = threadIdx.x > 0;
      const T left = has_left ? now[threadIdx.x - 1] : T();
      #pragma unroll
      for (int k = 0; k < 8; k++) {
        if (k < count) out[start + (first + k) * inner] = rt_cast<O>(has_left ? combine(left, items[k]) : items[k]);
      }
      if (first + count == n || threadIdx.x == 255) totals[row * tiles + part] = rt_cast<O>(now[threadIdx.x]);
    }
    __syncthreads();
  }
}
";

const ADD: &str = "\
extern \"C\" __global__ void array_scan_add(O *out, const O *totals, unsigned long long outer, unsigned long long n, unsigned long long inner, unsigned long long tiles)
{
  const unsigned long long step = gridDim.x * (unsigned long long)blockDim.x, size = outer * n * inner;
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < size; i += step) {
    const unsigned long long j = i / inner % n, row = i / inner / n * inner + i % inner;
    if (j >= 2048) out[i] = rt_cast<O>(combine(rt_cast<T>(rt_load(totals[row * tiles + j / 2048 - 1])), rt_cast<T>(rt_load(out[i]))));
  }
}
";
