"""Preconditioners for `rtcg.sparse.linalg`: approximations of the inverse of a matrix, as operators."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native
from rtcg._conversions import as_dtype, as_float, as_integer, as_sequence, converts
from rtcg.sparse._base import issparse
from rtcg.sparse._operands import to_device
from rtcg.sparse._operators import LinearOperator

if TYPE_CHECKING:
    from rtcg.numpy import GPUArray


def _square(A: Any) -> Any:
    if not issparse(A):
        raise TypeError(f"A is a {type(A).__name__}; expected a sparse array")
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"expected square matrix, but got shape={A.shape}")
    return A


def _diagonal(A: Any) -> np.ndarray[Any, Any]:
    diagonal = A.diagonal()
    diagonal = diagonal.get() if hasattr(diagonal, "get") else np.asarray(diagonal)
    if not diagonal.all():
        raise ValueError(f"the diagonal of A has a 0 in row {int(np.flatnonzero(diagonal == 0)[0])}")
    return diagonal


def jacobi(A: Any) -> Any:
    """The inverse of the diagonal, as a `dia_array`, which solvers fuse into their kernels.

    Waits for the diagonal.

    Raises
    ------
    ValueError
        If `A` is not square, or has a 0 on its diagonal.
    """
    from rtcg.sparse import diags_array

    return diags_array(1 / _diagonal(_square(A)), dtype=A.dtype)


@converts(blocksize=as_integer)
def block_jacobi(A: Any, blocksize: Any) -> Any:
    """The inverse of the diagonal blocks of `blocksize` rows and columns, as a `csr_array`.

    The number of rows must be a multiple of `blocksize`. Blocks are gathered and inverted on the host, for which the
    call waits; products run on the device, also in graphs.

    Raises
    ------
    ValueError
        If `A` is not square, `blocksize` does not divide the number of rows, or a block is singular.
    """
    from rtcg.sparse import csr_array

    n, size = _square(A).shape[0], operator.index(blocksize)
    if size < 1 or n % size:
        raise ValueError(f"blocksize is {size}; expected a divisor of the {n} rows of A")
    triples = A.tocoo()
    rows, columns, values = triples.row.get(), triples.col.get(), triples.data.get()
    inside = rows // size == columns // size
    rows, columns, values = rows[inside], columns[inside], values[inside]
    blocks = np.zeros((n // size, size, size), A.dtype)
    np.add.at(blocks, (rows // size, rows % size, columns % size), values)
    try:
        inverses = np.linalg.inv(blocks)
    except np.linalg.LinAlgError as error:
        raise ValueError("a diagonal block of A is singular") from error
    places = np.arange(n).reshape(-1, 1, size).repeat(size, axis=1)
    starts = np.arange(0, n * size + 1, size)
    return csr_array((inverses.ravel().astype(A.dtype), places.ravel(), starts), shape=A.shape)


@converts(bounds=as_sequence, degree=as_integer)
def chebyshev(A: Any, degree: Any = 4, bounds: Any = None) -> Any:
    """A Chebyshev polynomial of ``D**-1 @ A`` applied to ``D**-1``, where `D` is the diagonal of `A`.

    For Hermitian positive definite `A`. It needs `degree` - 1 products and no inner products, and is positive definite
    itself.

    Parameters
    ----------
    A : sparse array
    degree : int
        The number of terms of the polynomial, at least 1.
    bounds : (float, float), optional
        Bounds of the eigenvalues of ``D**-1 @ A`` to damp. By default, the upper bound is the largest sum of absolute
        values in a row, and the lower one a thirtieth of it.

    Returns
    -------
    LinearOperator
        Launches kernels one by one, without waiting. (Saad, Iterative Methods for Sparse Linear Systems, section 12.3)
    """
    diagonal = _diagonal(_square(A))
    degree = operator.index(degree)
    if degree < 1:
        raise ValueError(f"degree is {degree}; expected at least 1")
    if bounds is None:
        sums = abs(A.tocsr()).sum(axis=1)
        upper = float(np.max(sums.get().ravel() / abs(diagonal)))
        bounds = upper / 30, upper
    low, high = (float(bound) for bound in bounds)
    if not 0 < low < high:
        raise ValueError(f"bounds are ({low}, {high}); expected 0 < low < high")
    csr, inverse = A.tocsr(), to_device(1 / diagonal, A.dtype)
    middle, half = (high + low) / 2, (high - low) / 2
    sigma = middle / half

    def apply(r: GPUArray) -> GPUArray:
        rho = 1 / sigma
        step = inverse * r * (1 / middle)
        x = step
        for _ in range(degree - 1):
            newer = 1 / (2 * sigma - rho)
            step = (rho * newer) * step + (2 * newer / half) * (inverse * (r - csr @ x))
            x, rho = x + step, newer
        return x

    return LinearOperator(A.shape, apply, apply, dtype=A.dtype)


class _CycleOperator(LinearOperator):
    """A native V-cycle, which solvers launch directly."""

    def __init__(self, shape: tuple[int, ...], dtype: Any, native: Any) -> None:
        super().__init__(shape, native.matvec, dtype=dtype)
        self._native_handle = native


@converts(sweeps=as_integer, omega=as_float, dtype=as_dtype)
def amg(ml: Any, *, sweeps: Any = 1, omega: Any = 4 / 3, dtype: Any = np.float64) -> Any:
    """A V-cycle of a PyAMG hierarchy on the device.

    The levels are copied to the device. The smoother is always the Jacobi method, damped by `omega` over the spectral
    radius of ``D**-1 @ A``, because Gauss-Seidel is sequential. For a hierarchy built with ``presmoother=("jacobi",
    {"omega": omega})`` and the same `postsmoother`, results are PyAMG's. The coarsest system is solved with its
    pseudo-inverse.

    Parameters
    ----------
    ml : pyamg.MultilevelSolver
        Or any object with `levels`, each of which has `A` and, except the last, `P` and `R` as SciPy matrices.
    sweeps : int
        The number of smoothing sweeps before and after the correction.
    omega : float
    dtype : data-type
        The dtype of the vectors.

    Returns
    -------
    LinearOperator
        Does not wait. Can be used in graphs.
    """
    from rtcg.sparse import csr_array

    if not getattr(ml, "levels", None):
        raise TypeError(f"ml is a {type(ml).__name__}; expected a hierarchy with levels, such as one of PyAMG")
    upload = lambda matrix: csr_array(matrix.tocsr().astype(dtype))._native  # noqa: E731
    levels = []
    for level in ml.levels[:-1]:
        diagonal = level.A.diagonal()
        if not diagonal.all():
            raise ValueError("a matrix of the hierarchy has a 0 on its diagonal")
        smoother = to_device(omega / _spectral_radius(level.A, diagonal) / diagonal, np.dtype(dtype))
        levels.append((upload(level.A), upload(level.P), upload(level.R), smoother))
    coarsest = csr_array(np.linalg.pinv(ml.levels[-1].A.toarray()).astype(dtype))._native
    native = _native.VCycle(levels, coarsest, operator.index(sweeps))
    return _CycleOperator(ml.levels[0].A.shape, dtype, native)


def _spectral_radius(A: Any, diagonal: np.ndarray[Any, Any], iterations: int = 15) -> Any:
    """The spectral radius of the inverse diagonal times `A`: PyAMG's value if known, else by power iteration."""
    if (known := getattr(A, "rho_D_inv", None)) is not None:
        return known
    x = np.random.default_rng(0).random(A.shape[0])
    radius = 1.0
    for _ in range(iterations):
        x = A @ x / diagonal
        radius = float(np.linalg.norm(x))
        x = x / radius
    return radius
