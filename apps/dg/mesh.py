"""Meshes of tetrahedra: who is beside whom, boxes, balls around a sphere, and their geometry."""

import itertools
from pathlib import Path

import numpy as np

from .element import FACES, PERMUTATIONS

#: What may be beyond a face without a neighbour.
KINDS = ("conductor", "absorbing", "incident", "scatterer")


class Mesh:
    """Tetrahedra with straight edges.

    Parameters
    ----------
    vertices : array
        (vertices, 3).
    elements : array
        (elements, 4): numbers of vertices, oriented so that volumes are positive.
    boundary : str or callable
        The kind of the faces without a neighbour. A kind stands for a box: it holds on its six sides. A function gets
        the middles (faces, 3) of all these faces and returns the kind of each, or one, or "" where no face should be.

    Attributes
    ----------
    neighbors : array
        (elements, 4): the neighbour beyond each face, or -1 - number of the kind.
    patterns : array
        (elements, 4): 6 times the neighbour's face, plus the number of the permutation of its corners.
    gradients : array
        (elements, 4, 3): of the barycentric coordinates.
    """

    def __init__(self, vertices, elements, boundary="conductor"):
        self.vertices = np.ascontiguousarray(vertices, np.float64)
        self.elements = np.ascontiguousarray(elements, np.int64)
        if self.vertices.ndim != 2 or self.vertices.shape[1] != 3 or not np.isfinite(self.vertices).all():
            raise ValueError(f"vertices have shape {self.vertices.shape}; expected finite numbers (vertices, 3)")
        if self.elements.ndim != 2 or self.elements.shape[1] != 4 or not len(self.elements):
            raise ValueError(f"elements have shape {self.elements.shape}; expected (elements, 4), at least one")
        if self.elements.min() < 0 or self.elements.max() >= len(self.vertices):
            raise ValueError(f"elements name vertex {self.elements.max()}; expected 0 to {len(self.vertices) - 1}")
        self._find_geometry()
        self._find_neighbors(boundary)

    def __len__(self):
        return len(self.elements)

    def _find_geometry(self):
        corners = self.vertices[self.elements]
        edges = corners[:, 1:] - corners[:, :1]
        self.volumes = np.linalg.det(edges) / 6
        longest = abs(edges).max(axis=(1, 2))
        bad = np.flatnonzero(~(self.volumes > 1e-12 * longest**3))
        if len(bad):
            raise ValueError(f"element {bad[0]} has volume {self.volumes[bad[0]]:.3g}; expected a positive one: it is "
                             f"inverted or flat ({len(bad)} such)")  # fmt: skip
        inverse = np.linalg.inv(edges).transpose(0, 2, 1)
        self.gradients = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
        lengths = np.linalg.norm(self.gradients, axis=2)
        self.normals, self.face_scales = -self.gradients / lengths[..., None], 2 * lengths
        self.radii = 1 / lengths.sum(axis=1)  # of the inscribed spheres

    def _find_neighbors(self, boundary):
        faces = self.elements[:, FACES].reshape(-1, 3)
        keys = np.sort(faces, axis=1)
        order = np.lexsort(keys.T)
        same = (keys[order[1:]] == keys[order[:-1]]).all(axis=1)
        if (same[1:] & same[:-1]).any():
            place = order[1 + int(np.flatnonzero(same[1:] & same[:-1])[0])]
            raise ValueError(f"face {place % 4} of element {place // 4} belongs to more than two elements")
        one, other = order[:-1][same], order[1:][same]
        beyond = np.full(len(faces), -1)
        beyond[one], beyond[other] = other, one
        self.neighbors, self.patterns = beyond // 4, np.zeros(len(faces), np.int64)
        inside = np.flatnonzero(beyond >= 0)
        there = faces[beyond[inside]]
        place = (faces[inside][:, :, None] == there[:, None, :]).argmax(axis=2)
        numbers = {p: n for n, p in enumerate(PERMUTATIONS)}
        lookup = np.zeros((3, 3, 3), np.int64)
        for permutation, number in numbers.items():
            lookup[permutation] = number
        self.patterns[inside] = beyond[inside] % 4 * 6 + lookup[tuple(place.T)]
        outside = np.flatnonzero(beyond < 0)
        self.neighbors[outside] = -1 - self._kinds(boundary, outside, self.vertices[faces[outside]].mean(axis=1))
        self.neighbors, self.patterns = self.neighbors.reshape(-1, 4), self.patterns.reshape(-1, 4)

    def _kinds(self, boundary, outside, middles):
        if isinstance(boundary, str):
            low, high, of_sides = self.vertices.min(axis=0), self.vertices.max(axis=0), boundary
            near = 1e-9 * (high - low)

            def boundary(middles):
                on_side = ((abs(middles - low) < near) | (abs(middles - high) < near)).any(axis=1)
                return np.where(on_side, of_sides, "")

        self._boundary = boundary
        found = np.broadcast_to(np.asarray(boundary(middles), str), len(outside))
        numbers = np.full(len(outside), -1)
        for number, kind in enumerate(KINDS):
            numbers[found == kind] = number
        bad = np.flatnonzero(numbers < 0)
        if len(bad):
            where, kind = outside[bad[0]], str(found[bad[0]])
            if kind:
                raise ValueError(f"boundary is {kind!r}; expected one of {', '.join(KINDS)}")
            raise ValueError(
                f"face {where % 4} of element {where // 4}, at {middles[bad[0]].round(4).tolist()}, has no neighbour "
                f"and no boundary condition: the mesh has a hole ({len(bad)} such faces)"
            )
        return numbers

    def positions(self, element):
        """Coordinates (elements, nodes, 3) of the nodes of an `Element`."""
        return element.nodes @ self.vertices[self.elements]

    def locate(self, points):
        """``(elements, barycentric coordinates)`` of points: those where the least coordinate is largest."""
        found, places = [], []
        for point in np.asarray(points, float):
            inner = np.einsum("kfx,kx->kf", self.gradients[:, 1:], point - self.vertices[self.elements[:, 0]])
            all_four = np.concatenate([1 - inner.sum(axis=1, keepdims=True), inner], axis=1)
            found.append(int(all_four.min(axis=1).argmax()))
            places.append(all_four[found[-1]])
        return np.array(found), np.array(places)

    def renumbered(self, order):
        """The same mesh with elements in another order."""
        return Mesh(self.vertices, self.elements[order], self._boundary)

    def moved(self, matrix):
        """The mesh with all vertices multiplied by a matrix, such as a rotation."""
        inverse = np.linalg.inv(matrix)
        return Mesh(
            self.vertices @ np.asarray(matrix).T, self.elements, lambda middles: self._boundary(middles @ inverse.T)
        )

    def refined(self, middle=lambda one, other: (one + other) / 2):
        """Each tetrahedron in eight; new vertices are the `middle` of two (vertices, 3)."""
        pairs = np.array(list(itertools.combinations(range(4), 2)))
        edges = np.sort(self.elements[:, pairs].reshape(-1, 2), axis=1)
        unique, numbers = np.unique(edges, axis=0, return_inverse=True)
        vertices = np.concatenate([self.vertices, middle(*self.vertices[unique].transpose(1, 0, 2))])
        a, b, c, d, e, f = (len(self.vertices) + numbers.reshape(-1, 6)).T  # of 01 02 03 12 13 23
        v, opposite = self.elements.T, np.array([[a, f], [b, e], [c, d]])
        lengths = np.linalg.norm(vertices[opposite[:, 0]] - vertices[opposite[:, 1]], axis=-1)
        shortest, every = lengths.argmin(axis=0), np.arange(len(self))
        (p, p2), (q, q2), (r, r2) = (opposite[(shortest + i) % 3, :, every].T for i in range(3))
        parts = [(v[0], a, b, c), (a, v[1], d, e), (b, d, v[2], f), (c, e, f, v[3]),
                 (p, p2, q, r), (p, p2, r, q2), (p, p2, q2, r2), (p, p2, r2, q)]  # fmt: skip
        elements = np.stack([np.stack(part, axis=1) for part in parts], axis=1).reshape(-1, 4)
        return Mesh(vertices, oriented(vertices, elements), self._boundary)


def oriented(vertices, elements):
    """Elements with two corners exchanged where the volume is negative."""
    corners = vertices[elements]
    inverted = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0
    return np.where(inverted[:, None], elements[:, [1, 0, 2, 3]], elements)


def box(counts, size=(1, 1, 1), jitter=0.0, boundary="conductor", seed=1):
    """A box from the origin of `counts` cells, each of six Kuhn tetrahedra; inner vertices move by `jitter` cells."""
    counts = np.broadcast_to(np.asarray(counts), 3)
    if not np.issubdtype(counts.dtype, np.integer) or counts.min() < 1:
        raise ValueError(f"counts are {counts.tolist()}; expected integers of at least 1")
    spacing = np.asarray(size, float) / counts
    grid = np.stack(np.meshgrid(*(np.arange(n + 1) for n in counts), indexing="ij"), axis=-1).reshape(-1, 3)
    inner = ((grid > 0) & (grid < counts)).all(axis=1)
    shift = np.random.Generator(np.random.Philox(seed)).uniform(-jitter, jitter, grid.shape)
    vertices = (grid + np.where(inner[:, None], shift, 0)) * spacing
    steps = np.array([(counts[1] + 1) * (counts[2] + 1), counts[2] + 1, 1])
    first = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 3) @ steps
    paths = [np.cumsum([0, *steps[list(axes)]]) for axes in PERMUTATIONS]
    elements = (first[:, None, None] + np.array(paths)).reshape(-1, 4)
    return Mesh(vertices, oriented(vertices, elements), boundary)


def sphere(refinements=0, outer="absorbing", inner="scatterer"):
    """Between a sphere of radius 1 and one of 2.5: a mesh of 960 elements, and finer ones with 8 times as many each.

    The spheres are polyhedra; the inner one has the volume of the ball.
    """
    with np.load(Path(__file__).with_name("sphere.npz")) as file:
        vertices, elements = file["vertices"].astype(np.float64), file["elements"]
    middle = (np.linalg.norm(vertices, axis=1).min() + np.linalg.norm(vertices, axis=1).max()) / 2
    mesh = Mesh(vertices, elements, lambda x: np.where(np.linalg.norm(x, axis=1) < middle, inner, outer))
    for _ in range(refinements):
        mesh = mesh.refined(_on_shell)
    k, f = np.nonzero(mesh.neighbors == -1 - KINDS.index(inner))
    triangles = mesh.vertices[mesh.elements[k[:, None], FACES[f]]]
    return mesh.moved(np.eye(3) * (abs(np.linalg.det(triangles)).sum() / 6 / (4 / 3 * np.pi)) ** (-1 / 3))


def _on_shell(one, other):
    """Halfway in direction and in radius."""
    radii = (np.linalg.norm(one, axis=1) + np.linalg.norm(other, axis=1)) / 2
    return (one + other) * (radii / np.linalg.norm(one + other, axis=1))[:, None]
