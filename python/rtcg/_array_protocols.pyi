"""NumPy's protocols for device arrays: dispatch of its functions, printing."""

from collections.abc import Callable, Sequence
from typing import Any

from rtcg._native import GPUArray

def array_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], *, out: Any = None, **kwargs: Any) -> Any:
    """NumPy's `__array_ufunc__`: ufuncs are computed on the device."""

def array_function(func: Callable[..., Any], types: Sequence[type], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """NumPy's `__array_function__`: the function of the same name in `rtcg.numpy`, `.linalg` or `.fft`."""

def to_device(array: GPUArray, device: Any) -> Any:
    """`GPUArray.to_device`: the array itself, a copy on another device, or a NumPy array."""

def array_str(array: GPUArray) -> str:
    """`numpy.array_str`; of a long array only the edges are fetched."""

def array_repr(array: GPUArray) -> str:
    """`numpy.array_repr`; of a long array only the edges are fetched."""
