"""Fibonacci numbers by a scan of 2x2 matrices.

The powers of [[1, 1], [1, 0]] hold them; all are symmetric, so three numbers represent a matrix.
"""

import itertools
import sys

import numpy as np
from harness import check, options

from rtcg.copperhead import cu, int64, map, replicate, scan


@cu
def inner(x, y):
    x0, x1 = x
    y0, y1 = y
    return x0 * y0 + x1 * y1


@cu
def rows(matrix):
    a, b, c = matrix
    return (a, b), (b, c)


@cu
def product(left, right):
    upper, lower = rows(left)
    # Columns are rows, as the matrix is symmetric.
    first, second = rows(right)
    return inner(upper, first), inner(upper, second), inner(lower, second)


@cu
def off_diagonal(matrix):
    a, b, c = matrix
    return b


@cu
def fibonacci(n):
    step = (int64(1), int64(1), int64(0))
    return map(off_diagonal, scan(product, replicate(step, n)))


def main(arguments=None):
    # The 92nd is the last that int64 holds; further ones wrap.
    chosen = options(__doc__, arguments, size=100_000, size_here=92)
    with chosen.place:
        found = fibonacci(chosen.size)
    numbers, pair = [], (1, 1)
    for _ in itertools.repeat(None, chosen.size):
        numbers.append(pair[0])
        pair = (pair[1], sum(pair) % 2**64)
    check(found, np.array(numbers, np.uint64).view(np.int64))
    print(f"{chosen.size} Fibonacci numbers at {chosen.place.name}, modulo 2**64: the 92nd is {numbers[91:92]}")


if __name__ == "__main__":
    sys.exit(main())
