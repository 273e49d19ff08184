// Where a place beyond a border lies in an image of n pixels; -1 for none.
template <class T> __device__ __forceinline__ T rt_modulo(T p, T n) { p %= n; return p < 0 ? p + n : p; }
template <class T> __device__ __forceinline__ T rt_nearest(T p, T n) { return p < 0 ? 0 : p >= n ? n - 1 : p; }
template <class T> __device__ __forceinline__ T rt_wrap(T p, T n) { return p >= 0 && p < n ? p : rt_modulo(p, n); }
template <class T> __device__ __forceinline__ T rt_constant(T p, T n) { return p >= 0 && p < n ? p : -1; }
// (d c b a | a b c d | d c b a)
template <class T> __device__ __forceinline__ T rt_reflect(T p, T n)
{
  if (p >= 0 && p < n) return p;
  p = rt_modulo(p, 2 * n);
  return p < n ? p : 2 * n - 1 - p;
}
// (d c b | a b c d | c b a)
template <class T> __device__ __forceinline__ T rt_mirror(T p, T n)
{
  if (p >= 0 && p < n) return p;
  if (n == 1) return 0;
  p = rt_modulo(p, 2 * n - 2);
  return p < n ? p : 2 * n - 2 - p;
}
