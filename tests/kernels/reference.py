"""High-precision values of special functions that neither NumPy nor `math` has.

Series and recurrences in 60-digit decimals; every function takes and gives
`Decimal`. The series are the classical ones (Abramowitz & Stegun, chapters 6,
7 and 9).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, getcontext, localcontext
from functools import cache

import numpy as np

DIGITS = 60
getcontext().prec = DIGITS
_TINY = Decimal(10) ** -(DIGITS + 5)


def _arctan_inverse(n: int) -> Decimal:
    total, power, k = Decimal(0), Decimal(1) / n, 0
    while abs(power) > _TINY:
        total += (power if k % 2 == 0 else -power) / (2 * k + 1)
        power /= n * n
        k += 1
    return total


@cache
def pi() -> Decimal:
    """Machin's formula."""
    return 4 * (4 * _arctan_inverse(5) - _arctan_inverse(239))


@cache
def euler_gamma() -> Decimal:
    """Brent and McMillan's series with n = 40 (error below exp(-160))."""
    n = Decimal(40)
    a, b, total_a, total_b, k = -n.ln(), Decimal(1), -n.ln(), Decimal(1), 0
    while abs(b) > _TINY or k < 100:
        k += 1
        b = b * n * n / (k * k)
        a = (a * n * n / k + b) / k
        total_a, total_b = total_a + a, total_b + b
    return total_a / total_b


def erf(x: Decimal) -> Decimal:
    """Taylor series of erf with working digits to cover its cancellation."""
    if abs(x) > 20:
        return Decimal(1).copy_sign(x)
    with localcontext() as ctx:
        ctx.prec = DIGITS + 20 + int(x * x)
        term, total, n = x, x, 0
        while abs(term) > _TINY:
            n += 1
            term = -term * x * x / n
            total += term / (2 * n + 1)
        return 2 * total / pi().sqrt()


def erfc(x: Decimal) -> Decimal:
    """1 - erf for small x, the continued fraction for large."""
    if x < 3:
        return 1 - erf(x)
    return (-x * x).exp() * erfcx_large(x)


def erfcx_large(x: Decimal) -> Decimal:
    """exp(x^2) erfc(x) for x >= 3: Laplace's continued fraction, evaluated backwards."""
    f = x
    for k in range(800, 0, -1):
        f = x + Decimal(k) / 2 / f
    return 1 / (f * pi().sqrt())


def erfcx(x: Decimal) -> Decimal:
    return erfcx_large(x) if x >= 3 else (x * x).exp() * erfc(x)


def normcdf(x: Decimal) -> Decimal:
    return erfc(-x / Decimal(2).sqrt()) / 2


def erfinv(y: Decimal) -> Decimal:
    """Newton's iteration on erf (or erfc, near 1) from a float's worth of start."""
    if y == 0:
        return y
    return -erfcinv(1 + abs(y)).copy_sign(-y) if abs(y) < Decimal("0.5") else erfcinv(1 - abs(y)).copy_sign(y)


def erfcinv(y: Decimal) -> Decimal:
    """The x with erfc(x) = y, 0 < y < 2: bisection, then Newton."""
    if y == 1:
        return Decimal(0)
    if y > 1:
        return -erfcinv(2 - y)
    low, high = Decimal(0), Decimal(30)
    with localcontext() as ctx:
        ctx.prec = 30
        for _ in range(12):
            middle = (low + high) / 2
            low, high = (middle, high) if erfc(middle) > y else (low, middle)
    x = low
    for _ in range(12):
        step = (erfc(x) - y) * pi().sqrt() / 2 * (x * x).exp()
        # The slope at the left end is steeper than the chord, so the iteration climbs and never overshoots.
        x += step
        if abs(step) < Decimal(10) ** -40 * max(abs(x), Decimal(1)):
            break
    return x


def _bessel_series(n: int, x: Decimal, sign: int) -> Decimal:
    with localcontext() as ctx:
        ctx.prec = DIGITS + 2 * int(abs(x)) + 10
        half = x / 2
        term = Decimal(1)
        for k in range(1, n + 1):
            term = term * half / k
        total, k = term, 0
        while abs(term) > _TINY * abs(total) * Decimal(10) ** -5 and k < 2000:
            k += 1
            term = sign * term * half * half / (k * (k + n))
            total += term
        return +total


def bessel_j(n: int) -> Callable[[Decimal], Decimal]:
    return lambda x: _bessel_series(n, x, -1)


def bessel_i(n: int) -> Callable[[Decimal], Decimal]:
    return lambda x: _bessel_series(n, x, 1)


def bessel_y(n: int) -> Callable[[Decimal], Decimal]:
    """Y0 and Y1 by Neumann's series with digamma values (A&S 9.1.11)."""

    def value(x: Decimal) -> Decimal:
        with localcontext() as ctx:
            ctx.prec = DIGITS + 2 * int(abs(x)) + 10
            half, q = x / 2, -(x / 2) ** 2
            total = 2 * (half.ln()) * _bessel_series(n, x, -1)
            if n == 1:
                total -= 1 / half
            term = Decimal(1) if n == 0 else half
            psi_a, psi_b = -euler_gamma(), -euler_gamma() + (0 if n == 0 else 1)
            k = 0
            while abs(term) > _TINY or k < 5:
                total -= (psi_a + psi_b) * term
                k += 1
                term = term * q / (k * (k + n))
                psi_a, psi_b = psi_a + Decimal(1) / k, psi_b + Decimal(1) / (k + n)
            return total / pi()

    return value


def gamma(x: Decimal) -> Decimal:
    """Gamma by Stirling's series after shifting to x > 40; reflection for x < 1/2."""
    if x < Decimal("0.5"):
        return pi() / (sin(pi() * x) * gamma(1 - x))
    return log_gamma_positive(x).exp()


#: B(2k) / (2k (2k - 1)), Stirling's coefficients.
_STIRLING = [Decimal(a) / Decimal(b) for a, b in (
    (1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156), (-3617, 122400), (43867, 244188),
    (-174611, 125400), (77683, 5796), (-236364091, 1506960), (657931, 300))]


def log_gamma_positive(x: Decimal) -> Decimal:
    shift = Decimal(1)
    while x < 60:
        shift *= x
        x += 1
    series = sum(c / x ** (2 * k + 1) for k, c in enumerate(_STIRLING))
    return (x - Decimal("0.5")) * x.ln() - x + (2 * pi()).ln() / 2 + series - shift.ln()


def log_gamma(x: Decimal) -> Decimal:
    """log |Gamma(x)|."""
    if x < Decimal("0.5"):
        return (pi() / abs(sin(pi() * x))).ln() - log_gamma_positive(1 - x)
    return log_gamma_positive(x)


def sin(x: Decimal) -> Decimal:
    with localcontext() as ctx:
        ctx.prec = DIGITS + 20 + max(x.adjusted(), 0)
        x = x % (2 * pi_digits(ctx.prec))
        term, total, n = x, x, 1
        while abs(term) > _TINY:
            term = -term * x * x / ((n + 1) * (n + 2))
            total += term
            n += 2
        return +total


def cos(x: Decimal) -> Decimal:
    with localcontext() as ctx:
        ctx.prec = DIGITS + 20 + max(x.adjusted(), 0)
        x = x % (2 * pi_digits(ctx.prec))
        term, total, n = Decimal(1), Decimal(1), 0
        while abs(term) > _TINY:
            term = -term * x * x / ((n + 1) * (n + 2))
            total += term
            n += 2
        return +total


@cache
def pi_digits(digits: int) -> Decimal:
    """pi to `digits` digits (arguments up to 10**300 need as many to be reduced)."""
    with localcontext() as ctx:
        ctx.prec = digits + 10
        limit = Decimal(10) ** -(digits + 8)

        def arctan(n: int) -> Decimal:
            total, power, k = Decimal(0), Decimal(1) / n, 0
            while power > limit:
                total += (power if k % 2 == 0 else -power) / (2 * k + 1)
                power /= n * n
                k += 1
            return total

        return 4 * (4 * arctan(5) - arctan(239))


def apply(function: Callable[[Decimal], Decimal], values: np.ndarray) -> np.ndarray:
    """`function` of each finite value, as longdouble."""
    return np.array([np.longdouble(format(function(Decimal(float(v))), ".30e")) for v in values])
