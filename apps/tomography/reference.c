/* The base line: backprojection of some rows of an image from filtered views on one core, in float64. */
#include <math.h>

void backproject(const float *data, const double *directions, int views, int bins, double axis_x, double axis_y,
                 double middle, int columns, int rows, double scale, double *image)
{
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      double total = 0;
      for (int v = 0; v < views; ++v) {
        const double bin = middle + (column - axis_x) * directions[2 * v] + (axis_y - row) * directions[2 * v + 1];
        const int n = (int)floor(bin);
        const float *samples = data + (long long)v * bins + n;
        total += samples[0] + (bin - n) * (samples[1] - samples[0]);
      }
      image[(long long)row * columns + column] = scale * total;
    }
}
