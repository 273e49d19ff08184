// Norms of windows: one thread has one element of the result, adjacent threads adjacent channels. Sizes and strides that
// are 0 among the literals are arguments.
extern "C" __global__ void __launch_bounds__(THREADS) ndimage_pool(O *out, const I *x, long long size_h, long long size_w, long long stride_h, long long stride_w, long long images, long long height, long long width, long long channels)
{
  const int SH = SIZE_H ? SIZE_H : size_h, SW = SIZE_W ? SIZE_W : size_w;
  const long long DOWN = STRIDE_H ? STRIDE_H : stride_h, ACROSS = STRIDE_W ? STRIDE_W : stride_w;
  const long long rows = (height - SH) / DOWN + 1, columns = (width - SW) / ACROSS + 1;
  const long long total = images * rows * columns * channels;
  for (long long flat = blockIdx.x * (long long)THREADS + threadIdx.x; flat < total; flat += gridDim.x * (long long)THREADS) {
    const long long channel = flat % channels, column = flat / channels % columns, row = flat / channels / columns % rows;
    const long long image = flat / channels / columns / rows;
    const I *const from = x + ((image * height + row * DOWN) * width + column * ACROSS) * channels + channel;
    auto at = [&](int i, int j) { return rt_load(from + (i * width + j) * channels); };
    A found = IS_MAX ? at(0, 0) : A(0);
    for (int i = 0; i < SH; i++)
      for (int j = 0; j < SW; j++) {
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
        for (int i = 0; i < SH; i++)
          for (int j = 0; j < SW; j++) sum += pow(fabs(at(i, j)) / largest, A(EXPONENT));
        found = largest * pow(sum, A(1) / A(EXPONENT));
      }
    }
    out[flat] = rt_stored<O>::from(found);
  }
}
