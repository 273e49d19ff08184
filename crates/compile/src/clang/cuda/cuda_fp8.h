// Numbers of 8 bits: e4m3 and e5m2, and the powers of two e8m0. See rtcg_narrow.h.
#pragma once
#pragma clang system_header
#include "rtcg_narrow.h"

extern "C++" {

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

#define RTCG_TAKE_fp8 const __nv_saturation_t s, const __nv_fp8_interpretation_t k
#define RTCG_GIVE_fp8 s, k
RTCG_HOST_DEVICE __nv_fp8x2_storage_t __rtcg_to_fp8x2(float x, float y, RTCG_TAKE_fp8) {
#if __CUDA_ARCH__ >= 890
    if (s == __NV_SATFINITE) {
        unsigned short r;
        if (k == __NV_E4M3) asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(y), "f"(x));
        else asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(y), "f"(x));
        return r;
    }
#endif
    int e4 = k == __NV_E4M3, m = e4 ? 3 : 2, bias = e4 ? 7 : 15;
    unsigned int top = e4 ? 0x7e : 0x7b, over = s == __NV_SATFINITE ? top : e4 ? 0x7f : 0x7c;
    return __rtcg_narrow(x, m, bias, top, over, 0x7f, 7, cudaRoundNearest) | __rtcg_narrow(y, m, bias, top, over, 0x7f, 7, cudaRoundNearest) << 8;
}
RTCG_HOST_DEVICE __nv_fp8_storage_t __rtcg_to_fp8(float v, RTCG_TAKE_fp8) { return __rtcg_to_fp8x2(v, 0.0f, s, k); }
RTCG_HOST_DEVICE unsigned short __rtcg_fp8_to_half(unsigned int v, __nv_fp8_interpretation_t k) {
    unsigned int nan = (v & 0x7f) > (k == __NV_E4M3 ? 0x7eu : 0x7cu), sign = (v & 0x80) << 8;
    return nan ? 0x7fff : k == __NV_E4M3 ? __rtcg_rescale(sign | (v & 0x7f) << 7, 0x5c00) : v << 8;
}
RTCG_NARROW_FUNCTIONS(fp8, 8, 0xff)
#define RTCG_TO(v) __rtcg_fp8_to_half(v, __NV_E4M3)
RTCG_NARROW_TYPES(fp8, e4m3, half, __half, __half2, 8, 0xff, __rtcg_to_fp8, __rtcg_to_fp8x2, RTCG_TO, __NV_SATFINITE, __NV_E4M3)
#undef RTCG_TO
#define RTCG_TO(v) __rtcg_fp8_to_half(v, __NV_E5M2)
RTCG_NARROW_TYPES(fp8, e5m2, half, __half, __half2, 8, 0xff, __rtcg_to_fp8, __rtcg_to_fp8x2, RTCG_TO, __NV_SATFINITE, __NV_E5M2)
#undef RTCG_TO

// e8m0 keeps the exponent of the magnitude: 0 is 2^-127, 255 a NaN. Rounding is to zero or up; what is less than 2^-127 becomes that.
RTCG_HOST_DEVICE __nv_fp8_storage_t __rtcg_to_e8m0(float v, const __nv_saturation_t s, const enum cudaRoundMode mode) {
    unsigned int a = __builtin_bit_cast(unsigned int, v) & 0x7fffffff, r = a >> 23;
    r += mode == cudaRoundPosInf && (r ? (a & 0x7fffff) != 0 : a > 0x400000);
    return a > 0x7f800000 ? 0xff : s == __NV_SATFINITE && r > 0xfe ? 0xfe : r;
}
RTCG_HOST_DEVICE __nv_fp8x2_storage_t __rtcg_to_e8m0x2(float x, float y, const __nv_saturation_t s, const enum cudaRoundMode mode) {
    return __rtcg_to_e8m0(x, s, mode) | __rtcg_to_e8m0(y, s, mode) << 8;
}
RTCG_HOST_DEVICE unsigned short __rtcg_e8m0_to_bfloat16(unsigned int v) { return v == 0 ? 0x40 : v == 0xff ? 0x7fff : v << 7; }
#define RTCG_E8M0(name, name2, type, type2, wide) \
    RTCG_DEVICE __nv_fp8_storage_t __nv_cvt_##name##_to_e8m0(const type v, const __nv_saturation_t s, const enum cudaRoundMode mode) { \
        return __rtcg_to_e8m0(wide(v RTCG_ONE_##name), s, mode); } \
    RTCG_DEVICE __nv_fp8x2_storage_t __nv_cvt_##name2##_to_e8m0x2(const type2 v, const __nv_saturation_t s, const enum cudaRoundMode mode) { \
        return __rtcg_to_e8m0x2(wide(v.x), wide(v.y), s, mode); }
#define RTCG_ONE_float
#define RTCG_ONE_double
#define RTCG_ONE_bfloat16raw .x
RTCG_E8M0(float, float2, float, float2, __rtcg_odd)
RTCG_E8M0(double, double2, double, double2, __rtcg_odd)
RTCG_E8M0(bfloat16raw, bfloat162raw, __nv_bfloat16_raw, __nv_bfloat162_raw, __rtcg_bfloat16_to_float)
#undef RTCG_E8M0
#undef RTCG_ONE_float
#undef RTCG_ONE_double
#undef RTCG_ONE_bfloat16raw
RTCG_DEVICE __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(const __nv_fp8_storage_t v) { return {__rtcg_e8m0_to_bfloat16(v)}; }
RTCG_DEVICE __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(const __nv_fp8x2_storage_t v) {
    return {__rtcg_e8m0_to_bfloat16(v & 0xff), __rtcg_e8m0_to_bfloat16(v >> 8)};
}
RTCG_NARROW_TYPES(fp8, e8m0, bfloat16, __nv_bfloat16, __nv_bfloat162, 8, 0xff, __rtcg_to_e8m0, __rtcg_to_e8m0x2, __rtcg_e8m0_to_bfloat16,
                  __NV_SATFINITE, cudaRoundPosInf)

}
