"""Padding of arrays; part of `rtcg.numpy`. The source indices of elements are computed on the device."""

from typing import Any

from rtcg.numpy import GPUArray

__all__ = ["pad"]

def index_along_axis(axis: int, part: Any) -> tuple[Any, ...]:
    """An index that selects a part of one axis."""

def pad_axis_with(a: GPUArray, axis: int, before: int, after: int, low: Any, high: Any) -> GPUArray:
    """`a` with values or subarrays joined on both sides along an axis."""

def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> GPUArray:
    """Pad `array` along each axis: a new array in C order; does not wait.

    `array` is array-like. `pad_width` is a number, a pair (before, after), one pair per axis, or a dict by axis, all
    with integers on the host; raises `TypeError` for others, and `ValueError` for negative ones. `mode` is "constant"
    (with `constant_values`, by default 0), "edge", "empty", "linear_ramp" (`end_values`), "maximum", "mean", "median",
    "minimum" (`stat_length`), "reflect", "symmetric" or "wrap"; raises `ValueError` for another mode or keyword, and
    for an empty axis that has no elements to pad with. Functions as `mode` are not supported, and `reflect_type` "odd"
    raises `NotImplementedError`.
    """
