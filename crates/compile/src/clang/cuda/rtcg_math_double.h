// Mathematics of double precision. The functions are straight lines where that is possible, since lanes stay together then: polynomials with fused
// multiply-add, one division or root instead of tables, and branches only where an argument is rare (huge, subnormal, a zero's neighbourhood).
//
// Sources: CUDA C++ Programming Guide 13.0 ("Mathematical Functions": bounds), CUDA Math API (special values), C99 appendix F. Sums of two doubles: Dekker
// (1971). Reduction of angles: Cody and Waite (1980), Payne and Hanek (1983). erfc: Shepherd and Laframboise (1981). erfinv in terms of -log(1 - x^2): Giles
// (2010). Bessel functions: Hankel's expansions (Abramowitz and Stegun 9.2), Miller's recurrence. Coefficients are our own: the best polynomials by Remez'
// exchange in 320 bits, rounded one by one from the lowest, the rest fitted anew each time.
#pragma once
#pragma float_control(push)
#pragma clang fp contract(off)
extern "C++" {

// Polynomials by Horner's rule: the first coefficient is that of x^0.
#define RTCG_DFMA(a, b, c) __builtin_fma(a, b, c)
#define RTCG_DP2(x, a, b) RTCG_DFMA(b, x, a)
#define RTCG_DP3(x, a, ...) RTCG_DFMA(RTCG_DP2(x, __VA_ARGS__), x, a)
#define RTCG_DP4(x, a, ...) RTCG_DFMA(RTCG_DP3(x, __VA_ARGS__), x, a)
#define RTCG_DP5(x, a, ...) RTCG_DFMA(RTCG_DP4(x, __VA_ARGS__), x, a)
#define RTCG_DP6(x, a, ...) RTCG_DFMA(RTCG_DP5(x, __VA_ARGS__), x, a)
#define RTCG_DP7(x, a, ...) RTCG_DFMA(RTCG_DP6(x, __VA_ARGS__), x, a)
#define RTCG_DP8(x, a, ...) RTCG_DFMA(RTCG_DP7(x, __VA_ARGS__), x, a)
#define RTCG_DP9(x, a, ...) RTCG_DFMA(RTCG_DP8(x, __VA_ARGS__), x, a)
#define RTCG_DP10(x, a, ...) RTCG_DFMA(RTCG_DP9(x, __VA_ARGS__), x, a)
#define RTCG_DP11(x, a, ...) RTCG_DFMA(RTCG_DP10(x, __VA_ARGS__), x, a)
#define RTCG_DP12(x, a, ...) RTCG_DFMA(RTCG_DP11(x, __VA_ARGS__), x, a)
#define RTCG_DP13(x, a, ...) RTCG_DFMA(RTCG_DP12(x, __VA_ARGS__), x, a)
#define RTCG_DP14(x, a, ...) RTCG_DFMA(RTCG_DP13(x, __VA_ARGS__), x, a)
#define RTCG_DP15(x, a, ...) RTCG_DFMA(RTCG_DP14(x, __VA_ARGS__), x, a)
#define RTCG_DP16(x, a, ...) RTCG_DFMA(RTCG_DP15(x, __VA_ARGS__), x, a)
#define RTCG_DP17(x, a, ...) RTCG_DFMA(RTCG_DP16(x, __VA_ARGS__), x, a)
#define RTCG_DP18(x, a, ...) RTCG_DFMA(RTCG_DP17(x, __VA_ARGS__), x, a)
#define RTCG_DP19(x, a, ...) RTCG_DFMA(RTCG_DP18(x, __VA_ARGS__), x, a)
#define RTCG_DP20(x, a, ...) RTCG_DFMA(RTCG_DP19(x, __VA_ARGS__), x, a)
#define RTCG_DP21(x, a, ...) RTCG_DFMA(RTCG_DP20(x, __VA_ARGS__), x, a)
#define RTCG_DP22(x, a, ...) RTCG_DFMA(RTCG_DP21(x, __VA_ARGS__), x, a)
#define RTCG_DP23(x, a, ...) RTCG_DFMA(RTCG_DP22(x, __VA_ARGS__), x, a)
#define RTCG_DP24(x, a, ...) RTCG_DFMA(RTCG_DP23(x, __VA_ARGS__), x, a)
#define RTCG_DP25(x, a, ...) RTCG_DFMA(RTCG_DP24(x, __VA_ARGS__), x, a)
#define RTCG_DP26(x, a, ...) RTCG_DFMA(RTCG_DP25(x, __VA_ARGS__), x, a)

#define RTCG_DINF __builtin_inf()
#define RTCG_DNAN __rtcg_dreal(0x7ff8000000000000ul)

struct __rtcg_dd { double hi, lo; };
RTCG_DEVICE unsigned long __rtcg_dbits(double x) { return __builtin_bit_cast(unsigned long, x); }
RTCG_DEVICE double __rtcg_dreal(unsigned long u) { return __builtin_bit_cast(double, u); }
RTCG_DEVICE int __rtcg_dhi(double x) { return (int)(__rtcg_dbits(x) >> 32); }
RTCG_DEVICE int __rtcg_dlo(double x) { return (int)__rtcg_dbits(x); }
RTCG_DEVICE double __rtcg_dwords(int hi, int lo) { return __rtcg_dreal((unsigned long)(unsigned)hi << 32 | (unsigned)lo); }
RTCG_DEVICE bool __rtcg_dnegative(double x) { return __rtcg_dhi(x) < 0; }
RTCG_DEVICE double __rtcg_dflip(double x, unsigned long sign) { return __rtcg_dreal(__rtcg_dbits(x) ^ sign); }
// Conversions of integers are slow on some processors; these are a few bits and a sum.
RTCG_DEVICE double __rtcg_dof(int n) { return __rtcg_dwords(0x43300000, n ^ (int)0x80000000) - 0x1.000008p52; }
RTCG_DEVICE double __rtcg_dof_unsigned(unsigned n) { return __rtcg_dwords(0x43300000, (int)n) - 0x1p52; }
// 2^n for -1022 <= n <= 1023.
RTCG_DEVICE double __rtcg_dpower(int n) { return __rtcg_dwords((n + 1023) << 20, 0); }
// A number plus this has the nearest integer in its last bits.
#define RTCG_DROUNDER 0x1.8p52
// p 2^n for t = RTCG_DROUNDER + n: where the result is a normal number, and rounded once for |n| < 2044.
RTCG_DEVICE double __rtcg_dscaled(double p, double t) { return __rtcg_dreal(__rtcg_dbits(p) + (__rtcg_dbits(t) << 52)); }
RTCG_DEVICE double __rtcg_dscaled_far(double p, double t) {
    const int n = __rtcg_dlo(t), first = n >> 1;
    return p * __rtcg_dpower(first) * __rtcg_dpower(n - first);
}
RTCG_DEVICE __rtcg_dd __rtcg_dsum(double a, double b) {
    const double s = a + b, v = s - a;
    return {s, (a - (s - v)) + (b - v)};
}
// Where |a| >= |b| or a = 0.
RTCG_DEVICE __rtcg_dd __rtcg_dquick(double a, double b) {
    const double s = a + b;
    return {s, b - (s - a)};
}
RTCG_DEVICE __rtcg_dd __rtcg_dproduct(double a, double b) {
    const double p = a * b;
    return {p, RTCG_DFMA(a, b, -p)};
}

// Exponential functions.
#define RTCG_DLOG2E 0x1.71547652b82fep0
#define RTCG_DLN2 0x1.62e42fefa39efp-1
#define RTCG_DLN2_LO 0x1.abc9e3b39803fp-56
// (exp(r) - 1 - r) / r^2.
RTCG_DEVICE double __rtcg_dexp_rest(double r) { return RTCG_DP10(r, 0x1.000000000000ap-1, 0x1.55555555554fcp-3, 0x1.5555555550697p-5, 0x1.11111111271ep-7,
    0x1.6c16c18484102p-10, 0x1.a01a012e1ba0bp-13, 0x1.a019993308ebep-16, 0x1.71df1c2727a88p-19, 0x1.28ae2adba913ap-22, 0x1.ad8f041ba7caap-26); }
RTCG_DEVICE double __rtcg_dexp_far(double x, double y) {
    y = x > 710 ? RTCG_DINF : y;
    return x < -746 ? 0.0 : y;
}
// The rare cases are functions of the argument alone, out of line: else what they share with the usual one is kept for them in memory.
// A power by its series: it is infinite from `over`, 0 below `under`, and between them rounded once where |x| < `near`.
#define RTCG_DEXPONENTIAL(name, over, under, near) \
    RTCG_RARE double __rtcg_d##name##_rare(double x) { \
        double t; \
        const double p = __rtcg_d##name##_series(x, &t), y = x >= over ? RTCG_DINF : __rtcg_dscaled_far(p, t); \
        return x < under ? 0.0 : y; \
    } \
    RTCG_DEVICE double name(double x) { \
        double t; \
        const double p = __rtcg_d##name##_series(x, &t); \
        double y = __rtcg_dscaled(p, t); \
        if (!(__builtin_fabs(x) < near)) y = __rtcg_d##name##_rare(x); \
        return y; \
    }
RTCG_DEVICE double __rtcg_dexp_series(double x, double *t) {
    *t = RTCG_DFMA(x, RTCG_DLOG2E, RTCG_DROUNDER);
    const double n = *t - RTCG_DROUNDER, r = RTCG_DFMA(n, -RTCG_DLN2_LO, RTCG_DFMA(n, -RTCG_DLN2, x));
    return RTCG_DP12(r, 1.0, 1.0, 0x1.000000000000ap-1, 0x1.55555555554fcp-3, 0x1.5555555550697p-5, 0x1.11111111271ep-7, 0x1.6c16c18484102p-10,
        0x1.a01a012e1ba0bp-13, 0x1.a019993308ebep-16, 0x1.71df1c2727a88p-19, 0x1.28ae2adba913ap-22, 0x1.ad8f041ba7caap-26);
}
RTCG_DEXPONENTIAL(exp, 710, -746, 708)
RTCG_DEVICE double __rtcg_dexp2_series(double x, double *t) {
    *t = x + RTCG_DROUNDER;
    const double r = x - (*t - RTCG_DROUNDER);
    return RTCG_DP12(r, 1.0, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a4p-3, 0x1.c6b08d704a121p-5, 0x1.3b2ab6fba01b1p-7, 0x1.5d87fe78a15d6p-10,
        0x1.4309130ebf1eep-13, 0x1.ffcbfc57a366ep-17, 0x1.62bfc7d5ccdb5p-20, 0x1.b525435c1e765p-24, 0x1.e61af872da9d1p-28, 0x1.e940b0f29bd38p-32);
}
RTCG_DEXPONENTIAL(exp2, 1024, -1076, 1021)
// exp(hi + lo) = m 2^n, m in [0.7, 1.42], with RTCG_DROUNDER + n in *t.
RTCG_DEVICE __rtcg_dd __rtcg_dexp_mantissa_of(double hi, double lo, double *t) {
    *t = RTCG_DFMA(hi, RTCG_DLOG2E, RTCG_DROUNDER);
    const double n = *t - RTCG_DROUNDER, r = RTCG_DFMA(n, -RTCG_DLN2, hi), s = RTCG_DFMA(n, -RTCG_DLN2_LO, lo), q = r + s;
    const double p = RTCG_DFMA(q * q, __rtcg_dexp_rest(q), s), one = 1 + r;
    return __rtcg_dquick(one, (r - (one - 1)) + p);
}
RTCG_DEVICE double __rtcg_dexp_mantissa(double hi, double lo, double *t) { return __rtcg_dexp_mantissa_of(hi, lo, t).hi; }
RTCG_DEVICE double __rtcg_dexp10_series(double x, double *t) {
    // x = n log10(2) + f, and `lost` is what f rounds off.
    *t = RTCG_DFMA(x, 0x1.a934f0979a371p1, RTCG_DROUNDER);
    const double n = *t - RTCG_DROUNDER, whole = RTCG_DFMA(n, -0x1.34413509f78p-2, x), f = RTCG_DFMA(n, -0x1.fef311f12b358p-46, whole),
        lost = RTCG_DFMA(n, -0x1.fef311f12b358p-46, whole - f);
    const double p = RTCG_DFMA(f * f, RTCG_DP10(f, 0x1.53524c73cea76p1, 0x1.0470591de2c6p1, 0x1.2bd7609fd5398p0, 0x1.1429ffd1eb246p-1,
        0x1.a7ed70a0ed97ep-3, 0x1.16e4df76cc082p-4, 0x1.41165fcb09588p-6, 0x1.48988cfc0fc27p-8, 0x1.2f72f199572bp-10, 0x1.f9d4a2e61b14fp-13),
        RTCG_DFMA(f, -0x1.f48ad494ea3e9p-53, lost * 0x1.26bb1bbb55516p1));
    return 1 + RTCG_DFMA(f, 0x1.26bb1bbb55516p1, p);
}
RTCG_DEXPONENTIAL(exp10, 309, -324, 307)
#undef RTCG_DEXPONENTIAL
// exp(x) - 1 for |x| < 708.
RTCG_DEVICE __rtcg_dd __rtcg_dexpm1(double x) {
    const double t = RTCG_DFMA(x, RTCG_DLOG2E, RTCG_DROUNDER), n = t - RTCG_DROUNDER;
    const double r = RTCG_DFMA(n, -RTCG_DLN2, x), s = n * -RTCG_DLN2_LO, q = r + s, z = q * q;
    const double p = RTCG_DFMA(z, 0x1.000000000000ap-1, RTCG_DFMA(z * q, RTCG_DP9(q, 0x1.55555555554fcp-3, 0x1.5555555550697p-5,
        0x1.11111111271ep-7, 0x1.6c16c18484102p-10, 0x1.a01a012e1ba0bp-13, 0x1.a019993308ebep-16, 0x1.71df1c2727a88p-19, 0x1.28ae2adba913ap-22,
        0x1.ad8f041ba7caap-26), s));
    const double u = __rtcg_dscaled(1.0, t), c = u - 1, h = RTCG_DFMA(u, r, c);
    return {h, RTCG_DFMA(u, p, RTCG_DFMA(u, r, c - h))};
}
RTCG_DEVICE double expm1(double x) {
    const __rtcg_dd v = __rtcg_dexpm1(x);
    double y = v.hi + v.lo;
    if (!(__builtin_fabs(x) < 708)) y = x < 0 ? -1.0 : __rtcg_dexp_rare(x);
    return __builtin_copysign(y, x);
}
// exp(a) / 2.
RTCG_RARE double __rtcg_dexp_half_rare(double a) {
    double t;
    const double m = __rtcg_dexp_mantissa(a, 0, &t);
    return a > 711 ? RTCG_DINF : __rtcg_dscaled_far(m, t - 1);
}
RTCG_DEVICE double sinh(double x) {
    const double a = __builtin_fabs(x);
    const __rtcg_dd v = __rtcg_dexpm1(a);
    const double e = v.hi + v.lo;
    double y = 0.5 * (v.hi + (v.lo + e / (e + 1)));
    if (!(a < 708)) y = __rtcg_dexp_half_rare(a);
    return __builtin_copysign(y, x);
}
RTCG_DEVICE double cosh(double x) {
    const double a = __builtin_fabs(x);
    double t;
    const __rtcg_dd m = __rtcg_dexp_mantissa_of(a, 0, &t);
    const double u = __rtcg_dscaled(1.0, t - 1), h = m.hi * u;
    double y = h + RTCG_DFMA(m.lo, u, 0.25 / h);
    if (!(a < 708)) y = __rtcg_dexp_half_rare(a);
    return y;
}
RTCG_DEVICE double tanh(double x) {
    const double a = __builtin_fabs(x), b = a > 20 ? 20.0 : a;
    const __rtcg_dd u = __rtcg_dexpm1(b + b), v = __rtcg_dquick(u.hi, u.lo), d = __rtcg_dsum(2, v.hi);
    const double r = 1 / d.hi, q = v.hi * r, rest = RTCG_DFMA(-q, d.hi, v.hi) + RTCG_DFMA(-q, d.lo + v.lo, v.lo);
    return __builtin_copysign(RTCG_DFMA(rest, r, q), x);
}

// Logarithms. a = m 2^e with m in [sqrt(1/2), sqrt(2)), for finite a > 0.
RTCG_DEVICE bool __rtcg_dis_positive_normal(double a) { return (unsigned)(__rtcg_dhi(a) - 0x00100000) < 0x7fe00000u; }
RTCG_DEVICE double __rtcg_dsplit_normal(double a, int *e) {
    *e = (__rtcg_dhi(a) - 0x3fe6a09e) >> 20;
    return __rtcg_dreal(__rtcg_dbits(a) - ((unsigned long)(unsigned)*e << 52));
}
RTCG_DEVICE double __rtcg_dsplit(double a, int *e) {
    const bool is_small = a < 0x1p-1022;
    int k;
    const double m = __rtcg_dsplit_normal(is_small ? a * 0x1p54 : a, &k);
    *e = is_small ? k - 54 : k;
    return m;
}
// log(1 + f + f_lo), as 2 atanh(s) for s = f / (2 + f): to 2^-59.
RTCG_DEVICE __rtcg_dd __rtcg_dlog_of(double f, double f_lo) {
    const double d = 2 + f, d_lo = f_lo + (f - (d - 2)), r = 1 / d, s = f * r, s_lo = r * (RTCG_DFMA(-s, d, f) + RTCG_DFMA(-s, d_lo, f_lo)), z = s * s;
    return {s + s, RTCG_DFMA(s * z, RTCG_DP7(z, 0x1.5555555555592p-1, 0x1.999999997ff58p-2, 0x1.24924941dc722p-2, 0x1.c71c5218bf882p-3,
        0x1.74663bfd46228p-3, 0x1.39a200dea067bp-3, 0x1.2f02cd8032f54p-3), s_lo + s_lo)};
}
#define RTCG_DLN2_SHORT 0x1.62e42fefa38p-1
#define RTCG_DLN2_REST 0x1.ef35793c7673p-45
// log(m 2^k); hi and lo overlap.
RTCG_DEVICE __rtcg_dd __rtcg_dlog_split(double m, int k) {
    const double e = __rtcg_dof(k);
    const __rtcg_dd l = __rtcg_dlog_of(m - 1, 0), w = __rtcg_dquick(e * RTCG_DLN2_SHORT, l.hi);
    return {w.hi, w.lo + RTCG_DFMA(e, RTCG_DLN2_REST, l.lo)};
}
// For finite a > 0.
RTCG_DEVICE __rtcg_dd __rtcg_dlog(double a) {
    int k;
    const double m = __rtcg_dsplit(a, &k);
    return __rtcg_dlog_split(m, k);
}
// The same to 2^-65.
RTCG_DEVICE __rtcg_dd __rtcg_dlog_close_split(double m, int k) {
    const double e = __rtcg_dof(k), f = m - 1;
    const double d = 2 + f, d_lo = f - (d - 2), r = 1 / d, s = f * r, s_lo = r * (RTCG_DFMA(-s, d, f) - s * d_lo);
    const double z = s * s, z_lo = RTCG_DFMA(s, s, -z) + (s + s) * s_lo, c = z * RTCG_DP8(z, 0x1.9999999999996p-2, 0x1.2492492492f4ap-2,
        0x1.c71c71c597be9p-3, 0x1.745d1828b3deap-3, 0x1.3b1364f5ffee4p-3, 0x1.1120687fc6823p-3, 0x1.de3e793ed8ef4p-4, 0x1.eabd6d054f953p-4);
    // 2 s + s z (2/3 + c).
    const __rtcg_dd p = __rtcg_dquick(0x1.5555555555555p-1, c), v = __rtcg_dproduct(z, p.hi);
    const double v_lo = v.lo + RTCG_DFMA(z, p.lo + 0x1.5555555555555p-55, z_lo * p.hi);
    const __rtcg_dd u = __rtcg_dproduct(s, v.hi), h = __rtcg_dquick(s + s, u.hi), w = __rtcg_dquick(e * RTCG_DLN2_SHORT, h.hi);
    const double lo = h.lo + (u.lo + RTCG_DFMA(s, v_lo, RTCG_DFMA(s_lo, v.hi, s_lo + s_lo)));
    return __rtcg_dquick(w.hi, w.lo + RTCG_DFMA(e, RTCG_DLN2_REST, lo));
}
RTCG_DEVICE __rtcg_dd __rtcg_dlog_close(double a) {
    int k;
    const double m = __rtcg_dsplit(a, &k);
    return __rtcg_dlog_close_split(m, k);
}
RTCG_DEVICE bool __rtcg_dlog_is_special(double a) { return !(a > 0 && a < RTCG_DINF); }
RTCG_DEVICE double __rtcg_dlog_special(double a) { return a == 0 ? -RTCG_DINF : a < 0 ? RTCG_DNAN : a; }
RTCG_DEVICE double __rtcg_dlog_sum(double m, int k) {
    const __rtcg_dd l = __rtcg_dlog_split(m, k);
    return l.hi + l.lo;
}
RTCG_DEVICE double __rtcg_dlog2_sum(double m, int k) {
    const __rtcg_dd l = __rtcg_dlog_of(m - 1, 0), p = __rtcg_dproduct(l.hi, 0x1.71547652b82fep0), w = __rtcg_dquick(__rtcg_dof(k), p.hi);
    return w.hi + (w.lo + (p.lo + RTCG_DFMA(l.hi, 0x1.777d0ffda0d24p-56, l.lo * 0x1.71547652b82fep0)));
}
RTCG_DEVICE double __rtcg_dlog10_sum(double m, int k) {
    const double e = __rtcg_dof(k);
    const __rtcg_dd l = __rtcg_dlog_of(m - 1, 0), p = __rtcg_dproduct(l.hi, 0x1.bcb7b1526e50ep-2), w = __rtcg_dquick(e * 0x1.34413509f78p-2, p.hi);
    return w.hi + (w.lo + RTCG_DFMA(e, 0x1.fef311f12b358p-46, p.lo + RTCG_DFMA(l.hi, 0x1.95355baaafad3p-57, l.lo * 0x1.bcb7b1526e50ep-2)));
}
#define RTCG_DLOG(name) \
    RTCG_RARE double __rtcg_d##name##_rare(double a) { \
        int k; \
        const double m = __rtcg_dsplit(a, &k), y = __rtcg_d##name##_sum(m, k); \
        return __rtcg_dlog_is_special(a) ? __rtcg_dlog_special(a) : y; \
    } \
    RTCG_DEVICE double name(double a) { \
        int k; \
        const double m = __rtcg_dsplit_normal(a, &k); \
        double y = __rtcg_d##name##_sum(m, k); \
        if (!__rtcg_dis_positive_normal(a)) y = __rtcg_d##name##_rare(a); \
        return y; \
    }
RTCG_DLOG(log) RTCG_DLOG(log2) RTCG_DLOG(log10)
#undef RTCG_DLOG
RTCG_DEVICE double log1p(double x) {
    const __rtcg_dd u = __rtcg_dsum(1, x);
    int k;
    const double m = __rtcg_dsplit(u.hi, &k), e = __rtcg_dof(k), down = __rtcg_dpower(k < 1000 ? -k : -1000);
    const __rtcg_dd l = __rtcg_dlog_of(k == 0 ? x : m - 1, k == 0 ? 0.0 : u.lo * down), w = __rtcg_dquick(e * RTCG_DLN2_SHORT, l.hi);
    double y = w.hi + (w.lo + RTCG_DFMA(e, RTCG_DLN2_REST, l.lo));
    if (__rtcg_dlog_is_special(u.hi)) y = x == -1 ? -RTCG_DINF : x < -1 ? RTCG_DNAN : x;
    y = __builtin_fabs(x) < 0x1p-54 ? x : y;
    return __builtin_copysign(y, x);
}
RTCG_DEVICE double asinh(double x) {
    const double a = __builtin_fabs(x), z = a * a, v = a + z / (1 + __builtin_sqrt(RTCG_DFMA(a, a, 1.0)));
    const bool is_large = a > 0x1p60;
    const double y = log1p(is_large ? a : v) + (is_large ? RTCG_DLN2 : 0.0);
    return __builtin_copysign(a == 0 ? a : y, x);
}
RTCG_DEVICE double acosh(double x) {
    const double a = x - 1, v = a + __builtin_sqrt(RTCG_DFMA(a, a, a + a));
    const bool is_large = a > 0x1p60;
    const double y = log1p(is_large ? a : v) + (is_large ? RTCG_DLN2 : 0.0);
    return x < 1 ? RTCG_DNAN : y;
}
RTCG_DEVICE double atanh(double x) {
    const double a = __builtin_fabs(x);
    return __builtin_copysign(0.5 * log1p((a + a) / (1 - a)), x);
}

// The sign of a power, where b is whole, and NaN else for a < 0. Where b is not whole, neither is b / 2.
RTCG_DEVICE double __rtcg_dpow_signed(double y, double a, double b, bool *is_odd) {
    const double halved = 0.5 * b;
    const bool is_whole = __builtin_rint(b) == b;
    *is_odd = is_whole && __builtin_rint(halved) != halved;
    y = *is_odd ? __builtin_copysign(y, a) : y;
    return a < 0 && !is_whole ? RTCG_DNAN : y;
}
// |a|^b, where its logarithm is far from 0 too, and the special cases of C99.
RTCG_RARE double __rtcg_dpow_rare(double a, double b) {
    const double x = __builtin_fabs(a);
    const __rtcg_dd l = __rtcg_dlog_close(x), p = __rtcg_dproduct(b, l.hi);
    double t;
    const double m = __rtcg_dexp_mantissa(p.hi, RTCG_DFMA(b, l.lo, p.lo), &t);
    bool is_odd;
    double y = __rtcg_dpow_signed(__rtcg_dexp_far(p.hi, __rtcg_dscaled_far(m, t)), a, b, &is_odd);
    if (!(x > 0 && x < RTCG_DINF && __builtin_fabs(b) < RTCG_DINF)) {
        const double far = b < 0 ? (x > 1 ? 0.0 : RTCG_DINF) : (x > 1 ? RTCG_DINF : 0.0);
        y = __builtin_copysign(far, is_odd ? a : 1.0);
        y = x == 1 ? 1.0 : y;
        y = a != a || b != b ? a + b : y;
    }
    return a == 1 || b == 0 ? 1.0 : y;
}
RTCG_DEVICE double pow(double a, double b) {
    const double x = __builtin_fabs(a);
    int k;
    const double split = __rtcg_dsplit_normal(x, &k);
    const __rtcg_dd l = __rtcg_dlog_close_split(split, k), p = __rtcg_dproduct(b, l.hi);
    double t;
    const double m = __rtcg_dexp_mantissa(p.hi, RTCG_DFMA(b, l.lo, p.lo), &t);
    bool is_odd;
    double y = __rtcg_dpow_signed(__rtcg_dscaled(m, t), a, b, &is_odd);
    if (!(__rtcg_dis_positive_normal(x) & (__builtin_fabs(p.hi) < 708))) y = __rtcg_dpow_rare(a, b);
    return y;
}

// Roots. a^(-1/3) to 2^-60 h, for a normal a > 0; the first guess is linear in the bits of a.
RTCG_DEVICE double __rtcg_dcube_root_inverse(double a) {
    const double w = RTCG_DFMA(__rtcg_dof_unsigned((unsigned)__rtcg_dhi(a)), -0x1.5555555555555p-2, 0x1.54fc5e5p30 + RTCG_DROUNDER);
    double g = __rtcg_dwords(__rtcg_dlo(w), 0), h = RTCG_DFMA(-(a * g), g * g, 1.0);
    g = RTCG_DFMA(g * h, RTCG_DP4(h, 0x1.5555555555555p-2, 0x1.c71c71c71c71cp-3, 0x1.61f9add3c0ca4p-3, 0x1.26fabb85cb534p-3), g);
    h = RTCG_DFMA(-(a * g), g * g, 1.0);
    return RTCG_DFMA(g * h, RTCG_DP2(h, 0x1.5555555555555p-2, 0x1.c71c71c71c71cp-3), g);
}
RTCG_DEVICE double cbrt(double x) {
    const double a = __builtin_fabs(x);
    const bool is_small = a < 0x1p-1022;
    const double b = is_small ? a * 0x1p54 : a, g = __rtcg_dcube_root_inverse(b), gg = g * g, y = b * gg, s = y * y;
    const double rest = RTCG_DFMA(-s, y, b) - RTCG_DFMA(y, y, -s) * y, z = RTCG_DFMA(rest, gg * 0x1.5555555555555p-2, y), r = is_small ? z * 0x1p-18 : z;
    return __builtin_copysign(a < RTCG_DINF ? r : a, x);
}
RTCG_DEVICE double rcbrt(double x) {
    const double a = __builtin_fabs(x);
    const bool is_small = a < 0x1p-1022;
    const double b = is_small ? a * 0x1p54 : a, g = __rtcg_dcube_root_inverse(b), gg = g * g, u = b * g;
    const double rest = RTCG_DFMA(-u, gg, 1.0) - RTCG_DFMA(u, RTCG_DFMA(g, g, -gg), RTCG_DFMA(b, g, -u) * gg);
    const double z = RTCG_DFMA(g * 0x1.5555555555555p-2, rest, g);
    double r = is_small ? z * 0x1p18 : z;
    r = a == 0 ? RTCG_DINF : r;
    r = a == RTCG_DINF ? 0.0 : r;
    return __builtin_copysign(r, x);
}
RTCG_DEVICE double sqrt(double x) { return __builtin_sqrt(x); }
// 1 / sqrt(hi + lo), rounded nearly once.
RTCG_DEVICE double __rtcg_drsqrt(double hi, double lo) {
    const double y = __builtin_sqrt(hi), r = 1 / y, rest = RTCG_DFMA(-y, y, hi) + lo;
    return RTCG_DFMA(r, RTCG_DFMA(-0.5 * rest * r, r, RTCG_DFMA(-r, y, 1.0)), r);
}
// Where the first product below would round off a subnormal number, and special values.
RTCG_RARE double __rtcg_drsqrt_rare(double x) { return x > 0 && x < 1 ? __rtcg_drsqrt(x * 0x1p200, 0) * 0x1p100 : 1 / __builtin_sqrt(x); }
RTCG_DEVICE double rsqrt(double x) {
    double z = __rtcg_drsqrt(x, 0);
    if (!(x > 0x1p-960 && x < RTCG_DINF)) z = __rtcg_drsqrt_rare(x);
    return z;
}
// 2^-e and 2^e for numbers of at most this size, so that scaled ones have squares in range.
RTCG_DEVICE double __rtcg_dsize_scales(double largest, double *up) {
    const int f = __rtcg_dhi(largest) & 0x7ff00000, field = f < 0x7fc00000 ? f : 0x7fc00000;
    *up = __rtcg_dwords(field + 0x00100000, 0);
    return __rtcg_dwords(0x7fd00000 - field, 0);
}
RTCG_DEVICE bool __rtcg_dis_infinite(double x) { return __builtin_fabs(x) == RTCG_DINF; }
RTCG_DEVICE double __rtcg_dlarger(double a, double b) { return a > b ? a : b; }
RTCG_DEVICE double __rtcg_dsmaller(double a, double b) { return a > b ? b : a; }
RTCG_DEVICE double hypot(double x, double y) {
    const double a = __builtin_fabs(x), b = __builtin_fabs(y);
    double up;
    const double down = __rtcg_dsize_scales(__rtcg_dlarger(a, b), &up), u = a * down, v = b * down, r = __builtin_sqrt(RTCG_DFMA(u, u, v * v)) * up;
    return a == RTCG_DINF || b == RTCG_DINF ? RTCG_DINF : r;
}
// hi + lo plus a square.
RTCG_DEVICE __rtcg_dd __rtcg_dadd_square(__rtcg_dd s, double x) {
    const __rtcg_dd p = __rtcg_dproduct(x, x), w = __rtcg_dsum(s.hi, p.hi);
    return {w.hi, s.lo + (w.lo + p.lo)};
}
// The same, but for a rounding where the square is larger than the sum.
RTCG_DEVICE __rtcg_dd __rtcg_dadd_square_quick(__rtcg_dd s, double x) {
    const double w = RTCG_DFMA(x, x, s.hi);
    return {w, s.lo + RTCG_DFMA(x, x, s.hi - w)};
}
RTCG_DEVICE double __rtcg_droot(__rtcg_dd s, double up) {
    const double y = __builtin_sqrt(s.hi), r = RTCG_DFMA(RTCG_DFMA(-y, y, s.hi) + s.lo, 0.5 / y, y);
    return (s.hi > 0 ? r : y) * up;
}
RTCG_DEVICE double __rtcg_droot_inverse(__rtcg_dd s, double down) {
    const double r = __rtcg_drsqrt(s.hi, s.lo);
    return s.hi == 0 ? RTCG_DINF : r * down;
}
RTCG_DEVICE double rhypot(double x, double y) {
    const double a = __builtin_fabs(x), b = __builtin_fabs(y), large = __rtcg_dlarger(a, b), small = __rtcg_dsmaller(a, b);
    double up;
    const double down = __rtcg_dsize_scales(large, &up);
    const __rtcg_dd p = __rtcg_dproduct(large * down, large * down), q = __rtcg_dproduct(small * down, small * down), s = __rtcg_dquick(p.hi, q.hi);
    const double r = __rtcg_droot_inverse({s.hi, s.lo + (p.lo + q.lo)}, down);
    return a == RTCG_DINF || b == RTCG_DINF ? 0.0 : r;
}
#define RTCG_DNORM3(name, form, at_infinity) \
    RTCG_DEVICE double name(double x, double y, double z) { \
        const double a = __builtin_fabs(x), b = __builtin_fabs(y), c = __builtin_fabs(z), d = __rtcg_dlarger(a, b), large = __rtcg_dlarger(d, c); \
        double up; \
        const double down = __rtcg_dsize_scales(large, &up), u = __rtcg_dsmaller(d, c) * down, v = __rtcg_dsmaller(a, b) * down; \
        const __rtcg_dd p = __rtcg_dproduct(large * down, large * down), s = __rtcg_dquick(p.hi, RTCG_DFMA(u, u, v * v)); \
        const double r = form((__rtcg_dd{s.hi, s.lo + p.lo})); \
        return a == RTCG_DINF || b == RTCG_DINF || c == RTCG_DINF ? at_infinity : r; \
    }
#define RTCG_DNORM4(name, form, at_infinity) \
    RTCG_DEVICE double name(double x, double y, double z, double w) { \
        const double a = __rtcg_dlarger(__builtin_fabs(x), __builtin_fabs(y)), b = __rtcg_dlarger(__builtin_fabs(z), __builtin_fabs(w)); \
        double up; \
        const double down = __rtcg_dsize_scales(__rtcg_dlarger(a, b), &up), u = x * down; \
        const double r = form(__rtcg_dadd_square(__rtcg_dadd_square(__rtcg_dadd_square(__rtcg_dproduct(u, u), y * down), z * down), w * down)); \
        return __rtcg_dis_infinite(x) || __rtcg_dis_infinite(y) || __rtcg_dis_infinite(z) || __rtcg_dis_infinite(w) ? at_infinity : r; \
    }
#define RTCG_DNORM(name, form, at_infinity) \
    RTCG_LONG double name(int n, const double *a) { \
        double largest = 0, up; \
        for (int i = 0; i < n; i++) largest = __rtcg_dlarger(__builtin_fabs(a[i]), largest); \
        const double down = __rtcg_dsize_scales(largest, &up); \
        __rtcg_dd s = {0, 0}; \
        for (int i = 0; i < n; i++) s = __rtcg_dadd_square_quick(s, a[i] * down); \
        return largest == RTCG_DINF ? at_infinity : form(s); \
    }
#define RTCG_DFORM(s) __rtcg_droot(s, up)
#define RTCG_DINVERSE_FORM(s) __rtcg_droot_inverse(s, down)
RTCG_DNORM3(norm3d, RTCG_DFORM, RTCG_DINF) RTCG_DNORM3(rnorm3d, RTCG_DINVERSE_FORM, 0.0)
RTCG_DNORM4(norm4d, RTCG_DFORM, RTCG_DINF) RTCG_DNORM4(rnorm4d, RTCG_DINVERSE_FORM, 0.0)
RTCG_DNORM(norm, RTCG_DFORM, RTCG_DINF) RTCG_DNORM(rnorm, RTCG_DINVERSE_FORM, 0.0)
#undef RTCG_DNORM3
#undef RTCG_DNORM4
#undef RTCG_DNORM
#undef RTCG_DFORM
#undef RTCG_DINVERSE_FORM

// Angles: x = k pi/2 + hi + lo with |hi| <= pi/4; only the last bits of k count.
struct __rtcg_dangle { double hi, lo; int k; };
RTCG_TABLE unsigned long __rtcg_dtwo_over_pi[20] = {
    0xa2f9836e4e441529ul, 0xfc2757d1f534ddc0ul, 0xdb6295993c439041ul, 0xfe5163abdebbc561ul, 0xb7246e3a424dd2e0ul,
    0x06492eea09d1921cul, 0xfe1deb1cb129a73eul, 0xe88235f52ebb4484ul, 0xe99c7026b45f7e41ul, 0x3991d639835339f4ul,
    0x9c845f8bbdf9283bul, 0x1ff897ffde05980ful, 0xef2f118b5a0a6d1ful, 0x6d367ecf27cb09b7ul, 0x4f463f669e5fea2dul,
    0x7527bac7ebe5f17bul, 0x3d0739f78a5292eaul, 0x6bfb5fb11f8d5d08ul, 0x56033046fc7b6babul, 0xf0cfbc209af4361dul
};
#define RTCG_DPIO2 0x1.921fb54442d18p0
#define RTCG_DPIO2_LO 0x1.1a62633145c07p-54
RTCG_DEVICE unsigned long __rtcg_dmulhi(unsigned long a, unsigned long b) { return (unsigned long)((unsigned __int128)a * b >> 64); }
// Of 2/pi only those bits count that make less than 4 turns of the product.
RTCG_RARE __rtcg_dangle __rtcg_dreduce_far(double x) {
    const unsigned long bits = (__rtcg_dbits(x) & 0xffffffffffffful) | 0x10000000000000ul;
    const int e = ((__rtcg_dhi(x) >> 20) & 0x7ff) - 1075, first = e < 2 ? 0 : e - 2, word = first >> 6, shift = first & 63;
    unsigned long w0 = __rtcg_dtwo_over_pi[word], w1 = __rtcg_dtwo_over_pi[word + 1], w2 = __rtcg_dtwo_over_pi[word + 2], w3 = __rtcg_dtwo_over_pi[word + 3];
    w0 = w0 << shift | w1 >> 1 >> (63 - shift);
    w1 = w1 << shift | w2 >> 1 >> (63 - shift);
    w2 = w2 << shift | w3 >> 1 >> (63 - shift);
    unsigned long low2 = bits * w2, p1 = __rtcg_dmulhi(bits, w2) + bits * w1, p0 = __rtcg_dmulhi(bits, w1) + (p1 < bits * w1);
    p0 += bits * w0;
    const unsigned long whole = __rtcg_dmulhi(bits, w0) + (p0 < bits * w0);
    // The point is behind the second bit of p0, or further left for a small e.
    const int by = e < 2 ? 2 - e : 0;
    low2 = low2 >> by | (by ? p1 << 1 << (63 - by) : 0);
    p1 = p1 >> by | (by ? p0 << 1 << (63 - by) : 0);
    p0 = p0 >> by | (by ? whole << 1 << (63 - by) : 0);
    unsigned k = (unsigned)(p0 >> 62);
    unsigned long hi = p0 << 2 | p1 >> 62, lo = p1 << 2 | low2 >> 62;
    const bool is_above = (long)hi < 0;
    if (is_above) { k++; lo = ~lo + 1; hi = ~hi + (lo == 0); }
    const double a = __rtcg_dof_unsigned((unsigned)(hi >> 32)) * 0x1p-32, b = __rtcg_dof_unsigned((unsigned)hi) * 0x1p-64;
    const double c = __rtcg_dof_unsigned((unsigned)(lo >> 32)) * 0x1p-96, d = __rtcg_dof_unsigned((unsigned)lo) * 0x1p-128;
    const __rtcg_dd s = __rtcg_dquick(a, b), f = __rtcg_dquick(s.hi, s.lo + (c + d)), p = __rtcg_dproduct(f.hi, RTCG_DPIO2);
    const __rtcg_dd r = __rtcg_dquick(p.hi, p.lo + RTCG_DFMA(f.hi, RTCG_DPIO2_LO, f.lo * RTCG_DPIO2));
    const bool is_negative = __rtcg_dnegative(x);
    const unsigned long sign = is_above != is_negative ? 1ul << 63 : 0;
    const double nan = __builtin_fabs(x) < RTCG_DINF ? 0.0 : RTCG_DNAN;
    return {__rtcg_dflip(r.hi, sign) + nan, __rtcg_dflip(r.lo, sign), (int)(is_negative ? 0u - k : k)};
}
RTCG_DEVICE __rtcg_dangle __rtcg_dreduce(double x) {
    // x - n pi/2 in three steps. The first is exact, the second is a product of 53 bits, so that what its sum loses is known.
    const double t = RTCG_DFMA(x, 0x1.45f306dc9c883p-1, RTCG_DROUNDER), n = t - RTCG_DROUNDER, a = RTCG_DFMA(n, -RTCG_DPIO2, x), r = RTCG_DFMA(n,
        -0x1.1a626331p-54, a);
    __rtcg_dangle y = {r, RTCG_DFMA(n, -0x1.1701b839a252p-88, RTCG_DFMA(n, -0x1.1a626331p-54, a - r)), __rtcg_dlo(t)};
    if (!(__builtin_fabs(x) < 0x1p19)) y = __rtcg_dreduce_far(x);
    return y;
}
// Sums that do not overlap but for a rounding.
RTCG_DEVICE __rtcg_dd __rtcg_dsin_pair(double r, double lo, double z) { return __rtcg_dquick(r, RTCG_DFMA(r * z, RTCG_DP6(z, -0x1.5555555555549p-3,
    0x1.111111110f89ep-7, -0x1.a01a019c146bfp-13, 0x1.71de357935588p-19, -0x1.ae5e66da85956p-26, 0x1.5d930fec96c6ep-33), lo)); }
RTCG_DEVICE __rtcg_dd __rtcg_dcos_pair(double r, double lo, double z) {
    const double h = 0.5 * z, one = 1 - h;
    return __rtcg_dquick(one, (1 - one - h) + RTCG_DFMA(z * z, RTCG_DP6(z, 0x1.555555555554cp-5, -0x1.6c16c16c1521dp-10, 0x1.a01a019cbeedp-16,
        -0x1.27e4f8122e67fp-22, 0x1.1ee9f0d43e61ep-29, -0x1.8fb0dee525e5bp-37), -r * lo));
}
RTCG_DEVICE double __rtcg_dsin_of(double r, double lo, double z) { return __rtcg_dsin_pair(r, lo, z).hi; }
RTCG_DEVICE double __rtcg_dcos_of(double r, double lo, double z) { return 1 + RTCG_DFMA(z, RTCG_DP7(z, -0.5, 0x1.555555555554cp-5, -0x1.6c16c16c1521dp-10,
    0x1.a01a019cbeedp-16, -0x1.27e4f8122e67fp-22, 0x1.1ee9f0d43e61ep-29, -0x1.8fb0dee525e5bp-37), -r * lo); }
RTCG_DEVICE double __rtcg_dsin_turned(const __rtcg_dangle &y, int k) {
    const double z = y.hi * y.hi, s = __rtcg_dsin_of(y.hi, y.lo, z), c = __rtcg_dcos_of(y.hi, y.lo, z);
    return __rtcg_dflip(k & 1 ? c : s, (unsigned long)(unsigned)(k & 2) << 62);
}
RTCG_DEVICE double sin(double x) {
    const __rtcg_dangle y = __rtcg_dreduce(x);
    const double v = __rtcg_dsin_turned(y, y.k);
    return x == 0 ? x : v;
}
RTCG_DEVICE double cos(double x) {
    const __rtcg_dangle y = __rtcg_dreduce(x);
    return __rtcg_dsin_turned(y, y.k + 1);
}
RTCG_DEVICE void sincos(double x, double *sine, double *cosine) {
    const __rtcg_dangle y = __rtcg_dreduce(x);
    const double z = y.hi * y.hi, s = __rtcg_dsin_of(y.hi, y.lo, z), c = __rtcg_dcos_of(y.hi, y.lo, z);
    const double v = __rtcg_dflip(y.k & 1 ? c : s, (unsigned long)(unsigned)(y.k & 2) << 62);
    *sine = x == 0 ? x : v;
    *cosine = __rtcg_dflip(y.k & 1 ? s : c, (unsigned long)(unsigned)((y.k + 1) & 2) << 62);
}
RTCG_DEVICE double tan(double x) {
    const __rtcg_dangle y = __rtcg_dreduce(x);
    const double z = y.hi * y.hi;
    const __rtcg_dd s = __rtcg_dsin_pair(y.hi, y.lo, z), c = __rtcg_dcos_pair(y.hi, y.lo, z);
    const bool is_odd = y.k & 1;
    const double a = is_odd ? c.hi : s.hi, a_lo = is_odd ? c.lo : s.lo, b = is_odd ? -s.hi : c.hi, b_lo = is_odd ? -s.lo : c.lo, r = 1 / b, q = a * r;
    const double v = RTCG_DFMA(r, RTCG_DFMA(-q, b, a) + RTCG_DFMA(-q, b_lo, a_lo), q);
    return x == 0 ? x : v;
}
// Whole turns are subtracted exactly.
RTCG_DEVICE __rtcg_dangle __rtcg_dreduce_pi(double x) {
    const double y = x - 2 * __builtin_rint(0.5 * x), t = RTCG_DFMA(y, 2.0, RTCG_DROUNDER), f = RTCG_DFMA(t - RTCG_DROUNDER, -0.5, y),
        r = f * 0x1.921fb54442d18p1;
    return {r, RTCG_DFMA(f, 0x1.921fb54442d18p1, -r) + f * 0x1.1a62633145c07p-53, __rtcg_dlo(t)};
}
RTCG_DEVICE double sinpi(double x) {
    const __rtcg_dangle y = __rtcg_dreduce_pi(x);
    const double v = __rtcg_dsin_turned(y, y.k);
    return __builtin_rint(x) == x && __builtin_fabs(x) < RTCG_DINF ? __builtin_copysign(0.0, x) : v;
}
RTCG_DEVICE double cospi(double x) {
    const __rtcg_dangle y = __rtcg_dreduce_pi(x);
    return __rtcg_dsin_turned(y, y.k + 1) + 0.0;
}
RTCG_DEVICE void sincospi(double x, double *sine, double *cosine) {
    const __rtcg_dangle y = __rtcg_dreduce_pi(x);
    const double z = y.hi * y.hi, s = __rtcg_dsin_of(y.hi, y.lo, z), c = __rtcg_dcos_of(y.hi, y.lo, z);
    const double v = __rtcg_dflip(y.k & 1 ? c : s, (unsigned long)(unsigned)(y.k & 2) << 62);
    *sine = __builtin_rint(x) == x && __builtin_fabs(x) < RTCG_DINF ? __builtin_copysign(0.0, x) : v;
    *cosine = __rtcg_dflip(y.k & 1 ? s : c, (unsigned long)(unsigned)((y.k + 1) & 2) << 62) + 0.0;
}

// atan(q) for 0 <= q <= 1.
RTCG_DEVICE double __rtcg_datan_of(double q) {
    const double z = q * q;
    return RTCG_DFMA(q * z, RTCG_DP20(z, -0x1.555555555552ap-2, 0x1.9999999995aebp-3, -0x1.24924923923f6p-3, 0x1.c71c71842885ep-4, -0x1.745d11fb3ca65p-4,
        0x1.3b136a17fd884p-4, -0x1.110e6d9826565p-4, 0x1.e1bcf7eea1513p-5, -0x1.ae644e246c98bp-5, 0x1.82eeb206576c3p-5, -0x1.59d7f94d09bd2p-5,
        0x1.2c9829655d423p-5, -0x1.eb495dfa1e418p-6, 0x1.69d8bb3df25f5p-6, -0x1.ca9814d6c5248p-7, 0x1.dc052bd180758p-8, -0x1.7ea7297afa112p-9,
        0x1.ba3dd9a4a0751p-11, -0x1.44a4e3755639dp-13, 0x1.c4a4a8dc44fb2p-17), q);
}
RTCG_DEVICE double atan(double x) {
    const double a = __builtin_fabs(x);
    const bool is_large = a > 1;
    const double r = __rtcg_datan_of(is_large ? 1 / a : a);
    return __builtin_copysign(is_large ? RTCG_DPIO2 - (r - RTCG_DPIO2_LO) : r, x);
}
RTCG_DEVICE double atan2(double y, double x) {
    const double a = __builtin_fabs(y), b = __builtin_fabs(x);
    const bool is_steep = a > b;
    double q = (is_steep ? b : a) / (is_steep ? a : b);
    if (q != q) q = a == b ? (a == 0 ? 0.0 : 1.0) : q;
    double r = __rtcg_datan_of(q);
    r = is_steep ? RTCG_DPIO2 - (r - RTCG_DPIO2_LO) : r;
    r = __rtcg_dnegative(x) ? 2 * RTCG_DPIO2 - (r - 2 * RTCG_DPIO2_LO) : r;
    return __builtin_copysign(r, y);
}
RTCG_DEVICE double asin(double x) {
    const double a = __builtin_fabs(x);
    const bool is_large = a > 0.5;
    const double z = is_large ? RTCG_DFMA(a, -0.5, 0.5) : a * a, s = is_large ? __builtin_sqrt(z) : a, p = s * z * RTCG_DP13(z, 0x1.5555555555578p-3,
        0x1.333333332df3cp-4, 0x1.6db6db72288d6p-5, 0x1.f1c71a8cf5b61p-6, 0x1.6e8bdfba6e801p-6, 0x1.1c49e17645c5ap-6, 0x1.ca20ea199f6d9p-7,
        0x1.757aa4093449dp-7, 0x1.61785df4a023cp-7, 0x1.e27f3270c895dp-9, 0x1.64a51b20c073p-6, -0x1.596d91c6bcb7fp-6, 0x1.0bb7f3e99ad96p-5);
    return __builtin_copysign(is_large ? RTCG_DPIO2 - ((s + s) + ((p + p) - RTCG_DPIO2_LO)) : s + p, x);
}
RTCG_DEVICE double acos(double x) {
    const double a = __builtin_fabs(x);
    const bool is_large = a > 0.5;
    const double z = is_large ? RTCG_DFMA(a, -0.5, 0.5) : a * a, s = is_large ? __builtin_sqrt(z) : x, p = s * z * RTCG_DP13(z, 0x1.5555555555578p-3,
        0x1.333333332df3cp-4, 0x1.6db6db72288d6p-5, 0x1.f1c71a8cf5b61p-6, 0x1.6e8bdfba6e801p-6, 0x1.1c49e17645c5ap-6, 0x1.ca20ea199f6d9p-7,
        0x1.757aa4093449dp-7, 0x1.61785df4a023cp-7, 0x1.e27f3270c895dp-9, 0x1.64a51b20c073p-6, -0x1.596d91c6bcb7fp-6, 0x1.0bb7f3e99ad96p-5);
    const double outer = x > 0 ? (s + s) + (p + p) : 2 * RTCG_DPIO2 - ((s + s) + ((p + p) - 2 * RTCG_DPIO2_LO));
    return is_large ? outer : RTCG_DPIO2 - (s + (p - RTCG_DPIO2_LO));
}

// The error function. exp(x^2) erfc(x) for x >= 0: times 1 + 2 x it is a polynomial of t = (x - 4) / (x + 4); near t = -1 errors of t count, so that the last
// step of t is a sum with -1.
RTCG_DEVICE double __rtcg_derfcx(double a) {
    const double t = RTCG_DFMA(a + a, 1 / (a + 4), -1.0), p = RTCG_DP26(t, 0x1.3ba5916e9fd7fp-1, -0x1.1df1ad154a28ep-4, 0x1.f7f5df66fcc5p-8,
        0x1.16ecefcfa5341p-5, -0x1.9ddb23c3e6236p-5, 0x1.7fee004e13208p-5, -0x1.0fb06dfe75936p-5, 0x1.3079edf667163p-6, -0x1.0962387f315d8p-7,
        0x1.49c6728e5cd08p-9, -0x1.8d4a9db568981p-12, -0x1.a1df2b51938ccp-14, 0x1.3be06ec023f68p-14, -0x1.99589a280d38cp-17, -0x1.788ad277e5223p-18,
        0x1.7f22c6ee78625p-19, 0x1.3a5d50a6c234bp-23, -0x1.bad80d819c01p-22, 0x1.495ca78056f1bp-25, 0x1.d899dc1c615adp-25, -0x1.58c9e613866bfp-27,
        -0x1.f804d51889d92p-28, 0x1.9b266eef9946ep-30, 0x1.e7de3df650325p-31, -0x1.053157878901dp-33, -0x1.289f3e66a90e3p-34);
    const double d = a + 0.5, d_lo = a - (d - 0.5), r = 1 / d, y = p * r;
    return RTCG_DFMA(RTCG_DFMA(-y, d_lo, RTCG_DFMA(-y, d, p)), r, y);
}
// 2^-down erfc(a + lo) for a >= 0: rounded once where it is subnormal.
RTCG_DEVICE double __rtcg_derfc(double a, double lo, int down) {
    const __rtcg_dd s = __rtcg_dproduct(a, a);
    double t;
    const double m = __rtcg_dexp_mantissa(-s.hi, -RTCG_DFMA(a + a, lo, s.lo), &t);
    return __rtcg_dscaled_far(m * __rtcg_derfcx(a), t - down);
}
RTCG_DEVICE double erfc(double x) {
    const double a = __builtin_fabs(x), y = __rtcg_derfc(a > 28 ? 28.0 : a, 0, 0);
    return x < 0 ? 2 - y : y;
}
RTCG_DEVICE double erfcx(double x) {
    const double a = __builtin_fabs(x), y = __rtcg_derfcx(a > 0x1p1000 ? 0x1p1000 : a), scale = a > 0x1p1000 ? 0x1p1000 / a : 1.0;
    double r = y * scale;
    if (x < 0) {
        const double b = a > 27 ? 27.0 : a;
        const __rtcg_dd s = __rtcg_dproduct(b, b);
        double t;
        const double m = __rtcg_dexp_mantissa(s.hi, s.lo, &t);
        r = __rtcg_dscaled_far(m, t + 1) - y;
    }
    return r;
}
RTCG_DEVICE double normcdf(double x) {
    const double c = __builtin_fabs(x), a = c > 39 ? 39.0 : c, h = a * 0x1.6a09e667f3bcdp-1, lo = RTCG_DFMA(a, 0x1.6a09e667f3bcdp-1,
        -h) + a * -0x1.bdd3413b26456p-55;
    const double y = __rtcg_derfc(h, lo, 1);
    return x > 0 ? 1 - y : y;
}
// Up to 1 by an odd polynomial, beyond by -log(erfc(x)).
RTCG_DEVICE double erf(double x) {
    const double a = __builtin_fabs(x), b = a > 6 ? 6.0 : a, z = a * a;
    const double c = b - 1, p = RTCG_DP19(c, 0x1.d97fbf27aa2a1p0, 0x1.51c9b0006c23bp1, 0x1.afabc11a29368p-1, 0x1.5477f09c2c266p-5, -0x1.48c9d3f0dab4cp-7,
        0x1.033f6631a010ep-9, -0x1.f1b3a81bfb17cp-13, -0x1.b8dc14d306997p-16, 0x1.c7a2a9b9f3ebdp-16, -0x1.425e3b1fdff0ep-17, 0x1.143c3d1a18711p-19,
        -0x1.3005bb22ac987p-23, -0x1.a6437b610fc53p-24, 0x1.c1e57183995cap-25, -0x1.02083c128fe23p-26, 0x1.8d00504ba0bep-29, -0x1.98fe3deb4620fp-32,
        0x1.007454c4f454fp-35, -0x1.286d5c4eaba25p-40), t = RTCG_DFMA(p, -RTCG_DLOG2E, RTCG_DROUNDER), n = t - RTCG_DROUNDER, r = RTCG_DFMA(n,
        -RTCG_DLN2, -p);
    const double large = 1 - __rtcg_dscaled(RTCG_DP12(r, 1.0, 1.0, 0x1.000000000000ap-1, 0x1.55555555554fcp-3, 0x1.5555555550697p-5, 0x1.11111111271ep-7,
        0x1.6c16c18484102p-10, 0x1.a01a012e1ba0bp-13, 0x1.a019993308ebep-16, 0x1.71df1c2727a88p-19, 0x1.28ae2adba913ap-22, 0x1.ad8f041ba7caap-26), t);
    const double small = RTCG_DFMA(a, RTCG_DP12(z, 0x1.06eba8214db68p-3, -0x1.812746b0379b2p-2, 0x1.ce2f21a0408d1p-4, -0x1.b82ce311ee097p-6,
        0x1.565bccf7e27c1p-8, -0x1.c02db0149ccfbp-11, 0x1.f9a2b75539351p-14, -0x1.f4ca204ebe85dp-17, 0x1.b97e445120fdep-20, -0x1.5bfe77a37c69bp-23,
        0x1.d6e3eaae77e4cp-27, -0x1.ab15f30453fa1p-31), a);
    return __builtin_copysign(a > 1 ? large : small, x);
}
// The inverses, in terms of w = -log(1 - erf^2): where w is large by its root r.
RTCG_DEVICE double __rtcg_derfinv_tail(double w) {
    const double r = __builtin_sqrt(w);
    double y;
    if (r < 4.5) {
        const double t = (r - 3.25) / (r + 3.25);
        y = RTCG_DP19(t, 0x1.e5d3060902083p-1, 0x1.cfe8f01a9aab6p-4, -0x1.b055e2ab67462p-5, -0x1.7ea4a547c41adp-4, 0x1.af8d711b26a4dp-3,
            -0x1.3812d46c198b6p-3, -0x1.9cb09cc16200ep-2, 0x1.95262db096795p0, -0x1.3e0229386bf77p0, -0x1.ac348433e9d7fp2, 0x1.22193bd66728ep4,
            0x1.c7a368b88d69ap3, -0x1.db20d4e1b29c9p6, 0x1.0fc5f61ca622ep5, 0x1.1f3c93a0e158dp9, -0x1.f93a30cf35c0dp8, -0x1.fbe5ec8a5ef92p10,
            0x1.235ce5f377ef4p11, 0x1.791d12204cdfdp11);
    } else {
        const double t = (r - 6.5) / (r + 6.5);
        y = RTCG_DP25(t, 0x1.f55588eb8023ap-1, 0x1.ea8e7006b1c03p-5, -0x1.2ba8cf6ba383ap-4, 0x1.ccab559f650e7p-5, -0x1.aa1db1c1dd68fp-6,
            -0x1.9949d384fcea1p-7, 0x1.b8ddc1477810fp-5, -0x1.8237be9563effp-4, 0x1.0b4f415ce194ap-3, -0x1.483786a5a1531p-3, 0x1.749454195b2efp-3,
            -0x1.8e8f3c8427a4p-3, 0x1.9670778cebf44p-3, -0x1.a1412e4743669p-3, 0x1.d4136a35d4c9dp-3, -0x1.3b761ab9b7c4ep-5, -0x1.010d1007cbf8p1,
            0x1.58cf92ad455c2p3, -0x1.071ad0b37e471p5, 0x1.0cf0b32ad3234p6, -0x1.7e170b4a05f64p6, 0x1.76e13ee4a5239p6, -0x1.e6d3dd4aadcf1p5,
            0x1.79b2509a3a4b5p4, -0x1.09a8183332fdbp2);
    }
    return r * y;
}
// x with erf(x) = y, where u = 1 - y^2.
RTCG_DEVICE double __rtcg_derfinv(double y, double u) {
    const __rtcg_dd l = __rtcg_dlog(u);
    const double w = -(l.hi + l.lo), s = w - 3.125;
    double x = y * RTCG_DP23(s, 0x1.a755e7c99ae87p0, 0x1.ebd80d9b13e25p-3, -0x1.8b6c33114ff41p-8, -0x1.845769484e521p-11, 0x1.879c2a2156821p-13,
        -0x1.d1d1f7b93c60ap-17, -0x1.6e8a545043321p-20, 0x1.c6b4f5e89a654p-22, -0x1.f36cd1a540e62p-26, -0x1.1a9e3c17cbaa6p-28, 0x1.20f457964f22dp-30,
        -0x1.dc57b9c8330b6p-35, -0x1.c8805539e0984p-37, 0x1.72a08c146848ap-39, -0x1.6f9d6375cb8cbp-44, -0x1.6d26faa1d0ca5p-45, 0x1.df35d61ff7363p-48,
        0x1.7b0131e95650bp-56, -0x1.35938b41a9bbfp-53, 0x1.9c51bc3a5faf3p-57, 0x1.871c352e97dd3p-60, -0x1.8ea44c6057eedp-63, -0x1.48fdc523f827ap-68);
    if (!(w < 6.25)) {
        x = __builtin_copysign(__rtcg_derfinv_tail(w), y);
        x = u == 0 ? __builtin_copysign(RTCG_DINF, y) : x;
    }
    return u >= 0 ? x : RTCG_DNAN;
}
RTCG_DEVICE double erfinv(double x) { return __rtcg_derfinv(x, (1 - x) * (1 + x)); }
// The sums with zero have no negative zero.
RTCG_DEVICE double erfcinv(double x) { return __rtcg_derfinv(1 - x, RTCG_DFMA(x, 2 - x, 0.0)); }
RTCG_DEVICE double normcdfinv(double p) { return RTCG_DFMA(erfcinv(p + p), -0x1.6a09e667f3bcdp0, 0.0); }

// Gamma(a + lo) = m 2^n with RTCG_DROUNDER + n in *t, for a >= 4: Stirling's formula, times a polynomial of 1 / a. The derivative of log(Gamma) is close
// to log(a - 1/2).
RTCG_DEVICE double __rtcg_dstirling(double a, double lo, double *t) {
    const __rtcg_dd l = __rtcg_dlog_close(a), p = __rtcg_dproduct(a - 0.5, l.hi), d = __rtcg_dsum(p.hi, -a);
    const double v = 1 / a, rest = RTCG_DFMA(lo, RTCG_DFMA(v, -0.5, l.hi), RTCG_DFMA(a - 0.5, l.lo, p.lo));
    return __rtcg_dexp_mantissa(d.hi, d.lo + rest, t) * RTCG_DP13(v, 0x1.40d931ff62705p1, 0x1.abcc42a9d94dep-3, 0x1.1d32d716e64e1p-7,
        -0x1.b8792d9ad5034p-8, -0x1.2d946a783a1d3p-11, 0x1.01a3d327b7717p-9, 0x1.649683a15f145p-13, -0x1.7937f04792be2p-10, -0x1.c2e6b744368d6p-12,
        0x1.c58ad3f67bdaep-9, -0x1.eb36db4930994p-9, 0x1.27b8162fd2dadp-10, 0x1.c0405a2fc9883p-12);
}
RTCG_LONG double tgamma(double x) {
    const double a = __builtin_fabs(x), b = a > 200 ? 200.0 : a;
    const bool is_small = b < 4;
    double t;
    // Gamma(a) = Gamma(a + 4) / (a (a + 3) (a + 1) (a + 2)).
    const double c = is_small ? b + 4 : b, lo = is_small ? b - (c - 4) : 0.0, m = __rtcg_dstirling(c, lo, &t), u = RTCG_DFMA(a, a, 3 * a);
    double y;
    if (x < 0) {
        // Gamma(x) = pi / (a Gamma(a) sin(pi x)).
        const double s = sinpi(x);
        y = __rtcg_dscaled_far(0x1.921fb54442d18p-3 * (is_small ? (a + 3) * (u + 2) : 1.0) / ((is_small ? m : m * a) * s),
            RTCG_DROUNDER + 4 - (t - RTCG_DROUNDER));
        y = a > 186 ? __builtin_copysign(0.0, s) : y;
        y = __builtin_rint(x) == x ? RTCG_DNAN : y;
    } else {
        y = __rtcg_dscaled_far(m / __builtin_copysign(is_small ? u * (u + 2) : 1.0, x), t);
        y = a > 172 ? RTCG_DINF : y;
    }
    return x != x ? x : y;
}
// log(Gamma(a)) for a > 0, and log(Gamma(1 + a)) where is_next and a < 1/2.
RTCG_DEVICE __rtcg_dd __rtcg_dlgamma(double a, bool is_next) {
    const bool is_small = a < 0.5, is_large = a >= 3;
    const double z = is_small ? a + 1 : a, below = is_small ? a : z - 1;
    const double t = is_large ? 1 / a : (z - 1.5) / (z + 1.5), v = is_large ? t : 0.25;
    const double middle = below * (is_small ? a - 1 : a - 2) * RTCG_DP25(t, 0x1.eeb95b094c191p-2, -0x1.c0638869c10cap-2, 0x1.06ce2b0811e3ep-3,
        -0x1.34d888b7a353fp-3, 0x1.5d69732061ed5p-4, -0x1.7dca5127f9341p-4, 0x1.0570a2d120d15p-4, -0x1.1547411c4b9e7p-4, 0x1.a119f7c554d0fp-5,
        -0x1.b3c534ad35a49p-5, 0x1.5ac1bb17ad096p-5, -0x1.670879234a178p-5, 0x1.28457856e76a9p-5, -0x1.317cbe589dd26p-5, 0x1.08984efeea28fp-5,
        -0x1.03813c6cdc917p-5, 0x1.648c4469f72fp-6, -0x1.46a8819742a0ap-5, 0x1.eec0d6e3f6d21p-5, 0x1.067921b65b2afp-4, -0x1.05b7ed2a61036p-4,
        -0x1.9d56bf7919e28p-2, -0x1.76656e6905268p-5, 0x1.495a30f580506p-1, 0x1.356af1e302382p-1);
    // (a - 1/2) (log(a) - 1) and the rest of Stirling's formula.
    const __rtcg_dd l = __rtcg_dlog(a), n = __rtcg_dquick(l.hi, l.lo), o = __rtcg_dquick(n.hi, -1), p = __rtcg_dproduct(a - 0.5, o.hi);
    const double rest = RTCG_DFMA(a - 0.5, o.lo + n.lo, p.lo) + RTCG_DFMA(v, RTCG_DP13(v, 0x1.5555555555621p-4, -0x1.77929a408bf57p-41,
        -0x1.6c16c0f33e37ap-9, -0x1.384ceb8a8508dp-29, 0x1.a02166e7cd226p-11, -0x1.c88618e0ea46cp-21, -0x1.338195f557495p-11, -0x1.f8d6cd3244d8ep-15,
        0x1.24892d4ba869ap-10, -0x1.8871bb17df5a7p-11, -0x1.37ccd0ffa702bp-10, 0x1.28db8a9b24324p-9, -0x1.30ead4866e09cp-10), 0x1.acfe390c97d69p-2);
    double hi = is_large ? p.hi : middle, lo = is_large ? rest : 0.0;
    if (is_small && !is_next) { hi = -n.hi; lo = middle - n.lo; }
    return {hi, lo};
}
RTCG_LONG double lgamma(double x) {
    const double a = __builtin_fabs(x);
    const __rtcg_dd l = __rtcg_dlgamma(a, x < 0);
    double y = l.hi + l.lo;
    if (x < 0) {
        // |Gamma(x)| = pi / (|x| sin(pi |x|) Gamma(|x|)), and |x| Gamma(|x|) = Gamma(|x| + 1).
        const double s = __builtin_fabs(sinpi(x)), by = a < 0x1p-60 ? a : s * (a < 0.5 ? 1.0 : a) * 0x1.45f306dc9c883p-2;
        const __rtcg_dd g = __rtcg_dlog(by), w = __rtcg_dsum(-g.hi, -l.hi);
        y = w.hi + (w.lo - (g.lo + l.lo));
        y = __builtin_rint(x) == x ? RTCG_DINF : y;
    }
    y = x == 0 || a > 0x1.754d9278b51a6p1014 ? RTCG_DINF : y;
    return x != x ? x : y;
}

// Modified Bessel functions: below 8 by a polynomial of x^2, beyond exp(x) / sqrt(x) times one of 1 / x.
#define RTCG_DBESSEL_I(name, small, large) \
    RTCG_DEVICE double __rtcg_d##name(double x) { \
        const double a = __builtin_fabs(x), b = a > 8 ? 8.0 : a, z = b * b, far = a > 720 ? 720.0 : a > 8 ? a : 8.0, w = 8 / far - 0.5; \
        double t; \
        const double m = __rtcg_dexp_mantissa(far, 0, &t) * (large) / __builtin_sqrt(far), near = small; \
        return a > 8 ? __rtcg_dscaled_far(m, t) : near; \
    }
RTCG_DBESSEL_I(cyl_bessel_i0, RTCG_DP16(z, 1.0, 0x1p-2, 0x1.ffffffffffffcp-7, 0x1.c71c71c71c7b9p-12, 0x1.c71c71c71b4afp-18, 0x1.23456789be2cbp-24,
    0x1.02e85c0734d68p-31, 0x1.522a4419a088dp-39, 0x1.522a418f56349p-47, 0x1.0b31501106a0bp-55, 0x1.55ff80ed048a2p-64, 0x1.69e4371f8ecd2p-73,
    0x1.40b261adab756p-82, 0x1.f236ed293f87p-92, 0x1.119f07278f448p-101, 0x1.1b750fed7eaefp-110), RTCG_DP24(w, 0x1.9bd428ad249a5p-2,
    0x1.b87969bb93b95p-8, 0x1.1daa72b5c68c1p-11, 0x1.75e5ee711f60fp-14, 0x1.8e513c78a5b36p-16, 0x1.3f49a9ce1e004p-17, 0x1.7d0cfaee6cbefp-18,
    0x1.51cd829591e9ap-18, 0x1.727f62ea30d29p-18, 0x1.03b23475c2ce5p-18, -0x1.d64f5c0090bd9p-18, -0x1.cd4dc8c1eccf3p-16, -0x1.5bd8069f46da1p-16,
    0x1.0544f042556d6p-14, 0x1.c6bcfcc6f381ap-14, -0x1.efcc660125123p-14, -0x1.401ef2f6925c2p-12, 0x1.c55382791e03dp-13, 0x1.37cbfcff38d55p-11,
    -0x1.7268a1ed1803cp-12, -0x1.7f84ae38efd57p-11, 0x1.b48e0f3bf3883p-12, 0x1.ba83e16507494p-12, -0x1.ffe76cdfe2c75p-13))
RTCG_DBESSEL_I(cyl_bessel_i1, a * RTCG_DP15(z, 0x1p-1, 0x1.ffffffffffffbp-5, 0x1.55555555555e9p-9, 0x1.c71c71c71afd1p-15, 0x1.6c16c16c33bb7p-21,
    0x1.845c8a0a48e6ap-28, 0x1.27e4fb9db1ba5p-35, 0x1.522a410b36bbap-43, 0x1.2c97806eac083p-51, 0x1.ab7ef5510b8ap-60, 0x1.f19eb700b2ecp-69,
    0x1.e0e4c4bea6d48p-78, 0x1.959207640cf3ep-87, 0x1.da45ed1d57f08p-97, 0x1.0cb96e89e5dfap-105), RTCG_DP24(w, 0x1.8ebe783a8403p-2,
    -0x1.3f796198ee637p-6, -0x1.cbc54df1e5114p-11, -0x1.f89c2304fa298p-14, -0x1.ec8e11395b028p-16, -0x1.761383c612febp-17, -0x1.ad8c279f70a01p-18,
    -0x1.72782deecddcap-18, -0x1.91c348adc5f26p-18, -0x1.21cd562182475p-18, 0x1.d3d3c210702p-18, 0x1.e3431ec58fb2p-16, 0x1.8705a6e84ddfdp-16,
    -0x1.09af97aed0e12p-14, -0x1.ecc93360e8de8p-14, 0x1.eea412991fff3p-14, 0x1.5aa2503b016a1p-12, -0x1.c670a1717c112p-13, -0x1.54a799f069819p-11,
    0x1.7e8c3f69fe1e6p-12, 0x1.a835cee55fa3p-11, -0x1.d4e1e1ae57386p-12, -0x1.efd02b831ef3fp-12, 0x1.1d3e902956a5ep-12))
#undef RTCG_DBESSEL_I
RTCG_DEVICE double cyl_bessel_i0(double x) { return x != x ? x : __rtcg_dcyl_bessel_i0(x); }
RTCG_DEVICE double cyl_bessel_i1(double x) { return x != x ? x : __builtin_copysign(__rtcg_dcyl_bessel_i1(x), x); }

// Bessel functions for x >= 8 (Hankel): sqrt(2 / (pi x)) (P cos(x - phase) - Q sin(x - phase)), or P sin + Q cos.
RTCG_DEVICE double __rtcg_dhankel(double x, double P, double Q, bool is_first_order, bool is_second_kind) {
    double s, c;
    sincos(x, &s, &c);
    // Sine and cosine of x - pi / 4, or of x - 3 pi / 4, times the root of 2.
    const double sine = is_first_order ? -s - c : s - c, cosine = is_first_order ? s - c : s + c;
    return 0x1.20dd750429b6dp-1 / __builtin_sqrt(x) * (is_second_kind ? RTCG_DFMA(P, sine, Q * cosine) : RTCG_DFMA(P, cosine, -(Q * sine)));
}
RTCG_LONG double __rtcg_dhankel_0(double x, bool is_second_kind) {
    const double v = 8 / x, z = v * v;
    return x < RTCG_DINF ? __rtcg_dhankel(x, RTCG_DP14(z, 1.0, -0x1.1fffffffffce9p-10, 0x1.cb5ffffbf2f3p-16, -0x1.251ee43dc6454p-19, 0x1.84bb52de32c35p-22,
        -0x1.b7d0af5133546p-24, 0x1.78b67efe2d3b9p-25, -0x1.b65e474b3a5f2p-26, 0x1.2c2fb99034a13p-26, -0x1.982317f583459p-27, 0x1.d75ce28105764p-28,
        -0x1.93e3a1efdbcbap-29, 0x1.b7cf7df22d09fp-31, -0x1.c0810baac4ff5p-34), v * RTCG_DP14(z, -0x1p-6, 0x1.2bfffffffe3a9p-13, -0x1.d11dffed5ac1fp-18,
        0x1.ba4c4820747a9p-21, -0x1.8612838218802p-23, 0x1.135f27260a0e8p-24, -0x1.19ae63972377cp-25, 0x1.77ca7901ac8dbp-26, -0x1.1ace7e2425efp-26,
        0x1.97d41d9d0d83ap-27, -0x1.e7fc317176839p-28, 0x1.ab514403facd9p-29, -0x1.d7dde645d0e0ap-31, 0x1.e5c36c1b46725p-34), false,
        is_second_kind) : x == x ? 0.0 : x;
}
RTCG_LONG double __rtcg_dhankel_1(double x, bool is_second_kind) {
    const double v = 8 / x, z = v * v;
    return x < RTCG_DINF ? __rtcg_dhankel(x, RTCG_DP14(z, 1.0, 0x1.dfffffffffcbep-10, -0x1.274ffffddd5a1p-15, 0x1.5a6a5409b71ccp-19,
        -0x1.b8902cc702065p-22, 0x1.e61fe49af2ebp-24, -0x1.9992b836f4857p-25, 0x1.d76436db49ec6p-26, -0x1.409546533c02cp-26, 0x1.b2210fc9f4db5p-27,
        -0x1.f43f792c1ef33p-28, 0x1.ac13778ff5fa7p-29, -0x1.d1c61dba15aaap-31, 0x1.dabc076110fcap-34), v * RTCG_DP14(z, 0x1.8p-5, -0x1.a3fffffffe232p-13,
        0x1.1c3cfff631de3p-17, -0x1.fe58063a4271ap-21, 0x1.b3f6d8d052d4fp-23, -0x1.2d9c4ac624869p-24, 0x1.3051b5afd2863p-25, -0x1.92455a3bc27cdp-26,
        0x1.2d0247fc79323p-26, -0x1.b0a64a356ecbap-27, 0x1.025c38cbff2dfp-27, -0x1.c3fd9edd61eb5p-29, 0x1.f2c8bea01be3ep-31, -0x1.00a11e5934cebp-33),
        true, is_second_kind) : x == x ? 0.0 : x;
}
// x minus a zero.
#define RTCG_DFROM(x, zero, zero_lo) (((x) - zero) - zero_lo)
RTCG_DEVICE double __rtcg_dj0_near(double x) { const double w = RTCG_DFMA(x, x, -8.0); return RTCG_DFROM(x, 0x1.33d152e971b4p1,
    -0x1.0f539d7da258ep-53) * ((x + 0x1.33d152e971b4p1) * RTCG_DP11(w, -0x1.6b2948e843e2bp-4, 0x1.08d902d0bf621p-7, -0x1.17057235d9c0dp-12,
    0x1.33fa04134ed47p-18, -0x1.a4b2380cd2b4dp-25, 0x1.87a4ac453d336p-32, -0x1.08c62114a6cf4p-39, 0x1.0fff19c46cad6p-47, -0x1.b72efabeb7e6ep-56,
    0x1.1e42cb30c1154p-64, -0x1.315fc47e7c30ap-73)); }
RTCG_DEVICE double __rtcg_dj1_near(double x) { const double w = RTCG_DFMA(x, x, -12.5); return RTCG_DFROM(x, 0x1.ea75575af6f09p1,
    -0x1.60155a9d1b256p-53) * ((x + 0x1.ea75575af6f09p1) * x) * RTCG_DP12(w, -0x1.041c9423ec767p-6, 0x1.128893a098463p-10, -0x1.c74a71d1878afp-16,
    0x1.9f348e9fa6575p-22, -0x1.e3bd8ce3d13bdp-29, 0x1.88d6fbdabeb05p-36, -0x1.d7381807ab243p-44, 0x1.b318a4f1b5a94p-52, -0x1.3f0c5350be868p-60,
    0x1.7cc7c9f557c48p-69, -0x1.798f31bb38ccep-78, 0x1.39daabf63356fp-87); }
RTCG_LONG double j0(double x) {
    const double a = __builtin_fabs(x), s = a - 6;
    if (a < 4) return __rtcg_dj0_near(a);
    if (a < 8) return RTCG_DFROM(a, 0x1.6148f5b2c2e45p2, 0x1.75054cd60a517p-54) * RTCG_DP19(s, 0x1.416dc96e57c0ep-2, -0x1.3d97028754e56p-4,
        -0x1.63c76276a6e94p-5, 0x1.15618767e6bebp-7, 0x1.bb360f4dad8a7p-10, -0x1.307fa1bf6fa5p-12, -0x1.104aed84c62bp-15, 0x1.52a757fc112a1p-18,
        0x1.949f15c23a229p-22, -0x1.cd44e1593525bp-25, -0x1.951001ab4be59p-29, 0x1.aab88cbe72c4p-32, 0x1.246c0fbaf460dp-36, -0x1.1e6b1a7c10ccbp-39,
        -0x1.3fa1c2d226737p-44, 0x1.23e0395b5f3b8p-47, 0x1.1ec5923782a9bp-52, -0x1.c09a3af5b44afp-56, -0x1.6c07840470372p-60);
    return __rtcg_dhankel_0(a, false);
}
RTCG_LONG double j1(double x) {
    const double a = __builtin_fabs(x), s = a - 6.5;
    double y;
    if (a < 5) y = __rtcg_dj1_near(a);
    else if (a < 8) y = RTCG_DFROM(a, 0x1.c0ff5f3b4725p2, -0x1.b226d9d243827p-54) * RTCG_DP17(s, 0x1.318ace8aae254p-2, 0x1.d08a4092f3ab2p-6,
        -0x1.8bedb81f673abp-5, -0x1.73a59e34c2ea7p-10, 0x1.25bfadb129ae8p-9, 0x1.7a11529a2fbc1p-16, -0x1.9cbaeed7129dcp-15, -0x1.ec064dc0b3f5ep-24,
        0x1.53d2ade804149p-21, -0x1.bbc8d4efd48d4p-31, -0x1.70bb7d8f1e6e6p-28, 0x1.23c77fd220138p-36, 0x1.1c03941a994a3p-35, -0x1.250d5ba4466fep-43,
        -0x1.48eeb33d30922p-43, 0x1.6dad0c20a6092p-51, 0x1.56343593051f1p-51);
    else y = __rtcg_dhankel_1(a, false);
    return __rtcg_dflip(y, __rtcg_dbits(x) & (1ul << 63));
}
RTCG_LONG double y0(double x) {
    double y;
    if (x >= 8) y = __rtcg_dhankel_0(x, true);
    else if (x >= 4.5) { const double s = x - 6.25; y = RTCG_DFROM(x, 0x1.c581dc4e72103p2, -0x1.9774a495f56cfp-54) * RTCG_DP20(s, 0x1.22332b07b9e2ep-2,
        0x1.f1d851d05c1fcp-5, -0x1.7f018eb41ea5p-5, -0x1.1e85b9f43c67bp-8, 0x1.2698f17096235p-9, 0x1.caa4411e9e113p-14, -0x1.9f4811ce18b4dp-15,
        -0x1.a441b90c6ac9fp-20, 0x1.5a39f32892118p-21, 0x1.c980d2f4b3228p-27, -0x1.712ebcc7a8834p-28, -0x1.b073d7fe8e229p-34, 0x1.2ff98ef681fcep-35,
        0x1.44cfa71b9495dp-43, -0x1.e9060e4d9375p-44, -0x1.1af3fbbe075a3p-47, 0x1.a8a318056cf24p-50, -0x1.2e0ea95e50e83p-54, 0x1.8dc1af0589af1p-56,
        -0x1.41a7fd11f16d3p-57); }
    else if (x >= 2) { const double s = x - 3.25; y = RTCG_DFROM(x, 0x1.fa9534d98569cp1, -0x1.f06ae7804384ep-54) * RTCG_DP23(s, -0x1.a12594b635194p-2,
        -0x1.3f674416d5fc3p-5, 0x1.0e7323a4f1f7dp-4, -0x1.8f477e428dec8p-14, -0x1.3f3146d3a580fp-9, -0x1.1ef45c475f2d3p-14, 0x1.32b4bc1f53081p-14,
        -0x1.48e862db6d89dp-18, 0x1.5cd313aa52083p-21, -0x1.93f0c0e1421d6p-22, 0x1.e3f9cab62e6a2p-24, -0x1.05381acff3d17p-25, 0x1.292b6a18d3a01p-27,
        -0x1.570633cef1656p-29, 0x1.8cb7f1cf571b4p-31, -0x1.c34c747cf172cp-33, 0x1.ff21ddad124adp-35, -0x1.55af10916c203p-36, 0x1.be5672b5482ddp-38,
        -0x1.9e8a9f282f9f3p-41, 0x1.6fc7a14a1c0aep-45, -0x1.4f6b2d329a896p-42, 0x1.e46dccbc38ff1p-44); }
    else {
        const double z = x * x;
        y = RTCG_DFMA(log(x) * 0x1.45f306dc9c883p-1, __rtcg_dj0_near(x), RTCG_DP10(z, -0x1.2e4d699cbd01fp-4, 0x1.6bbcb4103428ap-3, -0x1.075b1bbf413d7p-6,
            0x1.1a6206b7baff7p-11, -0x1.3e997942552bbp-17, 0x1.bce4a60ecc0d7p-24, -0x1.a6ee7895dec9cp-31, 0x1.239311babac4ap-38, -0x1.30c397db613eep-46,
            0x1.dfa4a011c7852p-55));
        const double h = RTCG_DFROM(x, 0x1.c982eb8d417eap-1, 0x1.ea9d270347f83p-56);
        if (__builtin_fabs(h) < 0.25) y = h * RTCG_DP20(h, 0x1.c24371844b88ap-1, -0x1.f7e38a46d7102p-2, 0x1.c3b1338af3cb8p-3, -0x1.cf18e6a4b3892p-3,
            0x1.c068086c44bdp-3, -0x1.a396a8059c62dp-3, 0x1.9424b926c0ecdp-3, -0x1.8d35b4858a8b7p-3, 0x1.8c08d1be25ebcp-3, -0x1.8f7e3101cea96p-3,
            0x1.96dea8719ef7dp-3, -0x1.a1b7762b409c1p-3, 0x1.afb7b56eb31b9p-3, -0x1.c0c5b5fa03e8ep-3, 0x1.d6998cd7d269ap-3, -0x1.eebca5efb70dfp-3,
            0x1.eba44ec5d2fe8p-3, -0x1.006b45d3487fap-2, 0x1.92b2498d5dc9cp-2, -0x1.b7cb2b395f636p-2);
    }
    return x == 0 ? -RTCG_DINF : x < 0 ? RTCG_DNAN : y;
}
RTCG_LONG double y1(double x) {
    double y;
    if (x >= 8) y = __rtcg_dhankel_1(x, true);
    else if (x >= 4) { const double s = x - 6; y = RTCG_DFROM(x, 0x1.5b7fe4e87b02ep2, 0x1.dfe7bac228e8cp-52) * RTCG_DP22(s, -0x1.3a3a8cefc7efcp-2,
        0x1.579152b2072ap-4, 0x1.4739eeba02fb6p-5, -0x1.155cf697f3b6ap-7, -0x1.94a78f4d71727p-10, 0x1.266b1555ba042p-12, 0x1.005abac364e67p-15,
        -0x1.4c0230aa0664cp-18, -0x1.72fed3b0c8f8ap-22, 0x1.b0fa10ead1f29p-25, 0x1.a874535a9b822p-29, -0x1.d369aa8ff0025p-32, -0x1.125817f62aaf1p-37,
        0x1.56e1306db7c89p-41, 0x1.50f0ebf472e55p-42, -0x1.a845f0af4443bp-45, 0x1.cf9ca62bdbeedp-48, -0x1.258936bcf43b6p-50, 0x1.5963a23d4f9a9p-53,
        -0x1.3166fbb01978ap-55, 0x1.4de79cbbec8a4p-57, -0x1.4f481fb46ef3fp-60); }
    else if (x >= 1.75) { const double s = x - 2.875; y = RTCG_DFROM(x, 0x1.193bed4dff243p1, -0x1.bd1e50d219bfdp-55) * RTCG_DP25(s, 0x1.b355c91df8009p-2,
        -0x1.4cceb4cc0d5f3p-3, -0x1.c9994cc29e17cp-6, 0x1.efeb3bb79a225p-8, 0x1.59cd545763334p-9, -0x1.a59fe9fb2c764p-11, 0x1.250f85482e842p-13,
        -0x1.bad511f52b7bep-15, 0x1.5dc308f1e1de9p-16, -0x1.e7e1863ff7e46p-18, 0x1.52a744b1503bp-19, -0x1.d9db8bc8eb08p-21, 0x1.4b31ce8d3d53dp-22,
        -0x1.ce1e2d469b98ap-24, 0x1.41f74559d4451p-25, -0x1.c37d9388a6121p-27, 0x1.3dfe133f2d844p-28, -0x1.a39077c04946fp-30, 0x1.0fd222cb0ffcfp-31,
        -0x1.0604d9636c4cfp-32, 0x1.bd19c7d8ab736p-34, -0x1.66af12b62ab8dp-39, -0x1.2e25ac19d9909p-38, -0x1.144b31935fa2fp-37, 0x1.dbdab0be09fd5p-39); }
    else {
        const double z = x * x;
        y = RTCG_DFMA(log(x) * 0x1.45f306dc9c883p-1, __rtcg_dj1_near(x), x * RTCG_DP9(z, -0x1.91866143cbc8ap-3, 0x1.bd3975c75b493p-5,
            -0x1.835b97894b7a6p-9, 0x1.2c7dbffcbdd7cp-14, -0x1.0a780abc9026ap-20, 0x1.32e5a094090cap-27, -0x1.f0cc27d2a7867p-35, 0x1.2a0316ad9a41ap-42,
            -0x1.08a5c2ee0a30cp-50)) - 0x1.45f306dc9c883p-1 / x;
    }
    return x == 0 ? -RTCG_DINF : x < 0 ? RTCG_DNAN : y;
}
// Of order n: forward where the order is below x, else backward from far above it (Miller).
RTCG_LONG double jn(int n, double x) {
    const double a = __builtin_fabs(x);
    if (n == 0) return j0(x);
    if (n == 1) return j1(x);
    if (n < 0 || x != x) return RTCG_DNAN;
    if (a == 0 || a == RTCG_DINF) return 0;
    const double order = __rtcg_dof(n), by = 2 / a;
    double y;
    if (a < 0x1p-30) {
        // The first term of the series.
        y = 1;
        double k = 1;
        for (int i = 1; i <= n && y > 0; i++, k += 1) y *= 0.5 * a / k;
    } else if (order <= a) {
        double before = j0(a), now = j1(a), k = 1;
        for (int i = 1; i < n; i++, k += 1) { const double next = RTCG_DFMA(k * by, now, -before); before = now; now = next; }
        y = now;
    } else {
        // Four orders at a time; numbers grow by at most 2^52 in each.
        const int top = (n + (int)__builtin_sqrt(160 * order) + 3) & ~3;
        double after = 0, now = 1, sum = 0, found = 0, k = __rtcg_dof(top);
        for (int i = top; i > 0; i -= 4, k -= 4) {
            const double a3 = RTCG_DFMA(k * by, now, -after), a2 = RTCG_DFMA((k - 1) * by, a3, -now), a1 = RTCG_DFMA((k - 2) * by, a2, -a3);
            after = a1;
            now = RTCG_DFMA((k - 3) * by, a1, -a2);
            found = n == i - 1 ? a3 : n == i - 2 ? a2 : n == i - 3 ? a1 : n == i - 4 ? now : found;
            sum += a2 + (i > 4 ? now : 0.0);
            if (__builtin_fabs(now) > 0x1p500) { now *= 0x1p-500; after *= 0x1p-500; found *= 0x1p-500; sum *= 0x1p-500; }
        }
        y = found / RTCG_DFMA(2.0, sum, now);
    }
    return n % 2 ? __rtcg_dflip(y, __rtcg_dbits(x) & (1ul << 63)) : y;
}
RTCG_LONG double yn(int n, double x) {
    if (n == 0) return y0(x);
    if (n == 1) return y1(x);
    if (n < 0 || !(x > 0)) return x == 0 && n >= 0 ? -RTCG_DINF : RTCG_DNAN;
    if (x == RTCG_DINF) return 0;
    const double by = 2 / x;
    double before = y0(x), now = y1(x), k = 1;
    for (int i = 1; i < n && now > -RTCG_DINF; i++, k += 1) { const double next = RTCG_DFMA(k * by, now, -before); before = now; now = next; }
    return now;
}

// Functions that are exact.
RTCG_DEVICE double fabs(double x) { return __builtin_fabs(x); }
RTCG_DEVICE double floor(double x) { return __builtin_floor(x); }
RTCG_DEVICE double ceil(double x) { return __builtin_ceil(x); }
RTCG_DEVICE double trunc(double x) { return __builtin_trunc(x); }
RTCG_DEVICE double rint(double x) { return __builtin_rint(x); }
RTCG_DEVICE double nearbyint(double x) { return __builtin_rint(x); }
// With the largest number below 1/2, halves still get to the next integer, and nothing else does.
RTCG_DEVICE double round(double x) { return __builtin_trunc(x + __builtin_copysign(0x1.fffffffffffffp-2, x)); }
RTCG_DEVICE double copysign(double x, double y) { return __builtin_copysign(x, y); }
RTCG_DEVICE double fmax(double x, double y) { return __builtin_fmax(x, y); }
RTCG_DEVICE double fmin(double x, double y) { return __builtin_fmin(x, y); }
RTCG_DEVICE double fma(double x, double y, double z) { return RTCG_DFMA(x, y, z); }
RTCG_DEVICE bool isnan(double x) { return x != x; }
RTCG_DEVICE bool isinf(double x) { return __rtcg_dis_infinite(x); }
RTCG_DEVICE bool isfinite(double x) { return __builtin_fabs(x) < RTCG_DINF; }
RTCG_DEVICE bool isnormal(double x) { return isfinite(x) && __builtin_fabs(x) >= 0x1p-1022; }
RTCG_DEVICE bool signbit(double x) { return __rtcg_dnegative(x); }
RTCG_DEVICE double fdim(double x, double y) { return x <= y ? 0.0 : x - y; }
RTCG_DEVICE double nan(const char *) { return __rtcg_dreal(0x7ffffffffffffffful); }
RTCG_DEVICE long long llrint(double x) { return __double2ll_rn(x); }
RTCG_DEVICE long long llround(double x) { return __double2ll_rz(round(x)); }
RTCG_DEVICE long lrint(double x) { return (long)llrint(x); }
RTCG_DEVICE long lround(double x) { return (long)llround(x); }
RTCG_DEVICE double modf(double x, double *whole) {
    const double t = __builtin_trunc(x);
    *whole = t;
    return __builtin_copysign(t == x ? 0.0 : x - t, x);
}
// The exponent's field; that of a subnormal number is 0 or less. Other numbers are normal where the field less 1 is below 2046.
RTCG_DEVICE int __rtcg_dfield(double x) { return (__rtcg_dhi(x) >> 20) & 0x7ff; }
RTCG_DEVICE bool __rtcg_dis_normal_field(int field) { return (unsigned)(field - 1) < 2046; }
RTCG_DEVICE double __rtcg_dwith_field(double x, int field) {
    return __rtcg_dreal((__rtcg_dbits(x) & 0x800ffffffffffffful) | (unsigned long)(unsigned)field << 52);
}
RTCG_RARE double __rtcg_dfrexp_rare(double x, int *e) {
    const bool has_none = __rtcg_dfield(x) == 0x7ff || x == 0;
    *e = has_none ? 0 : __rtcg_dfield(x * 0x1p54) - (1022 + 54);
    return has_none ? x + x : __rtcg_dwith_field(x * 0x1p54, 1022);
}
RTCG_DEVICE double frexp(double x, int *e) {
    const int field = __rtcg_dfield(x);
    double m = __rtcg_dwith_field(x, 1022);
    int n = field - 1022;
    if (!__rtcg_dis_normal_field(field)) m = __rtcg_dfrexp_rare(x, &n);
    *e = n;
    return m;
}
RTCG_RARE int __rtcg_dilogb_rare(double x) {
    const int e = __rtcg_dis_infinite(x) ? 0x7fffffff : __rtcg_dfield(x * 0x1p54) - (1023 + 54);
    return x == 0 || x != x ? (int)0x80000000 : e;
}
RTCG_DEVICE int ilogb(double x) {
    const int field = __rtcg_dfield(x);
    int e = field - 1023;
    if (!__rtcg_dis_normal_field(field)) e = __rtcg_dilogb_rare(x);
    return e;
}
RTCG_RARE double __rtcg_dlogb_rare(double x) {
    const double e = __rtcg_dfield(x) == 0x7ff ? x * x : __rtcg_dof(__rtcg_dfield(x * 0x1p54) - (1023 + 54));
    return x == 0 ? -RTCG_DINF : e;
}
RTCG_DEVICE double logb(double x) {
    const int field = __rtcg_dfield(x);
    double e = __rtcg_dof(field - 1023);
    if (!__rtcg_dis_normal_field(field)) e = __rtcg_dlogb_rare(x);
    return e;
}
// The number is normalized, and the last factor rounds it.
RTCG_RARE double __rtcg_dldexp_rare(double x, int n) {
    const int field = __rtcg_dfield(x);
    const bool is_small = field == 0;
    const double b = is_small ? x * 0x1p54 : x;
    const int by = n > 4000 ? 4000 : n < -4000 ? -4000 : n, e = __rtcg_dfield(b) + by - (is_small ? 54 : 0), up = e < -60 ? -60 : e;
    const bool is_low = e <= 0;
    const double y = __rtcg_dwith_field(b, is_low ? up + 64 : e > 2046 ? 2046 : e) * (is_low ? 0x1p-64 : e > 2046 ? 4.0 : 1.0);
    return x == 0 || field == 0x7ff ? x + x : y;
}
RTCG_DEVICE double ldexp(double x, int n) {
    const int field = __rtcg_dfield(x);
    double y = __rtcg_dreal(__rtcg_dbits(x) + ((unsigned long)(unsigned)n << 52));
    if (!(__rtcg_dis_normal_field(field) & __rtcg_dis_normal_field((int)((unsigned)field + (unsigned)n)))) y = __rtcg_dldexp_rare(x, n);
    return y;
}
RTCG_DEVICE double scalbn(double x, int n) { return ldexp(x, n); }
RTCG_DEVICE double scalbln(double x, long n) { return ldexp(x, n > 4000 ? 4000 : n < -4000 ? -4000 : (int)n); }
RTCG_DEVICE double nextafter(double x, double y) {
    const unsigned long b = __rtcg_dbits(x), up = (x < y) == !((long)b < 0) ? b + 1 : b - 1;
    double r = __rtcg_dreal(x == 0 ? (__rtcg_dbits(y) & (1ul << 63)) | 1 : up);
    r = x == y ? y : r;
    return x != x || y != y ? x + y : r;
}

// Remainders: each step is exact, and takes at least 50 bits of the quotient. *low has the last bits of the quotient.
RTCG_DEVICE double __rtcg_dremainder_of(double a, double b, unsigned *low) {
    unsigned q = 0;
    double r = a;
    if (!(a < b * 0x1p50)) {
        // Divisors times powers of 2, so that a quotient has less than 53 bits; a subnormal rest is small enough.
        const bool is_small = b < 0x1p-1022;
        const int field = (__rtcg_dhi(is_small ? b * 0x1p54 : b) >> 20) - (is_small ? 54 : 0);
        for (int by; (by = (__rtcg_dhi(r) >> 20) - field - 51) > 0 && r >= 0x1p-1022;) {
            const int first = by >> 1;
            const double d = b * __rtcg_dpower(first) * __rtcg_dpower(by - first), k = __builtin_trunc(r / d), s = RTCG_DFMA(-k, d, r);
            const double w = s < 0 ? k - 1 : k;
            r = s < 0 ? s + d : s;
            q += by < 32 ? (unsigned)__rtcg_dlo(w + 0x1p52) << by : 0;
        }
    }
    const double k = __builtin_trunc(r / b), s = RTCG_DFMA(-k, b, r), w = s < 0 ? k - 1 : k;
    *low = q + (unsigned)__rtcg_dlo(w + 0x1p52);
    return s < 0 ? s + b : s;
}
RTCG_DEVICE bool __rtcg_dhas_remainder(double a, double b) { return a < RTCG_DINF && b > 0; }
RTCG_DEVICE double fmod(double x, double y) {
    const double a = __builtin_fabs(x), b = __builtin_fabs(y);
    unsigned q;
    double r = a;
    if (!(a < b)) r = __rtcg_dhas_remainder(a, b) ? __rtcg_dremainder_of(a, b, &q) : RTCG_DNAN;
    return __builtin_copysign(r, x);
}
RTCG_DEVICE double remquo(double x, double y, int *quotient) {
    const double a = __builtin_fabs(x), b = __builtin_fabs(y);
    unsigned q = 0;
    double r = a;
    if (!(a < b)) r = __rtcg_dhas_remainder(a, b) ? __rtcg_dremainder_of(a, b, &q) : RTCG_DNAN;
    // The nearest multiple, the even one of two.
    const double rest = b - r;
    const bool is_up = b < RTCG_DINF && (r > rest || (r == rest && q & 1));
    r = is_up ? r - b : r;
    q = (q + is_up) & 0x7fffffff;
    *quotient = __rtcg_dnegative(x) != __rtcg_dnegative(y) ? -(int)q : (int)q;
    return r == 0 ? __builtin_copysign(0.0, x) : __rtcg_dflip(r, __rtcg_dbits(x) & (1ul << 63));
}
RTCG_DEVICE double remainder(double x, double y) { int q; return remquo(x, y, &q); }
}
#pragma float_control(pop)
