"""Eigenvalues of Hermitian matrices of any size: scaled, by the method for that size, and in order."""

from pycuda._linalg import jacobi as _jacobi, scaling as _scaling, tridiagonal as _tridiagonal


def decompose(matrices, triangle, is_with_vectors):
    """Eigenvalues in ascending order, eigenvectors as columns (or None) and the report; `matrices` are overwritten.

    `triangle` is 1 if the lower, and 2 if the upper triangle is read.
    """
    n = matrices.shape[-1]
    exponents, report = _scaling.scale(matrices, triangle)
    if matrices.size and n > _jacobi.LARGEST:
        return *_tridiagonal.eigenvalues(matrices, exponents, report, is_with_vectors), report
    values, rows = _jacobi.eigenvalues(matrices, report, is_with_vectors)
    values, places = _scaling.order(values, exponents, matrices.dtype)
    return values, _scaling.placed(rows, places, n) if is_with_vectors else None, report
