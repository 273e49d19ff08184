"""Linear operators on the device, with the algebra of `scipy.sparse.linalg.LinearOperator`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._messages import shown
from rtcg.numpy import GPUArray
from rtcg.sparse._base import issparse
from rtcg.sparse._operands import is_scipy_sparse, own_of_scipy, to_device


class LinearOperator:
    """A linear map of vectors on the device, defined by functions; see `scipy.sparse.linalg.LinearOperator`.

    Operators can be added, subtracted, multiplied by numbers and by each other, and raised to powers (``**``), and have
    adjoints (``H``) and transposes (``T``). ``operator @ x`` applies the map to a vector or to each column of a matrix.

    Parameters
    ----------
    shape : tuple of int
    matvec : callable
        Takes a `GPUArray` with one axis and returns another one; it should not wait.
    rmatvec : callable, optional
        The adjoint map.
    matmat, rmatmat : callable, optional
        The maps of all columns of a matrix; by default `matvec` and `rmatvec` are called for each column.
    dtype : data-type, optional
        float64 unless given.
    """

    ndim = 2

    def __init__(
        self, shape: Any, matvec: Any, rmatvec: Any = None, matmat: Any = None, dtype: Any = None, rmatmat: Any = None
    ) -> None:
        shape = tuple(shape)
        if len(shape) != 2 or not all(isinstance(n, (int, np.integer)) for n in shape):
            raise ValueError(f"invalid shape {shown(shape)} (must be 2-d)")
        self.shape = shape
        self.dtype = np.dtype(np.float64 if dtype is None else dtype)
        self._function, self._adjoint = matvec, rmatvec
        self._of_columns, self._adjoint_of_columns = matmat, rmatmat

    def _has_adjoint(self) -> bool:
        return self._adjoint is not None

    def matvec(self, x: Any) -> GPUArray:
        """Apply the map to a vector of shape (n,) or (n, 1)."""
        if x.shape not in ((self.shape[1],), (self.shape[1], 1)):
            raise ValueError("dimension mismatch")
        return self._function(x)

    def rmatvec(self, x: Any) -> GPUArray:
        """Apply the adjoint map to a vector of shape (m,) or (m, 1)."""
        if x.shape not in ((self.shape[0],), (self.shape[0], 1)):
            raise ValueError("dimension mismatch")
        if self._adjoint is None:
            raise NotImplementedError("rmatvec is not defined")
        return self._adjoint(x)

    def matmat(self, X: Any) -> GPUArray:
        """Apply the map to each column of a matrix."""
        return self._map_columns(X, self.shape[1], self._of_columns, self.matvec)

    def rmatmat(self, X: Any) -> GPUArray:
        """Apply the adjoint map to each column of a matrix."""
        return self._map_columns(X, self.shape[0], self._adjoint_of_columns, self.rmatvec)

    def _map_columns(
        self, X: Any, rows: int, of_columns: Callable[[Any], Any] | None, of_vector: Callable[[Any], Any]
    ) -> Any:
        if X.ndim != 2 or X.shape[0] != rows:
            raise ValueError(f"dimension mismatch: {self.shape}, {X.shape}")
        if of_columns is not None:
            return of_columns(X)
        return _xp.stack([of_vector(X[:, k].copy()).ravel() for k in range(X.shape[1])], axis=1)

    def dot(self, x: Any) -> Any:
        """The product with an operator, a number, a vector or a matrix."""
        if isinstance(x, LinearOperator):
            return _product(self, x)
        if np.isscalar(x):
            return _scaled(self, x)
        return self.matvec(x) if x.ndim == 1 or x.shape[1:] == (1,) else self.matmat(x)

    def __call__(self, x: Any) -> Any:
        return self @ x

    def __matmul__(self, x: Any) -> Any:
        if np.isscalar(x):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self.dot(x)

    def __mul__(self, x: Any) -> Any:
        return self.dot(x)

    def __rmul__(self, number: Any) -> Any:
        return _scaled(self, number) if np.isscalar(number) else NotImplemented

    def __truediv__(self, number: Any) -> Any:
        is_number: bool = np.isscalar(number)
        if not is_number:
            raise ValueError("Can only divide a linear operator by a scalar.")
        return _scaled(self, 1.0 / number)

    def __add__(self, other: Any) -> Any:
        return _sum(self, other) if isinstance(other, LinearOperator) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return self + (-other) if isinstance(other, LinearOperator) else NotImplemented

    def __neg__(self) -> Any:
        return _scaled(self, -1)

    def __pow__(self, power: Any) -> Any:
        if self.shape[0] != self.shape[1]:
            raise ValueError(f"square LinearOperator expected, got {self.shape}")
        if not isinstance(power, (int, np.integer)) or power < 0:
            return NotImplemented

        def repeated(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
            def apply(x: Any) -> Any:
                for _ in range(power):
                    x = function(x)
                return x

            return apply

        adjoint = repeated(self.rmatvec) if self._has_adjoint() else None
        return LinearOperator(self.shape, repeated(self.matvec), adjoint, dtype=self.dtype)

    def adjoint(self) -> LinearOperator:
        """The adjoint operator."""
        return LinearOperator(
            self.shape[::-1], self.rmatvec, self.matvec, self.rmatmat, dtype=self.dtype, rmatmat=self.matmat
        )

    @property
    def H(self) -> LinearOperator:
        """The adjoint operator."""
        return LinearOperator.adjoint(self)

    def transpose(self) -> LinearOperator:
        """The transposed operator."""
        conjugate = lambda function: lambda x: function(x.conj()).conj()  # noqa: E731
        return LinearOperator(self.shape[::-1], conjugate(self.rmatvec), conjugate(self.matvec), dtype=self.dtype)

    @property
    def T(self) -> LinearOperator:
        """The transposed operator."""
        return LinearOperator.transpose(self)

    def __repr__(self) -> str:
        return f"<{self.shape[0]}x{self.shape[1]} {type(self).__name__} with dtype={self.dtype}>"


def _sum(A: LinearOperator, B: LinearOperator) -> LinearOperator:
    if A.shape != B.shape:
        raise ValueError(f"cannot add {A} and {B}: shape mismatch")
    adjoint = (lambda x: A.rmatvec(x) + B.rmatvec(x)) if A._has_adjoint() and B._has_adjoint() else None
    dtype = np.result_type(A.dtype, B.dtype)
    return LinearOperator(A.shape, lambda x: A.matvec(x) + B.matvec(x), adjoint, dtype=dtype)


def _product(A: LinearOperator, B: LinearOperator) -> LinearOperator:
    if A.shape[1] != B.shape[0]:
        raise ValueError(f"cannot multiply {A} and {B}: shape mismatch")
    adjoint = (lambda x: B.rmatvec(A.rmatvec(x))) if A._has_adjoint() and B._has_adjoint() else None
    dtype = np.result_type(A.dtype, B.dtype)
    return LinearOperator((A.shape[0], B.shape[1]), lambda x: A.matvec(B.matvec(x)), adjoint, dtype=dtype)


def _scaled(A: LinearOperator, number: Any) -> LinearOperator:
    adjoint = (lambda x: np.conj(number) * A.rmatvec(x)) if A._has_adjoint() else None
    dtype = np.result_type(A.dtype, type(number))
    return LinearOperator(A.shape, lambda x: number * A.matvec(x), adjoint, dtype=dtype)


def of_scipy(value: Any) -> Any:
    """A sparse array or a `LinearOperator` of SciPy as one of this package, or None.

    Elements are copied to the device. The functions of an operator are called with vectors on the host, so that
    products wait.
    """
    if is_scipy_sparse(value):
        return own_of_scipy(value)
    module = sys.modules.get("scipy.sparse.linalg")
    if module is None or not isinstance(value, module.LinearOperator):
        return None

    def on_host(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: to_device(np.asarray(function(x.get())))

    def has_adjoint() -> bool:
        try:
            value.rmatvec(np.zeros(value.shape[0]))
        except (NotImplementedError, TypeError):
            return False
        return True

    forms = (on_host(value.rmatvec), on_host(value.rmatmat)) if has_adjoint() else (None, None)
    return LinearOperator(
        value.shape, on_host(value.matvec), forms[0], on_host(value.matmat), getattr(value, "dtype", None), forms[1]
    )


def as_operand(name: str, value: Any) -> Any:
    """`value`, or its device counterpart if it is SciPy's; it must be something that `aslinearoperator` takes."""
    is_function = hasattr(value, "shape") and (callable(value) or hasattr(value, "matvec"))
    if (own := of_scipy(value)) is not None:
        return own
    if issparse(value) or isinstance(value, (GPUArray, np.ndarray)) or is_function:
        return value
    raise TypeError(
        f"type not understood: {name} is {shown(value)}, which has no shape with a matvec; expected a sparse or dense "
        "array, or rtcg.sparse.linalg.LinearOperator(shape, matvec=function, dtype=dtype)"
    )


def aslinearoperator(A: Any) -> LinearOperator:
    """Convert `A` to a `LinearOperator`, or return it if it is one; does not wait for vectors.

    `A` is a sparse or dense array, or an object with `shape` and `matvec`. An array in a format other than compressed
    rows is converted once, which waits for its number of elements. SciPy's arrays are copied to the device; its
    operators are called with vectors on the host. Raises `TypeError` for anything else.
    """
    if isinstance(A, LinearOperator):
        return A
    if (own := of_scipy(A)) is not None:
        A = own
        if isinstance(A, LinearOperator):
            return A
    if issparse(A):
        csr = A.tocsr()
        return LinearOperator(
            A.shape, csr._matvec, lambda x: A.transpose().conj() @ x, lambda x: csr @ x, dtype=A.dtype
        )
    if isinstance(A, (GPUArray, np.ndarray)):
        dense = to_device(A)
        if dense.ndim != 2:
            raise ValueError(f"array must have ndim <= 2; it has shape {dense.shape}")
        product, adjoint = lambda x: dense @ x, lambda x: dense.conj().T @ x
        return LinearOperator(dense.shape, product, adjoint, product, dense.dtype, adjoint)
    function = getattr(A, "matvec", A if callable(A) else None)
    if hasattr(A, "shape") and function is not None:
        return LinearOperator(A.shape, function, getattr(A, "rmatvec", None), dtype=getattr(A, "dtype", None))
    return as_operand("A", A)
