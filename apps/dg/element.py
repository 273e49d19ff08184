"""The reference tetrahedron: nodes, and the matrices of derivatives and of lifting, for orders 1 to 9.

Coordinates (r, s, t) begin at -1; the corners are (-1, -1, -1) and one step of 2 along each axis. Face f is opposite to
corner f, and has the other three corners in their order. Nodes: T. Warburton, J. Eng. Math. 56 (2006). Orthonormal
polynomials: J. Proriol (1957), T. Koornwinder (1975), M. Dubiner (1991). Operators: J. S. Hesthaven, T. Warburton,
Nodal Discontinuous Galerkin Methods (2008).
"""

import functools
import itertools

import numpy as np

#: Parameters of the blending of warps, which make the Lebesgue constants small.
BLENDING = (None, 0, 0, 0, 0.1002, 1.1332, 1.5608, 1.3413, 1.2577, 1.1603)
PERMUTATIONS = tuple(itertools.permutations(range(3)))
FACES = np.array([[c for c in range(4) if c != f] for f in range(4)])


def jacobi(degree, alpha, x, y=1.0):
    """``y**degree * P(x / y)`` for the Jacobi polynomial P with parameters (alpha, 0), without a division."""
    before, value = np.zeros_like(x), np.ones_like(x)
    for n in range(1, degree + 1):
        m = 2 * n + alpha
        if n == 1:
            before, value = value, ((alpha + 2) * x + alpha * y) / 2
            continue
        scale = 2 * n * (n + alpha) * (m - 2)
        before, value = value, (
            (m - 1) * (m * (m - 2) * x + alpha**2 * y) * value - 2 * (n + alpha - 1) * (n - 1) * m * y * y * before
        ) / scale  # fmt: skip
    return value


def polynomials(order, r, s, t):
    """Values (points, Np) of the orthonormal polynomials of the tetrahedron; of the triangle where t is None."""
    columns = []
    bottom = -1.0 if t is None else t
    for i in range(order + 1):
        first = jacobi(i, 0, (2 + 2 * r + s + bottom) / 2, -(s + bottom) / 2)
        for j in range(order + 1 - i):
            second = first * jacobi(j, 2 * i + 1, (1 + 2 * s + bottom) / 2, (1 - bottom) / 2)
            if t is None:
                columns.append(second * np.sqrt((2 * i + 1) * (i + j + 1) / 2))
                continue
            for k in range(order + 1 - i - j):
                norm = np.sqrt((2 * i + 1) * (i + j + 1) * (2 * (i + j + k) + 3) / 4)
                columns.append(second * jacobi(k, 2 * (i + j) + 2, t) * norm)
    return np.stack(columns, axis=-1)


def _warp(order, x):
    """How far Gauss-Lobatto points are from equal spacing, over 1 - x^2."""
    equal = np.linspace(-1, 1, order + 1)
    derivative = np.polynomial.legendre.Legendre.basis(order).deriv()
    shift = np.concatenate([[-1], np.sort(derivative.roots().real), [1]]) - equal
    total = np.zeros_like(x)
    for i in range(1, order):  # the shifts of the ends are 0, so that 1 - x^2 is a factor
        others = [j for j in range(1, order) if j != i]
        total += shift[i] / (1 - equal[i] ** 2) * np.prod([(x - equal[j]) / (equal[i] - equal[j]) for j in others], 0)
    return total


def _nodes(order):
    """Barycentric coordinates (Np, 4) of the nodes."""
    grid = [c for c in itertools.product(range(order + 1), repeat=3) if sum(c) <= order]
    inner = np.array(grid, float)[:, ::-1] / order
    start = np.column_stack([1 - inner.sum(axis=1), inner])
    shift, alpha = np.zeros_like(start), BLENDING[order]
    for f in range(4):
        on_face, moved = start[:, FACES[f]], np.zeros_like(start)
        for i, j in itertools.combinations(range(3), 2):
            (k,) = {0, 1, 2} - {i, j}
            amount = 2 * on_face[:, i] * on_face[:, j] * _warp(order, on_face[:, j] - on_face[:, i])
            amount = amount * (1 + (alpha * on_face[:, k]) ** 2)
            moved[:, FACES[f][j]] += amount
            moved[:, FACES[f][i]] -= amount
        outward = start[:, f]
        bottom = (on_face + outward[:, None] / 2).prod(axis=1)
        inside = bottom > 1e-10
        blend = np.where(inside, on_face.prod(axis=1) / np.where(inside, bottom, 1), 0) * (1 + (alpha * outward) ** 2)
        on_edge = (outward < 1e-10) & ((on_face > 1e-10).sum(axis=1) < 3)
        shift = np.where(on_edge[:, None], moved, shift + blend[:, None] * moved)
    return start + shift


class Element:
    """What the order decides.

    Attributes
    ----------
    n_nodes, n_face_nodes : int
    nodes : array
        Barycentric coordinates (n_nodes, 4).
    derivatives : array
        (3, n_nodes, n_nodes): derivatives along r, s, t.
    lift : array
        (n_nodes, 4 * n_face_nodes): the inverse mass matrix times that of the faces.
    face_nodes : array
        (4, n_face_nodes): numbers of the nodes of each face.
    patterns : array
        (24, n_face_nodes): for neighbour's face f and permutation p of its corners, the node at 6 f + p that is where
        node i of this face is.
    """

    def __init__(self, order):
        if not isinstance(order, (int, np.integer)) or not 1 <= order <= 9:
            raise ValueError(f"order is {order!r}; expected an integer from 1 to 9")
        self.order = int(order)
        self.nodes = _nodes(self.order)
        self.n_nodes, self.n_face_nodes = len(self.nodes), (order + 1) * (order + 2) // 2
        vandermonde = self.basis(self.nodes)
        self._inverse = np.linalg.inv(vandermonde)
        slopes = []
        for axis in range(3):  # by a complex step, which has no difference that could cancel
            step = np.zeros(4, complex)
            step[[0, axis + 1]] = -0.5e-30j, 0.5e-30j
            slopes.append(self.basis(self.nodes + step).imag / 1e-30 @ self._inverse)
        self.derivatives = np.stack(slopes)
        self.face_nodes = np.stack([np.flatnonzero(abs(self.nodes[:, f]) < 1e-10) for f in range(4)])
        self.mass = self._inverse.T @ self._inverse
        columns = []
        for f in range(4):
            on_face = self.nodes[self.face_nodes[f]][:, FACES[f]]
            values = polynomials(self.order, 2 * on_face[:, 1] - 1, 2 * on_face[:, 2] - 1, None)
            columns.append((vandermonde @ vandermonde.T)[:, self.face_nodes[f]] @ np.linalg.inv(values @ values.T))
        self.lift = np.concatenate(columns, axis=1)
        self.face_mass = np.linalg.inv(values @ values.T)
        self.patterns = self._patterns()

    @staticmethod
    def _coordinates(nodes):
        return (2 * nodes[:, c] - 1 for c in (1, 2, 3))

    def basis(self, points):
        """The orthonormal polynomials at points with barycentric coordinates (points, 4)."""
        return polynomials(self.order, *self._coordinates(points))

    def interpolation(self, points):
        """The matrix (points, n_nodes) from values at the nodes to values at points."""
        return self.basis(points) @ self._inverse

    def _patterns(self):
        first = self.nodes[self.face_nodes[0]][:, FACES[0]]
        rows = []
        for f in range(4):
            there = self.nodes[self.face_nodes[f]][:, FACES[f]]
            for permutation in PERMUTATIONS:  # corner j here is corner permutation[j] there
                distance = abs(there[:, None, permutation] - first[None]).sum(axis=-1)
                rows.append(self.face_nodes[f][distance.argmin(axis=0)])
        return np.array(rows, np.uint8)


element = functools.cache(Element)
