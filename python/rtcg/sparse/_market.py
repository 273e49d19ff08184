"""Matrix Market files (Boisvert, Pozo and Remington 1996): coordinates, and arrays."""

import contextlib
import gzip
import os

import numpy as np

from rtcg.sparse._base import issparse
from rtcg.sparse._coo import coo_array

_DTYPES = {
    "real": np.float64,
    "double": np.float64,
    "integer": np.int64,
    "complex": np.complex128,
    "pattern": np.float64,
}


@contextlib.contextmanager
def _opened(file, mode):
    if not isinstance(file, (str, os.PathLike)):
        yield file
        return
    name = os.fspath(file)
    with gzip.open(name, mode + "t") if name.endswith(".gz") else open(name, mode, encoding="latin-1") as opened:
        yield opened


def _data_lines(file):
    for line in file:
        line = line.decode("latin-1") if isinstance(line, bytes) else line
        if line.strip() and not line.startswith("%"):
            yield line


def mmread(source):
    """The matrix in a Matrix Market file (also ``.gz``), as a `coo_array`; see `scipy.io.mmread`. Waits.

    Parameters
    ----------
    source : path or file
        Coordinates of a general, symmetric, skew-symmetric or Hermitian matrix; what such a file leaves out is added.
        Elements are float64, int64 or complex128; those of patterns are 1.
    """
    with _opened(source, "r") as file:
        header = file.readline()
        header = header.decode("latin-1") if isinstance(header, bytes) else header
        words = header.lower().split()
        if len(words) != 5 or words[0] != "%%matrixmarket" or words[1] != "matrix":
            raise ValueError(f"{source}: the first line is {header.strip()!r}; expected '%%MatrixMarket matrix ...'")
        _, _, layout, field, symmetry = words
        if layout != "coordinate":
            raise ValueError(f"{source}: the layout is {layout!r}; expected 'coordinate'")
        if field not in _DTYPES or symmetry not in ("general", "symmetric", "skew-symmetric", "hermitian"):
            raise ValueError(f"{source}: matrices that are {field} and {symmetry} are not known")
        lines = _data_lines(file)
        rows, columns, count = (int(word) for word in next(lines).split())
        width = {"pattern": 2, "complex": 4}.get(field, 3)
        numbers = np.array(" ".join(lines).split(), dtype=np.float64).reshape(-1, width)
    if len(numbers) != count:
        raise ValueError(f"{source}: {len(numbers)} elements; expected {count}")
    row, col = (numbers[:, :2].astype(np.int64) - 1).T
    for name, index, length in (("row", row, rows), ("column", col, columns)):
        if (wrong := np.flatnonzero((index < 0) | (index >= length))).size:
            k = int(wrong[0])
            raise ValueError(f"{source}: element {k + 1} is in {name} {index[k] + 1}; expected 1 to {length}")
    data = np.ones(count) if field == "pattern" else numbers[:, 2]
    if field == "complex":
        data = data + 1j * numbers[:, 3]
    data = data.astype(_DTYPES[field])
    if symmetry != "general":
        other = row != col
        mirrored = {"symmetric": data, "skew-symmetric": -data, "hermitian": data.conj()}[symmetry][other]
        row, col = np.concatenate([row, col[other]]), np.concatenate([col, row[other]])
        data = np.concatenate([data, mirrored])
    index = np.int32 if max(rows, columns) <= np.iinfo(np.int32).max else np.int64
    return coo_array((data, (row.astype(index), col.astype(index))), shape=(rows, columns))


def mmwrite(target, a, comment="", precision=None):
    """Write the coordinates of a matrix to a file in Matrix Market format; returns None and waits.

    `target` is a path or a file, `comment` stands in the file's head, `precision` is the number of digits, by default
    all that the dtype has. See `scipy.io.mmwrite`.
    """
    coo = (a if issparse(a) else coo_array(a)).tocoo()
    row, col, data = coo.row.get() + 1, coo.col.get() + 1, coo.data.get()
    field = {"c": "complex", "f": "real"}.get(data.dtype.kind, "integer")
    digits = np.finfo(np.float64).precision + 2 if precision is None else precision

    def text(value):
        if field == "integer":
            return str(int(value))
        parts = (value.real, value.imag) if field == "complex" else (value,)
        return " ".join(f"{part:.{digits - 1}e}" for part in parts)

    with _opened(target, "w") as file:
        lines = [f"%%MatrixMarket matrix coordinate {field} general", *(f"%{line}" for line in comment.splitlines())]
        lines.append(f"{coo.shape[0]} {coo.shape[1]} {len(data)}")
        lines += [f"{i} {j} {text(value)}" for i, j, value in zip(row, col, data, strict=True)]
        content = "\n".join(lines) + "\n"
        is_binary = not isinstance(target, (str, os.PathLike)) and not hasattr(file, "encoding")
        file.write(content.encode("latin-1") if is_binary else content)
