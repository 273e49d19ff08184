"""Singular values by Jacobi rotations of columns: a block of threads for a small matrix, launches for a large one."""

from pycuda.gpuarray import GPUArray

def padded(length: int) -> int:
    """The length to which columns are filled up with zeros: all threads of a group have as many elements."""

def columns(w: GPUArray, report: GPUArray, is_with_others: bool) -> tuple[GPUArray, GPUArray | None]:
    """Makes columns of scaled matrices, the rows of `w` of `padded` length, orthonormal by rotations from the right.

    Their lengths, which are the singular values in no order, and the product of the rotations (or None), whose rows are
    the right singular vectors, padded. Columns that are as nothing become zeros. One-sided Jacobi rotations in parallel
    order: Hestenes, Inversion of matrices by biorthogonalization, J. SIAM 6, 1958; de Rijk, A one-sided Jacobi
    algorithm for computing the singular value decomposition on a vector computer, SIAM J. Sci. Stat. Comput. 10, 1989;
    many columns are prepared as Drmac and Veselic advise, New fast and accurate Jacobi SVD algorithm, SIAM J. Matrix
    Anal. Appl. 29, 2008, but by eigenvectors rather than by a QR factorization.
    """
