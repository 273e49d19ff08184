// Where a place beyond a border lies in an image of n pixels; -1 for none.
__device__ __forceinline__ long long rt_modulo(long long p, long long n) { p %= n; return p < 0 ? p + n : p; }
__device__ __forceinline__ long long rt_nearest(long long p, long long n) { return p < 0 ? 0 : p >= n ? n - 1 : p; }
__device__ __forceinline__ long long rt_wrap(long long p, long long n) { return p >= 0 && p < n ? p : rt_modulo(p, n); }
__device__ __forceinline__ long long rt_constant(long long p, long long n) { return p >= 0 && p < n ? p : -1; }
// (d c b a | a b c d | d c b a)
__device__ __forceinline__ long long rt_reflect(long long p, long long n)
{
  if (p >= 0 && p < n) return p;
  p = rt_modulo(p, 2 * n);
  return p < n ? p : 2 * n - 1 - p;
}
// (d c b | a b c d | c b a)
__device__ __forceinline__ long long rt_mirror(long long p, long long n)
{
  if (p >= 0 && p < n) return p;
  if (n == 1) return 0;
  p = rt_modulo(p, 2 * n - 2);
  return p < n ? p : 2 * n - 2 - p;
}
