// Floating-point numbers of 8, 6 and 4 bits: what cuda_fp8.h, cuda_fp6.h and cuda_fp4.h have alike.
//
// Sources: CUDA Math API 13 (FP8, FP6 and FP4 intrinsics), OCP Microscaling Formats 1.0 (the formats), and what an H200 answers to
// tests/fidelity/q68 and q75 (NaN, infinity and overflow). The roundings are integer arithmetic of our own.
#pragma once
#pragma clang system_header
#include "cuda_fp16.h"
#include "cuda_bf16.h"
#include "device_types.h"

extern "C++" {

// The magnitude's bits `a` rounded to `m` bits of mantissa with exponents biased by `bias`, not bounded. To nearest, a sum with the
// number whose last place is that of subnormal results leaves the result in its last bits; other modes drop bits by hand.
RTCG_HOST_DEVICE unsigned int __rtcg_narrow_magnitude(unsigned int a, int m, int bias, bool negative, cudaRoundMode mode) {
    unsigned int least = 128 - bias, e = a >> 23;
    if (mode == cudaRoundNearest) {
        unsigned int place = (151 - bias - m) << 23, drop = 23 - m;
        unsigned int small = __builtin_bit_cast(unsigned int, __builtin_bit_cast(float, a) + __builtin_bit_cast(float, place)) - place;
        unsigned int normal = ((a + ((1u << (drop - 1)) - 1) + (a >> drop & 1)) >> drop) - ((least - 1) << m);
        return e < least ? small : normal;
    }
    unsigned int digits = (a & 0x7fffff) | (e ? 0x800000 : 0), drop = 23 - m + (e < least ? least - (e ? e : 1) : 0);
    drop = drop > 31 ? 31 : drop;
    unsigned int up = mode == cudaRoundZero || (mode == cudaRoundMinInf) != negative ? 0 : (1u << drop) - 1;
    return ((digits + up) >> drop) + ((e > least ? e - least : 0) << m);
}
// A number narrowed: what is beyond `top` becomes `over`, a NaN `nan`; `sign` is the place of the sign bit.
RTCG_HOST_DEVICE unsigned int __rtcg_narrow(float v, int m, int bias, unsigned int top, unsigned int over, unsigned int nan, int sign, cudaRoundMode mode) {
    unsigned int b = __builtin_bit_cast(unsigned int, v), a = b & 0x7fffffff, r = __rtcg_narrow_magnitude(a, m, bias, b >> 31, mode);
    r = (r > top ? over : r) | b >> 31 << sign;
    return a > 0x7f800000 ? nan : r;
}
// The `__half` whose bits without a shift in exponent are `b`, times a power of two, which is exact.
RTCG_HOST_DEVICE unsigned short __rtcg_rescale(unsigned int b, unsigned int power) {
    return __hmul(__ushort_as_half((unsigned short)b), __ushort_as_half((unsigned short)power)).__x;
}

// Functions of a family `F` (fp8, fp6, fp4; e8m0 has its own) whose elements of a vector are `step` bits apart, from `__rtcg_to_F` and
// `__rtcg_F_to_half` of one number. RTCG_TAKE_F are the parameters after the number, RTCG_GIVE_F their names.
#define RTCG_NARROW_FROM(F, suffix, suffix2, type, type2, step, wide, wide2) \
    RTCG_DEVICE __nv_##F##_storage_t __nv_cvt_##suffix##_to_##F(const type v, RTCG_TAKE_##F) { return __rtcg_to_##F(wide, RTCG_GIVE_##F); } \
    RTCG_DEVICE __nv_##F##x2_storage_t __nv_cvt_##suffix2##_to_##F##x2(const type2 v, RTCG_TAKE_##F) { return __rtcg_to_##F##x2(wide2, RTCG_GIVE_##F); }
#define RTCG_NARROW_FUNCTIONS(F, step, all) \
    RTCG_NARROW_FROM(F, float, float2, float, float2, step, v, v.x RTCG_COMMA v.y) \
    RTCG_NARROW_FROM(F, double, double2, double, double2, step, __rtcg_odd(v), __rtcg_odd(v.x) RTCG_COMMA __rtcg_odd(v.y)) \
    RTCG_NARROW_FROM(F, halfraw, halfraw2, __half_raw, __half2_raw, step, __rtcg_half_to_float(v.x), __rtcg_half_to_float(v.x) RTCG_COMMA __rtcg_half_to_float(v.y)) \
    RTCG_NARROW_FROM(F, bfloat16raw, bfloat16raw2, __nv_bfloat16_raw, __nv_bfloat162_raw, step, __rtcg_bfloat16_to_float(v.x), \
                     __rtcg_bfloat16_to_float(v.x) RTCG_COMMA __rtcg_bfloat16_to_float(v.y)) \
    RTCG_DEVICE __half_raw __nv_cvt_##F##_to_halfraw(const __nv_##F##_storage_t v, const __nv_##F##_interpretation_t k) { return {__rtcg_##F##_to_half(v, k)}; } \
    RTCG_DEVICE __half2_raw __nv_cvt_##F##x2_to_halfraw2(const __nv_##F##x2_storage_t v, const __nv_##F##_interpretation_t k) { \
        return {__rtcg_##F##_to_half(v & all, k), __rtcg_##F##_to_half((v >> step) & all, k)}; }
#define RTCG_COMMA ,

// Types of one, two and four numbers of format `K` in family `F`. `from` and `from2` (of two floats) make bits, `to(x)` the `word` type
// that holds every number of the format, `...` are the arguments after the number.
#define RTCG_NARROW_CAST(type, name, word) RTCG_MEMBER explicit operator type() const { return __rtcg_##word##_to_##name(__rtcg_wide()); }
#define RTCG_NARROW_TYPES(F, K, word, T, T2, step, all, from, from2, to, ...) \
    struct __nv_##F##_##K { \
        __nv_##F##_storage_t __x; \
        __nv_##F##_##K() = default; \
        RTCG_MEMBER explicit __nv_##F##_##K(const float v) : __x(from(v, __VA_ARGS__)) {} \
        RTCG_MEMBER explicit __nv_##F##_##K(const double v) : __x(from(__rtcg_odd(v), __VA_ARGS__)) {} \
        RTCG_MEMBER explicit __nv_##F##_##K(const __half v) : __x(from(__rtcg_half_to_float(v.__x), __VA_ARGS__)) {} \
        RTCG_MEMBER explicit __nv_##F##_##K(const __nv_bfloat16 v) : __x(from(__rtcg_bfloat16_to_float(v.__x), __VA_ARGS__)) {} \
        RTCG_MEMBER explicit __nv_##F##_##K(const short v) : __x(from((float)v, __VA_ARGS__)) {} \
        RTCG_MEMBER explicit __nv_##F##_##K(const unsigned short v) : __x(from((float)v, __VA_ARGS__)) {} \
        RTCG_MEMBER explicit __nv_##F##_##K(const int v) : __x(from(__rtcg_odd(v), __VA_ARGS__)) {} \
        RTCG_MEMBER explicit __nv_##F##_##K(const unsigned int v) : __x(from(__rtcg_odd(v), __VA_ARGS__)) {} \
        RTCG_MEMBER explicit __nv_##F##_##K(const long v) : __x(from(__rtcg_odd((long long)v), __VA_ARGS__)) {} \
        RTCG_MEMBER explicit __nv_##F##_##K(const unsigned long v) : __x(from(__rtcg_odd((unsigned long long)v), __VA_ARGS__)) {} \
        RTCG_MEMBER explicit __nv_##F##_##K(const long long v) : __x(from(__rtcg_odd(v), __VA_ARGS__)) {} \
        RTCG_MEMBER explicit __nv_##F##_##K(const unsigned long long v) : __x(from(__rtcg_odd(v), __VA_ARGS__)) {} \
        RTCG_MEMBER unsigned short __rtcg_wide() const { return to(__x); } \
        RTCG_NARROW_CAST(float, float, word) RTCG_NARROW_CAST(double, float, word) RTCG_NARROW_CAST(signed char, schar, word) \
        RTCG_NARROW_CAST(unsigned char, uchar, word) RTCG_NARROW_CAST(char, schar, word) RTCG_NARROW_CAST(short, short, word) \
        RTCG_NARROW_CAST(unsigned short, ushort, word) RTCG_NARROW_CAST(int, int, word) RTCG_NARROW_CAST(unsigned int, uint, word) \
        RTCG_NARROW_CAST(long, ll, word) RTCG_NARROW_CAST(unsigned long, ull, word) RTCG_NARROW_CAST(long long, ll, word) \
        RTCG_NARROW_CAST(unsigned long long, ull, word) \
        RTCG_MEMBER explicit operator __half() const { return __half(T(T##_raw{__rtcg_wide()})); } \
        RTCG_MEMBER explicit operator __nv_bfloat16() const { return __nv_bfloat16(T(T##_raw{__rtcg_wide()})); } \
        RTCG_MEMBER explicit operator bool() const { return (__rtcg_wide() & 0x7fff) != 0; } \
    }; \
    struct __nv_##F##x2_##K { \
        __nv_##F##x2_storage_t __x; \
        __nv_##F##x2_##K() = default; \
        RTCG_MEMBER explicit __nv_##F##x2_##K(const float2 v) : __x(from2(v.x, v.y, __VA_ARGS__)) {} \
        RTCG_MEMBER explicit __nv_##F##x2_##K(const double2 v) : __x(from2(__rtcg_odd(v.x), __rtcg_odd(v.y), __VA_ARGS__)) {} \
        RTCG_MEMBER explicit __nv_##F##x2_##K(const __half2 v) : __x(from2(__low2float(v), __high2float(v), __VA_ARGS__)) {} \
        RTCG_MEMBER explicit __nv_##F##x2_##K(const __nv_bfloat162 v) : __x(from2(__low2float(v), __high2float(v), __VA_ARGS__)) {} \
        RTCG_MEMBER T2 __rtcg_wide() const { return {T(T##_raw{to(__x & all)}), T(T##_raw{to((__x >> step) & all)})}; } \
        RTCG_MEMBER explicit operator float2() const { T2 w = __rtcg_wide(); return {__low2float(w), __high2float(w)}; } \
        RTCG_MEMBER explicit operator __half2() const { T2 w = __rtcg_wide(); return {__half(w.x), __half(w.y)}; } \
        RTCG_MEMBER explicit operator __nv_bfloat162() const { T2 w = __rtcg_wide(); return {__nv_bfloat16(w.x), __nv_bfloat16(w.y)}; } \
    }; \
    struct __nv_##F##x4_##K { \
        __nv_##F##x4_storage_t __x; \
        __nv_##F##x4_##K() = default; \
        RTCG_MEMBER explicit __nv_##F##x4_##K(const float4 v) : __x(__rtcg_join(v.x, v.y, v.z, v.w)) {} \
        RTCG_MEMBER explicit __nv_##F##x4_##K(const __half2 v, const __half2 w) \
            : __x(__rtcg_join(__low2float(v), __high2float(v), __low2float(w), __high2float(w))) {} \
        RTCG_MEMBER explicit __nv_##F##x4_##K(const __nv_bfloat162 v, const __nv_bfloat162 w) \
            : __x(__rtcg_join(__low2float(v), __high2float(v), __low2float(w), __high2float(w))) {} \
        template <class Four, class = decltype(Four().w)> RTCG_MEMBER explicit __nv_##F##x4_##K(const Four v) /* double4, any alignment */ \
            : __x(__rtcg_join(__rtcg_odd(v.x), __rtcg_odd(v.y), __rtcg_odd(v.z), __rtcg_odd(v.w))) {} \
        RTCG_MEMBER static __nv_##F##x4_storage_t __rtcg_join(float x, float y, float z, float w) { \
            return from2(x, y, __VA_ARGS__) | (unsigned int)from2(z, w, __VA_ARGS__) << 2 * step; } \
        RTCG_MEMBER explicit operator float4() const { \
            return {__rtcg_##word##_to_float(to(__x & all)), __rtcg_##word##_to_float(to((__x >> step) & all)), \
                    __rtcg_##word##_to_float(to((__x >> 2 * step) & all)), __rtcg_##word##_to_float(to((__x >> 3 * step) & all))}; } \
    };

}
