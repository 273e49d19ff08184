"""Writes reference.txt: functions of double precision, to 106 bits, by mpmath.

A line is a function, its arguments, and the result as the sum of two numbers, all as bits in hexadecimal.
"""

import random
import struct
from pathlib import Path

from mpmath import mp, mpc, mpf

mp.prec = 400


def bits(x: float) -> str:
    return struct.pack(">d", x).hex()


def between(low: float, high: float):
    return lambda: random.uniform(low, high)


def magnitude(low: float, high: float, signed: bool = True):
    """Exponents of two between the bounds."""
    return lambda: random.choice([-1, 1] if signed else [1]) * 2 ** random.uniform(low, high)


def near(*centres: float):
    return lambda: random.choice(centres) * (1 + random.uniform(-1, 1) * 2 ** -random.randrange(2, 52))


ANY, TINY = magnitude(-30, 30), magnitude(-1070, -30)
ANGLE = [between(-10, 10), magnitude(0, 20), magnitude(20, 1020), near(*[k * 1.5707963267948966 for k in range(1, 9)])]
TURN = [between(-3, 3), magnitude(-20, 20), near(0.5, 1.0, 1.5, 2.0)]
POSITIVE = [magnitude(-1070, 1020, False), near(1.0), magnitude(-3, 3, False)]
UNIT = [between(-1, 1), near(1.0, -1.0, 0.5, -0.5), TINY]
pi = mp.pi
ONE = {
    "exp": (mp.exp, [between(-745, 709), TINY, between(-1, 1)]),
    "exp2": (lambda x: mpf(2) ** x, [between(-1074, 1023), TINY]),
    "exp10": (lambda x: mpf(10) ** x, [between(-323, 308), TINY]),
    "expm1": (mp.expm1, [between(-50, 709), magnitude(-60, 1), between(-1, 1)]),
    "log": (mp.log, POSITIVE),
    "log2": (lambda x: mp.log(x) / mp.log(2), POSITIVE),
    "log10": (mp.log10, POSITIVE),
    "log1p": (mp.log1p, [magnitude(-60, 1000, False), between(-1, 1), magnitude(-60, -1)]),
    "sin": (mp.sin, ANGLE),
    "cos": (mp.cos, ANGLE),
    "tan": (mp.tan, ANGLE),
    "sinpi": (mp.sinpi, TURN),
    "cospi": (mp.cospi, TURN),
    "tanpi": (lambda x: mp.sinpi(x) / mp.cospi(x), TURN),
    "asin": (mp.asin, UNIT),
    "acos": (mp.acos, UNIT),
    "atan": (mp.atan, [ANY, TINY, magnitude(30, 1000)]),
    "asinpi": (lambda x: mp.asin(x) / pi, UNIT),
    "acospi": (lambda x: mp.acos(x) / pi, UNIT),
    "atanpi": (lambda x: mp.atan(x) / pi, [ANY]),
    "sinh": (mp.sinh, [between(-710, 710), magnitude(-30, 2)]),
    "cosh": (mp.cosh, [between(-710, 710), magnitude(-30, 2)]),
    "tanh": (mp.tanh, [between(-25, 25), magnitude(-30, 2)]),
    "asinh": (mp.asinh, [ANY, magnitude(30, 1000)]),
    "acosh": (mp.acosh, [magnitude(0, 30, False), lambda: 1 + 2 ** random.uniform(-50, 0), magnitude(30, 1000, False)]),
    "atanh": (mp.atanh, UNIT),
    "cbrt": (mp.cbrt, POSITIVE),
    "erf": (mp.erf, [between(-6, 6), magnitude(-60, 0)]),
    "erfc": (mp.erfc, [between(-6, 27), magnitude(-60, 0)]),
    "tgamma": (mp.gamma, [between(0, 171), between(-20, 20), between(-170, 0), magnitude(-300, 0)]),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), POSITIVE),
}
TWO = {
    "pow": (
        lambda x, y: mpf(x) ** mpf(y),
        [(magnitude(-10, 10, False), between(-70, 70)), (near(1.0), magnitude(0, 50))],
    ),
    "powr": (lambda x, y: mpf(x) ** mpf(y), [(magnitude(-300, 300, False), between(-3, 3))]),
    "atan2": (lambda y, x: mp.atan2(y, x), [(ANY, ANY), (between(-1, 1), between(-1, 1)), (TINY, TINY)]),
    "atan2pi": (lambda y, x: mp.atan2(y, x) / pi, [(ANY, ANY)]),
    "hypot": (mp.hypot, [(ANY, ANY), (magnitude(400, 1020), magnitude(400, 1020)), (TINY, TINY)]),
    "pown": (
        lambda x, n: mpf(x) ** n,
        [
            (magnitude(-3, 3), lambda: random.randint(-300, 300)),
            (near(1.0), lambda: random.randint(-(2**31), 2**31 - 1)),
        ],
    ),
    "rootn": (
        lambda x, n: mpf(x) ** (mpf(1) / n),
        [
            (magnitude(-1000, 1000, False), lambda: random.randint(1, 90)),
            (magnitude(-100, 100, False), lambda: -random.randint(1, 2**20)),
        ],
    ),
}


def line(name: str, arguments: list, result: mpf) -> str | None:
    if (
        isinstance(result, mpc)
        or not mp.isfinite(result)
        or abs(result) > 2**1023
        or (result != 0 and abs(result) < mpf(2) ** -1060)
    ):
        return None
    high = float(result)
    return " ".join([name, *map(bits, map(float, arguments)), bits(high), bits(float(result - mpf(high)))])


def main() -> None:
    random.seed(20261127)
    lines = []
    for name, (function, ranges) in ONE.items():
        for each in ranges:
            for _ in range(16):
                x = each()
                lines.append(line(name, [x], function(mpf(x))))
    for name, (function, ranges) in TWO.items():
        for first, second in ranges:
            for _ in range(20):
                x, y = first(), second()
                integral = name in ("pown", "rootn")
                lines.append(line(name, [x, y], function(mpf(x), y if integral else mpf(y))))
    Path(__file__).with_suffix(".txt").write_text("\n".join(filter(None, lines)) + "\n")


if __name__ == "__main__":
    main()
