"""Linear algebra of device arrays under the names of `numpy.linalg`; stacks of matrices everywhere.

Factorizations are kernels of this package (no cuBLAS or cuSOLVER is needed): LU with partial pivoting, Cholesky, and
QR by Householder reflections, eigenvalues of Hermitian and of general matrices, and singular values, in float32,
float64 and their complex types. `solve`, `inv` and `cholesky` wait to see that matrices are not singular, or are
positive definite; eigenvalues, singular values and what needs them wait to see that all were found.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError as LinAlgError

from rtcg._linalg_products import (
    cross as cross,
    diagonal as diagonal,
    matmul as matmul,
    matrix_power as matrix_power,
    multi_dot as multi_dot,
    outer as outer,
    trace as trace,
)
from rtcg.numpy import (
    GPUArray,
    matrix_transpose as matrix_transpose,
    tensordot as tensordot,
    vecdot as vecdot,
)

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

class SlogdetResult(NamedTuple):
    sign: GPUArray
    logabsdet: GPUArray

class QRResult(NamedTuple):
    Q: GPUArray
    R: GPUArray

class EighResult(NamedTuple):
    eigenvalues: GPUArray
    eigenvectors: GPUArray

class EigResult(NamedTuple):
    eigenvalues: GPUArray
    eigenvectors: GPUArray

class SVDResult(NamedTuple):
    U: GPUArray
    S: GPUArray
    Vh: GPUArray

def cholesky(a: Any, /, *, upper: Any = False) -> GPUArray:
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

def cond(x: Any, p: Any = None) -> GPUArray:
    """Condition numbers of matrices: a new array of real numbers of shape ``(...)``.

    `x` is array-like of shape ``(..., m, n)``; `p` is the norm, by default 2: the ratio of singular values, which is
    waited for as by `svd`. Other norms (those of `matrix_norm`) are multiplied with those of the inverses: square
    matrices only. Singular ones give infinity.
    """

def det(a: Any) -> GPUArray:
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

def eig(a: Any) -> EigResult:
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

def eigh(a: Any, UPLO: str = "L") -> EighResult:
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

def eigvals(a: Any) -> GPUArray:
    """Eigenvalues of square matrices: a new array of complex numbers, in no order; waits as `eig`.

    `a` is array-like of shape ``(..., n, n)``, the result of ``(..., n)``. Dtypes, errors and the algorithm are those
    of `eig`, without the vectors.
    """

def eigvalsh(a: Any, UPLO: str = "L") -> GPUArray:
    """Eigenvalues of Hermitian matrices: a new array of real numbers, in ascending order; waits as `eigh`.

    `a` is array-like of shape ``(..., n, n)``, the result of ``(..., n)``. `UPLO` "L" or "U" is the triangle that is
    read. Dtypes, errors and the algorithm are those of `eigh`, without the vectors.
    """

def inv(a: Any) -> GPUArray:
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

def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[GPUArray, GPUArray, np.int32, GPUArray]:
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

def matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> GPUArray:
    """Norms of matrices: a new array of real numbers of shape ``(...)``; those of singular values wait as `svd`.

    `x` is array-like of shape ``(..., m, n)``; `ord` is "fro", "nuc", 1, 2, inf or minus these numbers; raises
    `ValueError` for others. `keepdims` leaves two axes of length 1. Nothing but "nuc", 2 and -2 waits.
    """

def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> GPUArray:
    """Ranks: how many singular values are larger than a tolerance, int64; waits as `svd`.

    `A` is array-like of shape ``(..., m, n)``, the result of ``(...)``. `tol` is the tolerance, `rtol` one times the
    largest value, by default eps times the longer side; a `ValueError` for both. `hermitian` says that matrices are
    Hermitian. Fewer than two axes have rank 0 or 1. Errors are those of `svd`.
    """

def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> GPUArray:
    """Norms of vectors or matrices along `axis`: a new array without it; those of singular values wait as `svd`.

    `x` is array-like. `axis` is an int for vectors or two for matrices; without it and `ord` it is the 2-norm of all
    elements. `ord` of vectors is any number, infinities too; of matrices None or "fro", "nuc", 1, 2, inf or minus these
    numbers; raises `ValueError` for others, and for other numbers of axes. `keepdims` leaves the axes with length 1.
    Nothing but "nuc", 2 and -2 waits.
    """

def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = ...) -> GPUArray:
    """Pseudo-inverses (Moore-Penrose) of matrices: a new array of shape ``(..., n, m)``; waits as `svd`.

    `a` is array-like of shape ``(..., m, n)``. Singular values up to `rcond`, or `rtol`, times the largest count as 0:
    a number or an array of one for each matrix, 1e-15 by default; `rtol` None is eps times the longer side. Raises
    `ValueError` for both. `hermitian` says that matrices are Hermitian. Errors are those of `svd`, which it is made
    from.
    """

def qr(a: Any, mode: Any = "reduced") -> Any:
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

def slogdet(a: Any) -> SlogdetResult:
    """Signs and natural logarithms of the absolute values of determinants: a `SlogdetResult` of two new arrays.

    `a` is array-like of shape ``(..., n, n)``, results are of ``(...)``; of a singular matrix they are 0 and minus
    infinity. For determinants that are too large or too small for `det`, whose dtypes, errors and algorithm are the
    same. Does not wait.
    """

def solve(a: Any, b: Any) -> GPUArray:
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

def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
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

def svdvals(x: Any, /) -> GPUArray:
    """Singular values: a new array of real numbers, in descending order; waits as `svd`.

    `x` is array-like of shape ``(..., m, n)``, the result of ``(..., min(m, n))``. Dtypes, errors and the algorithm are
    those of `svd`, without the vectors.
    """

def tensorinv(a: Any, ind: Any = 2) -> GPUArray:
    """The inverse of a tensor, with regard to its first `ind` axes: a new array of ``a.shape[ind:] + a.shape[:ind]``.

    `a` is array-like, and square as a matrix of the first and the other axes, else raises `LinAlgError`, as where it is
    singular; a `ValueError` for an `ind` that is not positive. By `inv`, and waits as that.
    """

def tensorsolve(a: Any, b: Any, axes: Any = None) -> GPUArray:
    """The array `x` with ``tensordot(a, x, x.ndim) == b``; waits to see that there is one.

    `a` and `b` are array-like; `axes` of `a` are moved to its end first. The result has the shape of the last axes of
    `a`, and as many elements as `b`. Raises `LinAlgError` when `a` is no square matrix of these axes, or singular. By
    `solve`.
    """

def vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> GPUArray:
    """Norms of vectors along `axis`, or of all elements without it: a new array; does not wait.

    `x` is array-like; `axis` is None, an int or a tuple of int, along all of which together the norm is taken. `ord` is
    any number, infinities too; raises `ValueError` for words. `keepdims` leaves the axes with length 1. The result is
    real.
    """
