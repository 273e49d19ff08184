// By `mma` of fragments that `ldmatrix` brings to the lanes of a warp.
template <bool K_CONTIGUOUS> __device__ __forceinline__ void rt_matrices(unsigned (&to)[4], unsigned tile, int across, int along) {
  const unsigned from = tile + (K_CONTIGUOUS ? rt_smem_layout::at(across, along) : rt_smem_layout::at(along, across));
  if constexpr (K_CONTIGUOUS) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from));
  else asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from));
}
__device__ __forceinline__ void rt_multiply_add(float (&sum)[4], const unsigned (&x)[4], unsigned y0, unsigned y1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." FORMAT "." FORMAT ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
    : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y0), "r"(y1));
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) array_matmul(RT_PARAMETERS)
{
  extern __shared__ __align__(1024) unsigned char ring[];
  const rt_block block = rt_block_of(RT_ARGUMENTS);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = warp / WARPS_N * ROWS, column = warp % WARPS_N * COLUMNS;
  const bool even = RT_OUT_ROW % 2 == 0 && (rt_length)out % (2 * sizeof(O)) == 0;
  rt_tile_loader<TILE_ROWS, A_K_CONTIGUOUS, A_CHUNK, rt_smem_layout> first(block.a, a_row, a_column, block.rows);
  rt_tile_loader<TILE_COLUMNS, B_K_CONTIGUOUS, B_CHUNK, rt_smem_layout> second(block.b, b_column, b_row, block.columns);
  float sum[ROWS / 16][COLUMNS / 8][4] = {};
  auto fetch = [&](unsigned to, int depth) { first.fetch(to, depth); second.fetch(to + BYTES_A, depth); };
  auto multiply = [&](int stage) {
    const unsigned x0 = rt_shared(ring + stage), y0 = x0 + BYTES_A;
    #pragma unroll
    for (int j = 0; j < DEPTH; j += 16) {
      unsigned x[ROWS / 16][4], y[COLUMNS / 16][4];
      // The four matrices of 8 x 8 go down the rows of the first operand, and along the common axis of the second.
      if constexpr (A_K_CONTIGUOUS) {
        #pragma unroll
        for (int r = 0; r < ROWS / 16; r++) rt_matrices<true>(x[r], x0, row + r * 16 + lane % 16, j + lane / 16 * 8);
      } else {
        #pragma unroll
        for (int r = 0; r < ROWS / 16; r++) rt_matrices<false>(x[r], x0, row + r * 16 + lane / 8 % 2 * 8, j + lane / 16 * 8 + lane % 8);
      }
      if constexpr (B_K_CONTIGUOUS) {
        #pragma unroll
        for (int c = 0; c < COLUMNS / 16; c++) rt_matrices<true>(y[c], y0, column + c * 16 + lane / 16 * 8 + lane % 8, j + lane / 8 % 2 * 8);
      } else {
        #pragma unroll
        for (int c = 0; c < COLUMNS / 16; c++) rt_matrices<false>(y[c], y0, column + c * 16 + lane / 16 * 8, j + lane % 16);
      }
      #pragma unroll
      for (int r = 0; r < ROWS / 16; r++)
        #pragma unroll
        for (int c = 0; c < COLUMNS / 8; c++) rt_multiply_add(sum[r][c], x[r], y[c / 2][c % 2 * 2], y[c / 2][c % 2 * 2 + 1]);
    }
  };
  rt_mainloop(rt_shared(ring), k, fetch, multiply);
#ifdef RT_ARGMIN
  #pragma unroll
  for (int r = 0; r < ROWS / 16; r++)
    #pragma unroll
    for (int half = 0; half < 2; half++) {
      const int i = row + r * 16 + half * 8 + lane / 4;
      float least = RT_INFINITY;
      unsigned at = ~0u;
      #pragma unroll
      for (int c = 0; c < COLUMNS / 8; c++)
        #pragma unroll
        for (int v = 0; v < 2; v++) {
          const int j = column + c * 8 + lane % 4 * 2 + v;
          const float value = j < block.columns ? RT_FINISH(sum[r][c][half * 2 + v], block.row + i, block.column + j, block.batch) : RT_INFINITY;
          if (value < least) { least = value; at = (unsigned)block.column + j; }
        }
      rt_keep_least<4>(out + block.row + i, i < block.rows, least, at);
    }
#else // RT_ARGMIN
  #pragma unroll
  for (int r = 0; r < ROWS / 16; r++)
    #pragma unroll
    for (int half = 0; half < 2; half++) {
      const int i = row + r * 16 + half * 8 + lane / 4;
      if (i >= block.rows) continue;
      O *const to = block.out + i * RT_OUT_ROW;
      #pragma unroll
      for (int c = 0; c < COLUMNS / 8; c++) {
        const int j = column + c * 8 + lane % 4 * 2;
        rt_store(to + j, even, block.columns - j, sum[r][c][half * 2], sum[r][c][half * 2 + 1], [&](float value, int v) { return RT_FINISH(value, block.row + i, block.column + j + v, block.batch); });
      }
    }
#endif // RT_ARGMIN
}
