"""Padding of arrays; part of `rtcg.numpy`. Places that elements come from are computed on the device."""

from typing import Any

from rtcg.numpy import GPUArray

__all__ = ["pad"]

def index_along_axis(axis: int, part: Any) -> tuple[Any, ...]:
    """The index that takes a part of an axis."""

def pad_axis_with(a: GPUArray, axis: int, before: int, after: int, low: Any, high: Any) -> GPUArray:
    """`a` between two values or subarrays."""

def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> GPUArray:
    """`array` between padding along each axis; see `numpy.pad`.

    `mode` is "constant", "edge", "empty", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect",
    "symmetric" or "wrap"; `reflect_type` can only be "even".
    """
