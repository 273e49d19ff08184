"""Single precision: IEEE arithmetic, rounding intrinsics, comparisons, exact library functions.

Oracles: NumPy's float32 (IEEE 754, nearest even) and rational arithmetic for
the other rounding modes, fused multiply-add and flushing of denormals.
"""

from __future__ import annotations

import math

import numpy as np

from tests.kernels import exact
from tests.kernels.case import Suite
from tests.kernels.compare import Where
from tests.kernels.elementwise import elementwise
from tests.kernels.exact import F32 as FMT
from tests.kernels.float_common import add_floating_cases
from tests.kernels.inputs import F32, pairs, random_bits_f32, rng

SUITE = Suite("float32")
add_floating_cases(SUITE, "float", FMT, F32)

A, B = (np.concatenate([p, random_bits_f32(300, s)]) for p, s in zip(pairs(F32[::2]), (31, 32)))


def _through(op, *arrays: np.ndarray, ftz: bool = False) -> np.ndarray:
    """Apply an operation on bit patterns; with `ftz`, flush inputs and the result."""
    def one(*bits: int) -> int:
        if not ftz:
            return op(*bits)
        return exact.flush(op(*(exact.flush(b, FMT) for b in bits)), FMT)

    return exact.floats([one(*bits) for bits in zip(*(exact.bits_of(a, FMT) for a in arrays))], FMT)


# Denormals: kept by default, flushed with -ftz=true.
TINY = np.array([0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x80800000, 0x00800001, 0x00400000, 0x00FFFFFF, 0x3F800000,
                 0xBF800000, 0x3F000000, 0x00000000, 0x80000000, 0x7F7FFFFF, 0x20000000, 0x1F800000], np.uint32).view(np.float32)
TA, TB = pairs(TINY)
# PTX does not say whether a product just below the smallest normal number that rounds up to it is flushed.
STATED = np.abs(np.abs(TA.astype(np.float64) * TB) - 2.0**-126) >= 2.0**-149
STATED |= np.abs(TA.astype(np.float64) * TB) >= 2.0**-126
for _name, _expr, _op in (("add", "a + b", exact.add), ("mul", "a * b", exact.mul), ("sub", "a - b", exact.sub)):
    elementwise(SUITE, f"denormals_kept_{_name}", "float a, float b", "float", _expr, (TA, TB),
                lambda a, b, o=_op: _through(lambda x, y: o(x, y, FMT), a, b))
    elementwise(SUITE, f"denormals_flushed_{_name}", "float a, float b", "float", _expr, (TA, TB),
                lambda a, b, o=_op: _through(lambda x, y: o(x, y, FMT), a, b, ftz=True), options=("-ftz=true",), compare=Where(STATED))
elementwise(SUITE, "denormals_flushed_fma", "float a, float b, float c", "float", "fmaf(a, b, c)",
            (TA, TB, np.resize(TINY[::-1].copy(), len(TA))),
            lambda a, b, c: _through(lambda x, y, z: exact.fma(x, y, z, FMT), a, b, c, ftz=True), options=("-ftz=true",))
elementwise(SUITE, "denormals_flushed_compare", "float a, float b", "int", "(a < b) + 2 * (a == b)", (TA, TB),
            lambda a, b: _flushed_compare(a, b), options=("-ftz=true",))
elementwise(SUITE, "denormals_flushed_divide", "float a, float b", "float", "a / b",
            (TA[(TB != 0)], TB[(TB != 0)]),
            lambda a, b: _through(lambda x, y: exact.div(x, y, FMT), a, b, ftz=True), options=("-ftz=true",))


def _flushed_compare(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = (np.where(np.abs(x) < np.float32(1.1754944e-38), np.float32(0), x) for x in (a, b))
    return ((a < b) + 2 * (a == b)).astype(np.int32)


elementwise(SUITE, "no_contraction_with_fmad_false", "float a, float b, float c", "float", "a * b + c",
            (A, B, A[::-1].copy()), lambda a, b, c: a * b + c, options=("-fmad=false",))
elementwise(SUITE, "contraction_by_default", "float a, float b, float c", "float", "a * b + c",
            tuple(rng(s).normal(size=500).astype(np.float32) for s in (33, 34, 35)),
            lambda a, b, c: _through(lambda x, y, z: exact.fma(x, y, z, FMT), a, b, c))
elementwise(SUITE, "saturate", "float a", "float", "__saturatef(a)", (F32,),
            lambda a: np.where(np.isnan(a), np.float32(0), np.clip(a, np.float32(0), np.float32(1))) + np.float32(0))
elementwise(SUITE, "add_saturating_ptx", "float a, float b", "float", 'asm("add.sat.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));',
            (A, B), lambda a, b: np.where(np.isnan(a + b), np.float32(0), np.clip(a + b, np.float32(0), np.float32(1))) + np.float32(0))
elementwise(SUITE, "float_accumulation_in_order", "float a", "float",
            "r = 0.0f; for (int j = 0; j < 100; ++j) r += a * 0.1f + (float)j;".replace("a * 0.1f + (float)j", "__fadd_rn(__fmul_rn(a, 0.1f), (float)j)"),
            (rng(36).normal(size=64).astype(np.float32),), lambda a: _accumulate(a))


def _accumulate(a: np.ndarray) -> np.ndarray:
    total = np.zeros_like(a)
    for j in range(100):
        total = total + (a * np.float32(0.1) + np.float32(j))
    return total


elementwise(SUITE, "kahan_summation", "float a", "float",
            """float s = 0.0f, c = 0.0f;
        for (int j = 0; j < 1000; ++j) { float y = __fadd_rn(a, -c), t = __fadd_rn(s, y); c = __fadd_rn(__fadd_rn(t, -s), -y); s = t; }
        r = s;""", (np.array([0.1, 1e-3, 3.3333333, -7.7e5, 1e30], np.float32),),
            lambda a: np.array([math.fsum([float(x)] * 1000) for x in a]).astype(np.float32))
