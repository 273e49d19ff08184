"""Sequences whose rows have lengths of their own: `ragged`, values with offsets."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg._messages import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def is_device_array(value: Any) -> bool:
    """Whether a value is in device memory: a `GPUArray`, or an array of another library there."""
    return hasattr(value, "__cuda_array_interface__")


def on_host(array: Any) -> np.ndarray[Any, Any]:
    """The elements of an array on the device or the host, as a NumPy array; waits for a device array."""
    if is_device_array(array):
        from rtcg import numpy as device_arrays

        fetched: np.ndarray[Any, Any] = device_arrays.asarray(array).get()
        return fetched
    return np.asarray(array)


class ragged:  # noqa: N801 (a sequence, as `list` is)
    """A sequence of rows that may differ in length: row `i` is ``values[offsets[i]:offsets[i + 1]]``.

    Parameters
    ----------
    values : array-like of shape (m,)
        The elements of all rows, one row after another: a NumPy array, a list or an array on the device.
    offsets : array-like of int, shape (n_rows + 1,)
        Where each row begins, and, last, the number of values: from 0, never decreasing, to `m`. With the arrays of a
        matrix in compressed rows, `data` and `indptr`, each row of the sequence is a row of the matrix.

    Raises
    ------
    TypeError
        If the offsets are not integers, or either argument is no array.
    ValueError
        If an array does not have one axis, or the offsets do not begin with 0, decrease, or do not end with `m`.

    Notes
    -----
    Nothing is copied but the offsets of an array on the device, which are fetched once, to be checked: for them the
    constructor waits.

    Examples
    --------
    >>> from rtcg.copperhead import ragged
    >>> rows = ragged([1, 2, 3], [0, 2, 2, 3])
    >>> len(rows), rows[0], rows[1]
    (3, array([1, 2]), array([], dtype=int64))
    """

    __slots__ = {
        "values": "The elements of all rows.",
        "offsets": "Where each row begins, and the number of values.",
        "_bounds": "The offsets on the host.",
    }

    def __init__(self, values: Any, offsets: Any) -> None:
        for name, array in (("values", values), ("offsets", offsets)):
            if isinstance(array, np.ma.MaskedArray):
                raise TypeError(f"{name} is a masked array, whose mask would be lost; write `{name}.filled(value)`")
        self.values = values if is_device_array(values) else np.asarray(values)
        if len(self.values.shape) != 1:
            raise ValueError(f"values has shape {tuple(self.values.shape)}; expected one axis")
        if self.values.dtype == object:
            raise TypeError(f"values is {shown(values)}; expected numbers")
        self.offsets = offsets if is_device_array(offsets) else np.asarray(offsets)
        self._bounds = on_host(self.offsets)
        _check_offsets(self._bounds, self.values.shape[0])

    @classmethod
    def from_rows(cls, rows: Iterable[Any]) -> ragged:
        """The ragged sequence of some rows, each a list or an array with one axis; values are copied.

        Raises `ValueError` if a row does not have one axis. Without elements, the dtype is float64.
        """
        rows = list(rows)
        arrays = [on_host(row) for row in rows]
        for index, array in enumerate(arrays):
            if isinstance(rows[index], np.ma.MaskedArray):
                raise TypeError(f"row {index} is a masked array, whose mask would be lost; write `row.filled(value)`")
            if array.ndim != 1:
                raise ValueError(f"row {index} has shape {array.shape}; expected one axis")
        offsets = np.zeros(len(arrays) + 1, np.int64)
        np.cumsum([len(array) for array in arrays], out=offsets[1:])
        # An empty list among the rows has no dtype of its own.
        typed = [array for row, array in zip(rows, arrays, strict=True) if len(array) or hasattr(row, "dtype")]
        return cls(np.concatenate(typed) if typed else np.empty(0), offsets)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        return np.dtype(self.values.dtype)

    @property
    def lengths(self) -> np.ndarray[Any, Any]:
        """The length of each row, an array of int64 on the host; does not wait."""
        return np.diff(self._bounds.astype(np.int64))

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def __getitem__(self, index: Any) -> Any:
        """Row `index`, a view of the values; negative ones count from the end."""
        try:
            row = operator.index(index)
        except TypeError:
            raise TypeError(f"index is {shown(index)}; expected the number of a row") from None
        if not -len(self) <= row < len(self):
            raise IndexError(f"index is {row}; expected a row of {len(self)}")
        row %= len(self)
        return self.values[int(self._bounds[row]) : int(self._bounds[row + 1])]

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self)))

    def to_list(self) -> list[list[Any]]:
        """The rows as lists of Python numbers; waits for values on the device."""
        values = on_host(self.values)
        return [values[begin:end].tolist() for begin, end in zip(self._bounds, self._bounds[1:], strict=False)]

    def equals(self, other: Any) -> bool:
        """Whether `other` has equal rows: a ragged sequence, an array with two axes or a list of rows.

        Values on the device are fetched. NaN equals nothing.
        """
        try:
            other = other if isinstance(other, ragged) else ragged.from_rows(other)
        except (TypeError, ValueError):
            return False
        values, others = on_host(self.values), on_host(other.values)
        return np.array_equal(self._bounds, other._bounds) and np.array_equal(values, others)

    def __repr__(self) -> str:
        if is_device_array(self.values):
            return f"<ragged of {len(self)} rows, {self.values.shape[0]} values of {self.dtype} on the device>"
        rows = [np.array2string(self[row], separator=", ") for row in range(min(len(self), 8))]
        return f"ragged([{', '.join(rows)}{', ...' if len(self) > 8 else ''}], dtype={self.dtype})"


def _check_offsets(offsets: np.ndarray[Any, Any], n_values: int) -> None:
    if offsets.dtype.kind not in "iu":
        raise TypeError(f"offsets has dtype {offsets.dtype}; expected integers")
    if offsets.ndim != 1 or not len(offsets):
        raise ValueError(f"offsets has shape {offsets.shape}; expected one axis of the number of rows plus 1")
    if offsets[0] != 0:
        raise ValueError(f"offsets[0] is {offsets[0]}; expected 0")
    decreasing = np.flatnonzero(offsets[1:] < offsets[:-1])
    if len(decreasing):
        at = int(decreasing[0]) + 1
        raise ValueError(f"offsets[{at}] is {offsets[at]}; expected at least the {offsets[at - 1]} before it")
    if offsets[-1] != n_values:
        raise ValueError(f"offsets[-1] is {offsets[-1]}; expected the number of values, {n_values}")
