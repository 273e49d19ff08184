"""a x + y for vectors, and the norm of a difference."""

import sys

import numpy as np
from harness import check, options

from rtcg.copperhead import cu, map, places, sqrt, sum, zip


@cu
def axpy(a, x, y):
    return map(lambda xi, yi: a * xi + yi, x, y)


@cu
def axpy_by_comprehension(a, x, y):
    return [a * xi + yi for xi, yi in zip(x, y)]


@cu
def axpy_by_procedure(a, x, y):
    def triad(xi, yi):
        return a * xi + yi

    return map(triad, x, y)


@cu
def norm_of_difference(x, y):
    def squared(xi, yi):
        difference = xi - yi
        return difference * difference

    return sqrt(sum(map(squared, x, y)))


def main(arguments=None):
    chosen = options(__doc__, arguments, size=1_000_000, size_here=1_000)
    x = np.arange(chosen.size, dtype=np.float32)
    y = np.arange(1, chosen.size + 1, dtype=np.float32)
    a = np.float32(0.5)
    with chosen.place:
        results = [program(a, x, y) for program in (axpy, axpy_by_comprehension, axpy_by_procedure)]
        distance = norm_of_difference(results[0], axpy(a, x, y, target_place=places.here))
    for result in results:
        check(result, a * x + y)
    check(distance, np.float32(0))
    print(f"axpy of {chosen.size} elements at {chosen.place.name}: three spellings equal NumPy, distance {distance}")


if __name__ == "__main__":
    sys.exit(main())
