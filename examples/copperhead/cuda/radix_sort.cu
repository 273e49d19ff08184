// Radix sort by one bit for each pass, as the program has it: a scan of the ones from the left, one of the zeros from the
// right, and a permutation. Scans take one pass over memory with decoupled look-back; a word holds status and count.
typedef unsigned long long u64;
const unsigned ALL = 0xffffffffu;
const int THREADS = 256, RUN = 16, TILE = THREADS * RUN, WARPS = THREADS / 32;

__device__ __forceinline__ u64 packed(unsigned kind, int count) { return (u64)kind << 32 | (unsigned)count; }

// The count of all tiles before `tile`, which a warp finds together.
__device__ int look_back(volatile u64 *tiles, int tile)
{
  const int lane = threadIdx.x % 32;
  int all = 0;
  for (int window = tile - 1;; window -= 32) {
    const int at = window - lane;
    u64 word = packed(2, 0);
    if (at >= 0)
      while ((word = tiles[at]) == 0) __nanosleep(20);
    const unsigned known = __ballot_sync(ALL, word >> 32 == 2);
    int count = lane <= (known ? __ffs(known) - 1 : 31) ? (int)(unsigned)word : 0;
    for (int d = 16; d > 0; d /= 2) count += __shfl_xor_sync(ALL, count, d);
    all += count;
    if (known) return all;
  }
}

// `ticket` and `tiles` are 0 before. From the right, element i of the scan is element n - 1 - i of x.
template <bool from_right> __device__ void scan_bits(const unsigned *x, int *sums, int n, int bit, u64 *ticket, u64 *tiles)
{
  __shared__ int staged[TILE + TILE / 32], totals[WARPS], prefix, shared_tile;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) shared_tile = atomicAdd(ticket, 1);
  __syncthreads();
  const int tile = shared_tile, base = tile * TILE;
  #pragma unroll
  for (int k = 0; k < RUN; ++k) {
    const int at = k * THREADS + threadIdx.x, i = base + at;
    int flag = 0;
    if (i < n) flag = (x[from_right ? n - 1 - i : i] >> bit & 1) ^ from_right;
    staged[at + at / 32] = flag;
  }
  __syncthreads();
  int own[RUN], sum = 0;
  #pragma unroll
  for (int k = 0; k < RUN; ++k) {
    const int at = threadIdx.x * RUN + k;
    own[k] = sum += staged[at + at / 32];
  }
  int before = sum;
  for (int d = 1; d < 32; d *= 2) {
    const int other = __shfl_up_sync(ALL, before, d);
    if (lane >= d) before += other;
  }
  if (lane == 31) totals[warp] = before;
  before -= sum;
  __syncthreads();
  if (warp == 0) {
    int total = 0;
    for (int w = 0; w < WARPS; ++w) total += totals[w];
    volatile u64 *published = tiles;
    if (lane == 0) published[tile] = packed(tile == 0 ? 2 : 1, total);
    const int found = look_back(tiles, tile);
    if (lane == 0) {
      if (tile > 0) published[tile] = packed(2, found + total);
      prefix = found;
    }
  }
  __syncthreads();
  before += prefix;
  for (int w = 0; w < warp; ++w) before += totals[w];
  #pragma unroll
  for (int k = 0; k < RUN; ++k) {
    const int at = threadIdx.x * RUN + k;
    staged[at + at / 32] = before + own[k];
  }
  __syncthreads();
  #pragma unroll
  for (int k = 0; k < RUN; ++k) {
    const int at = k * THREADS + threadIdx.x, i = base + at;
    if (i < n) sums[from_right ? n - 1 - i : i] = staged[at + at / 32];
  }
}

extern "C" __global__ void __launch_bounds__(THREADS)
scan_ones(const unsigned *x, int *sums, int n, int bit, u64 *ticket, u64 *tiles)
{
  scan_bits<false>(x, sums, n, bit, ticket, tiles);
}

extern "C" __global__ void __launch_bounds__(THREADS)
scan_zeros(const unsigned *x, int *sums, int n, int bit, u64 *ticket, u64 *tiles)
{
  scan_bits<true>(x, sums, n, bit, ticket, tiles);
}

extern "C" __global__ void __launch_bounds__(THREADS)
permute(const unsigned *__restrict__ x, const int *__restrict__ ones, const int *__restrict__ zeros,
        unsigned *__restrict__ out, int n, int bit)
{
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
    const unsigned value = x[i];
    out[value >> bit & 1 ? i + zeros[i] : i - ones[i]] = value;
  }
}
