"""A sparse matrix times a vector: compressed rows as nested sequences, and the ELL format as its columns."""

import sys

import numpy as np
from harness import check, options
from scipy import sparse

from rtcg.copperhead import cu, gather, indices, map, ragged, sum, transpose


@cu
def row_times(values, columns, x):
    return sum(map(lambda value, xi: value * xi, values, gather(x, columns)))


@cu
def spmv_rows(values, columns, x):
    return map(lambda row, places: row_times(row, places, x), values, columns)


@cu
def spmv_csr(matrix, x):
    """The same for a matrix, which is a pair of nested sequences."""
    values, columns = matrix
    return spmv_rows(values, columns, x)


@cu
def spmv_ell(values, columns, x):
    """`values` and `columns` hold the first entries of all rows, then the second ones, and so on."""

    def row(i):
        return sum(map(lambda column, places: column[i] * x[places[i]], values, columns))

    return map(row, indices(values[0]))


@cu
def spmv_rows_of_ell(values, columns, x):
    return map(lambda row, places: row_times(row, places, x), transpose(values), transpose(columns))


def poisson(n):
    """The five-point operator on n x n points."""
    line = sparse.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    eye = sparse.eye_array(n)
    return sparse.csr_array((sparse.kron(line, eye) + sparse.kron(eye, line)).astype(np.float32))


def power_law(n, rng):
    """A matrix with a few long rows, many short ones and some empty ones."""
    lengths = np.minimum((1 / rng.uniform(0.02, 1.2, n)).astype(np.int64), n)
    columns = np.concatenate([rng.choice(n, length, replace=False) for length in lengths])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return sparse.csr_array((rng.standard_normal(len(columns)).astype(np.float32), columns, offsets), shape=(n, n))


def to_ell(matrix):
    """The values and the columns of a matrix, each of shape (longest row, rows), padded with zeros."""
    lengths = np.diff(matrix.indptr)
    places = np.arange(len(matrix.data)) - np.repeat(matrix.indptr[:-1], lengths)
    rows = np.repeat(np.arange(matrix.shape[0]), lengths)
    values = np.zeros((lengths.max(), matrix.shape[0]), matrix.dtype)
    columns = np.zeros(values.shape, np.int32)
    values[places, rows], columns[places, rows] = matrix.data, matrix.indices
    return values, columns


def main(arguments=None):
    chosen = options(__doc__, arguments, size=60, size_here=7)
    rng = np.random.default_rng(6)
    for matrix in (poisson(chosen.size), power_law(chosen.size**2, rng)):
        x = rng.standard_normal(matrix.shape[1]).astype(np.float32)
        expected = (matrix.astype(np.float64) @ x.astype(np.float64)).astype(np.float32)
        values, columns = ragged(matrix.data, matrix.indptr), ragged(matrix.indices, matrix.indptr)
        ell_values, ell_columns = to_ell(matrix)
        with chosen.place:
            results = [
                spmv_rows(values, columns, x),
                spmv_rows(list(values), list(columns), x),
                spmv_csr(matrix, x),
                spmv_ell(ell_values, ell_columns, x),
                spmv_rows_of_ell(ell_values, ell_columns, x),
            ]
        for result in results:
            check(result, expected, rtol=1e-4, atol=1e-4)
    print(f"five products of two matrices with {matrix.shape[0]} rows at {chosen.place.name}: equal to SciPy")


if __name__ == "__main__":
    sys.exit(main())
