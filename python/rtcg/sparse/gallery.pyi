"""Matrices to test and to measure with: the same ones for the same numbers, without downloads.

They are made on the host in Rust (`rtcg::sparse::gallery`) and copied to the device, which waits. Random numbers are
Philox4x32-10's. Grids are counted with the last axis fastest, and have zeros around them.
"""

from typing import Any

from rtcg.sparse._base import sparray

__all__ = [
    "anisotropic",
    "arrow",
    "banded",
    "block_diagonal",
    "circuit",
    "convection_diffusion",
    "linear_program",
    "poisson1d",
    "poisson2d",
    "poisson3d",
    "power_law",
    "rmat",
]

def poisson1d(n: Any, *, dtype: Any = ..., format: Any = "csr") -> sparray:
    """Poisson's equation on a line of `n` points: a symmetric positive definite array of n rows; waits.

    The second difference, 2 on the diagonal and -1 beside it, of `dtype` and in `format`. Raises `ValueError` for a
    negative `n`.
    """

def poisson2d(nx: Any, ny: Any = None, *, points: Any = 5, dtype: Any = ..., format: Any = "csr") -> sparray:
    """Poisson's equation on a grid of `nx` by `ny` points: a symmetric positive definite array of nx ny rows; waits.

    `points` is 5, for the 4 nearest neighbours of each point, or 9, for all 8: else a `ValueError`. `ny` is `nx` by
    default.
    """

def poisson3d(
    nx: Any, ny: Any = None, nz: Any = None, *, points: Any = 7, dtype: Any = ..., format: Any = "csr"
) -> sparray:
    """Poisson's equation on a grid of `nx` by `ny` by `nz` points: a symmetric positive definite array; waits.

    `points` is 7, for the 6 nearest neighbours of each point, or 27, for all 26: else a `ValueError`. `ny` and `nz` are
    `nx` by default.
    """

def anisotropic(nx: Any, ny: Any = None, *, epsilon: Any = 0.001, dtype: Any = ..., format: Any = "csr") -> sparray:
    """Diffusion in the plane that is `epsilon` times as strong along the first axis as along the second; waits.

    A symmetric positive definite array of nx ny rows, 5 elements in each, of `dtype` and in `format`. `ny` is `nx` by
    default.
    """

def convection_diffusion(
    nx: Any, ny: Any = None, *, peclet: Any = 1.0, dtype: Any = ..., format: Any = "csr"
) -> sparray:
    """Diffusion with a flow along the second axis, `peclet` times as strong within a cell; waits.

    An array of nx ny rows, 5 elements in each, that is not symmetric. `ny` is `nx` by default.
    """

def rmat(scale: Any, edge_factor: Any = 16, *, seed: Any = 0, dtype: Any = ..., format: Any = "csr") -> sparray:
    """The graph of Graph500: an array of ``2**scale`` nodes and `edge_factor` times as many edges; waits.

    R-MAT (Chakrabarti and others 2004). Elements are how often an edge was drawn; the same `seed` gives the same graph.
    Raises `ValueError` for a `scale` outside 0 to 31.
    """

def power_law(n: Any, links: Any = 4, *, seed: Any = 0, dtype: Any = ..., format: Any = "csr") -> sparray:
    """A graph of `n` nodes, each with `links` edges to older ones (Barabasi and Albert 1999); waits.

    A symmetric array of n rows, a few of which are very long, of `dtype` and in `format`; the same `seed` gives the
    same graph.
    """

def banded(
    n: Any, bandwidth: Any, row_length: Any = 8, *, seed: Any = 0, dtype: Any = ..., format: Any = "csr"
) -> sparray:
    """`row_length` random elements in each of `n` rows, within `bandwidth` of a diagonal above their sum; waits.

    An array of `dtype` and in `format`, diagonally dominant and not symmetric; the same `seed` gives the same one.
    """

def circuit(n: Any, dense: Any = 2, *, seed: Any = 0, dtype: Any = ..., format: Any = "csr") -> sparray:
    """A few elements in each of `n` rows, and `dense` full rows and columns; waits.

    A symmetric positive definite array, as circuits with supply nets have them; the same `seed` gives the same one.
    """

def linear_program(
    rows: Any, columns: Any, row_length: Any = 8, *, seed: Any = 0, dtype: Any = ..., format: Any = "csr"
) -> sparray:
    """Random elements, `row_length` in a row, of a rectangular array of `rows` and `columns`; waits.

    Every tenth row is empty; the same `seed` gives the same array.
    """

def block_diagonal(n: Any, block: Any = 16, *, seed: Any = 0, dtype: Any = ..., format: Any = "csr") -> sparray:
    """Dense random blocks of `block` rows along the diagonal of an array of `n` rows; waits.

    The same `seed` gives the same array, of `dtype` and in `format`.
    """

def arrow(n: Any, *, dtype: Any = ..., format: Any = "csr") -> sparray:
    """A full first row, a full first column, and a diagonal: an array of `n` rows; waits.

    Of `dtype` and in `format`.
    """

def elasticity2d(
    nx: Any, ny: Any = None, *, poisson_ratio: Any = 0.3, dtype: Any = ..., format: Any = "csr"
) -> sparray:
    """Linear elasticity (plane strain) of bilinear squares around ``nx * ny`` points, fixed at the boundary; waits.

    A symmetric positive definite array. Points have two unknowns each, one after the other: blocks of 2x2. Young's
    modulus is 1. `ny` is `nx` by default.
    """

def elasticity3d(
    nx: Any, ny: Any = None, nz: Any = None, *, poisson_ratio: Any = 0.3, dtype: Any = ..., format: Any = "csr"
) -> sparray:
    """Linear elasticity of trilinear cubes around ``nx * ny * nz`` points, fixed at the boundary; waits.

    A symmetric positive definite array of blocks of 3x3. Young's modulus is 1. `ny` and `nz` are `nx` by default.
    """

def delaunay(side: Any, *, permuted: Any = False, seed: Any = 0, dtype: Any = ..., format: Any = "csr") -> sparray:
    """Mass and stiffness of linear triangles on a Delaunay mesh of ``side * side`` points; waits.

    A symmetric positive definite array. Points lie on a grid and are moved at random; edges are flipped until the mesh
    is Delaunay's (Lawson 1977). They are numbered as the grid is, or, if `permuted`, in random order. The same `seed`
    gives the same mesh.
    """

def quadratic_tetrahedra(nx: Any, ny: Any = None, nz: Any = None, *, dtype: Any = ..., format: Any = "csr") -> sparray:
    """Poisson's equation by quadratic elements on a box of cubes, each cut in six tetrahedra, with zeros around it.

    A symmetric positive definite array, of rows of very different lengths. `nx`, `ny` and `nz` are the numbers of
    cubes, the last two `nx` by default. Waits.
    """

def discontinuous(
    nx: Any, ny: Any = None, *, block: Any = 10, seed: Any = 0, dtype: Any = ..., format: Any = "csr"
) -> sparray:
    """Dense blocks of the cells of a grid and of their neighbours, as discontinuous elements have them; waits.

    A symmetric array of ``nx * ny * block`` rows; the same `seed` gives the same one. `ny` is `nx` by default.
    """

def road_network(side: Any, *, seed: Any = 0, dtype: Any = ..., format: Any = "csr") -> sparray:
    """A planar graph with holes, whose nodes mostly have two or three neighbours; elements are lengths; waits.

    A symmetric array of about ``side**2`` rows; the same `seed` gives the same one.
    """
