"""Iterative solvers on the device under the names of `scipy.sparse.linalg`.

Scalars of iterations stay on the device. The host enqueues iterations and polls for results; it waits once, at the end.
"""

import operator
from dataclasses import dataclass

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg.numpy import GPUArray
from rtcg.sparse._base import issparse, to_device
from rtcg.sparse._eigen import ArpackError, ArpackNoConvergence, eigsh, lobpcg, svds
from rtcg.sparse._expm import expm_multiply
from rtcg.sparse._norm_estimate import onenormest
from rtcg.sparse._norms import norm
from rtcg.sparse._operators import LinearOperator, aslinearoperator
from rtcg.sparse._preconditioners import amg, block_jacobi, chebyshev, jacobi

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

    #: "converged", "maxiter", "stagnated" (rounding lets the residual become no smaller) or "breakdown".
    reason: str
    #: Iterations that changed the solution.
    iterations: int
    #: Iterations that were enqueued after the deciding one; they did nothing.
    wasted_iterations: int
    #: How often iterations began anew from a residual that was computed from the solution.
    restarts: int
    #: How often the host waited for the device in the loop.
    waits_in_loop: int
    #: How often the host waited at the end: once, and once for each restart.
    waits_at_end: int
    #: The norm of ``b - A @ x``, computed from the solution.
    residual: float
    #: The norm of the residual as the recurrence had it at the end (an estimate, where a solver has no residuals).
    recurrence_residual: float
    #: What the norm had to be less than.
    threshold: float
    #: Directions ``d`` with ``d @ A @ d < 0`` of `cg`: if there are any, `A` is not positive definite.
    negative_curvature: int
    #: How iterations reached the device: "stream", "graph" or "device".
    mode: str
    #: Norms of residuals by the recurrence, from the one at the beginning on; those of the first 2**20 iterations.
    history: "np.ndarray | None"


def _floating(*dtypes):
    kind = np.result_type(*dtypes)
    return np.dtype({"f": np.float32, "F": np.complex64, "D": np.complex128}.get(kind.char, np.float64))


def _vector(name, v, n, dtype, shape):
    """A vector of `n` elements on the device, or an error in SciPy's words."""
    v = v if isinstance(v, GPUArray) else np.asarray(v)
    if v.shape not in ((n,), (n, 1)):
        raise ValueError(f"shapes of A {shape} and {name} {v.shape} are incompatible")
    return to_device(v, dtype).ravel()


def _native_operator(A):
    if issparse(A):
        return A._native_matrix() if A.format == "dia" else A.tocsr()._native
    native = getattr(A, "_native_handle", None)
    return (A.matvec, A.shape) if native is None else native


def _native_adjoint(A):
    if issparse(A):
        return A.transpose().conj().tocsr()._native
    return (A.rmatvec, A.shape[::-1]) if A._has_adjoint() else None


def _native_preconditioner(M, A, dtype, needs_adjoint):
    """The native operator of a preconditioner, and its adjoint."""
    if M is None:
        return None, None
    M = M if issparse(M) else aslinearoperator(M)
    if M.shape != A.shape:
        raise ValueError("matrix and preconditioner have different shapes")
    if issparse(M) and M.format == "dia" and list(M._host_offsets) == [0]:
        return to_device(M.diagonal(), dtype), None
    return _native_operator(M), _native_adjoint(M) if needs_adjoint else None


def _count(name, value, default):
    value = default if value is None else operator.index(value)
    if value < 1:
        raise ValueError(f"{name} is {value}; expected at least 1")
    return value


def _run(method, A, b, x0, M, M2, needs_adjoint, options, **numbers):
    """The solution, and what is known of it, of a system whose operands are checked here."""
    A = A if issparse(A) else aslinearoperator(A)
    rows, columns = A.shape
    if rows != columns and method not in ("lsqr", "lsmr"):
        raise ValueError(f"expected square matrix, but got shape={A.shape}")
    b = b if isinstance(b, GPUArray) else np.asarray(b)
    dtype = _floating(A.dtype, b.dtype)
    b = _vector("b", b, rows, dtype, A.shape)
    x0 = None if x0 is None else _vector("x0", x0, columns, dtype, A.shape)
    return _native.sparse_solve(
        method,
        (_native_operator(A), _native_adjoint(A) if needs_adjoint else None),
        b,
        x0,
        _native_preconditioner(M, A, dtype, needs_adjoint),
        _native_preconditioner(M2, A, dtype, needs_adjoint),
        numbers={name: float(value) for name, value in numbers.items()},
        **options,
    )


def _options(rtol, atol, maxiter, check_every, mode, history, callback):
    if not (rtol >= 0 and atol >= 0):
        raise ValueError(f"rtol is {rtol} and atol is {atol}; expected numbers of at least 0")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is {callback!r}; expected a callable")
    return {
        "rtol": float(rtol),
        "atol": float(atol),
        "maxiter": maxiter,
        "check_every": 20 if check_every is None else operator.index(check_every),
        "mode": mode,
        "history": history,
        "callback": callback,
    }


def _report(found):
    history = found["history"]
    found = {name: value for name, value in found.items() if name not in ("code", "scalars", "history")} | {
        "history": None if history is None else np.array(history),
        "negative_curvature": int(found["scalars"]["negative"]),
    }
    return SolverReport(**found)


def _solve(method, A, b, x0, rtol, atol, maxiter, M, callback, check_every, mode, return_report, *, M2=None,
           default=None, needs_adjoint=False, **numbers):  # fmt: skip
    """Solves a square system, and says of it what SciPy says: `x`, `info`, and the report if asked for."""
    default = max(1, 10 * A.shape[0]) if default is None else default
    options = _options(
        rtol, atol, _count("maxiter", maxiter, default), check_every, mode, bool(return_report), callback
    )
    x, found = _run(method, A, b, x0, M, M2, needs_adjoint, options, **numbers)
    info = {"converged": 0, "breakdown": found["code"]}.get(found["reason"], found["iterations"])
    return (x, info, _report(found)) if return_report else (x, info)


def cg(
    A,
    b,
    x0=None,
    *,
    rtol=1e-5,
    atol=0.0,
    maxiter=None,
    M=None,
    callback=None,
    check_every=None,
    mode="auto",
    return_report=False,
):
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
    return _solve("cg", A, b, x0, rtol, atol, maxiter, M, callback, check_every, mode, return_report)


def bicg(
    A,
    b,
    x0=None,
    *,
    rtol=1e-5,
    atol=0.0,
    maxiter=None,
    M=None,
    callback=None,
    check_every=None,
    mode="auto",
    return_report=False,
):
    """The solution of ``A @ x = b`` by biconjugate gradients (Fletcher 1976).

    See `scipy.sparse.linalg.bicg`. `A`, and `M` if it is no diagonal, need ``rmatvec`` where they are no sparse arrays;
    the adjoint of a sparse array is made once a call. Parameters, results and waits are those of `cg`. `info`
    is -10 or -11 where a product that is divided by is 0.
    """
    return _solve(
        "bicg", A, b, x0, rtol, atol, maxiter, M, callback, check_every, mode, return_report, needs_adjoint=True
    )


def bicgstab(
    A,
    b,
    x0=None,
    *,
    rtol=1e-5,
    atol=0.0,
    maxiter=None,
    M=None,
    callback=None,
    check_every=None,
    mode="auto",
    return_report=False,
):
    """The solution of ``A @ x = b`` by stabilised biconjugate gradients (van der Vorst 1992).

    See `scipy.sparse.linalg.bicgstab`. Parameters, results and waits are those of `cg`. `info` is -10 or -11 where a
    product that is divided by is 0.
    """
    return _solve("bicgstab", A, b, x0, rtol, atol, maxiter, M, callback, check_every, mode, return_report)


def cgs(
    A,
    b,
    x0=None,
    *,
    rtol=1e-5,
    atol=0.0,
    maxiter=None,
    M=None,
    callback=None,
    check_every=None,
    mode="auto",
    return_report=False,
):
    """The solution of ``A @ x = b`` by conjugate gradients squared (Sonneveld 1989).

    See `scipy.sparse.linalg.cgs`. Parameters, results and waits are those of `cg`. `info` is -10 or -11 where a product
    that is divided by is 0.
    """
    return _solve("cgs", A, b, x0, rtol, atol, maxiter, M, callback, check_every, mode, return_report)


def tfqmr(
    A,
    b,
    x0=None,
    *,
    rtol=1e-5,
    atol=0.0,
    maxiter=None,
    M=None,
    callback=None,
    check_every=None,
    mode="auto",
    return_report=False,
):
    """The solution of ``A @ x = b`` by transpose-free quasi-minimal residuals (Freund 1993).

    See `scipy.sparse.linalg.tfqmr`. Parameters, results and waits are those of `cg`. Iterations are made in pairs, and
    a callback is called after each pair. `M` stands on the right of `A`, so that residuals are those of the system.
    """
    return _solve(
        "tfqmr",
        A,
        b,
        x0,
        rtol,
        atol,
        maxiter,
        M,
        callback,
        check_every,
        mode,
        return_report,
        default=max(1, min(10_000, 10 * A.shape[0])),
    )


def qmr(
    A,
    b,
    x0=None,
    *,
    rtol=1e-5,
    atol=0.0,
    maxiter=None,
    M1=None,
    M2=None,
    callback=None,
    check_every=None,
    mode="auto",
    return_report=False,
):
    """The solution of ``A @ x = b`` by quasi-minimal residuals (Freund and Nachtigal 1994).

    See `scipy.sparse.linalg.qmr`. `M1` and `M2` are a left and a right preconditioner. Operators need ``rmatvec`` where
    they are no sparse arrays. Parameters, results and waits are those of `cg`. `info` is -10 to -15 where a number that
    is divided by is nearly 0.
    """
    return _solve(
        "qmr", A, b, x0, rtol, atol, maxiter, M1, callback, check_every, mode, return_report, M2=M2, needs_adjoint=True
    )


def minres(
    A,
    b,
    x0=None,
    *,
    rtol=1e-5,
    shift=0.0,
    maxiter=None,
    M=None,
    callback=None,
    check_every=None,
    mode="auto",
    return_report=False,
):
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
    x, info, report = _solve(
        "minres", A, b, x0, rtol, 0.0, maxiter, M, callback, check_every, mode, True, default=max(1, 5 * A.shape[0]),
        shift=shift,
    )  # fmt: skip
    if info in (-20, -21):
        raise ValueError("indefinite preconditioner" if info == -20 else "non-symmetric matrix")
    return (x, info, report) if return_report else (x, info)


def gmres(
    A,
    b,
    x0=None,
    *,
    rtol=1e-5,
    atol=0.0,
    restart=None,
    maxiter=None,
    M=None,
    callback=None,
    callback_type=None,
    mode="auto",
    return_report=False,
):
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
    kind = callback_type or "legacy"
    if kind not in ("x", "pr_norm", "legacy"):
        raise ValueError(f"Unknown callback_type: {kind!r}")
    maxiter = _count("maxiter", maxiter, max(1, 10 * A.shape[0]))
    has_norms = callback is not None and kind != "x"
    options = _options(rtol, atol, maxiter, 1, mode, return_report or has_norms, callback)
    options |= {"restart": _count("restart", restart, 20), "callback": None if has_norms else callback}
    x, found = _run("gmres", A, b, x0, M, None, False, options)
    if has_norms:
        norm_of_b = found["scalars"]["bb"] ** 0.5
        for residual in found["history"][1:]:
            callback(residual / norm_of_b)
    info = {"converged": 0, "breakdown": maxiter if found["code"] == -12 else found["code"]}.get(
        found["reason"], maxiter
    )
    return (x, info, _report(found)) if return_report else (x, info)


def lsqr(A, b, damp=0.0, atol=1e-6, btol=1e-6, conlim=1e8, iter_lim=None, show=False, calc_var=False, x0=None, *,
         mode="auto"):  # fmt: skip
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
    if show or calc_var:
        raise NotImplementedError(f"show is {show!r} and calc_var is {calc_var!r}; expected False")
    x, istop, found = _least_squares("lsqr", A, b, damp, atol, btol, conlim, iter_lim, 2 * A.shape[1], x0, mode)
    numbers = [found["scalars"][name] for name in ("r1norm", "rnorm", "anorm", "acond", "arnorm", "xnorm")]
    return x, istop, found["iterations"], *numbers, _xp.zeros(x.size, x.real.dtype)


def lsmr(A, b, damp=0.0, atol=1e-6, btol=1e-6, conlim=1e8, maxiter=None, show=False, x0=None, *, mode="auto"):
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
    if show:
        raise NotImplementedError(f"show is {show!r}; expected False")
    x, istop, found = _least_squares("lsmr", A, b, damp, atol, btol, conlim, maxiter, min(A.shape), x0, mode)
    numbers = [found["scalars"][name] for name in ("rnorm", "arnorm", "anorm", "acond", "xnorm")]
    return x, istop, found["iterations"], *numbers


def _least_squares(method, A, b, damp, atol, btol, conlim, maxiter, default, x0, mode):
    """The solution, SciPy's reason for the end, and what else is known."""
    options = _options(0.0, atol, _count("maxiter", maxiter, max(1, default)), None, mode, False, None)
    x, found = _run(method, A, b, x0, None, None, True, options, damp=damp, btol=btol, conlim=conlim or 0)
    return x, 7 if found["reason"] == "maxiter" else int(found["scalars"]["istop"]), found


def matrix_power(A, power):
    """The product of `power` times `A`: a new sparse array; waits for the numbers of elements.

    The result has the format of products, for a `power` of 0 (the identity) or 1 (a copy) that of `A`. A `TypeError`
    unless `A` is square, a `ValueError` for a negative `power`. By repeated squaring.
    """
    rows, columns = A.shape
    if rows != columns:
        raise TypeError("sparse matrix is not square")
    power = operator.index(power)
    if power < 0:
        raise ValueError("exponent must be >= 0")
    if power < 2:
        from rtcg.sparse import eye_array

        return A.copy() if power else eye_array(rows, dtype=A.dtype).asformat(A.format)
    half = matrix_power(A, power // 2)
    return half @ half @ A if power % 2 else half @ half
