//! What all reductions share: how the threads of a device share outputs, and how their values meet.
//!
//! Each output has a team of threads of one block, and long runs are split over several blocks. A block
//! leaves its values of split runs in scratch memory, and the block that draws the last ticket of an
//! output's blocks combines them: store, fence, atomic on one side, atomic, fence, load on the other. The
//! ticket wraps to zero by itself, so the next launch finds it as this one did, and one launch does for
//! any size.
//!
//! Values are combined in an order that the shares alone decide; the operation has to be associative and
//! commutative.

/// Threads of a block of every reduction.
pub const REDUCE_THREADS: u32 = 256;
/// Tickets that a launch may use; each has four bytes.
pub const TICKETS: usize = 4096;

/// How the threads of the device share outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Threads for one output; 1, a power of two up to 32 when `along`, or one up to [`REDUCE_THREADS`].
    pub team: u32,
    /// Blocks for one output.
    pub splits: usize,
}

impl Share {
    /// The share of `outputs` runs of `length` elements on a device that runs `resident` blocks at once.
    /// With `along`, neighbouring threads take neighbours of a run, else neighbouring outputs; `teams` tells
    /// whether threads of several warps may share such an output, which costs a device that runs warps
    /// as vectors more than a further block.
    pub fn new(outputs: usize, length: usize, along: bool, resident: usize, teams: bool) -> Self {
        let threads = REDUCE_THREADS as usize;
        let team = if along {
            if length > 1024 { threads } else { length.div_ceil(4).max(1).next_power_of_two().min(32) }
        } else {
            // Few outputs leave threads of a block without one; they share the runs.
            let idle = threads / outputs.clamp(1, threads).next_power_of_two();
            let wanted = if teams && outputs < resident.saturating_mul(threads) { idle.max(8) } else { 1 };
            wanted.min((length / 8).max(1).next_power_of_two())
        };
        let blocks = outputs.div_ceil(threads / team).max(1);
        // A split that is too short costs more in its partial result than it gains.
        let longest = length / (team * if along { 16 } else { 32 });
        let splits = if blocks > TICKETS { 1 } else { (resident / blocks).min(longest).clamp(1, 65535) };
        Self { team: team as u32, splits }
    }

    /// Outputs of one block.
    pub fn group(&self) -> usize {
        (REDUCE_THREADS / self.team) as usize
    }
}

/// Room for values in shared memory whatever constructors they have, exchange inside of a warp and of a
/// block, and the loop over a block's outputs.
pub(crate) const COMBINE: &str = "\
namespace rtcg {
template <class T, int N> struct room
{
  alignas(alignof(T) < 4 ? 4 : alignof(T)) unsigned char raw[N * sizeof(T)];
  __device__ T &at(unsigned k) { return reinterpret_cast<T *>(raw)[k]; }
};
template <class T> struct words
{
  static const int count = (sizeof(T) + 3) / 4;
  union { unsigned w[count]; unsigned char bytes[sizeof(T)]; };
  __device__ words() {}
  __device__ explicit words(const T &value)
  {
    if (sizeof(T) % 4 == 0 && alignof(T) % 4 == 0)
      for (int k = 0; k < count; ++k) w[k] = reinterpret_cast<const unsigned *>(&value)[k];
    else {
      for (int k = 0; k < count; ++k) w[k] = 0;
      for (int k = 0; k < (int)sizeof(T); ++k) bytes[k] = reinterpret_cast<const unsigned char *>(&value)[k];
    }
  }
  __device__ void get(T &value) const
  {
    if (sizeof(T) % 4 == 0 && alignof(T) % 4 == 0)
      for (int k = 0; k < count; ++k) reinterpret_cast<unsigned *>(&value)[k] = w[k];
    else
      for (int k = 0; k < (int)sizeof(T); ++k) reinterpret_cast<unsigned char *>(&value)[k] = bytes[k];
  }
};
template <class T> __device__ __forceinline__ T shuffle_down(T value, unsigned distance)
{
  words<T> packed(value);
  for (int k = 0; k < words<T>::count; ++k) packed.w[k] = __shfl_down_sync(0xffffffffu, packed.w[k], distance);
  packed.get(value);
  return value;
}
template <class T> __device__ __forceinline__ T shuffle_up(T value, unsigned distance)
{
  words<T> packed(value);
  for (int k = 0; k < words<T>::count; ++k) packed.w[k] = __shfl_up_sync(0xffffffffu, packed.w[k], distance);
  packed.get(value);
  return value;
}
// The values of `count` threads that follow each other in a warp; the first of them gets the result.
template <int count, class T, class Op> __device__ __forceinline__ T fold_warp(T acc, Op op)
{
  #pragma unroll
  for (unsigned s = count / 2; s > 0; s /= 2) acc = op(acc, shuffle_down(acc, s));
  return acc;
}
// The values of a block; thread 0 gets the result.
template <int threads, class T, class Op> __device__ __forceinline__ T fold_block(T acc, Op op)
{
  __shared__ room<T, threads / 32> parts;
  acc = fold_warp<32>(acc, op);
  // The values of the fold before may still be read.
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts.at(threadIdx.x / 32) = acc;
  __syncthreads();
  if (threadIdx.x == 0)
  {
    #pragma unroll
    for (unsigned w = 1; w < threads / 32; ++w) acc = op(acc, parts.at(w));
  }
  return acc;
}
// The values of each output's team; its lane 0 gets the result.
template <int threads, int team, bool along, class T, class Op> __device__ __forceinline__ T fold_team(T acc, Op op)
{
  if constexpr (team == 1) return acc;
  else if constexpr (along && team <= 32) return fold_warp<team>(acc, op);
  else if constexpr (team == threads) return fold_block<threads>(acc, op);
  else
  {
    __shared__ room<T, threads> parts;
    __syncthreads();
    parts.at(threadIdx.x) = acc;
    #pragma unroll
    for (unsigned s = threads / 2; s >= threads / team; s /= 2)
    {
      __syncthreads();
      if (threadIdx.x < s) parts.at(threadIdx.x) = acc = op(acc, parts.at(threadIdx.x + s));
    }
    return acc;
  }
}
// Whether all other blocks that count on this ticket have been here; what they wrote before can be read.
__device__ __forceinline__ bool is_last_block(unsigned *ticket, unsigned count)
{
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(ticket, count - 1) == count - 1;
  __syncthreads();
  __threadfence();
  return last;
}
// Each output of the block: fold(output, lane, start) takes a thread's share of the run, store(output,
// value) the result. The second dimension of the grid splits the runs.
template <int threads, int team, bool along, bool split, class T, class Fold, class Op, class Store>
__device__ __forceinline__ void reduce_outputs(unsigned long long outputs, T neutral, T *partials, unsigned *tickets, Fold fold, Op op, Store store)
{
  const unsigned group = threads / team;
  // Written so that a compiler sees which of them is the thread's own number.
  const unsigned lane = team == 1 ? 0 : team == threads ? threadIdx.x : along ? threadIdx.x % team : threadIdx.x / group;
  const unsigned slot = team == 1 ? threadIdx.x : team == threads ? 0 : along ? threadIdx.x / team : threadIdx.x % group;
  for (unsigned long long base = (unsigned long long)blockIdx.x * group; base < outputs; base += (unsigned long long)gridDim.x * group)
  {
    const unsigned long long output = base + slot;
    const bool valid = output < outputs;
    T acc = neutral;
    if (valid) acc = fold(output, lane, neutral);
    acc = fold_team<threads, team, along>(acc, op);
    if constexpr (split)
    {
      if (lane == 0 && valid) partials[blockIdx.y * outputs + output] = acc;
      if (!is_last_block(tickets + blockIdx.x, gridDim.y)) return;
      acc = neutral;
      if (valid)
        for (unsigned s = lane; s < gridDim.y; s += team) acc = op(acc, partials[s * outputs + output]);
      acc = fold_team<threads, team, along>(acc, op);
    }
    if (lane == 0 && valid) store(output, acc);
  }
}
template <int D, int rows> __device__ void unravel(unsigned long at, const long *shape, const long (*strides)[D], long *offsets)
{
  for (int row = 0; row < rows; ++row) offsets[row] = 0;
  #pragma unroll
  for (int axis = D - 1; axis >= 0; --axis) {
    long index = at;
    if (axis > 0) {
      if (at >> 32 | (unsigned long)shape[axis] >> 32) { index = at % shape[axis]; at /= shape[axis]; }
      else { const unsigned length = shape[axis]; index = (unsigned)at % length; at = (unsigned)at / length; }
    }
    #pragma unroll
    for (int row = 0; row < rows; ++row) offsets[row] += index * strides[row][axis];
  }
}
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_outputs_of_long_runs_fill_the_device() {
        assert_eq!(Share::new(1, 1 << 26, true, 1056, true), Share { team: 256, splits: 1056 });
        assert_eq!(Share::new(3, 1 << 24, true, 1056, true), Share { team: 256, splits: 352 });
        // Sixty-four outputs side by side: four threads of a block would be idle but for their teams.
        assert_eq!(Share::new(64, 1 << 20, false, 1056, true), Share { team: 8, splits: 528 });
        assert_eq!(Share::new(8, 1 << 20, false, 1056, true), Share { team: 32, splits: 1024 });
        assert_eq!(Share::new(8, 1 << 20, false, 16, false), Share { team: 1, splits: 16 });
    }

    #[test]
    fn short_runs_and_many_outputs_are_not_split() {
        assert_eq!(Share::new(1, 1000, true, 1056, true), Share { team: 32, splits: 1 });
        assert_eq!(Share::new(1 << 20, 8192, true, 1056, true), Share { team: 256, splits: 1 });
        assert_eq!(Share::new(1 << 20, 100, false, 1056, true), Share { team: 1, splits: 1 });
        assert_eq!(Share::new(5, 1, false, 8, true), Share { team: 1, splits: 1 });
        assert_eq!(Share::new(0, 0, true, 8, true).splits, 1);
    }
}
