// Integer functions: bits, products' upper halves, averages, products of bytes; two or four numbers in a word.
//
// Sources: CUDA Math API 13.0 (sections "Integer Intrinsics" and "SIMD Intrinsics"), PTX ISA 8.8, Warren: Hacker's Delight
// (chapter 2: sums, differences and comparisons of parts of a word).
#pragma once

extern "C++" {

RTCG_HOST_DEVICE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
RTCG_HOST_DEVICE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
RTCG_HOST_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
RTCG_HOST_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
RTCG_HOST_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
RTCG_HOST_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
RTCG_HOST_DEVICE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
RTCG_HOST_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
RTCG_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned s) { return __nvvm_prmt(x, y, s & 0x7777u); }
// The n-th set bit before or after `base`.
RTCG_DEVICE unsigned __fns(unsigned mask, unsigned base, int offset) { return __nvvm_fns(mask, base, offset); }

// Functions of LLVM that clang has no names for, here and below. Assembly would do, but a loop with it is not unrolled by run-time counts:
// clang supposes that all assembly in device code needs the threads together (seen; it refuses an attribute that says otherwise).
extern "C" __device__ __attribute__((noconvergent, const)) unsigned __rtcg_shift_left(unsigned high, unsigned low, unsigned shift) __asm("llvm.fshl.i32");
extern "C" __device__ __attribute__((noconvergent, const)) unsigned __rtcg_shift_right(unsigned high, unsigned low, unsigned shift) __asm("llvm.fshr.i32");
RTCG_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) { return __rtcg_shift_left(high, low, shift); }
RTCG_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) { return __rtcg_shift_right(high, low, shift); }
RTCG_DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) { return shift > 31 ? low : __rtcg_shift_left(high, low, shift); }
RTCG_DEVICE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) { return shift > 31 ? high : __rtcg_shift_right(high, low, shift); }

RTCG_HOST_DEVICE int __mul24(int x, int y) {
    return (int)((unsigned)((int)((unsigned)x << 8) >> 8) * (unsigned)((int)((unsigned)y << 8) >> 8));
}
RTCG_HOST_DEVICE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
RTCG_HOST_DEVICE int __mulhi(int x, int y) { return (int)(((long long)x * y) >> 32); }
RTCG_HOST_DEVICE unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x * y) >> 32); }
RTCG_HOST_DEVICE long long __mul64hi(long long x, long long y) { return (long long)(((__int128)x * y) >> 64); }
RTCG_HOST_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)(((unsigned __int128)x * y) >> 64);
}
RTCG_HOST_DEVICE unsigned __sad(int x, int y, unsigned z) { return (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x) + z; }
RTCG_HOST_DEVICE unsigned __usad(unsigned x, unsigned y, unsigned z) { return (x > y ? x - y : y - x) + z; }
// Averages without overflow.
RTCG_HOST_DEVICE int __hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); }
RTCG_HOST_DEVICE int __rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); }
RTCG_HOST_DEVICE unsigned __uhadd(unsigned x, unsigned y) { return (x & y) + ((x ^ y) >> 1); }
RTCG_HOST_DEVICE unsigned __urhadd(unsigned x, unsigned y) { return (x | y) - ((x ^ y) >> 1); }

// Sums of products of bytes with bytes, and of halves of a word with bytes.
#if __clang_major__ >= 20
#define RTCG_DOT4(suffix, type, kind) \
    extern "C" __device__ __attribute__((noconvergent, const)) type __rtcg_dot4_##suffix(type, type, type) __asm("llvm.nvvm.idp4a." kind);
#define RTCG_DOT2(suffix, type, kind) \
    extern "C" __device__ __attribute__((noconvergent, const)) type __rtcg_dot2_##suffix(type, type, bool, type) __asm("llvm.nvvm.idp2a." kind); \
    RTCG_DEVICE type __rtcg_dot2_lo_##suffix(type a, type b, type c) { return __rtcg_dot2_##suffix(a, b, false, c); } \
    RTCG_DEVICE type __rtcg_dot2_hi_##suffix(type a, type b, type c) { return __rtcg_dot2_##suffix(a, b, true, c); }
RTCG_DOT4(s, int, "s.s") RTCG_DOT4(u, unsigned, "u.u") RTCG_DOT2(s, int, "s.s") RTCG_DOT2(u, unsigned, "u.u")
#undef RTCG_DOT4
#undef RTCG_DOT2
#else
#define RTCG_DOT_IN_ASSEMBLY(name, type, instruction) \
    RTCG_DEVICE type name(type a, type b, type c) { \
        type sum; \
        asm(instruction " %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c)); \
        return sum; \
    }
RTCG_DOT_IN_ASSEMBLY(__rtcg_dot4_s, int, "dp4a.s32.s32") RTCG_DOT_IN_ASSEMBLY(__rtcg_dot4_u, unsigned, "dp4a.u32.u32")
RTCG_DOT_IN_ASSEMBLY(__rtcg_dot2_lo_s, int, "dp2a.lo.s32.s32") RTCG_DOT_IN_ASSEMBLY(__rtcg_dot2_lo_u, unsigned, "dp2a.lo.u32.u32")
RTCG_DOT_IN_ASSEMBLY(__rtcg_dot2_hi_s, int, "dp2a.hi.s32.s32") RTCG_DOT_IN_ASSEMBLY(__rtcg_dot2_hi_u, unsigned, "dp2a.hi.u32.u32")
#undef RTCG_DOT_IN_ASSEMBLY
#endif
#define RTCG_DOT(name, function, type, a_vector, b_vector) \
    RTCG_DEVICE type name(type a, type b, type c) { return function(a, b, c); } \
    RTCG_DEVICE type name(a_vector a, b_vector b, type c) { return function(__builtin_bit_cast(type, a), __builtin_bit_cast(type, b), c); }
RTCG_DOT(__dp4a, __rtcg_dot4_s, int, char4, char4)
RTCG_DOT(__dp4a, __rtcg_dot4_u, unsigned, uchar4, uchar4)
RTCG_DOT(__dp2a_lo, __rtcg_dot2_lo_s, int, short2, char4)
RTCG_DOT(__dp2a_lo, __rtcg_dot2_lo_u, unsigned, ushort2, uchar4)
RTCG_DOT(__dp2a_hi, __rtcg_dot2_hi_s, int, short2, char4)
RTCG_DOT(__dp2a_hi, __rtcg_dot2_hi_u, unsigned, ushort2, uchar4)
#undef RTCG_DOT

// Parts of a word. `top` has the highest bit of each part, `one` the lowest; `spread` copies highest bits over the parts.
#define RTCG_PARTS(n, bits, top, one, selector) \
    RTCG_DEVICE unsigned __rtcg_spread##n(unsigned x) { return __nvvm_prmt(x, 0, selector); } \
    RTCG_DEVICE unsigned __rtcg_below##n(unsigned a, unsigned b) { return (~a & b) | (~(a ^ b) & ~((a | top) - (b & ~top))); } \
    RTCG_DEVICE unsigned __rtcg_differ##n(unsigned a, unsigned b) { return (((a ^ b) & ~top) + ~top) | (a ^ b); } \
    RTCG_DEVICE unsigned __vadd##n(unsigned a, unsigned b) { return ((a & ~top) + (b & ~top)) ^ ((a ^ b) & top); } \
    RTCG_DEVICE unsigned __vsub##n(unsigned a, unsigned b) { return ((a | top) - (b & ~top)) ^ (~(a ^ b) & top); } \
    RTCG_DEVICE unsigned __vaddus##n(unsigned a, unsigned b) { \
        const unsigned sum = __vadd##n(a, b); \
        return sum | __rtcg_spread##n((a & b) | ((a | b) & ~sum)); \
    } \
    RTCG_DEVICE unsigned __vsubus##n(unsigned a, unsigned b) { return __vsub##n(a, b) & ~__rtcg_spread##n(__rtcg_below##n(a, b)); } \
    RTCG_DEVICE unsigned __rtcg_saturate##n(unsigned x, unsigned overflow, unsigned a) { \
        const unsigned mask = __rtcg_spread##n(overflow); \
        return (x & ~mask) | ((((a & top) >> (bits - 1)) + ~top) & mask); \
    } \
    RTCG_DEVICE unsigned __vaddss##n(unsigned a, unsigned b) { \
        const unsigned sum = __vadd##n(a, b); \
        return __rtcg_saturate##n(sum, ~(a ^ b) & (sum ^ a), a); \
    } \
    RTCG_DEVICE unsigned __vsubss##n(unsigned a, unsigned b) { \
        const unsigned difference = __vsub##n(a, b); \
        return __rtcg_saturate##n(difference, (a ^ b) & (difference ^ a), a); \
    } \
    RTCG_DEVICE unsigned __vneg##n(unsigned a) { return __vsub##n(0, a); } \
    RTCG_DEVICE unsigned __vnegss##n(unsigned a) { return __vsubss##n(0, a); } \
    RTCG_DEVICE unsigned __rtcg_negate##n(unsigned x, unsigned mask) { return (x ^ mask) + (mask & one); } \
    RTCG_DEVICE unsigned __vabs##n(unsigned a) { return __rtcg_negate##n(a, __rtcg_spread##n(a)); } \
    RTCG_DEVICE unsigned __vabsss##n(unsigned a) { \
        const unsigned size = __vabs##n(a); \
        return size - ((size & top) >> (bits - 1)); \
    } \
    RTCG_DEVICE unsigned __vhaddu##n(unsigned a, unsigned b) { return (a & b) + (((a ^ b) & ~one) >> 1); } \
    RTCG_DEVICE unsigned __vavgu##n(unsigned a, unsigned b) { return (a | b) - (((a ^ b) & ~one) >> 1); } \
    /* Halves are rounded away from zero: down where the average by rounding up is not above zero. */ \
    RTCG_DEVICE unsigned __vavgs##n(unsigned a, unsigned b) { \
        const unsigned up = __vavgu##n(a ^ top, b ^ top) ^ top; \
        return __vsub##n(up, (a ^ b) & one & (__rtcg_spread##n(up) | ~__rtcg_spread##n(__rtcg_differ##n(up, 0)))); \
    } \
    RTCG_DEVICE unsigned __vabsdiffu##n(unsigned a, unsigned b) { return __rtcg_negate##n(__vsub##n(a, b), __rtcg_spread##n(__rtcg_below##n(a, b))); } \
    RTCG_DEVICE unsigned __vabsdiffs##n(unsigned a, unsigned b) { return __vabsdiffu##n(a ^ top, b ^ top); } \
    RTCG_COMPARE(n, bits, top, ltu, __rtcg_below##n(a, b)) RTCG_COMPARE(n, bits, top, gtu, __rtcg_below##n(b, a)) \
    RTCG_COMPARE(n, bits, top, geu, ~__rtcg_below##n(a, b)) RTCG_COMPARE(n, bits, top, leu, ~__rtcg_below##n(b, a)) \
    RTCG_COMPARE(n, bits, top, lts, __rtcg_below##n(a ^ top, b ^ top)) RTCG_COMPARE(n, bits, top, gts, __rtcg_below##n(b ^ top, a ^ top)) \
    RTCG_COMPARE(n, bits, top, ges, ~__rtcg_below##n(a ^ top, b ^ top)) RTCG_COMPARE(n, bits, top, les, ~__rtcg_below##n(b ^ top, a ^ top)) \
    RTCG_COMPARE(n, bits, top, eq, ~__rtcg_differ##n(a, b)) RTCG_COMPARE(n, bits, top, ne, __rtcg_differ##n(a, b)) \
    RTCG_CHOOSE(__vmaxu##n, __vcmpgtu##n) RTCG_CHOOSE(__vmaxs##n, __vcmpgts##n) \
    RTCG_CHOOSE(__vminu##n, __vcmpltu##n) RTCG_CHOOSE(__vmins##n, __vcmplts##n)
#define RTCG_COMPARE(n, bits, top, relation, holds) \
    RTCG_DEVICE unsigned __vcmp##relation##n(unsigned a, unsigned b) { return __rtcg_spread##n(holds); } \
    RTCG_DEVICE unsigned __vset##relation##n(unsigned a, unsigned b) { return ((holds) & top) >> (bits - 1); }
#define RTCG_CHOOSE(name, is_first) \
    RTCG_DEVICE unsigned name(unsigned a, unsigned b) { \
        const unsigned mask = is_first(a, b); \
        return (a & mask) | (b & ~mask); \
    }
RTCG_PARTS(2, 16, 0x80008000u, 0x00010001u, 0xbb99u)
RTCG_PARTS(4, 8, 0x80808080u, 0x01010101u, 0xba98u)
#undef RTCG_PARTS
#undef RTCG_COMPARE
#undef RTCG_CHOOSE
RTCG_DEVICE unsigned __vsadu2(unsigned a, unsigned b) { return (__vabsdiffu2(a, b) & 0xffffu) + (__vabsdiffu2(a, b) >> 16); }
RTCG_DEVICE unsigned __vsads2(unsigned a, unsigned b) { return __vsadu2(a ^ 0x80008000u, b ^ 0x80008000u); }
RTCG_DEVICE unsigned __vsadu4(unsigned a, unsigned b) { return __dp4a(__vabsdiffu4(a, b), 0x01010101u, 0u); }
RTCG_DEVICE unsigned __vsads4(unsigned a, unsigned b) { return __vsadu4(a ^ 0x80808080u, b ^ 0x80808080u); }

// Maxima and minima of sums and of three numbers; `relu` is the maximum with zero.
#define RTCG_EXTREMA(m, relation, pair_relation) \
    RTCG_EXTREMA_OF(m, relation, s32, int) RTCG_EXTREMA_OF(m, relation, u32, unsigned) \
    RTCG_EXTREMA_OF_PAIRS(m, pair_relation, s16x2, s) RTCG_EXTREMA_OF_PAIRS(m, pair_relation, u16x2, u) \
    RTCG_DEVICE int __vi##m##_s32_relu(int a, int b) { return __rtcg_relu(__rtcg_vi##m##_s32(a, b)); } \
    RTCG_DEVICE int __vi##m##3_s32_relu(int a, int b, int c) { return __rtcg_relu(__vi##m##3_s32(a, b, c)); } \
    RTCG_DEVICE int __viadd##m##_s32_relu(int a, int b, int c) { return __rtcg_relu(__viadd##m##_s32(a, b, c)); } \
    RTCG_DEVICE unsigned __vi##m##_s16x2_relu(unsigned a, unsigned b) { return __vmaxs2(__v##m##s2(a, b), 0); } \
    RTCG_DEVICE unsigned __vi##m##3_s16x2_relu(unsigned a, unsigned b, unsigned c) { return __vmaxs2(__vi##m##3_s16x2(a, b, c), 0); } \
    RTCG_DEVICE unsigned __viadd##m##_s16x2_relu(unsigned a, unsigned b, unsigned c) { return __vmaxs2(__viadd##m##_s16x2(a, b, c), 0); }
#define RTCG_EXTREMA_OF(m, relation, kind, type) \
    RTCG_DEVICE type __rtcg_vi##m##_##kind(type a, type b) { return a relation b ? a : b; } \
    RTCG_DEVICE type __vi##m##3_##kind(type a, type b, type c) { return __rtcg_vi##m##_##kind(__rtcg_vi##m##_##kind(a, b), c); } \
    RTCG_DEVICE type __viadd##m##_##kind(type a, type b, type c) { return __rtcg_vi##m##_##kind((type)((unsigned)a + (unsigned)b), c); } \
    RTCG_DEVICE type __vib##m##_##kind(type a, type b, bool *is_first) { \
        *is_first = a relation b; \
        return a relation b ? a : b; \
    }
#define RTCG_EXTREMA_OF_PAIRS(m, relation, kind, sign) \
    RTCG_DEVICE unsigned __vi##m##3_##kind(unsigned a, unsigned b, unsigned c) { return __v##m##sign##2(__v##m##sign##2(a, b), c); } \
    RTCG_DEVICE unsigned __viadd##m##_##kind(unsigned a, unsigned b, unsigned c) { return __v##m##sign##2(__vadd2(a, b), c); } \
    RTCG_DEVICE unsigned __vib##m##_##kind(unsigned a, unsigned b, bool *is_first_high, bool *is_first_low) { \
        const unsigned mask = __vcmp##relation##sign##2(a, b); \
        *is_first_high = mask >> 31; \
        *is_first_low = mask & 1; \
        return (a & mask) | (b & ~mask); \
    }
RTCG_DEVICE int __rtcg_relu(int x) { return x > 0 ? x : 0; }
RTCG_EXTREMA(max, >=, ge)
RTCG_EXTREMA(min, <=, le)
#undef RTCG_EXTREMA
#undef RTCG_EXTREMA_OF
#undef RTCG_EXTREMA_OF_PAIRS
}
