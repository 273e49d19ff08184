"""Constructing sparse arrays from numbers and from other arrays."""

from typing import Any

from rtcg.numpy import GPUArray
from rtcg.sparse._base import sparray

def eye_array(m: Any, n: Any = None, *, k: Any = 0, dtype: Any = ..., format: Any = None) -> sparray:
    """Ones on the `k`-th diagonal of a sparse array with `m` rows and `n` (by default `m`) columns.

    Returns a `dia_array`, or one of `format`, of the dtype `dtype`. Raises `ValueError` for negative lengths. Waits for
    the copy to the device.
    """

def eye(m: Any, n: Any = None, k: Any = 0, dtype: Any = ..., format: Any = None) -> sparray:
    """Like `eye_array`, but a matrix of SciPy's old kind (``*`` is the product); waits for the copy to the device."""

def identity(n: Any, dtype: Any = "d", format: Any = None) -> sparray:
    """The identity with `n` rows as a matrix of `format`, by default of diagonals; waits for the copy to the device."""

def diags_array(
    diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> sparray:
    """A sparse array from its diagonals, in `format` or by diagonals; waits for the copies to and from the device.

    `diagonals` are arrays, or a single array or number for a single one of the `offsets`, which are positive right of
    the main diagonal. A number, or a single element, is repeated. `shape` is by default that of the smallest square.
    The dtype is the common one unless given. Raises `ValueError` if lengths and shape do not fit, or the numbers of
    diagonals and offsets differ.
    """

def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None) -> sparray:
    """Like `diags_array`, but a matrix of SciPy's old kind (``*`` is the product); waits for copies."""

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

def tril(A: Any, k: Any = 0, format: Any = None) -> sparray:
    """The elements on and below the `k`-th diagonal: a new sparse array of `format`, by default coordinates.

    `A` is a sparse array, or anything that `coo_array` takes; the dtype is kept. Waits for the number of elements.
    """

def triu(A: Any, k: Any = 0, format: Any = None) -> sparray:
    """The elements on and above the `k`-th diagonal: a new sparse array of `format`, by default coordinates.

    `A` is a sparse array, or anything that `coo_array` takes; the dtype is kept. Waits for the number of elements.
    """

def block_array(blocks: Any, *, format: Any = None, dtype: Any = None) -> sparray:
    """A new sparse array from rows of blocks, given as nested lists, where None means a block of zeros.

    Blocks are sparse arrays, or anything that `coo_array` takes. Raises `ValueError` unless blocks in a row have the
    same height and blocks in a column the same width, and for a row or column with only None. The result has
    coordinates unless `format` is given, and the common dtype or `dtype`. Does not wait for sparse blocks, unless for
    another format.
    """

def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> sparray:
    """Stack arrays vertically, as `block_array` with one column, with the same errors and result.

    They have the same number of columns. Does not wait for sparse blocks, unless for another format.
    """

def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> sparray:
    """Stack arrays horizontally, as `block_array` with one row, with the same errors and result.

    They have the same number of rows. Does not wait for sparse blocks, unless for another format.
    """

def block_diag(mats: Any, format: Any = None, dtype: Any = None) -> sparray:
    """Arrays along the diagonal, and zeros elsewhere: a new sparse array of coordinates, or of `format`.

    `mats` are sparse arrays, or anything that `coo_array` takes, of any shape. Does not wait for sparse ones, unless
    for another format.
    """

def kron(A: Any, B: Any, format: Any = None) -> sparray:
    """The Kronecker product of two sparse arrays: a new one of coordinates, or of `format`.

    Operands may be anything that `coo_array` takes; the dtype is the common one. Does not wait for coordinate arrays
    and compressed rows, unless for another format.
    """

def kronsum(A: Any, B: Any, format: Any = None) -> sparray:
    """The Kronecker sum, ``kron(I, A) + kron(B, I)``, of two square arrays: a new sparse array of rows or `format`.

    Raises `ValueError` unless both are square. Waits for the number of elements of the sum.
    """

def find(A: Any) -> tuple[GPUArray, GPUArray, GPUArray]:
    """Rows, columns and values of the elements that are not 0, in row order: a tuple of three new arrays on the device.

    `A` is a sparse array, or anything that `coo_array` takes; duplicates are summed first. Waits for the number of
    elements.
    """

def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> sparray:
    """A matrix from diagonals, with the shape ``(m, n)`` or `m`, by diagonals or in `format`; waits for copies.

    `data` has one row for each of `diags`, aligned by columns as in `dia_matrix`. Raises `TypeError` without a shape.
    """

def bmat(blocks: Any, format: Any = None, dtype: Any = None) -> sparray:
    """Like `block_array`, but a matrix of SciPy's old kind (``*`` is the product). Does not wait for sparse blocks."""

def random(
    m: Any, n: Any, density: Any = 0.01, format: Any = "coo", dtype: Any = None, rng: Any = None, data_rvs: Any = None
) -> sparray:
    """Like `random_array`, but a matrix with `m` rows and `n` columns; waits for the copy to the device.

    `data_rvs` is a function that draws a given number of elements.
    """

def rand(m: Any, n: Any, density: Any = 0.01, format: Any = "coo", dtype: Any = None, rng: Any = None) -> sparray:
    """Like `random`, with uniform numbers in [0, 1): a matrix with `m` rows and `n` columns; waits for the copy."""

def save_npz(file: Any, matrix: Any, compressed: Any = True) -> None:
    """Write a sparse array to a file like `scipy.sparse.save_npz`, compressed or not; returns None and waits.

    `file` is a path or a file. Index arrays and elements are copied to the host.
    """

def load_npz(file: Any) -> sparray:
    """Read a file of `save_npz` or of SciPy's: a new sparse array, or matrix, in the format of the file; waits.

    Raises `ValueError`, with the name of the file, if it is not such a file or has an unsupported format, and `OSError`
    if there is no such file.
    """
