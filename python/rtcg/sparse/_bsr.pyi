"""Block sparse rows: dense blocks in compressed sparse rows."""

from typing import Any

from rtcg.sparse._base import sparray

class bsr_array(sparray):
    """A sparse array of dense blocks on the device; see `scipy.sparse.bsr_array`.

    Parameters
    ----------
    arg1 : sparse array, dense array, tuple or shape
        An array of `scipy.sparse` or of this package, ``(data, indices, indptr)`` or ``(data, (row, col))``. ``data``
        has three axes: blocks, rows of a block, columns of a block.
    shape, dtype, copy
        As in `csr_array`.
    blocksize : tuple of int, optional
        Rows and columns of a block, which divide the shape; by default those that `tobsr` chooses.

    Notes
    -----
    A product reads one index per block. The constructor waits as that of `csr_array` does.
    """

    format: str
    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, blocksize: Any = None
    ) -> None: ...
    @property
    def data(self) -> Any:
        """The stored blocks, as an array with three axes."""
    @data.setter
    def data(self, data: Any) -> Any: ...
    @property
    def indices(self) -> Any:
        """The column indices of blocks."""
    @property
    def indptr(self) -> Any:
        """The start of each row of blocks, followed by the number of blocks."""
    @property
    def blocksize(self) -> Any:
        """Rows and columns of a block."""
    def tocoo(self, copy: Any = False) -> Any:
        """Convert to coordinates, including zeros within blocks."""
    def tocsr(self, copy: Any = False) -> Any:
        """Convert to compressed sparse rows; sorts and sums duplicates; waits for the number of elements."""
    def tobsr(self, blocksize: Any = None, copy: Any = False) -> Any:
        """The array itself, a copy, or, for another `blocksize`, a converted array."""
    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        """The transpose, with transposed blocks; sorts blocks."""
    @property
    def has_sorted_indices(self) -> Any:
        """Whether blocks are sorted within each row; waits."""
    @property
    def has_canonical_format(self) -> Any:
        """Whether blocks are sorted within each row, without duplicates; waits."""
    def sort_indices(self) -> Any:
        """Sort the blocks of each row, in place."""
    def sum_duplicates(self) -> Any:
        """Sum duplicate blocks, in place; waits for their number."""
    def eliminate_zeros(self) -> Any:
        """Remove blocks that have only zeros, in place; waits for their number."""

def block_fill(coo: Any, block: Any) -> Any:
    """The fraction of blocks of a size that `coo`'s elements fill; 0 if the size does not divide the shape. Waits."""

def estimate_blocksize(coo: Any, efficiency: Any = 0.7) -> Any:
    """The block size up to 6x6 that SciPy's `tobsr` would choose. Waits."""

def bsr_from_coo(coo: Any, blocksize: Any, container: Any) -> Any:
    """The blocks of a coordinate array; waits for their number."""
