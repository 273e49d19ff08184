// Correlation of large images with F filters at all places where they fit. A thread has PX adjacent columns of PY rows of the
// result, for FILTERS filters, which are those of its warp; a block has BF such groups of filters. Channels come in stages of
// CHANNELS; pixels and filters of a stage lie in shared memory channel by channel, so that a row of pixels in registers
// serves all taps of a row, whose weights a warp reads at once.
enum {
  TILE_H = BY * PY + FH - 1, THREADS = BX * BY * BF, BANK = FILTERS * BF,
  // Quarters of warps read their vectors of a plane without conflicts of banks.
  TILE_W = (BX * PX + FW - 1 + 3) / 4 * 4 + (PX > 4 && (BX * PX + FW - 1 + 3) / 4 % 2 == 0 ? 4 : 0),
  PLANE = TILE_H * TILE_W + (TILE_H * TILE_W % 8 == 0 ? 4 : 0),
  // Rows of a thread: adjacent ones, which taps of two rows share in registers, where that has no such conflicts.
  ROW_STEP = PX > 4 ? BY : 1, FIRST_STEP = PX > 4 ? 1 : PY,
  GROUPS = (F + BANK - 1) / BANK, TAPS = FH * FW, PARTS = CHANNELS / IN
};

// Adjacent elements, or zeros.
__device__ __forceinline__ rt_pack<IN, I> rt_read(const I *from, bool is_there)
{
  rt_pack<IN, I> found = {};
  if (is_there) found = *(const rt_pack<IN, I> *)from;
  return found;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) ndimage_large_filter_bank(O *out, const I *__restrict__ x, const I *__restrict__ w, long long images)
{
  extern __shared__ __align__(16) A shared[];
  A *const tile = shared, *const taps = shared + CHANNELS * PLANE;
  const int H = ROWS, W = COLUMNS;
  const int t = (threadIdx.z * BY + threadIdx.y) * BX + threadIdx.x;
  const int row0 = blockIdx.y * BY * PY, column0 = blockIdx.x * BX * PX;
  const int row = threadIdx.y * FIRST_STEP, column = threadIdx.x * PX;
  for (long long z = blockIdx.z; z < images * GROUPS; z += gridDim.z) {
    const I *const image = x + z / GROUPS * ((long long)H * W * D);
    const int f0 = (int)(z % GROUPS) * BANK;
    A sum[PY][PX][FILTERS] = {};
    #pragma unroll 1
    for (int d0 = 0; d0 < D; d0 += CHANNELS) {
      const I *const corner = image + ((long long)row0 * W + column0) * D + d0;
      __syncthreads();
      // Adjacent threads read adjacent channels.
      #pragma unroll LOADS
      for (int n = 0; n < (TILE_H * TILE_W * PARTS + THREADS - 1) / THREADS; n++) {
        const int e = t + n * THREADS, part = e % PARTS, j = e / PARTS % TILE_W, i = e / PARTS / TILE_W;
        const bool is_inside = i < TILE_H && i < H - row0 && j < W - column0 && (D % CHANNELS == 0 || d0 + part * IN < D);
        const rt_pack<IN, I> found = rt_read(corner + (i * W + j) * D + part * IN, is_inside);
        if (i < TILE_H)
          #pragma unroll
          for (int k = 0; k < IN; k++) tile[(part * IN + k) * PLANE + i * TILE_W + j] = rt_load(&found.at[k]);
      }
      #pragma unroll LOADS
      for (int n = 0; n < (TAPS * PARTS * BANK + THREADS - 1) / THREADS; n++) {
        const int e = t + n * THREADS, f = e % BANK, part = e / BANK % PARTS, tap = e / BANK / PARTS;
        const bool is_inside = tap < TAPS && (F % BANK == 0 || f0 + f < F) && (D % CHANNELS == 0 || d0 + part * IN < D);
        const rt_pack<IN, I> found = rt_read(w + ((f0 + f) * TAPS + tap) * D + d0 + part * IN, is_inside);
        if (tap < TAPS)
          #pragma unroll
          for (int k = 0; k < IN; k++) taps[((part * IN + k) * TAPS + tap) * BANK + f] = rt_load(&found.at[k]);
      }
      __syncthreads();
      const int depth = D % CHANNELS == 0 || D - d0 > CHANNELS ? CHANNELS : D % CHANNELS;
      #pragma unroll 1
      for (int d = 0; d < depth; d++)
        #pragma unroll UNROLL_Y
        for (int dy = 0; dy < FH; dy++) {
          const A *const pixels = tile + d * PLANE + (row + dy) * TILE_W + column;
          const A *const weights = taps + (d * TAPS + dy * FW) * BANK + threadIdx.z * FILTERS;
          #pragma unroll 1
          for (int dx = 0; dx + STEP <= FW; dx += STEP) rt_add<STEP, ROW_STEP * TILE_W, BANK>(sum, pixels + dx, weights + dx * BANK);
          if constexpr (FW % STEP != 0) rt_add<FW % STEP, ROW_STEP * TILE_W, BANK>(sum, pixels + FW / STEP * STEP, weights + FW / STEP * STEP * BANK);
        }
    }
    const int inside_rows = H - FH + 1 - row0 - row, inside_columns = W - FW + 1 - column0 - column, first = f0 + threadIdx.z * FILTERS;
    O *const to = out + ((z / GROUPS * (H - FH + 1) + row0 + row) * (W - FW + 1) + column0 + column) * F + first;
    #pragma unroll
    for (int p = 0; p < PY; p++)
      #pragma unroll
      for (int q = 0; q < PX; q++) {
        if (p * ROW_STEP >= inside_rows || q >= inside_columns) continue;
        #pragma unroll
        for (int f = 0; f < FILTERS; f += OUT) {
          if (F % BANK != 0 && first + f >= F) continue;
          rt_pack<OUT, O> found;
          #pragma unroll
          for (int k = 0; k < OUT; k++) found.at[k] = rt_stored<O>::from(rt_activation(sum[p][q][f + k], first + f + k));
          *(rt_pack<OUT, O> *)(to + (long long)(p * ROW_STEP) * (W - FW + 1) * F + q * F + f) = found;
        }
      }
  }
}
