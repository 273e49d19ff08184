"""Iterative solvers on the device under the names of `scipy.sparse.linalg`.

Scalars of iterations stay on the device. The host enqueues iterations and polls for results; it waits once, at the end.
"""

import operator

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
def cg(*, flexible=False, pipelined=False, refine=False):
    """The solution of ``A @ x = b`` for a Hermitian positive definite `A`, by conjugate gradients.

    See `scipy.sparse.linalg.cg`. Iterations are those of Hestenes and Stiefel (1952) with the arithmetic of SciPy;
    sums of products are kept in double precision whatever the dtype is.

    Columns of a `b` of shape (n, k) are solved for at once: `A` is multiplied by all of them in one product, and
    iterations of a column do nothing once it is done.

    Parameters
    ----------
    flexible : bool
        Whether `M` may change from iteration to iteration: each direction is made orthogonal to the one before it
        (Notay 2000).
    pipelined : bool
        Whether all sums of an iteration are those of one kernel (Ghysels and Vanroose 2014), at the price of three more
        vectors and a residual that drifts sooner.
    refine : bool
        Whether iterations have vectors and a matrix of single precision, while the residual and the solution are of
        double precision: half of the bytes for the same accuracy, if the condition of `A` is below 1e7. Such passes are
        made until the residual is small enough; the host waits once for each. `callback` is called after each pass.
    """
    if flexible + pipelined > 1:
        raise ValueError("flexible and pipelined are True; expected one of them at most")
    return {"method": "fcg" if flexible else "pipecg" if pipelined else "cg", "refine": refine}


@square_solver(takes_columns=True, needs_adjoint=True)
def bicg():
    """The solution of ``A @ x = b`` by biconjugate gradients (Fletcher 1976).

    See `scipy.sparse.linalg.bicg`. `A`, and `M` if it is no diagonal, need ``rmatvec`` where they are no sparse arrays;
    the adjoint of a sparse array is made once a call. `info` is -10 or -11 where a product that is divided by is 0.
    Columns of `b` are solved for as in `cg`.
    """
    return {}


@square_solver(takes_columns=True)
def bicgstab(*, refine=False):
    """The solution of ``A @ x = b`` by stabilised biconjugate gradients (van der Vorst 1992).

    See `scipy.sparse.linalg.bicgstab`. `info` is -10 or -11 where a product that is divided by is 0. Columns of `b` are
    solved for as in `cg`.

    Parameters
    ----------
    refine : bool
        Whether iterations are of single precision, as in `cg`.
    """
    return {"refine": refine}


@square_solver(takes_columns=True)
def cgs():
    """The solution of ``A @ x = b`` by conjugate gradients squared (Sonneveld 1989).

    See `scipy.sparse.linalg.cgs`. `info` is -10 or -11 where a product that is divided by is 0. Columns of `b` are
    solved for as in `cg`.
    """
    return {}


@square_solver(takes_columns=True)
def tfqmr():
    """The solution of ``A @ x = b`` by transpose-free quasi-minimal residuals (Freund 1993).

    See `scipy.sparse.linalg.tfqmr`. Iterations are made in pairs, and a callback is called after each pair. `M` stands
    on the right of `A`, so that residuals are those of the system. Columns of `b` are solved for as in `cg`.
    """
    return {"most": 10_000}


@square_solver(without=("M",), takes_columns=True, needs_adjoint=True)
def qmr(*, M1=None, M2=None):
    """The solution of ``A @ x = b`` by quasi-minimal residuals (Freund and Nachtigal 1994).

    See `scipy.sparse.linalg.qmr`. Operators need ``rmatvec`` where they are no sparse arrays. `info` is -10 to -15
    where a number that is divided by is nearly 0. Columns of `b` are solved for as in `cg`.

    Parameters
    ----------
    M1 : as `A`, optional
        A left preconditioner.
    M2 : as `A`, optional
        A right preconditioner.
    """
    return {"M": M1, "M2": M2}


@square_solver(without=("atol",), takes_columns=True)
def minres(*, shift=0.0, refine=False):
    """The solution of ``(A - shift * I) @ x = b`` for a Hermitian `A` by minimal residuals.

    Paige and Saunders (1975); see `scipy.sparse.linalg.minres`. `A` may be indefinite or singular; `M` is positive
    definite. Nothing is computed anew after the end but the residual. Columns of `b` are solved for as in `cg`.

    Parameters
    ----------
    rtol : float
        Iterations end when the residual is so small beside ``norm(A) * norm(x)``, or ``A @ r`` beside
        ``norm(A) * norm(r)``.
    maxiter : int, optional
        The most iterations: five times n unless given.
    shift : float
        What is subtracted from the diagonal.
    refine : bool
        Whether iterations are of single precision, as in `cg`; then `rtol` is that of `cg`, too.

    Raises
    ------
    ValueError
        If `M` is found to be indefinite, or `A` not to be Hermitian.
    """
    errors = {-20: "indefinite preconditioner", -21: "non-symmetric matrix"}
    return {"numbers": {"shift": shift}, "default_factor": 5, "refine": refine, "errors": errors}


@square_solver(without=("check_every",))
def gmres(*, restart=None, callback_type=None, flexible=False):
    """The solution of ``A @ x = b`` by generalised minimal residuals with restarts (Saad and Schultz 1986).

    See `scipy.sparse.linalg.gmres`. What is enqueued at once is a cycle of `restart` iterations. Vectors are made
    orthogonal by two passes of classical Gram-Schmidt, each of which is one product with the whole basis; Givens
    rotations and the triangular system stay on the device. `info` is `maxiter` if there is no solution.

    Parameters
    ----------
    restart : int, optional
        Vectors of the basis: 20 unless given, and at most n. It takes memory for one more than these.
    maxiter : int, optional
        The most cycles: ten times n unless given. With a callback of the type "legacy", the most iterations.
    M : as in `cg`
        It is applied from the left, and with `flexible` from the right.
    callback : callable, optional
        Called with what `callback_type` says. The host looks at the state after each cycle, without a wait, so that
        norms of iterations come when their cycle is over.
    callback_type : {"x", "pr_norm", "legacy"}, optional
        "x": the solution so far, a `GPUArray`, after each cycle. "pr_norm": the norm of the preconditioned residual in
        parts of that of `b`, for each iteration. "legacy", unless given: the same, and `maxiter` counts iterations.
    flexible : bool
        Whether `M` may change from iteration to iteration (Saad 1993). Norms are then those of the residual itself, and
        preconditioned vectors are kept besides the basis.
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


@square_solver(without=("check_every",))
def gcrotmk(*, m=20, k=None, CU=None, discard_C=False, truncate="oldest"):
    """The solution of ``A @ x = b`` by the flexible GCROT(m, k) (Hicken and Zingg 2010).

    See `scipy.sparse.linalg.gcrotmk`. A cycle is `m` iterations of flexible GMRES, orthogonal to the images of `k`
    directions that are kept from the cycles before. `M` may change from iteration to iteration. A callback is called
    after each cycle. `info` is `maxiter` if there is no solution.

    Parameters
    ----------
    maxiter : int, optional
        The most cycles: 1000 unless given.
    m : int
        Iterations of a cycle.
    k : int, optional
        Directions that are kept: `m` unless given.
    CU : None
        Directions of other systems are not taken.
    discard_C : bool
        Nothing is returned of directions; for programs written for SciPy.
    truncate : "oldest"
        Which direction makes room for a new one.

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
def lsqr(A, b, damp=0.0, atol=1e-6, btol=1e-6, conlim=1e8, iter_lim=None, show=False, calc_var=False, x0=None, *,
         mode="auto"):  # fmt: skip
    """The `x` for which ``norm(b - A @ x)**2 + norm(damp * (x - x0))**2`` is least (Paige and Saunders 1982).

    See `scipy.sparse.linalg.lsqr`. `A` may have any shape; operators need ``rmatvec`` where they are no sparse arrays.
    The host waits once, at the end.

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
        0: the solution is the start, or zeros for a `b` of zeros without `damp`; 1: a solution; 2: a least-squares
        solution; 3: `conlim`; 4 to 6: as 1 to 3, to the last bit; 7: `iter_lim`, or numbers that are not finite. The
        least of those that hold.
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
def lsmr(A, b, damp=0.0, atol=1e-6, btol=1e-6, conlim=1e8, maxiter=None, show=False, x0=None, *, mode="auto"):
    """The `x` for which ``norm(b - A @ x)**2 + norm(damp * (x - x0))**2`` is least (Fong and Saunders 2011).

    See `scipy.sparse.linalg.lsmr`, and `lsqr` for the parameters. `maxiter` is the smaller number of rows and columns
    unless given. Unlike those of `lsqr`, residuals of the normal equations become no larger. The host waits once,
    at the end.

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


def _least_squares(method, A, b, damp, atol, btol, conlim, maxiter, x0, mode):
    """The solution, SciPy's reason for the end, and what else is known."""
    options = check_options(0.0, atol, maxiter, None, mode, False, None)
    x, [found] = run(method, A, b, x0, None, None, True, options, damp=damp, btol=btol, conlim=conlim or 0)
    return x, int(found["scalars"]["istop"]) if found["reason"] == "converged" else 7, found


@converts(A=as_matrix, power=as_integer)
def matrix_power(A, power):
    """The product of `power` times `A`: a new sparse array; waits for the numbers of elements.

    The result has the format of products, for a `power` of 0 (the identity) or 1 (a copy) that of `A`. Raises
    `TypeError` unless `A` is square, and `ValueError` for a negative `power`. The binary digits of `power` say what is
    multiplied (Knuth, section 4.6.3).
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
