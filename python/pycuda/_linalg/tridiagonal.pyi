"""Eigenvalues of Hermitian matrices of many rows: by way of tridiagonal ones."""

from pycuda.gpuarray import GPUArray

def eigenvalues(
    a: GPUArray, exponents: GPUArray, report: GPUArray, is_with_vectors: bool
) -> tuple[GPUArray, GPUArray | None]:
    """Eigenvalues in ascending order of scaled Hermitian matrices, scaled back; eigenvectors as columns (or None)."""
