"""The discontinuous Galerkin application: what it refuses, its element, its meshes, and its two-stage search."""

import dataclasses
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from depth import in_turns, some

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def box(cells=1, **options):
    from apps.dg import mesh

    return mesh.box(cells, **options)


def maxwell(grid=None, order=1, **options):
    from apps.dg.maxwell import Maxwell

    return Maxwell(box() if grid is None else grid, order, **options)


ERRORS = [
    (dict(order=0), "order is 0; expected an integer from 1 to 9"),
    (dict(order=10), "order is 10; expected an integer from 1 to 9"),
    (dict(order=2.0), "order is 2.0; expected an integer"),
    (dict(flux=1.5), r"flux is 1.5; expected a number from 0 \(central\) to 1"),
    (dict(dtype=np.float16), "dtype is float16; expected float32 or float64"),
    (dict(layout="rows"), "layout is 'rows'; expected one of microblock, element"),
    (dict(split=5), "split is 5; expected a number of kernels from 1 to 4"),
    (dict(epsilon=[1, 2, 3, -1, 1, 1]), r"epsilon\[3\] is -1.0; expected finite numbers above 0"),
    (dict(mu=np.nan), r"mu\[0\] is nan"),
]


@pytest.mark.parametrize("options, message", ERRORS)
def test_the_solver_refuses(options, message, context):
    with pytest.raises(ValueError, match=message):
        maxwell(**options)


def tensor_configs(solver, **values):
    """Configurations of all kernels with products on tensor cores."""
    configs = {}
    for steps, kernel in solver.kernels().items():
        if set(steps.split()) & {"volume", "lift"}:
            config = kernel.default | {"products": "tensor_cores", "inline": 1, "nodes": 2} | values
            kernel.space.check(config)
            configs[steps] = config
    return configs


def node_configs(solver):
    """Configurations of all kernels without tensor cores."""
    parallel = next(
        p for p in range(1, 33) if -(-p * solver.element.n_nodes // 32) * 32 <= 1.2 * p * solver.element.n_nodes
    )
    config = {"products": "threads", "parallel": parallel, "inline": 1, "nodes": 1, "columns": 1, "blocks": 0}
    return {steps: kernel.default | config for steps, kernel in solver.kernels().items()
            if set(steps.split()) & {"volume", "lift"}}  # fmt: skip


#: Orders with one tile of nodes and several, with and without a tail.
TENSOR = [
    (1, np.float64, 1, "interleaved32", dict(parallel=1)),
    (3, np.float64, 2, "element", dict(parallel=2, inline=2)),
    (2, np.float32, 1, "microblock", dict(parallel=4, serial=2)),
    (4, np.float32, 3, "field", dict(parallel=1, inline=2)),
    (3, np.float32, 4, "interleaved8", dict(parallel=8)),
    (8, np.float64, 1, "element", dict(parallel=1, inline=3)),
    (6, np.float32, 1, "interleaved16", dict(parallel=1, inline=2, columns=2)),
]


@pytest.mark.parametrize("order, dtype, split, layout, values", some(TENSOR, TENSOR[1:3]))
def test_products_on_tensor_cores(order, dtype, split, layout, values, context):
    if maxwell().problem.capability < (8, 0):
        pytest.skip("needs compute capability 8.0")
    grid = box((3, 1, 1), jitter=0.1)  # 18 elements: tiles of eight, and a tail
    epsilon = np.linspace(1, 2, len(grid))
    exact = maxwell(grid, order, flux=0.8, dtype=np.float64, epsilon=epsilon)
    fields = exact.at_nodes(lambda x, y, z: [np.sin(3 * x + c) * np.cos(2 * y - c * z) for c in range(6)])
    options = dict(flux=0.8, dtype=dtype, epsilon=epsilon, split=split, layout=layout)
    solvers = [maxwell(grid, order, **options) for _ in range(2)]
    solvers[1].configs.update(tensor_configs(solvers[1], **values))
    for solver in (exact, solvers[0]):
        solver.configs.update(node_configs(solver))
    for solver in (exact, *solvers):
        solver.fields = fields
        solver.run(2 * exact.max_dt)
    scale = abs(exact.fields.get()).max()
    plain, tensor = (abs(solver.fields.get() - exact.fields.get()).max() / scale for solver in solvers)
    assert tensor <= (1e-13 if dtype == np.float64 else 4 * plain + 2e-7), (plain, tensor)
    assert not np.array_equal(solvers[1].fields.get(), fields)


def test_a_boundary_with_a_wave_needs_one(context):
    from apps.dg.maxwell import PlaneWave

    with pytest.raises(ValueError, match="wave is None; expected a PlaneWave, as the mesh has a boundary 'incident'"):
        maxwell(box(boundary="incident"))
    with pytest.raises(ValueError, match="direction is .*; expected a vector of length 1"):
        PlaneWave("1", direction=(1, 1, 0))
    with pytest.raises(ValueError, match="polarization is .*; expected one across direction"):
        PlaneWave("1", polarization=(0, 0, 1))


def test_steps_above_the_limit_of_stability_are_refused(context):
    solver = maxwell()
    with pytest.raises(ValueError, match=r"dt is .*; expected above 0 and at most .*, where steps are stable"):
        solver.run(1.0, 1.01 * solver.max_dt)
    with pytest.raises(ValueError, match="duration is -1; expected a finite number of at least 0"):
        solver.run(-1)
    with pytest.raises(ValueError, match=r"fields have shape \(6, 2, 4\); expected \(6, 6, 4\)"):
        solver.fields = np.zeros((6, 2, 4))
    solver.run(0)
    assert solver.time == 0


def test_meshes_that_are_none_are_refused():
    from apps.dg.mesh import Mesh

    good = box(2)
    inverted = good.elements.copy()
    inverted[5, :2] = inverted[5, 1::-1]
    with pytest.raises(
        ValueError, match=r"element 5 has volume -0.02\d*; expected a positive one: it is inverted or flat"
    ):
        Mesh(good.vertices, inverted)
    inside = np.flatnonzero((good.neighbors >= 0).all(axis=1))[0]
    with pytest.raises(ValueError, match="has no neighbour and no boundary condition: the mesh has a hole"):
        Mesh(good.vertices, np.delete(good.elements, inside, axis=0))
    with pytest.raises(ValueError, match=r"face \d of element \d+ belongs to more than two elements"):
        Mesh(good.vertices, np.concatenate([good.elements, good.elements[:1], good.elements[:1]]))
    with pytest.raises(ValueError, match="elements name vertex 27; expected 0 to 26"):
        Mesh(good.vertices, good.elements + 1)
    with pytest.raises(
        ValueError, match="boundary is 'wall'; expected one of conductor, absorbing, incident, scatterer"
    ):
        box(boundary="wall")
    with pytest.raises(ValueError, match=r"counts are \[0, 1, 1\]; expected integers of at least 1"):
        box((0, 1, 1))


@pytest.mark.parametrize("order", some(range(1, 10), (1, 4, 9)))
def test_matrices_of_the_element(order):
    """Derivatives and integrals of polynomials are exact, and nodes meet those of a neighbour."""
    from apps.dg.element import element

    e = element(order)
    r, s, t = 2 * e.nodes[:, 1:].T - 1
    for matrix, slope in zip(
        e.derivatives, (order * (r + 2 * s - t) ** (order - 1) * c for c in (1, 2, -1)), strict=True
    ):
        np.testing.assert_allclose(matrix @ (r + 2 * s - t) ** order, slope, atol=1e-11 * 4**order)
    assert e.mass.sum() == pytest.approx(4 / 3)
    # A field that is 1 at a face only: the integral of what is lifted is the area of the face.
    for face in range(4):
        at_face = np.repeat(np.arange(4) == face, e.n_face_nodes)
        assert (e.mass @ e.lift @ at_face).sum() == pytest.approx(2)
    grid = box(2, jitter=0.1)
    places = grid.positions(e)
    k, f = np.nonzero(grid.neighbors >= 0)
    there = places[grid.neighbors[k, f][:, None], e.patterns[grid.patterns[k, f]]]
    np.testing.assert_allclose(there, places[k[:, None], e.face_nodes[f]], atol=1e-12)


def test_the_sphere_is_refined():
    from apps.dg import make_sphere, mesh

    coarse, fine = mesh.sphere(), mesh.sphere(1)
    assert len(coarse) == 960 and len(fine) == 7680
    radii = np.linalg.norm(fine.vertices[fine.elements], axis=2)
    assert 1 < radii.min() < 1.02 and radii.max() == pytest.approx(2.5 * radii.min(), rel=1e-6)
    between = fine.volumes.sum() / (4 / 3 * np.pi)
    outer = np.prod(radii.max() / radii.min() * np.ones(3))
    assert between == pytest.approx(outer - 1, rel=1e-6), "the inner polyhedron has the volume of the ball"
    scale = np.linalg.norm(coarse.vertices[0]) / make_sphere.RADII[0]
    np.testing.assert_allclose(coarse.vertices, scale * make_sphere.shells()[0][: 5 * 42], atol=1e-6)
    np.testing.assert_array_equal(coarse.elements, make_sphere.shells()[1][:960])
    assert len(mesh.sphere(shells=8)) == 1920


def test_a_search_over_layouts_finds_kernels_that_are_used(context, tmp_path, monkeypatch):
    from apps.dg.maxwell import tune

    monkeypatch.setenv("RTCG_TUNING_DIR", str(tmp_path))
    grid = box(2)
    report = tune(grid, 1, budget="4 evaluations", layouts=("element", "interleaved8"), splits=(1,))
    assert report.best["layout"] in ("element", "interleaved8") and report.parts
    solver = maxwell(grid, **report.best)
    for steps, kernel in solver.kernels().items():
        assert "measured" in kernel.explain(*solver.arguments(steps, *solver.stage_states(1), stage=1))


SHAPES_OF_WORK = [(1, 3, 9, "shared"), (2, 2, 6, "global"), (3, 1, 3, "shared")]


@pytest.mark.parametrize(
    "layout, shape",
    in_turns(["element", "field", "microblock", "interleaved16"], [SHAPES_OF_WORK[::2], SHAPES_OF_WORK[1:2]]),
)
def test_a_thread_for_several_nodes_of_several_elements(layout, shape, context):
    """Columns and rows of matrices and sets of elements that the numbers do not divide."""
    inline, nodes, parallel, matrices = shape
    grid = box(2, jitter=0.1)
    plain = maxwell(grid, 3, dtype=np.float64)
    plain.fields = fields = plain.at_nodes(lambda x, y, z: [np.sin(3 * x + c * y - z) for c in range(6)])
    plain.run(2 * plain.max_dt)
    config = dict(
        products="threads", parallel=parallel, serial=2, inline=inline, nodes=nodes, matrices=matrices, unroll=4
    )
    for split in (1, 3):
        other = maxwell(grid, 3, dtype=np.float64, layout=layout, split=split)
        for steps, kernel in other.kernels().items():
            if steps != "flux":
                kernel.space.check(kernel.default | config)
                other.configs[steps] = config
        other.fields = fields
        other.run(2 * plain.max_dt)
        np.testing.assert_allclose(other.fields.get(), plain.fields.get(), atol=1e-13)


@pytest.mark.parametrize("order", some(range(1, 10), (1, 9)))
def test_every_kernel_has_a_default(order, context):
    from apps.dg import kernels

    grid = box()
    for number, layout in enumerate(kernels.LAYOUTS):
        for dtype in (np.float32, np.float64):
            split = number % 4 + 1
            solver = maxwell(grid, order, dtype=dtype, layout=layout, split=split)
            assert len(solver.kernels()) == split
            problem = dataclasses.replace(solver.problem, capability=(9, 0), max_shared=227 << 10)
            for steps in solver.steps:
                kernel = kernels.kernel(problem, steps)
                kernel.space.check(kernel.default)


PROGRAMS = re.findall(
    r"^```py\n(.*?)^```", (ROOT / "docs/tutorials/discontinuous-galerkin.md").read_text(), re.M | re.S
)


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_programs_of_the_tutorial(program, context, tmp_path, monkeypatch):
    """Those that import the application; the others are tested with all pages."""
    monkeypatch.setenv("RTCG_TUNING_DIR", str(tmp_path))
    exec(compile(program, "tutorial", "exec"), {})


def test_flow_needs_an_order_with_an_indicator(context):
    from apps.dg.euler import Euler

    with pytest.raises(ValueError, match="order is 1; expected at least 2"):
        Euler(box(), 1)
