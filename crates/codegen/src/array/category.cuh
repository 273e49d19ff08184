// Reductions of rows by label. Which elements a thread combines, and in which order, depends on sizes alone, so the bits
// are the same in every run: nothing is added atomically but integers.
typedef unsigned long long u64;

#if IS_COUNT
#define GET(row, column) T(1)
#elif HAS_WEIGHTS
#define GET(row, column) (rt_cast<T>(rt_load(values[(row) * d + (column)])) * rt_cast<T>(rt_load(weights[row])))
#else
#define GET(row, column) rt_cast<T>(rt_load(values[(row) * d + (column)]))
#endif

// Which result a row belongs to; n for none. Of bins, those between edges, the last of which is in the last bin.
struct rt_labels {
  unsigned n;
  int *outside;
  const E *edges;
  double scale;
#if HAS_BINS
  __device__ __forceinline__ C edge(unsigned i) const { return rt_cast<C>(rt_load(edges[i])); }
  __device__ __forceinline__ unsigned operator()(LABEL label) const
  {
    const C x = rt_cast<C>(rt_load(label)), first = edge(0);
    if (!(x >= first && x <= edge(n))) return n;
    unsigned low = 0, high = n - 1;
    if (scale > 0) {
      // About where it is, if bins are equally wide.
      const double guess = ((double)x - (double)first) * scale;
      low = guess < high ? (unsigned)guess : high;
      while (low > 0 && x < edge(low)) --low;
      while (low < high && x >= edge(low + 1)) ++low;
      return low;
    }
    while (low < high) {
      const unsigned middle = (low + high + 1) / 2;
      if (x >= edge(middle)) low = middle;
      else high = middle - 1;
    }
    return low;
  }
#else
  // Negative labels and those beyond the last are noted.
  __device__ __forceinline__ unsigned operator()(LABEL label) const
  {
    if (label >= LABEL(0) && (u64)label < n) return (unsigned)label;
    *outside = 2;
    return n;
  }
#endif
};
#define LABEL_PARAMETERS const LABEL *labels, u64 n, unsigned d, unsigned n_labels, int *outside, const E *edges, double scale
#define LABELS const rt_labels label_of{n_labels, outside, edges, scale}

#if WARP_COPIES || STAGE_SLOTS || STAGE_ROWS
template <typename V> __device__ __forceinline__ V rt_of_lane(const V &x, int lane)
{
  unsigned words[(sizeof(V) + 3) / 4] = {};
  V found;
  memcpy(words, &x, sizeof(V));
#pragma unroll
  for (int i = 0; i < (int)((sizeof(V) + 3) / 4); ++i) words[i] = __shfl_sync(~0u, words[i], lane);
  memcpy(&found, words, sizeof(V));
  return found;
}
#endif

#if WARP_COPIES || STAGE_SLOTS
// Adds the values of a warp to results by label. Lanes that have the same label find each other by the bits that they set in a
// word, are combined pair by pair in their order, and the first of them adds what they have to the result.
__device__ __forceinline__ void rt_combine_alike(T *sums, unsigned *lanes, unsigned label, unsigned end, T value)
{
  const unsigned lane = threadIdx.x % 32;
  const bool counts = label < end;
  if (counts) atomicOr(lanes + label, 1u << lane);
  __syncwarp();
  const unsigned alike = counts ? lanes[label] : 0;
  unsigned after = alike & ~((2u << lane) - 1), before = __popc(alike & ((1u << lane) - 1));
  const bool is_first = counts && before == 0;
  while (__any_sync(~0u, after)) {
    const T other = rt_of_lane(value, after ? __ffs(after) - 1 : lane);
    if (after) value = combine(value, other);
    after &= ~__ballot_sync(~0u, before & 1);
    before /= 2;
  }
  if (is_first) {
    sums[label] = combine(sums[label], value);
    lanes[label] = 0;
  }
  __syncwarp();
}
#endif

#if STAGE_COPIES
// A block has a part of the rows, and copies of all results in shared memory: one for each of its groups of threads, each of
// which has a column, or (WARP_COPIES) one for each warp.
extern "C" __global__ __launch_bounds__(THREADS) void category_copies(T *partials, const X *values, const W *weights, LABEL_PARAMETERS, u64 rows_of_block)
{
  extern __shared__ __align__(16) unsigned char memory[];
#if WARP_COPIES
  T *const copies = (T *)(memory + (sizeof(unsigned) * COPIES * n_labels + 15) / 16 * 16);
#else
  T *const copies = (T *)memory;
#endif
  LABELS;
  const unsigned size = n_labels * COPIES * WIDTH;
  for (unsigned i = threadIdx.x; i < size; i += THREADS) copies[i] = IDENTITY;
  __syncthreads();
  const u64 begin = blockIdx.x * rows_of_block, end = begin + rows_of_block < n ? begin + rows_of_block : n;
#if WARP_COPIES
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  T *const own = copies + warp * n_labels;
  unsigned *const lanes = (unsigned *)memory + warp * n_labels;
  for (unsigned i = lane; i < n_labels; i += 32) lanes[i] = 0;
  __syncwarp();
  for (u64 first = begin + warp * 32; first < end; first += THREADS * UNROLL) {
    LABEL label[UNROLL];
    T value[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      const u64 row = first + u * THREADS + lane;
      label[u] = row < end ? labels[row] : LABEL();
      value[u] = row < end ? GET(row, 0) : IDENTITY;
    }
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      rt_combine_alike(own, lanes, first + u * THREADS + lane < end ? label_of(label[u]) : n_labels, n_labels, value[u]);
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n_labels; i += THREADS) {
    T sum = copies[i];
    for (unsigned copy = 1; copy < COPIES; ++copy) sum = combine(sum, copies[copy * n_labels + i]);
    partials[(u64)blockIdx.x * n_labels + i] = sum;
  }
#else
  const unsigned lane = threadIdx.x % WIDTH, group = threadIdx.x / WIDTH, column = blockIdx.y * WIDTH + lane;
  if (column < d) {
    T *const own = copies + group * WIDTH + lane;
    for (u64 first = begin + group; first < end; first += COPIES * UNROLL) {
      LABEL label[UNROLL];
      T value[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        const u64 row = first + u * COPIES;
        label[u] = row < end ? labels[row] : LABEL();
        value[u] = row < end ? GET(row, column) : IDENTITY;
      }
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        const unsigned at = first + u * COPIES < end ? label_of(label[u]) : n_labels;
        if (at == n_labels) continue;
        T *const to = own + at * (COPIES * WIDTH);
        *to = combine(*to, value[u]);
      }
    }
  }
  for (unsigned had = COPIES; had > 1;) {
    const unsigned left = (had + 1) / 2, pairs = had - left;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n_labels * pairs * WIDTH; i += THREADS) {
      T *const to = copies + i / (pairs * WIDTH) * (COPIES * WIDTH) + i % (pairs * WIDTH);
      *to = combine(*to, to[left * WIDTH]);
    }
    had = left;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n_labels * WIDTH; i += THREADS) {
    const unsigned to = blockIdx.y * WIDTH + i % WIDTH;
    if (to < d) partials[((u64)blockIdx.x * n_labels + i / WIDTH) * d + to] = copies[i / WIDTH * (COPIES * WIDTH) + i % WIDTH];
  }
#endif
}
#endif

#if STAGE_MERGE
// What blocks have of 32 adjacent results, by 32 warps, each of which has every 32nd block.
extern "C" __global__ __launch_bounds__(THREADS) void category_merge(O *out, const T *partials, unsigned blocks, u64 count)
{
  __shared__ __align__(16) unsigned char memory[sizeof(T) * THREADS];
  T *const sums = (T *)memory;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (u64 first = blockIdx.x * 32ull; first < count; first += gridDim.x * 32ull) {
    const u64 at = first + lane;
    T sum = IDENTITY;
    if (at < count) for (unsigned block = warp; block < blocks; block += THREADS / 32) sum = combine(sum, partials[block * count + at]);
    sums[threadIdx.x] = sum;
    for (unsigned half = THREADS / 64; half > 0; half /= 2) {
      __syncthreads();
      if (warp < half) sums[threadIdx.x] = combine(sums[threadIdx.x], sums[threadIdx.x + half * 32]);
    }
    if (warp == 0 && at < count) out[at] = rt_cast<O>(sums[lane]);
    __syncthreads();
  }
}
#endif

#if STAGE_ATOMIC
// Counts and sums of integers, which do not depend on their order.
extern "C" __global__ __launch_bounds__(THREADS) void category_atomic(O *out, const X *values, const W *, LABEL_PARAMETERS)
{
  LABELS;
  for (u64 i = blockIdx.x * (u64)THREADS + threadIdx.x; i < n * d; i += gridDim.x * (u64)THREADS) {
    const u64 row = d == 1 ? i : i / d, column = d == 1 ? 0 : i % d;
    const unsigned label = label_of(labels[row]);
    if (label < n_labels) atomicAdd((u64 *)out + (u64)label * d + column, (u64)GET(row, column));
  }
}
#endif

#if STAGE_KEYS
// Labels as unsigned numbers, n_labels for those that do not count.
extern "C" __global__ __launch_bounds__(THREADS) void category_keys(unsigned *keys, LABEL_PARAMETERS)
{
  LABELS;
  for (u64 i = blockIdx.x * (u64)THREADS + threadIdx.x; i < n; i += gridDim.x * (u64)THREADS) {
    keys[i] = label_of(labels[i]);
  }
}
#endif

#if STAGE_CHUNKS
// The rows of each label, in chunks; `ends` are cumulative numbers of chunks. Groups of WIDTH threads have a chunk each.
extern "C" __global__ __launch_bounds__(THREADS) void category_chunks(T *partials, const X *values, const W *weights, const long long *order, const long long *offsets, const long long *ends, unsigned d, unsigned n_labels, u64 length)
{
  const unsigned lane = threadIdx.x % WIDTH;
  const u64 chunks = ends[n_labels - 1];
  for (u64 chunk = blockIdx.x * (u64)(THREADS / WIDTH) + threadIdx.x / WIDTH; chunk < chunks; chunk += gridDim.x * (u64)(THREADS / WIDTH)) {
    unsigned label = 0, beyond = n_labels;
    while (label < beyond) {
      const unsigned middle = (label + beyond) / 2;
      if ((u64)ends[middle] <= chunk) label = middle + 1;
      else beyond = middle;
    }
    const u64 part = chunk - (label ? ends[label - 1] : 0), begin = offsets[label] + part * length;
    const u64 end = begin + length < (u64)offsets[label + 1] ? begin + length : offsets[label + 1];
    for (unsigned column = lane; column < d; column += WIDTH) {
      u64 row = order[begin];
      T sum = GET(row, column);
      u64 i = begin + 1;
      for (; i + UNROLL <= end; i += UNROLL) {
        T value[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
          row = order[i + u];
          value[u] = GET(row, column);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) sum = combine(sum, value[u]);
      }
      for (; i < end; ++i) {
        row = order[i];
        sum = combine(sum, GET(row, column));
      }
      partials[chunk * d + column] = sum;
    }
  }
}
#endif

#if STAGE_JOIN
// The chunks of each label, in order.
extern "C" __global__ __launch_bounds__(THREADS) void category_join(O *out, const T *partials, const long long *ends, unsigned d, u64 count)
{
  for (u64 i = blockIdx.x * (u64)THREADS + threadIdx.x; i < count; i += gridDim.x * (u64)THREADS) {
    const u64 label = i / d, column = i % d, begin = label ? ends[label - 1] : 0, end = ends[label];
    T sum = IDENTITY;
    if (begin < end) sum = partials[begin * d + column];
    for (u64 chunk = begin + 1; chunk < end; ++chunk) sum = combine(sum, partials[chunk * d + column]);
    out[i] = rt_cast<O>(sum);
  }
}
#endif

#if STAGE_DIGITS
extern "C" __global__ __launch_bounds__(THREADS) void category_digits(unsigned *counts, unsigned *ticket, unsigned *keys, LABEL_PARAMETERS, unsigned shift)
{
  __shared__ unsigned own[PASSES * 256];
  LABELS;
  for (int i = threadIdx.x; i < PASSES * 256; i += THREADS) own[i] = 0;
  __syncthreads();
  const u64 step = gridDim.x * (u64)THREADS;
  for (u64 first = blockIdx.x * (u64)THREADS + threadIdx.x; first < n; first += UNROLL * step) {
    LABEL label[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) if (first + u * step < n) label[u] = labels[first + u * step];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      if (first + u * step >= n) break;
      const unsigned key = label_of(label[u]);
      if (keys) keys[first + u * step] = key;
#pragma unroll
      for (int pass = 0; pass < PASSES; ++pass) atomicAdd(own + pass * 256 + (key >> (shift + 8 * pass) & 255), 1u);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < PASSES * 256; i += THREADS) if (own[i]) atomicAdd(counts + i, own[i]);
  if (!rtcg::is_last_block(ticket, gridDim.x)) return;
  for (int pass = 0; pass < PASSES; ++pass) {
    volatile unsigned *const at = counts + pass * 256 + threadIdx.x;
    *at = sum_before(*at);
  }
}
#endif

// Rows that are sorted by group have slots of `length` rows of one group each. Those of a group begin at the slot
// offsets[group] / length + group, which leaves room for all before it; some slots are empty.
#if STAGE_BOUNDS
extern "C" __global__ __launch_bounds__(THREADS) void category_bounds(unsigned *offsets, unsigned *slots, const unsigned *keys, const unsigned *begins, unsigned n, unsigned n_labels, unsigned groups, unsigned length)
{
  auto begin_of = [&](unsigned group) {
    if (begins) return group < 256 ? begins[group] : n;
    unsigned low = 0, high = n;
    while (low < high) {
      const unsigned middle = low + (high - low) / 2, key = keys[middle];
      if ((key < n_labels ? key : n_labels) >> SHIFT < group) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  // The last thread of a block only searches for where the group before ends.
  __shared__ unsigned found[THREADS];
  for (unsigned first = blockIdx.x * (THREADS - 1); first <= groups; first += gridDim.x * (THREADS - 1)) {
    const unsigned group = first + threadIdx.x, begin = group <= groups ? begin_of(group) : 0;
    found[threadIdx.x] = begin;
    __syncthreads();
    if (threadIdx.x < THREADS - 1 && group <= groups) offsets[group] = begin;
    if (threadIdx.x < THREADS - 1 && group < groups) {
      const unsigned next = found[threadIdx.x + 1] / length + group + 1;
      for (unsigned slot = begin / length + group; slot < next; ++slot) slots[slot] = group;
    }
    __syncthreads();
  }
}
#endif

#if STAGE_SLOTS || STAGE_ROWS
struct rt_slot { unsigned group, begin, end; };
__device__ __forceinline__ rt_slot rt_slot_of(unsigned slot, const unsigned *offsets, const unsigned *slots, unsigned length)
{
  const unsigned group = slots[slot], first = offsets[group], after = offsets[group + 1];
  const unsigned begin = first + (slot - (first / length + group)) * length;
  return {group, begin, after > begin && after - begin > length ? begin + length : after};
}
#endif

#if STAGE_SLOTS
extern "C" __global__ __launch_bounds__(THREADS) void category_slots(T *partials, const X *values, const unsigned *keys, const unsigned *offsets, const unsigned *slots, unsigned n_labels, unsigned groups, unsigned length)
{
  extern __shared__ __align__(16) unsigned char memory[];
  enum { OWN = 1 << SHIFT };
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  T *const sums = (T *)memory + warp * OWN;
  unsigned *const lanes = (unsigned *)((T *)memory + WARPS * OWN) + warp * OWN;
  const unsigned count = offsets[groups] / length + groups;
  for (unsigned i = lane; i < OWN; i += 32) lanes[i] = 0;
  for (unsigned slot = blockIdx.x * WARPS + warp; slot < count; slot += gridDim.x * WARPS) {
    const rt_slot own = rt_slot_of(slot, offsets, slots, length);
    if (own.begin >= own.end) continue;
    for (unsigned i = lane; i < OWN; i += 32) sums[i] = IDENTITY;
    __syncwarp();
    for (unsigned first = own.begin + lane; first - lane < own.end; first += 32 * UNROLL) {
      unsigned key[UNROLL];
      T value[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        const unsigned row = first + u * 32;
        key[u] = row < own.end ? keys[row] : n_labels;
#if IS_COUNT
        value[u] = T(1);
#else
        value[u] = row < own.end ? rt_cast<T>(rt_load(values[row])) : IDENTITY;
#endif
      }
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        rt_combine_alike(sums, lanes, key[u] < n_labels ? key[u] % OWN : OWN, OWN, value[u]);
      }
    }
    for (unsigned i = lane; i < OWN; i += 32) partials[(u64)slot * OWN + i] = sums[i];
    __syncwarp();
  }
}
#endif

#if STAGE_ROWS
// A warp has a slot, and WIDTH lanes a row at a time.
struct __align__(VECTOR * sizeof(X)) rt_columns { X at[VECTOR]; };
extern "C" __global__ __launch_bounds__(THREADS) void category_rows(T *partials, const X *values, const W *weights, const unsigned *order, const unsigned *offsets, const unsigned *slots, unsigned groups, unsigned length, unsigned d)
{
  enum { ROWS = 32 / WIDTH, AT_ONCE = 8 };
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned count = offsets[groups] / length + groups;
  for (unsigned slot = blockIdx.x * (THREADS / 32) + warp; slot < count; slot += gridDim.x * (THREADS / 32)) {
    const rt_slot own = rt_slot_of(slot, offsets, slots, length);
    if (own.begin >= own.end) continue;
    for (unsigned base = 0; base < d; base += WIDTH * VECTOR) {
      const unsigned column = base + lane % WIDTH * VECTOR;
      const bool counts = column < d;
      T sum[VECTOR];
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) sum[v] = IDENTITY;
      for (unsigned first = own.begin + lane / WIDTH; first < own.end; first += ROWS * AT_ONCE) {
        u64 row[AT_ONCE];
        rt_columns value[AT_ONCE];
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) row[u] = order[first + u * ROWS < own.end ? first + u * ROWS : first];
        if (!counts) continue;
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) value[u] = *(const rt_columns *)(values + row[u] * d + column);
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) {
          if (first + u * ROWS >= own.end) break;
#if HAS_WEIGHTS
          const T weight = rt_cast<T>(rt_load(weights[row[u]]));
#endif
#pragma unroll
          for (int v = 0; v < VECTOR; ++v) {
            const T x = IS_COUNT ? T(1) : rt_cast<T>(rt_load(value[u].at[v]));
#if HAS_WEIGHTS
            sum[v] = combine(sum[v], x * weight);
#else
            sum[v] = combine(sum[v], x);
#endif
          }
        }
      }
      __syncwarp();
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) {
#pragma unroll
        for (int step = WIDTH; step < 32; step *= 2) sum[v] = combine(sum[v], rt_of_lane(sum[v], (lane + step) % 32));
      }
      if (lane < WIDTH && counts)
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) partials[(u64)slot * d + column + v] = sum[v];
    }
  }
}
#endif

#if STAGE_JOIN_SLOTS
// `counts`, or null, gets the numbers of rows of groups of one label.
// WAYS warps of a block share the slots of a result, each of which has adjacent ones; with one a thread has all.
extern "C" __global__ __launch_bounds__(THREADS) void category_join_slots(O *out, O *counts, const T *partials, const unsigned *offsets, unsigned d, u64 count, unsigned length)
{
  enum { RESULTS = THREADS / WAYS, AT_ONCE = 8 };
  __shared__ __align__(16) unsigned char memory[sizeof(T) * THREADS];
  T *const sums = (T *)memory;
  const unsigned way = threadIdx.x / RESULTS, at = threadIdx.x % RESULTS;
  const u64 step = (u64)d << SHIFT;
  for (u64 first = blockIdx.x * (u64)RESULTS; first < count; first += gridDim.x * (u64)RESULTS) {
    const u64 i = first + at;
    T sum = IDENTITY;
    if (i < count) {
      const unsigned group = (unsigned)(d == 1 ? i : i / d) >> SHIFT, begin = offsets[group], rows = offsets[group + 1] - begin;
      if (counts && way == 0 && i % d == 0) counts[group] = rt_cast<O>(rt_cast<T>(rows));
      const unsigned parts = rows / length + (rows % length != 0), each = (parts + WAYS - 1) / WAYS;
      const T *const from = partials + (begin / length + group) * step + (i - group * step);
      const unsigned end = (way + 1) * each < parts ? (way + 1) * each : parts;
      for (unsigned part = way * each; part < end; part += AT_ONCE) {
        T value[AT_ONCE];
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) value[u] = part + u < end ? from[(part + u) * step] : IDENTITY;
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) if (part + u < end) sum = combine(sum, value[u]);
      }
    }
    if (WAYS > 1) {
      sums[threadIdx.x] = sum;
      __syncthreads();
      if (way == 0) for (int other = 1; other < WAYS; ++other) sum = combine(sum, sums[other * RESULTS + at]);
    }
    if (way == 0 && i < count) out[i] = rt_cast<O>(sum);
    if (WAYS > 1) __syncthreads();
  }
}
#endif
