// The least and the greatest element with their indices, in one pass: threads fold vectors into registers, warps by
// shuffles, blocks through shared memory, and the block that ends last folds what the blocks have found.
const unsigned ALL = 0xffffffffu;
const int THREADS = 256;

struct Extrema {
  float low, high;
  int low_at, high_at;
  __device__ void add(float low_, int low_at_, float high_, int high_at_)
  {
    if (low_ < low) { low = low_; low_at = low_at_; }
    if (high_ > high) { high = high_; high_at = high_at_; }
  }
  __device__ void add(float x, int i) { add(x, i, x, i); }
};

__device__ Extrema fold_warp(Extrema e)
{
  for (int d = 16; d > 0; d /= 2)
    e.add(__shfl_down_sync(ALL, e.low, d), __shfl_down_sync(ALL, e.low_at, d),
          __shfl_down_sync(ALL, e.high, d), __shfl_down_sync(ALL, e.high_at, d));
  return e;
}

// Thread 0 gets the result.
__device__ Extrema fold_block(Extrema e, const Extrema &none)
{
  __shared__ Extrema parts[THREADS / 32];
  e = fold_warp(e);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = e;
  __syncthreads();
  if (threadIdx.x < 32) e = fold_warp(threadIdx.x < THREADS / 32 ? parts[threadIdx.x] : none);
  return e;
}

// `ticket` is 0 before and after.
extern "C" __global__ void __launch_bounds__(THREADS)
extrema(const float4 *__restrict__ x, int n, Extrema *partials, unsigned *ticket, long long *low_index, float *low,
        long long *high_index, float *high)
{
  __shared__ bool is_last;
  const int first = blockIdx.x * THREADS + threadIdx.x;
  const Extrema none = {3.402823466e38f, -3.402823466e38f, -1, -1};
  Extrema e = none;
  #pragma unroll 4
  for (int i = first; i < n / 4; i += gridDim.x * THREADS) {
    const float4 v = x[i];
    e.add(v.x, 4 * i);
    e.add(v.y, 4 * i + 1);
    e.add(v.z, 4 * i + 2);
    e.add(v.w, 4 * i + 3);
  }
  const int i = n / 4 * 4 + first;
  if (i < n) e.add(((const float *)x)[i], i);
  e = fold_block(e, none);
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = e;
    __threadfence();
    is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  e = none;
  for (int k = threadIdx.x; k < gridDim.x; k += THREADS) {
    const Extrema other = partials[k];
    e.add(other.low, other.low_at, other.high, other.high_at);
  }
  e = fold_block(e, none);
  if (threadIdx.x == 0) {
    *low_index = e.low_at;
    *low = e.low;
    *high_index = e.high_at;
    *high = e.high;
  }
}
