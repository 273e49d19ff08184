//! What all scans share: one pass over memory by decoupled look-back, after D. Merrill and M. Garland,
//! "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016).
//!
//! A block takes the next tile by ticket, so the tiles before it belong to blocks that are running or
//! done: waiting for them ends whatever the number of resident blocks is. It publishes its tile's sum,
//! then walks back over its predecessors, a warp of them at a time, until it meets one whose prefix is
//! known.
//!
//! A value travels in 64-bit words, each of which holds 32 bits of it and the status: a reader that finds
//! the same status in all of them has the value, without fences. Values of more than 16 bytes are
//! stored, fence, status; readers take status, fence, value.
//!
//! Inside a warp, neighbouring lanes hold neighbouring groups of a few elements, so that memory is read and
//! written in order and no value passes through shared memory.

use crate::combine::PACKED_BYTES;

/// How a scan cuts its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScanShape {
    /// Threads of a block, a multiple of 32.
    pub threads: u32,
    /// Groups of a thread.
    pub groups: u32,
    /// Neighbouring elements of a group, which are read and written at once.
    pub lanes: u32,
    /// Loops stay loops, and their values are kept in shared memory: for devices that run a warp as
    /// vectors, where registers are few and code is expensive.
    pub rolled: bool,
}

impl ScanShape {
    /// The shape for items of `itemsize` bytes. `machine_code` tells a GPU from a device that runs a
    /// warp as vectors, which does best with one warp and long tiles.
    pub fn new(itemsize: usize, lanes: usize, machine_code: bool) -> Self {
        if !machine_code {
            let groups = (512 / itemsize.max(1)).clamp(1, 128) as u32;
            return Self { threads: 32, groups, lanes: 1, rolled: true };
        }
        let items = match itemsize {
            0..=4 => 16,
            5..=8 => 8,
            9..=16 => 4,
            17..=32 => 2,
            _ => 1,
        };
        // Long tiles wait less for each other, where packs keep the scans of groups few.
        let items = if lanes > 1 { 2 * items } else { items };
        let lanes = lanes.clamp(1, items);
        Self { threads: 256, groups: (items / lanes) as u32, lanes: lanes as u32, rolled: false }
    }

    /// Elements of a tile.
    pub fn tile(&self) -> usize {
        (self.threads * self.groups * self.lanes) as usize
    }

    /// What a template of [`LOOK_BACK`] is given: threads, groups, lanes, rolled.
    pub(crate) fn parameters(&self) -> String {
        format!("{}, {}, {}, {}", self.threads, self.groups, self.lanes, self.rolled)
    }
}

/// Bytes before the status words: the ticket, and from 64 on room for one item.
pub(crate) fn state_head(itemsize: usize) -> usize {
    64 + itemsize.next_multiple_of(16)
}

/// Bytes of device memory for the state of `tiles` tiles of items of `itemsize` bytes: those that must
/// be zero at the start, and all.
pub fn state_bytes(itemsize: usize, tiles: usize) -> (usize, usize) {
    let packed = itemsize <= PACKED_BYTES;
    let word = if packed { 8 * itemsize.div_ceil(4).max(1).next_power_of_two() } else { 4 };
    let cleared = (state_head(itemsize) + word * tiles).next_multiple_of(64);
    let values = if packed { 0 } else { 2 * itemsize.next_multiple_of(16) * tiles };
    (cleared, cleared + values)
}

/// The states of the tiles, the walk back over them, and the scan of a tile; needs `COMBINE`.
pub(crate) const LOOK_BACK: &str = "\
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
template <class T, bool packed> struct states;
template <class T> struct states<T, true> : posts<T>
{
  __device__ states(unsigned char *state, unsigned) : posts<T>(state + 64 + (sizeof(T) + 15) / 16 * 16) {}
};
// Sums and prefixes have places of their own, so that a value that may be read is never overwritten.
template <class T> struct states<T, false>
{
  static const int room = (sizeof(T) + 15) / 16 * 16;
  volatile unsigned *status_;
  unsigned char *values_;
  unsigned tiles_;
  __device__ states(unsigned char *state, unsigned tiles) : status_((volatile unsigned *)(state + 64 + room)),
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
template <class T, int N, int threads, bool rolled> struct slots
{
  room<T, N> own;
  __device__ __forceinline__ T &at(int k) { return own.at(k); }
};
template <class T, int N, int threads> struct slots<T, N, threads, true>
{
  room<T, N * threads> *all;
  __device__ __forceinline__ T &at(int k) { return all->at(k * threads + threadIdx.x); }
};
template <class T, int threads, int groups, int lanes, bool rolled> struct tile_scan
{
  static const int warps = threads / 32, unroll = rolled ? 1 : groups;
  slots<T, groups * lanes, threads, rolled> x;
  // What comes before each group; of the very first group of a row there is nothing.
  slots<T, groups, threads, rolled> before;
  // The warp of the tile that this one reads.
  unsigned warp = threadIdx.x / 32;

  // The place in the tile of the first element of a group.
  __device__ __forceinline__ unsigned place(int group) const
  {
    return (warp * groups + group) * (32 * lanes) + threadIdx.x % 32 * lanes;
  }
  // Scans the warp's items x for themselves; returns their sum.
  template <class Op> __device__ __forceinline__ T inside(Op op)
  {
    const unsigned lane = threadIdx.x % 32;
    room<T, 1> kept;
    T &carry = kept.at(0);
    // Groups side by side, so that their shuffles need not wait for each other.
    for (int first = 0; first < groups; first += unroll)
    {
      #pragma unroll
      for (int g = first; g < first + unroll; ++g)
      {
        T sum = x.at(g * lanes);
        #pragma unroll
        for (int v = 1; v < lanes; ++v) sum = op(sum, x.at(g * lanes + v));
        before.at(g) = sum;
      }
      #pragma unroll
      for (unsigned d = 1; d < 32; d *= 2)
      {
        #pragma unroll
        for (int g = first; g < first + unroll; ++g)
        {
          const T joined = op(shuffle_up(before.at(g), d), before.at(g));
          if (lane >= d) before.at(g) = joined;
        }
      }
      #pragma unroll
      for (int g = first; g < first + unroll; ++g)
      {
        const T left = shuffle_up(before.at(g), 1), all = shuffle_last(before.at(g));
        if (g == 0) { before.at(g) = left; carry = all; }
        else
        {
          const T joined = op(carry, left);
          before.at(g) = lane > 0 ? joined : carry;
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
      for (int g = 0; g < groups; ++g)
      {
        const T joined = op(offset, before.at(g));
        before.at(g) = g > 0 || lane > 0 ? joined : offset;
      }
    }
    return has || lane > 0;
  }
  // Scans the items x of the block's tile; returns what join does.
  template <class States, class Op> __device__ __forceinline__ bool scan(Op op, const States &s, unsigned first, unsigned tile)
  {
    __shared__ room<T, warps + 1> totals;
    const unsigned lane = threadIdx.x % 32;
    const T carry = inside(op);
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
        assert_eq!(state_bytes(4, 3), (128, 128));
        assert_eq!(state_bytes(8, 3), (128, 128));
        assert_eq!(state_bytes(12, 4), (256, 256));
        assert_eq!(state_bytes(32, 3), (128, 128 + 3 * 2 * 32));
    }

    #[test]
    fn tiles_are_long_where_a_warp_is_a_vector() {
        let gpu = ScanShape::new(4, 4, true);
        assert_eq!((gpu.tile(), gpu.groups, gpu.rolled), (8192, 8, false));
        let vectors = ScanShape::new(4, 4, false);
        assert_eq!((vectors.threads, vectors.lanes, vectors.tile(), vectors.rolled), (32, 1, 4096, true));
        assert_eq!(ScanShape::new(100, 1, true).tile(), 256);
    }
}
