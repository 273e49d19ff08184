"""Exact nearest neighbours by brute force on the device.

Metrics are named as in scikit-learn, and orders are its: nearest first, and of equal distances the lower index first.
Points are ranked by distances in float64, whose terms are added in the order of dimensions. For points of float16 and
float32 candidates are found in float32; where rounding could hide a nearer point, a query is searched again in float64.
Distances are never stored whole. The same bits at every run. Differences below 1e-162 have squares that float64 has
not: points that near are at the distance 0 in ``"l2"``, as in NumPy; scale such vectors before.

Metrics: ``"l2"`` (``"euclidean"``), ``"sqeuclidean"``, ``"l1"`` (``"manhattan"``, ``"cityblock"``), ``"chebyshev"``,
``"cosine"``: 1 minus the cosine of the angle, and 1 where a vector has length 0.
"""

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_flag, as_float, as_integer, as_text

__all__ = ["Index", "knn", "radius_count", "topk"]


def knn(queries, points, k, metric="l2"):
    """The `k` points nearest to each query; waits to see that all numbers are finite.

    Where tensor cores filter points, of float16 or for many queries of float32, it waits for the search, too.

    Parameters
    ----------
    queries : GPUArray or array-like of shape (m, d)
        Real numbers. Where `queries` or `points` are of float64 (or of integers of 32 bits and more), all are.
    points : GPUArray or array-like of shape (n, d)
    k : int
        From 1 to n, and at most 1024.
    metric : str
        See the module.

    Returns
    -------
    distances : GPUArray of shape (m, k)
        Of float64 where `queries` or `points` are, else of float32.
    indices : GPUArray of shape (m, k), int64

    Raises
    ------
    ValueError
        If shapes do not fit, there are no points or fewer than `k`, or numbers are not finite.
    TypeError
        If elements are not real numbers, or an array is a masked one.
    """
    return _native.neighbors_knn(
        _xp._unmasked_to_device("queries", queries),
        _xp._unmasked_to_device("points", points),
        as_integer("k", k, 0),
        as_text("metric", metric),
    )


def radius_count(queries, points, radius, metric="l2"):
    """How many points are at most `radius` from each query; waits to see that all numbers are finite.

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
        Decided by distances in float64; squared ones are compared for ``"l2"``.

    Raises
    ------
    ValueError
        If shapes do not fit, there are no points, `radius` is negative or NaN, or numbers are not finite.
    """
    arrays = _xp._unmasked_to_device("queries", queries), _xp._unmasked_to_device("points", points)
    return _native.neighbors_radius_count(*arrays, as_float("radius", radius), as_text("metric", metric))


def topk(values, k, largest=True):
    """The `k` largest or smallest elements along the last axis, in order; does not wait.

    Parameters
    ----------
    values : GPUArray or array-like
        Real numbers, with at least one axis. NaN is larger than every number.
    k : int
    largest : bool

    Returns
    -------
    values : GPUArray
        Of the shape of `values`, with `k` elements along the last axis.
    indices : GPUArray of int64
        Where they are along that axis; of equal elements the lower index is first.

    Raises
    ------
    ValueError
        If the axis has fewer than `k` elements.
    """
    return _native.neighbors_topk(
        _xp._unmasked_to_device("values", values), as_integer("k", k, 0), as_flag("largest", largest)
    )


class Index:
    """Points on the device, to be searched again and again.

    Any thread may search, in the context in which the index was made.

    Parameters
    ----------
    vectors : GPUArray or array-like of shape (n, d)
        Elements of float16, float32 and float64 stay so; bfloat16 and integers of 8 and 16 bits are taken as float32,
        other integers as float64, which must have them exactly (at most 2**53). A contiguous array on the device is
        not copied, and must not be changed.
    metric : str
        See the module.
    candidates : {"auto", "float32", "tensor"}
        How candidates are found among points of float16 and float32. ``"tensor"`` has them from the products of tensor
        cores, for ``"l2"``, ``"sqeuclidean"`` and ``"cosine"``; results are the same. ``"auto"`` takes tensor cores
        from 32 dimensions on, where the device has them (compute capability 8.0; not on the virtual GPU, where they are
        slow). With them, the first search of at least 256 queries (``"tensor"``: of any) among many points of float32
        makes a copy of these in float16, which the index keeps: about half the memory of the points.
    merge : bool
        Whether `search` of several threads at once is done together: what threads ask for while a search runs is the
        next one, for which threads that asked just before are awaited (half of a search's time, and at most half a
        millisecond). A thread alone does not wait for others.

    Raises
    ------
    ValueError
        If there are no vectors, numbers are not finite, or ``"tensor"`` is not possible.
    TypeError
        If elements are not real numbers, or `vectors` is a masked array.
    """

    def __init__(self, vectors, metric="l2", candidates="auto", merge=False):
        self._native = _native.NeighborIndex(
            _xp._unmasked_to_device("vectors", vectors), as_text("metric", metric), as_text("candidates", candidates)
        )
        self.metric = metric
        self._is_merging = as_flag("merge", merge)

    def __len__(self):
        return self._native.shape[0]

    def __repr__(self):
        return f"<Index of {len(self)} points of {self.shape[1]} dimensions, {self.dtype}, metric={self.metric!r}>"

    @property
    def shape(self):
        """How many points there are, and their dimensions."""
        return self._native.shape

    @property
    def dtype(self):
        """The dtype in which points are stored."""
        return self._native.vectors.dtype

    def search(self, queries, k, host=False):
        """Distances and indices of the `k` points nearest to each query, as `knn`.

        Waits to see that queries are finite; with `host`, where tensor cores filter points of float16 or, for many
        queries, of float32, or in an index that merges searches, for the search too.

        Parameters
        ----------
        queries : GPUArray or array-like of shape (m, d)
            Taken as float64 where points are of float64, else as float32. Merged searches of NumPy's contiguous arrays
            of float32 cost least.
        k : int
        host : bool
            Whether to return arrays of NumPy. Merged searches are copied to the host together.

        Returns
        -------
        distances, indices : GPUArray or numpy.ndarray, of shape (m, k)
            Those of merged searches are views of a larger array on the device.

        Raises
        ------
        ValueError, TypeError
            As of `knn`. An error of a merged search is that of the thread that made it.
        """
        k, host = as_integer("k", k, 0), as_flag("host", host)
        if self._is_merging and type(queries) is np.ndarray:
            found = self._native.search_merged_host(queries, k, host)
            if found is not None:
                return found
        queries = _xp._unmasked_to_device("queries", queries)
        if self._is_merging:
            return self._native.search_merged(queries, k, host)
        found = self._native.search(queries, k)
        return tuple(array.get() for array in found) if host else found

    def radius_count(self, queries, radius):
        """How many points are at most `radius` from each query, as `radius_count`. Queries are taken as in `search`."""
        return self._native.radius_count(_xp._unmasked_to_device("queries", queries), as_float("radius", radius))
