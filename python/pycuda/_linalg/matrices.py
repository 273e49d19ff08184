"""What functions of `pycuda.linalg` ask of their matrices: dtypes, shapes, copies in a common form."""

import numpy as np
from numpy.linalg import LinAlgError

from pycuda import gpuarray as _g


def floating(*dtypes):
    """The dtype that factorizations of such elements have."""
    common = np.result_type(*dtypes)
    if common.kind in "biu":
        return np.dtype(np.float64)
    if common not in (np.float32, np.float64, np.complex64, np.complex128):
        raise TypeError(f"array type {common.name} is unsupported in linalg")
    if any(dtype.kind in "biu" for dtype in map(np.dtype, dtypes)):
        return np.result_type(common, np.float64)
    return common


def real_of(dtype):
    """The dtype of the parts of elements."""
    return np.finfo(dtype).dtype


def stacked(a, is_square=True):
    """`a` as an array of at least two axes."""
    a = _g._array(a)
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    if is_square and a.shape[-1] != a.shape[-2]:
        raise LinAlgError(f"Last 2 dimensions of the array must be square; its shape is {a.shape}")
    return a


def copied(a, dtype):
    """A copy of three axes in C order, to be factored in place."""
    count = int(np.prod(a.shape[:-2], dtype=int))
    return a.astype(dtype, order="C").reshape((count, *a.shape[-2:]))


def identity(a, dtype):
    """The identity matrix as long as the last axis of `a`, from its allocator."""
    n = a.shape[-1]
    result = _g.empty((n, n), dtype, a.allocator)
    result[...] = _g.eye(n, dtype=dtype)
    return result
