"""NumPy's protocols for device arrays: dispatch of its functions, and printing."""

from collections.abc import Callable, Sequence
from typing import Any

from rtcg._native import GPUArray

def array_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], *, out: Any = None, **kwargs: Any) -> Any:
    """NumPy's `__array_ufunc__`: computes ufuncs on the device."""

def array_function(func: Callable[..., Any], types: Sequence[type], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """NumPy's `__array_function__`: calls the function with the same name in `rtcg.numpy`, `.linalg` or `.fft`."""

def to_device(array: GPUArray, device: Any) -> Any:
    """`GPUArray.to_device`: the array itself, a copy on another device, or a NumPy array."""

def array_str(array: GPUArray) -> str:
    """`numpy.array_str`; only the edges of a long array are copied."""

def array_repr(array: GPUArray) -> str:
    """`numpy.array_repr`; only the edges of a long array are copied."""
