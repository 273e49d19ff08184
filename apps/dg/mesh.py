"""Meshes of tetrahedra: who is beside whom, boxes, balls around a sphere, those of Gmsh and MeshPy, their geometry."""

import contextlib
import functools
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
    boundary : str, callable or Triangles
        The kind of the faces without a neighbour. A kind stands for a box: it holds on its six sides. A function gets
        the middles (faces, 3) of all these faces and returns the kind of each, or one, or "" where no face should be.
    groups : array, optional
        (elements,): a name or number of each element's material; see `by_group`.

    Attributes
    ----------
    groups : array
        As given, or of "".
    neighbors : array
        (elements, 4): the neighbour beyond each face, or -1 - number of the kind.
    patterns : array
        (elements, 4): 6 times the neighbour's face, plus the number of the permutation of its corners.
    gradients : array
        (elements, 4, 3): of the barycentric coordinates.
    """

    def __init__(self, vertices, elements, boundary="conductor", groups=None):
        self.vertices = np.ascontiguousarray(vertices, np.float64)
        self.elements = np.ascontiguousarray(elements, np.int64)
        if self.vertices.ndim != 2 or self.vertices.shape[1] != 3 or not np.isfinite(self.vertices).all():
            raise ValueError(f"vertices have shape {self.vertices.shape}; expected finite numbers (vertices, 3)")
        if self.elements.ndim != 2 or self.elements.shape[1] != 4 or not len(self.elements):
            raise ValueError(f"elements have shape {self.elements.shape}; expected (elements, 4), at least one")
        if self.elements.min() < 0 or self.elements.max() >= len(self.vertices):
            raise ValueError(f"elements name vertex {self.elements.max()}; expected 0 to {len(self.vertices) - 1}")
        self.groups = np.full(len(self), "") if groups is None else np.asarray(groups)
        if self.groups.shape != (len(self),):
            raise ValueError(f"groups have shape {self.groups.shape}; expected ({len(self)},)")
        self._find_geometry()
        self._find_neighbors(boundary)

    @classmethod
    def from_gmsh(cls, path=None, boundary=None):
        """The tetrahedra of a file that Gmsh reads (MSH 2.2 and 4.1, ...), or of its current model; needs the package
        `gmsh`.

        Parameters
        ----------
        path : path, optional
            By default the current model of `gmsh`, after ``gmsh.model.mesh.generate(3)``.
        boundary : str or dict, optional
            One kind for all faces without a neighbour, or the kind by the name of a physical surface; "" is what
            belongs to none. Surfaces that are called as a kind have it. Those without a name are called as their
            number. A surface in several physical groups has the kind of those that have one.

        Returns
        -------
        Mesh
            Its `groups` are the names of physical volumes.

        Raises
        ------
        ImportError
            Without the package.
        ValueError
            If Gmsh cannot read the file, there are no tetrahedra or others than those of 4 nodes, a face without a
            neighbour has no kind or several, or a volume is in two physical groups.
        """
        with _gmsh_model(path) as model:
            tags, places, _ = model.mesh.getNodes()
            elements, groups, _ = _gmsh_cells(model, 3, _only_name)
            choose = functools.partial(_name_with_kind, boundary=boundary)
            triangles, names, others = _gmsh_cells(model, 2, choose)
        if isinstance(boundary, dict):
            boundary = {name: kind for name, kind in boundary.items() if name not in others}
        rows = np.zeros(int(tags.max(initial=0)) + 1, np.int64)
        rows[tags.astype(np.int64)] = np.arange(len(tags))
        return cls._of_parts(places.reshape(-1, 3), rows[elements], groups, rows[triangles], names, boundary)

    @classmethod
    def from_meshpy(cls, info, boundary="conductor"):
        """The tetrahedra of a `meshpy.tet.MeshInfo`, as ``meshpy.tet.build`` returns it.

        `boundary` is one kind for all faces without a neighbour, or a dictionary of them by the marker of a facet; 0 is
        what has none (TetGen's -1, unless the dictionary has -1). The mesh's `groups` are the attributes of regions,
        where there are any (``build(..., attributes=True)``).

        A `ValueError` for elements of second order (option ``o2``), and as `from_gmsh`.
        """
        points, elements = np.array(info.points, np.float64), np.array(info.elements, np.int64)
        if elements.size and elements.shape[1:] != (4,):
            raise ValueError(
                f"elements have {elements.shape[-1]} nodes; expected 4: a mesh of first order, built without 'o2'"
            )
        # Without attributes their array has the length of the elements, and no values behind it.
        has_attributes = info.number_of_element_attributes > 0 and len(info.element_attributes) > 0
        groups = np.array(info.element_attributes).reshape(len(elements), -1)[:, 0] if has_attributes else None
        triangles = np.array(info.faces, np.int64).reshape(-1, 3)
        markers = np.array(info.face_markers, np.int64) if info.face_markers.allocated else np.zeros(0, np.int64)
        markers = markers if len(markers) else np.zeros(len(triangles), np.int64)
        if isinstance(boundary, str) or -1 not in boundary:
            markers[markers == -1] = 0
        return cls._of_parts(points, elements, groups, triangles, markers.reshape(len(triangles)), boundary)

    @classmethod
    def _of_parts(cls, points, elements, groups, triangles, names, boundary):
        """A mesh of those points that elements have, with the kinds of boundaries by the names of triangles."""
        if not len(elements):
            raise ValueError("the mesh has no tetrahedra; expected at least one")
        used, numbers = np.unique(elements.reshape(-1, 4), return_inverse=True)
        points, elements = points[used], numbers.reshape(-1, 4)
        if not isinstance(boundary, str):
            triangles = _rows(used[:, None], triangles.reshape(-1, 1)).reshape(-1, 3)
            inside = (triangles >= 0).all(axis=1)
            boundary = Triangles(triangles[inside], names[inside], boundary or {})
        kind = boundary
        return cls(points, oriented(points, elements), (lambda _: kind) if isinstance(kind, str) else kind, groups)

    def by_group(self, values, default=None):
        """A number for each element from a dictionary by group: ``epsilon=mesh.by_group({"glass": 2.25}, 1.0)``."""
        known = np.unique(self.groups)
        for name in values:
            if name not in known:
                raise ValueError(f"values have group {name!r}; expected some of {known.tolist()}")
        missing = [name for name in known.tolist() if name not in values]
        if missing and default is None:
            raise ValueError(f"values have no group {missing[0]!r}; expected all of {known.tolist()}, or default=")
        of_known = [values.get(name, default) for name in known.tolist()]
        return np.array(of_known, np.float64)[np.searchsorted(known, self.groups)]

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
        self.neighbors[outside] = -1 - self._kinds(boundary, outside, faces[outside])
        self.neighbors, self.patterns = self.neighbors.reshape(-1, 4), self.patterns.reshape(-1, 4)

    def _kinds(self, boundary, outside, faces):
        middles = self.vertices[faces].mean(axis=1)
        if isinstance(boundary, str):
            low, high, of_sides = self.vertices.min(axis=0), self.vertices.max(axis=0), boundary
            near = 1e-9 * (high - low)

            def boundary(middles):
                on_side = ((abs(middles - low) < near) | (abs(middles - high) < near)).any(axis=1)
                return np.where(on_side, of_sides, "")

        self._boundary = boundary
        found = boundary.kinds_of(faces) if isinstance(boundary, Triangles) else boundary(middles)
        found = np.broadcast_to(np.asarray(found, str), len(outside))
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
        return Mesh(self.vertices, self.elements[order], self._boundary, self.groups[order])

    def moved(self, matrix):
        """The mesh with all vertices multiplied by a matrix, such as a rotation."""
        inverse, boundary = np.linalg.inv(matrix), self._boundary
        if not isinstance(boundary, Triangles):
            boundary = lambda middles: self._boundary(middles @ inverse.T)  # noqa: E731
        return Mesh(self.vertices @ np.asarray(matrix).T, self.elements, boundary, self.groups)

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
        boundary = self._boundary
        if isinstance(boundary, Triangles):
            boundary = boundary.refined(lambda pairs: len(self.vertices) + _rows(unique, pairs))
        return Mesh(vertices, oriented(vertices, elements), boundary, np.repeat(self.groups, 8))


class Triangles:
    """Names of faces by the numbers (triangles, 3) of their corners, and a dictionary of the kinds of names."""

    def __init__(self, corners, names, kinds):
        self.corners, self.names, self.kinds = np.sort(corners, axis=1), np.asarray(names), dict(kinds)
        for name, kind in self.kinds.items():
            if kind not in KINDS:
                raise ValueError(f"boundary has kind {kind!r} for {name!r}; expected one of {', '.join(KINDS)}")
            # Names of Gmsh are texts, also those that are numbers.
            if name not in ("", 0) and name not in np.unique(self.names):
                raise ValueError(f"boundary has name {name!r}; expected some of {np.unique(self.names).tolist()}")

    def kinds_of(self, faces):
        """The kind of each of these faces (faces, 3)."""
        place = _rows(self.corners, np.sort(faces, axis=1))
        nothing = np.zeros(1, self.names.dtype)  # "" or 0
        names, of_face = np.unique(np.append(self.names, nothing)[place], return_inverse=True)
        return np.array([self._kind(name) for name in names.tolist()])[of_face.ravel()]

    def _kind(self, name):
        kind = self.kinds.get(name, name if name in KINDS else "")
        if not kind and name not in ("", 0):
            raise ValueError(
                f"boundary has no kind for {name!r}; expected boundary={{{name!r}: kind}}, one of {', '.join(KINDS)}"
            )
        return kind

    def refined(self, middles_of):
        """Each in four; `middles_of` gives the numbers of the middles of pairs (pairs, 2)."""
        a, b, c = self.corners.T
        ab, ac, bc = (middles_of(np.stack(pair, axis=1)) for pair in ((a, b), (a, c), (b, c)))
        parts = [np.stack(part, axis=1) for part in ((a, ab, ac), (ab, b, bc), (ac, bc, c), (ab, ac, bc))]
        return Triangles(np.concatenate(parts), np.tile(self.names, 4), self.kinds)


def _rows(table, rows):
    """Where each row of integers is in a table without equal rows: a number, or -1."""
    found = np.unique(np.concatenate([table, rows]), axis=0, return_inverse=True)[1].ravel()
    place = np.full(len(found), -1)
    place[found[: len(table)]] = np.arange(len(table))
    return place[found[len(table) :]]


@contextlib.contextmanager
def _gmsh_model(path):
    """The current model of Gmsh, or that of a file, which is closed again."""
    try:
        import gmsh
    except ImportError as error:
        raise ImportError("meshes of Gmsh need its package: pip install gmsh", name=error.name) from error
    if path is None:
        yield gmsh.model
        return
    if not Path(path).is_file():
        raise FileNotFoundError(f"path is {str(path)!r}; expected a file that Gmsh reads")
    is_ours = not gmsh.isInitialized()
    if is_ours:
        gmsh.initialize(interruptible=False)
    before = None if is_ours else gmsh.model.getCurrent()
    terminal = gmsh.option.getNumber("General.Terminal")
    gmsh.option.setNumber("General.Terminal", 0)
    try:
        try:
            gmsh.open(str(path))
        except Exception as error:
            raise ValueError(f"path is {str(path)!r}, which Gmsh cannot read: {error}") from error
        yield gmsh.model
    finally:
        if is_ours:
            gmsh.finalize()
        else:
            gmsh.model.remove()
            gmsh.model.setCurrent(before)
            gmsh.option.setNumber("General.Terminal", terminal)


def _gmsh_cells(model, dimension, choose):
    """Numbers of the nodes of all tetrahedra, or triangles, the names of the physical groups that they are in, and the
    names of groups that were not chosen anywhere.
    """
    wanted, what = {3: (4, "tetrahedra"), 2: (2, "triangles")}[dimension]
    cells, chosen, known = [np.zeros((0, dimension + 1), np.int64)], [np.zeros(0, "U1")], set()
    for _, entity in model.getEntities(dimension):
        # A group that has an entity reversed has the negative number.
        groups = sorted({abs(int(group)) for group in model.getPhysicalGroupsForEntity(dimension, entity)})
        # Those of MED files are filled up with blanks.
        names = [model.getPhysicalName(dimension, group).strip() or str(group) for group in groups]
        known.update(names)
        name = choose(f"entity {entity} of dimension {dimension}", names) if names else ""
        for kind, _, nodes in zip(*model.mesh.getElements(dimension, entity), strict=True):
            if kind != wanted:
                raise ValueError(f"there are cells of type {model.mesh.getElementProperties(kind)[0]!r}; expected "
                                 f"{what} with {dimension + 1} nodes")  # fmt: skip
            cells.append(nodes.reshape(-1, dimension + 1).astype(np.int64))
            chosen.append(np.full(len(cells[-1]), name))
    chosen = np.concatenate(chosen)
    return np.concatenate(cells), chosen, known - set(chosen.tolist())


def _only_name(where, names):
    if len(names) > 1:
        raise ValueError(f"{where} is in {len(names)} physical groups, {names}; expected one at most")
    return names[0]


def _name_with_kind(where, names, boundary):
    """That of a surface's groups which decides on its kind; any, where all surfaces have one kind."""
    if isinstance(boundary, str):
        return names[0]
    kinds = {name: (boundary or {}).get(name, name if name in KINDS else "") for name in names}
    deciding = [name for name, kind in kinds.items() if kind]
    if len({kinds[name] for name in deciding}) > 1:
        raise ValueError(f"{where} is in the physical groups {deciding}, of different kinds; expected one kind")
    return (deciding or names)[0]


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


def sphere(refinements=0, outer="absorbing", inner="scatterer", shells=4):
    """Around a sphere of radius 1: a mesh with 240 elements for each shell, and finer ones with 8 times as many each.

    4 shells end at radius 2.5, 8 at 6.3. The spheres are polyhedra; the inner one has the volume of the ball.
    """
    with np.load(Path(__file__).with_name("sphere.npz")) as file:
        vertices, elements, most = file["vertices"].astype(np.float64), file["elements"], len(file["elements"]) // 240
        if not 1 <= shells <= most:
            raise ValueError(f"shells is {shells!r}; expected an integer from 1 to {most}")
        elements = elements[: 240 * shells]  # from the inside to the outside
        vertices = vertices[: elements.max() + 1]
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
