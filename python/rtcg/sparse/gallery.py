"""Matrices to test and to measure with: the same ones for the same numbers, without downloads.

They are made on the host in Rust (`rtcg::sparse::gallery`) and copied to the device, which waits. Random numbers are
Philox4x32-10's. Grids are counted with the last axis fastest, and have zeros around them.
"""

import numpy as np

from rtcg import _native
from rtcg._conversions import as_dtype, as_flag, as_float, as_integer, as_text, converts
from rtcg._messages import shown
from rtcg.sparse._compressed import csr_array
from rtcg.sparse._operands import index_dtype

__all__ = [
    "anisotropic", "arrow", "banded", "block_diagonal", "circuit", "convection_diffusion", "delaunay",
    "discontinuous", "elasticity2d", "elasticity3d", "linear_program", "poisson1d", "poisson2d", "poisson3d",
    "power_law", "quadratic_tetrahedra", "rmat", "road_network",
]  # fmt: skip


def _made(name, lengths, dtype, format, number=0.0, seed=0):
    lengths = list(lengths)
    if any(length < 0 for length in lengths):
        raise ValueError(f"{name}: sizes are {lengths}; expected numbers of at least 0")
    shape, data, indices, indptr = _native.sparse_gallery(name, lengths, number, seed)
    index = index_dtype(max(*shape, len(data)))
    parts = data.astype(dtype), indices.astype(index), indptr.astype(index)
    return csr_array(parts, shape=tuple(shape)).asformat(format)


def poisson1d(n, *, dtype=np.float64, format="csr"):
    """Poisson's equation on a line of `n` points: a symmetric positive definite array of n rows; waits.

    The second difference, 2 on the diagonal and -1 beside it, of `dtype` and in `format`. Raises `ValueError` for a
    negative `n`.
    """
    return _made("poisson", [n], dtype, format)


def poisson2d(nx, ny=None, *, points=5, dtype=np.float64, format="csr"):
    """Poisson's equation on a grid of `nx` by `ny` points: a symmetric positive definite array of nx ny rows; waits.

    `points` is 5, for the 4 nearest neighbours of each point, or 9, for all 8: else a `ValueError`. `ny` is `nx` by
    default.
    """
    return _made(_by_points(points, 5, 9), [nx, nx if ny is None else ny], dtype, format)


def poisson3d(nx, ny=None, nz=None, *, points=7, dtype=np.float64, format="csr"):
    """Poisson's equation on a grid of `nx` by `ny` by `nz` points: a symmetric positive definite array; waits.

    `points` is 7, for the 6 nearest neighbours of each point, or 27, for all 26: else a `ValueError`. `ny` and `nz` are
    `nx` by default.
    """
    lengths = [nx, nx if ny is None else ny, nx if nz is None else nz]
    return _made(_by_points(points, 7, 27), lengths, dtype, format)


def _by_points(points, few, many):
    if points not in (few, many):
        raise ValueError(f"points is {shown(points)}; expected {few} or {many}")
    return "poisson" if points == few else "poisson_box"


def anisotropic(nx, ny=None, *, epsilon=1e-3, dtype=np.float64, format="csr"):
    """Diffusion in the plane that is `epsilon` times as strong along the first axis as along the second; waits.

    A symmetric positive definite array of nx ny rows, 5 elements in each, of `dtype` and in `format`. `ny` is `nx` by
    default.
    """
    return _made("anisotropic", [nx, nx if ny is None else ny], dtype, format, epsilon)


def convection_diffusion(nx, ny=None, *, peclet=1.0, dtype=np.float64, format="csr"):
    """Diffusion with a flow along the second axis, `peclet` times as strong within a cell; waits.

    An array of nx ny rows, 5 elements in each, that is not symmetric. `ny` is `nx` by default.
    """
    return _made("convection_diffusion", [nx, nx if ny is None else ny], dtype, format, peclet)


def rmat(scale, edge_factor=16, *, seed=0, dtype=np.float64, format="csr"):
    """The graph of Graph500: an array of ``2**scale`` nodes and `edge_factor` times as many edges; waits.

    R-MAT (Chakrabarti and others 2004). Elements are how often an edge was drawn; the same `seed` gives the same graph.
    Raises `ValueError` for a `scale` outside 0 to 31.
    """
    if not 0 <= scale < 32:
        raise ValueError(f"scale is {scale}; expected 0 to 31")
    return _made("rmat", [scale, edge_factor], dtype, format, seed=seed)


def power_law(n, links=4, *, seed=0, dtype=np.float64, format="csr"):
    """A graph of `n` nodes, each with `links` edges to older ones (Barabasi and Albert 1999); waits.

    A symmetric array of n rows, a few of which are very long, of `dtype` and in `format`; the same `seed` gives the
    same graph.
    """
    return _made("power_law", [n, links], dtype, format, seed=seed)


def banded(n, bandwidth, row_length=8, *, seed=0, dtype=np.float64, format="csr"):
    """`row_length` random elements in each of `n` rows, within `bandwidth` of a diagonal above their sum; waits.

    An array of `dtype` and in `format`, diagonally dominant and not symmetric; the same `seed` gives the same one.
    """
    return _made("banded", [n, bandwidth, row_length], dtype, format, seed=seed)


def circuit(n, dense=2, *, seed=0, dtype=np.float64, format="csr"):
    """A few elements in each of `n` rows, and `dense` full rows and columns; waits.

    A symmetric positive definite array, as circuits with supply nets have them; the same `seed` gives the same one.
    """
    return _made("circuit", [n, dense], dtype, format, seed=seed)


def linear_program(rows, columns, row_length=8, *, seed=0, dtype=np.float64, format="csr"):
    """Random elements, `row_length` in a row, of a rectangular array of `rows` and `columns`; waits.

    Every tenth row is empty; the same `seed` gives the same array.
    """
    return _made("linear_program", [rows, columns, row_length], dtype, format, seed=seed)


def block_diagonal(n, block=16, *, seed=0, dtype=np.float64, format="csr"):
    """Dense random blocks of `block` rows along the diagonal of an array of `n` rows; waits.

    The same `seed` gives the same array, of `dtype` and in `format`.
    """
    return _made("block_diagonal", [n, block], dtype, format, seed=seed)


def arrow(n, *, dtype=np.float64, format="csr"):
    """A full first row, a full first column, and a diagonal: an array of `n` rows; waits.

    Of `dtype` and in `format`.
    """
    return _made("arrow", [n], dtype, format)


def elasticity2d(nx, ny=None, *, poisson_ratio=0.3, dtype=np.float64, format="csr"):
    """Linear elasticity (plane strain) of bilinear squares around ``nx * ny`` points, fixed at the boundary; waits.

    A symmetric positive definite array. Points have two unknowns each, one after the other: blocks of 2x2. Young's
    modulus is 1. `ny` is `nx` by default.
    """
    return _made("elasticity", [nx, nx if ny is None else ny], dtype, format, poisson_ratio)


def elasticity3d(nx, ny=None, nz=None, *, poisson_ratio=0.3, dtype=np.float64, format="csr"):
    """Linear elasticity of trilinear cubes around ``nx * ny * nz`` points, fixed at the boundary; waits.

    A symmetric positive definite array of blocks of 3x3. Young's modulus is 1. `ny` and `nz` are `nx` by default.
    """
    lengths = [nx, nx if ny is None else ny, nx if nz is None else nz]
    return _made("elasticity", lengths, dtype, format, poisson_ratio)


def delaunay(side, *, permuted=False, seed=0, dtype=np.float64, format="csr"):
    """Mass and stiffness of linear triangles on a Delaunay mesh of ``side * side`` points; waits.

    A symmetric positive definite array. Points lie on a grid and are moved at random; edges are flipped until the mesh
    is Delaunay's (Lawson 1977). They are numbered as the grid is, or, if `permuted`, in random order. The same `seed`
    gives the same mesh.
    """
    return _made("delaunay", [side, int(bool(permuted))], dtype, format, seed=seed)


def quadratic_tetrahedra(nx, ny=None, nz=None, *, dtype=np.float64, format="csr"):
    """Poisson's equation by quadratic elements on a box of cubes, each cut in six tetrahedra, with zeros around it.

    A symmetric positive definite array, of rows of very different lengths. `nx`, `ny` and `nz` are the numbers of
    cubes, the last two `nx` by default. Waits.
    """
    lengths = [nx, nx if ny is None else ny, nx if nz is None else nz]
    return _made("quadratic_tetrahedra", lengths, dtype, format)


def discontinuous(nx, ny=None, *, block=10, seed=0, dtype=np.float64, format="csr"):
    """Dense blocks of the cells of a grid and of their neighbours, as discontinuous elements have them; waits.

    A symmetric array of ``nx * ny * block`` rows; the same `seed` gives the same one. `ny` is `nx` by default.
    """
    return _made("discontinuous", [nx, nx if ny is None else ny, block], dtype, format, seed=seed)


def road_network(side, *, seed=0, dtype=np.float64, format="csr"):
    """A planar graph with holes, whose nodes mostly have two or three neighbours; elements are lengths; waits.

    A symmetric array of about ``side**2`` rows; the same `seed` gives the same one.
    """
    return _made("road_network", [side], dtype, format, seed=seed)


_INTEGERS = "bandwidth block columns dense edge_factor links n nx ny nz points row_length rows scale seed side"
_CONVERTERS = (
    dict.fromkeys(_INTEGERS.split(), as_integer)
    | dict.fromkeys(("epsilon", "peclet", "poisson_ratio"), as_float)
    | {"dtype": as_dtype, "format": as_text, "permuted": as_flag}
)
globals().update({name: converts(**_CONVERTERS)(globals()[name]) for name in __all__})
