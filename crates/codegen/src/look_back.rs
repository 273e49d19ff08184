//! The common part of all scans: one pass over memory by decoupled look-back, after D. Merrill and M. Garland,
//! "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016).
//!
//! A block takes the next tile number from an atomic counter, so the tiles before it belong to blocks that are running
//! or done: waiting for them ends, whatever the number of resident blocks. It publishes its tile's sum, then walks back
//! over its predecessors, a warp of them at a time, until it meets one whose prefix is known.
//!
//! A flagged value consists of 64-bit words, each of which holds 32 bits of the value and the status: a reader that
//! finds the same status in all of them has the value, without fences. Larger values, of more than 16 bytes, are stored
//! before a fence and the status; readers load the status, fence, and load the value.
//!
//! Inside a warp, adjacent lanes hold adjacent groups of a few elements, so that memory is read and written in order
//! and no value passes through shared memory.

use crate::block_reduce::MAX_FLAGGED_BYTES;
use rtcg_hal::{DeviceInfo, tunable};

/// How a scan divides its elements into tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScanTiling {
    /// Threads per block, a multiple of 32.
    pub threads: u32,
    /// Packs per thread.
    pub packs_per_thread: u32,
    /// Elements per pack; they are adjacent, and read and written at once.
    pub pack_size: u32,
    /// Whether loops are not unrolled and keep their values in shared memory: for devices that run a warp as vectors,
    /// where registers are few and code is expensive.
    pub rolled: bool,
}

tunable! {
    /// How a scan of long rows divides its elements into tiles, and the roles of warps.
    pub ScanChoice = "scan.tiles";
    /// Rows of adjacent elements, or interleaved rows (`inner` of them side by side).
    problem ScanProblem {
        /// Number of outer rows.
        outer: i64 = PowerOfTwo,
        /// Elements per row.
        n: i64 = PowerOfTwo,
        /// Number of interleaved rows.
        inner: i64 = PowerOfTwo,
        /// Bytes per element that is read.
        element_bytes: i64 = Exact,
        /// Bytes per item while it is combined.
        item_bytes: i64 = Exact,
        /// Adjacent elements that may be read and written at once.
        pack: i64 = Exact,
    }
    parameters {
        /// Threads that scan a tile.
        threads: i64 = [32, 64, 128, 256, 512],
        /// Elements per thread.
        items: i64 = [1, 2, 4, 8, 16, 32, 64, 128],
        /// Whether elements are read and written in packs where possible.
        packed: bool = [false, true],
        /// Whether loops are not unrolled and keep their values in shared memory rather than registers.
        rolled: bool = [false, true],
        /// Whether blocks are persistent and have separate warps that copy, sum up and look back, on devices with bulk
        /// copies.
        pipelined: bool = [false, true],
        /// Number of warps that sum up tiles.
        reducer_warps: i64 = [1, 2, 4, 8],
        /// Maximum number of tiles in flight per block.
        max_stages: i64 = [4, 8, 12, 16],
        /// Tiles per block from which on blocks are persistent.
        min_tiles: i64 = [2, 4, 8, 16],
    }
    device {}
    require {
        // What is unrolled stays in registers, the rest in shared memory.
        rolled || items <= 32 && items * item_bytes <= 256;
        !rolled || 2 * threads * items * item_bytes <= 40960;
    }
    rule scan_rule;
}

/// Elements of a thread whose items are of more than [`MAX_FLAGGED_BYTES`].
const LARGE_ITEMS: usize = 8;
/// Larger items are not kept in registers.
const MAX_FOLDED_BYTES: usize = 32;

fn scan_rule(problem: &ScanProblem, device_info: &DeviceInfo) -> ScanChoice {
    ScanChoice::new(problem.item_bytes as usize, problem.pack as usize, !device_info.is_simd_cpu())
}

impl ScanChoice {
    /// The rule for items of `itemsize` bytes. `is_simt` is true for a GPU, and false for a device that runs a warp as
    /// vectors, which does best with one warp and long tiles.
    fn new(itemsize: usize, pack_size: usize, is_simt: bool) -> Self {
        let items = match itemsize {
            _ if !is_simt => (512 / itemsize.max(1)).clamp(1, 128),
            0..=4 => 16,
            5..=8 => 8,
            9..=16 => 4,
            17..=32 => 2,
            _ => 1,
        };
        // Long tiles wait less for each other, where packs keep the scans of groups few. Large items have one group.
        let items = match is_simt && pack_size > 1 {
            true if itemsize > MAX_FLAGGED_BYTES && itemsize <= MAX_FOLDED_BYTES => LARGE_ITEMS,
            true => 2 * items,
            false => items,
        };
        Self {
            threads: if is_simt { 256 } else { 32 },
            items: items as i64,
            packed: is_simt,
            rolled: !is_simt,
            pipelined: true,
            // A sum takes as long as a scan, and less than a tile's way through memory.
            reducer_warps: if itemsize > 4 { 8 } else { 4 },
            max_stages: 16,
            min_tiles: 4,
        }
    }

    /// The tiling of this choice.
    pub fn tiling(&self, pack_size: usize) -> ScanTiling {
        let items = self.items as u32;
        let pack_size = if self.packed { (pack_size as u32).clamp(1, items) } else { 1 };
        let packs_per_thread = items / pack_size;
        ScanTiling { threads: self.threads as u32, packs_per_thread, pack_size, rolled: self.rolled }
    }
}

impl ScanTiling {
    /// The rule's tiling for items of `itemsize` bytes. `is_simt` is true for a GPU, and false for a device that runs a
    /// warp as vectors.
    pub fn new(itemsize: usize, pack_size: usize, is_simt: bool) -> Self {
        // Functions of large items are dear, so threads fold adjacent ones before they exchange any.
        let folds = is_simt && pack_size > 1 && (MAX_FLAGGED_BYTES + 1..=MAX_FOLDED_BYTES).contains(&itemsize);
        let pack_size = if folds { LARGE_ITEMS } else { pack_size };
        ScanChoice::new(itemsize, pack_size, is_simt).tiling(pack_size)
    }

    /// Elements per tile.
    pub fn tile_items(&self) -> usize {
        (self.threads * self.packs_per_thread * self.pack_size) as usize
    }

    /// What a template of [`LOOK_BACK_SOURCE`] is given: threads, groups, lanes, rolled.
    pub(crate) fn template_arguments(&self) -> String {
        format!("{}, {}, {}, {}", self.threads, self.packs_per_thread, self.pack_size, self.rolled)
    }
}

/// Bytes before the status words: the tile counter, and from 64 on space for one item.
pub(crate) fn state_header_bytes(itemsize: usize) -> usize {
    64 + itemsize.next_multiple_of(16)
}

/// Device memory, in bytes, for the state of `tiles` tiles of items of `itemsize` bytes: the part that must be zero at
/// the start, and the total.
pub fn scan_state_bytes(itemsize: usize, tiles: usize) -> (usize, usize) {
    let packed = itemsize <= MAX_FLAGGED_BYTES;
    let word = if packed { 8 * itemsize.div_ceil(4).max(1).next_power_of_two() } else { 4 };
    let cleared = (state_header_bytes(itemsize) + word * tiles).next_multiple_of(64);
    let values = if packed { 0 } else { 2 * itemsize.next_multiple_of(16) * tiles };
    (cleared, cleared + values)
}

/// The states of the tiles, the walk back over them, and the scan of a tile; needs `COMBINE`.
pub(crate) const LOOK_BACK_SOURCE: &str = "\
namespace rtcg {
template <class T> __device__ __forceinline__ void clear(T &item)
{
  for (int k = 0; k < (int)sizeof(T); ++k) reinterpret_cast<unsigned char *>(&item)[k] = 0;
}
template <class T> __device__ __forceinline__ T shuffle_last(T value)
{
  words<T> packed(value);
  for (int k = 0; k < words<T>::count; ++k) packed.w[k] = __shfl_sync(0xffffffffu, packed.w[k], 31);
  packed.get(value);
  return value;
}
// Status 1: the sum of the tile; 2: the prefix up to and with the tile. poll gives 0 for not yet.
template <class T, bool packed> struct tile_states;
template <class T> struct tile_states<T, true> : flagged_values<T>
{
  __device__ tile_states(unsigned char *state, unsigned) : flagged_values<T>(state + 64 + (sizeof(T) + 15) / 16 * 16) {}
};
// Sums and prefixes have places of their own, so that a value that may be read is never overwritten.
template <class T> struct tile_states<T, false>
{
  static const int room = (sizeof(T) + 15) / 16 * 16;
  volatile unsigned *status_;
  unsigned char *values_;
  unsigned tiles_;
  __device__ tile_states(unsigned char *state, unsigned tiles) : status_((volatile unsigned *)(state + 64 + room)),
    values_(state + ((64ul + room + 4ul * tiles + 63) & ~63ul)), tiles_(tiles) {}
  __device__ T &value(unsigned tile, unsigned status) const
  {
    return *reinterpret_cast<T *>(values_ + ((size_t)(status - 1) * tiles_ + tile) * room);
  }
  __device__ void put(unsigned tile, unsigned status, const T &item) const
  {
    value(tile, status) = item;
    __threadfence();
    status_[tile] = status;
  }
  __device__ unsigned poll(unsigned tile, T &item) const
  {
    const unsigned status = status_[tile];
    __threadfence();
    if (status) item = value(tile, status);
    return status;
  }
};
// The prefix before `tile`, in lane 0 of the calling warp; `first` is the first tile of the row, whose
// prefix is known as soon as its sum.
template <class T, class States, class Op> __device__ __forceinline__ T look_back(const States &s, unsigned first, unsigned tile, Op op, T exclusive)
{
  const unsigned lane = threadIdx.x % 32;
  bool begun = false;
  for (long window = (long)tile - 1;; window -= 32)
  {
    const long at = window - lane;
    T value = exclusive;
    unsigned known, last;
    for (;;)
    {
      const unsigned status = s.poll(at < (long)first ? first : (unsigned)at, value);
      known = __ballot_sync(0xffffffffu, status == 2);
      const unsigned missing = __ballot_sync(0xffffffffu, status == 0);
      // Tiles before one whose prefix is known need not be waited for.
      last = known ? __ffs(known) - 1 : 31;
      if (!(missing << (31 - last))) break;
      __nanosleep(20);
    }
    #pragma unroll
    for (unsigned d = 1; d < 32; d *= 2)
    {
      const T joined = op(shuffle_down(value, d), value);
      if (lane + d <= last) value = joined;
    }
    exclusive = begun ? op(value, exclusive) : value;
    begun = true;
    if (known) return exclusive;
  }
}
// N values of each thread, in registers or (rolled) in shared memory.
template <class T, int N, int threads, bool rolled> struct thread_values
{
  uninitialized<T, N> own;
  __device__ __forceinline__ T &at(int k) { return own.at(k); }
};
template <class T, int N, int threads> struct thread_values<T, N, threads, true>
{
  uninitialized<T, N * threads> *all;
  __device__ __forceinline__ T &at(int k) { return all->at(k * threads + threadIdx.x); }
};
template <class T, int threads, int packs_per_thread, int pack_size, bool rolled> struct tile_scan
{
  static const int warps = threads / 32, unroll = rolled ? 1 : packs_per_thread;
  thread_values<T, packs_per_thread * pack_size, threads, rolled> x;
  // What comes before each group; of the very first group of a row there is nothing.
  thread_values<T, packs_per_thread, threads, rolled> exclusive_prefix;
  // The warp of the tile that this one reads.
  unsigned warp = threadIdx.x / 32;

  // The place in the tile of the first element of a group.
  __device__ __forceinline__ unsigned place(int group) const
  {
    return (warp * packs_per_thread + group) * (32 * pack_size) + threadIdx.x % 32 * pack_size;
  }
  // Scans the warp's items x for themselves; returns their sum.
  template <class Op> __device__ __forceinline__ T warp_scan(Op op)
  {
    const unsigned lane = threadIdx.x % 32;
    uninitialized<T, 1> kept;
    T &carry = kept.at(0);
    // Groups side by side, so that their shuffles need not wait for each other.
    for (int first = 0; first < packs_per_thread; first += unroll)
    {
      #pragma unroll
      for (int g = first; g < first + unroll; ++g)
      {
        T sum = x.at(g * pack_size);
        #pragma unroll
        for (int v = 1; v < pack_size; ++v) sum = op(sum, x.at(g * pack_size + v));
        exclusive_prefix.at(g) = sum;
      }
      #pragma unroll
      for (unsigned d = 1; d < 32; d *= 2)
      {
        #pragma unroll
        for (int g = first; g < first + unroll; ++g)
        {
          const T joined = op(shuffle_up(exclusive_prefix.at(g), d), exclusive_prefix.at(g));
          if (lane >= d) exclusive_prefix.at(g) = joined;
        }
      }
      #pragma unroll
      for (int g = first; g < first + unroll; ++g)
      {
        const T left = shuffle_up(exclusive_prefix.at(g), 1), all = shuffle_last(exclusive_prefix.at(g));
        if (g == 0) { exclusive_prefix.at(g) = left; carry = all; }
        else
        {
          const T joined = op(carry, left);
          exclusive_prefix.at(g) = lane > 0 ? joined : carry;
          carry = op(carry, all);
        }
      }
    }
    return carry;
  }
  // Puts `offset` before the warp's items, if there is any (`has`); returns whether anything comes before the
  // thread's first group.
  template <class Op> __device__ __forceinline__ bool join(Op op, bool has, const T &offset)
  {
    const unsigned lane = threadIdx.x % 32;
    if (has)
    {
      #pragma unroll unroll
      for (int g = 0; g < packs_per_thread; ++g)
      {
        const T joined = op(offset, exclusive_prefix.at(g));
        exclusive_prefix.at(g) = g > 0 || lane > 0 ? joined : offset;
      }
    }
    return has || lane > 0;
  }
  // Scans the items x of the block's tile; returns what join does.
  template <class States, class Op> __device__ __forceinline__ bool scan(Op op, const States &s, unsigned first, unsigned tile)
  {
    __shared__ uninitialized<T, warps + 1> totals;
    const unsigned lane = threadIdx.x % 32;
    const T carry = warp_scan(op);
    if constexpr (warps > 1)
    {
      if (lane == 0) totals.at(warp) = carry;
      __syncthreads();
    }
    if (warp == 0)
    {
      T total = carry;
      #pragma unroll
      for (unsigned w = 1; w < warps; ++w) total = op(total, totals.at(w));
      if (tile == first)
      {
        if (lane == 0) s.put(tile, 2, total);
      }
      else
      {
        if (lane == 0) s.put(tile, 1, total);
        __syncwarp();
        const T prefix = look_back(s, first, tile, op, total);
        if (lane == 0)
        {
          s.put(tile, 2, op(prefix, total));
          totals.at(warps) = prefix;
        }
      }
    }
    if constexpr (warps > 1) __syncthreads(); else __syncwarp();
    bool has = tile > first;
    T offset = carry;
    // Of one warp the first tile leaves nothing there.
    if (has || warps > 1) offset = totals.at(has ? warps : 0);
    #pragma unroll
    for (unsigned w = 0; w + 1 < warps; ++w)
      if (w < warp) { offset = has ? op(offset, totals.at(w)) : totals.at(w); has = true; }
    return join(op, has, offset);
  }
};
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_has_room_for_every_tile() {
        assert_eq!(scan_state_bytes(4, 3), (128, 128));
        assert_eq!(scan_state_bytes(8, 3), (128, 128));
        assert_eq!(scan_state_bytes(12, 4), (256, 256));
        assert_eq!(scan_state_bytes(32, 3), (128, 128 + 3 * 2 * 32));
    }

    #[test]
    fn simd_cpus_scan_long_tiles_with_one_warp() {
        let gpu = ScanTiling::new(4, 4, true);
        assert_eq!((gpu.tile_items(), gpu.packs_per_thread, gpu.rolled), (8192, 8, false));
        let vectors = ScanTiling::new(4, 4, false);
        assert_eq!((vectors.threads, vectors.pack_size, vectors.tile_items(), vectors.rolled), (32, 1, 4096, true));
        assert_eq!(ScanTiling::new(100, 1, true).tile_items(), 256);
    }
}
