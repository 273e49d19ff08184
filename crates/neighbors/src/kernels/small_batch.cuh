// Distances of at most QUERIES queries, which lie in shared memory: GROUP lanes read a point, so that points are read once
// and by whole lines. Of a group, lane r has the list of query r; at the end a block has one list for each query.
enum { GROUP = 8, GROUPS = THREADS / GROUP, ITEMS = IS_VECTOR ? 16 / sizeof(P) : 1 };

extern "C" __global__ __launch_bounds__(THREADS) void neighbors_scan(A *values, unsigned *indices, RT_SEARCH, unsigned most_slices, double radius)
{
  __shared__ A qs[QUERIES][D];
  __shared__ A group_value[GROUPS][K];
  __shared__ unsigned group_index[GROUPS][K];
  const int group = threadIdx.x / GROUP, lane = threadIdx.x % GROUP;
  const unsigned slices = rt_slices(1, gridDim.x, most_slices), slice = blockIdx.x;
  const unsigned begin = (unsigned long long)n * slice / slices, end = (unsigned long long)n * (slice + 1) / slices;
  for (int i = threadIdx.x; i < QUERIES * D; i += THREADS) qs[i / D][i % D] = i / D < m ? rt_load(queries + i) : (A)0;
  __syncthreads();
  rt_list list;
  list.clear();
  for (unsigned base = begin; base < end; base += GROUPS) {
    const unsigned i = base + group;
    A sum[QUERIES] = {};
    if (i < end) {
      const P *point = points + (size_t)i * D;
#pragma unroll 4
      for (int t = lane * ITEMS; t < D; t += GROUP * ITEMS) {
#if IS_VECTOR
        const uint4 loaded = *(const uint4 *)(point + t);
        const P *item = (const P *)&loaded;
#else
        const P *item = point + t;
#endif
#pragma unroll
        for (int e = 0; e < ITEMS; ++e) {
          const A p = rt_load(item + e);
#pragma unroll
          for (int r = 0; r < QUERIES; ++r) RT_ADD_TERM(sum[r], qs[r][t + e], p);
        }
      }
    }
    A own = 0;
#pragma unroll
    for (int r = 0; r < QUERIES; ++r) {
#pragma unroll
      for (int step = 1; step < GROUP; step *= 2) {
        const A other = __shfl_xor_sync(0xffffffffu, sum[r], step);
        sum[r] = METRIC_CHEBYSHEV ? max(sum[r], other) : sum[r] + other;
      }
      own = lane == r ? sum[r] : own;
    }
    if (lane < QUERIES && i < end) {
#if METRIC_COSINE
      own = rt_cosine(own, point_norms[i], false);
#elif IS_PRODUCT
      own = fmaf(-2.0f, own, (A)point_norms[i]);
#endif
      list.add(own, i);
    }
  }
  for (int r = 0; r < QUERIES && r < m; ++r) {
    __syncthreads();
    if (lane == r)
      for (int j = 0; j < K; ++j) { group_value[group][j] = list.value[j]; group_index[group][j] = list.index[j]; }
    __syncthreads();
    if (threadIdx.x >= 32) continue;
    // A warp takes the nearest of the groups' heads, K times.
    int head = 0;
    for (int j = 0; j < K; ++j) {
      A nearest = head < K ? group_value[threadIdx.x][head] : rt_infinity(A());
      const unsigned index = head < K ? group_index[threadIdx.x][head] : NOTHING;
      unsigned nearest_index = index;
      for (int step = 16; step > 0; step /= 2) {
        const A other = __shfl_xor_sync(0xffffffffu, nearest, step);
        const unsigned other_index = __shfl_xor_sync(0xffffffffu, nearest_index, step);
        if (other < nearest || (other == nearest && other_index < nearest_index)) { nearest = other; nearest_index = other_index; }
      }
      head += index == nearest_index && index != NOTHING;
      if (threadIdx.x == 0) {
        values[((size_t)r * slices + slice) * K + j] = nearest;
        indices[((size_t)r * slices + slice) * K + j] = nearest_index;
      }
    }
  }
}
