// What `__half` and `__nv_bfloat16` have alike. cuda_fp16.h and cuda_bf16.h include this file once each, with these macros:
// RTCG_T, RTCG_T2 the types, RTCG_OTHER the other type, RTCG_W the word for it in names of functions, RTCG_F its name in PTX (and
// RTCG_I in builtins), RTCG_N the compiler's own type, RTCG_COMPILED whether that type's operators are used, RTCG_ONE the bits of 1.0,
// RTCG_INF of infinity, RTCG_BY_FMA whether PTX has fused products only, RTCG_PACK of two floats. Functions `__rtcg_WORD_...` between bits and numbers are there.
//
// Sources: CUDA Math API 13 (half and bfloat16 intrinsics: names, rounding, which functions call which float function), PTX ISA 9.0
// (instructions), and what an H200 answers to tests/fidelity/q75, q78 and q92 (order of `__hcmadd`, saturation of a NaN).
//
// The compiler's own operators can be contracted, folded and vectorized. With -ftz they would flush subnormal numbers, which CUDA
// does in single precision only; then, and where the compiler has no arithmetic of bfloat16, the instructions are written out.

#define RTCG_J2(a, b) a##b
#define RTCG_J3(a, b, c) a##b##c
#define RTCG_J4(a, b, c, d) a##b##c##d
#define RTCG_2(a, b) RTCG_J2(a, b)
#define RTCG_3(a, b, c) RTCG_J3(a, b, c)
#define RTCG_4(a, b, c, d) RTCG_J4(a, b, c, d)
#define RTCG_RAW RTCG_2(RTCG_T, _raw)
#define RTCG_RAW2 RTCG_2(RTCG_T2, _raw)
#define RTCG_W2 RTCG_2(RTCG_W, 2)
#define RTCG_V RTCG_N __attribute__((ext_vector_type(2)))
#define RTCG_B(type, x) __builtin_bit_cast(type, x)
#define RTCG_MAKE(x) RTCG_B(RTCG_T, (unsigned short)(x))
#define RTCG_MAKE2(x) RTCG_B(RTCG_T2, (unsigned int)(x) * 0x10001u)

#define RTCG_MEMBER __inline__ __attribute__((host, device, always_inline))

struct __attribute__((aligned(2))) RTCG_RAW { unsigned short x; };
struct __attribute__((aligned(4))) RTCG_RAW2 { unsigned short x, y; };

// Conversions to integers clamp. (`__nvvm_f2i_rz` without `_ftz` becomes a cast, which is undefined out of range; the results are equal.)
#define RTCG_CLAMP(v, low, high) ((v) < (low) ? (low) : (v) > (high) ? (high) : (v))
#define RTCG_TO(type, name, expr) RTCG_HOST_DEVICE type RTCG_4(__rtcg_, RTCG_W, _to_, name)(unsigned short b) { \
    float v = RTCG_3(__rtcg_, RTCG_W, _to_float)(b); return (type)(expr); }
RTCG_TO(int, int, __nvvm_f2i_rz_ftz(v))
RTCG_TO(unsigned int, uint, __nvvm_f2ui_rz_ftz(v))
RTCG_TO(long long, ll, __float2ll_rz(v))
RTCG_TO(unsigned long long, ull, __float2ull_rz(v))
RTCG_TO(signed char, schar, RTCG_CLAMP(__nvvm_f2i_rz_ftz(v), -128, 127))
RTCG_TO(unsigned char, uchar, RTCG_CLAMP(__nvvm_f2i_rz_ftz(v), 0, 255))
RTCG_TO(short, short, RTCG_CLAMP(__nvvm_f2i_rz_ftz(v), -32768, 32767))
RTCG_TO(unsigned short, ushort, RTCG_CLAMP(__nvvm_f2i_rz_ftz(v), 0, 65535))
#undef RTCG_TO

#define RTCG_FROM(type, wide) RTCG_MEMBER RTCG_T(const type v) : __x(RTCG_3(__rtcg_, RTCG_W, _bits)((wide)v)) {}
#define RTCG_TO(type, name) RTCG_MEMBER operator type() const { return RTCG_4(__rtcg_, RTCG_W, _to_, name)(__x); }
struct __attribute__((aligned(2))) RTCG_T {
    unsigned short __x;
    RTCG_T() = default;
    RTCG_MEMBER constexpr RTCG_T(const RTCG_RAW &r) : __x(r.x) {}
    RTCG_MEMBER explicit RTCG_T(const RTCG_OTHER v);
    RTCG_MEMBER RTCG_T &operator=(const RTCG_RAW &r) { __x = r.x; return *this; }
    RTCG_MEMBER volatile RTCG_T &operator=(const RTCG_RAW &r) volatile { __x = r.x; return *this; }
    RTCG_MEMBER volatile RTCG_T &operator=(const volatile RTCG_RAW &r) volatile { __x = r.x; return *this; }
    RTCG_MEMBER constexpr operator RTCG_RAW() const { return RTCG_RAW{__x}; }
    RTCG_MEMBER operator RTCG_RAW() const volatile { return RTCG_RAW{__x}; }
#ifndef RTCG_NO_CONVERSIONS
    RTCG_FROM(float, float) RTCG_FROM(double, double) RTCG_FROM(short, int) RTCG_FROM(unsigned short, int) RTCG_FROM(int, int)
    RTCG_FROM(unsigned int, unsigned int) RTCG_FROM(long, long long) RTCG_FROM(unsigned long, unsigned long long)
    RTCG_FROM(long long, long long) RTCG_FROM(unsigned long long, unsigned long long)
    RTCG_TO(float, float) RTCG_TO(signed char, schar) RTCG_TO(unsigned char, uchar) RTCG_TO(char, schar) RTCG_TO(short, short)
    RTCG_TO(unsigned short, ushort) RTCG_TO(int, int) RTCG_TO(unsigned int, uint) RTCG_TO(long, ll) RTCG_TO(unsigned long, ull)
    RTCG_TO(long long, ll) RTCG_TO(unsigned long long, ull)
    RTCG_MEMBER constexpr operator bool() const { return (__x & 0x7fff) != 0; }
#endif
};
#undef RTCG_FROM
#undef RTCG_TO

// The word keeps a pair in one register through calls and copies.
struct __attribute__((aligned(4))) RTCG_T2 {
    union {
        struct { RTCG_T x, y; };
        unsigned int __rtcg_word;
    };
    RTCG_T2() = default;
    RTCG_MEMBER constexpr RTCG_T2(const RTCG_T &a, const RTCG_T &b) : x(a), y(b) {}
    RTCG_MEMBER RTCG_T2(const RTCG_RAW2 &r) : x(RTCG_RAW{r.x}), y(RTCG_RAW{r.y}) {}
    RTCG_MEMBER RTCG_T2 &operator=(const RTCG_RAW2 &r) { return *this = RTCG_T2(r); }
    RTCG_MEMBER operator RTCG_RAW2() const { return RTCG_RAW2{x.__x, y.__x}; }
};

// Conversions.
#define RTCG_TO_FLOAT(v) RTCG_3(__rtcg_, RTCG_W, _to_float)((v).__x)
#define RTCG_ROUND(f) RTCG_MAKE(RTCG_3(__rtcg_, RTCG_W, _rn)(f))
#define RTCG_FLOAT_MODE(m) \
    RTCG_DEVICE RTCG_T RTCG_4(__float2, RTCG_W, _, m)(float v) { return RTCG_MAKE(RTCG_4(__rtcg_, RTCG_W, _, m)(v)); }
RTCG_FLOAT_MODE(rn) RTCG_FLOAT_MODE(rz) RTCG_FLOAT_MODE(rd) RTCG_FLOAT_MODE(ru)
#undef RTCG_FLOAT_MODE
RTCG_DEVICE RTCG_T RTCG_2(__float2, RTCG_W)(float v) { return RTCG_MAKE(RTCG_3(__rtcg_, RTCG_W, _rn)(v)); }
RTCG_DEVICE RTCG_T RTCG_2(__double2, RTCG_W)(double v) { return RTCG_MAKE(RTCG_3(__rtcg_, RTCG_W, _bits)(v)); }
RTCG_DEVICE float RTCG_3(__, RTCG_W, 2float)(RTCG_T v) { return RTCG_TO_FLOAT(v); }
RTCG_DEVICE RTCG_T2 RTCG_3(__floats2, RTCG_W2, _rn)(float a, float b) { return RTCG_PACK(a, b); }
RTCG_DEVICE RTCG_T2 RTCG_3(__float22, RTCG_W2, _rn)(float2 v) { return RTCG_PACK(v.x, v.y); }
RTCG_DEVICE RTCG_T2 RTCG_3(__float2, RTCG_W2, _rn)(float v) { return RTCG_PACK(v, v); }
RTCG_DEVICE float2 RTCG_3(__, RTCG_W, 22float2)(RTCG_T2 v) { return {RTCG_TO_FLOAT(v.x), RTCG_TO_FLOAT(v.y)}; }

// Integers: every rounding passes through float, directed ones twice in the same direction, which is the same as once.
#define RTCG_INTEGER_MODE(type, name, m, n, to, from, wide) \
    RTCG_DEVICE type RTCG_4(__, RTCG_W, 2##name##_, m)(RTCG_T v) { return (type)to(RTCG_TO_FLOAT(v), n); } \
    RTCG_DEVICE RTCG_T RTCG_4(__##name##2, RTCG_W, _, m)(type v) { return RTCG_MAKE(RTCG_FROM_##m(from, n, wide, v)); }
#define RTCG_FROM_rn(from, n, wide, v) RTCG_3(__rtcg_, RTCG_W, _bits)((wide)v)
#define RTCG_FROM_rz(from, n, wide, v) RTCG_3(__rtcg_, RTCG_W, _rz)(__rtcg_float_rz((wide)v))
#define RTCG_FROM_rd(from, n, wide, v) RTCG_3(__rtcg_, RTCG_W, _rd)(from(v, n))
#define RTCG_FROM_ru(from, n, wide, v) RTCG_3(__rtcg_, RTCG_W, _ru)(from(v, n))
#define RTCG_INTEGER(type, name, to, from, wide) \
    RTCG_INTEGER_MODE(type, name, rn, rn, to, from, wide) RTCG_INTEGER_MODE(type, name, rz, rz_ftz, to, from, wide) \
    RTCG_INTEGER_MODE(type, name, rd, rm, to, from, wide) RTCG_INTEGER_MODE(type, name, ru, rp, to, from, wide)
#define RTCG_TO_short(v, n) RTCG_CLAMP(__nvvm_f2i_##n(v), -32768, 32767)
#define RTCG_TO_ushort(v, n) RTCG_CLAMP(__nvvm_f2i_##n(v), 0, 65535)
#define RTCG_TO_int(v, n) __nvvm_f2i_##n(v)
#define RTCG_TO_uint(v, n) __nvvm_f2ui_##n(v)
#define RTCG_TO_ll(v, n) RTCG_LL_##n(v)
#define RTCG_TO_ull(v, n) RTCG_ULL_##n(v)
#define RTCG_LL_rn __float2ll_rn
#define RTCG_LL_rz_ftz __float2ll_rz
#define RTCG_LL_rm __float2ll_rd
#define RTCG_LL_rp __float2ll_ru
#define RTCG_ULL_rn __float2ull_rn
#define RTCG_ULL_rz_ftz __float2ull_rz
#define RTCG_ULL_rm __float2ull_rd
#define RTCG_ULL_rp __float2ull_ru
#define RTCG_FROM_int(v, n) __nvvm_i2f_##n(v)
#define RTCG_FROM_uint(v, n) __nvvm_ui2f_##n(v)
#define RTCG_FROM_ll(v, n) __nvvm_ll2f_##n(v)
#define RTCG_FROM_ull(v, n) __nvvm_ull2f_##n(v)
RTCG_INTEGER(short, short, RTCG_TO_short, RTCG_FROM_int, int)
RTCG_INTEGER(unsigned short, ushort, RTCG_TO_ushort, RTCG_FROM_int, int)
RTCG_INTEGER(int, int, RTCG_TO_int, RTCG_FROM_int, int)
RTCG_INTEGER(unsigned int, uint, RTCG_TO_uint, RTCG_FROM_uint, unsigned int)
RTCG_INTEGER(long long, ll, RTCG_TO_ll, RTCG_FROM_ll, long long)
RTCG_INTEGER(unsigned long long, ull, RTCG_TO_ull, RTCG_FROM_ull, unsigned long long)
RTCG_DEVICE signed char RTCG_3(__, RTCG_W, 2char_rz)(RTCG_T v) { return RTCG_3(__rtcg_, RTCG_W, _to_schar)(v.__x); }
RTCG_DEVICE unsigned char RTCG_3(__, RTCG_W, 2uchar_rz)(RTCG_T v) { return RTCG_3(__rtcg_, RTCG_W, _to_uchar)(v.__x); }
#undef RTCG_INTEGER_MODE
#undef RTCG_INTEGER

// Bits and halves of pairs.
RTCG_DEVICE short RTCG_3(__, RTCG_W, _as_short)(RTCG_T v) { return (short)v.__x; }
RTCG_DEVICE unsigned short RTCG_3(__, RTCG_W, _as_ushort)(RTCG_T v) { return v.__x; }
RTCG_MEMBER constexpr RTCG_T RTCG_2(__short_as_, RTCG_W)(short v) { return RTCG_RAW{(unsigned short)v}; }
RTCG_MEMBER constexpr RTCG_T RTCG_2(__ushort_as_, RTCG_W)(unsigned short v) { return RTCG_RAW{v}; }
RTCG_DEVICE RTCG_T2 RTCG_2(make_, RTCG_W2)(RTCG_T a, RTCG_T b) { return {a, b}; }
RTCG_DEVICE RTCG_T2 RTCG_2(__halves2, RTCG_W2)(RTCG_T a, RTCG_T b) { return {a, b}; }
RTCG_DEVICE RTCG_T2 RTCG_4(__, RTCG_W, 2, RTCG_W2)(RTCG_T v) { return {v, v}; }
RTCG_DEVICE RTCG_T2 RTCG_2(__lows2, RTCG_W2)(RTCG_T2 a, RTCG_T2 b) { return {a.x, b.x}; }
RTCG_DEVICE RTCG_T2 RTCG_2(__highs2, RTCG_W2)(RTCG_T2 a, RTCG_T2 b) { return {a.y, b.y}; }
RTCG_DEVICE RTCG_T2 __lowhigh2highlow(RTCG_T2 v) { return {v.y, v.x}; }
#define RTCG_SIDE(side, c) \
    RTCG_DEVICE RTCG_T RTCG_2(__##side##2, RTCG_W)(RTCG_T2 v) { return v.c; } \
    RTCG_DEVICE RTCG_T2 RTCG_2(__##side##2, RTCG_W2)(RTCG_T2 v) { return {v.c, v.c}; } \
    RTCG_DEVICE float __##side##2float(RTCG_T2 v) { return RTCG_TO_FLOAT(v.c); }
RTCG_SIDE(low, x) RTCG_SIDE(high, y)
#undef RTCG_SIDE

// Arithmetic. RTCG_BOTH defines a function of numbers and one of pairs, by an expression over the compiler's types or, where those
// are not to be used, by an instruction.
#define RTCG_LIST_1(T) T u
#define RTCG_LIST_2(T) T u, T v
#define RTCG_LIST_3(T) T u, T v, T w
#if RTCG_COMPILED
#define RTCG_RUN(T, N, bits, c, name, args, pragma, text, expr) \
    RTCG_DEVICE T name(RTCG_LIST_##args(T)) { pragma typedef N V; RTCG_CAST_##args V r = expr; return RTCG_B(T, r); }
#define RTCG_CAST_1 V a = RTCG_B(V, u);
#define RTCG_CAST_2 RTCG_CAST_1 V b = RTCG_B(V, v);
#define RTCG_CAST_3 RTCG_CAST_2 V c = RTCG_B(V, w);
#else
#define RTCG_RUN(T, N, bits, c, name, args, pragma, text, expr) RTCG_DEVICE T name(RTCG_LIST_##args(T)) { \
    bits r; asm(text RTCG_TEXT_##args : "=" c(r) : RTCG_CAST_##args(bits, c)); return RTCG_B(T, r); }
#define RTCG_CAST_1(bits, c) c(RTCG_B(bits, u))
#define RTCG_CAST_2(bits, c) RTCG_CAST_1(bits, c), c(RTCG_B(bits, v))
#define RTCG_CAST_3(bits, c) RTCG_CAST_2(bits, c), c(RTCG_B(bits, w))
#define RTCG_TEXT_1 " %0, %1;"
#define RTCG_TEXT_2 " %0, %1, %2;"
#define RTCG_TEXT_3 " %0, %1, %2, %3;"
#endif
#define RTCG_BOTH(name, rest, args, pragma, text, e1, e2) \
    RTCG_RUN(RTCG_T, RTCG_N, unsigned short, "h", __h##name##rest, args, pragma, text "." RTCG_F, e1) \
    RTCG_RUN(RTCG_T2, RTCG_V, unsigned int, "r", __h##name##2##rest, args, pragma, text "." RTCG_F "x2", e2)
#define RTCG_BUILTIN(name, rest, args, text, builtin, ...) \
    RTCG_BOTH(name, rest, args, , text, RTCG_2(__nvvm_##builtin, RTCG_I)(__VA_ARGS__), RTCG_3(__nvvm_##builtin, RTCG_I, x2)(__VA_ARGS__))
RTCG_BUILTIN(fma, , 3, "fma.rn", fma_rn_, a, b, c)
RTCG_BUILTIN(fma, _relu, 3, "fma.rn.relu", fma_rn_relu_, a, b, c)
RTCG_BUILTIN(min, , 2, "min", fmin_, a, b)
RTCG_BUILTIN(max, , 2, "max", fmax_, a, b)
RTCG_BUILTIN(min, _nan, 2, "min.NaN", fmin_nan_, a, b)
RTCG_BUILTIN(max, _nan, 2, "max.NaN", fmax_nan_, a, b)
#undef RTCG_BUILTIN
RTCG_BOTH(neg, , 1, , "neg", -a, -a)
RTCG_BOTH(abs, , 1, , "abs", __builtin_elementwise_abs(a), __builtin_elementwise_abs(a))

#if RTCG_BY_FMA && !RTCG_COMPILED
RTCG_DEVICE RTCG_T __rtcg_fill(RTCG_T, unsigned short bits) { return RTCG_MAKE(bits); }
RTCG_DEVICE RTCG_T2 __rtcg_fill(RTCG_T2, unsigned short bits) { return RTCG_MAKE2(bits); }
#endif
RTCG_DEVICE RTCG_T __rtcg_saturate(RTCG_T v) { return __hmin(__hmax(v, RTCG_MAKE(0)), RTCG_MAKE(RTCG_ONE)); }
RTCG_DEVICE RTCG_T2 __rtcg_saturate(RTCG_T2 v) { return __hmin2(__hmax2(v, RTCG_MAKE2(0)), RTCG_MAKE2(RTCG_ONE)); }
#define RTCG_SATURATED(name, args, ...) \
    RTCG_DEVICE RTCG_T __h##name##_sat(RTCG_LIST_##args(RTCG_T)) { return __rtcg_saturate(__h##name(__VA_ARGS__)); } \
    RTCG_DEVICE RTCG_T2 __h##name##2_sat(RTCG_LIST_##args(RTCG_T2)) { return __rtcg_saturate(__h##name##2(__VA_ARGS__)); }
#if RTCG_COMPILED || !RTCG_BY_FMA
#define RTCG_ARITHMETIC(name, op, x, y, z) \
    RTCG_BOTH(name, , 2, RTCG_CONTRACT, #name RTCG_FUSED, a op b, a op b) RTCG_SATURATED(name, 2, u, v) \
    RTCG_BOTH(name, _rn, 2, _Pragma("clang fp contract(off)"), #name ".rn", a op b, a op b)
#else
#define RTCG_ARITHMETIC_BY_FMA(name, rest, x, y, z) RTCG_DEVICE RTCG_T __h##name##rest(RTCG_T u, RTCG_T v) { return __hfma(x, y, z); } \
    RTCG_DEVICE RTCG_T2 __h##name##2##rest(RTCG_T2 u, RTCG_T2 v) { return __hfma2(x, y, z); }
#define RTCG_ARITHMETIC(name, op, x, y, z) \
    RTCG_ARITHMETIC_BY_FMA(name, , x, y, z) RTCG_ARITHMETIC_BY_FMA(name, _rn, x, y, z) RTCG_SATURATED(name, 2, u, v)
#endif
RTCG_ARITHMETIC(add, +, u, __rtcg_fill(u, RTCG_ONE), v)
RTCG_ARITHMETIC(sub, -, v, __rtcg_fill(u, RTCG_ONE | 0x8000), u)
RTCG_ARITHMETIC(mul, *, u, v, __rtcg_fill(u, 0x8000))
RTCG_SATURATED(fma, 3, u, v, w)
#undef RTCG_SATURATED
#undef RTCG_ARITHMETIC
#undef RTCG_ARITHMETIC_BY_FMA
#undef RTCG_BOTH
#undef RTCG_RUN
#undef RTCG_CAST_1
#undef RTCG_CAST_2
#undef RTCG_CAST_3

// A quotient in float is never so near to the middle of two results that rounding it again goes wrong.
RTCG_DEVICE RTCG_T __hdiv(RTCG_T u, RTCG_T v) { return RTCG_ROUND(__nvvm_div_rn_f(RTCG_TO_FLOAT(u), RTCG_TO_FLOAT(v))); }
RTCG_DEVICE RTCG_T2 __h2div(RTCG_T2 u, RTCG_T2 v) {
    return RTCG_PACK(__nvvm_div_rn_f(RTCG_TO_FLOAT(u.x), RTCG_TO_FLOAT(v.x)), __nvvm_div_rn_f(RTCG_TO_FLOAT(u.y), RTCG_TO_FLOAT(v.y)));
}
RTCG_DEVICE RTCG_T2 __hcmadd(RTCG_T2 u, RTCG_T2 v, RTCG_T2 w) {
    return __hfma2({__hneg(u.y), u.y}, {v.y, v.x}, __hfma2({u.x, u.x}, v, w));
}

// Comparisons; for pairs as masks, as 1.0 or 0.0, and of both. Those that a NaN fulfils are negations. What is called here takes bits:
// each copy of an RTCG_T makes the compiler look at all conversions, which took most of the time of an include.
#define RTCG_BITS2(name) bool RTCG_4(__rtcg_, RTCG_W, _, name)(unsigned short u, unsigned short v)
#if RTCG_COMPILED
#define RTCG_COMPARE_ONE(name, negated, expr) \
    RTCG_DEVICE RTCG_BITS2(name) { RTCG_N a = RTCG_B(RTCG_N, u), b = RTCG_B(RTCG_N, v); return (bool)(expr) != negated; } \
    RTCG_DEVICE unsigned int __h##name##2_mask(RTCG_T2 u, RTCG_T2 v) { \
        typedef RTCG_V V; V a = RTCG_B(V, u), b = RTCG_B(V, v); return RTCG_B(unsigned int, expr) ^ -(unsigned int)negated; }
#else
#define RTCG_COMPARE_ONE(name, negated, expr) \
    RTCG_DEVICE RTCG_BITS2(name) { \
        int r; asm("{.reg .pred p; setp." #name ".f32 p, %1, %2; selp.b32 %0, 1, 0, p;}" \
                   : "=r"(r) : "f"(RTCG_3(__rtcg_, RTCG_W, _to_float)(u)), "f"(RTCG_3(__rtcg_, RTCG_W, _to_float)(v))); \
        return r != 0; } \
    RTCG_DEVICE unsigned int __h##name##2_mask(RTCG_T2 u, RTCG_T2 v) { \
        return (RTCG_4(__rtcg_, RTCG_W, _, name)(u.x.__x, v.x.__x) ? 0xffffu : 0u) | (RTCG_4(__rtcg_, RTCG_W, _, name)(u.y.__x, v.y.__x) ? 0xffff0000u : 0u); }
#endif
#define RTCG_COMPARE(name, negated, expr) RTCG_COMPARE_ONE(name, negated, expr) \
    RTCG_DEVICE bool __h##name(RTCG_T u, RTCG_T v) { return RTCG_4(__rtcg_, RTCG_W, _, name)(u.__x, v.__x); } \
    RTCG_DEVICE RTCG_T2 __h##name##2(RTCG_T2 u, RTCG_T2 v) { return RTCG_B(RTCG_T2, __h##name##2_mask(u, v) & RTCG_ONE * 0x10001u); } \
    RTCG_DEVICE bool __hb##name##2(RTCG_T2 u, RTCG_T2 v) { \
        return RTCG_4(__rtcg_, RTCG_W, _, name)(u.x.__x, v.x.__x) && RTCG_4(__rtcg_, RTCG_W, _, name)(u.y.__x, v.y.__x); }
RTCG_COMPARE(eq, 0, a == b) RTCG_COMPARE(ne, 0, (a < b) | (a > b)) RTCG_COMPARE(lt, 0, a < b)
RTCG_COMPARE(le, 0, a <= b) RTCG_COMPARE(gt, 0, a > b) RTCG_COMPARE(ge, 0, a >= b)
RTCG_COMPARE(neu, 1, a == b) RTCG_COMPARE(equ, 1, (a < b) | (a > b)) RTCG_COMPARE(geu, 1, a < b)
RTCG_COMPARE(gtu, 1, a <= b) RTCG_COMPARE(leu, 1, a > b) RTCG_COMPARE(ltu, 1, a >= b)
#undef RTCG_COMPARE
#undef RTCG_COMPARE_ONE
#undef RTCG_BITS2
RTCG_DEVICE bool __hisnan(RTCG_T v) { return (v.__x & 0x7fff) > RTCG_INF; }
RTCG_DEVICE int __hisinf(RTCG_T v) { return v.__x == RTCG_INF ? 1 : v.__x == (RTCG_INF | 0x8000) ? -1 : 0; }
RTCG_DEVICE RTCG_T2 __hisnan2(RTCG_T2 v) { return RTCG_B(RTCG_T2, __hneu2_mask(v, v) & RTCG_ONE * 0x10001u); }

// Functions of one number, in float and rounded once more.
#define RTCG_FUNCTION(name, expr) \
    RTCG_DEVICE float RTCG_4(__rtcg_, RTCG_W, _, name)(unsigned short bits) { float x = RTCG_3(__rtcg_, RTCG_W, _to_float)(bits); return expr; } \
    RTCG_DEVICE RTCG_T h##name(RTCG_T v) { return RTCG_ROUND(RTCG_4(__rtcg_, RTCG_W, _, name)(v.__x)); } \
    RTCG_DEVICE RTCG_T2 h2##name(RTCG_T2 v) { return RTCG_PACK(RTCG_4(__rtcg_, RTCG_W, _, name)(v.x.__x), RTCG_4(__rtcg_, RTCG_W, _, name)(v.y.__x)); }
RTCG_FUNCTION(ceil, __nvvm_ceil_f(x)) RTCG_FUNCTION(floor, __nvvm_floor_f(x)) RTCG_FUNCTION(trunc, __nvvm_trunc_f(x))
RTCG_FUNCTION(rint, __builtin_rintf(x)) RTCG_FUNCTION(sqrt, __nvvm_sqrt_rn_f(x)) RTCG_FUNCTION(rcp, __nvvm_rcp_rn_f(x))
RTCG_FUNCTION(rsqrt, __nvvm_rsqrt_approx_f(x)) RTCG_FUNCTION(tanh, tanhf(x))
RTCG_FUNCTION(exp, expf(x)) RTCG_FUNCTION(exp2, exp2f(x)) RTCG_FUNCTION(exp10, exp10f(x))
RTCG_FUNCTION(log, logf(x)) RTCG_FUNCTION(log2, log2f(x)) RTCG_FUNCTION(log10, log10f(x))
RTCG_FUNCTION(sin, sinf(x)) RTCG_FUNCTION(cos, cosf(x))
#define RTCG_TANH(T, name, bits, c, x) RTCG_DEVICE T name(T v) { \
    bits r; asm("tanh.approx." RTCG_F x " %0, %1;" : "=" c(r) : c(RTCG_B(bits, v))); return RTCG_B(T, r); }
#if RTCG_BY_FMA
RTCG_DEVICE float __rtcg_tanh_approx(float x) { float r; asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
RTCG_FUNCTION(tanh_approx, __rtcg_tanh_approx(x))
#else
RTCG_TANH(RTCG_T, htanh_approx, unsigned short, "h", "") RTCG_TANH(RTCG_T2, h2tanh_approx, unsigned int, "r", "x2")
#endif
#undef RTCG_TANH
#undef RTCG_FUNCTION

// Operators.
#define RTCG_OPERATOR(T, bits, op, f) \
    RTCG_DEVICE T operator op(const T &u, const T &v) { return f(u, v); } \
    RTCG_DEVICE T &operator op##=(T &u, const T &v) { u.bits = f(u, v).bits; return u; }
#define RTCG_STEP(T, bits, op, f, one) \
    RTCG_DEVICE T &operator op(T &v) { v.bits = f(v, one).bits; return v; } \
    RTCG_DEVICE T operator op(T &v, int) { T old = v; v.bits = f(v, one).bits; return old; }
#define RTCG_OPERATORS(T, bits, add, sub, mul, div, neg, one) \
    RTCG_OPERATOR(T, bits, +, add) RTCG_OPERATOR(T, bits, -, sub) RTCG_OPERATOR(T, bits, *, mul) RTCG_OPERATOR(T, bits, /, div) \
    RTCG_DEVICE T operator+(const T &v) { return v; } RTCG_DEVICE T operator-(const T &v) { return neg(v); } \
    RTCG_STEP(T, bits, ++, add, one) RTCG_STEP(T, bits, --, sub, one)
#define RTCG_RELATIONS(T, b, two) \
    RTCG_DEVICE bool operator==(const T &u, const T &v) { return __h##b##eq##two(u, v); } \
    RTCG_DEVICE bool operator!=(const T &u, const T &v) { return __h##b##neu##two(u, v); } \
    RTCG_DEVICE bool operator<(const T &u, const T &v) { return __h##b##lt##two(u, v); } \
    RTCG_DEVICE bool operator>(const T &u, const T &v) { return __h##b##gt##two(u, v); } \
    RTCG_DEVICE bool operator<=(const T &u, const T &v) { return __h##b##le##two(u, v); } \
    RTCG_DEVICE bool operator>=(const T &u, const T &v) { return __h##b##ge##two(u, v); }
#ifndef RTCG_NO_OPERATORS
RTCG_OPERATORS(RTCG_T, __x, __hadd, __hsub, __hmul, __hdiv, __hneg, RTCG_MAKE(RTCG_ONE))
RTCG_RELATIONS(RTCG_T, , )
#endif
#ifndef RTCG_NO_OPERATORS2
RTCG_OPERATORS(RTCG_T2, __rtcg_word, __hadd2, __hsub2, __hmul2, __h2div, __hneg2, RTCG_MAKE2(RTCG_ONE))
RTCG_RELATIONS(RTCG_T2, b, 2)
#endif
#undef RTCG_OPERATOR
#undef RTCG_STEP
#undef RTCG_OPERATORS
#undef RTCG_RELATIONS

// Memory with hints of caching, shuffles, atomic sums.
#define RTCG_LOAD(T, name, how, bits, width, c) RTCG_DEVICE T name(const T *p) { \
    bits r; asm volatile("ld.global." how ".b" width " %0, [%1];" : "=" c(r) : "l"(p) : "memory"); return RTCG_B(T, r); }
#define RTCG_STORE(T, name, how, bits, width, c) RTCG_DEVICE void name(T *p, T v) { \
    asm volatile("st.global." how ".b" width " [%0], %1;" : : "l"(p), c(RTCG_B(bits, v)) : "memory"); }
#define RTCG_MEMORY(T, bits, width, c) \
    RTCG_LOAD(T, __ldcg, "cg", bits, width, c) RTCG_LOAD(T, __ldca, "ca", bits, width, c) RTCG_LOAD(T, __ldcs, "cs", bits, width, c) \
    RTCG_LOAD(T, __ldlu, "lu", bits, width, c) RTCG_LOAD(T, __ldcv, "cv", bits, width, c) RTCG_STORE(T, __stwb, "wb", bits, width, c) \
    RTCG_STORE(T, __stcg, "cg", bits, width, c) RTCG_STORE(T, __stcs, "cs", bits, width, c) RTCG_STORE(T, __stwt, "wt", bits, width, c)
RTCG_DEVICE RTCG_T __ldg(const RTCG_T *p) { return RTCG_MAKE(__nvvm_ldg_us((const unsigned short *)p)); }
RTCG_DEVICE RTCG_T2 __ldg(const RTCG_T2 *p) { return RTCG_B(RTCG_T2, __nvvm_ldg_ui((const unsigned int *)p)); }
RTCG_MEMORY(RTCG_T, unsigned short, "16", "h")
RTCG_MEMORY(RTCG_T2, unsigned int, "32", "r")
#undef RTCG_LOAD
#undef RTCG_STORE
#undef RTCG_MEMORY

#define RTCG_SHUFFLE(name, kind, arg, clamp) \
    RTCG_DEVICE RTCG_T name(unsigned int mask, RTCG_T v, arg n, int width = 32) { \
        return RTCG_MAKE(__nvvm_shfl_sync_##kind##_i32(mask, v.__x, n, (32 - width) << 8 | clamp)); } \
    RTCG_DEVICE RTCG_T2 name(unsigned int mask, RTCG_T2 v, arg n, int width = 32) { \
        return RTCG_B(RTCG_T2, __nvvm_shfl_sync_##kind##_i32(mask, RTCG_B(int, v), n, (32 - width) << 8 | clamp)); }
RTCG_SHUFFLE(__shfl_sync, idx, int, 31) RTCG_SHUFFLE(__shfl_up_sync, up, unsigned int, 0)
RTCG_SHUFFLE(__shfl_down_sync, down, unsigned int, 31) RTCG_SHUFFLE(__shfl_xor_sync, bfly, int, 31)
#undef RTCG_SHUFFLE

#define RTCG_ATOMIC_ADD(T, bits, width, c, x, add) \
    RTCG_DEVICE T atomicAdd(T *p, T v) { bits old; RTCG_ATOMIC_BODY(T, bits, width, c, x, add) return RTCG_B(T, old); }
#if RTCG_BY_FMA
#define RTCG_ATOMIC_BODY(T, bits, width, c, x, add) \
    bits seen = *(volatile bits *)p; \
    do { \
        old = seen; \
        bits sum = RTCG_B(bits, add(RTCG_B(T, old), v)); \
        asm volatile("atom.cas.b" width " %0, [%1], %2, %3;" : "=" c(seen) : "l"(p), c(old), c(sum) : "memory"); \
    } while (seen != old);
#else
#define RTCG_ATOMIC_BODY(T, bits, width, c, x, add) \
    asm volatile("atom.add.noftz." RTCG_F x " %0, [%1], %2;" : "=" c(old) : "l"(p), c(RTCG_B(bits, v)) : "memory");
#endif
RTCG_ATOMIC_ADD(RTCG_T, unsigned short, "16", "h", "", __hadd)
RTCG_ATOMIC_ADD(RTCG_T2, unsigned int, "32", "r", "x2", __hadd2)
#undef RTCG_ATOMIC_ADD
#undef RTCG_ATOMIC_BODY
