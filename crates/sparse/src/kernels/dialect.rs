//! The words of CUDA C that kernels of this crate use, under names of their own. A printer of OpenCL C has to define
//! these, and nothing else.

/// Words of the language, places of threads, barriers and exchange within a warp.
pub(super) const CUDA_PRELUDE: &str = "\
#define RT_KERNEL extern \"C\" __global__ void
#define RT_FUNCTION __device__ __forceinline__
#define RT_GLOBAL
#define RT_SHARED __shared__
#define RT_BARRIER() __syncthreads()
#define RT_LOCAL_ID threadIdx.x
#define RT_GROUP_ID blockIdx.x
#define RT_GROUP_COUNT gridDim.x
#define RT_SHUFFLE_DOWN(value, distance) __shfl_down_sync(0xffffffffu, value, distance)
#define RT_PAIR_float(x, y) make_float2(x, y)
#define RT_PAIR_double(x, y) make_double2(x, y)
";
