"""Prices of call and put options by Black and Scholes: two results from each element."""

import math
import sys

import numpy as np
from harness import check, options

from rtcg.copperhead import abs, cu, exp, log, map, sqrt, unzip

RATE, VOLATILITY = np.float32(0.02), np.float32(0.3)


@cu
def normal_cdf(d):
    """The distribution function of the normal distribution, by Abramowitz and Stegun 26.2.17."""
    k = 1.0 / (1.0 + 0.2316419 * abs(d))
    tail = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    rest = 0.3989422804 * exp(-0.5 * d * d) * tail
    if d > 0:
        return 1.0 - rest
    else:
        return rest


@cu
def black_scholes(prices, strikes, years, rate, volatility):
    def option(price, strike, t):
        root = volatility * sqrt(t)
        d1 = (log(price / strike) + (rate + 0.5 * volatility * volatility) * t) / root
        below, above = normal_cdf(d1 - root), normal_cdf(d1)
        discounted = strike * exp(-rate * t)
        call = price * above - discounted * below
        put = discounted * (1.0 - below) - price * (1.0 - above)
        return call, put

    return unzip(map(option, prices, strikes, years))


def exact(price, strike, t):
    """The prices in Python's floats, with the error function."""
    root = float(VOLATILITY) * math.sqrt(t)
    d1 = (math.log(price / strike) + (float(RATE) + float(VOLATILITY) ** 2 / 2) * t) / root
    above, below = (0.5 * math.erfc(-d / math.sqrt(2)) for d in (d1, d1 - root))
    discounted = strike * math.exp(-float(RATE) * t)
    return price * above - discounted * below, discounted * (1 - below) - price * (1 - above)


def main(arguments=None):
    chosen = options(__doc__, arguments, size=100_000, size_here=300)
    rng = np.random.default_rng(1)
    bounds = ((5, 30), (1, 100), (0.25, 10))
    columns = [rng.uniform(low, high, chosen.size).astype(np.float32) for low, high in bounds]
    with chosen.place:
        calls, puts = black_scholes(*columns, RATE, VOLATILITY)
    expected = np.array(
        [exact(*(float(value) for value in row)) for row in zip(*columns, strict=True)], np.float32
    ).reshape(-1, 2)
    check(calls, expected[:, 0], atol=2e-4)
    check(puts, expected[:, 1], atol=2e-4)
    print(f"prices of {chosen.size} calls and puts at {chosen.place.name}: equal to the closed form")


if __name__ == "__main__":
    sys.exit(main())
