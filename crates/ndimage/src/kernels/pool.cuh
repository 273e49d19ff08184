// Norms of windows: one thread has one element of the result, adjacent threads adjacent channels.
extern "C" __global__ void __launch_bounds__(THREADS) ndimage_pool(O *out, const I *x, long long images, long long height, long long width, long long channels)
{
  const long long rows = (height - SIZE_H) / STRIDE_H + 1, columns = (width - SIZE_W) / STRIDE_W + 1;
  const long long total = images * rows * columns * channels;
  for (long long flat = blockIdx.x * (long long)THREADS + threadIdx.x; flat < total; flat += gridDim.x * (long long)THREADS) {
    const long long channel = flat % channels, column = flat / channels % columns, row = flat / channels / columns % rows;
    const long long image = flat / channels / columns / rows;
    const I *const from = x + ((image * height + row * STRIDE_H) * width + column * STRIDE_W) * channels + channel;
    auto at = [&](int i, int j) { return rt_load(from + (i * width + j) * channels); };
    A found = IS_MAX ? at(0, 0) : A(0);
    for (int i = 0; i < SIZE_H; i++)
      for (int j = 0; j < SIZE_W; j++) {
        const A value = IS_MAX ? at(i, j) : fabs(at(i, j));
        // NaN stays.
        if constexpr (IS_SUM) found += value;
        else found = value > found || value != value ? value : found;
      }
    if constexpr (!IS_MAX && !IS_SUM && !IS_LARGEST) {
      // Relative to the largest one no power overflows.
      const A largest = found;
      A sum = 0;
      if (largest > A(0) && largest < A(INFINITY)) {
        for (int i = 0; i < SIZE_H; i++)
          for (int j = 0; j < SIZE_W; j++) sum += pow(fabs(at(i, j)) / largest, A(EXPONENT));
        found = largest * pow(sum, A(1) / A(EXPONENT));
      }
    }
    out[flat] = rt_stored<O>::from(found);
  }
}
