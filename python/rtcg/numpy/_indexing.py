"""Elements chosen by indices, sorted and searched for; part of `rtcg.numpy`."""

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._axes import normalize_axis as _normalize_axis

__all__ = [
    "argsort", "argwhere", "flatnonzero", "nonzero", "put", "put_along_axis", "resize", "searchsorted", "sort", "take",
    "take_along_axis",
]  # fmt: skip


def take(a, indices, axis=None, out=None, mode="raise", stream=None):
    """Elements by an array of indices, along `axis` or of the flattened array; see `numpy.take`. Does not wait.

    `indices` are integers of any shape on the device or the host. With `mode` raise an index out of bounds is an
    `IndexError` (at once for indices on the host); wrap and clip are NumPy's.
    """
    if isinstance(axis, _xp.GPUArray):
        # Upstream's third argument is `out`, its fourth the stream.
        axis, out, stream = None, axis, stream if out is None else out
    a = _xp._to_device(a)
    if axis is not None:
        axis = _normalize_axis(axis, max(a.ndim, 1))
    return _native.array_take(a, _check_host_indices(indices, a, axis, mode), axis, out, mode, stream)


def _check_host_indices(indices, a, axis, mode):
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


def put(a, ind, v, mode="raise"):
    """Writes `v` to elements of the flattened array; see `numpy.put`."""
    ind = _check_host_indices(ind, a, None, mode)
    v = _xp._to_device(v)
    if v.size not in (1, np.size(ind)):
        v = resize(v, (np.size(ind),))
    _native.array_put(a, ind, v.reshape(np.shape(ind)) if v.size != 1 else v, None, mode)


def resize(a, new_shape):
    """The elements of `a`, repeated as often as needed, in another shape; see `numpy.resize`."""
    new_shape = (new_shape,) if isinstance(new_shape, (int, np.integer)) else tuple(new_shape)
    if any(length < 0 for length in new_shape):
        raise ValueError(f"all elements of new_shape must be non-negative, got {new_shape}")
    size = int(np.prod(new_shape, dtype=int))
    if size == 0 or a.size == 0:
        return _xp.zeros(new_shape, a.dtype)
    return _xp.concatenate([a.ravel()] * -(-size // a.size))[:size].reshape(new_shape)


def take_along_axis(arr, indices, axis=-1):
    """Elements by an array of indices of the same number of axes; see `numpy.take_along_axis`."""
    if axis is None:
        arr, axis = arr.ravel(), 0
    return arr[_index_along_axis(arr, indices, axis)]


def put_along_axis(arr, indices, values, axis):
    """The counterpart of `take_along_axis` for writing."""
    if axis is None:
        put(arr, indices, values)
        return
    arr[_index_along_axis(arr, indices, axis)] = values


def _index_along_axis(arr, indices, axis):
    axis = _normalize_axis(axis, arr.ndim)
    shape = indices.shape
    return tuple(
        indices if k == axis else _xp.arange(arr.shape[k]).reshape([-1 if j == k else 1 for j in range(len(shape))])
        for k in range(arr.ndim)
    )


def nonzero(a):
    """The indices of the elements that are not 0; waits for their number."""
    a = _xp._to_device(a)
    if a.ndim == 0:
        raise ValueError("nonzero of an array without axes; use atleast_1d first")
    return _native.array_nonzero(a)


def flatnonzero(a):
    """The places, in C order, of the elements that are not 0; waits for their number."""
    return _native.array_flatnonzero(_xp._to_device(a))


def argwhere(a):
    """The indices of the elements that are not 0, a row for each; waits for their number."""
    return _xp.stack(nonzero(a), axis=1)


def sort(a, axis=-1, kind=None, *, stable=None, descending=False):
    """A sorted copy along `axis` (None: of the flattened array); does not wait. See `numpy.sort`.

    Always stable, whatever `kind` and `stable` say; NaN last; complex numbers by real, then imaginary part.
    Long rows are radix sorted, one sweep over memory for each byte of a key; others are merge sorted.

    Parameters
    ----------
    a : array-like
        Of any shape and of bool, integers, floats or complex numbers.
    axis : int or None
    kind, stable
        Of no effect; NumPy's.
    descending : bool
        The greatest first; equal elements keep their order.

    Raises
    ------
    numpy.exceptions.AxisError
        For an axis that the array has not.
    """
    return _native.array_sort(_xp._to_device(a), axis, descending)


def argsort(a, axis=-1, kind=None, *, stable=None, descending=False):
    """The indices (int64) that sort along `axis`, stably, NaN last; parameters as of `sort`. Does not wait."""
    return _native.array_argsort(_xp._to_device(a), axis, descending)


def searchsorted(a, v, side="left", sorter=None):
    """Where elements of `v` would go in the sorted `a`; see `numpy.searchsorted`."""
    a = _xp._to_device(a)
    return _native.array_searchsorted(a if sorter is None else take(a, sorter), v, side)
