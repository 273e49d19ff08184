// By the tensor cores of compute capability 9.0, which read both operands from shared memory. A multiprocessor's block takes
// one tile after the other. The first of its warpgroups begins copies of boxes to a ring of stages, for tiles to come, too;
// each other one multiplies 64 rows of a tile as soon as a stage is full, and stores them while the ring is filled again.

constexpr int LINE_ITEMS = 128 / sizeof(E), GROUPS = TILE_ROWS / 64, RING_BYTES = STAGES * STAGE_BYTES;
// Registers of a thread at the start; warpgroups that multiply take some of the first one's if they need more.
constexpr int EQUAL_REGISTERS = 65536 / (THREADS * BLOCKS_PER_SM) / 8 * 8, REGISTERS = EQUAL_REGISTERS < 255 ? EQUAL_REGISTERS : 255, COPY_REGISTERS = 40;
constexpr int TAKEN_REGISTERS = (REGISTERS * THREADS - 128 * COPY_REGISTERS) / (128 * GROUPS) / 8 * 8;
constexpr int MULTIPLY_REGISTERS = TAKEN_REGISTERS < 240 ? TAKEN_REGISTERS : 240;
constexpr bool TAKES_REGISTERS = COLUMNS / 2 + 72 > REGISTERS;

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) array_matmul(const __grid_constant__ rt_tensor_map map_a, const __grid_constant__ rt_tensor_map map_b, RT_OUT_MAP_PARAMETER O *out, rt_length m, rt_length n, rt_length k, unsigned batches, int a_step, int b_step RT_EPILOGUE_PARAMETER)
{
  extern __shared__ __align__(1024) unsigned char ring[];
  const unsigned stages = rt_shared(ring), full = stages + RING_BYTES + STORE_BYTES, empty = full + 8 * STAGES;
  const int group = __shfl_sync(~0u, threadIdx.x / 128, 0);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(full + 8 * s) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(empty + 8 * s), "r"(GROUPS) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  // Sixteen rows of tiles are gone through column by column, so that what runs at the same time shares operands in the cache.
  constexpr unsigned HEIGHT = 16;
  const unsigned rows = (unsigned)((m + TILE_ROWS - 1) / TILE_ROWS), columns = (unsigned)((n + TILE_COLUMNS - 1) / TILE_COLUMNS);
  const unsigned steps = (unsigned)((k + DEPTH - 1) / DEPTH);
  auto for_tiles = [&](auto body) {
    for (unsigned tile = blockIdx.x; tile < rows * columns * batches; tile += gridDim.x) {
      const unsigned batch = tile / (rows * columns), of_batch = tile % (rows * columns);
      const unsigned band = of_batch / (HEIGHT * columns), inside = of_batch % (HEIGHT * columns), height = min(rows - band * HEIGHT, HEIGHT);
      body((int)(band * HEIGHT + inside % height) * TILE_ROWS, (int)(inside / height) * TILE_COLUMNS, (int)batch);
    }
  };
  int s = 0;
  unsigned phase = 0;
  auto next = [&] { if (++s == STAGES) { s = 0; phase ^= 1; } };
  if (group == 0) {
    if constexpr (TAKES_REGISTERS) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(COPY_REGISTERS));
    if (threadIdx.x == 0) for_tiles([&](int row, int column, int batch) {
      for (unsigned step = 0; step < steps; step++, next()) {
        const unsigned a = stages + s * STAGE_BYTES, b = a + BYTES_A, barrier = full + 8 * s;
        rt_await(empty + 8 * s, phase ^ 1);
        rt_expect_bytes(barrier, STAGE_BYTES);
        const int depth = step * DEPTH;
        if constexpr (A_K_CONTIGUOUS) rt_load_box(a, &map_a, barrier, depth, row, batch * a_step);
        else for (int j = 0; j < TILE_ROWS / LINE_ITEMS; j++) rt_load_box(a + j * DEPTH * 128, &map_a, barrier, row + j * LINE_ITEMS, depth, batch * a_step);
        if constexpr (B_K_CONTIGUOUS) rt_load_box(b, &map_b, barrier, depth, column, batch * b_step);
        else for (int j = 0; j < TILE_COLUMNS / LINE_ITEMS; j++) rt_load_box(b + j * DEPTH * 128, &map_b, barrier, column + j * LINE_ITEMS, depth, batch * b_step);
      }
    });
  } else {
    if constexpr (TAKES_REGISTERS) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(MULTIPLY_REGISTERS));
    rt_sum sum[COLUMNS / 8][4];
    for_tiles([&](int row, int column, int batch) {
      unsigned last = 0;
      for (unsigned step = 0; step < steps; step++, next()) {
        rt_await(full + 8 * s, phase);
        const unsigned x0 = stages + s * STAGE_BYTES + (group - 1) * 64 * 128, y0 = stages + s * STAGE_BYTES + BYTES_A;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        #pragma unroll
        for (int j = 0; j < 4; j++) rt_multiply_add(sum, rt_matrix(x0 + j * (A_K_CONTIGUOUS ? 32 : 16 * 128)), rt_matrix(y0 + j * (B_K_CONTIGUOUS ? 32 : 16 * 128)), step | j);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (step > 0) {
          asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
          if (threadIdx.x % 128 == 0) rt_arrive(last);
        }
        last = empty + 8 * s;
      }
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      if (threadIdx.x % 128 == 0) rt_arrive(last);
      RT_STORE_SUMS
    });
    if (STORE_BYTES > 0 && threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
