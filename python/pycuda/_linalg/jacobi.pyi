"""Eigenvalues of small Hermitian matrices: Jacobi rotations in shared memory, a block of threads for a matrix."""

from pycuda.gpuarray import GPUArray

LARGEST: int
ROTATIONS: str

def eigenvalues(a: GPUArray, report: GPUArray, is_with_vectors: bool) -> tuple[GPUArray, GPUArray | None]:
    """Eigenvalues of scaled Hermitian matrices in no order, and their eigenvectors as rows (or None).

    Two-sided Jacobi rotations in parallel order (Golub and Van Loan, Matrix Computations, 8.5; Luk and Park, A proof of
    convergence for two parallel Jacobi SVD algorithms, IEEE Trans. Comp. 38, 1989).
    """
