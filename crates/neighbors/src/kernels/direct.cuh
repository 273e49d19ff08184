// Distances to points of few dimensions: a thread has a query in registers, and a block copies points to shared memory.
extern "C" __global__ __launch_bounds__(THREADS) void neighbors_scan(A *values, unsigned *indices, RT_SEARCH, unsigned most_slices, double radius)
{
  __shared__ __align__(16) A tile[TILE][PITCH];
  const unsigned count = selected ? *selected_count : m;
  const unsigned query_blocks = (count + THREADS - 1) / THREADS, slices = rt_slices(query_blocks, gridDim.x, most_slices);
  for (unsigned work = blockIdx.x; work < query_blocks * slices; work += gridDim.x) {
    const unsigned slice = work % slices, slot = work / slices * THREADS + threadIdx.x;
    const unsigned query = slot >= count ? 0 : selected ? selected[slot] : slot;
    const unsigned begin = (unsigned long long)n * slice / slices, end = (unsigned long long)n * (slice + 1) / slices;
    A q[D];
#pragma unroll
    for (int t = 0; t < D; ++t) q[t] = rt_load(queries + (size_t)query * D + t);
#if IS_COUNT
    const rt_bound bound(query_norms[query], *largest_norm, RT_LIMIT);
    const A low = (A)bound.low(RT_LIMIT), high = (A)bound.high(RT_LIMIT);
    unsigned inside = 0;
#else
    rt_list list;
    list.clear();
#endif
    for (unsigned base = begin; base < end; base += TILE) {
      const int here = min(end - base, (unsigned)TILE);
      __syncthreads();
      // What fills a row is read with it.
      for (int i = threadIdx.x; i < here * PITCH; i += THREADS)
        tile[i / PITCH][i % PITCH] = i % PITCH < D ? rt_load(points + (size_t)(base + i / PITCH) * D + i % PITCH) : (A)0;
      __syncthreads();
#pragma unroll 4
      for (int i = 0; i < here; ++i) {
        A sum = 0;
#pragma unroll
        for (int t = 0; t < D; ++t) RT_ADD_TERM(sum, q[t], tile[i][t]);
#if IS_COUNT
        RT_COUNT(inside, sum, low, high, query, base + i)
#else
        list.add(sum, base + i);
#endif
      }
    }
#if IS_COUNT
    if (slot < count && inside) atomicAdd(&indices[query], inside);
#else
    if (slot < count) list.store(values, indices, (size_t)slot * slices + slice);
#endif
  }
}
