// Steps of k-means. Rows are of P, centres and weights of A: float, or double for rows of doubles.

__device__ __forceinline__ A rt_value(const P *x) { return (A)rt_load(x); }

#if STEP_ASSIGN
// The nearest centre of each row, by tiles of products; a block has SIDE rows, and looks at all centres. Of equally near
// ones the first is taken. `changed` counts rows that had another. Nothing is done if kmeans_nearest is unsure of at most
// `few` rows.
enum { SIDE = 64, PART = 4, ACROSS = SIDE / PART, DEPTH = 16 };
extern "C" __global__ __launch_bounds__(THREADS) void kmeans_assign(int *labels, unsigned *changed, const P *rows, const A *centers, const A *bias, const unsigned *unsure, unsigned few, u64 n, unsigned k)
{
  if (unsure && *unsure <= few) return;
  __shared__ __align__(16) A memory[2 * DEPTH * (SIDE + 1)];
  __shared__ A best[SIDE][ACROSS + 1];
  __shared__ unsigned place[SIDE][ACROSS + 1];
  A (*xs)[SIDE + 1] = (A (*)[SIDE + 1])memory, (*cs)[SIDE + 1] = xs + DEPTH;
  const int row = threadIdx.x / ACROSS, column = threadIdx.x % ACROSS;
  for (u64 first = blockIdx.x * (u64)SIDE; first < n; first += gridDim.x * (u64)SIDE) {
    A least[PART];
    unsigned at[PART];
#pragma unroll
    for (int r = 0; r < PART; ++r) { least[r] = RT_INFINITY; at[r] = 0; }
    for (unsigned base = 0; base < k; base += SIDE) {
      A sum[PART][PART] = {};
      for (int t0 = 0; t0 < D; t0 += DEPTH) {
        __syncthreads();
        for (int i = threadIdx.x; i < SIDE * DEPTH; i += THREADS) {
          const int line = i / DEPTH, t = i % DEPTH;
          xs[t][line] = first + line < n && t0 + t < D ? rt_value(rows + (first + line) * D + t0 + t) : (A)0;
          cs[t][line] = base + line < k && t0 + t < D ? centers[(size_t)(base + line) * D + t0 + t] : (A)0;
        }
        __syncthreads();
#pragma unroll 4
        for (int t = 0; t < DEPTH; ++t) {
          A x[PART], c[PART];
#pragma unroll
          for (int r = 0; r < PART; ++r) x[r] = xs[t][row + r * ACROSS];
#pragma unroll
          for (int s = 0; s < PART; ++s) c[s] = cs[t][column + s * ACROSS];
#pragma unroll
          for (int r = 0; r < PART; ++r)
#pragma unroll
            for (int s = 0; s < PART; ++s) sum[r][s] += x[r] * c[s];
        }
      }
#pragma unroll
      for (int s = 0; s < PART; ++s) {
        const unsigned j = base + column + s * ACROSS;
        if (j >= k) continue;
        const A own = bias[j];
#pragma unroll
        for (int r = 0; r < PART; ++r) {
          const A score = own - 2 * sum[r][s];
          if (score < least[r]) { least[r] = score; at[r] = j; }
        }
      }
    }
#pragma unroll
    for (int r = 0; r < PART; ++r) { best[row + r * ACROSS][column] = least[r]; place[row + r * ACROSS][column] = at[r]; }
    __syncthreads();
    bool is_new = false;
    if (threadIdx.x < SIDE && first + threadIdx.x < n) {
      A nearest = best[threadIdx.x][0];
      unsigned label = place[threadIdx.x][0];
      for (int i = 1; i < ACROSS; ++i) {
        const A other = best[threadIdx.x][i];
        const unsigned from = place[threadIdx.x][i];
        if (other < nearest || (other == nearest && from < label)) { nearest = other; label = from; }
      }
      is_new = labels[first + threadIdx.x] != (int)label;
      labels[first + threadIdx.x] = (int)label;
    }
    const int count = __syncthreads_count(is_new);
    if (threadIdx.x == 0 && count) atomicAdd(changed, (unsigned)count);
  }
}
#endif

#if STEP_RECHECK
// The nearest centres of rows that kmeans_nearest is unsure of, a number and then places, if these are few: SIDE at a time,
// whose products with centres a block's threads add up in the order of columns, as kmeans_assign does.
enum { SIDE = 8, PITCH = (D + 3) / 4 * 4 };
struct __align__(16) rt_four { A at[4]; };
extern "C" __global__ __launch_bounds__(THREADS) void kmeans_recheck(int *labels, unsigned *changed, const unsigned *unsure, const P *rows, const A *centers, const A *bias, unsigned few, unsigned k)
{
  if (*unsure > few) return;
  __shared__ __align__(16) A xs[SIDE][PITCH];
  __shared__ A best[SIDE][THREADS / 32];
  __shared__ unsigned place[SIDE][THREADS / 32];
  const unsigned n = unsure[0], lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned first = blockIdx.x * SIDE; first < n; first += gridDim.x * SIDE) {
    __syncthreads();
    for (int i = threadIdx.x; i < SIDE * D; i += THREADS) {
      const unsigned row = first + i / D;
      xs[i / D][i % D] = row < n ? rt_value(rows + (u64)unsure[1 + row] * D + i % D) : (A)0;
    }
    __syncthreads();
    A least[SIDE];
    unsigned at[SIDE];
#pragma unroll
    for (int r = 0; r < SIDE; ++r) { least[r] = RT_INFINITY; at[r] = 0; }
    for (unsigned j = threadIdx.x; j < k; j += THREADS) {
      A sum[SIDE] = {};
      const A *const own = centers + (size_t)j * D;
#pragma unroll 4
      for (int t = 0; t < D; t += 4) {
        rt_four c = {};
        if (D % 4 == 0) c = *(const rt_four *)(own + t);
        else for (int v = 0; v < 4; ++v) if (t + v < D) c.at[v] = own[t + v];
#pragma unroll
        for (int r = 0; r < SIDE; ++r) {
          const rt_four x = *(const rt_four *)(xs[r] + t);
#pragma unroll
          for (int v = 0; v < 4; ++v) if (D % 4 == 0 || t + v < D) sum[r] += x.at[v] * c.at[v];
        }
      }
#pragma unroll
      for (int r = 0; r < SIDE; ++r) {
        const A score = bias[j] - 2 * sum[r];
        if (score < least[r]) { least[r] = score; at[r] = j; }
      }
    }
#pragma unroll
    for (int r = 0; r < SIDE; ++r) {
      for (int step = 16; step > 0; step /= 2) {
        const A other = __shfl_xor_sync(~0u, least[r], step);
        const unsigned from = __shfl_xor_sync(~0u, at[r], step);
        if (other < least[r] || (other == least[r] && from < at[r])) { least[r] = other; at[r] = from; }
      }
      if (lane == 0) { best[r][warp] = least[r]; place[r][warp] = at[r]; }
    }
    __syncthreads();
    bool is_new = false;
    if (threadIdx.x < SIDE && first + threadIdx.x < n) {
      A nearest = best[threadIdx.x][0];
      unsigned label = place[threadIdx.x][0];
      for (int i = 1; i < THREADS / 32; ++i) {
        const A other = best[threadIdx.x][i];
        const unsigned from = place[threadIdx.x][i];
        if (other < nearest || (other == nearest && from < label)) { nearest = other; label = from; }
      }
      int &own = labels[unsure[1 + first + threadIdx.x]];
      is_new = own != (int)label;
      own = (int)label;
    }
    const int count = __syncthreads_count(is_new);
    if (threadIdx.x == 0 && count) atomicAdd(changed, (unsigned)count);
  }
}
#endif

#if STEP_LABELS
// Labels from keys of a product with arg-min.
extern "C" __global__ __launch_bounds__(THREADS) void kmeans_labels(int *labels, unsigned *changed, const u64 *keys, u64 n, unsigned k)
{
  unsigned count = 0;
  for (u64 i = blockIdx.x * (u64)THREADS + threadIdx.x; i < n; i += gridDim.x * (u64)THREADS) {
    const unsigned found = (unsigned)keys[i];
    const int label = (int)(found < k ? found : 0);
    count += labels[i] != label;
    labels[i] = label;
  }
  for (int step = 16; step > 0; step /= 2) count += __shfl_xor_sync(~0u, count, step);
  if (threadIdx.x % 32 == 0 && count) atomicAdd(changed, count);
}
#endif

#if STEP_SPREAD
// Sums of the squared deviations of columns from their means, of each block's rows: every gridDim.x-th of groups, of which
// there is one for each ACROSS threads.
enum { ACROSS = D < THREADS ? D : THREADS, GROUPS = THREADS / ACROSS, AT_ONCE = 8 };
extern "C" __global__ __launch_bounds__(THREADS) void kmeans_spread(double *sums, const P *rows, const double *means, u64 n)
{
  __shared__ double memory[THREADS];
  const int group = threadIdx.x / ACROSS;
  const u64 step = (u64)gridDim.x * GROUPS;
  for (int base = 0; base < D; base += ACROSS) {
    const int column = base + threadIdx.x % ACROSS;
    double sum = 0;
    if (group < GROUPS && column < D) {
      const double mean = means[column];
      for (u64 first = (u64)blockIdx.x * GROUPS + group; first < n; first += step * AT_ONCE) {
        A value[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) value[i] = rt_value(rows + (first + i * step < n ? first + i * step : first) * D + column);
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
          const double difference = (double)value[i] - mean;
          if (first + i * step < n) sum += difference * difference;
        }
      }
    }
    __syncthreads();
    memory[threadIdx.x] = sum;
    __syncthreads();
    if (group == 0 && column < D) {
      for (int other = 1; other < GROUPS; ++other) sum += memory[other * ACROSS + threadIdx.x];
      sums[(size_t)blockIdx.x * D + column] = sum;
    }
  }
}
#endif

#if STEP_CENTERS
// The sum of all threads' values, in an order that does not vary.
__device__ __forceinline__ double rt_block_sum(double *memory, double x)
{
  __syncthreads();
  memory[threadIdx.x] = x;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) memory[threadIdx.x] += memory[threadIdx.x + half];
  }
  __syncthreads();
  return memory[0];
}

// Means from sums, a block for each centre; one without weight is where the heaviest one is. With them the rounded ones and
// their squared lengths, and in `state` the squares of shifts, then weights, then the number of rows with another label. What
// kmeans_nearest reads has columns, and centres, of padding behind them.
extern "C" __global__ __launch_bounds__(THREADS) void kmeans_centers(A *centers, A *bias, OPERAND *operand, double *state, const A *sums, const A *weights, const A *old, const unsigned *changed, unsigned k)
{
  __shared__ double memory[THREADS];
  const unsigned j = blockIdx.x;
#if IS_TENSOR
  // As kmeans_nearest reads numbers.
  auto number = [&](int part, int t) -> OPERAND & {
    const int at = t % (4 * VECTOR) % VECTOR, step = t / (4 * VECTOR) * (VECTOR / 4) + at / 4, column = t / VECTOR % 4 * 2 + at % 2;
    return operand[(((size_t)(j / TILE * PARTS + part) * (WIDTH / 16) + step) * 2 + at / 2 % 2) * (TILE * 8) + j % TILE * 8 + column];
  };
  for (int t = threadIdx.x + (j < k ? D : 0); t < WIDTH; t += THREADS)
    for (int part = 0; part < PARTS; ++part) number(part, t) = OPERAND();
  if (j >= k) {
    if (threadIdx.x == 0) bias[j] = RT_INFINITY;
    return;
  }
#endif
  unsigned from = j;
#if HAS_SUMS
  if (!(weights[j] > 0))
    for (unsigned i = 0; i < k; ++i) if (weights[i] > weights[from]) from = i;
  const A weight = weights[from];
#endif
  double shift = 0, length = 0;
  for (int t = threadIdx.x; t < D; t += THREADS) {
#if HAS_SUMS
    const A mean = weight > 0 ? sums[(size_t)from * D + t] / weight : old[(size_t)j * D + t];
#else
    const A mean = old[(size_t)j * D + t];
#endif
    const double difference = (double)mean - (double)old[(size_t)j * D + t];
    shift += difference * difference;
    centers[(size_t)j * D + t] = mean;
#if OPERAND_IS_HALF
    const OPERAND rounded = rt_round(mean);
#if IS_TENSOR
    number(0, t) = rounded;
#else
    operand[(size_t)j * D + t] = rounded;
#endif
    const double stored = rt_load(&rounded);
#elif IS_TENSOR
    const OPERAND rounded = rt_round_bfloat(mean);
    number(0, t) = rounded;
    number(1, t) = rt_round_bfloat(mean - rt_load(&rounded));
    const double stored = mean;
#else
    if (operand) operand[(size_t)t * k + j] = (OPERAND)mean;
    const double stored = mean;
#endif
    length += stored * stored;
  }
  shift = rt_block_sum(memory, shift);
  length = rt_block_sum(memory, length);
  if (threadIdx.x == 0) {
    bias[j] = (A)length;
    state[j] = shift;
#if HAS_SUMS
    state[k + j] = weights[j];
    if (j == 0) state[2 * k] = *changed;
#endif
  }
}
#endif

#if STEP_DISTANCES
// The squared distance of each row from its centre (`candidates` null), or from each of `count` rows, but not more than
// `closest`. LANES threads have a row. Of padding nothing is read.
extern "C" __global__ __launch_bounds__(THREADS) void kmeans_distances(OUT *out, const P *rows, const A *centers, const int *labels, const long long *candidates, unsigned count, const OUT *closest, u64 n)
{
  const unsigned lane = threadIdx.x % LANES;
  const u64 groups = gridDim.x * (u64)(THREADS / LANES), steps = (n + groups - 1) / groups;
  u64 row = blockIdx.x * (u64)(THREADS / LANES) + threadIdx.x / LANES;
  for (u64 step = 0; step < steps; ++step, row += groups) {
    const bool is_row = row < n;
    for (unsigned c = 0; c < count; ++c) {
      OUT sum = 0;
      if (is_row) {
        const u64 other = candidates ? (u64)candidates[c] : (u64)labels[row];
        for (int t = lane; t < D; t += LANES) {
          const OUT to = candidates ? (OUT)rt_value(rows + other * D + t) : (OUT)centers[other * D + t];
          const OUT difference = (OUT)rt_value(rows + row * D + t) - to;
          sum += difference * difference;
        }
      }
      for (int half = LANES / 2; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
      if (is_row && lane == 0) {
        const OUT most = closest ? closest[row] : sum;
        out[c * n + row] = sum < most ? sum : most;
      }
    }
  }
}
#endif

#if STEP_RELOCATE
// Moves `count` far rows into clusters without weight, one after the other, in one block.
extern "C" __global__ __launch_bounds__(THREADS) void kmeans_relocate(A *sums, A *weights, const P *rows, const A *row_weights, const int *labels, const long long *far, const long long *targets, unsigned count)
{
  for (unsigned i = 0; i < count; ++i) {
    const u64 row = (u64)far[i], from = (u64)labels[row], target = (u64)targets[i];
    const A weight = row_weights ? row_weights[row] : (A)1;
    for (int t = threadIdx.x; t < D; t += THREADS) {
      const A x = rt_value(rows + row * D + t) * weight;
      sums[from * D + t] -= x;
      sums[target * D + t] = x;
    }
    __syncthreads();
    if (threadIdx.x == 0) { weights[target] = weight; weights[from] -= weight; }
    __syncthreads();
  }
}
#endif
