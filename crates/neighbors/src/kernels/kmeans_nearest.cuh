// The nearest centre of each row by tensor cores. A warp has the numbers of LINES * 16 rows in registers, and a block looks at
// all centres, of which tiles are copied to shared memory while earlier ones are multiplied. Distances are never stored.
//
// Rows and centres of float are sums of two bfloats, of which three of four products are added up, so that a score is wrong
// by less than the bound in rt_uncertainty. Rows whose two best scores are not further apart than that are noted in
// `unsure`, a number and then places, and are left to kmeans_assign, so labels are those of float arithmetic.
//
// Of equal scores the first is taken. `centers` has tiles of TILE centres, and each tile, for each of PARTS parts of numbers and
// STEPS parts of WIDTH columns, matrices of 8 centres and 8 columns, which are in the order in which lanes read VECTOR adjacent
// columns of rows. Bias is infinite behind the last centre.
//
// By warpgroups, blocks stay and look at one tile of rows after another; the next one is copied to shared memory meanwhile
// (HAS_AHEAD), and all that blocks wait for is a copy.
enum { WARPS = THREADS / 32, STEPS = WIDTH / 16, TILE_BYTES = TILE * PARTS * WIDTH * 2, STAGE = TILE_BYTES + TILE * 4 };
#if IS_WARPGROUP
enum { LINES = 1, COLUMNS = TILE };
#else
enum { LINES = STEPS * PARTS <= 8 ? 2 : 1, COLUMNS = PARTS == 1 ? 32 : 16 };
#endif
enum { ROWS = WARPS * LINES * 16 };

__device__ __forceinline__ unsigned rt_shared(const void *x) { return (unsigned)__cvta_generic_to_shared(x); }
#if IS_WARPGROUP
__device__ __forceinline__ void rt_wait(unsigned barrier, unsigned parity)
{
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" :: "r"(barrier), "r"(parity) : "memory");
}
__device__ __forceinline__ void rt_copy(unsigned to, const void *from, unsigned bytes, unsigned barrier)
{
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
    :: "r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}
// Products with matrices of 8 x 8 that are 128 bytes each, and of the other half of a step TILE * 16 bytes away.
__device__ __forceinline__ void rt_multiply_add(float (&sum)[COLUMNS / 8][4], const unsigned (&x)[4], unsigned y, int is_added)
{
  const u64 matrices = (u64)(y >> 4 & 0x3fff) | (u64)TILE << 16 | 8ull << 32;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, " IS_ADDED ", 0; wgmma.mma_async.sync.aligned.m64n" COLUMNS_TEXT "k16.f32." FORMAT "." FORMAT " {" SUM_NAMES "}, {" INPUTS "}, " MATRICES ", p, 1, 1, 0; }"
    : SUM_OPERANDS : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(matrices), "r"(is_added));
}
#else
__device__ __forceinline__ void rt_copy(unsigned to, const void *from)
{
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void rt_matrices(unsigned (&to)[4], unsigned from)
{
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
    : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from) : "memory");
}
__device__ __forceinline__ void rt_multiply_add(float (&sum)[4], const unsigned (&x)[4], unsigned y0, unsigned y1)
{
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." FORMAT "." FORMAT ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
    : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y0), "r"(y1));
}
#endif

#if PARTS == 2
// How far the difference of two scores may be from that of float arithmetic, with room for what is small.
//
// A bfloat is off by 2^-9, so parts miss 2^-18 of a number, and the product that is left out is as large; each of 3 D products
// is added to sums of at most |x| |c| with an error of 2^-23 of these, those of float arithmetic with 2^-24. A score has the
// product twice, and |c|^2, with two errors of 2^-24 of the sum.
__device__ __forceinline__ float rt_uncertainty(float x2, float c2)
{
  const float x = sqrtf(x2) * 1.0001f + 0x1p-60f, c = sqrtf(c2) * 1.0001f + 0x1p-60f;
  return x * c * (4 * (3.1f * 0x1p-18f + 3.8f * WIDTH * 0x1p-23f) + 0x1p-20f) + c * c * 0x1p-21f + (x + c) * 0x1p-118f;
}
__device__ __forceinline__ void rt_split(float low, float high, unsigned &first, unsigned &second)
{
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(first) : "f"(high), "f"(low));
  low -= __uint_as_float(first << 16);
  high -= __uint_as_float(first & 0xffff0000);
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(second) : "f"(high), "f"(low));
}
#endif

struct __align__(IS_VECTOR ? 16 : sizeof(P)) rt_numbers { P at[VECTOR]; };

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS_PER_SM) void kmeans_nearest(int *labels, unsigned *changed, unsigned *unsure, const P *rows, const OPERAND *centers, const float *bias, u64 n, unsigned k)
{
  extern __shared__ __align__(128) unsigned char memory[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane % 4;
  const unsigned ring = rt_shared(memory), tiles = (k + TILE - 1) / TILE;
#if IS_WARPGROUP
  const u64 row_tiles = (n + ROWS - 1) / ROWS;
  const unsigned steps = (unsigned)((row_tiles - blockIdx.x + gridDim.x - 1) / gridDim.x) * tiles;
  // Of each stage, whether it is filled, and whether all warps are done with it; the same of rows.
  __shared__ u64 barriers[2 * STAGES + 2];
  const unsigned filled = rt_shared(barriers), done = filled + 8 * STAGES, rows_filled = done + 8 * STAGES, rows_done = rows_filled + 8;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2 * STAGES + 2; ++i) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(filled + 8 * i), "r"(i < STAGES || i == 2 * STAGES ? 1 : WARPS) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
  }
  __syncthreads();
  auto fetch = [&](unsigned at) {
    if (threadIdx.x == 0 && at < steps) {
      const unsigned stage = at % STAGES, to = ring + stage * STAGE, barrier = filled + 8 * stage, tile = at % tiles;
      if (at >= STAGES) rt_wait(done + 8 * stage, (at / STAGES - 1) % 2);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(STAGE) : "memory");
      rt_copy(to, (const unsigned char *)centers + (size_t)tile * TILE_BYTES, TILE_BYTES, barrier);
      rt_copy(to + TILE_BYTES, bias + tile * TILE, TILE * 4, barrier);
    }
    __syncwarp();
  };
  auto arrive = [&](unsigned barrier) {
    __syncwarp();
    if (lane == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
  };
#if HAS_AHEAD
  const unsigned char *const ahead = memory + STAGES * STAGE;
  auto fetch_rows = [&](u64 tile, unsigned turn) {
    if (threadIdx.x == 0 && tile < row_tiles) {
      if (turn > 0) rt_wait(rows_done, (turn - 1) % 2);
      const u64 left = n - tile * ROWS;
      const unsigned bytes = (unsigned)(left < ROWS ? left : ROWS) * (D * (unsigned)sizeof(P));
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(rows_filled), "r"(bytes) : "memory");
      rt_copy(rt_shared(ahead), rows + tile * ROWS * D, bytes, rows_filled);
    }
    __syncwarp();
  };
  fetch_rows(blockIdx.x, 0);
#endif
#else
  auto fetch = [&](unsigned tile) {
    if (tile < tiles) {
      const unsigned to = ring + tile % STAGES * STAGE;
      const unsigned char *const from = (const unsigned char *)centers + (size_t)tile * TILE_BYTES;
      for (int i = threadIdx.x; i < TILE_BYTES / 16; i += THREADS) rt_copy(to + i * 16, from + i * 16);
      for (int i = threadIdx.x; i < TILE / 4; i += THREADS) rt_copy(to + TILE_BYTES + i * 16, bias + tile * TILE + i * 4);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#endif
  for (unsigned at = 0; at < STAGES - 1; ++at) fetch(at);

  unsigned count = 0;
#if IS_WARPGROUP
  unsigned at_step = 0, turn = 0;
  for (u64 row_tile = blockIdx.x; row_tile < row_tiles; row_tile += gridDim.x, ++turn) {
#else
  const u64 row_tile = blockIdx.x;
  {
#endif
  const u64 first = row_tile * ROWS + warp * (LINES * 16) + lane / 4;
  // Read early, for they are compared at the end.
  int labels_before[LINES][2];
#pragma unroll
  for (int i = 0; i < LINES * 2; ++i) {
    const u64 row = first + i * 8;
    labels_before[i / 2][i % 2] = quad == 0 && row < n ? labels[row] : 0;
  }
  unsigned x[LINES][PARTS][STEPS][4];
#if PARTS == 2
  float squares[LINES][2] = {};
  float largest = 0;
#endif
#if HAS_AHEAD
  rt_wait(rows_filled, turn % 2);
#endif
#pragma unroll
  for (int line = 0; line < LINES; ++line)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const u64 row = first + line * 16 + half * 8;
#if HAS_AHEAD
      const P *const from = (const P *)ahead + (warp * 16 + lane / 4 + half * 8) * D;
#else
      const P *const from = rows + (row < n ? row : n - 1) * D;
#endif
#pragma unroll
      for (int group = 0; group < WIDTH / (4 * VECTOR); ++group) {
        const int column = (group * 4 + quad) * VECTOR;
        rt_numbers own = {};
#if IS_VECTOR
        if (WIDTH == D || column < D) own = *(const rt_numbers *)(from + column);
#else
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) if (WIDTH == D || column + v < D) own.at[v] = from[column + v];
#endif
#if PARTS == 2
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) squares[line][half] += own.at[v] * own.at[v];
        rt_split(own.at[0], own.at[1], x[line][0][group][half], x[line][1][group][half]);
        rt_split(own.at[2], own.at[3], x[line][0][group][half + 2], x[line][1][group][half + 2]);
#else
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) x[line][0][group * 2 + pair / 2][half + pair % 2 * 2] = own.at[pair * 2].bits | (unsigned)own.at[pair * 2 + 1].bits << 16;
#endif
      }
    }
#if HAS_AHEAD
  arrive(rows_done);
#endif

  float best[LINES][2], second[LINES][2];
  unsigned at[LINES][2];
#pragma unroll
  for (int i = 0; i < LINES * 2; ++i) { best[i / 2][i % 2] = second[i / 2][i % 2] = RT_INFINITY; at[i / 2][i % 2] = 0; }
#pragma unroll 1
  for (unsigned tile = 0; tile < tiles; ++tile) {
#if IS_WARPGROUP
    const unsigned at_stage = at_step % STAGES;
    const unsigned char *const stage = memory + at_stage * STAGE;
    fetch(at_step + STAGES - 1);
#if HAS_AHEAD
    if (tile + 1 == tiles) fetch_rows(row_tile + gridDim.x, turn + 1);
#endif
    rt_wait(filled + 8 * at_stage, at_step / STAGES % 2);
    const unsigned from = rt_shared(stage);
    {
      const int base = 0;
      float sum[1][COLUMNS / 8][4];
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int step = 0; step < STEPS; ++step)
#pragma unroll
        for (int product = 0; product < 2 * PARTS - 1; ++product)
          rt_multiply_add(sum[0], x[0][product == 2][step], from + ((product == 1) * STEPS + step) * (TILE * 32), step + product > 0);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#else
    const unsigned char *const stage = memory + tile % STAGES * STAGE;
    asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 2) : "memory");
    __syncthreads();
    fetch(tile + STAGES - 1);
    // Matrices go along the columns, and then down the centres.
    const unsigned from = rt_shared(stage) + (lane / 16 * 8 + lane % 8) * 16 + lane / 8 % 2 * (TILE * 16);
#pragma unroll 1
    for (int base = 0; base < TILE; base += COLUMNS) {
      float sum[LINES][COLUMNS / 8][4] = {};
#pragma unroll
      for (int step = 0; step < STEPS; ++step) {
        unsigned y[PARTS][COLUMNS / 16][4];
#pragma unroll
        for (int part = 0; part < PARTS; ++part)
#pragma unroll
          for (int c = 0; c < COLUMNS / 16; ++c) rt_matrices(y[part][c], from + (part * STEPS + step) * (TILE * 32) + (base + c * 16) * 16);
#pragma unroll
        for (int product = 0; product < 2 * PARTS - 1; ++product)
#pragma unroll
          for (int line = 0; line < LINES; ++line)
#pragma unroll
            for (int c = 0; c < COLUMNS / 8; ++c) {
              const unsigned *const pair = y[product == 1][c / 2] + c % 2 * 2;
              rt_multiply_add(sum[line][c], x[line][product == 2][step], pair[0], pair[1]);
            }
      }
#endif
#if PARTS == 2
      if (base == 0)
#pragma unroll
        for (int i = 0; i < TILE / 32; ++i) {
          const float own = ((const float *)(stage + TILE_BYTES))[i * 32 + lane];
          if (own < RT_INFINITY) largest = fmaxf(largest, own);
        }
#endif
#pragma unroll
      for (int c = 0; c < COLUMNS / 8; ++c) {
        const float2 biases = ((const float2 *)(stage + TILE_BYTES))[(base + c * 8) / 2 + quad];
#pragma unroll
        for (int v = 0; v < 2; ++v)
#pragma unroll
          for (int i = 0; i < LINES * 2; ++i) {
            const float score = fmaf(-2.0f, sum[i / 2][c][i % 2 * 2 + v], v ? biases.y : biases.x);
            float &least = best[i / 2][i % 2];
#if PARTS == 2
            second[i / 2][i % 2] = fminf(second[i / 2][i % 2], fmaxf(least, score));
#endif
            if (score < least) { least = score; at[i / 2][i % 2] = tile * TILE + base + c * 8 + quad * 2 + v; }
          }
      }
    }
#if IS_WARPGROUP
    arrive(done + 8 * at_stage);
    ++at_step;
#endif
  }

#if PARTS == 2
#pragma unroll
  for (int step = 16; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, step));
#endif
#pragma unroll
  for (int line = 0; line < LINES; ++line)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float least = best[line][half];
      unsigned label = at[line][half];
#pragma unroll
      for (int step = 1; step < 4; step *= 2) {
        const float other = __shfl_xor_sync(~0u, least, step);
        const unsigned place = __shfl_xor_sync(~0u, label, step);
#if PARTS == 2
        const float next = __shfl_xor_sync(~0u, second[line][half], step);
        second[line][half] = fminf(fminf(second[line][half], next), fmaxf(least, other));
        squares[line][half] += __shfl_xor_sync(~0u, squares[line][half], step);
#endif
        if (other < least || (other == least && place < label)) { least = other; label = place; }
      }
      const u64 row = first + line * 16 + half * 8;
      bool is_own = quad == 0 && row < n;
#if PARTS == 2
      const bool is_unsure = is_own && !(second[line][half] - least > rt_uncertainty(squares[line][half], largest));
      const unsigned all = __ballot_sync(~0u, is_unsure);
      if (all) {
        unsigned place = 0;
        if (lane == 0) place = atomicAdd(unsure, (unsigned)__popc(all));
        place = __shfl_sync(~0u, place, 0) + __popc(all & ((1u << lane) - 1));
        if (is_unsure) unsure[1 + place] = (unsigned)row;
      }
      is_own = is_own && !is_unsure;
#endif
      if (is_own) {
        count += labels_before[line][half] != (int)label;
        labels[row] = (int)label;
      }
    }
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) count += __shfl_xor_sync(~0u, count, step);
  __shared__ unsigned counts[WARPS];
  if (lane == 0) counts[warp] = count;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < WARPS; ++i) count += counts[i];
    if (count) atomicAdd(changed, count);
  }
}
