"""Linear algebra of device arrays under the names of `numpy.linalg`; stacks of matrices everywhere.

Factorizations are kernels of this package (no cuBLAS or cuSOLVER is needed): LU with partial pivoting, Cholesky, and
QR by Householder reflections, in float32, float64 and their complex types. `solve`, `inv` and `cholesky` wait to see
that matrices are not singular, or are positive definite. Eigenvalues and singular values are not there; what needs
them raises `NotImplementedError`.
"""

from typing import Any, NamedTuple, NoReturn

from numpy.linalg import LinAlgError as LinAlgError

from pycuda.gpuarray import (
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

def cholesky(a: Any, /, *, upper: Any = False) -> GPUArray:
    """Cholesky factors of positive definite matrices; waits to see that they are. See `numpy.linalg.cholesky`."""

def cond(x: Any, p: Any = None) -> GPUArray:
    """Condition numbers but those that singular values define; waits as `inv`. See `numpy.linalg.cond`."""

def cross(x1: Any, x2: Any, /, *, axis: Any = -1) -> GPUArray:
    """The cross product of vectors of three elements."""

def det(a: Any) -> GPUArray:
    """Determinants; does not wait. See `numpy.linalg.det`."""

def diagonal(x: Any, /, *, offset: Any = 0) -> GPUArray:
    """The diagonals of matrices."""

def eig(*args: Any, **kwargs: Any) -> NoReturn:
    """Not there: eigenvalues are needed."""

def eigh(*args: Any, **kwargs: Any) -> NoReturn:
    """Not there: eigenvalues are needed."""

def eigvals(*args: Any, **kwargs: Any) -> NoReturn:
    """Not there: eigenvalues are needed."""

def eigvalsh(*args: Any, **kwargs: Any) -> NoReturn:
    """Not there: eigenvalues are needed."""

def inv(a: Any) -> GPUArray:
    """Inverse matrices; waits to see that no matrix is singular. See `numpy.linalg.inv`."""

def lstsq(*args: Any, **kwargs: Any) -> NoReturn:
    """Not there: singular values are needed."""

def matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> GPUArray:
    """Norms of matrices; see `numpy.linalg.matrix_norm`."""

def matrix_power(a: Any, n: Any) -> GPUArray:
    """Products of a matrix with itself; of its inverse if `n` is negative. See `numpy.linalg.matrix_power`."""

def matrix_rank(*args: Any, **kwargs: Any) -> NoReturn:
    """Not there: singular values are needed."""

def multi_dot(arrays: Any, *, out: Any = None) -> GPUArray:
    """The product of several matrices in the cheapest order; see `numpy.linalg.multi_dot`."""

def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> GPUArray:
    """Norms of vectors and matrices but those that singular values define; see `numpy.linalg.norm`."""

def outer(x1: Any, x2: Any, /) -> GPUArray:
    """The outer product of two vectors."""

def pinv(*args: Any, **kwargs: Any) -> NoReturn:
    """Not there: singular values are needed."""

def qr(a: Any, mode: Any = "reduced") -> Any:
    """Unitary and upper triangular factors by Householder reflections; does not wait. See `numpy.linalg.qr`.

    A block of threads has a matrix: this is for stacks and for matrices up to some thousand rows.
    """

def slogdet(a: Any) -> SlogdetResult:
    """Signs and logarithms of the sizes of determinants; does not wait. See `numpy.linalg.slogdet`."""

def solve(a: Any, b: Any) -> GPUArray:
    """Solutions of ``a @ x = b``; waits to see that no matrix is singular. See `numpy.linalg.solve`."""

def svd(*args: Any, **kwargs: Any) -> NoReturn:
    """Not there: singular values are needed."""

def svdvals(*args: Any, **kwargs: Any) -> NoReturn:
    """Not there: singular values are needed."""

def tensorinv(a: Any, ind: Any = 2) -> GPUArray:
    """The inverse of a tensor; see `numpy.linalg.tensorinv`."""

def tensorsolve(a: Any, b: Any, axes: Any = None) -> GPUArray:
    """Solutions of a tensor equation; see `numpy.linalg.tensorsolve`."""

def trace(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> GPUArray:
    """The sums of the diagonals of matrices."""

def vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> GPUArray:
    """Norms of vectors along axes; see `numpy.linalg.vector_norm`."""
