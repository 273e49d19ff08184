"""Conjugate gradients with any operators. `rtcg.sparse.linalg.cg` needs fewer kernels for the same work."""

import time

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.sparse.inner import AsyncInnerProduct
from pycuda.sparse.operator import IdentityOperator

# Iterations between two looks at what has arrived, and between two residuals that are computed from the solution.
_CHECK_INTERVAL = 20
_RESIDUAL_INTERVAL = 50
# Inner products that have not arrived, at most: with more of them the host asks again and again before it goes on.
_MAX_PENDING = 2


class ConvergenceError(RuntimeError):
    """The maximum number of iterations was not sufficient."""


def _quotient(a, b):
    """`a / b` of numbers on the device, with 0 / 0 = 0."""
    is_zero = b == 0
    return gpuarray.if_positive(is_zero, gpuarray.zeros_like(a), a / (b + is_zero))


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

    def __init__(self, operator, precon=None, pagelocked_allocator=None):
        self.operator = operator
        self.precon = IdentityOperator(operator.dtype, operator.shape[0]) if precon is None else precon
        self.pagelocked_allocator = drv.pagelocked_empty if pagelocked_allocator is None else pagelocked_allocator

    def reset(self, rhs, x=None):
        """Start with the right-hand side `rhs` at `x`, which is overwritten, or at zeros; does not wait."""
        self.rhs = rhs
        if x is None:
            x = gpuarray.zeros(self.operator.shape[0], dtype=rhs.dtype, allocator=rhs.allocator)
        self.x = x
        self.residual = rhs - self.operator(x)
        self.d = self.precon(self.residual).copy()
        product = AsyncInnerProduct(self.residual, self.d, self.pagelocked_allocator)
        self.delta = product.gpu_result
        self.real_delta_queue = [product]

    def one_iteration(self, compute_real_residual=False):
        """Enqueue one iteration. With `compute_real_residual` the residual is computed from the solution."""
        q = self.operator(self.d)
        alpha = _quotient(self.delta, gpuarray.dot(self.d, q))
        self.x += alpha * self.d
        if compute_real_residual:
            self.residual = self.rhs - self.operator(self.x)
        else:
            self.residual = self.residual - alpha * q
        s = self.precon(self.residual)
        old_delta = self.delta
        if compute_real_residual:
            product = AsyncInnerProduct(self.residual, s, self.pagelocked_allocator)
            self.real_delta_queue.append(product)
            self.delta = product.gpu_result
        else:
            self.delta = gpuarray.dot(self.residual, s)
        self.d = s + _quotient(self.delta, old_delta) * self.d

    def run(self, max_iterations=None, tol=1e-7, debug_callback=None):
        """Iterate until the squared norm of a residual has decreased by `tol` squared; returns the solution.

        Convergence is detected by polling, up to three residuals late, so that the device does not wait for the host.

        `debug_callback` is called after each iteration with "it" ("it+residual" if the residual was computed from the
        solution), the number of the iteration, and `x`, `residual`, `d` and `delta`; and with "end" at the end.

        Raises `ConvergenceError` after `max_iterations`, ten for each row (61 at least) unless given.
        """
        rows = self.operator.shape[0]
        if max_iterations is None:
            max_iterations = max(3 * _CHECK_INTERVAL + 1, 10 * rows)
        interval = max(1, min(rows, _RESIDUAL_INTERVAL))
        first_delta = None

        def report(what, iteration):
            if debug_callback is not None:
                debug_callback(what, iteration, self.x, self.residual, self.d, self.delta)

        for iteration in range(max_iterations):
            is_real = iteration % interval == 0
            self.one_iteration(compute_real_residual=is_real)
            report("it+residual" if is_real else "it", iteration)
            if iteration % _CHECK_INTERVAL:
                continue
            while self.real_delta_queue:
                delta = self.real_delta_queue[0].get_host_result()
                if delta is None and len(self.real_delta_queue) <= _MAX_PENDING:
                    break
                if delta is None:
                    time.sleep(1e-5)
                    continue
                self.real_delta_queue.pop(0)
                if first_delta is None:
                    first_delta = abs(delta[()])
                if abs(delta[()]) < tol * tol * first_delta or first_delta == 0:
                    report("end", iteration)
                    return self.x
        raise ConvergenceError("cg failed to converge")


def solve_pkt_with_cg(
    pkt_spmv, b, precon=None, x=None, tol=1e-7, max_iterations=None, debug=False, pagelocked_allocator=None
):
    """Solve a system with a `PacketedSpMV`; returns the solution and the numbers of iterations and of true residuals.

    `b`, `x` and the solution are in the order of the matrix; `precon` takes vectors in packet order. The initial guess
    `x` is not modified. With `debug` each check of the residual is printed, for which the call waits.
    """
    start = None if x is None else pkt_spmv.permute(x)
    state = CGStateContainer(pkt_spmv, precon, pagelocked_allocator)
    state.reset(pkt_spmv.permute(b), start)
    counts = {"it": 0, "it+residual": 0}

    def count(what, iteration, x, residual, d, delta):
        if what in counts:
            counts[what] += 1
        if debug and what == "it+residual":
            print(f"cg: iteration {iteration}, delta {delta.get()}")

    result = state.run(max_iterations, tol, debug_callback=count)
    return pkt_spmv.unpermute(result), sum(counts.values()), counts["it+residual"]
