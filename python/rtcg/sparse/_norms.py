"""Norms of sparse arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._messages import shown
from rtcg.sparse._base import issparse

if TYPE_CHECKING:
    from rtcg.numpy import GPUArray
    from rtcg.sparse._base import sparray


def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """A norm of a sparse array, or of its rows or columns, as a `GPUArray`; see `scipy.sparse.linalg.norm`.

    Parameters
    ----------
    x : sparse array
        Duplicates count as their sum; integers are treated as in SciPy.
    ord : None, "fro", 1, -1, inf, -inf, optional
        The Frobenius norm (None, "fro"), the largest (1) or smallest (-1) sum of absolute values in a column, or in a
        row (inf, -inf). With an axis: None or 2 for the square root of the sum of squares, 1, inf, -inf, 0 for the
        number of elements, or another number.
    axis : int, optional
        0 for norms of columns, 1 for norms of rows, None for the norm of the array.

    Returns
    -------
    GPUArray

    Raises
    ------
    TypeError
        If `x` is not sparse.
    ValueError
        If there is no such norm or axis.
    NotImplementedError
        For the spectral norm (2, -2).

    Waits to check for duplicates.
    """
    if not issparse(x):
        raise TypeError("input is not sparse. use numpy.linalg.norm")
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if any(not -x.ndim <= a < x.ndim for a in axes) or not 1 <= len(axes) <= 2:
        raise ValueError(f"Invalid axis {shown(axes)} for an array with shape {shown(x.shape)}")
    sizes = abs(x.tocsr())
    if len(axes) == 2 or (x.ndim == 1 and ord in ("fro", "f")):
        if axes[0] % 2 == axes[-1] % 2 and x.ndim == 2:
            raise ValueError("Duplicate axes given.")
        return _matrix_norm(sizes, ord, axes)
    return _vector_norms(sizes, ord, None if x.ndim == 1 else axes[0])


def _as_float(data: GPUArray) -> GPUArray:
    return data.astype(np.float64) if data.dtype.kind in "biu" else data


def _in_units(sizes: sparray) -> tuple[GPUArray, Any]:
    """Magnitudes in units of a power of two near the largest, whose powers stay finite, and that unit; waits."""
    data = _as_float(sizes.data)
    most = float(data.max().get()) if data.size else 0.0
    limit = np.finfo(data.dtype).maxexp - 4
    power = int(np.clip(np.frexp(most)[1], -limit, limit)) if 0 < most < np.inf else 0
    return data * data.dtype.type(2.0**-power), data.dtype.type(2.0**power)


def _matrix_norm(sizes: sparray, ord: Any, axes: tuple[int, ...]) -> Any:
    if ord in (None, "fro", "f"):
        data, unit = _in_units(sizes)
        return _xp.sqrt((data * data).sum()) * unit
    if ord in (2, -2):
        raise NotImplementedError(f"ord is {ord}; expected None, 'fro', 1, -1, inf or -inf")
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError("Invalid norm order for matrices.")
    sums = sizes.sum(axis=axes[0] if abs(ord) == 1 else axes[1])
    return sums.max() if ord > 0 else sums.min()


def _vector_norms(sizes: sparray, ord: Any, axis: Any) -> Any:
    if ord in (np.inf, -np.inf):
        found = sizes.max(axis) if ord > 0 else sizes.min(axis)
        return found.toarray().ravel() if issparse(found) else found
    if ord == 0:
        return _xp.asarray(sizes.count_nonzero(axis))
    if ord == 1:
        return sizes.sum(axis)
    if ord is not None and not isinstance(ord, (int, float)):
        raise ValueError("Invalid norm order for vectors.")
    power = 2 if ord is None else ord
    data, unit = _in_units(sizes)
    return sizes._with_data(data**power).sum(axis) ** (1 / power) * unit
