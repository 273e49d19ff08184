/* The types and constants of OpenCL C that clang does not know by itself. It is included before every program. */
#ifndef RTCG_OPENCL_BASE_H
#define RTCG_OPENCL_BASE_H

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;

#define RTCG_VECTORS(T) \
    typedef T T##2 __attribute__((ext_vector_type(2))); \
    typedef T T##3 __attribute__((ext_vector_type(3))); \
    typedef T T##4 __attribute__((ext_vector_type(4))); \
    typedef T T##8 __attribute__((ext_vector_type(8))); \
    typedef T T##16 __attribute__((ext_vector_type(16)));
RTCG_VECTORS(char)
RTCG_VECTORS(uchar)
RTCG_VECTORS(short)
RTCG_VECTORS(ushort)
RTCG_VECTORS(int)
RTCG_VECTORS(uint)
RTCG_VECTORS(long)
RTCG_VECTORS(ulong)
RTCG_VECTORS(float)
RTCG_VECTORS(double)
#undef RTCG_VECTORS

typedef uint cl_mem_fence_flags;
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define CLK_IMAGE_MEM_FENCE 4

#define NULL ((void *)0)
#define kernel_exec(X, T) __kernel __attribute__((work_group_size_hint(X, 1, 1))) __attribute__((vec_type_hint(T)))

#endif
