"""Conjugate gradients with any operators. `rtcg.sparse.linalg.cg` needs fewer kernels for the same work."""

from typing import Any

class ConvergenceError(RuntimeError):
    """The maximum number of iterations was not sufficient."""

class CGStateContainer:
    """The vectors and scalars of conjugate gradients (Shewchuk 1994, appendix B3), all on the device.

    Parameters
    ----------
    operator, precon : callable
        Take and return a `GPUArray`, and have `dtype` and `shape`. They should not wait.
    pagelocked_allocator : callable, optional
        Allocates the memory to which inner products are copied; see `pycuda.sparse.inner`.

    Attributes
    ----------
    x, residual, d, delta : GPUArray
        The solution, the residual, the direction, and the inner product of residual and preconditioned residual.
    real_delta_queue : list of AsyncInnerProduct
        Inner products of residuals that were computed from the solution and have not arrived yet.
    """
    def __init__(self, operator: Any, precon: Any = None, pagelocked_allocator: Any = None) -> None: ...
    def reset(self, rhs: Any, x: Any = None) -> Any:
        """Start with the right-hand side `rhs` at `x`, which is overwritten, or at zeros; does not wait."""
    def one_iteration(self, compute_real_residual: Any = False) -> Any:
        """Enqueue one iteration. With `compute_real_residual` the residual is computed from the solution."""
    def run(self, max_iterations: Any = None, tol: Any = 1e-07, debug_callback: Any = None) -> Any:
        """Iterate until the squared norm of a residual has decreased by `tol` squared; returns the solution.

        Convergence is detected by polling, up to three residuals late, so that the device does not wait for the host.

        `debug_callback` is called after each iteration with "it" ("it+residual" if the residual was computed from the
        solution), the number of the iteration, and `x`, `residual`, `d` and `delta`; and with "end" at the end.

        Raises `ConvergenceError` after `max_iterations`, ten for each row (61 at least) unless given.
        """

def solve_pkt_with_cg(
    pkt_spmv: Any,
    b: Any,
    precon: Any = None,
    x: Any = None,
    tol: Any = 1e-07,
    max_iterations: Any = None,
    debug: Any = False,
    pagelocked_allocator: Any = None,
) -> Any:
    """Solve a system with a `PacketedSpMV`; returns the solution and the numbers of iterations and of true residuals.

    `b`, `x` and the solution are in the order of the matrix; `precon` takes vectors in packet order. The initial guess
    `x` is not modified. With `debug` each check of the residual is printed, for which the call waits.
    """
