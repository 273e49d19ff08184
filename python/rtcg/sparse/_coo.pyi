"""Coordinate format: row, column and value of each element."""

from typing import Any

from typing_extensions import Self

from rtcg.numpy import GPUArray
from rtcg.sparse._base import sparray

class coo_array(sparray):
    """A sparse array of coordinates on the device; see `scipy.sparse.coo_array`.

    Parameters
    ----------
    arg1 : sparse array, dense array, tuple or shape
        An array of `scipy.sparse` or of this package, or ``(data, (row, col))``.
    shape, dtype, copy
        As in `csr_array`.

    Notes
    -----
    The constructor waits as that of `csr_array` does.
    """

    format: str
    def __new__(cls, arg1: Any = None, shape: Any = None, *args: Any, **kwargs: Any) -> Self:
        """A new array, or one with one axis if the argument has one."""
    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None: ...
    @property
    def coords(self) -> tuple[GPUArray, ...]:
        """The row and column indices."""
    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: Any, values: Any) -> Any: ...
    def tocoo(self, copy: Any = False) -> sparray:
        """The array itself, or a copy."""
    def tocsr(self, copy: Any = False) -> sparray:
        """Convert to compressed sparse rows; sorts and sums duplicates; waits for the number of elements."""
    def transpose(self, axes: Any = None, copy: Any = False) -> sparray:
        """The transpose; shares memory."""
    @property
    def has_canonical_format(self) -> bool:
        """Whether elements are sorted by rows, then columns, without duplicates; waits."""
    def sum_duplicates(self) -> None:
        """Sum duplicates, in place; waits for the number of elements."""
    def eliminate_zeros(self) -> None:
        """Remove explicit zeros, in place; waits for the number of elements."""
    def diagonal(self, k: Any = 0) -> GPUArray:
        """The `k`-th diagonal as a `GPUArray`; waits for the number of elements."""
    def todia(self, copy: Any = False) -> sparray:
        """Convert to diagonals; waits for their number."""
