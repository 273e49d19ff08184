// A five-point stencil with a border of one element around the input.

#ifndef kernel_tuner
#error a tuner defines the parameters
#endif

__constant__ float weights[5];

__global__ void stencil(float *out, const float *image, const float *ramp, float gain, int width, int height)
{
  const int x = blockIdx.x * block_x + threadIdx.x;
  const int pitch = width + 2;
  for (int row = 0; row < rows; ++row) {
    const int y = (blockIdx.y * block_y + threadIdx.y) * rows + row;
    if (x >= width || y >= height) return;
    const float *at = image + (y + 1) * pitch + x + 1;
    const float sum = weights[0] * at[0] + weights[1] * at[-pitch] + weights[2] * at[pitch] + weights[3] * at[-1]
        + weights[4] * at[1];
    out[y * width + x] = sum * gain + ramp[x];
  }
}
