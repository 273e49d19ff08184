"""Eigenvalues, singular values and what needs them, under the names of `numpy.linalg`; part of `pycuda.linalg`."""

from collections import namedtuple

from numpy.linalg import LinAlgError

from pycuda import _jacobi, _spectra
from pycuda._matrices import copied, floating, stacked

#: What `eigh` returns: eigenvalues in ascending order, and eigenvectors as columns.
EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")


def _hermitian(a, UPLO, is_with_vectors):
    """Eigenvalues and eigenvectors (or None) of matrices, of which a triangle is read; waits for the report."""
    UPLO = UPLO.upper()
    if UPLO not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    a = stacked(a)
    matrices = copied(a, floating(a.dtype))
    exponents, report = _spectra.scale(matrices, 1 if UPLO == "L" else 2)
    values, rows = _jacobi.eigenvalues(matrices, report, is_with_vectors)
    values, places = _spectra.order(values, exponents, matrices.dtype)
    if a.size and int(report[0]):
        raise LinAlgError("Eigenvalues did not converge")
    vectors = _spectra.placed(rows, places).reshape(a.shape) if is_with_vectors else None
    return values.reshape(a.shape[:-1]), vectors


def eigh(a, UPLO="L"):
    """Eigenvalues and eigenvectors of Hermitian matrices; see `numpy.linalg.eigh`.

    Waits to see that all were found; matrices with infinities or NaN raise `LinAlgError`.
    """
    return EighResult(*_hermitian(a, UPLO, True))


def eigvalsh(a, UPLO="L"):
    """Eigenvalues of Hermitian matrices in ascending order; waits as `eigh`. See `numpy.linalg.eigvalsh`."""
    return _hermitian(a, UPLO, False)[0]
