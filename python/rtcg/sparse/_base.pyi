"""The interface that all formats of sparse arrays share: everything that does not depend on how elements are stored.

A format has `_with_data`, `tocsr` and `tocoo`; operations that it does not implement are done in one of these formats.
"""

from typing import Any

import numpy as np
from typing_extensions import Self

from rtcg.numpy import GPUArray

class SparseWarning(Warning):
    """A warning about sparse arrays."""

class SparseEfficiencyWarning(SparseWarning):
    """An operation rebuilds an array or makes it dense."""

class sparray:
    """A sparse array with one or two axes on the device."""

    __array_priority__: int
    __array_ufunc__: None
    ndim: int
    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of rows and columns."""
    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
    @property
    def nnz(self) -> int:
        """The number of stored elements, including explicit zeros."""
    @property
    def size(self) -> int:
        """Same as `nnz`."""
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
    def asformat(self, format: Any, copy: Any = False) -> sparray:
        """The array in another format ("csr", "csc", "coo", "dia", "bsr", "dok", "lil"), or the array itself unless
        `copy` is true.
        """
    def get(self, stream: Any = None) -> Any:
        """Copy to the host, as the `scipy.sparse` array of the same format; waits.

        Requires `scipy`.
        """
    def toarray(self, order: Any = None, out: Any = None) -> GPUArray:
        """A dense `GPUArray` with the same elements; duplicates are summed."""
    def todense(self, order: Any = None, out: Any = None) -> GPUArray:
        """Same as `toarray`."""
    # Not of this class but of its formats, which have most of them.
    def __getitem__(self, key: Any) -> Any: ...
    def tocsr(self, copy: Any = False) -> Any: ...
    def tocoo(self, copy: Any = False) -> Any: ...
    def tocsc(self, copy: Any = False) -> sparray:
        """Convert to compressed sparse columns; sorts and sums duplicates."""
    def todia(self, copy: Any = False) -> sparray:
        """Convert to diagonals."""
    def copy(self) -> Self:
        """A copy with memory of its own."""
    def astype(self, dtype: Any, casting: Any = "unsafe", copy: Any = True) -> Self:
        """A copy with another dtype; stored elements are converted one by one, and duplicates are summed in the new
        dtype.
        """
    def __matmul__(self, other: Any) -> Any:
        """The product with a vector, a dense matrix or a sparse one; does not wait if the other operand is a vector."""
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
        """Each element raised to the power `n`, a positive number."""
    def __pow__(self, n: Any) -> Self: ...
    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
        """The sum of all elements, of columns (``axis=0``) or of rows (``axis=1``); waits for the sum of all bools.

        As in SciPy, duplicate bools count once in the sum of all elements, but each counts in sums along an axis.
        """
    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
        """The mean of all elements, of columns (``axis=0``) or of rows (``axis=1``), including zeros."""
    def trace(self, offset: Any = 0) -> GPUArray:
        """The sum of a diagonal; does not wait."""
    def diagonal(self, k: Any = 0) -> GPUArray:
        """The `k`-th diagonal as a `GPUArray`."""
    def getnnz(self, axis: Any = None) -> Any:
        """The number of stored elements, in total or in each column (``axis=0``) or row (``axis=1``)."""
    def todok(self, copy: Any = False) -> sparray:
        """Convert to a dictionary on the host; waits."""
    def tolil(self, copy: Any = False) -> sparray:
        """Convert to lists of rows on the host; waits."""
    def tobsr(self, blocksize: Any = None, copy: Any = False) -> Any:
        """Convert to dense blocks, by default of a size up to 6x6 that is mostly full; waits for their number."""
    def count_nonzero(self, axis: Any = None) -> Any:
        """The number of elements that are not 0, in total or in each column (``axis=0``) or row (``axis=1``); waits."""
    def nonzero(self) -> Any:
        """Rows and columns of stored elements that are not 0, in row order except for coordinate arrays; waits.

        As in SciPy, duplicates are not summed first.
        """
    def max(self, axis: Any = None) -> Any:
        """The largest element, or that of each column (``axis=0``) or row (``axis=1``); propagates NaN. Waits."""
    def min(self, axis: Any = None) -> Any:
        """The smallest element, or that of each column (``axis=0``) or row (``axis=1``); propagates NaN. Waits."""
    def nanmax(self, axis: Any = None) -> Any:
        """Like `max`, but ignores NaN."""
    def nanmin(self, axis: Any = None) -> Any:
        """Like `min`, but ignores NaN."""
    def argmax(self, axis: Any = None) -> Any:
        """The index of the first largest element, or that of each column (``axis=0``) or row (``axis=1``); waits."""
    def argmin(self, axis: Any = None) -> Any:
        """The index of the first smallest element, or that of each column (``axis=0``) or row (``axis=1``); waits."""
    def __eq__(self, other: Any) -> Any: ...
    def __ne__(self, other: Any) -> Any: ...
    def __lt__(self, other: Any) -> Any: ...
    def __gt__(self, other: Any) -> Any: ...
    def __le__(self, other: Any) -> Any: ...
    def __ge__(self, other: Any) -> Any: ...
    def maximum(self, other: Any) -> Any:
        """The larger of each pair of elements; waits for their number."""
    def minimum(self, other: Any) -> Any:
        """The smaller of each pair of elements; waits for their number."""
    def reshape(self, *shape: Any, order: Any = "C", copy: Any = False) -> Any:
        """The elements in another shape, as a coordinate array; see `scipy.sparse.coo_array.reshape`. Does not wait."""
    def setdiag(self, values: Any, k: Any = 0) -> Any:
        """Assign a number or a vector to the `k`-th diagonal, in place; waits."""
    def __imul__(self, other: Any) -> Any: ...
    def __itruediv__(self, other: Any) -> Any: ...
    def __round__(self, ndigits: Any = 0) -> Any: ...
    def arcsin(self) -> Self:
        """`numpy.arcsin` of each element; waits to check for duplicates."""
    def arcsinh(self) -> Self:
        """`numpy.arcsinh` of each element; waits to check for duplicates."""
    def arctan(self) -> Self:
        """`numpy.arctan` of each element; waits to check for duplicates."""
    def arctanh(self) -> Self:
        """`numpy.arctanh` of each element; waits to check for duplicates."""
    def ceil(self) -> Self:
        """`numpy.ceil` of each element; waits to check for duplicates."""
    def deg2rad(self) -> Self:
        """`numpy.deg2rad` of each element; waits to check for duplicates."""
    def expm1(self) -> Self:
        """`numpy.expm1` of each element; waits to check for duplicates."""
    def floor(self) -> Self:
        """`numpy.floor` of each element; waits to check for duplicates."""
    def log1p(self) -> Self:
        """`numpy.log1p` of each element; waits to check for duplicates."""
    def rad2deg(self) -> Self:
        """`numpy.rad2deg` of each element; waits to check for duplicates."""
    def rint(self) -> Self:
        """`numpy.rint` of each element; waits to check for duplicates."""
    def sign(self) -> Self:
        """`numpy.sign` of each element; waits to check for duplicates."""
    def sin(self) -> Self:
        """`numpy.sin` of each element; waits to check for duplicates."""
    def sinh(self) -> Self:
        """`numpy.sinh` of each element; waits to check for duplicates."""
    def sqrt(self) -> Self:
        """`numpy.sqrt` of each element; waits to check for duplicates."""
    def tan(self) -> Self:
        """`numpy.tan` of each element; waits to check for duplicates."""
    def tanh(self) -> Self:
        """`numpy.tanh` of each element; waits to check for duplicates."""
    def trunc(self) -> Self:
        """`numpy.trunc` of each element; waits to check for duplicates."""

def issparse(x: Any) -> bool:
    """Whether `x` is a sparse array or matrix of this package: a bool; does not wait. SciPy's are not."""

isspmatrix = issparse
