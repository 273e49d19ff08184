// Escape times. Limited by the rate of instructions: the squares of a step are kept for the next one, counters have 32
// bits, and a block is a patch of the picture, so that its points stay together for about as long.
extern "C" __global__ void __launch_bounds__(256)
mandelbrot(float lower_x, float lower_y, float scale_x, float scale_y, int width, int height, float threshold, int limit,
           long long *__restrict__ times)
{
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  const float real0 = column * scale_x + lower_x, imag0 = row * scale_y + lower_y;
  float real = real0, imag = imag0, real2 = real * real, imag2 = imag * imag;
  int i = 0;
  for (;; ++i) {
    imag = (real + real) * imag + imag0;
    real = real2 - imag2 + real0;
    real2 = real * real;
    imag2 = imag * imag;
    if (real2 + imag2 > threshold || i > limit) break;
  }
  times[(long long)row * width + column] = i;
}
