"""Set operations on the elements of arrays: unique and common elements, membership; part of `rtcg.numpy`.

The functions sort, compare adjacent elements and search on the device. If the number of elements in a result depends on
values, they wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._axes import normalize_axis as _normalize_axis
from rtcg._docstrings import wrap_paragraphs

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtcg.numpy import GPUArray

__all__ = [
    "ediff1d", "intersect1d", "isin", "lexsort", "setdiff1d", "setxor1d", "union1d", "unique", "unique_all",
    "unique_counts", "unique_inverse", "unique_values",
]  # fmt: skip


def _is_nan(a: GPUArray) -> GPUArray:
    return _xp.isnan(a) if a.dtype.kind in "fcV" else _xp.zeros(a.shape, bool)


def _differs_from_previous(ordered: GPUArray, equal_nan: bool) -> GPUArray:
    """Whether each element differs from the one before it along the first axis."""
    is_new = _xp.ones(ordered.shape, bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    if equal_nan and ordered.dtype.kind in "fcV":
        is_new[1:] &= ~(_xp.isnan(ordered[1:]) & _xp.isnan(ordered[:-1]))
    return is_new


def _dense_ranks(columns: GPUArray) -> GPUArray:
    """For each column, the ranks of its elements among its unique ones; equal elements have equal ranks."""
    order = _xp.argsort(columns, axis=0)
    is_new = _differs_from_previous(_xp.take_along_axis(columns, order, 0), True)
    ranks = _xp.empty(columns.shape, np.int64)
    _xp.put_along_axis(ranks, order, _xp.cumsum(is_new, axis=0) - 1, 0)
    return ranks


def _row_ranks(rows: GPUArray) -> GPUArray:
    """The ranks of rows among the unique ones, in lexicographic order: pairs of columns are merged until one is left,
    with all pairs in one sort.
    """
    n, width = rows.shape
    if width == 0:
        return _xp.zeros(n, np.int64)
    ranks = _dense_ranks(rows)
    while ranks.shape[1] > 1:
        rest = ranks[:, -1:] if ranks.shape[1] % 2 else None
        even = ranks.shape[1] // 2 * 2
        ranks = _dense_ranks(ranks[:, 0:even:2] * n + ranks[:, 1:even:2])
        if rest is not None:
            ranks = _xp.concatenate([ranks, rest], 1)
    return ranks[:, 0]


def _unique_results(
    ordered: GPUArray, is_new: GPUArray, order: Any, return_index: bool, return_inverse: bool, return_counts: bool
) -> list[GPUArray]:
    """The results of `unique`, from sorted elements, their positions and the positions where new ones begin."""
    places = _xp.flatnonzero(is_new)
    results = [ordered[places]]
    if return_index:
        results.append(order[places])
    if return_inverse:
        inverse = _xp.empty(is_new.shape, np.int64)
        inverse[order] = _xp.cumsum(is_new) - 1
        results.append(inverse)
    if return_counts:
        ends = _xp.full(1, is_new.size, np.int64)
        results.append(_xp.diff(_xp.concatenate([places, ends])))
    return results


def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
    sorted: Any = True,  # noqa: A002
) -> Any:
    """The unique elements of the flattened array, or subarrays along `axis`, in ascending order: a new array.

    `ar` is array-like. With `return_index`, `return_inverse` and `return_counts`, returns a tuple of it and of int64
    arrays: the index of the first occurrence of each, the rank of each element among them, and how often each occurs.
    All NaN are one element unless `equal_nan` is false (along an axis they are different). `sorted` has no effect:
    results are always sorted. Waits for the number of unique elements. Sorts and compares adjacent elements; subarrays
    are ranked by sorting pairs of columns.
    """
    ar = _xp._to_device(ar)
    if axis is not None:
        return _unique_along(ar, axis, return_index, return_inverse, return_counts)
    flat = ar.ravel()
    order = _xp.argsort(flat) if return_index or return_inverse else None
    ordered = _xp.sort(flat) if order is None else flat[order]
    results = _unique_results(
        ordered, _differs_from_previous(ordered, equal_nan), order, return_index, return_inverse, return_counts
    )
    if return_inverse:
        results[1 + return_index] = results[1 + return_index].reshape(ar.shape)
    return results[0] if len(results) == 1 else tuple(results)


def _unique_along(
    ar: GPUArray, axis: int, return_index: bool, return_inverse: bool, return_counts: bool
) -> GPUArray | tuple[GPUArray, ...]:
    moved = _xp.moveaxis(ar, _normalize_axis(axis, ar.ndim), 0)
    rows = moved.reshape(moved.shape[0], int(np.prod(moved.shape[1:], dtype=int)))
    order = _xp.argsort(_row_ranks(rows))
    ordered = rows[order]
    is_new = _xp.ones(rows.shape[:1], bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(1)
    results = _unique_results(ordered, is_new, order, return_index, return_inverse, return_counts)
    found = results[0]
    results[0] = _xp.moveaxis(found.reshape(found.shape[0], *moved.shape[1:]), 0, axis)
    return results[0] if len(results) == 1 else tuple(results)


def _make_unique_function(name: str, what: str = "", result: str = "a new array of one axis") -> Callable[[Any], Any]:
    def unique_function(x: Any, /) -> Any:
        from rtcg import array_api

        return getattr(array_api, name)(x)

    unique_function.__name__ = unique_function.__qualname__ = name
    unique_function.__doc__ = wrap_paragraphs(f"""
The unique elements of `x`, an array of any shape, in ascending order{what}.

Returns {result}. Each NaN counts as different. Waits for the number of unique elements. Sorts the elements.
""")
    return unique_function


unique_values: Callable[[Any], GPUArray] = _make_unique_function("unique_values")
unique_counts = _make_unique_function(
    "unique_counts", ", and how often each occurs", "a named tuple of two arrays, `values` and `counts` (int64)"
)
unique_inverse = _make_unique_function(
    "unique_inverse",
    ", and which of them each element is",
    "a named tuple of two arrays, `values` and, in the shape of `x`, `inverse_indices` (int64)",
)
unique_all = _make_unique_function(
    "unique_all",
    ", where they are first, which each element is, and how often",
    "a named tuple of arrays: `values`, and as int64 `indices`, `inverse_indices` (of the shape of `x`) and `counts`",
)


def lexsort(keys: Any, axis: Any = -1) -> GPUArray:
    """The indices (int64) that sort by several keys, of which the last is the primary one; does not wait.

    `keys` are array-like of one shape, else raises `ValueError`; raises `TypeError` if there are none. Sorts along
    `axis`, stably, with one sort for each key. Returns a new array with the shape of a key.
    """
    keys = list(keys)
    if not keys:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    keys = [_xp._to_device(key) for key in keys]
    if len({key.shape for key in keys}) > 1:
        raise ValueError(f"all keys need to be the same shape, got {[key.shape for key in keys]}")
    if keys[0].ndim == 0:
        return _xp.zeros((), np.int64)
    order = _xp.argsort(keys[0], axis)
    for key in keys[1:]:
        step = _xp.argsort(_xp.take_along_axis(key, order, axis), axis)
        order = _xp.take_along_axis(order, step, axis)
    return order


def isin(
    element: Any, test_elements: Any, assume_unique: Any = False, invert: Any = False, *, kind: Any = None
) -> GPUArray:
    """Whether each of `element` is among `test_elements`: a new array of bool; does not wait.

    Both are array-like; the result has the shape of `element`. `invert` negates the result. NaN is never found.
    `assume_unique` and `kind` have no effect: `test_elements` are always sorted and then searched.
    """
    element, test = _xp._to_device(element), _xp.sort(_xp._to_device(test_elements).ravel())
    if test.size == 0:
        return _xp.full(element.shape, invert, bool)
    places = _xp.searchsorted(test, element)
    found = _xp.take(test, places, mode="clip") == element
    return ~found if invert else found


def union1d(ar1: Any, ar2: Any) -> GPUArray:
    """The elements that are in either of two arrays, each once: a new array in ascending order.

    Both are array-like and are flattened; the result has the common dtype. Waits for the number of elements.
    """
    return unique(_xp.concatenate([_xp._to_device(ar1), _xp._to_device(ar2)], axis=None))


def intersect1d(ar1: Any, ar2: Any, assume_unique: Any = False, return_indices: Any = False) -> Any:
    """The elements that are in both arrays, each once: a new array in ascending order, with the common dtype.

    Both are array-like and are flattened. With `return_indices`, returns a tuple of it and of the indices of the first
    occurrence of each in both arrays. With `assume_unique` the arrays are assumed to have no duplicates. Waits for the
    number of elements.
    """
    ar1, ar2 = _xp._to_device(ar1).ravel(), _xp._to_device(ar2).ravel()
    firsts: list[Any] = [None, None]
    if not assume_unique:
        (ar1, firsts[0]), (ar2, firsts[1]) = (unique(ar, return_index=True) for ar in (ar1, ar2))
    both = _xp.concatenate([ar1, ar2])
    order = _xp.argsort(both)
    ordered = both[order]
    places = _xp.flatnonzero(ordered[1:] == ordered[:-1])
    if not return_indices:
        return ordered[places]
    indices = order[places], order[places + 1] - ar1.size
    if not assume_unique:
        indices = tuple(first[index] for first, index in zip(firsts, indices, strict=True))
    return ordered[places], *indices


def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> GPUArray:
    """The elements of `ar1` that are not in `ar2`, each once: a new array in ascending order.

    Both are array-like and are flattened. With `assume_unique` the order and duplicates of `ar1` are kept. Waits for
    the number of elements.
    """
    ar1 = _xp._to_device(ar1).ravel() if assume_unique else unique(ar1)
    ar2 = _xp._to_device(ar2).ravel()
    return ar1[isin(ar1, ar2, invert=True)]


def setxor1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> GPUArray:
    """The elements that are in exactly one of two arrays: a new array in ascending order, with the common dtype.

    Both are array-like and are flattened. With `assume_unique` the arrays are assumed to have no duplicates. Waits for
    the number of elements.
    """
    if not assume_unique:
        ar1, ar2 = unique(ar1), unique(ar2)
    ordered = _xp.sort(_xp.concatenate([_xp._to_device(ar1), _xp._to_device(ar2)], axis=None))
    if ordered.size == 0:
        return ordered
    differs = _xp.ones(ordered.size + 1, bool)
    differs[1:-1] = ordered[1:] != ordered[:-1]
    return ordered[differs[1:] & differs[:-1]]


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> GPUArray:
    """Differences of adjacent elements of the flattened array, between `to_begin` and `to_end`; does not wait.

    All are array-like. Returns a new array with one axis and the dtype of `ary`. Raises `TypeError` if the rule
    "same_kind" does not allow the conversion of `to_begin` and `to_end` to it.
    """
    flat = _xp._to_device(ary).ravel()
    parts = [flat[1:] - flat[:-1]]
    for position, edge in ((0, to_begin), (len(parts) + 1, to_end)):
        if edge is None:
            continue
        edge = _xp._to_device(edge)
        if not np.can_cast(edge.dtype, flat.dtype, casting="same_kind"):
            name = "to_end" if position else "to_begin"
            raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
        parts.insert(position, edge.ravel().astype(flat.dtype))
    return parts[0] if len(parts) == 1 else _xp.concatenate(parts)
