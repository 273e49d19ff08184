//! The words of CUDA C that kernels of this crate use, under names of their own. A printer of OpenCL C has to define
//! these, and nothing else.

/// Words of the language, places of threads, barriers, exchange within a warp, and numbers of 16 bits by their bits.
pub(crate) const CUDA_PRELUDE: &str = "\
#define RT_KERNEL extern \"C\" __global__ void
#define RT_FUNCTION __device__ __forceinline__
#define RT_GLOBAL
#define RT_SHARED __shared__
#define RT_BARRIER() __syncthreads()
#define RT_LOCAL_ID threadIdx.x
#define RT_GROUP_ID blockIdx.x
#define RT_GROUP_COUNT gridDim.x
#define RT_SHUFFLE_DOWN(value, distance) __shfl_down_sync(0xffffffffu, value, distance)
#define RT_UNROLL _Pragma(\"unroll\")
#define RT_PAIR_float(x, y) make_float2(x, y)
#define RT_PAIR_double(x, y) make_double2(x, y)
RT_FUNCTION float RT_HALF_TO_FLOAT(unsigned short bits)
{
  float value;
  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(value) : \"h\"(bits));
  return value;
}
RT_FUNCTION float RT_BFLOAT_TO_FLOAT(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
";
