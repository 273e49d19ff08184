"""Padding of arrays; part of `rtcg.numpy`. The source indices of elements are computed on the device."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp

if TYPE_CHECKING:
    from rtcg.numpy import GPUArray

__all__ = ["pad"]


def index_along_axis(axis: int, part: Any) -> tuple[Any, ...]:
    """An index that selects a part of one axis."""
    return (slice(None),) * axis + (part,)


def _pad_widths(given: Any, ndim: int) -> list[list[int]]:
    """The pair (before, after) of each axis, from a number, a pair or a list of pairs."""
    return np.broadcast_to(np.asarray(given), (ndim, 2)).tolist()


def pad_axis_with(a: GPUArray, axis: int, before: int, after: int, low: Any, high: Any) -> GPUArray:
    """`a` with values or subarrays joined on both sides along an axis."""
    shape = list(a.shape)
    shape[axis] += before + after
    result = _xp.empty(tuple(shape), a.dtype)
    result[index_along_axis(axis, slice(before, before + a.shape[axis]))] = a
    for part, value in ((slice(None, before), low), (slice(shape[axis] - after, None), high)):
        if value is not None and (part.stop if part.start is None else shape[axis] - part.start):
            result[index_along_axis(axis, part)] = value
    return result


def _source_indices(mode: str, n: int, before: int, after: int) -> GPUArray:
    """The indices that elements of a padded axis come from."""
    place = _xp.arange(-before, n + after)
    if mode == "edge":
        return _xp.clip(place, 0, n - 1)
    if mode == "wrap":
        return place % n
    period = 2 * n if mode == "symmetric" else builtins.max(2 * (n - 1), 1)
    place = place % period
    return _xp.where(place < n, place, period - place - (mode == "symmetric"))


def _linear_ramp(end: Any, edge: GPUArray, count: int, axis: int) -> GPUArray:
    """A ramp from `end` towards a subarray, in `count` steps."""
    steps = _xp.arange(count).astype(np.float64) / count
    steps = steps.reshape(tuple(-1 if k == axis else 1 for k in range(edge.ndim)))
    wide = np.complex128 if edge.dtype.kind == "c" else np.float64
    ramp = end + (edge.astype(wide) - end) * steps
    return ramp.astype(edge.dtype) if edge.dtype.kind not in "iu" else _xp.floor(ramp).astype(edge.dtype)


_STATISTIC_MODES = {"maximum": "max", "minimum": "min", "mean": "mean", "median": "median"}


def _edge_statistics(a: GPUArray, axis: int, mode: str, lengths: Any) -> list[GPUArray]:
    """The statistic of the first and of the last subarrays."""
    results = []
    n = a.shape[axis]
    for length, part in zip(lengths, (lambda m: slice(None, m), lambda m: slice(n - m, None)), strict=True):
        chosen = a if length is None else a[index_along_axis(axis, part(builtins.min(int(length), n)))]
        value = getattr(_xp, _STATISTIC_MODES[mode])(chosen, axis=axis, keepdims=True)
        results.append(_xp.rint(value) if a.dtype.kind in "iu" and value.dtype.kind == "f" else value)
    return results


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> GPUArray:
    """Pad `array` along each axis: a new array in C order; does not wait.

    `array` is array-like. `pad_width` is a number, a pair (before, after), one pair per axis, or a dict by axis, all
    with integers on the host; raises `TypeError` for others, and `ValueError` for negative ones. `mode` is "constant"
    (with `constant_values`, by default 0), "edge", "empty", "linear_ramp" (`end_values`), "maximum", "mean", "median",
    "minimum" (`stat_length`), "reflect", "symmetric" or "wrap"; raises `ValueError` for another mode or keyword, and
    for an empty axis that has no elements to pad with. Functions as `mode` are not supported, and `reflect_type` "odd"
    raises `NotImplementedError`.
    """
    a = _xp._to_device(array)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(k, pad_width.get(k - a.ndim, (0, 0))) for k in range(a.ndim)]
        pad_width = [(each, each) if np.ndim(each) == 0 else each for each in pad_width]
    if np.asarray(pad_width).dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    widths = _pad_widths(pad_width, a.ndim)
    if any(width < 0 for pair in widths for width in pair):
        raise ValueError("index can't contain negative values")
    allowed = {"constant": ["constant_values"], "linear_ramp": ["end_values"], "reflect": ["reflect_type"],
               "symmetric": ["reflect_type"], "edge": [], "empty": [], "wrap": [],
               **dict.fromkeys(_STATISTIC_MODES, ["stat_length"])}  # fmt: skip
    if mode not in allowed:
        raise ValueError(f"mode '{mode}' is not supported")
    if unknown := [name for name in kwargs if name not in allowed[mode]]:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {set(unknown)}")
    if kwargs.get("reflect_type", "even") != "even":
        raise NotImplementedError("pad: reflect_type='odd' is not there for arrays on a device")
    given = _pad_widths(next(iter(kwargs.values())), a.ndim) if kwargs and "reflect_type" not in kwargs else None
    result = a.copy("C")
    for axis, (before, after) in enumerate(widths):
        if before or after:
            result = _pad_axis(result, axis, before, after, mode, given[axis] if given else None)
    return result


def _pad_axis(a: GPUArray, axis: int, before: int, after: int, mode: str, given: Any) -> GPUArray:
    n = a.shape[axis]
    if mode in ("constant", "empty"):
        low, high = (given or (0, 0)) if mode == "constant" else (None, None)
        return pad_axis_with(a, axis, before, after, low, high)
    if n == 0:
        raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
    if mode == "linear_ramp":
        ends = given or (0, 0)
        edges = a[index_along_axis(axis, slice(0, 1))], a[index_along_axis(axis, slice(n - 1, None))]
        low = _linear_ramp(ends[0], edges[0], before, axis) if before else None
        high = _xp.flip(_linear_ramp(ends[1], edges[1], after, axis), axis) if after else None
        return pad_axis_with(a, axis, before, after, low, high)
    if mode in _STATISTIC_MODES:
        return pad_axis_with(a, axis, before, after, *_edge_statistics(a, axis, mode, given or (None, None)))
    if mode == "reflect" and n == 1:
        mode = "edge"
    return _xp.take(a, _source_indices(mode, n, before, after), axis)
