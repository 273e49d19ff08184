"""IEEE 754 arithmetic by rational numbers: the oracle for rounding.

Values are bit patterns (Python ints). Every operation computes the exact
rational result and rounds once, in the mode asked for: ``n`` nearest even,
``z`` toward zero, ``u`` up, ``d`` down.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import NamedTuple

import numpy as np


class Format(NamedTuple):
    """A binary interchange format."""

    exponent_bits: int
    fraction_bits: int
    uint: type

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def sign(self) -> int:
        return 1 << (self.exponent_bits + self.fraction_bits)

    @property
    def inf(self) -> int:
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def nan(self) -> int:
        return self.inf | (1 << (self.fraction_bits - 1))


F16 = Format(5, 10, np.uint16)
BF16 = Format(8, 7, np.uint16)
F32 = Format(8, 23, np.uint32)
F64 = Format(11, 52, np.uint64)


def is_nan(b: int, f: Format) -> bool:
    return (b & ~f.sign) > f.inf


def is_inf(b: int, f: Format) -> bool:
    return (b & ~f.sign) == f.inf


def negative(b: int, f: Format) -> bool:
    return bool(b & f.sign)


def is_subnormal(b: int, f: Format) -> bool:
    return 0 < (b & ~f.sign) < (1 << f.fraction_bits)


def flush(b: int, f: Format) -> int:
    """Replace a subnormal by zero of the same sign (``-ftz=true``)."""
    return b & f.sign if is_subnormal(b, f) else b


def to_fraction(b: int, f: Format) -> Fraction:
    """The value of a finite bit pattern."""
    magnitude = b & ~f.sign
    exponent = magnitude >> f.fraction_bits
    fraction = magnitude & ((1 << f.fraction_bits) - 1)
    if exponent:
        fraction |= 1 << f.fraction_bits
    return _scaled(-fraction if negative(b, f) else fraction, max(exponent, 1) - f.bias - f.fraction_bits)


def _scaled(whole: int, exponent: int) -> Fraction:
    """``whole * 2**exponent``."""
    return Fraction(whole << exponent) if exponent >= 0 else Fraction(whole, 1 << -exponent)


def _floor_log2(n: int, d: int) -> int:
    """The largest e with ``2**e <= n / d``."""
    e = n.bit_length() - d.bit_length()
    return e if d << max(e, 0) <= n << max(-e, 0) else e - 1


def _round_integer(n: int, d: int, mode: str, minus: bool) -> int:
    """``n / d`` rounded to an integer."""
    whole, rest = divmod(n, d)
    if not rest or mode == "z":
        return whole
    if mode in "ud":
        return whole + ((mode == "u") != minus)
    twice = 2 * rest - d
    return whole + (twice > 0 or (twice == 0 and whole & 1))


def from_fraction(x: Fraction, f: Format, mode: str = "n", zero_negative: bool = False) -> int:
    """Round `x` to format `f`."""
    numerator, denominator = x.numerator, x.denominator
    if not numerator:
        return f.sign if zero_negative else 0
    minus = numerator < 0
    sign, numerator = f.sign if minus else 0, abs(numerator)
    exponent = max(_floor_log2(numerator, denominator), 1 - f.bias)
    shift = exponent - f.fraction_bits
    n = _round_integer(numerator << max(-shift, 0), denominator << max(shift, 0), mode, minus)
    if n >> (f.fraction_bits + 1):
        n, exponent = n >> 1, exponent + 1
    if exponent > f.bias:
        to_max = mode == "z" or (mode == "u" and minus) or (mode == "d" and not minus)
        return sign | (f.inf - 1 if to_max else f.inf)
    if n < 1 << f.fraction_bits:
        return sign | n
    return sign | (((exponent + f.bias) << f.fraction_bits) + n - (1 << f.fraction_bits))


def add(a: int, b: int, f: Format, mode: str = "n") -> int:
    if is_nan(a, f) or is_nan(b, f):
        return f.nan
    if is_inf(a, f) or is_inf(b, f):
        if is_inf(a, f) and is_inf(b, f) and a != b:
            return f.nan
        return a if is_inf(a, f) else b
    total = to_fraction(a, f) + to_fraction(b, f)
    both_zero_same = not (a & ~f.sign) and not (b & ~f.sign) and a == b
    zero_negative = negative(a, f) if both_zero_same else mode == "d"
    return from_fraction(total, f, mode, zero_negative)


def sub(a: int, b: int, f: Format, mode: str = "n") -> int:
    return add(a, b ^ f.sign, f, mode)


def mul(a: int, b: int, f: Format, mode: str = "n") -> int:
    if is_nan(a, f) or is_nan(b, f):
        return f.nan
    minus = negative(a, f) != negative(b, f)
    if is_inf(a, f) or is_inf(b, f):
        if not (a & ~f.sign) or not (b & ~f.sign):
            return f.nan
        return f.inf | (f.sign if minus else 0)
    return from_fraction(to_fraction(a, f) * to_fraction(b, f), f, mode, minus)


def div(a: int, b: int, f: Format, mode: str = "n") -> int:
    if is_nan(a, f) or is_nan(b, f):
        return f.nan
    minus = negative(a, f) != negative(b, f)
    sign = f.sign if minus else 0
    if is_inf(a, f):
        return f.nan if is_inf(b, f) else f.inf | sign
    if is_inf(b, f):
        return sign
    if not b & ~f.sign:
        return f.inf | sign if a & ~f.sign else f.nan
    return from_fraction(to_fraction(a, f) / to_fraction(b, f), f, mode, minus)


def fma(a: int, b: int, c: int, f: Format, mode: str = "n") -> int:
    if is_nan(a, f) or is_nan(b, f) or is_nan(c, f):
        return f.nan
    minus = negative(a, f) != negative(b, f)
    if is_inf(a, f) or is_inf(b, f):
        product = mul(a, b, f, mode)
        return f.nan if is_nan(product, f) else add(product, c, f, mode)
    if is_inf(c, f):
        return c
    product = to_fraction(a, f) * to_fraction(b, f)
    total = product + to_fraction(c, f)
    if product == 0 and not c & ~f.sign and minus == negative(c, f):
        zero_negative = minus
    else:
        zero_negative = mode == "d"
    return from_fraction(total, f, mode, zero_negative)


def sqrt(a: int, f: Format, mode: str = "n") -> int:
    if is_nan(a, f) or (negative(a, f) and a & ~f.sign):
        return f.nan
    if is_inf(a, f) or not a & ~f.sign:
        return a
    x = to_fraction(a, f)
    # Scale by an even power of two so that the integer root has far more bits than the format;
    # the sticky bit keeps ties and inexact results apart.
    scale = 4 * f.fraction_bits + 2 * f.bias + 8
    scale += scale & 1
    scaled = x * Fraction(2) ** scale
    whole = scaled.numerator // scaled.denominator
    root = isqrt(whole)
    exact = root * root == whole and scaled.denominator == 1
    value = Fraction(2 * root + (0 if exact else 1), 2) / Fraction(2) ** (scale // 2)
    return from_fraction(value, f, mode)


def convert(b: int, src: Format, dst: Format, mode: str = "n") -> int:
    """Convert between floating-point formats."""
    if is_nan(b, src):
        return dst.nan
    sign = dst.sign if negative(b, src) else 0
    if is_inf(b, src):
        return dst.inf | sign
    return from_fraction(to_fraction(b, src), dst, mode, bool(sign))


def from_int(i: int, f: Format, mode: str = "n") -> int:
    """Convert an integer."""
    return from_fraction(Fraction(i), f, mode)


def to_int(b: int, f: Format, bits: int, signed: bool, mode: str = "z") -> int | None:
    """Convert to an integer, saturating as PTX ``cvt`` does; None for a NaN."""
    if is_nan(b, f):
        return None
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if is_inf(b, f):
        return low if negative(b, f) else high
    x = to_fraction(b, f)
    n = _round_integer(abs(x.numerator), x.denominator, mode, x < 0)
    return min(max(-n if x < 0 else n, low), high)


def bits_of(a: np.ndarray, f: Format) -> list[int]:
    """The bit patterns of an array of floats."""
    return [int(v) for v in np.ascontiguousarray(a).view(f.uint).ravel()]


def floats(bits: list[int], f: Format) -> np.ndarray:
    """An array with the given bit patterns; bfloat16 stays uint16."""
    raw = np.array(bits, dtype=f.uint)
    kinds = {F16: np.float16, F32: np.float32, F64: np.float64}
    return raw.view(kinds[f]) if f in kinds else raw
