// Adjacent threads take adjacent terms of a row.
constexpr int STEP = THREADS_PER_SUM * PACK * UNROLL, LANES = THREADS_PER_SUM < 32 ? THREADS_PER_SUM : 32, COPIES = THREADS_PER_SUM / LANES;
// Terms of a column in shared memory, with a gap so that columns begin in different banks.
constexpr int PITCH = STAGED_K + (sizeof(T) < 16 ? 16 / sizeof(T) : 1);
constexpr int SMEM_ITEMS = IS_STAGED && PITCH * WIDTH > COPIES * COPY ? PITCH * WIDTH : COPIES * COPY;
typedef rt_pack<E, PACK> packs[UNROLL][ROWS];

// UNROLL packs of each row, the first of which begins at term `at`.
template <bool whole> __device__ __forceinline__ void load(packs &a, const skinny_args &s, const char *const *row, count_t at, count_t end)
{
  #pragma unroll
  for (int u = 0; u < UNROLL; u++)
    #pragma unroll
    for (int r = 0; r < ROWS; r++) load_global<whole, IS_A_DENSE>(a[u][r], row[r], s.a_k, at + u * THREADS_PER_SUM * PACK, end);
}

// Adds their products with terms that lie in shared memory from `staged` on.
template <bool whole> __device__ __forceinline__ void multiply(T *sums, const packs &a, const skinny_args &s, const operands &ops, const T *staged, count_t at, count_t end)
{
  #pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    const count_t from = at + u * THREADS_PER_SUM * PACK;
    #pragma unroll
    for (int w = 0; w < WIDTH; w++) {
      T b[PACK];
      if constexpr (IS_STAGED) load_shared<whole, PACK>(b, staged + w * PITCH + u * THREADS_PER_SUM * PACK, from, end);
      else {
        rt_pack<E, PACK> pack;
        load_global<whole, IS_B_DENSE>(pack, ops.b + (w < ops.columns ? w : 0) * s.b_column, s.b_k, from, end);
        #pragma unroll
        for (int e = 0; e < PACK; e++) b[e] = rt_cast<T>(rt_load(pack.at[e]));
      }
      #pragma unroll
      for (int r = 0; r < ROWS; r++)
        #pragma unroll
        for (int e = 0; e < PACK; e++)
          sums[r * WIDTH + w] = multiply_add(sums[r * WIDTH + w], rt_cast<T>(rt_load(a[u][r].at[e])), b[e]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, 2) array_matmul(char *out, const char *a, const char *b, const skinny_args s, const long long *a_offsets, const long long *b_offsets, T *partials, unsigned *counters RT_EPILOGUE_PARAMETER)
{
  __shared__ alignas(16) unsigned char raw[(SMEM_ITEMS > THREADS ? SMEM_ITEMS : THREADS) * sizeof(T)];
  T *const smem = (T *)raw;
  const unsigned lane = threadIdx.x % THREADS_PER_SUM, group = threadIdx.x / THREADS_PER_SUM;
  const count_t first_row = blockIdx.x * (count_t)(GROUPS * ROWS);
  const count_t first = blockIdx.y * s.k_per_split, end = min_count(first + s.k_per_split, s.k);
  for (count_t z = blockIdx.z; z < s.batches * s.parts; z += gridDim.z) {
    const operands at(s, z, out, a, b, a_offsets, b_offsets);
    const char *row[ROWS];
    #pragma unroll
    for (int r = 0; r < ROWS; r++) row[r] = at.a + (long long)min_count(first_row + group * ROWS + r, s.rows - 1) * s.a_row;
    T sums[ROWS * WIDTH];
    #pragma unroll
    for (int k = 0; k < ROWS * WIDTH; k++) sums[k] = T(0);
    packs next;
    auto load_next = [&](count_t base) {
      if (base + STEP <= end) load<true>(next, s, row, base + lane * PACK, end);
      else load<false>(next, s, row, base + lane * PACK, end);
    };
    if constexpr (IS_PREFETCHED) load_next(first);
    for (count_t base = first; base < end; base += STEP) {
      const unsigned done = (unsigned)(base - first) % STAGED_K;
      if constexpr (IS_STAGED)
        if (done == 0) stage_b(smem, s, at, base, min_count(base + STAGED_K, end), [](unsigned term, unsigned column) { return column * PITCH + term; });
      if constexpr (!IS_PREFETCHED) load_next(base);
      packs now;
      #pragma unroll
      for (int u = 0; u < UNROLL; u++)
        #pragma unroll
        for (int r = 0; r < ROWS; r++) now[u][r] = next[u][r];
      if (IS_PREFETCHED && base + STEP < end) load_next(base + STEP);
      const T *const staged = smem + done + lane * PACK;
      if (base + STEP <= end) multiply<true>(sums, now, s, at, staged, base + lane * PACK, end);
      else multiply<false>(sums, now, s, at, staged, base + lane * PACK, end);
    }
    __syncthreads();
    T *const own = smem + threadIdx.x % THREADS_PER_SUM / LANES * COPY;
    warp_reduce<ROWS * WIDTH, LANES / 2, 1>(sums, [&](unsigned k, T sum) { own[padded(group * ROWS * WIDTH + k)] = sum; });
    store_sums<COPIES>(smem, s, at, first_row, z, partials, counters RT_EPILOGUE_ARGUMENT);
    if (IS_SPLIT_K) return;
  }
}
