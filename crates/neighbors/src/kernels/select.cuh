// What a filter needs and leaves: limits of distances from those of a sample, and the nearest points of lists.
// A block has a query. Defined before: CAPACITY, and KEPT neighbours.

// Points of a query that are ranked in float64.
enum { MAX_RANKED = CAPACITY / 4 };

// The k-th smallest of numbers, digit by digit from the highest; all threads take part. `near` has room for CAPACITY.
__device__ float rt_kth_smallest(const float *from, unsigned count, unsigned k, float *near)
{
  __shared__ unsigned digits[256], chosen, before;
  // They are looked at four times.
  if (count <= CAPACITY) {
#pragma unroll 8
    for (unsigned i = threadIdx.x; i < count; i += THREADS) near[i] = from[i];
    from = near;
  }
  unsigned prefix = 0, mask = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    for (int i = threadIdx.x; i < 256; i += THREADS) digits[i] = 0;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += THREADS) {
      const unsigned bits = __float_as_uint(from[i]), key = bits >> 31 ? ~bits : bits | 0x80000000u;
      if ((key & mask) == prefix) atomicAdd(&digits[key >> shift & 255], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
      unsigned own = 0;
      for (int i = 0; i < 8; ++i) own += digits[threadIdx.x * 8 + i];
      unsigned upto = own;
      for (int step = 1; step < 32; step *= 2) {
        const unsigned other = __shfl_up_sync(0xffffffffu, upto, step);
        if (threadIdx.x >= step) upto += other;
      }
      unsigned smaller = upto - own;
      if (smaller < k && k <= upto) {
        int digit = threadIdx.x * 8;
        while (smaller + digits[digit] < k) smaller += digits[digit++];
        chosen = digit, before = smaller;
      }
    }
    __syncthreads();
    prefix |= chosen << shift;
    mask |= 255u << shift;
    k -= before;
    __syncthreads();
  }
  return __uint_as_float(prefix >> 31 ? prefix & 0x7fffffffu : ~prefix);
}

#if IS_LIMIT
// Limits of queries: none where too many points are that near, for which a list would have no room.
extern "C" __global__ __launch_bounds__(THREADS) void neighbors_select(float *limits, unsigned *counts, const float *values, unsigned tiles, unsigned most, const double2 *query_bounds, RT_SEARCH)
{
  __shared__ float near[CAPACITY];
  __shared__ unsigned passed;
  for (unsigned query = blockIdx.x; query < m; query += gridDim.x) {
    const float *from = values + (size_t)query * tiles;
    const float limit = rt_list_limit(rt_kth_smallest(from, tiles, KEPT, near), query_bounds[query]);
    if (threadIdx.x == 0) passed = 0;
    __syncthreads();
    unsigned within = 0;
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < tiles; i += THREADS) within += from[i] <= limit;
    for (int step = 1; step < 32; step *= 2) within += __shfl_xor_sync(0xffffffffu, within, step);
    if (threadIdx.x % 32 == 0) atomicAdd(&passed, within);
    __syncthreads();
    if (threadIdx.x == 0) {
      limits[query] = passed > most ? -rt_infinity(0.0f) : limit;
      counts[query] = 0;
    }
    __syncthreads();
  }
}
#else
// Queries with more candidates than there is room for are noted to be searched again.
extern "C" __global__ __launch_bounds__(THREADS) void neighbors_select(O *distances, long long *neighbors, unsigned *noted, unsigned *noted_count, const float *values, const unsigned *indices, const unsigned *counts, const double2 *query_bounds, const float *upper, const float *lower, RT_SEARCH)
{
  // What is ranked lies where the smallest numbers were looked for.
  __shared__ double exact[CAPACITY / 2];
  float *near = (float *)exact;
  unsigned *candidate = (unsigned *)(exact + MAX_RANKED);
  __shared__ unsigned found;
  __shared__ float numbers[D];
  for (unsigned query = blockIdx.x; query < m; query += gridDim.x) {
    const float *from = values + (size_t)query * CAPACITY;
    const unsigned count = counts[query];
    __syncthreads();
    if (threadIdx.x == 0) found = count >= KEPT && count <= CAPACITY ? 0 : MAX_RANKED + 1;
    for (int t = threadIdx.x; t < D; t += THREADS) numbers[t] = queries[(size_t)query * D + t];
    __syncthreads();
    if (found == 0) {
      // Sums that are at least what they stand for: rt_rounding is twice what sums of products lose, which is enough for the
      // roundings here.
      for (unsigned i = threadIdx.x; i < count; i += THREADS) {
#if POINT_IS_HALF && METRIC_COSINE
        near[i] = from[i] + (rt_initial_sum(RT_COSINE_LENGTH * RT_COSINE_LENGTH, 0, true) - rt_initial_sum(RT_COSINE_LENGTH * RT_COSINE_LENGTH, 0, false));
#else
        const unsigned index = indices[(size_t)query * CAPACITY + i];
        near[i] = from[i] + (upper[index] - lower[index]);
#endif
      }
      __syncthreads();
      const float limit = rt_list_limit(rt_kth_smallest(near, count, KEPT, near), query_bounds[query]);
      for (unsigned i = threadIdx.x; i < count; i += THREADS)
        if (from[i] <= limit) {
          const unsigned place = atomicAdd(&found, 1u);
          if (place < MAX_RANKED) candidate[place] = indices[(size_t)query * CAPACITY + i];
        }
      __syncthreads();
    }
    const unsigned here = found;
    if (here > MAX_RANKED) {
      if (threadIdx.x == 0) noted[atomicAdd(noted_count, 1u)] = query;
      continue;
    }
    for (unsigned i = threadIdx.x; i < here; i += THREADS) {
      const P *point = points + (size_t)candidate[i] * D;
      double sum = 0;
#if !POINT_IS_HALF
#pragma unroll 16
      for (int t = 0; t < D; ++t) sum = rt_add_term(sum, (double)numbers[t], (double)point[t]);
#else
#pragma unroll 4
      for (int t = 0; t < D; t += 8) {
        const uint4 loaded = *(const uint4 *)(point + t);
        const P *item = (const P *)&loaded;
#pragma unroll
        for (int e = 0; e < 8; ++e) sum = rt_add_term(sum, (double)numbers[t + e], (double)rt_load(item + e));
      }
#endif
#if METRIC_COSINE
      const double length = sqrt(query_norms[query]) * sqrt(point_norms[candidate[i]]);
      sum = length > 0 ? -sum / length : 0.0;
#endif
      exact[i] = sum;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < here; i += THREADS) {
      const double value = exact[i];
      int rank = 0;
      for (unsigned j = 0; j < here; ++j) rank += exact[j] < value || (exact[j] == value && candidate[j] < candidate[i]);
      if (rank < KEPT) {
        distances[(size_t)query * KEPT + rank] = RT_DISTANCE(value);
        neighbors[(size_t)query * KEPT + rank] = candidate[i];
      }
    }
  }
}
#endif
