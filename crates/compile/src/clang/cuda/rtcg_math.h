// The names that C++ and CUDA have for mathematics, and the other forms: integers as double, min and max.
#pragma once
#pragma clang fp contract(off)
extern "C++" {
// With -use_fast_math these are the intrinsics.
#ifdef __USE_FAST_MATH__
#define RTCG_FAST(name, fast) RTCG_DEVICE float name##f(float a) { return fast(a); }
RTCG_FAST(sin, __sinf) RTCG_FAST(cos, __cosf) RTCG_FAST(tan, __tanf) RTCG_FAST(exp, __expf) RTCG_FAST(exp10, __exp10f)
RTCG_FAST(log, __logf) RTCG_FAST(log2, __log2f) RTCG_FAST(log10, __log10f)
#undef RTCG_FAST
RTCG_DEVICE float powf(float a, float b) { return __powf(a, b); }
RTCG_DEVICE void sincosf(float a, float *s, float *c) { __sincosf(a, s, c); }
#endif

// The names of C for single precision.
#define RTCG_F1(name) RTCG_DEVICE float name##f(float a) { return name(a); }
#define RTCG_F2(name) RTCG_DEVICE float name##f(float a, float b) { return name(a, b); }
#ifndef __USE_FAST_MATH__
RTCG_F1(sin) RTCG_F1(cos) RTCG_F1(tan) RTCG_F1(exp) RTCG_F1(exp10) RTCG_F1(log) RTCG_F1(log2) RTCG_F1(log10) RTCG_F2(pow)
RTCG_DEVICE void sincosf(float a, float *s, float *c) { sincos(a, s, c); }
#endif
RTCG_F1(exp2) RTCG_F1(expm1) RTCG_F1(log1p) RTCG_F1(cbrt) RTCG_F1(rcbrt) RTCG_F1(sqrt) RTCG_F1(rsqrt) RTCG_F1(sinpi)
RTCG_F1(cospi) RTCG_F1(asin) RTCG_F1(acos) RTCG_F1(atan) RTCG_F1(sinh) RTCG_F1(cosh) RTCG_F1(tanh) RTCG_F1(asinh)
RTCG_F1(acosh) RTCG_F1(atanh) RTCG_F1(erf) RTCG_F1(erfc) RTCG_F1(tgamma) RTCG_F1(lgamma) RTCG_F1(fabs) RTCG_F1(floor)
RTCG_F1(ceil) RTCG_F1(trunc) RTCG_F1(rint) RTCG_F1(nearbyint) RTCG_F1(round) RTCG_F1(logb)
RTCG_F2(atan2) RTCG_F2(hypot) RTCG_F2(copysign) RTCG_F2(fmax) RTCG_F2(fmin) RTCG_F2(fdim) RTCG_F2(nextafter) RTCG_F2(fmod)
RTCG_F2(remainder) RTCG_F2(rhypot)
RTCG_F1(erfinv) RTCG_F1(erfcinv) RTCG_F1(erfcx) RTCG_F1(normcdf) RTCG_F1(normcdfinv) RTCG_F1(cyl_bessel_i0) RTCG_F1(cyl_bessel_i1)
RTCG_F1(j0) RTCG_F1(j1) RTCG_F1(y0) RTCG_F1(y1)
#undef RTCG_F1
#undef RTCG_F2
RTCG_DEVICE float jnf(int n, float a) { return jn(n, a); }
RTCG_DEVICE float ynf(int n, float a) { return yn(n, a); }
RTCG_DEVICE float normf(int n, const float *a) { return norm(n, a); }
RTCG_DEVICE float rnormf(int n, const float *a) { return rnorm(n, a); }
RTCG_DEVICE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
RTCG_DEVICE void sincospif(float a, float *s, float *c) { sincospi(a, s, c); }
RTCG_DEVICE float remquof(float a, float b, int *q) { return remquo(a, b, q); }
RTCG_DEVICE float modff(float a, float *p) { return modf(a, p); }
RTCG_DEVICE float frexpf(float a, int *p) { return frexp(a, p); }
RTCG_DEVICE float ldexpf(float a, int n) { return ldexp(a, n); }
RTCG_DEVICE float scalbnf(float a, int n) { return ldexp(a, n); }
RTCG_DEVICE float scalblnf(float a, long n) { return scalbln(a, n); }
RTCG_DEVICE int ilogbf(float a) { return ilogb(a); }
RTCG_DEVICE long lroundf(float a) { return lround(a); }
RTCG_DEVICE long long llroundf(float a) { return llround(a); }
RTCG_DEVICE long lrintf(float a) { return lrint(a); }
RTCG_DEVICE long long llrintf(float a) { return llrint(a); }
RTCG_DEVICE float fdividef(float a, float b) {
#ifdef __USE_FAST_MATH__
    return __fdividef(a, b);
#else
    return a / b;
#endif
}

// Integers.
#define RTCG_INTEGER(T) \
    RTCG_HOST_DEVICE T min(T a, T b) { return b < a ? b : a; } \
    RTCG_HOST_DEVICE T max(T a, T b) { return a < b ? b : a; }
RTCG_INTEGER(int) RTCG_INTEGER(unsigned int) RTCG_INTEGER(long) RTCG_INTEGER(unsigned long) RTCG_INTEGER(long long)
RTCG_INTEGER(unsigned long long)
#undef RTCG_INTEGER
RTCG_DEVICE float min(float a, float b) { return __builtin_fminf(a, b); }
RTCG_DEVICE float max(float a, float b) { return __builtin_fmaxf(a, b); }
RTCG_DEVICE double min(double a, double b) { return __builtin_fmin(a, b); }
RTCG_DEVICE double max(double a, double b) { return __builtin_fmax(a, b); }
#define RTCG_MIXED(A, B, T) \
    RTCG_HOST_DEVICE T min(A a, B b) { return min((T)a, (T)b); } RTCG_HOST_DEVICE T min(B a, A b) { return min((T)a, (T)b); } \
    RTCG_HOST_DEVICE T max(A a, B b) { return max((T)a, (T)b); } RTCG_HOST_DEVICE T max(B a, A b) { return max((T)a, (T)b); }
RTCG_MIXED(int, unsigned int, unsigned int)
RTCG_MIXED(long, unsigned long, unsigned long)
RTCG_MIXED(long long, unsigned long long, unsigned long long)
RTCG_MIXED(float, double, double)
#undef RTCG_MIXED
RTCG_DEVICE unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
RTCG_DEVICE unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
RTCG_DEVICE long long llmin(long long a, long long b) { return min(a, b); }
RTCG_DEVICE long long llmax(long long a, long long b) { return max(a, b); }
RTCG_DEVICE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
RTCG_DEVICE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
RTCG_HOST_DEVICE int abs(int a) { return a < 0 ? (int)-(unsigned int)a : a; }
RTCG_HOST_DEVICE long abs(long a) { return a < 0 ? (long)-(unsigned long)a : a; }
RTCG_HOST_DEVICE long long abs(long long a) { return a < 0 ? (long long)-(unsigned long long)a : a; }
RTCG_DEVICE float abs(float a) { return __builtin_fabsf(a); }
RTCG_DEVICE double abs(double a) { return __builtin_fabs(a); }
RTCG_HOST_DEVICE long labs(long a) { return abs(a); }
RTCG_HOST_DEVICE long long llabs(long long a) { return abs(a); }

// Integers are taken as double, and float with them or with double too, as <cmath> has it.
template <class T> struct __rtcg_is_integer { static const bool value = false; };
template <class T> struct __rtcg_is_number { static const bool value = false; };
#define RTCG_IS(T) \
    template <> struct __rtcg_is_integer<T> { static const bool value = true; }; \
    template <> struct __rtcg_is_number<T> { static const bool value = true; };
RTCG_IS(bool) RTCG_IS(char) RTCG_IS(signed char) RTCG_IS(unsigned char) RTCG_IS(short) RTCG_IS(unsigned short) RTCG_IS(int)
RTCG_IS(unsigned int) RTCG_IS(long) RTCG_IS(unsigned long) RTCG_IS(long long) RTCG_IS(unsigned long long)
#undef RTCG_IS
template <> struct __rtcg_is_number<float> { static const bool value = true; };
template <> struct __rtcg_is_number<double> { static const bool value = true; };
template <bool, class T> struct __rtcg_if {};
template <class T> struct __rtcg_if<true, T> { typedef T type; };
template <class A, class B> struct __rtcg_is_mixed { static const bool value = __rtcg_is_number<A>::value && __rtcg_is_number<B>::value; };
template <> struct __rtcg_is_mixed<float, float> { static const bool value = false; };
template <> struct __rtcg_is_mixed<double, double> { static const bool value = false; };
#define RTCG_OF_INTEGER(R, name) \
    template <class T> RTCG_DEVICE typename __rtcg_if<__rtcg_is_integer<T>::value, R>::type name(T a) { return name((double)a); }
#define RTCG_D1(name) RTCG_OF_INTEGER(double, name)
#define RTCG_D2(name) \
    template <class A, class B> \
    RTCG_DEVICE typename __rtcg_if<__rtcg_is_mixed<A, B>::value, double>::type name(A a, B b) { return name((double)a, (double)b); }
RTCG_D1(sin) RTCG_D1(cos) RTCG_D1(tan) RTCG_D1(asin) RTCG_D1(acos) RTCG_D1(atan) RTCG_D1(sinh) RTCG_D1(cosh) RTCG_D1(tanh)
RTCG_D1(asinh) RTCG_D1(acosh) RTCG_D1(atanh) RTCG_D1(exp) RTCG_D1(exp2) RTCG_D1(exp10) RTCG_D1(expm1) RTCG_D1(log)
RTCG_D1(log2) RTCG_D1(log10) RTCG_D1(log1p) RTCG_D1(logb) RTCG_D1(sqrt) RTCG_D1(rsqrt) RTCG_D1(cbrt) RTCG_D1(rcbrt)
RTCG_D1(erf) RTCG_D1(erfc) RTCG_D1(tgamma) RTCG_D1(lgamma) RTCG_D1(fabs) RTCG_D1(floor) RTCG_D1(ceil) RTCG_D1(trunc)
RTCG_D1(round) RTCG_D1(rint) RTCG_D1(nearbyint) RTCG_D1(sinpi) RTCG_D1(cospi)
RTCG_D2(pow) RTCG_D2(atan2) RTCG_D2(hypot) RTCG_D2(fmod) RTCG_D2(remainder) RTCG_D2(fmax) RTCG_D2(fmin) RTCG_D2(fdim)
RTCG_D2(copysign) RTCG_D2(nextafter)
RTCG_OF_INTEGER(bool, isnan) RTCG_OF_INTEGER(bool, isinf) RTCG_OF_INTEGER(bool, isfinite) RTCG_OF_INTEGER(bool, signbit)
RTCG_OF_INTEGER(int, ilogb) RTCG_OF_INTEGER(long, lround) RTCG_OF_INTEGER(long, lrint)
RTCG_OF_INTEGER(long long, llround) RTCG_OF_INTEGER(long long, llrint)
#undef RTCG_OF_INTEGER
#undef RTCG_D1
#undef RTCG_D2
template <class A, class B, class C>
RTCG_DEVICE typename __rtcg_if<__rtcg_is_mixed<A, B>::value || __rtcg_is_mixed<B, C>::value, double>::type fma(A a, B b, C c) {
    return __builtin_fma((double)a, (double)b, (double)c);
}
}
