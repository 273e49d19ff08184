"""Writes mathematics_double.npz: functions of double precision at hard arguments, with results to 106 bits by mpmath.

An array has the name of a function, and rows of arguments (one or two) and the result as the sum of two numbers. It
needs mpmath, which the tests do not: ``python tests/python/data/mathematics_double.py``.
"""

import itertools
import math
import random
from pathlib import Path

import numpy as np
from mpmath import mp, mpc, mpf

mp.prec = 400
COUNT = 120
HALF_PI = math.pi / 2


def between(low, high):
    return lambda: random.uniform(low, high)


def size(low, high, signed=True):
    """Exponents of two between the bounds."""
    return lambda: random.choice([-1, 1] if signed else [1]) * 2 ** random.uniform(low, high)


def near(*centres):
    return lambda: random.choice(centres) + random.uniform(-1, 1) * 2 ** -random.randrange(2, 52)


TINY = size(-1070, -30)
ANGLE = [between(-10, 10), size(0, 20), size(20, 1020), near(*(k * HALF_PI for k in range(1, 9))), TINY]
TURN = [between(-3, 3), size(-20, 20), near(0.5, 1.0, 1.5, 2.0), TINY]
POSITIVE = [size(-1070, 1020, False), near(1.0, 1.0, math.sqrt(2), math.sqrt(0.5)), size(-3, 3, False)]
UNIT = [between(-1, 1), near(1.0, -1.0, 0.5, -0.5), TINY]
ANY = [size(-30, 30), TINY, size(30, 1000)]
GAMMA = [between(-5, 5), between(-170, 171), near(*range(-10, 0)), near(1.0, 2.0, 3.0, 4.0)]
# Below 8 the bound is in ulp.
BESSEL = [
    between(0, 8),
    near(
        0.8935769662791675,
        2.404825557695773,
        3.8317059702075125,
        3.957678419314858,
        5.520078110286311,
        7.015586669815619,
    ),
    near(4.0, 4.5, 5.0, 1.75, 2.0),
    size(-300, -3, False),
    between(8, 100),
    size(7, 30, False),
]


def inverse_erfc(z):
    if z == 1:
        return mpf(0)
    if z > 1:
        return -inverse_erfc(2 - z)
    x = mp.sqrt(-mp.log(z)) if z < 0.5 else (1 - z) * mp.sqrt(mp.pi) / 2
    for _ in range(100):
        c = mp.erfc(x)
        step = (mp.log(c) - mp.log(z)) * c * mp.exp(x * x) * mp.sqrt(mp.pi) / 2
        x += step
        if abs(step) < abs(x) * mpf(2) ** -200:
            return x
    raise ArithmeticError(z)


def log_gamma(x):
    if x <= 0 and x == mp.floor(x):
        return mpf("inf")
    if x > 0:
        return mp.loggamma(x)
    return mp.log(mp.pi / abs(mp.sinpi(x))) - mp.loggamma(1 - x)


def erfcx(x):
    if x < 1000:
        return mp.exp(x * x) * mp.erfc(x)
    t = 1 / (2 * x * x)
    return (1 - t + 3 * t**2 - 15 * t**3 + 105 * t**4 - 945 * t**5) / (x * mp.sqrt(mp.pi))


ONE = {
    "exp": (mp.exp, [between(-745, 709), TINY, between(-1, 1), between(-745, -708)]),
    "exp2": (lambda x: mpf(2) ** x, [between(-1074, 1023), TINY, between(-1, 1), between(-1074, -1021)]),
    "exp10": (lambda x: mpf(10) ** x, [between(-323, 308), TINY, between(-1, 1), between(-323, -307)]),
    "expm1": (mp.expm1, [between(-50, 709), size(-60, 1), between(-1, 1), near(0.34657359, -0.34657359), near(37.1)]),
    "log": (mp.log, POSITIVE),
    "log2": (lambda x: mp.log(x) / mp.log(2), POSITIVE),
    "log10": (mp.log10, POSITIVE),
    "log1p": (
        mp.log1p,
        [size(-60, 1000, False), between(-1, 1), size(-1074, -1), near(math.sqrt(2) - 1, math.sqrt(0.5) - 1)],
    ),
    "sin": (mp.sin, ANGLE),
    "cos": (mp.cos, ANGLE),
    "tan": (mp.tan, ANGLE),
    "sinpi": (mp.sinpi, TURN),
    "cospi": (mp.cospi, TURN),
    "asin": (mp.asin, UNIT),
    "acos": (mp.acos, UNIT),
    "atan": (mp.atan, [*ANY, near(1.0, -1.0)]),
    "sinh": (mp.sinh, [between(-710, 710), size(-30, 2), near(0.34657359, 0.058)]),
    "cosh": (mp.cosh, [between(-710, 710), size(-30, 2), near(1.93, 2.5)]),
    "tanh": (mp.tanh, [between(-20, 20), size(-30, 2), near(0.17328679), TINY]),
    "asinh": (mp.asinh, [*ANY, between(-2, 2)]),
    "acosh": (mp.acosh, [between(1, 10), size(0, 1000, False), lambda: 1 + 2 ** random.uniform(-52, 0)]),
    "atanh": (mp.atanh, [*UNIT, size(-10, -3)]),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), [*ANY, size(-1070, -1020)]),
    "rcbrt": (lambda x: mp.sign(x) / mp.cbrt(abs(x)), [*ANY, size(-1070, -1020)]),
    "sqrt": (mp.sqrt, POSITIVE),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), [*POSITIVE, size(-1000, -890, False)]),
    "erf": (mp.erf, [between(-6, 6), size(-60, 1), near(1.0, -1.0)]),
    "erfc": (mp.erfc, [between(-6, 6), between(6, 27), size(-60, 1)]),
    "erfcx": (erfcx, [between(-26, 30), size(-60, 1), size(3, 1000, False)]),
    "erfinv": (
        lambda y: mp.sign(y) * inverse_erfc(1 - abs(mpf(y))),
        [between(-1, 1), near(0.0, 0.84, 0.994), lambda: 1 - 2 ** -random.uniform(1, 52)],
    ),
    "erfcinv": (inverse_erfc, [between(0, 2), size(-1070, 0, False), near(1.0)]),
    "normcdf": (lambda x: mp.erfc(-x / mp.sqrt(mpf(2))) / 2, [between(-6, 6), between(-38, -6), size(-60, 1)]),
    "normcdfinv": (
        lambda p: -mp.sqrt(mpf(2)) * inverse_erfc(2 * p),
        [between(0, 1), size(-1070, -1, False), near(0.5)],
    ),
    "tgamma": (lambda x: mpf("inf") if x <= 0 and x == mp.floor(x) else mp.gamma(x), GAMMA + [size(-1021, -3)]),
    "lgamma": (
        log_gamma,
        [
            between(-2.2, 5),
            near(1.0, 2.0, 3.0, 0.5),
            between(3, 100),
            size(2, 1010, False),
            between(-100, -23.1),
            size(-1021, -3),
        ],
    ),
    "j0": (lambda x: mp.besselj(0, x), BESSEL),
    "j1": (lambda x: mp.besselj(1, x), BESSEL),
    "y0": (lambda x: mp.bessely(0, x), BESSEL),
    "y1": (lambda x: mp.bessely(1, x), BESSEL),
    "cyl_bessel_i0": (
        lambda x: mp.besseli(0, x),
        [between(-10, 10), between(8, 713), size(-60, 1), near(5.8, 6.0, 8.0)],
    ),
    "cyl_bessel_i1": (
        lambda x: mp.besseli(1, x),
        [between(-10, 10), between(8, 713), size(-60, 1), near(5.8, 6.0, 8.0)],
    ),
}


def powers():
    base = random.choice([size(-8, 8, False), size(-300, 300, False), near(1.0)])()
    return base, random.uniform(-700, 700) / math.log(base) if base != 1 else 1.0


def close():
    scale = random.choice([0.0, 0.0, random.uniform(-1040, 1000)])
    x = 2**scale * size(-1, 1)()
    return x, x * random.choice([size(-3, 3), size(-60, 0)])()


def divided():
    x = size(-30, 60)()
    return x, x * random.choice([2 / random.randrange(1, 999), 2 ** -random.uniform(0, 60), random.uniform(0.5, 2)])


def ordered():
    return random.choice([between(0.1, 30), size(5, 12, False), size(-30, 0, False)])(), float(random.randrange(2, 40))


TWO = {
    "pow": (lambda x, y: x**y, powers),
    "atan2": (mp.atan2, close),
    "hypot": (mp.hypot, close),
    "rhypot": (lambda x, y: 1 / mp.hypot(x, y), close),
    "norm3d": (lambda x, y: mp.sqrt(2 * x * x + y * y), close),
    "rnorm3d": (lambda x, y: 1 / mp.sqrt(2 * x * x + y * y), close),
    "norm4d": (lambda x, y: mp.sqrt(2 * (x * x + y * y)), close),
    "rnorm4d": (lambda x, y: 1 / mp.sqrt(2 * (x * x + y * y)), close),
    "norm": (lambda x, y: mp.sqrt(2 * x * x + y * y), close),
    "rnorm": (lambda x, y: 1 / mp.sqrt(2 * x * x + y * y), close),
    "fmod": (lambda x, y: mpf(math.fmod(x, y)), divided),
    "remainder": (lambda x, y: mpf(math.remainder(x, y)), divided),
    "jn": (lambda x, n: mp.besselj(int(n), x), ordered),
    "yn": (lambda x, n: mp.bessely(int(n), x), ordered),
}


def halves(value):
    """The nearest number, and the nearest to the rest; None where there is no real one, or no finite one."""
    if isinstance(value, mpc) or abs(value) >= mpf(2) ** 1024 * (1 - mpf(2) ** -54):
        return None
    high = float(value)
    return high, float(value - high)


def rows(function, arguments):
    found = {}
    while len(found) < COUNT:
        x = arguments()
        if all(abs(a) < 1.7e308 for a in x) and (result := halves(function(*map(mpf, x)))) is not None:
            found[x] = result
    return np.array([[*x, *result] for x, result in found.items()])


def main():
    random.seed(1)
    tables = {}
    for name, (function, kinds) in ONE.items():
        turn = itertools.cycle(kinds)
        tables[name] = rows(function, lambda turn=turn: (float(next(turn)()),))
    for name, (function, arguments) in TWO.items():
        tables[name] = rows(function, arguments)
    np.savez_compressed(Path(__file__).with_suffix(".npz"), **tables)


if __name__ == "__main__":
    main()
