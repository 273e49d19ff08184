"""Preconditioners for `rtcg.sparse.linalg`: approximations of the inverse of a matrix, as operators."""

from typing import Any

import numpy as np

from rtcg.sparse._operators import LinearOperator as LinearOperator

def jacobi(A: Any) -> Any:
    """The inverse of the diagonal, as a `dia_array`, which takes part in the kernels of a solver.

    Waits for the diagonal.

    Raises
    ------
    ValueError
        If `A` is not square, or has a 0 on its diagonal.
    """

def block_jacobi(A: Any, blocksize: Any) -> Any:
    """The inverse of the diagonal blocks of `blocksize` rows and columns, as a `csr_array`.

    The number of rows is a multiple of `blocksize`. Blocks are gathered and inverted on the host, which waits; products
    are on the device, also in graphs.

    Raises
    ------
    ValueError
        If `A` is not square, `blocksize` does not divide the number of rows, or a block is singular.
    """

def chebyshev(A: Any, degree: Any = 4, bounds: Any = None) -> Any:
    """A Chebyshev polynomial of ``D**-1 @ A`` applied to ``D**-1``, where `D` is the diagonal of `A`.

    For Hermitian positive definite `A`. It takes `degree` - 1 products and no scalars, and is positive definite itself.

    Parameters
    ----------
    A : sparse array
    degree : int
        Terms of the polynomial, at least 1.
    bounds : (float, float), optional
        Bounds of the eigenvalues of ``D**-1 @ A`` that are to be damped. Unless given, the upper one is the largest sum
        of absolute values in a row, and the lower one a thirtieth of it.

    Returns
    -------
    LinearOperator
        Launches kernels one by one; it does not wait. (Saad, Iterative Methods for Sparse Linear Systems, section 12.3)
    """

def amg(ml: Any, *, sweeps: Any = 1, omega: Any = 4 / 3, dtype: Any = np.float64) -> Any:
    """A V-cycle of a PyAMG hierarchy on the device.

    The levels are copied to the device. Smoothing is Jacobi's method damped by `omega` over the spectral radius of
    ``D**-1 @ A``, whatever smoother the hierarchy names, because Gauss and Seidel's method is sequential; for a
    hierarchy
    that was made with ``presmoother=("jacobi", {"omega": omega})`` and the same for `postsmoother`, results are
    PyAMG's.
    The coarsest system is multiplied by its pseudo-inverse.

    Parameters
    ----------
    ml : pyamg.MultilevelSolver
        Or anything with `levels`, each with `A`, and `P` and `R` but for the last, which are matrices of SciPy.
    sweeps : int
        Of the smoother before and after the correction.
    omega : float
    dtype : data-type
        The one of the vectors that it is applied to.

    Returns
    -------
    LinearOperator
        Does not wait. Graphs can have it.
    """
