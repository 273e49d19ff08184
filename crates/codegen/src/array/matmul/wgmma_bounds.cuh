// Marks parts of 64 x 64 elements where a bound of rounded integers' error is not small beside the sum of the products'
// absolute values, of which `sum` is a lower bound.
#define RT_STORE_SUMS rt_store_sums(sum, out, m, n, row + (group - 1) * 64, column RT_EPILOGUE_ARGUMENT);
__device__ __forceinline__ void rt_store_sums(const int (&sum)[COLUMNS / 8][4], O *out, rt_length m, rt_length n, int row, int column RT_EPILOGUE_PARAMETER)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const rt_length across = (n + 63) / 64;
  float norm[2], total[2];
  #pragma unroll
  for (int half = 0; half < 2; half++) {
    const rt_length i = row + warp * 16 + half * 8 + lane / 4;
    const rt_vector vector = i < m ? of_rows[i] : rt_vector{};
    norm[half] = vector.is_rounded ? vector.norm : 0.0f;
    total[half] = vector.sum;
  }
  #pragma unroll
  for (int c = 0; c < COLUMNS / 64; c++) {
    const rt_length first = column + c * 64;
    bool exceeds = false;
    #pragma unroll
    for (int g = 0; g < 8; g++)
      #pragma unroll
      for (int v = 0; v < 2; v++) {
        const rt_length j = first + lane % 4 * 16 + g * 2 + v;
        if (j >= n) continue;
        const rt_vector vector = of_columns[j];
        #pragma unroll
        for (int half = 0; half < 2; half++) {
          const float bound = norm[half] * vector.sum + (vector.is_rounded ? vector.norm : 0.0f) * total[half];
          exceeds |= row + warp * 16 + half * 8 + lane / 4 < m && !(bound <= (float)sum[c * 8 + g][half * 2 + v] * tolerance);
        }
      }
    if (exceeds) out[row / 64 * across + first / 64] = 1;
  }
}
