"""Matrix Market files (Boisvert, Pozo and Remington 1996): coordinates and arrays."""

from typing import Any

from rtcg.sparse._coo import coo_array

def file_name(file: Any) -> str:
    """The name of a file for error messages: its path, or the name of a file object."""

def mmread(source: Any) -> coo_array:
    """Read the matrix in a Matrix Market file as a `coo_array`; see `scipy.io.mmread`. Waits.

    Parameters
    ----------
    source : path or file
        Coordinates or an array, of a general, symmetric, skew-symmetric or Hermitian matrix; elements that follow from
        symmetry are added. Paths that end in ``.gz``, ``.bz2`` or ``.xz`` are decompressed.

    Returns
    -------
    coo_array
        Of float64, int64, uint64 (``unsigned-integer``) or complex128; integers are exact. Elements of patterns are 1;
        zeros of an array are not stored.

    Raises
    ------
    ValueError
        If the file is not in this format, or is truncated; the error names the file and the line.
    OSError
        If there is no file.
    """

def mmwrite(target: Any, a: Any, comment: Any = "", precision: Any = None) -> None:
    """Write a matrix as coordinates to a Matrix Market file; returns None and waits.

    `target` is a path (compressed if it ends in ``.gz``, ``.bz2`` or ``.xz``) or a file. `comment` is written to the
    header, and `precision` is the number of digits, by default as many as the dtype has. Unsigned integers are written
    as ``unsigned-integer``, which SciPy reads. See `scipy.io.mmwrite`.
    """
