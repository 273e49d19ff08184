"""Scales stacks of matrices before eigenvalues or singular values are sought, and puts the results in order after."""

from typing import Any

from pycuda.gpuarray import GPUArray

def scale(a: GPUArray, triangle: int = 0) -> tuple[GPUArray, GPUArray]:
    """Scales matrices in place by powers of two; their exponents, and the report that kernels add bits to.

    Of Hermitian matrices one triangle is read, 1 for the lower and 2 for the upper one, and the other is written.
    """

def order(values: GPUArray, exponents: GPUArray, dtype: Any, is_descending: bool = False) -> tuple[GPUArray, GPUArray]:
    """Values of scaled matrices in order, and the place that each goes to; `dtype` is that of the matrices."""

def placed(rows: GPUArray, places: GPUArray, m: int) -> GPUArray:
    """The first m elements of the rows of stacks as columns in the order of their values."""
