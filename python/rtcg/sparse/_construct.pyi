"""Making sparse arrays from numbers, and from each other."""

from typing import Any

from rtcg.numpy import GPUArray
from rtcg.sparse._base import sparray

def eye_array(m: Any, n: Any = None, *, k: Any = 0, dtype: Any = ..., format: Any = None) -> sparray:
    """Ones on the `k`-th diagonal of a sparse array of `m` rows and `n` (by default `m`) columns.

    Returns a `dia_array`, or one of `format`, of the dtype `dtype`. Raises `ValueError` for negative lengths. Waits for
    the copy to the device.
    """

def eye(m: Any, n: Any = None, k: Any = 0, dtype: Any = ..., format: Any = None) -> sparray:
    """As `eye_array`, as a matrix of SciPy's old kind (``*`` is the product); waits for the copy to the device."""

def identity(n: Any, dtype: Any = "d", format: Any = None) -> sparray:
    """The identity of `n` rows as a matrix of `format`, by default of diagonals; waits for the copy to the device."""

def diags_array(
    diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> sparray:
    """A sparse array of its diagonals, of `format` or by diagonals; waits for the copies to and from the device.

    `diagonals` are arrays, or one array or number for one of the `offsets`, above 0 those right of the main diagonal. A
    number, or one element, is repeated. `shape` is by default that of the smallest square. The dtype is the common one
    unless given. Raises `ValueError` when lengths and shape do not fit, or numbers of diagonals and offsets differ.
    """

def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None) -> sparray:
    """As `diags_array`, as a matrix of SciPy's old kind (``*`` is the product); waits for copies."""

def random_array(
    shape: Any,
    *,
    density: Any = 0.01,
    format: Any = "coo",
    dtype: Any = None,
    rng: Any = None,
    data_sampler: Any = None,
) -> sparray:
    """Random elements, uniform in [0, 1), in random places, all different: a sparse array of `shape` and `format`.

    ``round(density * rows * columns)`` of them. Places and elements are drawn on the host by
    ``numpy.random.default_rng(rng)``, and elements by `data_sampler`, a function of a keyword `size`, if given;
    integers are drawn from all from 0 on. Raises `ValueError` for a density outside [0, 1]. Waits for the copy to the
    device.
    """

def tril(A: Any, k: Any = 0, format: Any = None) -> sparray:
    """The elements on and below the `k`-th diagonal: a new sparse array of `format`, by default of triples.

    `A` is a sparse array, or anything `coo_array` takes; the dtype stays. Waits for the number of elements.
    """

def triu(A: Any, k: Any = 0, format: Any = None) -> sparray:
    """The elements on and above the `k`-th diagonal: a new sparse array of `format`, by default of triples.

    `A` is a sparse array, or anything `coo_array` takes; the dtype stays. Waits for the number of elements.
    """

def block_array(blocks: Any, *, format: Any = None, dtype: Any = None) -> sparray:
    """A new sparse array of blocks, lists of rows of them, of which None is one of zeros.

    Blocks are sparse arrays, or what `coo_array` takes, of the same height in a row and the same width in a column:
    else a `ValueError`, as for a row or column of None alone. The result is of triples unless `format` is given, and of
    the common dtype or `dtype`. Does not wait for sparse blocks; another format may.
    """

def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> sparray:
    """Arrays below each other, as `block_array` of one column, whose errors and result it has.

    They have the same number of columns. Does not wait for sparse blocks; another format may.
    """

def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> sparray:
    """Arrays beside each other, as `block_array` of one row, whose errors and result it has.

    They have the same number of rows. Does not wait for sparse blocks; another format may.
    """

def block_diag(mats: Any, format: Any = None, dtype: Any = None) -> sparray:
    """Arrays along the diagonal, zeros elsewhere: a new sparse array of triples, or of `format`.

    `mats` are sparse arrays, or what `coo_array` takes, of any shapes. Does not wait for sparse ones; another format
    may.
    """

def kron(A: Any, B: Any, format: Any = None) -> sparray:
    """The Kronecker product of two sparse arrays: a new one of triples, or of `format`.

    Operands may be anything `coo_array` takes; the dtype is the common one. Does not wait for sparse ones in triples or
    rows; another format may.
    """

def kronsum(A: Any, B: Any, format: Any = None) -> sparray:
    """The Kronecker sum, ``kron(I, A) + kron(B, I)``, of two square arrays: a new sparse array, in rows or of `format`.

    Raises `ValueError` unless both are square. Waits for the number of elements of the sum.
    """

def find(A: Any) -> tuple[GPUArray, GPUArray, GPUArray]:
    """Rows, columns and elements of what is not 0, in the order of rows: a tuple of three new arrays on the device.

    `A` is a sparse array, or anything `coo_array` takes; elements of one place are added up first. Waits for their
    number.
    """

def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> sparray:
    """A matrix of diagonals, of the shape ``(m, n)`` or `m`, by diagonals or of `format`; waits for copies.

    `data` has a row for each of `diags`, placed by its columns as in `dia_matrix`. Raises `TypeError` without a shape.
    """

def bmat(blocks: Any, format: Any = None, dtype: Any = None) -> sparray:
    """As `block_array`, as a matrix of SciPy's old kind (``*`` is the product). Does not wait for sparse blocks."""

def random(
    m: Any, n: Any, density: Any = 0.01, format: Any = "coo", dtype: Any = None, rng: Any = None, data_rvs: Any = None
) -> sparray:
    """As `random_array`, as a matrix of `m` rows and `n` columns; waits for the copy to the device.

    `data_rvs` is a function of a number of elements that draws them.
    """

def rand(m: Any, n: Any, density: Any = 0.01, format: Any = "coo", dtype: Any = None, rng: Any = None) -> sparray:
    """As `random`, of uniform numbers in [0, 1): a matrix of `m` rows and `n` columns; waits for the copy."""

def save_npz(file: Any, matrix: Any, compressed: Any = True) -> None:
    """Write a sparse array to a file as `scipy.sparse.save_npz` does, compressed or not; returns None and waits.

    `file` is a path or a file. Index arrays and elements are copied to the host.
    """

def load_npz(file: Any) -> sparray:
    """Read a file of `save_npz`, also of SciPy's: a new sparse array, or matrix, of the format that was written; waits.

    Raises `ValueError` that names the file when it is none of these, or of a format that is missing here, and `OSError`
    when there is none.
    """
