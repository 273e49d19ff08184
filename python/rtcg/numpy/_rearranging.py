"""Elements repeated, deleted, inserted and trimmed, bits of bytes, and functions of subarrays; part of `rtcg.numpy`.

Indices that follow from shapes are computed on the device.
"""

import numpy as np

from rtcg import numpy as _xp
from rtcg._axes import normalize_axis as _normalize_axis
from rtcg._messages import shown
from rtcg.numpy._padding import index_along_axis as _index_along_axis, pad_axis_with as _pad_axis_with

__all__ = [
    "apply_along_axis", "apply_over_axes", "delete", "insert", "packbits", "repeat", "trim_zeros", "unpackbits",
]  # fmt: skip


def flatten_or_normalize_axis(a, axis):
    """An array, or its elements in a row where there is no axis; and the axis, counted from 0."""
    a = _xp._to_device(a)
    return (a.ravel(), 0) if axis is None else (a, _normalize_axis(axis, a.ndim))


def _run_indices(counts):
    """The position of the run that each place of all runs together belongs to; waits for their length."""
    ends = _xp.cumsum(counts)
    return _xp.searchsorted(ends, _xp.arange(int(ends[-1].get()) if ends.size else 0), side="right")


def repeat(a, repeats, axis=None):
    """Each element several times, along `axis` or of the flattened array: a new array of the dtype of `a`.

    `a` is array-like; `repeats` is one number, or one for each element along the axis. Raises `TypeError` unless they
    are integers, and `ValueError` for negative ones or another number of them. Does not wait for one number of the
    host, else for the length of the result (and for `repeats` on the device).
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


def _axis_positions(obj, length):
    """Places that an index of one axis names, from 0 on, on the device; and whether it is a single number."""
    if isinstance(obj, slice):
        return _xp.arange(*obj.indices(length)), False
    places = _xp._to_device(np.asarray(obj, np.int64) if np.size(obj) == 0 else obj)
    if places.dtype == bool:
        if places.shape != (length,):
            raise ValueError(f"boolean array argument obj to delete must be one dimensional and match the axis length "
                             f"of {length}")  # fmt: skip
        return _xp.flatnonzero(places), False
    return _xp.where(places < 0, places + length, places), places.ndim == 0


def _check_index_bounds(obj, length, axis):
    """Whether an index that is on the host is inside."""
    if isinstance(obj, (slice, _xp.GPUArray)) or np.size(obj) == 0 or np.asarray(obj).dtype == bool:
        return
    for extreme in (np.min(obj), np.max(obj)):
        if not -length <= extreme < length:
            raise IndexError(f"index {extreme} is out of bounds for axis {axis} with size {length}")


def delete(arr, obj, axis=None):
    """A new array of `arr` without the elements or subarrays that an index names, along `axis` or flattened.

    `arr` is array-like; `obj` is an int, a slice, or an array of integers or of bool. Raises `IndexError` for an index
    of the host that is out of bounds, and `ValueError` for bools of another length than the axis. Waits for the number
    of elements that are left.
    """
    arr, axis = flatten_or_normalize_axis(arr, axis)
    length = arr.shape[axis]
    _check_index_bounds(obj, length, axis)
    places, _ = _axis_positions(obj, length)
    keep = _xp.ones(length, bool)
    if places.size:
        keep[places.reshape(-1)] = False
    return _xp.take(arr, _xp.flatnonzero(keep), axis)


def insert(arr, obj, values, axis=None):
    """A new array of `arr` with `values` before the places that an index names, along `axis` or flattened.

    `arr` is array-like; `obj` is an int, a slice, or an array of integers or of bool, counted in `arr`. `values` are
    array-like, converted to the dtype of `arr` and broadcast. Raises `IndexError` for a single index out of bounds.
    Waits for the places of the old elements.
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


def trim_zeros(filt, trim="fb", axis=None):
    """A view of `filt` without zeros at the front ("f" in `trim`) and at the back ("b") along each of `axis`.

    `filt` is array-like; `axis` is None (all), an int or a tuple of int. Raises `ValueError` for other letters. Waits
    for the places of the first and the last element that is not 0.
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


def packbits(a, /, axis=None, bitorder="big"):
    """Elements as bits, 1 where they are not 0, eight to a byte: a new array of uint8; does not wait.

    `a` is array-like of integers or bool, else raises `TypeError`. Along `axis`, or flattened if it is None; the last
    byte is filled up with zeros. The first element is the highest bit with `bitorder` "big", the lowest with "little".
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


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    """The bits of bytes along `axis`, or flattened if it is None, each as an element of uint8; does not wait.

    `a` is array-like of uint8, else raises `TypeError`. `count` is the number of bits: of more, zeros are added, a
    negative one leaves out as many at the end. Returns a new array; `bitorder` is that of `packbits`.
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


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """`func1d` of each row of `arr` along `axis`, joined to a new array; does not wait unless the function does.

    `arr` is array-like. The function is called on the host, once for each row, with a device array of one axis, `args`
    and `kwargs`; the axes of what it returns take the place of `axis`. Raises `ValueError` if there are no rows. Slow
    for many rows: a function with an `axis` is to be preferred.
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


def apply_over_axes(func, a, axes):
    """`func`, a function of an array and an axis, for one axis after the other of `axes`; does not wait unless it does.

    `a` is array-like. Returns an array of as many axes: those that `func` takes away get length 1 again. Raises
    `ValueError` if it returns another number of axes.
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
