// Squared lengths of vectors, and in `state` as bits: the largest of them, and ~i of the first vector i that has a number
// which is not finite.
extern "C" __global__ __launch_bounds__(THREADS) void neighbors_norms(double *norms, unsigned long long *state, const P *vectors, unsigned n)
{
  for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
    double sum = 0;
    bool is_finite = true;
    // One thread may be all there is: many numbers are on their way.
#pragma unroll 16
    for (int t = 0; t < D; ++t) {
      const double x = rt_load(vectors + (size_t)i * D + t);
      is_finite &= isfinite(x) != 0;
      sum = __dadd_rn(sum, __dmul_rn(x, x));
    }
    norms[i] = sum;
    if (is_finite) atomicMax(&state[0], (unsigned long long)__double_as_longlong(sum));
    else atomicMax(&state[1], ~(unsigned long long)i);
  }
}
