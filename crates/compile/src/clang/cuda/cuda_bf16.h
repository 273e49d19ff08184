// `__nv_bfloat16` and `__nv_bfloat162`: the upper half of a float. See rtcg_half_common.h.
#pragma once
#pragma clang system_header
#include "cuda_fp16.h"

extern "C++" {

// Between bits and numbers. PTX rounds float to nearest and to zero; what is wider passes through float by rounding to odd, after
// which a second rounding is that of the number itself (S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
RTCG_HOST_DEVICE float __rtcg_bfloat16_to_float(unsigned short b) { return __builtin_bit_cast(float, (unsigned int)b << 16); }
RTCG_HOST_DEVICE unsigned short __rtcg_bfloat16_rn(float v) { return __builtin_bit_cast(unsigned short, __nvvm_f2bf16_rn(v)); }
RTCG_HOST_DEVICE unsigned short __rtcg_bfloat16_rz(float v) { return __builtin_bit_cast(unsigned short, __nvvm_f2bf16_rz(v)); }
RTCG_HOST_DEVICE unsigned short __rtcg_bfloat16_away(float v, unsigned int sign) {
    unsigned int b = __builtin_bit_cast(unsigned int, v);
    return __rtcg_bfloat16_rz(v) + ((b & 0xffff) != 0 && (b >> 31) == sign && (b & 0x7fffffff) < 0x7f800000);
}
RTCG_HOST_DEVICE unsigned short __rtcg_bfloat16_rd(float v) { return __rtcg_bfloat16_away(v, 1); }
RTCG_HOST_DEVICE unsigned short __rtcg_bfloat16_ru(float v) { return __rtcg_bfloat16_away(v, 0); }
RTCG_HOST_DEVICE unsigned short __rtcg_bfloat16_bits(float v) { return __rtcg_bfloat16_rn(v); }
RTCG_HOST_DEVICE double __rtcg_widen(float v) { double r; asm("cvt.f64.f32 %0, %1;" : "=d"(r) : "f"(v)); return r; }
RTCG_HOST_DEVICE float __rtcg_odd(float v) { return v; }
#define RTCG_FROM(type, to, back) \
    RTCG_HOST_DEVICE float __rtcg_odd(type v) { float f = to(v); return __builtin_bit_cast(float, __builtin_bit_cast(unsigned int, f) | (back(f) != v)); } \
    RTCG_HOST_DEVICE unsigned short __rtcg_bfloat16_bits(type v) { return __rtcg_bfloat16_rn(__rtcg_odd(v)); }
RTCG_FROM(double, __nvvm_d2f_rz, __rtcg_widen) RTCG_FROM(int, __rtcg_float_rz, __nvvm_f2i_rz_ftz)
RTCG_FROM(unsigned int, __rtcg_float_rz, __nvvm_f2ui_rz_ftz) RTCG_FROM(long long, __rtcg_float_rz, __nvvm_f2ll_rz_ftz)
RTCG_FROM(unsigned long long, __rtcg_float_rz, __nvvm_f2ull_rz_ftz)
#undef RTCG_FROM
#define RTCG_PACK(low, high) __builtin_bit_cast(__nv_bfloat162, __nvvm_ff2bf16x2_rn(high, low))

#define RTCG_T __nv_bfloat16
#define RTCG_T2 __nv_bfloat162
#define RTCG_OTHER __half
#define RTCG_W bfloat16
#define RTCG_F "bf16"
#define RTCG_I bf16
#define RTCG_N __bf16
#define RTCG_COMPILED RTCG_COMPILE_HALVES
#define RTCG_ONE 0x3f80
#define RTCG_INF 0x7f80
#define RTCG_BY_FMA (__CUDA_ARCH__ < 900)
#ifdef __CUDA_NO_BFLOAT16_CONVERSIONS__
#define RTCG_NO_CONVERSIONS
#endif
#ifdef __CUDA_NO_BFLOAT16_OPERATORS__
#define RTCG_NO_OPERATORS
#endif
#ifdef __CUDA_NO_BFLOAT162_OPERATORS__
#define RTCG_NO_OPERATORS2
#endif
#include "rtcg_half_common.h"
#include "rtcg_half_end.h"

RTCG_MEMBER __half::__half(const __nv_bfloat16 v) : __x(__rtcg_half_rn(__rtcg_bfloat16_to_float(v.__x))) {}
RTCG_MEMBER __nv_bfloat16::__nv_bfloat16(const __half v) : __x(__rtcg_bfloat16_rn(__rtcg_half_to_float(v.__x))) {}

#ifndef CUDA_NO_BFLOAT16
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#endif
typedef __nv_bfloat16_raw nv_bfloat16_raw;
typedef __nv_bfloat162_raw nv_bfloat162_raw;
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80)

}
