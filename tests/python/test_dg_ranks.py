"""The discontinuous Galerkin application on several devices, in ranks of MPI and with NCCL: one device's bits."""

import importlib.util
import json
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from depth import at_depth, some

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
#: For each run of ranks, of which most end in some seconds.
LIMIT_S = at_depth(120, 600)


def box(cells=2):
    from apps.dg import mesh

    return mesh.box(cells, jitter=0.1)


def waves(alone):
    return alone.at_nodes(lambda x, y, z: [np.sin(3 * x + c) * np.cos(2 * y - c * z) for c in range(6)])


#: Layout, kernels of a right-hand side, order, dtype, parts, and whether parts are direct and graphs are launched.
WAYS = [
    ("microblock", 1, 1, np.float32, 2, True, True),
    ("field", 2, 2, np.float64, 3, True, True),
    ("interleaved16", 4, 3, np.float32, 4, True, True),
    ("element", 1, 2, np.float32, 5, True, False),
    ("microblock", 3, 1, np.float64, 3, False, False),
    ("field", 4, 2, np.float32, 1, True, True),
]


@pytest.mark.parametrize(
    "layout, split, order, dtype, count, is_direct, graphs", some(WAYS, [WAYS[1], WAYS[3], WAYS[4]])
)
def test_parts_have_the_bits_of_one_device(layout, split, order, dtype, count, is_direct, graphs, context):
    """Through graphs of several steps and of one, an odd number of them, and new fields between."""
    from apps.dg.devices import STEPS_OF_GRAPH, Cluster
    from apps.dg.exchange import PeerCopies
    from apps.dg.maxwell import Maxwell

    options = dict(dtype=dtype, layout=layout, split=split, flux=0.7)
    alone = Maxwell(box(), order, **options)
    with Cluster(box(), order, PeerCopies([0] * count, is_direct), graphs=graphs, **options) as cluster:
        assert cluster.max_dt == alone.max_dt
        for solver in (alone, cluster):
            solver.fields = waves(alone)
            for steps in (STEPS_OF_GRAPH + 1, 0, 2, STEPS_OF_GRAPH):
                solver.run(steps * alone.max_dt)
        np.testing.assert_array_equal(cluster.fields, alone.fields.get())
        assert cluster.time == alone.time
        for solver in (alone, cluster):
            solver.fields = 2 * waves(alone)
            solver.run(alone.max_dt)
        np.testing.assert_array_equal(cluster.fields, alone.fields.get())
        assert not np.array_equal(cluster.fields, 2 * waves(alone))
        assert (cluster.halo_bytes == 0) == (count == 1)


def test_a_cluster_refuses(context):
    from apps.dg.devices import Cluster
    from apps.dg.exchange import PeerCopies

    grid = box(1)
    with pytest.raises(ValueError, match=r"devices are \[\], 0 in all; expected 1 to 6, the number of elements"):
        Cluster(grid, 1, [])
    with pytest.raises(ValueError, match=r"devices are \[0, 0, 0, 0, 0, 0, 0\], 7 in all; expected 1 to 6"):
        Cluster(grid, 1, [0] * 7)
    with pytest.raises(ValueError, match="devices is 99; expected an ordinal below"):
        Cluster(grid, 1, [0, 99])
    with pytest.raises(ValueError, match="graphs is True; expected False, as graphs cannot contain this exchange"):
        Cluster(grid, 1, PeerCopies([0, 0], is_direct=False), graphs=True)
    with Cluster(grid, 1, [0, 0]) as cluster, pytest.raises(ValueError, match="dt is .*; expected above 0 and at most"):
        cluster.run(1.0, 1.01 * cluster.max_dt)


class Messages:
    """What `Nccl` uses of `rtcg.nccl`, by copies within a process: messages of a group are for each other."""

    def __init__(self):
        self.sent, self.received = {}, {}

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        from rtcg import driver

        assert set(self.sent) == set(self.received) or any(problem)
        for key, (source, stream) in self.sent.items():
            to, stream_of_receiver = self.received[key]
            assert to.nbytes == source.nbytes
            stream.synchronize()
            driver.memcpy_dtod_async(to.gpudata, source.gpudata, to.nbytes, stream_of_receiver)
            stream_of_receiver.synchronize()
        self.sent, self.received = {}, {}

    def communicator(self, rank):
        def send(array, peer, stream=None):
            self.sent[rank, peer] = array, stream

        def receive(array, peer, stream=None):
            self.received[peer, rank] = array, stream

        return types.SimpleNamespace(send=send, recv=receive)


def test_messages_in_a_group(context, monkeypatch):
    """Each part sends to its peers and receives from them, in one group for each stage."""
    import rtcg
    from apps.dg.devices import Cluster
    from apps.dg.exchange import Nccl
    from apps.dg.maxwell import Maxwell

    messages, stand_in = Messages(), types.ModuleType("rtcg.nccl")
    stand_in.group = lambda: messages
    monkeypatch.setitem(sys.modules, "rtcg.nccl", stand_in)
    monkeypatch.setattr(rtcg, "nccl", stand_in, raising=False)
    alone = Maxwell(box(), 2)
    with Cluster(box(), 2, Nccl([0] * 3, [messages.communicator(rank) for rank in range(3)])) as cluster:
        for solver in (alone, cluster):
            solver.fields = waves(alone)
            solver.run(3 * alone.max_dt)
        np.testing.assert_array_equal(cluster.fields, alone.fields.get())


NCCL = """
import rtcg.autoinit
from apps import _harness
from apps.dg import checks, exchange
from rtcg import driver
found = _harness.Checks()
checks.compare_with_one("NCCL", exchange.Nccl.of_devices(range(driver.Device.count())), found)
assert found.report() == 0
"""


@pytest.mark.skipif(not importlib.util.find_spec("rtcg.nccl"), reason="this rtcg has no rtcg.nccl")
def test_devices_with_nccl(context, on_virtual_device):
    from rtcg import driver
    from tests.python.subprocesses import run_python

    if not on_virtual_device and driver.Device.count() < 2:
        pytest.skip("NCCL needs a device for each part")
    run_python(NCCL, **({"RTCG_VIRTUAL_DEVICES": 3} if on_virtual_device else {}))


@pytest.fixture
def ranks(monkeypatch):
    """`run_ranks` of the application, with kernels that are compiled quickly."""
    from apps.dg import checks
    from tests.python.subprocesses import QUICK

    pytest.importorskip("mpi4py", reason="mpi4py is not installed", exc_type=ImportError)
    if not checks.find_mpiexec():
        pytest.skip("there is no mpiexec")
    for name, value in {**QUICK, "PYTHONWARNINGS": "ignore", "RTCG_WORKERS": "1"}.items():
        monkeypatch.setenv(name, value)

    def run(count, *arguments):
        return checks.run_ranks(count, *arguments, timeout_s=LIMIT_S)

    return run


def test_four_ranks_have_the_bits_of_one(ranks):
    from apps import _harness
    from apps.dg import checks

    found = _harness.Checks()
    checks._check_started_ranks(4, found)
    assert (found.made, found.differences) == (1, [])


def test_the_command_line_in_ranks(ranks, tmp_path):
    """A check compares what the ranks compute together; one rank prints the benchmark and writes the file."""
    rows = tmp_path / "rows.json"
    done = ranks(at_depth(2, 4), "-m", "apps.dg", "--check", "--bench", "--json", str(rows))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("goal") == 1, done.stdout
    found = json.loads(rows.read_text())
    assert [row["name"].partition(",")[2] for row in found][1:3] == [" MPI", " MPI"] and found[1]["error"] == 0


DIFFERENT_ORDERS = """
from mpi4py import MPI
from apps.dg import devices, exchange, mesh
devices.Cluster(mesh.box(2), 1 + MPI.COMM_WORLD.rank, exchange.Mpi())
"""
#: The application, where one rank fails while the other waits for its message.
ONE_FAILS = """
import runpy, sys
from apps.dg import exchange
from mpi4py import MPI

def fill(self, parts):
    raise RuntimeError("this rank is broken")

if MPI.COMM_WORLD.rank == 1:
    exchange.Mpi.fill = fill
sys.argv = ["apps.dg", "--check"]
runpy.run_module("apps.dg", run_name="__main__", alter_sys=True)
"""


def test_ranks_that_differ_or_fail_end_all(ranks):
    done = ranks(2, "-m", "mpi4py", "-c", DIFFERENT_ORDERS)
    assert done.returncode not in (0, 124), done.stderr
    expected = r"part 0 sends \d+ bytes to part 1; expected \d+: processes give different meshes, orders or dtypes"
    assert re.search(expected, done.stderr), done.stderr
    done = ranks(2, "-c", ONE_FAILS)
    assert done.returncode not in (0, 124) and "this rank is broken" in done.stderr, done.stderr
