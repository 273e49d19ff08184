"""Iterative solvers on the device under the names of `scipy.sparse.linalg`.

The scalars of iterations stay on the device. The host enqueues iterations and polls for results; it waits once, at the
end.
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
    """Solve ``A @ x = b`` for a Hermitian positive definite `A` by the conjugate gradient method.

    See `scipy.sparse.linalg.cg`. Iterations are those of Hestenes and Stiefel (1952) with the arithmetic of SciPy;
    inner products are always summed in double precision.

    If `b` has shape (n, k), all columns are solved together: one product multiplies `A` by all of them, and a column
    that has converged takes no further part.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are called with a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1), or (n, k)
        The dtype of the solution is float32, float64, complex64 or complex128, as `A` and `b` promote to.
    x0 : array, optional
        The initial guess, which is not modified. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
    maxiter : int, optional
        The maximum number of iterations, ten times n unless given.
    M : as `A`, optional
        A preconditioner: an approximation of the inverse of `A`. A `dia_array` with only the main diagonal is fused
        into the kernels of an iteration.
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
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that later iterations overwrite.
    check_every : int, optional
        Iterations between two checks of the residual: 20 by default, and always 1 with a callback.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" require a sparse `A`, a sparse `M` or none, and no callback; "device"
        and "persistent" also require one right-hand side. "auto" chooses the mode that is expected to be fastest; the
        report says which and why. All modes give bitwise equal results.
    return_report : bool
        Whether to return a `SolverReport` too.

    Returns
    -------
    x : GPUArray of shape (n,), or (n, k)
    info : int, or an array of k integers
        0 if the residual, recomputed from `x`, is small enough; else the number of iterations, or a negative number
        after a breakdown: a divisor that is 0 or not finite.
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
    """Solve ``A @ x = b`` by the biconjugate gradient method (Fletcher 1976).

    See `scipy.sparse.linalg.bicg`. `A`, and `M` unless it is diagonal, need ``rmatvec`` if they are not sparse arrays;
    the adjoint of a sparse array is built once per call. `info` is -10 or -11 after a division by an inner product of
    0. Columns of `b` are solved as in `cg`.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are called with a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1), or (n, k)
        The dtype of the solution is float32, float64, complex64 or complex128, as `A` and `b` promote to.
    x0 : array, optional
        The initial guess, which is not modified. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
    maxiter : int, optional
        The maximum number of iterations, ten times n unless given.
    M : as `A`, optional
        A preconditioner: an approximation of the inverse of `A`. A `dia_array` with only the main diagonal is fused
        into the kernels of an iteration.
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that later iterations overwrite.
    check_every : int, optional
        Iterations between two checks of the residual: 20 by default, and always 1 with a callback.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" require a sparse `A`, a sparse `M` or none, and no callback; "device"
        and "persistent" also require one right-hand side. "auto" chooses the mode that is expected to be fastest; the
        report says which and why. All modes give bitwise equal results.
    return_report : bool
        Whether to return a `SolverReport` too.

    Returns
    -------
    x : GPUArray of shape (n,), or (n, k)
    info : int, or an array of k integers
        0 if the residual, recomputed from `x`, is small enough; else the number of iterations, or a negative number
        after a breakdown: a divisor that is 0 or not finite.
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
    """Solve ``A @ x = b`` by the stabilised biconjugate gradient method (van der Vorst 1992).

    See `scipy.sparse.linalg.bicgstab`. `info` is -10 or -11 after a division by an inner product of 0. Columns of `b`
    are solved as in `cg`.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are called with a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1), or (n, k)
        The dtype of the solution is float32, float64, complex64 or complex128, as `A` and `b` promote to.
    x0 : array, optional
        The initial guess, which is not modified. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
    maxiter : int, optional
        The maximum number of iterations, ten times n unless given.
    M : as `A`, optional
        A preconditioner: an approximation of the inverse of `A`. A `dia_array` with only the main diagonal is fused
        into the kernels of an iteration.
    refine : bool
        Whether iterations run in single precision, as in `cg`.
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that later iterations overwrite.
    check_every : int, optional
        Iterations between two checks of the residual: 20 by default, and always 1 with a callback.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" require a sparse `A`, a sparse `M` or none, and no callback; "device"
        and "persistent" also require one right-hand side. "auto" chooses the mode that is expected to be fastest; the
        report says which and why. All modes give bitwise equal results.
    return_report : bool
        Whether to return a `SolverReport` too.

    Returns
    -------
    x : GPUArray of shape (n,), or (n, k)
    info : int, or an array of k integers
        0 if the residual, recomputed from `x`, is small enough; else the number of iterations, or a negative number
        after a breakdown: a divisor that is 0 or not finite.
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
    """Solve ``A @ x = b`` by the conjugate gradient squared method (Sonneveld 1989).

    See `scipy.sparse.linalg.cgs`. `info` is -10 or -11 after a division by an inner product of 0. Columns of `b` are
    solved as in `cg`.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are called with a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1), or (n, k)
        The dtype of the solution is float32, float64, complex64 or complex128, as `A` and `b` promote to.
    x0 : array, optional
        The initial guess, which is not modified. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
    maxiter : int, optional
        The maximum number of iterations, ten times n unless given.
    M : as `A`, optional
        A preconditioner: an approximation of the inverse of `A`. A `dia_array` with only the main diagonal is fused
        into the kernels of an iteration.
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that later iterations overwrite.
    check_every : int, optional
        Iterations between two checks of the residual: 20 by default, and always 1 with a callback.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" require a sparse `A`, a sparse `M` or none, and no callback; "device"
        and "persistent" also require one right-hand side. "auto" chooses the mode that is expected to be fastest; the
        report says which and why. All modes give bitwise equal results.
    return_report : bool
        Whether to return a `SolverReport` too.

    Returns
    -------
    x : GPUArray of shape (n,), or (n, k)
    info : int, or an array of k integers
        0 if the residual, recomputed from `x`, is small enough; else the number of iterations, or a negative number
        after a breakdown: a divisor that is 0 or not finite.
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
    """Solve ``A @ x = b`` by the transpose-free quasi-minimal residual method (Freund 1993).

    See `scipy.sparse.linalg.tfqmr`. Iterations run in pairs, and a callback is called after each pair. `M` is applied
    from the right, so that residuals are those of the system. Columns of `b` are solved as in `cg`.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are called with a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1), or (n, k)
        The dtype of the solution is float32, float64, complex64 or complex128, as `A` and `b` promote to.
    x0 : array, optional
        The initial guess, which is not modified. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
    maxiter : int, optional
        The maximum number of iterations, ten times n unless given.
    M : as `A`, optional
        A preconditioner: an approximation of the inverse of `A`. A `dia_array` with only the main diagonal is fused
        into the kernels of an iteration.
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that later iterations overwrite.
    check_every : int, optional
        Iterations between two checks of the residual: 20 by default, and always 1 with a callback.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" require a sparse `A`, a sparse `M` or none, and no callback; "device"
        and "persistent" also require one right-hand side. "auto" chooses the mode that is expected to be fastest; the
        report says which and why. All modes give bitwise equal results.
    return_report : bool
        Whether to return a `SolverReport` too.

    Returns
    -------
    x : GPUArray of shape (n,), or (n, k)
    info : int, or an array of k integers
        0 if the residual, recomputed from `x`, is small enough; else the number of iterations, or a negative number
        after a breakdown: a divisor that is 0 or not finite.
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
    """Solve ``A @ x = b`` by the quasi-minimal residual method (Freund and Nachtigal 1994).

    See `scipy.sparse.linalg.qmr`. Operators need ``rmatvec`` unless they are sparse arrays. `info` is -10 to -15 after
    a division by a number close to 0. Columns of `b` are solved as in `cg`.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are called with a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1), or (n, k)
        The dtype of the solution is float32, float64, complex64 or complex128, as `A` and `b` promote to.
    x0 : array, optional
        The initial guess, which is not modified. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
    maxiter : int, optional
        The maximum number of iterations, ten times n unless given.
    M1 : as `A`, optional
        A left preconditioner.
    M2 : as `A`, optional
        A right preconditioner.
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that later iterations overwrite.
    check_every : int, optional
        Iterations between two checks of the residual: 20 by default, and always 1 with a callback.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" require a sparse `A`, a sparse `M` or none, and no callback; "device"
        and "persistent" also require one right-hand side. "auto" chooses the mode that is expected to be fastest; the
        report says which and why. All modes give bitwise equal results.
    return_report : bool
        Whether to return a `SolverReport` too.

    Returns
    -------
    x : GPUArray of shape (n,), or (n, k)
    info : int, or an array of k integers
        0 if the residual, recomputed from `x`, is small enough; else the number of iterations, or a negative number
        after a breakdown: a divisor that is 0 or not finite.
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
    """Solve ``(A - shift * I) @ x = b`` for a Hermitian `A` by the minimal residual method.

    Paige and Saunders (1975); see `scipy.sparse.linalg.minres`. `A` may be indefinite or singular; `M` is positive
    definite. Only the residual is recomputed at the end. Columns of `b` are solved as in `cg`.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are called with a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1), or (n, k)
        The dtype of the solution is float32, float64, complex64 or complex128, as `A` and `b` promote to.
    x0 : array, optional
        The initial guess, which is not modified. Zeros unless given.
    rtol : float
        Iterations end when the residual is this small relative to ``norm(A) * norm(x)``, or ``A @ r`` relative to
        ``norm(A) * norm(r)``.
    maxiter : int, optional
        The maximum number of iterations, five times n unless given.
    M : as `A`, optional
        A preconditioner: an approximation of the inverse of `A`. A `dia_array` with only the main diagonal is fused
        into the kernels of an iteration.
    shift : float
        The number that is subtracted from the diagonal.
    refine : bool
        Whether iterations run in single precision, as in `cg`; `rtol` then also has the meaning that it has in `cg`.
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that later iterations overwrite.
    check_every : int, optional
        Iterations between two checks of the residual: 20 by default, and always 1 with a callback.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" require a sparse `A`, a sparse `M` or none, and no callback; "device"
        and "persistent" also require one right-hand side. "auto" chooses the mode that is expected to be fastest; the
        report says which and why. All modes give bitwise equal results.
    return_report : bool
        Whether to return a `SolverReport` too.

    Returns
    -------
    x : GPUArray of shape (n,), or (n, k)
    info : int, or an array of k integers
        0 if the residual, recomputed from `x`, is small enough; else the number of iterations, or a negative number
        after a breakdown: a divisor that is 0 or not finite.
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
    """Solve ``A @ x = b`` by the generalised minimal residual method with restarts (Saad and Schultz 1986).

    See `scipy.sparse.linalg.gmres`. The host enqueues one cycle of `restart` iterations at a time. Vectors are
    orthogonalised by two passes of classical Gram-Schmidt, each of which is one product with the whole basis; Givens
    rotations and the triangular system stay on the device. `info` is `maxiter` if the iterations do not converge.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are called with a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1)
        The dtype of the solution is float32, float64, complex64 or complex128, as `A` and `b` promote to.
    x0 : array, optional
        The initial guess, which is not modified. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
    maxiter : int, optional
        The maximum number of cycles, ten times n unless given. With a callback of the type "legacy", the maximum number
        of iterations.
    restart : int, optional
        The number of basis vectors: 20 unless given, and at most n. Memory is needed for one more.
    callback_type : {"x", "pr_norm", "legacy"}, optional
        "x": the solution so far, a `GPUArray`, after each cycle. "pr_norm": the norm of the preconditioned residual
        relative to that of `b`, for each iteration. "legacy" (the default): the same, but `maxiter` counts iterations.
    flexible : bool
        Whether `M` may change from iteration to iteration (Saad 1993). Norms are then those of the residual itself, and
        preconditioned vectors are kept in addition to the basis.
    M : as in `cg`
        Applied from the left, or from the right with `flexible`.
    callback : callable, optional
        Called with the argument that `callback_type` selects. The host looks at the state after each cycle, without
        waiting, so that the norms of iterations arrive when their cycle is over.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" require a sparse `A`, a sparse `M` or none, and no callback; "device"
        and "persistent" also require one right-hand side. "auto" chooses the mode that is expected to be fastest; the
        report says which and why. All modes give bitwise equal results.
    return_report : bool
        Whether to return a `SolverReport` too.

    Returns
    -------
    x : GPUArray of shape (n,)
    info : int
        0 if the residual, recomputed from `x`, is small enough; else the number of iterations, or a negative number
        after a breakdown: a divisor that is 0 or not finite.
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
    """Solve ``A @ x = b`` by the flexible GCROT(m, k) method (Hicken and Zingg 2010).

    See `scipy.sparse.linalg.gcrotmk`. A cycle has `m` iterations of flexible GMRES, orthogonal to the images of `k`
    directions that are kept from earlier cycles. `M` may change from iteration to iteration. A callback is called after
    each cycle. `info` is `maxiter` if the iterations do not converge.

    Parameters
    ----------
    A : sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
        Functions are called with a `GPUArray` and should not wait.
    b : array of shape (n,) or (n, 1)
        The dtype of the solution is float32, float64, complex64 or complex128, as `A` and `b` promote to.
    x0 : array, optional
        The initial guess, which is not modified. Zeros unless given.
    rtol : float
        The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.
    atol : float
        See `rtol`.
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
    M : as `A`, optional
        A preconditioner: an approximation of the inverse of `A`. A `dia_array` with only the main diagonal is fused
        into the kernels of an iteration.
    callback : callable, optional
        Called after each iteration with the solution so far, as a `GPUArray` that later iterations overwrite.
    mode : {"auto", "stream", "graph", "device", "persistent"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
        loop, or as one kernel. All but "stream" require a sparse `A`, a sparse `M` or none, and no callback; "device"
        and "persistent" also require one right-hand side. "auto" chooses the mode that is expected to be fastest; the
        report says which and why. All modes give bitwise equal results.
    return_report : bool
        Whether to return a `SolverReport` too.

    Returns
    -------
    x : GPUArray of shape (n,)
    info : int
        0 if the residual, recomputed from `x`, is small enough; else the number of iterations, or a negative number
        after a breakdown: a divisor that is 0 or not finite.
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

def matrix_power(A: Any, power: Any) -> sparray:
    """`A` to the power of `power`: a new sparse array; waits for the numbers of elements.

    The result has the format of products, or that of `A` for a `power` of 0 (the identity) or 1 (a copy). Raises
    `TypeError` unless `A` is square, and `ValueError` for a negative `power`. Uses binary exponentiation (Knuth,
    section 4.6.3).
    """
