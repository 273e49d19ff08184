"""Modes of a membrane

The four lowest modes of a drum in the shape of an L: the smallest eigenvalues of a sparse matrix (the five-point
Laplacian of the points within), and their vectors, by thick-restart Lanczos. The first eigenvalue is compared with the
one that Fox, Henrici and Moler (1967) bounded to eight digits; the third mode is a product of sines.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rtcg.autoinit  # noqa: F401
from rtcg import sparse

# Points of a side of the square that the L is cut from; the cut goes through the middle one.
N = 47


def main(picture):
    """Solve, compare and draw."""
    h = 2 / (N + 1)
    x, y = np.meshgrid(*[np.linspace(-1 + h, 1 - h, N)] * 2)
    inside = ~((x > -h / 2) & (y > -h / 2))
    line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(N, N))
    places = np.flatnonzero(inside)
    a = sparse.kronsum(line, line, format="csr")[places][:, places] * (1 / h**2)
    values, vectors = sparse.linalg.eigsh(a, k=4, which="SA", ncv=40, tol=1e-8)
    values, vectors = values.get(), vectors.get()
    assert abs(values[0] / 9.63972384 - 1) < 3 * h**2
    sines = np.sin(np.pi * x) * np.sin(np.pi * y)
    assert abs(vectors[:, 2] @ sines[inside]) > 0.999 * np.linalg.norm(sines[inside])
    figure, axes = plt.subplots(1, 4, figsize=(10, 2.8))
    for ax, value, vector in zip(axes, values, vectors.T, strict=True):
        mode = np.full((N, N), np.nan)
        mode[inside] = vector * np.sign(vector[np.abs(vector).argmax()])
        most = np.nanmax(np.abs(mode))
        ax.contourf(x, y, mode, 20, cmap="RdBu", vmin=-most, vmax=most)
        ax.contour(x, y, mode, [0], colors="k", linewidths=0.6)
        ax.set(title=f"{value:.3f}", aspect="equal")
        ax.axis("off")
    figure.tight_layout()
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "membrane.png")
