// Doubles, and complex numbers of them, by tensor cores. Lines along the common axis or across it lie in shared memory so
// far apart (PITCH_A, PITCH_B) that the lanes of a fragment meet in no bank.
constexpr int rt_parts = sizeof(E) / 8;

template <int PITCH> struct rt_smem_layout {
  static __device__ __forceinline__ int at(int line, int item) { return (line * PITCH + item) * (int)sizeof(E); }
  static constexpr int step(int lines) { return lines * PITCH * (int)sizeof(E); }
};
// FRAGMENT_K is 4 with fragments of 8 rows, and 4, 8 or 16 with those of 16.
constexpr int rt_x = FRAGMENT_ROWS / 8 * FRAGMENT_K / 4, rt_y = FRAGMENT_K / 4, rt_sums = FRAGMENT_ROWS / 4;
__device__ __forceinline__ void rt_multiply_add(double (&sum)[rt_sums], const double (&x)[rt_x], const double (&y)[rt_y]) {
  if constexpr (FRAGMENT_ROWS == 8)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(sum[0]), "+d"(sum[1]) : "d"(x[0]), "d"(y[0]));
  else if constexpr (FRAGMENT_K == 4)
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3]) : "d"(x[0]), "d"(x[1]), "d"(y[0]));
  else if constexpr (FRAGMENT_K == 8)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3]) : "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]), "d"(y[0]), "d"(y[1]));
  else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3]) : "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]), "d"(x[4]), "d"(x[5]), "d"(x[6]), "d"(x[7]), "d"(y[0]), "d"(y[1]), "d"(y[2]), "d"(y[3]));
}
struct alignas(sizeof(E)) rt_parts_of { double at[rt_parts]; };
struct alignas(sizeof(O) < 16 ? 2 * sizeof(O) : 16) rt_stored_pair { O at[2]; };

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) array_matmul(RT_PARAMETERS)
{
  extern __shared__ __align__(128) unsigned char ring[];
  const rt_block block = rt_block_of(RT_ARGUMENTS);
  if (!RT_IS_WANTED(block)) return;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = warp / WARPS_N * ROWS, column = warp % WARPS_N * COLUMNS;
  const bool wide = sizeof(rt_stored_pair) <= 16 && RT_OUT_ROW % 2 == 0 && (rt_length)out % sizeof(rt_stored_pair) == 0;
  constexpr int TILES_M = ROWS / FRAGMENT_ROWS, TILES_N = COLUMNS / 8;
  rt_tile_loader<TILE_ROWS, A_K_CONTIGUOUS, A_CHUNK, rt_smem_layout<PITCH_A>> first(block.a, a_row, a_column, block.rows);
  rt_tile_loader<TILE_COLUMNS, B_K_CONTIGUOUS, B_CHUNK, rt_smem_layout<PITCH_B>> second(block.b, b_column, b_row, block.columns);
  double sum[rt_parts][TILES_M][TILES_N][rt_sums] = {};
  auto fetch = [&](unsigned to, int depth) { first.fetch(to, depth); second.fetch(to + BYTES_A, depth); };
  auto multiply = [&](int stage) {
    typedef const rt_parts_of *source;
    constexpr int x_row = A_K_CONTIGUOUS ? PITCH_A : 1, x_k = A_K_CONTIGUOUS ? 1 : PITCH_A, y_column = B_K_CONTIGUOUS ? PITCH_B : 1, y_k = B_K_CONTIGUOUS ? 1 : PITCH_B;
    const source x0 = (source)(ring + stage) + (row + lane / 4) * x_row + lane % 4 * x_k;
    const source y0 = (source)(ring + stage + BYTES_A) + (column + lane / 4) * y_column + lane % 4 * y_k;
    #pragma unroll
    for (int j = 0; j < DEPTH; j += FRAGMENT_K) {
      double y[rt_parts][TILES_N][rt_y];
      #pragma unroll
      for (int c = 0; c < TILES_N; c++)
        #pragma unroll
        for (int i = 0; i < rt_y; i++) {
          const rt_parts_of value = y0[c * 8 * y_column + (j + i * 4) * y_k];
          #pragma unroll
          for (int part = 0; part < rt_parts; part++) y[part][c][i] = value.at[part];
        }
      #pragma unroll
      for (int r = 0; r < TILES_M; r++) {
        double x[rt_parts][rt_x], minus[rt_x];
        #pragma unroll
        for (int i = 0; i < rt_x; i++) {
          constexpr int halves = FRAGMENT_ROWS / 8;
          const rt_parts_of value = x0[(r * FRAGMENT_ROWS + i % halves * 8) * x_row + (j + i / halves * 4) * x_k];
          #pragma unroll
          for (int part = 0; part < rt_parts; part++) x[part][i] = value.at[part];
          minus[i] = -value.at[rt_parts - 1];
        }
        #pragma unroll
        for (int c = 0; c < TILES_N; c++) {
          rt_multiply_add(sum[0][r][c], x[0], y[0][c]);
          if constexpr (rt_parts == 2) {
            rt_multiply_add(sum[1][r][c], x[0], y[1][c]);
            rt_multiply_add(sum[0][r][c], minus, y[1][c]);
            rt_multiply_add(sum[1][r][c], x[1], y[0][c]);
          }
        }
      }
    }
  };
  rt_mainloop(rt_shared(ring), k, fetch, multiply);
  #pragma unroll
  for (int r = 0; r < TILES_M; r++)
    #pragma unroll
    for (int half = 0; half < FRAGMENT_ROWS / 8; half++) {
      const int i = row + r * FRAGMENT_ROWS + half * 8 + lane / 4;
      if (i >= block.rows) continue;
      O *const to = block.out + i * RT_OUT_ROW;
      #pragma unroll
      for (int c = 0; c < TILES_N; c++) {
        const int j = column + c * 8 + lane % 4 * 2;
        auto finish = [&](int v) {
          rt_parts_of all;
          #pragma unroll
          for (int part = 0; part < rt_parts; part++) all.at[part] = sum[part][r][c][half * 2 + v];
          return RT_FINISH(*(const E *)&all, block.row + i, block.column + j + v, block.batch);
        };
        if (wide && j < block.columns) *(rt_stored_pair *)(to + j) = rt_stored_pair{{finish(0), finish(1)}};
        else {
          if (j < block.columns) to[j] = finish(0);
          if (j + 1 < block.columns) to[j + 1] = finish(1);
        }
      }
    }
}
