// Vectors rounded to float16, padded by zeros to multiples of 8 dimensions, and what the filter compares; a warp has a vector. The
// mean of points of float32 is the origin (given `sums` of their numbers), and a power of two scales them so that none
// overflows. For METRIC_COSINE vectors are scaled to one length, since distances of such are in the order of cosines; a point
// of length 0 stands for one orthogonal to all. Points of float16 stay as they are: the power of two scales queries only, and
// products; for METRIC_COSINE the filter divides products by their lengths.
//
// Let a query q and a point p, so moved and scaled, be rounded to Q and P. Of |P|, |Q|, e = |p - P|, f = |q - Q| all is
// known. Triangles say | |p - q| - |P - Q| | <= e + f, and (x + e)^2 <= (1 + RT_SLACK) (x^2 + e^2 / RT_SLACK) for any x. So where
// |p - q| <= T, with U = T + f
//     |P|^2 - 2 P Q - (1 + 1 / RT_SLACK) e^2 <= (1 + RT_SLACK) U^2 - |Q|^2,
// whose left side has nothing of the query but the product, its right side nothing of the point. In turn
//     |p - q| <= f + sqrt((1 + RT_SLACK) (|P|^2 + e^2 / RT_SLACK - 2 P Q + |Q|^2)).
// Tensor cores have halves of these, in sums that begin with what the point adds: numbers below |P|^2 + (1 + 1 / RT_SLACK) e^2 +
// |Q|^2 / 2 in all, whose rounding errors (`rt_rounding`) are added to both sides. Errors of float64 are far below that.
enum { PADDED = (D + 7) / 8 * 8, WARPS = THREADS / 32 };

extern "C" __global__ __launch_bounds__(THREADS) void neighbors_round(rt_half *rounded, OUT *upper, float *lower, const V *vectors, const double *norms, const double *largest_norm, const double *sums, unsigned n, unsigned count)
{
  const unsigned lane = threadIdx.x % 32;
  const int exponent = *largest_norm > 0 ? ilogb(*largest_norm) >> 1 : 0;
  for (unsigned i = blockIdx.x * WARPS + threadIdx.x / 32; i < count; i += gridDim.x * WARPS) {
    // To lengths of 2^13 to 2^14 at most, and twice as much from the mean.
    const double scale = !METRIC_COSINE ? ldexp(1.0, 13 - exponent) : norms[i] > 0 ? RT_COSINE_LENGTH / sqrt(norms[i]) : 0.0;
    double length = 0, error = 0;
#if POINT_IS_HALF && !IS_QUERY
    // Half of the exponent of the scale is the point's.
    length = norms[i] * scale;
#else
    for (int t = lane; t < PADDED; t += 32) {
      double x = 0;
      if (t < D) x = ((double)vectors[(size_t)i * D + t] - (sums ? (double)(float)(sums[t] / n) : 0.0)) * scale;
      unsigned short bits;
      float number;
      // Queries may be further away.
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(fabs(x) < 65000 ? (float)(IS_QUERY ? -x : x) : 0.0f));
      asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(bits));
      rounded[(size_t)i * PADDED + t].bits = bits;
      const double lost = (IS_QUERY ? -x : x) - number;
      length += (double)number * number;
      error += lost * lost;
    }
    for (int step = 1; step < 32; step *= 2) {
      length += __shfl_xor_sync(0xffffffffu, length, step);
      error += __shfl_xor_sync(0xffffffffu, error, step);
    }
    if (POINT_IS_HALF && !METRIC_COSINE) length /= scale, error /= scale;
#endif
    if (lane != 0) continue;
#if IS_QUERY
    upper[i] = make_double2(length, sqrt(error));
#elif POINT_IS_HALF && METRIC_COSINE
    upper[i] = scale;
#else
    if (METRIC_COSINE && !(norms[i] > 0)) length = RT_COSINE_LENGTH * RT_COSINE_LENGTH;
    upper[i] = rt_initial_sum(length, error, true);
    lower[i] = rt_initial_sum(length, error, false);
#endif
  }
}
