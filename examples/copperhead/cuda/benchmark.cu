// A copy, as what an identity costs: four adjacent elements at once.
extern "C" __global__ void __launch_bounds__(256)
identity(const float4 *__restrict__ x, float4 *__restrict__ y, int n)
{
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i < n / 4; i += gridDim.x * blockDim.x) y[i] = x[i];
  const int i = n / 4 * 4 + first;
  if (i < n) ((float *)y)[i] = ((const float *)x)[i];
}
