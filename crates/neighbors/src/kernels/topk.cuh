// The K first elements of rows in the order BEFORE, equal ones in that of their indices: a block has a row, and each of
// its threads a list of every THREADS-th element.
struct rt_elements {
  C value[K];
  long long index[K];
  int size;

  __device__ __forceinline__ void add(C x, long long i)
  {
    if (size == K && !BEFORE(x, value[K - 1])) return;
    int j = size < K ? size++ : K - 1;
    for (; j > 0 && BEFORE(x, value[j - 1]); --j) { value[j] = value[j - 1]; index[j] = index[j - 1]; }
    value[j] = x;
    index[j] = i;
  }
};

extern "C" __global__ __launch_bounds__(THREADS) void neighbors_topk(T *values, long long *indices, const T *rows, long long count, long long length)
{
  __shared__ C best[THREADS / 32];
  __shared__ long long place[THREADS / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (long long row = blockIdx.x; row < count; row += gridDim.x) {
    rt_elements list;
    list.size = 0;
    // Places that are not taken are read, and not looked at.
    for (int j = 0; j < K; ++j) { list.value[j] = C(); list.index[j] = -1; }
    for (long long i = threadIdx.x; i < length; i += THREADS) list.add(rt_to_compared(rows[row * length + i]), i);
    int head = 0;
    for (int j = 0; j < K; ++j) {
      C x = head < list.size ? list.value[head] : C();
      long long i = head < list.size ? list.index[head] : -1;
      for (int step = 16; step > 0; step /= 2) {
        const C other = __shfl_xor_sync(0xffffffffu, x, step);
        const long long from = __shfl_xor_sync(0xffffffffu, i, step);
        if (from >= 0 && (i < 0 || BEFORE(other, x) || (!BEFORE(x, other) && from < i))) { x = other; i = from; }
      }
      __syncthreads();
      if (lane == 0) { best[warp] = x; place[warp] = i; }
      __syncthreads();
      x = best[0];
      i = place[0];
      for (int w = 1; w < THREADS / 32; ++w)
        if (place[w] >= 0 && (i < 0 || BEFORE(best[w], x) || (!BEFORE(x, best[w]) && place[w] < i))) { x = best[w]; i = place[w]; }
      if (head < list.size && list.index[head] == i) ++head;
      if (threadIdx.x == 0) { values[row * K + j] = rows[row * length + i]; indices[row * K + j] = i; }
    }
    __syncthreads();
  }
}
