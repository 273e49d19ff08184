// Each thread computes a rectangle of the tile from 16-byte reads of shared memory, where both operands lie in lines
// across the common axis. The lanes of a warp are four down and eight across.
constexpr int rt_vector = 16 / (int)sizeof(E);

template <int PITCH, bool K_CONTIGUOUS> struct rt_smem_layout {
  static __device__ __forceinline__ int at(int line, int item) { return (K_CONTIGUOUS ? item * PITCH + line : line * PITCH + item) * (int)sizeof(E); }
  static constexpr int step(int lines) { return (K_CONTIGUOUS ? lines : lines * PITCH) * (int)sizeof(E); }
};
template <class T> __device__ __forceinline__ void rt_add_product(T &sum, T x, T y) { sum += x * y; }
__device__ __forceinline__ void rt_add_product(float2 &sum, float2 x, float2 y) {
  sum.x += x.x * y.x; sum.y += x.x * y.y;
  sum.x -= x.y * y.y; sum.y += x.y * y.x;
}
__device__ __forceinline__ void rt_add_product(double2 &sum, double2 x, double2 y) {
  sum.x += x.x * y.x; sum.y += x.x * y.y;
  sum.x -= x.y * y.y; sum.y += x.y * y.x;
}
struct alignas(16) rt_vector_of { E at[rt_vector]; };
struct alignas(sizeof(O) * rt_vector) rt_stored_vector { O at[rt_vector]; };

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) array_matmul(RT_PARAMETERS)
{
  extern __shared__ __align__(128) unsigned char ring[];
  const rt_block block = rt_block_of(RT_ARGUMENTS);
  if (!RT_IS_WANTED(block)) return;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = warp / WARPS_N * 4 * ROWS + lane / 8 * rt_vector, column = warp % WARPS_N * 8 * COLUMNS + lane % 8 * rt_vector;
  const bool wide = RT_OUT_ROW % rt_vector == 0 && (rt_length)out % sizeof(rt_stored_vector) == 0;
  rt_tile_loader<TILE_ROWS, A_K_CONTIGUOUS, A_CHUNK, rt_smem_layout<PITCH_A, A_K_CONTIGUOUS>> first(block.a, a_row, a_column, block.rows);
  rt_tile_loader<TILE_COLUMNS, B_K_CONTIGUOUS, B_CHUNK, rt_smem_layout<PITCH_B, B_K_CONTIGUOUS>> second(block.b, b_column, b_row, block.columns);
  E sum[ROWS][COLUMNS] = {};
  auto fetch = [&](unsigned to, int depth) { first.fetch(to, depth); second.fetch(to + BYTES_A, depth); };
  auto multiply = [&](int stage) {
    const E *const x0 = (const E *)(ring + stage) + row, *const y0 = (const E *)(ring + stage + BYTES_A) + column;
    #pragma unroll
    for (int j = 0; j < DEPTH; j++) {
      rt_vector_of x[ROWS / rt_vector], y[COLUMNS / rt_vector];
      #pragma unroll
      for (int r = 0; r < ROWS / rt_vector; r++) x[r] = *(const rt_vector_of *)(x0 + j * PITCH_A + r * 4 * rt_vector);
      #pragma unroll
      for (int c = 0; c < COLUMNS / rt_vector; c++) y[c] = *(const rt_vector_of *)(y0 + j * PITCH_B + c * 8 * rt_vector);
      #pragma unroll
      for (int r = 0; r < ROWS; r++)
        #pragma unroll
        for (int c = 0; c < COLUMNS; c++) rt_add_product(sum[r][c], x[r / rt_vector].at[r % rt_vector], y[c / rt_vector].at[c % rt_vector]);
    }
  };
  rt_mainloop(rt_shared(ring), k, fetch, multiply);
#ifdef RT_ARGMIN
  #pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const int i = row + r / rt_vector * 4 * rt_vector + r % rt_vector;
    float least = RT_INFINITY;
    unsigned at = ~0u;
    #pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
      const int j = column + c / rt_vector * 8 * rt_vector + c % rt_vector;
      const float value = j < block.columns ? RT_FINISH(sum[r][c], block.row + i, block.column + j, block.batch) : RT_INFINITY;
      if (value < least) { least = value; at = (unsigned)block.column + j; }
    }
    rt_keep_least<8>(out + block.row + i, i < block.rows, least, at);
  }
#else // RT_ARGMIN
  #pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const int i = row + r / rt_vector * 4 * rt_vector + r % rt_vector;
    if (i >= block.rows) continue;
    O *const to = block.out + i * RT_OUT_ROW;
    #pragma unroll
    for (int c = 0; c < COLUMNS; c += rt_vector) {
      const int j = column + c * 8;
      if (wide && j < block.columns) {
        rt_stored_vector all;
        #pragma unroll
        for (int v = 0; v < rt_vector; v++) all.at[v] = RT_FINISH(sum[r][c + v], block.row + i, block.column + j + v, block.batch);
        *(rt_stored_vector *)(to + j) = all;
      } else {
        #pragma unroll
        for (int v = 0; v < rt_vector; v++) if (j + v < block.columns) to[j + v] = RT_FINISH(sum[r][c + v], block.row + i, block.column + j + v, block.batch);
      }
    }
  }
#endif // RT_ARGMIN
}
