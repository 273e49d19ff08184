"""Device arrays with mpi4py, in ranks of their own under ``mpiexec``; each run ends after a time limit.

``tests/mpi`` has mpi4py's own tests of buffers, of which this file runs a few; all with ``RTCG_TEST_ALL=1`` and by
``make mpi-suite``.
"""

import re
import time
from pathlib import Path

import pytest

from tests.mpi import launch
from tests.python.depth import ALL

pytest.importorskip("mpi4py", reason="mpi4py is not installed (requirements-dev.txt)")
ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 60

PREAMBLE = """
import contextlib, sys, time
from mpi4py import MPI
import numpy as np
import rtcg
import rtcg.numpy as rnp
from rtcg import devices, driver
comm = MPI.COMM_WORLD
other = 1 - comm.rank
def show(*values):
    comm.rank or print(*values, flush=True)
"""


def mpis():
    """The MPIs that are there; Open MPI only where all variants run."""
    if (mpi := launch.mpich()) is None:
        return [pytest.param(None, marks=pytest.mark.skip(reason="there is no mpiexec: pip install mpich"))]
    other = launch.openmpi() if ALL else None
    return [pytest.param(mpi, id=mpi.name) for mpi in (mpi, other) if mpi is not None]


@pytest.fixture(params=mpis())
def mpi(request):
    return request.param


def run(mpi, code, *arguments, n=2, devices=1, **variables):
    """The lines that rank 0 printed for `code`, which runs in `n` ranks, after none has failed."""
    arguments = ["-m", "mpi4py", "-c", PREAMBLE + code, *arguments]
    done = launch.run_ranks(mpi, n, arguments, LIMIT_S, devices, **variables)
    assert done.status == 0, f"{done.status}\n{done.stdout}{done.stderr}"
    return done.stdout.splitlines()


WORK = """
def later(*arrays):
    # 20 additions to each, in a stream that is asleep.
    driver.Context.synchronize()
    stream = driver.Stream(1)
    stream.launch_host_func(time.sleep, 0.05)
    with stream:
        for _ in range(20):
            for a in arrays:
                a += 1
    return arrays[0] if len(arrays) == 1 else arrays
class Interface:
    def __init__(self, a):
        self.a = a
    @property
    def __cuda_array_interface__(self):
        return self.a.__cuda_array_interface__
make = lambda value=0.0: rnp.full(3, value)
"""


def test_exports_wait_for_pending_work(mpi):
    """20 additions in each of two ranks make 40, by each kind of call; without a wait they do not."""
    code = """
def reduced(export):
    a = later(make())
    comm.Allreduce(MPI.IN_PLACE, export(a))
    early = a.get()[0]
    driver.Context.synchronize()
    return early
def sent():
    out, into = later(make(), make())
    comm.Sendrecv(out, other, 0, into, other, 0)
    return into.get()[0] + 20
def begun():
    into = make()
    comm.Iallreduce(later(make()), into).Wait()
    return into.get()[0]
def repeated():
    out, into = make(), make()
    request = comm.Allreduce_init(out, into)
    for _ in range(2):
        later(out)
        driver.Context.synchronize()
        request.Start()
        request.Wait()
    request.Free()
    return into.get()[0] - 40
def put():
    memory = make()
    window = MPI.Win.Create(later(memory), comm=comm)
    window.Fence()
    window.Put(later(make(20.0)), other)
    window.Fence()
    found = memory.get()[0]
    window.Free()
    return found
show("early", reduced(lambda a: a), reduced(Interface))
with rtcg.exports_wait():
    show("DLPack", reduced(lambda a: a))
    show("interface", reduced(Interface))
    for way in sent, begun, repeated, put:
        show(way.__name__, way())
"""
    lines = run(mpi, WORK + code, RTCG_EXPORT_WAITS="0")
    early = [float(word) for word in lines[0].split()[1:]]
    assert all(value < 40 for value in early), early
    assert lines[1:] == ["DLPack 40.0", "interface 40.0", "sent 40.0", "begun 40.0", "repeated 40.0", "put 40.0"]


def test_the_environment_lets_exports_wait(mpi):
    lines = run(
        mpi,
        WORK + "a = later(make())\ncomm.Allreduce(MPI.IN_PLACE, a)\nshow(a)",
        RTCG_EXPORT_WAITS="1",
    )
    assert lines == ["[40. 40. 40.]"]


def test_each_rank_has_a_device(mpi):
    code = """
host = comm.Split_type(MPI.COMM_TYPE_SHARED)
driver.init()
devices.set_default(host.rank % driver.Device.count())
a = rnp.full(5, comm.rank, np.int32)
b = rnp.empty_like(a)
with rtcg.exports_wait():
    comm.Sendrecv(a, other, 0, b, other, 0)
found = comm.gather((a.__dlpack_device__(), b.device == driver.Device(comm.rank), b.get().tolist()))
show(found)
"""
    assert run(mpi, code, devices=2) == ["[((2, 0), True, [1, 1, 1, 1, 1]), ((2, 1), True, [0, 0, 0, 0, 0])]"]


def test_objects_are_pickled_to_the_receivers_device(mpi):
    code = """
from mpi4py.util import pkl5
from rtcg.compiler import SourceModule
from rtcg.elementwise import ElementwiseKernel
devices.set_default(comm.rank)
for channel in comm, pkl5.Intracomm(comm):
    if comm.rank == 0:
        scale = ElementwiseKernel("double *z, const double *x", "z[i] = 3 * x[i]")
        module = SourceModule("__global__ void seven(double *x) { *x = 7; }")
        x = rnp.to_gpu(np.asfortranarray(np.arange(6.0).reshape(2, 3)))
        records = rnp.to_gpu(np.array([(1, 2)], [("a", "<f4"), ("b", "<i8")]))
        channel.send((scale, module, module.get_function("seven"), x, records), 1)
        print(channel.recv(source=1))
    else:
        scale, module, seven, x, records = channel.recv(source=0)
        assert x.device == driver.Device(1) and x.flags.f_contiguous
        z = rnp.empty_like(x)
        scale(z, x)
        for function in seven, module.get_function("seven"):
            one = rnp.zeros(1)
            function(one, block=(1, 1, 1))
            assert one.get()[0] == 7
        channel.send((z.get().tolist(), records.get().tolist()), 0)
"""
    assert run(mpi, code, devices=2) == ["([[0.0, 3.0, 6.0], [9.0, 12.0, 15.0]], [(1.0, 2)])"] * 2


def test_dtypes_and_layouts(mpi):
    pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed (requirements-dev.txt)")
    code = """
import ml_dtypes, warnings
warnings.filterwarnings("ignore", message=".*descr")
def exchanged(a, like=None):
    b = rnp.zeros_like(a if like is None else like)
    comm.Sendrecv(a, other, 0, b, other, 0)
    return b.get()
def refusal(function):
    try:
        return "accepted", function()
    except Exception as error:
        return type(error).__name__, str(error).splitlines()[0]
show(exchanged(rnp.to_gpu(np.array([(comm.rank, 2)], [("a", "<f4"), ("b", "<i8")]))).tolist())
short = rnp.to_gpu(np.array([1.5, 2], np.float16))
comm.Allreduce(MPI.IN_PLACE, short)
show(short.get().tolist())
brain = rnp.to_gpu(np.array([1.5, 2], np.float32)).astype(ml_dtypes.bfloat16)
show(exchanged(brain).astype(np.float32).tolist())
wide = brain.astype(np.float32)
comm.Allreduce(MPI.IN_PLACE, wide)
show(wide.astype(brain.dtype).astype(np.float32).get().tolist())
show(refusal(lambda: comm.Allreduce(MPI.IN_PLACE, brain))[0], brain.astype(np.float32).get()[0] == 3)
fortran = rnp.to_gpu(np.asfortranarray(np.arange(6.0).reshape(2, 3)))
show(exchanged(fortran).tolist(), exchanged(fortran, rnp.empty((2, 3))).ravel().tolist())
show(exchanged(rnp.zeros((0, 3))).shape, exchanged(rnp.full((), 4.0)).tolist())
for odd in rnp.zeros(6)[::2], rnp.zeros(6)[::-1], rnp.broadcast_to(rnp.zeros(1), (4,)):
    show(*refusal(lambda: comm.Bcast(odd)))
gaps = rnp.zeros(3, [("a", "<f8"), ("b", "<i4")])["a"]
show(*refusal(lambda: comm.Bcast(gaps)))
show(*refusal(lambda: comm.Bcast(rnp.zeros(6).gpudata)))
memory = driver.mem_alloc(16)
whole = rnp.GPUArray((2,), np.float64, gpudata=memory)
whole.fill(comm.rank)
show(exchanged(whole).tolist())
"""
    lines = run(mpi, code, RTCG_EXPORT_WAITS="1")
    assert lines[:4] == ["[(1.0, 2)]", "[3.0, 4.0]", "[1.5, 2.0]", "[3.0, 4.0]"]
    # Neither sums bfloat16: a patch of mpi4py that does would make the advice of docs/mpi.md needless.
    assert lines[4].endswith("False")
    assert lines[5:7] == ["[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]", "(0, 3) 4.0"]
    assert lines[7] == lines[9] == "BufferError dlpack: buffer is not contiguous"
    assert lines[8] == "BufferError dlpack: strides item is negative"
    assert lines[10].startswith("BufferError") and "not contiguous" in lines[10]
    assert lines[11] == "TypeError message: expecting buffer or list/tuple"
    assert lines[12] == "[1.0, 1.0]"


FAILURES = {
    "raise": ("raise ValueError('no such mesh')", "ValueError: no such mesh"),
    "kernel": (
        "from rtcg.compiler import SourceModule\n"
        "    f = SourceModule('__global__ void f(double *a) { *(double *)16 = 1; }').get_function('f')\n"
        "    f(rnp.zeros(1), block=(1, 1, 1))\n"
        "    driver.Context.synchronize()",
        "kernel f: illegal memory access, write of 8 bytes at 0x10",
    ),
    "killed": ("import os\n    os.kill(os.getpid(), 9)", ""),
}


@pytest.mark.parametrize("how", FAILURES)
def test_a_rank_that_fails_ends_all(mpi, how):
    what, message = FAILURES[how]
    code = (
        f"{PREAMBLE}\nif comm.rank == 1:\n    {what}\na = rnp.zeros(4)\ncomm.Allreduce(MPI.IN_PLACE, a)\nprint('end')"
    )
    begun = time.monotonic()
    done = launch.run_ranks(mpi, 2, ["-m", "mpi4py", "-c", code], LIMIT_S)
    assert done.status not in (0, None) and time.monotonic() - begun < LIMIT_S / 2
    assert message in done.stderr and "end" not in done.stdout.splitlines()


def test_ranks_that_wait_are_ended():
    """The time limit of these tests: nobody sends what both ranks wait for."""
    if (mpi := launch.mpich()) is None:
        pytest.skip("there is no mpiexec: pip install mpich")
    begun = time.monotonic()
    code = "from mpi4py import MPI; MPI.COMM_WORLD.recv()"
    assert launch.run_ranks(mpi, 2, ["-c", code], 2).status is None
    assert time.monotonic() - begun < 15


def test_one_rank_of_a_host_compiles(mpi, tmp_path):
    """Ranks that begin together all compile, for the cache on disk has no lock; docs/mpi.md shows how one does."""
    code = """
import json
from rtcg import tracing
from rtcg.compiler import SourceModule
def compiled(what, one_first):
    path = f"{sys.argv[1]}/{comm.rank}.json"
    rnp.zeros(1)
    comm.Barrier()
    with tracing.trace(path):
        if one_first and comm.rank:
            comm.Barrier()
        SourceModule("__global__ void f(int *a) { *a = %d; }" % what)
        if one_first and not comm.rank:
            comm.Barrier()
    with open(path) as file:
        names = [event["name"] for event in json.load(file) if event.get("cat") == "compiler"]
    return comm.gather(names)
found = compiled(1, False), compiled(2, True), compiled(2, False)
for names in found:
    show(names)
"""
    together, in_turn, again = map(eval, run(mpi, code, str(tmp_path), PYCUDA_CACHE_DIR=str(tmp_path / "cache")))
    compiled, cached = ["compile kernel.cu"], ["from the cache: kernel.cu"]
    assert compiled in together and all(names in (compiled, cached) for names in together)
    assert in_turn == [compiled, cached]
    assert all(not names or names == cached for names in again)


def programs_of_the_page():
    return re.findall(r"^```py\n(.*?)^```", (ROOT / "docs" / "mpi.md").read_text(), re.M | re.S)


def test_programs_of_the_page(mpi):
    """docs/mpi.md: in two ranks each."""
    programs = programs_of_the_page()
    assert len(programs) >= 5 and all("from mpi4py import MPI" in program for program in programs)
    # As functions of one program, so that the ranks start once.
    code = "".join(
        f"def program_{k}():\n{re.sub('^(?=.)', '    ', program, flags=re.M)}\nprogram_{k}()\ncomm.Barrier()\n"
        for k, program in enumerate(programs)
    )
    lines = run(mpi, code, devices=2)
    # The lines of ranks may run together.
    assert "".join(lines) == 2 * "False", "neither MPI knows device memory"


SAMPLE = {
    "test_cco_buf": "TestCCOBufWorld.test*",
    "test_p2p_buf": "TestP2PBufWorld.test*",
    "test_rma": "TestRMAWorld.testPut*",
}


def fetched_suite():
    suite = pytest.importorskip("tests.mpi.suite")
    try:
        suite.source()
    except (OSError, SystemExit) as error:
        pytest.skip(f"mpi4py's source distribution cannot be fetched: {error}")
    return suite


@pytest.mark.parametrize("module", SAMPLE)
def test_mpi4pys_own_tests(mpi, module):
    suite = fetched_suite()
    outcomes = suite.run_module(mpi, 2, module, 1 if ALL else 20, only="*" if ALL else SAMPLE[module])
    assert len(outcomes) >= 2
    assert not suite.not_expected(mpi.name, 2, outcomes, False)


def test_mpi4pys_own_tests_notice_exports_that_do_not_wait(mpi):
    suite = fetched_suite()
    outcomes = suite.run_module(mpi, 2, "test_cco_buf", 1, waits=False, only="TestCCOBufWorld.testAllreduce")
    (outcome,) = outcomes.values()
    assert outcome.outcome == "failed" and "AssertionError" in outcome.reason
