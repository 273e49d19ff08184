// Neighbouring threads take neighbouring rows, as many as a pack has elements, which lie beside each other.
constexpr int STEP = TEAM * UNROLL;
constexpr int ROOM = IS_STAGED && CHUNK * WIDTH > WARPS * COPY ? CHUNK * WIDTH : WARPS * COPY;

// Adds UNROLL terms, TEAM terms apart, the first of which is `at`, and in shared memory lies at `staged`.
template <bool whole> __device__ __forceinline__ void add_terms(T *sums, const slender &s, const operands &ops, count_t row, const T *staged, count_t at, count_t end)
{
  rt_pack<E, PACK> big[UNROLL];
  #pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    const count_t term = at + u * TEAM;
    if (whole || term < end) fetch<true, IS_DENSE>(big[u], ops.big + (long long)term * s.big_term, s.big_row, row, s.rows);
  }
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

extern "C" __global__ void __launch_bounds__(THREADS) array_matmul(char *out, const char *big, const char *thin, const slender s, const long long *offsets, T *partials, unsigned *tickets)
{
  __shared__ alignas(16) unsigned char raw[(ROOM > THREADS ? ROOM : THREADS) * sizeof(T)];
  T *const room = (T *)raw;
  const unsigned group = threadIdx.x % GROUPS, lane = threadIdx.x / GROUPS;
  const count_t first_row = blockIdx.x * (count_t)(GROUPS * PACK);
  const count_t first = blockIdx.y * s.terms_of_split, end = least(first + s.terms_of_split, s.terms);
  for (count_t z = blockIdx.z; z < s.batches * s.parts; z += gridDim.z) {
    const operands at(s, z, out, big, thin, offsets);
    // Packs are used for whole numbers of them only.
    const count_t row = least(first_row + group * PACK, s.rows - PACK);
    T sums[PACK * WIDTH];
    #pragma unroll
    for (int k = 0; k < PACK * WIDTH; k++) sums[k] = T(0);
    for (count_t chunk = first; chunk < end; chunk += CHUNK) {
      const count_t stop = least(chunk + CHUNK, end);
      if constexpr (IS_STAGED) stage(room, s, at, chunk, stop, [](unsigned term, unsigned column) { return term * WIDTH + column; });
      for (count_t base = chunk; base < stop; base += STEP) {
        const T *const staged = room + ((unsigned)(base - chunk) + lane) * WIDTH;
        if (base + STEP <= stop) add_terms<true>(sums, s, at, row, staged, base + lane, stop);
        else add_terms<false>(sums, s, at, row, staged, base + lane, stop);
      }
    }
    __syncthreads();
    T *const own = room + threadIdx.x / 32 * COPY;
    fold<PACK * WIDTH, 16, GROUPS>(sums, [&](unsigned k, T sum) { own[padded(group * PACK * WIDTH + k)] = sum; });
    finish<WARPS>(room, s, at, first_row, z, partials, tickets);
    if (IS_SPLIT) return;
  }
}
