"""Eigenvalues of Hermitian matrices of any size: scaled, by the method for that size, and in order."""

from pycuda.gpuarray import GPUArray

def decompose(matrices: GPUArray, triangle: int, is_with_vectors: bool) -> tuple[GPUArray, GPUArray | None, GPUArray]:
    """Eigenvalues in ascending order, eigenvectors as columns (or None) and the report; `matrices` are overwritten.

    `triangle` is 1 if the lower, and 2 if the upper triangle is read.
    """
