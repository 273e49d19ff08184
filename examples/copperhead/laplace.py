"""Laplace's equation on a square by Jacobi's iteration: a closure over an array, and tail recursion over arrays."""

import builtins
import sys

import numpy as np
from harness import check, options

from rtcg.copperhead import cu, indices, map, range


@cu
def initial(shape, value):
    """The value on the first row, zero elsewhere."""
    ny, nx = shape

    def element(i):
        if i // nx == 0:
            return value
        else:
            return value * 0

    return map(element, range(nx * ny))


@cu
def solve(u, shape, squares, steps):
    ny, nx = shape
    dx2, dy2 = squares
    across, along = dy2 / (2 * (dx2 + dy2)), dx2 / (2 * (dx2 + dy2))

    def element(i):
        x = i % nx
        y = i // nx
        if x == 0 or x == nx - 1 or y == 0 or y == ny - 1:
            return u[i]
        else:
            return (u[i - 1] + u[i + 1]) * across + (u[i - nx] + u[i + nx]) * along

    if steps > 0:
        u = map(element, indices(u))
        return solve(u, shape, squares, steps - 1)
    else:
        return u


def by_numpy(shape, squares, steps):
    u = np.zeros(shape)
    u[0] = 1
    dx2, dy2 = squares
    for _ in builtins.range(steps):
        inner = (u[1:-1, :-2] + u[1:-1, 2:]) * dy2 + (u[:-2, 1:-1] + u[2:, 1:-1]) * dx2
        u[1:-1, 1:-1] = inner / (2 * (dx2 + dy2))
    return u


def main(arguments=None):
    chosen = options(__doc__, arguments, size=100, size_here=12, steps=(8_000, 60))
    shape = (chosen.size, chosen.size)
    squares = (0.01, 0.01)
    with chosen.place:
        u = solve(initial(shape, np.float64(1)), shape, squares, chosen.steps)
    found = check(u, by_numpy(shape, squares, chosen.steps).ravel(), rtol=1e-12, atol=1e-15)
    centre = found.reshape(shape)[chosen.size // 2, chosen.size // 2]
    print(f"{chosen.steps} steps on {chosen.size} x {chosen.size} at {chosen.place.name}: {centre:.4f} at the centre")


if __name__ == "__main__":
    sys.exit(main())
