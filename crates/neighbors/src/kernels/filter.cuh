// Points that may be among the nearest of queries, by tensor cores. A warp has whole points in registers, TILE at a time
// and those of the next tile on their way, and multiplies them with all queries, which lie in shared memory: points are
// read once. Defined before, besides what all kernels have: COLUMNS (groups of eight queries that are multiplied together),
// CAPACITY (of a query's list) and IS_SAMPLE.
//
// With IS_SAMPLE only one of `stride` points is looked at, each chosen by a hash, and `values` are the smallest distance of
// each tile. Else points with distances of at most a query's limit are appended to its list, in any order. Warps collect
// what they append in shared memory, so that they seldom wait for the lengths of lists.
//
// Eight adjacent numbers of a vector are operands of one lane: the order of dimensions in a product does not matter. Queries
// are negative ones, rounded. Sums begin with `initial_sums` of points, but for METRIC_COSINE, where these are factors of products;
// see `round.cuh` for what is compared.
enum { STEPS = (D + 31) / 32, TILE = 32, WARPS = THREADS / 32, BUFFER_SIZE = 64 };

// Points that a warp has found, and places of their queries in the block.
struct rt_collected {
  float value[BUFFER_SIZE];
  unsigned index[BUFFER_SIZE], column[BUFFER_SIZE], count;
};

__device__ __forceinline__ void rt_multiply(float (&sum)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1)
{
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
    : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Rows lane / 4 + 8 r of a tile: of each 32 dimensions eight, and what it adds to products or multiplies them by.
struct rt_rows {
  uint4 numbers[4][STEPS];
  float initial_sum[4];

  __device__ __forceinline__ void load(const P *points, const float *initial_sums, unsigned tile, unsigned rows, unsigned stride)
  {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      unsigned row = tile * TILE + lane / 4 + 8 * r;
      const bool is_row = row < rows;
      row = is_row ? row : 0;
#if IS_SAMPLE
      unsigned hash = (row ^ row >> 16) * 0x7feb352du;
      hash = (hash ^ hash >> 15) * 0x846ca68bu;
      row = row * stride + (hash ^ hash >> 16) % stride;
#endif
      const P *from = points + (size_t)row * D + lane % 4 * 8;
#pragma unroll
      for (int s = 0; s < STEPS; ++s)
        numbers[r][s] = (s + 1) * 32 <= D || s * 32 + lane % 4 * 8 < D ? *(const uint4 *)(from + s * 32) : make_uint4(0, 0, 0, 0);
      // Distances to rows that are none are no numbers, which no comparison is true of.
      initial_sum[r] = is_row ? initial_sums[row] : __int_as_float(0x7fffffff);
    }
  }
};

// Appends what a warp has found to lists. Lists that are full get no more.
__device__ __forceinline__ void rt_append(rt_collected &own, unsigned first, float *column_limits, float *values, unsigned *indices, unsigned *counts)
{
  __syncwarp();
  const unsigned count = min(own.count, (unsigned)BUFFER_SIZE);
  for (unsigned i = threadIdx.x % 32; i < count; i += 32) {
    const unsigned column = own.column[i], place = atomicAdd(&counts[first + column], 1u);
    if (place < CAPACITY) {
      values[(size_t)(first + column) * CAPACITY + place] = own.value[i];
      indices[(size_t)(first + column) * CAPACITY + place] = own.index[i];
    } else {
      column_limits[column] = -rt_infinity(0.0f);
    }
  }
  __syncwarp();
  if (threadIdx.x % 32 == 0) own.count = 0;
  __syncwarp();
}

extern "C" __global__ __launch_bounds__(THREADS, D <= 64 ? 2 : 1) void neighbors_filter(float *values, unsigned *indices, unsigned *counts, const float *limits, unsigned *noted_count, const float *initial_sums, RT_SEARCH, unsigned rows, unsigned stride, unsigned groups)
{
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ rt_collected collected[WARPS];
  // For each group of queries, then limits.
  uint4 *operands = (uint4 *)memory;
  float *column_limits = (float *)(operands + groups * (STEPS * 32));
  rt_collected &own = collected[threadIdx.x / 32];
  const unsigned lane = threadIdx.x % 32, first = blockIdx.y * groups * 8, tiles = (rows + TILE - 1) / TILE;
  unsigned tile = blockIdx.x * WARPS + threadIdx.x / 32;
  // None is noted so far.
  if (IS_SAMPLE && blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) *noted_count = 0;
  rt_rows next;
  if (tile < tiles) next.load(points, initial_sums, tile, rows, stride);
  if (threadIdx.x % 32 == 0) own.count = 0;
  bool is_searched = IS_SAMPLE;
  for (unsigned q = threadIdx.x; q < groups * 8; q += THREADS) {
    const float limit = !IS_SAMPLE && first + q < m ? limits[first + q] : -rt_infinity(0.0f);
    is_searched |= limit > -rt_infinity(0.0f);
    column_limits[q] = limit;
  }
  for (unsigned i = threadIdx.x; i < groups * STEPS * 32; i += THREADS) {
    const unsigned step = i / 32 % STEPS, group = i / (32 * STEPS), q = first + group * 8 + lane / 4, t = step * 32 + lane % 4 * 8;
    operands[i / 32 * 32 + lane] = q < m && t < D ? *(const uint4 *)(queries + (size_t)q * D + t) : make_uint4(0, 0, 0, 0);
  }
  if (!__syncthreads_or(is_searched)) return;
  const float cosine_sum = rt_initial_sum(RT_COSINE_LENGTH * RT_COSINE_LENGTH, 0, IS_SAMPLE);
  while (tile < tiles) {
    rt_rows here = next;
    const unsigned base = tile * TILE + lane / 4, next_tile = tile + gridDim.x * WARPS;
    if (next_tile < tiles) next.load(points, initial_sums, next_tile, rows, stride);
    for (unsigned group = 0; group < groups; group += COLUMNS) {
      float sum[COLUMNS][2][4];
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
        for (int e = 0; e < 8; ++e) sum[c][e / 4][e % 4] = METRIC_COSINE ? 0.0f : here.initial_sum[e / 2];
#pragma unroll
      for (int s = 0; s < STEPS; ++s) {
        uint4 q[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) q[c] = operands[((group + c) * STEPS + s) * 32 + lane];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const uint4 upper = here.numbers[2 * h][s], lower = here.numbers[2 * h + 1][s];
#pragma unroll
          for (int c = 0; c < COLUMNS; ++c) rt_multiply(sum[c][h], upper.x, lower.x, upper.y, lower.y, q[c].x, q[c].y);
        }
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const uint4 upper = here.numbers[2 * h][s], lower = here.numbers[2 * h + 1][s];
#pragma unroll
          for (int c = 0; c < COLUMNS; ++c) rt_multiply(sum[c][h], upper.z, lower.z, upper.w, lower.w, q[c].z, q[c].w);
        }
      }
      bool is_near[COLUMNS] = {};
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        // Limits of two adjacent queries.
        const unsigned column = (group + c) * 8 + lane % 4 * 2;
        const float2 limit = *(const float2 *)&column_limits[column];
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          float &value = sum[c][e / 4][e % 4];
          if (METRIC_COSINE) value = fmaf(value, here.initial_sum[e / 2], cosine_sum);
          is_near[c] |= value <= (e % 2 ? limit.y : limit.x);
        }
#if IS_SAMPLE
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float least = fminf(fminf(sum[c][0][e], sum[c][0][e + 2]), fminf(sum[c][1][e], sum[c][1][e + 2]));
#pragma unroll
          for (int step = 4; step < 32; step *= 2) least = fminf(least, __shfl_xor_sync(0xffffffffu, least, step));
          const unsigned query = first + (group + c) * 8 + lane * 2 + e;
          if (lane < 4 && query < m) values[(size_t)query * tiles + tile] = least;
        }
#endif
      }
#if !IS_SAMPLE
      unsigned left = 0xffffffffu;
      bool has_more = false;
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) has_more |= is_near[c];
      for (has_more = __any_sync(0xffffffffu, has_more); has_more;) {
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
#pragma unroll
          for (int e = 0; e < 8; ++e) {
            const unsigned column = (group + c) * 8 + lane % 4 * 2 + e % 2, bit = 1u << (c * 8 + e);
            if (left & bit && sum[c][e / 4][e % 4] <= column_limits[column]) {
              const unsigned place = atomicAdd(&own.count, 1u);
              if (place < BUFFER_SIZE) {
                own.value[place] = sum[c][e / 4][e % 4];
                own.index[place] = base + e / 2 * 8;
                own.column[place] = column;
                left -= bit;
              }
            }
          }
        }
        __syncwarp();
        const unsigned found = own.count;
        has_more = found > BUFFER_SIZE;
        if (found > BUFFER_SIZE / 2) rt_append(own, first, column_limits, values, indices, counts);
      }
#endif
    }
    tile = next_tile;
  }
#if !IS_SAMPLE
  rt_append(own, first, column_limits, values, indices, counts);
#endif
}
