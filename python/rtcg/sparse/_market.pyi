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
    """Write the coordinates of a matrix to a file in Matrix Market format; returns None and waits.

    `target` is a path or a file, `comment` stands in the file's head, `precision` is the number of digits, by default
    all that the dtype has. See `scipy.io.mmwrite`.
    """
