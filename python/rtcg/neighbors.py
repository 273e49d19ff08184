"""Exact nearest neighbours by brute force on the device.

Metrics have the names of scikit-learn, and so does the order: nearest first, and the lower index first for equal
distances. Points are ranked by distances in float64, whose terms are added in the order of dimensions. For points of
float16 and float32, candidates are found in float32; where rounding could hide a nearer point, the query is searched
again in float64. The matrix of distances is never stored. Results are bitwise reproducible. Squares of differences
below 1e-162 underflow in float64: such points have the distance 0 in ``"l2"``, as in NumPy; scale such vectors first.

Metrics: ``"l2"`` (``"euclidean"``), ``"sqeuclidean"``, ``"l1"`` (``"manhattan"``, ``"cityblock"``), ``"chebyshev"``,
``"cosine"``: 1 minus the cosine of the angle, and 1 if a vector has length 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_flag, as_float, as_integer, as_text

if TYPE_CHECKING:
    from typing import Literal, SupportsFloat, SupportsIndex, TypeAlias

    from numpy.typing import ArrayLike, NDArray

    from rtcg.numpy import GPUArray

    _Array: TypeAlias = GPUArray | ArrayLike

__all__ = ["Index", "knn", "radius_count", "topk"]


def knn(queries: _Array, points: _Array, k: SupportsIndex, metric: str = "l2") -> tuple[GPUArray, GPUArray]:
    """The `k` nearest points of each query; waits to check that all numbers are finite.

    If tensor cores filter the points (float16, or many queries of float32), the call also waits for the search.

    Parameters
    ----------
    queries : GPUArray or array-like of shape (m, d)
        Real numbers. If `queries` or `points` are float64 (or integers of 32 bits or more), both are converted to
        float64.
    points : GPUArray or array-like of shape (n, d)
    k : int
        From 1 to n, and at most 1024.
    metric : str
        See the module.

    Returns
    -------
    distances : GPUArray of shape (m, k)
        float64 if `queries` or `points` are, else float32.
    indices : GPUArray of shape (m, k), int64

    Raises
    ------
    ValueError
        If shapes do not fit, there are no points or fewer than `k`, or numbers are not finite.
    TypeError
        If elements are not real numbers, or an array is masked.
    """
    return _native.neighbors_knn(
        _xp._unmasked_to_device("queries", queries),
        _xp._unmasked_to_device("points", points),
        as_integer("k", k, 0),
        as_text("metric", metric),
    )


def radius_count(queries: _Array, points: _Array, radius: SupportsFloat, metric: str = "l2") -> GPUArray:
    """The number of points at most `radius` from each query; waits to check that all numbers are finite.

    Parameters
    ----------
    queries : GPUArray or array-like of shape (m, d)
    points : GPUArray or array-like of shape (n, d)
    radius : float
    metric : str
        See the module.

    Returns
    -------
    GPUArray of shape (m,), int64
        Counted by distances in float64; for ``"l2"`` by squared distances.

    Raises
    ------
    ValueError
        If shapes do not fit, there are no points, `radius` is negative or NaN, or numbers are not finite.
    """
    arrays = _xp._unmasked_to_device("queries", queries), _xp._unmasked_to_device("points", points)
    return _native.neighbors_radius_count(*arrays, as_float("radius", radius), as_text("metric", metric))


def topk(values: _Array, k: SupportsIndex, largest: bool = True) -> tuple[GPUArray, GPUArray]:
    """The `k` largest or smallest elements along the last axis, sorted; does not wait.

    Parameters
    ----------
    values : GPUArray or array-like
        Real numbers, with at least one axis. NaN is larger than every number.
    k : int
    largest : bool

    Returns
    -------
    values : GPUArray
        Has the shape of `values`, with `k` elements along the last axis.
    indices : GPUArray of int64
        Their indices along that axis; the lower index first for equal elements.

    Raises
    ------
    ValueError
        If the axis has fewer than `k` elements.
    """
    return _native.neighbors_topk(
        _xp._unmasked_to_device("values", values), as_integer("k", k, 0), as_flag("largest", largest)
    )


class Index:
    """Points on the device, for repeated searches.

    Any thread may search, in the context in which the index was created.

    Parameters
    ----------
    vectors : GPUArray or array-like of shape (n, d)
        float16, float32 and float64 are kept; bfloat16 and integers of 8 and 16 bits are converted to float32, other
        integers to float64, which must represent them exactly (at most 2**53). A contiguous array on the device is not
        copied, and must not be changed.
    metric : str
        See the module.
    candidates : {"auto", "float32", "tensor"}
        How candidates are found among points of float16 and float32. ``"tensor"`` finds them by products on tensor
        cores, for ``"l2"``, ``"sqeuclidean"`` and ``"cosine"``; results are the same. ``"auto"`` uses tensor cores from
        32 dimensions on, if the device has them (compute capability 8.0; not on the virtual GPU, where they are slow).
        With tensor cores, the first search of at least 256 queries (``"tensor"``: of any number) among many points of
        float32 makes a float16 copy of the points, which the index keeps: about half the memory of the points.
    merge : bool
        Whether simultaneous searches of several threads are merged: queries that arrive while a search runs form the
        next one, which also waits for threads that searched just before (half the time of a search, and at most half a
        millisecond). A single thread does not wait for others.

    Raises
    ------
    ValueError
        If there are no vectors, numbers are not finite, or ``"tensor"`` is not possible.
    TypeError
        If elements are not real numbers, or `vectors` is a masked array.
    """

    def __init__(self, vectors: _Array, metric: str = "l2", candidates: str = "auto", merge: bool = False) -> None:
        self._native = _native.NeighborIndex(
            _xp._unmasked_to_device("vectors", vectors), as_text("metric", metric), as_text("candidates", candidates)
        )
        self.metric = metric
        self._is_merging = as_flag("merge", merge)

    def __len__(self) -> int:
        return self._native.shape[0]

    def __repr__(self) -> str:
        return f"<Index of {len(self)} points of {self.shape[1]} dimensions, {self.dtype}, metric={self.metric!r}>"

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and their dimension."""
        return self._native.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype in which points are stored."""
        return self._native.vectors.dtype

    @overload
    def search(self, queries: _Array, k: SupportsIndex, host: Literal[False] = False) -> tuple[GPUArray, GPUArray]: ...

    @overload
    def search(
        self, queries: _Array, k: SupportsIndex, host: Literal[True]
    ) -> tuple[NDArray[np.floating[Any]], NDArray[np.int64]]: ...

    def search(
        self, queries: _Array, k: SupportsIndex, host: bool = False
    ) -> tuple[GPUArray, GPUArray] | tuple[NDArray[np.floating[Any]], NDArray[np.int64]]:
        """Distances and indices of the `k` nearest points of each query, as by `knn`.

        Waits to check that queries are finite. Also waits for the search with `host`, if tensor cores filter points of
        float16 or, for many queries, of float32, or if the index merges searches.

        Parameters
        ----------
        queries : GPUArray or array-like of shape (m, d)
            Converted to float64 if points are float64, else to float32. Merged searches are cheapest for contiguous
            NumPy arrays of float32.
        k : int
        host : bool
            Whether to return NumPy arrays. Merged searches are copied to the host together.

        Returns
        -------
        distances, indices : GPUArray or numpy.ndarray, of shape (m, k)
            Results of merged searches are views of a larger array on the device.

        Raises
        ------
        ValueError, TypeError
            As in `knn`. In a merged search, an error is raised only in the thread that caused it.
        """
        k, host = as_integer("k", k, 0), as_flag("host", host)
        if self._is_merging and type(queries) is np.ndarray:
            found = self._native.search_batched_host(queries, k, host)
            if found is not None:
                return found
        on_device = _xp._unmasked_to_device("queries", queries)
        if self._is_merging:
            return self._native.search_batched(on_device, k, host)
        distances, indices = self._native.search(on_device, k)
        return (distances.get(), indices.get()) if host else (distances, indices)

    def radius_count(self, queries: _Array, radius: SupportsFloat) -> GPUArray:
        """The number of points at most `radius` from each query, as by `radius_count`. Queries are converted as in
        `search`.
        """
        return self._native.radius_count(_xp._unmasked_to_device("queries", queries), as_float("radius", radius))
