/* The base line: some rows of a filter bank on one core. Images are (rows, columns, channels), filters (filters, height,
   width, channels). */
void filter_bank(const float *x, const float *w, int columns, int channels, int filters, int height, int width, int rows,
                 float *out)
{
  const int places = columns - width + 1, line = width * channels;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < places; ++c)
      for (int f = 0; f < filters; ++f) {
        float parts[16] = {0};
        for (int i = 0; i < height; ++i) {
          const float *pixels = x + ((long long)(r + i) * columns + c) * channels;
          const float *taps = w + ((long long)f * height + i) * line;
          int t = 0;
          for (; t + 16 <= line; t += 16)
            for (int v = 0; v < 16; ++v) parts[v] += pixels[t + v] * taps[t + v];
          for (; t < line; ++t) parts[0] += pixels[t] * taps[t];
        }
        float sum = 0;
        for (int v = 0; v < 16; ++v) sum += parts[v];
        out[((long long)r * places + c) * filters + f] = sum;
      }
}
