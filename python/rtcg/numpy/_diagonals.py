"""Diagonals of matrices: reading, writing, building matrices from them, and their indices; part of `rtcg.numpy`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp

if TYPE_CHECKING:
    from rtcg.numpy import GPUArray

__all__ = [
    "diag", "diag_indices_from", "diagflat", "fill_diagonal", "tril_indices_from", "triu_indices_from",
]  # fmt: skip


def diag(v: Any, k: Any = 0) -> GPUArray:
    """The diagonal `k` of a matrix as a view, or a new matrix of zeros with `v` on its diagonal `k`; does not wait.

    `v` is array-like with two axes or one, else raises `ValueError`. `k` is positive above the main diagonal. Unlike
    NumPy's, the view is writable.
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


def diagflat(v: Any, k: Any = 0) -> GPUArray:
    """A new square matrix of zeros with the flattened `v` on its diagonal `k`; does not wait.

    `v` is array-like; the dtype is kept, and the matrix has ``v.size + abs(k)`` rows.
    """
    return diag(_xp._to_device(v).ravel(), k)


def fill_diagonal(a: Any, val: Any, wrap: Any = False) -> None:
    """Write `val` to the main diagonal of the device array `a`, in place; does not wait. Returns None.

    `a` has two axes, or more axes of equal length, else raises `ValueError`. `val` is a number or array-like, flattened
    and repeated. With `wrap` the diagonal starts again one row below its end in matrices with more rows than columns.
    """
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    if not isinstance(val, _xp.GPUArray):
        val = np.asarray(val)
    if a.ndim == 2 and not wrap:
        places = _xp.arange(min(a.shape))
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


def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """The indices of the main diagonal of a device array: a tuple with one int64 array per axis; does not wait.

    `arr` has two or more axes, all of equal length, else raises `ValueError`.
    """
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    return (_xp.arange(arr.shape[0]),) * arr.ndim


def tril_indices_from(arr: Any, k: Any = 0) -> tuple[Any, ...]:
    """The indices of the triangle on and below the diagonal `k` of a matrix: a tuple of two int64 arrays.

    Raises `ValueError` unless `arr` has two axes. Waits for the number of indices.
    """
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _xp.nonzero(_xp._distance_below_diagonal(arr) >= -k)


def triu_indices_from(arr: Any, k: Any = 0) -> tuple[Any, ...]:
    """The indices of the triangle on and above the diagonal `k` of a matrix: a tuple of two int64 arrays.

    Raises `ValueError` unless `arr` has two axes. Waits for the number of indices.
    """
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _xp.nonzero(_xp._distance_below_diagonal(arr) <= -k)
