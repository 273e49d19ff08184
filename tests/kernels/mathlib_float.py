"""The single-precision math library against references of double precision or better.

Bounds: CUDA C++ Programming Guide, "Mathematical Functions", table of
single-precision standard library functions with maximum ulp error.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.kernels import reference
from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.compare import Ulp
from tests.kernels.elementwise import elementwise
from tests.kernels.inputs import rng

SUITE = Suite("mathlib_float")
TABLE = "CUDA C++ Programming Guide, single-precision functions"

_g = rng(101)
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, 0.5, -0.5], np.float32)
WIDE = np.concatenate([SPECIAL, _g.normal(size=300), _g.normal(size=200) * 30, 10.0 ** _g.uniform(-30, 30, 200)]).astype(np.float32)
POSITIVE = np.concatenate([[1.0, 0.5, 2.0, 10.0, 100.0, 1e-45, 1e-40, 1.17549435e-38, 3.4028235e38, np.inf, 0.0, -1.0, np.nan],
                           np.abs(_g.normal(size=200)) + 1, 10.0 ** _g.uniform(-37, 38, 300), 1 + _g.normal(size=200) * 1e-3]).astype(np.float32)
UNIT = np.concatenate([[0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, np.nan, 1e-30, 0.9999999, -0.9999999], _g.uniform(-1, 1, 400),
                       1 - 10.0 ** _g.uniform(-6, -1, 100)]).astype(np.float32)
ANGLES = np.concatenate([SPECIAL, np.arange(-16, 17) * (math.pi / 4), _g.uniform(-100, 100, 300), _g.uniform(-1e5, 1e5, 200),
                         10.0 ** _g.uniform(5, 38, 200), -(10.0 ** _g.uniform(-20, 5, 100)), [105615.0, 105616.0, 16367173.0 * 2.0**72]]).astype(np.float32)
MODERATE = np.concatenate([SPECIAL, _g.uniform(-10, 10, 400), _g.uniform(-95, 95, 200)]).astype(np.float32)


def _precise(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """Evaluate in longdouble."""
    return lambda *arrays: function(*(a.astype(np.longdouble) for a in arrays))


def _double(function: Callable[..., float]) -> Callable[[np.ndarray], np.ndarray]:
    """Evaluate with `math`, value by value."""
    return lambda *arrays: np.array([function(*xs) for xs in zip(*(a.tolist() for a in arrays))])


def _trigonometric(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """glibc's double functions reduce arguments exactly; that is enough for a float's result."""
    return lambda a: function(a.astype(np.float64))


def _one(name: str, ulp: float, oracle, values: np.ndarray, body: str | None = None, atol: float = 0.0) -> None:
    elementwise(SUITE, name, "float a", "float", body or f"{name}(a)", (values,), oracle, compare=Ulp(ulp, TABLE, atol))


def _two(name: str, ulp: float, oracle, x: np.ndarray, y: np.ndarray, body: str | None = None) -> None:
    elementwise(SUITE, name, "float a, float b", "float", body or f"{name}(a, b)", (x, y), oracle, compare=Ulp(ulp, TABLE))


_one("expf", 2, _precise(np.exp), MODERATE)
_one("exp2f", 2, _precise(np.exp2), np.concatenate([MODERATE, np.array([-149, -150, -126, 127, 128, -140.5])]).astype(np.float32))
_one("exp10f", 2, _precise(lambda a: np.longdouble(10) ** a), np.concatenate([SPECIAL, _g.uniform(-45, 38, 400)]).astype(np.float32))
_one("expm1f", 1, _precise(np.expm1), np.concatenate([MODERATE, _g.normal(size=200) * 1e-3]).astype(np.float32))
_one("logf", 1, _precise(np.log), POSITIVE)
_one("log2f", 1, _precise(np.log2), POSITIVE)
_one("log10f", 2, _precise(np.log10), POSITIVE)
_one("log1pf", 1, _precise(np.log1p), np.concatenate([POSITIVE, _g.uniform(-1, 1, 200), [-1.0, -0.0]]).astype(np.float32))
_one("sinf", 2, _trigonometric(np.sin), ANGLES)
_one("cosf", 2, _trigonometric(np.cos), ANGLES)
_one("tanf", 4, _trigonometric(np.tan), ANGLES)
_one("sincosf_sine", 2, _trigonometric(np.sin), ANGLES, "float c; sincosf(a, &r, &c);")
_one("sincosf_cosine", 2, _trigonometric(np.cos), ANGLES, "float s; sincosf(a, &s, &r);")
TURNS = np.concatenate([np.arange(-8, 8.25, 0.25), _g.uniform(-50, 50, 300), [1e7, 1e-40, np.inf, np.nan]]).astype(np.float32)


def _sinpi(x: float) -> float:
    if not math.isfinite(x):
        return math.nan
    r = math.remainder(x, 2.0)
    if r == int(r):
        return math.copysign(0.0, x)
    return float(reference.sin(reference.pi() * reference.Decimal(r)))


def _cospi(x: float) -> float:
    if not math.isfinite(x):
        return math.nan
    r = abs(math.remainder(x, 2.0))
    return 0.0 if r == 0.5 else float(reference.cos(reference.pi() * reference.Decimal(r)))


_one("sinpif", 1, _double(_sinpi), TURNS)
_one("cospif", 1, _double(_cospi), TURNS)
_one("asinf", 2, _precise(np.arcsin), UNIT)
_one("acosf", 2, _precise(np.arccos), UNIT)
_one("atanf", 2, _precise(np.arctan), WIDE)
_two("atan2f", 3, _precise(np.arctan2), WIDE, WIDE[::-1].copy())
_one("sinhf", 3, _precise(np.sinh), MODERATE)
_one("coshf", 2, _precise(np.cosh), MODERATE)
_one("tanhf", 2, _precise(np.tanh), np.concatenate([MODERATE, _g.normal(size=200)]).astype(np.float32))
_one("asinhf", 3, _precise(np.arcsinh), WIDE)
_one("acoshf", 4, _precise(np.arccosh), (np.abs(WIDE) + 1).astype(np.float32))
_one("atanhf", 3, _precise(np.arctanh), UNIT)
_one("cbrtf", 1, _precise(np.cbrt), WIDE)
_one("rcbrtf", 1, _precise(lambda a: 1 / np.cbrt(a)), WIDE)
_one("rsqrtf", 2, _precise(lambda a: 1 / np.sqrt(a)), POSITIVE)
_two("hypotf", 3, _precise(np.hypot), WIDE, WIDE[::-1].copy())
_two("rhypotf", 2, _precise(lambda a, b: 1 / np.hypot(a, b)), WIDE[12:300], WIDE[300:588])
BASES = np.concatenate([10.0 ** _g.uniform(-5, 5, 300), -np.arange(1.0, 30.0), [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan] * 5]).astype(np.float32)
EXPONENTS = np.concatenate([_g.uniform(-7, 7, 300), np.arange(29) - 10, np.repeat([0.0, 1.0, -3.0, 2.5, np.inf], 7)]).astype(np.float32)
_two("powf", 4, lambda a, b: np.power(a.astype(np.float64), b.astype(np.float64)), BASES, EXPONENTS)
# pow(float, int) squares and multiplies and inverts at the end: up to 7 products, each doubling the error that it inherits.
elementwise(SUITE, "powif", "float a, int b", "float", "pow(a, b)", (_g.uniform(0.2, 5, 300).astype(np.float32), (np.arange(300) % 23 - 11).astype(np.int32)),
            lambda a, b: np.power(a.astype(np.longdouble), b.astype(np.longdouble)), compare=Ulp(16, "exponent below 12: at most 11 factors with half an ulp each, and a reciprocal"))
_one("erff", 2, _double(math.erf), np.concatenate([MODERATE, _g.uniform(-4, 4, 200)]).astype(np.float32))
_one("erfcf", 4, _double(math.erfc), np.concatenate([SPECIAL, _g.uniform(-4, 10, 400)]).astype(np.float32))
OPEN = np.concatenate([_g.uniform(-0.9999, 0.9999, 40), [1e-6, -1e-6, 0.5, -0.5, 0.99999, 0.0]]).astype(np.float32)
_one("erfinvf", 2, lambda a: reference.apply(reference.erfinv, a), OPEN)
_one("erfcinvf", 4, lambda a: reference.apply(reference.erfcinv, a), np.concatenate([_g.uniform(1e-4, 1.9999, 40), [1e-10, 1e-30, 1.0]]).astype(np.float32))
_one("erfcxf", 4, lambda a: reference.apply(reference.erfcx, a), np.concatenate([_g.uniform(-5, 30, 60), [0.0, 100.0, 1e4]]).astype(np.float32))
_one("normcdff", 5, lambda a: reference.apply(reference.normcdf, a), np.concatenate([_g.uniform(-10, 5, 60), [0.0, -13.0]]).astype(np.float32))
_one("normcdfinvf", 5, lambda a: -np.sqrt(np.longdouble(2)) * reference.apply(reference.erfcinv, 2 * a.astype(np.float64)),
     np.concatenate([_g.uniform(0.001, 0.999, 40), [1e-10, 1e-30]]).astype(np.float32))
_one("lgammaf", 6, _double(math.lgamma), np.concatenate([_g.uniform(0.01, 40, 200), 10.0 ** _g.uniform(-5, 30, 100), [1.0, 2.0, 0.5]]).astype(np.float32))
_one("tgammaf", 5, _double(lambda x: math.gamma(x) if x < 170 else math.inf),
     np.concatenate([_g.uniform(0.01, 35, 200), -_g.uniform(0.05, 0.95, 50), -_g.uniform(0.05, 0.95, 50) - 3, [1.0, 2.0, 0.5, 5.0]]).astype(np.float32))
BESSEL = np.concatenate([_g.uniform(-7.9, 7.9, 60), [0.0, 1e-5]]).astype(np.float32)
_one("j0f", 9, lambda a: reference.apply(reference.bessel_j(0), a), BESSEL)
_one("j1f", 9, lambda a: reference.apply(reference.bessel_j(1), a), BESSEL)
# The recurrence divides by x: CUDA's jnf(3, 0) is NaN.
_one("jnf_3", 9, lambda a: reference.apply(reference.bessel_j(3), a), BESSEL[:60], "jnf(3, a)", atol=2.2e-6)
_one("y0f", 9, lambda a: reference.apply(reference.bessel_y(0), a), np.abs(BESSEL[:60]))
_one("y1f", 9, lambda a: reference.apply(reference.bessel_y(1), a), np.abs(BESSEL[:60]))
_one("cyl_bessel_i0f", 6, lambda a: reference.apply(reference.bessel_i(0), a), BESSEL)
_one("cyl_bessel_i1f", 6, lambda a: reference.apply(reference.bessel_i(1), a), BESSEL)
elementwise(SUITE, "norm3df", "float a, float b, float c", "float", "norm3df(a, b, c)", tuple(_g.normal(size=(3, 200)).astype(np.float32)),
            _precise(lambda a, b, c: np.sqrt(a * a + b * b + c * c)), compare=Ulp(3, TABLE))
elementwise(SUITE, "rnorm3df", "float a, float b, float c", "float", "rnorm3df(a, b, c)", tuple(_g.normal(size=(3, 200)).astype(np.float32)),
            _precise(lambda a, b, c: 1 / np.sqrt(a * a + b * b + c * c)), compare=Ulp(2, TABLE))
elementwise(SUITE, "norm4df", "float a, float b, float c, float d", "float", "norm4df(a, b, c, d)", tuple(_g.normal(size=(4, 200)).astype(np.float32)),
            _precise(lambda a, b, c, d: np.sqrt(a * a + b * b + c * c + d * d)), compare=Ulp(3, TABLE))
SUITE.add("normf_of_an_array", "__global__ void k(const float *a, float *out) { out[0] = normf(37, a); out[1] = rnormf(37, a); }",
          Launch(["a", "out"]), buffers={"a": _g.normal(size=37).astype(np.float32), "out": poisoned(2, np.float32)},
          expect=lambda b: {"out": np.sqrt((b["a"].astype(np.longdouble) ** 2).sum()) ** np.array([1, -1])},
          compare=Ulp(8, "the guide states no bound for the length of a vector; 8 ulp are four norm4df in a row"))
_one("overloads_of_cmath_in_float", 2, _precise(lambda a: np.exp(a)), _g.normal(size=200).astype(np.float32), "exp(a)")
