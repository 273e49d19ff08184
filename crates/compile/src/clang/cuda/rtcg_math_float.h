// Mathematics of single precision, in the manner of rtcg_math_double.h: straight lines of fused multiply-adds and selections, so that lanes stay together, and
// branches only where an argument is rare (huge angles, tails of inverse functions). Everything is computed in single precision but a few rare cases and norms of
// arrays. What does not fit into one number is a sum of two ("hi" and "lo").
//
// Sources: CUDA C++ Programming Guide 13.0 ("Mathematical Functions": bounds), CUDA Math API (special values), C99 appendix F. Sums of two numbers: Dekker (1971).
// Reduction of angles: Cody and Waite (1980), Payne and Hanek (1983). erfc: Shepherd and Laframboise (1981). erfinv in terms of -log(1 - x^2): Giles (2010).
// Bessel functions: amplitude and phase (Abramowitz and Stegun 9.2), Miller's recurrence. Coefficients are our own: the best polynomials by Remez' exchange for
// values of 120 bits and more, rounded one by one from the lowest, the rest fitted anew each time.
#pragma once
#pragma float_control(push)
#pragma clang fp contract(off)
extern "C++" {

// Polynomials by Horner's rule: the first coefficient is that of x^0.
#define RTCG_FFMA(a, b, c) __builtin_fmaf(a, b, c)
#define RTCG_FP2(x, a, b) RTCG_FFMA(b, x, a)
#define RTCG_FP3(x, a, ...) RTCG_FFMA(RTCG_FP2(x, __VA_ARGS__), x, a)
#define RTCG_FP4(x, a, ...) RTCG_FFMA(RTCG_FP3(x, __VA_ARGS__), x, a)
#define RTCG_FP5(x, a, ...) RTCG_FFMA(RTCG_FP4(x, __VA_ARGS__), x, a)
#define RTCG_FP6(x, a, ...) RTCG_FFMA(RTCG_FP5(x, __VA_ARGS__), x, a)
#define RTCG_FP7(x, a, ...) RTCG_FFMA(RTCG_FP6(x, __VA_ARGS__), x, a)
#define RTCG_FP8(x, a, ...) RTCG_FFMA(RTCG_FP7(x, __VA_ARGS__), x, a)
#define RTCG_FP9(x, a, ...) RTCG_FFMA(RTCG_FP8(x, __VA_ARGS__), x, a)
#define RTCG_FP10(x, a, ...) RTCG_FFMA(RTCG_FP9(x, __VA_ARGS__), x, a)
#define RTCG_FP11(x, a, ...) RTCG_FFMA(RTCG_FP10(x, __VA_ARGS__), x, a)
#define RTCG_FP12(x, a, ...) RTCG_FFMA(RTCG_FP11(x, __VA_ARGS__), x, a)
#define RTCG_FP13(x, a, ...) RTCG_FFMA(RTCG_FP12(x, __VA_ARGS__), x, a)

#define RTCG_FINF __builtin_inff()
#define RTCG_FNAN __rtcg_freal(0x7fffffffu)

struct __rtcg_ff { float hi, lo; };
RTCG_DEVICE unsigned __rtcg_fbits(float x) { return __builtin_bit_cast(unsigned, x); }
RTCG_DEVICE float __rtcg_freal(unsigned u) { return __builtin_bit_cast(float, u); }
RTCG_DEVICE bool __rtcg_fnegative(float x) { return (int)__rtcg_fbits(x) < 0; }
RTCG_DEVICE float __rtcg_fflip(float x, unsigned sign) { return __rtcg_freal(__rtcg_fbits(x) ^ sign); }
RTCG_DEVICE bool __rtcg_fis_infinite(float x) { return __builtin_fabsf(x) == RTCG_FINF; }
// A number plus this has the nearest integer in its last bits.
#define RTCG_FROUNDER 0x1.8p23f
// p 2^n for t = RTCG_FROUNDER + n, rounded once: by two factors, where |n| < 190 and n is negative, or not above 63 (is_small), or not negative, or not below -63.
RTCG_DEVICE float __rtcg_fscaled(float p, float t, bool is_small) {
    return p * __rtcg_freal((__rtcg_fbits(t) << 23) + (is_small ? 0x5f800000u : 0x1f800000u)) * (is_small ? 0x1p-64f : 0x1p64f);
}
// Where |a| >= |b| or a = 0.
RTCG_DEVICE __rtcg_ff __rtcg_fquick(float a, float b) {
    const float s = a + b;
    return {s, b - (s - a)};
}
RTCG_DEVICE __rtcg_ff __rtcg_fsum(float a, float b) {
    const float s = a + b, v = s - a;
    return {s, (a - (s - v)) + (b - v)};
}
RTCG_DEVICE __rtcg_ff __rtcg_fproduct(float a, float b) {
    const float p = a * b;
    return {p, RTCG_FFMA(a, b, -p)};
}

// Exponential functions.
#define RTCG_FLOG2E 0x1.715476p0f
#define RTCG_FLN2 0x1.62e43p-1f
#define RTCG_FLN2_LO -0x1.05c61p-29f
// exp(r) for |r| of at most half of log 2.
RTCG_DEVICE float __rtcg_fexp_of(float r) { return RTCG_FP7(r, 1.0f, 1.0f, 0x1.fffffcp-2f, 0x1.55548cp-3f, 0x1.55585ap-5f, 0x1.123d6cp-7f, 0x1.6ab868p-10f); }
// exp(hi + lo) = m 2^n, m in [0.7, 1.42], with RTCG_FROUNDER + n in *t.
RTCG_DEVICE float __rtcg_fexp_mantissa(float hi, float lo, float *t) {
    *t = RTCG_FFMA(hi, RTCG_FLOG2E, RTCG_FROUNDER);
    const float n = *t - RTCG_FROUNDER;
    return __rtcg_fexp_of(RTCG_FFMA(n, -RTCG_FLN2, hi) + RTCG_FFMA(n, -RTCG_FLN2_LO, lo));
}
RTCG_DEVICE float __rtcg_fexp_mantissa(float x, float *t) {
    *t = RTCG_FFMA(x, RTCG_FLOG2E, RTCG_FROUNDER);
    const float n = *t - RTCG_FROUNDER;
    return __rtcg_fexp_of(RTCG_FFMA(n, -RTCG_FLN2_LO, RTCG_FFMA(n, -RTCG_FLN2, x)));
}
RTCG_DEVICE float exp(float x) {
    float t;
    const float m = __rtcg_fexp_mantissa(x, &t);
    float y = __rtcg_fscaled(m, t, x < 0);
    y = x > 89 ? RTCG_FINF : y;
    return x < -104 ? 0.0f : y;
}
RTCG_DEVICE float exp2(float x) {
    const float t = x + RTCG_FROUNDER, r = x - (t - RTCG_FROUNDER), p = RTCG_FP7(r, 1.0f, 0x1.62e432p-1f, 0x1.ebfbe6p-3f, 0x1.c6ada8p-5f, 0x1.3b21cap-7f,
        0x1.5fbcbp-10f, 0x1.4bdfeep-13f);
    float y = __rtcg_fscaled(p, t, x < 0);
    y = x >= 128 ? RTCG_FINF : y;
    return x < -150 ? 0.0f : y;
}
RTCG_DEVICE float exp10(float x) {
    const float t = RTCG_FFMA(x, 0x1.a934fp1f, RTCG_FROUNDER), n = t - RTCG_FROUNDER, r = RTCG_FFMA(n, 0x1.ec10cp-27f, RTCG_FFMA(n, -0x1.344136p-2f, x));
    const float p = RTCG_FP7(r, 1.0f, 0x1.26bb1cp1f, 0x1.53524ap1f, 0x1.046f98p1f, 0x1.2bd9b8p0f, 0x1.156d16p-1f, 0x1.a6a136p-3f);
    float y = __rtcg_fscaled(p, t, x < 0);
    y = x > 38.6f ? RTCG_FINF : y;
    return x < -45.5f ? 0.0f : y;
}
// (exp(x) - 1) / 2^by for -30 <= x < 88.5 + by log 2. The power of 2 is 1 up to log 1.5, so that no difference loses what the series has.
RTCG_DEVICE float __rtcg_fexpm1(float x, unsigned by, bool is_close) {
    const float t = RTCG_FFMA(x, RTCG_FLOG2E, -0.0849625f) + RTCG_FROUNDER, n = t - RTCG_FROUNDER, r_hi = RTCG_FFMA(n, -RTCG_FLN2, x);
    // The first difference is exact, and near 0 the rest is less than what the next one would lose.
    const float r_lo = RTCG_FFMA(n, -RTCG_FLN2_LO, r_hi), r = is_close && __builtin_fabsf(x) < 1.5f ? r_hi : r_lo;
    float p = RTCG_FFMA(r * r, RTCG_FP6(r, 0x1p-1f, 0x1.55555ap-3f, 0x1.55552ap-5f, 0x1.11062cp-7f, 0x1.6cdb86p-10f, 0x1.b73af8p-13f), r);
    const float s = __rtcg_freal((__rtcg_fbits(t) << 23) + ((127 - by) << 23)), one = __rtcg_freal((127 - by) << 23), c = s - one;
    // Powers beyond 2^24 lose the 1.
    if (is_close) p = RTCG_FFMA((s - c) - one, __rtcg_freal(0x7f000000u - __rtcg_fbits(s)), p);
    return RTCG_FFMA(s, p, c);
}
RTCG_DEVICE float expm1(float x) {
    float a = x > 89 ? 89.0f : x;
    a = a < -30 ? -30.0f : a;
    const float y = 2 * __rtcg_fexpm1(a, 1, true);
    return __builtin_fabsf(x) < 0x1p-24f ? x : y;
}
RTCG_DEVICE float sinh(float x) {
    const float a = __builtin_fabsf(x), q = __rtcg_fexpm1(a > 89.5f ? 89.5f : a, 2, false), y = 2 * (q + q / RTCG_FFMA(4.0f, q, 1.0f));
    return a < 0x1p-13f ? x : __builtin_copysignf(y, x);
}
RTCG_DEVICE float cosh(float x) {
    const float a = __builtin_fabsf(x);
    float t;
    const float m = __rtcg_fexp_mantissa(a > 90 ? 90.0f : a, &t), q = __rtcg_freal((__rtcg_fbits(t) << 23) + (125u << 23)) * m;
    return 2 * (q + 0.0625f / q);
}
RTCG_DEVICE float tanh(float x) {
    const float a = __builtin_fabsf(x), z = a * a, b = a > 10 ? 10.0f : a;
    const float near = RTCG_FFMA(a * z, RTCG_FP4(z, -0x1.555452p-2f, 0x1.10cefcp-3f, -0x1.af7d36p-5f, 0x1.0d5176p-6f), a);
    float t;
    const float m = __rtcg_fexp_mantissa(b + b, &t), e = RTCG_FFMA(m, __rtcg_freal((__rtcg_fbits(t) << 23) + 0x3f800000u), 1.0f);
    return __builtin_copysignf(a < 0.55f ? near : 1 - 2 / e, x);
}

// Logarithms. a = (1 + f) 2^e, and *e is 2^23 e: f in [-1/4, 1/2), or where `from` is the root of 1/2, in [-0.293, 0.415).
RTCG_DEVICE float __rtcg_fsplit(float a, unsigned from, float *e) {
    const bool is_small = a < 0x1p-126f;
    const unsigned b = __rtcg_fbits(is_small ? a * 0x1p24f : a), field = (b - from) & 0xff800000u;
    *e = (float)(int)(is_small ? field - (24u << 23) : field);
    return __rtcg_freal(b - field) - 1;
}
#define RTCG_FTHREE_QUARTERS 0x3f400000u
#define RTCG_FROOT_HALF 0x3f3504f4u
RTCG_DEVICE float __rtcg_flog_special(float a, float y) {
    y = a < RTCG_FINF ? y : a;
    y = a == 0 ? -RTCG_FINF : y;
    return a < 0 ? RTCG_FNAN : y;
}
// log(1 + f) for f in [-1/4, 1/2).
RTCG_DEVICE float __rtcg_flog_of(float f) { return RTCG_FFMA(f * f, RTCG_FP9(f, -0x1p-1f, 0x1.5555acp-2f, -0x1.000082p-2f, 0x1.996762p-3f, -0x1.54d83ap-3f,
    0x1.2871d6p-3f, -0x1.0e64a6p-3f, 0x1.b1365ep-4f, -0x1.78434ap-5f), f); }
// For finite a > 0.
RTCG_DEVICE float __rtcg_flog(float a) {
    float e;
    const float f = __rtcg_fsplit(a, RTCG_FTHREE_QUARTERS, &e);
    return RTCG_FFMA(e, RTCG_FLN2 * 0x1p-23f, __rtcg_flog_of(f));
}
RTCG_DEVICE float log(float a) { return __rtcg_flog_special(a, __rtcg_flog(a)); }
RTCG_DEVICE float log2(float a) {
    float e;
    const float f = __rtcg_fsplit(a, RTCG_FROOT_HALF, &e), q = RTCG_FP10(f, -0x1.715476p-1f, 0x1.ec708cp-2f, -0x1.7154acp-2f, 0x1.277e66p-2f,
        -0x1.ec71d6p-3f, 0x1.a42ab2p-3f, -0x1.6eeef8p-3f, 0x1.5f5aa2p-3f, -0x1.574cp-3f, 0x1.8af3e8p-4f);
    return __rtcg_flog_special(a, RTCG_FFMA(e, 0x1p-23f, RTCG_FFMA(f, RTCG_FLOG2E, RTCG_FFMA(f * f, q, f * 0x1.4ae0cp-26f))));
}
RTCG_DEVICE float log10(float a) {
    float e;
    const float f = __rtcg_fsplit(a, RTCG_FROOT_HALF, &e), q = RTCG_FP8(f, -0x1.bcb7acp-3f, 0x1.287be2p-3f, -0x1.bcc022p-4f, 0x1.631874p-4f, -0x1.26b726p-4f,
        0x1.095aep-4f, -0x1.fde06p-5f, 0x1.380502p-5f);
    return __rtcg_flog_special(a, RTCG_FFMA(e, 0x1.344136p-25f, RTCG_FFMA(f, 0x1.bcb7b2p-2f, RTCG_FFMA(f * f, q, RTCG_FFMA(e, -0x1.ec10cp-50f, f * -0x1.5b235ep-27f)))));
}
// log(1 + x) for finite x > -1. x is scaled like 1 + x, without rounding: those that round to 1.5 are not scaled.
RTCG_DEVICE float __rtcg_flog1p(float x) {
    const unsigned field = (__rtcg_fbits(1 + x) - (RTCG_FTHREE_QUARTERS + 1 - (__rtcg_fbits(x) >> 31))) & 0xff800000u;
    const float f = __rtcg_freal(__rtcg_fbits(x) - field) + RTCG_FFMA(__rtcg_freal(0x40800000u - field), 0.25f, -1.0f);
    return RTCG_FFMA((float)(int)field, RTCG_FLN2 * 0x1p-23f, __rtcg_flog_of(f));
}
RTCG_DEVICE float log1p(float x) {
    float y = __rtcg_flog1p(x);
    y = x < RTCG_FINF ? y : x;
    y = x == -1 ? -RTCG_FINF : y;
    y = x < -1 ? RTCG_FNAN : y;
    return __builtin_copysignf(y, x);
}
RTCG_DEVICE float asinh(float x) {
    const float a = __builtin_fabsf(x), v = a + a * a / (1 + __builtin_sqrtf(RTCG_FFMA(a, a, 1.0f)));
    const bool is_large = a > 0x1p30f;
    const float y = __rtcg_flog1p(is_large ? a : v) + (is_large ? RTCG_FLN2 : 0.0f);
    return __builtin_copysignf(a < RTCG_FINF ? y : a, x);
}
RTCG_DEVICE float acosh(float x) {
    const float a = x - 1, v = a + __builtin_sqrtf(RTCG_FFMA(a, a, a + a));
    const bool is_large = a > 0x1p30f;
    const float y = __rtcg_flog1p(is_large ? a : v) + (is_large ? RTCG_FLN2 : 0.0f), z = x < RTCG_FINF ? y : x;
    return x < 1 ? RTCG_FNAN : z;
}
RTCG_DEVICE float atanh(float x) {
    const float a = __builtin_fabsf(x), y = 0.5f * __rtcg_flog1p((a + a) / (1 - a)), z = a < 1 ? y : a == 1 ? RTCG_FINF : RTCG_FNAN;
    return __builtin_copysignf(z, x);
}

// log(a) to 2^-31 for finite a > 0: 2 atanh(s) for s = f / (2 + f).
RTCG_DEVICE __rtcg_ff __rtcg_flog_close(float a) {
    float e;
    const float f = __rtcg_fsplit(a, RTCG_FROOT_HALF, &e), d = 2 + f, d_lo = f - (d - 2), r = 1 / d, s = f * r, rest = RTCG_FFMA(-s, d_lo, RTCG_FFMA(-s, d, f)) * r;
    const float z = s * s, c = s * z * RTCG_FP4(z, 0x1.555554p-1f, 0x1.999c26p-2f, 0x1.23d3e6p-2f, 0x1.f13abp-3f);
    // A first part of log 2 that is exact in products, and the rest.
    const __rtcg_ff w = __rtcg_fquick(e * 0x1.62e4p-24f, s + s);
    return __rtcg_fquick(w.hi, w.lo + RTCG_FFMA(e, 0x1.7f7d1cp-43f, RTCG_FFMA(RTCG_FFMA(2.0f, z, 2.0f), rest, c)));
}
// The special cases of C99, for a that is not positive and finite, or an infinite b.
RTCG_DEVICE float __rtcg_fpow_special(float a, float b, float y, bool is_odd, bool is_whole) {
    const float x = __builtin_fabsf(a), far = (b < 0) == (x > 1) ? 0.0f : RTCG_FINF;
    y = x > 0 && x < RTCG_FINF && __builtin_fabsf(b) < RTCG_FINF ? (a < 0 && !is_whole ? RTCG_FNAN : y) : x == 1 ? 1.0f : far;
    y = is_odd ? __builtin_copysignf(y, a) : y;
    return a != a || b != b ? a + b : y;
}
RTCG_DEVICE float pow(float a, float b) {
    const float x = __builtin_fabsf(a);
    const __rtcg_ff l = __rtcg_flog_close(x), p = __rtcg_fproduct(b, l.hi);
    float t;
    const float m = __rtcg_fexp_mantissa(p.hi, RTCG_FFMA(b, l.lo, p.lo), &t);
    float y = __rtcg_fscaled(m, t, p.hi < 0);
    y = p.hi > 90 ? RTCG_FINF : y;
    y = p.hi < -105 ? 0.0f : y;
    if (!(a > 0 && a < RTCG_FINF && __builtin_fabsf(b) < RTCG_FINF)) {
        // Where b is no integer it is less than 2^23.
        const float halved = 0.5f * b;
        const bool is_whole = __builtin_rintf(b) == b;
        y = __rtcg_fpow_special(a, b, y, is_whole && __builtin_rintf(halved) != halved, is_whole);
    }
    return a == 1 || b == 0 ? 1.0f : y;
}

// Roots. a^(-1/3) to 2^-16 for a normal a > 0; the first guess is linear in the bits of a.
RTCG_DEVICE float __rtcg_fcube_root_inverse(float a) {
    const float g = __rtcg_freal(__rtcg_fbits(RTCG_FFMA((float)(int)__rtcg_fbits(a), -0x1.555556p-10f, 0x1.a9430cp23f)) << 8), h = RTCG_FFMA(-(a * g), g * g, 1.0f);
    return RTCG_FFMA(g * h, RTCG_FP3(h, 0x1.555556p-2f, 0x1.c71c72p-3f, 0x1.61f9aep-3f), g);
}
RTCG_DEVICE float cbrt(float x) {
    const float a = __builtin_fabsf(x);
    const bool is_small = a < 0x1p-80f;
    const float b = is_small ? a * 0x1p48f : a, g = __rtcg_fcube_root_inverse(b), gg = g * g, y = b * gg, s = y * y;
    const float rest = RTCG_FFMA(-s, y, b) - RTCG_FFMA(y, y, -s) * y, z = RTCG_FFMA(rest, gg * 0x1.555556p-2f, y), r = is_small ? z * 0x1p-16f : z;
    return __builtin_copysignf(a < RTCG_FINF ? r : a, x);
}
RTCG_DEVICE float rcbrt(float x) {
    const float a = __builtin_fabsf(x);
    const bool is_small = a < 0x1p-80f;
    const float b = is_small ? a * 0x1p48f : a, g = __rtcg_fcube_root_inverse(b), gg = g * g, u = b * g;
    const float rest = RTCG_FFMA(-u, gg, 1.0f) - RTCG_FFMA(u, RTCG_FFMA(g, g, -gg), RTCG_FFMA(b, g, -u) * gg), z = RTCG_FFMA(g * 0x1.555556p-2f, rest, g);
    float r = is_small ? z * 0x1p16f : z;
    r = a == 0 ? RTCG_FINF : r;
    r = a == RTCG_FINF ? 0.0f : r;
    return __builtin_copysignf(r, x);
}
RTCG_DEVICE float sqrt(float x) { return __builtin_sqrtf(x); }
#if __RTCG_FTZ
RTCG_DEVICE float rsqrt(float x) { return __nvvm_rsqrt_approx_ftz_f(x); }
#else
RTCG_DEVICE float rsqrt(float x) { return __nvvm_rsqrt_approx_f(x); }
#endif
// Squares out of range: in double precision.
RTCG_RARE float __rtcg_flength_far(float x, float y, float z, float w, bool is_inverse) {
    if (__rtcg_fis_infinite(x) || __rtcg_fis_infinite(y) || __rtcg_fis_infinite(z) || __rtcg_fis_infinite(w)) return is_inverse ? 0.0f : RTCG_FINF;
    const double r = __builtin_sqrt((double)x * x + (double)y * y + ((double)z * z + (double)w * w));
    return (float)(is_inverse ? 1 / r : r);
}
RTCG_DEVICE float __rtcg_flength(float s, float x, float y, float z, float w) {
    float r = __builtin_sqrtf(s);
    if (!(s > 0x1p-90f && s < 0x1p126f)) r = __rtcg_flength_far(x, y, z, w, false);
    return r;
}
RTCG_DEVICE float __rtcg_flength_inverse(float s, float lo, float x, float y, float z, float w) {
    // What the root and products lost is given back.
    const float root = __builtin_sqrtf(s), v = 1 / root;
    float r = RTCG_FFMA((RTCG_FFMA(-root, root, s) + lo) * (-0.5f * v * v), v, v);
    if (!(s > 0x1p-90f && s < 0x1p126f)) r = __rtcg_flength_far(x, y, z, w, true);
    return r;
}
#define RTCG_FSUM2(x, y) RTCG_FFMA(x, x, y * y)
#define RTCG_FSUM3(x, y, z) RTCG_FFMA(x, x, RTCG_FSUM2(y, z))
#define RTCG_FLOST(x) RTCG_FFMA(x, x, -(x * x))
RTCG_DEVICE float hypot(float x, float y) { return __rtcg_flength(RTCG_FSUM2(x, y), x, y, 0, 0); }
RTCG_DEVICE float rhypot(float x, float y) { return __rtcg_flength_inverse(RTCG_FSUM2(x, y), RTCG_FLOST(y), x, y, 0, 0); }
RTCG_DEVICE float norm3df(float x, float y, float z) { return __rtcg_flength(RTCG_FSUM3(x, y, z), x, y, z, 0); }
RTCG_DEVICE float rnorm3df(float x, float y, float z) { return __rtcg_flength_inverse(RTCG_FSUM3(x, y, z), RTCG_FLOST(z), x, y, z, 0); }
RTCG_DEVICE float norm4df(float x, float y, float z, float w) { return __rtcg_flength(RTCG_FSUM2(x, y) + RTCG_FSUM2(z, w), x, y, z, w); }
RTCG_DEVICE float rnorm4df(float x, float y, float z, float w) {
    return __rtcg_flength_inverse(RTCG_FSUM2(x, y) + RTCG_FSUM2(z, w), RTCG_FLOST(y) + RTCG_FLOST(w), x, y, z, w);
}
#undef RTCG_FSUM2
#undef RTCG_FSUM3
#undef RTCG_FLOST
RTCG_DEVICE float __rtcg_flength_of(int n, const float *a, bool is_inverse) {
    double sum = 0;
    bool is_infinite = false;
    for (int i = 0; i < n; i++) {
        sum = __builtin_fma((double)a[i], (double)a[i], sum);
        is_infinite |= __rtcg_fis_infinite(a[i]);
    }
    const double r = __builtin_sqrt(is_infinite ? __builtin_inf() : sum);
    return (float)(is_inverse ? 1 / r : r);
}
RTCG_DEVICE float norm(int n, const float *a) { return __rtcg_flength_of(n, a, false); }
RTCG_DEVICE float rnorm(int n, const float *a) { return __rtcg_flength_of(n, a, true); }

// Angles.
#define RTCG_FPI 0x1.921fb6p1f
#define RTCG_FPI_LO -0x1.777a5cp-24f
#define RTCG_FPI_LAST -0x1.ee59dap-49f
#define RTCG_FFAR_ANGLE 0x1p17f
// sin(r) and cos(r) for |r| of at most pi/4, z = r^2.
RTCG_DEVICE float __rtcg_fsin_near(float r, float z) { return RTCG_FFMA(r * z, RTCG_FP3(z, -0x1.555546p-3f, 0x1.110778p-7f, -0x1.9953fp-13f), r); }
RTCG_DEVICE float __rtcg_fcos_near(float z) { return RTCG_FP5(z, 1.0f, -0x1p-1f, 0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e80cp-16f); }
RTCG_TABLE unsigned __rtcg_ftwo_over_pi[9] = {0, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
    0xdebbc561u};
// x = k pi/2 + r with |r| <= pi/4, for a huge x; the last bits of k. Of 2/pi only those bits count that make less than 4 turns of the product.
RTCG_DEVICE float __rtcg_freduce_far(float x, unsigned *k) {
    const unsigned bits = __rtcg_fbits(x), first = ((bits >> 23) & 0xff) - 120, word = first >> 5, shift = first & 31;
    const unsigned long m = (bits & 0x7fffffu) | 0x800000u;
    const unsigned long w01 = (unsigned long)__rtcg_ftwo_over_pi[word] << 32 | __rtcg_ftwo_over_pi[word + 1];
    const unsigned long w23 = (unsigned long)__rtcg_ftwo_over_pi[word + 2] << 32 | __rtcg_ftwo_over_pi[word + 3];
    const unsigned long high = w01 << shift | w23 >> 1 >> (63 - shift), low = w23 << shift, p = m * high + (m * (low >> 32) >> 32);
    const long rest = (long)(p << 2);
    const unsigned quadrant = (unsigned)(p >> 62) + (rest < 0);
    const float r = (float)((double)rest * (0x1.921fb54442d18p0 * 0x1p-64));
    *k = __rtcg_fnegative(x) ? 0 - quadrant : quadrant;
    return __rtcg_fnegative(x) ? -r : r;
}
// sin(x + shift pi/2), for those.
RTCG_RARE float __rtcg_fsin_far(float x, unsigned shift) {
    if (!(__builtin_fabsf(x) < RTCG_FINF)) return RTCG_FNAN;
    unsigned k;
    const float r = __rtcg_freduce_far(x, &k), z = r * r;
    k += shift;
    return __rtcg_fflip(k & 1 ? __rtcg_fcos_near(z) : __rtcg_fsin_near(r, z), (k & 2) << 30);
}
// x - n pi/2.
RTCG_DEVICE float __rtcg_freduce(float x, float *t) {
    *t = RTCG_FFMA(x, 0x1.45f306p-1f, RTCG_FROUNDER);
    const float n = *t - RTCG_FROUNDER;
    return RTCG_FFMA(n, -0.5f * RTCG_FPI_LAST, RTCG_FFMA(n, -0.5f * RTCG_FPI_LO, RTCG_FFMA(n, -0.5f * RTCG_FPI, x)));
}
// sin(r + k pi/2).
RTCG_DEVICE float __rtcg_fsin_turned(float r, unsigned k) {
    const float z = r * r, a = __rtcg_fsin_near(r, z), b = __rtcg_fcos_near(z);
    return __rtcg_fflip(k & 1 ? b : a, (k & 2) << 30);
}
RTCG_DEVICE float sin(float x) {
    float t;
    const float r = __rtcg_freduce(x, &t);
    float y = __rtcg_fsin_turned(r, __rtcg_fbits(t));
    if (!(__builtin_fabsf(x) < RTCG_FFAR_ANGLE)) y = __rtcg_fsin_far(x, 0);
    return x == 0 ? x : y;
}
RTCG_DEVICE float cos(float x) {
    float t;
    const float r = __rtcg_freduce(x, &t);
    float y = __rtcg_fsin_turned(r, __rtcg_fbits(t) + 1);
    if (!(__builtin_fabsf(x) < RTCG_FFAR_ANGLE)) y = __rtcg_fsin_far(x, 1);
    return y;
}
RTCG_DEVICE void sincos(float x, float *sine, float *cosine) {
    float t;
    const float r = __rtcg_freduce(x, &t), z = r * r, a = __rtcg_fsin_near(r, z), b = __rtcg_fcos_near(z);
    const unsigned k = __rtcg_fbits(t);
    float s = __rtcg_fflip(k & 1 ? b : a, (k & 2) << 30), c = __rtcg_fflip(k & 1 ? a : b, ((k + 1) & 2) << 30);
    if (!(__builtin_fabsf(x) < RTCG_FFAR_ANGLE)) { s = __rtcg_fsin_far(x, 0); c = __rtcg_fsin_far(x, 1); }
    *sine = x == 0 ? x : s;
    *cosine = c;
}
RTCG_DEVICE float tan(float x) {
    float t;
    const float r = __rtcg_freduce(x, &t), z = r * r;
    const float p = RTCG_FFMA(r * z, RTCG_FP6(z, 0x1.5554dep-2f, 0x1.112deap-3f, 0x1.b5851ep-5f, 0x1.9072ap-6f, 0x1.968474p-9f, 0x1.33e7cap-7f), r);
    float y = __rtcg_fbits(t) & 1 ? -1 / p : p;
    if (!(__builtin_fabsf(x) < RTCG_FFAR_ANGLE)) y = __rtcg_fsin_far(x, 0) / __rtcg_fsin_far(x, 1);
    return x == 0 ? x : y;
}
// x - n/2, less whole turns: all exact.
RTCG_DEVICE float __rtcg_freduce_pi(float x, float *t) {
    const float y = RTCG_FFMA(-2.0f, __builtin_rintf(0.5f * x), x);
    *t = RTCG_FFMA(y, 2.0f, RTCG_FROUNDER);
    return RTCG_FFMA(*t - RTCG_FROUNDER, -0.5f, y);
}
// sin(pi r) and cos(pi r) for |r| <= 1/4, z = r^2.
RTCG_DEVICE float __rtcg_fsinpi_near(float r, float z) {
    // Scaled, so that no part of a small number is subnormal.
    const float s = r * 0x1p32f;
    return 0x1p-32f * RTCG_FFMA(s, RTCG_FPI, s * RTCG_FP4(z, -0x1.a32ab4p-24f, -0x1.4abbbap2f, 0x1.465eeap1f, -0x1.2da156p-1f));
}
RTCG_DEVICE float __rtcg_fcospi_near(float z) { return RTCG_FP5(z, 1.0f, -0x1.3bd3ccp2f, 0x1.03c1bp2f, -0x1.55b2b6p0f, 0x1.d4f7eep-3f); }
RTCG_DEVICE float sinpi(float x) {
    float t;
    const float r = __rtcg_freduce_pi(x, &t), z = r * r, a = __rtcg_fsinpi_near(r, z), b = __rtcg_fcospi_near(z);
    const unsigned k = __rtcg_fbits(t);
    const float y = __rtcg_fflip(k & 1 ? b : a, (k & 2) << 30);
    return y == 0 ? __builtin_copysignf(0.0f, x) : y;
}
RTCG_DEVICE float cospi(float x) {
    float t;
    const float r = __rtcg_freduce_pi(x, &t), z = r * r, a = __rtcg_fsinpi_near(r, z), b = __rtcg_fcospi_near(z);
    const unsigned k = __rtcg_fbits(t) + 1;
    return __rtcg_fflip(k & 1 ? b : a, (k & 2) << 30) + 0.0f;
}
RTCG_DEVICE void sincospi(float x, float *sine, float *cosine) {
    float t;
    const float r = __rtcg_freduce_pi(x, &t), z = r * r, a = __rtcg_fsinpi_near(r, z), b = __rtcg_fcospi_near(z);
    const unsigned k = __rtcg_fbits(t);
    const float y = __rtcg_fflip(k & 1 ? b : a, (k & 2) << 30);
    *sine = y == 0 ? __builtin_copysignf(0.0f, x) : y;
    *cosine = __rtcg_fflip(k & 1 ? a : b, ((k + 1) & 2) << 30) + 0.0f;
}

// atan(q) for 0 <= q <= 1.
RTCG_DEVICE float __rtcg_fatan_of(float q) {
    const float z = q * q;
    return RTCG_FFMA(q * z, RTCG_FP8(z, -0x1.5554dcp-2f, 0x1.9978ecp-3f, -0x1.230a94p-3f, 0x1.b4debp-4f, -0x1.3550dap-4f, 0x1.61eebp-5f, -0x1.0c17d4p-6f,
        0x1.7ea694p-9f), q);
}
#define RTCG_FPIO2 0x1.921fb6p0f
#define RTCG_FPIO2_LO -0x1.777a5cp-25f
RTCG_DEVICE float atan(float x) {
    const float a = __builtin_fabsf(x);
    const bool is_large = a > 1;
    const float r = __rtcg_fatan_of(is_large ? 1 / a : a);
    return __builtin_copysignf(is_large ? RTCG_FPIO2 - (r - RTCG_FPIO2_LO) : r, x);
}
RTCG_DEVICE float atan2(float y, float x) {
    const float a = __builtin_fabsf(y), b = __builtin_fabsf(x);
    const bool is_steep = a > b;
    float q = (is_steep ? b : a) / (is_steep ? a : b);
    q = a == b ? (a == 0 ? 0.0f : 1.0f) : q;
    float r = __rtcg_fatan_of(q);
    r = is_steep ? RTCG_FPIO2 - (r - RTCG_FPIO2_LO) : r;
    r = __rtcg_fnegative(x) ? 2 * RTCG_FPIO2 - (r - 2 * RTCG_FPIO2_LO) : r;
    return __builtin_copysignf(r, y);
}
// asin(t) for |t| < 0.57, z = t^2. Up to there, so that twice the asin of a root is less than 1 where it is subtracted.
#define RTCG_FASIN_FAR 0x1.2p-1f
RTCG_DEVICE float __rtcg_fasin_of(float t, float z) { return RTCG_FFMA(t * z, RTCG_FP6(z, 0x1.555526p-3f, 0x1.334932p-4f, 0x1.6a59a6p-5f, 0x1.169d96p-5f,
    0x1.b9e6b2p-8f, 0x1.84fc14p-5f), t); }
RTCG_DEVICE float asin(float x) {
    const float a = __builtin_fabsf(x);
    const bool is_large = a > RTCG_FASIN_FAR;
    const float z = is_large ? RTCG_FFMA(-0.5f, a, 0.5f) : a * a, r = __rtcg_fasin_of(is_large ? __builtin_sqrtf(z) : a, z);
    return __builtin_copysignf(is_large ? RTCG_FPIO2 - RTCG_FFMA(2.0f, r, -RTCG_FPIO2_LO) : r, x);
}
RTCG_DEVICE float acos(float x) {
    const float a = __builtin_fabsf(x);
    const bool is_large = a > RTCG_FASIN_FAR;
    const float z = is_large ? RTCG_FFMA(-0.5f, a, 0.5f) : a * a, r = __rtcg_fasin_of(is_large ? __builtin_sqrtf(z) : x, z);
    const float far = x > 0 ? 2 * r : 2 * RTCG_FPIO2 - RTCG_FFMA(2.0f, r, -2 * RTCG_FPIO2_LO);
    return is_large ? far : RTCG_FPIO2 - (r - RTCG_FPIO2_LO);
}

// Error functions. erf(a) for small a.
RTCG_DEVICE float __rtcg_ferf_near(float a) {
    const float z = a * a;
    return RTCG_FFMA(a, RTCG_FP5(z, 0x1.06eba6p-3f, -0x1.8126c4p-2f, 0x1.ce06a8p-4f, -0x1.b3be04p-6f, 0x1.22b45ap-8f), a);
}
RTCG_DEVICE float erf(float x) {
    const float a = __builtin_fabsf(x), b = a > 3.93f ? 3.93f : a;
    // 1 - 2^-q.
    const float q = RTCG_FP8(b, -0x1.bd0084p-14f, 0x1.a0f5fcp0f, 0x1.d4c036p-1f, 0x1.3b5fa6p-3f, -0x1.1bbb56p-5f, 0x1.5e15ep-8f, -0x1.f0232p-12f,
        0x1.0aa5aep-16f);
    const float t = RTCG_FROUNDER - q, r = (RTCG_FROUNDER - t) - q, p = RTCG_FP7(r, 1.0f, 0x1.62e432p-1f, 0x1.ebfbe6p-3f, 0x1.c6ada8p-5f, 0x1.3b21cap-7f,
        0x1.5fbcbp-10f, 0x1.4bdfeep-13f);
    const float y = RTCG_FFMA(-p, __rtcg_freal((__rtcg_fbits(t) << 23) + 0x3f800000u), 1.0f);
    return __builtin_copysignf(a < 0.6f ? __rtcg_ferf_near(a) : y, x);
}
// (1 + 2 a) exp(a^2) erfc(a) is a polynomial of t = (a - 2) / (a + 2).
RTCG_DEVICE float __rtcg_ferfcx_of(float t) { return RTCG_FP13(t, 0x1.46e80ep0f, -0x1.7bf5dp-4f, -0x1.54076ep-3f, 0x1.4ff8b2p-3f, -0x1.bc3ad8p-5f,
    -0x1.06983cp-7f, 0x1.1ee26p-7f, 0x1.3be8a2p-10f, -0x1.8f5bep-10f, -0x1.6a0db2p-12f, 0x1.20307p-12f, 0x1.ec30d6p-15f, -0x1.3ff858p-15f); }
RTCG_DEVICE float erfc(float x) {
    const float a = __builtin_fabsf(x);
    const __rtcg_ff square = __rtcg_fproduct(a, a);
    float t;
    const float m = __rtcg_fexp_mantissa(-square.hi, -square.lo, &t);
    float y = __rtcg_fscaled(m * (__rtcg_ferfcx_of((a - 2) / (a + 2)) / RTCG_FFMA(2.0f, a, 1.0f)), t, true);
    y = a > 10.2f ? 0.0f : y;
    y = x < 0 ? 2 - y : y;
    return a < 0.5f ? 1 - __rtcg_ferf_near(x) : y;
}
RTCG_DEVICE float erfcx(float x) {
    const float a = __builtin_fabsf(x), b = a > 0x1p30f ? 0x1p30f : a, p = 0.5f * __rtcg_ferfcx_of((b - 2) / (b + 2)) / (a + 0.5f);
    const __rtcg_ff square = __rtcg_fproduct(a, a);
    float t;
    const float m = __rtcg_fexp_mantissa(square.hi, square.lo, &t), q = __rtcg_fscaled(m + m, t, false) - p, far = x < -9.5f ? RTCG_FINF : q;
    return x < 0 ? far : p;
}
RTCG_DEVICE float normcdf(float x) {
    const float a = __builtin_fabsf(x);
    const __rtcg_ff square = __rtcg_fproduct(0.5f * a, a);
    float t;
    const float m = __rtcg_fexp_mantissa(-square.hi, -square.lo, &t);
    float y = __rtcg_fscaled(m * (0.5f * __rtcg_ferfcx_of((a - 0x1.6a09e6p1f) / (a + 0x1.6a09e6p1f)) / RTCG_FFMA(0x1.6a09e6p0f, a, 1.0f)), t, true);
    y = a > 14.5f ? 0.0f : y;
    y = x > 0 ? 1 - y : y;
    return a < 0.7f ? RTCG_FFMA(x, RTCG_FP5(x * x, 0x1.988454p-2f, -0x1.10587ap-4f, 0x1.46dadep-7f, -0x1.37752ap-10f, 0x1.ca2928p-14f), 0.5f) : y;
}
// erfinv(x) / x - 1 for w = -log(1 - x^2) < 5.
RTCG_DEVICE float __rtcg_ferfinv_of(float w) { return RTCG_FP10(w, -0x1.d203bp-4f, 0x1.db297ap-3f, 0x1.7aa228p-7f, -0x1.33bdb8p-9f, -0x1.da1124p-14f,
    0x1.2de71p-15f, 0x1.d2c5ecp-18f, -0x1.5989ep-19f, 0x1.32ca1ep-22f, -0x1.9203e2p-27f); }
#define RTCG_FEXP_M5 0x1.b993fep-8f
// erfcinv(y) / s for v = 1 / s, s^2 = -log(y (2 - y)), s from 2.23 to 4.3.
RTCG_DEVICE float __rtcg_ferfcinv_near(float v) { return RTCG_FP8(v, 0x1.ff87dap-1f, -0x1.977ce8p-16f, -0x1.76ba5ep0f, 0x1.746356p2f, -0x1.e1c714p3f,
    0x1.af364ap4f, -0x1.be617p4f, 0x1.856efep3f); }
// erfcinv(y) for small y, where u = y (2 - y).
RTCG_DEVICE float __rtcg_ferfcinv_tail(float u) {
    const float s = __builtin_sqrtf(-__rtcg_flog(u)), v = 1 / s;
    const float far = RTCG_FP7(v, 0x1.001a84p0f, -0x1.01ca78p-5f, -0x1.268082p0f, 0x1.06fde4p2f, -0x1.2cb79cp3f, 0x1.dc291p3f, -0x1.64af78p3f);
    return u == 0 ? RTCG_FINF : u > 0 ? s * (s < 4.2f ? __rtcg_ferfcinv_near(v) : far) : RTCG_FNAN;
}
// For 0 <= u < exp(-5), w = -log(u).
RTCG_DEVICE float __rtcg_ferfinv_tail(float u, float w) {
    const float s = __builtin_sqrtf(w), y = s * __rtcg_ferfcinv_near(1 / s);
    return u > 0 ? y : u == 0 ? RTCG_FINF : RTCG_FNAN;
}
RTCG_DEVICE float erfinv(float x) {
    const float u = RTCG_FFMA(-x, x, 1.0f), w = -__rtcg_flog(u);
    float y = RTCG_FFMA(x, __rtcg_ferfinv_of(w), x);
    if (!(u > RTCG_FEXP_M5)) y = __rtcg_ferfinv_tail(u, w);
    return __builtin_copysignf(y, x);
}
RTCG_RARE float __rtcg_ferfcinv_far(float y) {
    const float s = y > 1 ? 2 - y : y, r = __rtcg_ferfcinv_tail(s * (2 - s));
    return y > 1 ? -r : r;
}
RTCG_DEVICE float erfcinv(float y) {
    const float u = y * (2 - y), d = 1 - y;
    float r = RTCG_FFMA(d, __rtcg_ferfinv_of(-__rtcg_flog(u)), d);
    if (!(u > RTCG_FEXP_M5)) r = __rtcg_ferfcinv_far(y);
    return r;
}
RTCG_RARE float __rtcg_fnormcdfinv_far(float p) {
    const float s = p > 0.5f ? 2 * (1 - p) : 2 * p, r = 0x1.6a09e6p0f * __rtcg_ferfcinv_tail(s * (2 - s));
    return p > 0.5f ? r : -r;
}
RTCG_DEVICE float normcdfinv(float p) {
    const float u = 4 * p * (1 - p), d = 0x1.6a09e6p0f * RTCG_FFMA(2.0f, p, -1.0f);
    float r = RTCG_FFMA(d, __rtcg_ferfinv_of(-__rtcg_flog(u)), d);
    if (!(u > RTCG_FEXP_M5)) r = __rtcg_fnormcdfinv_far(p);
    return r;
}

// Gamma functions. log(pi / |a sin(pi a)|) - y, for y = lgamma(a).
RTCG_DEVICE float __rtcg_flgamma_reflected(float a, float y) {
    const float s = __builtin_fabsf(sinpi(a)), r = __rtcg_flog(RTCG_FPI / (a * s)) - y, z = s == 0 || a == RTCG_FINF ? RTCG_FINF : r;
    return a < 0x1p-20f ? y : z;
}
RTCG_DEVICE float lgamma(float x) {
    const float a = __builtin_fabsf(x);
    float e;
    const float h = __rtcg_flog_of(__rtcg_fsplit(a, RTCG_FTHREE_QUARTERS, &e)), l = RTCG_FFMA(e, RTCG_FLN2 * 0x1p-23f, h), l_lo = RTCG_FFMA(e, RTCG_FLN2 * 0x1p-23f, -l) + h;
    // lgamma(1 + f) / (f (f - 1)) to 3, Stirling's series from there.
    const bool is_below = a < 1;
    const float f = is_below ? a : a - 1, g = f - 1, p = f * g * RTCG_FP12(g, 0x1.b0ee6p-2f, -0x1.9ae64ap-4f, 0x1.0e0dd4p-5f, -0x1.95d448p-7f, 0x1.472508p-8f,
        -0x1.138cb4p-9f, 0x1.eec218p-11f, -0x1.bdcfep-12f, 0x1.1341dcp-13f, -0x1.bac3b2p-15f, 0x1.46f26ep-14f, -0x1.43ecbp-15f);
    const float v = 1 / a, z = v * v, b = a - 0.5f;
    const float q = RTCG_FFMA(b, l - 1, RTCG_FFMA(b, l_lo, RTCG_FFMA(v, RTCG_FP3(z, 0x1.555528p-4f, -0x1.6b0fa4p-9f, 0x1.641e9cp-11f), 0x1.acfe3ap-2f)));
    float y = a < 3 ? p + (is_below ? -l : 0.0f) : q;
    y = a == 0 || a == RTCG_FINF ? RTCG_FINF : y;
    if (x < 0) y = __rtcg_flgamma_reflected(a, y);
    return y;
}
// By Stirling's series for b = a or, where a < 4, for a + 4 and a product. Of a negative number it is the inverse times pi / (a sin(pi x)).
RTCG_DEVICE float tgamma(float x) {
    const float a = __builtin_fabsf(x), c = a > 44 ? 44.0f : a;
    const bool is_small = c < 4, is_negative = x < 0;
    const __rtcg_ff b = __rtcg_fquick(is_small ? 4.0f : c, is_small ? c : 0.0f);
    const __rtcg_ff l = __rtcg_flog_close(b.hi), p = __rtcg_fproduct(b.hi - 0.5f, l.hi), e = __rtcg_fquick(p.hi, -b.hi);
    const float v = 1 / b.hi, z = v * v, rest = RTCG_FFMA(v, RTCG_FP3(z, 0x1.555528p-4f, -0x1.6b0fa4p-9f, 0x1.641e9cp-11f), b.lo * RTCG_FFMA(-0.5f, v, l.hi));
    const float lo = e.lo + (p.lo + RTCG_FFMA(b.hi - 0.5f, l.lo, rest));
    float t;
    const float m = __rtcg_fexp_mantissa(is_negative ? -e.hi : e.hi, is_negative ? -lo : lo, &t);
    // The few factors in double precision: u (a + 3) a = a (a + 1) (a + 2) (a + 3), where the last a is cancelled for negative numbers.
    const double d = c, u = is_small ? __builtin_fma(d, d, 3 * d) + 2 : 1.0, k = is_small ? d + 3 : 1.0;
    const double above = is_negative ? m * (0x1.40d931ff62706p-8 * (u * k)) : m * 0x1.40d931ff62706p1, below = is_negative ? (is_small ? 1.0 : d) * sinpi(x)
        : is_small ? u * (k * d) : 1.0;
    const float y = (float)(above / below);
    float r = __rtcg_fscaled(y, is_negative ? t + 8 : t, x < -4);
    r = a == 0 ? __builtin_copysignf(RTCG_FINF, x) : r;
    r = x > 36 ? RTCG_FINF : r;
    r = x < -43 ? __builtin_copysignf(0.0f, y) : r;
    r = is_negative && __builtin_rintf(x) == x ? RTCG_FNAN : r;
    return x != x ? x : r;
}

// Bessel functions: polynomials around zeros, each given by two numbers; amplitudes and phases from 8 on.
#define RTCG_FFROM(x, zero, lo) (((x) - zero) - (lo))
// sin(x + shift pi) for shift of 1/4, -1/4 or -3/4 and a huge x; 0 at infinity.
RTCG_RARE float __rtcg_fwave_far(float x, float shift) {
    const float s = __rtcg_fsin_far(x, 0), c = __rtcg_fsin_far(x, 1);
    return x == RTCG_FINF ? 0.0f : 0x1.6a09e6p-1f * ((shift < -0.5f ? -s : s) + (shift < 0 ? -c : c));
}
// sqrt(2 / (pi x)) amplitude sin(x + shift pi + phase).
RTCG_DEVICE float __rtcg_fwave(float x, float shift, float amplitude, float phase) {
    // The nearest multiple of pi/2, with that shift.
    const float t = RTCG_FFMA(x, 0x1.45f306p-1f, 2 * shift) + RTCG_FROUNDER, n = t - RTCG_FROUNDER;
    const float r = RTCG_FFMA(n, -0.5f * RTCG_FPI_LO, RTCG_FFMA(n, -0.5f * RTCG_FPI, x));
    float y = __rtcg_fsin_turned(RTCG_FFMA(shift, RTCG_FPI, r) + phase, __rtcg_fbits(t));
    if (!(x < RTCG_FFAR_ANGLE)) y = __rtcg_fwave_far(x, shift);
    return 0x1.988454p-1f / __builtin_sqrtf(x) * amplitude * y;
}
// Of order 0 and 1, for x >= 8; `shift` makes them functions of the first kind or the second.
RTCG_DEVICE float __rtcg_fhankel_0(float x, float shift) {
    const float v = 1 / x, z = v * v;
    return __rtcg_fwave(x, shift, RTCG_FP3(z, 0x1.fffffep-1f, -0x1.ff737cp-5f, 0x1.7958fp-4f), v * RTCG_FP3(z, -0x1.ffff82p-4f, 0x1.09a172p-4f, -0x1.64f9e8p-3f));
}
RTCG_DEVICE float __rtcg_fhankel_1(float x, float shift) {
    const float v = 1 / x, z = v * v;
    return __rtcg_fwave(x, shift, RTCG_FP3(z, 0x1.000002p0f, 0x1.7fc04cp-3f, -0x1.65b10ap-3f), v * RTCG_FP3(z, 0x1.7fffdp-2f, -0x1.4f381cp-3f, 0x1.4620eap-2f));
}
RTCG_DEVICE float __rtcg_fj0_near(float a) {
    return RTCG_FFROM(a, 0x1.33d152p1f, 0x1.d2e368p-24f) * (a + 0x1.33d152p1f) * RTCG_FP7(a * a, -0x1.62214cp-3f, 0x1.b4c50ap-7f, -0x1.a0467cp-12f,
        0x1.adda78p-18f, -0x1.17f77cp-24f, 0x1.f292cep-32f, -0x1.193f58p-39f);
}
RTCG_DEVICE float __rtcg_fj1_near(float a) {
    return RTCG_FFROM(a, 0x1.ea7558p1f, -0x1.4a121ep-24f) * (a + 0x1.ea7558p1f) * a * RTCG_FP7(a * a, -0x1.16fb4cp-5f, 0x1.fbdfa8p-10f, -0x1.7cf69ep-15f,
        0x1.431908p-21f, -0x1.6314acp-28f, 0x1.0a40b2p-35f, -0x1.d5fe7ap-44f);
}
RTCG_LONG float j0(float x) {
    const float a = __builtin_fabsf(x), s = a - 6;
    if (a < 4) return __rtcg_fj0_near(a);
    if (a < 8) return RTCG_FFROM(a, 0x1.6148f6p2f, -0x1.34f46ep-24f) * RTCG_FP11(s, 0x1.416dcap-2f, -0x1.3d9704p-4f, -0x1.63c788p-5f, 0x1.1561b2p-7f,
        0x1.bb3cap-10f, -0x1.3082b2p-12f, -0x1.10b434p-15f, 0x1.527fc2p-18f, 0x1.9f3ad8p-22f, -0x1.b7aecep-25f, -0x1.e7c15cp-29f);
    return __rtcg_fhankel_0(a, 0.25f);
}
RTCG_LONG float j1(float x) {
    const float a = __builtin_fabsf(x), s = a - 6.5f;
    float y;
    if (a < 5) y = __rtcg_fj1_near(a);
    else if (a < 8) y = RTCG_FFROM(a, 0x1.c0ff6p2f, -0x1.8971b6p-23f) * RTCG_FP9(s, 0x1.318acep-2f, 0x1.d08a4p-6f, -0x1.8bed7ep-5f, -0x1.73a53ap-10f,
        0x1.25b7a8p-9f, 0x1.79f5c4p-16f, -0x1.9b2fe8p-15f, -0x1.eae1f6p-24f, 0x1.36001cp-21f);
    else y = __rtcg_fhankel_1(a, -0.25f);
    return __rtcg_fflip(y, __rtcg_fbits(x) & 0x80000000u);
}
RTCG_DEVICE float __rtcg_fy_special(float x, float y) { return x == 0 ? -RTCG_FINF : x < 0 ? RTCG_FNAN : y; }
RTCG_LONG float y0(float x) {
    float y;
    if (x >= 8) y = __rtcg_fhankel_0(x, -0.25f);
    else if (x >= 4.5f) { const float s = x - 6.25f; y = RTCG_FFROM(x, 0x1.c581dcp2f, 0x1.39c84p-24f) * RTCG_FP9(s, 0x1.22332ap-2f, 0x1.f1d84ap-5f,
        -0x1.7f0148p-5f, -0x1.1e839cp-8f, 0x1.26908cp-9f, 0x1.c9e56ep-14f, -0x1.9dd03ep-15f, -0x1.8d80aep-20f, 0x1.3ed02ap-21f); }
    else if (x >= 2) { const float s = x - 3.25f; y = RTCG_FFROM(x, 0x1.fa9534p1f, 0x1.b30ad4p-24f) * RTCG_FP10(s, -0x1.a12594p-2f, -0x1.3f6744p-5f,
        0x1.0e72ep-4f, -0x1.8f4adap-14f, -0x1.3f108cp-9f, -0x1.1f19ap-14f, 0x1.2d289cp-14f, -0x1.40716p-18f, 0x1.6d6368p-20f, -0x1.0a3582p-21f); }
    else {
        // 2 / pi log(x / z) j0(x) + (x^2 - z^2) p(x^2) for the first zero z: both parts vanish there.
        const float d = RTCG_FFROM(x, 0x1.c982ecp-1f, -0x1.cafa06p-27f), f = d * 0x1.1e7d32p0f;
        const float l = f > -0.25f && f < 0.5f ? __rtcg_flog_of(f) : __rtcg_flog(x) - -0x1.cce4b8p-4f;
        y = RTCG_FFMA(0x1.45f306p-1f * l, __rtcg_fj0_near(x), d * (x + 0x1.c982ecp-1f) * RTCG_FP5(x * x, 0x1.750812p-3f, -0x1.125848p-6f, 0x1.26892cp-11f,
            -0x1.4b6fa8p-17f, 0x1.b287d4p-24f));
    }
    return __rtcg_fy_special(x, y);
}
RTCG_LONG float y1(float x) {
    float y;
    if (x >= 8) y = __rtcg_fhankel_1(x, -0.75f);
    else if (x >= 4) { const float s = x - 6; y = RTCG_FFROM(x, 0x1.5b7fe4p2f, 0x1.d0f606p-23f) * RTCG_FP10(s, -0x1.3a3a8cp-2f, 0x1.579152p-4f, 0x1.4739a4p-5f,
        -0x1.155cb6p-7f, -0x1.9498p-10f, 0x1.265e6ap-12f, 0x1.fe612ap-16f, -0x1.4a4aap-18f, -0x1.4dd528p-22f, 0x1.80c24p-25f); }
    else if (x >= 1.75f) { const float s = x - 2.875f; y = RTCG_FFROM(x, 0x1.193beep1f, -0x1.6401b8p-24f) * RTCG_FP10(s, 0x1.b355cap-2f, -0x1.4cceb4p-3f,
        -0x1.c99cfcp-6f, 0x1.efee88p-8f, 0x1.5a8fbap-9f, -0x1.a68586p-11f, 0x1.0aba8ep-13f, -0x1.98cb9ap-15f, 0x1.06f416p-15f, -0x1.6b30aep-17f); }
    else {
        const float p = RTCG_FP6(x * x, -0x1.918662p-3f, 0x1.bd399cp-5f, -0x1.8360e2p-9f, 0x1.2d0576p-14f, -0x1.15b96p-20f, 0x1.d5f63ap-27f);
        y = RTCG_FFMA(0x1.45f306p-1f * __rtcg_flog(x), __rtcg_fj1_near(x), x * p) - 0x1.45f306p-1f / x;
    }
    return __rtcg_fy_special(x, y);
}
// Of order n: forward where the order is below x, else backward from far above it (Miller).
RTCG_LONG float jn(int n, float x) {
    const float a = __builtin_fabsf(x);
    if (n == 0) return j0(x);
    if (n == 1) return j1(x);
    if (n < 0 || x != x) return RTCG_FNAN;
    if (a == 0 || a == RTCG_FINF) return 0;
    const float order = (float)n, by = 2 / a;
    float y;
    if (a < 0x1p-12f) {
        // The first term of the series.
        y = 1;
        float k = 1;
        for (int i = 1; i <= n && y > 0; i++, k += 1) y *= 0.5f * a / k;
    } else if (order <= a) {
        float before = j0(a), now = j1(a), k = 1;
        for (int i = 1; i < n; i++, k += 1) { const float next = RTCG_FFMA(k * by, now, -before); before = now; now = next; }
        y = now;
    } else {
        const int top = 2 * ((n + 3 + (int)__builtin_sqrtf(14 * order)) / 2);
        float after = 0, now = 1, sum = 0, found = 0, k = (float)top;
        for (int i = top; i > 0; i -= 2, k -= 2) {
            const float one = RTCG_FFMA(k * by, now, -after), two = RTCG_FFMA((k - 1) * by, one, -now), scale = __builtin_fabsf(two) > 0x1p60f ? 0x1p-60f : 1.0f;
            found = scale * (i == n ? now : i - 1 == n ? one : found);
            sum = scale * (sum + now);
            after = scale * one;
            now = scale * two;
        }
        y = found / RTCG_FFMA(2.0f, sum, now);
    }
    return n % 2 ? __rtcg_fflip(y, __rtcg_fbits(x) & 0x80000000u) : y;
}
RTCG_LONG float yn(int n, float x) {
    if (n == 0) return y0(x);
    if (n == 1) return y1(x);
    if (n < 0 || !(x > 0)) return x == 0 && n >= 0 ? -RTCG_FINF : RTCG_FNAN;
    if (x == RTCG_FINF) return 0;
    const float by = 2 / x;
    float before = y0(x), now = y1(x), k = 1;
    for (int i = 1; i < n && now > -RTCG_FINF; i++, k += 1) { const float next = RTCG_FFMA(k * by, now, -before); before = now; now = next; }
    return now;
}
// exp(a) q / sqrt(a), by which modified functions are large.
RTCG_DEVICE float __rtcg_fgrowing(float a, float q) {
    float t;
    const float m = __rtcg_fexp_mantissa(a, &t), y = __rtcg_fscaled(m * (q / __builtin_sqrtf(a)), t, false);
    return a > 95 ? RTCG_FINF : y;
}
RTCG_DEVICE float cyl_bessel_i0(float x) {
    const float a = __builtin_fabsf(x), z = 0.25f * a * a, near = RTCG_FP9(z, 0x1p0f, 0x1.fffffep-1f, 0x1.000016p-2f, 0x1.c71a1p-6f, 0x1.c73a3ep-10f,
        0x1.22822ap-14f, 0x1.0878cep-19f, 0x1.251428p-25f, 0x1.05c038p-30f);
    const float far = __rtcg_fgrowing(a, RTCG_FP6(1 / a, 0x1.988452p-2f, 0x1.98925ep-5f, 0x1.c426p-6f, 0x1.4b271ap-5f, -0x1.2d3512p-4f, 0x1.269818p-1f));
    return a < 6 ? near : far;
}
RTCG_DEVICE float cyl_bessel_i1(float x) {
    const float a = __builtin_fabsf(x), z = 0.25f * a * a, near = 0.5f * a * RTCG_FP9(z, 0x1p0f, 0x1p-1f, 0x1.55555ap-4f, 0x1.c71bb8p-8f, 0x1.6c2122p-12f,
        0x1.83cc1p-17f, 0x1.2c2328p-22f, 0x1.2f3ad6p-28f, 0x1.bdcbd2p-34f);
    const float far = __rtcg_fgrowing(a, RTCG_FP6(1 / a, 0x1.988454p-2f, -0x1.3266d4p-3f, -0x1.7ade7ap-5f, -0x1.b776ap-5f, 0x1.406a6ep-4f, -0x1.56ab2p-1f));
    return __builtin_copysignf(a < 6 ? near : far, x);
}

// Functions that are exact.
RTCG_DEVICE float fabs(float x) { return __builtin_fabsf(x); }
RTCG_DEVICE float floor(float x) { return __builtin_floorf(x); }
RTCG_DEVICE float ceil(float x) { return __builtin_ceilf(x); }
RTCG_DEVICE float trunc(float x) { return __builtin_truncf(x); }
RTCG_DEVICE float rint(float x) { return __builtin_rintf(x); }
RTCG_DEVICE float nearbyint(float x) { return __builtin_rintf(x); }
// With the largest number below 1/2, halves still get to the next integer, and nothing else does.
RTCG_DEVICE float round(float x) { return __builtin_truncf(x + __builtin_copysignf(0x1.fffffep-2f, x)); }
RTCG_DEVICE float copysign(float x, float y) { return __builtin_copysignf(x, y); }
RTCG_DEVICE float fmax(float x, float y) { return __builtin_fmaxf(x, y); }
RTCG_DEVICE float fmin(float x, float y) { return __builtin_fminf(x, y); }
RTCG_DEVICE float fma(float x, float y, float z) { return RTCG_FFMA(x, y, z); }
RTCG_DEVICE bool isnan(float x) { return x != x; }
RTCG_DEVICE bool isinf(float x) { return __rtcg_fis_infinite(x); }
RTCG_DEVICE bool isfinite(float x) { return __builtin_fabsf(x) < RTCG_FINF; }
RTCG_DEVICE bool isnormal(float x) { return isfinite(x) && __builtin_fabsf(x) >= 0x1p-126f; }
RTCG_DEVICE bool signbit(float x) { return __rtcg_fnegative(x); }
RTCG_DEVICE float fdim(float x, float y) { return x <= y ? 0.0f : x - y; }
RTCG_DEVICE float nanf(const char *) { return RTCG_FNAN; }
// Conversions to 64 bits are slow on some processors.
RTCG_RARE long long __rtcg_fto_integer_far(float whole) { return __float2ll_rz(whole); }
RTCG_DEVICE long long __rtcg_fto_integer(float whole) {
    long long n = __float2int_rz(whole);
    if (!(__builtin_fabsf(whole) < 0x1p31f)) n = __rtcg_fto_integer_far(whole);
    return n;
}
RTCG_DEVICE long long llrint(float x) { return __rtcg_fto_integer(__builtin_rintf(x)); }
RTCG_DEVICE long long llround(float x) { return __rtcg_fto_integer(round(x)); }
RTCG_DEVICE long lrint(float x) { return (long)llrint(x); }
RTCG_DEVICE long lround(float x) { return (long)llround(x); }
RTCG_DEVICE float modf(float x, float *whole) {
    const float t = __builtin_truncf(x);
    *whole = t;
    return __builtin_copysignf(x == t ? 0.0f : x - t, x);
}
RTCG_DEVICE float frexp(float x, int *e) {
    const bool is_small = __builtin_fabsf(x) < 0x1p-126f;
    const unsigned b = __rtcg_fbits(is_small ? x * 0x1p24f : x);
    const int field = (b >> 23) & 0xff;
    const bool has_none = field == 0xff || x == 0;
    *e = has_none ? 0 : field - (is_small ? 126 + 24 : 126);
    return has_none ? x + x : __rtcg_freal((b & 0x807fffffu) | 0x3f000000u);
}
RTCG_RARE int __rtcg_filogb_far(float x) {
    const int e = (int)(__rtcg_fbits(x * 0x1p24f) >> 23 & 0xff) - 127 - 24;
    return x == 0 || x != x ? (int)0x80000000 : __rtcg_fis_infinite(x) ? 0x7fffffff : e;
}
RTCG_DEVICE int ilogb(float x) {
    const unsigned field = __rtcg_fbits(x) >> 23 & 0xff;
    int e = (int)field - 127;
    if (field - 1 >= 254) e = __rtcg_filogb_far(x);
    return e;
}
RTCG_RARE float __rtcg_flogb_far(float x) { return x == 0 ? -RTCG_FINF : __builtin_fabsf(x) < RTCG_FINF ? (float)__rtcg_filogb_far(x) : x * x; }
RTCG_DEVICE float logb(float x) {
    const unsigned field = __rtcg_fbits(x) >> 23 & 0xff;
    float e = (float)((int)field - 127);
    if (field - 1 >= 254) e = __rtcg_flogb_far(x);
    return e;
}
// By three factors: those before the last one are exact, or the result is infinite or zero anyway.
RTCG_RARE float __rtcg_fldexp_far(float x, int n) {
    const int by = n > 300 ? 300 : n < -300 ? -300 : n, first = by > 127 ? 76 : by < -126 ? -76 : 0, second = by > 203 ? 76 : by < -202 ? -76 : 0;
    int last = by - first - second;
    last = last > 127 ? 127 : last < -126 ? -126 : last;
    return x * __rtcg_freal((unsigned)(first + 127) << 23) * __rtcg_freal((unsigned)(second + 127) << 23) * __rtcg_freal((unsigned)(last + 127) << 23);
}
RTCG_DEVICE float ldexp(float x, int n) {
    // From a normal number to another one the exponent is added.
    const unsigned field = (__rtcg_fbits(x) >> 23) & 0xff;
    float y = __rtcg_freal(__rtcg_fbits(x) + ((unsigned)n << 23));
    if ((field - 1 >= 254) | (field + (unsigned)n - 1 >= 254)) y = __rtcg_fldexp_far(x, n);
    return y;
}
RTCG_DEVICE float scalbn(float x, int n) { return ldexp(x, n); }
RTCG_DEVICE float scalbln(float x, long n) { return ldexp(x, n > 300 ? 300 : n < -300 ? -300 : (int)n); }
RTCG_DEVICE float nextafter(float x, float y) {
    const unsigned b = __rtcg_fbits(x), up = (x < y) == !((int)b < 0) ? b + 1 : b - 1;
    float r = __rtcg_freal(x == 0 ? (__rtcg_fbits(y) & 0x80000000u) | 1 : up);
    r = x == y ? y : r;
    return x != x || y != y ? x + y : r;
}

// Remainders: each step is exact, and takes at least 20 bits of the quotient (of a division that options do not make approximate). *low has the last bits of the quotient.
RTCG_DEVICE float __rtcg_fremainder_of(float a, float b, unsigned *low) {
    unsigned q = 0;
    float r = a;
    if (!(a < b * 0x1p21f)) {
        // Divisors times powers of 2, so that a quotient has less than 23 bits; a subnormal rest is small enough.
        const bool is_small = b < 0x1p-126f;
        const int field = (int)(__rtcg_fbits(is_small ? b * 0x1p24f : b) >> 23) - (is_small ? 24 : 0);
        for (int by; (by = (int)(__rtcg_fbits(r) >> 23) - field - 21) > 0 && r >= 0x1p-126f;) {
            by = by > 254 ? 254 : by;
            const int first = by >> 1;
            const float d = b * __rtcg_freal((unsigned)(first + 127) << 23) * __rtcg_freal((unsigned)(by - first + 127) << 23);
            const float k = __builtin_truncf(__fdiv_rn(r, d)), s = RTCG_FFMA(-k, d, r), w = s < 0 ? k - 1 : k;
            r = s < 0 ? s + d : s;
            q += by < 32 ? (__rtcg_fbits(w + 0x1p23f) & 0x7fffffu) << by : 0;
        }
    }
    const float k = __builtin_truncf(__fdiv_rn(r, b)), s = RTCG_FFMA(-k, b, r), w = s < 0 ? k - 1 : k;
    *low = q + (__rtcg_fbits(w + 0x1p23f) & 0x7fffffu);
    return s < 0 ? s + b : s;
}
RTCG_DEVICE bool __rtcg_fhas_remainder(float a, float b) { return a < RTCG_FINF && b > 0; }
RTCG_DEVICE float fmod(float x, float y) {
    const float a = __builtin_fabsf(x), b = __builtin_fabsf(y);
    unsigned q;
    float r = a;
    if (!(a < b)) r = __rtcg_fhas_remainder(a, b) ? __rtcg_fremainder_of(a, b, &q) : RTCG_FNAN;
    return __builtin_copysignf(r, x);
}
RTCG_DEVICE float remquo(float x, float y, int *quotient) {
    const float a = __builtin_fabsf(x), b = __builtin_fabsf(y);
    unsigned q = 0;
    float r = a;
    if (!(a < b)) r = __rtcg_fhas_remainder(a, b) ? __rtcg_fremainder_of(a, b, &q) : RTCG_FNAN;
    // The nearest multiple, the even one of two.
    const float rest = b - r;
    const bool is_up = b < RTCG_FINF && (r > rest || (r == rest && q & 1));
    r = is_up ? r - b : r;
    q = (q + is_up) & 0x7fffffff;
    *quotient = __rtcg_fnegative(x) != __rtcg_fnegative(y) ? -(int)q : (int)q;
    return r == 0 ? __builtin_copysignf(0.0f, x) : __rtcg_fflip(r, __rtcg_fbits(x) & 0x80000000u);
}
RTCG_DEVICE float remainder(float x, float y) { int q; return remquo(x, y, &q); }
}
#pragma float_control(pop)
