"""Triples of row, column and element."""

from typing import Any

from typing_extensions import Self

from rtcg.numpy import GPUArray
from rtcg.sparse._base import sparray

class coo_array(sparray):
    """A sparse array of triples on the device; see `scipy.sparse.coo_array`.

    Parameters
    ----------
    arg1 : sparse array, dense array, tuple or shape
        An array of `scipy.sparse` or of this package, or ``(data, (row, col))``.
    shape, dtype, copy
        As of `csr_array`.

    Notes
    -----
    Making one waits as making a `csr_array` does.
    """

    format: str
    def __new__(cls, arg1: Any = None, shape: Any = None, *args: Any, **kwargs: Any) -> Self:
        """An array, or one of one axis where that is meant."""
    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None: ...
    @property
    def coords(self) -> tuple[GPUArray, ...]:
        """Rows and columns."""
    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: Any, values: Any) -> Any: ...
    def tocoo(self, copy: Any = False) -> sparray:
        """Itself, or a copy."""
    def tocsr(self, copy: Any = False) -> sparray:
        """In compressed sparse rows; sorts, and adds up elements of one place; waits for their number."""
    def transpose(self, axes: Any = None, copy: Any = False) -> sparray:
        """The transpose; shares memory."""
    @property
    def has_canonical_format(self) -> bool:
        """Whether triples are in the order of rows and in them of columns, and no two in one place; waits."""
    def sum_duplicates(self) -> None:
        """Adds up elements of one place, in place; waits for their number."""
    def eliminate_zeros(self) -> None:
        """Removes stored zeros, in place; waits for their number."""
    def diagonal(self, k: Any = 0) -> GPUArray:
        """The elements of the `k`-th diagonal as a `GPUArray`; waits for their number."""
    def todia(self, copy: Any = False) -> sparray:
        """By diagonals; waits for their number."""
