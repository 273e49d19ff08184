"""Vectors, and a matrix times a vector as a nested sequence: `gemv` is a `map` of `dot` over the rows."""

import sys

import numpy as np
from harness import check, options

from rtcg.copperhead import cu, map, op_sub, sum, zip


@cu
def axpy(a, x, y):
    return map(lambda xi, yi: a * xi + yi, x, y)


@cu
def nrm2(x):
    """The squared norm."""
    return sum([xi * xi for xi in x])


@cu
def norm_diff(x, y):
    return nrm2(map(op_sub, x, y))


@cu
def dot(x, y):
    return sum([xi * yi for xi, yi in zip(x, y)])


@cu
def gemv(matrix, x):
    return map(lambda row: dot(row, x), matrix)


def main(arguments=None):
    chosen = options(__doc__, arguments, size=500, size_here=25)
    rng = np.random.default_rng(5)
    n = chosen.size
    x, y = rng.standard_normal((2, n)).astype(np.float32)
    # Rows, columns and a transposed view: any strides.
    matrices = [rng.standard_normal(shape).astype(np.float32) for shape in ((n, n), (2 * n, n), (n, 8), (8, n))]
    matrices.append(matrices[2].T)
    wide = lambda array: array.astype(np.float64)  # noqa: E731
    near = {"rtol": 1e-4, "atol": 1e-4}
    with chosen.place:
        check(axpy(np.float32(2), x, y), 2 * x + y, rtol=1e-6, atol=1e-6)
        check(nrm2(x), np.float32(wide(x) @ wide(x)), **near)
        check(norm_diff(x, y), np.float32(wide(x - y) @ wide(x - y)), **near)
        check(dot(x, y), np.float32(wide(x) @ wide(y)), **near)
        for matrix in matrices:
            vector = x[: matrix.shape[1]]
            check(gemv(matrix, vector), (wide(matrix) @ wide(vector)).astype(np.float32), **near)
    shapes = ", ".join(f"{rows} x {columns}" for rows, columns in (matrix.shape for matrix in matrices))
    print(f"gemv at {chosen.place.name}, {shapes}: equal to NumPy")


if __name__ == "__main__":
    sys.exit(main())
