// float16 and bfloat16: stored in 16 bits, computed in float, rounded once.
struct rt_half { unsigned short bits; };
struct rt_bfloat { unsigned short bits; };
__device__ __forceinline__ float rt_load(rt_half x) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
}
__device__ __forceinline__ float rt_load(rt_bfloat x) { return __uint_as_float((unsigned)x.bits << 16); }
template <> struct rt_to<rt_half> {
  static __device__ __forceinline__ rt_half from(float x) {
    rt_half value;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value.bits) : "f"(x));
    return value;
  }
  static __device__ __forceinline__ rt_half from(double x) {
    rt_half value;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(value.bits) : "d"(x));
    return value;
  }
  template <class From> static __device__ __forceinline__ rt_half from(From x) { return from((double)x); }
};
template <> struct rt_to<rt_bfloat> {
  static __device__ __forceinline__ rt_bfloat from(float x) {
    unsigned bits = __float_as_uint(x);
    if (x != x) return rt_bfloat{(unsigned short)((bits >> 16) | 0x40u)};
    return rt_bfloat{(unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
  }
  template <class From> static __device__ __forceinline__ rt_bfloat from(From x) { return from((float)x); }
};
// The next number of 16 bits from `x` towards `y`, both of which are such numbers; `y`, with its sign of zero, where they
// are equal.
template <class H> __device__ __forceinline__ float rt_nextafter(float x, float y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  H value = rt_to<H>::from(x);
  if (x == 0) value.bits = y < 0 ? 0x8001 : 1;
  else value.bits += (x < y) == (x > 0) ? 1 : -1;
  return rt_load(value);
}
