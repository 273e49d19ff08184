"""Diagonal format."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_flag
from rtcg._messages import shown
from rtcg.numpy import GPUArray
from rtcg.sparse._base import issparse, sparray
from rtcg.sparse._compressed import _is_host_sparse, _is_shape, _value_dtype, as_own
from rtcg.sparse._operands import checked_shape, index_dtype, is_one_axis, to_device

if TYPE_CHECKING:
    from typing_extensions import Self


def as_offsets(name: str, value: Any) -> np.ndarray[Any, Any]:
    """`value`, the offsets of diagonals of a matrix, as an array of integers on the host.

    Errors are SciPy's, which refer to `offsets`.
    """
    named = name != "offsets"
    offsets = np.atleast_1d(np.asarray(value.get() if isinstance(value, GPUArray) else value))
    if offsets.size and (
        offsets.dtype.kind not in "iuf" or not ((offsets == np.trunc(offsets)) & (abs(offsets) < 2**62)).all()
    ):
        raise TypeError(f"{name} is {shown(value)}; expected integers")
    if offsets.ndim != 1:
        raise ValueError("offsets array must have rank 1" + (f"; {name} has shape {offsets.shape}" if named else ""))
    if len(np.unique(offsets)) != len(offsets):
        raise ValueError("offset array contains duplicate values" + (f"; {name} is {shown(value)}" if named else ""))
    return offsets


class dia_array(sparray):
    """A sparse array of diagonals on the device; see `scipy.sparse.dia_array`.

    Parameters
    ----------
    arg1 : sparse array, dense array, tuple or shape
        An array of `scipy.sparse` or of this package, or ``(data, offsets)``, where ``data[k, j]`` is the element in
        column ``j`` and row ``j - offsets[k]``.
    shape, dtype, copy
        As in `csr_array`.
    """

    format = "dia"
    _part_names = ("data", "_host_offsets")

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None:
        arg1, copy = as_own(arg1), as_flag("copy", copy)
        if is_one_axis(arg1, shape) and not self._is_matrix:
            raise ValueError("DIA arrays don't support 1D input. Use 2D")
        if _is_host_sparse(arg1):
            arg1 = arg1.todia()
            shape, arg1 = arg1.shape, (arg1.data, arg1.offsets)
        if issparse(arg1):
            source = arg1.todia()
            self._set(source.shape, source.data, source._host_offsets)
        elif _is_shape(arg1) and shape is None:
            self._set(checked_shape(arg1), _xp.zeros((0, 0), _value_dtype(dtype or np.float64)), np.zeros(0, np.int32))
        elif isinstance(arg1, tuple):
            if shape is None:
                raise ValueError("expected a shape argument")
            data, offsets = arg1
            shape = checked_shape(shape)
            data = data if isinstance(data, GPUArray) else np.atleast_2d(np.asarray(data))
            offsets = as_offsets("offsets", offsets)
            if data.ndim != 2:
                raise ValueError("data array must have rank 2")
            if data.shape[0] != len(offsets):
                raise ValueError(
                    f"number of diagonals ({data.shape[0]}) does not match the number of offsets ({len(offsets)})"
                )
            index = index_dtype(max(*shape, int(abs(offsets).max(initial=0))))
            self._set(shape, to_device(data, _value_dtype(data.dtype)), offsets.astype(index))
        else:
            source = self._container("coo")(arg1).todia()
            self._set(source.shape, source.data, source._host_offsets)
        if dtype is not None and self.dtype != dtype:
            self.data = self.data.astype(_value_dtype(dtype))
        if copy:
            self.data = self.data.copy()

    def _set(self, shape: tuple[int, ...], data: Any, offsets: np.ndarray[Any, Any]) -> None:
        self._shape = shape
        self.data, self._host_offsets = data, offsets
        self._wide_offsets = to_device(offsets.astype(np.int64))

    @property
    def offsets(self) -> GPUArray:
        """The offsets of the diagonals, positive right of the main diagonal."""
        return to_device(self._host_offsets)

    @property
    def nnz(self) -> int:
        """The number of stored elements that are inside the array."""
        rows, columns = self.shape
        width = min(columns, self.data.shape[1])
        lengths = np.minimum(rows + self._host_offsets, width) - np.maximum(self._host_offsets, 0)
        return int(np.maximum(lengths, 0).sum())

    def _with_data(self, data: Any, copy: bool = False) -> Self:
        result = type(self).__new__(type(self))
        result._set(self.shape, data, self._host_offsets)
        return result

    def _host_copy(self, module: ModuleType) -> Any:
        return getattr(module, type(self).__name__)((self.data.get(), self._host_offsets), shape=self.shape)

    def _places(self) -> tuple[Any, Any, Any]:
        """Rows and columns of the stored elements, and whether they are inside the array."""
        count, width = self.data.shape
        rows, columns = self.shape
        index = index_dtype(max(self.shape), self._host_offsets)
        col = _xp.broadcast_to(_xp.arange(width, dtype=index), (count, width))
        row = col - to_device(self._host_offsets.astype(index)).reshape((count, 1))
        return row, col, (row >= 0) & (row < rows) & (col < columns)

    def _elements(self) -> Any:
        return _xp.where(self._places()[2], self.data, self.dtype.type(0)) if self.data.size else self.data

    def tocoo(self, copy: Any = False) -> sparray:
        """Convert elements that are not 0 to coordinates; waits for their number."""
        if not self.data.size:
            empty = _xp.empty(0, index_dtype(max(self.shape), self._host_offsets))
            return self._container("coo")._of(self.shape, _xp.empty(0, self.dtype), empty, empty)
        row, col, inside = self._places()
        wanted = _xp.nonzero((inside & (self.data != 0)).ravel())[0]
        flat = self.data.ravel()[wanted], row.ravel()[wanted], col.copy().ravel()[wanted]
        return self._container("coo")._of(self.shape, *flat)

    def _native_matrix(self) -> _native.DiaMatrix:
        data = self.data if self.data.flags.c_contiguous else self.data.copy()
        return _native.DiaMatrix(list(self.shape), data, self._wide_offsets)

    def _matvec(self, x: GPUArray, out: GPUArray | None = None, accumulate: bool = False) -> Any:
        if out is not None or self._kept_plan() is not None:
            return super()._matvec(x, out, accumulate)
        return self._native_matrix().matvec(x)

    def tocsr(self, copy: Any = False) -> sparray:
        """Convert to compressed sparse rows; sorts, and waits for the number of elements."""
        return self.tocoo().tocsr()

    def todia(self, copy: Any = False) -> sparray:
        """The array itself, or a copy."""
        return self.copy() if copy else self

    def transpose(self, axes: Any = None, copy: Any = False) -> sparray:
        """The transpose, also by diagonals."""
        return self.tocoo().transpose().todia()

    #: A diagonal has each element once.
    has_canonical_format = True


def dia_from_coo(coo: Any, container: Any) -> Any:
    """The diagonals of a coordinate array without duplicates; waits for their number."""
    rows, columns = coo.shape
    result = container.__new__(container)
    if not coo.nnz:
        result._set(coo.shape, _xp.zeros((0, 0), coo.dtype), np.zeros(0, np.int32))
        return result
    which = (coo.col - coo.row).astype(np.int64)
    offsets = _xp.unique(which)
    data = _xp.zeros((offsets.size, columns), coo.dtype)
    data[_xp.searchsorted(offsets, which), coo.col] = coo.data
    result._set(coo.shape, data, offsets.get().astype(index_dtype(max(coo.shape))))
    return result
