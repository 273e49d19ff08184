//! Products along the merge path of a matrix in which few columns have most elements: these columns come first, and
//! each multiprocessor keeps their part of the vector in shared memory, from which it gathers several times as fast as
//! from the shared L2 cache.
//!
//! A persistent block holds the hot part of `x`; each of its warps takes tiles of the path independently, without block
//! barriers. Carries of tiles are added as in `merge.rs`.
//!
//! Parameters of `hub_counts`: the number of elements of each column, `indices`, their number. Of `hub_keys`: keys that
//! sort columns by decreasing counts, counts, columns. Of `hub_inverse`: the new number of each column, the order,
//! columns. Of `hub_renumber`: new indices, `indices`, the inverse, elements. Of `hub_permute`: the vector in the new
//! order, `x`, the order, columns. Of `hub_tiles`: `y`, `data`, new indices, `indptr`, the permuted vector, rows,
//! elements, rows and sums that tiles carry over, the rows in which tiles begin, the number of hot columns.

use super::THREADS;
use super::elements::{c_type, conversion, element_functions, load_once};
use super::merge::ROW_SUM;
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Threads of a block of `hub_tiles`, one for each multiprocessor.
pub(crate) const TILES_THREADS: u32 = 1024;

/// Elements and ends of rows of a warp.
pub(crate) const WARP_TILE: u32 = 32 * 8;

/// Which kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum HotColumnsStage {
    /// Elements of columns.
    Counts,
    /// Keys that sort columns.
    Keys,
    /// The inverse of an order.
    Inverse,
    /// New numbers of columns.
    Renumber,
    /// The vector in the new order.
    Permute,
    /// The product.
    Tiles,
}

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct HotColumnsSpec {
    /// The dtype of stored elements.
    pub(crate) value: DType,
    /// The dtype of the vectors, in which is computed: of at least four bytes.
    pub(crate) vector: DType,
    /// `I32` or `I64`.
    pub(crate) index: DType,
    /// The product is added to what is there.
    pub(crate) accumulate: bool,
    pub(crate) stage: HotColumnsStage,
}

impl HotColumnsSpec {
    /// Elements of the vector's dtype in which a warp's products and ends of rows lie.
    pub(crate) fn warp_words(&self) -> usize {
        WARP_TILE as usize + 8usize.div_ceil(self.vector.itemsize())
    }
}

impl KernelSpec for HotColumnsSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.stage {
            HotColumnsStage::Counts => "hub_counts",
            HotColumnsStage::Keys => "hub_keys",
            HotColumnsStage::Inverse => "hub_inverse",
            HotColumnsStage::Renumber => "hub_renumber",
            HotColumnsStage::Permute => "hub_permute",
            HotColumnsStage::Tiles => "hub_tiles",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        let threads = if self.stage == HotColumnsStage::Tiles { TILES_THREADS } else { THREADS };
        let _ = writeln!(
            text,
            "typedef {} I;\nenum {{ THREADS = {threads}, TILE = {WARP_TILE}, ITEMS = TILE / 32, WORDS = {}, LONG = 16 }};\n\
             #define STORE(place, sum) {}",
            c_type(self.index),
            self.warp_words(),
            if self.accumulate { "place = T_add(place, sum)" } else { "place = sum" }
        );
        if matches!(self.stage, HotColumnsStage::Permute | HotColumnsStage::Tiles) {
            text.push_str(&element_functions("T", self.vector));
        }
        if self.stage == HotColumnsStage::Tiles {
            let _ = writeln!(text, "typedef {} V;", c_type(self.value));
            text.push_str(&conversion(("T", self.vector), ("V", self.value)));
            text.push_str(&load_once("V", self.value));
            text.push_str(&load_once("I", self.index));
            text.push_str(ROW_SUM);
            // Wide elements need more registers than so many threads have; told to save some, compilers wait for each load
            // of narrow ones.
            let kernel = if self.vector.itemsize() > 4 { "RT_KERNEL_OF(THREADS)" } else { "RT_KERNEL" };
            text.push_str(&TILES.replace("RT_KERNEL_OF(THREADS)", kernel));
            return text;
        }
        let (parameters, line) = match self.stage {
            HotColumnsStage::Counts => {
                ("int *counts, RT_GLOBAL const I *indices", "RT_ATOMIC_ADD(counts + indices[k], 1);")
            }
            HotColumnsStage::Keys => (
                "long long *keys, RT_GLOBAL const int *counts",
                "keys[k] = (0x7fffffffll - counts[k]) * 0x100000000ll + k;",
            ),
            HotColumnsStage::Inverse => ("I *inverse, RT_GLOBAL const I *order", "inverse[order[k]] = (I)k;"),
            HotColumnsStage::Renumber => (
                "I *renumbered, RT_GLOBAL const I *indices, RT_GLOBAL const I *inverse",
                "renumbered[k] = inverse[indices[k]];",
            ),
            HotColumnsStage::Permute | HotColumnsStage::Tiles => {
                ("T *permuted, RT_GLOBAL const T *x, RT_GLOBAL const I *order", "permuted[k] = x[order[k]];")
            }
        };
        let _ = writeln!(
            text,
            "RT_KERNEL {}(RT_GLOBAL {parameters}, long long count)\n{{\n\
             \x20 const long long step = (long long)RT_GROUP_COUNT * THREADS;\n\
             \x20 for (long long k = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID; k < count; k += step) {line}\n}}",
            self.kernel_name()
        );
        text
    }
}

const TILES: &str = "\
RT_KERNEL_OF(THREADS) hub_tiles(RT_GLOBAL T *y, RT_GLOBAL const V *data, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, RT_GLOBAL const T *x, long long rows, long long elements, RT_GLOBAL I *carry_rows, RT_GLOBAL T *carry_sums, RT_GLOBAL const I *starts, int hot_count)
{
  RT_DYNAMIC_SHARED(T, hot);
  const int lane = RT_LOCAL_ID % 32, warp = RT_LOCAL_ID / 32;
  for (int k = RT_LOCAL_ID; k < hot_count; k += THREADS) hot[k] = x[k];
  RT_BARRIER();
  RT_SHARED_POINTER T *products = hot + hot_count + warp * WORDS;
  const long long total = rows + elements, tiles = (total + TILE - 1) / TILE, step = (long long)RT_GROUP_COUNT * (THREADS / 32);
  for (long long tile = RT_GROUP_ID * (long long)(THREADS / 32) + warp; tile < tiles; tile += step) {
    const long long start = tile * TILE;
    const int steps = (int)(total - start < TILE ? total - start : TILE);
    const I first_row = starts[tile], first = (I)(start - first_row);
    const int row_count = (int)(starts[tile + 1] - first_row), count = steps - row_count;
    RT_SHARED_POINTER int *ends = (RT_SHARED_POINTER int *)(products + WORDS) - (row_count + 2);
    I columns[ITEMS];
    V values[ITEMS];
    RT_UNROLL for (int n = 0; n < ITEMS; n++) {
      const int k = lane + n * 32;
      columns[n] = -1;
      if (k < count) { columns[n] = I_load_once(indices + first + k); values[n] = V_load_once(data + first + k); }
    }
    for (int k = lane; k < row_count; k += 32) ends[k + 1] = (int)(indptr[first_row + k + 1] - first);
    if (lane == 0) { ends[0] = 0; ends[row_count + 1] = count; }
    RT_UNROLL for (int n = 0; n < ITEMS; n++) {
      T other = T_zero();
      if (columns[n] >= hot_count) other = x[columns[n]]; else if (columns[n] >= 0) other = hot[columns[n]];
      if (columns[n] >= 0) products[lane + n * 32] = T_mul(T_from_V(values[n]), other);
    }
    RT_WARP_BARRIER();
    for (int base = 0; base <= row_count; base += 32) {
      const int row = base + lane;
      const T sum = row_sum(products, row <= row_count ? ends[row] : 0, row <= row_count ? ends[row + 1] : 0);
      if (row < row_count) STORE(y[first_row + row], sum);
      else if (row == row_count) { carry_rows[tile] = first_row + row; carry_sums[tile] = sum; }
    }
    RT_WARP_BARRIER();
  }
}
";
