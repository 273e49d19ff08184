"""The checks of the program: operators, convergence, conservation, symmetries, scattering, flow, several devices."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import rtcg.numpy as xp
from apps import _harness as harness
from rtcg import driver

from . import exchange, kernels, mesh, reference
from .devices import Cluster
from .euler import Euler
from .maxwell import Maxwell, PlaneWave
from .poisson import Poisson

ROOT = Path(__file__).resolve().parents[2]
#: Cells along an edge of the four meshes of the order of convergence.
MESHES = {1: (8, 12, 16, 24), 2: (6, 8, 12, 16), 3: (4, 6, 8, 12), 4: (3, 4, 6, 8), 5: (3, 4, 5, 6), 6: (3, 4, 5, 6)}


def check(size, checks):
    """The operator against a dense one, every variant against every other, and what Maxwell's equations keep.

    In ranks of MPI, only what they compute together against what one of them does.
    """
    if exchange.world():
        return check_ranks(checks)
    for order in size["oracle"]:
        _check_operator(order, checks)
    _check_variants(size["variants"], checks)
    for order in size["orders"]:
        _check_convergence(order, size["cells"] or MESHES[order], size["duration"], checks)
    _check_energy(size["bench orders"], size["steps"], checks)
    _check_waves(checks)
    _check_symmetries(checks)
    _check_devices(checks)
    if size["ranks"] and not exchange.is_rank():
        _check_started_ranks(size["ranks"], checks)
    _check_poisson(size["poisson"], checks)
    _check_shock_tube(*size["tube"], checks)
    if size["sphere"]:
        error = scattered(*size["sphere"], dtype=np.float64)[1]
        checks.true("sphere against the Mie series", error <= 0.02, f"differs by {error:.3g}; expected at most 0.02")


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
        for steps, kernel in other.kernels().items():
            found = kernel.space.configurations()
            other.configs[steps] = found[int(rng.integers(len(found)))]
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


def _check_energy(orders, steps, checks):
    grid, central = mesh.box(1), Maxwell(mesh.box(1), 2, 0.0, np.float64)
    for order in orders:
        upwind, energies = Maxwell(grid, order, 1.0, np.float64), []
        upwind.fields = _random(upwind.fields.shape)
        for _ in range(10):
            energies.append(upwind.energy())
            upwind.run(2 * upwind.max_dt)
        checks.true(f"energy, order {order}", (np.diff(energies) <= 0).all(), f"{energies}; expected never to rise")
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


def _check_devices(checks):
    """Two and four devices, or parts of one, have the bits of one: by graphs, by kernels one by one, by peer copies."""
    for count in (2, 4):
        devices = [n % driver.Device.count() for n in range(count)]
        for is_direct, graphs in (None, None), (None, exchange.PeerCopies(devices).is_direct), (False, False):
            way = exchange.PeerCopies(devices, is_direct)
            compare_with_one(f"{count} devices, graphs {graphs}", way, checks, graphs=graphs, split=count - 1)


def compare_with_one(name, devices, checks, graphs=None, **options):
    """A `Cluster` against `Maxwell`, in two calls with as many steps as a graph has, and some more."""
    grid = mesh.box(2, jitter=0.1, boundary=_side)
    options = {
        "flux": 0.8,
        "epsilon": np.where(np.arange(len(grid)) < 30, 1.0, 2.0),
        "layout": "interleaved8",
        **options,
    }
    alone = Maxwell(grid, 2, **options)
    with Cluster(grid, 2, devices, graphs=graphs, **options) as cluster:
        for solver in (alone, cluster):
            solver.fields = _random((6, len(grid), alone.element.n_nodes)).astype(np.float32)
            solver.run(9 * alone.max_dt)
            solver.run(2 * alone.max_dt)
        checks.equal(name, cluster.fields, alone.fields.get())


def check_ranks(checks):
    """Ranks have the bits of one, by MPI and, if each has a device, by NCCL."""
    for split in (1, 3):
        compare_with_one(f"ranks, {split} kernels", exchange.Mpi(), checks, split=split)
    if exchange.have_own_devices():
        compare_with_one("ranks, NCCL", exchange.Nccl.of_ranks(), checks)


#: What ranks run that a check has started; an error of one ends all.
_RANKS = """
import sys
import rtcg.autoinit
from mpi4py import MPI
from apps import _harness
from apps.dg import checks
found = _harness.Checks()
found.equal("ranks of mpiexec, if it belongs to the MPI of mpi4py", MPI.COMM_WORLD.size, int(sys.argv[1]))
checks.check_ranks(found)
sys.exit(found.report())
"""


def _check_started_ranks(count, checks):
    """Ranks of MPI, where mpi4py and mpiexec are installed."""
    if importlib.util.find_spec("mpi4py") and find_mpiexec():
        done = run_ranks(count, "-m", "mpi4py", "-c", _RANKS, str(count))
        checks.true("ranks", done.returncode == 0, f"exit status {done.returncode}: {done.stdout}{done.stderr}")


def find_mpiexec():
    """The path of mpiexec beside this Python, or in PATH; None without one."""
    beside = os.path.dirname(sys.executable)
    return shutil.which("mpiexec", path=os.pathsep.join([beside, os.environ.get("PATH", os.defpath)]))


def run_ranks(count, *arguments, timeout_s=120):
    """Run Python with some arguments in ranks of MPI: a `subprocess.CompletedProcess`; 124 after the time is over."""
    command = [find_mpiexec(), "-n", str(count), sys.executable, *arguments]
    pipe = subprocess.PIPE
    # Open MPI refuses to run as root, which containers often do, unless told twice.
    env = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, env=env) as process:
        try:
            output = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.terminate()  # mpiexec ends its ranks
            output = process.communicate()
            return subprocess.CompletedProcess(command, 124, *output)
    return subprocess.CompletedProcess(command, process.returncode, *output)


def _check_poisson(cells, checks):
    """Symmetry, and the order of convergence, of the interior penalty method."""
    errors = []
    for n in cells:
        poisson = Poisson(mesh.box(n, jitter=0.1), 2)
        exact = poisson.on.at_nodes(lambda x, y, z: np.sin(np.pi * x) * np.sin(np.pi * y) * np.sin(2 * np.pi * z))
        u, _ = poisson.solve(6 * np.pi**2 * exact, rtol=1e-6)
        errors.append(poisson.on.integral((u - exact) ** 2) ** 0.5)
    slope = -np.polyfit(np.log(cells), np.log(errors), 1)[0]
    checks.true("Poisson, order 2", slope >= 2.5, f"{slope:.2f} from errors {errors}; expected at least 2.5")
    u, v = (xp.asarray(_random(poisson.size, seed)) for seed in (1, 2))
    one, other = (float((poisson.apply(p) * q).sum().get()) for p, q in ((u, v), (v, u)))
    checks.close("Poisson, symmetry", one, other, rtol=1e-11)


def shock_tube(cells, duration, order=2):
    """Sod's tube: ``(solver, positions, mean error of the density, changes of mass and energy)``."""
    tube = Euler(mesh.box((cells, 1, 1), size=(1, 1 / cells, 1 / cells)), order, viscosity=0.1)
    middles = tube.on.mesh.vertices[tube.on.mesh.elements].mean(axis=1)[:, :1]
    positions = tube.on.at_nodes(lambda x, y, z: x)
    left = 0 * positions + xp.asarray((middles < 0.5).astype(float))
    tube.start(0.125 + 0.875 * left, (0, 0, 0), 0.1 + 0.9 * left)
    before = [tube.on.integral(tube.state[row]) for row in (0, 4)]
    tube.run(duration, tube.max_dt(2.2))
    changes = [tube.on.integral(tube.state[row]) / total - 1 for row, total in zip((0, 4), before, strict=True)]
    density, _ = reference.shock_tube(positions.get() - 0.5, duration)
    return tube, positions, tube.on.integral(abs(tube.state[0] - xp.asarray(density))) * cells**2, changes


def _check_shock_tube(cells, duration, most, checks):
    _, _, error, changes = shock_tube(cells, duration)
    checks.true("shock tube", error <= most, f"density differs by {error:.3g}; expected at most {most}")
    checks.close("shock tube, mass and energy", changes, [0, 0], atol=1e-12)


def scattered(refinements, order, periods, dtype=np.float32, wave_number=np.pi, shells=8):
    """A plane wave on a conducting sphere: ``(solver, error, found, expected)`` of the field on a ring.

    The absorbing boundary is at radius 6.3, as some of a wave comes back from a near one: 7 % with 4 shells (2.5). The
    ring has the radius 1.3, in the plane of polarization. Fields are complex amplitudes, from two times
    a quarter of a period apart.
    """
    period = 2 * np.pi / wave_number
    rise = f"(s < 0 ? 0 : s < {period} ? sin({np.pi / 2 / period} * s) * sin({np.pi / 2 / period} * s) : 1)"
    wave = PlaneWave(f"{rise} * sin({wave_number} * s)")
    grid = mesh.sphere(refinements, shells=shells)
    solver = Maxwell(grid, order, 1.0, dtype, wave=wave)
    solver.run(periods * period)
    now = solver.fields.get()[:3]
    solver.run(period / 4)
    angles = np.linspace(0, 2 * np.pi, 73)[:-1]
    ring = 1.3 * np.stack([np.sin(angles), 0 * angles, np.cos(angles)], axis=1)
    place = grid.locate(ring)
    weights = solver.element.interpolation(place[1])
    found = np.einsum("pn,cpn->pc", weights, (now + 1j * solver.fields.get()[:3])[:, place[0]])
    expected = 1j * reference.mie(ring, wave_number) * np.exp(-1j * wave_number * periods * period)
    return solver, float(np.linalg.norm(found - expected) / np.linalg.norm(expected)), found, expected
