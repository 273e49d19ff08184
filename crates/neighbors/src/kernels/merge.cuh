// The nearest of a query's lists, a warp for each query. Candidates of float32 are computed again in double; where another
// point could be nearer than the last that is kept, the query is noted to be searched again.
enum { WARPS = THREADS / 32, MOST_HEADS = 32 };

extern "C" __global__ __launch_bounds__(THREADS) void neighbors_merge(O *distances, long long *neighbors, const A *values, const unsigned *indices, RT_SEARCH, unsigned lanes, unsigned side, unsigned grid, unsigned most_slices, unsigned *noted, unsigned *noted_count)
{
  __shared__ double candidate_value[WARPS][K];
  __shared__ unsigned candidate[WARPS][K];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, count = selected ? *selected_count : m;
  const unsigned lists = lanes * rt_slices((count + side - 1) / side, grid, most_slices);
  for (unsigned slot = blockIdx.x * WARPS + warp; slot < count; slot += gridDim.x * WARPS) {
    const unsigned query = selected ? selected[slot] : slot;
    const A *from = values + (size_t)slot * lists * K;
    const unsigned *at = indices + (size_t)slot * lists * K;
    A last = rt_infinity(A());
    __syncwarp();
    if (lists == 1) {
      for (int j = lane; j < K; j += 32) { candidate[warp][j] = at[j]; candidate_value[warp][j] = from[j]; }
      last = from[K - 1];
    } else {
      // Each lane has the heads of lists lane, lane + 32, ...; the nearest of all heads is taken K times.
      unsigned short head[MOST_HEADS] = {};
      for (int j = 0; j < K; ++j) {
        A best = rt_infinity(A());
        unsigned index = NOTHING;
        int which = -1;
        for (int h = 0; lane + 32 * h < lists; ++h) {
          const unsigned list = lane + 32 * h;
          if (head[h] >= K) continue;
          const size_t place = (size_t)list * K + head[h];
          if (from[place] < best || (from[place] == best && at[place] < index)) {
            best = from[place]; index = at[place]; which = h;
          }
        }
        A nearest = best;
        unsigned nearest_index = index;
        for (int step = 16; step > 0; step /= 2) {
          const A other = __shfl_xor_sync(0xffffffffu, nearest, step);
          const unsigned other_index = __shfl_xor_sync(0xffffffffu, nearest_index, step);
          if (other < nearest || (other == nearest && other_index < nearest_index)) { nearest = other; nearest_index = other_index; }
        }
        if (which >= 0 && index == nearest_index) ++head[which];
        if (lane == 0) { candidate[warp][j] = nearest_index; candidate_value[warp][j] = nearest; }
        last = nearest;
      }
    }
    __syncwarp();
#if IS_RECHECKED
    for (int j = lane; j < K; j += 32) {
      const unsigned index = candidate[warp][j];
      candidate_value[warp][j] = index == NOTHING ? rt_infinity(1.0) : rt_exact_distance(
        queries + (size_t)query * D, points + (size_t)index * D, query_norms[query], point_norms[index]);
    }
    __syncwarp();
#endif
    for (int j = lane; j < K; j += 32) {
      const double value = candidate_value[warp][j];
      const unsigned index = candidate[warp][j];
      int rank = 0;
#if IS_RECHECKED
      for (int i = 0; i < K; ++i) {
        const double other = candidate_value[warp][i];
        // Of places without a candidate the first is first.
        rank += other < value || (other == value && (candidate[warp][i] < index || (candidate[warp][i] == index && i < j)));
      }
#else
      rank = j;
#endif
      if (rank < KEPT) {
        distances[(size_t)query * KEPT + rank] = RT_DISTANCE(value);
        neighbors[(size_t)query * KEPT + rank] = index == NOTHING ? -1ll : (long long)index;
      }
#if IS_RECHECKED
      // All other points are at least `last` away, by the distances of float32; none are left where that is infinite.
      if (rank == KEPT - 1 && (n > K || index == NOTHING)) {
        const rt_bound bound(query_norms[query], *largest_norm, value);
        if (index == NOTHING || !(bound.high(value) < last)) noted[atomicAdd(noted_count, 1u)] = query;
      }
#endif
    }
    __syncwarp();
  }
}
