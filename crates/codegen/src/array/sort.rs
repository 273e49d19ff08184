//! Kernels that sort the rows of an array (contiguous, rows of `n`), stably, NaN last.
//!
//! Tiles are sorted in shared memory; then runs are merged pairwise. In each merge an element finds its position by a
//! binary search that counts the elements of the other run which come before it: smaller ones and, for the right run,
//! equal ones. So equal elements keep their order.

use super::c_types::{compute_type, helper_preamble, storage_type};
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// The stage that a kernel computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SortStage {
    /// Sorts tiles of this many elements in shared memory, with as many threads; generates the indices if there are
    /// any.
    Tiles(u16),
    /// Merges adjacent runs.
    Merge,
    /// Finds the positions of values in a sorted row, before equal elements.
    SearchLeft,
    /// Finds the positions of values in a sorted row, after equal elements.
    SearchRight,
}

/// A kernel, described by everything that determines its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SortSpec {
    /// The dtype of the elements.
    pub dtype: DType,
    /// Whether indices are moved together with the elements.
    pub with_indices: bool,
    /// Whether to sort in descending order.
    pub descending: bool,
    /// The stage that the kernel computes.
    pub stage: SortStage,
}

impl KernelSpec for SortSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.stage {
            SortStage::Tiles(_) => "array_sort_tiles",
            SortStage::Merge => "array_sort_merge",
            SortStage::SearchLeft | SortStage::SearchRight => "array_search_sorted",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = helper_preamble([self.dtype].into_iter(), true);
        let _ = write!(
            text,
            "typedef {} E; typedef {} T;\n\
             #define WITH_INDICES {}\n\
             __device__ __forceinline__ bool before(T a, T b) {{ return {}; }}\n",
            storage_type(self.dtype),
            compute_type(self.dtype),
            i32::from(self.with_indices),
            // NaN is the largest of all; a descending sort begins with it.
            match (self.dtype.is_complex(), self.descending) {
                (true, false) => "rt_before(a, b)",
                (true, true) => "rt_before(b, a)",
                (false, false) => "a == a && (b != b || a < b)",
                (false, true) => "b == b && (a != a || b < a)",
            },
        );
        text.push_str(MERGE_RANK_SOURCE);
        if let SortStage::Tiles(items) = self.stage {
            let _ = writeln!(text, "enum {{ TILE = {items} }};");
        }
        text.push_str(match self.stage {
            SortStage::Tiles(_) => SORT_TILES_SOURCE,
            SortStage::Merge => MERGE_SOURCE,
            SortStage::SearchLeft => SEARCH_LEFT_SOURCE,
            SortStage::SearchRight => SEARCH_RIGHT_SOURCE,
        });
        text
    }
}

/// How many of the sorted `run` come before `value`; with `equal` also those equal to it.
const MERGE_RANK_SOURCE: &str = "\
__device__ __forceinline__ unsigned long long rank(const E *run, unsigned long long length, T value, bool equal)
{
  unsigned long long low = 0, high = length;
  while (low < high) {
    const unsigned long long middle = low + (high - low) / 2;
    const T other = rt_load(run[middle]);
    if (equal ? !before(value, other) : before(other, value)) low = middle + 1; else high = middle;
  }
  return low;
}
";

const SORT_TILES_SOURCE: &str = "\
extern \"C\" __global__ void array_sort_tiles(E *out, long long *index_out, const E *in, unsigned long long rows, unsigned long long n)
{
  __shared__ alignas(16) unsigned char raw[2 * TILE * sizeof(E)];
  __shared__ unsigned short places[2 * TILE];
  const unsigned long long tiles = (n + TILE - 1) / TILE;
  for (unsigned long long tile = blockIdx.x; tile < rows * tiles; tile += gridDim.x) {
    const unsigned long long start = tile / tiles * n + tile % tiles * TILE, end = (tile / tiles + 1) * n;
    const unsigned int count = end - start < TILE ? (unsigned int)(end - start) : TILE;
    E *now = (E *)raw, *next = now + TILE;
    unsigned short *now_at = places, *next_at = places + TILE;
    const unsigned int t = threadIdx.x;
    if (t < count) { now[t] = in[start + t]; now_at[t] = t; }
    __syncthreads();
    for (unsigned int run = 1; run < TILE; run *= 2) {
      if (t < count) {
        const unsigned int pair = t / (2 * run) * (2 * run), inside = t - pair;
        const bool right = inside >= run;
        const unsigned int other = right ? pair : pair + run;
        const unsigned int length = other >= count ? 0 : count - other < run ? count - other : run;
        const unsigned int own = right ? inside - run : inside;
        const unsigned int to = pair + own + (unsigned int)rank(now + other, length, rt_load(now[t]), right);
        next[to] = now[t]; next_at[to] = now_at[t];
      }
      __syncthreads();
      E *e = now; now = next; next = e;
      unsigned short *a = now_at; now_at = next_at; next_at = a;
    }
    if (t < count) {
      out[start + t] = now[t];
      if (WITH_INDICES) index_out[start + t] = (long long)(tile % tiles * TILE + now_at[t]);
    }
    __syncthreads();
  }
}
";

const MERGE_SOURCE: &str = "\
extern \"C\" __global__ void array_sort_merge(E *out, long long *index_out, const E *in, const long long *index_in, unsigned long long rows, unsigned long long n, unsigned long long run)
{
  const unsigned long long step = gridDim.x * (unsigned long long)blockDim.x;
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < rows * n; i += step) {
    const unsigned long long row = i / n * n, at = i - row;
    const unsigned long long pair = at / (2 * run) * (2 * run), inside = at - pair;
    const bool right = inside >= run;
    const unsigned long long other = right ? pair : pair + run;
    const unsigned long long length = other >= n ? 0 : n - other < run ? n - other : run;
    const unsigned long long own = right ? inside - run : inside;
    const unsigned long long to = row + pair + own + rank(in + row + other, length, rt_load(in[i]), right);
    out[to] = in[i];
    if (WITH_INDICES) index_out[to] = index_in[i];
  }
}
";

const SEARCH_LEFT_SOURCE: &str = "\
extern \"C\" __global__ void array_search_sorted(long long *out, const E *sorted, unsigned long long length, const E *values, unsigned long long n)
{
  const unsigned long long step = gridDim.x * (unsigned long long)blockDim.x;
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < n; i += step)
    out[i] = (long long)rank(sorted, length, rt_load(values[i]), false);
}
";

const SEARCH_RIGHT_SOURCE: &str = "\
extern \"C\" __global__ void array_search_sorted(long long *out, const E *sorted, unsigned long long length, const E *values, unsigned long long n)
{
  const unsigned long long step = gridDim.x * (unsigned long long)blockDim.x;
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < n; i += step)
    out[i] = (long long)rank(sorted, length, rt_load(values[i]), true);
}
";
