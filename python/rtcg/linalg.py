"""Linear algebra of device arrays under the names of `numpy.linalg`; all functions accept stacks of matrices.

`lu_factor`, `lu_solve`, `cho_solve` and `solve_triangular` are those of `scipy.linalg`.

Factorizations are kernels of this package (no cuBLAS or cuSOLVER is needed): LU with partial pivoting, Cholesky, QR by
Householder reflections, eigenvalues of Hermitian and of general matrices, and singular values, in float32, float64 and
their complex types. `solve`, `inv` and `cholesky` wait to check that matrices are nonsingular or positive definite.
Eigenvalues, singular values and functions based on them wait to check that the iterations converged.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError as LinAlgError

from rtcg import _native, numpy as _xp
from rtcg._axes import normalize_axis
from rtcg._linalg_products import cross, diagonal, matmul, matrix_power, multi_dot, outer, trace
from rtcg._messages import shown
from rtcg.numpy import matrix_transpose as matrix_transpose, tensordot as tensordot, vecdot as vecdot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtcg.numpy import GPUArray

__all__ = [
    "LinAlgError", "cho_solve", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "inv", "lstsq", "lu_factor", "lu_solve", "matmul", "matrix_norm", "matrix_power", "matrix_rank",
    "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "solve_triangular", "svd",
    "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip


# They are named after the module where users find them.
for _function in (cross, diagonal, matmul, matrix_power, multi_dot, outer, trace):
    _function.__module__ = __name__


# -- systems of equations -----------------------------------------------------------------------------


def solve(a: Any, b: Any) -> GPUArray:
    """Solve ``a @ x = b``; waits to check that no matrix is singular. See `numpy.linalg.solve`.

    Uses an LU factorization with partial pivoting.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., n, n)``, of float32, float64 or their complex types; integers are converted to float64.
    b : array-like
        Of shape ``(..., n, k)``, or ``(n,)``; leading axes are broadcast.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular or not square.
    """
    return _native.linalg_solve(_xp._to_device(a), _xp._to_device(b))


_TRANSPOSITIONS = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}


def _transposition(trans: Any) -> int:
    try:
        return _TRANSPOSITIONS[trans]
    except (KeyError, TypeError):
        raise ValueError(f"trans is {shown(trans)}; expected 0 or 'N', 1 or 'T', 2 or 'C'") from None


def solve_triangular(
    a: Any, b: Any, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False
) -> GPUArray:
    """Solve ``a @ x = b`` for a triangular matrix; waits to check its diagonal. See `scipy.linalg.solve_triangular`.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., n, n)``, of float32, float64 or their complex types; integers are converted to float64. What is
        on the other side of the diagonal is not read.
    b : array-like
        Of shape ``(..., n, k)``, or ``(n,)``; leading axes are broadcast.
    trans : {0, 1, 2, "N", "T", "C"}
        Whether ``a``, its transpose or its conjugate transpose is solved with.
    lower : bool
        Whether the lower triangle is read; else the upper one.
    unit_diagonal : bool
        Whether ones stand for the diagonal, which is not read then.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a number on the diagonal is 0, or a matrix is not square.
    ValueError
        If the shapes do not fit, or for other `trans`.

    Examples
    --------
    >>> import rtcg.autoinit
    >>> from rtcg import linalg
    >>> linalg.solve_triangular([[2.0, 0.0], [1.0, 4.0]], [4.0, 6.0], lower=True).get().tolist()
    [2.0, 1.0]
    """
    return _native.linalg_solve_triangular(
        _xp._to_device(a), _xp._to_device(b), _transposition(trans), bool(lower), bool(unit_diagonal)
    )


#: What `lu_factor` returns.
class LUResult(NamedTuple):
    lu: GPUArray
    piv: GPUArray


def lu_factor(a: Any) -> LUResult:
    """LU factors with partial pivoting, for `lu_solve`; does not wait. See `scipy.linalg.lu_factor`.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., n, n)``, of float32, float64 or their complex types; integers are converted to float64.

    Returns
    -------
    lu : GPUArray
        Of the shape of `a`: L below the diagonal, whose own diagonal is 1, and U.
    piv : GPUArray
        Of shape ``(..., n)`` and dtype int32: row ``k`` was exchanged with row ``piv[k]``, for ascending ``k``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is not square. A singular one has a zero on the diagonal of U, which is not checked.
    """
    return LUResult(*_native.linalg_lu_factor(_xp._to_device(a)))


def lu_solve(lu_and_piv: tuple[Any, Any], b: Any, trans: int | str = 0) -> GPUArray:
    """Solve ``a @ x = b`` by the factors of `lu_factor`; waits to check the pivots. See `scipy.linalg.lu_solve`.

    Parameters
    ----------
    lu_and_piv : tuple of two array-likes
        The factors and the pivots.
    b : array-like
        Of shape ``(..., n, k)``, or ``(n,)``; leading axes are broadcast.
    trans : {0, 1, 2, "N", "T", "C"}
        Whether ``a``, its transpose or its conjugate transpose is solved with.

    Returns
    -------
    GPUArray
        Infinite or NaN where a matrix is singular.

    Raises
    ------
    ValueError
        If the shapes do not fit, a pivot is no row, or for other `trans`.

    Examples
    --------
    >>> import rtcg.autoinit
    >>> from rtcg import linalg
    >>> factors = linalg.lu_factor([[0.0, 2.0], [1.0, 1.0]])
    >>> linalg.lu_solve(factors, [4.0, 3.0]).get().tolist()
    [1.0, 2.0]
    """
    lu, piv = lu_and_piv
    return _native.linalg_lu_solve(_xp._to_device(lu), _xp._to_device(piv), _xp._to_device(b), _transposition(trans))


def cho_solve(c_and_lower: tuple[Any, bool], b: Any) -> GPUArray:
    """Solve ``a @ x = b`` by a factor of `cholesky`; waits to check its diagonal. See `scipy.linalg.cho_solve`.

    Parameters
    ----------
    c_and_lower : tuple of array-like and bool
        The factor, and whether it is the lower one; the other triangle is not read.
    b : array-like
        Of shape ``(..., n, k)``, or ``(n,)``; leading axes are broadcast.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a number on the diagonal is 0, or a matrix is not square.

    Examples
    --------
    >>> import rtcg.autoinit
    >>> from rtcg import linalg
    >>> a = [[4.0, 2.0], [2.0, 2.0]]
    >>> linalg.cho_solve((linalg.cholesky(a), True), [8.0, 6.0]).get().tolist()
    [1.0, 2.0]
    """
    c, lower = c_and_lower
    first, second = ("N", "C") if lower else ("C", "N")
    return solve_triangular(c, solve_triangular(c, b, first, lower), second, lower)


def inv(a: Any) -> GPUArray:
    """Invert matrices; waits to check that no matrix is singular. Returns a new array. See `numpy.linalg.inv`.

    Uses an LU factorization with partial pivoting.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., n, n)``, of float32, float64 or their complex types; integers are converted to float64.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular or not square.
    """
    return _native.linalg_inv(_xp._to_device(a))


def tensorsolve(a: Any, b: Any, axes: Any = None) -> GPUArray:
    """The array `x` with ``tensordot(a, x, x.ndim) == b``; waits to check that there is one.

    `a` and `b` are array-like; `axes` of `a` are first moved to its end. The result has the shape of the last axes of
    `a`, and as many elements as `b`. Raises `LinAlgError` if `a` is not square as a matrix of these axes, or is
    singular. Uses `solve`.
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


def tensorinv(a: Any, ind: Any = 2) -> GPUArray:
    """The inverse of a tensor with respect to its first `ind` axes, of shape ``a.shape[ind:] + a.shape[:ind]``.

    Returns a new array. `a` is array-like. Raises `LinAlgError` if it is not square as a matrix of the first and the
    other axes, or is singular, and `ValueError` if `ind` is not positive. Uses `inv`, and waits as it does.
    """
    a = _xp._to_device(a)
    if not isinstance(ind, (int, np.integer)) or ind <= 0:
        raise ValueError(f"Invalid ind argument. ind is {shown(ind)}; expected a positive integer")
    rows = int(np.prod(a.shape[ind:], dtype=int))
    return inv(a.reshape((rows, -1))).reshape(a.shape[ind:] + a.shape[:ind])


def det(a: Any) -> GPUArray:
    """Determinants; does not wait. See `numpy.linalg.det`.

    Computed as the product of the diagonal of an LU factorization.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., n, n)``, of float32, float64 or their complex types; integers are converted to float64.

    Returns
    -------
    GPUArray
        Of shape ``(...)``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices are not square.
    """
    return _native.linalg_det(_xp._to_device(a))


#: What `slogdet` returns: signs and logarithms of the sizes of determinants.
class SlogdetResult(NamedTuple):
    sign: GPUArray
    logabsdet: GPUArray


def slogdet(a: Any) -> SlogdetResult:
    """Signs and natural logarithms of the absolute values of determinants: a `SlogdetResult` of two new arrays.

    `a` is array-like of shape ``(..., n, n)``, and results have the shape ``(...)``; for a singular matrix they are 0
    and minus infinity. Use it for determinants that are too large or too small for `det`; dtypes, errors and algorithm
    are those of `det`. Does not wait.
    """
    return SlogdetResult(*_native.linalg_slogdet(_xp._to_device(a)))


# -- factorizations -----------------------------------------------------------------------------------


def cholesky(a: Any, /, *, upper: Any = False) -> GPUArray:
    """Cholesky factors of matrices; waits to check that they are positive definite. See `numpy.linalg.cholesky`.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., n, n)``, of float32, float64 or their complex types; integers are converted to float64.
    upper : bool
        ``U`` with ``a = U^H @ U``; else ``L`` with ``a = L @ L^H``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is not positive definite, has NaN, or is not square.
    """
    return _native.linalg_cholesky(_xp._to_device(a), bool(upper))


#: What `qr` returns.
class QRResult(NamedTuple):
    Q: GPUArray
    R: GPUArray


def qr(a: Any, mode: Any = "reduced") -> Any:
    """Unitary and upper triangular factors by Householder reflections; does not wait. See `numpy.linalg.qr`.

    A blocked algorithm: the reflections of a panel of columns are applied to the columns on its right by matrix
    products.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., m, n)``, of float32, float64 or their complex types; integers are converted to float64.
    mode : str
        reduced: `Q` of shape ``(..., m, k)`` and `R` of ``(..., k, n)``, where k is the smaller of m and n; complete:
        ``(..., m, m)`` and ``(..., m, n)``; r: `R` alone; raw: the reflectors and their factors, as in LAPACK.

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


def _is_upper(UPLO: Any) -> bool:
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        raise ValueError(f"UPLO argument must be 'L' or 'U'; it is {shown(UPLO)}")
    return UPLO.upper() == "U"


#: What `eigh` returns: eigenvalues in ascending order, and eigenvectors as columns.
class EighResult(NamedTuple):
    eigenvalues: GPUArray
    eigenvectors: GPUArray


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices; waits to check for convergence. See `numpy.linalg.eigh`.

    Uses Householder tridiagonalization, followed by divide and conquer.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., n, n)``, of float32, float64 or their complex types; integers are converted to float64.
    UPLO : str
        L or U: the triangle to read.

    Returns
    -------
    EighResult
        `eigenvalues` of shape ``(..., n)``, ascending, and `eigenvectors` as columns.

    Raises
    ------
    numpy.linalg.LinAlgError
        For infinities or NaN, or if the iterations do not converge.
    """
    return EighResult(*_native.linalg_eigh(_xp._to_device(a), _is_upper(UPLO)))


def eigvalsh(a: Any, UPLO: str = "L") -> GPUArray:
    """Eigenvalues of Hermitian matrices: a new array of real numbers, in ascending order; waits as `eigh` does.

    `a` is array-like of shape ``(..., n, n)``, and the result has the shape ``(..., n)``. `UPLO` "L" or "U" is the
    triangle to read. Dtypes, errors and algorithm are those of `eigh`, without the vectors.
    """
    return _native.linalg_eigvalsh(_xp._to_device(a), _is_upper(UPLO))


#: What `eig` returns: eigenvalues, and eigenvectors of length 1 as columns.
class EigResult(NamedTuple):
    eigenvalues: GPUArray
    eigenvectors: GPUArray


def eig(a: Any) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices; see `numpy.linalg.eig`.

    Waits to check for convergence. Uses balancing, reduction to Hessenberg form, QR iterations and back substitution.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., n, n)``, of float32, float64 or their complex types; integers are converted to float64.

    Returns
    -------
    EigResult
        `eigenvalues` of shape ``(..., n)`` in no particular order, and `eigenvectors` of length 1 as columns. Both are
        complex, as in NumPy since version 2.5.

    Raises
    ------
    numpy.linalg.LinAlgError
        For infinities or NaN, if the iterations do not converge, or if a matrix is not square.
    """
    return EigResult(*_native.linalg_eig(_xp._to_device(a)))


def eigvals(a: Any) -> GPUArray:
    """Eigenvalues of square matrices: a new array of complex numbers, in no particular order; waits as `eig` does.

    `a` is array-like of shape ``(..., n, n)``, and the result has the shape ``(..., n)``. Dtypes, errors and algorithm
    are those of `eig`, without the vectors.
    """
    return _native.linalg_eigvals(_xp._to_device(a))


#: What `svd` returns: left singular vectors as columns, singular values in descending order, right ones as rows.
class SVDResult(NamedTuple):
    U: GPUArray
    S: GPUArray
    Vh: GPUArray


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Singular value decomposition ``a = U @ diag(S) @ Vh``; waits to check for convergence. See `numpy.linalg.svd`.

    Uses one-sided Jacobi rotations; larger matrices are first multiplied by the eigenvectors of ``a^H a``.

    Parameters
    ----------
    a : array-like
        Of shape ``(..., m, n)``, of float32, float64 or their complex types; integers are converted to float64.
    full_matrices : bool
        True: `U` and `Vh` are square; False: they have the shapes ``(..., m, k)`` and ``(..., k, n)``, where k is the
        smaller of m and n.
    compute_uv : bool
        False: only `S`, of shape ``(..., k)``, in descending order.
    hermitian : bool
        Whether the matrices are Hermitian, so that their eigenvalues can be used.

    Returns
    -------
    SVDResult
        `U`, `S`, `Vh`.

    Raises
    ------
    numpy.linalg.LinAlgError
        For infinities or NaN, or if the iterations do not converge.
    """
    a = _xp._to_device(a)
    if not compute_uv:
        return _native.linalg_svdvals(a, bool(hermitian))
    return SVDResult(*_native.linalg_svd(a, bool(full_matrices), bool(hermitian)))


def svdvals(x: Any, /) -> GPUArray:
    """Singular values: a new array of real numbers, in descending order; waits as `svd` does.

    `x` is array-like of shape ``(..., m, n)``, and the result has the shape ``(..., min(m, n))``. Dtypes, errors and
    algorithm are those of `svd`, without the vectors.
    """
    return _native.linalg_svdvals(_xp._to_device(x), False)


# -- what singular values are for ---------------------------------------------------------------------

_UNSET = object()


def _parse_tolerance(name: str, size: Any) -> Any:
    """A tolerance for all matrices, or an array with one tolerance per matrix."""
    if size is None or isinstance(size, _xp.GPUArray):
        return size
    sizes = np.asarray(size)
    if sizes.dtype.kind not in "biuf":
        raise TypeError(f"{name} is {shown(size)}; expected a real number or an array of them")
    return _xp._to_device(sizes) if sizes.ndim else float(sizes)


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = _UNSET) -> GPUArray:
    """Moore-Penrose pseudo-inverses of matrices: a new array of shape ``(..., n, m)``; waits as `svd` does.

    `a` is array-like of shape ``(..., m, n)``. Singular values up to `rcond`, or `rtol`, times the largest one count as
    0. The factor is a number or an array with one per matrix, 1e-15 by default; `rtol` None means eps times the longer
    side. Raises `ValueError` if both are given. `hermitian` says that matrices are Hermitian. Other errors are those of
    `svd`, which it uses.
    """
    a = _xp._to_device(a)
    if rcond is not None and rtol is not _UNSET:
        raise ValueError(f"`rtol` and `rcond` can't be both set. They are {shown(rtol)} and {shown(rcond)}")
    if rtol is _UNSET:
        tolerance = _parse_tolerance("rcond", 1e-15 if rcond is None else rcond)
    else:
        tolerance = _parse_tolerance("rtol", rtol)
    return _native.linalg_pinv(a, tolerance, bool(hermitian))


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> GPUArray:
    """Ranks of matrices, the number of singular values above a tolerance, int64: a new array; waits as `svd` does.

    `A` is array-like of shape ``(..., m, n)``, and the result has the shape ``(...)``. `tol` is the tolerance; `rtol`
    is relative to the largest value, by default eps times the longer side; raises `ValueError` if both are given.
    `hermitian` says that matrices are Hermitian. Arrays with fewer than two axes have rank 0 or 1. Other errors are
    those of `svd`.
    """
    if rtol is not None and tol is not None:
        raise ValueError(f"`tol` and `rtol` can't be both set. They are {shown(tol)} and {shown(rtol)}")
    return _native.linalg_matrix_rank(
        _xp._to_device(A), _parse_tolerance("tol", tol), _parse_tolerance("rtol", rtol), bool(hermitian)
    )


def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[GPUArray, GPUArray, np.int32, GPUArray]:
    """Least-squares solutions, sums of squared residuals, rank and singular values; see `numpy.linalg.lstsq`.

    Finds the solutions of minimum norm from singular values. Waits for the rank, which is a number on the host.

    Parameters
    ----------
    a : array-like
        Of shape ``(m, n)``.
    b : array-like
        Of shape ``(m,)`` or ``(m, k)``.
    rcond : float, optional
        Singular values up to `rcond` times the largest one count as 0; by default eps times the longer side of `a`.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the shapes do not fit, for infinities or NaN, or if the iterations do not converge.
    """
    if rcond is not None and not isinstance(rcond, (int, float, np.integer, np.floating)):
        raise TypeError(f"rcond is {shown(rcond)}; expected None or a real number")
    ratio = None if rcond is None else float(rcond)
    x, rest, rank, s = _native.linalg_lstsq(_xp._to_device(a), _xp._to_device(b), ratio)
    return x, rest, np.int32(rank), s


# -- norms --------------------------------------------------------------------------------------------


def _vector_norm(a: GPUArray, ord: Any, axis: Any, keepdims: Any) -> GPUArray:  # noqa: A002
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors; expected a number")
    axes = None if axis is None else tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    return _native.linalg_vector_norm(a, 2.0 if ord is None else float(ord), axes, bool(keepdims))


_MATRIX_NORMS = {
    None: "fro", "fro": "fro", "f": "fro", "nuc": "nuc", 2: "2", -2: "-2", 1: "1", -1: "-1", np.inf: "inf",
    -np.inf: "-inf",
}  # fmt: skip


def _matrix_norm_name(order: Any, name: str = "ord") -> str:
    try:
        return _MATRIX_NORMS[order]
    except (KeyError, TypeError):
        raise ValueError(
            f"Invalid norm order for matrices. {name} is {shown(order)}; expected "
            "None, 'fro', 'nuc', 1, 2 or inf, or minus "
            "these numbers"
        ) from None


def _matrix_norm(a: GPUArray, ord: Any, axes: Sequence[Any], keepdims: Any) -> GPUArray:  # noqa: A002
    row, column = (normalize_axis(axis, a.ndim) for axis in axes)
    if row == column:
        raise ValueError(f"Duplicate axes given. axis is {tuple(axes)}; expected two different ones of {a.ndim}")
    result = _native.linalg_matrix_norm(_xp.moveaxis(a, (row, column), (-2, -1)), _matrix_norm_name(ord))
    if not keepdims:
        return result
    return result.reshape(tuple(1 if axis in (row, column) else length for axis, length in enumerate(a.shape)))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> GPUArray:  # noqa: A002
    """Norms of vectors or matrices along `axis`: a new array without that axis.

    `x` is array-like. `axis` is an int for vectors or two for matrices; without `axis` and `ord` the result is the
    2-norm of all elements. For vectors `ord` is any number, including infinities; for matrices it is None or "fro",
    "nuc", 1, 2, inf or minus these numbers. Raises `ValueError` for other values, and for other numbers of axes.
    `keepdims` keeps the axes with length 1. Only "nuc", 2 and -2 for matrices wait, as `svd` does.
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


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> GPUArray:  # noqa: A002
    """Norms of vectors along `axis`, or of all elements if it is None: a new array; does not wait.

    `x` is array-like; `axis` is None, an int or a tuple of int, whose axes together form the vectors. `ord` is any
    number, including infinities; raises `ValueError` for strings. `keepdims` keeps the axes with length 1. The result
    is real.
    """
    return _vector_norm(_xp._to_device(x), ord, axis, keepdims)


def matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> GPUArray:  # noqa: A002
    """Norms of matrices: a new array of real numbers with the shape ``(...)``.

    `x` is array-like of shape ``(..., m, n)``; `ord` is "fro", "nuc", 1, 2, inf or minus these numbers; raises
    `ValueError` for others. `keepdims` keeps two axes of length 1. Only "nuc", 2 and -2 wait, as `svd` does.
    """
    return _matrix_norm(_xp._to_device(x), ord, (-2, -1), keepdims)


def cond(x: Any, p: Any = None) -> GPUArray:
    """Condition numbers of matrices: a new array of real numbers with the shape ``(...)``.

    `x` is array-like of shape ``(..., m, n)``; `p` is the norm, by default 2: the ratio of the extreme singular values,
    for which the call waits as `svd` does. Other norms (those of `matrix_norm`) are multiplied by the norms of the
    inverses, for square matrices only. Singular matrices give infinity.
    """
    return _native.linalg_cond(_xp._to_device(x), "2" if p is None else _matrix_norm_name(p, "p"))
