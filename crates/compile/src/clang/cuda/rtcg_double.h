// Mathematics of double precision, in straight lines where that is possible, since lanes stay together then.
//
// The functions up to lgamma are those of the OpenCL library (opencl-platform/src/builtins/math_double.cl).
#pragma once
#pragma clang fp contract(off)
extern "C++" {
RTCG_DEVICE double2 rtcg_pair(double x, double y) { return {x, y}; }
RTCG_DEVICE double rtcg_as_double(unsigned long u) { return __longlong_as_double(u); }
RTCG_DEVICE unsigned long rtcg_as_bits(double x) { return __double_as_longlong(x); }
// Math functions (6.15.2) of double precision, by polynomials: Taylor's where an argument is small enough, Chebyshev fits
// made with mpmath elsewhere. Sums of two doubles ("hi" and "lo") carry what one would lose; their rules are Dekker's
// (1971), with fused multiply-add.

RTCG_DEVICE double rtcg_normalized(double a, int *exponent) {
    int e = ((long)rtcg_as_bits(a) >> 52) & 0x7ff;
    if (e == 0) { a *= 0x1p54; e = (int)(((long)rtcg_as_bits(a) >> 52) & 0x7ff) - 54; }
    *exponent = e - 1022;
    return rtcg_as_double(((long)rtcg_as_bits(a) & 0x800fffffffffffffL) | 0x3fe0000000000000L);
}
RTCG_DEVICE double ldexp(double a, int n) {
    if (a == 0 || a != a || __builtin_fabs(a) == __builtin_inf()) return a;
    int e;
    double m = rtcg_normalized(a, &e);
    long to = (long)e + n;
    if (to > 1024) return __builtin_copysign(__builtin_inf(), a);
    if (to < -1074) return __builtin_copysign(0.0, a);
    if (to >= -1021) return rtcg_as_double((rtcg_as_bits(m) & 0x800fffffffffffffUL) | (unsigned long)(to + 1022) << 52);
    return rtcg_as_double((rtcg_as_bits(m) & 0x800fffffffffffffUL) | (unsigned long)(to + 1022 + 128) << 52) * 0x1p-128;
}
RTCG_DEVICE double2 operator-(double2 a) { return {-a.x, -a.y}; }
RTCG_DEVICE bool rtcg_negative(double x) { return (long)rtcg_as_bits(x) < 0; }
RTCG_DEVICE double2 rtcg_sum(double a, double b) {
    double s = a + b, v = s - a;
    return rtcg_pair(s, (a - (s - v)) + (b - v));
}
// Where |a| >= |b|.
RTCG_DEVICE double2 rtcg_quick_sum(double a, double b) {
    double s = a + b;
    return rtcg_pair(s, b - (s - a));
}
RTCG_DEVICE double2 rtcg_product(double a, double b) {
    double p = a * b;
    return rtcg_pair(p, __builtin_fma(a, b, -p));
}
RTCG_DEVICE double2 rtcg_scaled(double2 a, double b_hi, double b_lo) {
    double2 p = rtcg_product(a.x, b_hi);
    return rtcg_quick_sum(p.x, p.y + __builtin_fma(a.x, b_lo, a.y * b_hi));
}
RTCG_DEVICE double rtcg_power_of_2(int n) { return rtcg_as_double((long)(n + 1023) << 52); }

// 2^n (1 + expm1(r)), r = hi + lo of at most half of log 2: the last step rounds once.
RTCG_DEVICE double rtcg_exp_series(double r) {
    double p = 0x1.93974a8c07c9dp-37;
    p = __builtin_fma(p, r, 0x1.6124613a86d09p-33); p = __builtin_fma(p, r, 0x1.1eed8eff8d898p-29); p = __builtin_fma(p, r, 0x1.ae64567f544e4p-26);
    p = __builtin_fma(p, r, 0x1.27e4fb7789f5cp-22); p = __builtin_fma(p, r, 0x1.71de3a556c734p-19); p = __builtin_fma(p, r, 0x1.a01a01a01a01ap-16);
    p = __builtin_fma(p, r, 0x1.a01a01a01a01ap-13); p = __builtin_fma(p, r, 0x1.6c16c16c16c17p-10); p = __builtin_fma(p, r, 0x1.1111111111111p-7);
    p = __builtin_fma(p, r, 0x1.5555555555555p-5); p = __builtin_fma(p, r, 0x1.5555555555555p-3); p = __builtin_fma(p, r, 0x1.0000000000000p-1);
    return p * r * r;
}
RTCG_DEVICE double rtcg_exp_scaled(double hi, double lo, double n) {
    double p = rtcg_exp_series(hi) + lo + lo * hi, one = 1 + hi, rest = hi - (one - 1);
    double m = one + (rest + p);
    int k = (int)n, half_ = k / 2;
    return m * rtcg_power_of_2(half_) * rtcg_power_of_2(k - half_);
}
// exp(hi + lo).
RTCG_DEVICE double rtcg_exp(double hi, double lo) {
    if (hi != hi) return hi;
    if (hi > 709.79) return __builtin_inf();
    if (hi < -745.2) return 0;
    double n = __builtin_rint(hi * 0x1.71547652b82fep+0);
    double a = __builtin_fma(-n, 0x1.62e42fee00000p-1, hi);
    double2 r = rtcg_sum(a, __builtin_fma(-n, 0x1.a39ef35793c76p-33, lo));
    return rtcg_exp_scaled(r.x, r.y, n);
}
// log(m 2^e) as a sum of two, for finite a > 0: 2 atanh(s), s = (m - 1) / (m + 1).
RTCG_DEVICE double2 rtcg_log_of(double m, double e) {
    double f = m - 1, d = 1 + m, d_lo = m - (d - 1);
    double s = f / d, s_lo = (__builtin_fma(-s, d, f) - s * d_lo) / d, z = s * s;
    double p = 0x1.2f684bda12f68p-4;
    p = __builtin_fma(p, z, 0x1.47ae147ae147bp-4); p = __builtin_fma(p, z, 0x1.642c8590b2164p-4); p = __builtin_fma(p, z, 0x1.8618618618618p-4);
    p = __builtin_fma(p, z, 0x1.af286bca1af28p-4); p = __builtin_fma(p, z, 0x1.e1e1e1e1e1e1ep-4); p = __builtin_fma(p, z, 0x1.1111111111111p-3);
    p = __builtin_fma(p, z, 0x1.3b13b13b13b14p-3); p = __builtin_fma(p, z, 0x1.745d1745d1746p-3); p = __builtin_fma(p, z, 0x1.c71c71c71c71cp-3);
    p = __builtin_fma(p, z, 0x1.2492492492492p-2); p = __builtin_fma(p, z, 0x1.999999999999ap-2); p = __builtin_fma(p, z, 0x1.5555555555555p-1);
    // 2 s + s z p; what s has lost goes in with both.
    double2 sum = rtcg_quick_sum(2 * s, s * z * p + 2 * s_lo);
    double2 whole = rtcg_sum(e * 0x1.62e42fee00000p-1, sum.x);
    return rtcg_quick_sum(whole.x, whole.y + __builtin_fma(e, 0x1.a39ef35793c76p-33, sum.y));
}
// m in [sqrt(1/2), sqrt(2)) and e with a = m 2^e.
RTCG_DEVICE double rtcg_split(double a, double *e) {
    int k;
    double m = rtcg_normalized(a, &k);
    if (m < 0x1.6a09e667f3bcdp-1) { m *= 2; k -= 1; }
    *e = k;
    return m;
}
RTCG_DEVICE double2 rtcg_log(double a) {
    double e, m = rtcg_split(a, &e);
    return rtcg_log_of(m, e);
}
#define RTCG_LOG_SPECIAL(a) \
    if (a != a || a < 0) return __builtin_nan(""); \
    if (a == 0) return -__builtin_inf(); \
    if (a == __builtin_inf()) return a;

RTCG_DEVICE double exp(double a) { return rtcg_exp(a, 0); }
RTCG_DEVICE double exp2(double a) {
    if (a != a) return a;
    if (a >= 1024) return __builtin_inf();
    if (a < -1075.5) return 0;
    double n = __builtin_rint(a), f = a - n;
    double2 r = rtcg_scaled(rtcg_pair(f, 0), 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56);
    return rtcg_exp_scaled(r.x, r.y, n);
}
RTCG_DEVICE double exp10(double a) {
    if (a != a) return a;
    if (a > 308.3) return __builtin_inf();
    if (a < -323.7) return 0;
    double n = __builtin_rint(a * 0x1.a934f0979a371p+1);
    double f = __builtin_fma(-n, 0x1.3441350800000p-2, a);
    double2 r = rtcg_scaled(rtcg_sum(f, -n * 0x1.f79fef311f12bp-34), 0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53);
    return rtcg_exp_scaled(r.x, r.y, n);
}
RTCG_DEVICE double expm1(double a) {
    if (__builtin_fabs(a) < 0x1p-54 || a != a) return a;
    if (a > 709.79) return __builtin_inf();
    if (a < -40) return -1;
    if (__builtin_fabs(a) < 0.35) return a + rtcg_exp_series(a);
    double n = __builtin_rint(a * 0x1.71547652b82fep+0);
    double2 r = rtcg_sum(__builtin_fma(-n, 0x1.62e42fee00000p-1, a), -n * 0x1.a39ef35793c76p-33);
    double p = r.x + (rtcg_exp_series(r.x) + r.y);
    if (n > 1000) return rtcg_exp(a, 0);
    double scale = rtcg_power_of_2((int)n);
    double2 whole = rtcg_sum(scale - 1, scale * p);
    return n > 53 ? scale * p + (scale - 1) : whole.x + whole.y;
}
RTCG_DEVICE double log(double a) { RTCG_LOG_SPECIAL(a) double2 l = rtcg_log(a); return l.x + l.y; }
RTCG_DEVICE double log2(double a) {
    RTCG_LOG_SPECIAL(a)
    double e, m = rtcg_split(a, &e);
    double2 l = rtcg_scaled(rtcg_log_of(m, 0), 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56), s = rtcg_sum(e, l.x);
    return s.x + (s.y + l.y);
}
RTCG_DEVICE double log10(double a) {
    RTCG_LOG_SPECIAL(a)
    double2 l = rtcg_scaled(rtcg_log(a), 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57);
    return l.x + l.y;
}
RTCG_DEVICE double log1p(double a) {
    if (a != a || a == 0) return a;
    if (a < -1) return __builtin_nan("");
    if (a == -1) return -__builtin_inf();
    if (a == __builtin_inf()) return a;
    if (__builtin_fabs(a) < 0x1p-54) return a;
    double2 u = rtcg_sum(1, a), l = rtcg_log(u.x);
    return l.x + (l.y + u.y / u.x);
}

// |a|^b as exp(b log|a|), and the special cases of C99 for both signs.
RTCG_DEVICE double rtcg_pow_of(double a, double b_hi, double b_lo) {
    double2 l = rtcg_log(a), p = rtcg_product(b_hi, l.x);
    return rtcg_exp(p.x, p.y + __builtin_fma(b_hi, l.y, b_lo * l.x));
}
RTCG_DEVICE double rtcg_pow_positive(double a, double b) {
    if (a == 1 || b == 0) return 1;
    if (a != a || b != b) return __builtin_nan("");
    if (__builtin_fabs(b) == __builtin_inf()) return (a > 1) == (b > 0) ? __builtin_inf() : 0;
    if (a == 0 || a == __builtin_inf()) return (a == 0) == (b > 0) ? 0 : __builtin_inf();
    double bounded = __builtin_fmax(__builtin_fmin(b, 0x1p1000), -0x1p1000);
    double2 l = rtcg_log(a);
    if (__builtin_fabs(bounded * l.x) > 800) return (bounded > 0) == (l.x > 0) ? __builtin_inf() : 0;
    return rtcg_pow_of(a, bounded, 0);
}
RTCG_DEVICE double pow(double a, double b) {
    double magnitude = rtcg_pow_positive(__builtin_fabs(a), b);
    if (a == 1 || b == 0) return 1;
    if (a != a || b != b) return __builtin_nan("");
    if (!rtcg_negative(a)) return magnitude;
    int is_whole = __builtin_rint(b) == b;
    int is_odd = is_whole && __builtin_fabs(b) < 0x1p53 && ((long)b & 1);
    if (a < 0 && !is_whole && a != -__builtin_inf()) return __builtin_nan("");
    return is_odd ? -magnitude : magnitude;
}
RTCG_DEVICE double powr(double a, double b) {
    if (a < 0 || a != a || b != b || (a == 0 && b == 0) || (a == __builtin_inf() && b == 0)
        || (a == 1 && __builtin_fabs(b) == __builtin_inf())) return __builtin_nan("");
    return rtcg_pow_positive(__builtin_fabs(a), b);
}
RTCG_DEVICE double pown(double a, int n) { return pow(a, (double)n); }
RTCG_DEVICE double rootn(double a, int n) {
    if (n == 0 || a != a) return __builtin_nan("");
    int is_odd = n & 1;
    double m = __builtin_fabs(a);
    if (rtcg_negative(a) && !is_odd && a != 0) return __builtin_nan("");
    double r;
    if (m == 0 || m == __builtin_inf()) r = (m == 0) == (n > 0) ? 0 : __builtin_inf();
    else {
        double inverse = 1.0 / n;
        r = rtcg_pow_of(m, inverse, __builtin_fma(-inverse, (double)n, 1.0) / n);
    }
    return is_odd ? __builtin_copysign(r, a) : r;
}
RTCG_DEVICE double cbrt(double a) {
    if (a == 0 || a != a || __builtin_fabs(a) == __builtin_inf()) return a;
    int e;
    double m = __builtin_fabs(rtcg_normalized(a, &e));
    int third = (e + 3000) / 3 - 1000;
    m = m * rtcg_power_of_2(e - 3 * third);
    double y = rtcg_exp(rtcg_log(m).x * 0x1.5555555555555p-2, 0);
    double square = y * y, r = __builtin_fma(square, y, -m) + __builtin_fma(y, y, -square) * y;
    y -= r / (3 * square);
    return __builtin_copysign(y * rtcg_power_of_2(third), a);
}
RTCG_DEVICE double hypot(double a, double b) {
    double x = __builtin_fabs(a), y = __builtin_fabs(b);
    if (x == __builtin_inf() || y == __builtin_inf()) return __builtin_inf();
    if (x != x || y != y) return __builtin_nan("");
    double large = __builtin_fmax(x, y), small = __builtin_fmin(x, y);
    double up = large > 0x1p500 ? 0x1p-600 : large < 0x1p-500 ? 0x1p600 : 1, down = 1 / up;
    large *= up; small *= up;
    double2 square = rtcg_product(large, large);
    return down * __builtin_sqrt(square.x + __builtin_fma(small, small, square.y));
}

// a = n pi/2 + hi + lo with |hi| <= pi/4; the last two bits of n. Up to 2^21 by three parts of pi/2 (Cody, Waite 1980),
// beyond by the bits of 2/pi that matter (Payne, Hanek 1983).
static __device__ const unsigned long rtcg_2_over_pi[20] = {
    0xa2f9836e4e441529UL, 0xfc2757d1f534ddc0UL, 0xdb6295993c439041UL, 0xfe5163abdebbc561UL, 0xb7246e3a424dd2e0UL,
    0x06492eea09d1921cUL, 0xfe1deb1cb129a73eUL, 0xe88235f52ebb4484UL, 0xe99c7026b45f7e41UL, 0x3991d639835339f4UL,
    0x9c845f8bbdf9283bUL, 0x1ff897ffde05980fUL, 0xef2f118b5a0a6d1fUL, 0x6d367ecf27cb09b7UL, 0x4f463f669e5fea2dUL,
    0x7527bac7ebe5f17bUL, 0x3d0739f78a5292eaUL, 0x6bfb5fb11f8d5d08UL, 0x56033046fc7b6babUL, 0xf0cfbc209af4361dUL
};
RTCG_DEVICE double2 rtcg_reduce_large(double a, int *n) {
    unsigned long bits = rtcg_as_bits(a) & 0xfffffffffffffUL | 0x10000000000000UL;
    int e = (int)((rtcg_as_bits(a) >> 52) & 0x7ff) - 1075;
    // a = bits 2^e; of bits 2^e 2/pi only what is below 4 counts.
    int first = e - 2 < 0 ? 0 : e - 2, word = first >> 6, shift = first & 63;
    unsigned long w0 = rtcg_2_over_pi[word], w1 = rtcg_2_over_pi[word + 1], w2 = rtcg_2_over_pi[word + 2];
    unsigned long w3 = rtcg_2_over_pi[word + 3];
    w0 = w0 << shift | w1 >> 1 >> (63 - shift);
    w1 = w1 << shift | w2 >> 1 >> (63 - shift);
    w2 = w2 << shift | w3 >> 1 >> (63 - shift);
    // The product of bits and the 192 bits: its unit is 2^(e - first - 192).
    unsigned long low2 = bits * w2, high2 = __umul64hi(bits, w2), low1 = bits * w1, high1 = __umul64hi(bits, w1);
    unsigned long p1 = high2 + low1, low0 = bits * w0, above = high1 + (p1 < low1), p0 = low0 + above;
    unsigned long whole = __umul64hi(bits, w0) + (p0 < low0);
    // e - first is 2, or e where e < 2: bring the point behind the second bit.
    int up = e - first - 2;
    if (up < 0) {
        int by = -up;
        low2 = low2 >> by | p1 << 1 << (63 - by);
        p1 = p1 >> by | p0 << 1 << (63 - by);
        p0 = p0 >> by | whole << 1 << (63 - by);
    }
    unsigned int quadrant = (unsigned int)(p0 >> 62);
    unsigned long hi = p0 << 2 | p1 >> 62, lo = p1 << 2 | low2 >> 62;
    int is_negative = (long)hi < 0;
    if (is_negative) { quadrant++; lo = ~lo + 1; hi = ~hi + (lo == 0); }
    double2 f = rtcg_quick_sum((double)hi, 0);
    double rest = (double)(long)(hi - (unsigned long)f.x) + (double)lo * 0x1p-64;
    double2 r = rtcg_scaled(rtcg_quick_sum(f.x * 0x1p-64, rest * 0x1p-64), 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54);
    if (is_negative) r = -r;
    *n = (int)quadrant;
    return r;
}
RTCG_DEVICE double2 rtcg_reduce(double a, int *n) {
    double x = __builtin_fabs(a);
    double2 r;
    if (x < 0x1p21) {
        double k = __builtin_rint(x * 0x1.45f306dc9c883p-1);
        double first = __builtin_fma(-k, 0x1.921fb54442d18p+0, x);
        double2 second = rtcg_product(k, 0x1.1a62633145c07p-54), s = rtcg_sum(first, -second.x);
        r = rtcg_quick_sum(s.x, __builtin_fma(k, 0x1.f1976b7ed8fbcp-110, s.y - second.y));
        *n = (int)k;
    } else r = rtcg_reduce_large(x, n);
    if (a < 0) { r = -r; *n = -*n; }
    return r;
}
RTCG_DEVICE double rtcg_sin_series(double2 r) {
    double z = r.x * r.x;
    double p = -0x1.2f49b46814157p-57;
    p = __builtin_fma(p, z, 0x1.952c77030ad4ap-49); p = __builtin_fma(p, z, -0x1.ae7f3e733b81fp-41);
    p = __builtin_fma(p, z, 0x1.6124613a86d09p-33); p = __builtin_fma(p, z, -0x1.ae64567f544e4p-26);
    p = __builtin_fma(p, z, 0x1.71de3a556c734p-19); p = __builtin_fma(p, z, -0x1.a01a01a01a01ap-13); p = __builtin_fma(p, z, 0x1.1111111111111p-7);
    p = __builtin_fma(p, z, -0x1.5555555555555p-3);
    return r.x + __builtin_fma(r.x * z, p, __builtin_fma(r.y, -0.5 * z, r.y));
}
RTCG_DEVICE double rtcg_cos_series(double2 r) {
    double z = r.x * r.x, h = 0.5 * z, one = 1 - h;
    double p = -0x1.6827863b97d97p-53;
    p = __builtin_fma(p, z, 0x1.ae7f3e733b81fp-45); p = __builtin_fma(p, z, -0x1.93974a8c07c9dp-37);
    p = __builtin_fma(p, z, 0x1.1eed8eff8d898p-29); p = __builtin_fma(p, z, -0x1.27e4fb7789f5cp-22);
    p = __builtin_fma(p, z, 0x1.a01a01a01a01ap-16); p = __builtin_fma(p, z, -0x1.6c16c16c16c17p-10); p = __builtin_fma(p, z, 0x1.5555555555555p-5);
    return one + ((1 - one - h) + __builtin_fma(z * z, p, -r.x * r.y));
}
// Both series, and no early return for 0: the lanes of a warp are in different quadrants.
RTCG_DEVICE double rtcg_of_quadrant(double2 r, int n) {
    double s = rtcg_sin_series(r), c = rtcg_cos_series(r), v = n & 1 ? c : s;
    return n & 2 ? -v : v;
}
#define RTCG_NOT_FINITE(a) (__builtin_fabs(a) == __builtin_inf() || a != a)
RTCG_DEVICE double sin(double a) {
    if (RTCG_NOT_FINITE(a)) return __builtin_nan("");
    int n;
    double2 r = rtcg_reduce(a, &n);
    double v = rtcg_of_quadrant(r, n);
    return a == 0 ? a : v;
}
RTCG_DEVICE double cos(double a) {
    if (RTCG_NOT_FINITE(a)) return __builtin_nan("");
    int n;
    double2 r = rtcg_reduce(a, &n);
    return rtcg_of_quadrant(r, n + 1);
}
RTCG_DEVICE double sincos(double a, double *c) {
    if (RTCG_NOT_FINITE(a)) { *c = __builtin_nan(""); return __builtin_nan(""); }
    int n;
    double2 r = rtcg_reduce(a, &n);
    double s = rtcg_of_quadrant(r, n);
    *c = rtcg_of_quadrant(r, n + 1);
    return a == 0 ? a : s;
}
RTCG_DEVICE double tan(double a) {
    if (RTCG_NOT_FINITE(a)) return __builtin_nan("");
    int n;
    double2 r = rtcg_reduce(a, &n);
    double s = rtcg_sin_series(r), c = rtcg_cos_series(r), v = (n & 1 ? -c : s) / (n & 1 ? s : c);
    return a == 0 ? a : v;
}
// Half turns are subtracted exactly.
RTCG_DEVICE double2 rtcg_reduce_turns(double a, int *n) {
    double y = a - 2 * __builtin_rint(0.5 * a), k = __builtin_rint(2 * y);
    *n = (int)k;
    return rtcg_scaled(rtcg_pair(y - 0.5 * k, 0), 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53);
}
RTCG_DEVICE double sinpi(double a) {
    if (RTCG_NOT_FINITE(a)) return __builtin_nan("");
    if (__builtin_trunc(a) == a) return __builtin_copysign(0.0, a);
    int n;
    double2 r = rtcg_reduce_turns(a, &n);
    return rtcg_of_quadrant(r, n);
}
RTCG_DEVICE double cospi(double a) {
    if (RTCG_NOT_FINITE(a)) return __builtin_nan("");
    int n;
    double2 r = rtcg_reduce_turns(a, &n);
    return r.x == 0 && n & 1 ? 0 : rtcg_of_quadrant(r, n + 1);
}
RTCG_DEVICE double tanpi(double a) {
    if (RTCG_NOT_FINITE(a)) return __builtin_nan("");
    int n;
    double2 r = rtcg_reduce_turns(a, &n);
    // At whole numbers 0 with a sign that alternates, between them infinite.
    if (r.x == 0 && n & 1) return (n > 0) != (rtcg_negative(a) != 0) ? __builtin_inf() : -__builtin_inf();
    if (r.x == 0) return n & 2 ? -__builtin_copysign(0.0, a) : __builtin_copysign(0.0, a);
    double s = rtcg_sin_series(r), c = rtcg_cos_series(r);
    return n & 1 ? -c / s : s / c;
}

// atan(a / b) for 0 <= a <= b as a sum of two: the nearest quarter c, and atan((q - c) / (1 + q c)) by its series.
static __device__ const double2 rtcg_atan_of_quarter[5] = {
    {0, 0}, {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56}, {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}
};
RTCG_DEVICE double2 rtcg_atan_of(double a, double b) {
    int k = (int)__builtin_rint(4 * (a / b));
    double c = 0.25 * k;
    double top = __builtin_fma(-c, b, a), bottom = __builtin_fma(c, a, b), bottom_lo = __builtin_fma(c, a, b - bottom);
    double t = top / bottom, t_lo = (__builtin_fma(-t, bottom, top) - t * bottom_lo) / bottom, z = t * t;
    double p = -0x1.af286bca1af28p-5;
    p = __builtin_fma(p, z, 0x1.e1e1e1e1e1e1ep-5); p = __builtin_fma(p, z, -0x1.1111111111111p-4); p = __builtin_fma(p, z, 0x1.3b13b13b13b14p-4);
    p = __builtin_fma(p, z, -0x1.745d1745d1746p-4); p = __builtin_fma(p, z, 0x1.c71c71c71c71cp-4); p = __builtin_fma(p, z, -0x1.2492492492492p-3);
    p = __builtin_fma(p, z, 0x1.999999999999ap-3); p = __builtin_fma(p, z, -0x1.5555555555555p-2);
    double2 whole = rtcg_atan_of_quarter[k], s = rtcg_sum(whole.x, t);
    return rtcg_quick_sum(s.x, s.y + (__builtin_fma(t * z, p, t_lo) + whole.y));
}
// The angle of (x, y), without signs of zero.
RTCG_DEVICE double2 rtcg_angle(double y, double x) {
    double a = __builtin_fabs(y), b = __builtin_fabs(x);
    if (a == __builtin_inf() && b == __builtin_inf()) a = b = 1;
    if (a == __builtin_inf()) { a = 1; b = 0; }
    if (b == __builtin_inf()) { a = 0; b = 1; }
    if (a == 0 && b == 0) b = 1;
    double scale = __builtin_fmax(a, b) > 0x1p1000 ? 0x1p-60 : __builtin_fmax(a, b) < 0x1p-900 ? 0x1p120 : 1;
    a *= scale; b *= scale;
    double2 r = a <= b ? rtcg_atan_of(a, b) : rtcg_atan_of(b, a);
    if (a > b) {
        double2 s = rtcg_sum(0x1.921fb54442d18p+0, -r.x);
        r = rtcg_quick_sum(s.x, s.y + (0x1.1a62633145c07p-54 - r.y));
    }
    if (rtcg_negative(x)) {
        double2 s = rtcg_sum(0x1.921fb54442d18p+1, -r.x);
        r = rtcg_quick_sum(s.x, s.y + (0x1.1a62633145c07p-53 - r.y));
    }
    return rtcg_negative(y) ? -r : r;
}
RTCG_DEVICE double rtcg_in_turns(double2 r) {
    r = rtcg_scaled(r, 0x1.45f306dc9c883p-2, -0x1.6b01ec5417056p-56);
    return r.x + r.y;
}
RTCG_DEVICE double rtcg_in_radians(double2 r) { return r.x + r.y; }
#define ANGLES(suffix, form) \
    RTCG_DEVICE double atan2##suffix(double y, double x) { \
        if (x != x || y != y) return __builtin_nan(""); \
        if (y == 0 && !rtcg_negative(x)) return y; \
        return form(rtcg_angle(y, x)); \
    } \
    RTCG_DEVICE double atan##suffix(double a) { return a == 0 || a != a ? a : form(rtcg_angle(a, 1)); } \
    RTCG_DEVICE double asin##suffix(double a) { \
        if (!(__builtin_fabs(a) <= 1)) return __builtin_nan(""); \
        return a == 0 ? a : form(rtcg_angle(a, __builtin_sqrt((1 - a) * (1 + a)))); \
    } \
    RTCG_DEVICE double acos##suffix(double a) { \
        if (!(__builtin_fabs(a) <= 1)) return __builtin_nan(""); \
        return form(rtcg_angle(__builtin_sqrt((1 - a) * (1 + a)), a)); \
    }
ANGLES(, rtcg_in_radians)
ANGLES(pi, rtcg_in_turns)

RTCG_DEVICE double sinh(double a) {
    double x = __builtin_fabs(a);
    if (x < 0x1p-27 || a != a) return a;
    if (x > 22) return __builtin_copysign(rtcg_exp(x - 0x1.62e42fee00000p-1, -0x1.a39ef35793c76p-33), a);
    double t = expm1(x);
    return __builtin_copysign(0.5 * (t + t / (t + 1)), a);
}
RTCG_DEVICE double cosh(double a) {
    double x = __builtin_fabs(a);
    if (x > 22) return rtcg_exp(x - 0x1.62e42fee00000p-1, -0x1.a39ef35793c76p-33);
    double t = rtcg_exp(x, 0);
    return 0.5 * t + 0.5 / t;
}
RTCG_DEVICE double tanh(double a) {
    double x = __builtin_fabs(a);
    if (x < 0x1p-28 || a != a) return a;
    if (x > 20) return __builtin_copysign(1.0, a);
    double t = expm1(2 * x);
    return __builtin_copysign(t / (t + 2), a);
}
RTCG_DEVICE double asinh(double a) {
    double x = __builtin_fabs(a);
    if (x < 0x1p-28 || RTCG_NOT_FINITE(a)) return a;
    double r = x > 0x1p28 ? log(x) + 0x1.62e42fefa39efp-1 : log1p(x + x * x / (1 + __builtin_sqrt(__builtin_fma(x, x, 1.0))));
    return __builtin_copysign(r, a);
}
RTCG_DEVICE double acosh(double a) {
    if (!(a >= 1)) return __builtin_nan("");
    if (a > 0x1p28) return log(a) + (a == __builtin_inf() ? 0 : 0x1.62e42fefa39efp-1);
    double t = a - 1;
    return log1p(t + __builtin_sqrt(__builtin_fma(t, t, 2 * t)));
}
RTCG_DEVICE double atanh(double a) {
    double x = __builtin_fabs(a);
    if (x > 1 || a != a) return __builtin_nan("");
    if (x < 0x1p-28) return a;
    if (x == 1) return __builtin_copysign(__builtin_inf(), a);
    return __builtin_copysign(0.5 * log1p(2 * x / (1 - x)), a);
}

// exp(-a a) (1 + 2 a) erfc(a) is a polynomial of (a - 4) / (a + 4) (Shepherd, Laframboise 1981).
RTCG_DEVICE double rtcg_erfc_positive(double a) {
    if (a > 27.3) return 0;
    double t = (a - 4) / (a + 4);
    double p = 0x1.9f3a824329015p-36;
    p = __builtin_fma(p, t, 0x1.6f4b2c594b8f3p-35); p = __builtin_fma(p, t, -0x1.46551477da1c3p-32);
    p = __builtin_fma(p, t, -0x1.276d07fd3fd0ap-31); p = __builtin_fma(p, t, 0x1.37c31c710d399p-29);
    p = __builtin_fma(p, t, 0x1.0f6f8cf940387p-28); p = __builtin_fma(p, t, -0x1.0b2374ec65be9p-26);
    p = __builtin_fma(p, t, -0x1.77ab5f11dc2d1p-26); p = __builtin_fma(p, t, 0x1.dcfb7c98a8956p-24);
    p = __builtin_fma(p, t, 0x1.52c97e7ca5ff3p-24); p = __builtin_fma(p, t, -0x1.bb468cf4dff69p-21);
    p = __builtin_fma(p, t, 0x1.38669fea939c7p-22); p = __builtin_fma(p, t, 0x1.7f2a52ef41159p-18);
    p = __builtin_fma(p, t, -0x1.7881b584b07b2p-17); p = __builtin_fma(p, t, -0x1.9959511d5ab6dp-16);
    p = __builtin_fma(p, t, 0x1.3be033ce3982ap-13); p = __builtin_fma(p, t, -0x1.a1df256980c3cp-13);
    p = __builtin_fma(p, t, -0x1.8d4a999e8c9a9p-11); p = __builtin_fma(p, t, 0x1.49c6728655506p-8); p = __builtin_fma(p, t, -0x1.0962388538971p-6);
    p = __builtin_fma(p, t, 0x1.3079edf682110p-5); p = __builtin_fma(p, t, -0x1.0fb06dfe490c3p-4); p = __builtin_fma(p, t, 0x1.7fee004e1257bp-4);
    p = __builtin_fma(p, t, -0x1.9ddb23c3e90c3p-4); p = __builtin_fma(p, t, 0x1.16ecefcfa5395p-4); p = __builtin_fma(p, t, 0x1.f7f5df66fd7b4p-7);
    p = __builtin_fma(p, t, -0x1.1df1ad154a28ep-3); p = __builtin_fma(p, t, 0x1.3ba5916e9fd7fp+0);
    double2 square = rtcg_product(a, a);
    return rtcg_exp(-square.x, -square.y) * (p / (1 + 2 * a));
}
RTCG_DEVICE double erf(double a) {
    double x = __builtin_fabs(a);
    if (a != a) return a;
    if (x > 6) return __builtin_copysign(1.0, a);
    if (x >= 0.83) return __builtin_copysign(1 - rtcg_erfc_positive(x), a);
    double z = a * a;
    double p = 0x1.2c5b6c6ac6f2bp-34;
    p = __builtin_fma(p, z, -0x1.444a2a771676bp-30); p = __builtin_fma(p, z, 0x1.fad7a118531fap-27);
    p = __builtin_fma(p, z, -0x1.5f5d3fa8e764ep-23); p = __builtin_fma(p, z, 0x1.b9e557a5a09bep-20);
    p = __builtin_fma(p, z, -0x1.f4d24c2ac63bep-17); p = __builtin_fma(p, z, 0x1.f9a3267f31c5ap-14);
    p = __builtin_fma(p, z, -0x1.c02db3fdce334p-11); p = __builtin_fma(p, z, 0x1.565bcd0e6249fp-8); p = __builtin_fma(p, z, -0x1.b82ce3128895ap-6);
    p = __builtin_fma(p, z, 0x1.ce2f21a042bdep-4); p = __builtin_fma(p, z, -0x1.812746b0379e7p-2); p = __builtin_fma(p, z, 0x1.20dd750429b6dp+0);
    return a * p;
}
RTCG_DEVICE double erfc(double a) {
    if (a != a) return a;
    if (a > 0.5) return rtcg_erfc_positive(a);
    if (a > -0.83) return 1 - erf(a);
    return 2 - rtcg_erfc_positive(-a);
}

// Between 1 and 2 a polynomial, below 20 by recurrence, above by Stirling's series.
RTCG_DEVICE double rtcg_stirling_rest(double a) {
    double u = 1 / a, z = u * u;
    double p = 0x1.6fe96381e0680p-3;
    p = __builtin_fma(p, z, -0x1.e4286cb0f5398p-6); p = __builtin_fma(p, z, 0x1.a41a41a41a41ap-8); p = __builtin_fma(p, z, -0x1.f6ab0d9993c7dp-10);
    p = __builtin_fma(p, z, 0x1.b951e2b18ff23p-11); p = __builtin_fma(p, z, -0x1.3813813813814p-11);
    p = __builtin_fma(p, z, 0x1.a01a01a01a01ap-11); p = __builtin_fma(p, z, -0x1.6c16c16c16c17p-9); p = __builtin_fma(p, z, 0x1.5555555555555p-4);
    return p * u;
}
RTCG_DEVICE double rtcg_tgamma_positive(double a) {
    if (a > 171.7) return __builtin_inf();
    if (a >= 20) {
        double2 l = rtcg_log(a), s = rtcg_scaled(l, a - 0.5, 0), d = rtcg_sum(s.x, -a);
        return rtcg_exp(d.x, d.y + s.y + rtcg_stirling_rest(a)) * 0x1.40d931ff62706p+1;
    }
    double product = 1, divisor = 1;
    while (a >= 2) { a -= 1; product *= a; }
    while (a < 1) { divisor *= a; a += 1; }
    double u = a - 1.5;
    double p = 0x1.4329df696b386p-15;
    p = __builtin_fma(p, u, -0x1.e4bec2178486dp-15); p = __builtin_fma(p, u, 0x1.6b8eb3225f310p-16);
    p = __builtin_fma(p, u, -0x1.10aacaed9895cp-15); p = __builtin_fma(p, u, 0x1.99004d4d6d8f4p-14);
    p = __builtin_fma(p, u, -0x1.32bfd90722ce3p-13); p = __builtin_fma(p, u, 0x1.9f354575e8ff7p-13);
    p = __builtin_fma(p, u, -0x1.3766c6280fd49p-12); p = __builtin_fma(p, u, 0x1.d97f7d5b27797p-12);
    p = __builtin_fma(p, u, -0x1.631beef0b334bp-11); p = __builtin_fma(p, u, 0x1.0a00aaf9f5186p-10);
    p = __builtin_fma(p, u, -0x1.8ef57d64db94bp-10); p = __builtin_fma(p, u, 0x1.2b2f38817d523p-9); p = __builtin_fma(p, u, -0x1.c0a2852ce59d0p-9);
    p = __builtin_fma(p, u, 0x1.504eaf35f2eebp-8); p = __builtin_fma(p, u, -0x1.f7fc539a0813fp-8); p = __builtin_fma(p, u, 0x1.7991dd6d75506p-7);
    p = __builtin_fma(p, u, -0x1.1a2c2982e557dp-6); p = __builtin_fma(p, u, 0x1.a752c6aedea51p-6); p = __builtin_fma(p, u, -0x1.374fd5cc78f8cp-5);
    p = __builtin_fma(p, u, 0x1.e022b7434f45dp-5); p = __builtin_fma(p, u, -0x1.3d88cfe506373p-4); p = __builtin_fma(p, u, 0x1.283bd374eb2a8p-3);
    p = __builtin_fma(p, u, -0x1.b77ac1ca2eba0p-4); p = __builtin_fma(p, u, 0x1.a8c4dba620d57p-2); p = __builtin_fma(p, u, 0x1.08ea88ee561b1p-5);
    p = __builtin_fma(p, u, 0x1.c5bf891b4ef6bp-1);
    return p * product / divisor;
}
RTCG_DEVICE double tgamma(double a) {
    if (a != a || a == __builtin_inf()) return a;
    if (a == 0) return 1 / a;
    if (a > 0) return rtcg_tgamma_positive(a);
    if (__builtin_trunc(a) == a) return __builtin_nan("");
    if (a > -20) {
        double divisor = 1;
        while (a < 1) { divisor *= a; a += 1; }
        return rtcg_tgamma_positive(a) / divisor;
    }
    if (a < -184) return 0 / sinpi(a);
    double2 l = rtcg_log(1 - a), s = rtcg_scaled(l, 0.5 - a, 0), d = rtcg_sum(s.x, a - 1);
    double inverse = rtcg_exp(-d.x, -(d.y + s.y + rtcg_stirling_rest(1 - a)));
    return 0x1.40d931ff62706p+0 / sinpi(a) * inverse;
}
// lgamma about its zeros 1 and 2: the distance from the zero times a polynomial.
static __inline__ __device__ double rtcg_lgamma_about_1(double h) {
    double p = -0x1.ef37cad0a48dap-3;
    p = __builtin_fma(p, h, 0x1.fdb4af7f8d674p-3); p = __builtin_fma(p, h, 0x1.b268ff214c073p-3);
    p = __builtin_fma(p, h, -0x1.be25a373b539ep-3); p = __builtin_fma(p, h, -0x1.7d048085d6e22p-3);
    p = __builtin_fma(p, h, 0x1.887e0cf550906p-3); p = __builtin_fma(p, h, 0x1.0e8845c6d5c5ep-6);
    p = __builtin_fma(p, h, -0x1.0d146791abc14p-6); p = __builtin_fma(p, h, -0x1.dbac65c406551p-5);
    p = __builtin_fma(p, h, 0x1.ef30ba1e39859p-5); p = __builtin_fma(p, h, -0x1.704750de46b56p-5);
    p = __builtin_fma(p, h, 0x1.832d69e7b9647p-5); p = __builtin_fma(p, h, -0x1.b205eba2aa1cap-5);
    p = __builtin_fma(p, h, 0x1.ca0e84ce19831p-5); p = __builtin_fma(p, h, -0x1.e19d7002769f2p-5);
    p = __builtin_fma(p, h, 0x1.ffbab199937d5p-5); p = __builtin_fma(p, h, -0x1.11158c1fdbb72p-4);
    p = __builtin_fma(p, h, 0x1.249947c51cacdp-4); p = __builtin_fma(p, h, -0x1.3b1d7ae2995a8p-4);
    p = __builtin_fma(p, h, 0x1.556ab92d25809p-4); p = __builtin_fma(p, h, -0x1.748c33f5abae8p-4);
    p = __builtin_fma(p, h, 0x1.9a01e4708549bp-4); p = __builtin_fma(p, h, -0x1.c8067068cca4ap-4);
    p = __builtin_fma(p, h, 0x1.010b36ad308c3p-3); p = __builtin_fma(p, h, -0x1.2703a1dcf0caap-3);
    p = __builtin_fma(p, h, 0x1.5b40cb1012ee8p-3); p = __builtin_fma(p, h, -0x1.a8b9c17aa60bbp-3);
    p = __builtin_fma(p, h, 0x1.151322ac7d7ffp-2); p = __builtin_fma(p, h, -0x1.9a4d55beab2d7p-2);
    p = __builtin_fma(p, h, 0x1.a51a6625307d3p-1); p = __builtin_fma(p, h, -0x1.2788cfc6fb619p-1);
    return h * p;
}
static __inline__ __device__ double rtcg_lgamma_about_2(double h) {
    double p = -0x1.091589d02d1a3p-25;
    p = __builtin_fma(p, h, 0x1.15fea8732cd9fp-24); p = __builtin_fma(p, h, -0x1.9a854795e5fe9p-24);
    p = __builtin_fma(p, h, 0x1.b1a8c8bf04f15p-23); p = __builtin_fma(p, h, -0x1.e40f95a8192dep-22);
    p = __builtin_fma(p, h, 0x1.01462b5944f7dp-20); p = __builtin_fma(p, h, -0x1.11a85684e8499p-19);
    p = __builtin_fma(p, h, 0x1.258c9651dbedcp-18); p = __builtin_fma(p, h, -0x1.3cbce9a3c4ad1p-17);
    p = __builtin_fma(p, h, 0x1.580e260121a51p-16); p = __builtin_fma(p, h, -0x1.78de5a3d2d4d3p-15);
    p = __builtin_fma(p, h, 0x1.a127af44aaf71p-14); p = __builtin_fma(p, h, -0x1.d3fd4c7b8f6a9p-13);
    p = __builtin_fma(p, h, 0x1.0b36af88b2884p-11); p = __builtin_fma(p, h, -0x1.38ac5c2bf50a2p-10);
    p = __builtin_fma(p, h, 0x1.7add6eadb2c11p-9); p = __builtin_fma(p, h, -0x1.e404fc218f61fp-8);
    p = __builtin_fma(p, h, 0x1.51322ac7d849bp-6); p = __builtin_fma(p, h, -0x1.13e001a557606p-4);
    p = __builtin_fma(p, h, 0x1.4a34cc4a60fa6p-2); p = __builtin_fma(p, h, 0x1.b0ee6072093cep-2);
    return h * p;
}
RTCG_DEVICE double rtcg_lgamma_positive(double a) {
    if (a > 0.5 && a < 2.5) return a < 1.5 ? rtcg_lgamma_about_1(a - 1) : rtcg_lgamma_about_2(a - 2);
    if (a < 12) return log(rtcg_tgamma_positive(a));
    double2 l = rtcg_log(a), s = rtcg_scaled(l, a - 0.5, 0), d = rtcg_sum(s.x, -a);
    return d.x + (d.y + s.y + (rtcg_stirling_rest(a) + 0x1.d67f1c864beb5p-1));
}
RTCG_DEVICE double lgamma_r(double a, int *sign) {
    *sign = 1;
    if (a != a) return a;
    if (__builtin_fabs(a) == __builtin_inf() || (a <= 0 && __builtin_trunc(a) == a)) return __builtin_inf();
    if (a > 0) return rtcg_lgamma_positive(a);
    double s = sinpi(a);
    if (s < 0) *sign = -1;
    return log(0x1.921fb54442d18p+1 / (__builtin_fabs(s) * -a)) - rtcg_lgamma_positive(-a);
}
RTCG_DEVICE double lgamma(double a) { int sign; return lgamma_r(a, &sign); }
}
