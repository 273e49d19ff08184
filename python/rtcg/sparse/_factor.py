"""Direct factorisations: computed by SciPy's SuperLU on the host, and applied on the device."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_flag, converts
from rtcg.numpy import GPUArray
from rtcg.sparse._base import SparseEfficiencyWarning, issparse
from rtcg.sparse._operands import as_matrix, refuse_host_matrix, to_device
from rtcg.sparse._triangular import _NativeSolver, make_native

if TYPE_CHECKING:
    from rtcg.sparse._compressed import csc_array


def _host_linalg(name: str) -> Any:
    try:
        import scipy.sparse.linalg
    except ImportError:
        raise ImportError(
            f"{name} factors on the host with the SuperLU of SciPy, which is not installed; install scipy, or solve by "
            "iterations with rtcg.sparse.linalg.ilu0 or ic0 as M"
        ) from None
    return scipy.sparse.linalg


class SuperLU(_NativeSolver):
    """The LU factors of a sparse array, with ``Pr @ A @ Pc = L @ U``; made by `splu` and `spilu`.

    Systems are solved on the device. The object can be used as a preconditioner, also in graphs.
    """

    def __init__(self, host: Any) -> None:
        from rtcg.sparse import csr_array

        #: Row `i` of `A` is row ``perm_r[i]`` of ``L @ U``; on the host.
        self.perm_r: np.ndarray[Any, Any] = host.perm_r
        #: Column `i` of `A` is column ``perm_c[i]`` of ``L @ U``; on the host.
        self.perm_c: np.ndarray[Any, Any] = host.perm_c
        #: Stored elements of both factors.
        self.nnz: int = host.nnz
        self._factors = csr_array(host.L.tocsr()), csr_array(host.U.tocsr())
        source, target = (to_device(np.argsort(perm), np.int64) for perm in (self.perm_r, self.perm_c))
        lower, upper = self._factors
        first = make_native(lambda m: _native.sparse_triangular(m, True, True, source, None), lower)
        second = make_native(lambda m: _native.sparse_triangular(m, False, False, None, target), upper)
        super().__init__(host.shape, lower.dtype, _native.TriangularFactors(first, second))

    @property
    def L(self) -> csc_array:
        """The lower factor with ones on its diagonal, as a `csc_array` on the device."""
        factor: Any = self._factors[0].tocsc()
        return factor

    @property
    def U(self) -> csc_array:
        """The upper factor, as a `csc_array` on the device."""
        factor: Any = self._factors[1].tocsc()
        return factor


def _factor(name: str, A: Any, **options: Any) -> SuperLU:
    linalg = _host_linalg(name)
    if not issparse(A) or A.format != "csc":
        from rtcg.sparse import csc_array

        warnings.warn(f"{name} converted its input to CSC format", SparseEfficiencyWarning, stacklevel=3)
        A = csc_array(A)
    if A.shape[0] != A.shape[1]:
        raise ValueError("can only factor square matrices")
    dtype = A.dtype if A.dtype.char in "fdFD" else np.float64
    return SuperLU(getattr(linalg, name)(A.astype(dtype, copy=False).get(), **options))


@converts(A=as_matrix)
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
    return _factor(
        "splu",
        A,
        permc_spec=permc_spec,
        diag_pivot_thresh=diag_pivot_thresh,
        relax=relax,
        panel_size=panel_size,
        options=options or {},
    )


def spilu(
    A: Any, drop_tol: Any = None, fill_factor: Any = None, drop_rule: Any = None, permc_spec: Any = None,
    diag_pivot_thresh: Any = None, relax: Any = None, panel_size: Any = None, options: Any = None,
) -> SuperLU:  # fmt: skip
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
    return _factor(
        "spilu",
        A,
        drop_tol=drop_tol,
        fill_factor=fill_factor,
        drop_rule=drop_rule,
        permc_spec=permc_spec,
        diag_pivot_thresh=diag_pivot_thresh,
        relax=relax,
        panel_size=panel_size,
        options=options or {},
    )


@converts(A=as_matrix)
def factorized(A: Any) -> Callable[..., GPUArray]:
    """A function that solves ``A @ x = b`` for any `b`; see `scipy.sparse.linalg.factorized`.

    `A` is factored on the host, so that the call waits; see `splu`.

    Returns
    -------
    callable
        The method `solve` of `splu`.
    """
    return splu(A).solve


@converts(A=as_matrix, use_umfpack=as_flag)
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
    linalg = _host_linalg("spsolve")
    if not issparse(A) or A.format not in ("csc", "csr"):
        from rtcg.sparse import csc_array

        warnings.warn("spsolve requires A be CSC or CSR matrix format", SparseEfficiencyWarning, stacklevel=2)
        A = csc_array(A)
    refuse_host_matrix(b)
    is_sparse = issparse(b)
    b = b if is_sparse or isinstance(b, GPUArray) else np.asarray(b)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"matrix must be square (has shape {A.shape})")
    if b.ndim not in (1, 2) or b.shape[0] != A.shape[0]:
        raise ValueError(f"matrix - rhs dimension mismatch ({A.shape} - {b.shape[0] if b.ndim else b.shape})")
    dtype = np.promote_types(np.promote_types(A.dtype, np.float32), b.dtype)
    is_vector = b.ndim == 1 or (b.ndim == 2 and b.shape[1] == 1)
    right = to_device(b.toarray() if is_sparse else b, dtype)
    try:
        x = splu(A.tocsc().astype(dtype, copy=False), permc_spec=permc_spec).solve(right)
    except RuntimeError as error:
        if "singular" not in str(error):
            raise
        warnings.warn("Matrix is exactly singular", linalg.MatrixRankWarning, stacklevel=2)
        x = _xp.full(right.shape, np.nan, dtype)
    if is_sparse:
        return A._container(A.format)(x.reshape(b.shape))
    return x.ravel() if is_vector else x
