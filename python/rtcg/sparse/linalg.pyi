"""Iterative solvers on the device under the names of `scipy.sparse.linalg`.

Scalars of iterations stay on the device. The host enqueues iterations and polls for results; it waits once, at the end.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rtcg.numpy import GPUArray
from rtcg.sparse._base import sparray

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

    ndim: int
    def __init__(
        self, shape: Any, matvec: Any, rmatvec: Any = None, matmat: Any = None, dtype: Any = None, rmatmat: Any = None
    ) -> None: ...
    def matvec(self, x: Any) -> GPUArray:
        """The map of a vector."""
    def rmatvec(self, x: Any) -> GPUArray:
        """The adjoint map of a vector."""
    def __call__(self, x: Any) -> Any: ...
    def __matmul__(self, x: Any) -> Any: ...

def aslinearoperator(A: Any) -> LinearOperator:
    """`A` as an object with `shape`, `dtype` and `matvec`: of a sparse or dense array, or of such an object."""

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

def matrix_power(A: Any, power: Any) -> sparray:
    """`A` multiplied by itself; see `scipy.sparse.linalg.matrix_power`."""

def norm(x: Any, ord: Any = None, axis: Any = None) -> GPUArray:
    """The Frobenius norm (also "fro"), or that of the largest sum of a column (1) or a row (inf), as a `GPUArray`.

    See `scipy.sparse.linalg.norm`; does not wait.
    """
