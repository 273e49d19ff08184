// A matrix times a vector, for three shapes: many columns (a block for each row), few (a thread for each row, COLUMNS of
// them known to the compiler), and few rows that are long (several blocks for each row). All read the matrix by vectors.
#ifndef COLUMNS
#define COLUMNS 8
#endif
const unsigned ALL = 0xffffffffu;
const int THREADS = 256;

__device__ __forceinline__ float dot(const float4 &a, const float4 &b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// Thread 0 gets the sum.
__device__ float sum_block(float sum)
{
  __shared__ float parts[THREADS / 32];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(ALL, sum, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = threadIdx.x < THREADS / 32 ? parts[threadIdx.x] : 0;
  for (int d = THREADS / 64; d > 0; d /= 2) sum += __shfl_down_sync(ALL, sum, d);
  return sum;
}

// The columns are a multiple of 4.
extern "C" __global__ void __launch_bounds__(THREADS)
gemv_wide(const float4 *__restrict__ matrix, const float4 *__restrict__ x, float *__restrict__ y, int columns)
{
  const float4 *row = matrix + (size_t)blockIdx.x * (columns / 4);
  float sum = 0;
  #pragma unroll 4
  for (int k = threadIdx.x; k < columns / 4; k += THREADS) sum += dot(row[k], x[k]);
  sum = sum_block(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(THREADS)
gemv_narrow(const float4 *__restrict__ matrix, const float4 *__restrict__ x, float *__restrict__ y, int rows)
{
  float4 own[COLUMNS / 4];
  #pragma unroll
  for (int k = 0; k < COLUMNS / 4; ++k) own[k] = x[k];
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < rows; i += gridDim.x * THREADS) {
    float sum = 0;
    #pragma unroll
    for (int k = 0; k < COLUMNS / 4; ++k) sum += dot(matrix[(size_t)i * (COLUMNS / 4) + k], own[k]);
    y[i] = sum;
  }
}

// Blocks (share, row); the tickets of the rows are 0 before and after.
extern "C" __global__ void __launch_bounds__(THREADS)
gemv_long(const float4 *__restrict__ matrix, const float4 *__restrict__ x, float *__restrict__ y, int columns,
          float *partials, unsigned *tickets)
{
  __shared__ bool is_last;
  const float4 *row = matrix + (size_t)blockIdx.y * (columns / 4);
  float sum = 0;
  #pragma unroll 4
  for (int k = blockIdx.x * THREADS + threadIdx.x; k < columns / 4; k += gridDim.x * THREADS) sum += dot(row[k], x[k]);
  sum = sum_block(sum);
  if (threadIdx.x == 0) {
    partials[blockIdx.y * gridDim.x + blockIdx.x] = sum;
    __threadfence();
    is_last = atomicInc(tickets + blockIdx.y, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  sum = 0;
  for (int k = threadIdx.x; k < gridDim.x; k += THREADS) sum += partials[blockIdx.y * gridDim.x + k];
  sum = sum_block(sum);
  if (threadIdx.x == 0) y[blockIdx.y] = sum;
}
