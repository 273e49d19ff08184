"""Maxwell's equations on tetrahedra by the discontinuous Galerkin method, generated and tuned for order and device.

python -m apps.dg --check
python -m apps.dg --size seed --bench
python -m apps.dg --plot fields.png
"""

import sys

import numpy as np

from apps import _harness as harness

from . import kernels, mesh, reference
from .maxwell import Maxwell, PlaneWave

SIZES = {
    "small": {"orders": (2,), "cells": (4, 6), "duration": 0.1, "oracle": (2, 3), "variants": 6, "steps": 100,
              "bench": 4},
    "seed": {"orders": (1, 2, 3, 4, 5, 6), "cells": None, "duration": 0.5, "oracle": (1, 2, 3, 4), "variants": 60,
             "steps": 1000, "bench": 24},
}  # fmt: skip
SIZES["h200"] = SIZES["seed"] | {"bench": 40}
#: Cells along an edge of the four meshes of the order of convergence.
MESHES = {1: (8, 12, 16, 24), 2: (6, 8, 12, 16), 3: (4, 6, 8, 12), 4: (3, 4, 6, 8), 5: (3, 4, 5, 6), 6: (3, 4, 5, 6)}


def check(size, checks):
    """The operator against a dense one, every variant against every other, and what Maxwell's equations keep."""
    for order in size["oracle"]:
        _check_operator(order, checks)
    _check_variants(size["variants"], checks)
    for order in size["orders"]:
        _check_convergence(order, size["cells"] or MESHES[order], size["duration"], checks)
    _check_energy(size["steps"], checks)
    _check_waves(checks)
    _check_symmetries(checks)


def _random(shape, seed=3):
    return np.random.Generator(np.random.Philox(seed)).normal(size=shape)


def _side(middles):
    """The kind of a face of a box: one side absorbs, the others conduct."""
    return np.where(np.atleast_2d(middles)[:, 0] < 1e-9, "absorbing", "conductor")


def _check_operator(order, checks):
    grid = mesh.box((2, 1, 1), boundary=_side)
    grid = mesh.Mesh(grid.vertices * (1 + 0.1 * np.sin(7 * grid.vertices[:, ::-1])), grid.elements, _side)
    epsilon, mu = 1 + np.random.Generator(np.random.Philox(1)).random((2, len(grid)))
    solver = Maxwell(grid, order, 0.7, np.float64, epsilon, mu)
    nodes = grid.positions(solver.element)
    dense = reference.Operator(
        grid.vertices, grid.elements, nodes, order, 0.7, epsilon, mu, lambda middle: _side(middle)[0]
    )
    fields = _random((6, *nodes.shape[:2]))
    expected = (dense.matrix @ fields.ravel()).reshape(fields.shape)
    checks.close(f"operator, order {order}", solver.rhs(fields).get(), expected, atol=1e-12 * abs(expected).max())


def _check_variants(count, checks):
    """Layouts and splits, with configurations drawn from the kernels' spaces, in both precisions."""
    rng = np.random.Generator(np.random.Philox(7))
    grid = mesh.box((3, 2, 1), jitter=0.1, boundary=_side)
    outer = [(layout, split) for layout in kernels.LAYOUTS for split in kernels.SPLITS]
    for number in range(count):
        layout, split = outer[(5 * number) % len(outer)]
        order, dtype = int(rng.integers(1, 5)), (np.float32, np.float64)[number % 2]
        epsilon = np.where(np.arange(len(grid)) < 9, 1.0, 2.0)
        plain = Maxwell(grid, order, 0.8, dtype, epsilon)
        other = Maxwell(grid, order, 0.8, dtype, epsilon, layout=layout, split=split)
        other.configs = {steps: kernels.draw(other.problem, steps, rng) for steps in other.steps}
        fields = plain.at_nodes(lambda x, y, z: np.stack([np.sin(3 * x + c) * np.cos(2 * y - c * z) for c in range(6)]))
        for solver in (plain, other):
            solver.fields = fields
            solver.run(2 * solver.max_dt)
        name = f"order {order}, {np.dtype(dtype)}, layout {layout}, configurations {other.configs}"
        checks.close(name, other.fields.get(), plain.fields.get(), atol=2e-5 if dtype == np.float32 else 1e-12)


def _check_convergence(order, cells, duration, checks):
    """The error of the cavity's mode TM(1, 2, 2) over meshes."""
    errors = [cavity_error(order, n, duration) for n in harness.progress(list(cells), f"order {order}")]
    slope = -np.polyfit(np.log(cells), np.log(errors), 1)[0]
    checks.true(f"convergence, order {order}", slope >= order + 0.5,
                f"{slope:.2f} from errors {errors}; expected at least {order + 0.5}")  # fmt: skip


def cavity_error(order, cells, duration, dtype=np.float64):
    """Root of the mean squared error of the mode in a cube of `cells` along each edge."""
    solver = Maxwell(mesh.box(cells), order, 1.0, dtype)
    solver.fields = solver.at_nodes(lambda x, y, z: reference.cavity_mode(x, y, z, 0))
    solver.run(duration, 0.8 * solver.max_dt)
    expected = solver.at_nodes(lambda x, y, z: reference.cavity_mode(x, y, z, duration))
    return float(np.sqrt(((solver.fields.get() - expected) ** 2).mean()))


def _check_energy(steps, checks):
    grid = mesh.box(1, boundary="conductor")
    upwind, central = (Maxwell(grid, 2, flux, np.float64) for flux in (1.0, 0.0))
    upwind.fields, energies = _random(upwind.fields.shape), []
    for _ in range(10):
        energies.append(upwind.energy())
        upwind.run(2 * upwind.max_dt)
    checks.true("energy, upwind flux", (np.diff(energies) <= 0).all(), f"{energies}; expected never to rise")
    central.fields = central.at_nodes(lambda x, y, z: reference.cavity_mode(x, y, z, 0))
    before = central.energy()
    central.run(steps * 0.01 * central.max_dt, 0.01 * central.max_dt)
    checks.close(f"energy, central flux, {steps} steps", central.energy() / before, 1, atol=1e-10)


def _check_waves(checks):
    """A constant wave stays; a plane wave comes in and goes out."""
    grid = mesh.box(2, jitter=0.1, boundary="incident")
    constant, wave = (PlaneWave(text, (0.6, 0.0, 0.8), (0.8, 0.0, -0.6)) for text in ("1", "sin(2 * s)"))
    fields = (*wave.polarization, *wave.magnetic)
    solver = Maxwell(grid, 4, 0.5, np.float64, wave=constant)
    found = solver.rhs(solver.at_nodes(lambda x, y, z: [value + 0 * x for value in fields])).get()
    checks.close("constant fields", found, np.zeros_like(found), atol=1e-11)
    solver = Maxwell(grid, 4, 0.5, np.float64, wave=wave)

    def exact(time):
        return solver.at_nodes(lambda x, y, z: [f * np.sin(2 * (time - 0.6 * x - 0.8 * z)) for f in fields])

    solver.fields = exact(0)
    solver.run(0.5)
    checks.close("incident wave", solver.fields.get(), exact(0.5), atol=2e-3)


def _check_symmetries(checks):
    grid = mesh.box(2, jitter=0.1)
    order = np.random.Generator(np.random.Philox(4)).permutation(len(grid))
    rotation = reference.rotation(0.3, 0.5, 1.1)
    meshes = grid, grid.renumbered(order), grid.moved(rotation)
    solver, moved, turned = (Maxwell(other, 3, 1.0, np.float64) for other in meshes)
    fields = _random(solver.fields.shape)
    expected = solver.rhs(fields).get()
    scale = 1e-12 * abs(expected).max()
    checks.close("renumbered elements", moved.rhs(fields[:, order]).get(), expected[:, order], atol=scale)

    def rotate(fields):
        return np.einsum("xy,vykn->vxkn", rotation, fields.reshape(2, 3, *fields.shape[1:])).reshape(fields.shape)

    checks.close("rotated mesh", turned.rhs(rotate(fields)).get(), rotate(expected), atol=scale)


def bench(size, tables):
    pass


def plot(size):
    pass


if __name__ == "__main__":
    sys.exit(harness.run(__doc__, SIZES, check, bench, plot))
