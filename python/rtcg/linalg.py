"""Linear algebra of device arrays under the names of `numpy.linalg`; stacks of matrices everywhere.

Factorizations are kernels of this package (no cuBLAS or cuSOLVER is needed): LU with partial pivoting, Cholesky, and
QR by Householder reflections, eigenvalues of Hermitian and of general matrices, and singular values, in float32,
float64 and their complex types. `solve`, `inv` and `cholesky` wait to see that matrices are not singular, or are
positive definite; eigenvalues, singular values and what needs them wait to see that all were found.
"""

import operator
from collections import namedtuple

import numpy as np
from numpy.linalg import LinAlgError as LinAlgError

from rtcg import _native, numpy as _xp
from rtcg._axes import normalize_axis
from rtcg._linalg_products import cross, diagonal, matmul, matrix_power, multi_dot, outer, trace
from rtcg._messages import shown
from rtcg.numpy import matrix_transpose as matrix_transpose, tensordot as tensordot, vecdot as vecdot

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer",
    "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot",
    "vector_norm",
]  # fmt: skip


# They are named after the module where users find them.
for _function in (cross, diagonal, matmul, matrix_power, multi_dot, outer, trace):
    _function.__module__ = __name__


# -- systems of equations -----------------------------------------------------------------------------


def solve(a, b):
    """Solutions of ``a @ x = b``; waits to see that no matrix is singular. See `numpy.linalg.solve`.

    By LU factors with partial pivoting.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., n, n)``, of float32, float64 or their complex types; integers are taken as float64.
    b : array-like
        Of shape ``(..., n, k)``, or ``(n,)``; leading axes are broadcast.

    Raises
    ------
    numpy.linalg.LinAlgError
        When a matrix is singular or not square.
    """
    return _native.linalg_solve(_xp._to_device(a), _xp._to_device(b))


def inv(a):
    """Inverse matrices; waits to see that no matrix is singular. See `numpy.linalg.inv`.

    By LU factors with partial pivoting.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., n, n)``, of float32, float64 or their complex types; integers are taken as float64.

    Raises
    ------
    numpy.linalg.LinAlgError
        When a matrix is singular or not square.
    """
    return _native.linalg_inv(_xp._to_device(a))


def tensorsolve(a, b, axes=None):
    """The array `x` with ``tensordot(a, x, x.ndim) == b``; waits to see that there is one.

    `a` and `b` are array-like; `axes` of `a` are moved to its end first. The result has the shape of the last axes of
    `a`, and as many elements as `b`. Raises `LinAlgError` when `a` is no square matrix of these axes, or singular. By
    `solve`.
    """
    a, b = _xp._to_device(a), _xp._to_device(b)
    if axes is not None:
        axes = [normalize_axis(axis, a.ndim) for axis in axes]
        a = a.transpose([k for k in range(a.ndim) if k not in axes] + axes)
    shape = a.shape[-(a.ndim - b.ndim) :] if a.ndim > b.ndim else ()
    size = int(np.prod(shape, dtype=int))
    if a.size != size * size:
        raise LinAlgError(
            f"tensorsolve: a has shape {a.shape} and b {b.ndim} axes; expected prod(a.shape[b.ndim:]) == "
            "prod(a.shape[:b.ndim])"
        )
    return solve(a.reshape((size, size)), b.ravel()).reshape(shape)


def tensorinv(a, ind=2):
    """The inverse of a tensor, with regard to its first `ind` axes: a new array of ``a.shape[ind:] + a.shape[:ind]``.

    `a` is array-like, and square as a matrix of the first and the other axes, else raises `LinAlgError`, as where it is
    singular; a `ValueError` for an `ind` that is not positive. By `inv`, and waits as that.
    """
    a = _xp._to_device(a)
    if not isinstance(ind, (int, np.integer)) or ind <= 0:
        raise ValueError(f"Invalid ind argument. ind is {shown(ind)}; expected a positive integer")
    rows = int(np.prod(a.shape[ind:], dtype=int))
    return inv(a.reshape((rows, -1))).reshape(a.shape[ind:] + a.shape[:ind])


def det(a):
    """Determinants; does not wait. See `numpy.linalg.det`.

    The product of the diagonal of LU factors.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., n, n)``, of float32, float64 or their complex types; integers are taken as float64.

    Returns
    -------
    GPUArray
        Of shape ``(...)``.

    Raises
    ------
    numpy.linalg.LinAlgError
        When the matrices are not square.
    """
    return _native.linalg_det(_xp._to_device(a))


#: What `slogdet` returns: signs and logarithms of the sizes of determinants.
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")


def slogdet(a):
    """Signs and natural logarithms of the absolute values of determinants: a `SlogdetResult` of two new arrays.

    `a` is array-like of shape ``(..., n, n)``, results are of ``(...)``; of a singular matrix they are 0 and minus
    infinity. For determinants that are too large or too small for `det`, whose dtypes, errors and algorithm are the
    same. Does not wait.
    """
    return SlogdetResult(*_native.linalg_slogdet(_xp._to_device(a)))


# -- factorizations -----------------------------------------------------------------------------------


def cholesky(a, /, *, upper=False):
    """Cholesky factors of positive definite matrices; waits to see that they are. See `numpy.linalg.cholesky`.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., n, n)``, of float32, float64 or their complex types; integers are taken as float64.
    upper : bool
        ``U`` with ``a = U^H @ U``; else ``L`` with ``a = L @ L^H``.

    Raises
    ------
    numpy.linalg.LinAlgError
        When a matrix is not positive definite (NaN is not), or not square.
    """
    return _native.linalg_cholesky(_xp._to_device(a), bool(upper))


#: What `qr` returns.
QRResult = namedtuple("QRResult", "Q R")


def qr(a, mode="reduced"):
    """Unitary and upper triangular factors by Householder reflections; does not wait. See `numpy.linalg.qr`.

    Panels of columns, whose reflections are applied to what is on their right by matrix products.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., m, n)``, of float32, float64 or their complex types; integers are taken as float64.
    mode : str
        reduced: `Q` of shape ``(..., m, k)`` and `R` of ``(..., k, n)``, where k is the smaller of m and n; complete:
        of ``(..., m, m)`` and ``(..., m, n)``; r: `R` alone; raw: the reflectors and their factors, as LAPACK has them.

    Raises
    ------
    numpy.linalg.LinAlgError
        For fewer than two dimensions.
    """
    if not isinstance(mode, str):
        raise TypeError(f"mode is {shown(mode)}; expected 'reduced', 'complete', 'r' or 'raw'")
    found = _native.linalg_qr(_xp._to_device(a), mode)
    return found[0] if mode == "r" else found if mode == "raw" else QRResult(*found)


# -- eigenvalues and singular values ------------------------------------------------------------------


def _is_upper(UPLO):
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        raise ValueError(f"UPLO argument must be 'L' or 'U'; it is {shown(UPLO)}")
    return UPLO.upper() == "U"


#: What `eigh` returns: eigenvalues in ascending order, and eigenvectors as columns.
EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")


def eigh(a, UPLO="L"):
    """Eigenvalues and eigenvectors of Hermitian matrices; waits to see that all were found. See `numpy.linalg.eigh`.

    By Householder tridiagonalization, then divide and conquer.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., n, n)``, of float32, float64 or their complex types; integers are taken as float64.
    UPLO : str
        L or U: the triangle that is read.

    Returns
    -------
    EighResult
        `eigenvalues` of shape ``(..., n)``, ascending, and `eigenvectors` as columns.

    Raises
    ------
    numpy.linalg.LinAlgError
        For infinities or NaN, or when the iterations do not converge.
    """
    return EighResult(*_native.linalg_eigh(_xp._to_device(a), _is_upper(UPLO)))


def eigvalsh(a, UPLO="L"):
    """Eigenvalues of Hermitian matrices: a new array of real numbers, in ascending order; waits as `eigh`.

    `a` is array-like of shape ``(..., n, n)``, the result of ``(..., n)``. `UPLO` "L" or "U" is the triangle that is
    read. Dtypes, errors and the algorithm are those of `eigh`, without the vectors.
    """
    return _native.linalg_eigvalsh(_xp._to_device(a), _is_upper(UPLO))


#: What `eig` returns: eigenvalues, and eigenvectors of length 1 as columns.
EigResult = namedtuple("EigResult", "eigenvalues eigenvectors")


def eig(a):
    """Eigenvalues and eigenvectors of square matrices; see `numpy.linalg.eig`.

    Waits to see that all were found. By balancing, Hessenberg form and QR iterations, then back substitution.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., n, n)``, of float32, float64 or their complex types; integers are taken as float64.

    Returns
    -------
    EigResult
        `eigenvalues` of shape ``(..., n)`` in no order, and `eigenvectors` of length 1 as columns. Both are complex, as
        from NumPy 2.5 on.

    Raises
    ------
    numpy.linalg.LinAlgError
        For infinities or NaN, when the iterations do not converge, or when a matrix is not square.
    """
    return EigResult(*_native.linalg_eig(_xp._to_device(a)))


def eigvals(a):
    """Eigenvalues of square matrices: a new array of complex numbers, in no order; waits as `eig`.

    `a` is array-like of shape ``(..., n, n)``, the result of ``(..., n)``. Dtypes, errors and the algorithm are those
    of `eig`, without the vectors.
    """
    return _native.linalg_eigvals(_xp._to_device(a))


#: What `svd` returns: left singular vectors as columns, singular values in descending order, right ones as rows.
SVDResult = namedtuple("SVDResult", "U S Vh")


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """Singular value decompositions ``a = U @ diag(S) @ Vh``; waits to see that all were found. See `numpy.linalg.svd`.

    By one-sided Jacobi rotations, of longer matrices after a product with the eigenvectors of ``a^H a``.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., m, n)``, of float32, float64 or their complex types; integers are taken as float64.
    full_matrices : bool
        `U` and `Vh` are square; else of shapes ``(..., m, k)`` and ``(..., k, n)``, where k is the smaller of m and n.
    compute_uv : bool
        False: only `S`, of shape ``(..., k)``, in descending order.
    hermitian : bool
        The matrices are Hermitian; their eigenvalues are used.

    Returns
    -------
    SVDResult
        `U`, `S`, `Vh`.

    Raises
    ------
    numpy.linalg.LinAlgError
        For infinities or NaN, or when the iterations do not converge.
    """
    a = _xp._to_device(a)
    if not compute_uv:
        return _native.linalg_svdvals(a, bool(hermitian))
    return SVDResult(*_native.linalg_svd(a, bool(full_matrices), bool(hermitian)))


def svdvals(x, /):
    """Singular values: a new array of real numbers, in descending order; waits as `svd`.

    `x` is array-like of shape ``(..., m, n)``, the result of ``(..., min(m, n))``. Dtypes, errors and the algorithm are
    those of `svd`, without the vectors.
    """
    return _native.linalg_svdvals(_xp._to_device(x), False)


# -- what singular values are for ---------------------------------------------------------------------

_UNSET = object()


def _parse_tolerance(name, size):
    """A tolerance for all matrices, or an array with one of each."""
    if size is None or isinstance(size, _xp.GPUArray):
        return size
    sizes = np.asarray(size)
    if sizes.dtype.kind not in "biuf":
        raise TypeError(f"{name} is {shown(size)}; expected a real number or an array of them")
    return _xp._to_device(sizes) if sizes.ndim else float(sizes)


def pinv(a, rcond=None, hermitian=False, *, rtol=_UNSET):
    """Pseudo-inverses (Moore-Penrose) of matrices: a new array of shape ``(..., n, m)``; waits as `svd`.

    `a` is array-like of shape ``(..., m, n)``. Singular values up to `rcond`, or `rtol`, times the largest count as 0:
    a number or an array of one for each matrix, 1e-15 by default; `rtol` None is eps times the longer side. Raises
    `ValueError` for both. `hermitian` says that matrices are Hermitian. Errors are those of `svd`, which it is made
    from.
    """
    a = _xp._to_device(a)
    if rcond is not None and rtol is not _UNSET:
        raise ValueError(f"`rtol` and `rcond` can't be both set. They are {shown(rtol)} and {shown(rcond)}")
    if rtol is _UNSET:
        tolerance = _parse_tolerance("rcond", 1e-15 if rcond is None else rcond)
    else:
        tolerance = _parse_tolerance("rtol", rtol)
    return _native.linalg_pinv(a, tolerance, bool(hermitian))


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """Ranks: how many singular values are larger than a tolerance, int64; waits as `svd`.

    `A` is array-like of shape ``(..., m, n)``, the result of ``(...)``. `tol` is the tolerance, `rtol` one times the
    largest value, by default eps times the longer side; a `ValueError` for both. `hermitian` says that matrices are
    Hermitian. Fewer than two axes have rank 0 or 1. Errors are those of `svd`.
    """
    if rtol is not None and tol is not None:
        raise ValueError(f"`tol` and `rtol` can't be both set. They are {shown(tol)} and {shown(rtol)}")
    return _native.linalg_matrix_rank(
        _xp._to_device(A), _parse_tolerance("tol", tol), _parse_tolerance("rtol", rtol), bool(hermitian)
    )


def lstsq(a, b, rcond=None):
    """Least-squares solutions, sums of squares of what is left, rank and singular values; see `numpy.linalg.lstsq`.

    The solutions of least length, by singular values. Waits for the rank, which is a number on the host.

    Parameters
    ----------
    a : array-like
        Of shape ``(m, n)``.
    b : array-like
        Of shape ``(m,)`` or ``(m, k)``.
    rcond : float, optional
        Singular values up to `rcond` times the largest count as 0; by default eps times the longer side of `a`.

    Raises
    ------
    numpy.linalg.LinAlgError
        When the shapes do not fit, for infinities or NaN, or when the iterations do not converge.
    """
    if rcond is not None and not isinstance(rcond, (int, float, np.integer, np.floating)):
        raise TypeError(f"rcond is {shown(rcond)}; expected None or a real number")
    ratio = None if rcond is None else float(rcond)
    x, rest, rank, s = _native.linalg_lstsq(_xp._to_device(a), _xp._to_device(b), ratio)
    return x, rest, np.int32(rank), s


# -- norms --------------------------------------------------------------------------------------------


def _vector_norm(a, ord, axis, keepdims):  # noqa: A002
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors; expected a number")
    axes = None if axis is None else tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    return _native.linalg_vector_norm(a, 2.0 if ord is None else float(ord), axes, bool(keepdims))


_MATRIX_NORMS = {
    None: "fro", "fro": "fro", "f": "fro", "nuc": "nuc", 2: "2", -2: "-2", 1: "1", -1: "-1", np.inf: "inf",
    -np.inf: "-inf",
}  # fmt: skip


def _matrix_norm_name(order, name="ord"):
    try:
        return _MATRIX_NORMS[order]
    except (KeyError, TypeError):
        raise ValueError(
            f"Invalid norm order for matrices. {name} is {shown(order)}; expected "
            "None, 'fro', 'nuc', 1, 2 or inf, or minus "
            "these numbers"
        ) from None


def _matrix_norm(a, ord, axes, keepdims):  # noqa: A002
    row, column = (normalize_axis(axis, a.ndim) for axis in axes)
    if row == column:
        raise ValueError(f"Duplicate axes given. axis is {tuple(axes)}; expected two different ones of {a.ndim}")
    result = _native.linalg_matrix_norm(_xp.moveaxis(a, (row, column), (-2, -1)), _matrix_norm_name(ord))
    if not keepdims:
        return result
    return result.reshape(tuple(1 if axis in (row, column) else length for axis, length in enumerate(a.shape)))


def norm(x, ord=None, axis=None, keepdims=False):  # noqa: A002
    """Norms of vectors or matrices along `axis`: a new array without it; those of singular values wait as `svd`.

    `x` is array-like. `axis` is an int for vectors or two for matrices; without it and `ord` it is the 2-norm of all
    elements. `ord` of vectors is any number, infinities too; of matrices None or "fro", "nuc", 1, 2, inf or minus these
    numbers; raises `ValueError` for others, and for other numbers of axes. `keepdims` leaves the axes with length 1.
    Nothing but "nuc", 2 and -2 waits.
    """
    x = _xp._to_device(x)
    if axis is None:
        if ord is None or (ord in ("f", "fro") and x.ndim == 2) or (ord == 2 and x.ndim == 1):
            return _vector_norm(x, None, None, keepdims)
        if x.ndim not in (1, 2):
            raise ValueError(
                f"Improper number of dimensions to norm. x has {x.ndim}; expected 1 or 2 with ord and without axis"
            )
        axis = tuple(range(x.ndim))
    elif not isinstance(axis, (tuple, list)):
        try:
            axis = (operator.index(axis),)
        except TypeError:
            raise TypeError(f"axis is {shown(axis)}; expected an integer or two of them") from None
    if len(axis) == 1:
        return _vector_norm(x, ord, axis[0], keepdims)
    if len(axis) == 2:
        return _matrix_norm(x, ord, axis, keepdims)
    raise ValueError(f"Improper number of dimensions to norm. axis is {tuple(axis)}; expected one axis or two")


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):  # noqa: A002
    """Norms of vectors along `axis`, or of all elements without it: a new array; does not wait.

    `x` is array-like; `axis` is None, an int or a tuple of int, along all of which together the norm is taken. `ord` is
    any number, infinities too; raises `ValueError` for words. `keepdims` leaves the axes with length 1. The result is
    real.
    """
    return _vector_norm(_xp._to_device(x), ord, axis, keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):  # noqa: A002
    """Norms of matrices: a new array of real numbers of shape ``(...)``; those of singular values wait as `svd`.

    `x` is array-like of shape ``(..., m, n)``; `ord` is "fro", "nuc", 1, 2, inf or minus these numbers; raises
    `ValueError` for others. `keepdims` leaves two axes of length 1. Nothing but "nuc", 2 and -2 waits.
    """
    return _matrix_norm(_xp._to_device(x), ord, (-2, -1), keepdims)


def cond(x, p=None):
    """Condition numbers of matrices: a new array of real numbers of shape ``(...)``.

    `x` is array-like of shape ``(..., m, n)``; `p` is the norm, by default 2: the ratio of singular values, which is
    waited for as by `svd`. Other norms (those of `matrix_norm`) are multiplied with those of the inverses: square
    matrices only. Singular ones give infinity.
    """
    return _native.linalg_cond(_xp._to_device(x), "2" if p is None else _matrix_norm_name(p, "p"))
