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
    """Differences of adjacent elements of the flattened array, between `to_begin` and `to_end`; does not wait.

    All are array-like; a new array of one axis and of the dtype of `ary`. Raises `TypeError` for ends that cannot be
    converted to it by the rule "same_kind".
    """

def intersect1d(ar1: Any, ar2: Any, assume_unique: Any = False, return_indices: Any = False) -> Any:
    """The elements that are in both arrays, each once: a new array in ascending order, of the common dtype.

    Both are array-like and flattened. With `return_indices` a tuple of it and of the places of the first of each in
    both arrays. With `assume_unique` the arrays are taken to have each element once. Waits for the number of elements.
    """

def isin(
    element: Any, test_elements: Any, assume_unique: Any = False, invert: Any = False, *, kind: Any = None
) -> GPUArray:
    """Whether each of `element` is among `test_elements`: a new array of bool of the shape of `element`; does not wait.

    Both are array-like. `invert` turns the answers round. NaN is among nothing. `assume_unique` and `kind` have no
    effect: the others are sorted, then searched.
    """

def lexsort(keys: Any, axis: Any = -1) -> GPUArray:
    """The indices (int64) that sort by several keys, of which the last one counts first; does not wait.

    `keys` are array-like of one shape, else raises `ValueError`; a `TypeError` for none. Sorted along `axis`, stably:
    one sort for each key. Returns a new array of the shape of a key.
    """

def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> GPUArray:
    """The elements of `ar1` that are not in `ar2`: a new array, in ascending order and each once.

    Both are array-like and flattened. With `assume_unique` the order and repetitions of `ar1` stay. Waits for the
    number of elements.
    """

def setxor1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> GPUArray:
    """The elements that are in only one of two arrays: a new array in ascending order, of the common dtype.

    Both are array-like and flattened. With `assume_unique` the arrays are taken to have each element once. Waits for
    the number of elements.
    """

def union1d(ar1: Any, ar2: Any) -> GPUArray:
    """The elements that are in one of two arrays or in both, each once: a new array in ascending order.

    Both are array-like and flattened; the dtype is the common one. Waits for the number of elements.
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
    """The different elements of the flattened array, or subarrays along `axis`, in ascending order: a new array.

    `ar` is array-like. With `return_index`, `return_inverse` and `return_counts` a tuple of it and of int64 arrays: the
    places of the first of each, the place of each element among them, and how often each occurs. NaN are one element
    unless `equal_nan` is false (along an axis they are different). `sorted` has no effect: results are sorted. Waits
    for the number of different elements. By sorting and comparing adjacent elements; subarrays are numbered by sorts of
    pairs of columns.
    """

def unique_all(x: Any, /) -> Any:
    """The different elements of `x`, an array of any shape, in ascending order, where they are first, which each
    element is, and how often.

    Returns a named tuple of arrays: `values`, and as int64 `indices`, `inverse_indices` (of the shape of `x`) and
    `counts`. Each NaN counts as different. Waits for the number of different elements. By sorting.
    """

def unique_counts(x: Any, /) -> Any:
    """The different elements of `x`, an array of any shape, in ascending order, and how often each occurs.

    Returns a named tuple of two arrays, `values` and `counts` (int64). Each NaN counts as different. Waits for the
    number of different elements. By sorting.
    """

def unique_inverse(x: Any, /) -> Any:
    """The different elements of `x`, an array of any shape, in ascending order, and which of them each element is.

    Returns a named tuple of two arrays, `values` and, in the shape of `x`, `inverse_indices` (int64). Each NaN
    counts as different. Waits for the number of different elements. By sorting.
    """

def unique_values(x: Any, /) -> GPUArray:
    """The different elements of `x`, an array of any shape, in ascending order.

    Returns a new array of one axis. Each NaN counts as different. Waits for the number of different elements. By
    sorting.
    """
