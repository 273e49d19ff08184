"""Conjugate gradients with any operators. `rtcg.sparse.linalg.cg` needs fewer kernels for the same."""

from typing import Any

class ConvergenceError(RuntimeError):
    """Iterations were not enough."""

class CGStateContainer:
    """The vectors and numbers of conjugate gradients (Shewchuk 1994, appendix B3), all of them on the device.

    Parameters
    ----------
    operator, precon : callable
        Take a `GPUArray` and give one; have `dtype` and `shape`. They should not wait.
    pagelocked_allocator : callable, optional
        Makes the memory that inner products are copied to; see `pycuda.sparse.inner`.

    Attributes
    ----------
    x, residual, d, delta : GPUArray
        The solution, the residual, the direction, and the inner product of residual and preconditioned residual.
    real_delta_queue : list of AsyncInnerProduct
        Those of residuals that were computed from the solution and have not arrived yet.
    """
    def __init__(self, operator: Any, precon: Any = None, pagelocked_allocator: Any = None) -> None: ...
    def reset(self, rhs: Any, x: Any = None) -> Any:
        """Begins with the right side `rhs` at `x`, which is written to, or at zeros; does not wait."""
    def one_iteration(self, compute_real_residual: Any = False) -> Any:
        """Enqueues one iteration. With `compute_real_residual` the residual is computed from the solution."""
    def run(self, max_iterations: Any = None, tol: Any = 1e-07, debug_callback: Any = None) -> Any:
        """The solution, when the squared norm of a residual has fallen by `tol` squared.

        It is found by polling, and up to three residuals later, so that the device does not wait for the host.

        `debug_callback` is called after each iteration with "it" ("it+residual" where the residual was computed from
        the solution), the number of the iteration, and `x`, `residual`, `d` and `delta`; and with "end" at the end.

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
    """The solution of a system whose matrix is a `PacketedSpMV`, how many iterations, and how many residuals from it.

    `b`, `x` and the solution are in the order of the matrix, `precon` is for vectors in packet order. `x`, where to
    begin, is not written. With `debug` each look at the residual is printed, which waits.
    """
