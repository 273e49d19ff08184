"""Diagonals of matrices: reading, writing, building matrices from them, and their indices; part of `rtcg.numpy`."""

from typing import Any

from rtcg.numpy import GPUArray

__all__ = [
    "diag",
    "diag_indices_from",
    "diagflat",
    "fill_diagonal",
    "tril_indices_from",
    "triu_indices_from",
]

def diag(v: Any, k: Any = 0) -> GPUArray:
    """The diagonal `k` of a matrix as a view, or a new matrix of zeros with `v` on its diagonal `k`; does not wait.

    `v` is array-like with two axes or one, else raises `ValueError`. `k` is positive above the main diagonal. Unlike
    NumPy's, the view is writable.
    """

def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """The indices of the main diagonal of a device array: a tuple with one int64 array per axis; does not wait.

    `arr` has two or more axes, all of equal length, else raises `ValueError`.
    """

def diagflat(v: Any, k: Any = 0) -> GPUArray:
    """A new square matrix of zeros with the flattened `v` on its diagonal `k`; does not wait.

    `v` is array-like; the dtype is kept, and the matrix has ``v.size + abs(k)`` rows.
    """

def fill_diagonal(a: Any, val: Any, wrap: Any = False) -> None:
    """Write `val` to the main diagonal of the device array `a`, in place; does not wait. Returns None.

    `a` has two axes, or more axes of equal length, else raises `ValueError`. `val` is a number or array-like, flattened
    and repeated. With `wrap` the diagonal starts again one row below its end in matrices with more rows than columns.
    """

def tril_indices_from(arr: Any, k: Any = 0) -> tuple[Any, ...]:
    """The indices of the triangle on and below the diagonal `k` of a matrix: a tuple of two int64 arrays.

    Raises `ValueError` unless `arr` has two axes. Waits for the number of indices.
    """

def triu_indices_from(arr: Any, k: Any = 0) -> tuple[Any, ...]:
    """The indices of the triangle on and above the diagonal `k` of a matrix: a tuple of two int64 arrays.

    Raises `ValueError` unless `arr` has two axes. Waits for the number of indices.
    """
