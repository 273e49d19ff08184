// z = a x + y. Limited by memory: each thread moves four adjacent elements at once, blocks take strides of the grid.
extern "C" __global__ void __launch_bounds__(256)
axpy(float a, const float4 *__restrict__ x, const float4 *__restrict__ y, float4 *__restrict__ z, int n)
{
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i < n / 4; i += gridDim.x * blockDim.x) {
    const float4 u = x[i], v = y[i];
    z[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
  }
  // The last elements, which fill no vector.
  const int i = n / 4 * 4 + first;
  if (i < n) ((float *)z)[i] = a * ((const float *)x)[i] + ((const float *)y)[i];
}
