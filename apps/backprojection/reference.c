/* The base line: backprojection of some rows of an image on one core, in float64. */
#include <complex.h>
#include <math.h>

/* data: pulses x bins; x, y: coordinates of the columns and rows; image: rows x columns */
void backproject(const float complex *data, const double *positions, int pulses, int bins, const double *x, int columns,
                 const double *y, int rows, double bins_of_metre, double cycles_of_metre, double complex *image)
{
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      double complex total = 0;
      for (int p = 0; p < pulses; ++p) {
        const double *at = positions + 3 * p;
        const double dx = x[column] - at[0], dy = y[row] - at[1];
        const double r0 = sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
        const double delta = sqrt(dx * dx + dy * dy + at[2] * at[2]) - r0;
        const double bin = delta * bins_of_metre + bins / 2;
        const int n = (int)floor(bin);
        const float complex *samples = data + (long long)p * bins + n;
        const double complex value = samples[0] + (bin - n) * (samples[1] - samples[0]);
        const double phase = 2 * M_PI * cycles_of_metre * delta;
        total += value * (cos(phase) + I * sin(phase));
      }
      image[(long long)row * columns + column] = total;
    }
}
