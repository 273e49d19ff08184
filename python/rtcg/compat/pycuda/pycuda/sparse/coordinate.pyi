"""Matrices in coordinate format."""

from typing import Any

class CoordinateSpMV:
    """The product of a matrix with vectors, which is added to the output.

    Parameters
    ----------
    mat : array of `scipy.sparse`, or anything that `rtcg.sparse.coo_array` takes
    dtype : data-type
        The dtype of elements and vectors.

    The constructor sorts the elements by rows, for which it waits; products do not wait, and do not depend on
    scheduling.
    """
    def __init__(self, mat: Any, dtype: Any) -> None: ...
    def __call__(self, x: Any, y: Any = None) -> Any:
        """Add the product of the matrix and `x` to `y`, or to a new vector of zeros; returns it."""
