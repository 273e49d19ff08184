"""The double-precision math library against references of longdouble or decimals.

Bounds: CUDA C++ Programming Guide, "Mathematical Functions", table of
double-precision standard library functions with maximum ulp error.
"""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np

from tests.kernels import reference
from tests.kernels.case import Suite
from tests.kernels.compare import Ulp
from tests.kernels.elementwise import elementwise
from tests.kernels.inputs import rng

SUITE = Suite("mathlib_double")
TABLE = "CUDA C++ Programming Guide, double-precision functions"

_g = rng(111)
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-308, 0.5, -0.5])
WIDE = np.concatenate([SPECIAL, _g.normal(size=300), _g.normal(size=200) * 30, 10.0 ** _g.uniform(-200, 200, 200)])
POSITIVE = np.concatenate([[1.0, 0.5, 2.0, 10.0, 100.0, 5e-324, 1e-310, 2.2250738585072014e-308, 1.7976931348623157e308, np.inf, 0.0, -1.0, np.nan],
                           np.abs(_g.normal(size=200)) + 1, 10.0 ** _g.uniform(-307, 308, 300), 1 + _g.normal(size=200) * 1e-3])
UNIT = np.concatenate([[0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, np.nan, 1e-200], _g.uniform(-1, 1, 400), 1 - 10.0 ** _g.uniform(-15, -1, 100)])
MODERATE = np.concatenate([SPECIAL, _g.uniform(-10, 10, 300), _g.uniform(-700, 700, 200)])
ANGLES = np.concatenate([SPECIAL, np.arange(-16, 17) * (math.pi / 4), _g.uniform(-100, 100, 200), 10.0 ** _g.uniform(5, 60, 60),
                         -(10.0 ** _g.uniform(-20, 5, 60)), [1e300, 6381956970095103.0 * 2.0**797]])


def _precise(function):
    return lambda *arrays: function(*(a.astype(np.longdouble) for a in arrays))


def _decimal(function):
    """Through decimals where the argument is finite, NaN elsewhere."""
    def oracle(a: np.ndarray) -> np.ndarray:
        out = np.full(len(a), np.nan, np.longdouble)
        ok = np.isfinite(a)
        out[ok] = reference.apply(function, a[ok])
        # Decimals have no negative zero in sums; odd functions of -0 keep its sign.
        return np.where((a == 0) & (out == 0), a.astype(np.longdouble), out)

    return oracle


def _one(name: str, ulp: float, oracle, values: np.ndarray, body: str | None = None, atol: float = 0.0) -> None:
    elementwise(SUITE, f"{name}_f64", "double a", "double", body or f"{name}(a)", (np.asarray(values, np.float64),), oracle,
                compare=Ulp(ulp, TABLE, atol))


def _two(name: str, ulp: float, oracle, x: np.ndarray, y: np.ndarray) -> None:
    elementwise(SUITE, f"{name}_f64", "double a, double b", "double", f"{name}(a, b)", (x, y), oracle, compare=Ulp(ulp, TABLE))


_one("exp", 1, _precise(np.exp), MODERATE)
_one("exp2", 1, _precise(np.exp2), np.concatenate([MODERATE, [-1074.0, -1075.0, -1022.0, 1023.0, 1024.0, -1060.5]]))
_one("exp10", 1, _precise(lambda a: np.longdouble(10) ** a), np.concatenate([SPECIAL, _g.uniform(-320, 308, 400)]))
_one("expm1", 1, _precise(np.expm1), np.concatenate([MODERATE, _g.normal(size=200) * 1e-3]))
_one("log", 1, _precise(np.log), POSITIVE)
_one("log2", 1, _precise(np.log2), POSITIVE)
_one("log10", 1, _precise(np.log10), POSITIVE)
_one("log1p", 1, _precise(np.log1p), np.concatenate([POSITIVE, _g.uniform(-1, 1, 200), [-1.0, -0.0]]))
_one("sin", 2, _decimal(reference.sin), ANGLES)
_one("cos", 2, _decimal(reference.cos), ANGLES[ANGLES != 0])
_one("tan", 2, _decimal(lambda x: reference.sin(x) / reference.cos(x)), ANGLES)
_one("sincos_sine", 2, _decimal(reference.sin), ANGLES, "double c; sincos(a, &r, &c);")
_one("sincos_cosine", 2, _decimal(reference.cos), ANGLES[ANGLES != 0], "double s; sincos(a, &s, &r);")
TURNS = np.concatenate([_g.uniform(-50, 50, 200), [0.25, 0.125, 1e-300, 0.75, -3.25]])
_one("sinpi", 2, _decimal(lambda x: reference.sin(reference.pi() * (x % 2))), TURNS)
_one("cospi", 2, _decimal(lambda x: reference.cos(reference.pi() * (x % 2))), TURNS)
_one("asin", 2, _precise(np.arcsin), UNIT)
_one("acos", 2, _precise(np.arccos), UNIT)
_one("atan", 2, _precise(np.arctan), WIDE)
_two("atan2", 2, _precise(np.arctan2), WIDE, WIDE[::-1].copy())
_one("sinh", 2, _precise(np.sinh), MODERATE)
_one("cosh", 1, _precise(np.cosh), MODERATE)
_one("tanh", 1, _precise(np.tanh), MODERATE)
_one("asinh", 3, _precise(np.arcsinh), WIDE)
_one("acosh", 3, _precise(np.arccosh), np.abs(WIDE) + 1)
_one("atanh", 2, _precise(np.arctanh), UNIT)
_one("cbrt", 1, _precise(np.cbrt), WIDE)
_one("rcbrt", 1, _precise(lambda a: 1 / np.cbrt(a)), WIDE)
_one("rsqrt", 1, _precise(lambda a: 1 / np.sqrt(a)), POSITIVE)
_two("hypot", 2, _precise(np.hypot), WIDE, WIDE[::-1].copy())
_two("rhypot", 1, _precise(lambda a, b: 1 / np.hypot(a, b)), WIDE[12:300], WIDE[300:588])
BASES = np.concatenate([10.0 ** _g.uniform(-20, 20, 300), -np.arange(1.0, 30.0), [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan] * 5])
EXPONENTS = np.concatenate([_g.uniform(-14, 14, 300), np.arange(29.0) - 10, np.repeat([0.0, 1.0, -3.0, 2.5, np.inf], 7)])
_two("pow", 2, _precise(np.power), BASES, EXPONENTS)
# pow(double, int) squares and multiplies, see `powif`.
elementwise(SUITE, "pow_integer_exponent_f64", "double a, int b", "double", "pow(a, b)", (BASES[:300], (np.arange(300) % 23 - 11).astype(np.int32)),
            lambda a, b: np.array([np.longdouble(format(Decimal(x) ** n, ".30e")) for x, n in zip(a.tolist(), b.tolist())]), compare=Ulp(16, "exponent below 12: at most 11 factors with half an ulp each, and a reciprocal"))
_one("erf", 2, _decimal(reference.erf), np.concatenate([[0.0, 0.5, -0.5, 1e-10], _g.uniform(-6, 6, 80)]))
_one("erfc", 5, _decimal(reference.erfc), np.concatenate([[0.0, 0.5, -0.5, 26.0], _g.uniform(-5, 25, 80)]))
_one("erfinv", 5, _decimal(reference.erfinv), np.concatenate([_g.uniform(-0.9999, 0.9999, 30), [1e-6, 0.99999999]]))
_one("erfcinv", 6, _decimal(reference.erfcinv), np.concatenate([_g.uniform(1e-4, 1.9999, 30), [1e-10, 1e-100, 1e-300]]))
_one("erfcx", 4, _decimal(reference.erfcx), np.concatenate([_g.uniform(-5, 30, 60), [100.0, 1e4]]))
_one("normcdf", 5, _decimal(reference.normcdf), np.concatenate([_g.uniform(-30, 5, 60), [-0.1]]))
_one("normcdfinv", 8, lambda a: -np.sqrt(np.longdouble(2)) * reference.apply(reference.erfcinv, 2 * a), np.concatenate([_g.uniform(0.001, 0.999, 30), [1e-100]]))
_one("lgamma", 4, _decimal(reference.log_gamma), np.concatenate([_g.uniform(0.01, 40, 100), 10.0 ** _g.uniform(-5, 20, 50)]))
_one("tgamma", 10, _decimal(reference.gamma), np.concatenate([_g.uniform(0.01, 60, 100), -_g.uniform(0.05, 0.95, 20) - 3, [171.0, 0.5]]))
BESSEL = _g.uniform(0.01, 7.9, 40)
_one("j0", 7, _decimal(reference.bessel_j(0)), BESSEL)
_one("j1", 7, _decimal(reference.bessel_j(1)), BESSEL)
_one("jn_2", 7, _decimal(reference.bessel_j(2)), BESSEL, "jn(2, a)", atol=5e-12)
_one("y0", 7, _decimal(reference.bessel_y(0)), BESSEL)
_one("y1", 7, _decimal(reference.bessel_y(1)), BESSEL)
_one("cyl_bessel_i0", 6, _decimal(reference.bessel_i(0)), BESSEL)
_one("cyl_bessel_i1", 6, _decimal(reference.bessel_i(1)), BESSEL)
elementwise(SUITE, "norm3d_f64", "double a, double b, double c", "double", "norm3d(a, b, c)", tuple(_g.normal(size=(3, 200))),
            _precise(lambda a, b, c: np.sqrt(a * a + b * b + c * c)), compare=Ulp(2, TABLE))
elementwise(SUITE, "norm4d_f64", "double a, double b, double c, double d", "double", "norm4d(a, b, c, d)", tuple(_g.normal(size=(4, 200))),
            _precise(lambda a, b, c, d: np.sqrt(a * a + b * b + c * c + d * d)), compare=Ulp(2, TABLE))
