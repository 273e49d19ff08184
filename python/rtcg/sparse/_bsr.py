"""Block sparse rows: dense blocks in compressed sparse rows."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_flag
from rtcg.numpy import GPUArray
from rtcg.sparse._base import issparse, sparray
from rtcg.sparse._compressed import _checked_indices, _is_host_sparse, _is_shape, _value_dtype, as_own
from rtcg.sparse._operands import checked_shape, index_dtype, is_one_axis, to_device

if TYPE_CHECKING:
    from typing_extensions import Self

    from rtcg.sparse._coo import coo_array


class bsr_array(sparray):
    """A sparse array of dense blocks on the device; see `scipy.sparse.bsr_array`.

    Parameters
    ----------
    arg1 : sparse array, dense array, tuple or shape
        An array of `scipy.sparse` or of this package, ``(data, indices, indptr)`` or ``(data, (row, col))``. ``data``
        has three axes: blocks, rows of a block, columns of a block.
    shape, dtype, copy
        As in `csr_array`.
    blocksize : tuple of int, optional
        Rows and columns of a block, which divide the shape; by default those that `tobsr` chooses.

    Notes
    -----
    A product reads one index per block. The constructor waits as that of `csr_array` does.
    """

    format = "bsr"

    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, blocksize: Any = None
    ) -> None:
        arg1, copy = as_own(arg1), as_flag("copy", copy)
        if is_one_axis(arg1, shape) and not self._is_matrix:
            raise ValueError("BSR arrays don't support 1D input. Use 2D")
        if _is_shape(arg1):
            block = _checked_block(arg1, (1, 1) if blocksize is None else blocksize)
            rows = arg1[0] // block[0]
            index = index_dtype(max(arg1))
            data = _xp.zeros((0, *block), _value_dtype(dtype or np.float64))
            self._set(checked_shape(arg1), data, _xp.empty(0, index), _xp.zeros(rows + 1, index))
        elif isinstance(arg1, tuple) and len(arg1) == 3:
            self._set_parts(*arg1, shape, dtype, blocksize)
        else:
            if _is_host_sparse(arg1) and arg1.format == "bsr" and blocksize is None:
                self._set_parts(arg1.data, arg1.indices, arg1.indptr, arg1.shape, dtype, None)
            else:
                source = arg1 if issparse(arg1) else self._container("csr")(arg1, shape, dtype)
                source = source.tobsr(blocksize)
                self._set(source.shape, source.data, source.indices, source.indptr)
        if shape is not None and checked_shape(shape) != self.shape:
            raise ValueError(f"inconsistent shapes: {self.shape} and {tuple(shape)}")
        if dtype is not None and self.dtype != dtype:
            self.data = self.data.astype(_value_dtype(dtype))
        if copy:
            self._set(self.shape, self.data.copy(), self.indices.copy(), self.indptr.copy())

    def _set_parts(self, data: Any, indices: Any, indptr: Any, shape: Any, dtype: Any, blocksize: Any) -> None:
        data = data if isinstance(data, GPUArray) else np.asarray(data)
        if data.ndim != 3:
            raise ValueError(f"BSR data must be 3-dimensional, got shape={data.shape}")
        block = data.shape[1:]
        if blocksize is not None and tuple(blocksize) != tuple(block):
            raise ValueError(f"mismatching blocksize={tuple(blocksize)} vs {tuple(block)}")
        if shape is None:
            host = np.asarray(indices.get() if isinstance(indices, GPUArray) else indices)
            columns = int(host.max()) + 1 if host.size else 0
            shape = (len(indptr) - 1) * block[0], columns * block[1]
        shape = checked_shape(shape)
        _checked_block(shape, block)
        if len(indices) != len(data):
            raise ValueError("indices and data should have the same size")
        of_blocks = shape[0] // block[0], shape[1] // block[1]
        indices, indptr, count, _ = _checked_indices(of_blocks, indices, indptr)
        data = to_device(data[:count], _value_dtype(data.dtype if dtype is None else dtype))
        self._set(shape, data, indices, indptr)

    def _set(self, shape: tuple[int, ...], data: Any, indices: Any, indptr: Any) -> None:
        self._shape, self._plan = shape, None
        data = to_device(data)
        self._native = _native.BsrMatrix(list(shape), data, indices, indptr)

    @classmethod
    def _of(cls, shape: tuple[int, ...], data: Any, indices: Any, indptr: Any) -> Self:
        """A matrix from arrays that are known to be valid."""
        self = cls.__new__(cls)
        self._set(shape, data, indices, indptr)
        return self

    @property
    def data(self) -> Any:
        """The stored blocks, as an array with three axes."""
        return self._native.data

    @data.setter
    def data(self, data: Any) -> Any:
        data = to_device(data)
        if data.shape != self.data.shape:
            raise ValueError(f"data has shape {data.shape}; expected {self.data.shape}")
        self._set(self.shape, data, self.indices, self.indptr)

    @property
    def indices(self) -> Any:
        """The column indices of blocks."""
        return self._native.indices

    @property
    def indptr(self) -> Any:
        """The start of each row of blocks, followed by the number of blocks."""
        return self._native.indptr

    @property
    def blocksize(self) -> Any:
        """Rows and columns of a block."""
        return self.data.shape[1:]

    def _with_data(self, data: Any, copy: bool = False) -> Self:
        indices, indptr = (self.indices.copy(), self.indptr.copy()) if copy else (self.indices, self.indptr)
        return self._of(self.shape, to_device(data), indices, indptr)

    def _host_copy(self, module: ModuleType) -> Any:
        parts = tuple(part.get() for part in (self.data, self.indices, self.indptr))
        return getattr(module, type(self).__name__)(parts, shape=self.shape)

    def _pattern(self) -> Any:
        """A matrix with one element per block, at the position of the block."""
        r, c = self.blocksize
        shape = self.shape[0] // r, self.shape[1] // c
        places = _xp.arange(self.data.shape[0], dtype=np.int64)
        return self._container("csr")._of(shape, places, self.indices, self.indptr)

    def _blocks(self) -> coo_array:
        return self._pattern().tocoo()

    def _of_blocks(self, blocks: Any, data: Any) -> Self:
        """A matrix from coordinates in row order and the blocks at these positions."""
        csr = blocks._compressed("csr")
        return self._of(self.shape, to_device(data), csr.indices, csr.indptr)

    def tocoo(self, copy: Any = False) -> Any:
        """Convert to coordinates, including zeros within blocks."""
        r, c = self.blocksize
        index = index_dtype(max(self.shape), self.indices)
        blocks = self._blocks()
        row = blocks.row.astype(index).reshape((-1, 1, 1)) * r + _xp.arange(r, dtype=index).reshape((1, r, 1))
        col = blocks.col.astype(index).reshape((-1, 1, 1)) * c + _xp.arange(c, dtype=index).reshape((1, 1, c))
        flat = [_xp.broadcast_to(part, self.data.shape).copy().ravel() for part in (row, col)]
        return self._container("coo")._of(self.shape, self.data.ravel(), *flat)

    def tocsr(self, copy: Any = False) -> Any:
        """Convert to compressed sparse rows; sorts and sums duplicates; waits for the number of elements."""
        return self.tocoo().tocsr()

    def tobsr(self, blocksize: Any = None, copy: Any = False) -> Any:
        """The array itself, a copy, or, for another `blocksize`, a converted array."""
        if blocksize is None or tuple(blocksize) == tuple(self.blocksize):
            return self.copy() if copy else self
        return self.tocsr().tobsr(blocksize)

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        """The transpose, with transposed blocks; sorts blocks."""
        blocks = self._blocks().transpose()._sorted("csr")
        data = self.data[blocks.data].transpose((0, 2, 1))
        csr = blocks._compressed("csr")
        return self._of(self.shape[::-1], to_device(data), csr.indices, csr.indptr)

    def _matvec(self, x: GPUArray, out: GPUArray | None = None, accumulate: bool = False) -> Any:
        if self._kept_plan() is not None:
            return super()._matvec(x, out, accumulate)
        return self._native.matvec(x, out, accumulate)

    def _matmat(self, x: GPUArray) -> Any:
        return self._native.matmat(x)

    @property
    def has_sorted_indices(self) -> Any:
        """Whether blocks are sorted within each row; waits."""
        return self._pattern().has_sorted_indices

    @property
    def has_canonical_format(self) -> Any:
        """Whether blocks are sorted within each row, without duplicates; waits."""
        return self._pattern().has_canonical_format

    def sort_indices(self) -> Any:
        """Sort the blocks of each row, in place."""
        blocks = self._blocks()._sorted("csr")
        made = self._of_blocks(blocks, self.data[blocks.data])
        self._set(self.shape, made.data, made.indices, made.indptr)

    def sum_duplicates(self) -> Any:
        """Sum duplicate blocks, in place; waits for their number."""
        made = self.tocsr().tobsr(self.blocksize)
        self._set(self.shape, made.data, made.indices, made.indptr)

    def eliminate_zeros(self) -> Any:
        """Remove blocks that have only zeros, in place; waits for their number."""
        if self.nnz:
            kept = _xp.nonzero((self.data != 0).any(axis=(1, 2)))[0]
            blocks = self._blocks()._taken(kept)
            made = self._of_blocks(blocks, self.data[kept])
            self._set(self.shape, made.data, made.indices, made.indptr)


def _checked_block(shape: Any, blocksize: Any) -> tuple[int, int]:
    """Two numbers that divide the two lengths of `shape`."""
    try:
        r, c = (int(length) for length in blocksize)
    except (TypeError, ValueError):
        raise ValueError(f"invalid blocksize {blocksize}") from None
    if r < 1 or c < 1 or shape[0] % r or shape[1] % c:
        raise ValueError(f"invalid blocksize {blocksize}")
    return r, c


def _block_keys(coo: Any, block: tuple[int, int]) -> Any:
    """The number of the block of each element, counted row by row of blocks."""
    width = max(1, coo.shape[1] // block[1])
    return (coo.row // block[0]).astype(np.int64) * width + coo.col // block[1]


def block_fill(coo: Any, block: Any) -> Any:
    """The fraction of blocks of a size that `coo`'s elements fill; 0 if the size does not divide the shape. Waits."""
    if not coo.nnz or coo.shape[0] % block[0] or coo.shape[1] % block[1]:
        return 0.0
    return coo.nnz / (block[0] * block[1] * _xp.unique(_block_keys(coo, block)).size)


def estimate_blocksize(coo: Any, efficiency: Any = 0.7) -> Any:
    """The block size up to 6x6 that SciPy's `tobsr` would choose. Waits."""
    high = (1 + efficiency) / 2
    fill = {n: block_fill(coo, (n, n)) for n in (2, 3)}
    if fill[2] > high and fill[3] > high:
        n = 6 if block_fill(coo, (6, 6)) > efficiency else 3
    elif block_fill(coo, (4, 4)) > efficiency:
        n = 4
    else:
        n = next((n for n in (3, 2) if fill[n] > efficiency), 1)
    return n, n


def bsr_from_coo(coo: Any, blocksize: Any, container: Any) -> Any:
    """The blocks of a coordinate array; waits for their number."""
    coo = coo._canonical("csr")
    r, c = _checked_block(coo.shape, estimate_blocksize(coo) if blocksize is None else blocksize)
    shape = coo.shape[0] // r, coo.shape[1] // c
    index = index_dtype(max(coo.shape), coo.row)
    if not coo.nnz:
        parts = _xp.zeros((0, r, c), coo.dtype), _xp.empty(0, index), _xp.zeros(shape[0] + 1, index)
        return container._of(coo.shape, *parts)
    keys = _block_keys(coo, (r, c))
    found = _xp.unique(keys)
    data = _xp.zeros((found.size, r, c), coo.dtype)
    data[_xp.searchsorted(found, keys), coo.row % r, coo.col % c] = coo.data
    starts = _xp.searchsorted(found, _xp.arange(shape[0] + 1, dtype=np.int64) * max(1, shape[1]))
    return container._of(coo.shape, data, (found % max(1, shape[1])).astype(index), starts.astype(index))
