// `__half` and `__half2`: numbers of 16 bits with 5 bits of exponent. See rtcg_half_common.h.
#pragma once
#pragma clang system_header

extern "C++" {

struct __half;
struct __nv_bfloat16;

// Between bits and numbers. The compiler's conversions round to nearest; before LLVM 19 it has none for this target.
#if __clang_major__ >= 19
RTCG_HOST_DEVICE float __rtcg_half_to_float(unsigned short b) { return __builtin_bit_cast(_Float16, b); }
RTCG_HOST_DEVICE unsigned short __rtcg_half_bits(float v) { return __builtin_bit_cast(unsigned short, (_Float16)v); }
RTCG_HOST_DEVICE unsigned short __rtcg_half_bits(double v) { return __builtin_bit_cast(unsigned short, (_Float16)v); }
#else
RTCG_HOST_DEVICE float __rtcg_half_to_float(unsigned short b) { float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(b)); return r; }
#endif
// LLVM 20 takes a half that was made of an integer for exact, although large ones become infinite: its own conversion is not used.
#define RTCG_FROM(type, text, c) \
    RTCG_HOST_DEVICE unsigned short __rtcg_half_bits(type v) { unsigned short r; asm("cvt.rn.f16." text " %0, %1;" : "=h"(r) : c(v)); return r; }
#if __clang_major__ < 19
RTCG_FROM(float, "f32", "f") RTCG_FROM(double, "f64", "d")
#endif
RTCG_FROM(int, "s32", "r") RTCG_FROM(unsigned int, "u32", "r")
RTCG_FROM(long long, "s64", "l") RTCG_FROM(unsigned long long, "u64", "l")
#undef RTCG_FROM
#define RTCG_FROM(mode, text) \
    RTCG_HOST_DEVICE unsigned short __rtcg_half_##mode(float v) { unsigned short r; asm("cvt." text ".f16.f32 %0, %1;" : "=h"(r) : "f"(v)); return r; }
RTCG_FROM(rz, "rz") RTCG_FROM(rd, "rm") RTCG_FROM(ru, "rp")
#undef RTCG_FROM
// Integers to float, to zero. Before LLVM 20 the builtins round to nearest.
#if __clang_major__ >= 20
#define RTCG_FROM(type, builtin, text, c) RTCG_HOST_DEVICE float __rtcg_float_rz(type v) { return builtin(v); }
#else
#define RTCG_FROM(type, builtin, text, c) \
    RTCG_HOST_DEVICE float __rtcg_float_rz(type v) { float r; asm("cvt.rz.f32." text " %0, %1;" : "=f"(r) : c(v)); return r; }
#endif
RTCG_FROM(int, __nvvm_i2f_rz, "s32", "r") RTCG_FROM(unsigned int, __nvvm_ui2f_rz, "u32", "r")
RTCG_FROM(long long, __nvvm_ll2f_rz, "s64", "l") RTCG_FROM(unsigned long long, __nvvm_ull2f_rz, "u64", "l")
#undef RTCG_FROM
RTCG_HOST_DEVICE unsigned short __rtcg_half_rn(float v) { return __rtcg_half_bits(v); }
#define RTCG_PACK(low, high) __builtin_bit_cast(__half2, __nvvm_ff2f16x2_rn(high, low))

// LLVM 20 fails ("Cannot select") where the result of `__half` arithmetic is used as the bits of a `__nv_bfloat16`: set this to 0 then.
#ifndef RTCG_COMPILE_HALVES
#define RTCG_COMPILE_HALVES (!__RTCG_FTZ && __clang_major__ >= 19)
#endif
#define RTCG_T __half
#define RTCG_T2 __half2
#define RTCG_OTHER __nv_bfloat16
#define RTCG_W half
#define RTCG_F "f16"
#define RTCG_I f16
#define RTCG_N _Float16
#define RTCG_COMPILED RTCG_COMPILE_HALVES
#define RTCG_ONE 0x3c00
#define RTCG_INF 0x7c00
#define RTCG_BY_FMA 0
// Without a rounding modifier an assembler may fuse, as the compiler may under the pragma.
#if __RTCG_FMAD
#define RTCG_FUSED ""
#define RTCG_CONTRACT _Pragma("clang fp contract(fast)")
#else
#define RTCG_FUSED ".rn"
#define RTCG_CONTRACT _Pragma("clang fp contract(off)")
#endif
#ifdef __CUDA_NO_HALF_CONVERSIONS__
#define RTCG_NO_CONVERSIONS
#endif
#ifdef __CUDA_NO_HALF_OPERATORS__
#define RTCG_NO_OPERATORS
#endif
#ifdef __CUDA_NO_HALF2_OPERATORS__
#define RTCG_NO_OPERATORS2
#endif
#include "rtcg_half_common.h"
#include "rtcg_half_end.h"

typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
typedef __half nv_half;
typedef __half2 nv_half2;
#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
#endif
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00)

}
