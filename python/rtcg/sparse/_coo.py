"""Coordinate format: row, column and value of each element."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_flag
from rtcg.numpy import GPUArray
from rtcg.sparse import _operands
from rtcg.sparse._base import issparse, sparray
from rtcg.sparse._compressed import _any_array, _is_host_sparse, _is_shape, _value_dtype, as_own
from rtcg.sparse._operands import check_out, checked_shape, index_dtype, is_one_axis, to_device

if TYPE_CHECKING:
    from typing_extensions import Self


class coo_array(sparray):
    """A sparse array of coordinates on the device; see `scipy.sparse.coo_array`.

    Parameters
    ----------
    arg1 : sparse array, dense array, tuple or shape
        An array of `scipy.sparse` or of this package, or ``(data, (row, col))``.
    shape, dtype, copy
        As in `csr_array`.

    Notes
    -----
    The constructor waits as that of `csr_array` does.
    """

    format = "coo"
    _part_names = ("data", "row", "col")

    def __new__(cls, arg1: Any = None, shape: Any = None, *args: Any, **kwargs: Any) -> Self:
        """A new array, or one with one axis if the argument has one."""
        if not cls._is_matrix and cls.ndim == 2 and is_one_axis(arg1, shape):
            from rtcg.sparse._vectors import CLASSES

            return object.__new__(CLASSES[cls.format])
        return object.__new__(cls)

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None:
        arg1, copy = as_own(arg1), as_flag("copy", copy)
        if issparse(arg1):
            source = arg1._two_axes().tocoo()
            self._set(source.shape, source.data, source.row, source.col)
        elif _is_host_sparse(arg1):
            source = arg1.tocoo()
            shape = source.shape if arg1.ndim == 2 else (1, *source.shape)
            self._set_checked(checked_shape(shape), source.data, source.row, source.col)
        elif _is_shape(arg1):
            index = index_dtype(max(arg1))
            empty = _xp.empty(0, index)
            self._set(checked_shape(arg1), _xp.empty(0, _value_dtype(dtype or np.float64)), empty, empty)
        elif isinstance(arg1, tuple):
            try:
                data, (row, col) = arg1
            except (TypeError, ValueError):
                raise TypeError("invalid input format") from None
            if shape is None:
                if not len(row) or not len(col):
                    raise ValueError("cannot infer dimensions from zero sized index arrays")
                shape = int(_any_array(row).max()) + 1, int(_any_array(col).max()) + 1
            self._set_checked(checked_shape(shape), data, row, col)
        else:
            self._set_dense(arg1)
        if shape is not None and checked_shape(shape) != self.shape:
            raise ValueError(f"inconsistent shapes: {self.shape} and {tuple(shape)}")
        if dtype is not None and self.dtype != dtype:
            self.data = self.data.astype(_value_dtype(dtype))
        if copy:
            self._set(self.shape, self.data.copy(), self.row.copy(), self.col.copy())

    @classmethod
    def _of(cls, shape: tuple[int, ...], data: Any, row: Any, col: Any) -> Self:
        """An array from coordinates that are known to be valid."""
        self = cls.__new__(cls)
        self._set(shape, data, row, col)
        return self

    def _set(self, shape: tuple[int, ...], data: Any, row: Any, col: Any) -> None:
        self._shape, self._order = shape, None
        self.data, self.row, self.col = data, row, col

    def _set_checked(self, shape: tuple[int, ...], data: Any, row: Any, col: Any) -> None:
        data = _any_array(data)
        if not len(data) == len(row) == len(col):
            raise ValueError("all index and data arrays must have the same length")
        row, col = (_any_array(a) for a in (row, col))
        dtype = index_dtype(max(shape), row, col)
        for axis, index in enumerate((row, col)):
            if index.size and index.dtype.kind not in "iu":
                raise TypeError(f"indices of axis {axis} are of dtype {index.dtype}; expected integers")
            if not index.size:
                continue
            # Of numbers on the device two are read, which waits.
            is_device = isinstance(index, GPUArray)
            wide = to_device(index, np.int64) if is_device else index
            extremes: Any = _native.sparse_index_extremes(wide) if is_device else (index.min(), index.max())
            low, high = extremes
            if high >= shape[axis]:
                raise ValueError(f"axis {axis} index {high} exceeds matrix dimension {shape[axis]}")
            if low < 0:
                raise ValueError(f"negative axis {axis} index: {low}")
        data = to_device(data, _value_dtype(data.dtype))
        self._set(shape, data, to_device(row, dtype), to_device(col, dtype))

    def _set_dense(self, dense: Any) -> None:
        dense = _any_array(dense)
        if not isinstance(dense, GPUArray):
            if dense.ndim == 0:
                raise ValueError("scipy sparse array classes do not support instantiation from a scalar")
        if dense.ndim == 1 and self._is_matrix:
            dense = dense.reshape((1, -1))
        if dense.ndim != 2:
            raise ValueError(f"a sparse array has one or two axes; the dense array has shape {dense.shape}")
        _value_dtype(dense.dtype)
        nonzero = np.nonzero(dense) if isinstance(dense, np.ndarray) else _xp.nonzero(dense)
        index = index_dtype(max(dense.shape))
        self._set(dense.shape, to_device(dense[nonzero]), *(to_device(a, index) for a in nonzero))

    @property
    def coords(self) -> tuple[GPUArray, ...]:
        """The row and column indices."""
        return self.row, self.col

    def _with_data(self, data: Any, copy: bool = False) -> Self:
        coords = (self.row.copy(), self.col.copy()) if copy else (self.row, self.col)
        return self._of(self.shape, data, *coords)

    def _host_copy(self, module: ModuleType) -> Any:
        return getattr(module, type(self).__name__)(
            (self.data.get(), (self.row.get(), self.col.get())), shape=self.shape
        )

    def tocoo(self, copy: Any = False) -> sparray:
        """The array itself, or a copy."""
        return self.copy() if copy else self

    def tocsr(self, copy: Any = False) -> sparray:
        """Convert to compressed sparse rows; sorts and sums duplicates; waits for the number of elements."""
        return self._canonical("csr")._compressed("csr")

    def transpose(self, axes: Any = None, copy: Any = False) -> sparray:
        """The transpose; shares memory."""
        result = self._of(self.shape[::-1], self.data, self.col, self.row)
        return result.copy() if copy else result

    def __getitem__(self, key: Any) -> Any:
        from rtcg.sparse._index import getitem

        return getitem(self, key)

    def __setitem__(self, key: Any, values: Any) -> Any:
        from rtcg.sparse._index import setitem

        setitem(self, key, values)

    def _counts(self, axis: Any) -> Any:
        """The number of elements in each column (``axis=0``) or row (``axis=1``)."""
        if axis not in (0, 1, -1, -2):
            raise ValueError("axis out of range")
        rows = self if axis % 2 else self.transpose()
        ones = rows._with_data(_xp.ones(self.nnz, np.int64))
        return ones._matvec(_xp.ones(rows.shape[1], np.int64))

    def _reshaped(self, shape: tuple[int, ...], order: Any) -> Any:
        size = self.shape[0] * self.shape[1]
        if len(shape) == 1 and not self._is_matrix:
            from rtcg.sparse._vectors import one_axis

            return one_axis(self._reshaped((1, *shape), order))
        if len(shape) != 2:
            raise ValueError(f"a sparse array has one or two axes; the new shape is {shape}")
        if order not in ("C", "F"):
            raise ValueError("'order' must be 'C' or 'F'")
        shape = tuple(int(n) for n in shape)
        if -1 in shape:
            known = max(1, -shape[0] * shape[1]) if shape.count(-1) == 1 else 0
            if not known or size % known:
                raise ValueError(f"cannot reshape array of size {size} into shape {shape}")
            shape = tuple(size // known if n == -1 else n for n in shape)
        if shape[0] * shape[1] != size or min(shape) < 0:
            raise ValueError(f"cannot reshape array of size {size} into shape {shape}")
        index = index_dtype(max(shape), self.row)
        if order == "C":
            places = self.row.astype(np.int64) * self.shape[1] + self.col
            row, col = places // max(1, shape[1]), places % max(1, shape[1])
        else:
            places = self.col.astype(np.int64) * self.shape[0] + self.row
            row, col = places % max(1, shape[0]), places // max(1, shape[0])
        return self._of(shape, self.data, row.astype(index), col.astype(index))

    # -- order --------------------------------------------------------------------------------------------

    def _taken(self, order: Any) -> Self:
        return self._of(self.shape, self.data[order], self.row[order], self.col[order])

    def _sorted(self, format: str) -> Self:
        """The elements sorted by rows, then columns, or ("csc") by columns, then rows."""
        if self.nnz < 2:
            return self
        major, minor = (self.col, self.row) if format == "csc" else (self.row, self.col)
        rows, columns = self.shape[::-1] if format == "csc" else self.shape
        if rows * columns <= np.iinfo(np.int32).max:
            keys = major.astype(np.int32) * np.int32(columns) + minor.astype(np.int32)
            return self._taken(_native.sparse_argsort(keys, rows * columns))
        # Twice with keys of 32 bits moves no more than once with keys of 64.
        order = _native.sparse_argsort(minor, columns)
        return self._taken(order[_native.sparse_argsort(major[order], rows)])

    def _sorted_rows(self) -> Self:
        """The elements stably sorted by rows."""
        return self if self.nnz < 2 else self._taken(_native.sparse_argsort(self.row, self.shape[0]))

    def _canonical(self, format: str) -> Self:
        """Like `_sorted`, with duplicates summed in their order."""
        ordered: Any = self.transpose() if format == "csc" else self
        if ordered.has_canonical_format:
            return self
        ordered = self._sorted(format)
        row, col = ordered.row, ordered.col
        is_new = _xp.concatenate([_xp.ones(1, bool), (row[1:] != row[:-1]) | (col[1:] != col[:-1])])
        starts = _xp.nonzero(is_new)[0]
        if starts.size == ordered.nnz:
            return ordered
        return self._of(self.shape, _segment_sums(ordered.data, starts), row[starts], col[starts])

    def _product_rows(self) -> Any:
        # The order is kept, the elements are not: they may be written to.
        if self._order is None or self._order[0] is not self.row or self._order[1] is not self.col:
            places = self._with_data(_xp.arange(self.nnz, dtype=np.int64))
            rows = places._sorted_rows()._compressed("csr")
            self._order = self.row, self.col, rows.data, rows.indices, rows.indptr
        _, _, order, indices, indptr = self._order
        return self._container("csr")._of(self.shape, self.data[order], indices, indptr)

    def _compressed(self, format: str) -> Any:
        """The elements in the order of `format`, with row (column) pointers."""
        major, minor, count = (self.row, self.col, self.shape[0])
        if format == "csc":
            major, minor, count = self.col, self.row, self.shape[1]
        index = index_dtype(0, major) if self.nnz <= _operands.MAX_INT32_ELEMENTS else np.dtype(np.int64)
        minor = minor if minor.dtype == index else minor.astype(index)
        indptr = _xp.searchsorted(major, _xp.arange(count + 1, dtype=major.dtype)).astype(index)
        return self._container(format)._of(self.shape, self.data, minor, indptr)

    @property
    def has_canonical_format(self) -> bool:
        """Whether elements are sorted by rows, then columns, without duplicates; waits."""
        if self.nnz < 2:
            return True
        steps = self.row[1:] - self.row[:-1]
        return bool(((steps > 0) | ((steps == 0) & (self.col[1:] > self.col[:-1]))).all().get())

    def sum_duplicates(self) -> None:
        """Sum duplicates, in place; waits for the number of elements."""
        found = self._canonical("csr")
        self._set(self.shape, found.data, found.row, found.col)

    def eliminate_zeros(self) -> None:
        """Remove explicit zeros, in place; waits for the number of elements."""
        found = self._taken(_xp.nonzero(self.data != 0)[0])
        self._set(self.shape, found.data, found.row, found.col)

    def _kept(self, mask: Any) -> Self:
        """The elements for which `mask` is true; waits for their number."""
        return self._taken(_xp.nonzero(mask)[0])

    # -- dense arrays -------------------------------------------------------------------------------------

    def _dense(self, order: Any, out: GPUArray | None) -> Any:
        summed = self._canonical("csr")
        if out is not None:
            check_out(out, self.shape, self.dtype)
        dense = _xp.zeros(self.shape, self.dtype, order=order) if out is None else out.fill(0)
        if summed.nnz:
            dense[summed.row, summed.col] = summed.data
        return dense

    def diagonal(self, k: Any = 0) -> GPUArray:
        """The `k`-th diagonal as a `GPUArray`; waits for the number of elements."""
        rows, columns = self.shape
        if k <= -rows or k >= columns:
            return _xp.zeros(0, self.dtype)
        length = min(rows + min(k, 0), columns - max(k, 0))
        found = self._kept((self.col - self.row) == k)._canonical("csr")
        result = _xp.zeros(length, self.dtype)
        if found.nnz:
            result[found.row if k >= 0 else found.col] = found.data
        return result

    def _multiply(self, other: Any) -> Any:
        other = to_device(other)
        if other.ndim > 2:
            raise ValueError("inconsistent shapes")
        shape = np.broadcast_shapes(other.shape, self.shape)
        if shape != self.shape:
            raise ValueError("inconsistent shapes")
        return self._with_data(self.data * _xp.broadcast_to(other, shape)[self.row, self.col])

    def todia(self, copy: Any = False) -> sparray:
        """Convert to diagonals; waits for their number."""
        from rtcg.sparse._dia import dia_from_coo

        return dia_from_coo(self._canonical("csr"), self._container("dia"))


def _segment_sums(values: Any, starts: Any) -> Any:
    """Sums of `values` from each of the `starts` to the next, as a product with a column of ones."""
    from rtcg.sparse._compressed import csr_array

    indptr = _xp.concatenate([starts, _xp.full(1, values.size, starts.dtype)])
    segments = csr_array._of((starts.size, 1), values, _xp.zeros(values.size, starts.dtype), indptr)
    return segments._matvec(_xp.ones(1, values.dtype)).astype(values.dtype)
