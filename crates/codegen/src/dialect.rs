//! The CUDA C keywords that sparse kernels use, under names of their own. A printer of OpenCL C needs to define
//! these and nothing else.

/// Words of the language, places of threads, barriers, votes and exchange within a warp, atomics, loads of what is read once
/// and should not drive other things out of caches, and numbers of 16 bits by their bits.
pub const CUDA_PRELUDE: &str = "\
#define RT_KERNEL extern \"C\" __global__ void
#define RT_KERNEL_OF(threads) extern \"C\" __global__ void __launch_bounds__(threads)
#define RT_FUNCTION __device__ __forceinline__
#define RT_GLOBAL
#define RT_SHARED __shared__
#define RT_SHARED_POINTER
#define RT_DYNAMIC_SHARED(type, name) extern __shared__ type name[]
#define RT_BARRIER() __syncthreads()
#define RT_WARP_BARRIER() __syncwarp()
#define RT_LOCAL_ID threadIdx.x
#define RT_GROUP_ID blockIdx.x
#define RT_GROUP_COUNT gridDim.x
#define RT_GROUP_ROW blockIdx.y
#define RT_SHUFFLE_DOWN(value, distance) __shfl_down_sync(0xffffffffu, value, distance)
#define RT_WARP_ANY(condition) __any_sync(0xffffffffu, condition)
#define RT_BLOCK_ANY(condition) __syncthreads_or(condition)
#define RT_ATOMIC_CAS(address, expected, value) atomicCAS(address, expected, value)
#define RT_ATOMIC_OR(address, value) atomicOr(address, value)
#define RT_ATOMIC_ADD(address, value) atomicAdd(address, value)
#define RT_ATOMIC_MAX(address, value) atomicMax(address, value)
#define RT_POPCOUNT(value) __popc(value)
#define RT_SHUFFLE(value, lane) __shfl_sync(0xffffffffu, value, lane)
#define RT_BALLOT(is_true) __ballot_sync(0xffffffffu, is_true)
#define RT_FIRST_BIT(bits) (__ffs(bits) - 1)
#define RT_LOAD_ONCE(place) __ldcs(place)
#define RT_UNROLL _Pragma(\"unroll\")
#define RT_NO_UNROLL _Pragma(\"unroll 1\")
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

/// More, behind [`CUDA_PRELUDE`]: votes within a warp, words that blocks tell each other of while they run, and the bits
/// of numbers.
pub const CUDA_INTER_BLOCK: &str = "\
#define RT_ALL(predicate) __all_sync(0xffffffffu, predicate)
#define RT_ANY(predicate) __any_sync(0xffffffffu, predicate)
#define RT_LOAD_RELAXED(type, at) (*(const volatile type *)(at))
#define RT_STORE_RELAXED(type, at, value) (*(volatile type *)(at) = (value))
#define RT_BITS_float(value) __float_as_uint(value)
#define RT_BITS_double(value) ((unsigned long long)__double_as_longlong(value))
#define RT_OF_BITS_float(bits) __uint_as_float(bits)
#define RT_OF_BITS_double(bits) __longlong_as_double((long long)(bits))
";
