//! Scans along the middle axis of three-axis arrays, (outer, n, inner), contiguous in C order.
//!
//! Long rows are cut into tiles, which are scanned in one pass (`look_back.rs`); short rows take one thread each.
//! Adjacent elements are combined in order, so the operation need not be commutative.

use super::c_types::{compute_type, helper_preamble, storage_type};
use crate::block_reduce::BLOCK_REDUCE_SOURCE;
use crate::look_back::{LOOK_BACK_SOURCE, ScanTiling};
use crate::scan_pipeline::{SCAN_PIPELINE_SOURCE, ScanPipeline};
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// The operation that combines adjacent elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanOp {
    /// Cumulative sums.
    Sum,
    /// Cumulative products.
    Product,
    /// The largest element so far.
    Maximum,
    /// The smallest element so far.
    Minimum,
}

/// The variant of a scan kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanStage {
    /// One thread per row.
    Rows,
    /// One block per tile. Parameters after the lengths: the tiles per row, and the address of the state, of which
    /// `scan_state_bytes` bytes must be zero. With a pipeline blocks are persistent, and rows begin at multiples of 16
    /// bytes.
    Tiles(ScanTiling, Option<ScanPipeline>),
}

/// A kernel, described by everything that determines its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScanSpec {
    /// The operation.
    pub op: ScanOp,
    /// The dtype of the input.
    pub x: DType,
    /// The dtype of the output and the computation.
    pub out: DType,
    /// The variant.
    pub stage: ScanStage,
}

impl ScanSpec {
    /// Size in bytes of an item while it is combined.
    pub fn item_bytes(&self) -> usize {
        match self.out {
            DType::F16 | DType::BF16 => 4,
            other => other.itemsize(),
        }
    }
}

impl KernelSpec for ScanSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.stage {
            ScanStage::Rows => "array_scan_rows",
            ScanStage::Tiles(..) => "array_scan_tiles",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = helper_preamble([self.x, self.out].into_iter(), true);
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
            x = storage_type(self.x),
            out = storage_type(self.out),
            t = compute_type(self.out),
        );
        match self.stage {
            ScanStage::Rows => text.push_str(SCAN_ROWS_SOURCE),
            ScanStage::Tiles(shape, pipeline) => {
                text.push_str(BLOCK_REDUCE_SOURCE);
                text.push_str(LOOK_BACK_SOURCE);
                let ScanTiling { threads, packs_per_thread, pack_size, rolled } = shape;
                let _ = write!(
                    text,
                    "enum {{ THREADS = {threads}, GROUPS = {packs_per_thread}, LANES = {pack_size}, UNROLL = {unroll}, TILE = {tile} }};\n\
                     typedef rtcg::tile_scan<T, {parameters}> scan_type;\n\
                     #define ROLLED {rolled}\n",
                    unroll = if rolled { 1 } else { packs_per_thread },
                    tile = shape.tile_items(),
                    parameters = shape.template_arguments(),
                    rolled = i32::from(rolled),
                );
                text.push_str(SCAN_TILE_SOURCE);
                let Some(pipeline) = pipeline else {
                    text.push_str(SCAN_TILES_KERNEL_SOURCE);
                    return text;
                };
                text.push_str(SCAN_PIPELINE_SOURCE);
                let _ = writeln!(
                    text,
                    "typedef {} pipeline_type;\n#define ALL_THREADS {}",
                    pipeline.type_name(shape, "T"),
                    pipeline.threads_per_block(shape)
                );
                text.push_str(PERSISTENT_SCAN_SOURCE);
            }
        }
        text
    }
}

const SCAN_ROWS_SOURCE: &str = "\
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

/// Where a tile lies, and its elements, read from `packs` where it is whole.
const SCAN_TILE_SOURCE: &str = "\
struct tile_place
{
  unsigned int first;
  unsigned long long start, base;
  unsigned int count;
  __device__ __forceinline__ tile_place(unsigned int tile, unsigned long long n, unsigned long long inner, unsigned long long tiles)
  {
    // A grid has fewer than 2^31 tiles, so there are fewer rows.
    const unsigned int row = tile / (unsigned int)tiles, columns = (unsigned int)inner;
    first = row * (unsigned int)tiles;
    start = (unsigned long long)(row / columns) * n * inner + row % columns;
    base = (unsigned long long)(tile - first) * TILE;
    count = n - base < TILE ? (unsigned int)(n - base) : TILE;
  }
  __device__ __forceinline__ bool is_whole() const { return LANES > 1 && count == TILE; }
};
__device__ __forceinline__ void read_tile(scan_type &scan, const tile_place &p, const X *packs, const X *x, unsigned long long inner)
{
  if (p.is_whole()) {
    rt_pack<X, LANES> pack[GROUPS];
    #pragma unroll UNROLL
    for (int g = 0; g < GROUPS; g++) pack[g] = ((const rt_pack<X, LANES> *)packs)[scan.place(g) / LANES];
    #pragma unroll UNROLL
    for (int g = 0; g < GROUPS; g++)
      #pragma unroll
      for (int v = 0; v < LANES; v++) scan.x.at(g * LANES + v) = get(pack[g].at[v]);
  } else {
    #pragma unroll UNROLL
    for (int g = 0; g < GROUPS; g++)
      #pragma unroll
      for (int v = 0; v < LANES; v++) {
        const unsigned int at = scan.place(g) + v;
        // What is behind the end influences nothing.
        scan.x.at(g * LANES + v) = at < p.count ? get(x[p.start + (p.base + at) * inner]) : T();
      }
  }
}
__device__ __forceinline__ void write_tile(scan_type &scan, const tile_place &p, bool after, O *out, unsigned long long inner)
{
  #pragma unroll UNROLL
  for (int g = 0; g < GROUPS; g++) {
    rt_pack<O, LANES> pack;
    const T left = scan.exclusive_prefix.at(g);
    T run = combine(left, scan.x.at(g * LANES));
    if (g == 0 && !after) run = scan.x.at(0);
    pack.at[0] = rt_cast<O>(run);
    #pragma unroll
    for (int v = 1; v < LANES; v++) pack.at[v] = rt_cast<O>(run = combine(run, scan.x.at(g * LANES + v)));
    const unsigned int at = scan.place(g);
    if (p.is_whole()) ((rt_pack<O, LANES> *)(out + p.start + p.base))[at / LANES] = pack;
    else {
      #pragma unroll
      for (int v = 0; v < LANES; v++) if (at + v < p.count) out[p.start + (p.base + at + v) * inner] = pack.at[v];
    }
  }
}
";

const SCAN_TILES_KERNEL_SOURCE: &str = "\
extern \"C\" __global__ void __launch_bounds__(THREADS, ROLLED ? 1 : 1024 / THREADS) array_scan_tiles(O *out, const X *x, unsigned long long outer, unsigned long long n, unsigned long long inner, unsigned long long tiles, unsigned char *state)
{
  __shared__ unsigned int ticket;
  unsigned int tile = blockIdx.x;
  if (tiles > 1) {
    if (threadIdx.x == 0) ticket = atomicAdd((unsigned int *)state, 1u);
    if (THREADS > 32) __syncthreads(); else __syncwarp();
    tile = ticket;
  }
  const tile_place place(tile, n, inner, tiles);
  const rtcg::tile_states<T, rtcg::flagged_values<T>::fits> states(state, gridDim.x);
  scan_type scan;
#if ROLLED
  __shared__ rtcg::uninitialized<T, TILE> items;
  __shared__ rtcg::uninitialized<T, TILE / LANES> exclusive_prefix;
  scan.x.all = &items; scan.exclusive_prefix.all = &exclusive_prefix;
#endif
  read_tile(scan, place, x + place.start + place.base, x, inner);
  const bool after = scan.scan([](const T &a, const T &b) { return combine(a, b); }, states, place.first, tile);
  write_tile(scan, place, after, out, inner);
}
";

const PERSISTENT_SCAN_SOURCE: &str = "\
extern \"C\" __global__ void __launch_bounds__(ALL_THREADS) array_scan_tiles(O *out, const X *x, unsigned long long outer, unsigned long long n, unsigned long long inner, unsigned long long tiles, unsigned char *state)
{
  auto place = [&](unsigned int tile) { return tile_place(tile, n, inner, tiles); };
  auto first_of = [&](unsigned int tile) { return place(tile).first; };
  auto fetch = [&](unsigned int tile, unsigned char *to, rtcg::signal *arrived) {
    const tile_place p = place(tile);
    if (!p.is_whole()) { rtcg::arrive(arrived); return; }
    rtcg::arrive_expecting(arrived, TILE * sizeof(X));
    rtcg::copy_bulk(to, x + p.start + p.base, TILE * sizeof(X), arrived);
  };
  auto fill = [&](scan_type &scan, unsigned int tile, const unsigned char *from) { read_tile(scan, place(tile), (const X *)from, x, inner); };
  auto emit = [&](scan_type &scan, unsigned int tile, bool after) { write_tile(scan, place(tile), after, out, inner); };
  auto op = [](const T &a, const T &b) { return combine(a, b); };
  pipeline_type::run(state, (unsigned int)(outer * inner * tiles), first_of, fetch, fill, op, emit);
}
";
