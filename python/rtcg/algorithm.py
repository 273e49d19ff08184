"""Segments and runs: reductions, scans and sorts of many short vectors that are stored one after the other.

Segment ``j`` of a vector has the elements from ``offsets[j]`` up to but not including ``offsets[j + 1]``, and may be
empty. A run is a segment of equal keys. The order in which elements are combined depends only on their number and on
the offsets, so that sums of floating-point numbers are bitwise reproducible on every device.

Operations: ``"sum"``, ``"prod"``, ``"max"``, ``"min"``. The identity element is 0, 1, or the smallest or largest number
of the dtype (infinite for floating-point dtypes). Maxima and minima propagate NaN, as in NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_dtype, as_flag, as_text

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from numpy.typing import ArrayLike, DTypeLike

    from rtcg.numpy import GPUArray

    _Array: TypeAlias = GPUArray | ArrayLike
    _Op: TypeAlias = Literal["sum", "prod", "max", "min"]

__all__ = [
    "reduce_by_key", "run_length_decode", "run_length_encode", "run_offsets", "segmented_reduce", "segmented_scan",
    "segmented_sort", "unique_by_key",
]  # fmt: skip


def segmented_reduce(values: _Array, offsets: _Array, op: _Op = "sum", dtype: DTypeLike | None = None) -> GPUArray:
    """Reduce each segment; waits to check that offsets are in ascending order.

    Parameters
    ----------
    values : GPUArray or array-like of shape (n,)
        Numbers of any dtype, including bools (whose ``"sum"`` is a number, as in NumPy).
    offsets : GPUArray or array-like of shape (segments + 1,)
        Integers in ascending order, from 0 to n.
    op : {"sum", "prod", "max", "min"}
    dtype : dtype, optional
        Dtype of the result and of the computation; by default that of `values`, with 64 bits for sums and products of
        integers.

    Returns
    -------
    GPUArray of shape (segments,)

    Raises
    ------
    ValueError
        If `values` or `offsets` have another number of axes, offsets do not ascend, or `op` is unknown.
    TypeError
        If `offsets` are not integers, or `values` are not numbers.

    Notes
    -----
    Like ``DeviceSegmentedReduce`` of CUB. ``np.add.reduceat(values, offsets[:-1])`` is the same if no segment is empty
    and the last one ends with `values`; NumPy gives an empty segment the element at its offset.
    """
    return _native.segmented_reduce(
        _xp._unmasked_to_device("values", values),
        _xp._unmasked_to_device("offsets", offsets),
        as_text("op", op),
        as_dtype("dtype", dtype),
    )


def segmented_scan(
    values: _Array, offsets: _Array, op: _Op = "sum", exclusive: bool = False, dtype: DTypeLike | None = None
) -> GPUArray:
    """Scan each segment; waits to check that offsets are in ascending order.

    Parameters
    ----------
    values, offsets, op, dtype
        As in `segmented_reduce`. Elements before the first offset and after the last are segments of their own.
    exclusive : bool
        Whether to leave out the element itself, so that the first one of a segment gives the identity element.

    Returns
    -------
    GPUArray of shape (n,)

    Raises
    ------
    ValueError, TypeError
        As for `segmented_reduce`.

    Notes
    -----
    Like ``inclusive_scan_by_key`` and ``exclusive_scan_by_key`` of Thrust, with offsets in place of keys;
    ``segmented_scan(values, run_offsets(keys))`` is the same. For other operations see
    :class:`rtcg.scan.GenericScanKernel`.
    """
    arrays = _xp._unmasked_to_device("values", values), _xp._unmasked_to_device("offsets", offsets)
    return _native.segmented_scan(*arrays, as_text("op", op), as_flag("exclusive", exclusive), as_dtype("dtype", dtype))


def segmented_sort(values: _Array, offsets: _Array, descending: bool = False) -> tuple[GPUArray, GPUArray]:
    """Sort each segment and return the elements and their indices; waits to check that offsets are in ascending order.

    Parameters
    ----------
    values, offsets
        As in `segmented_reduce`; elements before the first offset and after the last are segments of their own.
    descending : bool

    Returns
    -------
    values : GPUArray of shape (n,)
        Sorted stably. NaN is larger than every number.
    indices : GPUArray of shape (n,), int64
        The index of each element in `values`.

    Raises
    ------
    ValueError, TypeError
        As for `segmented_reduce`.

    Notes
    -----
    Like ``DeviceSegmentedSort`` of CUB; all elements are sorted, then their segments.
    """
    return _native.segmented_sort(
        _xp._unmasked_to_device("values", values),
        _xp._unmasked_to_device("offsets", offsets),
        as_flag("descending", descending),
    )


def run_offsets(keys: _Array) -> GPUArray:
    """The offset of each run of equal elements, followed by the number of elements: offsets of segments.

    Parameters
    ----------
    keys : GPUArray or array-like of shape (n,)
        Numbers. NaN equals nothing, so that each NaN is a run.

    Returns
    -------
    GPUArray of shape (runs + 1,), int64

    Raises
    ------
    ValueError
        If `keys` has another number of axes.

    Notes
    -----
    Waits for the number of runs.
    """
    return _native.run_offsets(_xp._unmasked_to_device("keys", keys))


def run_length_encode(values: _Array) -> tuple[GPUArray, GPUArray]:
    """The element and the length of each run of equal elements; waits for the number of runs.

    Parameters
    ----------
    values : GPUArray or array-like of shape (n,)
        As `keys` in `run_offsets`.

    Returns
    -------
    values : GPUArray of shape (runs,)
    counts : GPUArray of shape (runs,), int64

    Raises
    ------
    ValueError
        If `values` has another number of axes.

    Notes
    -----
    Like ``DeviceRunLengthEncode`` of CUB, and ``itertools.groupby``.
    """
    return _native.run_length_encode(_xp._unmasked_to_device("values", values))


def run_length_decode(values: _Array, counts: _Array) -> GPUArray:
    """Repeat each element as its count says, the inverse of `run_length_encode`; waits for the length of the result.

    Parameters
    ----------
    values : GPUArray or array-like of shape (n,)
    counts : GPUArray or array-like of shape (n,)
        Integers of at least 0.

    Returns
    -------
    GPUArray of shape (sum of counts,)

    Raises
    ------
    ValueError
        If shapes differ, a count is negative, or their sum may not fit int64.
    TypeError
        If counts are not integers.

    Notes
    -----
    Like ``numpy.repeat`` with an array of counts.
    """
    return _native.run_length_decode(
        _xp._unmasked_to_device("values", values), _xp._unmasked_to_device("counts", counts)
    )


def reduce_by_key(
    keys: _Array, values: _Array, op: _Op = "sum", dtype: DTypeLike | None = None
) -> tuple[GPUArray, GPUArray]:
    """The key of each run of equal keys and the reduction of its values; waits for the number of runs.

    Parameters
    ----------
    keys : GPUArray or array-like of shape (n,)
        As in `run_offsets`. Equal keys that are not adjacent are separate runs: sort first to get each key once.
    values : GPUArray or array-like of shape (n,)
    op, dtype
        As for `segmented_reduce`.

    Returns
    -------
    keys : GPUArray of shape (runs,)
    values : GPUArray of shape (runs,)

    Raises
    ------
    ValueError, TypeError
        As in `segmented_reduce`, or if lengths differ.

    Notes
    -----
    Like ``reduce_by_key`` of Thrust and ``DeviceReduce::ReduceByKey`` of CUB.
    """
    return _native.reduce_by_key(
        _xp._unmasked_to_device("keys", keys),
        _xp._unmasked_to_device("values", values),
        as_text("op", op),
        as_dtype("dtype", dtype),
    )


def unique_by_key(keys: _Array, values: _Array) -> tuple[GPUArray, GPUArray]:
    """The first key of each run of equal keys and its value; waits for the number of runs.

    Parameters
    ----------
    keys, values : GPUArray or array-like of shape (n,)
        As in `reduce_by_key`.

    Returns
    -------
    keys : GPUArray of shape (runs,)
    values : GPUArray of shape (runs,)

    Raises
    ------
    ValueError, TypeError
        If an array has another number of axes, or lengths differ.

    Notes
    -----
    Like ``unique_by_key`` of Thrust.
    """
    return _native.unique_by_key(_xp._unmasked_to_device("keys", keys), _xp._unmasked_to_device("values", values))
