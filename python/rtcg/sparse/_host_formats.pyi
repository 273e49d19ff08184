"""Formats for building arrays element by element, on the host: a dictionary of places, and lists of rows.

They are converted on their way to the device: operations other than assignment are those of `tocsr()`.
"""

from typing import Any

from rtcg.sparse._base import sparray

class _HostArray(sparray):
    """What both formats have in common."""

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
        """The stored elements on the device, row after row."""
    def tocoo(self, copy: Any = False) -> Any:
        """As triples on the device."""
    def tocsr(self, copy: Any = False) -> Any:
        """In compressed sparse rows on the device."""
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
        """Another shape, in place: elements outside of it are lost."""
    def setdiag(self, values: Any, k: Any = 0) -> Any:
        """Assigns a number or a vector to the `k`-th diagonal, in place."""

class dok_array(_HostArray):
    """A dictionary of places and elements on the host, of one or two axes; see `scipy.sparse.dok_array`.

    Parameters
    ----------
    arg1 : a shape, an array of `scipy.sparse` or of this package, or a dense array
    shape, dtype, copy
        As of `csr_array`.

    For building: ``a[i, j] = v`` stores an element, and one that is 0 is removed. Operations other than those of a
    dictionary convert to compressed sparse rows on the device.
    """

    format: str
    def __len__(self) -> int: ...
    def __contains__(self, key: Any) -> bool: ...
    def __delitem__(self, key: Any) -> Any: ...
    def keys(self) -> Any:
        """Places of stored elements."""
    def values(self) -> Any:
        """Stored elements."""
    def items(self) -> Any:
        """Places with their elements."""
    def get(self, key: Any = None, default: Any = 0.0) -> Any:
        """The element in a place, or `default`; without a place, the array as one of `scipy.sparse`."""
    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The element in a place, which is stored there unless there is one."""
    def pop(self, key: Any, *default: Any) -> Any:
        """Removes an element, and returns it."""
    def popitem(self) -> Any:
        """Removes the newest element, and returns its place and it."""
    def clear(self) -> Any:
        """Removes all elements."""
    def update(self, other: Any) -> Any:
        """Stores elements of another dictionary or of an iterable of places with elements."""
    @classmethod
    def fromkeys(cls, iterable: Any, value: Any = 1, /) -> Any:
        """One element in all places of an iterable; the shape is as small as these allow."""
    def todok(self, copy: Any = False) -> Any:
        """Itself, or a copy."""

class lil_array(_HostArray):
    """Lists of columns (`rows`) and elements (`data`) of each row on the host; see `scipy.sparse.lil_array`.

    Parameters
    ----------
    arg1 : a shape, an array of `scipy.sparse` or of this package, or a dense array
    shape, dtype, copy
        As of `csr_array`.

    For building: ``a[i, j] = v`` stores an element, and one that is 0 is removed. Operations other than assignment
    convert to compressed sparse rows on the device.
    """

    format: str
    @property
    def data(self) -> Any:
        """Lists of the elements of rows."""
    def getrowview(self, i: Any) -> Any:
        """Row `i` as an array of one row, whose lists are those of this one."""
    def tolil(self, copy: Any = False) -> Any:
        """Itself, or a copy."""
