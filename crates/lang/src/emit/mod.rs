//! From statements to the source of kernels, as snippets of the one family of kernels.
//!
//! | file | contents |
//! |---|---|
//! | `writer.rs` | the statements of an element as C |
//! | `numbers.rs` | numbers, types and operations as C |
//! | `kernels.rs` | elementwise kernels, reductions and scans from statements |
//! | `narrow.rs` | which integers fit in 32 bits for the numbers of a launch |
//! | `expression.rs` | programs of scalars as a part of others' kernels |

mod expression;
pub(crate) mod kernels;
mod narrow;
pub(crate) mod numbers;
pub(crate) mod writer;

pub use expression::emit_expression;
pub use kernels::{
    LONG_THREADS, MergeStep, ROW_THREADS, emit, emit_long, emit_merge_step, emit_row_reduction, emit_rows, emit_shared,
    emit_storing, row_widths,
};
pub use narrow::{LaunchNumbers, narrow_variables};
pub use numbers::ZERO_COUNT;

use crate::ir::{Atom, Var};
use rtcg_codegen::c_declarations::Argument;
use rtcg_codegen::pointwise::ElementwiseSnippet;
use rtcg_codegen::reduction::ReductionSnippet;
use rtcg_codegen::scan::ScanSnippet;
use rtcg_hal::DType;
use std::fmt::Write;

/// What a kernel is given, behind its outputs.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// An array whose element at the index of the kernel is read.
    Element(Var),
    /// An array of which an element is read for each index of some axes of the space; a place for each of its axes.
    Strided(Var, Vec<Place>),
    /// An array of which other elements are read, without gaps.
    Array(Var),
    /// A number that the host knows.
    Host(Var),
    /// A number in device memory.
    Device(Var),
    /// The length of an array along an axis.
    Dim(Var, usize),
    /// A length of the space.
    Length(Atom),
    /// The word that an index out of bounds sets.
    Flag,
    /// A number of the host that has to be an index of an array along an axis.
    Index(Var, Var, usize),
}

/// Where an array is read along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// At the index of an axis of the space.
    Axis(usize),
    /// At a number of the host.
    At(Var),
}

/// The kernel of a statement.
#[derive(Debug, Clone)]
pub enum Kernel {
    /// One output for each value, of the shape of the space.
    Elementwise(ElementwiseSnippet),
    /// As above, for a range of indices: outputs have further axes.
    Ranged(ElementwiseSnippet),
    /// All values in one structure.
    Reduction(ReductionSnippet),
    /// As above, for each index of the axes but the last.
    RowReduction(ReductionSnippet),
    /// All values in one structure, combined in their order.
    OrderedReduction(OrderedReduction),
    /// Outputs of one axis, or, for an ordered reduction, of one element.
    Scan(ScanSnippet),
    /// Of no family.
    Written {
        /// Its name.
        name: &'static str,
        /// All of it.
        source: String,
    },
}

/// A reduction that needs an associative function only. Each block goes through a range of elements in tiles, whose parts
/// its warps fold: lanes adjacent elements, then the lanes' values in their order; then the block folds what its warps have
/// found, and the last block what all blocks have.
#[derive(Debug, Clone)]
pub struct OrderedReduction {
    /// Parameters behind those of the kernel.
    pub arguments: Vec<Argument>,
    /// What stands before kernels: the structure of values, `rtcg_element` and `rtcg_combined`.
    pub preamble: String,
    /// The call that computes element `i`.
    pub element: String,
    /// The call that combines `a` and `b`.
    pub combine: String,
    /// `total` with the first value before it.
    pub begin: String,
    /// The arrays of which element `i` is read, and the types of their elements in C.
    pub elements: Vec<(String, String)>,
    /// Adjacent elements that a lane reads at once.
    pub items: u32,
    /// The bytes of a value.
    pub itemsize: usize,
}

/// How many times a lane of an ordered reduction of many elements reads before lanes combine what they have.
pub const ORDERED_PACKS: u32 = 4;
/// Shared memory for what the warps of a block find.
const MAX_FOUND_BYTES: usize = 16 << 10;
/// Threads of a block of an ordered reduction.
pub const ORDERED_THREADS: u32 = 256;

impl OrderedReduction {
    /// The kernel `rtcg_reduce_ordered`: the result's address, the number of elements, that of elements for each block
    /// (64 bits each), the addresses of a word that is 0, which the kernel restores, and of a value for each block, then the
    /// arguments. A lane reads adjacent elements `packs` times before lanes combine what they have.
    pub fn source(&self, packs: u32) -> String {
        let sizes = ["n", "rtcg_share"].map(|name| format!(", const unsigned long long {name}"));
        let mut parameters =
            format!("rtcg_stored *rtcg_out{}, unsigned *rtcg_ticket, rtcg_stored *rtcg_partial", sizes.concat());
        for argument in &self.arguments {
            parameters.push_str(", ");
            parameters.push_str(&argument.declarator());
        }
        // Adjacent elements are read at once.
        let (mut declared, mut packed) = (String::new(), self.element.clone());
        for (name, ctype) in &self.elements {
            let _ = writeln!(
                declared,
                "        rtcg_pack<{ctype}> {name}_pack; rtcg_read({name}_pack, {name} + base + pack, run, staged);"
            );
            packed = packed.replace(&format!("{name}[i]"), &format!("{name}_pack.at[k]"));
        }
        let tiles = (MAX_FOUND_BYTES / (self.itemsize * ORDERED_THREADS as usize / 32).max(1)).clamp(1, 8);
        ORDERED_SOURCE
            .replace("PREAMBLE", &self.preamble)
            .replace("FROM_LATER", &lane_source("rtcg_from_later", "__shfl_down_sync", 32))
            .replace("PARAMETERS", &parameters)
            .replace("DECLARED", &declared)
            .replace("PACKED", &packed)
            .replace("ELEMENT", &self.element)
            .replace("COMBINE", &self.combine)
            .replace("BEGIN", &self.begin)
            .replace("ITEMS", &self.items.to_string())
            .replace("TILES", &tiles.to_string())
            .replace("STAGED", if self.elements.is_empty() { "1" } else { "32 * 5" })
            .replace("PACKS", &packs.to_string())
            .replace("THREADS", &ORDERED_THREADS.to_string())
    }
}

/// A device function that gives a value of any type as another lane has it, of as many that go together.
fn lane_source(name: &str, shuffle: &str, lanes: usize) -> String {
    let mask = match lanes {
        32 => "0xffffffffu".to_owned(),
        lanes => format!("{}u << (threadIdx.x % 32 / {lanes} * {lanes})", (1_u64 << lanes) - 1),
    };
    LANE_SOURCE.replace("NAME", name).replace("SHUFFLE", shuffle).replace("MASK", &mask)
}

const LANE_SOURCE: &str = "\
template <class T> __device__ __forceinline__ T NAME(const T value, int distance)
{
  constexpr int n = (sizeof(T) + 3) / 4;
  union words { unsigned word[n]; T value; __device__ words() {} } all;
  all.word[n - 1] = 0;
  all.value = value;
  #pragma unroll
  for (int k = 0; k < n; ++k) all.word[k] = SHUFFLE(MASK, all.word[k], distance);
  return all.value;
}
";

const ORDERED_SOURCE: &str = "\
PREAMBLE
FROM_LATERtemplate <class T> struct rtcg_pack { T at[ITEMS]; };
// Adjacent elements of each lane of a warp; those of lanes are `run` apart, and begin at `from`. Where 16 bytes are read at
// once, adjacent lanes read adjacent ones, and get their own through shared memory.
template <class T> __device__ __forceinline__ void rtcg_read(rtcg_pack<T> &pack, const T *from, const unsigned run, uint4 *const staged)
{
  const unsigned lane = threadIdx.x % 32;
  constexpr unsigned n = sizeof(pack) / 16;
  if constexpr (sizeof(pack) % 16 == 0 && n <= 4)
  {
    if (((size_t)from & 15) == 0)
    {
      union words { uint4 word[n]; rtcg_pack<T> pack; __device__ words() {} } all;
      #pragma unroll
      for (unsigned k = 0; k < n; ++k) {
        const unsigned word = k * 32 + lane, owner = word / n;
        staged[word + owner] = ((const uint4 *)(from + (size_t)owner * run))[word % n];
      }
      __syncwarp();
      #pragma unroll
      for (unsigned k = 0; k < n; ++k) all.word[k] = staged[lane * (n + 1) + k];
      __syncwarp();
      pack = all.pack;
      return;
    }
  }
  #pragma unroll
  for (int k = 0; k < ITEMS; ++k) pack.at[k] = from[(size_t)lane * run + k];
}
extern \"C\" __global__ void __launch_bounds__(THREADS) rtcg_reduce_ordered(PARAMETERS)
{
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const unsigned long long begin = blockIdx.x * rtcg_share, end = begin + rtcg_share < n ? begin + rtcg_share : n;
  auto combine = [&](const rtcg_parts a, const rtcg_parts b) -> rtcg_parts { return COMBINE; };
  // The first lanes of a warp have something if any has; what they have together gets lane 0.
  auto fold_lanes = [&](rtcg_parts &own, const bool has) {
    #pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const rtcg_parts later = rtcg_from_later(own, distance);
      const bool has_later = __shfl_down_sync(0xffffffffu, (int)has, distance) && lane + distance < 32;
      if (has_later) own = combine(own, later);
    }
  };
  // So do the first warps of a block, whose thread 0 gets all.
  __shared__ __align__(16) char rtcg_totals[THREADS / 32 * sizeof(rtcg_parts)];
  auto fold_warps = [&](rtcg_parts &total, const bool has) {
    rtcg_parts *const totals = (rtcg_parts *)rtcg_totals;
    __syncthreads();
    if (has) totals[threadIdx.x / 32] = total;
    const int n_totals = __syncthreads_count(has);
    if (threadIdx.x == 0) for (int k = 1; k < n_totals; ++k) total = combine(total, totals[k]);
  };
  // What the warps have found in the last tiles, in their order.
  __shared__ __align__(16) char rtcg_found[TILES * THREADS / 32 * sizeof(rtcg_parts)];
  rtcg_parts *const found = (rtcg_parts *)rtcg_found;
  rtcg_parts total;
  bool has_total = false;
  constexpr unsigned run = ITEMS * PACKS;
  // One word more for each lane, so that they do not wait for each other.
  __shared__ uint4 rtcg_staged[THREADS / 32][STAGED];
  uint4 *const staged = rtcg_staged[threadIdx.x / 32]; (void)staged;
  // Tiles of a block are adjacent parts for its warps, so that a block reads near by.
  unsigned n_found = 0;
  for (unsigned long long tile = begin; tile < end; tile += THREADS * run) {
    const unsigned long long base = tile + warp * 32 * run;
    const unsigned long long start = base + lane * run;
    const bool has = start < end;
    rtcg_parts own;
    // Lanes read for each other.
    if (base + 32 * run <= end) {
      #pragma unroll
      for (unsigned pack = 0; pack < run; pack += ITEMS) {
        const unsigned long long first = start + pack;
        rtcg_parts part;
DECLARED        { const int k = 0; const size_t i = first; (void)k; part = PACKED; }
        #pragma unroll
        for (int k = 1; k < ITEMS; ++k) { const size_t i = first + k; part = combine(part, PACKED); }
        own = pack > 0 ? combine(own, part) : part;
      }
    } else if (has) {
      { const size_t i = start; own = ELEMENT; }
      const unsigned long long stop = start + run < end ? start + run : end;
      for (unsigned long long i = start + 1; i < stop; ++i) own = combine(own, ELEMENT);
    }
    fold_lanes(own, has);
    if (lane == 0 && has) found[n_found * (THREADS / 32) + warp] = own;
    if (++n_found == TILES || tile + THREADS * run >= end) {
      // The last tile may have no part for the last warps.
      const int n_parts = (n_found - 1) * (THREADS / 32) + __syncthreads_count(lane == 0 && has);
      if (warp == 0) {
        const int each = (n_parts + 31) / 32, first = lane * each, stop = first + each < n_parts ? first + each : n_parts;
        rtcg_parts part;
        if (first < n_parts) {
          part = found[first];
          for (int k = first + 1; k < stop; ++k) part = combine(part, found[k]);
        }
        fold_lanes(part, first < n_parts);
        if (lane == 0) { total = has_total ? combine(total, part) : part; has_total = true; }
      }
      n_found = 0;
      __syncthreads();
    }
  }
  if (gridDim.x > 1) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
      rtcg_partial[blockIdx.x] = rtcg_widened(total);
      __threadfence();
      is_last = atomicInc(rtcg_ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    // The block that ends last folds what all of them have found.
    __threadfence();
    const unsigned each = (gridDim.x + THREADS - 1) / THREADS, first = threadIdx.x * each;
    const unsigned stop = first + each < gridDim.x ? first + each : gridDim.x;
    const bool has = first < gridDim.x;
    if (has) {
      total = rtcg_narrowed(rtcg_partial[first]);
      for (unsigned k = first + 1; k < stop; ++k) total = combine(total, rtcg_narrowed(rtcg_partial[k]));
    }
    fold_lanes(total, has);
    fold_warps(total, lane == 0 && has);
  }
  if (threadIdx.x == 0) rtcg_out[0] = rtcg_widened(BEGIN);
}
";

/// A kernel and its arguments: the outputs, then the inputs.
#[derive(Debug, Clone)]
pub struct Emitted {
    /// The kernel.
    pub kernel: Kernel,
    /// Behind the outputs.
    pub inputs: Vec<Input>,
    /// The fields of the structure in which values are combined: dtype and offset in bytes; its size.
    pub fields: (Vec<(DType, usize)>, usize),
}

/// What the emitter asks of whoever launches kernels.
pub trait Facts {
    /// Whether the lengths of an array are those of the space.
    fn has_lengths(&self, array: Var, lengths: &[Atom]) -> bool;
    /// Whether a scalar is in device memory.
    fn is_on_device(&self, scalar: Var) -> bool;
    /// Whether all indices of the space fit in 32 bits.
    fn is_small(&self, lengths: &[Atom]) -> bool;
    /// Whether a scalar's values, or the places of an array, fit in int32; see [`narrow_variables`].
    fn is_narrow(&self, _var: Var) -> bool {
        false
    }
    /// The length of an array along its last axis, where the kernel is for that one only, and rows begin at multiples of 16
    /// bytes.
    fn exact_row(&self, _array: Var) -> Option<usize> {
        None
    }
    /// The length of a space inside of elements, where the kernel is for that one only.
    fn exact_length(&self, _length: Atom) -> Option<usize> {
        None
    }
}

/// Scalars are on the host, and nothing is known of arrays.
pub(crate) struct AllOnHost;

impl Facts for AllOnHost {
    fn has_lengths(&self, _array: Var, _lengths: &[Atom]) -> bool {
        false
    }
    fn is_on_device(&self, _scalar: Var) -> bool {
        false
    }
    fn is_small(&self, _lengths: &[Atom]) -> bool {
        false
    }
}
