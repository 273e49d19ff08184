// A scan of symmetric 2x2 matrices in one pass with decoupled look-back. Products are dear, so each thread folds its own
// run of adjacent elements first (two products for each element in all), and results leave through shared memory.
const unsigned ALL = 0xffffffffu;
const int THREADS = 256, RUN = 8, TILE = THREADS * RUN, WARPS = THREADS / 32;

struct Matrix { long long a, b, c; };

__device__ __forceinline__ Matrix product(const Matrix &l, const Matrix &r)
{
  return {l.a * r.a + l.b * r.b, l.a * r.b + l.b * r.c, l.b * r.b + l.c * r.c};
}
__device__ __forceinline__ Matrix shuffle_up(const Matrix &m, int d)
{
  return {__shfl_up_sync(ALL, m.a, d), __shfl_up_sync(ALL, m.b, d), __shfl_up_sync(ALL, m.c, d)};
}
__device__ __forceinline__ Matrix shuffle_down(const Matrix &m, int d)
{
  return {__shfl_down_sync(ALL, m.a, d), __shfl_down_sync(ALL, m.b, d), __shfl_down_sync(ALL, m.c, d)};
}

// What tiles have published: 0 nothing, 1 their own product, 2 that of all up to them. Each kind has its own place.
struct Tiles {
  volatile unsigned *status;
  Matrix *products, *prefixes;
  __device__ void publish(unsigned tile, unsigned kind, const Matrix &m)
  {
    (kind == 1 ? products : prefixes)[tile] = m;
    __threadfence();
    status[tile] = kind;
  }
};

// The product of all tiles before `tile`, which a warp finds together.
__device__ Matrix look_back(Tiles tiles, int tile)
{
  const int lane = threadIdx.x % 32;
  Matrix all = {1, 0, 1};
  for (int window = tile - 1;; window -= 32) {
    const int at = window - lane;
    Matrix m = {1, 0, 1};
    unsigned kind = 2;
    if (at >= 0) {
      while ((kind = tiles.status[at]) == 0) __nanosleep(20);
      __threadfence();
      m = (kind == 1 ? tiles.products : tiles.prefixes)[at];
    }
    const unsigned known = __ballot_sync(ALL, kind == 2);
    const int last = known ? __ffs(known) - 1 : 31;
    if (lane > last) m = {1, 0, 1};
    for (int d = 1; d < 32; d *= 2) {
      const Matrix before = shuffle_down(m, d);
      if (lane + d < 32) m = product(before, m);
    }
    all = product({__shfl_sync(ALL, m.a, 0), __shfl_sync(ALL, m.b, 0), __shfl_sync(ALL, m.c, 0)}, all);
    if (known) return all;
  }
}

// `ticket` and `status` are 0 before.
extern "C" __global__ void __launch_bounds__(THREADS)
fibonacci(long long *out, int n, unsigned *ticket, unsigned *status, Matrix *products, Matrix *prefixes)
{
  __shared__ Matrix totals[WARPS], prefix;
  __shared__ long long numbers[TILE + TILE / RUN];
  __shared__ int shared_tile;
  Tiles tiles = {status, products, prefixes};
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // Tiles in the order in which blocks begin, so that those before this one are running.
  if (threadIdx.x == 0) shared_tile = atomicAdd(ticket, 1);
  __syncthreads();
  const int tile = shared_tile;
  const Matrix step = {1, 1, 0};
  Matrix own[RUN];
  own[0] = step;
  #pragma unroll
  for (int k = 1; k < RUN; ++k) own[k] = product(own[k - 1], step);
  Matrix run = own[RUN - 1];
  for (int d = 1; d < 32; d *= 2) {
    const Matrix before = shuffle_up(run, d);
    if (lane >= d) run = product(before, run);
  }
  if (lane == 31) totals[warp] = run;
  Matrix before = shuffle_up(run, 1);
  __syncthreads();
  if (warp == 0) {
    Matrix total = totals[0];
    for (int w = 1; w < WARPS; ++w) total = product(total, totals[w]);
    if (lane == 0) tiles.publish(tile, tile == 0 ? 2 : 1, total);
    const Matrix found = look_back(tiles, tile);
    if (lane == 0) {
      if (tile > 0) tiles.publish(tile, 2, product(found, total));
      prefix = found;
    }
  }
  __syncthreads();
  Matrix all = prefix;
  for (int w = 0; w < warp; ++w) all = product(all, totals[w]);
  if (lane > 0) all = product(all, before);
  #pragma unroll
  for (int k = 0; k < RUN; ++k) {
    const long long number = all.a * own[k].b + all.b * own[k].c;
    numbers[threadIdx.x * (RUN + 1) + k] = number;
  }
  __syncthreads();
  #pragma unroll
  for (int k = 0; k < RUN; ++k) {
    const int at = k * THREADS + threadIdx.x;
    if (tile * TILE + at < n) out[tile * TILE + at] = numbers[at / RUN * (RUN + 1) + at % RUN];
  }
}
