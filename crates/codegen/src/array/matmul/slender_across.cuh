// Neighbouring threads take neighbouring rows, as many as a pack has elements, which lie beside each other.
constexpr int STEP = TEAM * UNROLL;
constexpr int ROOM = IS_STAGED && CHUNK * WIDTH > WARPS * COPY ? CHUNK * WIDTH : WARPS * COPY;
typedef rt_pack<E, PACK> packs[UNROLL];

// UNROLL terms of the rows from `row` on, TEAM terms apart, the first of which is `at`.
template <bool whole> __device__ __forceinline__ void load(packs &big, const slender &s, const operands &ops, count_t row, count_t at, count_t end)
{
  #pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    const count_t term = at + u * TEAM;
    if (whole || term < end) fetch<true, IS_DENSE>(big[u], ops.big + (long long)term * s.big_term, s.big_row, row, s.rows);
  }
}

// Adds their products with terms that lie in shared memory from `staged` on.
template <bool whole> __device__ __forceinline__ void multiply(T *sums, const packs &big, const slender &s, const operands &ops, const T *staged, count_t at, count_t end)
{
  #pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    const count_t term = at + u * TEAM;
    if (whole || term < end) {
      T thin[WIDTH];
      if constexpr (IS_STAGED) take<true, WIDTH>(thin, staged + u * TEAM * WIDTH);
      else {
        #pragma unroll
        for (int w = 0; w < WIDTH; w++) thin[w] = thin_element(s, ops, term, w < ops.columns ? w : 0);
      }
      #pragma unroll
      for (int w = 0; w < WIDTH; w++)
        #pragma unroll
        for (int e = 0; e < PACK; e++) sums[e * WIDTH + w] = with_term(sums[e * WIDTH + w], rt_cast<T>(rt_load(big[u].at[e])), thin[w]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, 4) array_matmul(char *out, const char *big, const char *thin, const slender s, const long long *big_offsets, const long long *thin_offsets, T *partials, unsigned *tickets)
{
  __shared__ alignas(16) unsigned char raw[(ROOM > THREADS ? ROOM : THREADS) * sizeof(T)];
  T *const room = (T *)raw;
  const unsigned group = threadIdx.x % GROUPS, lane = threadIdx.x / GROUPS;
  const count_t first_row = blockIdx.x * (count_t)(GROUPS * PACK);
  const count_t first = blockIdx.y * s.terms_of_split, end = least(first + s.terms_of_split, s.terms);
  for (count_t z = blockIdx.z; z < s.batches * s.parts; z += gridDim.z) {
    const operands at(s, z, out, big, thin, big_offsets, thin_offsets);
    // Packs are used for whole numbers of them only.
    const count_t row = least(first_row + group * PACK, s.rows - PACK);
    T sums[PACK * WIDTH];
    #pragma unroll
    for (int k = 0; k < PACK * WIDTH; k++) sums[k] = T(0);
    packs next;
    auto load_next = [&](count_t base) {
      if (base + STEP <= end) load<true>(next, s, at, row, base + lane, end);
      else load<false>(next, s, at, row, base + lane, end);
    };
    if constexpr (IS_AHEAD) load_next(first);
    for (count_t base = first; base < end; base += STEP) {
      const unsigned done = (unsigned)(base - first) % CHUNK;
      if constexpr (IS_STAGED)
        if (done == 0) stage(room, s, at, base, least(base + CHUNK, end), [](unsigned term, unsigned column) { return term * WIDTH + column; });
      if constexpr (!IS_AHEAD) load_next(base);
      packs now;
      #pragma unroll
      for (int u = 0; u < UNROLL; u++) now[u] = next[u];
      if (IS_AHEAD && base + STEP < end) load_next(base + STEP);
      const T *const staged = room + (done + lane) * WIDTH;
      if (base + STEP <= end) multiply<true>(sums, now, s, at, staged, base + lane, end);
      else multiply<false>(sums, now, s, at, staged, base + lane, end);
    }
    __syncthreads();
    T *const own = room + threadIdx.x / 32 * COPY;
    fold<PACK * WIDTH, 16, GROUPS>(sums, [&](unsigned k, T sum) { own[padded(group * PACK * WIDTH + k)] = sum; });
    finish<WARPS>(room, s, at, first_row, z, partials, tickets);
    if (IS_SPLIT) return;
  }
}
