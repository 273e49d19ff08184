"""The price of an option by chance

A hundred thousand random futures of a share. Sampling, pay-off and sum are one reduction, so no array of pay-offs is
stored. The mean comes to the formula of Black and Scholes; the error shrinks with the root of the number of futures.
"""

import math
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.random
from rtcg.reduction import ReductionKernel

SHARE, STRIKE, RATE, VOLATILITY, YEARS, FUTURES = 100.0, 105.0, 0.03, 0.2, 1.0, 100_000

DRIFT, SPREAD = (RATE - VOLATILITY**2 / 2) * YEARS, VOLATILITY * math.sqrt(YEARS)

payoff = ReductionKernel(
    np.float64,
    neutral="0",
    reduce_expr="a + b",
    map_expr=f"fmax({SHARE} * exp({DRIFT} + {SPREAD} * z[i]) - {STRIKE}, 0.)",
    arguments="const double *z",
)


def black_scholes():
    """The exact price."""
    d = (math.log(SHARE / STRIKE) + (RATE + VOLATILITY**2 / 2) * YEARS) / SPREAD
    normal = lambda x: (1 + math.erf(x / math.sqrt(2))) / 2  # noqa: E731
    return SHARE * normal(d) - STRIKE * math.exp(-RATE * YEARS) * normal(d - SPREAD)


def main(picture):
    """Estimate with more and more futures, compare with the formula and draw the errors."""
    z = rtcg.random.default_rng(11).standard_normal(FUTURES)
    counts = np.unique(np.logspace(2, math.log10(FUTURES), 40).astype(int))
    prices = np.array([math.exp(-RATE * YEARS) * float(payoff(z[:n])) / n for n in counts])
    exact, futures = black_scholes(), SHARE * np.exp(DRIFT + SPREAD * z.get())
    deviation = np.std(np.maximum(futures - STRIKE, 0))
    # Four standard errors: a right estimate is outside once in 16000 times.
    assert (np.abs(prices - exact) < 4 * deviation / np.sqrt(counts)).all()
    assert abs(prices[-1] - math.exp(-RATE * YEARS) * np.maximum(futures - STRIKE, 0).mean()) < 1e-9 * exact
    figure, axes = plt.subplots(figsize=(7, 4))
    axes.semilogx(counts, prices, "o-", ms=3, label="estimate")
    axes.fill_between(counts, exact - deviation / counts**0.5, exact + deviation / counts**0.5, alpha=0.2)
    axes.axhline(exact, color="black", lw=1, label=f"Black-Scholes: {exact:.3f}")
    axes.set(xlabel="futures", ylabel="price")
    axes.legend()
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "option_price.png")
