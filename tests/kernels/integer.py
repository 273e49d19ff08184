"""Integer arithmetic of every width. Oracle: Python's unbounded integers."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import Suite
from tests.kernels.compare import Where
from tests.kernels.elementwise import elementwise, s32, s64, u32, u64, wrap
from tests.kernels.inputs import I8, I16, I32, I64, U8, U16, U32, U64, pairs, random_ints, triples

SUITE = Suite("integer")

I32x2, U32x2, I64x2, U64x2 = pairs(I32), pairs(U32), pairs(I64), pairs(U64)
SMALL = I32[::3]


def _quotient(a: int, b: int) -> int:
    """C's division: truncation toward zero."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def _binary(name: str, ctype: str, expr: str, inputs: tuple[np.ndarray, ...], oracle, result: str | None = None) -> None:
    elementwise(SUITE, name, f"{ctype} a, {ctype} b", result or ctype, expr, inputs, oracle, scalar=True)


# Wrapping arithmetic. Signed overflow is written through unsigned, where C++ defines it.
_binary("u32_add", "unsigned int", "a + b", U32x2, lambda a, b: u32(a + b))
_binary("u32_sub", "unsigned int", "a - b", U32x2, lambda a, b: u32(a - b))
_binary("u32_mul", "unsigned int", "a * b", U32x2, lambda a, b: u32(a * b))
_binary("i32_add_wraps", "int", "(int)((unsigned)a + (unsigned)b)", I32x2, lambda a, b: s32(a + b))
_binary("i32_mul_wraps", "int", "(int)((unsigned)a * (unsigned)b)", I32x2, lambda a, b: s32(a * b))
_binary("u64_add", "unsigned long long", "a + b", U64x2, lambda a, b: u64(a + b))
_binary("u64_sub", "unsigned long long", "a - b", U64x2, lambda a, b: u64(a - b))
_binary("u64_mul", "unsigned long long", "a * b", U64x2, lambda a, b: u64(a * b))
_binary("i32_to_i64_product", "int", "(long long)a * b", I32x2, lambda a, b: s64(a * b), "long long")
_binary("u32_to_u64_product", "unsigned int", "(unsigned long long)a * b", U32x2, lambda a, b: a * b, "unsigned long long")
elementwise(SUITE, "u32_multiply_add", "unsigned int a, unsigned int b, unsigned int c", "unsigned int", "a * b + c",
            triples(SMALL.view(np.uint32)), lambda a, b, c: u32(a * b + c), scalar=True)
elementwise(SUITE, "i64_multiply_add_wide", "int a, int b, long long c", "long long",
            "(long long)((unsigned long long)((long long)a * b) + (unsigned long long)c)",
            (*I32x2, np.resize(I64, len(I32x2[0]))), lambda a, b, c: s64(a * b + c), scalar=True)
_binary("mulhi", "int", "__mulhi(a, b)", I32x2, lambda a, b: (a * b) >> 32)
_binary("umulhi", "unsigned int", "__umulhi(a, b)", U32x2, lambda a, b: (a * b) >> 32)
_binary("mul64hi", "long long", "__mul64hi(a, b)", I64x2, lambda a, b: (a * b) >> 64)
_binary("umul64hi", "unsigned long long", "__umul64hi(a, b)", U64x2, lambda a, b: (a * b) >> 64)
_binary("mul24", "int", "__mul24(a, b)", I32x2, lambda a, b: s32(wrap(a, 24, True) * wrap(b, 24, True)))
_binary("umul24", "unsigned int", "__umul24(a, b)", U32x2, lambda a, b: u32((a & 0xFFFFFF) * (b & 0xFFFFFF)))

# Division. A zero divisor and INT_MIN / -1 are left out: C++ leaves them undefined; see `division_by_zero_*`.
NZ = tuple(x[(I32x2[1] != 0) & ~((I32x2[0] == -(1 << 31)) & (I32x2[1] == -1))] for x in I32x2)
NZ64 = tuple(x[(I64x2[1] != 0) & ~((I64x2[0] == -(1 << 63)) & (I64x2[1] == -1))] for x in I64x2)
UNZ, UNZ64 = (tuple(x[p[1] != 0] for x in p) for p in (U32x2, U64x2))
_binary("i32_divide", "int", "a / b", NZ, _quotient)
_binary("i32_remainder", "int", "a % b", NZ, lambda a, b: a - b * _quotient(a, b))
_binary("u32_divide", "unsigned int", "a / b", UNZ, lambda a, b: a // b)
_binary("u32_remainder", "unsigned int", "a % b", UNZ, lambda a, b: a % b)
_binary("i64_divide", "long long", "a / b", NZ64, _quotient)
_binary("i64_remainder", "long long", "a % b", NZ64, lambda a, b: a - b * _quotient(a, b))
_binary("u64_divide", "unsigned long long", "a / b", UNZ64, lambda a, b: a // b)
_binary("u64_remainder", "unsigned long long", "a % b", UNZ64, lambda a, b: a % b)
elementwise(SUITE, "i32_divide_by_constants", "int a", "int",
            "r = a / 7 + a / -3 * 5 + (a / 10) * 11 + a / 16 + (a % 1000) + a % 8;", (I32,),
            lambda a: s32(_quotient(a, 7) + _quotient(a, -3) * 5 + _quotient(a, 10) * 11 + _quotient(a, 16)
                          + (a - 1000 * _quotient(a, 1000)) + (a - 8 * _quotient(a, 8))), scalar=True)
elementwise(SUITE, "u64_divide_by_constants", "unsigned long long a", "unsigned long long",
            "r = a / 10 + a / 1000000007ull + a % 60;", (U64,),
            lambda a: u64(a // 10 + a // 1000000007 + a % 60), scalar=True)
I16NZ = tuple(x[pairs(I16)[1] != 0] for x in pairs(I16))
_binary("i16_divide", "short", "(short)(a / b)", I16NZ, lambda a, b: wrap(_quotient(a, b), 16, True))
U8NZ = tuple(x[pairs(U8)[1] != 0] for x in pairs(U8))
_binary("u8_divide_remainder", "unsigned char", "(unsigned char)((a / b) ^ (a % b))", U8NZ, lambda a, b: (a // b) ^ (a % b))

_ZERO = (np.arange(64, dtype=np.int32) - 7, np.where(np.arange(64) % 3 == 0, 0, 5).astype(np.int32))
elementwise(SUITE, "division_by_zero_does_not_trap", "int a, int b", "int", "a / b", _ZERO,
            lambda a, b: np.array([_quotient(int(x), int(y)) if y else 0 for x, y in zip(a, b)], np.int32),
            compare=Where(_ZERO[1] != 0))
elementwise(SUITE, "remainder_by_zero_does_not_trap", "unsigned long long a, unsigned long long b",
            "unsigned long long", "a % b", tuple(z.astype(np.uint64) for z in _ZERO),
            lambda a, b: np.array([int(x) % int(y) if y else 0 for x, y in zip(a, b)], np.uint64),
            compare=Where(_ZERO[1] != 0))
_MIN = (np.array([-(1 << 31), -(1 << 31), 9], np.int32), np.array([-1, 2, -1], np.int32))
elementwise(SUITE, "int_min_divided_by_minus_one_does_not_trap", "int a, int b", "int", "a / b", _MIN,
            lambda a, b: np.array([0, -(1 << 30), -9], np.int32), compare=Where(np.array([False, True, True])))

# Shifts and rotations.
SHIFTS = np.array([0, 1, 4, 15, 16, 31], np.int32)
SH = pairs(I32, SHIFTS)
elementwise(SUITE, "shift_left", "unsigned int a, int b", "unsigned int", "a << b", (SH[0].view(np.uint32), SH[1]),
            lambda a, b: u32(a << b), scalar=True)
_binary("shift_right_arithmetic", "int", "a >> b", SH, lambda a, b: a >> b)
elementwise(SUITE, "shift_right_logical", "unsigned int a, int b", "unsigned int", "a >> b",
            (SH[0].view(np.uint32), SH[1]), lambda a, b: a >> b, scalar=True)
SH64 = pairs(I64, np.array([0, 1, 31, 32, 33, 63], np.int32))
elementwise(SUITE, "shift_left_64", "unsigned long long a, int b", "unsigned long long", "a << b",
            (SH64[0].view(np.uint64), SH64[1]), lambda a, b: u64(a << b), scalar=True)
elementwise(SUITE, "shift_right_arithmetic_64", "long long a, int b", "long long", "a >> b", SH64,
            lambda a, b: a >> b, scalar=True)
elementwise(SUITE, "rotate_by_shifts", "unsigned int a, int b", "unsigned int", "(a << (b & 31)) | (a >> (-b & 31))",
            (SH[0].view(np.uint32), SH[1]), lambda a, b: u32((a << b) | (a >> (32 - b) % 32 if b else 0)), scalar=True)
elementwise(SUITE, "ptx_shift_clamps", "unsigned int a, int b", "unsigned int",
            'unsigned int x; int y; asm("shl.b32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b));'
            ' asm("shr.s32 %0, %1, %2;" : "=r"(y) : "r"((int)a), "r"(b)); r = x ^ (unsigned int)y;',
            tuple(x.copy() for x in (pairs(U32, np.array([0, 31, 32, 33, 64, 255], np.int32)))),
            lambda a, b: (u32(a << b) if b < 32 else 0) ^ u32(s32(a) >> min(b, 31)), scalar=True)

# Logic, comparison, selection.
_binary("bitwise_logic", "unsigned int", "(a & b) ^ (a | ~b) ^ (~a ^ b)", U32x2,
        lambda a, b: u32((a & b) ^ (a | ~b) ^ (~a ^ b)))
_binary("bitwise_logic_64", "unsigned long long", "(a & ~b) | (b ^ 0xf0f0f0f0f0f0f0f0ull)", U64x2,
        lambda a, b: u64((a & ~b) | (b ^ 0xF0F0F0F0F0F0F0F0)))
COMPARE = "(a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5"


def _compared(a, b) -> int:
    return (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5


_binary("compare_i32", "int", COMPARE, I32x2, _compared)
_binary("compare_u32", "unsigned int", COMPARE, U32x2, _compared)
_binary("compare_i64", "long long", COMPARE, I64x2, _compared)
_binary("compare_u64", "unsigned long long", COMPARE, U64x2, _compared)
elementwise(SUITE, "compare_signed_with_unsigned", "int a, unsigned int b", "int", "a < b", (I32x2[0], U32x2[1]),
            lambda a, b: int(u32(a) < b), scalar=True)
_binary("min_max_i32", "int", "min(a, b) ^ (max(a, b) * 3)", SMALLP := pairs(np.array([-5, 0, 4, 90, -1000], np.int32)),
        lambda a, b: s32(min(a, b) ^ (max(a, b) * 3)))
_binary("min_max_u64", "unsigned long long", "min(a, b) + 3 * max(a, b)", U64x2, lambda a, b: u64(min(a, b) + 3 * max(a, b)))
_binary("min_i64_mixed_sign", "long long", "min(a, b)", I64x2, min)
elementwise(SUITE, "abs_i32", "int a", "int", "abs(a)", (I32[I32 != -(1 << 31)],), abs, scalar=True)
elementwise(SUITE, "abs_i64", "long long a", "long long", "llabs(a)", (I64[I64 != -(1 << 63)],), abs, scalar=True)
_binary("ternary_select", "int", "a > b ? (a ^ 5) : b == 0 ? -1 : (b | 2)", I32x2,
        lambda a, b: a ^ 5 if a > b else -1 if b == 0 else b | 2)
elementwise(SUITE, "sum_of_absolute_difference", "int a, int b, unsigned int c", "unsigned int", "__sad(a, b, c)",
            (*I32x2, np.resize(U32, len(I32x2[0]))), lambda a, b, c: u32(abs(a - b) + c), scalar=True)
elementwise(SUITE, "unsigned_sad", "unsigned int a, unsigned int b, unsigned int c", "unsigned int", "__usad(a, b, c)",
            (*U32x2, np.resize(U32, len(I32x2[0]))), lambda a, b, c: u32(abs(a - b) + c), scalar=True)
_binary("halving_add", "int", "__hadd(a, b)", I32x2, lambda a, b: (a + b) >> 1)
_binary("rounding_halving_add", "int", "__rhadd(a, b)", I32x2, lambda a, b: (a + b + 1) >> 1)
_binary("unsigned_halving_adds", "unsigned int", "__uhadd(a, b) ^ __urhadd(a, b)", U32x2,
        lambda a, b: ((a + b) >> 1) ^ ((a + b + 1) >> 1))

# Narrow types: promotion to int and truncation on assignment.
_binary("i8_wraps_on_store", "signed char", "(signed char)(a * b + 3)", pairs(I8), lambda a, b: wrap(a * b + 3, 8, True))
_binary("u8_wraps_on_store", "unsigned char", "(unsigned char)(a - b)", pairs(U8), lambda a, b: wrap(a - b, 8, False))
_binary("i16_promotes_to_int", "short", "a * b", pairs(I16), lambda a, b: a * b, "int")
_binary("u16_promotes_to_int", "unsigned short", "(a << 16 >> 16) - b", pairs(U16),
        lambda a, b: (s32(a << 16) >> 16) - b, "int")
_binary("u16_shift_and_wrap", "unsigned short", "(unsigned short)((a >> 3) + (b << 5))", pairs(U16),
        lambda a, b: wrap((a >> 3) + (b << 5), 16, False))
_binary("i8_min_max_compare", "signed char", "(signed char)(a < b ? min((int)a, (int)b) : max((int)a, (int)b))", pairs(I8),
        lambda a, b: min(a, b) if a < b else max(a, b))
elementwise(SUITE, "sign_and_zero_extension", "signed char a, unsigned char b, short c, unsigned short d", "long long",
            "(long long)a + 1000ll * b + 100000ll * c + 10000000000ll * d",
            tuple(np.resize(x, 320) for x in (I8, U8, I16, U16)),
            lambda a, b, c, d: a + 1000 * b + 100000 * c + 10000000000 * d, scalar=True)
elementwise(SUITE, "truncating_casts", "long long a", "long long",
            "(long long)(signed char)a ^ ((long long)(short)a << 16) ^ ((long long)(unsigned char)a << 40) ^ (long long)(int)a",
            (np.concatenate([I64, random_ints(np.int64, 100, 5)]),),
            lambda a: s64(wrap(a, 8, True) ^ (wrap(a, 16, True) << 16) ^ (wrap(a, 8, False) << 40) ^ s32(a)), scalar=True)
elementwise(SUITE, "bit_fields", "unsigned int a", "int",
            "F f; f.x = a; f.y = (int)(a >> 5); f.z = a >> 9; f.x += 3; r = f.x + 100 * f.y + 100000 * f.z;",
            (np.concatenate([U32, random_ints(np.uint32, 100, 6)]),),
            lambda a: (((a & 31) + 3) & 31) + 100 * wrap(a >> 5, 4, True) + 100000 * ((a >> 9) & 1),
            preamble="struct F { unsigned int x : 5; int y : 4; unsigned int z : 1; };", scalar=True)
elementwise(SUITE, "boolean_logic", "int a, int b", "bool", "(a > 0 && b > 0) || !(a | b) || (bool)(a & 64)", I32x2,
            lambda a, b: bool((a > 0 and b > 0) or not (a | b) or (a & 64)), scalar=True)
_binary("saturating_add_ptx", "int", 'asm("add.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));', I32x2,
        lambda a, b: min(max(a + b, -(1 << 31)), (1 << 31) - 1))
_binary("saturating_sub_ptx", "int", 'asm("sub.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));', I32x2,
        lambda a, b: min(max(a - b, -(1 << 31)), (1 << 31) - 1))

# More than 64 bits.
elementwise(
    SUITE, "carry_chain_128", "unsigned long long a, unsigned long long b", "unsigned long long",
    """unsigned int a0 = (unsigned int)a, a1 = a >> 32, b0 = (unsigned int)b, b1 = b >> 32, s0, s1, s2, s3;
        asm("add.cc.u32 %0, %4, %6;\\n\\taddc.cc.u32 %1, %5, %7;\\n\\taddc.cc.u32 %2, %4, %7;\\n\\taddc.u32 %3, 0, 0;"
            : "=&r"(s0), "=&r"(s1), "=&r"(s2), "=&r"(s3) : "r"(a0), "r"(a1), "r"(b0), "r"(b1));
        r = ((unsigned long long)(s1 ^ s3 * 0x9e3779b9u) << 32 | s0) ^ s2;""",
    U64x2,
    lambda a, b: _carry_add(a, b), scalar=True)
elementwise(
    SUITE, "borrow_chain_64", "unsigned long long a, unsigned long long b", "unsigned long long",
    """unsigned int lo, hi, borrow;
        asm("sub.cc.u32 %0, %3, %5;\\n\\tsubc.cc.u32 %1, %4, %6;\\n\\tsubc.u32 %2, 0, 0;" : "=&r"(lo), "=&r"(hi), "=&r"(borrow)
            : "r"((unsigned int)a), "r"((unsigned int)(a >> 32)), "r"((unsigned int)b), "r"((unsigned int)(b >> 32)));
        r = (((unsigned long long)hi << 32) | lo) ^ (borrow & 1);""",
    U64x2, lambda a, b: u64(a - b) ^ (1 if a < b else 0), scalar=True)
elementwise(
    SUITE, "carry_after_subtraction", "unsigned int a, unsigned int b", "unsigned int",
    # A subtraction adds the complement: the carry is set when it does not borrow. CUDA's 128-bit division relies on it.
    'unsigned int d, c; asm("sub.cc.u32 %0, %2, %3;\\n\\taddc.u32 %1, 0, 0;" : "=&r"(d), "=&r"(c) : "r"(a), "r"(b)); r = d ^ (c << 7);',
    U32x2, lambda a, b: u32(a - b) ^ ((a >= b) << 7), scalar=True)
elementwise(
    SUITE, "multiply_add_carry_chain", "unsigned int a, unsigned int b, unsigned int c", "unsigned long long",
    """unsigned int lo, hi;
        asm("mad.lo.cc.u32 %0, %2, %3, %4;\\n\\tmadc.hi.u32 %1, %2, %3, 0;" : "=&r"(lo), "=&r"(hi) : "r"(a), "r"(b), "r"(c));
        r = ((unsigned long long)hi << 32) | lo;""",
    (*U32x2, np.resize(U32[::-1].copy(), len(U32x2[0]))), lambda a, b, c: a * b + c, scalar=True)


def _carry_add(a: int, b: int) -> int:
    a0, a1, b0, b1 = a & 0xFFFFFFFF, a >> 32, b & 0xFFFFFFFF, b >> 32
    t = a0 + b0
    s0, t = t & 0xFFFFFFFF, a1 + b1 + (t >> 32)
    s1, t = t & 0xFFFFFFFF, a0 + b1 + (t >> 32)
    s2, s3 = t & 0xFFFFFFFF, t >> 32
    return u64(((s1 ^ u32(s3 * 0x9E3779B9)) << 32 | s0) ^ s2)


def _int128(name: str, expr: str, oracle, inputs=U64x2) -> None:
    elementwise(SUITE, name, "unsigned long long a, unsigned long long b", "unsigned long long", expr, inputs, oracle,
                scalar=True, options=("--device-int128",))


_int128("int128_product", "unsigned __int128 p = (unsigned __int128)a * b; r = (unsigned long long)(p >> 64) ^ (unsigned long long)p * 3;",
        lambda a, b: u64((a * b >> 64) ^ u64(u64(a * b) * 3)))
_int128("int128_add_shift", "unsigned __int128 p = ((unsigned __int128)a << 64 | b) + ((unsigned __int128)b << 60 | a); r = (unsigned long long)(p >> 37);",
        lambda a, b: u64((((a << 64 | b) + (b << 60 | a)) % (1 << 128)) >> 37))
_int128("int128_compare", "__int128 x = (__int128)(long long)a * (long long)b, y = ((__int128)(long long)b << 40); r = (x < y) | (x == y) << 1 | (x >= 0) << 2;",
        lambda a, b: (s64(a) * s64(b) < s64(b) << 40) | (s64(a) * s64(b) == s64(b) << 40) << 1 | (s64(a) * s64(b) >= 0) << 2)
_int128("int128_divide", "unsigned __int128 p = (unsigned __int128)a << 64 | b, q = p / (b | 1), m = p % (a | 7); r = (unsigned long long)q ^ (unsigned long long)(q >> 64) ^ (unsigned long long)m;",
        lambda a, b: u64(((a << 64 | b) // (b | 1)) ^ (((a << 64 | b) // (b | 1)) >> 64) ^ ((a << 64 | b) % (a | 7))))
