"""Strides, flags and bounds of arrays, by NumPy's rules."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ArrayFlags",
    "as_strided",
    "bound",
    "c_contiguous_strides",
    "equal_strides",
    "f_contiguous_strides",
    "get_common_dtype",
    "is_c_contiguous_strides",
    "is_f_contiguous_strides",
    "may_share_memory",
]

def f_contiguous_strides(itemsize: int, shape: Sequence[int]) -> tuple[int, ...]: ...
def c_contiguous_strides(itemsize: int, shape: Sequence[int]) -> tuple[int, ...]: ...
def equal_strides(strides1: Sequence[int], strides2: Sequence[int], shape: Sequence[int]) -> bool: ...
def is_f_contiguous_strides(strides: Sequence[int], itemsize: int, shape: Sequence[int]) -> bool: ...
def is_c_contiguous_strides(strides: Sequence[int], itemsize: int, shape: Sequence[int]) -> bool: ...

class ArrayFlags:
    f_contiguous: bool
    c_contiguous: bool
    forc: bool
    def __init__(self, ary: Any) -> None: ...

def get_common_dtype(obj1: Any, obj2: Any, allow_double: bool) -> np.dtype[Any]: ...
def bound(a: Any) -> tuple[int, int]: ...
def may_share_memory(a: Any, b: Any) -> bool: ...
def as_strided(
    x: NDArray[Any], shape: Sequence[int] | None = None, strides: Sequence[int] | None = None
) -> NDArray[Any]: ...
