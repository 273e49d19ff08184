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

FORMS2(fmod, float, double) FORMS2(remainder, float, double)
SCALAR2(fmod, float) SCALAR2(fmod, double)

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
BUILTIN float remquo(float a, float b, int *quotient);
BUILTIN double remquo(double a, double b, int *quotient);
OUT2(remquo, float)
OUT2(remquo, double)
