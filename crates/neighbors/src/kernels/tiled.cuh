// Distances by tiles, as a product of matrices: a block has SIDE queries and walks over SIDE points at a time, a thread
// has ROWS x COLUMNS pairs. Where none of a tile is nearer than what its queries have, the tile is done. Else its distances go
// through shared memory to lists, LANES threads for each query.
enum { SIDE = 64, DEPTH = 16, LANES = THREADS / SIDE, ACROSS = SIDE / COLUMNS };
// Adjacent columns are read at once; where threads are lanes of a vector, adjacent threads have adjacent columns.
#if IS_SIMD_CPU
#define RT_COLUMN(c) (column + (c) * ACROSS)
#else
#define RT_COLUMN(c) (column * COLUMNS + (c))
#endif

extern "C" __global__ __launch_bounds__(THREADS) void neighbors_scan(A *values, unsigned *indices, RT_SEARCH, unsigned most_slices, double radius)
{
  // Parts of operands, and later distances.
  enum { STAGE = 2 * DEPTH * (SIDE + 4), RESULT = SIDE * (SIDE + 1) };
  __shared__ __align__(16) A memory[STAGE > RESULT ? STAGE : RESULT];
  __shared__ A threshold[SIDE];
  A (*qs)[SIDE + 4] = (A (*)[SIDE + 4])memory, (*ps)[SIDE + 4] = qs + DEPTH, (*distance)[SIDE + 1] = (A (*)[SIDE + 1])memory;
  const int row = threadIdx.x / ACROSS * ROWS, column = threadIdx.x % ACROSS;
  const unsigned count = selected ? *selected_count : m;
  const unsigned query_blocks = (count + SIDE - 1) / SIDE, slices = rt_slices(query_blocks, gridDim.x, most_slices);
  for (unsigned work = blockIdx.x; work < query_blocks * slices; work += gridDim.x) {
    const unsigned slice = work % slices, first = work / slices * SIDE;
    const unsigned begin = (unsigned long long)n * slice / slices, end = (unsigned long long)n * (slice + 1) / slices;
#if IS_COUNT
    A low[ROWS], high[ROWS];
    unsigned inside[ROWS] = {};
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
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
      A sum[ROWS][COLUMNS] = {};
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
          A q[ROWS], p[COLUMNS];
#pragma unroll
          for (int r = 0; r < ROWS; ++r) q[r] = qs[t][row + r];
#pragma unroll
          for (int c = 0; c < COLUMNS; ++c) p[c] = ps[t][RT_COLUMN(c)];
#pragma unroll
          for (int r = 0; r < ROWS; ++r)
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) RT_ADD_TERM(sum[r][c], q[r], p[c]);
        }
      }
#if METRIC_COSINE || IS_PRODUCT
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        const double norm = base + RT_COLUMN(c) < end ? point_norms[base + RT_COLUMN(c)] : 0.0;
#if IS_PRODUCT
        const A weight = (A)norm;
#elif !IS_EXACT
        const A weight = norm > 0 ? (A)(-1 / sqrt(norm)) : (A)0;
#endif
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
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
      for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
          if (first + row + r < count && base + RT_COLUMN(c) < end) {
            RT_COUNT(inside[r], sum[r][c], low[r], high[r], first + row + r, base + RT_COLUMN(c))
          }
#else
      bool is_near = false;
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) is_near |= base + RT_COLUMN(c) < end && sum[r][c] <= threshold[row + r];
      if (!__syncthreads_or(is_near)) continue;
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) distance[row + r][RT_COLUMN(c)] = sum[r][c];
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
    for (int r = 0; r < ROWS; ++r)
      if (inside[r]) atomicAdd(&indices[first + row + r], inside[r]);
#else
    if (first + line < count) list.store(values, indices, ((size_t)(first + line) * slices + slice) * LANES + lane);
    __syncthreads();
#endif
  }
}
