"""Padding of arrays; part of `rtcg.numpy`. Places that elements come from are computed on the device."""

from typing import Any

from rtcg.numpy import GPUArray

__all__ = ["pad"]

def index_along_axis(axis: int, part: Any) -> tuple[Any, ...]:
    """The index that takes a part of an axis."""

def pad_axis_with(a: GPUArray, axis: int, before: int, after: int, low: Any, high: Any) -> GPUArray:
    """`a` between two values or subarrays."""

def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> GPUArray:
    """`array` between padding along each axis: a new array in C order; does not wait.

    `array` is array-like. `pad_width` is a number, a pair (before, after), one pair for each axis, or a dict of axes,
    of integers of the host; raises `TypeError` for others, and `ValueError` for negative ones. `mode` is "constant"
    (with `constant_values`, by default 0), "edge", "empty", "linear_ramp" (`end_values`), "maximum", "mean", "median",
    "minimum" (`stat_length`), "reflect", "symmetric" or "wrap"; raises `ValueError` for another mode or keyword, and
    for an empty axis that has nothing to be padded with. Functions as `mode` are missing, and `reflect_type` "odd" is a
    `NotImplementedError`.
    """
