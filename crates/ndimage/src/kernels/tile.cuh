// Correlation along up to three axes. A block has BY * PY rows times BX * PX columns of the result, and goes through planes
// of the image: it copies one after the other, with the pixels around it, to shared memory, and adds its products to the sums
// of the KZ planes of the result that need it. A thread has PX adjacent columns of PY rows; a row of pixels in registers
// serves all taps of a row, and up to PY rows of them. Each sum is that of taps in order.
enum {
  THREADS = BX * BY, ROWS = BY * PY + KY - 1, COLUMNS = BX * PX + KX - 1,
  PITCH = KX <= SHORT ? (COLUMNS + PX - 1) / PX * PX : BX * PX + (KX + PX - 1) / PX * PX,
  TAPS = KZ * KY * KX, TAP_PITCH = KX < PX ? KX : (KX + PX - 1) / PX * PX,
  ROWS_EACH = (ROWS + BY - 1) / BY, COLUMNS_EACH = (COLUMNS + BX - 1) / BX
};
template <int N, class E = A> struct alignas(sizeof(E) * N) rt_pack { E at[N]; };

// Weights of COUNT adjacent taps.
template <int COUNT> __device__ __forceinline__ void rt_weights(A (&to)[(COUNT + PX - 1) / PX * PX], const A *from)
{
  if constexpr (KX < PX) {
    #pragma unroll
    for (int c = 0; c < COUNT; c++) to[c] = from[c];
  } else {
    #pragma unroll
    for (int v = 0; v < (COUNT + PX - 1) / PX; v++) *(rt_pack<PX> *)(to + v * PX) = *(const rt_pack<PX> *)(from + v * PX);
  }
}

// Adds the products of COUNT adjacent taps with rows of pixels in registers, for each plane of the result.
template <int COUNT, int WIDTH> __device__ __forceinline__ void rt_add(A (&sum)[KZ][PY][PX], const A (&pixels)[PY][WIDTH], const A *taps)
{
  #pragma unroll
  for (int p = 0; p < KZ; p++) {
    alignas(16) A weight[(COUNT + PX - 1) / PX * PX];
    if constexpr (IS_WEIGHTED) rt_weights<COUNT>(weight, taps + (KZ - 1 - p) * KY * TAP_PITCH);
    #pragma unroll
    for (int c = 0; c < COUNT; c++)
      #pragma unroll
      for (int r = 0; r < PY; r++)
        #pragma unroll
        for (int q = 0; q < PX; q++) {
          if constexpr (IS_WEIGHTED) sum[p][r][q] += weight[c] * pixels[r][c + q];
          else sum[p][r][q] += pixels[r][c + q];
        }
  }
}

template <int N> __device__ __forceinline__ void rt_row(A *to, const A *from)
{
  #pragma unroll
  for (int v = 0; v < N; v++) *(rt_pack<PX> *)(to + v * PX) = *(const rt_pack<PX> *)(from + v * PX);
}

// Adds the products of a plane in shared memory; `pixels` is the thread's first one.
__device__ __forceinline__ void rt_add_plane(A (&sum)[KZ][PY][PX], const A *pixels, const A *taps)
{
  if constexpr (KX <= SHORT) {
    constexpr int VECTORS = (PX + KX - 1 + PX - 1) / PX;
    alignas(16) A rows[PY][VECTORS * PX];
    #pragma unroll
    for (int r = 0; r < PY - 1; r++) rt_row<VECTORS>(rows[r], pixels + r * PITCH);
    #pragma unroll UNROLL
    for (int i = 0; i < KY; i++) {
      rt_row<VECTORS>(rows[PY - 1], pixels + (i + PY - 1) * PITCH);
      rt_add<KX>(sum, rows, taps + i * TAP_PITCH);
      #pragma unroll
      for (int r = 0; r < PY - 1; r++)
        #pragma unroll
        for (int c = 0; c < VECTORS * PX; c++) rows[r][c] = rows[r + 1][c];
    }
  } else {
    #pragma unroll 1
    for (int i = 0; i < KY; i++) {
      alignas(16) A rows[PY][2 * PX];
      #pragma unroll
      for (int r = 0; r < PY; r++) rt_row<1>(rows[r], pixels + (i + r) * PITCH);
      #pragma unroll UNROLL
      for (int c = 0; c < KX / PX; c++) {
        #pragma unroll
        for (int r = 0; r < PY; r++) rt_row<1>(rows[r] + PX, pixels + (i + r) * PITCH + (c + 1) * PX);
        rt_add<PX>(sum, rows, taps + i * TAP_PITCH + c * PX);
        #pragma unroll
        for (int r = 0; r < PY; r++)
          #pragma unroll
          for (int q = 0; q < PX; q++) rows[r][q] = rows[r][q + PX];
      }
      if constexpr (KX % PX != 0) {
        #pragma unroll
        for (int r = 0; r < PY; r++) rt_row<1>(rows[r] + PX, pixels + (i + r) * PITCH + (KX / PX + 1) * PX);
        rt_add<KX % PX>(sum, rows, taps + i * TAP_PITCH + KX / PX * PX);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) ndimage_correlate_tile(O *__restrict__ out, const I *__restrict__ in, const A *__restrict__ weights, double beyond, double divisor, int depth, int rows, int columns, int planes)
{
  __shared__ alignas(16) A tile[ROWS * PITCH];
  __shared__ alignas(16) A taps[IS_WEIGHTED ? KZ * KY * TAP_PITCH : 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int across = (columns + BX * PX - 1) / (BX * PX), down = (rows + BY * PY - 1) / (BY * PY);
  const int parts = (depth + planes - 1) / planes;
  int rest = blockIdx.x;
  const int x0 = rest % across * (BX * PX);
  rest /= across;
  const int y0 = rest % down * (BY * PY);
  rest /= down;
  const int first = rest % parts * planes, end = first + planes < depth ? first + planes : depth;
  const long long area = (long long)rows * columns, image = rest / parts * (depth * area);
  if constexpr (IS_WEIGHTED)
    for (int e = ty * BX + tx; e < TAPS; e += THREADS) taps[e / KX * TAP_PITCH + e % KX] = weights[IS_REVERSED ? TAPS - 1 - e : e];
  // The pixels that the thread copies of each plane: offsets of rows, and columns; below 0 for those beyond borders.
  int row_at[ROWS_EACH], column_at[COLUMNS_EACH];
  #pragma unroll
  for (int i = 0; i < ROWS_EACH; i++) {
    const int y = y0 + ty + i * BY - CY < rows + KY ? MODE_Y(y0 + ty + i * BY - CY, rows) : 0;
    row_at[i] = y < 0 ? -1 : y * columns;
  }
  #pragma unroll
  for (int j = 0; j < COLUMNS_EACH; j++)
    column_at[j] = x0 + tx + j * BX - CX < columns + KX ? MODE_X(x0 + tx + j * BX - CX, columns) : 0;
  const A *const pixels = tile + ty * PY * PITCH + tx * PX;
  A sum[KZ][PY][PX] = {};
  #pragma unroll 1
  for (int z = first - CZ; z < end + KZ - 1 - CZ; z++) {
    const int from = KZ == 1 ? z : MODE_Z(z, depth);
    const I *const plane = in + image + from * area;
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < ROWS_EACH; i++) {
      A found[COLUMNS_EACH];
      #pragma unroll
      for (int j = 0; j < COLUMNS_EACH; j++) {
        const bool is_beyond = IS_CONSTANT && (from < 0 || row_at[i] < 0 || column_at[j] < 0);
        const bool is_needed = ((i + 1) * BY <= ROWS || ty + i * BY < ROWS) && ((j + 1) * BX <= COLUMNS || tx + j * BX < COLUMNS);
        found[j] = (A)beyond;
        if (is_needed && !is_beyond) found[j] = rt_load(plane + (row_at[i] + column_at[j]));
      }
      #pragma unroll
      for (int j = 0; j < COLUMNS_EACH; j++)
        if (((i + 1) * BY <= ROWS || ty + i * BY < ROWS) && ((j + 1) * BX <= COLUMNS || tx + j * BX < COLUMNS))
          tile[(ty + i * BY) * PITCH + tx + j * BX] = found[j];
    }
    __syncthreads();
    rt_add_plane(sum, pixels, taps);
    const int to = z - (KZ - 1 - CZ);
    if (KZ == 1 || to >= first) {
      O *const row = out + image + to * area + (long long)(y0 + ty * PY) * columns + x0 + tx * PX;
      const int inside_rows = rows - y0 - ty * PY, inside_columns = columns - x0 - tx * PX;
      #pragma unroll
      for (int r = 0; r < PY; r++) {
        rt_pack<PX, O> found;
        #pragma unroll
        for (int q = 0; q < PX; q++) found.at[q] = rt_stored<O>::from(IS_WEIGHTED ? sum[0][r][q] : sum[0][r][q] / (A)divisor);
        if (r >= inside_rows) continue;
        if (columns % PX == 0) {
          if (inside_columns > 0) *(rt_pack<PX, O> *)(row + (long long)r * columns) = found;
        } else {
          #pragma unroll
          for (int q = 0; q < PX; q++) if (q < inside_columns) row[(long long)r * columns + q] = found.at[q];
        }
      }
    }
    #pragma unroll
    for (int p = 0; p < KZ; p++)
      #pragma unroll
      for (int r = 0; r < PY; r++)
        #pragma unroll
        for (int q = 0; q < PX; q++) sum[p][r][q] = p + 1 < KZ ? sum[p + 1 < KZ ? p + 1 : p][r][q] : A(0);
  }
}
