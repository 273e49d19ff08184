// Numbers of 4 bits, e2m1; vectors hold two in a byte. See rtcg_narrow.h.
#pragma once
#pragma clang system_header
#include "rtcg_narrow.h"

extern "C++" {

typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

#define RTCG_TAKE_fp4 const __nv_fp4_interpretation_t k, const enum cudaRoundMode mode
#define RTCG_GIVE_fp4 k, mode
RTCG_HOST_DEVICE __nv_fp4_storage_t __rtcg_to_fp4(float v, RTCG_TAKE_fp4) { return __rtcg_narrow(v, 1, 1, 7, 7, 7, 3, mode); }
RTCG_HOST_DEVICE __nv_fp4x2_storage_t __rtcg_to_fp4x2(float x, float y, RTCG_TAKE_fp4) { return __rtcg_to_fp4(x, k, mode) | __rtcg_to_fp4(y, k, mode) << 4; }
RTCG_HOST_DEVICE unsigned short __rtcg_fp4_to_half(unsigned int v, __nv_fp4_interpretation_t) { return __rtcg_rescale((v & 8) << 12 | (v & 7) << 9, 0x7400); }
RTCG_NARROW_FUNCTIONS(fp4, 4, 0xf)
#define RTCG_TO(v) __rtcg_fp4_to_half(v, __NV_E2M1)
RTCG_NARROW_TYPES(fp4, e2m1, half, __half, __half2, 4, 0xf, __rtcg_to_fp4, __rtcg_to_fp4x2, RTCG_TO, __NV_E2M1, cudaRoundNearest)
#undef RTCG_TO

}
