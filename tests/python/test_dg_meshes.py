"""Meshes of `apps.dg` from Gmsh and MeshPy: what is beside what, kinds of boundaries, materials."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from apps.dg import mesh  # noqa: E402
from apps.dg.mesh import KINDS, Mesh  # noqa: E402

# Of two boxes side by side, the second of glass; one face is named, the others are one group.
MATERIALS, SIDES = {"air": 1.0, "glass": 2.25}, {"wall": "conductor"}


@pytest.fixture
def gmsh():
    """Gmsh with a model of two boxes, meshed."""
    gmsh = pytest.importorskip("gmsh", exc_type=ImportError)
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    occ = gmsh.model.occ
    boxes = [(3, occ.addBox(x, 0, 0, 1, 1, 1)) for x in (0, 1)]
    occ.fragment(boxes[:1], boxes[1:])
    occ.synchronize()
    for _, volume in gmsh.model.getEntities(3):
        name = "air" if gmsh.model.occ.getCenterOfMass(3, volume)[0] < 1 else "glass"
        gmsh.model.addPhysicalGroup(3, [volume], name=name)
    by_name = {"absorbing": [], "wall": [], "between": []}
    for _, surface in gmsh.model.getEntities(2):
        x = occ.getCenterOfMass(2, surface)[0]
        by_name["absorbing" if x < 1e-6 else "between" if abs(x - 1) < 1e-6 else "wall"].append(surface)
    for name, surfaces in by_name.items():
        gmsh.model.addPhysicalGroup(2, surfaces, name=name)
    gmsh.option.setNumber("Mesh.MeshSizeMin", 0.5)
    gmsh.option.setNumber("Mesh.MeshSizeMax", 0.5)
    gmsh.model.mesh.generate(3)
    yield gmsh
    gmsh.finalize()


def check_two_boxes(found):
    """Whether volumes, materials and kinds of faces are those of the two boxes."""
    assert found.volumes.sum() == pytest.approx(2) and len(np.unique(found.elements)) == len(found.vertices)
    middles = found.vertices[found.elements].mean(axis=1)
    np.testing.assert_array_equal(found.by_group(MATERIALS), np.where(middles[:, 0] < 1, 1.0, 2.25))
    k, f = np.nonzero(found.neighbors < 0)
    corners = found.vertices[found.elements[k[:, None], mesh.FACES[f]]]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    kinds = np.array(KINDS)[-1 - found.neighbors[k, f]]
    is_first = (corners[:, :, 0] < 1e-9).all(axis=1)
    np.testing.assert_array_equal(kinds, np.where(is_first, "absorbing", "conductor"))
    assert areas[is_first].sum() == pytest.approx(1) and areas.sum() == pytest.approx(10)


def test_models_and_files_of_gmsh(gmsh, tmp_path):
    found = Mesh.from_gmsh(boundary=SIDES)
    check_two_boxes(found)
    check_two_boxes(found.renumbered(np.random.default_rng(1).permutation(len(found))))
    check_two_boxes(found.refined())
    check_two_boxes(found.moved(np.eye(3)))
    for version in (2.2, 4.1):
        path = tmp_path / f"{version}.msh"
        gmsh.option.setNumber("Mesh.MshFileVersion", version)
        gmsh.write(str(path))
        name = gmsh.model.getCurrent()
        read = Mesh.from_gmsh(path, SIDES)
        assert gmsh.model.getCurrent() == name, "the model of the program is the current one again"
        check_two_boxes(read)
        np.testing.assert_allclose(read.volumes.sum(), found.volumes.sum())
    everywhere = Mesh.from_gmsh(boundary="absorbing")
    assert (everywhere.neighbors[everywhere.neighbors < 0] == -1 - KINDS.index("absorbing")).all()


def test_a_file_is_read_without_a_model(gmsh, tmp_path):
    gmsh.write(str(tmp_path / "boxes.msh"))
    gmsh.finalize()
    check_two_boxes(Mesh.from_gmsh(tmp_path / "boxes.msh", SIDES))
    assert not gmsh.isInitialized()
    gmsh.initialize()


def test_mistakes_in_models_are_named(gmsh, tmp_path):
    for boundary, message in [
        (None, "no kind for 'wall'; expected boundary={'wall': kind}, one of conductor"),
        ({"wall": "metal"}, "kind 'metal' for 'wall'; expected one of conductor"),
        (SIDES | {"roof": "conductor"}, "name 'roof'; expected some of .*'absorbing', 'between', 'wall'"),
        ("metal", "boundary is 'metal'; expected one of"),
    ]:
        with pytest.raises(ValueError, match=message):
            Mesh.from_gmsh(boundary=boundary)
    found = Mesh.from_gmsh(boundary=SIDES)
    with pytest.raises(ValueError, match=r"no group 'air'; expected all of \['air', 'glass'\], or default="):
        found.by_group({"glass": 2.25})
    with pytest.raises(ValueError, match="group 'ice'; expected some of"):
        found.by_group({"ice": 1.7}, 1.0)
    with pytest.raises(FileNotFoundError, match="nothing.msh'; expected a file"):
        Mesh.from_gmsh(tmp_path / "nothing.msh")
    gmsh.model.mesh.setOrder(2)
    with pytest.raises(ValueError, match="type 'Tetrahedron 10'; expected tetrahedra with 4 nodes"):
        Mesh.from_gmsh(boundary=SIDES)
    gmsh.model.mesh.clear()
    with pytest.raises(ValueError, match="no tetrahedra; expected at least one"):
        Mesh.from_gmsh(boundary=SIDES)


def test_meshes_of_meshpy():
    tet = pytest.importorskip("meshpy.tet", exc_type=ImportError)
    info = tet.MeshInfo()
    points = [(x, y, z) for x in (0, 1, 2) for z in (0, 1) for y in (0, 1)]
    facets = [[x, x + 1, x + 3, x + 2] for x in (0, 4, 8)]
    facets += [[x + a, x + b, x + 4 + b, x + 4 + a] for x in (0, 4) for a, b in ((0, 1), (1, 3), (3, 2), (2, 0))]
    info.set_points(points)
    info.set_facets(facets, markers=[5, 7, *[6] * 9])
    info.regions.resize(2)
    info.regions[0], info.regions[1] = (0.5, 0.5, 0.5, 1, 0.05), (1.5, 0.5, 0.5, 2, 0.05)
    built = tet.build(info, attributes=True, volume_constraints=True)
    found = Mesh.from_meshpy(built, {5: "absorbing", 6: "conductor"})
    assert len(found) > 12
    np.testing.assert_array_equal(found.by_group({1: 1.0}, 2.25), np.where(found.groups == 1, 1.0, 2.25))
    found.groups = np.where(found.groups == 1, "air", "glass")
    check_two_boxes(found)
    with pytest.raises(ValueError, match="no kind for 5; expected boundary={5: kind}"):
        Mesh.from_meshpy(built, {6: "conductor"})
    assert set(Mesh.from_meshpy(built).neighbors.ravel()) & set(range(-4, 0)) == {-1}


def test_a_wave_passes_a_mesh_of_gmsh(gmsh, context):
    from apps.dg.maxwell import Maxwell, PlaneWave

    wave = PlaneWave("sin(2 * s)")
    solver = Maxwell(Mesh.from_gmsh(boundary="incident"), 4, dtype=np.float64, wave=wave)

    def exact(time):
        return solver.at_nodes(
            lambda x, y, z: [f * np.sin(2 * (time - z)) for f in (*wave.polarization, *wave.magnetic)]
        )

    solver.fields = exact(0)
    solver.run(0.2)
    np.testing.assert_allclose(solver.fields.get(), exact(0.2), atol=2e-3)


class Parts(list):
    """An array of `meshpy.tet.MeshInfo`, which has a length also where there is nothing in it."""

    def __init__(self, values, length=None):
        super().__init__(values)
        self.allocated, self.length = length is None, length

    def __len__(self):
        return list.__len__(self) if self.length is None else self.length

    def __array__(self, dtype=None, copy=None):
        assert self.allocated, "RuntimeError of MeshPy: the array is not set up"
        return np.array(list(self), dtype)


def built(markers=None, nodes=4, attributes=None):
    """What `meshpy.tet.build` gives of one tetrahedron."""
    count = 0 if attributes is None else 1
    return SimpleNamespace(
        points=Parts([(0.0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), *[(0.5, 0, 0)] * 6]),
        elements=Parts([list(range(nodes))]),
        number_of_element_attributes=count,
        element_attributes=Parts(attributes or [], None if count else 1),
        faces=Parts([(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]),
        face_markers=Parts(markers or [], None if markers else 4),
    )


def test_meshes_of_meshpy_without_attributes_or_markers():
    for markers in (None, [-1] * 4, [0] * 4):
        for boundary in ("absorbing", {0: "absorbing"}):
            found = Mesh.from_meshpy(built(markers), boundary)
            assert (found.neighbors == -1 - KINDS.index("absorbing")).all() and found.groups.tolist() == [""]
    found = Mesh.from_meshpy(built([-1, -1, 2, 2]), {-1: "absorbing", 2: "conductor"})
    assert sorted(found.neighbors.ravel()) == [-1 - KINDS.index("absorbing")] * 2 + [-1 - KINDS.index("conductor")] * 2
    assert Mesh.from_meshpy(built(attributes=[3.0])).groups.tolist() == [3.0]
    with pytest.raises(ValueError, match="elements have 10 nodes; expected 4: a mesh of first order"):
        Mesh.from_meshpy(built(nodes=10))


def test_surfaces_in_several_groups():
    name = mesh._name_with_kind
    assert name("s", ["a", "b"], "conductor") == "a"
    assert name("s", ["a", "b"], {"b": "conductor"}) == "b"
    assert name("s", ["a", "b"], {"a": "conductor", "b": "conductor"}) == "a"
    assert name("s", ["a", "absorbing"], None) == "absorbing"
    assert name("s", ["a", "b"], {}) == "a"
    with pytest.raises(ValueError, match="s is in the physical groups .*, of different kinds"):
        name("s", ["a", "b"], {"a": "conductor", "b": "absorbing"})


def test_groups_of_gmsh_that_overlap_or_reverse_surfaces(gmsh, tmp_path):
    sides = [tag for _, tag in gmsh.model.getEntities(2)]
    first = [tag for tag in sides if gmsh.model.occ.getCenterOfMass(2, tag)[0] < 1e-6]
    gmsh.model.removePhysicalGroups([(2, group) for _, group in gmsh.model.getPhysicalGroups(2)])
    gmsh.model.addPhysicalGroup(2, [-tag for tag in first], name="absorbing")
    gmsh.model.addPhysicalGroup(2, [tag for tag in sides if tag not in first], name="wall")
    gmsh.model.addPhysicalGroup(2, sides[:4], name="probe")
    check_two_boxes(Mesh.from_gmsh(boundary=SIDES))
    with pytest.raises(ValueError, match="of different kinds"):
        Mesh.from_gmsh(boundary=SIDES | {"probe": "incident"})
    for version, is_binary in ((2.2, 0), (2.2, 1), (4.1, 0), (4.1, 1)):
        gmsh.option.setNumber("Mesh.MshFileVersion", version)
        gmsh.option.setNumber("Mesh.Binary", is_binary)
        gmsh.write(str(tmp_path / "a.msh"))
        check_two_boxes(Mesh.from_gmsh(tmp_path / "a.msh", SIDES))
    (tmp_path / "b.msh").write_text("no mesh")
    with pytest.raises(ValueError, match="b.msh', which Gmsh cannot read"):
        Mesh.from_gmsh(tmp_path / "b.msh")
