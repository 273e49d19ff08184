"""Set operations on the elements of arrays: unique and common elements, membership; part of `rtcg.numpy`.

All functions sort, compare adjacent elements and search on the device. The number of elements in a result depends on
values, so these functions wait for it.
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
    """Differences of adjacent elements of the flattened array, between `to_begin` and `to_end`; does not wait.

    All are array-like. Returns a new array with one axis and the dtype of `ary`. Raises `TypeError` if the rule
    "same_kind" does not allow the conversion of `to_begin` and `to_end` to it.
    """

def intersect1d(ar1: Any, ar2: Any, assume_unique: Any = False, return_indices: Any = False) -> Any:
    """The elements that are in both arrays, each once: a new array in ascending order, with the common dtype.

    Both are array-like and are flattened. With `return_indices`, returns a tuple of it and of the indices of the first
    occurrence of each in both arrays. With `assume_unique` the arrays are assumed to have no duplicates. Waits for the
    number of elements.
    """

def isin(
    element: Any, test_elements: Any, assume_unique: Any = False, invert: Any = False, *, kind: Any = None
) -> GPUArray:
    """Whether each of `element` is among `test_elements`: a new array of bool; does not wait.

    Both are array-like; the result has the shape of `element`. `invert` negates the result. NaN is never found.
    `assume_unique` and `kind` have no effect: `test_elements` are always sorted and then searched.
    """

def lexsort(keys: Any, axis: Any = -1) -> GPUArray:
    """The indices (int64) that sort by several keys, of which the last is the primary one; does not wait.

    `keys` are array-like of one shape, else raises `ValueError`; raises `TypeError` if there are none. Sorts along
    `axis`, stably, with one sort for each key. Returns a new array with the shape of a key.
    """

def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> GPUArray:
    """The elements of `ar1` that are not in `ar2`, each once: a new array in ascending order.

    Both are array-like and are flattened. With `assume_unique` the order and duplicates of `ar1` are kept. Waits for
    the number of elements.
    """

def setxor1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> GPUArray:
    """The elements that are in exactly one of two arrays: a new array in ascending order, with the common dtype.

    Both are array-like and are flattened. With `assume_unique` the arrays are assumed to have no duplicates. Waits for
    the number of elements.
    """

def union1d(ar1: Any, ar2: Any) -> GPUArray:
    """The elements that are in either of two arrays, each once: a new array in ascending order.

    Both are array-like and are flattened; the result has the common dtype. Waits for the number of elements.
    """

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
    """The unique elements of the flattened array, or subarrays along `axis`, in ascending order: a new array.

    `ar` is array-like. With `return_index`, `return_inverse` and `return_counts`, returns a tuple of it and of int64
    arrays: the index of the first occurrence of each, the rank of each element among them, and how often each occurs.
    All NaN are one element unless `equal_nan` is false (along an axis they are different). `sorted` has no effect:
    results are always sorted. Waits for the number of unique elements. Sorts and compares adjacent elements; subarrays
    are ranked by sorting pairs of columns.
    """

def unique_all(x: Any, /) -> Any:
    """The unique elements of `x`, an array of any shape, in ascending order, where they are first, which each element
    is, and how often.

    Returns a named tuple of arrays: `values`, and as int64 `indices`, `inverse_indices` (of the shape of `x`) and
    `counts`. Each NaN counts as different. Waits for the number of unique elements. Sorts the elements.
    """

def unique_counts(x: Any, /) -> Any:
    """The unique elements of `x`, an array of any shape, in ascending order, and how often each occurs.

    Returns a named tuple of two arrays, `values` and `counts` (int64). Each NaN counts as different. Waits for the
    number of unique elements. Sorts the elements.
    """

def unique_inverse(x: Any, /) -> Any:
    """The unique elements of `x`, an array of any shape, in ascending order, and which of them each element is.

    Returns a named tuple of two arrays, `values` and, in the shape of `x`, `inverse_indices` (int64). Each NaN
    counts as different. Waits for the number of unique elements. Sorts the elements.
    """

def unique_values(x: Any, /) -> GPUArray:
    """The unique elements of `x`, an array of any shape, in ascending order.

    Returns a new array of one axis. Each NaN counts as different. Waits for the number of unique elements. Sorts
    the elements.
    """
