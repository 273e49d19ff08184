// Sums, products, quotients and roots with a rounding of choice, and the fast functions that devices have instructions for.
//
// Sources: CUDA Math API 13.0 (sections "Single Precision Intrinsics", "Double Precision Intrinsics"), PTX ISA 8.8.
// clang never fuses what is written with these.
#pragma once

extern "C++" {

#if __RTCG_FTZ
#define RTCG_SINGLE(name) __nvvm_##name##_ftz_f
#else
#define RTCG_SINGLE(name) __nvvm_##name##_f
#endif
#define RTCG_ROUNDED(r, ptx) \
    RTCG_DEVICE float __fadd_##r(float x, float y) { return RTCG_SINGLE(add_##ptx)(x, y); } \
    RTCG_DEVICE float __fsub_##r(float x, float y) { return RTCG_SINGLE(add_##ptx)(x, -y); } \
    RTCG_DEVICE float __fmul_##r(float x, float y) { return RTCG_SINGLE(mul_##ptx)(x, y); } \
    RTCG_DEVICE float __fmaf_##r(float x, float y, float z) { return RTCG_SINGLE(fma_##ptx)(x, y, z); } \
    RTCG_DEVICE float __fmaf_ieee_##r(float x, float y, float z) { return __nvvm_fma_##ptx##_f(x, y, z); } \
    RTCG_DEVICE float __fdiv_##r(float x, float y) { return RTCG_SINGLE(div_##ptx)(x, y); } \
    RTCG_DEVICE float __frcp_##r(float x) { return RTCG_SINGLE(rcp_##ptx)(x); } \
    RTCG_DEVICE float __fsqrt_##r(float x) { return RTCG_SINGLE(sqrt_##ptx)(x); } \
    RTCG_DEVICE double __dadd_##r(double x, double y) { return __nvvm_add_##ptx##_d(x, y); } \
    RTCG_DEVICE double __dsub_##r(double x, double y) { return __nvvm_add_##ptx##_d(x, -y); } \
    RTCG_DEVICE double __dmul_##r(double x, double y) { return __nvvm_mul_##ptx##_d(x, y); } \
    RTCG_DEVICE double __fma_##r(double x, double y, double z) { return __nvvm_fma_##ptx##_d(x, y, z); } \
    RTCG_DEVICE double __ddiv_##r(double x, double y) { return __nvvm_div_##ptx##_d(x, y); } \
    RTCG_DEVICE double __drcp_##r(double x) { return __nvvm_rcp_##ptx##_d(x); } \
    RTCG_DEVICE double __dsqrt_##r(double x) { return __nvvm_sqrt_##ptx##_d(x); }
RTCG_ROUNDED(rn, rn)
RTCG_ROUNDED(rz, rz)
RTCG_ROUNDED(rd, rm)
RTCG_ROUNDED(ru, rp)
#undef RTCG_ROUNDED

// One step of third order in double: its error is 2^-54, and no root of the 2^24 different ones lies within 2^-52.5 of the middle between
// two numbers (all tried, with 64-bit fractions), so the second rounding is right too.
RTCG_DEVICE float __frsqrt_rn(float x) {
    const float start = RTCG_SINGLE(rsqrt_approx)(x);
    const double y = start, rest = __nvvm_fma_rn_d(-(x * y), y, 1.0);
    const float root = (float)__nvvm_fma_rn_d(y * rest, __nvvm_fma_rn_d(rest, 0.375, 0.5), y);
    return x > 0 && x < __builtin_inff() ? root : start;
}
RTCG_DEVICE float __saturatef(float x) { return RTCG_SINGLE(saturate)(x); }

RTCG_DEVICE float __fdividef(float x, float y) { return RTCG_SINGLE(div_approx)(x, y); }
RTCG_DEVICE float __sinf(float x) { return RTCG_SINGLE(sin_approx)(x); }
RTCG_DEVICE float __cosf(float x) { return RTCG_SINGLE(cos_approx)(x); }
RTCG_DEVICE void __sincosf(float x, float *sine, float *cosine) {
    *sine = __sinf(x);
    *cosine = __cosf(x);
}
RTCG_DEVICE float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
RTCG_DEVICE float __exp2f(float x) { return RTCG_SINGLE(ex2_approx)(x); }
RTCG_DEVICE float __expf(float x) { return __exp2f(__fmul_rn(x, 1.44269504f)); }
RTCG_DEVICE float __exp10f(float x) { return __exp2f(__fmul_rn(x, 3.32192809f)); }
RTCG_DEVICE float __log2f(float x) { return RTCG_SINGLE(lg2_approx)(x); }
RTCG_DEVICE float __logf(float x) { return __fmul_rn(__log2f(x), 0.693147181f); }
RTCG_DEVICE float __log10f(float x) { return __fmul_rn(__log2f(x), 0.301029996f); }
RTCG_DEVICE float __powf(float x, float y) { return __exp2f(__fmul_rn(y, __log2f(x))); }
RTCG_DEVICE float __tanhf(float x) {
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
}
