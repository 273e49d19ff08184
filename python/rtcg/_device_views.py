"""Arrays over memory that a program gives as a pointer or as another array.

Functions of CUDA's libraries take pointers, sizes and distances between elements. :func:`view` makes the array that
they describe, and refuses one that reaches beyond the array it is given. Memory behind a plain pointer has no known
size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg._messages import shown
from rtcg.numpy import GPUArray

if TYPE_CHECKING:
    from collections.abc import Sequence


def view(name: str, memory: Any, shape: Sequence[int], dtype: Any, strides: Sequence[int]) -> GPUArray:
    """An array of `shape` over `memory`, whose elements are `strides` elements of `dtype` apart.

    `memory` is an array, of which only the address is used, an allocation or an address. Raises `ValueError` if the
    elements reach beyond the array, `TypeError` for other objects.
    """
    dtype = np.dtype(dtype)
    steps = [stride * dtype.itemsize for stride in strides]
    if not isinstance(memory, GPUArray):
        return GPUArray(shape, dtype, gpudata=_as_pointer(name, memory), strides=steps)
    needed = _extent(shape, steps, dtype.itemsize)
    available = _bytes_from(memory)
    if needed > available:
        raise ValueError(
            f"{name} has {available} bytes; expected at least {needed}, for shape {tuple(shape)}, strides of "
            f"{tuple(strides)} elements and dtype {dtype}"
        )
    return GPUArray(shape, dtype, base=memory, gpudata=memory.gpudata, strides=steps)


def _as_pointer(name: str, memory: Any) -> Any:
    try:
        int(memory)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {shown(memory)}; expected an array on the device or a device pointer") from None
    return memory


def _extent(shape: Sequence[int], steps: Sequence[int], itemsize: int) -> int:
    """The number of bytes from the first element to the end of the last one; strides are not negative."""
    return sum((n - 1) * step for n, step in zip(shape, steps, strict=True)) + itemsize if all(shape) else 0


def _bytes_from(array: GPUArray) -> int:
    """The number of bytes from the first element of `array` to the end of the array that it is a view of."""
    if not array.size:
        return 0
    root = array
    while isinstance(root.base, GPUArray):
        root = root.base
    own = _extent(array.shape, [max(stride, 0) for stride in array.strides], array.dtype.itemsize)
    whole = _extent(root.shape, [max(stride, 0) for stride in root.strides], root.dtype.itemsize)
    return max(own, int(root.gpudata) + whole - int(array.gpudata))
