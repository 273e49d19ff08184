// Distances by tiles, as a product of matrices: a block has SIDE queries and walks over SIDE points at a time, a thread
// has ROWS x COLUMNS pairs. Where none of a tile is nearer than what its queries have, the tile is done. Else its distances go
// through shared memory to lists: short ones of LANES threads for each query, or (IS_LISTED) one in global memory, which
// a warp keeps.
//
// With IS_TENSOR products are those of tensor cores. Vectors are scaled by powers of two to lengths of 1 to 2, and float32 is
// split into two numbers of float16, the second of which is scaled by 2^11 and has sums of its own. Products of second
// numbers are left out.
enum { SIDE = 64, DEPTH = IS_TENSOR ? 32 : 16, LANES = THREADS / SIDE, ACROSS = SIDE / COLUMNS, WARPS = THREADS / 32 };
#if IS_TENSOR
// As the instruction has them: a warp has 16 rows and 32 columns, a thread in each 8 x 8 of them two adjacent columns.
#define RT_ROW(r) (row + 8 * (r))
#define RT_COLUMN(c) (column + (c) / 2 * 8 + (c) % 2)
#else
#define RT_ROW(r) (row + (r))
// Adjacent columns are read at once; where threads are lanes of a vector, adjacent threads have adjacent columns.
#if IS_SIMD_CPU
#define RT_COLUMN(c) (column + (c) * ACROSS)
#else
#define RT_COLUMN(c) (column * COLUMNS + (c))
#endif
#endif

#if IS_TENSOR
// Queries of few dimensions are split once for all tiles. Pitches are such that a warp reads without conflicts of banks.
enum { QUERIES_STAY = D <= 96, POINT_PITCH = DEPTH + 8, QUERY_PITCH = (QUERIES_STAY ? (D + DEPTH - 1) / DEPTH * DEPTH : DEPTH) + 8 };
typedef unsigned short rt_query_rows[SIDE][QUERY_PITCH];
typedef unsigned short rt_point_rows[SIDE][POINT_PITCH];

// The power of two that scales a vector with this squared length to a length of 1 to 2, as far as float32 has it.
__device__ __forceinline__ float rt_length_scale(double norm)
{
  const int exponent = norm > 0 ? max(min(ilogb(norm) >> 1, 120), -120) : 0;
  return __int_as_float((127 - exponent) << 23);
}

// 1 over such a power.
__device__ __forceinline__ float rt_inverse(float scale) { return __int_as_float(0x7f000000 - __float_as_int(scale)); }

__device__ __forceinline__ void rt_split(float x, unsigned &high, unsigned &low)
{
  unsigned short h, l;
  float rounded;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  asm("cvt.f32.f16 %0, %1;" : "=f"(rounded) : "h"(h));
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(l) : "f"((x - rounded) * 2048.0f));
  high = h, low = l;
}

// Eight numbers, of which there are `count`, scaled and split.
__device__ __forceinline__ void rt_stage(unsigned short *high, unsigned short *low, const float *from, int count, float scale)
{
  float x[8];
  if (count >= 8 && (size_t)from % 16 == 0) {
    *(float4 *)x = *(const float4 *)from;
    *(float4 *)(x + 4) = *(const float4 *)(from + 4);
  } else {
#pragma unroll
    for (int e = 0; e < 8; ++e) x[e] = e < count ? from[e] : 0.0f;
  }
  unsigned h[4], l[4];
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    unsigned h0, h1, l0, l1;
    rt_split(x[2 * e] * scale, h0, l0);
    rt_split(x[2 * e + 1] * scale, h1, l1);
    h[e] = h0 | h1 << 16, l[e] = l0 | l1 << 16;
  }
  *(uint4 *)high = make_uint4(h[0], h[1], h[2], h[3]);
  *(uint4 *)low = make_uint4(l[0], l[1], l[2], l[3]);
}

__device__ __forceinline__ void rt_stage(unsigned short *high, unsigned short *, const rt_half *from, int count, float)
{
  if (count >= 8 && (size_t)from % 16 == 0) {
    *(uint4 *)high = *(const uint4 *)from;
  } else {
#pragma unroll
    for (int e = 0; e < 8; ++e) high[e] = e < count ? from[e].bits : (unsigned short)0;
  }
}

__device__ __forceinline__ void rt_multiply(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
    : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ unsigned rt_pair(const unsigned short *from) { return *(const unsigned *)from; }
#endif

#if IS_LISTED
// Puts a distance into an ordered list, behind equal ones. All lanes of a warp take part.
__device__ void rt_insert(A *value, unsigned *index, A x, unsigned i)
{
  const int lane = threadIdx.x % 32;
  int place = 0;
  for (int chunk = (K - 1) / 32 * 32; chunk >= 0; chunk -= 32) {
    const int j = chunk + lane;
    const A old = j < K ? value[j] : rt_infinity(A());
    const unsigned old_index = j < K ? index[j] : NOTHING;
    const bool moves = old > x;
    __syncwarp();
    if (moves && j + 1 < K) { value[j + 1] = old; index[j + 1] = old_index; }
    const unsigned stays = __ballot_sync(0xffffffffu, !moves);
    __syncwarp();
    if (stays) { place = chunk + __popc(stays); break; }
  }
  if (lane == 0 && place < K) { value[place] = x; index[place] = i; }
  __syncwarp();
}
#endif

extern "C" __global__ __launch_bounds__(THREADS) void neighbors_scan(A *values, unsigned *indices, RT_SEARCH, unsigned most_slices, double radius)
{
  // Parts of operands, and later distances.
#if IS_TENSOR
  enum { STAGE = 2 * sizeof(rt_point_rows) / sizeof(A), RESULT = SIDE * (SIDE + 1) };
#else
  enum { STAGE = 2 * DEPTH * (SIDE + 4), RESULT = SIDE * (SIDE + 1) };
#endif
  __shared__ __align__(16) A memory[STAGE > RESULT ? STAGE : RESULT];
  __shared__ A threshold[SIDE];
  A (*distance)[SIDE + 1] = (A (*)[SIDE + 1])memory;
#if IS_TENSOR
  __shared__ __align__(16) rt_query_rows q_high, q_low;
  rt_point_rows *halves = (rt_point_rows *)memory, &p_high = halves[0], &p_low = halves[1];
  const int staged_line = threadIdx.x / (DEPTH / 8), staged = threadIdx.x % (DEPTH / 8) * 8;
  __shared__ float q_scale[SIDE], p_scale[SIDE];
  const int lane_row = threadIdx.x % 32 / 4, lane_column = threadIdx.x % 4 * 2, warp = threadIdx.x / 32;
  const int first_row = warp % 4 * 16, first_column = warp / 4 * 32;
  const int row = first_row + lane_row, column = first_column + lane_column;
#else
  A (*qs)[SIDE + 4] = (A (*)[SIDE + 4])memory, (*ps)[SIDE + 4] = qs + DEPTH;
  const int row = threadIdx.x / ACROSS * ROWS, column = threadIdx.x % ACROSS;
#endif
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
      const rt_bound bound(query_norms[min(first + RT_ROW(r), count - 1)], *largest_norm, RT_LIMIT);
      low[r] = (A)bound.low(RT_LIMIT);
      high[r] = (A)bound.high(RT_LIMIT);
    }
#else
#if IS_LISTED
    const int list_warp = threadIdx.x / 32 * (SIDE / WARPS), lane = threadIdx.x % 32;
    for (int line = list_warp; line < list_warp + SIDE / WARPS && first + line < count; ++line) {
      const size_t list = (size_t)(first + line) * slices + slice;
      for (int j = lane; j < K; j += 32) { values[list * K + j] = rt_infinity(A()); indices[list * K + j] = NOTHING; }
    }
#else
    const int line = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    rt_list list;
    list.clear();
#endif
    if (threadIdx.x < SIDE) threshold[threadIdx.x] = first + threadIdx.x < count ? rt_infinity(A()) : -rt_infinity(A());
#endif
#if IS_TENSOR
    __syncthreads();
    if (threadIdx.x < SIDE) {
      const unsigned slot = first + threadIdx.x;
      q_scale[threadIdx.x] = slot < count ? rt_length_scale(query_norms[selected ? selected[slot] : slot]) : 1.0f;
    }
#endif
    for (unsigned base = begin; base < end; base += SIDE) {
#if IS_TENSOR
      // Sums of products of first numbers, and of a first and a second one.
      float sum_high[COLUMNS / 2][4] = {}, sum_low[COLUMNS / 2][4] = {};
      __syncthreads();
      if (threadIdx.x < SIDE)
        p_scale[threadIdx.x] = base + threadIdx.x < end && !POINT_IS_HALF ? rt_length_scale(point_norms[base + threadIdx.x]) : 1.0f;
      for (int t0 = 0; t0 < D; t0 += DEPTH) {
        __syncthreads();
        // A thread has eight numbers of a query, and of a point.
        if (!QUERIES_STAY || base == begin) {
          const unsigned slot = first + staged_line;
          const float *query = queries + (size_t)(slot >= count ? 0 : selected ? selected[slot] : slot) * D;
          const int at = (QUERIES_STAY ? t0 : 0) + staged;
          rt_stage(&q_high[staged_line][at], &q_low[staged_line][at], query + t0 + staged, slot < count ? D - t0 - staged : 0, q_scale[staged_line]);
        }
        const bool is_point = base + staged_line < end;
        const P *point = points + (size_t)(is_point ? base + staged_line : begin) * D;
        rt_stage(&p_high[staged_line][staged], &p_low[staged_line][staged], point + t0 + staged, is_point ? D - t0 - staged : 0, p_scale[staged_line]);
        __syncthreads();
#pragma unroll
        for (int part = 0; part < DEPTH; part += 16) {
          const int t = part + lane_column;
          const unsigned short *high = &q_high[row][(QUERIES_STAY ? t0 : 0) + t], *low = &q_low[row][(QUERIES_STAY ? t0 : 0) + t];
          const unsigned qh[4] = {rt_pair(high), rt_pair(high + 8 * QUERY_PITCH), rt_pair(high + 8), rt_pair(high + 8 * QUERY_PITCH + 8)};
          const unsigned ql[4] = {rt_pair(low), rt_pair(low + 8 * QUERY_PITCH), rt_pair(low + 8), rt_pair(low + 8 * QUERY_PITCH + 8)};
#pragma unroll
          for (int c = 0; c < COLUMNS / 2; ++c) {
            const int line = first_column + 8 * c + lane_row;
            const unsigned ph[2] = {rt_pair(&p_high[line][t]), rt_pair(&p_high[line][t + 8])};
            rt_multiply(sum_high[c], qh, ph);
            rt_multiply(sum_low[c], ql, ph);
#if !POINT_IS_HALF
            const unsigned pl[2] = {rt_pair(&p_low[line][t]), rt_pair(&p_low[line][t + 8])};
            rt_multiply(sum_low[c], qh, pl);
#endif
          }
        }
      }
      A sum[ROWS][COLUMNS];
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
          sum[r][c] = fmaf(sum_low[c / 2][2 * r + c % 2], 0x1p-11f, sum_high[c / 2][2 * r + c % 2]) * rt_inverse(q_scale[RT_ROW(r)]) * rt_inverse(p_scale[RT_COLUMN(c)]);
#else
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
#endif
#if METRIC_COSINE || IS_PRODUCT
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        const double norm = base + RT_COLUMN(c) < end ? point_norms[base + RT_COLUMN(c)] : 0.0;
#if IS_PRODUCT
        const A weight = (A)norm;
#endif
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
#if IS_PRODUCT
          sum[r][c] = fmaf(-2.0f, sum[r][c], weight);
#elif IS_EXACT
          const unsigned slot = min(first + RT_ROW(r), count - 1);
          const double length = sqrt(query_norms[selected ? selected[slot] : slot]) * sqrt(norm);
          sum[r][c] = length > 0 ? -sum[r][c] / length : 0.0;
#else
          sum[r][c] = rt_cosine(sum[r][c], norm, IS_COUNT);
#endif
        }
      }
#endif
#if IS_COUNT
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
          if (first + RT_ROW(r) < count && base + RT_COLUMN(c) < end) {
            RT_COUNT(inside[r], sum[r][c], low[r], high[r], first + RT_ROW(r), base + RT_COLUMN(c))
          }
#else
      bool is_near = false;
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) is_near |= base + RT_COLUMN(c) < end && sum[r][c] <= threshold[RT_ROW(r)];
      if (!__syncthreads_or(is_near)) continue;
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) distance[RT_ROW(r)][RT_COLUMN(c)] = sum[r][c];
      __syncthreads();
#if IS_LISTED
      for (int line = list_warp; line < list_warp + SIDE / WARPS && first + line < count; ++line) {
        const size_t list = ((size_t)(first + line) * slices + slice) * K;
        A worst = threshold[line];
        for (int part = 0; part < SIDE; part += 32) {
          const A x = base + part + lane < end ? distance[line][part + lane] : rt_infinity(A());
          for (unsigned nearer = __ballot_sync(0xffffffffu, x < worst); nearer; nearer &= nearer - 1) {
            const int from = __ffs(nearer) - 1;
            const A nearest = __shfl_sync(0xffffffffu, x, from);
            if (!(nearest < worst)) continue;
            rt_insert(values + list, indices + list, nearest, base + part + from);
            worst = values[list + K - 1];
          }
        }
        if (lane == 0) threshold[line] = worst;
      }
#else
      for (int j = lane; j < SIDE; j += LANES)
        if (base + j < end) list.add(distance[line][j], base + j);
      A worst = list.worst;
      for (int step = 1; step < LANES; step *= 2) worst = min(worst, __shfl_xor_sync(0xffffffffu, worst, step));
      if (lane == 0 && first + line < count) threshold[line] = worst;
#endif
#endif
    }
#if IS_COUNT
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
      if (inside[r]) atomicAdd(&indices[first + RT_ROW(r)], inside[r]);
#else
#if !IS_LISTED
    if (first + line < count) list.store(values, indices, ((size_t)(first + line) * slices + slice) * LANES + lane);
#endif
    __syncthreads();
#endif
  }
}
