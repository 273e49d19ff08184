// Distances to points of few dimensions: a thread has queries in registers, and a block copies points to shared memory.
extern "C" __global__ __launch_bounds__(THREADS) void neighbors_scan(A *values, unsigned *indices, RT_SEARCH, unsigned most_slices, double radius)
{
  __shared__ __align__(16) A tile[TILE][PITCH];
  const unsigned count = selected ? *selected_count : m;
  const unsigned side = THREADS * QUERIES, query_blocks = (count + side - 1) / side;
  const unsigned slices = rt_slices(query_blocks, gridDim.x, most_slices);
  for (unsigned work = blockIdx.x; work < query_blocks * slices; work += gridDim.x) {
    const unsigned slice = work % slices, first_slot = work / slices * side + threadIdx.x;
    const unsigned begin = (unsigned long long)n * slice / slices, end = (unsigned long long)n * (slice + 1) / slices;
    unsigned query[QUERIES];
    A q[QUERIES][D];
#if IS_COUNT
    A low[QUERIES], high[QUERIES];
    unsigned inside[QUERIES] = {};
#else
    rt_list list[QUERIES];
#endif
#pragma unroll
    for (int u = 0; u < QUERIES; ++u) {
      const unsigned slot = first_slot + u * THREADS;
      query[u] = slot >= count ? 0 : selected ? selected[slot] : slot;
#pragma unroll
      for (int t = 0; t < D; ++t) q[u][t] = rt_load(queries + (size_t)query[u] * D + t);
#if IS_COUNT
      const rt_bound bound(query_norms[query[u]], *largest_norm, RT_LIMIT);
      low[u] = (A)bound.low(RT_LIMIT), high[u] = (A)bound.high(RT_LIMIT);
#else
      list[u].clear();
#endif
    }
    for (unsigned base = begin; base < end; base += TILE) {
      const int here = min(end - base, (unsigned)TILE);
      __syncthreads();
      // What fills a row is read with it.
      for (int i = threadIdx.x; i < here * PITCH; i += THREADS)
        tile[i / PITCH][i % PITCH] = i % PITCH < D ? rt_load(points + (size_t)(base + i / PITCH) * D + i % PITCH) : (A)0;
      __syncthreads();
#pragma unroll 4
      for (int i = 0; i < here; ++i) {
        A sum[QUERIES] = {};
#pragma unroll
        for (int t = 0; t < D; ++t) {
          const A p = tile[i][t];
#pragma unroll
          for (int u = 0; u < QUERIES; ++u) RT_ADD_TERM(sum[u], q[u][t], p);
        }
#pragma unroll
        for (int u = 0; u < QUERIES; ++u) {
#if IS_COUNT
          RT_COUNT(inside[u], sum[u], low[u], high[u], query[u], base + i)
#else
          list[u].add(sum[u], base + i);
#endif
        }
      }
    }
#pragma unroll
    for (int u = 0; u < QUERIES; ++u) {
      const unsigned slot = first_slot + u * THREADS;
      if (slot >= count) continue;
#if IS_COUNT
      if (inside[u]) atomicAdd(&indices[query[u]], inside[u]);
#else
      list[u].store(values, indices, (size_t)slot * slices + slice);
#endif
    }
  }
}
