// Adjacent threads take adjacent rows, as many as a pack has elements, which lie beside each other.
constexpr int STEP = THREADS_PER_SUM * UNROLL;
constexpr int SMEM_ITEMS = IS_STAGED && STAGED_K * WIDTH > WARPS * COPY ? STAGED_K * WIDTH : WARPS * COPY;
typedef rt_pack<E, PACK> packs[UNROLL];

// UNROLL terms of the rows from `row` on, THREADS_PER_SUM terms apart, the first of which is `at`.
template <bool whole> __device__ __forceinline__ void load(packs &a, const skinny_args &s, const operands &ops, count_t row, count_t at, count_t end)
{
  #pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    const count_t term = at + u * THREADS_PER_SUM;
    if (whole || term < end) load_global<true, IS_A_DENSE>(a[u], ops.a + (long long)term * s.a_k, s.a_row, row, s.rows);
  }
}

// Adds their products with terms that lie in shared memory from `staged` on.
template <bool whole> __device__ __forceinline__ void multiply(T *sums, const packs &a, const skinny_args &s, const operands &ops, const T *staged, count_t at, count_t end)
{
  #pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    const count_t term = at + u * THREADS_PER_SUM;
    if (whole || term < end) {
      T b[WIDTH];
      if constexpr (IS_STAGED) load_shared<true, WIDTH>(b, staged + u * THREADS_PER_SUM * WIDTH);
      else {
        #pragma unroll
        for (int w = 0; w < WIDTH; w++) b[w] = b_element(s, ops, term, w < ops.columns ? w : 0);
      }
      #pragma unroll
      for (int w = 0; w < WIDTH; w++)
        #pragma unroll
        for (int e = 0; e < PACK; e++) sums[e * WIDTH + w] = multiply_add(sums[e * WIDTH + w], rt_cast<T>(rt_load(a[u].at[e])), b[w]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, 4) array_matmul(char *out, const char *a, const char *b, const skinny_args s, const long long *a_offsets, const long long *b_offsets, T *partials, unsigned *counters RT_EPILOGUE_PARAMETER)
{
  __shared__ alignas(16) unsigned char raw[(SMEM_ITEMS > THREADS ? SMEM_ITEMS : THREADS) * sizeof(T)];
  T *const smem = (T *)raw;
  const unsigned group = threadIdx.x % GROUPS, lane = threadIdx.x / GROUPS;
  const count_t first_row = blockIdx.x * (count_t)(GROUPS * PACK);
  const count_t first = blockIdx.y * s.k_per_split, end = min_count(first + s.k_per_split, s.k);
  for (count_t z = blockIdx.z; z < s.batches * s.parts; z += gridDim.z) {
    const operands at(s, z, out, a, b, a_offsets, b_offsets);
    // Packs are used for whole numbers of them only.
    const count_t row = min_count(first_row + group * PACK, s.rows - PACK);
    T sums[PACK * WIDTH];
    #pragma unroll
    for (int k = 0; k < PACK * WIDTH; k++) sums[k] = T(0);
    packs next;
    auto load_next = [&](count_t base) {
      if (base + STEP <= end) load<true>(next, s, at, row, base + lane, end);
      else load<false>(next, s, at, row, base + lane, end);
    };
    if constexpr (IS_PREFETCHED) load_next(first);
    for (count_t base = first; base < end; base += STEP) {
      const unsigned done = (unsigned)(base - first) % STAGED_K;
      if constexpr (IS_STAGED)
        if (done == 0) stage_b(smem, s, at, base, min_count(base + STAGED_K, end), [](unsigned term, unsigned column) { return term * WIDTH + column; });
      if constexpr (!IS_PREFETCHED) load_next(base);
      packs now;
      #pragma unroll
      for (int u = 0; u < UNROLL; u++) now[u] = next[u];
      if (IS_PREFETCHED && base + STEP < end) load_next(base + STEP);
      const T *const staged = smem + (done + lane) * WIDTH;
      if (base + STEP <= end) multiply<true>(sums, now, s, at, staged, base + lane, end);
      else multiply<false>(sums, now, s, at, staged, base + lane, end);
    }
    __syncthreads();
    T *const own = smem + threadIdx.x / 32 * COPY;
    warp_reduce<PACK * WIDTH, 16, GROUPS>(sums, [&](unsigned k, T sum) { own[padded(group * PACK * WIDTH + k)] = sum; });
    store_sums<WARPS>(smem, s, at, first_row, z, partials, counters RT_EPILOGUE_ARGUMENT);
    if (IS_SPLIT_K) return;
  }
}
