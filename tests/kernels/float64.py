"""Double precision: IEEE arithmetic, rounding intrinsics, comparisons, exact library functions."""

from __future__ import annotations

import numpy as np

from tests.kernels import exact
from tests.kernels.case import Suite
from tests.kernels.elementwise import elementwise
from tests.kernels.exact import F64 as FMT
from tests.kernels.float_common import add_floating_cases
from tests.kernels.inputs import F64, rng

SUITE = Suite("float64")
add_floating_cases(SUITE, "double", FMT, F64)

X, Y, Z = (rng(s).normal(size=300) for s in (41, 42, 43))
elementwise(SUITE, "f64_contraction_by_default", "double a, double b, double c", "double", "a * b - c", (X, Y, Z),
            lambda a, b, c: exact.floats([exact.fma(p, q, r ^ FMT.sign, FMT) for p, q, r in
                                          zip(*(exact.bits_of(v, FMT) for v in (a, b, c)))], FMT))
elementwise(SUITE, "f64_no_contraction_with_fmad_false", "double a, double b, double c", "double", "a * b - c", (X, Y, Z),
            lambda a, b, c: a * b - c, options=("-fmad=false",))
elementwise(SUITE, "two_product_error_term", "double a, double b", "double", "double p = __dmul_rn(a, b); r = fma(a, b, -p);", (X, Y),
            lambda a, b: exact.floats([exact.fma(p, q, exact.mul(p, q, FMT) ^ FMT.sign, FMT)
                                       for p, q in zip(exact.bits_of(a, FMT), exact.bits_of(b, FMT))], FMT))
elementwise(SUITE, "mixed_float_double_promotion", "float a, double b, int c", "double", "a * 0.1 + b / c",
            (X.astype(np.float32), Y, np.arange(1, 301, dtype=np.int32)),
            lambda a, b, c: exact.floats([exact.fma(p, q, r, FMT) for p, q, r in zip(
                exact.bits_of(a.astype(np.float64), FMT), exact.bits_of(np.full(len(a), 0.1), FMT), exact.bits_of(b / c, FMT))], FMT))
elementwise(SUITE, "newton_iteration_reaches_root", "double a", "double",
            "double x = a; for (int j = 0; j < 60; ++j) x = 0.5 * (x + a / x); r = fabs(x * x - a) <= 4e-16 * a ? 1.0 : x;",
            (np.abs(rng(44).normal(size=200)) + 0.1,), np.ones_like)
