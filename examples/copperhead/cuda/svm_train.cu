// An iteration of sequential minimal optimisation in one kernel: warps read each point once for both rows of the RBF
// kernel, whose two points lie in shared memory, update the gradient, and keep the extrema of the candidates; the block
// that ends last folds what the blocks have found.
const unsigned ALL = 0xffffffffu;
const int THREADS = 256, WARPS = THREADS / 32;

struct Extrema {
  float low, high;
  int low_at, high_at;
  __device__ void add(const Extrema &other)
  {
    if (other.low < low) { low = other.low; low_at = other.low_at; }
    if (other.high > high) { high = other.high; high_at = other.high_at; }
  }
};

__device__ __forceinline__ float squared(float a, float b) { return (a - b) * (a - b); }
__device__ __forceinline__ float squared(const float4 &a, const float4 &b)
{
  return squared(a.x, b.x) + squared(a.y, b.y) + squared(a.z, b.z) + squared(a.w, b.w);
}

// The squared distances of a point to the two in shared memory, in all lanes.
template <class T> __device__ __forceinline__ float2 distances(const T *point, const T *high, const T *low, int width)
{
  const int lane = threadIdx.x % 32;
  float2 sum = make_float2(0, 0);
  #pragma unroll 4
  for (int k = lane; k < width; k += 32) {
    const T value = point[k];
    sum.x += squared(value, high[k]);
    sum.y += squared(value, low[k]);
  }
  for (int d = 16; d > 0; d /= 2) {
    sum.x += __shfl_xor_sync(ALL, sum.x, d);
    sum.y += __shfl_xor_sync(ALL, sum.y, d);
  }
  return sum;
}

// `ticket` is 0 before and after; the shared memory holds two points.
extern "C" __global__ void __launch_bounds__(THREADS)
iteration(const float *__restrict__ points, const float *__restrict__ labels, const float *__restrict__ alpha,
          const float *__restrict__ f, float *__restrict__ new_f, int n, int width, int high, int low, float gamma,
          float high_step, float low_step, float eps, float cost, float infinity, Extrema *partials, unsigned *ticket,
          long long *high_index, float *high_value, long long *low_index, float *low_value)
{
  extern __shared__ float4 shared[];
  __shared__ Extrema parts[WARPS];
  __shared__ bool is_last;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float *both = (float *)shared;
  for (int k = threadIdx.x; k < width; k += THREADS) {
    both[k] = points[(size_t)high * width + k];
    both[width + k] = points[(size_t)low * width + k];
  }
  __syncthreads();
  Extrema found = {infinity, -infinity, -1, -1};
  for (int i = blockIdx.x * WARPS + warp; i < n; i += gridDim.x * WARPS) {
    const float *point = points + (size_t)i * width;
    const float2 squares = width % 4 == 0
      ? distances((const float4 *)point, shared, shared + width / 4, width / 4)
      : distances(point, (const float *)both, (const float *)both + width, width);
    if (lane == 0) {
      const float value = f[i] + high_step * expf(-gamma * squares.x) + low_step * expf(-gamma * squares.y);
      const float weight = alpha[i], label = labels[i];
      const bool is_low = weight < eps, is_high = weight > cost - eps, is_between = !is_low && !is_high;
      const bool may_rise = is_between || (label > 0 ? is_low : label < 0 && is_high);
      const bool may_fall = is_between || (label > 0 ? is_high : label < 0 && is_low);
      new_f[i] = value;
      found.add({may_rise ? value : infinity, may_fall ? value : -infinity, i, i});
    }
  }
  if (lane == 0) parts[warp] = found;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < WARPS; ++w) found.add(parts[w]);
    partials[blockIdx.x] = found;
    __threadfence();
    is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last || warp > 0) return;
  found = {infinity, -infinity, -1, -1};
  for (int k = lane; k < gridDim.x; k += 32) found.add(partials[k]);
  for (int d = 16; d > 0; d /= 2)
    found.add({__shfl_down_sync(ALL, found.low, d), __shfl_down_sync(ALL, found.high, d),
               __shfl_down_sync(ALL, found.low_at, d), __shfl_down_sync(ALL, found.high_at, d)});
  if (lane == 0) {
    *high_index = found.low_at;
    *high_value = found.low;
    *low_index = found.high_at;
    *low_value = found.high;
  }
}
