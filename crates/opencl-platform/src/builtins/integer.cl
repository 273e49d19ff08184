/* Integer functions (OpenCL C 3.0, 6.15.3). */

#define UNSIGNED_char uchar
#define UNSIGNED_uchar uchar
#define UNSIGNED_short ushort
#define UNSIGNED_ushort ushort
#define UNSIGNED_int uint
#define UNSIGNED_uint uint
#define UNSIGNED_long ulong
#define UNSIGNED_ulong ulong

#define SIGNED_ABS(T, U) \
    UNARY(abs, U, T, a < 0 ? (U)0 - (U)a : (U)a) \
    BINARY(abs_diff, U, T, T, a > b ? (U)a - (U)b : (U)b - (U)a)
#define UNSIGNED_ABS(T) \
    UNARY(abs, T, T, a) \
    BINARY(abs_diff, T, T, T, a > b ? a - b : b - a)
SIGNED_ABS(char, uchar)
SIGNED_ABS(short, ushort)
SIGNED_ABS(int, uint)
SIGNED_ABS(long, ulong)
UNSIGNED_ABS(uchar)
UNSIGNED_ABS(ushort)
UNSIGNED_ABS(uint)
UNSIGNED_ABS(ulong)

#if __has_builtin(__builtin_elementwise_add_sat)
#define SATURATED(operation, a, b, upper, lower) __builtin_elementwise_##operation##_sat(a, b)
#else
#define SATURATED(operation, a, b, upper, lower) \
    ({ __typeof__(a) r; __builtin_##operation##_overflow(a, b, &r) ? b > 0 ? upper : lower : r; })
#endif
#define SATURATING(T, low, high) \
    BINARY(add_sat, T, T, T, SATURATED(add, a, b, high, low)) \
    BINARY(sub_sat, T, T, T, SATURATED(sub, a, b, low, high))
SATURATING(int, INT_MIN, INT_MAX) SATURATING(uint, 0, UINT_MAX)
SATURATING(long, LONG_MIN, LONG_MAX) SATURATING(ulong, 0, ULONG_MAX)
/* C computes with int where a type is smaller. */
#define SATURATING_SMALL(T, low, high) \
    BINARY(add_sat, T, T, T, (T)(a + b < low ? low : a + b > high ? high : a + b)) \
    BINARY(sub_sat, T, T, T, (T)(a - b < low ? low : a - b > high ? high : a - b))
SATURATING_SMALL(char, SCHAR_MIN, SCHAR_MAX)
SATURATING_SMALL(uchar, 0, UCHAR_MAX)
SATURATING_SMALL(short, SHRT_MIN, SHRT_MAX)
SATURATING_SMALL(ushort, 0, USHRT_MAX)

/* The mean without overflow: what both have, and half of what one of them has. */
#define MEANS(T) \
    BINARY(hadd, T, T, T, (T)((a & b) + ((a ^ b) >> 1))) \
    BINARY(rhadd, T, T, T, (T)((a | b) - ((a ^ b) >> 1)))
FOR_INTEGERS(MEANS)

#define ORDER(T) \
    BINARY(max, T, T, T, a > b ? a : b) \
    BINARY(min, T, T, T, a < b ? a : b) \
    TERNARY(clamp, T, T, T, T, a < b ? b : a > c ? c : a) \
    SCALAR2(max, T) SCALAR2(min, T) SCALAR23(clamp, T)
FOR_INTEGERS(ORDER)

/* LLVM 18 does not take the distance of a rotation of 64 bits modulo 64, and does not know that of one it cannot see. */
#if __clang_major__ < 19
static inline __attribute__((always_inline)) ulong rtcg_distance(ulong n) { __asm__("" : "+l"(n)); return n; }
#else
#define rtcg_distance(n) (n)
#endif
#define ROTATED(a, n, bits) ((a) << (n) | (a) >> ((bits - (n)) & (bits - 1)))
#define BITS(T, U, bits) \
    UNARY(clz, T, T, (T)((U)a == 0 ? bits : __builtin_clzl((ulong)(U)a) - (64 - bits))) \
    UNARY(ctz, T, T, (T)((U)a == 0 ? bits : __builtin_ctzl((ulong)(U)a))) \
    UNARY(popcount, T, T, (T)__builtin_popcountl((ulong)(U)a)) \
    BINARY(rotate, T, T, T, (T)ROTATED((U)a, (U)rtcg_distance((U)b & (bits - 1)), bits))
BITS(char, uchar, 8)
BITS(uchar, uchar, 8)
BITS(short, ushort, 16)
BITS(ushort, ushort, 16)
BITS(int, uint, 32)
BITS(uint, uint, 32)
BITS(long, ulong, 64)
BITS(ulong, ulong, 64)

#define HIGH(T, W, bits) BINARY(mul_hi, T, T, T, (T)(((W)a * (W)b) >> bits))
HIGH(char, int, 8)
HIGH(uchar, int, 8)
HIGH(short, int, 16)
HIGH(ushort, uint, 16)
HIGH(int, long, 32)
HIGH(uint, ulong, 32)
HIGH(long, _BitInt(128), 64)
HIGH(ulong, unsigned _BitInt(128), 64)

#define MAD_HIGH(T) TERNARY(mad_hi, T, T, T, T, (T)(mul_hi(a, b) + c))
FOR_INTEGERS(MAD_HIGH)

#define MAD_SAT(T, W, low, high) \
    TERNARY(mad_sat, T, T, T, T, (T)((W)a * b + c < low ? low : (W)a * b + c > high ? high : (W)a * b + c))
MAD_SAT(char, int, SCHAR_MIN, SCHAR_MAX)
MAD_SAT(uchar, int, 0, UCHAR_MAX)
MAD_SAT(short, long, SHRT_MIN, SHRT_MAX)
MAD_SAT(ushort, long, 0, USHRT_MAX)
MAD_SAT(int, long, INT_MIN, INT_MAX)
TERNARY(mad_sat, uint, uint, uint, uint, (uint)min((ulong)a * b + c, (ulong)UINT_MAX))
/* The product of 64 bits in two halves, then the sum. */
PURE long mad_sat(long a, long b, long c) {
    long high = mul_hi(a, b);
    ulong low = (ulong)a * (ulong)b, sum = low + (ulong)c;
    high += (c >> 63) + (sum < low);
    if (high == (long)sum >> 63) return (long)sum;
    return high < 0 ? LONG_MIN : LONG_MAX;
}
PURE ulong mad_sat(ulong a, ulong b, ulong c) {
    ulong low = a * b, sum = low + c;
    return mul_hi(a, b) != 0 || sum < low ? ULONG_MAX : sum;
}
VECTORS3(mad_sat, long, long, long, long)
VECTORS3(mad_sat, ulong, ulong, ulong, ulong)

#define UPSAMPLE(R, H, L, bits) BINARY(upsample, R, H, L, (R)(((R)a << bits) | (R)b))
UPSAMPLE(short, char, uchar, 8)
UPSAMPLE(ushort, uchar, uchar, 8)
UPSAMPLE(int, short, ushort, 16)
UPSAMPLE(uint, ushort, ushort, 16)
UPSAMPLE(long, int, uint, 32)
UPSAMPLE(ulong, uint, uint, 32)

BINARY(mul24, int, int, int, (a << 8 >> 8) * (b << 8 >> 8))
BINARY(mul24, uint, uint, uint, (a & 0xffffff) * (b & 0xffffff))
TERNARY(mad24, int, int, int, int, mul24(a, b) + c)
TERNARY(mad24, uint, uint, uint, uint, mul24(a, b) + c)
