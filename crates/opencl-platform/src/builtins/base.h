/* The types and constants of OpenCL C that clang does not know by itself. It is included before every program. */
#ifndef RTCG_OPENCL_BASE_H
#define RTCG_OPENCL_BASE_H

/* Which builtins clang declares: with pointers into named memories always, with generic ones where the language has
   them. */
#define __opencl_c_named_address_space_builtins 1
#if __OPENCL_C_VERSION__ >= 200
#undef __opencl_c_generic_address_space
#define __opencl_c_generic_address_space 1
#undef __opencl_c_work_group_collective_functions
#define __opencl_c_work_group_collective_functions 1
#undef __opencl_c_atomic_order_acq_rel
#define __opencl_c_atomic_order_acq_rel 1
#undef __opencl_c_atomic_order_seq_cst
#define __opencl_c_atomic_order_seq_cst 1
#undef __opencl_c_atomic_scope_device
#define __opencl_c_atomic_scope_device 1
#undef __opencl_c_read_write_images
#define __opencl_c_read_write_images 1
#undef __opencl_c_program_scope_global_variables
#define __opencl_c_program_scope_global_variables 1
#undef __opencl_c_images
#define __opencl_c_images 1
#undef __opencl_c_3d_image_writes
#define __opencl_c_3d_image_writes 1
#undef __opencl_c_fp64
#define __opencl_c_fp64 1
#undef __opencl_c_int64
#define __opencl_c_int64 1
#undef __opencl_c_subgroups
#define __opencl_c_subgroups 1
#undef __opencl_subgroup_builtins
#define __opencl_subgroup_builtins 1
#undef cl_khr_subgroups
#define cl_khr_subgroups 1
#endif

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

#define NULL ((void *)0)

/* Reinterpretation. */
#define as_char(x) __builtin_astype((x), char)
#define as_uchar(x) __builtin_astype((x), uchar)
#define as_short(x) __builtin_astype((x), short)
#define as_ushort(x) __builtin_astype((x), ushort)
#define as_int(x) __builtin_astype((x), int)
#define as_uint(x) __builtin_astype((x), uint)
#define as_long(x) __builtin_astype((x), long)
#define as_ulong(x) __builtin_astype((x), ulong)
#define as_float(x) __builtin_astype((x), float)
#define as_double(x) __builtin_astype((x), double)
#define as_size_t(x) __builtin_astype((x), size_t)
#define as_intptr_t(x) __builtin_astype((x), intptr_t)
#define as_uintptr_t(x) __builtin_astype((x), uintptr_t)
#define as_ptrdiff_t(x) __builtin_astype((x), ptrdiff_t)
#define as_char2(x) __builtin_astype((x), char2)
#define as_char3(x) __builtin_astype((x), char3)
#define as_char4(x) __builtin_astype((x), char4)
#define as_char8(x) __builtin_astype((x), char8)
#define as_char16(x) __builtin_astype((x), char16)
#define as_uchar2(x) __builtin_astype((x), uchar2)
#define as_uchar3(x) __builtin_astype((x), uchar3)
#define as_uchar4(x) __builtin_astype((x), uchar4)
#define as_uchar8(x) __builtin_astype((x), uchar8)
#define as_uchar16(x) __builtin_astype((x), uchar16)
#define as_short2(x) __builtin_astype((x), short2)
#define as_short3(x) __builtin_astype((x), short3)
#define as_short4(x) __builtin_astype((x), short4)
#define as_short8(x) __builtin_astype((x), short8)
#define as_short16(x) __builtin_astype((x), short16)
#define as_ushort2(x) __builtin_astype((x), ushort2)
#define as_ushort3(x) __builtin_astype((x), ushort3)
#define as_ushort4(x) __builtin_astype((x), ushort4)
#define as_ushort8(x) __builtin_astype((x), ushort8)
#define as_ushort16(x) __builtin_astype((x), ushort16)
#define as_int2(x) __builtin_astype((x), int2)
#define as_int3(x) __builtin_astype((x), int3)
#define as_int4(x) __builtin_astype((x), int4)
#define as_int8(x) __builtin_astype((x), int8)
#define as_int16(x) __builtin_astype((x), int16)
#define as_uint2(x) __builtin_astype((x), uint2)
#define as_uint3(x) __builtin_astype((x), uint3)
#define as_uint4(x) __builtin_astype((x), uint4)
#define as_uint8(x) __builtin_astype((x), uint8)
#define as_uint16(x) __builtin_astype((x), uint16)
#define as_long2(x) __builtin_astype((x), long2)
#define as_long3(x) __builtin_astype((x), long3)
#define as_long4(x) __builtin_astype((x), long4)
#define as_long8(x) __builtin_astype((x), long8)
#define as_long16(x) __builtin_astype((x), long16)
#define as_ulong2(x) __builtin_astype((x), ulong2)
#define as_ulong3(x) __builtin_astype((x), ulong3)
#define as_ulong4(x) __builtin_astype((x), ulong4)
#define as_ulong8(x) __builtin_astype((x), ulong8)
#define as_ulong16(x) __builtin_astype((x), ulong16)
#define as_float2(x) __builtin_astype((x), float2)
#define as_float3(x) __builtin_astype((x), float3)
#define as_float4(x) __builtin_astype((x), float4)
#define as_float8(x) __builtin_astype((x), float8)
#define as_float16(x) __builtin_astype((x), float16)
#define as_double2(x) __builtin_astype((x), double2)
#define as_double3(x) __builtin_astype((x), double3)
#define as_double4(x) __builtin_astype((x), double4)
#define as_double8(x) __builtin_astype((x), double8)
#define as_double16(x) __builtin_astype((x), double16)
/* Barriers and memory. */
typedef uint cl_mem_fence_flags;
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define CLK_IMAGE_MEM_FENCE 4

typedef enum memory_scope {
    memory_scope_work_item = __OPENCL_MEMORY_SCOPE_WORK_ITEM,
    memory_scope_work_group = __OPENCL_MEMORY_SCOPE_WORK_GROUP,
    memory_scope_device = __OPENCL_MEMORY_SCOPE_DEVICE,
    memory_scope_all_svm_devices = __OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES,
    memory_scope_all_devices = memory_scope_all_svm_devices,
    memory_scope_sub_group = __OPENCL_MEMORY_SCOPE_SUB_GROUP
} memory_scope;

typedef enum memory_order {
    memory_order_relaxed = __ATOMIC_RELAXED,
    memory_order_acquire = __ATOMIC_ACQUIRE,
    memory_order_release = __ATOMIC_RELEASE,
    memory_order_acq_rel = __ATOMIC_ACQ_REL,
    memory_order_seq_cst = __ATOMIC_SEQ_CST
} memory_order;

#define ATOMIC_VAR_INIT(x) (x)
#define ATOMIC_FLAG_INIT 0

/* Numbers. */
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define CHAR_MAX SCHAR_MAX
#define CHAR_MIN SCHAR_MIN
#define USHRT_MAX 65535
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define UINT_MAX 0xffffffffU
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define ULONG_MAX 0xffffffffffffffffUL
#define LONG_MAX 0x7fffffffffffffffL
#define LONG_MIN (-0x7fffffffffffffffL - 1)

#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX_10_EXP +38
#define FLT_MAX_EXP +128
#define FLT_MIN_10_EXP -37
#define FLT_MIN_EXP -125
#define FLT_RADIX 2
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1.0p-126f
#define FLT_EPSILON 0x1.0p-23f
#define FP_ILOGB0 INT_MIN
#define FP_ILOGBNAN INT_MAX
#define MAXFLOAT FLT_MAX
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_huge_val()
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define DBL_MAX_10_EXP +308
#define DBL_MAX_EXP +1024
#define DBL_MIN_10_EXP -307
#define DBL_MIN_EXP -1021
#define DBL_RADIX 2
#define DBL_MAX 0x1.fffffffffffffp1023
#define DBL_MIN 0x1.0p-1022
#define DBL_EPSILON 0x1.0p-52

#define M_E_F 2.71828182845904523536028747135266250f
#define M_LOG2E_F 1.44269504088896340735992468100189214f
#define M_LOG10E_F 0.434294481903251827651128918916605082f
#define M_LN2_F 0.693147180559945309417232121458176568f
#define M_LN10_F 2.30258509299404568401799145468436421f
#define M_PI_F 3.14159265358979323846264338327950288f
#define M_PI_2_F 1.57079632679489661923132169163975144f
#define M_PI_4_F 0.785398163397448309615660845819875721f
#define M_1_PI_F 0.318309886183790671537767526745028724f
#define M_2_PI_F 0.636619772367581343075535053490057448f
#define M_2_SQRTPI_F 1.12837916709551257389615890312154517f
#define M_SQRT2_F 1.41421356237309504880168872420969808f
#define M_SQRT1_2_F 0.707106781186547524400844362104849039f
#define M_E 0x1.5bf0a8b145769p+1
#define M_LOG2E 0x1.71547652b82fep+0
#define M_LOG10E 0x1.bcb7b1526e50ep-2
#define M_LN2 0x1.62e42fefa39efp-1
#define M_LN10 0x1.26bb1bbb55516p+1
#define M_PI 0x1.921fb54442d18p+1
#define M_PI_2 0x1.921fb54442d18p+0
#define M_PI_4 0x1.921fb54442d18p-1
#define M_1_PI 0x1.45f306dc9c883p-2
#define M_2_PI 0x1.45f306dc9c883p-1
#define M_2_SQRTPI 0x1.20dd750429b6dp+0
#define M_SQRT2 0x1.6a09e667f3bcdp+0
#define M_SQRT1_2 0x1.6a09e667f3bcdp-1

/* Samplers and images. */
#define CLK_ADDRESS_NONE 0
#define CLK_ADDRESS_CLAMP_TO_EDGE 2
#define CLK_ADDRESS_CLAMP 4
#define CLK_ADDRESS_REPEAT 6
#define CLK_ADDRESS_MIRRORED_REPEAT 8
#define CLK_NORMALIZED_COORDS_FALSE 0
#define CLK_NORMALIZED_COORDS_TRUE 1
#define CLK_FILTER_NEAREST 0x10
#define CLK_FILTER_LINEAR 0x20
#define CLK_R 0x10b0
#define CLK_A 0x10b1
#define CLK_RG 0x10b2
#define CLK_RA 0x10b3
#define CLK_RGB 0x10b4
#define CLK_RGBA 0x10b5
#define CLK_BGRA 0x10b6
#define CLK_ARGB 0x10b7
#define CLK_INTENSITY 0x10b8
#define CLK_LUMINANCE 0x10b9
#define CLK_Rx 0x10ba
#define CLK_RGx 0x10bb
#define CLK_RGBx 0x10bc
#define CLK_DEPTH 0x10bd
#define CLK_DEPTH_STENCIL 0x10be
#define CLK_sRGB 0x10bf
#define CLK_sRGBx 0x10c0
#define CLK_sRGBA 0x10c1
#define CLK_sBGRA 0x10c2
#define CLK_ABGR 0x10c3
#define CLK_SNORM_INT8 0x10d0
#define CLK_SNORM_INT16 0x10d1
#define CLK_UNORM_INT8 0x10d2
#define CLK_UNORM_INT16 0x10d3
#define CLK_UNORM_SHORT_565 0x10d4
#define CLK_UNORM_SHORT_555 0x10d5
#define CLK_UNORM_INT_101010 0x10d6
#define CLK_SIGNED_INT8 0x10d7
#define CLK_SIGNED_INT16 0x10d8
#define CLK_SIGNED_INT32 0x10d9
#define CLK_UNSIGNED_INT8 0x10da
#define CLK_UNSIGNED_INT16 0x10db
#define CLK_UNSIGNED_INT32 0x10dc
#define CLK_HALF_FLOAT 0x10dd
#define CLK_FLOAT 0x10de
#define CLK_UNORM_INT24 0x10df
#define CLK_UNORM_INT_101010_2 0x10e0

/* What comes with the language, without a declaration inside of clang. */
#if __OPENCL_C_VERSION__ >= 120
int printf(__constant const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif
/* Clang 14 declares these only where the target has arithmetic of half precision. */
#if __clang_major__ < 15
#define RTCG_LOADS(n, SPACE) \
    __attribute__((overloadable)) float##n vload_half##n(size_t, const SPACE half *); \
    __attribute__((overloadable)) float##n vloada_half##n(size_t, const SPACE half *);
#define RTCG_STORES(n, T, SPACE) \
    RTCG_STORE(n, T, SPACE) RTCG_STORE(n##_rte, T, SPACE) RTCG_STORE(n##_rtz, T, SPACE) \
    RTCG_STORE(n##_rtp, T, SPACE) RTCG_STORE(n##_rtn, T, SPACE)
#define RTCG_STORE(suffix, T, SPACE) \
    __attribute__((overloadable)) void vstore_half##suffix(T, size_t, SPACE half *); \
    __attribute__((overloadable)) void vstorea_half##suffix(T, size_t, SPACE half *);
#define RTCG_BOTH(n, SPACE) RTCG_LOADS(n, SPACE) RTCG_STORES(n, float##n, SPACE) RTCG_STORES(n, double##n, SPACE)
#define RTCG_WIDTHS(DO, SPACE) DO(, SPACE) DO(2, SPACE) DO(3, SPACE) DO(4, SPACE) DO(8, SPACE) DO(16, SPACE)
RTCG_WIDTHS(RTCG_BOTH, __global) RTCG_WIDTHS(RTCG_BOTH, __local) RTCG_WIDTHS(RTCG_BOTH, __private)
RTCG_WIDTHS(RTCG_LOADS, __constant)
#if __OPENCL_C_VERSION__ >= 200
RTCG_WIDTHS(RTCG_BOTH, __generic)
#endif
#undef RTCG_LOADS
#undef RTCG_STORES
#undef RTCG_STORE
#undef RTCG_BOTH
#undef RTCG_WIDTHS
#endif

#define vec_step(x) __builtin_vec_step(x)
#define __kernel_exec(X, T) __kernel __attribute__((work_group_size_hint(X, 1, 1))) __attribute__((vec_type_hint(T)))
#define kernel_exec(X, T) __kernel_exec(X, T)

#endif
