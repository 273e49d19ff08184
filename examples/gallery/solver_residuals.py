"""Residuals of a solver over time

Conjugate gradients on Poisson's equation: the norm of the residual after each iteration, for each way in which
iterations reach the device, and for three preconditioners. Iterations are the same in all modes, to the bit; what
differs is the time.
"""

import sys
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.sparse import gallery, linalg

N = 96


def solved(a, b, **options):
    """History and seconds of a solution, after one that compiles the kernels."""
    linalg.cg(a, b, rtol=1e-10, **options)
    begin = time.perf_counter()
    x, info, report = linalg.cg(a, b, rtol=1e-10, return_report=True, **options)
    x.get()
    assert info == 0 and report.waits_in_loop == 0
    return np.array(report.history), time.perf_counter() - begin


def draw(axis, runs):
    """Lines over time: the iterations of a run take equally long."""
    for name, (history, seconds) in runs.items():
        times = np.linspace(0, 1e3 * seconds, len(history))
        axis.semilogy(times, history, label=f"{name}, {len(history) - 1} iterations")
    axis.set(xlabel="milliseconds")
    axis.legend(fontsize=7)


def main(picture):
    """Solve in all modes and with all preconditioners, compare and draw."""
    a, b = gallery.poisson2d(N), rnp.ones(N * N)
    modes = {}
    for mode in ("stream", "graph", "device", "persistent"):
        try:
            modes[mode] = solved(a, b, mode=mode)
        except (ValueError, NotImplementedError) as error:
            print(f"{mode}: {error}")
    first = modes["stream"][0]
    assert all((history == first).all() for history, _ in modes.values())
    preconditioners = {
        "none": solved(a, b),
        "chebyshev, degree 4": solved(a, b, M=linalg.chebyshev(a, 4)),
        "block_jacobi, 8": solved(a, b, M=linalg.block_jacobi(a, 8)),
    }
    assert len(preconditioners["chebyshev, degree 4"][0]) < len(first) / 2
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    draw(axes[0], modes)
    draw(axes[1], preconditioners)
    axes[0].set_ylabel("norm of the residual")
    figure.tight_layout()
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "solver_residuals.png")
