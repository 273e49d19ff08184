"""Operands of sparse arrays: shapes, index dtypes, host arrays and arrays of other libraries."""

from typing import Any

import numpy as np

from rtcg.numpy import GPUArray

MAX_INT32_ELEMENTS: int

def index_dtype(maximum: Any, *arrays: Any) -> np.dtype[Any]:
    """The dtype for indices up to `maximum`: int64 if an array already has it or int32 is too small."""

def check_out(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse an `out` that is not a device array of this shape with a dtype that `dtype` can be cast to."""

def stored_in(out: Any, result: GPUArray) -> GPUArray:
    """`result`, written to `out` if that is given."""

def checked_shape(shape: Any) -> tuple[int, int]:
    """`shape` as two integers."""

def as_matrix(name: str, value: Any) -> Any:
    """`value`, which must be a sparse array, including SciPy's, or an array with axes."""

def is_one_axis(arg1: Any, shape: Any) -> bool:
    """Whether the argument of a constructor is an array with one axis."""

def is_scipy_sparse(value: Any) -> bool:
    """Whether `value` is a sparse array or matrix of SciPy, or of a class derived from one; SciPy is not imported."""

def own_of_scipy(value: Any) -> Any:
    """A sparse array of SciPy as one on the device, in the same format if possible; otherwise `value`."""

def refuse_host_matrix(other: Any) -> None:
    """Raise TypeError for a sparse array of SciPy, which programs must copy to the device explicitly."""

def shared_array(values: Any) -> Any:
    """A device array of another library (CuPy, PyTorch) as a `GPUArray` over its memory; otherwise `values`."""

def to_device(values: Any, dtype: Any = None) -> GPUArray:
    """`values` as a contiguous array on the device."""

def is_scalar(value: Any) -> bool:
    """Whether `value` is a number."""
