"""Compressed sparse rows and columns. The second is the first of the transpose."""

from typing import Any

from typing_extensions import Self

from rtcg.numpy import GPUArray
from rtcg.sparse._base import sparray

def as_own(array: Any) -> Any:
    """A sparse array of CuPy or PyTorch on the device as one of this package over the same memory; else `array`."""

class _Compressed(sparray):
    """Rows, or columns (`_swap`), one after the other: `data` and `indices` of each, and where it begins (`indptr`)."""
    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None: ...
    @property
    def data(self) -> GPUArray:
        """The stored elements."""
    @data.setter
    def data(self, data: Any) -> None: ...
    @property
    def indices(self) -> GPUArray:
        """Their columns; of columns, their rows."""
    @property
    def indptr(self) -> GPUArray:
        """Where rows (columns) begin, and the number of elements."""
    def tocoo(self, copy: Any = False) -> sparray:
        """As triples."""
    def transpose(self, axes: Any = None, copy: Any = False) -> sparray:
        """The transpose, in the other of the two formats; shares memory."""
    @property
    def has_sorted_indices(self) -> bool:
        """Whether indices ascend within each row (column); waits."""
    @property
    def has_canonical_format(self) -> bool:
        """Whether indices ascend within each row (column), and none is twice there; waits."""
    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: Any, values: Any) -> Any: ...
    def __iter__(self) -> Any: ...
    def prune(self) -> Any:
        """Does nothing: elements behind the last row are left out when an array is made."""
    def check_format(self, full_check: Any = True) -> Any:
        """Raise ValueError where indices are out of range or `indptr` falls; waits."""
    def sort_indices(self) -> None:
        """Brings the indices of each row (column) into ascending order, in place."""
    def sorted_indices(self) -> Self:
        """A copy with the indices of each row (column) in ascending order."""
    def sum_duplicates(self) -> None:
        """Adds up elements of one place, in place; indices are in ascending order then; waits for their number."""
    def eliminate_zeros(self) -> None:
        """Removes stored zeros, in place; waits for their number."""

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
        Whether memory may not be shared with `arg1`.

    Notes
    -----
    Making one copies from the host and waits where `arg1` is there. Indices are checked where they are: on the device
    that waits once, for a few numbers. Elements of one place stay apart, as in SciPy, and count as their sum.
    """

    format: str
    def __new__(cls, arg1: Any = None, shape: Any = None, *args: Any, **kwargs: Any) -> Self:
        """An array, or one of one axis where that is meant."""
    def tocsr(self, copy: Any = False) -> sparray:
        """Itself, or a copy."""

class csc_array(_Compressed):
    """A sparse array in compressed sparse columns on the device; see `scipy.sparse.csc_array` and `csr_array`.

    The first product sorts elements by rows. Their order is kept for further products, none of which depends on
    scheduling; `indices` and `indptr` must not be changed in place.
    """

    format: str
    def tocsc(self, copy: Any = False) -> sparray:
        """Itself, or a copy."""
    def tocsr(self, copy: Any = False) -> sparray:
        """In compressed sparse rows; sorts by rows when it is first called."""
