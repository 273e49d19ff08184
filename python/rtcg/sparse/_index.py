"""Reading and writing parts of sparse arrays by index, with SciPy's semantics."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg.numpy import GPUArray
from rtcg.sparse._base import SparseEfficiencyWarning, issparse
from rtcg.sparse._operands import MAX_INT32_ELEMENTS, to_device


def _is_int(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


def _is_mask(value: Any) -> bool:
    return isinstance(value, (np.ndarray, GPUArray)) and value.dtype == np.bool_ and value.ndim == 2


def _split(key: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """An index as two selectors: each an int, a range, or a device array of integers that are in range."""
    if issparse(key) or _is_mask(key):
        if tuple(key.shape) != tuple(shape):
            raise IndexError(f"bool index 0 has shape {tuple(shape)} instead of {tuple(key.shape)}")
        return key.nonzero() if issparse(key) else tuple(_xp.nonzero(to_device(key)))
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(part is None for part in keys):
        raise IndexError("Indexing that leads to >2D is not supported: None is not an index of a sparse array")
    if any(part is Ellipsis for part in keys):
        where = next(k for k, part in enumerate(keys) if part is Ellipsis)
        keys[where : where + 1] = [slice(None)] * (3 - len(keys))
    if len(keys) > 2:
        raise IndexError(
            f"Too many indices for array or tuple index out of range. Key {tuple(keys)} needs {len(keys)}D. Array is 2D"
        )
    keys += [slice(None)] * (2 - len(keys))
    return tuple(_selector(part, axis, shape[axis]) for axis, part in enumerate(keys))


def _selector(key: Any, axis: int, n: int) -> Any:
    if isinstance(key, slice):
        return range(*key.indices(n))
    if _is_int(key):
        if not -n <= key < n:
            raise IndexError(f"index ({key}) out of range")
        return int(key) % n
    is_device = isinstance(key, GPUArray)
    array = key if is_device else np.asarray(key)
    if array.dtype == bool:
        if array.shape != (n,):
            raise IndexError(f"bool index {axis} has shape ({n},) instead of {array.shape}")
        return to_device(array.nonzero()[0], np.int64) if not is_device else _xp.nonzero(array)[0].astype(np.int64)
    if array.dtype.kind not in "iu" and array.size:
        raise IndexError(f"an index has dtype {array.dtype}; expected integers, bool, or a slice")
    if array.ndim > 2:
        raise IndexError(f"an index array has {array.ndim} axes; expected one or two")
    if array.size:
        wide = to_device(array, np.int64).ravel()
        extremes: Any = _native.sparse_index_extremes(wide) if is_device else (array.min(), array.max())
        low, high = extremes
        if high >= n or low < -n:
            raise IndexError(f"index ({high if high >= n else low}) out of range")
    wide = to_device(array, np.int64)
    if not array.ndim:
        return int(wide.get()) % n
    return _xp.where(wide < 0, wide + n, wide) if array.size and low < 0 else wide


def _as_array(selector: Any) -> GPUArray:
    """A selector as an array of indices with one or two axes, or without axes for a number."""
    if isinstance(selector, range):
        return _xp.arange(selector.start, selector.stop, selector.step, dtype=np.int64)
    return selector if isinstance(selector, GPUArray) else to_device(np.asarray(selector), np.int64)


def _is_outer(rows: Any, cols: Any) -> bool:
    """Whether each row is combined with each column."""
    if isinstance(rows, range) or isinstance(cols, range):
        return True
    arrays = isinstance(rows, GPUArray) and isinstance(cols, GPUArray)
    return not arrays or (rows.ndim == cols.ndim == 2 and rows.shape[1] == 1 and cols.shape[0] == 1)


def getitem(a: Any, key: Any) -> Any:
    """`a[key]`: an element as a `GPUArray`, or a sparse array in the format of `a`; rows and columns are `coo_array`s.

    Access to elements does not wait; other results wait for their number of elements if they need it.
    """
    rows, cols = _split(key, a.shape)
    if _is_int(rows) and _is_int(cols):
        return _element(a, rows, cols)
    if not _is_outer(rows, cols):
        rows, cols = _xp.broadcast_arrays(rows, cols)
        values = _values(a, rows.ravel(), cols.ravel())
        if rows.ndim == 2:
            return a._container(a.format)(values.reshape(rows.shape))
        if a._is_matrix:
            return values.reshape((1, -1))
        return a._container("coo")(values) if a.format == "coo" else values
    picked = _outer(a, *(s.ravel() if isinstance(s, GPUArray) else s for s in (rows, cols)))
    if a._is_matrix or not (_is_int(rows) or _is_int(cols)):
        return picked
    from rtcg.sparse._vectors import one_axis

    picked = picked.tocoo()
    return one_axis(picked if _is_int(rows) else picked.T)


def _element(a: Any, row: int, col: int) -> GPUArray:
    coo = a.tocoo()
    if not coo.nnz:
        return _xp.zeros((), a.dtype)
    there = _xp.where((coo.row == row) & (coo.col == col), coo.data, coo.data.dtype.type(0))
    return (there.any() if a.dtype == bool else there.sum()).astype(a.dtype)


def _values(a: Any, rows: Any, cols: Any) -> GPUArray:
    """The elements at some positions, with zeros for those that are not stored."""
    coo = a.tocoo()._canonical("csr")
    if not coo.nnz or not rows.size:
        return _xp.zeros(rows.size, a.dtype)
    keys, wanted = (r.astype(np.int64) * a.shape[1] + c for r, c in ((coo.row, coo.col), (rows, cols)))
    at = _xp.minimum(_xp.searchsorted(keys, wanted), coo.nnz - 1)
    return _xp.where(keys[at] == wanted, coo.data[at], coo.data.dtype.type(0))


def _outer(a: Any, rows: Any, cols: Any) -> Any:
    """The submatrix of some rows and columns."""
    if a.format == "csc":
        return _outer(a.T, cols, rows).T
    csr = _take_columns(_take_rows(a.tocsr(), rows), cols)
    return csr.asformat(a.format)


def _take_rows(csr: Any, rows: Any) -> Any:
    if isinstance(rows, int):
        rows = range(rows, rows + 1)
    if rows == range(csr.shape[0]) if isinstance(rows, range) else False:
        return csr
    if isinstance(rows, range) and rows.step == 1 and len(rows):
        begin, end = csr.indptr[rows.start : rows.stop + 1 : len(rows)].get().tolist()
        indptr = csr.indptr[rows.start : rows.stop + 1] - begin
        return csr._of((len(rows), csr.shape[1]), csr.data[begin:end].copy(), csr.indices[begin:end].copy(), indptr)
    rows = _as_array(rows)
    index = csr.indptr.dtype
    if not rows.size or not csr.nnz:
        return csr._container("csr")((rows.size, csr.shape[1]), dtype=csr.dtype)
    lengths = (csr.indptr[1:] - csr.indptr[:-1])[rows].astype(np.int64)
    ends = _xp.cumsum(lengths)
    total = int(ends[-1].get())
    index = np.dtype(np.int64) if total > MAX_INT32_ELEMENTS else index
    places = _xp.arange(total, dtype=np.int64)
    row = _xp.searchsorted(ends, places, side="right")
    source = csr.indptr[rows][row] + places - (ends - lengths)[row]
    indptr = _xp.concatenate([_xp.zeros(1, index), ends.astype(index)])
    return csr._of((rows.size, csr.shape[1]), csr.data[source], csr.indices[source].astype(index), indptr)


def _take_columns(csr: Any, cols: Any) -> Any:
    if isinstance(cols, int):
        cols = range(cols, cols + 1)
    if isinstance(cols, range):
        return csr if cols == range(csr.shape[1]) else _take_column_range(csr, cols)
    # Each column goes to those places where it is wanted: the product with a matrix of ones.
    count = cols.size
    index = csr.indices.dtype
    ones = _xp.ones(count, csr.dtype)
    choice = csr._container("coo")._of((csr.shape[1], count), ones, cols.astype(index), _xp.arange(count, dtype=index))
    return csr @ choice.tocsr()


def _take_column_range(csr: Any, cols: range) -> Any:
    coo = csr.tocoo()
    shape = csr.shape[0], len(cols)
    if not len(cols) or not coo.nnz:
        return csr._container("csr")(shape, dtype=csr.dtype)
    low, high = min(cols[0], cols[-1]), max(cols[0], cols[-1])
    there = (coo.col >= low) & (coo.col <= high)
    if abs(cols.step) > 1:
        there &= (coo.col - low) % abs(cols.step) == 0
    kept = coo._kept(there)
    moved = (kept.col - low) // abs(cols.step)
    kept = coo._of(shape, kept.data, kept.row, moved if cols.step > 0 else len(cols) - 1 - moved)
    return (kept if cols.step > 0 else kept._sorted("csr"))._compressed("csr")


def setitem(a: Any, key: Any, values: Any) -> Any:
    """`a[key] = values`, in place: rebuilds the array, with a warning if it gets more elements; waits."""
    rows, cols = _split(key, a.shape)
    is_outer = _is_outer(rows, cols)
    rows, cols = (_as_array(selector) for selector in (rows, cols))
    if is_outer and rows.ndim == cols.ndim == 1:
        rows, cols = rows.reshape((-1, 1)), cols.reshape((1, -1))
    rows, cols = _xp.broadcast_arrays(rows, cols)
    values = to_device(values.toarray() if issparse(values) else values)
    if values.ndim == 2 and rows.ndim == 1 and values.shape[0] == 1:
        values = values.ravel()
    try:
        values = _xp.broadcast_to(values, rows.shape)
    except ValueError:
        raise ValueError("shape mismatch in assignment") from None
    values, rows, cols = (part.copy("C").ravel() for part in (values.astype(a.dtype), rows, cols))
    _assign(a, values, rows, cols)


def _assign(a: Any, values: Any, rows: Any, cols: Any, is_told: bool = True) -> None:
    """Assign values to positions, where the last value of duplicates counts; warns of new elements if `is_told`."""
    if not rows.size:
        return
    coo = a.tocoo()._canonical("csr")
    index = coo.row.dtype
    joined = coo._of(
        a.shape,
        *(
            _xp.concatenate(pair)
            for pair in ((coo.data, values), (coo.row, rows.astype(index)), (coo.col, cols.astype(index)))
        ),
    )._sorted("csr")
    # Sorting is stable, so that the last of those in one place is the newest.
    row, col = joined.row, joined.col
    is_last = _xp.concatenate([(row[1:] != row[:-1]) | (col[1:] != col[:-1]), _xp.ones(1, bool)])
    result = joined._kept(is_last)
    if is_told and result.nnz > coo.nnz and a.format in ("csr", "csc"):
        warnings.warn(
            f"Changing the sparsity structure of a {type(a).__name__} is expensive. lil and dok are more efficient.",
            SparseEfficiencyWarning,
            stacklevel=4,
        )
    a._replace(result)
