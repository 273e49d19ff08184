"""Diagonals."""

from typing import Any

from rtcg.numpy import GPUArray
from rtcg.sparse._base import sparray

class dia_array(sparray):
    """A sparse array of diagonals on the device; see `scipy.sparse.dia_array`.

    Parameters
    ----------
    arg1 : sparse array, dense array, tuple or shape
        An array of `scipy.sparse` or of this package, or ``(data, offsets)``, where
        ``data[k, j]`` is the element of column ``j`` and row ``j - offsets[k]``.
    shape, dtype, copy
        As of `csr_array`.
    """

    format: str
    has_canonical_format: bool
    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None: ...
    @property
    def offsets(self) -> GPUArray:
        """Which diagonals there are: above 0 those right of the main one."""
    @property
    def nnz(self) -> int:
        """The number of stored elements that lie inside of the array."""
    def tocoo(self, copy: Any = False) -> sparray:
        """As triples of what is not 0; waits for their number."""
    def tocsr(self, copy: Any = False) -> sparray:
        """In compressed sparse rows; sorts, and waits for the number of elements."""
    def todia(self, copy: Any = False) -> sparray:
        """Itself, or a copy."""
    def transpose(self, axes: Any = None, copy: Any = False) -> sparray:
        """The transpose, by diagonals."""

def dia_from_coo(coo: Any, container: Any) -> Any:
    """The diagonals of triples, none of which is there twice; waits for their number."""
