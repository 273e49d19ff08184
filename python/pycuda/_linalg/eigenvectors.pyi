"""Eigenvectors of Schur forms, and general matrices made ready for them: balanced, and put back after."""

from typing import Any

from pycuda.gpuarray import GPUArray

def balance(a: GPUArray) -> GPUArray:
    """Scales rows and columns of scaled matrices in place; the factors that eigenvectors are multiplied with.

    Parlett and Reinsch, Balancing a matrix for calculation of eigenvalues and eigenvectors, Numer. Math. 13, 1969,
    without the exchange of rows.
    """

def unscale(reals: GPUArray, imags: GPUArray, exponents: GPUArray, dtype: Any) -> None:
    """Scales the parts of eigenvalues back, in place."""

def find(
    forms: GPUArray, reals: GPUArray, imags: GPUArray, products: GPUArray, scales: GPUArray, is_wide: bool
) -> GPUArray:
    """Eigenvectors, as columns, of matrices of which `products` are the Schur vectors, as rows.

    By substitution in Schur forms (Golub and Van Loan, Matrix Computations, 7.6.4). `is_wide` says that those of real
    matrices are complex.
    """
