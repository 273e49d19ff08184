"""Elements put into other places: joining, cutting, diagonals, choosing by masks and by lists; part of
`rtcg.numpy`.

Indices that follow from shapes are computed on the device.
"""

import builtins

import numpy as np

from rtcg import numpy as _xp
from rtcg._axes import normalize_axis as _normalize_axis
from rtcg.numpy._padding import index_along_axis as _index_along_axis, pad_axis_with as _pad_axis_with

__all__ = [
    "append", "apply_along_axis", "apply_over_axes", "argpartition", "array_split", "atleast_3d", "block", "choose",
    "column_stack", "compress", "delete", "diag", "diag_indices_from", "diagflat", "dsplit", "dstack", "extract",
    "fill_diagonal", "hsplit", "insert", "packbits", "partition", "piecewise", "place", "putmask",
    "ravel_multi_index", "repeat", "rollaxis", "rot90", "select", "sort_complex", "tril_indices_from", "trim_zeros",
    "triu_indices_from", "unpackbits", "unravel_index", "vsplit",
]  # fmt: skip


def _flatten_or_normalize_axis(a, axis):
    """An array, or its elements in a row where there is no axis; and the axis, counted from 0."""
    a = _xp._to_device(a)
    return (a.ravel(), 0) if axis is None else (a, _normalize_axis(axis, a.ndim))


# -- joining and cutting ------------------------------------------------------------------------------


def append(arr, values, axis=None):
    """`values` behind `arr`, along an axis or both flattened; see `numpy.append`."""
    return _xp.concatenate([_xp._to_device(arr), _xp._to_device(values)], axis)


def atleast_3d(*arys):
    """Arrays with three axes at least; see `numpy.atleast_3d`."""
    results = []
    for a in (_xp._to_device(a) for a in arys):
        results.append(a.reshape({0: (1, 1, 1), 1: (1, a.size, 1)}.get(a.ndim, (*a.shape, 1))) if a.ndim < 3 else a)
    return results[0] if len(results) == 1 else tuple(results)


def column_stack(tup):
    """Rows of numbers as columns, beside matrices; see `numpy.column_stack`."""
    return _xp.concatenate(
        [a[:, None] if a.ndim == 1 else _xp.atleast_2d(a) for a in (_xp._to_device(a) for a in tup)], 1
    )


def dstack(tup):
    """Arrays joined along the third axis."""
    return _xp.concatenate([atleast_3d(a) for a in tup], 2)


def block(arrays):
    """Arrays joined as nested lists say, the innermost along the last axis; see `numpy.block`."""

    def list_depth(part):
        return 1 + builtins.max(list_depth(each) for each in part) if isinstance(part, list) and part else 0

    def max_ndim(part):
        return builtins.max(max_ndim(each) for each in part) if isinstance(part, list) else _xp._to_device(part).ndim

    def join_nested_lists(part, depth):
        if isinstance(part, list):
            if not part:
                raise ValueError("List at arrays cannot be empty")
            return _xp.concatenate([join_nested_lists(each, depth - 1) for each in part], -depth)
        if depth:
            raise ValueError(f"List depths are mismatched: an array where {depth} more lists are expected")
        a = _xp._to_device(part)
        return a.reshape((1,) * (ndim - a.ndim) + a.shape)

    depth = list_depth(arrays)
    ndim = builtins.max(depth, max_ndim(arrays))
    return join_nested_lists(arrays, depth) if depth else join_nested_lists(arrays, 0).copy()


def array_split(ary, indices_or_sections, axis=0):
    """Views of parts along an axis, of lengths that may differ by one; see `numpy.array_split`."""
    ary = _xp._to_device(ary)
    axis = _normalize_axis(axis, ary.ndim)
    if isinstance(indices_or_sections, (int, np.integer)):
        sections = int(indices_or_sections)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, longer = divmod(ary.shape[axis], sections)
        indices_or_sections = [k * each + builtins.min(k, longer) for k in range(1, sections)]
    return _xp.split(ary, list(indices_or_sections), axis)


def _make_split(name, axis):
    def split_function(ary, indices_or_sections):
        if ary.ndim <= axis:
            raise ValueError(f"{name} only works on arrays of {axis + 1} or more dimensions")
        return _xp.split(ary, indices_or_sections, axis)

    split_function.__name__ = split_function.__qualname__ = name
    split_function.__doc__ = f"`split` along axis {axis}; see `numpy.{name}`."
    return split_function


vsplit, dsplit = _make_split("vsplit", 0), _make_split("dsplit", 2)


def hsplit(ary, indices_or_sections):
    """`split` along the second axis, or the only one."""
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return _xp.split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def rollaxis(a, axis, start=0):
    """An axis moved before another one; see `numpy.rollaxis`."""
    axis = _normalize_axis(axis, a.ndim)
    if not -a.ndim <= start <= a.ndim:
        raise np.exceptions.AxisError(
            f"'start' arg requires {-a.ndim} <= start < {a.ndim + 1}, but {start} was passed in"
        )
    start = start + a.ndim if start < 0 else start
    return _xp.moveaxis(a, axis, start - (axis < start))


def rot90(m, k=1, axes=(0, 1)):
    """The plane of two axes rotated by 90 degrees, as a view; see `numpy.rot90`."""
    m = _xp._to_device(m)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    first, second = (_normalize_axis(axis, m.ndim) for axis in axes)
    if first == second:
        raise ValueError("Axes must be different.")
    if k % 4 == 0:
        return m[...]
    if k % 4 == 2:
        return _xp.flip(m, (first, second))
    return m._flip(second).swapaxes(first, second) if k % 4 == 1 else m.swapaxes(first, second)._flip(second)


def _run_indices(counts):
    """The position of the run that each place of all runs together belongs to; waits for their length."""
    ends = _xp.cumsum(counts)
    return _xp.searchsorted(ends, _xp.arange(int(ends[-1].get()) if ends.size else 0), side="right")


def repeat(a, repeats, axis=None):
    """Each element several times; see `numpy.repeat`. Waits where numbers of repetitions are on the device."""
    a, axis = _flatten_or_normalize_axis(a, axis)
    length = a.shape[axis]
    if not isinstance(repeats, _xp.GPUArray):
        repeats = np.asarray(repeats)
    if repeats.dtype.kind not in "iub" and repeats.size:
        raise TypeError(f"Cannot cast array data from {repeats.dtype!r} to dtype('int64') according to the rule 'safe'")
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
    """Without the elements or subarrays that an index names; waits for the number of those left."""
    arr, axis = _flatten_or_normalize_axis(arr, axis)
    length = arr.shape[axis]
    _check_index_bounds(obj, length, axis)
    places, _ = _axis_positions(obj, length)
    keep = _xp.ones(length, bool)
    if places.size:
        keep[places.reshape(-1)] = False
    return _xp.take(arr, _xp.flatnonzero(keep), axis)


def insert(arr, obj, values, axis=None):
    """With `values` before the places that an index names; see `numpy.insert`."""
    arr, axis = _flatten_or_normalize_axis(arr, axis)
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
    """Without zeros at the ends of each axis; waits for their numbers. See `numpy.trim_zeros`."""
    filt = _xp._to_device(filt)
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
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


# -- diagonals ----------------------------------------------------------------------------------------


def diag(v, k=0):
    """The diagonal of a matrix, or a matrix with a diagonal; see `numpy.diag`."""
    v = _xp._to_device(v)
    if v.ndim == 2:
        return v.diagonal(k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = v.size + abs(k)
    result = _xp.zeros((n, n), v.dtype)
    if v.size:
        result.diagonal(k)[...] = v
    return result


def diagflat(v, k=0):
    """A matrix with the flattened array as its diagonal."""
    return diag(_xp._to_device(v).ravel(), k)


def fill_diagonal(a, val, wrap=False):
    """Writes `val` to the main diagonal, again below it with `wrap`; see `numpy.fill_diagonal`."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    if not isinstance(val, _xp.GPUArray):
        val = np.asarray(val)
    if a.ndim == 2 and not wrap:
        places = _xp.arange(builtins.min(a.shape))
        index = (places, places)
    elif a.ndim == 2:
        places = _xp.arange(0, a.size, a.shape[1] + 1)
        index = (places // a.shape[1], places % a.shape[1])
    else:
        index = (_xp.arange(a.shape[0]),) * a.ndim
    n = index[0].size
    if n == 0:
        return
    if val.ndim and val.size:
        val = _xp.resize(_xp._to_device(val), (n,))
    a[index] = val


def diag_indices_from(arr):
    """The indices of the main diagonal."""
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    return (_xp.arange(arr.shape[0]),) * arr.ndim


def tril_indices_from(arr, k=0):
    """The indices of the lower triangle; waits for their number."""
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _xp.nonzero(_xp._distance_below_diagonal(arr) >= -k)


def triu_indices_from(arr, k=0):
    """The indices of the upper triangle; waits for their number."""
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _xp.nonzero(_xp._distance_below_diagonal(arr) <= -k)


# -- choosing -----------------------------------------------------------------------------------------


def compress(condition, a, axis=None, out=None):
    """The subarrays for which a condition holds; waits for their number. See `numpy.compress`."""
    condition = _xp._to_device(condition)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    a, axis = _flatten_or_normalize_axis(a, axis)
    return _xp._copy_to_out(out, _xp.take(a, _xp.flatnonzero(condition), axis))


def extract(condition, arr):
    """The elements for which a condition holds; waits for their number."""
    return _xp.take(_xp._to_device(arr).ravel(), _xp.flatnonzero(_xp._to_device(condition).ravel()))


def place(arr, mask, vals):
    """Writes `vals`, again and again, to the elements that a mask names; waits for their number."""
    mask, vals = _xp._to_device(mask).astype(bool), _xp._to_device(vals).ravel()
    places = _xp.flatnonzero(mask)
    if places.size == 0:
        return
    if vals.size == 0:
        raise ValueError("Cannot insert from an empty array!")
    arr[mask.reshape(arr.shape)] = _xp.resize(vals, (places.size,)).astype(arr.dtype)


def putmask(a, mask, values):
    """Writes `values`, as long as the array or repeated, where a mask holds; does not wait."""
    values = _xp._to_device(values)
    if values.size != 1 and values.size:
        values = _xp.resize(values, (a.size,)).reshape(a.shape)
    if values.size:
        a[...] = _xp.where(_xp._to_device(mask).astype(bool).reshape(a.shape), values.astype(a.dtype), a)


def select(condlist, choicelist, default=0):
    """Of each element the choice whose condition is the first that holds; see `numpy.select`."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    for k, condition in enumerate(condlist):
        if np.dtype(condition.dtype) != bool:
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    choices = [choice if isinstance(choice, _xp.GPUArray) else np.asarray(choice) for choice in choicelist]
    weak = isinstance(default, (bool, int, float, complex))
    dtype = np.result_type(*(choice.dtype for choice in choices), default if weak else np.asarray(default).dtype)
    shape = np.broadcast_shapes(*(np.shape(each) for each in [*condlist, *choices]), np.shape(default))
    result = _xp.full(shape, default, dtype)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        result = _xp.where(condition, _xp._to_device(choice).astype(dtype), result)
    return result


def piecewise(x, condlist, funclist, *args, **kw):
    """Functions or numbers for the elements for which conditions hold; see `numpy.piecewise`."""
    x = _xp._to_device(x)
    if np.ndim(condlist) == 0 or (not isinstance(condlist[0], (list, np.ndarray, _xp.GPUArray)) and x.ndim != 0):
        condlist = [condlist]
    conditions = [_xp._to_device(condition).astype(bool) for condition in condlist]
    if len(funclist) == len(conditions) + 1:
        rest = conditions[0]
        for condition in conditions[1:]:
            rest = rest | condition
        conditions.append(~rest)
    elif len(funclist) != len(conditions):
        raise ValueError(f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} "
                         "functions are expected")  # fmt: skip
    result = _xp.zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        value = function(x[condition], *args, **kw) if callable(function) else function
        result[condition] = value
    return result


def choose(a, choices, out=None, mode="raise"):
    """Of each element the one of several arrays that `a` numbers; see `numpy.choose`."""
    a = _xp._to_device(a)
    choices = [_xp._to_device(choice) for choice in choices]
    dtype = np.result_type(*(choice.dtype for choice in choices))
    shape = np.broadcast_shapes(a.shape, *(choice.shape for choice in choices))
    n = len(choices)
    if mode == "wrap":
        a = a % n
    elif mode == "clip":
        a = _xp.clip(a, 0, n - 1)
    elif a.size and bool(((a < 0) | (a >= n)).any()):
        raise ValueError("invalid entry in choice array")
    result = _xp.broadcast_to(choices[0].astype(dtype), shape)
    for k, choice in enumerate(choices[1:], 1):
        result = _xp.where(a == k, choice.astype(dtype), result)
    return _xp._copy_to_out(out, result.copy("C") if n == 1 else result)


def partition(a, kth, axis=-1, kind="introselect", order=None):
    """A copy in which element `kth` is where sorting puts it: here all are."""
    a = _xp._to_device(a)
    _check_kth(a, kth, axis)
    return _xp.sort(a, axis)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """The indices of `partition`: here those of `argsort`."""
    a = _xp._to_device(a)
    _check_kth(a, kth, axis)
    return _xp.argsort(a, axis)


def _check_kth(a, kth, axis):
    length = a.size if axis is None else a.shape[_normalize_axis(axis, a.ndim)]
    for k in np.atleast_1d(kth):
        if not -length <= k < length:
            raise ValueError(f"kth(={k}) out of bounds ({length})")


def sort_complex(a):
    """A sorted copy as complex numbers."""
    ordered = _xp.sort(_xp._to_device(a))
    return ordered if ordered.dtype.kind == "c" else ordered.astype(np.result_type(ordered.dtype, np.complex64))


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """Places in the flattened array of indices in an array of shape `dims`; see `numpy.ravel_multi_index`."""
    dims = tuple(np.atleast_1d(dims).tolist())
    indices = [_xp._to_device(index) for index in multi_index]
    if len(indices) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    modes = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    result, axes = None, list(zip(indices, dims, modes, strict=True))
    for index, length, how in axes if order == "C" else reversed(axes):
        if how == "wrap":
            index = index % length
        elif how == "clip":
            index = _xp.clip(index, 0, length - 1)
        elif index.size and bool(((index < 0) | (index >= length)).any()):
            raise ValueError("invalid entry in coordinates array")
        result = index.astype(np.int64) if result is None else result * length + index
    return result


def unravel_index(indices, shape, order="C"):
    """Indices in an array of a shape of places in the flattened one; see `numpy.unravel_index`."""
    shape = tuple(np.atleast_1d(shape).tolist())
    indices = _xp._to_device(indices)
    if indices.dtype.kind not in "iu":
        raise TypeError("only int indices permitted")
    size = int(np.prod(shape, dtype=int))
    if indices.size and bool(((indices < 0) | (indices >= size)).any()):
        raise ValueError(f"an index is out of bounds for array with size {size}")
    result, rest = [], indices.astype(np.int64)
    for length in reversed(shape) if order == "C" else shape:
        result.append(rest % length)
        rest = rest // length
    return tuple(reversed(result)) if order == "C" else tuple(result)


def packbits(a, /, axis=None, bitorder="big"):
    """Truth values as bits of bytes; see `numpy.packbits`."""
    a = _xp._to_device(a)
    if a.dtype.kind not in "iub":
        raise TypeError("Expected an input array of integer or boolean data type")
    a, axis = _flatten_or_normalize_axis(a, axis)
    n = a.shape[axis]
    bits = _pad_axis_with((a != 0).astype(np.uint8), axis, 0, -n % 8, None, 0)
    bits = bits.reshape((*a.shape[:axis], -(-n // 8), 8, *a.shape[axis + 1 :]))
    weights = 1 << (_xp.arange(8) if bitorder == "little" else _xp.arange(7, -1, -1))
    weights = weights.astype(np.uint8).reshape((8,) + (1,) * (a.ndim - axis - 1))
    return (bits * weights).sum(axis + 1, dtype=np.uint8)


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    """The bits of bytes, each as a byte; see `numpy.unpackbits`."""
    a = _xp._to_device(a)
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    a, axis = _flatten_or_normalize_axis(a, axis)
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


# -- functions of subarrays ---------------------------------------------------------------------------


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """`func1d` of each row along an axis, one after the other; see `numpy.apply_along_axis`."""
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
    """`func` of one axis after the other; see `numpy.apply_over_axes`."""
    result = _xp._to_device(a)
    ndim = result.ndim
    for axis in np.atleast_1d(axes).tolist():
        axis = axis % ndim
        reduced = func(result, axis)
        result = reduced if reduced.ndim == result.ndim else _xp.expand_dims(reduced, axis)
        if result.ndim != ndim:
            raise ValueError("function is not returning an array of the correct shape")
    return result
