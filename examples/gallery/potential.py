"""Laplace's equation in data-parallel Python

The potential between two electrodes in a grounded box, by Jacobi's iteration. The program is a Python function: a map
over the points of the grid, with a branch for those that are fixed, within a tail recursion. It is compiled to one
kernel, which the host launches for each round. Python's interpreter runs the same function for a few rounds, and both
have the same bits.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from rtcg.copperhead import cu, places, rotate, to_numpy

N, ROUNDS = 128, 8000


@cu
def relaxed(u, is_fixed, width):
    """A round of the iteration on a grid of rows one after another."""

    def point(value, fixed, left, right, above, below):
        return value if fixed else (left + right + above + below) / 4

    return map(point, u, is_fixed, rotate(u, -1), rotate(u, 1), rotate(u, -width), rotate(u, width))


@cu
def solve(u, is_fixed, width, rounds):
    """The grid after some rounds."""
    if rounds == 0:
        return u
    return solve(relaxed(u, is_fixed, width), is_fixed, width, rounds - 1)


@cu
def largest_change(u, is_fixed, width):
    """How far the grid is from a solution."""
    return max(map(lambda after, before: abs(after - before), relaxed(u, is_fixed, width), u))


def electrodes(n):
    """The potential of the electrodes and of the box, and where it is fixed."""
    x, y = np.meshgrid(np.linspace(-1, 1, n, dtype=np.float32), np.linspace(-1, 1, n, dtype=np.float32))
    ring = np.abs(np.hypot(x + 0.35, y) - 0.3) < 0.04
    gap = ring & (x < -0.4) & (np.abs(y) < 0.1)
    bar = (np.abs(x - 0.5) < 0.05) & (np.abs(y) < 0.55)
    box = np.maximum(np.abs(x), np.abs(y)) == 1
    potential = np.where(ring & ~gap, 1, np.where(bar, -1, 0)).astype(np.float32)
    return potential, (ring & ~gap) | bar | box


def main(picture):
    """Solve, compare with the interpreter, and draw."""
    small, is_fixed = (part.ravel() for part in electrodes(16))
    with places.here:
        expected = solve(small, is_fixed, 16, 20)
    assert (to_numpy(solve(small, is_fixed, 16, 20)) == expected).all()

    start, is_fixed = electrodes(N)
    u = solve(start.ravel(), is_fixed.ravel(), N, ROUNDS)
    assert float(largest_change(u, is_fixed.ravel(), N)) < 1e-5
    u = to_numpy(u).reshape(N, N)
    figure, ax = plt.subplots(figsize=(6, 6))
    ax.contourf(u, 40, cmap="RdBu_r", vmin=-1, vmax=1)
    ax.contour(u, np.linspace(-0.9, 0.9, 19), colors="k", linewidths=0.4)
    down, right = np.gradient(-u)
    ax.streamplot(np.arange(N), np.arange(N), right, down, color="0.25", linewidth=0.5, arrowsize=0.6, density=1.2)
    ax.set_axis_off()
    figure.tight_layout()
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "potential.png")
