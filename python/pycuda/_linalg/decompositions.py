"""Eigenvalues, singular values and what needs them, under the names of `numpy.linalg`; part of `pycuda.linalg`."""

from collections import namedtuple

import numpy as np
from numpy.linalg import LinAlgError

from pycuda import gpuarray as _g
from pycuda._linalg import (
    eigenvectors as _eigenvectors,
    factorizations as _f,
    hermitian as _hermitian,
    hestenes as _hestenes,
    matrix_kernels as _kernels,
    scaling as _scaling,
    schur as _schur,
)
from pycuda._linalg.matrices import copied, floating, real_of, stacked

#: What `eigh` returns: eigenvalues in ascending order, and eigenvectors as columns.
EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")


def _eigh(a, UPLO, is_with_vectors):
    """Eigenvalues and eigenvectors (or None) of matrices, of which a triangle is read; waits for the report."""
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        raise ValueError(f"UPLO argument must be 'L' or 'U'; it is {UPLO!r}")
    a = stacked(a)
    matrices, triangle = copied(a, floating(a.dtype)), 1 if UPLO.upper() == "L" else 2
    values, vectors, report = _hermitian.decompose(matrices, triangle, is_with_vectors)
    if a.size and int(report[0]):
        raise LinAlgError("Eigenvalues did not converge")
    return values.reshape(a.shape[:-1]), vectors.reshape(a.shape) if is_with_vectors else None


def eigh(a, UPLO="L"):
    """Eigenvalues and eigenvectors of Hermitian matrices; see `numpy.linalg.eigh`.

    Waits to see that all were found; matrices with infinities or NaN raise `LinAlgError`.
    """
    return EighResult(*_eigh(a, UPLO, True))


def eigvalsh(a, UPLO="L"):
    """Eigenvalues of Hermitian matrices in ascending order; waits as `eigh`. See `numpy.linalg.eigvalsh`."""
    return _eigh(a, UPLO, False)[0]


#: What `eig` returns: eigenvalues, and eigenvectors of length 1 as columns.
EigResult = namedtuple("EigResult", "eigenvalues eigenvectors")


def _general(a, is_with_vectors):
    """Eigenvalues and eigenvectors (or None) of matrices; real ones if all eigenvalues are."""
    a = stacked(a)
    dtype = floating(a.dtype)
    forms = copied(a, dtype)
    exponents, report = _scaling.scale(forms)
    if a.size and int(report[0]):
        raise LinAlgError("Array must not contain infs or NaNs")
    scales = _eigenvectors.balance(forms)
    reals, imags, products = _schur.reduce(forms, report, is_with_vectors)
    if a.size and int(report[0]):
        raise LinAlgError("Eigenvalues did not converge")
    is_wide = dtype.kind != "c" and a.size > 0 and bool((imags != 0).any())
    vectors = None
    if is_with_vectors:
        vectors = _eigenvectors.find(forms, reals, imags, products, scales, is_wide).reshape(a.shape)
    _eigenvectors.unscale(reals, imags, exponents, dtype)
    if dtype.kind != "c" and not is_wide:
        return reals.reshape(a.shape[:-1]), vectors
    values = _g.empty(reals.shape, np.result_type(dtype, np.complex64), reals.allocator)
    values.real[...], values.imag[...] = reals, imags
    return values.reshape(a.shape[:-1]), vectors


def eig(a):
    """Eigenvalues and eigenvectors of square matrices; see `numpy.linalg.eig`.

    Waits; results of real matrices are real if all eigenvalues are. Matrices with infinities or NaN raise
    `LinAlgError`.
    """
    return EigResult(*_general(a, True))


def eigvals(a):
    """Eigenvalues of square matrices; waits as `eig`. See `numpy.linalg.eigvals`."""
    return _general(a, False)[0]


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
    w = _g.zeros((int(np.prod(stack, dtype=int)), n, _hestenes.padded(m)), dtype, columns.allocator)
    if columns.size:
        w[:, :, :m] = columns.reshape((len(w), n, m))
    return w


def _tall_svd(w, m, full_matrices, is_with_vectors):
    """U, singular values and V of m x n matrices, m >= n, whose columns are the rows of `w`, filled up."""
    n = w.shape[1]
    exponents, report = _scaling.scale(w)
    lengths, rows = _hestenes.columns(w, report, is_with_vectors)
    values, places = _scaling.order(lengths, exponents, w.dtype, is_descending=True)
    found = int(report[0]) if w.size else 0
    if found & (_kernels.NOT_FINITE | _kernels.NOT_CONVERGED):
        raise LinAlgError("SVD did not converge")
    if not is_with_vectors:
        return None, values, None
    u = _completed(_scaling.placed(w, places, m), m if full_matrices else n, not found & _kernels.NOT_OF_FULL_RANK)
    return u, values, _scaling.placed(rows, places, n)


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


# -- what singular values are for ---------------------------------------------------------------------

_UNSET = object()


def _raised(name, ratio):
    """Tolerances of stacks, with an axis for the singular values."""
    if isinstance(ratio, _g.GPUArray):
        return ratio[..., None]
    ratios = np.asarray(ratio)
    if ratios.dtype.kind not in "biuf":
        raise TypeError(f"{name} is {ratio!r}; expected a real number or an array of them")
    return ratios[..., None] if ratios.ndim else float(ratios)


def pinv(a, rcond=None, hermitian=False, *, rtol=_UNSET):
    """Pseudo-inverses of matrices; waits as `svd`. See `numpy.linalg.pinv`."""
    a = _g._array(a)
    if rcond is not None and rtol is not _UNSET:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    a = stacked(a, is_square=False)
    m, n = a.shape[-2:]
    name = "rcond" if rtol is _UNSET else "rtol"
    if rcond is None:
        rcond = 1e-15 if rtol is _UNSET else rtol
    if rcond is None:
        rcond = max(m, n) * np.finfo(floating(a.dtype)).eps
    if 0 in (m, n):
        return _g.empty((*a.shape[:-2], n, m), floating(a.dtype), a.allocator)
    u, s, vh = svd(a, full_matrices=False, hermitian=hermitian)
    is_large = s > _raised(name, rcond) * s[..., :1]
    inverse = _g.where(is_large, 1 / _g.where(is_large, s, s.dtype.type(1)), s.dtype.type(0))
    u, v = (u.conj(), vh.conj()) if u.dtype.kind == "c" else (u, vh)
    return v.mT @ (inverse[..., None] * u.mT)


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """How many singular values are larger than a tolerance; waits as `svd`. See `numpy.linalg.matrix_rank`."""
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    a = _g._array(A)
    if a.ndim < 2:
        return (a != 0).any().astype(np.int64)
    s = svd(a, compute_uv=False, hermitian=hermitian)
    if s.shape[-1] == 0:
        return _g.zeros(s.shape[:-1], np.int64, s.allocator)
    if tol is None:
        tol = s[..., :1] * (max(a.shape[-2:]) * np.finfo(s.dtype).eps if rtol is None else _raised("rtol", rtol))
    else:
        tol = _raised("tol", tol)
    return _g.count_nonzero(s > tol, axis=-1)


def _of_two_axes(a):
    a = _g._array(a)
    if a.ndim != 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    return a


def lstsq(a, b, rcond=None):
    """Least-squares solutions, sums of squares of what is left, rank and singular values; see `numpy.linalg.lstsq`.

    The solutions of least length, by singular values. Waits for the rank, which is a number on the host.
    """
    b = _g._array(b)
    is_vector = b.ndim == 1
    a, b = _of_two_axes(a), _of_two_axes(b[:, None] if is_vector else b)
    m, n = a.shape
    if m != b.shape[0]:
        raise LinAlgError(f"Incompatible dimensions: a has {m} rows, b has {b.shape[0]}")
    dtype = floating(a.dtype, b.dtype)
    a, b, real = a.astype(dtype), b.astype(dtype), real_of(dtype)
    try:
        u, s, vh = svd(a, full_matrices=False)
    except LinAlgError:
        raise LinAlgError("SVD did not converge in Linear Least Squares") from None
    # As LAPACK has it, less than nothing stands for the precision of the elements.
    rcond = np.finfo(dtype).eps * max(m, n) if rcond is None else np.finfo(dtype).eps if rcond < 0 else rcond
    rank = int((s > rcond * s[0]).sum()) if s.size else 0
    u, s_kept, v = u[:, :rank], s[:rank], vh[:rank].mT
    u, v = (u.conj(), v.conj()) if dtype.kind == "c" else (u, v)
    x = v @ ((u.mT @ b) / s_kept[:, None]) if rank else _g.zeros((n, b.shape[1]), dtype, a.allocator)
    rest = _g.empty(0, real, a.allocator)
    if rank == n < m:
        left = b - a @ x if n else b
        rest = (_g.absolute(left) ** 2).sum(0).astype(real)
    return x[:, 0].copy() if is_vector else x, rest, np.int32(rank), s
