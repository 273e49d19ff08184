"""Arrays on the device with NumPy's arithmetic.

Operations are enqueued and do not wait; what brings elements to the host (`GPUArray.get`, printing, `bool`) does.
"""

import numpy as np

from pycuda._rtcg import GPUArray, arange_of, empty_in_order_of

__all__ = [
    "GPUArray", "arange", "broadcast_to", "empty", "empty_like", "full", "full_like", "ones", "ones_like",
    "reshape", "to_gpu",
    "to_gpu_async", "transpose", "zeros", "zeros_like",
]  # fmt: skip

empty = GPUArray


def zeros(shape, dtype=np.float64, allocator=None, order="C"):
    """A new array of zeros; does not wait."""
    array = GPUArray(shape, dtype, allocator, order=order)
    array._clear()
    return array


def full(shape, fill_value, dtype=None, allocator=None, order="C"):
    """A new array in which every element is `fill_value`; does not wait."""
    dtype = np.asarray(fill_value).dtype if dtype is None else dtype
    return GPUArray(shape, dtype, allocator, order=order).fill(fill_value)


def ones(shape, dtype=np.float64, allocator=None, order="C"):
    """A new array of ones; does not wait."""
    return full(shape, 1, dtype, allocator, order)


def _order_of(array):
    flags = array.flags
    return "F" if flags.f_contiguous and not flags.c_contiguous else "C"


def empty_like(other_ary, dtype=None, order="K", shape=None):
    """A new array with undefined contents, of the shape, memory order and dtype of `other_ary` unless given."""
    if isinstance(other_ary, GPUArray):
        return empty_in_order_of(other_ary, dtype, order, shape)
    other_ary = np.asarray(other_ary)
    order = _order_of(other_ary) if order in "AK" else order
    return GPUArray(other_ary.shape if shape is None else shape, dtype or other_ary.dtype, order=order)


def zeros_like(other_ary, dtype=None, order="K", shape=None):
    """As `empty_like`, with every element 0."""
    array = empty_like(other_ary, dtype, order, shape)
    array._clear()
    return array


def full_like(other_ary, fill_value, dtype=None, order="K", shape=None):
    """As `empty_like`, with every element `fill_value`."""
    return empty_like(other_ary, dtype, order, shape).fill(fill_value)


def ones_like(other_ary, dtype=None, order="K", shape=None):
    """As `empty_like`, with every element 1."""
    return full_like(other_ary, 1, dtype, order, shape)


def to_gpu(ary, allocator=None):
    """A new device array with a copy of a host array; keeps C or Fortran order; waits."""
    ary = np.asarray(ary)
    array = GPUArray(ary.shape, ary.dtype, allocator, order=_order_of(ary))
    array.set(ary)
    return array


def to_gpu_async(ary, allocator=None, stream=None):
    """As `to_gpu`, in the order of `stream`."""
    ary = np.asarray(ary)
    array = GPUArray(ary.shape, ary.dtype, allocator, order=_order_of(ary))
    array.set_async(ary, stream=stream)
    return array


def arange(*args, dtype=None, stream=None, allocator=None):
    """``arange([start,] stop[, step], dtype=None)``: evenly spaced numbers, as `numpy.arange`."""
    if len(args) > 3:
        *args, dtype = args
    if not 1 <= len(args) <= 3:
        raise TypeError(f"arange() takes 1 to 3 numbers, got {len(args)}")
    start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
    if dtype is None:
        dtype = np.result_type(*(np.asarray(value).dtype for value in (start, stop, step)))
    if step == 0:
        raise ZeroDivisionError("arange: step is 0")
    count = max(0, int(np.ceil((stop - start) / step)))
    dtype = np.dtype(dtype)
    if dtype.kind in "fcV":
        # NumPy takes the difference of the first two numbers, as they are rounded, for the step.
        step = (dtype.type(start + step) - dtype.type(start)).item()
    return arange_of(start, step, count, dtype)


def broadcast_to(a, shape):
    """`a` repeated to `shape` by strides of 0, as a view; see `numpy.broadcast_to`."""
    return a._broadcast_to(shape)


def expand_dims(a, axis):
    """`a` with new axes of length 1; see `numpy.expand_dims`."""
    return a._expand_dims(axis)


def moveaxis(a, source, destination):
    """`a` with axes moved to other places; see `numpy.moveaxis`."""
    return a._moveaxis(source, destination)


def flip(m, axis=None):
    """`m` with axes run backwards, as a view; see `numpy.flip`."""
    return m._flip(axis)


def reshape(a, *shape, order="C"):
    """`a.reshape`."""
    return a.reshape(*shape, order=order)


def transpose(a, axes=None):
    """`a.transpose`."""
    return a.transpose(axes)
