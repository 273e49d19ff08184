// Distances by tiles, as a product of matrices: a block has SIDE queries and walks over SIDE points at a time, a thread
// has 4 x 4 pairs. Where none of a tile is nearer than what its queries have, the tile is done. Else its distances go
// through shared memory to lists, LANES threads for each query.
enum { SIDE = 64, DEPTH = 16, LANES = THREADS / SIDE };

extern "C" __global__ __launch_bounds__(THREADS) void neighbors_scan(A *values, unsigned *indices, RT_SEARCH, unsigned most_slices, double radius)
{
  // Parts of operands, and later distances.
  enum { STAGE = 2 * DEPTH * (SIDE + 4), RESULT = SIDE * (SIDE + 1) };
  __shared__ __align__(16) A memory[STAGE > RESULT ? STAGE : RESULT];
  __shared__ A threshold[SIDE];
  A (*qs)[SIDE + 4] = (A (*)[SIDE + 4])memory, (*ps)[SIDE + 4] = qs + DEPTH, (*distance)[SIDE + 1] = (A (*)[SIDE + 1])memory;
  const int row = threadIdx.x / 16 * 4, column = threadIdx.x % 16 * 4;
  const unsigned count = selected ? *selected_count : m;
  const unsigned query_blocks = (count + SIDE - 1) / SIDE, slices = rt_slices(query_blocks, gridDim.x, most_slices);
  for (unsigned work = blockIdx.x; work < query_blocks * slices; work += gridDim.x) {
    const unsigned slice = work % slices, first = work / slices * SIDE;
    const unsigned begin = (unsigned long long)n * slice / slices, end = (unsigned long long)n * (slice + 1) / slices;
#if IS_COUNT
    A low[4], high[4];
    unsigned inside[4] = {};
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const rt_bound bound(query_norms[min(first + row + r, count - 1)], *largest_norm, RT_LIMIT);
      low[r] = (A)bound.low(RT_LIMIT);
      high[r] = (A)bound.high(RT_LIMIT);
    }
#else
    const int line = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    rt_list list;
    list.clear();
    if (threadIdx.x < SIDE) threshold[threadIdx.x] = first + threadIdx.x < count ? rt_infinity(A()) : -rt_infinity(A());
#endif
    for (unsigned base = begin; base < end; base += SIDE) {
      A sum[4][4] = {};
      for (int t0 = 0; t0 < D; t0 += DEPTH) {
        __syncthreads();
        for (int i = threadIdx.x; i < SIDE * DEPTH; i += THREADS) {
          const int line = i / DEPTH, t = i % DEPTH;
          const unsigned slot = first + line;
          const bool is_query = slot < count && t0 + t < D, is_point = base + line < end && t0 + t < D;
          qs[t][line] = is_query ? rt_load(queries + (size_t)(selected ? selected[slot] : slot) * D + t0 + t) : (A)0;
          ps[t][line] = is_point ? rt_load(points + (size_t)(base + line) * D + t0 + t) : (A)0;
        }
        __syncthreads();
#pragma unroll UNROLL_DEPTH
        for (int t = 0; t < DEPTH; ++t) {
          A q[4], p[4];
#pragma unroll
          for (int r = 0; r < 4; ++r) { q[r] = qs[t][row + r]; p[r] = ps[t][column + r]; }
#pragma unroll
          for (int r = 0; r < 4; ++r)
#pragma unroll
            for (int c = 0; c < 4; ++c) RT_ADD_TERM(sum[r][c], q[r], p[c]);
        }
      }
#if METRIC_COSINE || IS_PRODUCT
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const double norm = base + column + c < end ? point_norms[base + column + c] : 0.0;
#if IS_PRODUCT
        const A weight = (A)norm;
#elif !IS_EXACT
        const A weight = norm > 0 ? (A)(-1 / sqrt(norm)) : (A)0;
#endif
#pragma unroll
        for (int r = 0; r < 4; ++r) {
#if IS_PRODUCT
          sum[r][c] = fmaf(-2.0f, sum[r][c], weight);
#elif IS_EXACT
          const unsigned slot = min(first + row + r, count - 1);
          const double length = sqrt(query_norms[selected ? selected[slot] : slot]) * sqrt(norm);
          sum[r][c] = length > 0 ? -sum[r][c] / length : 0.0;
#else
          sum[r][c] *= weight;
#endif
        }
      }
#endif
#if IS_COUNT
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c)
          if (first + row + r < count && base + column + c < end) {
            RT_COUNT(inside[r], sum[r][c], low[r], high[r], first + row + r, base + column + c)
          }
#else
      bool is_near = false;
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) is_near |= base + column + c < end && sum[r][c] <= threshold[row + r];
      if (!__syncthreads_or(is_near)) continue;
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) distance[row + r][column + c] = sum[r][c];
      __syncthreads();
      for (int j = lane; j < SIDE; j += LANES)
        if (base + j < end) list.add(distance[line][j], base + j);
      A worst = list.worst;
      for (int step = 1; step < LANES; step *= 2) worst = min(worst, __shfl_xor_sync(0xffffffffu, worst, step));
      if (lane == 0 && first + line < count) threshold[line] = worst;
#endif
    }
#if IS_COUNT
#pragma unroll
    for (int r = 0; r < 4; ++r)
      if (inside[r]) atomicAdd(&indices[first + row + r], inside[r]);
#else
    if (first + line < count) list.store(values, indices, ((size_t)(first + line) * slices + slice) * LANES + lane);
    __syncthreads();
#endif
  }
}
