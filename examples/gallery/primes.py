"""Primes on a spiral

A sieve marks the multiples of each prime; a scan says how many primes come before each number, and its output statement
writes them one after the other (stream compaction). On Ulam's spiral they form diagonals.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule
from rtcg.scan import GenericScanKernel

SIDE = 201
LIMIT = SIDE * SIDE + 1

SOURCE = """
__global__ void sieve(unsigned char *is_prime, int limit)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x + 2;
    if (p * p < limit)
        for (int k = p * p; k < limit; k += p) is_prime[k] = 0;
}
"""

compact = GenericScanKernel(
    np.int32,
    arguments="const unsigned char *is_prime, int *primes, int *count",
    input_expr="is_prime[i] ? 1 : 0",
    scan_expr="a + b",
    neutral="0",
    output_statement="if (prev_item != item) primes[item - 1] = i; if (i + 1 == N) *count = item;",
)


def spiral():
    """The number at each place of a square that is filled from the middle."""
    numbers, row, column, number = np.zeros((SIDE, SIDE), int), SIDE // 2, SIDE // 2, 1
    for length in range(1, SIDE + 1):
        step = 1 if length % 2 else -1
        for d_row, d_column in ((0, step), (-step, 0)):
            for _ in range(length):
                if number <= SIDE * SIDE:
                    numbers[row, column] = number
                row, column, number = row + d_row, column + d_column, number + 1
    return numbers


def on_the_host():
    """The primes by NumPy."""
    is_prime = np.arange(LIMIT) > 1
    for p in range(2, int(LIMIT**0.5) + 1):
        is_prime[p * p :: p] = False
    return np.flatnonzero(is_prime)


def main(picture):
    """Find the primes, compare with NumPy and save the spiral."""
    is_prime = rnp.ones(LIMIT, np.uint8)
    is_prime[:2] = 0
    SourceModule(SOURCE).get_function("sieve")(is_prime, LIMIT, block=(128, 1, 1), grid=(3, 1))
    primes, count = rnp.empty(LIMIT, np.int32), rnp.empty(1, np.int32)
    compact(is_prime, primes, count)
    found = primes.get()[: int(count.get()[0])]
    assert np.array_equal(found, on_the_host())
    matplotlib.image.imsave(picture, np.kron(np.isin(spiral(), found), np.ones((3, 3))), cmap="gray_r")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "primes.png")
