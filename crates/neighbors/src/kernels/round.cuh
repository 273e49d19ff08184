// Vectors rounded to float16, padded by zeros to multiples of 8 dimensions, and what the filter compares; a warp has a vector. The
// mean of points is the origin (given `sums` of their numbers), and a power of two scales them so that none overflows. For
// METRIC_COSINE vectors are scaled to one length, since distances of such are in the order of cosines; a point of length 0
// stands for one orthogonal to all.
//
// Let a query q and a point p, so moved and scaled, be rounded to Q and P. Of |P|, |Q|, e = |p - P|, f = |q - Q| all is
// known. Triangles say | |p - q| - |P - Q| | <= e + f, and (x + e)^2 <= (1 + ETA) (x^2 + e^2 / ETA) for any x. So where
// |p - q| <= T, with U = T + f
//     |P|^2 - 2 P Q - (1 + 1 / ETA) e^2 <= (1 + ETA) U^2 - |Q|^2,
// whose left side has nothing of the query but the product, its right side nothing of the point. In turn
//     |p - q| <= f + sqrt((1 + ETA) (|P|^2 + e^2 / ETA - 2 P Q + |Q|^2)).
// Tensor cores have halves of these, in sums that begin with what the point adds: numbers below |P|^2 + (1 + 1 / ETA) e^2 +
// |Q|^2 / 2 in all, whose rounding errors (`rt_rounding`) are added to both sides. Errors of float64 are far below that.
enum { PADDED = (D + 7) / 8 * 8, WARPS = THREADS / 32 };

extern "C" __global__ __launch_bounds__(THREADS) void neighbors_round(rt_half *rounded, OUT *upper, float *lower, const P *vectors, const double *norms, const double *largest_norm, const double *sums, unsigned n, unsigned count)
{
  const unsigned lane = threadIdx.x % 32;
  const int exponent = *largest_norm > 0 ? ilogb(*largest_norm) >> 1 : 0;
  for (unsigned i = blockIdx.x * WARPS + threadIdx.x / 32; i < count; i += gridDim.x * WARPS) {
    // To lengths of 2^13 to 2^14 at most, and twice as much from the mean.
    const double scale = !METRIC_COSINE ? ldexp(1.0, 13 - exponent) : norms[i] > 0 ? LENGTH / sqrt(norms[i]) : 0.0;
    double length = 0, error = 0;
    for (int t = lane; t < PADDED; t += 32) {
      double x = 0;
      if (t < D) x = ((double)vectors[(size_t)i * D + t] - (METRIC_COSINE ? 0.0 : (double)(float)(sums[t] / n))) * scale;
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
    if (lane != 0) continue;
#if IS_QUERY
    upper[i] = make_double2(length, sqrt(error));
#else
    if (METRIC_COSINE && !(norms[i] > 0)) length = LENGTH * LENGTH;
    const double rounding = rt_rounding(length + (1 + 1 / ETA) * error);
    upper[i] = __double2float_ru((length + error / ETA) / 2 + rounding);
    lower[i] = __double2float_rd((length - (1 + 1 / ETA) * error) / 2 - rounding);
#endif
  }
}
