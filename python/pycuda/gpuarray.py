"""Arrays on the device with NumPy's arithmetic.

Operations are enqueued and do not wait; `GPUArray.get`, `GPUArray.set` and printing do.
"""

import numpy as np

from pycuda._rtcg import GPUArray

__all__ = ["GPUArray", "empty", "empty_like", "to_gpu", "zeros", "zeros_like"]


empty = GPUArray


def zeros(shape, dtype=np.float64, allocator=None, order="C"):
    """A new array of zeros; does not wait."""
    array = GPUArray(shape, dtype, allocator, order=order)
    array._clear()
    return array


def _order_of(array):
    flags = array.flags if isinstance(array, np.ndarray) else None
    if flags is not None:
        return "F" if flags.f_contiguous and not flags.c_contiguous else "C"
    return "F" if array.strides != np.empty(array.shape, array.dtype).strides else "C"


def empty_like(other_ary, dtype=None):
    """A new array with undefined contents, of the shape, order and (unless given) dtype of `other_ary`."""
    return GPUArray(other_ary.shape, dtype or other_ary.dtype, order=_order_of(other_ary))


def zeros_like(other_ary, dtype=None):
    """A new array of zeros, of the shape, order and (unless given) dtype of `other_ary`."""
    return zeros(other_ary.shape, dtype or other_ary.dtype, order=_order_of(other_ary))


def to_gpu(ary, allocator=None):
    """A new device array with a copy of a host array; keeps C or Fortran order; waits."""
    ary = np.asarray(ary)
    array = GPUArray(ary.shape, ary.dtype, allocator, order=_order_of(ary))
    array.set(ary)
    return array
