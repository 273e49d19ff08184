// Elements as they are stored (I, O), and as they are computed with (A).
struct rt_half { unsigned short bits; };
struct rt_bfloat { unsigned short bits; };
template <class T> __device__ __forceinline__ A rt_load(const T *from) { return (A)*from; }
__device__ __forceinline__ A rt_load(const rt_half *from)
{
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(from->bits));
  return value;
}
__device__ __forceinline__ A rt_load(const rt_bfloat *from) { return __uint_as_float((unsigned)from->bits << 16); }
// Floats become integers as processors convert them: through a wider one, so that negative numbers wrap.
template <class T> struct rt_stored { static __device__ __forceinline__ T from(A x) { return (T)(long long)x; } };
template <> struct rt_stored<float> { static __device__ __forceinline__ float from(A x) { return (float)x; } };
template <> struct rt_stored<double> { static __device__ __forceinline__ double from(A x) { return (double)x; } };
template <> struct rt_stored<bool> { static __device__ __forceinline__ bool from(A x) { return x != A(0); } };
template <> struct rt_stored<unsigned long long> {
  static __device__ __forceinline__ unsigned long long from(A x) { return x < A(0) ? (unsigned long long)(long long)x : (unsigned long long)x; }
};
template <> struct rt_stored<rt_half> {
  static __device__ __forceinline__ rt_half from(float x)
  {
    rt_half value;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value.bits) : "f"(x));
    return value;
  }
  static __device__ __forceinline__ rt_half from(double x)
  {
    rt_half value;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(value.bits) : "d"(x));
    return value;
  }
};
template <> struct rt_stored<rt_bfloat> {
  static __device__ __forceinline__ rt_bfloat from(A x)
  {
    const unsigned bits = __float_as_uint((float)x);
    // Half to even; NaN stays, and does not become infinite.
    if (x != x) return rt_bfloat{(unsigned short)(bits >> 16 | 0x40u)};
    return rt_bfloat{(unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
  }
};
