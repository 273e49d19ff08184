"""Fusion: the price of options by Black and Scholes, as one kernel and as one kernel per operation."""

import sys
import time

import numpy as np

import rtcg
import rtcg.driver as cuda
import rtcg.numpy as rnp

N = 1 << 20
RATE, VOLATILITY = 0.02, 0.3


def normal_cdf(x):
    """The distribution function of the normal distribution, by Abramowitz and Stegun 26.2.17."""
    k = 1 / (1 + 0.2316419 * abs(x))
    tail = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    rest = tail * np.exp(-0.5 * x * x) * 0.3989422804
    # A truth value selects without a branch.
    positive = x > 0
    return positive * (1 - rest) + ~positive * rest


def call_and_put(price, strike, years):
    root = VOLATILITY * np.sqrt(years)
    d1 = (np.log(price / strike) + (RATE + VOLATILITY**2 / 2) * years) / root
    discounted = strike * np.exp(-RATE * years)
    call = price * normal_cdf(d1) - discounted * normal_cdf(d1 - root)
    return call, call - price + discounted


def timed(function, *args):
    """The results, and the milliseconds of a call that has its kernels."""
    function(*args)
    cuda.Context.synchronize()
    began = time.perf_counter()
    results = function(*args)
    cuda.Context.synchronize()
    return results, (time.perf_counter() - began) * 1e3


def main():
    rng = np.random.default_rng(0)
    hosts = [rng.uniform(low, high, N).astype(np.float32) for low, high in ((5, 30), (1, 100), (0.25, 10))]
    arrays = [rnp.to_gpu(host) for host in hosts]
    apart, apart_ms = timed(call_and_put, *arrays)
    fused, fused_ms = timed(rtcg.fuse(call_and_put), *arrays)
    same = all(np.array_equal(a.get(), b.get()) for a, b in zip(fused, apart, strict=True))
    expected = call_and_put(*(host.astype(np.float64) for host in hosts))
    close = all(np.allclose(a.get(), e, rtol=1e-3, atol=1e-3) for a, e in zip(fused, expected, strict=True))
    print(f"one kernel per operation {apart_ms:.2f} ms, fused {fused_ms:.2f} ms; the same bits: {same}")
    return 0 if same and close else 1


if __name__ == "__main__":
    sys.exit(main())
