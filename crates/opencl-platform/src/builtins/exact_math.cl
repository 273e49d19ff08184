/* Math functions (6.15.2) that the target has, or that are exact by their definition. */

#define EXACT(T, I, U, f, sign_bit) \
    UNARY(fabs, T, T, __builtin_fabs##f(a)) \
    UNARY(floor, T, T, __builtin_floor##f(a)) \
    UNARY(ceil, T, T, __builtin_ceil##f(a)) \
    UNARY(trunc, T, T, __builtin_trunc##f(a)) \
    UNARY(rint, T, T, __builtin_rint##f(a)) \
    UNARY(round, T, T, __builtin_copysign##f(__builtin_trunc##f(__builtin_fabs##f(a)) \
        + (__builtin_fabs##f(a) - __builtin_trunc##f(__builtin_fabs##f(a)) >= (T)0.5 ? (T)1 : (T)0), a)) \
    UNARY(sqrt, T, T, __builtin_sqrt##f(a)) \
    UNARY(rsqrt, T, T, 1 / __builtin_sqrt##f(a)) \
    BINARY(copysign, T, T, T, __builtin_copysign##f(a, b)) \
    BINARY(fmax, T, T, T, __builtin_fmax##f(a, b)) SCALAR2(fmax, T) \
    BINARY(fmin, T, T, T, __builtin_fmin##f(a, b)) SCALAR2(fmin, T) \
    BINARY(fdim, T, T, T, a != a || b != b ? a + b : a > b ? a - b : (T)0) \
    BINARY(maxmag, T, T, T, fabs(a) > fabs(b) ? a : fabs(b) > fabs(a) ? b : fmax(a, b)) \
    BINARY(minmag, T, T, T, fabs(a) < fabs(b) ? a : fabs(b) < fabs(a) ? b : fmin(a, b)) \
    TERNARY(fma, T, T, T, T, __builtin_fma##f(a, b, c)) \
    TERNARY(mad, T, T, T, T, __builtin_fma##f(a, b, c)) \
    BINARY(nextafter, T, T, T, as_##T(rtcg_next(a, b)))
static inline __attribute__((overloadable, always_inline)) uint rtcg_next(float a, float b) {
    if (a != a || b != b) return as_uint(a + b);
    if (a == b) return as_uint(b);
    if (a == 0) return as_uint(__builtin_copysignf(0x1p-149f, b));
    return as_uint(a) + ((a < b) == (a > 0) ? 1 : -1);
}
static inline __attribute__((overloadable, always_inline)) ulong rtcg_next(double a, double b) {
    if (a != a || b != b) return as_ulong(a + b);
    if (a == b) return as_ulong(b);
    if (a == 0) return as_ulong(__builtin_copysign(0x1p-1074, b));
    return as_ulong(a) + ((a < b) == (a > 0) ? 1 : -1);
}
EXACT(float, int, uint, f, 31)
EXACT(double, long, ulong, , 63)
UNARY(nan, float, uint, as_float(0x7fc00000u | (a & 0x3fffffu)))
UNARY(nan, double, ulong, as_double(0x7ff8000000000000UL | (a & 0x7ffffffffffffUL)))

/* Parts of numbers. */
BUILTIN float rtcg_normalized(float a, int *exponent) {
    int e = (as_int(a) >> 23) & 0xff;
    if (e == 0) { a *= 0x1p24f; e = ((as_int(a) >> 23) & 0xff) - 24; }
    *exponent = e - 126;
    return as_float((as_int(a) & 0x807fffff) | 0x3f000000);
}
BUILTIN double rtcg_normalized(double a, int *exponent) {
    int e = (as_long(a) >> 52) & 0x7ff;
    if (e == 0) { a *= 0x1p54; e = (int)((as_long(a) >> 52) & 0x7ff) - 54; }
    *exponent = e - 1022;
    return as_double((as_long(a) & 0x800fffffffffffffL) | 0x3fe0000000000000L);
}
#define PARTS(T, f, U, exponent_mask) \
    PURE int ilogb(T a) { \
        int e; \
        if (a != a) return FP_ILOGBNAN; \
        if (a == 0) return FP_ILOGB0; \
        if (__builtin_fabs##f(a) == (T)INFINITY) return INT_MAX; \
        rtcg_normalized(a, &e); \
        return e - 1; \
    } \
    VECTORS1(ilogb, int, T) \
    UNARY(logb, T, T, a != a ? a : a == 0 ? -(T)INFINITY : __builtin_fabs##f(a) == (T)INFINITY ? (T)INFINITY : (T)ilogb(a))
PARTS(float, f, uint, 0)
PARTS(double, , ulong, 0)

PURE float ldexp(float a, int n) {
    if (a == 0 || a != a || __builtin_fabsf(a) == INFINITY) return a;
    int e;
    float m = rtcg_normalized(a, &e);
    long to = (long)e + n;
    if (to > 128) return __builtin_copysignf(INFINITY, a);
    if (to < -149) return __builtin_copysignf(0, a);
    if (to >= -125) return as_float((as_uint(m) & 0x807fffffu) | (uint)(to + 126) << 23);
    return as_float((as_uint(m) & 0x807fffffu) | (uint)(to + 126 + 64) << 23) * 0x1p-64f;
}
PURE double ldexp(double a, int n) {
    if (a == 0 || a != a || __builtin_fabs(a) == (double)INFINITY) return a;
    int e;
    double m = rtcg_normalized(a, &e);
    long to = (long)e + n;
    if (to > 1024) return __builtin_copysign((double)INFINITY, a);
    if (to < -1074) return __builtin_copysign(0.0, a);
    if (to >= -1021) return as_double((as_ulong(m) & 0x800fffffffffffffUL) | (ulong)(to + 1022) << 52);
    return as_double((as_ulong(m) & 0x800fffffffffffffUL) | (ulong)(to + 1022 + 128) << 52) * 0x1p-128;
}
#define LDEXP(T) \
    VECTORS2(ldexp, T, T, int) \
    PURE T##2 ldexp(T##2 a, int n) { return ldexp(a, (int2)(n)); } \
    PURE T##3 ldexp(T##3 a, int n) { return ldexp(a, (int3)(n)); } \
    PURE T##4 ldexp(T##4 a, int n) { return ldexp(a, (int4)(n)); } \
    PURE T##8 ldexp(T##8 a, int n) { return ldexp(a, (int8)(n)); } \
    PURE T##16 ldexp(T##16 a, int n) { return ldexp(a, (int16)(n)); }
LDEXP(float)
LDEXP(double)

BUILTIN float frexp(float a, int *p) {
    if (a == 0 || a != a || __builtin_fabsf(a) == INFINITY) { *p = 0; return a; }
    return rtcg_normalized(a, p);
}
BUILTIN double frexp(double a, int *p) {
    if (a == 0 || a != a || __builtin_fabs(a) == (double)INFINITY) { *p = 0; return a; }
    return rtcg_normalized(a, p);
}
OUT(frexp, float, int)
OUT(frexp, double, int)
#define WHOLE_AND_FRACTION(T, f, below_one) \
    BUILTIN T modf(T a, T *p) { \
        *p = __builtin_trunc##f(a); \
        return __builtin_copysign##f(__builtin_fabs##f(a) == (T)INFINITY ? (T)0 : a - *p, a); \
    } \
    BUILTIN T fract(T a, T *p) { \
        *p = __builtin_floor##f(a); \
        return __builtin_fabs##f(a) == (T)INFINITY ? __builtin_copysign##f((T)0, a) : a != a ? a \
             : __builtin_fmin##f(a - *p, below_one); \
    } \
    OUT(modf, T, T) OUT(fract, T, T)
WHOLE_AND_FRACTION(float, f, 0x1.fffffep-1f)
WHOLE_AND_FRACTION(double, , 0x1.fffffffffffffp-1)
