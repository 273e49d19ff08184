// Products of a large matrix A, of which a block has some rows, and a narrow matrix B of few columns. E: elements, T: what sums are
// computed in. Of the threads of a block, THREADS_PER_SUM share the terms of the same sums: ROWS rows times WIDTH columns.
constexpr int THREADS = 256, WARPS = THREADS / 32, GROUPS = THREADS / THREADS_PER_SUM;
// Sums of a block, and where the next copy of them lies in shared memory.
constexpr int OUTPUTS = GROUPS * ROWS * WIDTH, COPY = OUTPUTS + OUTPUTS / 32;
typedef unsigned long long count_t;

struct skinny_args {
  count_t rows, k, k_per_split, batches, columns, parts;
  // Bytes from one to the next.
  long long a_row, a_k, a_batch, b_k, b_column, b_batch, out_row, out_column, out_batch;
};

template <bool B> struct flag { static const bool value = B; };

__device__ __forceinline__ T add_sums(T a, T b) { return T(ADD); }
__device__ __forceinline__ T multiply_add(T sum, T x, T y) { return T(MULTIPLY_ADD); }
__device__ __forceinline__ count_t min_count(count_t a, count_t b) { return a < b ? a : b; }

// The operands of a batch and of a part of the columns. Of the offsets of batches those of both operands take turns.
struct operands {
  const char *a, *b;
  char *out;
  count_t first_column, columns;
  __device__ operands(const skinny_args &s, count_t z, char *out, const char *a, const char *b, const long long *a_offsets, const long long *b_offsets)
  {
    const count_t batch = z / s.parts;
    first_column = z % s.parts * WIDTH;
    columns = min_count(s.columns - first_column, WIDTH);
    this->a = a + (a_offsets ? a_offsets[2 * batch] : (long long)batch * s.a_batch);
    this->b = b + (b_offsets ? b_offsets[2 * batch] : (long long)batch * s.b_batch) + (long long)first_column * s.b_column;
    this->out = out + (long long)batch * s.out_batch + (long long)first_column * s.out_column;
  }
};

__device__ __forceinline__ T b_element(const skinny_args &s, const operands &at, count_t term, unsigned column)
{
  return rt_cast<T>(rt_load(*(const E *)(at.b + (long long)term * s.b_k + (long long)column * s.b_column)));
}

// Element `at` from `from` on, where elements lie beside each other or else `step` bytes apart.
template <bool dense> __device__ __forceinline__ E element(const char *from, long long step, count_t at)
{
  return dense ? ((const E *)from)[at] : *(const E *)(from + (long long)at * step);
}

// PACK adjacent elements from element `at` on, as far as they lie before `end`.
template <bool whole, bool dense> __device__ __forceinline__ void load_global(rt_pack<E, PACK> &to, const char *from, long long step, count_t at, count_t end)
{
  if (PACK > 1 && (whole || at + PACK <= end)) rtcg::load_no_allocate(to, (const rt_pack<E, PACK> *)((const E *)from + at));
  else {
    #pragma unroll
    for (int e = 0; e < PACK; e++) to.at[e] = whole || at + e < end ? element<dense>(from, step, at + e) : E();
  }
}

// The terms first to last - 1 of operand B in shared memory; place(term, column) says where.
template <class Place> __device__ __forceinline__ void stage_b(T *smem, const skinny_args &s, const operands &at, count_t first, count_t last, Place place)
{
  const unsigned count = last - first;
  __syncthreads();
  // Adjacent threads read along the axis whose elements are adjacent.
  if (s.b_column * s.b_column <= s.b_k * s.b_k) {
    #pragma unroll 4
    for (unsigned e = threadIdx.x; e < count * WIDTH; e += THREADS) {
      const unsigned term = e / WIDTH, column = e % WIDTH;
      smem[place(term, column)] = column < at.columns ? b_element(s, at, first + term, column) : T(0);
    }
  } else {
    for (unsigned column = 0; column < WIDTH; column++) {
      #pragma unroll 4
      for (unsigned term = threadIdx.x; term < count; term += THREADS)
        smem[place(term, column)] = column < at.columns ? b_element(s, at, first + term, column) : T(0);
    }
  }
  __syncthreads();
}

// COUNT adjacent elements in shared memory, which begin at a multiple of their number, as far as they lie before `end`.
template <bool whole, int COUNT> __device__ __forceinline__ void load_shared(T *to, const T *from, count_t at = 0, count_t end = 0)
{
  constexpr int SIDE = 16 / (int)sizeof(T) < COUNT ? 16 / (int)sizeof(T) : COUNT;
  #pragma unroll
  for (int k = 0; k < COUNT; k += SIDE) {
    rt_pack<T, SIDE> pack;
    if constexpr (whole) pack = *(const rt_pack<T, SIDE> *)(from + k);
    #pragma unroll
    for (int e = 0; e < SIDE; e++) to[k + e] = whole ? pack.at[e] : at + k + e < end ? from[k + e] : T(0);
  }
}

__device__ __forceinline__ T shuffle_xor(T value, int distance)
{
  rtcg::words<T> packed(value);
  #pragma unroll
  for (int k = 0; k < rtcg::words<T>::count; k++) packed.w[k] = __shfl_xor_sync(0xffffffffu, packed.w[k], distance);
  packed.get(value);
  return value;
}

// Adds up N sums over the lanes of a warp whose numbers differ in the bits LOW to HIGH. In each step a lane gives half of
// its sums away for its share of the other half; put(number, sum) takes what one of the lanes has at last.
template <int N, int HIGH, int LOW, class Put> __device__ __forceinline__ void warp_reduce(T *sums, Put put, bool owns = true, unsigned first = 0)
{
  if constexpr (HIGH < LOW) {
    #pragma unroll
    for (int k = 0; k < N; k++) if (owns) put(first + k, sums[k]);
  } else {
    const bool upper = threadIdx.x & HIGH;
    if constexpr (N % 2 == 0) {
      #pragma unroll
      for (int k = 0; k < N / 2; k++) {
        const T kept = upper ? sums[k + N / 2] : sums[k], given = upper ? sums[k] : sums[k + N / 2];
        sums[k] = add_sums(kept, shuffle_xor(given, HIGH));
      }
      warp_reduce<N / 2, HIGH / 2, LOW>(sums, put, owns, first + (upper ? N / 2 : 0));
    } else {
      #pragma unroll
      for (int k = 0; k < N; k++) sums[k] = add_sums(sums[k], shuffle_xor(sums[k], HIGH));
      warp_reduce<N, HIGH / 2, LOW>(sums, put, owns && !upper, first);
    }
  }
}

// Where a sum lies in shared memory, so that threads whose sums are far apart do not meet in one bank.
__device__ __forceinline__ unsigned padded(unsigned sum) { return sum + sum / 32; }

// Stores the sums of a block, of which there are COPIES to be added up. Where blocks share the terms, the last one of
// them adds up what they have left in `partials`, in an order that depends on nothing else.
template <int COPIES> __device__ __forceinline__ void store_sums(T *smem, const skinny_args &s, const operands &at, count_t first_row, count_t z, T *partials, unsigned *counters RT_EPILOGUE_PARAMETER)
{
  auto store = [&](unsigned sum, T value) {
    const count_t row = first_row + sum / WIDTH;
    const unsigned column = sum % WIDTH;
    if (row < s.rows && column < at.columns) *(O *)(at.out + (long long)row * s.out_row + column * s.out_column) = RT_FINISH(value, row, at.first_column + column, z / s.parts);
  };
  const count_t output = z * gridDim.x + blockIdx.x;
  __syncthreads();
  for (unsigned k = threadIdx.x; k < OUTPUTS; k += THREADS) {
    T sum = smem[padded(k)];
    #pragma unroll
    for (int copy = 1; copy < COPIES; copy++) sum = add_sums(sum, smem[copy * COPY + padded(k)]);
    if constexpr (IS_SPLIT_K) partials[(output * gridDim.y + blockIdx.y) * OUTPUTS + k] = sum;
    else store(k, sum);
  }
  if constexpr (IS_SPLIT_K) {
    if (!rtcg::is_last_block(counters + output, gridDim.y)) return;
    constexpr int SIDE = OUTPUTS < THREADS ? OUTPUTS : THREADS, REDUCERS = THREADS / SIDE;
    const T *const from = partials + output * gridDim.y * OUTPUTS;
    for (unsigned k = threadIdx.x % SIDE; k < OUTPUTS; k += THREADS) {
      T sum = T(0);
      #pragma unroll 16
      for (unsigned split = threadIdx.x / SIDE; split < gridDim.y; split += REDUCERS) sum = add_sums(sum, from[split * OUTPUTS + k]);
      if constexpr (REDUCERS > 1) {
        smem[threadIdx.x] = sum;
        __syncthreads();
        if (threadIdx.x >= SIDE) return;
        #pragma unroll
        for (int other = 1; other < REDUCERS; other++) sum = add_sums(sum, smem[threadIdx.x + other * SIDE]);
      }
      store(k, sum);
    }
  }
}
