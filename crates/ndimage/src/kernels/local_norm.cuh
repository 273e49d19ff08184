// Pixels less the mean of the window around them, divided by the window's deviation: one thread has all channels of a
// pixel. Two walks through the window, so that nothing cancels. A size that is 0 among the literals is an
// argument.
extern "C" __global__ void __launch_bounds__(THREADS) ndimage_local_norm(O *out, const I *x, double stretch, double threshold, long long size_h, long long size_w, long long images, long long height, long long width, long long channels)
{
  const int SH = SIZE_H ? SIZE_H : size_h, SW = SIZE_W ? SIZE_W : size_w;
  const long long rows = height - SH + 1, columns = width - SW + 1, total = images * rows * columns;
  const long long of_row = SW * channels;
  for (long long flat = blockIdx.x * (long long)THREADS + threadIdx.x; flat < total; flat += gridDim.x * (long long)THREADS) {
    const long long column = flat % columns, row = flat / columns % rows, image = flat / columns / rows;
    const I *const from = x + ((image * height + row) * width + column) * channels;
    A mean = 0, squares = 0;
    if constexpr (IS_CENTERED) {
      for (int i = 0; i < SH; i++)
        for (long long j = 0; j < of_row; j++) mean += rt_load(from + i * width * channels + j);
      mean /= A(SH) * A(of_row);
    }
    for (int i = 0; i < SH; i++)
      for (long long j = 0; j < of_row; j++) {
        const A deviation = rt_load(from + i * width * channels + j) - mean;
        squares += deviation * deviation;
      }
    const A norm = A(stretch) * sqrt(squares), scale = norm > A(threshold) || norm != norm ? A(stretch) / norm : A(stretch);
    const I *const middle = from + ((SH / 2) * width + SW / 2) * channels;
    for (long long j = 0; j < channels; j++) out[flat * channels + j] = rt_stored<O>::from((rt_load(middle + j) - mean) * scale);
  }
}
