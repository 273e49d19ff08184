"""Elements put into other places: joining, cutting, diagonals, choosing by masks and by lists; part of
`rtcg.numpy`.

Indices that follow from shapes are computed on the device.
"""

import builtins

import numpy as np

from rtcg import numpy as _xp
from rtcg._axes import normalize_axis as _normalize_axis
from rtcg._docstrings import wrap_paragraphs
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
    """`values` behind `arr`, along `axis`, or both flattened if it is None: a new array; does not wait.

    Both are array-like; the dtype is the common one. A `ValueError` if other axes differ, as of `concatenate`.
    """
    return _xp.concatenate([_xp._to_device(arr), _xp._to_device(values)], axis)


def atleast_3d(*arys):
    """The arrays, those of fewer than three axes as views with axes of length 1; does not wait.

    Arguments are array-like; rows become ``(1, n, 1)``, matrices ``(m, n, 1)``. Returns one array, or a tuple of
    several.
    """
    results = []
    for a in (_xp._to_device(a) for a in arys):
        results.append(a.reshape({0: (1, 1, 1), 1: (1, a.size, 1)}.get(a.ndim, (*a.shape, 1))) if a.ndim < 3 else a)
    return results[0] if len(results) == 1 else tuple(results)


def column_stack(tup):
    """Arrays beside each other, those of one axis as columns: a new array of two axes; does not wait.

    `tup` are array-like with the same number of rows, else a `ValueError`. The dtype is the common one.
    """
    return _xp.concatenate(
        [a[:, None] if a.ndim == 1 else _xp.atleast_2d(a) for a in (_xp._to_device(a) for a in tup)], 1
    )


def dstack(tup):
    """Arrays joined along the third axis, which those of fewer axes get (`atleast_3d`): a new array; does not wait.

    `tup` are array-like that agree in the other axes (else a `ValueError`). The dtype is the common one.
    """
    return _xp.concatenate([atleast_3d(a) for a in tup], 2)


def block(arrays):
    """Arrays joined as nested lists say, the innermost along the last axis: a new array; does not wait.

    Elements of the lists are array-like and get axes of length 1 in front. A `ValueError` for an empty list, for lists
    of different depths, and for shapes that do not fit. The dtype is the common one.
    """

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
    """A list of views of parts along `axis`, whose lengths may differ by one; does not wait.

    `ary` is array-like. `indices_or_sections` is the number of parts, of which the first ones are longer, or the
    indices at which parts begin, behind the first. A `ValueError` for a number that is not positive, an `AxisError` for
    an axis that is not there.
    """
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
    split_function.__doc__ = wrap_paragraphs(f"""
`split` along axis {axis}: a list of views of parts; does not wait.

`ary` is a device array with at least {axis + 1} axes, else a ValueError. `indices_or_sections` is the number of equal
parts, or the indices at which parts begin, behind the first; a ValueError if the length is not divisible.
""")
    return split_function


vsplit, dsplit = _make_split("vsplit", 0), _make_split("dsplit", 2)


def hsplit(ary, indices_or_sections):
    """`split` along the second axis, or the only one: a list of views; does not wait.

    `ary` is a device array with one axis at least, else a `ValueError`. Parameters and errors are those of `split`.
    """
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return _xp.split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def rollaxis(a, axis, start=0):
    """A view of the device array `a` with `axis` moved before the axis `start`; does not wait.

    An `AxisError` for positions that it has not. `moveaxis` says the same more plainly.
    """
    axis = _normalize_axis(axis, a.ndim)
    if not -a.ndim <= start <= a.ndim:
        raise np.exceptions.AxisError(
            f"'start' arg requires {-a.ndim} <= start < {a.ndim + 1}, but {start} was passed in"
        )
    start = start + a.ndim if start < 0 else start
    return _xp.moveaxis(a, axis, start - (axis < start))


def rot90(m, k=1, axes=(0, 1)):
    """A view of `m` in which the plane of two axes is rotated by 90 degrees, `k` times; does not wait.

    `m` is array-like; the rotation is from the first of `axes` towards the second. A `ValueError` unless `axes` are two
    different ones, an `AxisError` for one that is not there.
    """
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
    """Each element several times, along `axis` or of the flattened array: a new array of the dtype of `a`.

    `a` is array-like; `repeats` is one number, or one for each element along the axis. A `TypeError` unless they are
    integers, a `ValueError` for negative ones or another number of them. Does not wait for one number of the host, else
    for the length of the result (and for `repeats` on the device).
    """
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
    """A new array of `arr` without the elements or subarrays that an index names, along `axis` or flattened.

    `arr` is array-like; `obj` is an int, a slice, or an array of integers or of bool. An `IndexError` for an index of
    the host that is out of bounds, a `ValueError` for bools of another length than the axis. Waits for the number of
    elements that are left.
    """
    arr, axis = _flatten_or_normalize_axis(arr, axis)
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
    array-like, converted to the dtype of `arr` and broadcast. An `IndexError` for a single index out of bounds. Waits
    for the places of the old elements.
    """
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
    """A view of `filt` without zeros at the front ("f" in `trim`) and at the back ("b") along each of `axis`.

    `filt` is array-like; `axis` is None (all), an int or a tuple of int. A `ValueError` for other letters. Waits for
    the places of the first and the last element that is not 0.
    """
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
    """The diagonal `k` of a matrix, a view; or a new matrix of zeros with `v` on its diagonal `k`; does not wait.

    `v` is array-like with two axes or one, else a `ValueError`. `k` is positive above the main diagonal. Unlike NumPy's
    the view can be written to.
    """
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
    """A new square matrix of zeros with the flattened `v` on its diagonal `k`; does not wait.

    `v` is array-like; the dtype stays, the size is ``v.size + abs(k)``.
    """
    return diag(_xp._to_device(v).ravel(), k)


def fill_diagonal(a, val, wrap=False):
    """Write `val` to the main diagonal of the device array `a`, in place; does not wait. Returns None.

    `a` has two axes, or more of one length: else a `ValueError`. `val` is a number or array-like, flattened and
    repeated. With `wrap` the diagonal goes on below, after one row, in matrices that are higher than wide.
    """
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
    """The indices of the main diagonal of a device array: a tuple of one int64 array for each axis; does not wait.

    `arr` has two axes or more, all of one length: else a `ValueError`.
    """
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    return (_xp.arange(arr.shape[0]),) * arr.ndim


def tril_indices_from(arr, k=0):
    """The indices of the lower triangle of a matrix up to the diagonal `k`: a tuple of two int64 arrays.

    A `ValueError` unless `arr` has two axes. Waits for the number of the indices.
    """
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _xp.nonzero(_xp._distance_below_diagonal(arr) >= -k)


def triu_indices_from(arr, k=0):
    """The indices of the upper triangle of a matrix from the diagonal `k` on: a tuple of two int64 arrays.

    A `ValueError` unless `arr` has two axes. Waits for the number of the indices.
    """
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _xp.nonzero(_xp._distance_below_diagonal(arr) <= -k)


# -- choosing -----------------------------------------------------------------------------------------


def compress(condition, a, axis=None, out=None):
    """The subarrays along `axis`, or elements of the flattened array, for which `condition` is true.

    `condition` is array-like with one axis (else a `ValueError`) and may be shorter than the axis. The result, `out` or
    a new array, has the dtype of `a`. Waits for the number of subarrays.
    """
    condition = _xp._to_device(condition)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    a, axis = _flatten_or_normalize_axis(a, axis)
    return _xp._copy_to_out(out, _xp.take(a, _xp.flatnonzero(condition), axis))


def extract(condition, arr):
    """The elements of `arr`, flattened, for which `condition` is not 0: a new array of one axis.

    Both are array-like and of as many elements. Waits for the number of elements that are found.
    """
    return _xp.take(_xp._to_device(arr).ravel(), _xp.flatnonzero(_xp._to_device(condition).ravel()))


def place(arr, mask, vals):
    """Write `vals`, one after the other and again, to the elements of `arr` where `mask` is true, in place.

    `arr` is a device array, `mask` array-like of as many elements; `vals` are array-like, converted to the dtype of
    `arr`. A `ValueError` for no values. Waits for the number of elements. Returns None.
    """
    mask, vals = _xp._to_device(mask).astype(bool), _xp._to_device(vals).ravel()
    places = _xp.flatnonzero(mask)
    if places.size == 0:
        return
    if vals.size == 0:
        raise ValueError("Cannot insert from an empty array!")
    arr[mask.reshape(arr.shape)] = _xp.resize(vals, (places.size,)).astype(arr.dtype)


def putmask(a, mask, values):
    """Write `values` to the elements of `a` where `mask` is true, in place; does not wait. Returns None.

    `a` is a device array, `mask` array-like of as many elements. Values are array-like, converted to the dtype of `a`,
    and repeated or cut to its size: unlike by `place`, an element gets the value of its own place.
    """
    values = _xp._to_device(values)
    if values.size != 1 and values.size:
        values = _xp.resize(values, (a.size,)).reshape(a.shape)
    if values.size:
        a[...] = _xp.where(_xp._to_device(mask).astype(bool).reshape(a.shape), values.astype(a.dtype), a)


def select(condlist, choicelist, default=0):
    """Of each element the choice whose condition is the first that holds, else `default`: a new array; does not wait.

    `condlist` are arrays of bool (else a `TypeError`), `choicelist` as many arrays or numbers (else a `ValueError`);
    all are broadcast. The dtype is that of the choices and the default together. One kernel for each condition.
    """
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
    """Functions or numbers for the elements of `x` for which conditions hold: a new array of its shape and dtype.

    `condlist` are arrays of bool of the shape of `x`; `funclist` are as many functions of an array of elements (called
    with `args` and `kw`) or numbers, and one more for the rest if wanted: a `ValueError` for another number. Elements
    for which nothing holds are 0. Waits for the number of elements that each function gets.
    """
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
    """Of each element the one of several arrays that `a` numbers, from 0 on: a new array, or `out`.

    `a` are integers; it and `choices`, array-like, are broadcast; the dtype is the common one of the choices. With
    `mode` "raise" numbers outside are a `ValueError`, which is waited for; "wrap" and "clip" do not wait. One kernel
    for each choice; any number of them, where NumPy has 64 at most.
    """
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
    """A copy in which element `kth` along `axis` is where sorting puts it: here all are. Does not wait.

    `a` is array-like; the result has its shape and dtype. By `sort`. A `ValueError` for a `kth` out of bounds. `kind`
    and `order` are of no effect.
    """
    a = _xp._to_device(a)
    _check_kth(a, kth, axis)
    return _xp.sort(a, axis)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """The indices (int64) of `partition`: here those of `argsort`, a new array of the shape of `a`; does not wait.

    Parameters and errors are those of `partition`.
    """
    a = _xp._to_device(a)
    _check_kth(a, kth, axis)
    return _xp.argsort(a, axis)


def _check_kth(a, kth, axis):
    length = a.size if axis is None else a.shape[_normalize_axis(axis, a.ndim)]
    for k in np.atleast_1d(kth):
        if not -length <= k < length:
            raise ValueError(f"kth(={k}) out of bounds ({length})")


def sort_complex(a):
    """A copy sorted along the last axis, by real, then imaginary part: an array of complex numbers; does not wait.

    `a` is array-like; real numbers become complex64 or complex128. NaN last, as of `sort`.
    """
    ordered = _xp.sort(_xp._to_device(a))
    return ordered if ordered.dtype.kind == "c" else ordered.astype(np.result_type(ordered.dtype, np.complex64))


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """Places in the flattened array of indices in an array of shape `dims`: a new int64 array.

    `multi_index` are array-like integers, as many arrays as `dims` has lengths (else a `ValueError`), broadcast.
    `mode`, one or one for each axis, is "raise" (a `ValueError` for indices outside, which is waited for), "wrap" or
    "clip", which do not wait; `order` is "C" or "F".
    """
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
    """Indices in an array of shape `shape` of places in the flattened one: a tuple of an int64 array for each axis.

    `indices` are array-like integers (else a `TypeError`). `order` is "C" or "F". Waits to see that all are inside:
    else a `ValueError`.
    """
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
    """Elements as bits, 1 where they are not 0, eight to a byte: a new array of uint8; does not wait.

    `a` is array-like of integers or bool, else a `TypeError`. Along `axis`, or flattened if it is None; the last byte
    is filled up with zeros. The first element is the highest bit with `bitorder` "big", the lowest with "little".
    """
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
    """The bits of bytes along `axis`, or flattened if it is None, each as an element of uint8; does not wait.

    `a` is array-like of uint8, else a `TypeError`. `count` is the number of bits: of more, zeros are added, a negative
    one leaves out as many at the end. A new array; `bitorder` is that of `packbits`.
    """
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
    """`func1d` of each row of `arr` along `axis`, joined to a new array; does not wait unless the function does.

    `arr` is array-like. The function is called on the host, once for each row, with a device array of one axis, `args`
    and `kwargs`; the axes of what it returns take the place of `axis`. A `ValueError` if there are no rows. Slow for
    many rows: a function with an `axis` is to be preferred.
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

    `a` is array-like. Returns an array of as many axes: those that `func` takes away get length 1 again. A `ValueError`
    if it returns another number of axes.
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
