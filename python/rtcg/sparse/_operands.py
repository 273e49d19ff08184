"""Operands of sparse arrays: shapes, dtypes of indices, arrays of the host and of other libraries."""

import numpy as np

from rtcg import numpy as _xp
from rtcg._conversions import shown
from rtcg.numpy import GPUArray

#: Kernels step over the end of a row by less than a warp, so that int32 counts no more elements than these.
MAX_INT32_ELEMENTS = np.iinfo(np.int32).max - 256


def index_dtype(maximum, *arrays):
    """The dtype of indices up to `maximum`: int64 if an array has it already or int32 is too small."""
    wide = any(np.dtype(array.dtype).itemsize > 4 for array in arrays)
    return np.dtype(np.int64 if wide or maximum > np.iinfo(np.int32).max else np.int32)


def checked_shape(shape):
    """`shape` as two integers."""
    try:
        rows, columns = (int(length) for length in shape)
    except (TypeError, ValueError):
        raise TypeError(f"invalid input format: shape is {shape!r}; expected two integers") from None
    if rows < 0 or columns < 0:
        raise ValueError(f"'shape' elements cannot be negative: {shape!r}")
    return rows, columns


def as_matrix(name, value):
    """`value`, which must be a sparse array, or an array with axes."""
    if not hasattr(value, "shape") and np.ndim(value) == 0:
        raise TypeError(f"{name} is {shown(value)}; expected a sparse or dense array")
    return value


def is_one_axis(arg1, shape):
    """Whether a constructor is given an array of one axis."""
    if shape is not None:
        return hasattr(shape, "__len__") and len(shape) == 1
    if isinstance(arg1, tuple):
        is_parts = len(arg1) == 2 and isinstance(arg1[1], (tuple, list))
        return (len(arg1[1]) == 1 and np.ndim(arg1[1][0]) == 1) if is_parts else len(arg1) == 1
    return getattr(arg1, "ndim", None) == 1 or (isinstance(arg1, list) and np.ndim(arg1) == 1)


def refuse_host_matrix(other):
    """Raise TypeError for a sparse array of SciPy: its parts are copied to the device where the program says so."""
    if type(other).__module__.partition(".")[0] == "scipy" and hasattr(other, "tocsr"):
        raise TypeError(
            f"the operand is a {type(other).__name__} of SciPy, on the host; expected one on the device, such as "
            "rtcg.sparse.csr_array(operand)"
        )


def shared_array(values):
    """A device array of another library (CuPy, PyTorch) as a `GPUArray` over its memory; else `values`."""
    if isinstance(values, (GPUArray, np.ndarray)) or not hasattr(values, "__cuda_array_interface__"):
        return values
    return _xp.asarray(values)


def to_device(values, dtype=None):
    """`values` as a contiguous array on the device."""
    refuse_host_matrix(values)
    values = shared_array(values)
    if isinstance(values, GPUArray):
        array = values if dtype is None or values.dtype == dtype else values.astype(dtype)
        return array if array.flags.c_contiguous else array.copy("C")
    return _xp.to_gpu(np.ascontiguousarray(values, dtype))


def is_scalar(value):
    """Whether `value` is a number."""
    return np.isscalar(value) or (isinstance(value, (np.ndarray, GPUArray)) and value.ndim == 0)
