"""The benchmark of several devices: steps of several parts beside those of one, on the same mesh and on larger ones."""

import functools
import importlib.util

import numpy as np

import rtcg.numpy as xp
from apps import _harness as harness
from rtcg import driver

from . import mesh
from .devices import Cluster
from .element import element
from .exchange import Mpi, Nccl, PeerCopies, world
from .maxwell import Maxwell


def bench(cells, orders, steps, operations, tables):
    """Tables of GFLOP/s: each call does some steps and waits for all devices.

    In ranks of MPI each has one part. In one process there are 2, 4 and 8 parts, as far as there are devices, but at
    least two.

    Parameters
    ----------
    cells, steps : int
        Along an edge of the mesh of one device; of a call.
    orders : sequence of int
    operations : callable
        ``operations(n_nodes, n_face_nodes)``: those of a stage, for each element of the mesh.
    tables : list
        Gets the tables.
    """
    comm = world()
    counts = [comm.size] if comm else [n for n in (2, 4, 8) if n <= max(2, driver.Device.count())]
    meshes = {n: mesh.box((n * cells, cells, cells), (n, 1, 1), jitter=0.1) for n in [1, *counts]}
    for order in orders:
        table = harness.Table(f"order {order}, float32, {steps} steps, {len(meshes[1])} elements", "GFLOP/s")
        tables.append(table)
        work = steps * 5 * operations(element(order).n_nodes, element(order).n_face_nodes) / 1e9
        waves = {n: _waves(grid, order) for n, grid in meshes.items()}
        row = functools.partial(_row, table, work, steps)
        one, expected = row("one device", waves[1], functools.partial(Maxwell, meshes[1], order))
        for count, (name, exchange, graphs) in [(n, way) for n in counts for way in _ways(comm, n)]:
            for times in (1, count):
                make = functools.partial(_cluster, meshes[times], order, exchange, graphs)
                title, fields = ("same mesh", expected) if times == 1 else (f"mesh times {times}", None)
                rate, _ = row(f"{count} parts, {name}", waves[times], make, title, fields)
                if one and rate:
                    print(f"{'':32} {rate / one:.3f} of the rate of one device, {rate / one / count:.3f} for each")
    print("goal where the mesh is as many times as large: 0.92 for each", flush=True)


def _ways(comm, count):
    """Names, functions that make the exchange, and whether `run` launches graphs."""
    devices = [n % driver.Device.count() for n in range(count)]
    if comm:
        ways = [("MPI", lambda: Mpi(comm), False), ("NCCL", lambda: Nccl.of_ranks(comm), False)]
    else:
        ways = [
            ("graphs", lambda: PeerCopies(devices), True),
            ("kernels one by one", lambda: PeerCopies(devices), False),
            *([("NCCL", lambda: Nccl.of_devices(devices), False)] if len(set(devices)) == len(devices) else []),
        ]
    return ways if importlib.util.find_spec("rtcg.nccl") else ways[:-1]


def _cluster(grid, order, exchange, graphs):
    return Cluster(grid, order, exchange(), graphs=graphs)


def _waves(grid, order):
    x, y, z = grid.positions(element(order)).transpose(2, 0, 1)
    return np.stack([np.sin(3 * x + c) * np.cos(2 * y - c * z) for c in range(6)]).astype(np.float32)


def _row(table, work, steps, name, fields, make, remarks="", expected=None):
    """A row for the solver that `make` returns: its rate, 0 where it fails, and its fields after one call.

    The error is what differs from the `expected` fields.
    """
    solver = found = failure = None

    def call():
        if failure:
            raise failure
        solver.run((steps - 0.5) * solver.max_dt)
        for part in getattr(solver, "parts", ()):
            part.compute.synchronize()
        driver.Context.synchronize()

    # A row counts no time of what is made and compiled once, and says what went wrong, unless other ranks wait.
    try:
        solver = make()
        solver.fields = fields
        call()
        found = xp.asnumpy(solver.fields)
    except Exception as problem:
        if world():
            raise
        failure = problem
    known = len(table.rows)
    error = None if expected is None else lambda _: abs(found - expected).max()
    table.row(name, fields.shape[1] * work, call, error, on_device=False, remarks=remarks)
    if isinstance(solver, Cluster):
        solver.close()
    return (table.rows[-1]["rate"] if len(table.rows) > known else 0), found
