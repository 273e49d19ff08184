"""Several processes, one array: a pool of workers that compute in the memory of the program that started them.

Nothing is copied: what `multiprocessing` sends is where the array lies.
"""

import multiprocessing
import sys

import numpy as np

import rtcg.multiprocessing
import rtcg.numpy as rnp
from rtcg.elementwise import ElementwiseKernel

N_EACH, N_PARTS = 1 << 16, 4
wave = ElementwiseKernel("double *y, const double *x", "y[i] = sin(x[i]) * exp(-x[i])")


def compute(part):
    """Replace the numbers of a part by the function's values; their sum, as an array of this process."""
    wave(part, part)
    return part.sum()


def main():
    x = rnp.linspace(0, 10, N_PARTS * N_EACH)
    expected = np.sin(x.get()) * np.exp(-x.get())
    # Not "fork": CUDA does not work in children of a process that has used it.
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        sums = pool.map(compute, [x[k * N_EACH : (k + 1) * N_EACH] for k in range(N_PARTS)])
        total = float(rnp.stack(sums).sum().get())
        del sums
    ended = rtcg.multiprocessing.wait_for_consumers(60)
    right = np.allclose(x.get(), expected, rtol=1e-12) and np.isclose(total, expected.sum(), rtol=1e-12)
    print(f"{N_PARTS} parts in 2 processes: {'equal to NumPy' if right and ended else 'WRONG'}")
    return 0 if right and ended else 1


if __name__ == "__main__":
    sys.exit(main())
