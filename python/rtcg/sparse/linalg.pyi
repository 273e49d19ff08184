"""Iterative solvers on the device under the names of `scipy.sparse.linalg`.

Scalars of iterations stay on the device. The host enqueues iterations and polls for results; it waits once, at the end.
"""

from typing import Any

from rtcg.sparse._base import sparray
from rtcg.sparse._eigen import (
    ArpackError as ArpackError,
    ArpackNoConvergence as ArpackNoConvergence,
    eigsh as eigsh,
    lobpcg as lobpcg,
    svds as svds,
)
from rtcg.sparse._expm import expm_multiply as expm_multiply
from rtcg.sparse._factor import (
    SuperLU as SuperLU,
    factorized as factorized,
    spilu as spilu,
    splu as splu,
    spsolve as spsolve,
)
from rtcg.sparse._norm_estimate import onenormest as onenormest
from rtcg.sparse._norms import norm as norm
from rtcg.sparse._operators import LinearOperator as LinearOperator, aslinearoperator as aslinearoperator
from rtcg.sparse._preconditioners import (
    amg as amg,
    block_jacobi as block_jacobi,
    chebyshev as chebyshev,
    jacobi as jacobi,
)
from rtcg.sparse._solvers import SolverReport as SolverReport
from rtcg.sparse._triangular import (
    TriangularSolver as TriangularSolver,
    ic0 as ic0,
    ilu0 as ilu0,
    spsolve_triangular as spsolve_triangular,
    ssor as ssor,
)

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

def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    flexible: bool = False,
    pipelined: bool = False,
    refine: bool = False,
    callback: Any = None,
    check_every: Any = None,
    mode: str = "auto",
    return_report: bool = False,
) -> tuple[Any, ...]:
    """The solution of ``A @ x = b`` for a Hermitian positive definite `A`, by conjugate gradients.

    See `scipy.sparse.linalg.cg`. Iterations are those of Hestenes and Stiefel (1952) with the arithmetic of SciPy;
    sums of products are kept in double precision whatever the dtype is.

    Columns of a `b` of shape (n, k) are solved for at once: `A` is multiplied by all of them in one product, and
    iterations of a column do nothing once it is done.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are given a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1), or (n, k)
        The dtype of the solution is float32, float64, complex64 or complex128, whatever `A` and `b` promote to.
    x0 : array, optional
        Where to begin; it is not written. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
    maxiter : int, optional
        The most iterations: ten times n unless given.
    M : as `A`, optional
        A preconditioner: an approximation of the inverse of `A`. A `dia_array` of the main diagonal alone takes part in
        the kernels of an iteration.
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
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that further iterations change.
    check_every : int, optional
        Iterations between two looks at the residual: 20, and always 1 with a callback.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" need a sparse `A`, a sparse `M` or none, and no callback; "device" and
        "persistent" one right side. "auto" takes what is expected to be the quickest; the report says what and why. All
        modes give the same bits.
    return_report : bool
        Whether a `SolverReport` is returned too.

    Returns
    -------
    x : GPUArray of shape (n,), or (n, k)
    info : int, or an array of k integers
        0 if the residual, computed from `x` once more, is small enough; else the number of iterations, or less than 0
        after a breakdown: something that is divided by was 0 or not finite.
    report : SolverReport, or a list of k reports
        With `return_report`.

    The host does not wait in the loop. It waits once at the end, for the residual computed from `x`.
    """

def bicg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
    check_every: Any = None,
    mode: str = "auto",
    return_report: bool = False,
) -> tuple[Any, ...]:
    """The solution of ``A @ x = b`` by biconjugate gradients (Fletcher 1976).

    See `scipy.sparse.linalg.bicg`. `A`, and `M` if it is no diagonal, need ``rmatvec`` where they are no sparse arrays;
    the adjoint of a sparse array is made once a call. `info` is -10 or -11 where a product that is divided by is 0.
    Columns of `b` are solved for as in `cg`.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are given a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1), or (n, k)
        The dtype of the solution is float32, float64, complex64 or complex128, whatever `A` and `b` promote to.
    x0 : array, optional
        Where to begin; it is not written. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
    maxiter : int, optional
        The most iterations: ten times n unless given.
    M : as `A`, optional
        A preconditioner: an approximation of the inverse of `A`. A `dia_array` of the main diagonal alone takes part in
        the kernels of an iteration.
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that further iterations change.
    check_every : int, optional
        Iterations between two looks at the residual: 20, and always 1 with a callback.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" need a sparse `A`, a sparse `M` or none, and no callback; "device" and
        "persistent" one right side. "auto" takes what is expected to be the quickest; the report says what and why. All
        modes give the same bits.
    return_report : bool
        Whether a `SolverReport` is returned too.

    Returns
    -------
    x : GPUArray of shape (n,), or (n, k)
    info : int, or an array of k integers
        0 if the residual, computed from `x` once more, is small enough; else the number of iterations, or less than 0
        after a breakdown: something that is divided by was 0 or not finite.
    report : SolverReport, or a list of k reports
        With `return_report`.

    The host does not wait in the loop. It waits once at the end, for the residual computed from `x`.
    """

def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    refine: bool = False,
    callback: Any = None,
    check_every: Any = None,
    mode: str = "auto",
    return_report: bool = False,
) -> tuple[Any, ...]:
    """The solution of ``A @ x = b`` by stabilised biconjugate gradients (van der Vorst 1992).

    See `scipy.sparse.linalg.bicgstab`. `info` is -10 or -11 where a product that is divided by is 0. Columns of `b` are
    solved for as in `cg`.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are given a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1), or (n, k)
        The dtype of the solution is float32, float64, complex64 or complex128, whatever `A` and `b` promote to.
    x0 : array, optional
        Where to begin; it is not written. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
    maxiter : int, optional
        The most iterations: ten times n unless given.
    M : as `A`, optional
        A preconditioner: an approximation of the inverse of `A`. A `dia_array` of the main diagonal alone takes part in
        the kernels of an iteration.
    refine : bool
        Whether iterations are of single precision, as in `cg`.
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that further iterations change.
    check_every : int, optional
        Iterations between two looks at the residual: 20, and always 1 with a callback.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" need a sparse `A`, a sparse `M` or none, and no callback; "device" and
        "persistent" one right side. "auto" takes what is expected to be the quickest; the report says what and why. All
        modes give the same bits.
    return_report : bool
        Whether a `SolverReport` is returned too.

    Returns
    -------
    x : GPUArray of shape (n,), or (n, k)
    info : int, or an array of k integers
        0 if the residual, computed from `x` once more, is small enough; else the number of iterations, or less than 0
        after a breakdown: something that is divided by was 0 or not finite.
    report : SolverReport, or a list of k reports
        With `return_report`.

    The host does not wait in the loop. It waits once at the end, for the residual computed from `x`.
    """

def cgs(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
    check_every: Any = None,
    mode: str = "auto",
    return_report: bool = False,
) -> tuple[Any, ...]:
    """The solution of ``A @ x = b`` by conjugate gradients squared (Sonneveld 1989).

    See `scipy.sparse.linalg.cgs`. `info` is -10 or -11 where a product that is divided by is 0. Columns of `b` are
    solved for as in `cg`.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are given a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1), or (n, k)
        The dtype of the solution is float32, float64, complex64 or complex128, whatever `A` and `b` promote to.
    x0 : array, optional
        Where to begin; it is not written. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
    maxiter : int, optional
        The most iterations: ten times n unless given.
    M : as `A`, optional
        A preconditioner: an approximation of the inverse of `A`. A `dia_array` of the main diagonal alone takes part in
        the kernels of an iteration.
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that further iterations change.
    check_every : int, optional
        Iterations between two looks at the residual: 20, and always 1 with a callback.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" need a sparse `A`, a sparse `M` or none, and no callback; "device" and
        "persistent" one right side. "auto" takes what is expected to be the quickest; the report says what and why. All
        modes give the same bits.
    return_report : bool
        Whether a `SolverReport` is returned too.

    Returns
    -------
    x : GPUArray of shape (n,), or (n, k)
    info : int, or an array of k integers
        0 if the residual, computed from `x` once more, is small enough; else the number of iterations, or less than 0
        after a breakdown: something that is divided by was 0 or not finite.
    report : SolverReport, or a list of k reports
        With `return_report`.

    The host does not wait in the loop. It waits once at the end, for the residual computed from `x`.
    """

def tfqmr(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
    check_every: Any = None,
    mode: str = "auto",
    return_report: bool = False,
) -> tuple[Any, ...]:
    """The solution of ``A @ x = b`` by transpose-free quasi-minimal residuals (Freund 1993).

    See `scipy.sparse.linalg.tfqmr`. Iterations are made in pairs, and a callback is called after each pair. `M` stands
    on the right of `A`, so that residuals are those of the system. Columns of `b` are solved for as in `cg`.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are given a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1), or (n, k)
        The dtype of the solution is float32, float64, complex64 or complex128, whatever `A` and `b` promote to.
    x0 : array, optional
        Where to begin; it is not written. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
    maxiter : int, optional
        The most iterations: ten times n unless given.
    M : as `A`, optional
        A preconditioner: an approximation of the inverse of `A`. A `dia_array` of the main diagonal alone takes part in
        the kernels of an iteration.
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that further iterations change.
    check_every : int, optional
        Iterations between two looks at the residual: 20, and always 1 with a callback.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" need a sparse `A`, a sparse `M` or none, and no callback; "device" and
        "persistent" one right side. "auto" takes what is expected to be the quickest; the report says what and why. All
        modes give the same bits.
    return_report : bool
        Whether a `SolverReport` is returned too.

    Returns
    -------
    x : GPUArray of shape (n,), or (n, k)
    info : int, or an array of k integers
        0 if the residual, computed from `x` once more, is small enough; else the number of iterations, or less than 0
        after a breakdown: something that is divided by was 0 or not finite.
    report : SolverReport, or a list of k reports
        With `return_report`.

    The host does not wait in the loop. It waits once at the end, for the residual computed from `x`.
    """

def qmr(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    M1: Any = None,
    M2: Any = None,
    callback: Any = None,
    check_every: Any = None,
    mode: str = "auto",
    return_report: bool = False,
) -> tuple[Any, ...]:
    """The solution of ``A @ x = b`` by quasi-minimal residuals (Freund and Nachtigal 1994).

    See `scipy.sparse.linalg.qmr`. Operators need ``rmatvec`` where they are no sparse arrays. `info` is -10 to -15
    where a number that is divided by is nearly 0. Columns of `b` are solved for as in `cg`.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are given a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1), or (n, k)
        The dtype of the solution is float32, float64, complex64 or complex128, whatever `A` and `b` promote to.
    x0 : array, optional
        Where to begin; it is not written. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
    maxiter : int, optional
        The most iterations: ten times n unless given.
    M1 : as `A`, optional
        A left preconditioner.
    M2 : as `A`, optional
        A right preconditioner.
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that further iterations change.
    check_every : int, optional
        Iterations between two looks at the residual: 20, and always 1 with a callback.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" need a sparse `A`, a sparse `M` or none, and no callback; "device" and
        "persistent" one right side. "auto" takes what is expected to be the quickest; the report says what and why. All
        modes give the same bits.
    return_report : bool
        Whether a `SolverReport` is returned too.

    Returns
    -------
    x : GPUArray of shape (n,), or (n, k)
    info : int, or an array of k integers
        0 if the residual, computed from `x` once more, is small enough; else the number of iterations, or less than 0
        after a breakdown: something that is divided by was 0 or not finite.
    report : SolverReport, or a list of k reports
        With `return_report`.

    The host does not wait in the loop. It waits once at the end, for the residual computed from `x`.
    """

def minres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    maxiter: Any = None,
    M: Any = None,
    shift: Any = 0.0,
    refine: bool = False,
    callback: Any = None,
    check_every: Any = None,
    mode: str = "auto",
    return_report: bool = False,
) -> tuple[Any, ...]:
    """The solution of ``(A - shift * I) @ x = b`` for a Hermitian `A` by minimal residuals.

    Paige and Saunders (1975); see `scipy.sparse.linalg.minres`. `A` may be indefinite or singular; `M` is positive
    definite. Nothing is computed anew after the end but the residual. Columns of `b` are solved for as in `cg`.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are given a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1), or (n, k)
        The dtype of the solution is float32, float64, complex64 or complex128, whatever `A` and `b` promote to.
    x0 : array, optional
        Where to begin; it is not written. Zeros unless given.
    rtol : float
        Iterations end when the residual is so small beside ``norm(A) * norm(x)``, or ``A @ r`` beside
        ``norm(A) * norm(r)``.
    maxiter : int, optional
        The most iterations: five times n unless given.
    M : as `A`, optional
        A preconditioner: an approximation of the inverse of `A`. A `dia_array` of the main diagonal alone takes part in
        the kernels of an iteration.
    shift : float
        What is subtracted from the diagonal.
    refine : bool
        Whether iterations are of single precision, as in `cg`; then `rtol` is that of `cg`, too.
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that further iterations change.
    check_every : int, optional
        Iterations between two looks at the residual: 20, and always 1 with a callback.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" need a sparse `A`, a sparse `M` or none, and no callback; "device" and
        "persistent" one right side. "auto" takes what is expected to be the quickest; the report says what and why. All
        modes give the same bits.
    return_report : bool
        Whether a `SolverReport` is returned too.

    Returns
    -------
    x : GPUArray of shape (n,), or (n, k)
    info : int, or an array of k integers
        0 if the residual, computed from `x` once more, is small enough; else the number of iterations, or less than 0
        after a breakdown: something that is divided by was 0 or not finite.
    report : SolverReport, or a list of k reports
        With `return_report`.

    The host does not wait in the loop. It waits once at the end, for the residual computed from `x`.

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
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    restart: Any = None,
    callback_type: Any = None,
    flexible: bool = False,
    M: Any = None,
    callback: Any = None,
    mode: str = "auto",
    return_report: bool = False,
) -> tuple[Any, ...]:
    """The solution of ``A @ x = b`` by generalised minimal residuals with restarts (Saad and Schultz 1986).

    See `scipy.sparse.linalg.gmres`. What is enqueued at once is a cycle of `restart` iterations. Vectors are made
    orthogonal by two passes of classical Gram-Schmidt, each of which is one product with the whole basis; Givens
    rotations and the triangular system stay on the device. `info` is `maxiter` if there is no solution.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are given a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1)
        The dtype of the solution is float32, float64, complex64 or complex128, whatever `A` and `b` promote to.
    x0 : array, optional
        Where to begin; it is not written. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
    maxiter : int, optional
        The most cycles: ten times n unless given. With a callback of the type "legacy", the most iterations.
    restart : int, optional
        Vectors of the basis: 20 unless given, and at most n. It takes memory for one more than these.
    callback_type : {"x", "pr_norm", "legacy"}, optional
        "x": the solution so far, a `GPUArray`, after each cycle. "pr_norm": the norm of the preconditioned residual in
        parts of that of `b`, for each iteration. "legacy", unless given: the same, and `maxiter` counts iterations.
    flexible : bool
        Whether `M` may change from iteration to iteration (Saad 1993). Norms are then those of the residual itself, and
        preconditioned vectors are kept besides the basis.
    M : as in `cg`
        It is applied from the left, and with `flexible` from the right.
    callback : callable, optional
        Called with what `callback_type` says. The host looks at the state after each cycle, without a wait, so that
        norms of iterations come when their cycle is over.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" need a sparse `A`, a sparse `M` or none, and no callback; "device" and
        "persistent" one right side. "auto" takes what is expected to be the quickest; the report says what and why. All
        modes give the same bits.
    return_report : bool
        Whether a `SolverReport` is returned too.

    Returns
    -------
    x : GPUArray of shape (n,)
    info : int
        0 if the residual, computed from `x` once more, is small enough; else the number of iterations, or less than 0
        after a breakdown: something that is divided by was 0 or not finite.
    report : SolverReport
        With `return_report`.

    The host does not wait in the loop. It waits once at the end, for the residual computed from `x`.
    """

def gcrotmk(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    m: Any = 20,
    k: Any = None,
    CU: Any = None,
    discard_C: Any = False,
    truncate: Any = "oldest",
    M: Any = None,
    callback: Any = None,
    mode: str = "auto",
    return_report: bool = False,
) -> tuple[Any, ...]:
    """The solution of ``A @ x = b`` by the flexible GCROT(m, k) (Hicken and Zingg 2010).

    See `scipy.sparse.linalg.gcrotmk`. A cycle is `m` iterations of flexible GMRES, orthogonal to the images of `k`
    directions that are kept from the cycles before. `M` may change from iteration to iteration. A callback is called
    after each cycle. `info` is `maxiter` if there is no solution.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are given a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1)
        The dtype of the solution is float32, float64, complex64 or complex128, whatever `A` and `b` promote to.
    x0 : array, optional
        Where to begin; it is not written. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
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
    M : as `A`, optional
        A preconditioner: an approximation of the inverse of `A`. A `dia_array` of the main diagonal alone takes part in
        the kernels of an iteration.
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that further iterations change.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" need a sparse `A`, a sparse `M` or none, and no callback; "device" and
        "persistent" one right side. "auto" takes what is expected to be the quickest; the report says what and why. All
        modes give the same bits.
    return_report : bool
        Whether a `SolverReport` is returned too.

    Returns
    -------
    x : GPUArray of shape (n,)
    info : int
        0 if the residual, computed from `x` once more, is small enough; else the number of iterations, or less than 0
        after a breakdown: something that is divided by was 0 or not finite.
    report : SolverReport
        With `return_report`.

    The host does not wait in the loop. It waits once at the end, for the residual computed from `x`.

    Raises
    ------
    NotImplementedError
        With `CU`, or `truncate` of "smallest".
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

def matrix_power(A: Any, power: Any) -> sparray:
    """The product of `power` times `A`: a new sparse array; waits for the numbers of elements.

    The result has the format of products, for a `power` of 0 (the identity) or 1 (a copy) that of `A`. Raises
    `TypeError` unless `A` is square, and `ValueError` for a negative `power`. The binary digits of `power` say what is
    multiplied (Knuth, section 4.6.3).
    """
