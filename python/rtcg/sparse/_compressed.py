"""Compressed sparse rows and columns. The latter are the former for the transpose."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_dtype, as_flag
from rtcg.numpy import GPUArray
from rtcg.sparse._base import issparse, sparray
from rtcg.sparse._operands import checked_shape, index_dtype, is_one_axis, shared_array, to_device

if TYPE_CHECKING:
    from typing_extensions import Self

    from rtcg.sparse._plan import Plan


def _is_shape(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(isinstance(n, (int, np.integer)) for n in value)


def _shared_parts(array: Any) -> tuple[str, tuple[int, ...], tuple[Any, ...]] | None:
    """``(format, shape, parts)`` of a sparse array of CuPy or PyTorch on the device, over its memory, or None.

    The parts are the arguments of this package's class of that format.
    """
    if hasattr(array, "crow_indices") and hasattr(array, "values"):
        names = {"csr": ("col_indices", "crow_indices"), "csc": ("row_indices", "ccol_indices")}
        format = str(array.layout).rpartition("_")[2]
        if format not in names:
            raise ValueError(f"a sparse tensor of layout {array.layout}; expected sparse_coo, sparse_csr or sparse_csc")
        parts = [getattr(array, name)() for name in ("values", *names[format])]
        return format, tuple(array.shape), tuple(shared_array(part) for part in parts)
    if hasattr(array, "is_coalesced") and hasattr(array, "values"):
        coords, values = (shared_array(part) for part in (array._indices(), array._values()))
        return "coo", tuple(array.shape), (values, (coords[0], coords[1]))
    data = getattr(array, "data", None)
    if hasattr(array, "tocsr") and not issparse(array) and hasattr(data, "__cuda_array_interface__"):
        if array.format not in ("csr", "csc", "coo"):
            array = array.tocsr()
        places = ("row", "col") if array.format == "coo" else ("indices", "indptr")
        rest = tuple(shared_array(getattr(array, name)) for name in places)
        data = shared_array(array.data)
        return array.format, tuple(array.shape), (data, rest) if array.format == "coo" else (data, *rest)
    return None


def _is_host_sparse(value: object) -> bool:
    """Whether `value` is an array of `scipy.sparse`; does not import it."""
    return hasattr(value, "tocsr") and not issparse(value)


def as_own(array: Any) -> Any:
    """A sparse array of CuPy or PyTorch on the device as one of this package over the same memory; else `array`."""
    found = _shared_parts(array)
    if found is None:
        return array
    import rtcg.sparse

    format, shape, parts = found
    return getattr(rtcg.sparse, f"{format}_array")(parts, shape=shape)


def _any_array(values: Any) -> Any:
    values = shared_array(values)
    return values if isinstance(values, GPUArray) else np.asarray(values)


def _checked_indices(shape: tuple[int, ...], indices: Any, indptr: Any) -> tuple[GPUArray, GPUArray, int, int]:
    """Index arrays on the device, after a check of their contents, with the number of elements and that of the longest
    row.

    Arrays that are already on the device are checked there, which waits once.
    """
    given = [_any_array(a) for a in (indices, indptr)]
    if any(a.ndim != 1 for a in given):
        raise ValueError("data, indices, and indptr should be 1-D")
    if any(a.dtype.kind not in "iu" for a in given if a.size):
        raise TypeError(f"indices and indptr have dtypes {given[0].dtype} and {given[1].dtype}; expected integers")
    dtype = index_dtype(max(shape), *given)
    if any(isinstance(a, GPUArray) for a in given):
        indices, indptr = (to_device(a, dtype) for a in given)
        count, longest = _native.sparse_check_device(list(shape), indices, indptr)
        return indices[:count], indptr, count, longest
    host = [np.ascontiguousarray(a, dtype) for a in given]
    _native.sparse_check(list(shape), *host)
    count = int(host[1][-1])
    longest = int(np.diff(host[1]).max()) if len(host[1]) > 1 else 0
    return to_device(host[0][:count], dtype), to_device(host[1], dtype), count, longest


def _value_dtype(dtype: Any) -> Any:
    """`dtype` if a sparse array can have it. 16-bit floats, which SciPy does not support, are summed in float32."""
    dtype = as_dtype("dtype", dtype)
    if dtype == np.float16 or dtype.name == "bfloat16":
        return dtype
    if dtype.kind not in "biufc" or dtype.itemsize > 16 or dtype.name in ("longdouble", "float128"):
        raise ValueError(
            f"scipy.sparse does not support dtype {dtype}; expected bool, integers, float32/64 or complex64/128, or "
            "float16 or bfloat16"
        )
    return dtype


class _Compressed(sparray):
    """Rows, or columns (`_swap`), stored one after the other: `data` and `indices` of each, and its start `indptr`."""

    _swap: bool

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None:
        arg1, copy = as_own(arg1), as_flag("copy", copy)
        if is_one_axis(arg1, shape):
            if not self._is_matrix:
                raise ValueError(f"{self.format.upper()} arrays don't support 1D input. Use 2D")
            if issparse(arg1):
                arg1 = arg1._two_axes()
            elif _is_host_sparse(arg1):
                arg1 = arg1.reshape((1, -1))
        if issparse(arg1) or _is_host_sparse(arg1):
            source = arg1.asformat(self.format)
            shape, parts = source.shape, (source.data, source.indices, source.indptr)
            if _is_host_sparse(arg1):
                self._set_checked(checked_shape(shape), *parts, dtype)
            else:
                data = to_device(parts[0], None if dtype is None else _value_dtype(dtype))
                self._set(checked_shape(shape), data, *parts[1:])
        elif _is_shape(arg1):
            shape = checked_shape(arg1)
            index = index_dtype(max(shape))
            indptr = _xp.zeros(self._major(shape) + 1, index)
            self._set(shape, _xp.empty(0, _value_dtype(dtype or np.float64)), _xp.empty(0, index), indptr)
        elif isinstance(arg1, tuple) and len(arg1) == 2:
            source = self._container("coo")(arg1, shape, dtype).asformat(self.format)
            self._set(source.shape, source.data, source.indices, source.indptr)
        elif isinstance(arg1, tuple) and len(arg1) == 3:
            data, indices, indptr = arg1
            if shape is None:
                minor = int(indices.max()) + 1 if len(indices := _any_array(indices)) else 0
                shape = self._swap_shape((len(indptr) - 1, minor))
            self._set_checked(checked_shape(shape), data, indices, indptr, dtype)
        elif isinstance(arg1, tuple):
            raise ValueError(f"unrecognized {self.format}_array constructor input: {arg1}")
        else:
            source = self._container("coo")(arg1, shape, dtype).asformat(self.format)
            self._set(source.shape, source.data, source.indices, source.indptr)
        if shape is not None and checked_shape(shape) != self.shape:
            raise ValueError(f"inconsistent shapes: {self.shape} and {tuple(shape)}")
        if copy:
            self._set(self.shape, self.data.copy(), self.indices.copy(), self.indptr.copy())

    @classmethod
    def _of(cls, shape: tuple[int, ...], data: Any, indices: Any, indptr: Any) -> Self:
        """A matrix from arrays that are known to be valid."""
        self = cls.__new__(cls)
        self._set(shape, data, indices, indptr)
        return self

    def _set_checked(self, shape: tuple[int, ...], data: Any, indices: Any, indptr: Any, dtype: Any) -> None:
        data = _any_array(data)
        dtype = _value_dtype(data.dtype if dtype is None else dtype)
        if len(indices) != len(data):
            raise ValueError("indices and data should have the same size")
        indices, indptr, count, longest = _checked_indices(self._swap_shape(shape), indices, indptr)
        self._set(shape, to_device(data[:count], dtype), indices, indptr, longest)

    def _set(self, shape: tuple[int, ...], data: Any, indices: Any, indptr: Any, longest: int = 0) -> None:
        self._shape = shape
        self._native = _native.CsrMatrix(list(self._swap_shape(shape)), data, indices, indptr, longest)
        self._order, self._longest, self._plan = None, longest, None

    @classmethod
    def _swap_shape(cls, shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(shape)[::-1] if cls._swap else tuple(shape)

    @classmethod
    def _major(cls, shape: tuple[int, ...]) -> int:
        return shape[1] if cls._swap else shape[0]

    @property
    def data(self) -> GPUArray:
        """The stored elements."""
        return self._native.data

    @data.setter
    def data(self, data: Any) -> None:
        data = to_device(data)
        if data.shape != self.indices.shape:
            raise ValueError(f"data has shape {data.shape}; expected {self.indices.shape}")
        order = self._order
        self._set(self.shape, data, self.indices, self.indptr, self._longest)
        self._order = order

    @property
    def indices(self) -> GPUArray:
        """The column index of each element, or the row index in compressed columns."""
        return self._native.indices

    @property
    def indptr(self) -> GPUArray:
        """The start of each row (column), followed by the number of elements."""
        return self._native.indptr

    def _with_data(self, data: Any, copy: bool = False) -> Self:
        indices, indptr = (self.indices.copy(), self.indptr.copy()) if copy else (self.indices, self.indptr)
        return self._of(self.shape, data, indices, indptr)

    def _host_copy(self, module: ModuleType) -> Any:
        parts = tuple(part.get() for part in (self.data, self.indices, self.indptr))
        return getattr(module, type(self).__name__)(parts, shape=self.shape)

    def _expanded_major(self) -> Any:
        """The row (column) of each element."""
        places = _xp.arange(self.nnz, dtype=self.indptr.dtype)
        return (_xp.searchsorted(self.indptr, places, side="right") - 1).astype(self.indptr.dtype)

    def tocoo(self, copy: Any = False) -> sparray:
        """Convert to coordinates."""
        major, minor = self._expanded_major(), self.indices
        coords = (minor, major) if self._swap else (major, minor)
        return self._container("coo")._of(self.shape, self.data, *coords)

    def transpose(self, axes: Any = None, copy: Any = False) -> sparray:
        """The transpose, in the other of the two formats; shares memory."""
        other = self._container("csr" if self._swap else "csc")
        result = other._of(self.shape[::-1], self.data, self.indices, self.indptr)
        return result.copy() if copy else result

    def __getitem__(self, key: Any) -> Any:
        from rtcg.sparse._index import getitem

        return getitem(self, key)

    def __setitem__(self, key: Any, values: Any) -> Any:
        from rtcg.sparse._index import setitem

        setitem(self, key, values)

    def __iter__(self) -> Any:
        return (self[k] for k in range(self.shape[0]))

    # -- maintenance --------------------------------------------------------------------------------------

    def _rearranged(self, coo: Any) -> None:
        """This array rebuilt from coordinates of the same shape in row (column) order."""
        made = coo._compressed(self.format)
        self._set(self.shape, made.data, made.indices, made.indptr)

    @property
    def has_sorted_indices(self) -> bool:
        """Whether indices are sorted within each row (column); waits."""
        return self._ascends(0)

    @property
    def has_canonical_format(self) -> bool:
        """Whether indices are sorted within each row (column), without duplicates; waits."""
        return self._ascends(1)

    def _ascends(self, least: int) -> bool:
        return self.nnz < 2 or _native.sparse_has_sorted_indices(self._native, least > 0)

    def prune(self) -> Any:
        """Does nothing: elements after the last row are dropped when an array is made."""

    def check_format(self, full_check: Any = True) -> Any:
        """Raise ValueError if indices are out of range or `indptr` decreases; waits."""
        if full_check:
            _native.sparse_check_device(list(self._swap_shape(self.shape)), self.indices, self.indptr)

    def sort_indices(self) -> None:
        """Sort the indices of each row (column), in place."""
        self._rearranged(self.tocoo()._sorted(self.format))

    def sorted_indices(self) -> Self:
        """A copy with sorted indices in each row (column)."""
        result = self.copy()
        result.sort_indices()
        return result

    def sum_duplicates(self) -> None:
        """Sum duplicates in place, which also sorts indices; waits for the number of elements."""
        self._rearranged(self.tocoo()._canonical(self.format))

    def eliminate_zeros(self) -> None:
        """Remove explicit zeros, in place; waits for the number of elements."""
        coo: Any = self.tocoo()
        coo.eliminate_zeros()
        self._rearranged(coo)


class csr_array(_Compressed):
    """A sparse array in compressed sparse rows on the device; see `scipy.sparse.csr_array`.

    Parameters
    ----------
    arg1 : sparse array, dense array, tuple or shape
        An array of `scipy.sparse` or of this package, ``(data, indices, indptr)`` or ``(data, (row, col))``.
    shape : tuple of int, optional
        Rows and columns.
    dtype : data-type, optional
        bool, integers, float32/64 or complex64/128; that of the data unless given.
    copy : bool
        Whether the array must not share memory with `arg1`.

    Notes
    -----
    The constructor copies from the host, and waits, if `arg1` is there. Indices are checked where they are; on the
    device that waits once, for a few numbers. Duplicates are kept, as in SciPy, and count as their sum.
    """

    format = "csr"
    _swap = False

    def __new__(cls, arg1: Any = None, shape: Any = None, *args: Any, **kwargs: Any) -> Self:
        """A new array, or one with one axis if the argument has one."""
        if not cls._is_matrix and cls.ndim == 2 and is_one_axis(arg1, shape):
            from rtcg.sparse._vectors import CLASSES

            return object.__new__(CLASSES[cls.format])
        return object.__new__(cls)

    def tocsr(self, copy: Any = False) -> sparray:
        """The array itself, or a copy."""
        return self.copy() if copy else self

    def _matvec(self, x: GPUArray, out: GPUArray | None = None, accumulate: bool = False) -> Any:
        return self._native.matvec(x, out, accumulate)

    def _keep_plan(self, plan: Plan) -> None:
        # Solvers take the native matrix.
        self._native = plan.matrix._native


class csc_array(_Compressed):
    """A sparse array in compressed sparse columns on the device; see `scipy.sparse.csc_array` and `csr_array`.

    The first product sorts elements by rows and keeps their order for later products, none of which depends on
    scheduling; `indices` and `indptr` must not be changed in place.
    """

    format = "csc"
    _swap = True

    @classmethod
    def _from_transposed(cls, csr: csr_array) -> Self:
        """The transpose of `csr`; shares memory."""
        return cls._of(csr.shape[::-1], csr.data, csr.indices, csr.indptr)

    def tocsc(self, copy: Any = False) -> sparray:
        """The array itself, or a copy."""
        return self.copy() if copy else self

    def tocsr(self, copy: Any = False) -> sparray:
        """Convert to compressed sparse rows; the first call sorts by rows."""
        if self._order is None:
            places = _xp.arange(self.nnz, dtype=np.int64)
            sorted_places = self.tocoo()._with_data(places)._sorted_rows()._compressed("csr")
            self._order = sorted_places.data, sorted_places.indices, sorted_places.indptr
        order, indices, indptr = self._order
        return self._container("csr")._of(self.shape, self.data[order], indices, indptr)
