"""Iterative solvers on the device under the names of `scipy.sparse.linalg`.

The scalars of iterations stay on the device. The host enqueues iterations and polls for results; it waits once, at the
end.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from rtcg import numpy as _xp
from rtcg._conversions import as_float, as_integer, as_text, converts
from rtcg._messages import shown
from rtcg.sparse._eigen import ArpackError, ArpackNoConvergence, eigsh, lobpcg, svds
from rtcg.sparse._expm import expm_multiply
from rtcg.sparse._factor import SuperLU, factorized, spilu, splu, spsolve
from rtcg.sparse._norm_estimate import onenormest
from rtcg.sparse._norms import norm
from rtcg.sparse._operands import as_matrix
from rtcg.sparse._operators import LinearOperator, as_operand, aslinearoperator
from rtcg.sparse._preconditioners import amg, block_jacobi, chebyshev, jacobi
from rtcg.sparse._solvers import SolverReport, check_options, count, run, square_solver
from rtcg.sparse._triangular import TriangularSolver, ic0, ilu0, spsolve_triangular, ssor

if TYPE_CHECKING:
    from rtcg.sparse._base import sparray

__all__ = [
    "ArpackError",
    "ArpackNoConvergence",
    "LinearOperator",
    "SolverReport",
    "SuperLU",
    "TriangularSolver",
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
    "factorized",
    "gcrotmk",
    "gmres",
    "ic0",
    "ilu0",
    "jacobi",
    "lobpcg",
    "lsmr",
    "lsqr",
    "matrix_power",
    "minres",
    "norm",
    "onenormest",
    "qmr",
    "spilu",
    "splu",
    "spsolve",
    "spsolve_triangular",
    "ssor",
    "svds",
    "tfqmr",
]


@square_solver(takes_columns=True)
def cg(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None, M: Any = None,
    flexible: bool = False, pipelined: bool = False, refine: bool = False,
    callback: Any = None, check_every: Any = None, mode: str = "auto", return_report: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Solve ``A @ x = b`` for a Hermitian positive definite `A` by the conjugate gradient method.

    See `scipy.sparse.linalg.cg`. Iterations are those of Hestenes and Stiefel (1952) with the arithmetic of SciPy;
    inner products are always summed in double precision.

    If `b` has shape (n, k), all columns are solved together: one product multiplies `A` by all of them, and a column
    that has converged takes no further part.

    Parameters
    ----------
    flexible : bool
        Whether `M` may change from iteration to iteration: each direction is then made orthogonal to the previous one
        (Notay 2000).
    pipelined : bool
        Whether one kernel computes all sums of an iteration (Ghysels and Vanroose 2014), at the cost of three more
        vectors and a residual that drifts sooner.
    refine : bool
        Whether to use iterative refinement: iterations run in single precision, while residual and solution are in
        double precision. This moves half of the bytes for the same accuracy, if the condition number of `A` is below
        1e7. Passes are repeated until the residual is small enough; the host waits once per pass. `callback` is called
        after each pass.
    """
    if flexible + pipelined > 1:
        raise ValueError("flexible and pipelined are True; expected one of them at most")
    return {"method": "fcg" if flexible else "pipecg" if pipelined else "cg", "refine": refine}


@square_solver(takes_columns=True, needs_adjoint=True)
def bicg(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None, M: Any = None,
    callback: Any = None, check_every: Any = None, mode: str = "auto", return_report: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Solve ``A @ x = b`` by the biconjugate gradient method (Fletcher 1976).

    See `scipy.sparse.linalg.bicg`. `A`, and `M` unless it is diagonal, need ``rmatvec`` if they are not sparse arrays;
    the adjoint of a sparse array is built once per call. `info` is -10 or -11 after a division by an inner product of
    0. Columns of `b` are solved as in `cg`.
    """
    return {}


@square_solver(takes_columns=True)
def bicgstab(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None, M: Any = None,
    refine: bool = False,
    callback: Any = None, check_every: Any = None, mode: str = "auto", return_report: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Solve ``A @ x = b`` by the stabilised biconjugate gradient method (van der Vorst 1992).

    See `scipy.sparse.linalg.bicgstab`. `info` is -10 or -11 after a division by an inner product of 0. Columns of `b`
    are solved as in `cg`.

    Parameters
    ----------
    refine : bool
        Whether iterations run in single precision, as in `cg`.
    """
    return {"refine": refine}


@square_solver(takes_columns=True)
def cgs(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None, M: Any = None,
    callback: Any = None, check_every: Any = None, mode: str = "auto", return_report: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Solve ``A @ x = b`` by the conjugate gradient squared method (Sonneveld 1989).

    See `scipy.sparse.linalg.cgs`. `info` is -10 or -11 after a division by an inner product of 0. Columns of `b` are
    solved as in `cg`.
    """
    return {}


@square_solver(takes_columns=True)
def tfqmr(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None, M: Any = None,
    callback: Any = None, check_every: Any = None, mode: str = "auto", return_report: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Solve ``A @ x = b`` by the transpose-free quasi-minimal residual method (Freund 1993).

    See `scipy.sparse.linalg.tfqmr`. Iterations run in pairs, and a callback is called after each pair. `M` is applied
    from the right, so that residuals are those of the system. Columns of `b` are solved as in `cg`.
    """
    return {"most": 10_000}


@square_solver(takes_columns=True, needs_adjoint=True)
def qmr(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None,
    M1: Any = None, M2: Any = None,
    callback: Any = None, check_every: Any = None, mode: str = "auto", return_report: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Solve ``A @ x = b`` by the quasi-minimal residual method (Freund and Nachtigal 1994).

    See `scipy.sparse.linalg.qmr`. Operators need ``rmatvec`` unless they are sparse arrays. `info` is -10 to -15 after
    a division by a number close to 0. Columns of `b` are solved as in `cg`.

    Parameters
    ----------
    M1 : as `A`, optional
        A left preconditioner.
    M2 : as `A`, optional
        A right preconditioner.
    """
    return {"M": M1, "M2": M2}


@square_solver(takes_columns=True)
def minres(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, maxiter: Any = None, M: Any = None,
    shift: Any = 0.0, refine: bool = False,
    callback: Any = None, check_every: Any = None, mode: str = "auto", return_report: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Solve ``(A - shift * I) @ x = b`` for a Hermitian `A` by the minimal residual method.

    Paige and Saunders (1975); see `scipy.sparse.linalg.minres`. `A` may be indefinite or singular; `M` is positive
    definite. Only the residual is recomputed at the end. Columns of `b` are solved as in `cg`.

    Parameters
    ----------
    rtol : float
        Iterations end when the residual is this small relative to ``norm(A) * norm(x)``, or ``A @ r`` relative to
        ``norm(A) * norm(r)``.
    maxiter : int, optional
        The maximum number of iterations, five times n unless given.
    shift : float
        The number that is subtracted from the diagonal.
    refine : bool
        Whether iterations run in single precision, as in `cg`; `rtol` then also has the meaning that it has in `cg`.

    Raises
    ------
    ValueError
        If `M` is found to be indefinite, or `A` not to be Hermitian.
    """
    errors = {-20: "indefinite preconditioner", -21: "non-symmetric matrix"}
    return {"numbers": {"shift": shift}, "default_factor": 5, "refine": refine, "errors": errors}


@square_solver()
def gmres(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None,
    restart: Any = None, callback_type: Any = None, flexible: bool = False,
    M: Any = None, callback: Any = None, mode: str = "auto", return_report: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Solve ``A @ x = b`` by the generalised minimal residual method with restarts (Saad and Schultz 1986).

    See `scipy.sparse.linalg.gmres`. The host enqueues one cycle of `restart` iterations at a time. Vectors are
    orthogonalised by two passes of classical Gram-Schmidt, each of which is one product with the whole basis; Givens
    rotations and the triangular system stay on the device. `info` is `maxiter` if the iterations do not converge.

    Parameters
    ----------
    restart : int, optional
        The number of basis vectors: 20 unless given, and at most n. Memory is needed for one more.
    maxiter : int, optional
        The maximum number of cycles, ten times n unless given. With a callback of the type "legacy", the maximum number
        of iterations.
    M : as in `cg`
        Applied from the left, or from the right with `flexible`.
    callback : callable, optional
        Called with the argument that `callback_type` selects. The host looks at the state after each cycle, without
        waiting, so that the norms of iterations arrive when their cycle is over.
    callback_type : {"x", "pr_norm", "legacy"}, optional
        "x": the solution so far, a `GPUArray`, after each cycle. "pr_norm": the norm of the preconditioned residual
        relative to that of `b`, for each iteration. "legacy" (the default): the same, but `maxiter` counts iterations.
    flexible : bool
        Whether `M` may change from iteration to iteration (Saad 1993). Norms are then those of the residual itself, and
        preconditioned vectors are kept in addition to the basis.
    """
    kind = callback_type or "legacy"
    if kind not in ("x", "pr_norm", "legacy"):
        raise ValueError(f"Unknown callback_type: {shown(kind)}")
    settings = {"restart": count("restart", restart, 20), "takes_norms": kind != "x"}
    return {
        "method": "fgmres" if flexible else "gmres",
        "settings": settings,
        "counts_cycles": True,
        "counts_iterations": kind == "legacy",
    }


@square_solver()
def gcrotmk(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None,
    m: Any = 20, k: Any = None, CU: Any = None, discard_C: Any = False, truncate: Any = "oldest",
    M: Any = None, callback: Any = None, mode: str = "auto", return_report: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Solve ``A @ x = b`` by the flexible GCROT(m, k) method (Hicken and Zingg 2010).

    See `scipy.sparse.linalg.gcrotmk`. A cycle has `m` iterations of flexible GMRES, orthogonal to the images of `k`
    directions that are kept from earlier cycles. `M` may change from iteration to iteration. A callback is called after
    each cycle. `info` is `maxiter` if the iterations do not converge.

    Parameters
    ----------
    maxiter : int, optional
        The maximum number of cycles, 1000 unless given.
    m : int
        The number of iterations per cycle.
    k : int, optional
        The number of directions to keep, `m` unless given.
    CU : None
        Directions of other systems are not supported.
    discard_C : bool
        Accepted for programs written for SciPy; directions are never returned.
    truncate : "oldest"
        Which direction is dropped for a new one.

    Raises
    ------
    NotImplementedError
        With `CU`, or `truncate` of "smallest".
    """
    if CU is not None or truncate == "smallest":
        raise NotImplementedError(f"CU is {shown(CU)} and truncate is {shown(truncate)}; expected None and 'oldest'")
    if truncate != "oldest":
        raise ValueError(f"Invalid value for 'truncate': {shown(truncate)}")
    m = count("m", m, 20)
    kept = m if k is None else operator.index(k)
    if kept < 0:
        raise ValueError(f"k is {kept}; expected at least 0")
    return {"settings": {"restart": m, "kept": kept}, "counts_cycles": True, "default": 1000}


@converts(A=as_operand, damp=as_float, atol=as_float, btol=as_float, conlim=as_float, iter_lim=as_integer, mode=as_text)
def lsqr(
    A: Any, b: Any, damp: Any = 0.0, atol: Any = 1e-6, btol: Any = 1e-6, conlim: Any = 1e8, iter_lim: Any = None,
    show: Any = False, calc_var: Any = False, x0: Any = None, *, mode: Any = "auto",
) -> Any:  # fmt: skip
    """Minimise ``norm(b - A @ x)**2 + norm(damp * (x - x0))**2`` over `x` (Paige and Saunders 1982).

    See `scipy.sparse.linalg.lsqr`. `A` may have any shape; operators need ``rmatvec`` unless they are sparse arrays.
    The host waits once, at the end.

    Parameters
    ----------
    A, b, x0, mode : as in `cg`
    damp : float
    atol, btol : float
        Iterations end when the residual, or that of the normal equations, is as small as relative errors of this size
        in `A` and `b` would make it.
    conlim : float
        Iterations end when the estimated condition number of `A` is larger.
    iter_lim : int, optional
        The maximum number of iterations, twice the number of columns unless given.
    show, calc_var : bool
        Must be False: nothing is printed, and no variances are estimated.

    Returns
    -------
    x : GPUArray
    istop : int
        0: the solution is the start, or zeros for a `b` of zeros without `damp`; 1: a solution; 2: a least-squares
        solution; 3: `conlim`; 4 to 6: as 1 to 3, to machine precision; 7: `iter_lim`, or numbers that are not finite.
        The smallest that applies.
    itn, r1norm, r2norm, anorm, acond, arnorm, xnorm
        The number of iterations, and estimates of norms; see SciPy.
    var : GPUArray
        Zeros.

    Raises
    ------
    NotImplementedError
        With `calc_var` or `show`.
    """
    if show or calc_var:
        raise NotImplementedError(f"show is {shown(show)} and calc_var is {shown(calc_var)}; expected False")
    iter_lim = count("iter_lim", iter_lim, max(1, 2 * A.shape[1]))
    x, istop, found = _least_squares("lsqr", A, b, damp, atol, btol, conlim, iter_lim, x0, mode)
    numbers = [found["scalars"][name] for name in ("misfit", "normr", "norma", "cond", "normar", "normx")]
    return x, istop, found["iterations"], *numbers, _xp.zeros(x.size, x.real.dtype)


@converts(A=as_operand, damp=as_float, atol=as_float, btol=as_float, conlim=as_float, maxiter=as_integer, mode=as_text)
def lsmr(
    A: Any, b: Any, damp: Any = 0.0, atol: Any = 1e-6, btol: Any = 1e-6, conlim: Any = 1e8, maxiter: Any = None,
    show: Any = False, x0: Any = None, *, mode: Any = "auto",
) -> Any:  # fmt: skip
    """Minimise ``norm(b - A @ x)**2 + norm(damp * (x - x0))**2`` over `x` (Fong and Saunders 2011).

    See `scipy.sparse.linalg.lsmr`, and `lsqr` for the parameters. `maxiter` is by default the smaller of the numbers of
    rows and columns. Unlike in `lsqr`, the residuals of the normal equations never increase. The host waits once, at
    the end.

    Returns
    -------
    x : GPUArray
    istop : int
        As in `lsqr`.
    itn, normr, normar, norma, conda, normx
        The number of iterations, and estimates of norms; see SciPy.
    """
    if show:
        raise NotImplementedError(f"show is {shown(show)}; expected False")
    maxiter = count("maxiter", maxiter, max(1, min(A.shape)))
    x, istop, found = _least_squares("lsmr", A, b, damp, atol, btol, conlim, maxiter, x0, mode)
    numbers = [found["scalars"][name] for name in ("normr", "normar", "norma", "cond", "normx")]
    return x, istop, found["iterations"], *numbers


def _least_squares(
    method: str, A: Any, b: Any, damp: Any, atol: Any, btol: Any, conlim: Any, maxiter: Any, x0: Any, mode: str
) -> tuple[Any, int, dict[str, Any]]:
    """The solution, SciPy's reason for the end, and further results."""
    options = check_options(0.0, atol, maxiter, None, mode, False, None)
    x, [found] = run(method, A, b, x0, None, None, True, options, damp=damp, btol=btol, conlim=conlim or 0)
    return x, int(found["scalars"]["istop"]) if found["reason"] == "converged" else 7, found


@converts(A=as_matrix, power=as_integer)
def matrix_power(A: Any, power: Any) -> sparray:
    """`A` to the power of `power`: a new sparse array; waits for the numbers of elements.

    The result has the format of products, or that of `A` for a `power` of 0 (the identity) or 1 (a copy). Raises
    `TypeError` unless `A` is square, and `ValueError` for a negative `power`. Uses binary exponentiation (Knuth,
    section 4.6.3).
    """
    power = operator.index(power)
    if A.shape[0] != A.shape[1]:
        raise TypeError("sparse matrix is not square")
    if power < 0:
        raise ValueError("exponent must be >= 0")
    if power == 0:
        from rtcg.sparse import eye_array

        return eye_array(A.shape[0], dtype=A.dtype).asformat(A.format)
    result = A.copy()
    for digit in f"{power:b}"[1:]:
        result = result @ result
        if digit == "1":
            result = result @ A
    return result
