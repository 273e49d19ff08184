"""Factors of matrices on the device; part of `pycuda.linalg`."""

from pycuda.gpuarray import GPUArray

PANEL: int

def factor_lu(a: GPUArray) -> GPUArray:
    """LU factors of square matrices in place; the row that each row was exchanged with, from its panel's first on."""

def exchange_rows(b: GPUArray, pivots: GPUArray) -> None:
    """Exchanges the rows of right sides, in place, as `factor_lu` has exchanged those of its matrices."""

def solve_triangle(
    triangles: GPUArray, sides: GPUArray, is_upper: bool = False, is_unit: bool = False, is_conjugated: bool = False
) -> None:
    """Solves triangular systems in place of their right sides; operands of any strides, each long one in parts."""

def factor_positive(a: GPUArray) -> GPUArray:
    """Cholesky factors of the lower triangles of matrices in place; a flag that is set if one is not positive."""

def reflect(a: GPUArray) -> GPUArray:
    """R and the vectors of Householder reflections in the place of matrices, and the factors of the reflections."""

def product_of_reflections(a: GPUArray, factors: GPUArray, columns: int) -> GPUArray:
    """The first columns of the unitary matrices that `reflect` has found."""
