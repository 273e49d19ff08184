"""Poisson's equation

A sparse matrix (the five-point Laplacian), and conjugate gradients. The scalars of the iteration stay on the device, so
the host does not wait before the end. The solution is compared with the exact one; the picture has the matrix, the
residuals and the solution.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg import sparse

N = 63


def main(picture):
    """Solve, compare and draw."""
    h = 1 / (N + 1)
    line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(N, N))
    a = sparse.kronsum(line, line, format="csr") * (1 / h**2)
    x, y = np.meshgrid(*[np.linspace(h, 1 - h, N)] * 2)
    exact = np.sin(np.pi * x) * np.sin(2 * np.pi * y) + 0.3 * np.sin(4 * np.pi * x) * np.sin(np.pi * y)
    right_side = np.pi**2 * (5 * exact + 12 * 0.3 * np.sin(4 * np.pi * x) * np.sin(np.pi * y))
    # A rough start, so that there is something to do.
    start = np.random.default_rng(0).standard_normal(N * N)
    solution, info, report = sparse.linalg.cg(
        a, rnp.to_gpu(right_side.ravel()), rnp.to_gpu(start), rtol=1e-8, return_report=True
    )
    found = solution.get().reshape(N, N)
    assert info == 0 and report.waits_in_loop == 0
    assert np.abs(found - exact).max() < 25 * h**2
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2))
    rows, columns = np.repeat(np.arange(N * N), np.diff(a.indptr.get())), a.indices.get()
    near = (rows < 4 * N) & (columns < 4 * N)
    axes[0].plot(columns[near], rows[near], ".", ms=1)
    axes[0].invert_yaxis()
    axes[1].semilogy(report.history)
    axes[1].set(xlabel="iteration", title="residual")
    axes[2].imshow(found, origin="lower", cmap="RdBu")
    axes[0].set_aspect("equal")
    figure.tight_layout()
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "poisson.png")
