"""Matrix Market files (Boisvert, Pozo and Remington 1996): coordinates, and arrays."""

from typing import Any

from rtcg.sparse._coo import coo_array

def file_name(file: Any) -> str:
    """What errors call a file: its path, or the name of an object that is read from."""

def mmread(source: Any) -> coo_array:
    """The matrix in a Matrix Market file, as a `coo_array`; see `scipy.io.mmread`. Waits.

    Parameters
    ----------
    source : path or file
        Coordinates, or an array, of a general, symmetric, skew-symmetric or Hermitian matrix; what such a file leaves
        out is added. Paths that end in ``.gz``, ``.bz2`` or ``.xz`` are unpacked.

    Returns
    -------
    coo_array
        Of float64, int64, uint64 (``unsigned-integer``) or complex128; integers are exact. Elements of patterns are 1,
        zeros of an array are not stored.

    Raises
    ------
    ValueError
        If the file is no such file, or ends too early; the error names the file and the line.
    OSError
        If there is no file.
    """

def mmwrite(target: Any, a: Any, comment: Any = "", precision: Any = None) -> None:
    """Write the coordinates of a matrix to a file in Matrix Market format; returns None and waits.

    `target` is a path (packed where it ends in ``.gz``, ``.bz2`` or ``.xz``) or a file, `comment` stands in the file's
    head, `precision` is the number of digits, by default all that the dtype has. Unsigned integers are written as
    ``unsigned-integer``, which SciPy reads. See `scipy.io.mmwrite`.
    """
