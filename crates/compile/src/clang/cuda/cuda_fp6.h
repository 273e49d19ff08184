// Numbers of 6 bits: e2m3 and e3m2, each in a byte of its own. See rtcg_narrow.h.
#pragma once
#pragma clang system_header
#include "rtcg_narrow.h"

extern "C++" {

typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned int __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;

#define RTCG_TAKE_fp6 const __nv_fp6_interpretation_t k, const enum cudaRoundMode mode
#define RTCG_GIVE_fp6 k, mode
RTCG_HOST_DEVICE __nv_fp6_storage_t __rtcg_to_fp6(float v, RTCG_TAKE_fp6) {
    return __rtcg_narrow(v, k == __NV_E2M3 ? 3 : 2, k == __NV_E2M3 ? 1 : 3, 0x1f, 0x1f, 0x1f, 5, mode);
}
RTCG_HOST_DEVICE __nv_fp6x2_storage_t __rtcg_to_fp6x2(float x, float y, RTCG_TAKE_fp6) { return __rtcg_to_fp6(x, k, mode) | __rtcg_to_fp6(y, k, mode) << 8; }
RTCG_HOST_DEVICE unsigned short __rtcg_fp6_to_half(unsigned int v, __nv_fp6_interpretation_t k) {
    return __rtcg_rescale((v & 0x20) << 10 | (v & 0x1f) << (k == __NV_E2M3 ? 7 : 8), k == __NV_E2M3 ? 0x7400 : 0x6c00);
}
RTCG_NARROW_FUNCTIONS(fp6, 8, 0xff)
#define RTCG_TO(v) __rtcg_fp6_to_half(v, __NV_E2M3)
RTCG_NARROW_TYPES(fp6, e2m3, half, __half, __half2, 8, 0xff, __rtcg_to_fp6, __rtcg_to_fp6x2, RTCG_TO, __NV_E2M3, cudaRoundNearest)
#undef RTCG_TO
#define RTCG_TO(v) __rtcg_fp6_to_half(v, __NV_E3M2)
RTCG_NARROW_TYPES(fp6, e3m2, half, __half, __half2, 8, 0xff, __rtcg_to_fp6, __rtcg_to_fp6x2, RTCG_TO, __NV_E3M2, cudaRoundNearest)
#undef RTCG_TO

}
