"""Matrix Market files (Boisvert, Pozo and Remington 1996): coordinates, and arrays."""

from typing import Any

from rtcg.sparse._coo import coo_array

def mmread(source: Any) -> coo_array:
    """The matrix in a Matrix Market file (also ``.gz``), as a `coo_array`; see `scipy.io.mmread`. Waits.

    Parameters
    ----------
    source : path or file
        Coordinates of a general, symmetric, skew-symmetric or Hermitian matrix; what such a file leaves out is added.
        Elements are float64, int64 or complex128; those of patterns are 1.
    """

def mmwrite(target: Any, a: Any, comment: Any = "", precision: Any = None) -> None:
    """Writes the coordinates of a matrix, with `precision` digits or all; see `scipy.io.mmwrite`. Waits."""
