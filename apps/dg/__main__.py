"""Maxwell's equations on tetrahedra by the discontinuous Galerkin method, generated and tuned for order and device.

python -m apps.dg --check
python -m apps.dg --size seed --bench
python -m apps.dg --size devices --bench
python -m apps.dg --plot fields.png
mpiexec -n 4 python -m apps.dg --check
"""

import functools
import os
import sys
import time
import traceback

import numpy as np

from apps import _harness as harness
from rtcg import driver, tune as rtcg_tune

from . import checks, exchange, mesh, peers, scaling
from .maxwell import Maxwell, tune

SIZES = {
    "small": {
        "orders": (2,), "cells": (4, 6), "duration": 0.1, "oracle": (2, 3), "variants": 6, "steps": 100,
        "poisson": (2, 3), "tube": (8, 0.06, 0.05), "sphere": None,
        "bench": 3, "bench orders": (1, 3), "picture": (0, 2, 2.5), "flow": (12, 0.15),
        "ranks": None, "scaling": (2, (1,), 9),
    },
    "seed": {
        "orders": (1, 2, 3, 4, 5, 6), "cells": None, "duration": 0.1, "oracle": (1, 2, 3, 4), "variants": 60,
        "steps": 1000, "poisson": (4, 6, 8), "tube": (64, 0.2, 0.008), "sphere": (1, 4, 5),
        "bench": 24, "bench orders": range(1, 10), "picture": (2, 4, 5), "flow": (128, 0.2),
        "ranks": 4, "scaling": (24, (1, 3, 5), 60),
    },
}  # fmt: skip
SIZES["h200"] = SIZES["seed"] | {"bench": 40, "scaling": (36, (1, 3, 5), 60)}
#: Only what compares several devices with one is measured.
SIZES["devices"] = SIZES["h200"] | {"bench orders": ()}
check = checks.check


def flops(n, nf):
    """Operations of a right-hand side and a stage, for one element."""
    return 36 * n * n + 108 * n + 48 * nf * n + 336 * nf + 30 * n


def least_bytes(n, nf, itemsize):
    """Bytes that must cross the memory bus for one element, where one kernel does all; indices have 4."""
    return (24 * n + 24 * nf + 25) * itemsize + 16 * nf


def limit(roofline, order, dtype):
    """GFLOP/s that copies and arithmetic of the device allow, and which of the two it is."""
    n, nf, size = (order + 1) * (order + 2) * (order + 3) // 6, (order + 1) * (order + 2) // 2, np.dtype(dtype).itemsize
    seconds, binding = roofline.limit(least_bytes(n, nf, size), flops(n, nf), size)
    return flops(n, nf) / seconds / 1e9, binding


def bench(size, tables):
    """One device, then several; ranks of MPI only take part in the second."""
    if size["bench orders"] and not exchange.world():
        bench_one_device(size, tables)
    scaling.bench(*size["scaling"], flops, tables)


def bench_one_device(size, tables):
    """All orders in both precisions, as first written and tuned, beside einsums of NumPy and JAX, and cuBLAS."""
    is_gpu = harness.instruction_rate() is not None
    roofline, grid, unknowns = rtcg_tune.measure_roofline() if is_gpu else None, mesh.box(size["bench"], jitter=0.1), []
    for dtype in (np.float32, np.float64):
        for order in size["bench orders"]:
            first = Maxwell(grid, order, 1.0, dtype)
            fields = first.at_nodes(lambda x, y, z: [np.sin(3 * x + c) * np.cos(2 * y - c * z) for c in range(6)])
            n, nf = first.element.n_nodes, first.element.n_face_nodes
            work, best = len(grid) * flops(n, nf) / 1e9, limit(roofline, order, dtype) if is_gpu else (None, "")
            table = harness.Table(f"order {order}, {np.dtype(dtype)}, {len(grid)} elements", "GFLOP/s", *best)
            tables.append(table)
            some = min(len(grid), 2000)
            expected = peers.rhs(np, peers.Arrays(first, np.float64, some), fields.astype(np.float64))

            def error(found, expected=expected):
                return abs(found[:, : expected.shape[1]] - expected).max() / abs(expected).max()

            def stage(solver, fields=fields):
                solver.fields = fields
                found = solver.rhs(fields).get()

                def call():
                    for steps in solver.steps:
                        solver.launch(steps, *solver.stage_states(1), stage=1)
                    return found

                return call

            table.row(
                "rtcg, einsums and gathers", work, peers.on_device(first, fields), lambda found: error(found.get())
            )
            table.row("rtcg, default", work, stage(first), error)
            report = tune(grid, order, 1.0, dtype, budget=harness.budget)
            if report.best:
                table.row("rtcg, tuned", work, stage(Maxwell(grid, order, 1.0, dtype, **report.best)), error,
                          remarks=harness.tuned(report))  # fmt: skip
            table.row("NumPy, one core", work * some / len(grid), peers.on_host(first, fields, some), error,
                      on_device=False, rounds=1, remarks=f"{some} elements")  # fmt: skip
            table.row("JAX, einsums and gathers", work, peers.jax_jit(first, fields), error, on_device=False)
            table.row("cuBLAS, derivatives alone", len(grid) * 36 * n * n / 1e9, peers.batched_products(first, fields),
                      on_device=False)  # fmt: skip
            if order in peers.PUBLISHED and dtype == np.float32:
                table.published("the paper's solver", peers.PUBLISHED[order], peers.PUBLISHED_DEVICE)
            ours = max((row for row in table.rows if row["name"].startswith("rtcg")), key=lambda row: row["rate"])
            unknowns.append((np.dtype(dtype), order, ours["rate"] / flops(n, nf) * 6 * n))
    print("10^9 unknowns/s: " + ", ".join(f"{dtype} order {order} {rate:.3g}" for dtype, order, rate in unknowns))


def plot(size):
    """Currents on a sphere in a plane wave, GFLOP/s by order, convergence in a cavity, and a shock tube."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 10), layout="constrained")
    _plot_sphere(figure, figure.add_subplot(221, projection="3d"), size["picture"])
    _plot_rates(figure.add_subplot(222), size)
    _plot_convergence(figure.add_subplot(223), size)
    _plot_tube(figure.add_subplot(224), size["flow"])
    return figure


def _plot_sphere(figure, axis, picture):
    """The magnetic field at the conductor, whose tangential part is the current: colour, and arrows across it."""
    import matplotlib
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    solver, *_ = checks.scattered(*picture)
    grid, element = solver.mesh, solver.element
    k, f = np.nonzero(grid.neighbors == -4)
    # Each face in small triangles, by barycentric coordinates (faces, small triangles, corners, 4).
    upright = [[(i, j), (i + 1, j), (i, j + 1)] for i in range(4) for j in range(4 - i)]
    turned = [[(i + 1, j), (i, j + 1), (i + 1, j + 1)] for i in range(3) for j in range(3 - i)]
    parts = np.array(upright + turned) / 4
    small = np.concatenate([parts, 1 - parts.sum(axis=2, keepdims=True)], axis=2)
    places = np.stack([np.insert(small, face, 0, axis=2) for face in range(4)])[f]
    triangles = (places @ grid.vertices[grid.elements[k]][:, None]).reshape(-1, 3, 3)
    k, f = np.repeat(k, len(parts)), np.repeat(f, len(parts))
    values = element.interpolation(places.mean(axis=2).reshape(-1, 4))
    phase = solver.time - triangles.mean(axis=1)[:, 2]
    incident = np.stack([0 * phase, np.sin(np.pi * phase), 0 * phase], axis=1)
    magnetic = np.einsum("kn,ckn->kc", values, solver.fields.get()[3:][:, k]) + incident
    current = np.cross(grid.normals[k, f], magnetic)
    strength = np.linalg.norm(current, axis=1)
    colours = matplotlib.colormaps["viridis"](strength / strength.max())
    axis.add_collection3d(Poly3DCollection(triangles, facecolors=colours, edgecolors="none"))
    seen = triangles.mean(axis=1) @ [0.6, -0.7, 0.4] > 0.2
    seen &= np.arange(len(k)) % len(parts) == 12
    axis.quiver(
        *1.03 * triangles.mean(axis=1)[seen].T, *0.25 * (current / strength.max())[seen].T, color="k", linewidth=1
    )
    axis.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1), title="current on a sphere in a plane wave along z")
    axis.set_box_aspect((1, 1, 1))
    axis.view_init(25, -50)


def _plot_rates(axis, size):
    """Measured on a GPU; on the virtual GPU the limits of an H200 and what has been published."""
    is_gpu = harness.instruction_rate() is not None
    roofline = rtcg_tune.measure_roofline() if is_gpu else rtcg_tune.Roofline(4.2e12, {4: 51.4e12, 8: 30e12})
    orders = np.arange(1, 10)
    for dtype, style in ((np.float32, "C0"), (np.float64, "C1")):
        axis.plot(orders, [limit(roofline, n, dtype)[0] for n in orders], style, label=f"limit, {np.dtype(dtype)}")
        if is_gpu:
            axis.plot(orders, [_rate(size, n, dtype) for n in orders], style + "o", label=f"rtcg, {np.dtype(dtype)}")
    axis.plot(*zip(*peers.PUBLISHED.items(), strict=True), "k^", label=f"published 2011, {peers.PUBLISHED_DEVICE}")
    name = driver.Context.get_device().name() if is_gpu else "limits of an H200, not measured"
    axis.set(yscale="log", xlabel="order", ylabel="GFLOP/s", title=name)
    axis.legend(fontsize=8)


def _rate(size, order, dtype):
    solver = Maxwell(mesh.box(size["bench"], jitter=0.1), order, 1.0, dtype)
    steps = solver.steps
    _, seconds = harness.times(lambda: [solver.launch(s, *solver.stage_states(1), stage=1) for s in steps])
    return len(solver.mesh) * flops(solver.element.n_nodes, solver.element.n_face_nodes) / seconds / 1e9


def _plot_convergence(axis, size):
    for order in (1, 2, 3):
        cells = checks.MESHES[order] if size["cells"] is None else (2, 3, 4)
        errors = [checks.cavity_error(order, n, 0.1) for n in cells]
        (line,) = axis.loglog(cells, errors, "o-", label=f"order {order}")
        slope = errors[-1] * (np.array(cells) / cells[-1]) ** -(order + 0.5)
        axis.loglog(cells, slope, "--", color=line.get_color(), linewidth=1)
    axis.set(xlabel="cells along an edge", ylabel="error", title="cavity TM(1, 2, 2); dashed: order + 1/2")
    axis.legend(fontsize=8)


def _plot_tube(axis, flow):
    tube, positions, error, _ = checks.shock_tube(*flow)
    x, density = positions.get().ravel(), tube.state[0].get().ravel()
    axis.plot(x, density, ".", markersize=2, label="rtcg, order 2")
    fine = np.linspace(0, 1, 1000)
    axis.plot(fine, checks.reference.shock_tube(fine - 0.5, flow[1])[0], "k", linewidth=1, label="exact")
    axis.set(xlabel="x", ylabel="density", title=f"shock tube, mean error {error:.2g}")
    axis.legend(fontsize=8)


def _abort_all(comm, *problem):
    """Print an exception of a rank, and end all ranks: others may wait for this one."""
    sys.stderr.write("".join(traceback.format_exception(*problem)))
    sys.stderr.flush()
    time.sleep(0.5)  # the launcher ends all processes at once, and forgets what it has not passed on
    comm.Abort(1)


if __name__ == "__main__":
    comm = exchange.world()
    if comm:
        sys.excepthook = functools.partial(_abort_all, comm)
        os.environ.setdefault("CUDA_DEVICE", str(exchange.local_device(comm)))
    sys.exit(harness.run(__doc__, SIZES, check, bench, plot, reports=not comm or comm.rank == 0))
