"""Strides, flags and bounds of arrays, by NumPy's rules."""

import numpy as np

__all__ = [
    "ArrayFlags", "as_strided", "bound", "c_contiguous_strides", "equal_strides", "f_contiguous_strides",
    "get_common_dtype", "is_c_contiguous_strides", "is_f_contiguous_strides", "may_share_memory",
]  # fmt: skip


def f_contiguous_strides(itemsize, shape):
    """Strides in bytes of an array of `shape` in Fortran order."""
    strides = []
    for length in shape:
        strides.append(itemsize)
        # The strides of an empty array are those of one that is not.
        itemsize *= max(length, 1)
    return tuple(strides)


def c_contiguous_strides(itemsize, shape):
    """Strides in bytes of an array of `shape` in C order."""
    return f_contiguous_strides(itemsize, tuple(shape)[::-1])[::-1]


def equal_strides(strides1, strides2, shape):
    """Whether both strides describe the same elements: those of axes shorter than 2 do not count."""
    if strides1 == strides2:
        return True
    if len(strides1) != len(strides2) or len(strides1) != len(shape):
        return False
    return 0 in shape or all(n < 2 or a == b for n, a, b in zip(shape, strides1, strides2, strict=True))


def is_f_contiguous_strides(strides, itemsize, shape):
    """Whether an array with these strides is contiguous in Fortran order."""
    return equal_strides(tuple(strides), f_contiguous_strides(itemsize, shape), tuple(shape))


def is_c_contiguous_strides(strides, itemsize, shape):
    """Whether an array with these strides is contiguous in C order."""
    return equal_strides(tuple(strides), c_contiguous_strides(itemsize, shape), tuple(shape))


class ArrayFlags:
    """The memory layout of an array (anything with ``strides``, ``shape`` and ``dtype``).

    Attributes
    ----------
    c_contiguous, f_contiguous : bool
        Whether the elements are contiguous in C or Fortran order.
    forc : bool
        Either.
    """

    def __init__(self, ary):
        self.f_contiguous = is_f_contiguous_strides(ary.strides, ary.dtype.itemsize, ary.shape)
        self.c_contiguous = is_c_contiguous_strides(ary.strides, ary.dtype.itemsize, ary.shape)
        self.forc = self.f_contiguous or self.c_contiguous

    def __repr__(self):
        return f"ArrayFlags(c_contiguous={self.c_contiguous}, f_contiguous={self.f_contiguous})"

    __str__ = __repr__


_SINGLE_PRECISION = {np.dtype(np.float64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.complex64)}


def get_common_dtype(obj1, obj2, allow_double):
    """The dtype of NumPy's result for an operation on `obj1` and `obj2`, arrays or scalars.

    Without `allow_double`, single precision replaces double.
    """
    dtype = np.result_type(*(getattr(obj, "dtype", obj) for obj in (obj1, obj2)))
    return dtype if allow_double else _SINGLE_PRECISION.get(dtype, dtype)


def bound(a):
    """The first address of the elements of an array, and the address after its last byte."""
    low = high = _device_address(a)
    for length, stride in zip(a.shape, a.strides, strict=True):
        if length == 0:
            return low, low
        low += min(stride * (length - 1), 0)
        high += max(stride * (length - 1), 0)
    return low, high + a.dtype.itemsize


def _device_address(a):
    data = getattr(a, "gpudata", None)
    if data is None and hasattr(a, "__array_interface__"):
        data = a.__array_interface__["data"][0]
    return int(data or 0)


def may_share_memory(a, b):
    """Whether the memory ranges of two arrays overlap."""
    if a is b:
        return True
    (a_low, a_high), (b_low, b_high) = bound(a), bound(b)
    return a_low < b_high and b_low < a_high


class _ArrayInterfaceView:
    """The memory of another object, with another shape."""

    def __init__(self, interface, base):
        self.__array_interface__ = interface
        self.base = base


def as_strided(x, shape=None, strides=None):
    """A NumPy array over the memory of `x` with another shape and other strides, without checks."""
    interface = dict(x.__array_interface__)
    if shape is not None:
        interface["shape"] = tuple(shape)
    if strides is not None:
        interface["strides"] = tuple(strides)
    result = np.asarray(_ArrayInterfaceView(interface, x))
    # A dtype with fields is a mere number of bytes in the interface.
    return result.view(x.dtype) if result.dtype != x.dtype else result
