// What products of matrices have in common: a block walks along the common axis, while copies that it does not wait for
// bring the next tiles of both operands to shared memory, a ring of STAGES of them.
typedef long long rt_step;
typedef unsigned long long rt_length;

// `a_batch` and `b_batch` lead from a matrix to the next, unless there are `offsets` for each pair.
#define RT_PARAMETERS O *out, const char *a, const char *b, rt_length m, rt_length n, rt_length k, rt_step a_row, rt_step a_column, rt_step b_row, rt_step b_column, rt_step a_batch, rt_step b_batch, const rt_step *offsets RT_EPILOGUE_PARAMETER
#define RT_ARGUMENTS out, a, b, m, n, k, a_row, a_column, b_row, b_column, a_batch, b_batch, offsets RT_EPILOGUE_ARGUMENT

__device__ __forceinline__ unsigned rt_shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// Copies BYTES, of which those after the first `valid` become 0.
template <int BYTES> __device__ __forceinline__ void rt_copy_async(unsigned to, const char *from, int valid) {
  const unsigned long long global = __cvta_generic_to_global(from);
  if constexpr (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(global), "r"(valid) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" :: "r"(to), "l"(global), "n"(BYTES), "r"(valid) : "memory");
}
__device__ __forceinline__ void rt_cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int PENDING> __device__ __forceinline__ void rt_cp_async_wait() { asm volatile("cp.async.wait_group %0;" :: "n"(PENDING) : "memory"); }

// A part of an operand: EXTENT rows of the first one (columns of the second) by DEPTH along the common axis, `extent` of
// them real; the rest becomes 0. Lines along the common axis (K_CONTIGUOUS) or across it are copied CHUNK bytes at once: a
// thread has one chunk of every STRIDE-th line, a warp DEEP lines of PATCH chunks. `Place` tells where in shared memory an
// item of a line lies, and how far on the item of the same number STRIDE lines below does.
template <int EXTENT, bool K_CONTIGUOUS, int CHUNK, class Place> struct rt_tile_loader {
  static constexpr int ITEM = sizeof(E);
  static constexpr int LINES = K_CONTIGUOUS ? EXTENT : DEPTH, LENGTH = K_CONTIGUOUS ? DEPTH : EXTENT, ITEMS = CHUNK / ITEM;
  static constexpr int ACROSS = LENGTH / ITEMS, PATCH = K_CONTIGUOUS && CHUNK == ITEM ? 8 : ACROSS < 32 ? ACROSS : 32, DEEP = 32 / PATCH;
  static constexpr int STRIDE = THREADS / 32 / (ACROSS / PATCH) * DEEP, COPIES = (LINES + STRIDE - 1) / STRIDE;
  static_assert(ACROSS % PATCH == 0 && THREADS / 32 % (ACROSS / PATCH) == 0 && Place::step(STRIDE) > 0, "patches fill a tile");
  const char *source;
  rt_step stride, advance;
  int line, item, extent;
  __device__ __forceinline__ rt_tile_loader(const char *from, rt_step across, rt_step along, int extent) : extent(extent) {
    const int lane = threadIdx.x % 32, patch = threadIdx.x / 32;
    line = patch / (ACROSS / PATCH) * DEEP + lane / PATCH;
    item = (patch % (ACROSS / PATCH) * PATCH + lane % PATCH) * ITEMS;
    source = from + (K_CONTIGUOUS ? line * across + item * along : line * along + item * across);
    stride = STRIDE * (K_CONTIGUOUS ? across : along);
    advance = DEPTH * along;
  }
  // Begins the copies of the next part, of which `depth` along the common axis are real.
  __device__ __forceinline__ void fetch(unsigned to, int depth) {
    const int lines = K_CONTIGUOUS ? extent : depth, length = K_CONTIGUOUS ? depth : extent;
    const int valid = max(min(length - item, ITEMS), 0) * ITEM;
    const char *from = source;
    to += Place::at(line, item);
    #pragma unroll
    for (int i = 0; i < COPIES; i++) {
      const int at = line + i * STRIDE;
      if (LINES % STRIDE == 0 || at < LINES) rt_copy_async<CHUNK>(to + i * Place::step(STRIDE), from, at < lines ? valid : 0);
      from += stride;
      // Sums of strides that were kept in registers from step to step would be too many.
      asm volatile("" : "+l"(from));
    }
    source += advance;
  }
};

#ifdef RT_ARGMIN
// Of a row, the column with the least number, and the first of equal ones: LANES adjacent lanes have a part of the row each.
// What is kept compares as unsigned numbers do: the number, then the column. Other blocks have other columns.
template <int LANES> __device__ __forceinline__ void rt_keep_least(O *to, bool is_row, float least, unsigned column) {
  const unsigned bits = __float_as_uint(least);
  O key = (O)(bits ^ ((int)bits < 0 ? ~0u : 0x80000000u)) << 32 | column;
  #pragma unroll
  for (int step = 1; step < LANES; step *= 2) key = min(key, __shfl_xor_sync(~0u, key, step));
  if (is_row && threadIdx.x % LANES == 0) atomicMin(to, key);
}
#endif // RT_ARGMIN
// What a block computes: where its part of the result and of both operands begins, and how much of a tile is real.
struct rt_block { O *out; const char *a, *b; int rows, columns; rt_length row, column, batch; };

// The tile of a block: eight rows of tiles are gone through column by column, so that blocks which run at the same time
// share operands in the cache.
__device__ __forceinline__ rt_block rt_block_of(RT_PARAMETERS) {
  constexpr unsigned GROUP = 8;
  const unsigned rows = (unsigned)((m + TILE_ROWS - 1) / TILE_ROWS), columns = (unsigned)((n + TILE_COLUMNS - 1) / TILE_COLUMNS);
  const unsigned group = blockIdx.x / (GROUP * columns), inside = blockIdx.x % (GROUP * columns);
  const unsigned height = min(rows - group * GROUP, GROUP);
  const rt_length row = (rt_length)(group * GROUP + inside % height) * TILE_ROWS, column = (rt_length)(inside / height) * TILE_COLUMNS;
  const rt_length batch = blockIdx.y;
  return rt_block{
    out + (batch * m + row) * RT_OUT_ROW + column,
    a + (offsets ? offsets[2 * batch] : (rt_step)batch * a_batch) + (rt_step)row * a_row,
    b + (offsets ? offsets[2 * batch + 1] : (rt_step)batch * b_batch) + (rt_step)column * b_column,
    (int)min(m - row, (rt_length)TILE_ROWS), (int)min(n - column, (rt_length)TILE_COLUMNS), row, column, batch};
}

#ifdef RT_MARKS
// Whether one of the parts of 64 x 64 elements that a block has part of is marked.
__device__ __forceinline__ bool rt_is_wanted(const unsigned char *marks, const rt_block &block, rt_length n) {
  const rt_length across = (n + 63) / 64;
  for (rt_length i = block.row / 64; i * 64 < block.row + block.rows; i++)
    for (rt_length j = block.column / 64; j * 64 < block.column + block.columns; j++)
      if (marks[i * across + j]) return true;
  return false;
}
#else
#define RT_IS_WANTED(block) true
#endif

// Walks along the common axis: `fetch(to, depth)` begins copies to a stage, `multiply(stage)` adds the products.
template <class Fetch, class Multiply>
__device__ __forceinline__ void rt_mainloop(unsigned ring, rt_length k, Fetch fetch, Multiply multiply) {
  const rt_length steps = (k + DEPTH - 1) / DEPTH;
  rt_length left = k;
  auto fetch_next = [&](int stage) {
    if (left > 0) {
      const int depth = left < DEPTH ? (int)left : DEPTH;
      fetch(ring + stage * STAGE_BYTES, depth);
      left -= depth;
    }
    rt_cp_async_commit();
  };
  #pragma unroll
  for (int s = 0; s < STAGES - 1; s++) fetch_next(s);
  int now = 0, next = STAGES - 1;
  #pragma unroll 1
  for (rt_length step = 0; step < steps; step++) {
    rt_cp_async_wait<STAGES - 2>();
    __syncthreads();
    fetch_next(next);
    multiply(now * STAGE_BYTES);
    now = now + 1 == STAGES ? 0 : now + 1;
    next = next + 1 == STAGES ? 0 : next + 1;
  }
}
