"""Patterns of sparse matrices

Where the elements of nine matrices of `rtcg.sparse.gallery` are. Each is counted on the device into a grid of pixels,
so that the picture of a matrix with millions of elements is as small as this one. The counts add up to the elements.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.sparse import gallery

PIXELS = 64

MATRICES = {
    "poisson2d": gallery.poisson2d(24),
    "poisson3d, 27 points": gallery.poisson3d(9, points=27),
    "elasticity2d": gallery.elasticity2d(17),
    "delaunay, permuted": gallery.delaunay(24, permuted=True),
    "discontinuous": gallery.discontinuous(8),
    "road_network": gallery.road_network(24),
    "rmat": gallery.rmat(9),
    "circuit": gallery.circuit(600, dense=3),
    "linear_program": gallery.linear_program(300, 600),
}


def pattern(matrix):
    """How many elements lie in each pixel of a picture of the matrix."""
    triples = matrix.tocoo()
    rows, columns = matrix.shape
    pixel = triples.row.astype(np.int64) * PIXELS // rows * PIXELS + triples.col.astype(np.int64) * PIXELS // columns
    return rnp.bincount(pixel, minlength=PIXELS**2).get().reshape(PIXELS, PIXELS)


def main(picture):
    """Count and draw."""
    figure, axes = plt.subplots(3, 3, figsize=(7.5, 8))
    for axis, (name, matrix) in zip(axes.flat, MATRICES.items(), strict=True):
        counts = pattern(matrix)
        assert counts.sum() == matrix.nnz
        axis.imshow(np.log1p(counts), cmap="Blues", vmax=np.log1p(max(4, counts.max() / 4)))
        axis.set_title(f"{name}\n{matrix.shape[0]} x {matrix.shape[1]}, {matrix.nnz}", fontsize=8)
        axis.set(xticks=[], yticks=[])
    figure.tight_layout()
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "sparse_patterns.png")
