"""Exact nearest neighbours by brute force on the device."""

from typing import Any, Literal, SupportsFloat, SupportsIndex, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtcg.numpy import GPUArray

__all__ = ["Index", "knn", "radius_count", "topk"]

_Array: TypeAlias = GPUArray | ArrayLike

def knn(queries: _Array, points: _Array, k: SupportsIndex, metric: str = "l2") -> tuple[GPUArray, GPUArray]:
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

def radius_count(queries: _Array, points: _Array, radius: SupportsFloat, metric: str = "l2") -> GPUArray:
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

def topk(values: _Array, k: SupportsIndex, largest: bool = True) -> tuple[GPUArray, GPUArray]:
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

    metric: str

    def __init__(self, vectors: _Array, metric: str = "l2", candidates: str = "auto", merge: bool = False) -> None: ...
    def __len__(self) -> int: ...
    @property
    def shape(self) -> tuple[int, int]:
        """How many points there are, and their dimensions."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype in which points are stored."""

    @overload
    def search(self, queries: _Array, k: SupportsIndex, host: Literal[False] = False) -> tuple[GPUArray, GPUArray]:
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

    @overload
    def search(
        self, queries: _Array, k: SupportsIndex, host: Literal[True]
    ) -> tuple[NDArray[np.floating[Any]], NDArray[np.int64]]: ...
    def radius_count(self, queries: _Array, radius: SupportsFloat) -> GPUArray:
        """How many points are at most `radius` from each query, as `radius_count`. Queries are taken as in `search`."""
