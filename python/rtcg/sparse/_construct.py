"""Constructing sparse arrays from numbers and from other arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._conversions import as_dtype, as_float, as_integer, as_rng, as_sequence, as_text, converts
from rtcg._messages import shown
from rtcg.numpy import GPUArray
from rtcg.sparse._base import issparse
from rtcg.sparse._coo import coo_array
from rtcg.sparse._dia import as_offsets, dia_array
from rtcg.sparse._market import file_name
from rtcg.sparse._operands import as_matrix, checked_shape, index_dtype, to_device

if TYPE_CHECKING:
    from rtcg.sparse._base import sparray


def _as_coo(a: Any) -> coo_array:
    """A sparse or dense array as a coordinate array with two axes."""
    return (a if issparse(a) else coo_array(a))._two_axes().tocoo()


def _joined(arrays: Sequence[Any], dtype: Any = None) -> Any:
    dtype = np.result_type(*(a.dtype for a in arrays)) if dtype is None else dtype
    return _xp.concatenate([a if a.dtype == dtype else a.astype(dtype) for a in arrays])


def _joined_coo(
    parts: Sequence[coo_array], shape: tuple[int, ...], row_offsets: Sequence[int], col_offsets: Sequence[int]
) -> coo_array:
    """One coordinate array from several, each shifted by its offsets."""
    index = index_dtype(max(shape))
    rows = _joined([(p.row.astype(index) + offset) for p, offset in zip(parts, row_offsets, strict=True)], index)
    cols = _joined([(p.col.astype(index) + offset) for p, offset in zip(parts, col_offsets, strict=True)], index)
    return coo_array._of(shape, _joined([p.data for p in parts]), rows, cols)


@converts(m=as_integer, n=as_integer, k=as_integer, dtype=as_dtype, format=as_text)
def eye_array(m: Any, n: Any = None, *, k: Any = 0, dtype: Any = float, format: Any = None) -> sparray:
    """Ones on the `k`-th diagonal of a sparse array with `m` rows and `n` (by default `m`) columns.

    Returns a `dia_array`, or one of `format`, of the dtype `dtype`. Raises `ValueError` for negative lengths. Waits for
    the copy to the device.
    """
    m, n = checked_shape((m, m if n is None else n))
    data = np.ones((1, max(0, min(m + k, n))), dtype)
    result = dia_array((data, np.array([k])), shape=(m, n))
    return result.asformat(format) if format else result


@converts(m=as_integer, n=as_integer, k=as_integer, dtype=as_dtype, format=as_text)
def eye(m: Any, n: Any = None, k: Any = 0, dtype: Any = float, format: Any = None) -> sparray:
    """Like `eye_array`, but a matrix of SciPy's old kind (``*`` is the product); waits for the copy to the device."""
    return _as_matrix(eye_array(m, n, k=k, dtype=dtype, format=format))


@converts(n=as_integer)
def identity(n: Any, dtype: Any = "d", format: Any = None) -> sparray:
    """The identity with `n` rows as a matrix of `format`, by default of diagonals; waits for the copy to the device."""
    return eye(n, dtype=dtype, format=format)


@converts(diagonals=as_sequence, format=as_text, dtype=as_dtype)
def diags_array(
    diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> sparray:
    """A sparse array from its diagonals, in `format` or by diagonals; waits for the copies to and from the device.

    `diagonals` are arrays, or a single array or number for a single one of the `offsets`, which are positive right of
    the main diagonal. A number, or a single element, is repeated. `shape` is by default that of the smallest square.
    The dtype is the common one unless given. Raises `ValueError` if lengths and shape do not fit, or the numbers of
    diagonals and offsets differ.
    """
    if np.isscalar(offsets):
        if len(diagonals) == 0 or np.isscalar(diagonals[0]) or isinstance(diagonals, GPUArray):
            diagonals = [diagonals.ravel() if isinstance(diagonals, GPUArray) else np.atleast_1d(diagonals)]
        else:
            raise ValueError("Different number of diagonals and offsets.")
    else:
        diagonals = [d.ravel() if isinstance(d, GPUArray) else np.atleast_1d(d) for d in diagonals]
    given, offsets = offsets, np.atleast_1d(offsets)
    if offsets.size and offsets.dtype.kind not in "iu":
        raise TypeError(f"offsets is {shown(given)}; expected integers")
    if len(diagonals) != len(offsets):
        raise ValueError("Different number of diagonals and offsets.")
    if shape is None:
        m = len(diagonals[0]) + abs(int(offsets[0]))
        shape = (m, m)
    is_device = any(isinstance(d, GPUArray) for d in diagonals)
    dtype = np.result_type(*(d.dtype for d in diagonals)) if dtype is None else np.dtype(dtype)
    if dtype.kind in "iub" or dtype == np.float16:
        dtype = np.dtype(np.float64) if dtype == np.float16 else dtype
    m, n = checked_shape(shape)
    width = max([min(m + offset, n - offset) + max(0, offset) for offset in offsets])
    data = (_xp if is_device else np).zeros((len(offsets), max(0, width)), dtype)
    for j, diagonal in enumerate(diagonals):
        offset = offsets[j]
        k, length = max(0, offset), min(m + offset, n - offset, min(m, n))
        if length < 0:
            raise ValueError(f"Offset {offset} (index {j}) out of bounds")
        try:
            part = to_device(diagonal, dtype) if is_device else diagonal
            data[j, k : k + length] = part[..., :length]
        except ValueError as error:
            if len(diagonal) != length and len(diagonal) != 1:
                raise ValueError(
                    f"Diagonal length (index {j}: {len(diagonal)} at offset {offset}) does not agree with array size "
                    f"({m}, {n})."
                ) from error
            raise
    return dia_array((data, offsets), shape=(m, n)).asformat(format)


def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None) -> sparray:
    """Like `diags_array`, but a matrix of SciPy's old kind (``*`` is the product); waits for copies."""
    return _as_matrix(diags_array(diagonals, offsets=offsets, shape=shape, format=format, dtype=dtype))


def _as_matrix(array: Any) -> sparray:
    import rtcg.sparse

    return getattr(rtcg.sparse, f"{array.format}_matrix")(array)


@converts(rng=as_rng, density=as_float, format=as_text, dtype=as_dtype)
def random_array(
    shape: Any,
    *,
    density: Any = 0.01,
    format: Any = "coo",
    dtype: Any = None,
    rng: Any = None,
    data_sampler: Any = None,
) -> sparray:
    """Random elements in [0, 1) at distinct random positions: a sparse array of `shape` and `format`.

    It has ``round(density * rows * columns)`` elements. Positions and uniform elements are drawn on the host by
    ``numpy.random.default_rng(rng)``; elements come from `data_sampler`, a function of a keyword `size`, if given.
    Integers are drawn from all that are not negative. Raises `ValueError` for a density outside [0, 1]. Waits for the
    copy to the device.
    """
    rows, columns = checked_shape(shape)
    if not 0 <= density <= 1:
        raise ValueError("density expected to be 0 <= density <= 1")
    rng = np.random.default_rng(rng)
    size = rows * columns
    count = int(round(density * size))
    places = rng.choice(size, count, replace=False, shuffle=False) if count else np.zeros(0, np.int64)
    dtype = np.dtype(np.float64 if dtype is None else dtype)
    if data_sampler is not None:
        data = data_sampler(size=count)
    elif dtype.kind in "iub":
        data = rng.integers(0, 2 if dtype.kind == "b" else np.iinfo(dtype).max, count, endpoint=True)
    else:
        data = rng.uniform(size=count) + (1j * rng.uniform(size=count) if dtype.kind == "c" else 0)
    row, col = np.divmod(places, max(1, columns))
    return coo_array((np.asarray(data).astype(dtype), (row, col)), shape=(rows, columns)).asformat(format)


def _triangle(a: Any, keep: Callable[[coo_array], Any], format: Any) -> sparray:
    coo = _as_coo(a)
    return coo._kept(keep(coo)).asformat(format)


@converts(A=as_matrix, k=as_integer, format=as_text)
def tril(A: Any, k: Any = 0, format: Any = None) -> sparray:
    """The elements on and below the `k`-th diagonal: a new sparse array of `format`, by default coordinates.

    `A` is a sparse array, or anything that `coo_array` takes; the dtype is kept. Waits for the number of elements.
    """
    return _triangle(A, lambda coo: coo.row.astype(np.int64) + k >= coo.col, format)


@converts(A=as_matrix, k=as_integer, format=as_text)
def triu(A: Any, k: Any = 0, format: Any = None) -> sparray:
    """The elements on and above the `k`-th diagonal: a new sparse array of `format`, by default coordinates.

    `A` is a sparse array, or anything that `coo_array` takes; the dtype is kept. Waits for the number of elements.
    """
    return _triangle(A, lambda coo: coo.row.astype(np.int64) + k <= coo.col, format)


@converts(blocks=as_sequence, format=as_text, dtype=as_dtype)
def block_array(blocks: Any, *, format: Any = None, dtype: Any = None) -> sparray:
    """A new sparse array from rows of blocks, given as nested lists, where None means a block of zeros.

    Blocks are sparse arrays, or anything that `coo_array` takes. Raises `ValueError` unless blocks in a row have the
    same height and blocks in a column the same width, and for a row or column with only None. The result has
    coordinates unless `format` is given, and the common dtype or `dtype`. Does not wait for sparse blocks, unless for
    another format.
    """
    grid = [[None if b is None else _as_coo(b) for b in row] for row in blocks]
    if not grid or any(len(row) != len(grid[0]) for row in grid):
        raise ValueError("blocks must be 2-D")
    heights, widths = [0] * len(grid), [0] * len(grid[0])
    for i, row in enumerate(grid):
        for j, block in enumerate(row):
            if block is None:
                continue
            for lengths, k, axis, name in ((heights, i, 0, "row"), (widths, j, 1, "column")):
                if lengths[k] not in (0, block.shape[axis]):
                    where = f"blocks[{i},:]" if axis == 0 else f"blocks[:,{j}]"
                    raise ValueError(
                        f"{where} has incompatible {name} dimensions. Got blocks[{i},{j}].shape[{axis}] == "
                        f"{block.shape[axis]}, expected {lengths[k]}."
                    )
                lengths[k] = block.shape[axis]
    for lengths, name in ((heights, "row"), (widths, "column")):
        if 0 in lengths and all(
            b is None for b in (grid[lengths.index(0)] if name == "row" else [r[lengths.index(0)] for r in grid])
        ):
            where = f"blocks[{lengths.index(0)},:]" if name == "row" else f"blocks[:,{lengths.index(0)}]"
            raise ValueError(f"{where} has no {name} dimensions: all of its blocks are None")
    tops, lefts = np.cumsum([0, *heights]), np.cumsum([0, *widths])
    parts = [
        (block, int(tops[i]), int(lefts[j]))
        for i, row in enumerate(grid)
        for j, block in enumerate(row)
        if block is not None
    ]
    blocks, rows, cols = zip(*parts, strict=True)
    result = _joined_coo(blocks, (int(tops[-1]), int(lefts[-1])), rows, cols)
    return (result if dtype is None else result.astype(dtype)).asformat(format)


@converts(blocks=as_sequence, format=as_text, dtype=as_dtype)
def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> sparray:
    """Stack arrays vertically, as `block_array` with one column, with the same errors and result.

    They have the same number of columns. Does not wait for sparse blocks, unless for another format.
    """
    return block_array([[block] for block in blocks], format=format, dtype=dtype)


@converts(blocks=as_sequence, format=as_text, dtype=as_dtype)
def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> sparray:
    """Stack arrays horizontally, as `block_array` with one row, with the same errors and result.

    They have the same number of rows. Does not wait for sparse blocks, unless for another format.
    """
    return block_array([list(blocks)], format=format, dtype=dtype)


@converts(mats=as_sequence, format=as_text, dtype=as_dtype)
def block_diag(mats: Any, format: Any = None, dtype: Any = None) -> sparray:
    """Arrays along the diagonal, and zeros elsewhere: a new sparse array of coordinates, or of `format`.

    `mats` are sparse arrays, or anything that `coo_array` takes, of any shape. Does not wait for sparse ones, unless
    for another format.
    """
    count = len(mats)
    return block_array(
        [[m if i == j else None for j in range(count)] for i, m in enumerate(mats)], format=format, dtype=dtype
    )


@converts(A=as_matrix, B=as_matrix, format=as_text)
def kron(A: Any, B: Any, format: Any = None) -> sparray:
    """The Kronecker product of two sparse arrays: a new one of coordinates, or of `format`.

    Operands may be anything that `coo_array` takes; the dtype is the common one. Does not wait for coordinate arrays
    and compressed rows, unless for another format.
    """
    a, b = (_as_coo(x) for x in (A, B))
    shape = a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]
    index = index_dtype(max(shape))

    def outer(left: Any, right: Any, scale: int) -> Any:
        return (left.astype(index).reshape((-1, 1)) * scale + right.astype(index)).ravel()

    data = (a.data.reshape((-1, 1)) * b.data).ravel()
    result = coo_array._of(shape, data, outer(a.row, b.row, b.shape[0]), outer(a.col, b.col, b.shape[1]))
    return result.asformat(format)


@converts(A=as_matrix, B=as_matrix, format=as_text)
def kronsum(A: Any, B: Any, format: Any = None) -> sparray:
    """The Kronecker sum, ``kron(I, A) + kron(B, I)``, of two square arrays: a new sparse array of rows or `format`.

    Raises `ValueError` unless both are square. Waits for the number of elements of the sum.
    """
    a, b = (x if issparse(x) else coo_array(x) for x in (A, B))
    if a.shape[0] != a.shape[1]:
        raise ValueError("A is not square matrix")
    if b.shape[0] != b.shape[1]:
        raise ValueError("B is not square matrix")
    dtype = np.result_type(a.dtype, b.dtype)
    left = kron(eye_array(b.shape[0], dtype=dtype), a)
    return (left + kron(b, eye_array(a.shape[0], dtype=dtype))).asformat(format)


@converts(A=as_matrix)
def find(A: Any) -> tuple[GPUArray, GPUArray, GPUArray]:
    """Rows, columns and values of the elements that are not 0, in row order: a tuple of three new arrays on the device.

    `A` is a sparse array, or anything that `coo_array` takes; duplicates are summed first. Waits for the number of
    elements.
    """
    coo = _as_coo(A)._canonical("csr")
    coo = coo._kept(coo.data != 0)
    return coo.row, coo.col, coo.data


@converts(data=as_sequence, m=as_integer, n=as_integer, format=as_text)
def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> sparray:
    """A matrix from diagonals, with the shape ``(m, n)`` or `m`, by diagonals or in `format`; waits for copies.

    `data` has one row for each of `diags`, aligned by columns as in `dia_matrix`. Raises `TypeError` without a shape.
    """
    if m is None and n is None:
        raise TypeError("m is None; expected the shape, or a number of rows and one of columns")
    shape = m if n is None else (m, n)
    return _as_matrix(dia_array((data, as_offsets("diags", diags)), shape=shape)).asformat(format)


def bmat(blocks: Any, format: Any = None, dtype: Any = None) -> sparray:
    """Like `block_array`, but a matrix of SciPy's old kind (``*`` is the product). Does not wait for sparse blocks."""
    return _as_matrix(block_array(blocks, format=format, dtype=dtype))


@converts(m=as_integer, n=as_integer)
def random(
    m: Any, n: Any, density: Any = 0.01, format: Any = "coo", dtype: Any = None, rng: Any = None, data_rvs: Any = None
) -> sparray:
    """Like `random_array`, but a matrix with `m` rows and `n` columns; waits for the copy to the device.

    `data_rvs` is a function that draws a given number of elements.
    """
    sampler = None if data_rvs is None else lambda size: data_rvs(size)
    made = random_array((m, n), density=density, format=format, dtype=dtype, rng=rng, data_sampler=sampler)
    return _as_matrix(made)


@converts(m=as_integer, n=as_integer)
def rand(m: Any, n: Any, density: Any = 0.01, format: Any = "coo", dtype: Any = None, rng: Any = None) -> sparray:
    """Like `random`, with uniform numbers in [0, 1): a matrix with `m` rows and `n` columns; waits for the copy."""
    return random(m, n, density, format, dtype, rng)


def save_npz(file: Any, matrix: Any, compressed: Any = True) -> None:
    """Write a sparse array to a file like `scipy.sparse.save_npz`, compressed or not; returns None and waits.

    `file` is a path or a file. Index arrays and elements are copied to the host.
    """
    parts = {"format": matrix.format.encode("ascii"), "shape": matrix.shape, "data": matrix.data.get()}
    if not matrix._is_matrix:
        parts["_is_array"] = True
    if matrix.format in ("csr", "csc", "bsr"):
        parts |= {"indices": matrix.indices.get(), "indptr": matrix.indptr.get()}
    elif matrix.format == "coo":
        parts |= {"row": matrix.row.get(), "col": matrix.col.get()}
    else:
        parts |= {"offsets": matrix._host_offsets}
    (np.savez_compressed if compressed else np.savez)(file, **parts)


def load_npz(file: Any) -> sparray:
    """Read a file of `save_npz` or of SciPy's: a new sparse array, or matrix, in the format of the file; waits.

    Raises `ValueError`, with the name of the file, if it is not such a file or has an unsupported format, and `OSError`
    if there is no such file.
    """
    name = file_name(file)
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as opened:
            return _array_of_parts(name, opened)
    return _array_of_parts(name, file)


def _array_of_parts(name: str, opened: Any) -> sparray:
    # Broken files make readers of archives raise errors of many types.
    try:
        with np.load(opened, allow_pickle=False) as archive:
            parts = {part: archive[part] for part in archive.files}
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        raise ValueError(f"{name}: it cannot be read; expected a file of save_npz ({text})") from error
    try:
        return _array_of(parts)
    except (ValueError, TypeError, OverflowError, IndexError, UnicodeError) as error:
        raise ValueError(f"{name}: {error}") from error


def _array_of(parts: dict[str, Any]) -> sparray:
    import rtcg.sparse

    if "format" not in parts:
        raise ValueError(f"it has {sorted(parts)}, and no 'format'; expected a file of save_npz")
    name = parts["format"].item()
    name = name.decode("ascii") if isinstance(name, bytes) else name
    needed = {"coo": (), "dia": ("offsets",)}.get(name, ("indices", "indptr"))
    if missing := [part for part in ("shape", "data", *needed) if part not in parts]:
        raise ValueError(f"{shown(missing[0])} is missing from an array of format {shown(name)}")
    kind = "array" if parts.get("_is_array") else "matrix"
    shape = tuple(int(n) for n in parts["shape"])
    container = getattr(rtcg.sparse, f"{name}_{kind}", None)
    if container is None:
        raise ValueError(f"a sparse array of format {shown(name)} is not supported")
    if name in ("csr", "csc", "bsr"):
        return container((parts["data"], parts["indices"], parts["indptr"]), shape=shape)
    if name == "coo":
        if "coords" not in parts and not ("row" in parts and "col" in parts):
            raise ValueError("neither 'coords' nor 'row' and 'col' are in an array of format 'coo'")
        coords = parts["coords"] if "coords" in parts else (parts["row"], parts["col"])
        return container((parts["data"], tuple(coords)), shape=shape)
    return container((parts["data"], parts["offsets"]), shape=shape)
