"""Arrays on the device with NumPy's arithmetic."""

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import DTypeLike

from pycuda._rtcg import DeviceAllocation, GPUArray as GPUArray

__all__ = ["GPUArray", "empty", "empty_like", "to_gpu", "zeros", "zeros_like"]

empty = GPUArray

def zeros(
    shape: int | Sequence[int],
    dtype: DTypeLike = ...,
    allocator: Callable[[int], DeviceAllocation] | None = None,
    order: str = "C",
) -> GPUArray: ...
def empty_like(other_ary: Any, dtype: DTypeLike | None = None) -> GPUArray: ...
def zeros_like(other_ary: Any, dtype: DTypeLike | None = None) -> GPUArray: ...
def to_gpu(ary: Any, allocator: Callable[[int], DeviceAllocation] | None = None) -> GPUArray: ...
