"""Matrix Market files (Boisvert, Pozo and Remington 1996): coordinates and arrays."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from rtcg._messages import shown
from rtcg.sparse._base import issparse
from rtcg.sparse._coo import coo_array

#: Of each field: the dtype, how many numbers an element has, and what reads one.
_FIELDS = {
    "real": (np.float64, 1, float),
    "double": (np.float64, 1, float),
    "integer": (np.int64, 1, int),
    "unsigned-integer": (np.uint64, 1, int),
    "complex": (np.complex128, 2, float),
    "pattern": (np.float64, 0, float),
}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
_PACKERS = {".gz": gzip, ".bz2": bz2, ".xz": lzma}


def file_name(file: Any) -> str:
    """The name of a file for error messages: its path, or the name of a file object."""
    return os.fspath(file) if isinstance(file, (str, os.PathLike)) else getattr(file, "name", repr(file))


def _packer(file: Any) -> Any:
    return _PACKERS.get(os.path.splitext(os.fspath(file))[1]) if isinstance(file, (str, os.PathLike)) else None


def _content(file: Any) -> str:
    """The text of a file, decompressed according to its suffix."""
    if not isinstance(file, (str, os.PathLike)):
        content = file.read()
    else:
        with open(file, "rb") as opened:
            content = opened.read()
        if packer := _packer(file):
            try:
                content = packer.decompress(content)
            except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
                raise ValueError(f"{file_name(file)}: the file cannot be unpacked: {error}") from error
    return content.decode("latin-1") if isinstance(content, bytes) else content


class _Lines:
    """The lines of a file except comments and blank ones, split into words, with errors that name them."""

    def __init__(self, source: Any) -> None:
        self.name = file_name(source)
        lines = _content(source).split("\n")
        self.header = lines[0]
        words = ((number, line.split()) for number, line in enumerate(lines[1:], 2))
        self.lines = [(number, line) for number, line in words if line and not line[0].startswith("%")]
        # Python's numbers may have them, those of files not.
        self.has_underscores = any("_" in word for _, line in self.lines for word in line)

    def error(self, number: int, text: str) -> ValueError:
        return ValueError(f"{self.name}, line {number}: {text}")

    def take_sizes(self, count: int) -> list[int]:
        if not self.lines:
            raise self.error(1, f"the file ends behind its header; expected a line of {count} sizes")
        number, words = self.lines.pop(0)
        if len(words) != count or not all(word.isascii() and word.isdigit() for word in words):
            raise self.error(number, f"sizes are {shown(' '.join(words))}; expected {count} integers of at least 0")
        sizes = [int(word) for word in words if len(word) < 20]
        if len(sizes) < count or max(sizes) > np.iinfo(np.int64).max:
            raise self.error(number, f"sizes are {shown(' '.join(words)[:80])}; expected numbers of 63 bits")
        return sizes

    def check(self, count: int, width: int) -> None:
        """Raise ValueError unless there are `count` lines of `width` words."""
        for number, words in self.lines:
            if len(words) != width:
                raise self.error(number, f"the element has {len(words)} words; expected {width}")
        if len(self.lines) != count:
            last = self.lines[-1][0] if self.lines else 1
            raise self.error(last, f"{len(self.lines)} elements up to here; expected {count}")

    def column(self, place: int, read: Callable[[str], Any], dtype: Any) -> np.ndarray[Any, Any]:
        """The numbers of a column, without rounding."""
        try:
            if self.has_underscores:
                raise ValueError
            return np.array([read(words[place]) for _, words in self.lines], dtype)
        except (ValueError, OverflowError):
            return np.array([self._number(line, place, read, dtype) for line in self.lines], dtype)

    def _number(
        self, line: tuple[int, list[str]], place: int, read: Callable[[str], Any], dtype: Any
    ) -> np.ndarray[Any, Any]:
        number, words = line
        word = words[place]
        # Fortran writes 1D5 for 1e5.
        text = word.lower().replace("d", "e") if read is float else word
        try:
            if "_" in word:
                raise ValueError
            return np.array(read(text), dtype)
        except (ValueError, OverflowError):
            raise self.error(number, f"{shown(word)} is no {np.dtype(dtype).name}") from None


def _layout(lines: _Lines) -> tuple[str, str, str]:
    """The layout, the field and the symmetry from the first line."""
    words = lines.header.lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise lines.error(1, f"it is {shown(lines.header[:80].strip())}; expected '%%MatrixMarket matrix ...'")
    layout, field, symmetry = words[2:]
    if layout not in ("coordinate", "array") or (layout == "array" and field == "pattern"):
        raise lines.error(
            1, f"the layout is {shown(layout)} of {shown(field)}; expected 'coordinate', or 'array' of numbers"
        )
    is_known = field in _FIELDS and symmetry in _SYMMETRIES
    if not is_known or (field, symmetry) == ("unsigned-integer", "skew-symmetric"):
        raise lines.error(1, f"matrices that are {field} and {symmetry} are not known")
    return layout, field, symmetry


def _elements(lines: _Lines, field: str, first: int) -> np.ndarray[Any, Any]:
    """The elements of lines whose numbers begin in column `first`."""
    dtype, width, read = _FIELDS[field]
    if not width:
        return np.ones(len(lines.lines), dtype)
    parts = [lines.column(first + k, read, dtype if width == 1 else np.float64) for k in range(width)]
    if width == 1:
        return parts[0]
    data: np.ndarray[Any, Any] = np.empty(len(lines.lines), dtype)
    data.real, data.imag = parts
    return data


def _check_square(lines: _Lines, symmetry: str, shape: tuple[int, ...]) -> None:
    if shape[0] != shape[1]:
        raise lines.error(1, f"the matrix is {symmetry} and has shape {shape}; expected a square one")


def _read_coordinates(
    lines: _Lines, field: str
) -> tuple[tuple[int, int], np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rows, columns, count = lines.take_sizes(3)
    lines.check(count, 2 + _FIELDS[field][1])
    row, col = (lines.column(place, int, np.int64) - 1 for place in range(2))
    for name, index, length in (("row", row, rows), ("column", col, columns)):
        if (wrong := np.flatnonzero((index < 0) | (index >= length))).size:
            k = int(wrong[0])
            text = f"element {k + 1} is in {name} {index[k] + 1}; expected 1 to {length}"
            raise lines.error(lines.lines[k][0], text)
    return (rows, columns), _elements(lines, field, 2), row, col


def _read_array(
    lines: _Lines, field: str, symmetry: str
) -> tuple[tuple[int, int], np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The columns in order: of a symmetric matrix from the diagonal on, of a skew-symmetric one below it."""
    rows, columns = lines.take_sizes(2)
    if symmetry != "general":
        _check_square(lines, symmetry, (rows, columns))
    below = {"general": None, "skew-symmetric": 1}.get(symmetry, 0)
    if below is None:
        count = rows * columns
    else:
        size = max(0, rows - below)
        count = size * (size + 1) // 2
    lines.check(count, _FIELDS[field][1])
    if below is None:
        col, row = np.divmod(np.arange(count), max(1, rows))
    else:
        parts = [np.arange(column + below, rows) for column in range(columns)]
        row = np.concatenate([*parts, np.empty(0, np.int64)]).astype(np.int64)
        col = np.repeat(np.arange(columns), [len(part) for part in parts])
    data = _elements(lines, field, 0)
    kept = data != 0
    return (rows, columns), data[kept], row[kept], col[kept]


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
    lines = _Lines(source)
    layout, field, symmetry = _layout(lines)
    if layout == "array":
        shape, data, row, col = _read_array(lines, field, symmetry)
    else:
        shape, data, row, col = _read_coordinates(lines, field)
    if symmetry != "general":
        _check_square(lines, symmetry, shape)
        other = row != col
        mirrored = {"symmetric": data, "skew-symmetric": -data, "hermitian": data.conj()}[symmetry][other]
        row, col = np.concatenate([row, col[other]]), np.concatenate([col, row[other]])
        data = np.concatenate([data, mirrored])
    index = np.int32 if max(shape) <= np.iinfo(np.int32).max else np.int64
    return coo_array((data, (row.astype(index), col.astype(index))), shape=shape)


def mmwrite(target: Any, a: Any, comment: Any = "", precision: Any = None) -> None:
    """Write a matrix as coordinates to a Matrix Market file; returns None and waits.

    `target` is a path (compressed if it ends in ``.gz``, ``.bz2`` or ``.xz``) or a file. `comment` is written to the
    header, and `precision` is the number of digits, by default as many as the dtype has. Unsigned integers are written
    as ``unsigned-integer``, which SciPy reads. See `scipy.io.mmwrite`.
    """
    coo: Any = (a if issparse(a) else coo_array(a)).tocoo()
    row, col, data = coo.row.get().astype(np.int64) + 1, coo.col.get().astype(np.int64) + 1, coo.data.get()
    field = {"c": "complex", "f": "real", "u": "unsigned-integer"}.get(data.dtype.kind, "integer")
    digits = np.finfo(np.float64).precision + 2 if precision is None else precision

    def text(value: Any) -> str:
        if field.endswith("integer"):
            return str(int(value))
        parts = (value.real, value.imag) if field == "complex" else (value,)
        return " ".join(f"{part:.{digits - 1}e}" for part in parts)

    lines = [f"%%MatrixMarket matrix coordinate {field} general", *(f"%{line}" for line in comment.splitlines())]
    lines.append(f"{coo.shape[0]} {coo.shape[1]} {len(data)}")
    lines += [f"{i} {j} {text(value)}" for i, j, value in zip(row, col, data, strict=True)]
    content = "\n".join(lines) + "\n"
    if not isinstance(target, (str, os.PathLike)):
        target.write(content if hasattr(target, "encoding") else content.encode("latin-1"))
        return
    opener = _packer(target).open if _packer(target) else open
    with opener(target, "wb") as file:
        file.write(content.encode("latin-1"))
