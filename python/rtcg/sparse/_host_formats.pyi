"""Formats for building arrays element by element on the host: a dictionary of keys, and lists of rows.

They are converted when they go to the device: operations other than assignment are those of `tocsr()`.
"""

from typing import Any

from rtcg.sparse._base import sparray

class _HostArray(sparray):
    """Base class of both formats."""

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None: ...
    @property
    def ndim(self) -> int:  # type: ignore[override]
        """The number of axes."""
    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
    @property
    def nnz(self) -> Any:
        """The number of stored elements."""
    @property
    def data(self) -> Any:
        """The stored elements on the device, in row order."""
    def tocoo(self, copy: Any = False) -> Any:
        """Convert to coordinates on the device."""
    def tocsr(self, copy: Any = False) -> Any:
        """Convert to compressed sparse rows on the device."""
    def copy(self) -> Any:
        """A copy."""
    def astype(self, dtype: Any, casting: Any = "unsafe", copy: Any = True) -> Any:
        """A copy with another dtype."""
    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        """A copy of the transpose."""
    def count_nonzero(self, axis: Any = None) -> Any:
        """The number of elements that are not 0."""
    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: Any, values: Any) -> Any: ...
    def __iter__(self) -> Any: ...
    def resize(self, *shape: Any) -> Any:
        """Change the shape in place; elements outside the new shape are lost."""
    def setdiag(self, values: Any, k: Any = 0) -> Any:
        """Assign a number or a vector to the `k`-th diagonal, in place."""

class dok_array(_HostArray):
    """A dictionary of positions and elements on the host, with one or two axes; see `scipy.sparse.dok_array`.

    Parameters
    ----------
    arg1 : a shape, an array of `scipy.sparse` or of this package, or a dense array
    shape, dtype, copy
        As in `csr_array`.

    Use it to build arrays: ``a[i, j] = v`` stores an element, and removes it if `v` is 0. Operations other than those
    of a dictionary convert to compressed sparse rows on the device.
    """

    format: str
    def __len__(self) -> int: ...
    def __contains__(self, key: Any) -> bool: ...
    def __delitem__(self, key: Any) -> Any: ...
    def keys(self) -> Any:
        """The positions of the stored elements."""
    def values(self) -> Any:
        """The stored elements."""
    def items(self) -> Any:
        """The positions with their elements."""
    def get(self, key: Any = None, default: Any = 0.0) -> Any:
        """The element at a position, or `default`; without a position, the array as one of `scipy.sparse`."""
    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The element at a position, after storing the default there if there is none."""
    def pop(self, key: Any, *default: Any) -> Any:
        """Remove and return an element."""
    def popitem(self) -> Any:
        """Remove the newest element and return its position and value."""
    def clear(self) -> Any:
        """Remove all elements."""
    def update(self, other: Any) -> Any:
        """Store the elements of another dictionary or of an iterable of positions with elements."""
    @classmethod
    def fromkeys(cls, iterable: Any, value: Any = 1, /) -> Any:
        """The same element at all positions of an iterable; the shape is the smallest that fits."""
    def todok(self, copy: Any = False) -> Any:
        """The array itself, or a copy."""

class lil_array(_HostArray):
    """Lists of columns (`rows`) and elements (`data`) for each row on the host; see `scipy.sparse.lil_array`.

    Parameters
    ----------
    arg1 : a shape, an array of `scipy.sparse` or of this package, or a dense array
    shape, dtype, copy
        As in `csr_array`.

    Use it to build arrays: ``a[i, j] = v`` stores an element, and removes it if `v` is 0. Operations other than
    assignment convert to compressed sparse rows on the device.
    """

    format: str
    @property
    def data(self) -> Any:
        """The lists of elements of each row."""
    def getrowview(self, i: Any) -> Any:
        """Row `i` as an array with one row, which shares the lists of this one."""
    def tolil(self, copy: Any = False) -> Any:
        """The array itself, or a copy."""
