"""Eigenvalues, singular values and what needs them, under the names of `numpy.linalg`; part of `pycuda.linalg`."""

from collections import namedtuple

import numpy as np
from numpy.linalg import LinAlgError

from pycuda import _factorizations as _f, _hestenes, _jacobi, _spectra, gpuarray as _g
from pycuda._matrices import copied, floating, real_of, stacked

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
    vectors = _spectra.placed(rows, places, a.shape[-1]).reshape(a.shape) if is_with_vectors else None
    return values.reshape(a.shape[:-1]), vectors


def eigh(a, UPLO="L"):
    """Eigenvalues and eigenvectors of Hermitian matrices; see `numpy.linalg.eigh`.

    Waits to see that all were found; matrices with infinities or NaN raise `LinAlgError`.
    """
    return EighResult(*_hermitian(a, UPLO, True))


def eigvalsh(a, UPLO="L"):
    """Eigenvalues of Hermitian matrices in ascending order; waits as `eigh`. See `numpy.linalg.eigvalsh`."""
    return _hermitian(a, UPLO, False)[0]


#: What `svd` returns: left singular vectors as columns, singular values in descending order, right ones as rows.
SVDResult = namedtuple("SVDResult", "U S Vh")


def _completed(u, columns, rank_is_full):
    """Orthonormal columns, of which the last ones may be zero, with others in place of those and up to a number."""
    count, m, n = u.shape
    if rank_is_full and columns == n:
        return u
    reflected = u.copy()
    whole = _f.product_of_reflections(reflected, _f.reflect(reflected), columns)
    if rank_is_full:
        whole[:, :, :n] = u
    else:
        is_there = (u != 0).any(1, keepdims=True)
        whole[:, :, :n] = _g.where(is_there, u, whole[:, :, :n])
    return whole


def _filled(columns, dtype):
    """Stacks of rows, filled up with zeros to the length that `_hestenes` asks for."""
    *stack, n, m = columns.shape
    w = _g.zeros((int(np.prod(stack, dtype=int)), n, _hestenes.padded(m)), dtype)
    if columns.size:
        w[:, :, :m] = columns.reshape((len(w), n, m))
    return w


def _tall_svd(w, m, full_matrices, is_with_vectors):
    """U, singular values and V of m x n matrices, m >= n, whose columns are the rows of `w`, filled up."""
    n = w.shape[1]
    exponents, report = _spectra.scale(w)
    lengths, rows = _hestenes.columns(w, report, is_with_vectors)
    values, places = _spectra.order(lengths, exponents, w.dtype, is_descending=True)
    found = int(report[0]) if w.size else 0
    if found & (_spectra.NOT_FINITE | _spectra.NOT_CONVERGED):
        raise LinAlgError("SVD did not converge")
    if not is_with_vectors:
        return None, values, None
    u = _completed(_spectra.placed(w, places, m), m if full_matrices else n, not found & _spectra.NOT_OF_FULL_RANK)
    return u, values, _spectra.placed(rows, places, n)


def _svd(a, full_matrices, is_with_vectors):
    a = stacked(a, is_square=False)
    m, n = a.shape[-2:]
    is_wide = m < n
    # The columns of a wide matrix's adjoint are its rows conjugated.
    w = _filled(a.conj() if is_wide else a.mT, floating(a.dtype))
    u, s, v = _tall_svd(w, max(m, n), full_matrices, is_with_vectors)
    s = s.reshape((*a.shape[:-2], min(m, n)))
    if not is_with_vectors:
        return s
    u, v = (v, u) if is_wide else (u, v)
    vh = v.mT.conj() if v.dtype.kind == "c" else v.mT
    stack = a.shape[:-2]
    return SVDResult(u.reshape((*stack, *u.shape[1:])), s, vh.reshape((*stack, *vh.shape[1:])))


def _hermitian_svd(a, compute_uv):
    """Singular values, and vectors, of Hermitian matrices by their eigenvalues."""
    if not compute_uv:
        return _g.flip(_g.sort(_g.absolute(eigvalsh(a)), -1), -1)
    s, u = eigh(a)
    sign, s = _g.copysign(s.dtype.type(1), s), _g.absolute(s)
    order = _g.flip(_g.argsort(s, -1), -1)
    sign, s = (_g.take_along_axis(x, order, -1) for x in (sign, s))
    u = _g.take_along_axis(u, order[..., None, :], -1)
    return SVDResult(u, s, (u * sign[..., None, :]).mT.conj())


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """Singular value decompositions; see `numpy.linalg.svd`.

    Waits to see that all were found; matrices with infinities or NaN raise `LinAlgError`.
    """
    return _hermitian_svd(a, compute_uv) if hermitian else _svd(a, full_matrices, compute_uv)


def svdvals(x, /):
    """Singular values in descending order; waits as `svd`. See `numpy.linalg.svdvals`."""
    return _svd(x, False, False)
