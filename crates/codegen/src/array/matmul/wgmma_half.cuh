// What a warpgroup does with its sums: those at (row, column) of a matrix of a stack.
#define RT_STORE_SUMS rt_store_sums(sum, group, stages + RING_BYTES, RT_OUT_MAP_ARGUMENT out, m, n, row + (group - 1) * 64, column, batch RT_EPILOGUE_ARGUMENT);
#ifdef RT_ARGMIN
__device__ __forceinline__ void rt_store_sums(const float (&sum)[COLUMNS / 8][4], int, unsigned, O *out, rt_length m, rt_length n, int row, int column, int batch RT_EPILOGUE_PARAMETER)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  #pragma unroll
  for (int half = 0; half < 2; half++) {
    const rt_length i = row + warp * 16 + half * 8 + lane / 4;
    float least = RT_INFINITY;
    unsigned at = ~0u;
    #pragma unroll
    for (int c = 0; c < COLUMNS / 8; c++)
      #pragma unroll
      for (int v = 0; v < 2; v++) {
        const rt_length j = column + c * 8 + lane % 4 * 2 + v;
        const float value = j < n ? RT_FINISH(sum[c][half * 2 + v], i, j, batch) : RT_INFINITY;
        if (value < least) { least = value; at = (unsigned)j; }
      }
    rt_keep_least<4>(out + i, i < m, least, at);
  }
}
#else // RT_ARGMIN
#if STORE_BYTES > 0
// By two boxes of 64 x 64 elements of 16 bits in turn, each of which may be read while the other one is written.
__device__ __forceinline__ void rt_store_sums(const float (&sum)[COLUMNS / 8][4], int group, unsigned boxes, const rt_tensor_map &map_out, O *, rt_length m, rt_length n, int row, int column, int batch RT_EPILOGUE_PARAMETER)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  #pragma unroll
  for (int part = 0; part < COLUMNS / 64; part++) {
    const unsigned box = boxes + ((group - 1) * 2 + part % 2) * (64 * 128);
    // Where a tile has one part, the tile before it has used the same box.
    if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(COLUMNS == 64 ? 0 : 1) : "memory");
    asm volatile("bar.sync %0, 128;" :: "r"(group) : "memory");
    #pragma unroll
    for (int c = 0; c < 4; c++) {
      // Rows 0 and 8 of 8 x 8 elements, then those of the next eight columns.
      unsigned pair[4];
      #pragma unroll
      for (int v = 0; v < 4; v++) {
        const rt_length i = row + warp * 16 + v % 2 * 8 + lane / 4, j = column + part * 64 + (c * 2 + v / 2) * 8 + lane % 4 * 2;
        const float left = sum[part * 8 + c * 2 + v / 2][v % 2 * 2], right = sum[part * 8 + c * 2 + v / 2][v % 2 * 2 + 1];
        // What lies outside is not stored, but an expression may read operands there.
        const bool inside = RT_ALWAYS_FINISHES || (i < m && j < n);
        rt_pack<O, 2> both = {};
        if (inside) both.at[0] = RT_FINISH(left, i, j, batch);
        if (inside && (RT_ALWAYS_FINISHES || j + 1 < n)) both.at[1] = RT_FINISH(right, i, j + 1, batch);
        memcpy(&pair[v], &both, 4);
      }
      const int line = warp * 16 + lane % 16, chunk = c * 2 + lane / 16;
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :: "r"(box + line * 128 + ((chunk ^ line & 7) << 4)), "r"(pair[0]), "r"(pair[1]), "r"(pair[2]), "r"(pair[3]) : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("bar.sync %0, 128;" :: "r"(group) : "memory");
    if (threadIdx.x % 128 == 0) {
      rt_store_box(&map_out, box, column + part * 64, row, batch);
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
}
#else
__device__ __forceinline__ void rt_store_sums(const float (&sum)[COLUMNS / 8][4], int, unsigned, O *out, rt_length m, rt_length n, int row, int column, int batch RT_EPILOGUE_PARAMETER)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const bool even = RT_OUT_ROW % 2 == 0 && (rt_length)out % (2 * sizeof(O)) == 0;
  #pragma unroll
  for (int half = 0; half < 2; half++) {
    const rt_length i = row + warp * 16 + half * 8 + lane / 4;
    if (i >= m) continue;
    O *const to = out + (batch * m + i) * RT_OUT_ROW + column;
    const int room = (int)min(n - column, (rt_length)COLUMNS);
    #pragma unroll
    for (int c = 0; c < COLUMNS / 8; c++) {
      const int j = c * 8 + lane % 4 * 2;
      rt_store(to + j, even, room - j, sum[c][half * 2], sum[c][half * 2 + 1], [&](float value, int v) { return RT_FINISH(value, i, column + j + v, batch); });
    }
  }
}
#endif
#endif // RT_ARGMIN
