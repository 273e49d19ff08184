// By the tensor cores of compute capability 9.0, which read both operands from shared memory: the products of a stage are
// computed by warpgroups of 128 threads while copies of a later one are under way.

// A matrix in shared memory: eight lines are 1024 bytes, the next 64 elements across the common axis DEPTH lines away.
__device__ __forceinline__ unsigned long long rt_matrix(unsigned address) {
  return (unsigned long long)(address >> 4 & 0x3fff) | (unsigned long long)(DEPTH * 128 >> 4) << 16 | (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}
__device__ __forceinline__ void rt_multiply_add(float (&sum)[COLUMNS / 8][4], unsigned long long x, unsigned long long y) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, " ADDS ", 0; wgmma.mma_async.sync.aligned." INSTRUCTION " {" SUM_NAMES "}, " INPUTS "; }"
    : SUM_OPERANDS : "l"(x), "l"(y), "n"(1) TRANSPOSES);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) array_matmul(RT_PARAMETERS)
{
  extern __shared__ __align__(1024) unsigned char ring[];
  const rt_block block = rt_block_of(RT_ARGUMENTS);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = __shfl_sync(~0u, threadIdx.x / 128, 0);
  const bool even = RT_OUT_ROW % 2 == 0 && (rt_length)out % (2 * sizeof(O)) == 0;
  rt_tile_loader<TILE_ROWS, A_K_CONTIGUOUS, A_CHUNK, rt_smem_layout> first(block.a, a_row, a_column, block.rows);
  rt_tile_loader<TILE_COLUMNS, B_K_CONTIGUOUS, B_CHUNK, rt_smem_layout> second(block.b, b_column, b_row, block.columns);
  const rt_length steps = (k + DEPTH - 1) / DEPTH;
  const unsigned stages = rt_shared(ring);
  rt_length left = k;
  auto fetch_next = [&](int stage) {
    if (left > 0) {
      const int depth = left < DEPTH ? (int)left : DEPTH;
      first.fetch(stages + stage * STAGE_BYTES, depth);
      second.fetch(stages + stage * STAGE_BYTES + BYTES_A, depth);
      left -= depth;
    }
    rt_cp_async_commit();
  };
  float sum[COLUMNS / 8][4] = {};
  // A stage is filled again two steps after its products were begun, when those are complete in both warpgroups.
  #pragma unroll
  for (int s = 0; s < STAGES - 2; s++) fetch_next(s);
  int now = 0, next = STAGES - 2;
  #pragma unroll 1
  for (rt_length step = 0; step < steps; step++) {
    rt_cp_async_wait<STAGES - 3>();
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const unsigned x0 = stages + now * STAGE_BYTES + group * 64 * 128, y0 = stages + now * STAGE_BYTES + BYTES_A;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    #pragma unroll
    for (int j = 0; j < DEPTH / 16; j++)
      rt_multiply_add(sum, rt_matrix(x0 + j * (A_K_CONTIGUOUS ? 32 : 16 * 128)), rt_matrix(y0 + j * (B_K_CONTIGUOUS ? 32 : 16 * 128)));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    fetch_next(next);
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    now = now + 1 == STAGES ? 0 : now + 1;
    next = next + 1 == STAGES ? 0 : next + 1;
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#ifdef RT_ARGMIN
  #pragma unroll
  for (int half = 0; half < 2; half++) {
    const int i = warp * 16 + half * 8 + lane / 4;
    float least = RT_INFINITY;
    unsigned at = ~0u;
    #pragma unroll
    for (int c = 0; c < COLUMNS / 8; c++)
      #pragma unroll
      for (int v = 0; v < 2; v++) {
        const int j = c * 8 + lane % 4 * 2 + v;
        const float value = j < block.columns ? RT_FINISH(sum[c][half * 2 + v], block.row + i, block.column + j, block.batch) : RT_INFINITY;
        if (value < least) { least = value; at = (unsigned)block.column + j; }
      }
    rt_keep_least<4>(out + block.row + i, i < block.rows, least, at);
  }
#else // RT_ARGMIN
  #pragma unroll
  for (int half = 0; half < 2; half++) {
    const int i = warp * 16 + half * 8 + lane / 4;
    if (i >= block.rows) continue;
    O *const to = block.out + i * RT_OUT_ROW;
    #pragma unroll
    for (int c = 0; c < COLUMNS / 8; c++) {
      const int j = c * 8 + lane % 4 * 2;
      rt_store(to + j, even, block.columns - j, sum[c][half * 2], sum[c][half * 2 + 1], [&](float value, int v) { return RT_FINISH(value, block.row + i, block.column + j + v, block.batch); });
    }
  }
#endif // RT_ARGMIN
}
