"""Exact nearest neighbours by brute force on the device.

Metrics are named as in scikit-learn, and orders are its: nearest first, and of equal distances the lower index first.
Points are ranked by distances in float64, whose terms are added in the order of dimensions. For points of float16 and
float32 candidates are found in float32; where rounding could hide a nearer point, a query is searched again in float64.
Distances are never stored whole. The same bits at every run. Differences below 1e-162 have squares that float64 has
not: points that near are at the distance 0 in ``"l2"``, as in NumPy; scale such vectors before.

Metrics: ``"l2"`` (``"euclidean"``), ``"sqeuclidean"``, ``"l1"`` (``"manhattan"``, ``"cityblock"``), ``"chebyshev"``,
``"cosine"``: 1 minus the cosine of the angle, and 1 where a vector has length 0.
"""

import threading

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_flag, as_float, as_integer, as_text

__all__ = ["Index", "knn", "radius_count", "topk"]


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
        slow).
    merge : bool
        Whether `search` of several threads at once is done together: what threads ask for while a search runs is the
        next one. A query alone does not wait for others.

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
        self._merged = _MergedSearches(self._search_now) if as_flag("merge", merge) else None

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
        k = as_integer("k", k, 0)
        if self._merged is None:
            return self._search_now(queries, k)
        return self._merged.search(queries, k)

    def _search_now(self, queries, k):
        return self._native.search(_xp._unmasked_to_device("queries", queries), k)

    def radius_count(self, queries, radius):
        """How many points are at most `radius` from each query, as `radius_count`. Queries are taken as in `search`."""
        return self._native.radius_count(_xp._unmasked_to_device("queries", queries), as_float("radius", radius))


class _Request:
    """The search of a thread: what it asks for, what it gets, and what wakes it."""

    def __init__(self, queries, k):
        self.queries, self.k = queries, k
        self.found = self.error = None
        self.leads, self.woken = False, threading.Event()

    def set_error(self, error):
        """Keep the first error of a search without a result."""
        if self.found is None and self.error is None:
            self.error = error


class _MergedSearches:
    """Searches of several threads in one: a thread searches for all that wait, then wakes one that came meanwhile to do
    the same.
    """

    def __init__(self, search):
        self._search, self._lock = search, threading.Lock()
        self._waiting, self._is_busy = [], False

    def search(self, queries, k):
        """As `Index.search`."""
        try:
            request = _Request(queries if isinstance(queries, _xp.GPUArray) else np.asanyarray(queries), k)
        except ValueError:
            # No array, which a search of its own says.
            return self._search(queries, k)
        with self._lock:
            self._waiting.append(request)
            request.leads, self._is_busy = not self._is_busy, True
        if not request.leads:
            try:
                request.woken.wait()
            except BaseException:
                self._leave(request)
                raise
        if request.found is None and request.error is None:
            self._search_for_all()
        if request.error is not None:
            raise request.error
        return request.found

    def _leave(self, request):
        """Ctrl-C: this thread searches for nobody any more."""
        with self._lock:
            self._waiting = [other for other in self._waiting if other is not request]
            if request.leads:
                self._hand_on()

    def _hand_on(self):
        """Let a thread that waits search for all that do."""
        self._is_busy = bool(self._waiting)
        for request in self._waiting[:1]:
            request.leads = True
            request.woken.set()

    def _search_for_all(self):
        requests, groups = [], {}
        try:
            with self._lock:
                requests, self._waiting = self._waiting, []
            for request in requests:
                groups.setdefault(self._kind(request), []).append(request)
            for group in groups.values():
                self._search_group(group)
        except BaseException as error:
            for request in requests:
                request.set_error(error)
        with self._lock:
            self._hand_on()
        for request in requests:
            request.woken.set()

    @staticmethod
    def _kind(request):
        """What requests of one search have in common; one that cannot be merged has nothing."""
        queries = request.queries
        if queries.ndim != 2 or queries.dtype.kind not in "fiub" or isinstance(queries, np.ma.MaskedArray):
            return id(request)
        return type(queries), queries.dtype, queries.shape[1], request.k

    def _search_group(self, group):
        if len(group) > 1:
            joined = _xp if isinstance(group[0].queries, _xp.GPUArray) else np
            try:
                distances, indices = self._search(joined.concatenate([r.queries for r in group]), group[0].k)
            except (TypeError, ValueError):
                # That of one of them, which the next searches tell.
                pass
            else:
                first = 0
                for request in group:
                    part = slice(first, first + len(request.queries))
                    first = part.stop
                    request.found = distances[part], indices[part]
                return
        for request in group:
            try:
                request.found = self._search(request.queries, request.k)
            except (TypeError, ValueError) as error:
                request.error = error
