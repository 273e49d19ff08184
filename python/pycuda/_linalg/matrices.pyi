"""What functions of `pycuda.linalg` ask of their matrices: dtypes, shapes, copies in a common form."""

from typing import Any

import numpy as np

from pycuda.gpuarray import GPUArray

def floating(*dtypes: Any) -> np.dtype[Any]:
    """The dtype that factorizations of such elements have."""

def real_of(dtype: Any) -> np.dtype[Any]:
    """The dtype of the parts of elements."""

def stacked(a: Any, is_square: bool = True) -> GPUArray:
    """`a` as an array of at least two axes."""

def copied(a: GPUArray, dtype: Any) -> GPUArray:
    """A copy of three axes in C order, to be factored in place."""

def identity(a: GPUArray, dtype: Any) -> GPUArray:
    """The identity matrix as long as the last axis of `a`, from its allocator."""
