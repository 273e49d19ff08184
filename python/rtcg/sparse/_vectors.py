"""Sparse arrays with one axis: `coo_array` and `csr_array` of shape ``(n,)``, each a view of an array with one row.

The array with one row does the work; its results lose their first axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from rtcg import numpy as _xp
from rtcg.numpy import GPUArray
from rtcg.sparse._base import issparse
from rtcg.sparse._compressed import _is_host_sparse, csr_array
from rtcg.sparse._coo import coo_array
from rtcg.sparse._operands import is_scalar, refuse_host_matrix, shared_array, stored_in


def _two_axes_of(arg1: Any, shape: Any, dtype: Any, container: Any) -> Any:
    """The argument of a constructor of an array with one axis, as an array with one row."""
    wide = None if shape is None else (1, *shape)
    if issparse(arg1):
        return container(arg1._two_axes(), wide, dtype)
    if _is_host_sparse(arg1):
        coo = arg1.tocoo()
        return container((coo.data, (np.zeros_like(coo.col), coo.col)), shape=(1, *coo.shape), dtype=dtype)
    if isinstance(arg1, tuple) and len(arg1) == 1 and isinstance(arg1[0], (int, np.integer)):
        return container((1, *arg1), dtype=dtype)
    if isinstance(arg1, tuple) and len(arg1) == 3:
        return container(arg1, wide, dtype)
    if isinstance(arg1, tuple) and len(arg1) == 2:
        data, (col,) = arg1
        col = shared_array(col)
        col = col if isinstance(col, GPUArray) else np.asarray(col, None if len(col) else np.int64)
        row = (_xp if isinstance(col, GPUArray) else np).zeros(col.shape, col.dtype)
        return container((data, (row, col)), wide, dtype)
    dense = shared_array(arg1)
    dense = dense if isinstance(dense, GPUArray) else np.asarray(dense)
    return container(dense.reshape((1, -1)), wide, dtype)


class _OneAxis:
    """The methods that replace those of arrays with two axes."""

    ndim = 1
    __hash__ = object.__hash__

    def __init__(self: Any, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None:
        made = _two_axes_of(arg1, shape, dtype, self._container(self.format))
        self._wide = made.copy() if copy else made

    def _two_axes(self) -> Any:
        return self._wide

    def __reduce__(self) -> tuple[Any, ...]:
        return one_axis, (self._wide,)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements, stored or not."""
        return self._wide.shape[1:]

    @property
    def data(self) -> Any:
        """The stored elements."""
        return self._wide.data

    @data.setter
    def data(self, data: Any) -> Any:
        self._wide.data = data

    def _with_data(self, data: Any, copy: Any = False) -> Any:
        return one_axis(self._wide._with_data(data, copy))

    @property
    def has_canonical_format(self) -> bool:
        """Whether indices are sorted, without duplicates; waits."""
        return self._wide.has_canonical_format

    def sum_duplicates(self) -> None:
        """Sum duplicates, in place; waits for the number of elements."""
        self._wide.sum_duplicates()

    def eliminate_zeros(self) -> None:
        """Remove explicit zeros, in place; waits for the number of elements."""
        self._wide.eliminate_zeros()

    # -- other formats ------------------------------------------------------------------------------------

    def tocoo(self, copy: Any = False) -> Any:
        """Convert to coordinates."""
        found = self._wide.tocoo()
        return one_axis(found.copy() if copy else found)

    def tocsr(self, copy: Any = False) -> Any:
        """Convert to compressed form."""
        found = self._wide.tocsr()
        return one_axis(found.copy() if copy else found)

    def tocsc(self, copy: Any = False) -> NoReturn:
        """Not supported: columns need two axes."""
        raise ValueError("Cannot convert. CSC format must be 2D. Got 1D")

    def todia(self, copy: Any = False) -> NoReturn:
        """Not supported: diagonals need two axes."""
        raise ValueError("Cannot convert. DIA format must be 2D. Got 1D")

    def tobsr(self, blocksize: Any = None, copy: Any = False) -> NoReturn:
        """Not supported: blocks need two axes."""
        raise ValueError("Cannot convert a 1d sparse array to bsr format")

    def tolil(self, copy: Any = False) -> NoReturn:
        """Not supported: lists of lists need two axes."""
        raise ValueError("Cannot convert a 1d sparse array to lil format")

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        """A dense `GPUArray` with the same elements; duplicates are summed."""
        return stored_in(out, self._wide.toarray().ravel())

    def transpose(self: Any, axes: Any = None, copy: Any = False) -> Any:
        """The array itself, or a copy."""
        return self.copy() if copy else self

    def diagonal(self, k: Any = 0) -> NoReturn:
        """Not supported: a diagonal needs two axes."""
        raise ValueError("diagonal requires two dimensions")

    def nonzero(self) -> Any:
        """The indices of the elements that are not 0; waits."""
        return self._wide.nonzero()[1:]

    def reshape(self, *shape: Any, order: Any = "C", copy: Any = False) -> Any:
        """The elements in another shape with one or two axes; does not wait."""
        return self._wide.reshape(*shape, order=order)

    # -- operations ---------------------------------------------------------------------------------------

    def _product(self, other: Any) -> Any:
        refuse_host_matrix(other)
        if issparse(other):
            other = other._two_axes().T if other.ndim == 1 else other
            product = self._wide._product(other)
            return (
                product.toarray().reshape(())
                if other.shape[1:] == (1,) and other.shape == self._wide.T.shape
                else (one_axis(product.tocoo()))
            )
        other = other if isinstance(other, GPUArray) else np.asarray(other)
        product = self._wide._product(other)
        return product.reshape(()) if other.ndim == 1 else product.ravel()

    def __rmatmul__(self, other: Any) -> Any:
        if is_scalar(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        if issparse(other):
            # Python asks the right operand first where its class is derived from that of the left one.
            return other._product(self)
        other = other if isinstance(other, GPUArray) else np.asarray(other)
        return self._product(other.T)

    def _add(self, other: Any, sign: int) -> Any:
        return self._of_two("_add", other, sign)

    def _of_two(self, name: str, other: Any, *args: Any) -> Any:
        """A method with two operands, applied to arrays with one row."""
        wide = other
        if issparse(other):
            if other.ndim == 2 and name == "_add":
                raise ValueError("inconsistent shapes")
            wide = other._two_axes()
        elif not is_scalar(other):
            other = other if isinstance(other, GPUArray) else np.asarray(other)
            wide = other.reshape((1, -1)) if other.ndim == 1 else other
        result = getattr(self._wide, name)(wide, *args)
        return result if getattr(other, "ndim", 0) == 2 else _without_first_axis(result)

    def __getitem__(self: Any, key: Any) -> Any:
        from rtcg.sparse._index import getitem

        keys = key if isinstance(key, tuple) else (key,)
        if None in [part for part in keys if part is None]:
            rest = tuple(part for part in keys if part is not None) or (slice(None),)
            found = self[rest]
            return found.reshape((1, -1) if keys[0] is None else (-1, 1))
        if len(keys) > 1 and Ellipsis not in [part for part in keys if part is Ellipsis]:
            raise IndexError(f"Too many indices for array or tuple index out of range. Key {keys} needs {len(keys)}D.")
        (key,) = [part for part in keys if part is not Ellipsis] or [slice(None)]
        if issparse(key):
            key = key.toarray()
        found = getitem(self._wide, (0, key))
        return found.asformat(self.format) if issparse(found) else found

    def __setitem__(self, key: Any, values: Any) -> None:
        self._wide[0, key] = values.toarray() if issparse(values) else values

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(self.shape[0]))

    def _host_copy(self: Any, module: ModuleType) -> Any:
        if self.format == "coo":
            return module.coo_array((self.data.get(), (self.col.get(),)), shape=self.shape)
        parts = tuple(part.get() for part in (self.data, self.indices, self.indptr))
        return module.csr_array(parts, shape=self.shape)


def _add_operation(name: str) -> None:
    def method(self: Any, other: Any) -> Any:
        return self._of_two(name, other)

    method.__name__ = name
    method.__doc__ = f"`{name}`, element by element."
    setattr(_OneAxis, name, method)


for _name in (
    "multiply", "__truediv__", "maximum", "minimum", "__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__",
):  # fmt: skip
    _add_operation(_name)


def _add_reduction(name: str) -> None:
    def method(self: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
        if axis not in (None, 0, -1):
            raise ValueError("axis out of range")
        return getattr(self._wide, name)(None, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"`{name}` of all elements."
    setattr(_OneAxis, name, method)


for _name in ("sum", "mean", "max", "min", "nanmax", "nanmin", "argmax", "argmin", "count_nonzero"):
    _add_reduction(_name)


class _CooVector(_OneAxis, coo_array):
    """A sparse array with one axis, as indices and elements."""

    @property
    def row(self) -> Any:
        """Zeros, since there is one row."""
        return self._wide.row

    @property
    def col(self) -> Any:
        """The indices of the elements."""
        return self._wide.col

    @property
    def coords(self) -> tuple[Any, ...]:
        """The indices of the elements, as a tuple of one array."""
        return (self._wide.col,)


class _CsrVector(_OneAxis, csr_array):
    """A sparse array with one axis in compressed form."""

    @property
    def indices(self) -> Any:
        """The indices of the elements."""
        return self._wide.indices

    @property
    def indptr(self) -> Any:
        """0, followed by the number of elements."""
        return self._wide.indptr

    @property
    def has_sorted_indices(self) -> bool:
        """Whether indices are sorted; waits."""
        return self._wide.has_sorted_indices

    def sort_indices(self) -> None:
        """Sort the indices, in place."""
        self._wide.sort_indices()


CLASSES: dict[str, Any] = {"coo": _CooVector, "csr": _CsrVector}
for _format, _class in CLASSES.items():
    _class.__name__ = _class.__qualname__ = f"{_format}_array"


def one_axis(wide: Any) -> Any:
    """An array with one row as one with one axis; shares memory."""
    wide = wide if wide.format in CLASSES else wide.tocsr()
    made = object.__new__(CLASSES[wide.format])
    made._wide = wide
    return made


def _without_first_axis(result: Any) -> Any:
    if issparse(result):
        return one_axis(result)
    return result.ravel() if isinstance(result, GPUArray) and result.ndim == 2 else result
