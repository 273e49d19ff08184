// Mathematics of single precision: that of the OpenCL library (opencl-platform/src/builtins/math_float.cl).
#pragma once
#pragma clang fp contract(off)
extern "C++" {
RTCG_DEVICE float2 rtcg_pair(float x, float y) { return {x, y}; }
RTCG_DEVICE float rtcg_as_float(unsigned int u) { return __uint_as_float(u); }
RTCG_DEVICE unsigned int rtcg_as_bits(float x) { return __float_as_uint(x); }
RTCG_DEVICE unsigned int rtcg_high(unsigned int a, unsigned int b) { return __umulhi(a, b); }
RTCG_DEVICE unsigned long rtcg_high(unsigned long a, unsigned long b) { return __umul64hi(a, b); }
RTCG_DEVICE float rtcg_normalized(float a, int *exponent) {
    int e = ((int)rtcg_as_bits(a) >> 23) & 0xff;
    if (e == 0) { a *= 0x1p24f; e = (((int)rtcg_as_bits(a) >> 23) & 0xff) - 24; }
    *exponent = e - 126;
    return rtcg_as_float(((int)rtcg_as_bits(a) & 0x807fffff) | 0x3f000000);
}
RTCG_DEVICE float ldexp(float a, int n) {
    if (a == 0 || a != a || __builtin_fabsf(a) == __builtin_inff()) return a;
    int e;
    float m = rtcg_normalized(a, &e);
    long to = (long)e + n;
    if (to > 128) return __builtin_copysignf(__builtin_inff(), a);
    if (to < -149) return __builtin_copysignf(0, a);
    if (to >= -125) return rtcg_as_float((rtcg_as_bits(m) & 0x807fffffu) | (unsigned int)(to + 126) << 23);
    return rtcg_as_float((rtcg_as_bits(m) & 0x807fffffu) | (unsigned int)(to + 126 + 64) << 23) * 0x1p-64f;
}
RTCG_DEVICE float2 operator-(float2 a) { return {-a.x, -a.y}; }
RTCG_DEVICE bool rtcg_negative(float x) { return (int)rtcg_as_bits(x) < 0; }
// Math functions (6.15.2) of single precision, in single precision: polynomials fitted with mpmath, without branches
// where arguments are of usual size, so that lanes stay together. Sums of two floats ("hi" and "lo") carry what one
// would lose. tgamma and lgamma alone are computed in double precision and rounded once.

RTCG_DEVICE float2 rtcg_sumf(float a, float b) {
    float s = a + b, v = s - a;
    return rtcg_pair(s, (a - (s - v)) + (b - v));
}
// Where |a| >= |b|.
RTCG_DEVICE float2 rtcg_quick_sumf(float a, float b) {
    float s = a + b;
    return rtcg_pair(s, b - (s - a));
}
RTCG_DEVICE float2 rtcg_productf(float a, float b) {
    float p = a * b;
    return rtcg_pair(p, __builtin_fmaf(a, b, -p));
}
RTCG_DEVICE float rtcg_power_of_2f(int n) { return rtcg_as_float((n + 127) << 23); }

// expm1(r) - r for |r| of at most half of log 2.
RTCG_DEVICE float rtcg_exp_seriesf(float r) {
    float p = 0x1.a12a42p-13f;
    p = __builtin_fmaf(p, r, 0x1.6d4920p-10f); p = __builtin_fmaf(p, r, 0x1.1110e0p-7f); p = __builtin_fmaf(p, r, 0x1.5554e4p-5f);
    p = __builtin_fmaf(p, r, 0x1.555556p-3f); p = __builtin_fmaf(p, r, 0.5f);
    return p * r * r;
}
// exp(r + lo) 2^n.
RTCG_DEVICE float rtcg_exp_scaledf(float r, float lo, float n) {
    int k = (int)n, half_ = k >> 1;
    float2 whole = rtcg_quick_sumf(r, lo);
    float m = 1 + (whole.x + (rtcg_exp_seriesf(whole.x) + whole.y));
    return m * rtcg_power_of_2f(half_) * rtcg_power_of_2f(k - half_);
}
// exp(hi + lo) 2^scale.
RTCG_DEVICE float rtcg_expf(float hi, float lo, float scale) {
    float a = __builtin_fminf(__builtin_fmaxf(hi, -200.0f), 200.0f);
    float n = __builtin_rintf(a * 0x1.715476p+0f);
    float r = __builtin_fmaf(-n, 0x1.62e400p-1f, a);
    float m = rtcg_exp_scaledf(__builtin_fmaf(-n, 0x1.7f7d1cp-20f, r), lo, __builtin_fminf(__builtin_fmaxf(n + scale, -240.0f), 240.0f));
    return hi != hi ? hi : m;
}
RTCG_DEVICE float exp(float a) { return rtcg_expf(a, 0, 0); }
RTCG_DEVICE float exp2(float a) {
    float x = __builtin_fminf(__builtin_fmaxf(a, -200.0f), 200.0f), n = __builtin_rintf(x), f = x - n;
    float m = rtcg_exp_scaledf(f * 0x1.62e430p-1f, f * -0x1.05c610p-29f, n);
    return a != a ? a : m;
}
RTCG_DEVICE float exp10(float a) {
    float x = __builtin_fminf(__builtin_fmaxf(a, -60.0f), 60.0f), n = __builtin_rintf(x * 0x1.a934f0p+1f);
    float f = __builtin_fmaf(-n, -0x1.ec10c0p-27f, __builtin_fmaf(-n, 0x1.344136p-2f, x));
    float m = rtcg_exp_scaledf(f * 0x1.26bb1cp+1f, f * -0x1.12aabap-25f, n);
    return a != a ? a : m;
}
RTCG_DEVICE float expm1(float a) {
    float x = __builtin_fminf(__builtin_fmaxf(a, -30.0f), 89.0f), n = __builtin_rintf(x * 0x1.715476p+0f);
    float r = __builtin_fmaf(-n, 0x1.7f7d1cp-20f, __builtin_fmaf(-n, 0x1.62e400p-1f, x));
    // Half of the result is added up, which does not overflow before the result does.
    float p = r + rtcg_exp_seriesf(r), scale = rtcg_power_of_2f((int)n - 1);
    float m = 2 * __builtin_fmaf(scale, p, scale - 0.5f);
    return __builtin_fabsf(a) < 0x1p-24f || a != a ? a : m;
}

// log(1 + f) + e log 2 as hi and lo, for f between sqrt(1/2) - 1 and sqrt(2) - 1.
RTCG_DEVICE float rtcg_log_seriesf(float f) {
    float p = -0x1.fd85aep-5f;
    p = __builtin_fmaf(p, f, 0x1.b09a60p-4f); p = __builtin_fmaf(p, f, -0x1.b46a7ep-4f); p = __builtin_fmaf(p, f, 0x1.c3f408p-4f);
    p = __builtin_fmaf(p, f, -0x1.fdecc0p-4f); p = __builtin_fmaf(p, f, 0x1.249732p-3f); p = __builtin_fmaf(p, f, -0x1.555ca2p-3f);
    p = __builtin_fmaf(p, f, 0x1.9999a6p-3f); p = __builtin_fmaf(p, f, -0x1.fffff2p-3f); p = __builtin_fmaf(p, f, 0x1.555556p-2f);
    return __builtin_fmaf(f * f, p * f, -0.5f * f * f);
}
// f and e with a = (1 + f) 2^e, for a > 0.
RTCG_DEVICE float rtcg_splitf(float a, float *e) {
    int is_small = a < 0x1p-126f;
    unsigned int bits = rtcg_as_bits(is_small ? a * 0x1p24f : a) + (0x3f800000u - 0x3f3504f3u);
    *e = (float)((int)(bits >> 23) - 127 - (is_small ? 24 : 0));
    return rtcg_as_float((bits & 0x7fffffu) + 0x3f3504f3u) - 1;
}
// The logarithm of special arguments, or r.
RTCG_DEVICE float rtcg_log_resultf(float a, float r) {
    r = a == __builtin_inff() ? a : r;
    r = a == 0 ? -__builtin_inff() : r;
    return a < 0 || a != a ? __builtin_nanf("") : r;
}
RTCG_DEVICE float log(float a) {
    float e, f = rtcg_splitf(a, &e);
    // The first part of log 2 has few bits, so that its multiples are exact.
    float2 s = rtcg_sumf(e * 0x1.62e000p-1f, f);
    return rtcg_log_resultf(a, s.x + (s.y + __builtin_fmaf(e, 0x1.0bfbe8p-15f, rtcg_log_seriesf(f))));
}
RTCG_DEVICE float log2(float a) {
    float e, f = rtcg_splitf(a, &e), y = rtcg_log_seriesf(f);
    float2 s = rtcg_sumf(f, y), l = rtcg_productf(s.x, 0x1.715476p+0f);
    float lo = l.y + __builtin_fmaf(s.x, 0x1.4ae0c0p-26f, s.y * 0x1.715476p+0f);
    float2 whole = rtcg_sumf(e, l.x);
    return rtcg_log_resultf(a, whole.x + (whole.y + lo));
}
RTCG_DEVICE float log10(float a) {
    float e, f = rtcg_splitf(a, &e), y = rtcg_log_seriesf(f);
    float2 s = rtcg_sumf(f, y), l = rtcg_productf(s.x, 0x1.bcb7b2p-2f);
    float lo = l.y + __builtin_fmaf(s.x, -0x1.5b235ep-27f, s.y * 0x1.bcb7b2p-2f);
    // log10(2): a part whose multiples are exact, and the rest.
    float2 whole = rtcg_sumf(e * 0x1.344000p-2f, l.x);
    return rtcg_log_resultf(a, whole.x + (whole.y + __builtin_fmaf(e, 0x1.3509f8p-18f, lo)));
}
RTCG_DEVICE float log1p(float a) {
    float2 u = rtcg_sumf(1, a);
    float e, f = rtcg_splitf(u.x, &e);
    f += u.y * rtcg_power_of_2f((int)-__builtin_fminf(__builtin_fmaxf(e, -126.0f), 126.0f));
    float2 s = rtcg_sumf(e * 0x1.62e000p-1f, f);
    float r = s.x + (s.y + __builtin_fmaf(e, 0x1.0bfbe8p-15f, rtcg_log_seriesf(f)));
    r = rtcg_log_resultf(a + 1, r);
    return __builtin_fabsf(a) < 0x1p-24f || a != a ? a : r;
}

// log(a) as hi and lo, exact to 2^-30: 2 atanh(s), s = f / (2 + f).
RTCG_DEVICE float2 rtcg_log_pairf(float a) {
    float e, f = rtcg_splitf(a, &e), d = 2 + f, d_lo = f - (d - 2);
    float s = f / d, s_lo = (__builtin_fmaf(-s, d, f) - s * d_lo) / d, z = s * s;
    float p = 0x1.ddf01ap-3f;
    p = __builtin_fmaf(p, z, 0x1.245ba6p-2f); p = __builtin_fmaf(p, z, 0x1.9999ecp-2f); p = __builtin_fmaf(p, z, 0x1.555556p-1f);
    float2 sum = rtcg_quick_sumf(2 * s, __builtin_fmaf(s * z, p, 2 * s_lo)), whole = rtcg_sumf(e * 0x1.62e000p-1f, sum.x);
    return rtcg_quick_sumf(whole.x, whole.y + __builtin_fmaf(e, 0x1.0bfbe8p-15f, __builtin_fmaf(e, 0x1.cf79acp-40f, sum.y)));
}
// |a|^(b_hi + b_lo) for finite a > 0.
RTCG_DEVICE float rtcg_pow_off(float a, float b_hi, float b_lo) {
    float2 l = rtcg_log_pairf(a);
    b_hi = __builtin_fminf(__builtin_fmaxf(b_hi, -0x1p80f), 0x1p80f);
    float2 p = rtcg_productf(b_hi, l.x);
    float lo = p.y + __builtin_fmaf(b_hi, l.y, b_lo * l.x);
    return rtcg_expf(p.x, __builtin_fabsf(p.x) < 200 ? lo : 0, 0);
}
RTCG_DEVICE float rtcg_pow_positivef(float a, float b) {
    float r = rtcg_pow_off(a, b, 0);
    r = __builtin_fabsf(b) == __builtin_inff() ? ((a > 1) == (b > 0) ? __builtin_inff() : 0.0f) : r;
    r = a == 0 || a == __builtin_inff() ? ((a == 0) == (b > 0) ? 0.0f : __builtin_inff()) : r;
    r = a != a || b != b ? __builtin_nanf("") : r;
    return a == 1 || b == 0 ? 1.0f : r;
}
RTCG_DEVICE float pow(float a, float b) {
    float r = rtcg_pow_positivef(__builtin_fabsf(a), b);
    int is_whole = __builtin_rintf(b) == b;
    int is_odd = is_whole && __builtin_fabsf(b) < 0x1p24f && ((int)b & 1);
    r = is_odd && rtcg_negative(a) ? -r : r;
    r = a < 0 && !is_whole && a != -__builtin_inff() ? __builtin_nanf("") : r;
    // (-1)^inf is 1.
    return a == 1 || b == 0 ? 1.0f : a != a || b != b ? __builtin_nanf("") : a == -1 && __builtin_fabsf(b) == __builtin_inff() ? 1.0f : r;
}
RTCG_DEVICE float powr(float a, float b) {
    float r = rtcg_pow_positivef(__builtin_fabsf(a), b);
    int is_nan = a < 0 || a != a || b != b || (a == 0 && b == 0) || (a == __builtin_inff() && b == 0)
              || (a == 1 && __builtin_fabsf(b) == __builtin_inff());
    return is_nan ? __builtin_nanf("") : r;
}
RTCG_DEVICE float pown(float a, int n) {
    // Exponents beyond 24 bits have a second part.
    float hi = (float)n, lo = (float)(n - (int)__builtin_fminf(__builtin_fmaxf(hi, -0x1.fffffep+30f), 0x1.fffffep+30f)), x = __builtin_fabsf(a);
    float r = rtcg_pow_off(x, hi, __builtin_fabsf(hi) < 0x1p31f ? lo : 0);
    r = x == 0 || x == __builtin_inff() ? ((x == 0) == (n > 0) ? 0.0f : __builtin_inff()) : r;
    r = x == 1 ? 1.0f : a != a ? __builtin_nanf("") : r;
    return n == 0 ? 1.0f : n & 1 && rtcg_negative(a) ? -r : r;
}
RTCG_DEVICE float rootn(float a, int n) {
    float x = __builtin_fabsf(a), d = (float)n, d_lo = (float)(n - (int)__builtin_fminf(__builtin_fmaxf(d, -0x1.fffffep+30f), 0x1.fffffep+30f));
    d_lo = __builtin_fabsf(d) < 0x1p31f ? d_lo : 0;
    float inverse = 1 / d, rest = (__builtin_fmaf(-inverse, d, 1.0f) - inverse * d_lo) / d;
    float r = rtcg_pow_off(x, inverse, rest);
    r = x == 0 || x == __builtin_inff() ? ((x == 0) == (n > 0) ? 0.0f : __builtin_inff()) : r;
    r = n & 1 ? __builtin_copysignf(r, a) : r;
    return n == 0 || a != a || (a < 0 && !(n & 1)) ? __builtin_nanf("") : r;
}
RTCG_DEVICE float cbrt(float a) {
    int e;
    float m = __builtin_fabsf(rtcg_normalized(a, &e));
    int third = (e + 300) / 3 - 100;
    m *= rtcg_power_of_2f(e - 3 * third);
    float f_e, f = rtcg_splitf(m, &f_e), y = rtcg_expf((f + rtcg_log_seriesf(f) + f_e * 0x1.62e430p-1f) * 0x1.555556p-2f, 0, 0);
    float square = y * y;
    y -= (__builtin_fmaf(square, y, -m) + __builtin_fmaf(y, y, -square) * y) / (3 * square);
    return a == 0 || a != a || __builtin_fabsf(a) == __builtin_inff() ? a : __builtin_copysignf(y * rtcg_power_of_2f(third), a);
}
RTCG_DEVICE float hypot(float a, float b) {
    float x = __builtin_fabsf(a), y = __builtin_fabsf(b), large = __builtin_fmaxf(x, y), small = __builtin_fminf(x, y);
    float up = large > 0x1p60f ? 0x1p-70f : large < 0x1p-40f ? 0x1p80f : 1.0f, down = large > 0x1p60f ? 0x1p70f : large < 0x1p-40f ? 0x1p-80f : 1.0f;
    float r = down * __builtin_sqrtf(__builtin_fmaf(large * up, large * up, small * up * (small * up)));
    return large == __builtin_inff() ? __builtin_inff() : x != x || y != y ? __builtin_nanf("") : r;
}

// |a| = n pi/2 + r with |r| <= pi/4; the last two bits of n. Up to 10^5 by three parts of pi/2 (Cody, Waite 1980): the
// first difference is exact. Beyond by the bits of 2/pi that matter (Payne, Hanek 1983).
static __device__ const unsigned int rtcg_2_over_pif[9] = {0, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
                                      0xfe5163abu, 0xdebbc561u};
RTCG_DEVICE float rtcg_reduce_largef(float a, int *n) {
    unsigned int bits = rtcg_as_bits(a);
    int e = (int)(bits >> 23) - 150;
    unsigned long m = (bits & 0x7fffffu) | 0x800000u;
    // Of m 2^e 2/pi only what is below 4 counts: 96 bits of 2/pi from bit e - 2 on.
    int first = e + 30, word = first >> 5, shift = first & 31;
    unsigned long w01 = (unsigned long)rtcg_2_over_pif[word] << 32 | rtcg_2_over_pif[word + 1];
    unsigned long w23 = (unsigned long)rtcg_2_over_pif[word + 2] << 32 | rtcg_2_over_pif[word + 3];
    unsigned long high = w01 << shift | w23 >> 1 >> (63 - shift), low = w23 << shift;
    // Their product with m, where the point stands behind the second bit.
    unsigned long fraction = m * high + (m * (low >> 32) >> 32);
    unsigned int quadrant = (unsigned int)(fraction >> 62);
    long rest = (long)(fraction << 2);
    if (rest < 0) quadrant++;
    *n = (int)quadrant;
    return (float)rest * (0x1.921fb6p+0f * 0x1p-64f);
}
RTCG_DEVICE float rtcg_reducef(float a, int *n) {
    float x = __builtin_fabsf(a), k = __builtin_rintf(x * 0x1.45f306p-1f);
    float r = __builtin_fmaf(-k, -0x1.ee59dap-50f, __builtin_fmaf(-k, -0x1.777a5cp-25f, __builtin_fmaf(-k, 0x1.921fb6p+0f, x)));
    *n = (int)k;
    if (x > 1e5f) r = rtcg_reduce_largef(x, n);
    return r;
}
RTCG_DEVICE float rtcg_sin_seriesf(float r) {
    float z = r * r, p = 0x1.6da8ecp-19f;
    p = __builtin_fmaf(p, z, -0x1.a01366p-13f); p = __builtin_fmaf(p, z, 0x1.11110ep-7f); p = __builtin_fmaf(p, z, -0x1.555556p-3f);
    return __builtin_fmaf(r * z, p, r);
}
RTCG_DEVICE float rtcg_cos_seriesf(float r) {
    float z = r * r, p = -0x1.251636p-22f;
    p = __builtin_fmaf(p, z, 0x1.a01598p-16f); p = __builtin_fmaf(p, z, -0x1.6c16c0p-10f); p = __builtin_fmaf(p, z, 0x1.555556p-5f);
    return __builtin_fmaf(z * z, p, __builtin_fmaf(-0.5f, z, 1.0f));
}
RTCG_DEVICE float rtcg_of_quadrantf(float r, int n) {
    float v = n & 1 ? rtcg_cos_seriesf(r) : rtcg_sin_seriesf(r);
    return n & 2 ? -v : v;
}
#define NOT_FINITE(a) (!(__builtin_fabsf(a) < __builtin_inff()))
RTCG_DEVICE float sin(float a) {
    int n;
    float r = rtcg_reducef(a, &n), v = rtcg_of_quadrantf(r, n);
    return NOT_FINITE(a) ? __builtin_nanf("") : a == 0 ? a : rtcg_negative(a) ? -v : v;
}
RTCG_DEVICE float cos(float a) {
    int n;
    float r = rtcg_reducef(a, &n);
    return NOT_FINITE(a) ? __builtin_nanf("") : rtcg_of_quadrantf(r, n + 1);
}
RTCG_DEVICE float sincos(float a, float *c) {
    int n;
    float r = rtcg_reducef(a, &n), v = rtcg_of_quadrantf(r, n);
    *c = NOT_FINITE(a) ? __builtin_nanf("") : rtcg_of_quadrantf(r, n + 1);
    return NOT_FINITE(a) ? __builtin_nanf("") : a == 0 ? a : rtcg_negative(a) ? -v : v;
}
RTCG_DEVICE float tan(float a) {
    int n;
    float r = rtcg_reducef(a, &n), s = rtcg_sin_seriesf(r), c = rtcg_cos_seriesf(r);
    float v = (n & 1 ? -c : s) / (n & 1 ? s : c);
    return NOT_FINITE(a) ? __builtin_nanf("") : a == 0 ? a : rtcg_negative(a) ? -v : v;
}
// Half turns are subtracted exactly.
RTCG_DEVICE float rtcg_reduce_turnsf(float a, int *n) {
    float y = a - 2 * __builtin_rintf(0.5f * a), k = __builtin_rintf(2 * y);
    *n = (int)k;
    return (y - 0.5f * k) * 0x1.921fb6p+1f;
}
RTCG_DEVICE float sinpi(float a) {
    int n;
    float r = rtcg_reduce_turnsf(NOT_FINITE(a) ? 0 : a, &n), v = rtcg_of_quadrantf(r, n);
    return NOT_FINITE(a) ? __builtin_nanf("") : __builtin_truncf(a) == a ? __builtin_copysignf(0, a) : v;
}
RTCG_DEVICE float cospi(float a) {
    int n;
    float r = rtcg_reduce_turnsf(NOT_FINITE(a) ? 0 : a, &n), v = rtcg_of_quadrantf(r, n + 1);
    return NOT_FINITE(a) ? __builtin_nanf("") : r == 0 && n & 1 ? 0 : v;
}
RTCG_DEVICE float tanpi(float a) {
    int n;
    float r = rtcg_reduce_turnsf(NOT_FINITE(a) ? 0 : a, &n), s = rtcg_sin_seriesf(r), c = rtcg_cos_seriesf(r);
    float v = (n & 1 ? -c : s) / (n & 1 ? s : c);
    // At whole numbers 0 with a sign that alternates, between them infinite as just before.
    float whole = n & 2 ? -__builtin_copysignf(0, a) : __builtin_copysignf(0, a);
    v = r == 0 ? (n & 1 ? ((n > 0) != (rtcg_negative(a) != 0) ? __builtin_inff() : -__builtin_inff()) : whole) : v;
    return NOT_FINITE(a) ? __builtin_nanf("") : v;
}

// atan(t) for 0 <= t <= 1.
RTCG_DEVICE float rtcg_atan_seriesf(float t) {
    float z = t * t, p = 0x1.86406cp-10f;
    p = __builtin_fmaf(p, z, -0x1.2ba6b6p-7f); p = __builtin_fmaf(p, z, 0x1.aefb2cp-6f); p = __builtin_fmaf(p, z, -0x1.9115a4p-5f);
    p = __builtin_fmaf(p, z, 0x1.2006f8p-4f); p = __builtin_fmaf(p, z, -0x1.6dd8fep-4f); p = __builtin_fmaf(p, z, 0x1.c62cdap-4f);
    p = __builtin_fmaf(p, z, -0x1.248952p-3f); p = __builtin_fmaf(p, z, 0x1.999956p-3f); p = __builtin_fmaf(p, z, -0x1.555556p-2f);
    return __builtin_fmaf(t * z, p, t);
}
// asin(t) for |t| <= 1/2.
RTCG_DEVICE float rtcg_asin_seriesf(float t) {
    float z = t * t, p = 0x1.14138cp-5f;
    p = __builtin_fmaf(p, z, 0x1.18e1f6p-6f); p = __builtin_fmaf(p, z, 0x1.fd921ap-6f); p = __builtin_fmaf(p, z, 0x1.6d5b8ep-5f);
    p = __builtin_fmaf(p, z, 0x1.333432p-4f); p = __builtin_fmaf(p, z, 0x1.555554p-3f);
    return __builtin_fmaf(t * z, p, t);
}
// In radians, and in half turns: `unit` times the angle; a quarter turn is quarter + quarter_lo.
#define ANGLES(suffix, unit, quarter, quarter_lo) \
    RTCG_DEVICE float atan2##suffix(float y, float x) { \
        float a = __builtin_fabsf(y), b = __builtin_fabsf(x), large = __builtin_fmaxf(a, b), small = __builtin_fminf(a, b); \
        float scale = large > 0x1p100f ? 0x1p-30f : large < 0x1p-90f ? 0x1p60f : 1.0f; \
        float t = large == 0 ? 0 : large == __builtin_inff() ? (small == __builtin_inff() ? 1.0f : 0.0f) : small * scale / (large * scale); \
        float r = t == 1 ? 0.5f * (quarter) : rtcg_atan_seriesf(t) * (unit); \
        r = a > b ? quarter + (quarter_lo - r) : r; \
        r = rtcg_negative(x) ? 2 * (quarter) + (2 * (quarter_lo) - r) : r; \
        return x != x || y != y ? __builtin_nanf("") : __builtin_copysignf(r, y); \
    } \
    RTCG_DEVICE float atan##suffix(float a) { \
        float x = __builtin_fabsf(a), r = rtcg_atan_seriesf(x > 1 ? 1 / x : x) * (unit); \
        return a != a ? a : __builtin_copysignf(x > 1 ? quarter + (quarter_lo - r) : r, a); \
    } \
    RTCG_DEVICE float asin##suffix(float a) { \
        float x = __builtin_fabsf(a), r = rtcg_asin_seriesf(x > 0.5f ? __builtin_sqrtf(__builtin_fmaf(-0.5f, x, 0.5f)) : x) * (unit); \
        r = __builtin_copysignf(x > 0.5f ? quarter + (quarter_lo - 2 * r) : r, a); \
        return x <= 1 ? r : __builtin_nanf(""); \
    } \
    RTCG_DEVICE float acos##suffix(float a) { \
        float x = __builtin_fabsf(a), r = rtcg_asin_seriesf(x > 0.5f ? __builtin_sqrtf(__builtin_fmaf(-0.5f, x, 0.5f)) : a) * (unit); \
        r = x > 0.5f ? (a > 0 ? 2 * r : 2 * (quarter) + 2 * (quarter_lo - r)) : quarter + (quarter_lo - r); \
        return x <= 1 ? r : __builtin_nanf(""); \
    }
ANGLES(, 1.0f, 0x1.921fb6p+0f, -0x1.777a5cp-25f)
ANGLES(pi, 0x1.45f306p-2f, 0.5f, 0.0f)

RTCG_DEVICE float sinh(float a) {
    float x = __builtin_fabsf(a), z = a * a, p = 0x1.78a70ep-19f;
    p = __builtin_fmaf(p, z, 0x1.a00900p-13f); p = __builtin_fmaf(p, z, 0x1.11111ep-7f); p = __builtin_fmaf(p, z, 0x1.555556p-3f);
    float t = rtcg_expf(x, 0, -1), r = __builtin_copysignf(t - 0.25f / t, a);
    return x < 1 || a != a ? __builtin_fmaf(a * z, p, a) : x > 100 ? __builtin_copysignf(__builtin_inff(), a) : r;
}
RTCG_DEVICE float cosh(float a) {
    float x = __builtin_fabsf(a), t = rtcg_expf(x, 0, -1);
    return x > 100 ? __builtin_inff() : t + 0.25f / t;
}
RTCG_DEVICE float tanh(float a) {
    float x = __builtin_fabsf(a), t = expm1(2 * __builtin_fminf(x, 12.0f));
    return x < 0x1p-14f || a != a ? a : __builtin_copysignf(t / (t + 2), a);
}
RTCG_DEVICE float asinh(float a) {
    float x = __builtin_fabsf(a), z = __builtin_fminf(x, 0x1p20f);
    float small = log1p(z + z * z / (1 + __builtin_sqrtf(__builtin_fmaf(z, z, 1.0f)))), large = log(x) + 0x1.62e430p-1f;
    return x < 0x1p-14f || NOT_FINITE(a) ? a : __builtin_copysignf(x > 0x1p14f ? large : small, a);
}
RTCG_DEVICE float acosh(float a) {
    float t = __builtin_fminf(a, 0x1p20f) - 1, small = log1p(t + __builtin_sqrtf(__builtin_fmaf(t, t, 2 * t))), large = log(a) + 0x1.62e430p-1f;
    return a >= 1 ? (a > 0x1p14f ? large : small) : __builtin_nanf("");
}
RTCG_DEVICE float atanh(float a) {
    float x = __builtin_fabsf(a), r = 0.5f * log1p(2 * x / (1 - x));
    r = x == 1 ? __builtin_inff() : r;
    return x > 1 || a != a ? __builtin_nanf("") : x < 0x1p-14f ? a : __builtin_copysignf(r, a);
}

// exp(-a a) (1 + 2 a) erfc(a) is a polynomial of (a - 4) / (a + 4) (Shepherd, Laframboise 1981).
RTCG_DEVICE float rtcg_erfc_positivef(float a) {
    float x = __builtin_fminf(a, 12.0f), t = (x - 4) / (x + 4), p = 0x1.650708p-16f;
    p = __builtin_fmaf(p, t, 0x1.80f188p-13f); p = __builtin_fmaf(p, t, -0x1.bd6824p-13f); p = __builtin_fmaf(p, t, -0x1.9860c4p-11f);
    p = __builtin_fmaf(p, t, 0x1.49ac86p-8f); p = __builtin_fmaf(p, t, -0x1.094e5cp-6f); p = __builtin_fmaf(p, t, 0x1.307be0p-5f);
    p = __builtin_fmaf(p, t, -0x1.0fb0f2p-4f); p = __builtin_fmaf(p, t, 0x1.7fede2p-4f); p = __builtin_fmaf(p, t, -0x1.9ddb1ep-4f);
    p = __builtin_fmaf(p, t, 0x1.16ecf2p-4f); p = __builtin_fmaf(p, t, 0x1.f7f5dep-7f); p = __builtin_fmaf(p, t, -0x1.1df1aep-3f);
    p = __builtin_fmaf(p, t, 0x1.3ba592p+0f);
    float2 square = rtcg_productf(x, x);
    // The scale is applied last: small results are rounded once.
    float large = p / (1 + 2 * x);
    return rtcg_expf(-square.x, -square.y, 24) * large * 0x1p-24f;
}
RTCG_DEVICE float rtcg_erf_seriesf(float a) {
    float z = a * a, p = 0x1.75da9ep-14f;
    p = __builtin_fmaf(p, z, -0x1.b10c98p-11f); p = __builtin_fmaf(p, z, 0x1.5578f8p-8f); p = __builtin_fmaf(p, z, -0x1.b81f16p-6f);
    p = __builtin_fmaf(p, z, 0x1.ce2ebap-4f); p = __builtin_fmaf(p, z, -0x1.812746p-2f); p = __builtin_fmaf(p, z, 0x1.20dd76p+0f);
    return a * p;
}
RTCG_DEVICE float erf(float a) {
    float x = __builtin_fabsf(a), r = __builtin_copysignf(1 - rtcg_erfc_positivef(x), a);
    return x < 0.83f || a != a ? rtcg_erf_seriesf(a) : r;
}
RTCG_DEVICE float erfc(float a) {
    float tail = rtcg_erfc_positivef(__builtin_fabsf(a));
    float r = a > 0.5f ? tail : a > -0.83f ? 1 - rtcg_erf_seriesf(a) : 2 - tail;
    return a != a ? a : r;
}
}
