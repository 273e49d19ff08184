"""Linear algebra of device arrays under the names of `numpy.linalg`; stacks of matrices everywhere.

Factorizations are kernels of this package (no cuBLAS or cuSOLVER is needed): LU with partial pivoting, Cholesky, and
QR by Householder reflections, eigenvalues of Hermitian and of general matrices, and singular values, in float32,
float64 and their complex types. `solve`, `inv` and `cholesky` wait to see that matrices are not singular, or are
positive definite; eigenvalues, singular values and what needs them wait to see that all were found.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError as LinAlgError

from rtcg.numpy import (
    GPUArray,
    matmul as matmul,
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
    """Condition numbers; those of singular values wait as `svd`. See `numpy.linalg.cond`."""

def cross(x1: Any, x2: Any, /, *, axis: Any = -1) -> GPUArray:
    """The cross product of vectors of three elements."""

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

def diagonal(x: Any, /, *, offset: Any = 0) -> GPUArray:
    """The diagonals of matrices."""

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
    """Eigenvalues of square matrices; waits as `eig`. See `numpy.linalg.eigvals`."""

def eigvalsh(a: Any, UPLO: str = "L") -> GPUArray:
    """Eigenvalues of Hermitian matrices in ascending order; waits as `eigh`. See `numpy.linalg.eigvalsh`."""

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
    """Norms of matrices; see `numpy.linalg.matrix_norm`."""

def matrix_power(a: Any, n: Any) -> GPUArray:
    """Products of a matrix with itself; of its inverse if `n` is negative. See `numpy.linalg.matrix_power`."""

def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> GPUArray:
    """How many singular values are larger than a tolerance; waits as `svd`. See `numpy.linalg.matrix_rank`."""

def multi_dot(arrays: Any, *, out: Any = None) -> GPUArray:
    """The product of several matrices in the cheapest order; see `numpy.linalg.multi_dot`."""

def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> GPUArray:
    """Norms of vectors and matrices; those of singular values wait as `svd`. See `numpy.linalg.norm`."""

def outer(x1: Any, x2: Any, /) -> GPUArray:
    """The outer product of two vectors."""

def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = ...) -> GPUArray:
    """Pseudo-inverses of matrices; waits as `svd`. See `numpy.linalg.pinv`."""

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
    """Signs and logarithms of the sizes of determinants; does not wait. See `numpy.linalg.slogdet`."""

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
    """Singular values in descending order; waits as `svd`. See `numpy.linalg.svdvals`."""

def tensorinv(a: Any, ind: Any = 2) -> GPUArray:
    """The inverse of a tensor; see `numpy.linalg.tensorinv`."""

def tensorsolve(a: Any, b: Any, axes: Any = None) -> GPUArray:
    """Solutions of a tensor equation; see `numpy.linalg.tensorsolve`."""

def trace(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> GPUArray:
    """The sums of the diagonals of matrices."""

def vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> GPUArray:
    """Norms of vectors along axes; see `numpy.linalg.vector_norm`."""
