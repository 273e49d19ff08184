"""Cases that single and double precision have alike."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.kernels import exact
from tests.kernels.case import Suite
from tests.kernels.compare import Where
from tests.kernels.elementwise import elementwise
from tests.kernels.exact import Format
from tests.kernels.inputs import pairs, random_bits_f32, random_bits_f64, rng

MODES = ("n", "z", "u", "d")


def add_floating_cases(suite: Suite, ctype: str, fmt: Format, edges: np.ndarray) -> None:
    """Add arithmetic, rounding, comparison and exact functions for `ctype`."""
    _Cases(suite, ctype, fmt, edges).add_all()


class _Cases:
    def __init__(self, suite: Suite, ctype: str, fmt: Format, edges: np.ndarray) -> None:
        self.suite, self.ctype, self.fmt, self.edges = suite, ctype, fmt, edges
        self.single = ctype == "float"
        self.dtype = np.dtype(np.float32 if self.single else np.float64).type
        self.tag = "f32" if self.single else "f64"
        self.end = "f" if self.single else ""
        randoms = random_bits_f32 if self.single else random_bits_f64
        self.a, self.b = (np.concatenate([p, randoms(400, s), self._near(s)]) for p, s in zip(pairs(edges), (51, 52)))
        self.one = np.concatenate([edges, randoms(400, 53), self._near(54), np.arange(-9, 9, 0.25).astype(self.dtype)])
        self.c = np.resize(np.concatenate([edges[::-1], randoms(97, 55)]), len(self.a))
        # Operands whose sum or product is close to a tie or cancels.
        self.c[-200:] = -(self.a[-200:] * self.b[-200:])

    def _near(self, seed: int) -> np.ndarray:
        return rng(seed).normal(size=300).astype(self.dtype)

    def _through(self, op: Callable[..., int], *arrays: np.ndarray) -> np.ndarray:
        columns = zip(*(exact.bits_of(a, self.fmt) for a in arrays))
        return exact.floats([op(*bits) for bits in columns], self.fmt)

    def _unary(self, name: str, body: str, oracle, values: np.ndarray | None = None, result: str | None = None, **kw) -> None:
        elementwise(self.suite, f"{self.tag}_{name}", f"{self.ctype} a", result or self.ctype, body,
                    (self.one if values is None else values,), oracle, **kw)

    def _binary(self, name: str, body: str, oracle, values=None, result: str | None = None, **kw) -> None:
        elementwise(self.suite, f"{self.tag}_{name}", f"{self.ctype} a, {self.ctype} b", result or self.ctype, body,
                    values or (self.a, self.b), oracle, **kw)

    def add_all(self) -> None:
        self._arithmetic()
        self._contraction()
        self._rounding_intrinsics()
        self._comparison()
        self._roundings()
        self._exact_functions()

    def _arithmetic(self) -> None:
        self._binary("add", "a + b", lambda a, b: a + b)
        self._binary("subtract", "a - b", lambda a, b: a - b)
        self._binary("multiply", "a * b", lambda a, b: a * b)
        self._binary("divide", "a / b", lambda a, b: a / b)
        self._unary("sqrt", f"sqrt{self.end}(a)", np.sqrt)
        self._unary("reciprocal", f"1.0{self.end} / a", lambda a: self.dtype(1) / a)
        self._unary("negate_abs", f"-fabs{self.end}(a)", lambda a: -np.abs(a))
        elementwise(self.suite, f"{self.tag}_fma", f"{self.ctype} a, {self.ctype} b, {self.ctype} c", self.ctype,
                    f"fma{self.end}(a, b, c)", (self.a, self.b, self.c),
                    lambda a, b, c: self._through(lambda x, y, z: exact.fma(x, y, z, self.fmt), a, b, c))

    def _contraction(self) -> None:
        """Which products the default -fmad=true fuses; read off the machine code that NVRTC 13 makes for sm_90."""
        f, minus = self.fmt, self.fmt.sign
        x, y, z, w = (self._near(s) for s in (61, 62, 63, 64))

        def case(name: str, body: str, op: Callable[..., int]) -> None:
            elementwise(self.suite, f"{self.tag}_contracts_{name}", ", ".join(f"{self.ctype} {v}" for v in "abcd"), self.ctype, body,
                        (x, y, z, w), lambda *arrays: self._through(op, *arrays))

        case("product_minus", "a * b - c", lambda a, b, c, d: exact.fma(a, b, c ^ minus, f))
        case("minus_product", "c - a * b", lambda a, b, c, d: exact.fma(a ^ minus, b, c, f))
        case("first_of_two_products", "a * b - c * d", lambda a, b, c, d: exact.fma(a, b, exact.mul(c, d, f) ^ minus, f))
        case("sum_of_two_products", "a * b + c * d", lambda a, b, c, d: exact.fma(a, b, exact.mul(c, d, f), f))
        case("product_used_twice", f"{self.ctype} t = a * b, u = t - c, v = t - d; r = u * v;",
             lambda a, b, c, d: exact.mul(exact.fma(a, b, c ^ minus, f), exact.fma(a, b, d ^ minus, f), f))
        case("not_a_product_used_elsewhere", f"{self.ctype} t = a * b; r = (t - c) * t;",
             lambda a, b, c, d: exact.mul(exact.sub(exact.mul(a, b, f), c, f), exact.mul(a, b, f), f))

    def _rounding_intrinsics(self) -> None:
        p = "f" if self.single else "d"
        fma = "__fmaf" if self.single else "__fma"
        for m in MODES:
            self._binary(f"{p}add_r{m}", f"__{p}add_r{m}(a, b)", lambda a, b, m=m: self._through(lambda x, y: exact.add(x, y, self.fmt, m), a, b))
            self._binary(f"{p}sub_r{m}", f"__{p}sub_r{m}(a, b)", lambda a, b, m=m: self._through(lambda x, y: exact.sub(x, y, self.fmt, m), a, b))
            self._binary(f"{p}mul_r{m}", f"__{p}mul_r{m}(a, b)", lambda a, b, m=m: self._through(lambda x, y: exact.mul(x, y, self.fmt, m), a, b))
            self._binary(f"{p}div_r{m}", f"__{p}div_r{m}(a, b)", lambda a, b, m=m: self._through(lambda x, y: exact.div(x, y, self.fmt, m), a, b))
            self._unary(f"{p}sqrt_r{m}", f"__{p}sqrt_r{m}(a)", lambda a, m=m: self._through(lambda x: exact.sqrt(x, self.fmt, m), a))
            one = exact.from_int(1, self.fmt)
            self._unary(f"{p}rcp_r{m}", f"__{p}rcp_r{m}(a)", lambda a, m=m: self._through(lambda x: exact.div(one, x, self.fmt, m), a))
            elementwise(self.suite, f"{self.tag}_fma_r{m}", f"{self.ctype} a, {self.ctype} b, {self.ctype} c", self.ctype,
                        f"{fma}_r{m}(a, b, c)", (self.a, self.b, self.c),
                        lambda a, b, c, m=m: self._through(lambda x, y, z: exact.fma(x, y, z, self.fmt, m), a, b, c))

    def _comparison(self) -> None:
        self._binary("compare", "(a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5",
                     lambda a, b: ((a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5).astype(np.int32),
                     result="int")
        self._binary("not_less_is_not_greater_equal", "!(a < b) | !(a >= b) << 1 | (isnan(a) || isnan(b)) << 2",
                     lambda a, b: (~(a < b) * 1 | ~(a >= b) * 2 | (np.isnan(a) | np.isnan(b)) * 4).astype(np.int32), result="int")
        self._unary("classify", "(isnan(a) != 0) | (isinf(a) != 0) << 1 | (isfinite(a) != 0) << 2 | (signbit(a) != 0) << 3",
                    lambda a: (np.isnan(a) | np.isinf(a) << 1 | np.isfinite(a) << 2 | np.signbit(a) << 3).astype(np.int32),
                    self.one[~np.isnan(self.one)], result="int")
        self._unary("isnan_of_nan", "isnan(a) ? 7 : 9", lambda a: np.where(np.isnan(a), 7, 9).astype(np.int32), result="int")
        mixed = self._no_signed_zero_pairs()
        self._binary("fmin_skips_nan", f"fmin{self.end}(a, b)", lambda a, b: np.fmin(a, b), mixed)
        self._binary("fmax_skips_nan", f"fmax{self.end}(a, b)", lambda a, b: np.fmax(a, b), mixed)
        self._binary("ternary_min_keeps_second_for_nan", "a < b ? a : b", lambda a, b: np.where(a < b, a, b))
        self._binary("copysign", f"copysign{self.end}(a, b)", np.copysign, (self.a[~np.isnan(self.b)], self.b[~np.isnan(self.b)]))

    def _no_signed_zero_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Without fmin(0, -0), whose sign CUDA does not state."""
        keep = ~((self.a == 0) & (self.b == 0))
        return self.a[keep], self.b[keep]

    def _roundings(self) -> None:
        for name, oracle in (("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc), ("rint", np.rint)):
            self._unary(name, f"{name}{self.end}(a)", oracle)
        self._unary("nearbyint", f"nearbyint{self.end}(a)", np.rint)
        self._unary("round_half_away", f"round{self.end}(a)", lambda a: _round_half_away(a))
        fits = self.one[np.isfinite(self.one) & (np.abs(self.one) < 2**31 - 1)]
        self._unary("lrint", f"lrint{self.end}(a)", lambda a: np.rint(a).astype(np.int64), fits, "long long")
        self._unary("llround", f"llround{self.end}(a)", lambda a: _round_half_away(a).astype(np.int64), fits, "long long")

    def _exact_functions(self) -> None:
        end, ok = self.end, self.one[np.isfinite(self.one)]
        finite = np.isfinite(self.a) & np.isfinite(self.b) & (self.b != 0)
        fa, fb = self.a[finite], self.b[finite]
        # The reduction steps of fmod grow with the exponents' difference; very far ones only cost time.
        near = np.abs(np.log2(np.abs(fa, dtype=np.float64) + 1e-300) - np.log2(np.abs(fb, dtype=np.float64) + 1e-300)) < 200
        fa, fb = fa[near], fb[near]
        self._binary("fmod", f"fmod{end}(a, b)", np.fmod, (fa, fb))
        self._binary("remainder", f"remainder{end}(a, b)",
                     lambda a, b: np.array([math.remainder(x, y) for x, y in zip(a.tolist(), b.tolist())]).astype(self.dtype), (fa, fb))
        self._binary("fmod_special", f"fmod{end}(a, b)", np.fmod, pairs(np.array([0, -0.0, 5.5, -5.5, np.inf, -np.inf, np.nan], self.dtype)))
        self._binary("fdim", f"fdim{end}(a, b)", lambda a, b: np.where(np.isnan(a) | np.isnan(b), self.dtype(np.nan), np.where(a > b, a - b, self.dtype(0))))
        self._unary("modf_fraction", f"{self.ctype} w; r = modf{end}(a, &w);", lambda a: np.modf(a)[0], ok)
        self._unary("modf_integer", f"{self.ctype} w; modf{end}(a, &w); r = w;", lambda a: np.modf(a)[1])
        self._unary("frexp_mantissa", f"int e; r = frexp{end}(a, &e);", lambda a: np.frexp(a)[0], ok)
        self._unary("frexp_exponent", f"int e; frexp{end}(a, &e); r = e;", lambda a: np.frexp(a)[1].astype(np.int32), ok, "int")
        shifts = np.resize(np.array([0, 1, -1, 20, -20, 130, -130, 160, -160, 1100, -1100, 3000, -3000, 2**31 - 1, -(2**31)], np.int32), len(ok))
        elementwise(self.suite, f"{self.tag}_ldexp", f"{self.ctype} a, int b", self.ctype, f"ldexp{end}(a, b)", (ok, shifts),
                    lambda a, b: self._scaled(a, b))
        elementwise(self.suite, f"{self.tag}_scalbn", f"{self.ctype} a, int b", self.ctype, f"scalbn{end}(a, b)", (ok, shifts[::-1].copy()),
                    lambda a, b: self._scaled(a, b))
        self._unary("ilogb", f"ilogb{end}(a)", lambda a: (np.frexp(a)[1] - 1).astype(np.int32), ok[ok != 0], "int")
        self._unary("logb", f"logb{end}(a)", lambda a: (np.frexp(a)[1] - 1).astype(self.dtype), ok[ok != 0])
        self._binary("nextafter", f"nextafter{end}(a, b)", np.nextafter)
        with np.errstate(over="ignore"):
            quo = np.abs(fa / fb) < 2.0**30
        self._binary("remquo_low_bits", f"int q; remquo{end}(a, b, &q); r = q & 7;",
                     lambda a, b: np.array([_remquo_bits(x, y) for x, y in zip(a.tolist(), b.tolist())], np.int32),
                     (fa[quo], fb[quo]), "int")
        self._unary("fabs_compare_where", f"fabs{end}(a) > 1 ? a : -a", lambda a: np.where(np.abs(a) > 1, a, -a),
                    compare=Where(~np.isnan(self.one)))

    def _scaled(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """a * 2**b rounded once."""
        out = []
        for x, n in zip(exact.bits_of(a, self.fmt), b.tolist()):
            n = min(max(n, -5000), 5000)
            value = exact.to_fraction(x, self.fmt) * exact.Fraction(2) ** n
            out.append(exact.from_fraction(value, self.fmt, "n", exact.negative(x, self.fmt)))
        return exact.floats(out, self.fmt)


def _round_half_away(a: np.ndarray) -> np.ndarray:
    whole = np.trunc(a)
    return np.where(np.abs(a - whole) >= 0.5, whole + np.copysign(a.dtype.type(1), a), whole).astype(a.dtype)


def _remquo_bits(x: float, y: float) -> int:
    """The low three bits of the signed quotient rounded to nearest."""
    q = exact.Fraction(x) / exact.Fraction(y)
    n = round(q)  # Fraction rounds half to even, as remquo does.
    low = abs(n) & 7
    return (-low if n < 0 else low) & 7
