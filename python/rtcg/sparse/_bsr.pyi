"""Dense blocks in compressed sparse rows."""

from typing import Any

from rtcg.sparse._base import sparray

class bsr_array(sparray):
    """A sparse array of dense blocks on the device; see `scipy.sparse.bsr_array`.

    Parameters
    ----------
    arg1 : sparse array, dense array, tuple or shape
        An array of `scipy.sparse` or of this package, ``(data, indices, indptr)`` or ``(data, (row, col))``.
        ``data`` has three axes: blocks, their rows, their columns.
    shape, dtype, copy
        As of `csr_array`.
    blocksize : tuple of int, optional
        Rows and columns of a block, which divide the shape. Otherwise those that `tobsr` finds.

    Notes
    -----
    A product reads one index for each block. Making one waits as making a `csr_array` does.
    """

    format: str
    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False, blocksize: Any = None
    ) -> None: ...
    @property
    def data(self) -> Any:
        """The stored blocks, with three axes."""
    @data.setter
    def data(self, data: Any) -> Any: ...
    @property
    def indices(self) -> Any:
        """Columns of blocks."""
    @property
    def indptr(self) -> Any:
        """Where rows of blocks begin, and the number of blocks."""
    @property
    def blocksize(self) -> Any:
        """Rows and columns of a block."""
    def tocoo(self, copy: Any = False) -> Any:
        """As triples, zeros within blocks among them."""
    def tocsr(self, copy: Any = False) -> Any:
        """In compressed sparse rows; sorts, and adds up elements of one place; waits for their number."""
    def tobsr(self, blocksize: Any = None, copy: Any = False) -> Any:
        """Itself, a copy, or, with another `blocksize`, made anew."""
    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        """The transpose, whose blocks are transposed too; sorts blocks."""
    @property
    def has_sorted_indices(self) -> Any:
        """Whether blocks ascend within each row; waits."""
    @property
    def has_canonical_format(self) -> Any:
        """Whether blocks ascend within each row, and none is twice there; waits."""
    def sort_indices(self) -> Any:
        """Brings the blocks of each row into ascending order, in place."""
    def sum_duplicates(self) -> Any:
        """Adds up blocks of one place, in place; waits for their number."""
    def eliminate_zeros(self) -> Any:
        """Removes blocks without an element that is not 0, in place; waits for their number."""

def block_fill(coo: Any, block: Any) -> Any:
    """The part of the blocks of a size that elements of `coo` fill; 0 where it does not divide the shape. Waits."""

def estimate_blocksize(coo: Any, efficiency: Any = 0.7) -> Any:
    """The size of blocks up to 6x6 that SciPy's `tobsr` takes. Waits."""

def bsr_from_coo(coo: Any, blocksize: Any, container: Any) -> Any:
    """The blocks of triples; waits for their number."""
