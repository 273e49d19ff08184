// What CUDA C++ has without an include: words of the language, variables of a thread, and types of vectors.
//
// Sources: CUDA C++ Programming Guide 13.0 (sections "C++ Language Extensions" and "Built-in Vector Types").
#pragma once

#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#if __has_attribute(grid_constant)
#define __grid_constant__ __attribute__((grid_constant))
#else
#define __grid_constant__
#endif
// The driver chooses registers, and launches say how large clusters are.
#define __maxnreg__(n)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __nv_pure__ __attribute__((pure))
#define __restrict __restrict__
#define CUDARTAPI
// How functions of these headers are written.
// Without lines of their own: what is inlined has the line of the program that calls it.
#define RTCG_DEVICE static __inline__ __attribute__((device, always_inline, nodebug))
#define RTCG_HOST_DEVICE static __inline__ __attribute__((host, device, always_inline, nodebug))
// What the mathematics uses besides, and defines otherwise in C++ for OpenCL: long functions, rare ones, tables.
#define RTCG_LONG static __inline__ __attribute__((device, nodebug))
#define RTCG_RARE static __attribute__((device, noinline, nodebug))
#define RTCG_TABLE static __device__ const

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;

// Vectors, with the alignments that the guide lists. `make_` functions come along.
#define RTCG_VECTORS(type, name, a1, a2, a4) \
    struct __attribute__((device_builtin, aligned(a1))) name##1 { type x; }; \
    struct __attribute__((device_builtin, aligned(a2))) name##2 { type x, y; }; \
    struct __attribute__((device_builtin, aligned(a1))) name##3 { type x, y, z; }; \
    struct __attribute__((device_builtin, aligned(a4))) name##4 { type x, y, z, w; }; \
    RTCG_HOST_DEVICE name##1 make_##name##1(type x) { return {x}; } \
    RTCG_HOST_DEVICE name##2 make_##name##2(type x, type y) { return {x, y}; } \
    RTCG_HOST_DEVICE name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
    RTCG_HOST_DEVICE name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
#define RTCG_VECTOR_4(type, name, n) \
    struct __attribute__((device_builtin, aligned(n))) name##4_##n##a { type x, y, z, w; }; \
    RTCG_HOST_DEVICE name##4_##n##a make_##name##4_##n##a(type x, type y, type z, type w) { return {x, y, z, w}; }

RTCG_VECTORS(signed char, char, 1, 2, 4)
RTCG_VECTORS(unsigned char, uchar, 1, 2, 4)
RTCG_VECTORS(short, short, 2, 4, 8)
RTCG_VECTORS(unsigned short, ushort, 2, 4, 8)
RTCG_VECTORS(int, int, 4, 8, 16)
RTCG_VECTORS(unsigned int, uint, 4, 8, 16)
RTCG_VECTORS(long, long, 8, 16, 16)
RTCG_VECTORS(unsigned long, ulong, 8, 16, 16)
RTCG_VECTORS(long long, longlong, 8, 16, 16)
RTCG_VECTORS(unsigned long long, ulonglong, 8, 16, 16)
RTCG_VECTORS(float, float, 4, 8, 16)
RTCG_VECTORS(double, double, 8, 16, 16)
RTCG_VECTOR_4(long, long, 16)
RTCG_VECTOR_4(long, long, 32)
RTCG_VECTOR_4(unsigned long, ulong, 16)
RTCG_VECTOR_4(unsigned long, ulong, 32)
RTCG_VECTOR_4(long long, longlong, 16)
RTCG_VECTOR_4(long long, longlong, 32)
RTCG_VECTOR_4(unsigned long long, ulonglong, 16)
RTCG_VECTOR_4(unsigned long long, ulonglong, 32)
RTCG_VECTOR_4(double, double, 16)
RTCG_VECTOR_4(double, double, 32)
#undef RTCG_VECTORS
#undef RTCG_VECTOR_4

struct __attribute__((device_builtin)) dim3 {
    unsigned int x, y, z;
    __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};

// The variables of a thread: reading a component reads the special register.
#define RTCG_COMPONENT(name, register) \
    __declspec(property(get = read_##name)) unsigned int name; \
    static __inline__ __attribute__((device, always_inline, const)) unsigned int read_##name() { return __nvvm_read_ptx_sreg_##register(); }
#define RTCG_THREAD_VARIABLE(variable, register, vector) \
    struct __rtcg_##variable { \
        RTCG_COMPONENT(x, register##_x) RTCG_COMPONENT(y, register##_y) RTCG_COMPONENT(z, register##_z) \
        __device__ operator vector() const { return vector{x, y, z}; } \
        RTCG_THREAD_VARIABLE_MORE_##vector \
        __rtcg_##variable() = delete; __rtcg_##variable(const __rtcg_##variable &) = delete; \
        void operator=(const __rtcg_##variable &) const = delete; __rtcg_##variable *operator&() const = delete; \
    }; \
    extern const __attribute__((device, weak)) __rtcg_##variable variable;
#define RTCG_THREAD_VARIABLE_MORE_uint3 __device__ operator dim3() const { return dim3(x, y, z); }
#define RTCG_THREAD_VARIABLE_MORE_dim3 __device__ operator uint3() const { return uint3{x, y, z}; }
RTCG_THREAD_VARIABLE(threadIdx, tid, uint3)
RTCG_THREAD_VARIABLE(blockIdx, ctaid, uint3)
RTCG_THREAD_VARIABLE(blockDim, ntid, dim3)
RTCG_THREAD_VARIABLE(gridDim, nctaid, dim3)
#undef RTCG_COMPONENT
#undef RTCG_THREAD_VARIABLE
constexpr __device__ int warpSize = 32;
