"""Iterative solvers on the device under the names of `scipy.sparse.linalg`.

Scalars of iterations stay on the device. The host enqueues iterations and polls for results; it waits once, at the end.
"""

import operator
from dataclasses import dataclass

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg.numpy import GPUArray
from rtcg.sparse._base import issparse, refuse_host_matrix, to_device

__all__ = ["LinearOperator", "SolverReport", "aslinearoperator", "cg", "matrix_power", "norm"]


class LinearOperator:
    """A linear map of vectors on the device, by a function; see `scipy.sparse.linalg.LinearOperator`.

    Parameters
    ----------
    shape : tuple of int
    matvec : callable
        Takes a `GPUArray` of one axis and gives another one; it should not wait.
    dtype : data-type, optional
        float64 unless given.
    """

    ndim = 2

    def __init__(self, shape, matvec, rmatvec=None, matmat=None, dtype=None, rmatmat=None):
        shape = tuple(shape)
        if len(shape) != 2 or not all(isinstance(n, (int, np.integer)) for n in shape):
            raise ValueError(f"invalid shape {shape!r} (must be 2-d)")
        self.shape = shape
        self.dtype = np.dtype(np.float64 if dtype is None else dtype)
        self._function, self._adjoint = matvec, rmatvec

    def matvec(self, x):
        """The map of a vector."""
        if x.shape not in ((self.shape[1],), (self.shape[1], 1)):
            raise ValueError("dimension mismatch")
        return self._function(x)

    def rmatvec(self, x):
        """The adjoint map of a vector."""
        if self._adjoint is None:
            raise NotImplementedError("rmatvec is not defined")
        return self._adjoint(x)

    def __call__(self, x):
        return self.matvec(x)

    def __matmul__(self, x):
        return self.matvec(x)


def aslinearoperator(A):
    """`A` as an object with `shape`, `dtype` and `matvec`: of a sparse or dense array, or of such an object."""
    if isinstance(A, LinearOperator):
        return A
    if issparse(A):
        csr = A.tocsr()
        return LinearOperator(A.shape, csr._matvec, lambda x: A.transpose().conj() @ x, dtype=A.dtype)
    if isinstance(A, (GPUArray, np.ndarray)):
        dense = to_device(A)
        if dense.ndim != 2:
            raise ValueError(f"array must have ndim <= 2; it has shape {dense.shape}")
        return LinearOperator(dense.shape, lambda x: dense @ x, lambda x: dense.conj().T @ x, dtype=dense.dtype)
    function = getattr(A, "matvec", A if callable(A) else None)
    if hasattr(A, "shape") and function is not None:
        return LinearOperator(A.shape, function, getattr(A, "rmatvec", None), dtype=getattr(A, "dtype", None))
    refuse_host_matrix(A)
    raise TypeError(
        f"type not understood: {type(A).__name__} has no shape with a matvec; expected a sparse or dense array, or "
        "rtcg.sparse.linalg.LinearOperator(shape, matvec=function, dtype=dtype)"
    )


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
    #: The norm of the residual as the recurrence had it at the end.
    recurrence_residual: float
    #: What the norm had to be less than.
    threshold: float
    #: Directions ``d`` with ``d @ A @ d < 0``: if there are any, `A` is not positive definite.
    negative_curvature: int
    #: How iterations reached the device: "stream", "graph" or "device".
    mode: str
    #: Norms of residuals by the recurrence, from the one at the beginning on.
    history: "np.ndarray | None"


def _system(A, M, x0, b):
    """The operands of a solver, checked as SciPy does: natives of `A` and `M`, the start, and the right side."""
    A = A if issparse(A) else aslinearoperator(A)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"expected square matrix, but got shape={A.shape}")
    n = A.shape[0]
    b = b if isinstance(b, GPUArray) else np.asarray(b)
    if b.shape not in ((n,), (n, 1)):
        raise ValueError(f"shapes of A {A.shape} and b {b.shape} are incompatible")
    kind = np.result_type(A.dtype, b.dtype)
    dtype = {"f": np.float32, "d": np.float64, "F": np.complex64, "D": np.complex128}.get(kind.char, np.float64)
    b = to_device(b, np.dtype(dtype)).ravel()
    if x0 is not None:
        x0 = x0 if isinstance(x0, GPUArray) else np.asarray(x0)
        if x0.shape not in ((n,), (n, 1)):
            raise ValueError(f"shapes of A {A.shape} and x0 {x0.shape} are incompatible")
        x0 = to_device(x0, np.dtype(dtype)).ravel()
    if M is not None:
        M = M if issparse(M) else aslinearoperator(M)
        if M.shape != A.shape:
            raise ValueError("matrix and preconditioner have different shapes")
    return _native_operator(A), _native_preconditioner(M, np.dtype(dtype)), x0, b


def _native_operator(A):
    if issparse(A):
        return A._native_matrix() if A.format == "dia" else A.tocsr()._native
    return A.matvec


def _native_preconditioner(M, dtype):
    if M is None:
        return None
    if issparse(M) and M.format == "dia" and list(M._host_offsets) == [0]:
        return to_device(M.diagonal(), dtype)
    return _native_operator(M)


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
        Iterations between two looks at the residual: 20, and 1 with a callback.
    mode : {"auto", "stream", "graph", "device"}
        How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, or as one graph with a
        loop (on the virtual GPU only). Graphs need a sparse `A`, no callback, and no
        `M` but a diagonal one. All modes give the same bits.
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

    The host does not wait in the loop. It waits once at the end, for the residual computed from `x`.
    """
    native, preconditioner, x0, b = _system(A, M, x0, b)
    maxiter = max(1, 10 * b.size) if maxiter is None else operator.index(maxiter)
    if maxiter < 1:
        raise ValueError(f"maxiter is {maxiter}; expected at least 1")
    if not (rtol >= 0 and atol >= 0):
        raise ValueError(f"rtol is {rtol} and atol is {atol}; expected numbers of at least 0")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is {callback!r}; expected a callable")
    x, found = _native.sparse_cg(
        native,
        b,
        x0,
        preconditioner,
        rtol=float(rtol),
        atol=float(atol),
        maxiter=maxiter,
        check_every=operator.index(check_every) if check_every is not None else 20 if callback is None else 1,
        mode=mode,
        history=bool(return_report),
        callback=callback,
    )
    info = {"converged": 0, "breakdown": -1}.get(found["reason"], found["iterations"])
    if not return_report:
        return x, info
    history = found["history"]
    found["history"] = None if history is None else np.array(history)
    return x, info, SolverReport(**found)


def matrix_power(A, power):
    """`A` multiplied by itself; see `scipy.sparse.linalg.matrix_power`."""
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


def norm(x, ord=None, axis=None):
    """The Frobenius norm (also "fro"), or that of the largest sum of a column (1) or a row (inf), as a `GPUArray`.

    See `scipy.sparse.linalg.norm`; does not wait.
    """
    if not issparse(x):
        raise TypeError("input is not sparse. use numpy.linalg.norm")
    if axis is not None:
        raise NotImplementedError(f"axis is {axis!r}; expected None")
    sizes = abs(x.tocsr())
    if ord in (None, "fro", "f"):
        return _xp.sqrt((sizes.data * sizes.data).sum())
    if ord in (1, -1, np.inf, -np.inf):
        sums = sizes.sum(axis=0 if abs(ord) == 1 else 1)
        return sums.max() if ord > 0 else sums.min()
    raise ValueError(f"Invalid norm order {ord!r} for matrices.")
