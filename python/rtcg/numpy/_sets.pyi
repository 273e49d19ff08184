"""Sets of arrays' elements: different ones, common ones, whether one is among others; part of `rtcg.numpy`.

All of it is sorting, comparing adjacent elements and searching on the device. How many elements a result has depends on
values, so these functions wait for that number.
"""

from typing import Any

from rtcg.numpy import GPUArray

__all__ = [
    "ediff1d",
    "intersect1d",
    "isin",
    "lexsort",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]

def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> GPUArray:
    """Differences of adjacent elements of the flattened array, with elements before and behind; see `numpy.ediff1d`."""

def intersect1d(ar1: Any, ar2: Any, assume_unique: Any = False, return_indices: Any = False) -> Any:
    """The elements that are in both arrays, in ascending order, and where they come first; waits."""

def isin(
    element: Any, test_elements: Any, assume_unique: Any = False, invert: Any = False, *, kind: Any = None
) -> GPUArray:
    """Whether each element is among others; see `numpy.isin`."""

def lexsort(keys: Any, axis: Any = -1) -> GPUArray:
    """The indices that sort by several keys, the last one first; see `numpy.lexsort`."""

def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> GPUArray:
    """The elements of `ar1` that are not in `ar2`; waits."""

def setxor1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> GPUArray:
    """The elements that are in only one of two arrays, in ascending order; waits."""

def union1d(ar1: Any, ar2: Any) -> GPUArray:
    """The elements that are in one of two arrays, in ascending order; waits."""

def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
    sorted: Any = True,
) -> Any:
    """The different elements, or subarrays along `axis`, in ascending order; see `numpy.unique`.

    With `return_index`, `return_inverse` and `return_counts` also the places of the first of each, the place of each
    element among them, and how often each occurs. Waits for their number.
    """

def unique_all(x: Any, /) -> Any:
    """`numpy.unique_all`; waits for the number of different elements."""

def unique_counts(x: Any, /) -> Any:
    """`numpy.unique_counts`; waits for the number of different elements."""

def unique_inverse(x: Any, /) -> Any:
    """`numpy.unique_inverse`; waits for the number of different elements."""

def unique_values(x: Any, /) -> GPUArray:
    """`numpy.unique_values`; waits for the number of different elements."""
