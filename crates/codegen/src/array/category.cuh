// Reductions of rows by label. Which elements a thread combines, and in which order, depends on sizes alone, so the bits
// are the same in every run: nothing is added atomically but integers.
typedef unsigned long long u64;

#if IS_COUNT
#define GET(row, column) T(1)
#elif HAS_WEIGHTS
#define GET(row, column) (rt_cast<T>(rt_load(values[(row) * d + (column)])) * rt_cast<T>(rt_load(weights[row])))
#else
#define GET(row, column) rt_cast<T>(rt_load(values[(row) * d + (column)]))
#endif

// Which result a row belongs to; n for none. Of bins, those between edges, the last of which is in the last bin.
struct rt_labels {
  unsigned n;
  int *outside;
  const E *edges;
  double scale;
#if HAS_BINS
  __device__ __forceinline__ C edge(unsigned i) const { return rt_cast<C>(rt_load(edges[i])); }
  __device__ __forceinline__ unsigned operator()(LABEL label) const
  {
    const C x = rt_cast<C>(rt_load(label)), first = edge(0);
    if (!(x >= first && x <= edge(n))) return n;
    unsigned low = 0, high = n - 1;
    if (scale > 0) {
      // About where it is, if bins are equally wide.
      const double guess = ((double)x - (double)first) * scale;
      low = guess < high ? (unsigned)guess : high;
      while (low > 0 && x < edge(low)) --low;
      while (low < high && x >= edge(low + 1)) ++low;
      return low;
    }
    while (low < high) {
      const unsigned middle = (low + high + 1) / 2;
      if (x >= edge(middle)) low = middle;
      else high = middle - 1;
    }
    return low;
  }
#else
  // Negative labels and those beyond the last are noted.
  __device__ __forceinline__ unsigned operator()(LABEL label) const
  {
    if (label >= LABEL(0) && (u64)label < n) return (unsigned)label;
    *outside = 2;
    return n;
  }
#endif
};
#define LABEL_PARAMETERS const LABEL *labels, u64 n, unsigned d, unsigned n_labels, int *outside, const E *edges, double scale
#define LABELS const rt_labels label_of{n_labels, outside, edges, scale}

#if STAGE_COPIES
// A block has a part of the rows, and copies of all results in shared memory: one for each of its groups of threads, each of
// which has a column, or (WARP_COPIES) one for each warp, whose lanes then take turns where they have the same label.
extern "C" __global__ __launch_bounds__(THREADS) void category_copies(T *partials, const X *values, const W *weights, LABEL_PARAMETERS, u64 rows_of_block)
{
  extern __shared__ __align__(16) unsigned char memory[];
  T *const copies = (T *)memory;
  LABELS;
  const unsigned size = n_labels * COPIES * WIDTH;
  for (unsigned i = threadIdx.x; i < size; i += THREADS) copies[i] = IDENTITY;
  __syncthreads();
  const u64 begin = blockIdx.x * rows_of_block, end = begin + rows_of_block < n ? begin + rows_of_block : n;
#if WARP_COPIES
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  T *const own = copies + warp;
  for (u64 first = begin + warp * 32; first < end; first += THREADS * UNROLL) {
    LABEL label[UNROLL];
    T value[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      const u64 row = first + u * THREADS + lane;
      label[u] = row < end ? labels[row] : LABEL();
      value[u] = row < end ? GET(row, 0) : IDENTITY;
    }
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      const unsigned at = first + u * THREADS + lane < end ? label_of(label[u]) : n_labels;
      const bool counts = at < n_labels;
      const unsigned alike = __match_any_sync(~0u, at);
      const int before = __popc(alike & ((1u << lane) - 1));
      for (int turn = 0; __any_sync(~0u, counts && before >= turn); ++turn) {
        if (counts && before == turn) own[at * COPIES] = combine(own[at * COPIES], value[u]);
        __syncwarp();
      }
    }
  }
#else
  const unsigned lane = threadIdx.x % WIDTH, group = threadIdx.x / WIDTH, column = blockIdx.y * WIDTH + lane;
  if (column < d) {
    T *const own = copies + group * WIDTH + lane;
    for (u64 first = begin + group; first < end; first += COPIES * UNROLL) {
      LABEL label[UNROLL];
      T value[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        const u64 row = first + u * COPIES;
        label[u] = row < end ? labels[row] : LABEL();
        value[u] = row < end ? GET(row, column) : IDENTITY;
      }
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        const unsigned at = first + u * COPIES < end ? label_of(label[u]) : n_labels;
        if (at == n_labels) continue;
        T *const to = own + at * (COPIES * WIDTH);
        *to = combine(*to, value[u]);
      }
    }
  }
#endif
  for (unsigned had = COPIES; had > 1;) {
    const unsigned left = (had + 1) / 2, pairs = had - left;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n_labels * pairs * WIDTH; i += THREADS) {
      T *const to = copies + i / (pairs * WIDTH) * (COPIES * WIDTH) + i % (pairs * WIDTH);
      *to = combine(*to, to[left * WIDTH]);
    }
    had = left;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n_labels * WIDTH; i += THREADS) {
    const unsigned to = blockIdx.y * WIDTH + i % WIDTH;
    if (to < d) partials[((u64)blockIdx.x * n_labels + i / WIDTH) * d + to] = copies[i / WIDTH * (COPIES * WIDTH) + i % WIDTH];
  }
}
#endif

#if STAGE_MERGE
// What blocks have of 32 adjacent results, by 32 warps, each of which has every 32nd block.
extern "C" __global__ __launch_bounds__(THREADS) void category_merge(O *out, const T *partials, unsigned blocks, u64 count)
{
  __shared__ __align__(16) unsigned char memory[sizeof(T) * THREADS];
  T *const sums = (T *)memory;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (u64 first = blockIdx.x * 32ull; first < count; first += gridDim.x * 32ull) {
    const u64 at = first + lane;
    T sum = IDENTITY;
    if (at < count) for (unsigned block = warp; block < blocks; block += THREADS / 32) sum = combine(sum, partials[block * count + at]);
    sums[threadIdx.x] = sum;
    for (unsigned half = THREADS / 64; half > 0; half /= 2) {
      __syncthreads();
      if (warp < half) sums[threadIdx.x] = combine(sums[threadIdx.x], sums[threadIdx.x + half * 32]);
    }
    if (warp == 0 && at < count) out[at] = rt_cast<O>(sums[lane]);
    __syncthreads();
  }
}
#endif

#if STAGE_ATOMIC
// Counts and sums of integers, which do not depend on their order.
extern "C" __global__ __launch_bounds__(THREADS) void category_atomic(O *out, const X *values, const W *, LABEL_PARAMETERS)
{
  LABELS;
  for (u64 i = blockIdx.x * (u64)THREADS + threadIdx.x; i < n * d; i += gridDim.x * (u64)THREADS) {
    const u64 row = d == 1 ? i : i / d, column = d == 1 ? 0 : i % d;
    const unsigned label = label_of(labels[row]);
    if (label < n_labels) atomicAdd((u64 *)out + (u64)label * d + column, (u64)GET(row, column));
  }
}
#endif

#if STAGE_KEYS
// Labels as unsigned numbers, n_labels for those that do not count.
extern "C" __global__ __launch_bounds__(THREADS) void category_keys(unsigned *keys, LABEL_PARAMETERS)
{
  LABELS;
  for (u64 i = blockIdx.x * (u64)THREADS + threadIdx.x; i < n; i += gridDim.x * (u64)THREADS) {
    keys[i] = label_of(labels[i]);
  }
}
#endif

#if STAGE_CHUNKS
// The rows of each label, in chunks; `ends` are cumulative numbers of chunks. Groups of WIDTH threads have a chunk each.
extern "C" __global__ __launch_bounds__(THREADS) void category_chunks(T *partials, const X *values, const W *weights, const long long *order, const long long *offsets, const long long *ends, unsigned d, unsigned n_labels, u64 length)
{
  const unsigned lane = threadIdx.x % WIDTH;
  const u64 chunks = ends[n_labels - 1];
  for (u64 chunk = blockIdx.x * (u64)(THREADS / WIDTH) + threadIdx.x / WIDTH; chunk < chunks; chunk += gridDim.x * (u64)(THREADS / WIDTH)) {
    unsigned label = 0, beyond = n_labels;
    while (label < beyond) {
      const unsigned middle = (label + beyond) / 2;
      if ((u64)ends[middle] <= chunk) label = middle + 1;
      else beyond = middle;
    }
    const u64 part = chunk - (label ? ends[label - 1] : 0), begin = offsets[label] + part * length;
    const u64 end = begin + length < (u64)offsets[label + 1] ? begin + length : offsets[label + 1];
    for (unsigned column = lane; column < d; column += WIDTH) {
      u64 row = order[begin];
      T sum = GET(row, column);
      u64 i = begin + 1;
      for (; i + UNROLL <= end; i += UNROLL) {
        T value[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
          row = order[i + u];
          value[u] = GET(row, column);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) sum = combine(sum, value[u]);
      }
      for (; i < end; ++i) {
        row = order[i];
        sum = combine(sum, GET(row, column));
      }
      partials[chunk * d + column] = sum;
    }
  }
}
#endif

#if STAGE_JOIN
// The chunks of each label, in order.
extern "C" __global__ __launch_bounds__(THREADS) void category_join(O *out, const T *partials, const long long *ends, unsigned d, u64 count)
{
  for (u64 i = blockIdx.x * (u64)THREADS + threadIdx.x; i < count; i += gridDim.x * (u64)THREADS) {
    const u64 label = i / d, column = i % d, begin = label ? ends[label - 1] : 0, end = ends[label];
    T sum = IDENTITY;
    if (begin < end) sum = partials[begin * d + column];
    for (u64 chunk = begin + 1; chunk < end; ++chunk) sum = combine(sum, partials[chunk * d + column]);
    out[i] = rt_cast<O>(sum);
  }
}
#endif
