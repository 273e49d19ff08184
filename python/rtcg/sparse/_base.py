"""The interface that all formats of sparse arrays share: everything that does not depend on how elements are stored.

A format has `_with_data`, `tocsr` and `tocoo`; operations that it does not implement are done in one of these formats.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._conversions import as_dtype
from rtcg._messages import shown
from rtcg.numpy import GPUArray
from rtcg.sparse._operands import is_scalar, refuse_host_matrix, stored_in, to_device

if TYPE_CHECKING:
    from typing_extensions import Self

    from rtcg.sparse._plan import Plan

_NAMES = {
    "csr": "Compressed Sparse Row",
    "csc": "Compressed Sparse Column",
    "coo": "COOrdinate",
    "dia": "DIAgonal",
    "bsr": "Block Sparse Row",
}


class SparseWarning(Warning):
    """A warning about sparse arrays."""


class SparseEfficiencyWarning(SparseWarning):
    """An operation rebuilds an array or makes it dense."""


class sparray:
    """A sparse array with one or two axes on the device."""

    __array_priority__ = 110
    # NumPy's operators leave arrays of this class to its own.
    __array_ufunc__ = None
    ndim = 2
    _is_matrix = False
    _plan: tuple[Any, Plan] | None = None
    #: Attributes that `_set` makes an array of, beside its shape.
    _part_names: tuple[str, ...] = ("data", "indices", "indptr")

    if TYPE_CHECKING:
        # Those of the formats.
        format: str
        data: Any
        transpose: Callable[..., Any]
        _native: Any
        _order: Any
        _shape: tuple[int, ...]
        _set: Callable[..., None]
        _with_data: Callable[..., Any]
        _host_copy: Callable[..., Any]
        _sorted: Callable[..., Any]
        _canonical: Callable[..., Any]
        _native_matrix: Callable[..., Any]

        def __getitem__(self, key: Any) -> Any: ...
        def tocoo(self, copy: Any = False) -> Any: ...
        def tocsr(self, copy: Any = False) -> Any: ...

        # Made by `_add_function`.
        def sqrt(self) -> Self: ...

        arcsin = arcsinh = arctan = arctanh = ceil = deg2rad = expm1 = floor = log1p = rad2deg = sqrt
        rint = sign = sin = sinh = tan = tanh = trunc = sqrt

    # -- what it is ---------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of rows and columns."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        return np.dtype(self.data.dtype)

    def _two_axes(self) -> Any:
        """The array itself, or an array with one axis as an array with one row."""
        return self

    @property
    def nnz(self) -> int:
        """The number of stored elements, including explicit zeros."""
        return self.data.size

    @property
    def size(self) -> int:
        """Same as `nnz`."""
        return self.nnz

    @property
    def T(self) -> sparray:
        """The transpose, which shares memory."""
        return self.transpose()

    @property
    def real(self) -> Self:
        """The real parts."""
        return self._with_data(to_device(self.data.real))

    @property
    def imag(self) -> Self:
        """The imaginary parts."""
        return self._with_data(to_device(self.data.imag))

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous; use getnnz() or shape[0]")

    def __bool__(self) -> bool:
        if self.shape == (1, 1):
            return self.count_nonzero() != 0
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all().")

    def __repr__(self) -> str:
        kind = "matrix" if self._is_matrix else "array"
        block = " (blocksize={}x{})".format(*getattr(self, "blocksize", ())) if self.format == "bsr" else ""
        return (
            f"<{_NAMES[self.format]} sparse {kind} of dtype '{self.dtype}'\n"
            f"\twith {self.nnz} stored elements{block} and shape {self.shape}>"
        )

    def getnnz(self, axis: Any = None) -> Any:
        """The number of stored elements, in total or in each column (``axis=0``) or row (``axis=1``)."""
        return self.nnz if axis is None else self.tocoo()._counts(axis)

    # -- other formats ------------------------------------------------------------------------------------

    def asformat(self, format: Any, copy: Any = False) -> sparray:
        """The array in another format ("csr", "csc", "coo", "dia", "bsr", "dok", "lil"), or the array itself unless
        `copy` is true.
        """
        if format is None or format == self.format:
            return self.copy() if copy else self
        if format not in _NAMES:
            raise ValueError(f"Format {format} is unknown: format is {shown(format)}; expected one of {list(_NAMES)}")
        return getattr(self, f"to{format}")()

    def get(self, stream: Any = None) -> Any:
        """Copy to the host, as the `scipy.sparse` array of the same format; waits.

        Requires `scipy`.
        """
        try:
            import scipy.sparse
        except ImportError as error:
            raise ImportError(
                "get() returns an array of SciPy, which is not installed: pip install scipy; toarray().get() returns a "
                "NumPy array"
            ) from error
        return self._host_copy(scipy.sparse)

    def toarray(self, order: Any = None, out: Any = None) -> GPUArray:
        """A dense `GPUArray` with the same elements; duplicates are summed."""
        return self.tocoo()._dense(order or "C", out)

    def todense(self, order: Any = None, out: Any = None) -> GPUArray:
        """Same as `toarray`."""
        return self.toarray(order, out)

    def tocsc(self, copy: Any = False) -> sparray:
        """Convert to compressed sparse columns; sorts and sums duplicates."""
        return self._container("csc")._from_transposed(self.transpose().tocsr())

    def todia(self, copy: Any = False) -> sparray:
        """Convert to diagonals."""
        return self.tocoo().todia(copy)

    def todok(self, copy: Any = False) -> sparray:
        """Convert to a dictionary on the host; waits."""
        return self._container("dok")(self)

    def tolil(self, copy: Any = False) -> sparray:
        """Convert to lists of rows on the host; waits."""
        return self._container("lil")(self)

    def tobsr(self, blocksize: Any = None, copy: Any = False) -> Any:
        """Convert to dense blocks, by default of a size up to 6x6 that is mostly full; waits for their number."""
        from rtcg.sparse._bsr import bsr_from_coo

        return bsr_from_coo(self.tocoo(), blocksize, self._container("bsr"))

    def copy(self) -> Self:
        """A copy with memory of its own."""
        return self._with_data(self.data.copy(), copy=True)

    def astype(self, dtype: Any, casting: Any = "unsafe", copy: Any = True) -> Self:
        """A copy with another dtype; stored elements are converted one by one, and duplicates are summed in the new
        dtype.
        """
        dtype = as_dtype("dtype", dtype)
        if not np.can_cast(self.dtype, dtype, casting=casting):
            raise TypeError(
                f"Cannot cast array data from {shown(self.dtype)} to {shown(dtype)} "
                f"according to the rule {shown(casting)}"
            )
        if dtype == self.dtype:
            return self.copy() if copy else self
        return self._with_data(self.data.astype(dtype))

    # -- copies -------------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._shape, *(getattr(self, name) for name in self._part_names))

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def _container(self, format: str) -> Any:
        """The class of `format`, of the same kind (array or matrix) as this one."""
        import rtcg.sparse

        return getattr(rtcg.sparse, f"{format}_{'matrix' if self._is_matrix else 'array'}")

    # -- products -----------------------------------------------------------------------------------------

    def __matmul__(self, other: Any) -> Any:
        """The product with a vector, a dense matrix or a sparse one; does not wait if the other operand is a vector."""
        # First of all what solvers repeat.
        if type(other) is GPUArray and other.ndim == 1:
            try:
                return self._matvec(other)
            except ValueError:
                if other.shape[0] == self.shape[1]:
                    raise
        if is_scalar(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self._product(other)

    def __rmatmul__(self, other: Any) -> Any:
        if is_scalar(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        refuse_host_matrix(other)
        if not isinstance(other, GPUArray):
            other = np.asarray(other)
        return self.transpose()._product(other.T).T

    def dot(self, other: Any) -> Any:
        """The product with a number, a vector, a dense matrix or a sparse one."""
        return self * other if is_scalar(other) else self._product(other)

    def _product(self, other: Any) -> Any:
        refuse_host_matrix(other)
        columns = self.shape[1]
        error = f"matmul: dimension mismatch with signature (n,k={columns}),(k="
        if issparse(other):
            from rtcg.sparse._products import multiply_sparse

            if other.shape[0] != columns:
                after = "1?)->(n,1?)" if other.ndim == 1 else "m)->(n,m)"
                raise ValueError(f"{error}{other.shape[0]},{after}")
            if other.ndim == 1:
                from rtcg.sparse._vectors import one_axis

                return one_axis(multiply_sparse(self.tocsr(), other._two_axes().T.tocsr()).tocoo().T)
            return multiply_sparse(self.tocsr(), other.tocsr())
        if not isinstance(other, GPUArray):
            other = np.asarray(other)
            if other.dtype == object:
                return NotImplemented
            other = to_device(other)
        if other.ndim == 1 or (other.ndim == 2 and other.shape[1] == 1):
            if other.shape[0] != columns:
                raise ValueError(f"{error}{other.shape[0]},1?)->(n,1?)")
            result = self._matvec(other.ravel())
            return result.reshape((-1, 1)) if other.ndim == 2 else result
        if other.ndim != 2:
            raise ValueError("could not interpret dimensions")
        if other.shape[0] != columns:
            raise ValueError(f"{error}{other.shape[0]},m)->(n,m)")
        return self._matmat(other)

    def _matmat(self, x: GPUArray) -> Any:
        return self._product_rows()._native.matmat(x)

    def _matvec(self, x: GPUArray, out: GPUArray | None = None, accumulate: bool = False) -> Any:
        plan = self._kept_plan()
        rows = self._product_rows() if plan is None else plan.matrix
        return rows._native.matvec(x, out, accumulate)

    def _product_rows(self) -> Any:
        """Compressed sparse rows for products only: duplicates may remain."""
        return self.tocsr()

    def _keep_plan(self, plan: Plan) -> None:
        """Make products with vectors follow `plan` as long as the elements are those of the present `data`."""
        self._plan = self.data, plan

    def _kept_plan(self) -> Plan | None:
        kept = self._plan
        return kept[1] if kept is not None and kept[0] is self.data else None

    # -- arithmetic ---------------------------------------------------------------------------------------

    def __neg__(self) -> Self:
        if self.dtype.kind == "b":
            raise NotImplementedError("negating a boolean sparse array is not supported")
        return self._with_data(-self.data)

    def __abs__(self) -> Self:
        summed = self._summed()
        return summed._with_data(abs(summed.data))

    def _elements(self) -> Any:
        """The stored elements at positions of the array, whose sum is the sum of its elements."""
        return self.data

    def _summed(self) -> Any:
        """The array without duplicates, as functions other than sums require; waits."""
        summed: Any = self
        if not summed.has_canonical_format:
            summed = self.copy()
            summed.sum_duplicates()
        return summed

    def conj(self, copy: Any = True) -> Self:
        """Complex conjugates."""
        return self._with_data(self.data.conj()) if self.dtype.kind == "c" else self.copy() if copy else self

    conjugate = conj

    def __mul__(self, other: Any) -> Any:
        return self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        return self.multiply(other)

    def multiply(self, other: Any) -> Any:
        """The product element by element with a number, a dense array that is broadcast, or a sparse array."""
        if is_scalar(other):
            return self._with_data(self.data * other)
        other = other._two_axes() if issparse(other) else other
        if issparse(other) and other.shape != self.shape:
            for row, column in ((self, other), (other, self)):
                if row.shape[0] == 1 and column.shape[1] == 1:
                    return column.tocsr() @ row.tocsr()
            if 1 in other.shape:
                return self.tocoo()._multiply(other.toarray()).asformat("csr")
            if 1 in self.shape:
                return other.multiply(self)
            raise ValueError("inconsistent shapes")
        return _elementwise().combine(self, other, "multiply") if issparse(other) else self.tocoo()._multiply(other)

    def __truediv__(self, other: Any) -> Any:
        if is_scalar(other):
            dtype = np.result_type(self.dtype, np.asarray(other).dtype if hasattr(other, "dtype") else type(other))
            if dtype.kind in "biu":
                return self.astype(np.float64) / other
            return self._with_data(self.data / other)
        if issparse(other):
            return self.toarray() / other.toarray()
        return self.multiply(1.0 / to_device(other))

    def __add__(self, other: Any) -> Any:
        return self._add(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._add(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._add(other, 1)

    def _add(self, other: Any, sign: int) -> Any:
        if is_scalar(other):
            if other == 0:
                return self.copy()
            verb = "adding" if sign > 0 else "subtracting"
            raise NotImplementedError(
                f"{verb} a nonzero scalar {'to' if sign > 0 else 'from'} a sparse array is not supported"
            )
        if issparse(other):
            if other.shape != self.shape:
                raise ValueError("inconsistent shapes")
            return _elementwise().combine(self, other, "add" if sign > 0 else "subtract")
        return self.toarray() + sign * to_device(other)

    def power(self, n: Any, dtype: Any = None) -> Self:
        """Each element raised to the power `n`, a positive number."""
        if not is_scalar(n):
            raise NotImplementedError("input is not scalar")
        if not n:
            raise NotImplementedError("zero power is not supported as it would densify the matrix.")
        summed = self._summed()
        data = summed.data if dtype is None else summed.data.astype(dtype)
        return summed._with_data(data**n)

    def __pow__(self, n: Any) -> Self:
        return self.power(n)

    # -- reductions ---------------------------------------------------------------------------------------

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
        """The sum of all elements, of columns (``axis=0``) or of rows (``axis=1``); waits for the sum of all bools.

        As in SciPy, duplicate bools count once in the sum of all elements, but each counts in sums along an axis.
        """
        if dtype is None:
            dtype = np.zeros(0, self.dtype).sum().dtype
        if axis is None:
            source = self._summed() if self.dtype.kind == "b" else self
            return stored_in(out, source.astype(dtype, copy=False)._elements().sum())
        if axis not in (0, 1, -1, -2):
            raise ValueError("axis out of range")
        matrix = (self if axis % 2 else self.transpose()).astype(dtype)
        return stored_in(out, matrix @ _xp.ones(matrix.shape[1], dtype))

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
        """The mean of all elements, of columns (``axis=0``) or of rows (``axis=1``), including zeros."""
        if dtype is None and self.dtype.kind in "biu":
            dtype = np.dtype(np.float64)
        count = np.prod(self.shape) if axis is None else self.shape[axis]
        source = self if dtype is None else self.astype(dtype, copy=False)
        return stored_in(out, source.sum(axis, dtype) / count)

    def trace(self, offset: Any = 0) -> GPUArray:
        """The sum of a diagonal; does not wait."""
        return self.diagonal(offset).sum()

    def diagonal(self, k: Any = 0) -> GPUArray:
        """The `k`-th diagonal as a `GPUArray`."""
        return self.tocoo().diagonal(k)

    def count_nonzero(self, axis: Any = None) -> Any:
        """The number of elements that are not 0, in total or in each column (``axis=0``) or row (``axis=1``); waits."""
        if axis is not None:
            coo = self.tocoo()._canonical("csr")
            return coo._kept(coo.data != 0)._counts(axis)
        return int((self._summed()._elements() != 0).astype(np.int64).sum().get()) if self.nnz else 0

    def nonzero(self) -> Any:
        """Rows and columns of stored elements that are not 0, in row order except for coordinate arrays; waits.

        As in SciPy, duplicates are not summed first.
        """
        coo = (self.tocsr() if self.format == "dia" else self).tocoo()
        wanted = _xp.nonzero(coo.data != 0)[0]
        if self.format == "csc":
            wanted = wanted[_xp.argsort(coo.row[wanted], kind="stable")]
        return coo.row[wanted], coo.col[wanted]

    def max(self, axis: Any = None) -> Any:
        """The largest element, or that of each column (``axis=0``) or row (``axis=1``); propagates NaN. Waits."""
        return _elementwise().extreme(self, axis, True)

    def min(self, axis: Any = None) -> Any:
        """The smallest element, or that of each column (``axis=0``) or row (``axis=1``); propagates NaN. Waits."""
        return _elementwise().extreme(self, axis, False)

    def nanmax(self, axis: Any = None) -> Any:
        """Like `max`, but ignores NaN."""
        return _elementwise().extreme(self, axis, True, True)

    def nanmin(self, axis: Any = None) -> Any:
        """Like `min`, but ignores NaN."""
        return _elementwise().extreme(self, axis, False, True)

    def argmax(self, axis: Any = None) -> Any:
        """The index of the first largest element, or that of each column (``axis=0``) or row (``axis=1``); waits."""
        return _elementwise().arg_extreme(self, axis, True)

    def argmin(self, axis: Any = None) -> Any:
        """The index of the first smallest element, or that of each column (``axis=0``) or row (``axis=1``); waits."""
        return _elementwise().arg_extreme(self, axis, False)

    # -- comparisons --------------------------------------------------------------------------------------

    __hash__ = object.__hash__

    def __eq__(self, other: Any) -> Any:
        return _elementwise().compare(self, other, operator.eq)

    def __ne__(self, other: Any) -> Any:
        return _elementwise().compare(self, other, operator.ne)

    def __lt__(self, other: Any) -> Any:
        return _elementwise().compare(self, other, operator.lt)

    def __gt__(self, other: Any) -> Any:
        return _elementwise().compare(self, other, operator.gt)

    def __le__(self, other: Any) -> Any:
        return _elementwise().compare(self, other, operator.le)

    def __ge__(self, other: Any) -> Any:
        return _elementwise().compare(self, other, operator.ge)

    def maximum(self, other: Any) -> Any:
        """The larger of each pair of elements; waits for their number."""
        return _elementwise().extreme_of_two(self, other, True)

    def minimum(self, other: Any) -> Any:
        """The smaller of each pair of elements; waits for their number."""
        return _elementwise().extreme_of_two(self, other, False)

    # -- parts and shapes ---------------------------------------------------------------------------------

    def reshape(self, *shape: Any, order: Any = "C", copy: Any = False) -> Any:
        """The elements in another shape, as a coordinate array; see `scipy.sparse.coo_array.reshape`. Does not wait."""
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)) else shape
        return self.tocoo()._reshaped(tuple(shape), order)

    def setdiag(self, values: Any, k: Any = 0) -> Any:
        """Assign a number or a vector to the `k`-th diagonal, in place; waits."""
        rows, columns = self.shape
        length = min(rows + min(k, 0), columns - max(k, 0))
        if length <= 0:
            raise ValueError("k exceeds array dimensions")
        is_vector = np.ndim(values) > 0
        values = to_device(values)
        if is_vector:
            length = min(length, values.size)
            values = values.ravel()[:length]
        from rtcg.sparse._index import _assign

        row, col = (_xp.arange(first, first + length, dtype=np.int64) for first in (max(-k, 0), max(k, 0)))
        _assign(self, _xp.broadcast_to(values.astype(self.dtype), (length,)).copy(), row, col, is_told=False)

    def _replace(self, coo: sparray) -> None:
        """Replace the elements by those of a coordinate array of the same shape in row order, in place."""
        made = coo.asformat(self.format)
        self.__dict__ = made.__dict__

    def __imul__(self, other: Any) -> Any:
        if not is_scalar(other):
            return NotImplemented
        self.data = (self.data * other).astype(self.dtype)
        return self

    def __itruediv__(self, other: Any) -> Any:
        if not is_scalar(other):
            return NotImplemented
        self.data = (self.data / other).astype(self.dtype)
        return self

    def __round__(self, ndigits: Any = 0) -> Any:
        summed = self._summed()
        return summed._with_data(_xp.round(summed.data, ndigits))


def _restored(container: type[sparray], shape: tuple[int, ...], *parts: Any) -> sparray:
    """An array from the parts in a copy or a pickle file."""
    made = container.__new__(container)
    made._set(shape, *parts)
    return made


def _elementwise() -> ModuleType:
    from rtcg.sparse import _elementwise

    return _elementwise


def _add_function(name: str) -> None:
    """Add a method that applies a function with f(0) = 0 to the stored elements."""

    def method(self: Any) -> Any:
        summed = self._summed()
        return summed._with_data(getattr(_xp, name)(summed.data))

    method.__name__ = name
    method.__qualname__ = f"sparray.{name}"
    method.__doc__ = f"`numpy.{name}` of each element; waits to check for duplicates."
    setattr(sparray, name, method)


for _name in (
    "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "deg2rad", "expm1", "floor", "log1p", "rad2deg", "rint", "sign",
    "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
):  # fmt: skip
    _add_function(_name)


def issparse(x: Any) -> bool:
    """Whether `x` is a sparse array or matrix of this package: a bool; does not wait. SciPy's are not."""
    return isinstance(x, sparray)


isspmatrix = issparse
