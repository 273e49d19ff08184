"""Norms of sparse arrays."""

from typing import Any

def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """A norm of a sparse array, or of its rows or columns, as a `GPUArray`; see `scipy.sparse.linalg.norm`.

    Parameters
    ----------
    x : sparse array
        Duplicates count as their sum; integers are treated as in SciPy.
    ord : None, "fro", 1, -1, inf, -inf, optional
        The Frobenius norm (None, "fro"), the largest (1) or smallest (-1) sum of absolute values in a column, or in a
        row (inf, -inf). With an axis: None or 2 for the square root of the sum of squares, 1, inf, -inf, 0 for the
        number of elements, or another number.
    axis : int, optional
        0 for norms of columns, 1 for norms of rows, None for the norm of the array.

    Returns
    -------
    GPUArray

    Raises
    ------
    TypeError
        If `x` is not sparse.
    ValueError
        If there is no such norm or axis.
    NotImplementedError
        For the spectral norm (2, -2).

    Waits to check for duplicates.
    """
