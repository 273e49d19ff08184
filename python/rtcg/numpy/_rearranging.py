"""Elements repeated, deleted, inserted and trimmed, bit packing, functions of subarrays; part of `rtcg.numpy`.

Indices that follow from shapes are computed on the device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._axes import normalize_axis as _normalize_axis
from rtcg._messages import shown
from rtcg.numpy._padding import index_along_axis as _index_along_axis, pad_axis_with as _pad_axis_with

if TYPE_CHECKING:
    from rtcg.numpy import GPUArray

__all__ = [
    "apply_along_axis", "apply_over_axes", "delete", "insert", "packbits", "repeat", "trim_zeros", "unpackbits",
]  # fmt: skip


def flatten_or_normalize_axis(a: Any, axis: int | None) -> tuple[GPUArray, int]:
    """The array, flattened if `axis` is None, and the axis counted from 0."""
    a = _xp._to_device(a)
    return (a.ravel(), 0) if axis is None else (a, _normalize_axis(axis, a.ndim))


def _run_indices(counts: GPUArray) -> GPUArray:
    """For each position in all runs together, the index of its run; waits for their total length."""
    ends = _xp.cumsum(counts)
    return _xp.searchsorted(ends, _xp.arange(int(ends[-1].get()) if ends.size else 0), side="right")


def repeat(a: Any, repeats: Any, axis: Any = None) -> GPUArray:
    """Repeat each element along `axis`, or of the flattened array: a new array with the dtype of `a`.

    `a` is array-like; `repeats` is one number, or one for each element along the axis. Raises `TypeError` unless they
    are integers, and `ValueError` for negative ones or a wrong number of them. Does not wait if `repeats` is one number
    on the host; otherwise waits for the length of the result (and for `repeats` on the device).
    """
    a, axis = flatten_or_normalize_axis(a, axis)
    length = a.shape[axis]
    if not isinstance(repeats, _xp.GPUArray):
        repeats = np.asarray(repeats)
    if repeats.dtype.kind not in "iub" and repeats.size:
        raise TypeError(
            f"Cannot cast array data from {shown(repeats.dtype)} to dtype('int64') according to the rule 'safe'"
        )
    if repeats.size and bool((repeats < 0).any()):
        raise ValueError("repeats may not contain negative values.")
    if repeats.size == 1:
        count = int(repeats.ravel()[0])
        wide = _xp.broadcast_to(_xp.expand_dims(a, axis + 1), (*a.shape[: axis + 1], count, *a.shape[axis + 1 :]))
        return wide.copy("C").reshape((*a.shape[:axis], length * count, *a.shape[axis + 1 :]))
    if repeats.shape != (length,):
        raise ValueError(f"operands could not be broadcast together with shape ({length},) {repeats.shape}")
    return _xp.take(a, _run_indices(_xp._to_device(repeats).astype(np.int64)), axis)


def _axis_positions(obj: Any, length: int) -> tuple[GPUArray, bool]:
    """The positions on one axis that an index selects, from 0 on, on the device; and whether it is a single number."""
    if isinstance(obj, slice):
        return _xp.arange(*obj.indices(length)), False
    places = _xp._to_device(np.asarray(obj, np.int64) if np.size(obj) == 0 else obj)
    if places.dtype == bool:
        if places.shape != (length,):
            raise ValueError(f"boolean array argument obj to delete must be one dimensional and match the axis length "
                             f"of {length}")  # fmt: skip
        return _xp.flatnonzero(places), False
    return _xp.where(places < 0, places + length, places), places.ndim == 0


def _check_index_bounds(obj: Any, length: int, axis: int) -> None:
    """Check that an index on the host is in bounds."""
    if isinstance(obj, (slice, _xp.GPUArray)) or np.size(obj) == 0 or np.asarray(obj).dtype == bool:
        return
    for extreme in (np.min(obj), np.max(obj)):
        if not -length <= extreme < length:
            raise IndexError(f"index {extreme} is out of bounds for axis {axis} with size {length}")


def delete(arr: Any, obj: Any, axis: Any = None) -> GPUArray:
    """A new array of `arr` without the elements or subarrays that an index selects, along `axis` or flattened.

    `arr` is array-like; `obj` is an int, a slice, or an array of integers or of bool. Raises `IndexError` for an index
    on the host that is out of bounds, and `ValueError` for bools of a length other than that of the axis. Waits for the
    number of remaining elements.
    """
    arr, axis = flatten_or_normalize_axis(arr, axis)
    length = arr.shape[axis]
    _check_index_bounds(obj, length, axis)
    places, _ = _axis_positions(obj, length)
    keep = _xp.ones(length, bool)
    if places.size:
        keep[places.reshape(-1)] = False
    return _xp.take(arr, _xp.flatnonzero(keep), axis)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> GPUArray:
    """A new array of `arr` with `values` before the positions that an index selects, along `axis` or flattened.

    `arr` is array-like; `obj` is an int, a slice, or an array of integers or of bool, with positions in `arr`. `values`
    are array-like, converted to the dtype of `arr` and broadcast. Raises `IndexError` for a single index out of bounds.
    Waits for the new positions of the old elements.
    """
    arr, axis = flatten_or_normalize_axis(arr, axis)
    length = arr.shape[axis]
    if not isinstance(obj, slice) and np.size(obj) == 1:
        index = int(np.asarray(obj.get() if isinstance(obj, _xp.GPUArray) else obj).reshape(()))
        if not -length <= index <= length:
            raise IndexError(f"index {index} is out of bounds for axis {axis} with size {length}")
    places, is_single = _axis_positions(obj, length)
    values = _xp._to_device(values)
    if values.dtype != arr.dtype:
        values = values.astype(arr.dtype)
    if is_single:
        values = _xp.moveaxis(values.reshape((1,) * (arr.ndim - values.ndim) + values.shape), 0, axis)
        places = places.reshape(1)
        shape = list(arr.shape)
        shape[axis] = count = values.shape[axis]
        new = places + _xp.arange(count)
    else:
        order = _xp.argsort(places)
        new = _xp.empty(places.shape, np.int64)
        new[order] = places[order] + _xp.arange(places.size)
        shape = list(arr.shape)
        shape[axis] = count = places.size
    result_shape = (*arr.shape[:axis], length + count, *arr.shape[axis + 1 :])
    result, old = _xp.empty(result_shape, arr.dtype), _xp.ones(length + count, bool)
    if count:
        old[new] = False
        result[_index_along_axis(axis, new)] = _xp.broadcast_to(values, tuple(shape))
    if length:
        # The places of the old elements are those that are left, in order.
        rest = _xp.flatnonzero(old)
        result[_index_along_axis(axis, rest)] = arr
    return result


def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> GPUArray:
    """A view of `filt` without zeros at the front ("f" in `trim`) and at the back ("b") along each of `axis`.

    `filt` is array-like; `axis` is None (all), an int or a tuple of int. Raises `ValueError` for other letters. Waits
    for the positions of the first and the last element that is not 0.
    """
    filt = _xp._to_device(filt)
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {shown(trim)}")
    axes = range(filt.ndim) if axis is None else [_normalize_axis(k, filt.ndim) for k in np.atleast_1d(axis)]
    parts = [slice(None)] * filt.ndim
    for k in axes:
        others = tuple(j for j in range(filt.ndim) if j != k)
        places = _xp.flatnonzero((filt != 0).any(others) if others else filt != 0)
        if places.size == 0:
            parts[k] = slice(0, 0)
            continue
        first, last = int(places[0].get()), int(places[-1].get())
        parts[k] = slice(first if "f" in trim else None, last + 1 if "b" in trim else None)
    return filt[tuple(parts)]


def packbits(a: Any, /, axis: Any = None, bitorder: Any = "big") -> GPUArray:
    """Pack elements into bits, 1 where they are not 0, eight to a byte: a new array of uint8; does not wait.

    `a` is array-like of integers or bool, else raises `TypeError`. Packs along `axis`, or flattened if it is None; the
    last byte is filled up with zeros. The first element is the highest bit with `bitorder` "big", the lowest with
    "little".
    """
    a = _xp._to_device(a)
    if a.dtype.kind not in "iub":
        raise TypeError("Expected an input array of integer or boolean data type")
    a, axis = flatten_or_normalize_axis(a, axis)
    n = a.shape[axis]
    bits = _pad_axis_with((a != 0).astype(np.uint8), axis, 0, -n % 8, None, 0)
    bits = bits.reshape((*a.shape[:axis], -(-n // 8), 8, *a.shape[axis + 1 :]))
    weights = 1 << (_xp.arange(8) if bitorder == "little" else _xp.arange(7, -1, -1))
    weights = weights.astype(np.uint8).reshape((8,) + (1,) * (a.ndim - axis - 1))
    return (bits * weights).sum(axis + 1, dtype=np.uint8)


def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: Any = "big") -> GPUArray:
    """Unpack the bits of bytes along `axis`, or flattened if it is None, into elements of uint8; does not wait.

    `a` is array-like of uint8, else raises `TypeError`. `count` is the number of bits: a larger number appends zeros,
    and a negative one drops that many at the end. Returns a new array; `bitorder` is that of `packbits`.
    """
    a = _xp._to_device(a)
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    a, axis = flatten_or_normalize_axis(a, axis)
    shifts = _xp.arange(8) if bitorder == "little" else _xp.arange(7, -1, -1)
    shifts = shifts.astype(np.uint8).reshape((8,) + (1,) * (a.ndim - axis - 1))
    bits = (_xp.expand_dims(a, axis + 1) >> shifts) & np.uint8(1)
    bits = bits.reshape((*a.shape[:axis], a.shape[axis] * 8, *a.shape[axis + 1 :]))
    if count is None:
        return bits
    n = bits.shape[axis]
    if count > n:
        return _pad_axis_with(bits, axis, 0, count - n, None, 0)
    return bits[_index_along_axis(axis, slice(None, count))]


def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> GPUArray:
    """Apply `func1d` to each row of `arr` along `axis` and join the results; waits only if the function does.

    `arr` is array-like. Returns a new array. The function is called on the host, once for each row, with a device array
    with one axis, `args` and `kwargs`; the axes of its result replace `axis`. Raises `ValueError` if there are no rows.
    Slow for many rows: prefer a function with an `axis`.
    """
    arr = _xp._to_device(arr)
    axis = _normalize_axis(axis, arr.ndim)
    rows = _xp.moveaxis(arr, axis, -1)
    places = list(np.ndindex(rows.shape[:-1]))
    if not places:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = [_xp._to_device(func1d(rows[place], *args, **kwargs)) for place in places]
    own = results[0].shape
    result = _xp.stack(results).reshape((*rows.shape[:-1], *own))
    ahead = rows.ndim - 1
    return result.transpose((*range(axis), *range(ahead, ahead + len(own)), *range(axis, ahead)))


def apply_over_axes(func: Any, a: Any, axes: Any) -> GPUArray:
    """Apply `func`, a function of an array and an axis, to each of `axes` in turn; waits only if the function does.

    `a` is array-like. Returns an array with the same number of axes: those that `func` removes are restored (length 1).
    Raises `ValueError` if the function returns any other number of axes.
    """
    result = _xp._to_device(a)
    ndim = result.ndim
    for axis in np.atleast_1d(axes).tolist():
        axis = axis % ndim
        reduced = func(result, axis)
        result = reduced if reduced.ndim == result.ndim else _xp.expand_dims(reduced, axis)
        if result.ndim != ndim:
            raise ValueError("function is not returning an array of the correct shape")
    return result
