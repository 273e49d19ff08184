"""What all formats of sparse arrays have in common: everything that does not depend on how elements are stored.

A format has `_with_data`, `tocsr` and `tocoo`; what it does not do itself is done in one of these formats.
"""

from typing import Any

import numpy as np
from typing_extensions import Self

from rtcg.numpy import GPUArray

def index_dtype(maximum: Any, *arrays: Any) -> np.dtype[Any]:
    """The dtype of indices up to `maximum`: int64 if an array has it already or int32 is too small."""

def checked_shape(shape: Any) -> tuple[int, int]:
    """`shape` as two integers."""

def to_device(values: Any, dtype: Any = None) -> GPUArray:
    """`values` as a contiguous array on the device."""

def is_scalar(value: Any) -> bool:
    """Whether `value` is a number."""

class sparray:
    """A sparse array of two axes on the device."""

    __array_priority__: int
    __array_ufunc__: None
    ndim: int
    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
    @property
    def nnz(self) -> int:
        """The number of stored elements, explicit zeros among them."""
    @property
    def size(self) -> int:
        """As `nnz`."""
    @property
    def T(self) -> sparray:
        """The transpose, which shares memory."""
    @property
    def real(self) -> Self:
        """The real parts."""
    @property
    def imag(self) -> Self:
        """The imaginary parts."""
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __repr__(self) -> str: ...
    def getnnz(self) -> int:
        """As `nnz`."""
    def asformat(self, format: Any, copy: Any = False) -> sparray:
        """The same array in another format: "csr", "csc", "coo" or "dia"; itself if it has that and `copy` is false."""
    def get(self, stream: Any = None) -> Any:
        """A copy on the host, as the array of `scipy.sparse` of the same format; waits.

        `scipy` has to be installed.
        """
    def toarray(self, order: Any = None, out: Any = None) -> GPUArray:
        """A dense `GPUArray` of the same elements; those of one place are added up."""
    def todense(self, order: Any = None, out: Any = None) -> GPUArray:
        """As `toarray`."""
    def tocsc(self, copy: Any = False) -> sparray:
        """In compressed sparse columns; sorts, and adds up elements of one place."""
    def todia(self, copy: Any = False) -> sparray:
        """By diagonals."""
    def copy(self) -> Self:
        """A copy in memory of its own."""
    def astype(self, dtype: Any, casting: Any = "unsafe", copy: Any = True) -> Self:
        """A copy with another dtype."""
    def __matmul__(self, other: Any) -> Any:
        """The product with a vector, a dense matrix or a sparse one; does not wait where the other one is a vector."""
    def __rmatmul__(self, other: Any) -> Any: ...
    def dot(self, other: Any) -> Any:
        """The product with a number, a vector, a dense matrix or a sparse one."""
    def __neg__(self) -> Self: ...
    def __abs__(self) -> Self: ...
    def conj(self, copy: Any = True) -> Self:
        """Complex conjugates."""
    conjugate = conj
    def __mul__(self, other: Any) -> Any: ...
    def __rmul__(self, other: Any) -> Any: ...
    def multiply(self, other: Any) -> Any:
        """The product element by element with a number, a dense array that is broadcast, or a sparse array."""
    def __truediv__(self, other: Any) -> Any: ...
    def __add__(self, other: Any) -> Any: ...
    def __sub__(self, other: Any) -> Any: ...
    def __rsub__(self, other: Any) -> Any: ...
    def power(self, n: Any, dtype: Any = None) -> Self:
        """Each element to the power of `n`, a number above 0."""
    def __pow__(self, n: Any) -> Self: ...
    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
        """The sum of all elements, of columns (``axis=0``) or of rows (``axis=1``); does not wait."""
    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
        """The mean of all elements, of columns (``axis=0``) or of rows (``axis=1``), with those of zeros."""
    def trace(self, offset: Any = 0) -> GPUArray:
        """The sum of a diagonal; does not wait."""
    def diagonal(self, k: Any = 0) -> GPUArray:
        """The elements of the `k`-th diagonal as a `GPUArray`."""
    def count_nonzero(self) -> int:
        """The number of elements that are not 0; waits."""
    def nonzero(self) -> tuple[GPUArray, GPUArray]:
        """Rows and columns of the elements that are not 0; waits."""

def issparse(x: Any) -> bool:
    """Whether `x` is a sparse array or matrix of this package."""

isspmatrix = issparse
