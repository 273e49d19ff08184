"""Making sparse arrays from numbers, and from each other."""

from typing import Any

from rtcg.numpy import GPUArray
from rtcg.sparse._base import sparray

def add_sparse(a: Any, b: Any) -> Any:
    """The sum of two arrays in compressed sparse rows, without zeros; waits for the number of its elements."""

def multiply_elements(a: Any, b: Any) -> Any:
    """The product of two arrays element by element, in compressed sparse rows."""

def eye_array(m: Any, n: Any = None, *, k: Any = 0, dtype: Any = ..., format: Any = None) -> sparray:
    """Ones on the `k`-th diagonal; see `scipy.sparse.eye_array`."""

def eye(m: Any, n: Any = None, k: Any = 0, dtype: Any = ..., format: Any = None) -> sparray:
    """As `eye_array`, as a matrix; see `scipy.sparse.eye`."""

def identity(n: Any, dtype: Any = "d", format: Any = None) -> sparray:
    """The identity as a matrix; see `scipy.sparse.identity`."""

def diags_array(
    diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> sparray:
    """An array of its diagonals; see `scipy.sparse.diags_array`."""

def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None) -> sparray:
    """As `diags_array`, as a matrix; see `scipy.sparse.diags`."""

def random_array(
    shape: Any,
    *,
    density: Any = 0.01,
    format: Any = "coo",
    dtype: Any = None,
    rng: Any = None,
    data_sampler: Any = None,
) -> sparray:
    """Random elements in random places; see `scipy.sparse.random_array`. Places are drawn on the host."""

def tril(A: Any, k: Any = 0, format: Any = None) -> sparray:
    """What is on and below the `k`-th diagonal; see `scipy.sparse.tril`. Waits for the number of elements."""

def triu(A: Any, k: Any = 0, format: Any = None) -> sparray:
    """What is on and above the `k`-th diagonal; see `scipy.sparse.triu`. Waits for the number of elements."""

def block_array(blocks: Any, *, format: Any = None, dtype: Any = None) -> sparray:
    """An array of blocks, of which None is one of zeros; see `scipy.sparse.block_array`."""

def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> sparray:
    """Arrays below each other; see `scipy.sparse.vstack`."""

def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> sparray:
    """Arrays beside each other; see `scipy.sparse.hstack`."""

def block_diag(mats: Any, format: Any = None, dtype: Any = None) -> sparray:
    """Arrays along the diagonal; see `scipy.sparse.block_diag`."""

def kron(A: Any, B: Any, format: Any = None) -> sparray:
    """The Kronecker product; see `scipy.sparse.kron`. Does not wait."""

def kronsum(A: Any, B: Any, format: Any = None) -> sparray:
    """The sum of `kron` with identities from both sides; see `scipy.sparse.kronsum`."""

def find(A: Any) -> tuple[GPUArray, GPUArray, GPUArray]:
    """Rows, columns and elements of what is not 0; see `scipy.sparse.find`. Waits for their number."""

def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> sparray:
    """A matrix of diagonals as `dia_matrix` has them; see `scipy.sparse.spdiags`."""

def bmat(blocks: Any, format: Any = None, dtype: Any = None) -> sparray:
    """As `block_array`, as a matrix; see `scipy.sparse.bmat`."""

def random(
    m: Any, n: Any, density: Any = 0.01, format: Any = "coo", dtype: Any = None, rng: Any = None, data_rvs: Any = None
) -> sparray:
    """As `random_array`, as a matrix; see `scipy.sparse.random`."""

def rand(m: Any, n: Any, density: Any = 0.01, format: Any = "coo", dtype: Any = None, rng: Any = None) -> sparray:
    """As `random`, of uniform numbers; see `scipy.sparse.rand`."""

def save_npz(file: Any, matrix: Any, compressed: Any = True) -> None:
    """Writes an array as `scipy.sparse.save_npz` does; waits."""

def load_npz(file: Any) -> sparray:
    """Reads what `save_npz`, or that of `scipy.sparse`, has written; waits."""
