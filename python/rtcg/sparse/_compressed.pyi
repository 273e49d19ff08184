"""Compressed sparse rows and columns. The latter are the former for the transpose."""

from typing import Any

from typing_extensions import Self

from rtcg.numpy import GPUArray
from rtcg.sparse._base import sparray

def as_own(array: Any) -> Any:
    """A sparse array of CuPy or PyTorch on the device as one of this package over the same memory; else `array`."""

class _Compressed(sparray):
    """Rows, or columns (`_swap`), stored one after the other: `data` and `indices` of each, and its start `indptr`."""
    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None: ...
    @property
    def data(self) -> GPUArray:
        """The stored elements."""
    @data.setter
    def data(self, data: Any) -> None: ...
    @property
    def indices(self) -> GPUArray:
        """The column index of each element, or the row index in compressed columns."""
    @property
    def indptr(self) -> GPUArray:
        """The start of each row (column), followed by the number of elements."""
    def tocoo(self, copy: Any = False) -> sparray:
        """Convert to coordinates."""
    def transpose(self, axes: Any = None, copy: Any = False) -> sparray:
        """The transpose, in the other of the two formats; shares memory."""
    @property
    def has_sorted_indices(self) -> bool:
        """Whether indices are sorted within each row (column); waits."""
    @property
    def has_canonical_format(self) -> bool:
        """Whether indices are sorted within each row (column), without duplicates; waits."""
    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: Any, values: Any) -> Any: ...
    def __iter__(self) -> Any: ...
    def prune(self) -> Any:
        """Does nothing: elements after the last row are dropped when an array is made."""
    def check_format(self, full_check: Any = True) -> Any:
        """Raise ValueError if indices are out of range or `indptr` decreases; waits."""
    def sort_indices(self) -> None:
        """Sort the indices of each row (column), in place."""
    def sorted_indices(self) -> Self:
        """A copy with sorted indices in each row (column)."""
    def sum_duplicates(self) -> None:
        """Sum duplicates in place, which also sorts indices; waits for the number of elements."""
    def eliminate_zeros(self) -> None:
        """Remove explicit zeros, in place; waits for the number of elements."""

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

    format: str
    def __new__(cls, arg1: Any = None, shape: Any = None, *args: Any, **kwargs: Any) -> Self:
        """A new array, or one with one axis if the argument has one."""
    def tocsr(self, copy: Any = False) -> sparray:
        """The array itself, or a copy."""

class csc_array(_Compressed):
    """A sparse array in compressed sparse columns on the device; see `scipy.sparse.csc_array` and `csr_array`.

    The first product sorts elements by rows and keeps their order for later products, none of which depends on
    scheduling; `indices` and `indptr` must not be changed in place.
    """

    format: str
    def tocsc(self, copy: Any = False) -> sparray:
        """The array itself, or a copy."""
    def tocsr(self, copy: Any = False) -> sparray:
        """Convert to compressed sparse rows; the first call sorts by rows."""
