"""Formats for building arrays element by element on the host: a dictionary of keys, and lists of rows.

They are converted when they go to the device: operations other than assignment are those of `tocsr()`.
"""

from __future__ import annotations

import bisect
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from rtcg._conversions import as_dtype, as_flag
from rtcg._messages import shown
from rtcg.numpy import GPUArray
from rtcg.sparse._base import _NAMES, issparse, sparray
from rtcg.sparse._compressed import _is_host_sparse, _is_shape, _value_dtype, csr_array
from rtcg.sparse._operands import checked_shape, index_dtype


def _triples(arg1: Any, dtype: Any) -> tuple[tuple[int, ...], np.ndarray[Any, Any], Any]:
    """The shape, the elements and the coordinates of an array of another format, on the host; waits."""
    coo = arg1.tocoo() if issparse(arg1) or _is_host_sparse(arg1) else None
    if coo is not None:
        parts = [part.get() if isinstance(part, GPUArray) else part for part in (coo.data, *coo.coords)]
        return coo.shape, np.asarray(parts[0], dtype), parts[1:]
    dense = arg1.get() if isinstance(arg1, GPUArray) else np.asarray(arg1)
    places = np.nonzero(dense)
    return dense.shape, np.asarray(dense[places], dtype), places


def _selector(key: Any, n: int, axis: int) -> np.ndarray[Any, Any]:
    """An index of an axis, as an array of integers from 0 to n - 1."""
    if isinstance(key, slice):
        return np.arange(n)[key]
    key = np.asarray(key.get() if isinstance(key, GPUArray) else key)
    if key.dtype == bool:
        if key.shape != (n,):
            raise IndexError(f"bool index {axis} has shape {key.shape}; expected ({n},)")
        return key.nonzero()[0]
    if key.dtype.kind not in "iu" and key.size:
        raise IndexError(f"an index has dtype {key.dtype}; expected integers, bool, or a slice")
    wrong = key[(key < -n) | (key >= n)] if key.size else key
    if wrong.size:
        raise IndexError(f"index ({wrong.flat[0]}) out of range")
    return key.astype(np.int64) % max(1, n)


class _HostArray(sparray):
    """Base class of both formats."""

    # Attributes are those of the host, which any copy has.
    __reduce__ = object.__reduce__  # type: ignore[assignment]  # object's may return a name

    _dtype: Any
    _start: Callable[..., None]
    _element: Callable[[Any], Any]
    _put: Callable[..., None]
    _stored: Callable[[], tuple[list[Any], list[Any]]]

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None:
        as_flag("copy", copy)
        is_shape = _is_shape(arg1) or (isinstance(arg1, tuple) and len(arg1) == 1)
        if is_shape:
            self._start(self._checked_shape(arg1), _value_dtype(np.float64 if dtype is None else dtype))
            return
        found, values, places = _triples(arg1, dtype)
        if len(found) == 1 and self._is_matrix:
            found, places = (1, *found), (np.zeros_like(places[0]), *places)
        self._start(self._checked_shape(found), _value_dtype(values.dtype))
        if shape is not None and self._checked_shape(shape) != self.shape:
            raise ValueError(f"inconsistent shapes: {self.shape} and {tuple(shape)}")
        for value, *indices in zip(values, *places, strict=True):
            place = tuple(int(index) for index in indices)
            before = self._element(place)
            self._put(place, (before | value if self.dtype.kind == "b" else before + value), keeps_zeros=True)

    def _checked_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if len(shape) == 1 and self.format == "dok" and not self._is_matrix:
            if shape[0] < 0:
                raise ValueError(f"'shape' elements cannot be negative: {shown(shape)}")
            return (int(shape[0]),)
        if len(shape) == 1:
            raise ValueError(f"{self.format.upper()} arrays don't support 1D input. Use 2D")
        return checked_shape(shape)

    @property
    def ndim(self) -> int:  # type: ignore[override]  # of an instance, not of the class
        """The number of axes."""
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self._dtype

    @property
    def nnz(self) -> Any:
        """The number of stored elements."""
        return len(self._stored()[0])

    @property
    def data(self) -> Any:
        """The stored elements on the device, in row order."""
        return self.tocoo().data

    def _with_data(self, data: Any, copy: bool = False) -> Any:
        return self.tocsr()._with_data(data)

    def _two_axes(self) -> Any:
        return self if self.ndim == 2 else self.tocoo()._two_axes()

    def tocoo(self, copy: Any = False) -> Any:
        """Convert to coordinates on the device."""
        values, places = self._stored()
        index = index_dtype(max(self.shape))
        coords = tuple(np.array([place[axis] for place in places], index) for axis in range(self.ndim))
        return self._container("coo")((np.array(values, self.dtype), coords), shape=self.shape)

    def tocsr(self, copy: Any = False) -> Any:
        """Convert to compressed sparse rows on the device."""
        return self.tocoo().tocsr()

    def _host_copy(self, module: ModuleType) -> Any:
        return self.tocoo().get().asformat(self.format)

    def copy(self) -> Any:
        """A copy."""
        return type(self)(self)

    def astype(self, dtype: Any, casting: Any = "unsafe", copy: Any = True) -> Any:
        """A copy with another dtype."""
        return type(self)(self, dtype=dtype)

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        """A copy of the transpose."""
        return type(self)(self.tocoo().T)

    def count_nonzero(self, axis: Any = None) -> Any:
        """The number of elements that are not 0."""
        return self.tocsr().count_nonzero(axis)

    def _keys(self, key: Any) -> tuple[Any, bool]:
        keys: Any = key if isinstance(key, tuple) else (key,)
        if issparse(key) or (hasattr(key, "ndim") and key.ndim == 2 and key.dtype == bool):
            mask = key.toarray().get() if issparse(key) else key.get() if isinstance(key, GPUArray) else key
            if mask.shape != self.shape:
                raise IndexError(f"bool index 0 has shape {mask.shape} instead of {self.shape}")
            return mask.nonzero(), False
        keys = [slice(None) if part is Ellipsis else part for part in keys]
        if len(keys) > self.ndim:
            raise IndexError(f"Too many indices for array. Key {tuple(keys)} needs {len(keys)}D. Array is {self.ndim}D")
        keys += [slice(None)] * (self.ndim - len(keys))
        is_outer = any(isinstance(part, slice) for part in keys) and self.ndim == 2
        return [_selector(part, n, axis) for axis, (part, n) in enumerate(zip(keys, self.shape, strict=True))], is_outer

    def __getitem__(self, key: Any) -> Any:
        keys, _ = self._keys(key)
        if all(part.ndim == 0 for part in keys):
            return self._element(tuple(int(part) for part in keys))
        found = self.tocoo()[key]
        return found.asformat(self.format) if issparse(found) and found.ndim == 2 else found

    def __setitem__(self, key: Any, values: Any) -> Any:
        keys, is_outer = self._keys(key)
        if is_outer:
            shape = [part.size for part in keys if part.ndim]
            keys = [part.reshape((-1, 1) if axis == 0 else (1, -1)) for axis, part in enumerate(keys)]
        places = np.broadcast_arrays(*keys)
        values = values.toarray() if issparse(values) or _is_host_sparse(values) else values
        values = np.asarray(values.get() if isinstance(values, GPUArray) else values)
        try:
            flat = np.broadcast_to(values, shape if is_outer else places[0].shape).ravel()
        except ValueError:
            if values.size != places[0].size:
                raise ValueError("shape mismatch in assignment") from None
            flat = values.ravel()
        for value, *place in zip(flat.astype(self.dtype), *(part.ravel() for part in places), strict=True):
            self._put(tuple(int(index) for index in place), value)

    def __iter__(self) -> Any:
        return (self[k] for k in range(self.shape[0]))

    def resize(self, *shape: Any) -> Any:
        """Change the shape in place; elements outside the new shape are lost."""
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        values, places = self._stored()
        self._start(self._checked_shape(tuple(shape)), self.dtype)
        for value, place in zip(values, places, strict=True):
            if all(index < n for index, n in zip(place, self.shape, strict=True)):
                self._put(place, value, keeps_zeros=True)

    def setdiag(self, values: Any, k: Any = 0) -> Any:
        """Assign a number or a vector to the `k`-th diagonal, in place."""
        rows, columns = self.shape
        length = min(rows + min(k, 0), columns - max(k, 0))
        if length <= 0:
            raise ValueError("k exceeds array dimensions")
        values = np.asarray(values)
        length = min(length, values.size) if values.ndim else length
        places = np.arange(length)
        self[places + max(-k, 0), places + max(k, 0)] = values[:length] if values.ndim else values


for _name in (
    "has_canonical_format", "_summed", "_matvec", "_matmat", "diagonal", "max", "min", "nanmax", "nanmin", "argmax",
    "argmin", "nonzero", "getnnz", "real", "imag", "conj", "__neg__", "__abs__", "power", "reshape", "toarray", "sum",
    "mean", "trace", "multiply", "_add", "__truediv__", "maximum", "minimum", "_product", "__rmatmul__",
):  # fmt: skip

    def _through_rows(name: str) -> Any:
        def method(self: _HostArray, *args: Any, **kwargs: Any) -> Any:
            return getattr(self.tocsr(), name)(*args, **kwargs)

        method.__name__ = name
        method.__doc__ = f"`{name}` of the array in compressed sparse rows, on the device."
        of_rows = getattr(csr_array, name)
        if callable(of_rows):
            method.__signature__ = inspect.signature(of_rows)  # type: ignore[attr-defined]  # for `help`
        is_property = name in ("has_canonical_format", "real", "imag")
        return property(lambda self: getattr(self.tocsr(), name), doc=method.__doc__) if is_property else method

    setattr(_HostArray, _name, _through_rows(_name))


class dok_array(_HostArray):
    """A dictionary of positions and elements on the host, with one or two axes; see `scipy.sparse.dok_array`.

    Parameters
    ----------
    arg1 : a shape, an array of `scipy.sparse` or of this package, or a dense array
    shape, dtype, copy
        As in `csr_array`.

    Use it to build arrays: ``a[i, j] = v`` stores an element, and removes it if `v` is 0. Operations other than those
    of a dictionary convert to compressed sparse rows on the device.
    """

    format = "dok"

    def _start(self, shape: tuple[int, ...], dtype: Any) -> None:
        self._shape, self._dtype = shape, as_dtype("dtype", dtype)
        self._dict: dict[Any, Any] = {}

    def _key(self, place: Any) -> Any:
        return place[0] if self.ndim == 1 else place

    def _element(self, place: Any) -> Any:
        return self._dict.get(self._key(place), self.dtype.type(0))

    def _put(self, place: Any, value: Any, keeps_zeros: bool = False) -> None:
        if value or keeps_zeros:
            self._dict[self._key(place)] = value
        else:
            self._dict.pop(self._key(place), None)

    def _stored(self) -> tuple[list[Any], list[Any]]:
        places = self._dict if self.ndim == 2 else [(place,) for place in self._dict]
        return list(self._dict.values()), list(places)

    def __len__(self) -> int:
        return len(self._dict)

    def __contains__(self, key: Any) -> bool:
        return key in self._dict

    def __delitem__(self, key: Any) -> Any:
        del self._dict[key]

    def keys(self) -> Any:
        """The positions of the stored elements."""
        return self._dict.keys()

    def values(self) -> Any:
        """The stored elements."""
        return self._dict.values()

    def items(self) -> Any:
        """The positions with their elements."""
        return self._dict.items()

    def get(self, key: Any = None, default: Any = 0.0) -> Any:
        """The element at a position, or `default`; without a position, the array as one of `scipy.sparse`."""
        if key is None:
            return super().get()
        place = key if isinstance(key, tuple) else (key,)
        if len(place) != self.ndim or any(not -n <= index < n for index, n in zip(place, self.shape, strict=False)):
            raise IndexError("Index out of bounds.")
        return self._dict.get(self._key(tuple(index % n for index, n in zip(place, self.shape, strict=True))), default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The element at a position, after storing the default there if there is none."""
        return self._dict.setdefault(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        """Remove and return an element."""
        return self._dict.pop(key, *default)

    def popitem(self) -> Any:
        """Remove the newest element and return its position and value."""
        return self._dict.popitem()

    def clear(self) -> Any:
        """Remove all elements."""
        self._dict.clear()

    def update(self, other: Any) -> Any:
        """Store the elements of another dictionary or of an iterable of positions with elements."""
        for key, value in other.items() if hasattr(other, "items") else other:
            self[key] = value

    @classmethod
    def fromkeys(cls, iterable: Any, value: Any = 1, /) -> Any:
        """The same element at all positions of an iterable; the shape is the smallest that fits."""
        places = [place if isinstance(place, tuple) else (place,) for place in iterable]
        made = cls(tuple(max(axis) + 1 for axis in zip(*places, strict=True)), dtype=np.asarray(value).dtype)
        for place in places:
            made._put(place, made.dtype.type(value), keeps_zeros=True)
        return made

    def todok(self, copy: Any = False) -> Any:
        """The array itself, or a copy."""
        return self.copy() if copy else self


class lil_array(_HostArray):
    """Lists of columns (`rows`) and elements (`data`) for each row on the host; see `scipy.sparse.lil_array`.

    Parameters
    ----------
    arg1 : a shape, an array of `scipy.sparse` or of this package, or a dense array
    shape, dtype, copy
        As in `csr_array`.

    Use it to build arrays: ``a[i, j] = v`` stores an element, and removes it if `v` is 0. Operations other than
    assignment convert to compressed sparse rows on the device.
    """

    format = "lil"

    def _start(self, shape: tuple[int, ...], dtype: Any) -> None:
        self._shape, self._dtype = shape, as_dtype("dtype", dtype)
        self.rows, self._values = np.empty(shape[0], object), np.empty(shape[0], object)
        for row in range(shape[0]):
            self.rows[row], self._values[row] = [], []

    @property
    def data(self) -> Any:
        """The lists of elements of each row."""
        return self._values

    def _element(self, place: Any) -> Any:
        row, col = place
        at = bisect.bisect_left(self.rows[row], col)
        there = at < len(self.rows[row]) and self.rows[row][at] == col
        return self.dtype.type(self._values[row][at] if there else 0)

    def _put(self, place: Any, value: Any, keeps_zeros: bool = False) -> None:
        row, col = place
        columns, values = self.rows[row], self._values[row]
        at = bisect.bisect_left(columns, col)
        there = at < len(columns) and columns[at] == col
        if not value and not keeps_zeros:
            if there:
                del columns[at], values[at]
        elif there:
            values[at] = value
        else:
            columns.insert(at, col)
            values.insert(at, value)

    def _stored(self) -> tuple[list[Any], list[Any]]:
        places = [(row, col) for row, columns in enumerate(self.rows) for col in columns]
        return [value for values in self._values for value in values], places

    def getrowview(self, i: Any) -> Any:
        """Row `i` as an array with one row, which shares the lists of this one."""
        made = type(self)((1, self.shape[1]), dtype=self.dtype)
        made.rows[0], made._values[0] = self.rows[i], self._values[i]
        return made

    def tolil(self, copy: Any = False) -> Any:
        """The array itself, or a copy."""
        return self.copy() if copy else self


_NAMES |= {"dok": "Dictionary Of Keys", "lil": "List of Lists"}
