// Correlation of images with F filters at all places where they fit. A thread has PY rows times PX adjacent columns of the
// result, for FILTERS filters. Channels come in stages of CHANNELS, filters in pieces of PIECE_H x PIECE_W taps; both lie
// in shared memory, channel by channel, so that a row of pixels in registers serves STEP taps. Sizes that are 0 among the
// literals are arguments.
enum {
  TILE_H = BY * PY + PIECE_H - 1, TILE_W = (BX * PX + PIECE_W - 1 + 3) / 4 * 4, THREADS = BX * BY,
  TAPS = PIECE_H * PIECE_W, IS_WHOLE = PIECE_W >= FW
};

// `rt_add` for a tap that begins anywhere.
__device__ __forceinline__ void rt_add_one(A (&sum)[PY][PX][FILTERS], const A *pixels, const A *taps)
{
  #pragma unroll
  for (int p = 0; p < PY; p++)
    #pragma unroll
    for (int q = 0; q < PX; q++)
      #pragma unroll
      for (int f = 0; f < FILTERS; f++) sum[p][q][f] += pixels[p * TILE_W + q] * taps[f];
}

extern "C" __global__ void __launch_bounds__(THREADS) ndimage_filter_bank(O *out, const I *x, const I *w, long long images, int rows, int columns, int channels, int bank_height, int bank_filters)
{
  const int H = ROWS ? ROWS : rows, W = COLUMNS ? COLUMNS : columns, D = DEPTH ? DEPTH : channels;
  const int FH = HEIGHT ? HEIGHT : bank_height, F = BANK ? BANK : bank_filters, GROUPS = (F + FILTERS - 1) / FILTERS;
  __shared__ alignas(16) A tile[CHANNELS][TILE_H][TILE_W];
  __shared__ alignas(16) A taps[CHANNELS][TAPS][FILTERS];
  const int t = threadIdx.y * BX + threadIdx.x;
  const int row0 = blockIdx.y * BY * PY, column0 = blockIdx.x * BX * PX;
  const int row = threadIdx.y * PY, column = threadIdx.x * PX;
  for (long long z = blockIdx.z; z < images * GROUPS; z += gridDim.z) {
    const I *const image = x + z / GROUPS * ((long long)H * W * D);
    const int f0 = (int)(z % GROUPS) * FILTERS;
    A sum[PY][PX][FILTERS] = {};
    #pragma unroll 1
    for (int d0 = 0; d0 < D; d0 += CHANNELS)
      #pragma unroll 1
      for (int y0 = 0; y0 < FH; y0 += PIECE_H)
        #pragma unroll 1
        for (int x0 = 0; x0 < FW; x0 += PIECE_W) {
          const int height = FH - y0 < PIECE_H ? FH - y0 : PIECE_H, width = FW - x0 < PIECE_W ? FW - x0 : PIECE_W;
          __syncthreads();
          // Adjacent threads read adjacent channels.
          for (int e = t; e < CHANNELS * TILE_W * (BY * PY + height - 1); e += THREADS) {
            const int d = e % CHANNELS, at_column = e / CHANNELS % TILE_W, at_row = e / CHANNELS / TILE_W;
            const int from_row = row0 + y0 + at_row, from_column = column0 + x0 + at_column;
            tile[d][at_row][at_column] = from_row < H && from_column < W && d0 + d < D
              ? rt_load(image + ((long long)from_row * W + from_column) * D + d0 + d) : A(0);
          }
          for (int e = t; e < CHANNELS * TAPS * FILTERS; e += THREADS) {
            const int d = e % CHANNELS, tap = e / CHANNELS % TAPS, f = e / CHANNELS / TAPS;
            const int at_row = tap / PIECE_W, at_column = tap % PIECE_W;
            taps[d][tap][f] = f0 + f < F && d0 + d < D && at_row < height && at_column < width
              ? rt_load(w + (((long long)(f0 + f) * FH + y0 + at_row) * FW + x0 + at_column) * D + d0 + d) : A(0);
          }
          __syncthreads();
          const int depth = D - d0 < CHANNELS ? D - d0 : CHANNELS;
          #pragma unroll 1
          for (int d = 0; d < depth; d++)
            #pragma unroll 1
            for (int dy = 0; dy < height; dy++) {
              const A *const pixels = &tile[d][row + dy][column], *const weights = &taps[d][dy * PIECE_W][0];
              int dx = 0;
              #pragma unroll 1
              for (; dx + STEP <= width; dx += STEP) rt_add<STEP, TILE_W, FILTERS>(sum, pixels + dx, weights + dx * FILTERS);
              if constexpr (IS_WHOLE && FW % STEP != 0) rt_add<FW % STEP, TILE_W, FILTERS>(sum, pixels + dx, weights + dx * FILTERS);
              else for (; dx < width; dx++) rt_add_one(sum, pixels + dx, weights + dx * FILTERS);
            }
        }
    #pragma unroll
    for (int p = 0; p < PY; p++)
      #pragma unroll
      for (int q = 0; q < PX; q++) {
        const int at_row = row0 + row + p, at_column = column0 + column + q;
        if (at_row > H - FH || at_column > W - FW) continue;
        O *const to = out + ((z / GROUPS * (H - FH + 1) + at_row) * (W - FW + 1) + at_column) * F + f0;
        #pragma unroll
        for (int f = 0; f < FILTERS; f++) if (f0 + f < F) to[f] = rt_stored<O>::from(rt_activation(sum[p][q][f], f0 + f));
      }
  }
}
