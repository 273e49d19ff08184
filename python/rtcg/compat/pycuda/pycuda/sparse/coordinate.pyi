"""Matrices of triples."""

from typing import Any

class CoordinateSpMV:
    """The product of a matrix and vectors, which is added to what is there.

    Parameters
    ----------
    mat : array of `scipy.sparse`, or anything that `rtcg.sparse.coo_array` takes
    dtype : data-type
        The dtype of elements and vectors.

    Triples are brought into the order of rows when the matrix is made, which waits; products do not wait, and do not
    depend on scheduling.
    """
    def __init__(self, mat: Any, dtype: Any) -> None: ...
    def __call__(self, x: Any, y: Any = None) -> Any:
        """`y` with the product of the matrix and `x` added to it; a new vector without `y`."""
