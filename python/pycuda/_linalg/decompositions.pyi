"""Eigenvalues, singular values and what needs them, under the names of `numpy.linalg`; part of `pycuda.linalg`."""

from typing import Any, NamedTuple

import numpy as np

from pycuda.gpuarray import GPUArray

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

def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices; see `numpy.linalg.eigh`.

    Waits to see that all were found; matrices with infinities or NaN raise `LinAlgError`.
    """

def eigvalsh(a: Any, UPLO: str = "L") -> GPUArray:
    """Eigenvalues of Hermitian matrices in ascending order; waits as `eigh`. See `numpy.linalg.eigvalsh`."""

def eig(a: Any) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices; see `numpy.linalg.eig`.

    Waits; results of real matrices are real if all eigenvalues are. Matrices with infinities or NaN raise
    `LinAlgError`.
    """

def eigvals(a: Any) -> GPUArray:
    """Eigenvalues of square matrices; waits as `eig`. See `numpy.linalg.eigvals`."""

def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Singular value decompositions; see `numpy.linalg.svd`.

    Waits to see that all were found; matrices with infinities or NaN raise `LinAlgError`.
    """

def svdvals(x: Any, /) -> GPUArray:
    """Singular values in descending order; waits as `svd`. See `numpy.linalg.svdvals`."""

def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = ...) -> GPUArray:
    """Pseudo-inverses of matrices; waits as `svd`. See `numpy.linalg.pinv`."""

def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> GPUArray:
    """How many singular values are larger than a tolerance; waits as `svd`. See `numpy.linalg.matrix_rank`."""

def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[GPUArray, GPUArray, np.int32, GPUArray]:
    """Least-squares solutions, sums of squares of what is left, rank and singular values; see `numpy.linalg.lstsq`.

    The solutions of least length, by singular values. Waits for the rank, which is a number on the host.
    """
