"""Segments and runs: reductions, scans and sorts of many short vectors that lie one behind the other.

Segment ``j`` of a vector has the elements from ``offsets[j]`` up to, and without, ``offsets[j + 1]``; it may be empty.
A run is a segment of equal keys. The order in which elements are combined depends on their number and on the offsets
alone: sums of floating-point numbers have the same bits at every run and on every device.

Operations: ``"sum"``, ``"prod"``, ``"max"``, ``"min"``. The identity element is 0, 1, or the least or largest
number of the dtype (infinite for floating-point ones). NaN wins maxima and minima, as in NumPy.
"""

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_dtype, as_flag, as_text

__all__ = [
    "reduce_by_key", "run_length_decode", "run_length_encode", "run_offsets", "segmented_reduce", "segmented_scan",
    "segmented_sort", "unique_by_key",
]  # fmt: skip


def segmented_reduce(values, offsets, op="sum", dtype=None):
    """What the elements of each segment are combined to; waits to see that offsets ascend.

    Parameters
    ----------
    values : GPUArray or array-like of shape (n,)
        Numbers of any dtype, bools too (``"sum"`` is then a number, as in NumPy).
    offsets : GPUArray or array-like of shape (segments + 1,)
        Integers that ascend, from 0 on and up to n.
    op : {"sum", "prod", "max", "min"}
    dtype : dtype, optional
        Of the result, in which is computed; by default that of `values`, and 64 bits for sums and products of integers.

    Returns
    -------
    GPUArray of shape (segments,)

    Raises
    ------
    ValueError
        If `values` or `offsets` have another number of axes, offsets do not ascend, or `op` is unknown.
    TypeError
        If `offsets` are no integers, or `values` no numbers.

    Notes
    -----
    As ``DeviceSegmentedReduce`` of CUB. ``np.add.reduceat(values, offsets[:-1])`` is the same where no segment is empty
    and the last one ends with `values`; NumPy gives an empty segment the element at its offset.
    """
    return _native.segmented_reduce(
        _xp._unmasked_to_device("values", values),
        _xp._unmasked_to_device("offsets", offsets),
        as_text("op", op),
        as_dtype("dtype", dtype),
    )


def segmented_scan(values, offsets, op="sum", exclusive=False, dtype=None):
    """What the elements of a segment up to each one are combined to; waits to see that offsets ascend.

    Parameters
    ----------
    values, offsets, op, dtype
        As for `segmented_reduce`. Elements before the first offset and behind the last are segments of their own.
    exclusive : bool
        Without the element itself: the first of a segment has the identity element.

    Returns
    -------
    GPUArray of shape (n,)

    Raises
    ------
    ValueError, TypeError
        As for `segmented_reduce`.

    Notes
    -----
    As ``inclusive_scan_by_key`` and ``exclusive_scan_by_key`` of Thrust, with offsets in place of keys;
    ``segmented_scan(values, run_offsets(keys))`` is the same. For other operations see
    :class:`rtcg.scan.GenericScanKernel`.
    """
    arrays = _xp._unmasked_to_device("values", values), _xp._unmasked_to_device("offsets", offsets)
    return _native.segmented_scan(*arrays, as_text("op", op), as_flag("exclusive", exclusive), as_dtype("dtype", dtype))


def segmented_sort(values, offsets, descending=False):
    """The elements of each segment in order, and where they were; waits to see that offsets ascend.

    Parameters
    ----------
    values, offsets
        As for `segmented_reduce`; elements before the first offset and behind the last are segments of their own.
    descending : bool

    Returns
    -------
    values : GPUArray of shape (n,)
        Sorted stably. NaN is larger than every number.
    indices : GPUArray of shape (n,), int64
        Where each element was in `values`.

    Raises
    ------
    ValueError, TypeError
        As for `segmented_reduce`.

    Notes
    -----
    As ``DeviceSegmentedSort`` of CUB; all elements are sorted, then their segments.
    """
    return _native.segmented_sort(
        _xp._unmasked_to_device("values", values),
        _xp._unmasked_to_device("offsets", offsets),
        as_flag("descending", descending),
    )


def run_offsets(keys):
    """Where runs of equal elements begin, and the number of elements behind them: offsets of segments.

    Parameters
    ----------
    keys : GPUArray or array-like of shape (n,)
        Numbers. NaN equals nothing, so that each is a run.

    Returns
    -------
    GPUArray of shape (runs + 1,), int64

    Raises
    ------
    ValueError
        If there is another number of axes.

    Notes
    -----
    Waits for the number of runs.
    """
    return _native.run_offsets(_xp._unmasked_to_device("keys", keys))


def run_length_encode(values):
    """The element of each run of equal elements, and its length; waits for their number.

    Parameters
    ----------
    values : GPUArray or array-like of shape (n,)
        As `keys` of `run_offsets`.

    Returns
    -------
    values : GPUArray of shape (runs,)
    counts : GPUArray of shape (runs,), int64

    Raises
    ------
    ValueError
        If there is another number of axes.

    Notes
    -----
    As ``DeviceRunLengthEncode`` of CUB, and ``itertools.groupby``.
    """
    return _native.run_length_encode(_xp._unmasked_to_device("values", values))


def run_length_decode(values, counts):
    """Each element as often as its count says, which undoes `run_length_encode`; waits for the length of the result.

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
        If counts are no integers.

    Notes
    -----
    As ``numpy.repeat`` with an array of counts.
    """
    return _native.run_length_decode(
        _xp._unmasked_to_device("values", values), _xp._unmasked_to_device("counts", counts)
    )


def reduce_by_key(keys, values, op="sum", dtype=None):
    """The key of each run of equal keys, and what the values beside them are combined to; waits for their number.

    Parameters
    ----------
    keys : GPUArray or array-like of shape (n,)
        As for `run_offsets`. Equal keys that are not adjacent are runs of their own: sort before, to have each once.
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
        As for `segmented_reduce`, or if lengths differ.

    Notes
    -----
    As ``reduce_by_key`` of Thrust and ``DeviceReduce::ReduceByKey`` of CUB.
    """
    return _native.reduce_by_key(
        _xp._unmasked_to_device("keys", keys),
        _xp._unmasked_to_device("values", values),
        as_text("op", op),
        as_dtype("dtype", dtype),
    )


def unique_by_key(keys, values):
    """The first key of each run of equal keys, and the value beside it; waits for their number.

    Parameters
    ----------
    keys, values : GPUArray or array-like of shape (n,)
        As for `reduce_by_key`.

    Returns
    -------
    keys : GPUArray of shape (runs,)
    values : GPUArray of shape (runs,)

    Raises
    ------
    ValueError, TypeError
        If there is another number of axes, or lengths differ.

    Notes
    -----
    As ``unique_by_key`` of Thrust.
    """
    return _native.unique_by_key(_xp._unmasked_to_device("keys", keys), _xp._unmasked_to_device("values", values))
