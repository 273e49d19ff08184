"""Indexing with arrays, sorting, partitioning, searching, and flat indices; part of `rtcg.numpy`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._axes import normalize_axis as _normalize_axis
from rtcg.numpy._choosing import _values_for

if TYPE_CHECKING:
    from rtcg._native import GPUArray

__all__ = [
    "argpartition", "argsort", "argwhere", "flatnonzero", "nonzero", "partition", "put", "put_along_axis",
    "ravel_multi_index", "resize", "searchsorted", "sort", "sort_complex", "take", "take_along_axis", "unravel_index",
]  # fmt: skip


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise", stream: Any = None) -> GPUArray:
    """Elements of `a` at the given indices, along `axis` or of the flattened array if it is None; does not wait.

    `a` is array-like; `indices` are integers of any shape on the device or the host. Their shape replaces the axis in
    the result, which is `out` or a new array with the dtype of `a`. With `mode` "raise" negative indices count from the
    end, and an index out of bounds raises `IndexError`: at once for indices on the host, else in the next call that
    waits for the device. "wrap" and "clip" are NumPy's. Computed in `stream` if given.
    """
    if isinstance(axis, _xp.GPUArray):
        # Upstream's third argument is `out`, its fourth the stream.
        axis, out, stream = None, axis, stream if out is None else out
    a = _xp._to_device(a)
    if axis is not None:
        axis = _normalize_axis(axis, max(a.ndim, 1))
    return _native.array_take(a, _check_host_indices(indices, a, axis, mode), axis, out, mode, stream)


def _check_host_indices(indices: Any, a: GPUArray, axis: int | None, mode: str) -> Any:
    if isinstance(indices, _xp.GPUArray) or mode != "raise":
        return indices
    indices = np.asarray(indices)
    if indices.size == 0:
        return indices.astype(np.int64)
    length = a.size if axis is None else a.shape[axis]
    if axis is not None and 0 in a.shape[: axis % a.ndim]:
        return indices
    for extreme in (indices.min(), indices.max()):
        if not -length <= extreme < length:
            raise IndexError(f"index {extreme} is out of bounds for axis {axis or 0} with size {length}")
    return indices


def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """Write `v` to the elements `ind` of the flattened device array `a`, in place; does not wait. Returns None.

    `ind` are integers on the device or the host, in C order of `a`; `v` is array-like, converted to the dtype of `a`,
    and repeated if it has fewer elements. `mode` and errors are those of `take`. If an index occurs twice, it is
    undefined which value remains; in NumPy it is the last one.
    """
    ind = _check_host_indices(ind, a, None, mode)
    v = _values_for(a, v)
    if v.size not in (1, np.size(ind)):
        v = resize(v, (np.size(ind),))
    _native.array_put(a, ind, v.reshape(np.shape(ind)) if v.size != 1 else v, None, mode)


def resize(a: Any, new_shape: Any) -> GPUArray:
    """The elements of the device array `a`, repeated or cut off, in the shape `new_shape`: a new array; does not wait.

    `new_shape` is an int or a sequence of int; raises `ValueError` for negative ones. If `a` has no elements the result
    has zeros.
    """
    new_shape = (new_shape,) if isinstance(new_shape, (int, np.integer)) else tuple(new_shape)
    if any(length < 0 for length in new_shape):
        raise ValueError(f"all elements of new_shape must be non-negative, got {new_shape}")
    size = int(np.prod(new_shape, dtype=int))
    if size == 0 or a.size == 0:
        return _xp.zeros(new_shape, a.dtype)
    return _xp.concatenate([a.ravel()] * -(-size // a.size))[:size].reshape(new_shape)


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> GPUArray:
    """Elements of `arr` at an array of indices with the same number of axes, along `axis`; does not wait.

    Both are device arrays, the indices integers; other axes are broadcast. With `axis` None `arr` is flattened. The
    result is a new array with the shape of the indices and the dtype of `arr`. Indices out of bounds raise `IndexError`
    in the next call that waits for the device.
    """
    if axis is None:
        arr, axis = arr.ravel(), 0
    return arr[_index_along_axis(arr, indices, axis)]


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Write `values` to the elements of `arr` that `take_along_axis` would take, in place; does not wait. Returns None.

    `values` are array-like and broadcast to the indices, which are a device array of integers with as many axes as
    `arr`. With `axis` None both are flattened, as in `put`. If an index occurs twice, it is undefined which value
    remains.
    """
    if axis is None:
        put(arr, indices, values)
        return
    arr[_index_along_axis(arr, indices, axis)] = values


def _index_along_axis(arr: GPUArray, indices: GPUArray, axis: int) -> tuple[GPUArray, ...]:
    axis = _normalize_axis(axis, arr.ndim)
    shape = indices.shape
    return tuple(
        indices if k == axis else _xp.arange(arr.shape[k]).reshape([-1 if j == k else 1 for j in range(len(shape))])
        for k in range(arr.ndim)
    )


def nonzero(a: Any) -> tuple[GPUArray, ...]:
    """The indices of the elements that are not 0, in C order: a tuple with one int64 array per axis.

    `a` is array-like with at least one axis, else raises `ValueError`. Waits for the number of such elements. Uses a
    scan that numbers them.
    """
    a = _xp._to_device(a)
    if a.ndim == 0:
        raise ValueError("nonzero of an array without axes; use atleast_1d first")
    return _native.array_nonzero(a)


def flatnonzero(a: Any) -> GPUArray:
    """The indices in the flattened array of the elements that are not 0: a new int64 array, in ascending order.

    `a` is array-like and is flattened in C order. Waits for the number of such elements.
    """
    return _native.array_flatnonzero(_xp._to_device(a))


def argwhere(a: Any) -> GPUArray:
    """The indices of the elements that are not 0, one row per element: a new int64 array with two axes.

    `a` is array-like with at least one axis, else raises `ValueError`. Waits for the number of such elements.
    """
    return _xp.stack(nonzero(a), axis=1)


def sort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None, descending: Any = False) -> GPUArray:
    """A sorted copy along `axis` (None: of the flattened array); does not wait. See `numpy.sort`.

    The sort is always stable, whatever `kind` and `stable` say. NaN come last, and complex numbers are ordered by real,
    then imaginary part. Long rows use a radix sort, with one pass over memory for each byte of a key; others use a
    merge sort.

    Parameters
    ----------
    a : array-like
        Of any shape, with bools, integers, floats or complex numbers.
    axis : int or None
    kind, stable
        NumPy's parameters; without effect.
    descending : bool
        Whether the largest elements come first; equal elements keep their order.

    Raises
    ------
    numpy.exceptions.AxisError
        For an axis that the array does not have.
    """
    return _native.array_sort(_xp._to_device(a), axis, descending)


def argsort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None, descending: Any = False) -> GPUArray:
    """The indices (int64) that sort along `axis`, stably and with NaN last; does not wait.

    The result is a new array with the shape of `a` (one axis if `axis` is None). Parameters, errors and algorithms are
    those of `sort`.
    """
    return _native.array_argsort(_xp._to_device(a), axis, descending)


def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> GPUArray:
    """The positions at which elements of `v` would be inserted into the sorted array `a`; does not wait.

    Returns a new int64 array with the shape of `v`. `a` is array-like with one axis, in ascending order (or sorted by
    the indices `sorter`); `v` is array-like of any shape. `side` "left" gives the first possible position, "right" the
    last one; raises `ValueError` for other values. NaN counts as larger than all numbers. Each element of `v` takes one
    binary search.
    """
    a = _xp._to_device(a)
    return _native.array_searchsorted(a if sorter is None else take(a, sorter), v, side)


def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> GPUArray:
    """A copy in which element `kth` along `axis` is where sorting would put it; does not wait.

    `a` is array-like; the result has its shape and dtype. Uses `sort`, so that all elements are in order. Raises
    `ValueError` for a `kth` out of bounds. `kind` and `order` have no effect.
    """
    a = _xp._to_device(a)
    _check_kth(a, kth, axis)
    return _xp.sort(a, axis)


def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> GPUArray:
    """The indices (int64) of `partition`, which are those of `argsort`: a new array; does not wait.

    The result has the shape of `a`. Parameters and errors are those of `partition`.
    """
    a = _xp._to_device(a)
    _check_kth(a, kth, axis)
    return _xp.argsort(a, axis)


def _check_kth(a: GPUArray, kth: Any, axis: int | None) -> None:
    length = a.size if axis is None else a.shape[_normalize_axis(axis, a.ndim)]
    for k in np.atleast_1d(kth):
        if not -length <= k < length:
            raise ValueError(f"kth(={k}) out of bounds ({length})")


def sort_complex(a: Any) -> GPUArray:
    """A copy sorted along the last axis by real, then imaginary part: an array of complex numbers; does not wait.

    `a` is array-like; real numbers become complex64 or complex128. NaN come last, as in `sort`.
    """
    ordered = _xp.sort(_xp._to_device(a))
    return ordered if ordered.dtype.kind == "c" else ordered.astype(np.result_type(ordered.dtype, np.complex64))


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> GPUArray:
    """Convert indices into an array of shape `dims` to indices into the flattened array: a new int64 array.

    `multi_index` are array-like integers, one array per length in `dims` (else `ValueError`), and are broadcast.
    `mode`, a single one or one per axis, is "raise" (`ValueError` for indices out of bounds, for which the call waits),
    or "wrap" or "clip", which do not wait. `order` is "C" or "F".
    """
    dims = tuple(np.atleast_1d(dims).tolist())
    indices = [_xp._to_device(index) for index in multi_index]
    if len(indices) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    modes = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    result: Any = None
    axes = list(zip(indices, dims, modes, strict=True))
    for index, length, how in axes if order == "C" else reversed(axes):
        if how == "wrap":
            index = index % length
        elif how == "clip":
            index = _xp.clip(index, 0, length - 1)
        elif index.size and bool(((index < 0) | (index >= length)).any()):
            raise ValueError("invalid entry in coordinates array")
        result = index.astype(np.int64) if result is None else result * length + index
    return result


def unravel_index(indices: Any, shape: Any, order: Any = "C") -> tuple[Any, ...]:
    """Convert indices into the flattened array to indices into an array of shape `shape`: a tuple of int64 arrays.

    `indices` are array-like integers (else `TypeError`); the result has one array per axis. `order` is "C" or "F".
    Waits to check that all indices are in bounds, else raises `ValueError`.
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
