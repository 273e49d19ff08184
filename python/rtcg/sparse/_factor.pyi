"""Direct factorisations: computed by SciPy's SuperLU on the host, and applied on the device."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rtcg.numpy import GPUArray
from rtcg.sparse._compressed import csc_array
from rtcg.sparse._triangular import _NativeSolver

class SuperLU(_NativeSolver):
    """The LU factors of a sparse array, with ``Pr @ A @ Pc = L @ U``; made by `splu` and `spilu`.

    Systems are solved on the device. The object can be used as a preconditioner, also in graphs.
    """

    perm_r: np.ndarray
    perm_c: np.ndarray
    nnz: int
    def __init__(self, host: Any) -> None: ...
    @property
    def L(self) -> csc_array:
        """The lower factor with ones on its diagonal, as a `csc_array` on the device."""
    @property
    def U(self) -> csc_array:
        """The upper factor, as a `csc_array` on the device."""

def splu(
    A: Any,
    permc_spec: Any = None,
    diag_pivot_thresh: Any = None,
    relax: Any = None,
    panel_size: Any = None,
    options: Any = None,
) -> SuperLU:
    """The LU factors of a sparse array; see `scipy.sparse.linalg.splu`.

    `A` is copied to the host and factored there by SciPy's SuperLU, and the factors are copied to the device. The call
    waits for that.

    Parameters
    ----------
    A : sparse array
        Square; `csc_array` is not converted.
    permc_spec, diag_pivot_thresh, relax, panel_size, options
        As in SciPy.

    Returns
    -------
    SuperLU
        With ``solve(b, trans="N")``, which runs on the device and does not wait, `L`, `U`, `perm_r`, `perm_c`, `nnz`
        and `shape`.

    Raises
    ------
    ImportError
        If SciPy is not installed.
    ValueError
        If `A` is not square.
    RuntimeError
        If `A` is singular.
    """

def spilu(
    A: Any,
    drop_tol: Any = None,
    fill_factor: Any = None,
    drop_rule: Any = None,
    permc_spec: Any = None,
    diag_pivot_thresh: Any = None,
    relax: Any = None,
    panel_size: Any = None,
    options: Any = None,
) -> SuperLU:
    """The incomplete LU factors of a sparse array, with a drop tolerance; see `scipy.sparse.linalg.spilu`.

    `A` is factored on the host, as by `splu`, so that the call waits. `ilu0` and `ic0` factor on the device.

    Parameters
    ----------
    A : sparse array
        Square; `csc_array` is not converted.
    drop_tol, fill_factor, drop_rule, permc_spec, diag_pivot_thresh, relax, panel_size, options
        As in SciPy.

    Returns
    -------
    SuperLU
        As returned by `splu`.

    Raises
    ------
    ImportError
        If SciPy is not installed.
    ValueError
        If `A` is not square.
    RuntimeError
        If a factor is singular.
    """

def factorized(A: Any) -> Callable[..., GPUArray]:
    """A function that solves ``A @ x = b`` for any `b`; see `scipy.sparse.linalg.factorized`.

    `A` is factored on the host, so that the call waits; see `splu`.

    Returns
    -------
    callable
        The method `solve` of `splu`.
    """

def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True) -> Any:
    """The solution of ``A @ x = b`` by the LU factors of `A`; see `scipy.sparse.linalg.spsolve`.

    `A` is factored on the host, so that the call waits; see `splu`, which keeps the factors for further right-hand
    sides.

    Parameters
    ----------
    A : sparse array, shape (n, n)
    b : array or sparse array, shape (n,) or (n, k)
        A dense one may be on the device or on the host.
    permc_spec : str, optional
        As in SciPy.
    use_umfpack : bool
        Present for SciPy's signature; SuperLU is always used.

    Returns
    -------
    GPUArray or sparse array
        Of shape (n,) if `b` is a vector, also for shape (n, 1). A sparse `b` gives a sparse array in the format of `A`.
        A singular `A` gives NaN and a `scipy.sparse.linalg.MatrixRankWarning`.

    Raises
    ------
    ImportError
        If SciPy is not installed.
    ValueError
        If `A` is not square or `b` does not fit.
    """
