"""The extension `linalg` of the Array API standard, version 2024.12; it is `rtcg.array_api.linalg`.

Names, signatures and result types are those of the standard; the work is done by `rtcg.linalg`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import linalg as _l, numpy as _xp
from rtcg._messages import shown
from rtcg.array_api import (
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    refer_to,
    tensordot as tensordot,
    vecdot as vecdot,
)

if TYPE_CHECKING:
    from rtcg.linalg import EighResult, QRResult, SlogdetResult, SVDResult
    from rtcg.numpy import GPUArray

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "trace", "vecdot", "vector_norm",
]  # fmt: skip


def _check_floating(function: str, *arrays: GPUArray) -> None:
    """Raise for arrays that the standard's function does not accept."""
    for a in arrays:
        if a.dtype.kind not in "fc":
            raise TypeError(f"linalg.{function}: an array of {a.dtype}; expected a floating-point dtype")


def _check_numeric(function: str, *arrays: GPUArray) -> None:
    for a in arrays:
        if a.dtype.kind not in "iufc":
            raise TypeError(f"linalg.{function}: an array of {a.dtype}; expected a numeric dtype")


# -- factorizations -----------------------------------------------------------------------------------


def cholesky(x: GPUArray, /, *, upper: bool = False) -> GPUArray:
    """Cholesky factors of positive definite matrices."""
    _check_floating("cholesky", x)
    lower = _l.cholesky(x)
    # The conjugates of the zeros below the diagonal have a sign.
    return _xp.triu(lower.mT.conj()) if upper else lower


def qr(x: GPUArray, /, *, mode: str = "reduced") -> QRResult:
    """Unitary and upper triangular factors."""
    _check_floating("qr", x)
    if mode not in ("reduced", "complete"):
        raise ValueError(f"linalg.qr: mode {shown(mode)} is not known; expected 'reduced' or 'complete'")
    return _l.qr(x, mode)


def eigh(x: GPUArray, /) -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices."""
    _check_floating("eigh", x)
    return _l.eigh(x)


def eigvalsh(x: GPUArray, /) -> GPUArray:
    """Eigenvalues of Hermitian matrices."""
    _check_floating("eigvalsh", x)
    return _l.eigvalsh(x)


def svd(x: GPUArray, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular value decomposition."""
    _check_floating("svd", x)
    return _l.svd(x, full_matrices)


def svdvals(x: GPUArray, /) -> GPUArray:
    """Singular values in descending order."""
    _check_floating("svdvals", x)
    return _l.svdvals(x)


# -- systems of equations -----------------------------------------------------------------------------


def solve(x1: GPUArray, x2: GPUArray, /) -> GPUArray:
    """Solve ``x1 @ x = x2``; `x2` is one vector or a stack of matrices."""
    _check_floating("solve", x1, x2)
    return _l.solve(x1, x2)


def inv(x: GPUArray, /) -> GPUArray:
    """Invert matrices."""
    _check_floating("inv", x)
    return _l.inv(x)


def pinv(x: GPUArray, /, *, rtol: Any = None) -> GPUArray:
    """Pseudo-inverses of matrices."""
    _check_floating("pinv", x)
    return _l.pinv(x, rtol=rtol)


def det(x: GPUArray, /) -> GPUArray:
    """Determinants."""
    _check_floating("det", x)
    return _l.det(x)


def slogdet(x: GPUArray, /) -> SlogdetResult:
    """Signs and logarithms of the absolute values of determinants."""
    _check_floating("slogdet", x)
    return _l.slogdet(x)


def matrix_rank(x: GPUArray, /, *, rtol: Any = None) -> GPUArray:
    """The number of singular values larger than `rtol` times the largest one."""
    _check_numeric("matrix_rank", x)
    if x.ndim < 2:
        raise _l.LinAlgError(
            f"{x.ndim}-dimensional array given. Array must be at least two-dimensional; its shape is {x.shape}"
        )
    return _l.matrix_rank(x, rtol=rtol)


# -- norms and products -------------------------------------------------------------------------------


def matrix_norm(x: GPUArray, /, *, keepdims: bool = False, ord: Any = "fro") -> GPUArray:  # noqa: A002
    """Norms of matrices."""
    _check_floating("matrix_norm", x)
    return _l.norm(x, ord, (-2, -1), keepdims)


def vector_norm(x: GPUArray, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> GPUArray:  # noqa: A002
    """Norms of vectors along axes."""
    _check_floating("vector_norm", x)
    return _l.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


def matrix_power(x: GPUArray, n: int, /) -> GPUArray:
    """Integer powers of a matrix; of its inverse if `n` is negative."""
    _check_floating("matrix_power", x)
    return _l.matrix_power(x, n)


def cross(x1: GPUArray, x2: GPUArray, /, *, axis: int = -1) -> GPUArray:
    """The cross product of vectors with three elements."""
    _check_numeric("cross", x1, x2)
    lowest = -min(x1.ndim, x2.ndim)
    if not lowest <= axis < 0:
        raise ValueError(f"linalg.cross: axis {axis} for arrays of {x1.ndim} and {x2.ndim} axes; expected a negative "
                         "one that both have")  # fmt: skip
    return _l.cross(x1, x2, axis=axis)


def outer(x1: GPUArray, x2: GPUArray, /) -> GPUArray:
    """The outer product of two vectors."""
    _check_numeric("outer", x1, x2)
    return _l.outer(x1, x2)


def diagonal(x: GPUArray, /, *, offset: int = 0) -> GPUArray:
    """The diagonals of matrices."""
    return _l.diagonal(x, offset=offset)


def trace(x: GPUArray, /, *, offset: int = 0, dtype: Any = None) -> GPUArray:
    """The sums of the diagonals of matrices."""
    _check_numeric("trace", x)
    return _l.trace(x, offset=offset, dtype=None if dtype is None else np.dtype(dtype))


refer_to(_l, globals())
