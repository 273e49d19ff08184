// Counting sort with a count for each element: n * n comparisons. Limited by the rate of instructions: a thread compares
// its OWN elements with a tile in shared memory, four of it at a time; the grid's second axis splits the tiles.
const int THREADS = 128, OWN = 4, TILE = 1024;

// The tile is before (b <= x) or behind (b < x) all elements of the thread, or holds some of them.
template <int where> __device__ __forceinline__ void count_tile(const int *tile, int first, const int *x, const int *i, int *ranks)
{
  #pragma unroll 4
  for (int k = 0; k < TILE; k += 4) {
    const int4 four = *(const int4 *)(tile + k);
    const int b[4] = {four.x, four.y, four.z, four.w};
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      #pragma unroll
      for (int e = 0; e < OWN; ++e)
        ranks[e] += where < 0 || (where == 0 && first + k + v < i[e]) ? b[v] <= x[e] : b[v] < x[e];
    }
  }
}

// `ranks` are 0 before. Blocks (elements, tile).
extern "C" __global__ void __launch_bounds__(THREADS) rank(const int *__restrict__ x, int *ranks, int n)
{
  __shared__ alignas(16) int tile[TILE];
  const int first = blockIdx.y * TILE, begin = blockIdx.x * THREADS * OWN;
  // What is behind the end is never less.
  for (int k = threadIdx.x; k < TILE; k += THREADS) tile[k] = first + k < n ? x[first + k] : 0x7fffffff;
  __syncthreads();
  int own[OWN], i[OWN], counts[OWN] = {};
  #pragma unroll
  for (int e = 0; e < OWN; ++e) {
    i[e] = begin + e * THREADS + threadIdx.x;
    own[e] = i[e] < n ? x[i[e]] : 0;
  }
  if (first + TILE <= begin) count_tile<-1>(tile, first, own, i, counts);
  else if (first >= begin + THREADS * OWN) count_tile<1>(tile, first, own, i, counts);
  else count_tile<0>(tile, first, own, i, counts);
  #pragma unroll
  for (int e = 0; e < OWN; ++e)
    if (i[e] < n) atomicAdd(ranks + i[e], counts[e]);
}

extern "C" __global__ void __launch_bounds__(THREADS)
permute(const int *__restrict__ x, const int *__restrict__ ranks, int *__restrict__ out, int n)
{
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < n) out[ranks[i]] = x[i];
}
