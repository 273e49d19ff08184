//! The common part of all reductions: how the threads of a device are distributed over outputs, and how their values
//! are combined.
//!
//! Each output has a group of threads of one block. Long reductions are split over several blocks: a block leaves its
//! partial result in scratch memory, and the block that increments the completion counter last combines the partial
//! results. The order is store, fence, atomic on one side, and atomic, fence, load on the other. The counter wraps to
//! zero by itself, so the next launch finds it as this one did, and a single launch handles any size.
//!
//! Blocks *gather* instead if waiting is cheap (on a GPU), a whole block works on one output, and the device can hold
//! more blocks. (Gathering takes registers, so on a full device fewer blocks would be resident.) They increment their
//! counters as they begin, when no thread waits for the answer. They pass their values as flagged values, as scans do
//! (`look_back.rs`), to the block that began last. All blocks that it waits for have begun, so the wait ends however
//! few blocks are resident. It clears the words again.
//!
//! Only the work partition determines the order in which values are combined. The operation must be associative and
//! commutative.
//!
//! The error of a sum is bounded for *every* partition, so that speed never costs digits: a thread combines at most
//! [`MAX_SERIAL_TERMS`] elements in sequence, and the results of these by levels (`cascade`); no thread combines more
//! partial results of splits in sequence than that. An element takes part in at most some 600 additions, for any length
//! that fits in memory.

use rtcg_hal::{DeviceInfo, tunable};

/// Default number of threads per block of a reduction.
pub const REDUCE_THREADS: u32 = 256;
/// Maximum number of elements, or partial results, that a thread combines in sequence.
pub const MAX_SERIAL_TERMS: usize = 256;
/// Maximum number of completion counters per launch; each has four bytes.
pub const COMPLETION_COUNTERS: usize = 4096;
/// Bytes of the largest value that travels beside its status.
pub(crate) const MAX_FLAGGED_BYTES: usize = 16;
/// The completion counters and, after them, the flagged values of blocks that gather. All are zero before and after
/// each launch.
pub use rtcg_hal::REDUCTION_STATE_BYTES;
const _: () = assert!(COMPLETION_COUNTERS * (4 + 2 * MAX_FLAGGED_BYTES) == REDUCTION_STATE_BYTES);

tunable! {
    /// How the threads of the device share the outputs of a reduction.
    pub ReduceChoice = "reduce.partition";
    /// Outputs, each from a run of elements.
    problem ReduceProblem {
        /// Number of outputs.
        outputs: i64 = PowerOfTwo,
        /// Elements per run.
        length: i64 = PowerOfTwo,
        /// Whether adjacent threads take adjacent elements of a run, rather than adjacent outputs.
        contiguous: bool = Exact,
        /// Bytes per element.
        itemsize: i64 = Exact,
    }
    parameters {
        /// Threads per block.
        threads: i64 = [64, 128, 256, 512, 1024],
        /// Threads per output.
        threads_per_output: i64 = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
        /// Elements per thread that justify a further block for the same output.
        min_split: i64 = [4, 8, 16, 32, 64, 128, 256],
        /// Runs are split until there are at most this many times the blocks that the device holds at once; 0 disables
        /// splitting.
        waves: i64 = [0, 1, 2, 4],
        /// Whether the blocks of an output send their values to the one that began last, rather than leaving them in
        /// memory.
        gather: bool = [false, true],
        /// Bytes that a thread loads before it combines the first of them, if it reads packs.
        in_flight_bytes: i64 = [16, 32, 64, 128, 256],
        /// Elements that a thread loads before it combines the first of them, if it reads single elements.
        unroll: i64 = [1, 2, 4, 8],
        /// Whether a thread handles several adjacent outputs if they can be read at once.
        adjacent_outputs: bool = [false, true],
    }
    device {}
    require {
        threads_per_output <= threads;
        !contiguous || threads_per_output <= 32 || threads_per_output == threads;
    }
    rule reduce_rule;
}

fn reduce_rule(problem: &ReduceProblem, device_info: &DeviceInfo) -> ReduceChoice {
    let (outputs, length) = (problem.outputs as usize, problem.length as usize);
    let (resident, is_simt) = (device_info.resident_blocks(), !device_info.is_simd_cpu());
    ReduceChoice::new(outputs, length, problem.contiguous, resident, is_simt)
}

/// Elements of a thread that are worth a further block on a device that runs warps as vectors.
const SIMD_MIN_SPLIT: usize = 256;
/// Elements that a thread fetches at once there.
const SIMD_UNROLL: usize = 8;

impl ReduceChoice {
    /// The rule for `outputs` runs of `length` elements on a device that runs `resident` blocks at once. `is_simt`
    /// is false for a device that runs warps as vectors, where a tree over the warps of a block costs as much as reading
    /// thousands of elements, and blocks should not wait for each other.
    fn new(outputs: usize, length: usize, contiguous: bool, resident: usize, is_simt: bool) -> Self {
        let threads = REDUCE_THREADS as usize;
        let threads_per_output = if contiguous {
            // A warp reads a short run as soon as a block does; a longer one is worth a block where there are idle ones.
            let has_block = match is_simt {
                true => length > 1024 || (length > 512 && outputs <= resident),
                false => outputs <= 16 && length > 2 * threads * SIMD_MIN_SPLIT,
            };
            let each = if is_simt { 4 } else { SIMD_UNROLL };
            if has_block { threads } else { length.div_ceil(each).max(1).next_power_of_two().min(32) }
        } else {
            // Few outputs leave threads of a block without one; they share the runs.
            let idle = threads / outputs.clamp(1, threads).next_power_of_two();
            let wanted = if is_simt && outputs < resident.saturating_mul(threads) { idle.max(8) } else { 1 };
            wanted.min((length / 8).max(1).next_power_of_two())
        };
        Self {
            threads: threads as i64,
            threads_per_output: threads_per_output as i64,
            min_split: match (contiguous, is_simt) {
                (true, true) => 16,
                (true, false) => SIMD_MIN_SPLIT as i64,
                (false, _) => 32,
            },
            waves: 1,
            gather: is_simt,
            in_flight_bytes: 64,
            unroll: if is_simt { 4 } else { SIMD_UNROLL as i64 },
            adjacent_outputs: true,
        }
    }
}

/// How the threads of the device share outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkPartition {
    /// Threads per block.
    pub threads: u32,
    /// Threads per output: 1, a power of two up to 32 if `reduce_contiguous`, or a power of two up to the whole block.
    pub threads_per_output: u32,
    /// Blocks per output.
    pub splits: usize,
    /// Whether the blocks of an output send their values to the one that began last.
    pub gather: bool,
}

impl WorkPartition {
    /// The rule's partition of `outputs` runs of `length` elements on a device that runs `resident` blocks at once.
    /// With `reduce_contiguous`, adjacent threads take adjacent elements of a run, otherwise adjacent outputs;
    /// `is_simt` is false for a device that runs warps as vectors.
    pub fn new(outputs: usize, length: usize, reduce_contiguous: bool, resident: usize, is_simt: bool) -> Self {
        let choice = ReduceChoice::new(outputs, length, reduce_contiguous, resident, is_simt);
        Self::chosen(&choice, outputs, length, reduce_contiguous, resident)
    }

    /// The partition for a choice.
    pub fn chosen(
        choice: &ReduceChoice,
        outputs: usize,
        length: usize,
        reduce_contiguous: bool,
        resident: usize,
    ) -> Self {
        let (threads, threads_per_output) = (choice.threads as usize, choice.threads_per_output as usize);
        let blocks = outputs.div_ceil(threads / threads_per_output).max(1);
        // A split that is too short costs more in its partial result than it gains.
        let longest = match reduce_contiguous {
            true if threads_per_output < threads => 1,
            _ => length / (threads_per_output * choice.min_split as usize),
        };
        let wanted = resident.saturating_mul(choice.waves as usize).min(COMPLETION_COUNTERS);
        let most = longest.min(threads_per_output * MAX_SERIAL_TERMS);
        let splits = if blocks > COMPLETION_COUNTERS { 1 } else { (wanted / blocks).min(most).max(1) };
        let whole =
            Self { threads: threads as u32, threads_per_output: threads_per_output as u32, splits: 1, gather: false };
        whole.with_splits(splits, outputs, resident, choice.gather)
    }

    /// The same threads per output, with each run split into `splits` parts, which are gathered if that is `allowed`
    /// and faster.
    pub fn with_splits(self, splits: usize, outputs: usize, resident: usize, allowed: bool) -> Self {
        let is_full = outputs.div_ceil(self.outputs_per_block()).max(1) * splits >= resident;
        let gather = allowed && splits > 1 && self.threads_per_output == self.threads && !is_full;
        Self { splits, gather, ..self }
    }

    /// Outputs per block.
    pub fn outputs_per_block(&self) -> usize {
        (self.threads / self.threads_per_output) as usize
    }
}

/// Storage for values in shared memory whatever constructors they have, exchange within a warp and within a
/// block, and the loop over a block's outputs.
pub(crate) const BLOCK_REDUCE_SOURCE: &str = "\
namespace rtcg {
template <class T, int N> struct uninitialized
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
// What is not read again needs no copy in the first-level cache.
template <class P> __device__ __forceinline__ void load_no_allocate(P &to, const P *from)
{
  if constexpr (sizeof(P) % 16 == 0 && alignof(P) >= 16)
  {
    uint4 *part = reinterpret_cast<uint4 *>(&to);
    #pragma unroll
    for (size_t k = 0; k < sizeof(P) / 16; ++k)
      asm volatile(\"ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];\"
        : \"=r\"(part[k].x), \"=r\"(part[k].y), \"=r\"(part[k].z), \"=r\"(part[k].w)
        : \"l\"(__cvta_generic_to_global(reinterpret_cast<const uint4 *>(from) + k)));
  }
  else to = *from;
}
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
template <int count, class T, class Op> __device__ __forceinline__ T warp_reduce(T acc, Op op)
{
  #pragma unroll
  for (unsigned s = count / 2; s > 0; s /= 2) acc = op(acc, shuffle_down(acc, s));
  return acc;
}
// The values of a block; thread 0 gets the result.
template <int threads, class T, class Op> __device__ __forceinline__ T block_reduce(T acc, Op op)
{
  __shared__ uninitialized<T, threads / 32> parts;
  acc = warp_reduce<32>(acc, op);
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
// The values of each output's threads; their lane 0 gets the result.
template <int threads, int threads_per_output, bool reduce_contiguous, class T, class Op> __device__ __forceinline__ T reduce_per_output(T acc, Op op)
{
  if constexpr (threads_per_output == 1) return acc;
  else if constexpr (reduce_contiguous && threads_per_output <= 32) return warp_reduce<threads_per_output>(acc, op);
  else if constexpr (threads_per_output == threads) return block_reduce<threads>(acc, op);
  else
  {
    __shared__ uninitialized<T, threads> parts;
    __syncthreads();
    parts.at(threadIdx.x) = acc;
    #pragma unroll
    for (unsigned s = threads / 2; s >= threads / threads_per_output; s /= 2)
    {
      __syncthreads();
      if (threadIdx.x < s) parts.at(threadIdx.x) = acc = op(acc, parts.at(threadIdx.x + s));
    }
    return acc;
  }
}
// Partial results of a thread, combined by levels: 128 of a level are one of the next.
template <class T> struct cascade
{
  T first, second, third;
  unsigned count;
  __device__ __forceinline__ explicit cascade(const T &neutral) : first(neutral), second(neutral), third(neutral), count(0) {}
  template <class Op> __device__ __forceinline__ void push(const T &value, const T &neutral, Op op)
  {
    first = op(first, value);
    if (++count % 128 != 0) return;
    second = op(second, first);
    first = neutral;
    if (count % 16384 != 0) return;
    third = op(third, second);
    second = neutral;
  }
  template <class Op> __device__ __forceinline__ T total(Op op) const { return op(op(third, second), first); }
};
// Whether all other blocks that increment this counter have done so; what they wrote before can be read.
__device__ __forceinline__ bool is_last_block(unsigned *ticket, unsigned count)
{
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0)
  {
    // With the barriers around it, this thread's fences hold for the block.
    __threadfence();
    last = atomicInc(ticket, count - 1) == count - 1;
    __threadfence();
  }
  __syncthreads();
  return last;
}
// Places where values lie beside a status; 0 is none yet.
template <class T> struct flagged_values
{
  static const int count = words<T>::count, pitch = count == 3 ? 4 : count;
  // Larger ones have no room there.
  static const bool fits = sizeof(T) <= 16;
  volatile unsigned long long *at_;
  __device__ explicit flagged_values(void *at) : at_((volatile unsigned long long *)at) {}
  __device__ __forceinline__ void put(unsigned place, unsigned status, const T &value) const
  {
    words<T> packed(value);
    #pragma unroll
    for (int k = 0; k < count; ++k) at_[(size_t)place * pitch + k] = (unsigned long long)status << 32 | packed.w[k];
  }
  __device__ __forceinline__ unsigned poll(unsigned place, T &value) const
  {
    words<T> packed;
    unsigned status = 0;
    bool same = true;
    #pragma unroll
    for (int k = 0; k < count; ++k) {
      const unsigned long long word = at_[(size_t)place * pitch + k];
      packed.w[k] = (unsigned)word;
      if (k == 0) status = (unsigned)(word >> 32); else same = same && status == (unsigned)(word >> 32);
    }
    packed.get(value);
    return same ? status : 0;
  }
  __device__ __forceinline__ void clear(unsigned place) const
  {
    #pragma unroll
    for (int k = 0; k < count; ++k) at_[(size_t)place * pitch + k] = 0;
  }
};
// The values of `count` blocks, whose places in the words behind the counters begin at `first`; thread 0 of the
// block that began last gets the result, and that block true. `ticket` is what thread 0 drew as the block began.
template <int threads, class T, class Op>
__device__ __forceinline__ bool gather_blocks(T &acc, T neutral, unsigned *counters, unsigned first, unsigned place, unsigned count, unsigned ticket, Op op)
{
  __shared__ bool last;
  const flagged_values<T> values(counters + 4096);
  if (threadIdx.x == 0)
  {
    values.put(first + place, 1, acc);
    last = ticket == count - 1;
  }
  __syncthreads();
  if (!last) return false;
  acc = neutral;
  const int batch = 8;
  for (unsigned from = threadIdx.x; from < count; from += batch * threads)
  {
    uninitialized<T, batch> got;
    bool all;
    do {
      all = true;
      // What another thread has seen it clears, so nobody else may look there.
      #pragma unroll
      for (int k = 0; k < batch; ++k)
        if (!values.poll(first + (from + k * threads < count ? from + k * threads : from), got.at(k))) all = false;
    } while (!all);
    #pragma unroll
    for (int k = 0; k < batch; ++k)
      if (from + k * threads < count)
      {
        acc = op(acc, got.at(k));
        values.clear(first + from + k * threads);
      }
  }
  acc = block_reduce<threads>(acc, op);
  return true;
}
// Each output of the block: fold(output, lane, start) takes a thread's share of the run, store(output,
// value) the result. The second dimension of the grid splits the runs.
template <int threads, int threads_per_output, bool reduce_contiguous, bool split, bool gather, class T, class Fold, class Op, class Store>
__device__ __forceinline__ void reduce_outputs(unsigned long long outputs, T neutral, T *partials, unsigned *counters, Fold fold, Op op, Store store)
{
  const unsigned group = threads / threads_per_output;
  constexpr bool gathers = gather && split && threads_per_output == threads && flagged_values<T>::fits;
  unsigned ticket = 0;
  if (gathers && threadIdx.x == 0) ticket = atomicInc(counters + blockIdx.x, gridDim.y - 1);
  // Written so that a compiler sees which of them is the thread's own number.
  const unsigned lane = threads_per_output == 1 ? 0 : threads_per_output == threads ? threadIdx.x : reduce_contiguous ? threadIdx.x % threads_per_output : threadIdx.x / group;
  const unsigned slot = threads_per_output == 1 ? threadIdx.x : threads_per_output == threads ? 0 : reduce_contiguous ? threadIdx.x / threads_per_output : threadIdx.x % group;
  for (unsigned long long base = (unsigned long long)blockIdx.x * group; base < outputs; base += (unsigned long long)gridDim.x * group)
  {
    const unsigned long long output = base + slot;
    const bool valid = output < outputs;
    T acc = neutral;
    if (valid) acc = fold(output, lane, neutral);
    acc = reduce_per_output<threads, threads_per_output, reduce_contiguous>(acc, op);
    if constexpr (gathers)
    {
      if (!gather_blocks<threads>(acc, neutral, counters, blockIdx.x * gridDim.y, blockIdx.y, gridDim.y, ticket, op)) return;
    }
    else if constexpr (split)
    {
      if (lane == 0 && valid) partials[blockIdx.y * outputs + output] = acc;
      if (!is_last_block(counters + blockIdx.x, gridDim.y)) return;
      acc = neutral;
      if (valid)
        for (unsigned s = lane; s < gridDim.y; s += threads_per_output) acc = op(acc, partials[s * outputs + output]);
      acc = reduce_per_output<threads, threads_per_output, reduce_contiguous>(acc, op);
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
    fn cuda_source_and_rust_constants_agree() {
        assert!(BLOCK_REDUCE_SOURCE.contains(&format!("values(counters + {COMPLETION_COUNTERS});")));
        assert!(BLOCK_REDUCE_SOURCE.contains(&format!("fits = sizeof(T) <= {MAX_FLAGGED_BYTES};")));
    }

    #[test]
    fn few_long_reductions_fill_the_device() {
        assert_eq!(
            WorkPartition::new(1, 1 << 26, true, 1056, true),
            WorkPartition { threads: 256, threads_per_output: 256, splits: 1056, gather: false }
        );
        assert_eq!(
            WorkPartition::new(1, 1 << 20, true, 1056, true),
            WorkPartition { threads: 256, threads_per_output: 256, splits: 256, gather: true }
        );
        assert_eq!(
            WorkPartition::new(3, 1 << 24, true, 1056, true),
            WorkPartition { threads: 256, threads_per_output: 256, splits: 352, gather: false }
        );
        // Sixty-four adjacent outputs would leave threads of a block without one, so eight share each.
        assert_eq!(
            WorkPartition::new(64, 1 << 20, false, 1056, true),
            WorkPartition { threads: 256, threads_per_output: 8, splits: 528, gather: false }
        );
        assert_eq!(
            WorkPartition::new(8, 1 << 20, false, 1056, true),
            WorkPartition { threads: 256, threads_per_output: 32, splits: 1024, gather: false }
        );
        assert_eq!(
            WorkPartition::new(1, 1 << 26, true, 16, false),
            WorkPartition { threads: 256, threads_per_output: 256, splits: 16, gather: false }
        );
        assert_eq!(
            WorkPartition::new(8, 1 << 20, false, 16, false),
            WorkPartition { threads: 256, threads_per_output: 1, splits: 16, gather: false }
        );
    }

    #[test]
    fn short_or_many_reductions_are_not_split() {
        assert_eq!(
            WorkPartition::new(1, 500, true, 1056, true),
            WorkPartition { threads: 256, threads_per_output: 32, splits: 1, gather: false }
        );
        for n in [1000, 1024, 4096] {
            assert_eq!(
                WorkPartition::new(1, n, true, 1056, true),
                WorkPartition { threads: 256, threads_per_output: 256, splits: 1, gather: false }
            );
        }
        assert_eq!(
            WorkPartition::new(2000, 1024, true, 1056, true),
            WorkPartition { threads: 256, threads_per_output: 32, splits: 1, gather: false }
        );
        assert_eq!(
            WorkPartition::new(1, 1024, true, 16, false),
            WorkPartition { threads: 256, threads_per_output: 32, splits: 1, gather: false }
        );
        assert_eq!(
            WorkPartition::new(1 << 20, 8192, true, 1056, true),
            WorkPartition { threads: 256, threads_per_output: 256, splits: 1, gather: false }
        );
        assert_eq!(
            WorkPartition::new(1 << 20, 100, false, 1056, true),
            WorkPartition { threads: 256, threads_per_output: 1, splits: 1, gather: false }
        );
        assert_eq!(
            WorkPartition::new(5, 1, false, 8, true),
            WorkPartition { threads: 256, threads_per_output: 1, splits: 1, gather: false }
        );
        assert_eq!(WorkPartition::new(0, 0, true, 8, true).splits, 1);
    }
}
