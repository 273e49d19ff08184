//! Kernels that sort by the digits of keys of fixed width, the lowest digit first: stable, NaN last.
//!
//! One sweep a digit, after A. Adinets and D. Merrill, "Onesweep: A Faster Least Significant Digit Radix
//! Sort for GPUs" (2022). A first kernel counts all digits of all keys. In a sweep each block takes the
//! next tile number from an atomic counter, ranks its keys by digit, and finds by decoupled look-back, for each
//! digit, how many keys of earlier tiles have it. Keys are moved unchanged; wherever a digit is read, the key is
//! mapped to an unsigned number of the same order.

use crate::block_reduce::BLOCK_REDUCE_SOURCE;
use crate::kernel_spec::KernelSpec;
use crate::{DType, DTypeKind};
use std::borrow::Cow;
use std::fmt::Write;

/// Values of a digit.
pub const RADIX_BINS: usize = 256;
/// Threads of a block that counts.
pub const RADIX_HISTOGRAM_THREADS: u32 = 256;

/// What goes along with the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SortPayload {
    /// Nothing.
    None,
    /// Places, made by the first sweep.
    Generated,
    /// Places, taken from the sweep before.
    Carried,
}

/// Which part of the work a kernel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RadixStage {
    /// Counts the digits; the last block makes of the counts where each digit begins.
    Histogram,
    /// Sorts by one digit.
    Sweep {
        /// What goes along.
        payload: SortPayload,
        /// Places are written as 64-bit integers, else as 32-bit ones.
        last: bool,
    },
}

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RadixSpec {
    /// The dtype of the keys.
    pub dtype: DType,
    /// From the largest to the smallest.
    pub descending: bool,
    /// Threads of a block that sweeps: 256 or more, a multiple of 32.
    pub threads: u16,
    /// Blocks that shall be resident on a multiprocessor, which bounds the registers of a thread.
    pub blocks: u8,
    /// Keys of a thread of a sweep.
    pub items: u8,
    /// Which part of the work.
    pub stage: RadixStage,
}

impl RadixSpec {
    /// Whether keys of this dtype can be sorted by digits.
    pub fn supports_dtype(dtype: DType) -> bool {
        matches!(dtype.kind(), DTypeKind::Bool | DTypeKind::Signed | DTypeKind::Unsigned | DTypeKind::Float)
    }

    /// Keys of a tile.
    pub fn tile_items(&self) -> usize {
        usize::from(self.items) * usize::from(self.threads)
    }

    /// Most keys: counts travel beside a status of two bits.
    pub const MAX_KEYS: usize = 1 << 30;

    /// The unsigned number that a key is sorted as, from its bits.
    fn order_preserving_key(&self) -> String {
        let bits = 8 * self.dtype.itemsize();
        let sign = format!("((U)1 << {})", bits - 1);
        let ordered = match (self.dtype, self.dtype.kind()) {
            (_, DTypeKind::Signed) => format!("return key ^ {sign};"),
            (dtype, DTypeKind::Float) => {
                let infinity = match dtype {
                    DType::F16 => "0x7c00",
                    DType::BF16 => "0x7f80",
                    DType::F32 => "0x7f800000u",
                    _ => "0x7ff0000000000000ull",
                };
                // Zeros of either sign are equal, and so are all NaN.
                format!(
                    "if ((U)(key << 1) == 0) key = 0;\n  if ((U)(key & (U)~{sign}) > (U){infinity}) return (U)~(U)0;\n\
                     \x20 return key & {sign} ? (U)~key : (U)(key | {sign});"
                )
            }
            _ => "return key;".into(),
        };
        format!(
            "__device__ __forceinline__ U ascending(U key) {{\n  {ordered}\n}}\n\
             __device__ __forceinline__ unsigned int digit_of(U key, unsigned int shift) {{\n\
             \x20 return (unsigned int)({not}ascending(key) >> shift) & 255u;\n}}\n",
            not = if self.descending { "(U)~" } else { "" }
        )
    }
}

impl KernelSpec for RadixSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.stage {
            RadixStage::Histogram => "array_radix_count",
            RadixStage::Sweep { .. } => "array_radix_sweep",
        }
        .into()
    }

    fn source(&self) -> String {
        let unsigned = match self.dtype.itemsize() {
            1 => "unsigned char",
            2 => "unsigned short",
            4 => "unsigned int",
            _ => "unsigned long long",
        };
        let mut text = format!("{BLOCK_REDUCE_SOURCE}typedef {unsigned} U;\n{}", self.order_preserving_key());
        text.push_str(BLOCK_SCAN_SOURCE);
        match self.stage {
            RadixStage::Histogram => {
                let _ = writeln!(text, "#define PASSES {}", self.dtype.itemsize());
                text.push_str(HISTOGRAM_SOURCE);
            }
            RadixStage::Sweep { payload, last } => {
                let _ = write!(
                    text,
                    "#define THREADS {}\n#define BLOCKS {}\n#define ITEMS {}\n#define PAYLOAD {}\n#define TAKEN {}\ntypedef {} place_type;\n",
                    self.threads,
                    self.blocks,
                    self.items,
                    i32::from(payload != SortPayload::None),
                    i32::from(payload == SortPayload::Carried),
                    if last { "long long" } else { "unsigned int" }
                );
                text.push_str(ONESWEEP_SOURCE);
            }
        }
        text
    }
}

/// The sum of the values of earlier threads, right in the first 256 threads.
const BLOCK_SCAN_SOURCE: &str = "\
__device__ __forceinline__ unsigned int sum_before(unsigned int value)
{
  __shared__ unsigned int totals[32];
  unsigned int sum = value;
  #pragma unroll
  for (unsigned int d = 1; d < 32; d *= 2) {
    const unsigned int left = __shfl_up_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 >= d) sum += left;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 31) totals[threadIdx.x / 32] = sum;
  __syncthreads();
  #pragma unroll
  for (unsigned int w = 0; w < 7; w++) if (w < threadIdx.x / 32) sum += totals[w];
  return sum - value;
}
";

/// Parameters: counts (`PASSES * 256`, zero at first), a tile counter (zero), the keys, their number.
const HISTOGRAM_SOURCE: &str = "\
extern \"C\" __global__ void __launch_bounds__(256) array_radix_count(unsigned int *counts, unsigned int *ticket, const U *keys, unsigned long long n)
{
  __shared__ unsigned int own[PASSES * 256];
  for (int pass = 0; pass < PASSES; pass++) own[pass * 256 + threadIdx.x] = 0;
  __syncthreads();
  const unsigned long long step = gridDim.x * 256ull;
  unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
  for (; i + 3 * step < n; i += 4 * step) {
    U key[4];
    #pragma unroll
    for (int k = 0; k < 4; k++) key[k] = keys[i + k * step];
    #pragma unroll
    for (int k = 0; k < 4; k++)
      #pragma unroll
      for (int pass = 0; pass < PASSES; pass++) atomicAdd(own + pass * 256 + digit_of(key[k], 8 * pass), 1u);
  }
  for (; i < n; i += step) {
    const U key = keys[i];
    #pragma unroll
    for (int pass = 0; pass < PASSES; pass++) atomicAdd(own + pass * 256 + digit_of(key, 8 * pass), 1u);
  }
  __syncthreads();
  for (int pass = 0; pass < PASSES; pass++) {
    const unsigned int count = own[pass * 256 + threadIdx.x];
    if (count) atomicAdd(counts + pass * 256 + threadIdx.x, count);
  }
  if (!rtcg::is_last_block(ticket, gridDim.x)) return;
  for (int pass = 0; pass < PASSES; pass++) {
    volatile unsigned int *const at = counts + pass * 256 + threadIdx.x;
    *at = sum_before(*at);
  }
}
";

/// Parameters: keys out and in, places out and in (as far as there are any), where the digits begin,
/// the state (a tile counter, and from 64 bytes on 256 words for each tile, all zero), the number of keys, the
/// lowest bit of the digit.
///
/// A block counts its digits and publishes the counts before it ranks its keys, so that blocks behind it
/// wait the less. Lanes of a warp with one digit find each other by the bits that they set in a word.
const ONESWEEP_SOURCE: &str = "\
extern \"C\" __global__ void __launch_bounds__(THREADS, BLOCKS) array_radix_sweep(U *out, const U *in, place_type *places_out, const unsigned int *places_in, const unsigned int *begins, unsigned int *state, unsigned long long n, unsigned int shift)
{
  enum { TILE = THREADS * ITEMS, WARPS = THREADS / 32, AT_ONCE = 4 };
  const unsigned int t = threadIdx.x, lane = t % 32, warp = t / 32;
  __shared__ union {
    // For each warp: where its next key of a digit goes, then the lanes whose keys have it.
    unsigned int ranks[2 * WARPS][256];
    U keys[TILE];
    unsigned int places[PAYLOAD ? TILE : 1];
  } room;
  __shared__ unsigned int base[256], ticket;
  if (t == 0) ticket = atomicAdd(state, 1u);
  #pragma unroll
  for (int at = t; at < 2 * WARPS * 256; at += THREADS) room.ranks[0][at] = 0;
  __syncthreads();
  const unsigned int tile = ticket;
  volatile unsigned int *const words = state + 16;
  const unsigned long long start = (unsigned long long)tile * TILE;
  const unsigned int count = n - start < TILE ? (unsigned int)(n - start) : TILE;
  const bool whole = count == TILE;
  const unsigned int first = warp * 32 * ITEMS + lane;
  U key[ITEMS];
  #pragma unroll
  for (int k = 0; k < ITEMS; k++) if (whole || first + k * 32 < count) key[k] = in[start + first + k * 32];
  // Keys behind the end have the last digit, and come after all that are there.
  auto digit_at = [&](int k) { return whole || first + k * 32 < count ? digit_of(key[k], shift) : 255u; };
  unsigned int *const own_ranks = room.ranks[warp], *const own_lanes = room.ranks[WARPS + warp];
  #pragma unroll
  for (int k = 0; k < ITEMS; k++) atomicAdd(own_ranks + digit_at(k), 1u);
  __syncthreads();
  // The first 256 threads have a digit each.
  const bool has_digit = THREADS == 256 || t < 256;
  unsigned int total = 0;
  if (has_digit) {
    #pragma unroll
    for (int w = 0; w < WARPS; w++) {
      const unsigned int of_warp = room.ranks[w][t];
      room.ranks[w][t] = total;
      total += of_warp;
    }
  }
  // The upper two bits of a word: 1 for the count of the tile, 2 for that of all tiles up to it.
  const unsigned int own = t == 255 ? total - (TILE - count) : total;
  if (has_digit) words[(size_t)tile * 256 + t] = (tile == 0 ? 2u : 1u) << 30 | own;
  const unsigned int begin = sum_before(total);
  if (has_digit) {
    #pragma unroll
    for (int w = 0; w < WARPS; w++) room.ranks[w][t] += begin;
  }
  __syncthreads();
  unsigned int rank[ITEMS];
  #pragma unroll
  for (int k = 0; k < ITEMS; k++) {
    const unsigned int digit = digit_at(k);
    atomicOr(own_lanes + digit, 1u << lane);
    __syncwarp();
    const unsigned int same = own_lanes[digit], last = 31 - __clz(same), mine = __popc(same & ((1u << lane) - 1));
    unsigned int before = 0;
    if (lane == last) {
      before = own_ranks[digit];
      own_ranks[digit] = before + mine + 1;
    }
    rank[k] = __shfl_sync(0xffffffffu, before, last) + mine;
    if (lane == last) own_lanes[digit] = 0;
    __syncwarp();
  }
  __syncthreads();
  #pragma unroll
  for (int k = 0; k < ITEMS; k++) room.keys[rank[k]] = key[k];
  if (has_digit) {
    unsigned int earlier = 0;
    bool begun = tile == 0;
    for (unsigned int at = tile; !begun;) {
      unsigned int word[AT_ONCE];
      #pragma unroll
      for (int j = 0; j < AT_ONCE; j++) word[j] = at > j ? words[(size_t)(at - 1 - j) * 256 + t] : 2u << 30;
      unsigned int known = 0;
      #pragma unroll
      for (int j = 0; j < AT_ONCE; j++)
        if (!begun && known == j && word[j] >> 30) {
          earlier += word[j] & 0x3fffffffu;
          known++;
          begun = word[j] >> 31;
        }
      at -= known;
      if (known == 0) __nanosleep(20);
    }
    if (tile > 0) words[(size_t)tile * 256 + t] = 2u << 30 | (earlier + own);
    base[t] = begins[t] + earlier - begin;
  }
  __syncthreads();
  unsigned int to[ITEMS];
  #pragma unroll
  for (int k = 0; k < ITEMS; k++) {
    const unsigned int at = t + k * THREADS;
    if (whole || at < count) {
      const U moved = room.keys[at];
      to[k] = base[digit_of(moved, shift)] + at;
      out[to[k]] = moved;
    }
  }
#if PAYLOAD
  __syncthreads();
  #pragma unroll
  for (int k = 0; k < ITEMS; k++) {
    const unsigned int at = first + k * 32;
    if (whole || at < count) room.places[rank[k]] = TAKEN ? places_in[start + at] : (unsigned int)(start + at);
  }
  __syncthreads();
  #pragma unroll
  for (int k = 0; k < ITEMS; k++) if (whole || t + k * THREADS < count) places_out[to[k]] = room.places[t + k * THREADS];
#endif
}
";

#[cfg(test)]
mod tests {
    use super::*;

    fn onesweep_source(dtype: DType, descending: bool) -> String {
        let stage = RadixStage::Sweep { payload: SortPayload::Generated, last: true };
        RadixSpec { dtype, descending, threads: 256, blocks: 3, items: 14, stage }.source()
    }

    #[test]
    fn keys_are_ordered_as_unsigned_numbers() {
        assert!(onesweep_source(DType::U32, false).contains("return key;"));
        assert!(onesweep_source(DType::I16, false).contains("return key ^ ((U)1 << 15);"));
        let halves = onesweep_source(DType::F16, true);
        assert!(halves.contains("> (U)0x7c00) return (U)~(U)0;") && halves.contains("(U)~ascending(key)"), "{halves}");
    }
}
