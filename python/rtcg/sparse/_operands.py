"""Operands of sparse arrays: shapes, index dtypes, host arrays and arrays of other libraries."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._messages import shown
from rtcg.numpy import GPUArray

#: Kernels step over the end of a row by less than a warp, so that int32 counts no more elements than these.
MAX_INT32_ELEMENTS = np.iinfo(np.int32).max - 256


def index_dtype(maximum: Any, *arrays: Any) -> np.dtype[Any]:
    """The dtype for indices up to `maximum`: int64 if an array already has it or int32 is too small."""
    wide = any(np.dtype(array.dtype).itemsize > 4 for array in arrays)
    return np.dtype(np.int64 if wide or maximum > np.iinfo(np.int32).max else np.int32)


def check_out(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse an `out` that is not a device array of this shape with a dtype that `dtype` can be cast to."""
    if not isinstance(out, GPUArray) or out.shape != shape:
        own = f" of shape {out.shape}" if hasattr(out, "shape") else ""
        raise ValueError(f"out is {shown(out)}{own}; expected an array on a device of shape {shape}")
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError(f"out is {shown(out)}; expected a dtype that {dtype} can be cast to")


def stored_in(out: Any, result: GPUArray) -> GPUArray:
    """`result`, written to `out` if that is given."""
    if out is None:
        return result
    check_out(out, result.shape, result.dtype)
    out[...] = result
    return out


def checked_shape(shape: Any) -> tuple[int, int]:
    """`shape` as two integers."""
    try:
        rows, columns = (int(length) for length in shape)
    except (TypeError, ValueError):
        raise TypeError(f"invalid input format: shape is {shown(shape)}; expected two integers") from None
    if rows < 0 or columns < 0:
        raise ValueError(f"'shape' elements cannot be negative: {shown(shape)}")
    return rows, columns


def as_matrix(name: str, value: Any) -> Any:
    """`value`, which must be a sparse array, including SciPy's, or an array with axes."""
    if not hasattr(value, "shape") and np.ndim(value) == 0:
        raise TypeError(f"{name} is {shown(value)}; expected a sparse or dense array")
    return own_of_scipy(value)


def is_one_axis(arg1: Any, shape: Any) -> bool:
    """Whether the argument of a constructor is an array with one axis."""
    if shape is not None:
        return hasattr(shape, "__len__") and len(shape) == 1
    if isinstance(arg1, tuple):
        is_parts = len(arg1) == 2 and isinstance(arg1[1], (tuple, list))
        return (len(arg1[1]) == 1 and np.ndim(arg1[1][0]) == 1) if is_parts else len(arg1) == 1
    return getattr(arg1, "ndim", None) == 1 or (isinstance(arg1, list) and np.ndim(arg1) == 1)


def is_scipy_sparse(value: Any) -> bool:
    """Whether `value` is a sparse array or matrix of SciPy, or of a class derived from one; SciPy is not imported."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and module.issparse(value)


def own_of_scipy(value: Any) -> Any:
    """A sparse array of SciPy as one on the device, in the same format if possible; otherwise `value`."""
    if not is_scipy_sparse(value):
        return value
    import rtcg.sparse

    format = value.format if value.format in ("csr", "csc", "coo", "dia", "bsr") else "csr"
    return getattr(rtcg.sparse, f"{format}_array")(value)


def refuse_host_matrix(other: Any) -> None:
    """Raise TypeError for a sparse array of SciPy, which programs must copy to the device explicitly."""
    if is_scipy_sparse(other):
        raise TypeError(
            f"the operand is a {type(other).__name__} of SciPy, on the host; expected one on the device, such as "
            "rtcg.sparse.csr_array(operand)"
        )


def shared_array(values: Any) -> Any:
    """A device array of another library (CuPy, PyTorch) as a `GPUArray` over its memory; otherwise `values`."""
    if isinstance(values, (GPUArray, np.ndarray)) or not hasattr(values, "__cuda_array_interface__"):
        return values
    return _xp.asarray(values)


def to_device(values: Any, dtype: Any = None) -> GPUArray:
    """`values` as a contiguous array on the device."""
    refuse_host_matrix(values)
    values = shared_array(values)
    if isinstance(values, GPUArray):
        array = values if dtype is None or values.dtype == dtype else values.astype(dtype)
        return array if array.flags.c_contiguous else array.copy("C")
    return _xp.to_gpu(np.ascontiguousarray(values, dtype))


def is_scalar(value: Any) -> bool:
    """Whether `value` is a number."""
    return np.isscalar(value) or (isinstance(value, (np.ndarray, GPUArray)) and value.ndim == 0)
