"""joblib's workers: arrays and a kernel are arguments, as NumPy's would be. Needs `joblib`."""

import sys

import joblib
import numpy as np

import rtcg.numpy as rnp
from rtcg.elementwise import ElementwiseKernel

N_FREQUENCIES = 8
power = ElementwiseKernel("double *z, const double *x, double f", "z[i] = cos(f * x[i]) * cos(f * x[i])")


def mean_power(kernel, x, frequency):
    """The mean of a function, an array without axes on the device of the worker."""
    z = rnp.empty_like(x)
    kernel(z, x, frequency)
    return z.mean()


def main():
    host = np.random.default_rng(0).random(10_000)
    x = rnp.to_gpu(host)
    expected = [np.mean(np.cos(f * host) ** 2) for f in range(N_FREQUENCIES)]
    right = True
    for backend in ("loky", "threading"):
        calls = (joblib.delayed(mean_power)(power, x, f) for f in range(N_FREQUENCIES))
        found = joblib.Parallel(n_jobs=2, backend=backend)(calls)
        is_right = np.allclose([mean.get() for mean in found], expected, rtol=1e-12)
        print(f"{N_FREQUENCIES} calls, {backend}: {'equal to NumPy' if is_right else 'WRONG'}")
        right = right and is_right
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
