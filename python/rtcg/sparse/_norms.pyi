"""Norms of sparse arrays."""

from typing import Any

def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """A norm of a sparse array, or of its rows or columns, as a `GPUArray`; see `scipy.sparse.linalg.norm`.

    Parameters
    ----------
    x : sparse array
        Elements of one place count as their sum; integers are computed with as SciPy does.
    ord : None, "fro", 1, -1, inf, -inf, optional
        The Frobenius norm (None, "fro"), the largest (1) or least (-1) sum of a column, or of a row (inf, -inf). With
        an axis: None or 2 for roots of sums of squares, 1, inf, -inf, 0 for the number of elements, or another number.
    axis : int, optional
        0 for norms of columns, 1 for those of rows; both for None.

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

    Waits for whether two elements are in one place.
    """
