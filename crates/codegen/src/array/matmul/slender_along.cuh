// Neighbouring threads take neighbouring terms of a row.
constexpr int STEP = TEAM * PACK * UNROLL, LANES = TEAM < 32 ? TEAM : 32, COPIES = TEAM / LANES;
// Terms of a column in shared memory, with a gap so that columns begin in different banks.
constexpr int PITCH = CHUNK + (sizeof(T) < 16 ? 16 / sizeof(T) : 1);
constexpr int ROOM = IS_STAGED && PITCH * WIDTH > COPIES * COPY ? PITCH * WIDTH : COPIES * COPY;
typedef rt_pack<E, PACK> packs[UNROLL][ROWS];

// UNROLL packs of each row, the first of which begins at term `at`.
template <bool whole> __device__ __forceinline__ void load(packs &big, const slender &s, const char *const *row, count_t at, count_t end)
{
  #pragma unroll
  for (int u = 0; u < UNROLL; u++)
    #pragma unroll
    for (int r = 0; r < ROWS; r++) fetch<whole, IS_DENSE>(big[u][r], row[r], s.big_term, at + u * TEAM * PACK, end);
}

// Adds their products with terms that lie in shared memory from `staged` on.
template <bool whole> __device__ __forceinline__ void multiply(T *sums, const packs &big, const slender &s, const operands &ops, const T *staged, count_t at, count_t end)
{
  #pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    const count_t from = at + u * TEAM * PACK;
    #pragma unroll
    for (int w = 0; w < WIDTH; w++) {
      T thin[PACK];
      if constexpr (IS_STAGED) take<whole, PACK>(thin, staged + w * PITCH + u * TEAM * PACK, from, end);
      else {
        rt_pack<E, PACK> pack;
        fetch<whole, IS_THIN_DENSE>(pack, ops.thin + (w < ops.columns ? w : 0) * s.thin_column, s.thin_term, from, end);
        #pragma unroll
        for (int e = 0; e < PACK; e++) thin[e] = rt_cast<T>(rt_load(pack.at[e]));
      }
      #pragma unroll
      for (int r = 0; r < ROWS; r++)
        #pragma unroll
        for (int e = 0; e < PACK; e++)
          sums[r * WIDTH + w] = with_term(sums[r * WIDTH + w], rt_cast<T>(rt_load(big[u][r].at[e])), thin[e]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, 2) array_matmul(char *out, const char *big, const char *thin, const slender s, const long long *big_offsets, const long long *thin_offsets, T *partials, unsigned *tickets)
{
  __shared__ alignas(16) unsigned char raw[(ROOM > THREADS ? ROOM : THREADS) * sizeof(T)];
  T *const room = (T *)raw;
  const unsigned lane = threadIdx.x % TEAM, group = threadIdx.x / TEAM;
  const count_t first_row = blockIdx.x * (count_t)(GROUPS * ROWS);
  const count_t first = blockIdx.y * s.terms_of_split, end = least(first + s.terms_of_split, s.terms);
  for (count_t z = blockIdx.z; z < s.batches * s.parts; z += gridDim.z) {
    const operands at(s, z, out, big, thin, big_offsets, thin_offsets);
    const char *row[ROWS];
    #pragma unroll
    for (int r = 0; r < ROWS; r++) row[r] = at.big + (long long)least(first_row + group * ROWS + r, s.rows - 1) * s.big_row;
    T sums[ROWS * WIDTH];
    #pragma unroll
    for (int k = 0; k < ROWS * WIDTH; k++) sums[k] = T(0);
    packs next;
    auto load_next = [&](count_t base) {
      if (base + STEP <= end) load<true>(next, s, row, base + lane * PACK, end);
      else load<false>(next, s, row, base + lane * PACK, end);
    };
    if constexpr (IS_AHEAD) load_next(first);
    for (count_t base = first; base < end; base += STEP) {
      const unsigned done = (unsigned)(base - first) % CHUNK;
      if constexpr (IS_STAGED)
        if (done == 0) stage(room, s, at, base, least(base + CHUNK, end), [](unsigned term, unsigned column) { return column * PITCH + term; });
      if constexpr (!IS_AHEAD) load_next(base);
      packs now;
      #pragma unroll
      for (int u = 0; u < UNROLL; u++)
        #pragma unroll
        for (int r = 0; r < ROWS; r++) now[u][r] = next[u][r];
      if (IS_AHEAD && base + STEP < end) load_next(base + STEP);
      const T *const staged = room + done + lane * PACK;
      if (base + STEP <= end) multiply<true>(sums, now, s, at, staged, base + lane * PACK, end);
      else multiply<false>(sums, now, s, at, staged, base + lane * PACK, end);
    }
    __syncthreads();
    T *const own = room + threadIdx.x % TEAM / LANES * COPY;
    fold<ROWS * WIDTH, LANES / 2, 1>(sums, [&](unsigned k, T sum) { own[padded(group * ROWS * WIDTH + k)] = sum; });
    finish<COPIES>(room, s, at, first_row, z, partials, tickets);
    if (IS_SPLIT) return;
  }
}
