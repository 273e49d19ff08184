"""The extension `linalg` of the Array API standard, version 2024.12; it is `rtcg.array_api.linalg`.

Names, signatures and result types are those of the standard; the work is done by `rtcg.linalg`.
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
    """Cholesky factors of positive definite matrices.

    The result is that of `rtcg.linalg.cholesky`, which documents dtypes, errors, waiting and the algorithm.
    """

def qr(x: GPUArray, /, *, mode: str = "reduced") -> QRResult:
    """Unitary and upper triangular factors.

    The result is that of `rtcg.linalg.qr`, which documents dtypes, errors, waiting and the algorithm.
    """

def eigh(x: GPUArray, /) -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices.

    The result is that of `rtcg.linalg.eigh`, which documents dtypes, errors, waiting and the algorithm.
    """

def eigvalsh(x: GPUArray, /) -> GPUArray:
    """Eigenvalues of Hermitian matrices.

    The result is that of `rtcg.linalg.eigvalsh`, which documents dtypes, errors, waiting and the algorithm.
    """

def svd(x: GPUArray, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular value decomposition.

    The result is that of `rtcg.linalg.svd`, which documents dtypes, errors, waiting and the algorithm.
    """

def svdvals(x: GPUArray, /) -> GPUArray:
    """Singular values in descending order.

    The result is that of `rtcg.linalg.svdvals`, which documents dtypes, errors, waiting and the algorithm.
    """

def solve(x1: GPUArray, x2: GPUArray, /) -> GPUArray:
    """Solve ``x1 @ x = x2``; `x2` is one vector or a stack of matrices.

    The result is that of `rtcg.linalg.solve`, which documents dtypes, errors, waiting and the algorithm.
    """

def inv(x: GPUArray, /) -> GPUArray:
    """Invert matrices.

    The result is that of `rtcg.linalg.inv`, which documents dtypes, errors, waiting and the algorithm.
    """

def pinv(x: GPUArray, /, *, rtol: Any = None) -> GPUArray:
    """Pseudo-inverses of matrices.

    The result is that of `rtcg.linalg.pinv`, which documents dtypes, errors, waiting and the algorithm.
    """

def det(x: GPUArray, /) -> GPUArray:
    """Determinants.

    The result is that of `rtcg.linalg.det`, which documents dtypes, errors, waiting and the algorithm.
    """

def slogdet(x: GPUArray, /) -> SlogdetResult:
    """Signs and logarithms of the absolute values of determinants.

    The result is that of `rtcg.linalg.slogdet`, which documents dtypes, errors, waiting and the algorithm.
    """

def matrix_rank(x: GPUArray, /, *, rtol: Any = None) -> GPUArray:
    """The number of singular values larger than `rtol` times the largest one.

    The result is that of `rtcg.linalg.matrix_rank`, which documents dtypes, errors, waiting and the algorithm.
    """

def matrix_norm(x: GPUArray, /, *, keepdims: bool = False, ord: Any = "fro") -> GPUArray:
    """Norms of matrices.

    The result is that of `rtcg.linalg.matrix_norm`, which documents dtypes, errors, waiting and the algorithm.
    """

def vector_norm(x: GPUArray, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> GPUArray:
    """Norms of vectors along axes.

    The result is that of `rtcg.linalg.vector_norm`, which documents dtypes, errors, waiting and the algorithm.
    """

def matrix_power(x: GPUArray, n: int, /) -> GPUArray:
    """Integer powers of a matrix; of its inverse if `n` is negative.

    The result is that of `rtcg.linalg.matrix_power`, which documents dtypes, errors, waiting and the algorithm.
    """

def cross(x1: GPUArray, x2: GPUArray, /, *, axis: int = -1) -> GPUArray:
    """The cross product of vectors with three elements.

    The result is that of `rtcg.linalg.cross`, which documents dtypes, errors, waiting and the algorithm.
    """

def outer(x1: GPUArray, x2: GPUArray, /) -> GPUArray:
    """The outer product of two vectors.

    The result is that of `rtcg.linalg.outer`, which documents dtypes, errors, waiting and the algorithm.
    """

def diagonal(x: GPUArray, /, *, offset: int = 0) -> GPUArray:
    """The diagonals of matrices.

    The result is that of `rtcg.linalg.diagonal`, which documents dtypes, errors, waiting and the algorithm.
    """

def trace(x: GPUArray, /, *, offset: int = 0, dtype: Any = None) -> GPUArray:
    """The sums of the diagonals of matrices.

    The result is that of `rtcg.linalg.trace`, which documents dtypes, errors, waiting and the algorithm.
    """
