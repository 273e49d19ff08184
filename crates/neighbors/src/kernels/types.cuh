// Elements as they are stored, and their values.
struct rt_half { unsigned short bits; };
__device__ __forceinline__ float rt_load(const rt_half *x)
{
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x->bits));
  return value;
}
__device__ __forceinline__ float rt_load(const float *x) { return *x; }
__device__ __forceinline__ double rt_load(const double *x) { return *x; }
struct rt_bfloat { unsigned short bits; };
__device__ __forceinline__ float rt_load(const rt_bfloat *x) { return __uint_as_float((unsigned)x->bits << 16); }
