/* Explicit conversions (6.4.3): convert_T[n][_sat][_rte|_rtz|_rtp|_rtn]. */

#define CONVERT_VECTORS(name, suffix, T, S) \
    PURE T##2 name##2##suffix(S##2 a) { return (T##2)(name##suffix(a.x), name##suffix(a.y)); } \
    PURE T##3 name##3##suffix(S##3 a) { return (T##3)(name##suffix(a.x), name##suffix(a.y), name##suffix(a.z)); } \
    PURE T##4 name##4##suffix(S##4 a) { return (T##4)(name##2##suffix(a.lo), name##2##suffix(a.hi)); } \
    PURE T##8 name##8##suffix(S##8 a) { return (T##8)(name##4##suffix(a.lo), name##4##suffix(a.hi)); } \
    PURE T##16 name##16##suffix(S##16 a) { return (T##16)(name##8##suffix(a.lo), name##8##suffix(a.hi)); }
#define CONVERT(T, suffix, S, expression) \
    PURE T convert_##T##suffix(S a) { return expression; } CONVERT_VECTORS(convert_##T, suffix, T, S)
/* All rounding modes, where rounding plays no part. */
#define CONVERT_EXACT(T, sat, S, expression) \
    CONVERT(T, sat, S, expression) CONVERT(T, sat##_rte, S, expression) CONVERT(T, sat##_rtz, S, expression) \
    CONVERT(T, sat##_rtp, S, expression) CONVERT(T, sat##_rtn, S, expression)

/* Integers to integers. */
#define FROM_SIGNED(T, S, low, high) \
    CONVERT_EXACT(T, , S, (T)a) \
    CONVERT_EXACT(T, _sat, S, (long)a < (long)(low) ? (T)(low) : a > 0 && (ulong)a > (ulong)(high) ? (T)(high) : (T)a)
#define FROM_UNSIGNED(T, S, low, high) \
    CONVERT_EXACT(T, , S, (T)a) \
    CONVERT_EXACT(T, _sat, S, (ulong)a > (ulong)(high) ? (T)(high) : (T)a)
/* Floats to integers. */
#define FROM_FLOAT(T, S, low, high) \
    FROM_ROUNDED(T, , S, low, high, __builtin_trunc##S(a)) FROM_ROUNDED(T, _rtz, S, low, high, __builtin_trunc##S(a)) \
    FROM_ROUNDED(T, _rte, S, low, high, __builtin_rint##S(a)) FROM_ROUNDED(T, _rtp, S, low, high, __builtin_ceil##S(a)) \
    FROM_ROUNDED(T, _rtn, S, low, high, __builtin_floor##S(a))
#define __builtin_truncfloat __builtin_truncf
#define __builtin_rintfloat __builtin_rintf
#define __builtin_ceilfloat __builtin_ceilf
#define __builtin_floorfloat __builtin_floorf
#define __builtin_truncdouble __builtin_trunc
#define __builtin_rintdouble __builtin_rint
#define __builtin_ceildouble __builtin_ceil
#define __builtin_floordouble __builtin_floor
/* The least and the greatest number are compared as floats: -2^k exactly, and 2^k as "not less". */
#define FROM_ROUNDED(T, rounding, S, low, high, expression) \
    CONVERT(T, rounding, S, (T)(expression)) \
    PURE T convert_##T##_sat##rounding(S a) { \
        S r = expression; \
        return a != a ? (T)0 : r <= (S)(low) ? (T)(low) : r >= (S)(high) ? (T)(high) : (T)r; \
    } \
    CONVERT_VECTORS(convert_##T, _sat##rounding, T, S)
#define TO_INTEGER(T, low, high) \
    FROM_SIGNED(T, char, low, high) FROM_UNSIGNED(T, uchar, low, high) FROM_SIGNED(T, short, low, high) \
    FROM_UNSIGNED(T, ushort, low, high) FROM_SIGNED(T, int, low, high) FROM_UNSIGNED(T, uint, low, high) \
    FROM_SIGNED(T, long, low, high) FROM_UNSIGNED(T, ulong, low, high) FROM_FLOAT(T, float, low, high) \
    FROM_FLOAT(T, double, low, high)
TO_INTEGER(char, SCHAR_MIN, SCHAR_MAX)
TO_INTEGER(uchar, 0, UCHAR_MAX)
TO_INTEGER(short, SHRT_MIN, SHRT_MAX)
TO_INTEGER(ushort, 0, USHRT_MAX)
TO_INTEGER(int, INT_MIN, INT_MAX)
TO_INTEGER(uint, 0, UINT_MAX)
TO_INTEGER(long, LONG_MIN, LONG_MAX)
TO_INTEGER(ulong, 0, ULONG_MAX)

/* Integers to floats. Those of up to 16 bits (32 for double) are exact. */
#define ROUNDED(T, S, types, out, in) \
    CONVERT(T, , S, (T)a) CONVERT(T, _rte, S, (T)a) \
    CONVERT(T, _rtz, S, DIRECTED(T, "cvt.rz." types, out, in)) \
    CONVERT(T, _rtp, S, DIRECTED(T, "cvt.rp." types, out, in)) \
    CONVERT(T, _rtn, S, DIRECTED(T, "cvt.rm." types, out, in))
#define DIRECTED(T, instruction, out, in) ({ T r_; __asm__(instruction " %0, %1;" : out(r_) : in(a)); r_; })
#define SMALL_TO_FLOAT(T) \
    CONVERT_EXACT(T, , char, (T)a) CONVERT_EXACT(T, , uchar, (T)a) CONVERT_EXACT(T, , short, (T)a) \
    CONVERT_EXACT(T, , ushort, (T)a)
SMALL_TO_FLOAT(float)
SMALL_TO_FLOAT(double)
CONVERT_EXACT(double, , int, (double)a)
CONVERT_EXACT(double, , uint, (double)a)
ROUNDED(float, int, "f32.s32", "=f", "r")
ROUNDED(float, uint, "f32.u32", "=f", "r")
ROUNDED(float, long, "f32.s64", "=f", "l")
ROUNDED(float, ulong, "f32.u64", "=f", "l")
ROUNDED(double, long, "f64.s64", "=d", "l")
ROUNDED(double, ulong, "f64.u64", "=d", "l")
/* Floats to floats. */
CONVERT_EXACT(float, , float, a)
CONVERT_EXACT(double, , double, a)
CONVERT_EXACT(double, , float, (double)a)
ROUNDED(float, double, "f32.f64", "=f", "d")
