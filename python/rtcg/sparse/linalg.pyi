"""Iterative solvers on the device under the names of `scipy.sparse.linalg`.

Scalars of iterations stay on the device. The host enqueues iterations and polls for results; it waits once, at the end.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rtcg.sparse._base import sparray
from rtcg.sparse._eigen import (
    ArpackError as ArpackError,
    ArpackNoConvergence as ArpackNoConvergence,
    eigsh as eigsh,
    lobpcg as lobpcg,
    svds as svds,
)
from rtcg.sparse._expm import expm_multiply as expm_multiply
from rtcg.sparse._norm_estimate import onenormest as onenormest
from rtcg.sparse._norms import norm as norm
from rtcg.sparse._operators import LinearOperator as LinearOperator, aslinearoperator as aslinearoperator
from rtcg.sparse._preconditioners import (
    amg as amg,
    block_jacobi as block_jacobi,
    chebyshev as chebyshev,
    jacobi as jacobi,
)

__all__ = [
    "ArpackError",
    "ArpackNoConvergence",
    "LinearOperator",
    "SolverReport",
    "amg",
    "aslinearoperator",
    "bicg",
    "bicgstab",
    "block_jacobi",
    "cg",
    "cgs",
    "chebyshev",
    "eigsh",
    "expm_multiply",
    "gmres",
    "jacobi",
    "lobpcg",
    "lsmr",
    "lsqr",
    "matrix_power",
    "minres",
    "norm",
    "onenormest",
    "qmr",
    "svds",
    "tfqmr",
]

@dataclass
class SolverReport:
    """How a solution was found."""

    reason: str
    iterations: int
    wasted_iterations: int
    restarts: int
    waits_in_loop: int
    waits_at_end: int
    residual: float
    recurrence_residual: float
    threshold: float
    negative_curvature: int
    mode: str
    history: np.ndarray | None

def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
    check_every: Any = None,
    mode: Any = "auto",
    return_report: Any = False,
) -> Any:
    """The solution of ``A @ x = b`` for a Hermitian positive definite `A`, by conjugate gradients.

    See `scipy.sparse.linalg.cg`. Iterations are those of Hestenes and Stiefel (1952) with the arithmetic of SciPy;
    sums of products are kept in double precision whatever the dtype is.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are given a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1)
        The dtype of the solution is float32, float64, complex64 or complex128, whatever `A` and `b` promote to.
    x0 : array, optional
        Where to begin; it is not written. Zeros unless given.
    rtol, atol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    maxiter : int, optional
        The most iterations: ten times n unless given.
    M : as `A`, optional
        A preconditioner: an approximation of the inverse of `A`. A `dia_array` of the main diagonal alone takes part in
        the three kernels of an iteration.
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that further iterations change.
    check_every : int, optional
        Iterations between two looks at the residual: 20, and always 1 with a callback.
    mode : {"auto", "stream", "graph", "device"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, or as one graph with a
        loop (on the virtual GPU only). Graphs need a sparse `A`, a sparse `M` or none, and no callback. All modes give
        the same bits.
    return_report : bool
        Whether a `SolverReport` is returned too.

    Returns
    -------
    x : GPUArray of shape (n,)
    info : int
        0 if the residual, computed from `x` once more, is small enough; else the number of iterations, or -1 if there
        was no way on (a direction with ``d @ A @ d`` 0 or not finite).
    report : SolverReport
        With `return_report`.

    Notes
    -----
    The host does not wait in the loop. It waits once at the end, for the residual computed from `x`.
    """

def bicg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
    check_every: Any = None,
    mode: Any = "auto",
    return_report: Any = False,
) -> Any:
    """The solution of ``A @ x = b`` by biconjugate gradients (Fletcher 1976).

    See `scipy.sparse.linalg.bicg`. `A`, and `M` if it is no diagonal, need ``rmatvec`` where they are no sparse arrays;
    the adjoint of a sparse array is made once a call. Parameters, results and waits are those of `cg`. `info`
    is -10 or -11 where a product that is divided by is 0.
    """

def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
    check_every: Any = None,
    mode: Any = "auto",
    return_report: Any = False,
) -> Any:
    """The solution of ``A @ x = b`` by stabilised biconjugate gradients (van der Vorst 1992).

    See `scipy.sparse.linalg.bicgstab`. Parameters, results and waits are those of `cg`. `info` is -10 or -11 where a
    product that is divided by is 0.
    """

def cgs(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
    check_every: Any = None,
    mode: Any = "auto",
    return_report: Any = False,
) -> Any:
    """The solution of ``A @ x = b`` by conjugate gradients squared (Sonneveld 1989).

    See `scipy.sparse.linalg.cgs`. Parameters, results and waits are those of `cg`. `info` is -10 or -11 where a product
    that is divided by is 0.
    """

def tfqmr(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
    check_every: Any = None,
    mode: Any = "auto",
    return_report: Any = False,
) -> Any:
    """The solution of ``A @ x = b`` by transpose-free quasi-minimal residuals (Freund 1993).

    See `scipy.sparse.linalg.tfqmr`. Parameters, results and waits are those of `cg`. Iterations are made in pairs, and
    a callback is called after each pair. `M` stands on the right of `A`, so that residuals are those of the system.
    """

def qmr(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    maxiter: Any = None,
    M1: Any = None,
    M2: Any = None,
    callback: Any = None,
    check_every: Any = None,
    mode: Any = "auto",
    return_report: Any = False,
) -> Any:
    """The solution of ``A @ x = b`` by quasi-minimal residuals (Freund and Nachtigal 1994).

    See `scipy.sparse.linalg.qmr`. `M1` and `M2` are a left and a right preconditioner. Operators need ``rmatvec`` where
    they are no sparse arrays. Parameters, results and waits are those of `cg`. `info` is -10 to -15 where a number that
    is divided by is nearly 0.
    """

def minres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    shift: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
    check_every: Any = None,
    mode: Any = "auto",
    return_report: Any = False,
) -> Any:
    """The solution of ``(A - shift * I) @ x = b`` for a Hermitian `A` by minimal residuals.

    Paige and Saunders (1975); see `scipy.sparse.linalg.minres`. `A` may be indefinite or singular; `M` is
    positive definite. Iterations end when the
    residual is small beside ``norm(A) * norm(x)``, or ``A @ r`` beside ``norm(A) * norm(r)``, as `rtol` says. Other
    parameters, results and waits are those of `cg`; nothing is computed anew after the end but the residual.

    Raises
    ------
    ValueError
        If `M` is found to be indefinite, or `A` not to be Hermitian.
    """

def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    restart: Any = None,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
    callback_type: Any = None,
    mode: Any = "auto",
    return_report: Any = False,
) -> Any:
    """The solution of ``A @ x = b`` by generalised minimal residuals with restarts (Saad and Schultz 1986).

    See `scipy.sparse.linalg.gmres`. What is enqueued at once is a cycle of `restart` iterations. Vectors are made
    orthogonal by two passes of classical Gram-Schmidt, each of which is one product with the whole basis; Givens
    rotations and the triangular system stay on the device. Other parameters, results and waits are those of `cg`.

    Parameters
    ----------
    restart : int, optional
        Vectors of the basis: 20 unless given, and at most n. It takes memory for one more than these.
    maxiter : int, optional
        The most cycles: ten times n unless given.
    M : as in `cg`
        It is applied from the left.
    callback : callable, optional
        With `callback_type` "x" it is called after each cycle with the solution so far, a `GPUArray`. With
        "pr_norm" (or
        "legacy", which is the same here) it is called with the relative norm of the preconditioned residual after each
        iteration: all of these calls are at the end, because the host does not wait for norms before.
    callback_type : {"x", "pr_norm", "legacy"}, optional
        "legacy" unless given.

    Returns
    -------
    x, info, report
        As of `cg`, but `info` is `maxiter` if there is no solution.
    """

def lsqr(
    A: Any,
    b: Any,
    damp: Any = 0.0,
    atol: Any = 1e-06,
    btol: Any = 1e-06,
    conlim: Any = 100000000.0,
    iter_lim: Any = None,
    show: Any = False,
    calc_var: Any = False,
    x0: Any = None,
    *,
    mode: Any = "auto",
) -> Any:
    """The `x` for which ``norm(b - A @ x)**2 + norm(damp * (x - x0))**2`` is least (Paige and Saunders 1982).

    See `scipy.sparse.linalg.lsqr`; waits as `cg`. `A` may have any shape; operators need ``rmatvec`` where they are no
    sparse arrays.

    Parameters
    ----------
    A, b, x0, mode : as in `cg`
    damp : float
    atol, btol : float
        Iterations end when the residual, or that of the normal equations, is as small as relative errors of these sizes
        in `A` and `b` would make it.
    conlim : float
        Iterations end when the condition of `A` seems to be larger.
    iter_lim : int, optional
        The most iterations: twice the number of columns unless given.
    show, calc_var : bool
        False: nothing is printed, and no variances are estimated.

    Returns
    -------
    x : GPUArray
    istop : int
        1: a solution; 2: a least-squares solution; 3: `conlim`; 4 to 6: as 1 to 3, to the last bit; 7: `iter_lim`.
    itn, r1norm, r2norm, anorm, acond, arnorm, xnorm
        The number of iterations, and estimates of norms; see SciPy.
    var : GPUArray
        Zeros.

    Raises
    ------
    NotImplementedError
        With `calc_var` or `show`.
    """

def lsmr(
    A: Any,
    b: Any,
    damp: Any = 0.0,
    atol: Any = 1e-06,
    btol: Any = 1e-06,
    conlim: Any = 100000000.0,
    maxiter: Any = None,
    show: Any = False,
    x0: Any = None,
    *,
    mode: Any = "auto",
) -> Any:
    """The `x` for which ``norm(b - A @ x)**2 + norm(damp * (x - x0))**2`` is least (Fong and Saunders 2011).

    See `scipy.sparse.linalg.lsmr`, and `lsqr` for the parameters and for what it waits for. `maxiter` is the smaller
    number of rows and columns unless given. Unlike those of `lsqr`, residuals of the normal equations become no larger.

    Returns
    -------
    x : GPUArray
    istop : int
        As in `lsqr`.
    itn, normr, normar, norma, conda, normx
        The number of iterations, and estimates of norms; see SciPy.
    """

def matrix_power(A: Any, power: Any) -> sparray:
    """The product of `power` times `A`: a new sparse array; waits for the numbers of elements.

    The result has the format of products, for a `power` of 0 (the identity) or 1 (a copy) that of `A`. A `TypeError`
    unless `A` is square, a `ValueError` for a negative `power`. By repeated squaring.
    """
