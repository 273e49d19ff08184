// The longest Collatz sequence that begins below n. Each thread walks the sequences of a stride of starts and keeps its
// best one as a key, length before start; a maximum by shuffles and one atomic operation for each block remain.
typedef unsigned long long u64;

__device__ __forceinline__ u64 key_of(unsigned length, unsigned start) { return (u64)length << 32 | ~start; }

// `best` and `ticket` are 0 before and after.
extern "C" __global__ void __launch_bounds__(256)
longest(unsigned n, u64 *best, unsigned *ticket, long long *start, long long *length)
{
  __shared__ u64 shared_best;
  if (threadIdx.x == 0) shared_best = 0;
  __syncthreads();
  u64 own = 0;
  for (unsigned first = 1 + blockIdx.x * blockDim.x + threadIdx.x; first < n; first += gridDim.x * blockDim.x) {
    u64 x = first;
    unsigned steps = 1;
    for (; x != 1; ++steps) x = x & 1 ? 3 * x + 1 : x >> 1;
    own = max(own, key_of(steps, first));
  }
  for (int d = 16; d > 0; d /= 2) own = max(own, __shfl_down_sync(0xffffffffu, own, d));
  if (threadIdx.x % 32 == 0) atomicMax(&shared_best, own);
  __syncthreads();
  if (threadIdx.x > 0) return;
  atomicMax(best, shared_best);
  __threadfence();
  if (atomicInc(ticket, gridDim.x - 1) < gridDim.x - 1) return;
  const u64 key = atomicExch(best, 0);
  *start = ~(unsigned)key;
  *length = key >> 32;
}
