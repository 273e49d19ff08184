"""Preconditioners for `rtcg.sparse.linalg`: approximations of the inverse of a matrix, as operators."""

from typing import Any

import numpy as np

from rtcg.sparse._operators import LinearOperator as LinearOperator

def jacobi(A: Any) -> Any:
    """The inverse of the diagonal, as a `dia_array`, which solvers fuse into their kernels.

    Waits for the diagonal.

    Raises
    ------
    ValueError
        If `A` is not square, or has a 0 on its diagonal.
    """

def block_jacobi(A: Any, blocksize: Any) -> Any:
    """The inverse of the diagonal blocks of `blocksize` rows and columns, as a `csr_array`.

    The number of rows must be a multiple of `blocksize`. Blocks are gathered and inverted on the host, for which the
    call waits; products run on the device, also in graphs.

    Raises
    ------
    ValueError
        If `A` is not square, `blocksize` does not divide the number of rows, or a block is singular.
    """

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
