"""Diagonal format."""

from typing import Any

from rtcg.numpy import GPUArray
from rtcg.sparse._base import sparray

class dia_array(sparray):
    """A sparse array of diagonals on the device; see `scipy.sparse.dia_array`.

    Parameters
    ----------
    arg1 : sparse array, dense array, tuple or shape
        An array of `scipy.sparse` or of this package, or ``(data, offsets)``, where ``data[k, j]`` is the element in
        column ``j`` and row ``j - offsets[k]``.
    shape, dtype, copy
        As in `csr_array`.
    """

    format: str
    has_canonical_format: bool
    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None: ...
    @property
    def offsets(self) -> GPUArray:
        """The offsets of the diagonals, positive right of the main diagonal."""
    @property
    def nnz(self) -> int:
        """The number of stored elements that are inside the array."""
    def tocoo(self, copy: Any = False) -> sparray:
        """Convert elements that are not 0 to coordinates; waits for their number."""
    def tocsr(self, copy: Any = False) -> sparray:
        """Convert to compressed sparse rows; sorts, and waits for the number of elements."""
    def todia(self, copy: Any = False) -> sparray:
        """The array itself, or a copy."""
    def transpose(self, axes: Any = None, copy: Any = False) -> sparray:
        """The transpose, also by diagonals."""

def dia_from_coo(coo: Any, container: Any) -> Any:
    """The diagonals of a coordinate array without duplicates; waits for their number."""
