/* The base line: histograms of lines of a recurrence matrix on one core, maximum norm, without the main diagonal. */
#include <math.h>

static int near_points(const float *x, int i, int j, int dimension, int delay, float radius)
{
  for (int t = 0; t < dimension; ++t)
    if (!(fabsf(x[i + t * delay] - x[j + t * delay]) < radius)) return 0;
  return 1;
}

/* counts: three histograms of points + 1 lengths: diagonal, vertical and white vertical lines. */
void recurrence_lines(const float *x, int points, int dimension, int delay, float radius, long long *counts)
{
  long long *diagonal = counts, *vertical = counts + points + 1, *white = vertical + points + 1;
  for (int k = 1; k < points; ++k) {
    int length = 0;
    for (int i = 0; i + k < points; ++i)
      if (near_points(x, i, i + k, dimension, delay, radius)) ++length;
      else if (length) { diagonal[length] += 2; length = 0; }
    if (length) diagonal[length] += 2;
  }
  for (int j = 0; j < points; ++j) {
    int colour = 0, length = 0;
    for (int i = 0; i < points; ++i) {
      int is_near = i != j && near_points(x, i, j, dimension, delay, radius);
      if (is_near == colour) { ++length; continue; }
      if (length) ++(colour ? vertical : white)[length];
      colour = is_near;
      length = 1;
    }
    ++(colour ? vertical : white)[length];
  }
}
