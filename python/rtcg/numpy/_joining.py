"""Joining, splitting, tiling and rearranging arrays; part of `rtcg.numpy`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._axes import normalize_axis as _normalize_axis
from rtcg._docstrings import wrap_paragraphs
from rtcg._messages import shown

if TYPE_CHECKING:
    from typing import Protocol

    from rtcg._native import GPUArray

    class _Split(Protocol):
        def __call__(self, ary: Any, indices_or_sections: Any) -> list[GPUArray]: ...


__all__ = [
    "append", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "block", "broadcast_arrays", "column_stack",
    "concat", "concatenate", "diagonal", "dsplit", "dstack", "fliplr", "flipud", "hsplit", "hstack",
    "matrix_transpose", "meshgrid", "permute_dims", "ravel", "roll", "rollaxis", "rot90", "split", "squeeze", "stack",
    "swapaxes", "tile", "unstack", "vsplit", "vstack",
]  # fmt: skip


def concatenate(
    arrays: Any, axis: Any = 0, allocator: Any = None, *, out: Any = None, dtype: Any = None, casting: Any = "same_kind"
) -> GPUArray:
    """Join arrays along `axis`, or flattened if it is None; does not wait.

    `arrays` are array-like and agree in all other axes, else raises `ValueError`, as for no arrays or arrays without
    axes. The result, `out` or a new array in the memory order of the first, has `dtype` or the common one. Raises
    `TypeError` if the rule `casting` does not allow the conversion, or if `out` and `dtype` are both given. `allocator`
    is a callable that takes a number of bytes; NumPy's third argument, `out`, may take its place.
    """
    if isinstance(allocator, _xp.GPUArray):
        # NumPy's third argument is `out`.
        allocator, out = None, allocator
    if out is not None and dtype is not None:
        raise TypeError(f"concatenate takes out or dtype, not both; dtype is {np.dtype(dtype)}")
    arrays = [_xp._to_device(a) for a in arrays]
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        arrays, axis = [a.ravel() for a in arrays], 0
    first = arrays[0]
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = _normalize_axis(axis, first.ndim)
    for position, a in enumerate(arrays):
        if a.ndim != first.ndim or a.shape[:axis] + a.shape[axis + 1 :] != first.shape[:axis] + first.shape[axis + 1 :]:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match exactly, but the array at "
                f"index 0 has shape {first.shape} and the array at index {position} has shape {a.shape}"
            )
    shape = (*first.shape[:axis], sum(a.shape[axis] for a in arrays), *first.shape[axis + 1 :])
    if out is not None and out.shape != shape:
        raise ValueError(f"concatenate: out has shape {out.shape}, the result {shape}")
    for a in arrays:
        target = dtype if dtype is not None else a.dtype if out is None else out.dtype
        if not np.can_cast(a.dtype, target, casting):
            raise TypeError(f"Cannot cast array data from {shown(a.dtype)} to "
                            f"{shown(np.dtype(target))} according to the rule "
                            f"'{casting}'")  # fmt: skip
    if out is None:
        dtype = np.result_type(*(a.dtype for a in arrays)) if dtype is None else dtype
        order = _xp._memory_order(first) if first.ndim > 1 else "C"
        out = type(first)(shape, dtype, allocator or first.allocator, order=order)
    start = 0
    for a in arrays:
        out[(slice(None),) * axis + (slice(start, start + a.shape[axis]),)] = a
        start += a.shape[axis]
    return out


concat = concatenate


def stack(
    arrays: Any, axis: Any = 0, allocator: Any = None, *, out: Any = None, dtype: Any = None, casting: Any = "same_kind"
) -> GPUArray:
    """Join arrays of equal shape along a new axis, at position `axis` of the result; does not wait.

    Raises `ValueError` for different shapes or no arrays. The result and other parameters are those of `concatenate`.
    """
    if isinstance(allocator, _xp.GPUArray):
        # NumPy's third argument is `out`.
        allocator, out = None, allocator
    arrays = [_xp._to_device(a) for a in arrays]
    if not arrays:
        raise ValueError("need at least one array to stack")
    if len({a.shape for a in arrays}) > 1:
        raise ValueError(f"all input arrays must have the same shape, got {[a.shape for a in arrays]}")
    axis = _normalize_axis(axis, arrays[0].ndim + 1)
    arrays = [_xp.expand_dims(a, axis) for a in arrays]
    return concatenate(arrays, axis, allocator, out=out, dtype=dtype, casting=casting)


def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> GPUArray:
    """Stack arrays as rows: joined along the first axis, with arrays of one axis as rows; does not wait.

    `tup` are array-like that agree in the other axes (else `ValueError`). Returns a new array of `dtype` or of the
    common one, with the errors of `concatenate`.
    """
    return concatenate([atleast_2d(a) for a in tup], dtype=dtype, casting=casting)


def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> GPUArray:
    """Join arrays side by side: along the second axis, or the first if they have only one; does not wait.

    `tup` are array-like that agree in the other axes (else `ValueError`). Returns a new array of `dtype` or of the
    common one, with the errors of `concatenate`.
    """
    tup = [atleast_1d(a) for a in tup]
    return concatenate(tup, 0 if tup and tup[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def atleast_1d(*arys: Any) -> Any:
    """The arrays with at least one axis, as views where one is added: one array, or a tuple of several; does not wait.

    Arguments are array-like of any dtype.
    """
    arys = tuple(a if a.ndim else a.reshape(1) for a in map(_xp._to_device, arys))
    return arys[0] if len(arys) == 1 else arys


def atleast_2d(*arys: Any) -> Any:
    """The arrays with at least two axes, as views where leading axes of length 1 are added; does not wait.

    Arguments are array-like. Returns one array, or a tuple of several.
    """
    arys = tuple(a if a.ndim > 1 else a.reshape(1, a.size) for a in map(_xp._to_device, arys))
    return arys[0] if len(arys) == 1 else arys


def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[GPUArray]:
    """Split the device array `ary` along `axis` into a list of views; does not wait.

    `indices_or_sections` is the number of equal parts, or the indices at which parts after the first begin. Raises
    `ValueError` if the length is not divisible (`array_split` permits it) or the number is not positive, and
    `AxisError` for an axis that is not there.
    """
    axis = _normalize_axis(axis, ary.ndim)
    length = ary.shape[axis]
    if isinstance(indices_or_sections, (int, np.integer)):
        if indices_or_sections <= 0:
            raise ValueError(f"number sections must be larger than 0, got {indices_or_sections}")
        if length % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
        indices_or_sections = range(length // indices_or_sections, length, length // indices_or_sections)
    ends = [0, *indices_or_sections, length]
    ahead = (slice(None),) * axis
    return [ary[ahead + (slice(low, high),)] for low, high in zip(ends, ends[1:], strict=False)]


def unstack(x: Any, /, *, axis: Any = 0) -> tuple[GPUArray, ...]:
    """A tuple of views of `x`, one for each index along `axis`, without that axis; does not wait.

    `x` is a device array. Raises `AxisError` for an axis that it does not have.
    """
    moved = _xp.moveaxis(x, axis, 0)
    return tuple(moved[k] for k in range(moved.shape[0]))


def tile(A: Any, reps: Any) -> GPUArray:  # noqa: N803
    """Repeat an array along each axis: a new array of shape ``reps * shape``; does not wait.

    `A` is array-like; `reps` is an int or a sequence of int. Whichever of `reps` and the shape is shorter is extended
    by ones in front.
    """
    reps = (reps,) if isinstance(reps, (int, np.integer)) else tuple(reps)
    a = _xp._to_device(A)
    ndim = np.max([a.ndim, len(reps)])
    reps = (1,) * (ndim - len(reps)) + reps
    shape = (1,) * (ndim - a.ndim) + a.shape
    inner = tuple(n for length in shape for n in (1, length))
    wide = tuple(n for pair in zip(reps, shape, strict=False) for n in pair)
    return _xp.broadcast_to(a.reshape(inner), wide).reshape(tuple(r * n for r, n in zip(reps, shape, strict=False)))


def roll(a: Any, shift: Any, axis: Any = None) -> GPUArray:
    """Shift elements along an axis, with those that leave at one end coming back at the other; does not wait.

    Returns a new array. `a` is array-like, `shift` an int on the host, positive towards higher indices; `shift` and
    `axis` may both be tuples. With `axis` None the array is flattened for the shift and then gets its shape back.
    Raises `AxisError` for an axis that is not there.
    """
    a = _xp._to_device(a)
    if axis is None:
        return roll(a.ravel(), shift, 0).reshape(a.shape)
    for by, along in zip(*map(np.ravel, np.broadcast_arrays(shift, axis)), strict=True):
        along = _normalize_axis(int(along), a.ndim)
        length = a.shape[along]
        by = int(by) % length if length else 0
        ahead = (slice(None),) * along
        a = concatenate([a[ahead + (slice(length - by, None),)], a[ahead + (slice(None, length - by),)]], along)
    return a


def flipud(m: Any) -> GPUArray:
    """A view of the device array `m` with its rows, the first axis, in reverse order; does not wait.

    Raises `AxisError` for an array without axes.
    """
    return _xp.flip(m, 0)


def fliplr(m: Any) -> GPUArray:
    """A view of the device array `m` with its columns, the second axis, in reverse order; does not wait.

    Raises `AxisError` for an array of fewer than two axes.
    """
    return _xp.flip(m, 1)


def ravel(a: Any, order: Any = "C") -> GPUArray:
    """The elements of the device array `a` in one axis, in the order `order` (C, F, A or K); does not wait.

    Returns a view where the memory layout allows, else a copy.
    """
    return a.ravel(order)


def squeeze(a: Any, axis: Any = None) -> GPUArray:
    """A view of the device array `a` without axes of length 1, or without those in `axis`; does not wait.

    `axis` is an int or a tuple of int. Raises `ValueError` for an axis of any other length, and `AxisError` for one
    that is not there.
    """
    return a.squeeze(axis)


def swapaxes(a: Any, axis1: Any, axis2: Any) -> GPUArray:
    """A view of the device array `a` with two axes exchanged; does not wait.

    Raises `AxisError` for an axis that `a` does not have.
    """
    return a.swapaxes(axis1, axis2)


def permute_dims(a: Any, axes: Any) -> GPUArray:
    """A view of the device array `a` with its axes in the order `axes`, as `transpose`; does not wait.

    Raises `ValueError` unless `axes` names each axis once.
    """
    return a.transpose(axes)


def matrix_transpose(x: Any, /) -> GPUArray:
    """A view of the device array `x` with its last two axes exchanged; does not wait.

    Raises `ValueError` for fewer than two axes.
    """
    return x.mT


def diagonal(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> GPUArray:
    """A view of the diagonal `offset` of two axes of the device array `a`, as the last axis; does not wait.

    `offset` is positive above the main diagonal. Raises `ValueError` for fewer than two axes or the same axis twice,
    and `AxisError` for an axis that is not there. Unlike NumPy's, the view is writable.
    """
    return a.diagonal(offset, axis1, axis2)


def broadcast_arrays(*arrays: Any) -> list[GPUArray]:
    """Broadcast arrays against each other: a list of views of the common shape, with strides of 0; does not wait.

    Arguments are array-like. Raises `ValueError` if their shapes do not fit. NumPy returns a tuple.
    """
    found = [_xp._to_device(a) for a in arrays]
    shape = np.broadcast_shapes(*(a.shape for a in found))
    return [_xp.broadcast_to(a, shape) for a in found]


def meshgrid(*xi: Any, copy: Any = True, sparse: Any = False, indexing: Any = "xy") -> tuple[Any, ...]:
    """The coordinates of a grid, a tuple of arrays; array k varies along one axis as argument k; does not wait.

    Arguments are array-like and flattened. `indexing` "xy" exchanges the first two axes, "ij" does not; raises
    `ValueError` for other values. With `sparse` the other axes have length 1, else all arrays have the shape of the
    grid. Without `copy` the arrays are views.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    ndim = len(xi)
    places = [1, 0, *range(2, ndim)] if indexing == "xy" and ndim > 1 else range(ndim)
    grids = [
        _xp._to_device(x).reshape([-1 if k == place else 1 for k in range(ndim)])
        for x, place in zip(xi, places, strict=True)
    ]
    grids = grids if sparse else broadcast_arrays(*grids)
    return tuple(grid.copy("C") for grid in grids) if copy else tuple(grids)


def append(arr: Any, values: Any, axis: Any = None) -> GPUArray:
    """Append `values` to `arr` along `axis`, or flatten both if it is None: a new array; does not wait.

    Both are array-like; the dtype is the common one. Raises `ValueError` if other axes differ, as in `concatenate`.
    """
    return _xp.concatenate([_xp._to_device(arr), _xp._to_device(values)], axis)


def atleast_3d(*arys: Any) -> Any:
    """The arrays with at least three axes, as views where axes of length 1 are added; does not wait.

    Arguments are array-like; rows become ``(1, n, 1)``, matrices ``(m, n, 1)``. Returns one array, or a tuple of
    several.
    """
    results = []
    for a in (_xp._to_device(a) for a in arys):
        results.append(a.reshape({0: (1, 1, 1), 1: (1, a.size, 1)}.get(a.ndim, (*a.shape, 1))) if a.ndim < 3 else a)
    return results[0] if len(results) == 1 else tuple(results)


def column_stack(tup: Any) -> GPUArray:
    """Join arrays side by side, with arrays of one axis as columns: a new array with two axes; does not wait.

    `tup` are array-like with the same number of rows, else raises `ValueError`. The dtype is the common one.
    """
    return _xp.concatenate(
        [a[:, None] if a.ndim == 1 else _xp.atleast_2d(a) for a in (_xp._to_device(a) for a in tup)], 1
    )


def dstack(tup: Any) -> GPUArray:
    """Join arrays along the third axis, which `atleast_3d` adds where it is missing: a new array; does not wait.

    `tup` are array-like that agree in the other axes (else `ValueError`). The dtype is the common one.
    """
    return _xp.concatenate([atleast_3d(a) for a in tup], 2)


def block(arrays: Any) -> GPUArray:
    """Join arrays as nested lists arrange them, the innermost along the last axis: a new array; does not wait.

    Elements of the lists are array-like and get axes of length 1 in front. Raises `ValueError` for an empty list, for
    lists of different depths, and for shapes that do not fit. The dtype is the common one.
    """

    def list_depth(part: Any) -> int:
        return 1 + max(list_depth(each) for each in part) if isinstance(part, list) and part else 0

    def max_ndim(part: Any) -> int:
        return max(max_ndim(each) for each in part) if isinstance(part, list) else _xp._to_device(part).ndim

    def join_nested_lists(part: Any, depth: int) -> GPUArray:
        if isinstance(part, list):
            if not part:
                raise ValueError("List at arrays cannot be empty")
            return _xp.concatenate([join_nested_lists(each, depth - 1) for each in part], -depth)
        if depth:
            raise ValueError(f"List depths are mismatched: an array where {depth} more lists are expected")
        a = _xp._to_device(part)
        return a.reshape((1,) * (ndim - a.ndim) + a.shape)

    depth = list_depth(arrays)
    ndim = max(depth, max_ndim(arrays))
    return join_nested_lists(arrays, depth) if depth else join_nested_lists(arrays, 0).copy()


def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[GPUArray]:
    """Split an array along `axis` into a list of views whose lengths may differ by one; does not wait.

    `ary` is array-like. `indices_or_sections` is the number of parts, of which the first ones are longer, or the
    indices at which parts after the first begin. Raises `ValueError` for a number that is not positive, and `AxisError`
    for an axis that is not there.
    """
    ary = _xp._to_device(ary)
    axis = _normalize_axis(axis, ary.ndim)
    if isinstance(indices_or_sections, (int, np.integer)):
        sections = int(indices_or_sections)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, longer = divmod(ary.shape[axis], sections)
        indices_or_sections = [k * each + min(k, longer) for k in range(1, sections)]
    return _xp.split(ary, list(indices_or_sections), axis)


def _make_split(name: str, axis: int) -> _Split:
    def split_function(ary: Any, indices_or_sections: Any) -> list[GPUArray]:
        if ary.ndim <= axis:
            raise ValueError(f"{name} only works on arrays of {axis + 1} or more dimensions")
        return _xp.split(ary, indices_or_sections, axis)

    split_function.__name__ = split_function.__qualname__ = name
    split_function.__doc__ = wrap_paragraphs(f"""
`split` along axis {axis}: a list of views of parts; does not wait.

`ary` is a device array with at least {axis + 1} axes, else raises ValueError. `indices_or_sections` is the number of
equal parts, or the indices at which parts after the first begin; raises ValueError if the length is not divisible.
""")
    return split_function


vsplit, dsplit = _make_split("vsplit", 0), _make_split("dsplit", 2)


def hsplit(ary: Any, indices_or_sections: Any) -> list[GPUArray]:
    """Split along the second axis, or the only one, as by `split`: a list of views; does not wait.

    `ary` is a device array with at least one axis, else raises `ValueError`. Parameters and errors are those of
    `split`.
    """
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return _xp.split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def rollaxis(a: Any, axis: Any, start: Any = 0) -> GPUArray:
    """A view of the device array `a` with `axis` moved before the axis `start`; does not wait.

    Raises `AxisError` for positions that `a` does not have. `moveaxis` has a simpler interface.
    """
    axis = _normalize_axis(axis, a.ndim)
    if not -a.ndim <= start <= a.ndim:
        raise np.exceptions.AxisError(
            f"'start' arg requires {-a.ndim} <= start < {a.ndim + 1}, but {start} was passed in"
        )
    start = start + a.ndim if start < 0 else start
    return _xp.moveaxis(a, axis, start - (axis < start))


def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> GPUArray:
    """A view of `m` rotated `k` times by 90 degrees in the plane of two axes; does not wait.

    `m` is array-like; the rotation is from the first of `axes` towards the second. Raises `ValueError` unless `axes`
    are two different axes, and `AxisError` for one that is not there.
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
