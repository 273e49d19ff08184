"""Exact nearest neighbours by brute force on the device.

Metrics are named as in scikit-learn, and orders are its: nearest first, and of equal distances the lower index first.
Points are ranked by distances in float64, whose terms are added in the order of dimensions. For points of float16 and
float32 candidates are found in float32; where rounding could hide a nearer point, a query is searched again in float64.
Distances are never stored whole. The same bits at every run.

Metrics: ``"l2"`` (``"euclidean"``), ``"sqeuclidean"``, ``"l1"`` (``"manhattan"``, ``"cityblock"``), ``"chebyshev"``,
``"cosine"``: 1 minus the cosine of the angle, and 1 where a vector has length 0.
"""

import operator

from rtcg import _native, numpy as _xp

__all__ = ["Index", "knn", "radius_count", "topk"]


def _count(k):
    """`k` as an int of at least 0."""
    try:
        number = operator.index(k)
    except TypeError:
        raise TypeError(f"k is {k!r}; expected an integer") from None
    if number < 0:
        raise ValueError(f"k is {number}; expected an integer of at least 0")
    return number


def knn(queries, points, k, metric="l2"):
    """The `k` points nearest to each query; waits to see that all numbers are finite.

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
        If elements are not real numbers.
    """
    return _native.neighbors_knn(_xp._to_device(queries), _xp._to_device(points), _count(k), metric)


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
    return _native.neighbors_radius_count(_xp._to_device(queries), _xp._to_device(points), float(radius), metric)


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
    return _native.neighbors_topk(_xp._to_device(values), _count(k), bool(largest))


class Index:
    """Points on the device, to be searched again and again.

    Any thread may search; threads wait for each other only on the device.

    Parameters
    ----------
    vectors : GPUArray or array-like of shape (n, d)
        Elements of float16, float32 and float64 stay so; integers of 8 and 16 bits are taken as float32, others as
        float64, which must have them exactly (at most 2**53). A contiguous array on the device is not copied, and must
        not be changed.
    metric : str
        See the module.

    Raises
    ------
    ValueError
        If there are no vectors, or numbers are not finite.
    """

    def __init__(self, vectors, metric="l2"):
        self._native = _native.NeighborIndex(_xp._to_device(vectors), metric)
        self.metric = metric

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

    def search(self, queries, k):
        """Distances and indices of the `k` points nearest to each query, as `knn`.

        Queries are taken as float64 where points are of float64, else as float32. Waits to see that they are finite.
        """
        return self._native.search(_xp._to_device(queries), _count(k))

    def radius_count(self, queries, radius):
        """How many points are at most `radius` from each query, as `radius_count`. Queries are taken as in `search`."""
        return self._native.radius_count(_xp._to_device(queries), float(radius))
