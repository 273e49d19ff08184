/* The base line: distances to the nearest point on one core. */
#include <math.h>

void nearest_distances(const float *tests, const float *others, int n_tests, int n_others, int dimensions, float *found)
{
  for (int i = 0; i < n_tests; ++i) {
    float best = INFINITY;
    for (int j = 0; j < n_others; ++j) {
      float sum = 0;
      for (int t = 0; t < dimensions; ++t) {
        const float difference = tests[(long long)i * dimensions + t] - others[(long long)j * dimensions + t];
        sum += difference * difference;
      }
      best = sum < best ? sum : best;
    }
    found[i] = sqrtf(best);
  }
}
