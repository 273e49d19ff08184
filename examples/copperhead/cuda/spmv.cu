// A matrix in compressed rows times a vector: short rows by LANES adjacent threads each, so that they load together; with
// LANES 1, the scalar form, each thread has a row. LANES is chosen for the mean length of rows.
#ifndef LANES
#define LANES 4
#endif

extern "C" __global__ void __launch_bounds__(256)
spmv(const int *__restrict__ offsets, const int *__restrict__ columns, const float *__restrict__ values,
     const float *__restrict__ x, float *__restrict__ y, int rows)
{
  const int lane = threadIdx.x % LANES, per_grid = gridDim.x * blockDim.x / LANES;
  // All lanes of a warp take the same number of turns, for the shuffles.
  const int padded = (rows + 32 / LANES - 1) / (32 / LANES) * (32 / LANES);
  for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES; row < padded; row += per_grid) {
    float sum = 0;
    if (row < rows)
      for (int k = offsets[row] + lane; k < offsets[row + 1]; k += LANES) sum += values[k] * __ldg(x + columns[k]);
    #pragma unroll
    for (int d = LANES / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d, LANES);
    if (lane == 0 && row < rows) y[row] = sum;
  }
}
