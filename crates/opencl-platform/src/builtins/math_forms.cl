/* The other forms of math functions: vectors, results through pointers, and the functions whose names promise less. */

#define FORMS1(name) \
    PURE float name(float a); PURE double name(double a); VECTORS1(name, float, float) VECTORS1(name, double, double)
#define FORMS2(name, U, V) \
    PURE float name(float a, U b); PURE double name(double a, V b); \
    VECTORS2(name, float, float, U) VECTORS2(name, double, double, V)
FORMS1(exp) FORMS1(exp2) FORMS1(exp10) FORMS1(expm1) FORMS1(log) FORMS1(log2) FORMS1(log10) FORMS1(log1p)
FORMS1(cbrt) FORMS1(sin) FORMS1(cos) FORMS1(tan) FORMS1(sinpi) FORMS1(cospi) FORMS1(tanpi) FORMS1(asin) FORMS1(acos)
FORMS1(atan) FORMS1(asinpi) FORMS1(acospi) FORMS1(atanpi) FORMS1(sinh) FORMS1(cosh) FORMS1(tanh) FORMS1(asinh)
FORMS1(acosh) FORMS1(atanh) FORMS1(erf) FORMS1(erfc) FORMS1(tgamma) FORMS1(lgamma)
FORMS2(pow, float, double) FORMS2(powr, float, double) FORMS2(atan2, float, double) FORMS2(atan2pi, float, double)
FORMS2(hypot, float, double) FORMS2(pown, int, int) FORMS2(rootn, int, int)

BUILTIN float sincos(float a, float *c);
BUILTIN double sincos(double a, double *c);
BUILTIN float lgamma_r(float a, int *sign);
BUILTIN double lgamma_r(double a, int *sign);
OUT(sincos, float, float)
OUT(sincos, double, double)
OUT(lgamma_r, float, int)
OUT(lgamma_r, double, int)

/* Remainders, bit by bit: exact. q has the last bits of the quotient. */
#define REMAINDERS(T, U, I, f, mantissa, exponents, one) \
    static inline __attribute__((overloadable)) T rtcg_fmod(T a, T b, uint *q) { \
        T x = __builtin_fabs##f(a), y = __builtin_fabs##f(b); \
        *q = 0; \
        if (!(x < (T)INFINITY) || y == 0 || y != y) return (T)NAN; \
        if (x < y) return a; \
        int ex, ey; \
        U mx = (as_##U(rtcg_normalized(x, &ex)) & (one - 1)) | one, my = (as_##U(rtcg_normalized(y, &ey)) & (one - 1)) | one; \
        for (int k = ex - ey; k >= 0; k--) { \
            *q *= 2; \
            if (mx >= my) { mx -= my; *q += 1; } \
            if (k) mx *= 2; \
        } \
        return __builtin_copysign##f(ldexp((T)mx, ey - 1 - mantissa), a); \
    } \
    BINARY(fmod, T, T, T, rtcg_fmod_of(a, b)) SCALAR2(fmod, T) \
    BUILTIN T remquo(T a, T b, int *quotient) { \
        uint q; \
        T y = __builtin_fabs##f(b), r = rtcg_fmod(a, b, &q), m = __builtin_fabs##f(r); \
        *quotient = 0; \
        if (r != r) return r; \
        /* The nearest multiple, the even one of two. */ \
        if (y < (T)INFINITY && (m > y - m || (m == y - m && q & 1))) { m -= y; q++; } \
        q &= 0x7f; \
        *quotient = signbit(a) != signbit(b) ? -(int)q : (int)q; \
        return signbit(a) ? -m : m; \
    } \
    OUT2(remquo, T) \
    BINARY(remainder, T, T, T, rtcg_remainder_of(a, b))
#define OUT2(name, T) \
    OUT2_IN(name, T, __private) OUT2_SCALAR(name, T, __global) OUT2_IN(name, T, __global) OUT2_SCALAR(name, T, __local) \
    OUT2_IN(name, T, __local)
#define OUT2_SCALAR(name, T, SPACE) \
    BUILTIN T name(T a, T b, SPACE int *p) { int x; T r = name(a, b, &x); *p = x; return r; }
#define OUT2_IN(name, T, SPACE) \
    BUILTIN T##2 name(T##2 a, T##2 b, SPACE int2 *p) { \
        int x, y; T##2 r = (T##2)(name(a.x, b.x, &x), name(a.y, b.y, &y)); *p = (int2)(x, y); return r; } \
    BUILTIN T##3 name(T##3 a, T##3 b, SPACE int3 *p) { \
        int x, y, z; T##3 r = (T##3)(name(a.x, b.x, &x), name(a.y, b.y, &y), name(a.z, b.z, &z)); \
        *p = (int3)(x, y, z); return r; } \
    BUILTIN T##4 name(T##4 a, T##4 b, SPACE int4 *p) { \
        int2 l, h; T##4 r = (T##4)(name(a.lo, b.lo, &l), name(a.hi, b.hi, &h)); *p = (int4)(l, h); return r; } \
    BUILTIN T##8 name(T##8 a, T##8 b, SPACE int8 *p) { \
        int4 l, h; T##8 r = (T##8)(name(a.lo, b.lo, &l), name(a.hi, b.hi, &h)); *p = (int8)(l, h); return r; } \
    BUILTIN T##16 name(T##16 a, T##16 b, SPACE int16 *p) { \
        int8 l, h; T##16 r = (T##16)(name(a.lo, b.lo, &l), name(a.hi, b.hi, &h)); *p = (int16)(l, h); return r; }
static inline __attribute__((overloadable)) float rtcg_fmod_of(float a, float b);
static inline __attribute__((overloadable)) double rtcg_fmod_of(double a, double b);
static inline __attribute__((overloadable)) float rtcg_remainder_of(float a, float b);
static inline __attribute__((overloadable)) double rtcg_remainder_of(double a, double b);
REMAINDERS(float, uint, int, f, 23, 0xff, 0x800000u)
REMAINDERS(double, ulong, long, , 52, 0x7ff, 0x10000000000000UL)
static inline __attribute__((overloadable)) float rtcg_fmod_of(float a, float b) { uint q; return rtcg_fmod(a, b, &q); }
static inline __attribute__((overloadable)) double rtcg_fmod_of(double a, double b) { uint q; return rtcg_fmod(a, b, &q); }
static inline __attribute__((overloadable)) float rtcg_remainder_of(float a, float b) { int q; return remquo(a, b, &q); }
static inline __attribute__((overloadable)) double rtcg_remainder_of(double a, double b) { int q; return remquo(a, b, &q); }
