"""The extension `linalg` of the Array API standard, version 2024.12; it is `rtcg.array_api.linalg`.

Names, signatures and result types are the standard's; the work is done by `rtcg.linalg`.
"""

from typing import Any

from rtcg.array_api import (
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    tensordot as tensordot,
    vecdot as vecdot,
)
from rtcg.linalg import EighResult, QRResult, SlogdetResult, SVDResult
from rtcg.numpy import GPUArray

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

def cholesky(x: GPUArray, /, *, upper: bool = False) -> GPUArray:
    """Cholesky factors of positive definite matrices."""

def qr(x: GPUArray, /, *, mode: str = "reduced") -> QRResult:
    """Unitary and upper triangular factors."""

def eigh(x: GPUArray, /) -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices."""

def eigvalsh(x: GPUArray, /) -> GPUArray:
    """Eigenvalues of Hermitian matrices."""

def svd(x: GPUArray, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular value decompositions."""

def svdvals(x: GPUArray, /) -> GPUArray:
    """Singular values in descending order."""

def solve(x1: GPUArray, x2: GPUArray, /) -> GPUArray:
    """Solutions of ``x1 @ x = x2``; `x2` is one vector or a stack of matrices."""

def inv(x: GPUArray, /) -> GPUArray:
    """Inverse matrices."""

def pinv(x: GPUArray, /, *, rtol: Any = None) -> GPUArray:
    """Pseudo-inverses of matrices."""

def det(x: GPUArray, /) -> GPUArray:
    """Determinants."""

def slogdet(x: GPUArray, /) -> SlogdetResult:
    """Signs and logarithms of the sizes of determinants."""

def matrix_rank(x: GPUArray, /, *, rtol: Any = None) -> GPUArray:
    """How many singular values are larger than `rtol` times the largest."""

def matrix_norm(x: GPUArray, /, *, keepdims: bool = False, ord: Any = "fro") -> GPUArray:
    """Norms of matrices."""

def vector_norm(x: GPUArray, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> GPUArray:
    """Norms of vectors along axes."""

def matrix_power(x: GPUArray, n: int, /) -> GPUArray:
    """Products of a matrix with itself; of its inverse if `n` is negative."""

def cross(x1: GPUArray, x2: GPUArray, /, *, axis: int = -1) -> GPUArray:
    """The cross product of vectors of three elements."""

def outer(x1: GPUArray, x2: GPUArray, /) -> GPUArray:
    """The outer product of two vectors."""

def diagonal(x: GPUArray, /, *, offset: int = 0) -> GPUArray:
    """The diagonals of matrices."""

def trace(x: GPUArray, /, *, offset: int = 0, dtype: Any = None) -> GPUArray:
    """The sums of the diagonals of matrices."""
