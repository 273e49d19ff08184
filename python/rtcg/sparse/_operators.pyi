"""Linear operators on the device, with the algebra of `scipy.sparse.linalg.LinearOperator`."""

from typing import Any

from rtcg.numpy import GPUArray

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

    ndim: int
    def __init__(
        self, shape: Any, matvec: Any, rmatvec: Any = None, matmat: Any = None, dtype: Any = None, rmatmat: Any = None
    ) -> None: ...
    def matvec(self, x: Any) -> GPUArray:
        """Apply the map to a vector of shape (n,) or (n, 1)."""
    def rmatvec(self, x: Any) -> GPUArray:
        """Apply the adjoint map to a vector of shape (m,) or (m, 1)."""
    def matmat(self, X: Any) -> GPUArray:
        """Apply the map to each column of a matrix."""
    def rmatmat(self, X: Any) -> GPUArray:
        """Apply the adjoint map to each column of a matrix."""
    def dot(self, x: Any) -> Any:
        """The product with an operator, a number, a vector or a matrix."""
    def __call__(self, x: Any) -> Any: ...
    def __matmul__(self, x: Any) -> Any: ...
    def __mul__(self, x: Any) -> Any: ...
    def __rmul__(self, number: Any) -> Any: ...
    def __truediv__(self, number: Any) -> Any: ...
    def __add__(self, other: Any) -> Any: ...
    def __sub__(self, other: Any) -> Any: ...
    def __neg__(self) -> Any: ...
    def __pow__(self, power: Any) -> Any: ...
    def adjoint(self) -> LinearOperator:
        """The adjoint operator."""
    @property
    def H(self) -> LinearOperator: ...
    def transpose(self) -> LinearOperator:
        """The transposed operator."""
    @property
    def T(self) -> LinearOperator: ...
    def __repr__(self) -> str: ...

def aslinearoperator(A: Any) -> LinearOperator:
    """Convert `A` to a `LinearOperator`, or return it if it is one; does not wait for vectors.

    `A` is a sparse or dense array, or an object with `shape` and `matvec`. An array in a format other than compressed
    rows is converted once, which waits for its number of elements. SciPy's arrays are copied to the device; its
    operators are called with vectors on the host. Raises `TypeError` for anything else.
    """
