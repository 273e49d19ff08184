"""Bit intrinsics, byte permutation, funnel shifts, SIMD-in-a-word, dot products. Oracle: Python integers."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import Suite
from tests.kernels.elementwise import elementwise, s32, u32, u64, wrap
from tests.kernels.inputs import I32, U32, U64, random_ints, rng

SUITE = Suite("bits")

WORDS = np.concatenate([U32, random_ints(np.uint32, 60, 11), np.uint32(1) << np.arange(32, dtype=np.uint32)])
LONGS = np.concatenate([U64, random_ints(np.uint64, 60, 12), np.uint64(1) << np.arange(64, dtype=np.uint64)])
A, B = random_ints(np.uint32, 1000, 13), random_ints(np.uint32, 1000, 14)
# Equal, extreme and neighbouring bytes, which saturation and comparison need.
A[:40] = np.resize(np.array([0, 0xFFFFFFFF, 0x80808080, 0x7F7F7F7F, 0x80007FFF, 0x01FF00FE], np.uint32), 40)
B[:40] = np.repeat(np.array([0, 0xFFFFFFFF, 0x80808080, 0x7F7F7F7F, 0x7FFF8000, 0x01010101, 0xFF01FE02, 3], np.uint32), 5)
A[40:60] = B[40:60]


def _reverse(x: int, bits: int) -> int:
    return int(format(x, f"0{bits}b")[::-1], 2)


def _word(name: str, expr: str, oracle, result: str = "unsigned int") -> None:
    elementwise(SUITE, name, "unsigned int a", result, expr, (WORDS,), oracle, scalar=True)


def _long(name: str, expr: str, oracle, result: str = "int") -> None:
    elementwise(SUITE, name, "unsigned long long a", result, expr, (LONGS,), oracle, scalar=True)


_word("brev", "__brev(a)", lambda a: _reverse(a, 32))
_long("brevll", "__brevll(a)", lambda a: _reverse(a, 64), "unsigned long long")
_word("clz", "__clz((int)a)", lambda a: 32 - a.bit_length(), "int")
_long("clzll", "__clzll((long long)a)", lambda a: 64 - a.bit_length())
_word("ffs", "__ffs((int)a)", lambda a: (a & -a).bit_length(), "int")
_long("ffsll", "__ffsll((long long)a)", lambda a: (a & -a).bit_length())
_word("popc", "__popc(a)", lambda a: a.bit_count(), "int")
_long("popcll", "__popcll(a)", lambda a: a.bit_count())
_word("bfind_ptx", 'asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(a));', lambda a: u32(a.bit_length() - 1))
_word("bfind_signed_shiftamt_ptx", 'asm("bfind.shiftamt.s32 %0, %1;" : "=r"(r) : "r"(a));',
      lambda a: u32(_sbfind_shift(s32(a))))
elementwise(SUITE, "find_nth_set", "unsigned int a, unsigned int b, int c", "unsigned int", "__fns(a, b & 31, c)",
            (A[:400], B[:400], rng(3).integers(-6, 7, 400).astype(np.int32)), lambda a, b, c: u32(_fns(a, b & 31, c)), scalar=True)


def _sbfind_shift(a: int) -> int:
    x = ~a if a < 0 else a
    return 31 - (x.bit_length() - 1) if x else -1


def _fns(mask: int, base: int, offset: int) -> int:
    """CUDA's __fns: the offset-th set bit, counted from `base` up or (negative) down."""
    if offset == 0:
        return base if mask >> base & 1 else -1
    step, left, position = (1, offset, base) if offset > 0 else (-1, -offset, base)
    while 0 <= position < 32:
        if mask >> position & 1:
            left -= 1
            if not left:
                return position
        position += step
    return -1


def _byte_perm(a: int, b: int, s: int) -> int:
    data = (b << 32) | a
    return sum(((data >> (8 * (s >> 4 * i & 7))) & 255) << 8 * i for i in range(4))


def _prmt(a: int, b: int, s: int) -> int:
    """PTX prmt: bit 3 of a selector replicates the byte's sign."""
    data, out = (b << 32) | a, 0
    for i in range(4):
        sel = s >> 4 * i & 15
        byte = (data >> 8 * (sel & 7)) & 255
        out |= ((0xFF if byte & 0x80 else 0) if sel & 8 else byte) << 8 * i
    return out


SEL = random_ints(np.uint32, 1000, 15)
elementwise(SUITE, "byte_perm", "unsigned int a, unsigned int b, unsigned int c", "unsigned int", "__byte_perm(a, b, c)",
            (A, B, SEL), _byte_perm, scalar=True)
elementwise(SUITE, "prmt_ptx", "unsigned int a, unsigned int b, unsigned int c", "unsigned int",
            'asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));', (A, B, SEL), _prmt, scalar=True)
_word("byte_swap", "__byte_perm(a, 0, 0x0123)", lambda a: int.from_bytes(a.to_bytes(4, "little"), "big"))

N33 = random_ints(np.uint32, 1000, 16) % np.uint32(70)
for _name, _oracle in {
    "funnelshift_l": lambda a, b, c: u32(((b << 32 | a) << (c & 31)) >> 32),
    "funnelshift_lc": lambda a, b, c: u32(((b << 32 | a) << min(c, 32)) >> 32),
    "funnelshift_r": lambda a, b, c: u32((b << 32 | a) >> (c & 31)),
    "funnelshift_rc": lambda a, b, c: u32((b << 32 | a) >> min(c, 32)),
}.items():
    elementwise(SUITE, _name, "unsigned int a, unsigned int b, unsigned int c", "unsigned int", f"__{_name}(a, b, c)",
                (A, B, N33), _oracle, scalar=True)

POS, LEN = (random_ints(np.uint32, 1000, s) % np.uint32(m) for s, m in ((17, 40), (18, 40)))


def _bfe(a: int, pos: int, length: int) -> int:
    return (a >> pos) & ((1 << length) - 1)


def _sbfe(a: int, pos: int, length: int) -> int:
    if not length:
        return 0
    return u32(wrap(s32(a) >> pos, length, True)) if length < 64 else u32(s32(a) >> pos)


def _bfi(a: int, b: int, pos: int, length: int) -> int:
    mask = u32(((1 << length) - 1) << pos)
    return (b & ~mask) | (u32(a << pos) & mask)


elementwise(SUITE, "bfe_unsigned_ptx", "unsigned int a, unsigned int p, unsigned int n", "unsigned int",
            'asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(p), "r"(n));', (A, POS, LEN), _bfe, scalar=True)
elementwise(SUITE, "bfe_signed_ptx", "unsigned int a, unsigned int p, unsigned int n", "unsigned int",
            'asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(p), "r"(n));', (A, POS, LEN), _sbfe, scalar=True)
elementwise(SUITE, "bfi_ptx", "unsigned int a, unsigned int b, unsigned int p, unsigned int n", "unsigned int",
            'asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(p), "r"(n));', (A, B, POS, LEN), _bfi, scalar=True)
elementwise(SUITE, "lop3_ptx", "unsigned int a, unsigned int b, unsigned int c", "unsigned int",
            'unsigned int x, y; asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(x) : "r"(a), "r"(b), "r"(c));'
            ' asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(y) : "r"(a), "r"(b), "r"(c)); r = x + 3 * y;',
            (A, B, SEL), lambda a, b, c: u32(((a & b) | (a & c) | (b & c)) + 3 * (a ^ b ^ c)), scalar=True)


# Dot products of packed bytes and halves.
def _bytes(x: int, signed: bool) -> list[int]:
    return [wrap(x >> 8 * i, 8, signed) for i in range(4)]


def _halves(x: int, signed: bool) -> list[int]:
    return [wrap(x >> 16 * i, 16, signed) for i in range(2)]


def _dp4(a: int, b: int, c: int, signed: bool) -> int:
    return sum(x * y for x, y in zip(_bytes(a, signed), _bytes(b, signed))) + c


C32 = random_ints(np.int32, 1000, 19)
elementwise(SUITE, "dp4a_signed", "int a, int b, int c", "int", "__dp4a(a, b, c)",
            (A.view(np.int32), B.view(np.int32), C32), lambda a, b, c: s32(_dp4(a, b, c, True)), scalar=True)
elementwise(SUITE, "dp4a_unsigned", "unsigned int a, unsigned int b, unsigned int c", "unsigned int", "__dp4a(a, b, c)",
            (A, B, C32.view(np.uint32)), lambda a, b, c: u32(_dp4(a, b, c, False)), scalar=True)
elementwise(SUITE, "dp2a_lo_hi", "int a, int b, int c", "int", "__dp2a_lo(a, b, c) ^ (__dp2a_hi(a, b, c) * 5)",
            (A.view(np.int32), B.view(np.int32), C32), lambda a, b, c: s32(_dp2(a, b, c, 0) ^ s32(_dp2(a, b, c, 2) * 5)), scalar=True)


def _dp2(a: int, b: int, c: int, first: int) -> int:
    h, y = _halves(a, True), _bytes(b, True)
    return s32(h[0] * y[first] + h[1] * y[first + 1] + c)


# SIMD in a word.
def _lanes(op, bits: int, signed: bool, saturate: bool = False):
    def oracle(a: int, b: int) -> int:
        out = 0
        for i in range(32 // bits):
            v = op(wrap(a >> bits * i, bits, signed), wrap(b >> bits * i, bits, signed))
            if saturate:
                low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
                v = min(max(v, low), high)
            out |= (v & ((1 << bits) - 1)) << bits * i
        return out

    return oracle


_FULL = {4: 0xFF, 2: 0xFFFF}
_SIMD = {
    "vadd": (lambda a, b: a + b, False, False), "vsub": (lambda a, b: a - b, False, False),
    "vaddss": (lambda a, b: a + b, True, True), "vaddus": (lambda a, b: a + b, False, True),
    "vsubss": (lambda a, b: a - b, True, True), "vsubus": (lambda a, b: a - b, False, True),
    "vmaxs": (max, True, False), "vmaxu": (max, False, False), "vmins": (min, True, False), "vminu": (min, False, False),
    "vavgs": (lambda a, b: (a + b + (a + b >= 0)) >> 1, True, False), "vavgu": (lambda a, b: (a + b + 1) >> 1, False, False),
    "vhaddu": (lambda a, b: (a + b) >> 1, False, False), "vabsdiffu": (lambda a, b: abs(a - b), False, False),
    "vabsdiffs": (lambda a, b: abs(a - b), True, False),
    "vcmpeq": (lambda a, b: -(a == b), False, False), "vcmpgts": (lambda a, b: -(a > b), True, False),
    "vcmpleu": (lambda a, b: -(a <= b), False, False), "vsetltu": (lambda a, b: a < b, False, False),
    "vsetges": (lambda a, b: a >= b, True, False),
}
for _name, (_op, _signed, _sat) in _SIMD.items():
    for _count in (4, 2):
        if _name in ("vavgs", "vhaddu", "vabsdiffs", "vsubss") and _count == 2:
            continue
        elementwise(SUITE, f"{_name}{_count}", "unsigned int a, unsigned int b", "unsigned int", f"__{_name}{_count}(a, b)",
                    (A, B), _lanes(_op, 32 // _count, _signed, _sat), scalar=True)
elementwise(SUITE, "vsadu4", "unsigned int a, unsigned int b", "unsigned int", "__vsadu4(a, b)", (A, B),
            lambda a, b: sum(abs(x - y) for x, y in zip(_bytes(a, False), _bytes(b, False))), scalar=True)
elementwise(SUITE, "vsads2", "unsigned int a, unsigned int b", "unsigned int", "__vsads2(a, b)", (A, B),
            lambda a, b: sum(abs(x - y) for x, y in zip(_halves(a, True), _halves(b, True))), scalar=True)
_word("vnegss2_vabsss4", "__vnegss2(a) ^ __vabsss4(a)",
      lambda a: _lanes(lambda x, _: -x, 16, True, True)(a, 0) ^ _lanes(lambda x, _: abs(x), 8, True, True)(a, 0))
elementwise(SUITE, "video_vmad_by_hand", "unsigned int a, unsigned int b", "unsigned long long",
            "unsigned long long s = 0; for (int i = 0; i < 4; ++i) s += (unsigned long long)((a >> 8 * i) & 255u) * ((b >> (24 - 8 * i)) & 255u) << (8 * i); r = s;",
            (A, B), lambda a, b: u64(sum((x * y) << 8 * i for i, (x, y) in enumerate(zip(_bytes(a, False), _bytes(b, False)[::-1])))), scalar=True)
elementwise(SUITE, "gray_code_and_morton", "int a", "int",
            "unsigned int g = (unsigned)a ^ ((unsigned)a >> 1), m = 0; for (int i = 0; i < 16; ++i) m |= ((g >> i) & 1u) << (2 * i); r = (int)m;",
            (I32,), lambda a: s32(sum(((u32(a) ^ (u32(a) >> 1)) >> i & 1) << 2 * i for i in range(16))), scalar=True)
