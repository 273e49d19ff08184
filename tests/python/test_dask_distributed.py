"""Arrays and kernels on clusters of Dask's: what is sent and how, processes that die, hosts without a GPU."""

import os
import pickle
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rtcg.numpy as rnp
from rtcg import devices, driver
from rtcg.elementwise import ElementwiseKernel
from tests.python.depth import at_depth
from tests.python.subprocesses import LIMIT_S, ROOT, run_python

pytestmark = pytest.mark.usefixtures("context")

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
serialize_module = pytest.importorskip("distributed.protocol.serialize")

FAMILIES = ["cuda", "dask"]
RECORD = np.dtype([("number", "i4"), ("value", "f8"), ("pair", "f4", (2,))], align=True)


def sent(thing, family, change=lambda frames: frames):
    """What another process would make of it, with the frames that it would get."""
    header, frames = serialize_module.serialize_and_split(thing, serializers=[family], on_error="raise", size=64)
    assert header["serializer"] == family
    return serialize_module.merge_and_deserialize(header, change(frames))


def of_host(array):
    return rnp.to_gpu(array)


ARRAYS = {
    "plain": lambda: of_host(np.arange(24.0).reshape(2, 3, 4)),
    "no axes": lambda: of_host(np.float32(3)),
    "no elements": lambda: rnp.empty((0, 3), "i2"),
    "Fortran": lambda: of_host(np.asfortranarray(np.arange(12, dtype="i4").reshape(3, 4))),
    "Fortran, three axes": lambda: of_host(np.asfortranarray(np.arange(24).reshape(1, 6, 4))),
    "transposed": lambda: of_host(np.arange(12.0).reshape(3, 4)).T,
    "slice": lambda: of_host(np.arange(40).reshape(5, 8))[1:4:2, ::3],
    "rows": lambda: of_host(np.arange(40).reshape(5, 8))[2:4],
    "reversed": lambda: of_host(np.arange(9, dtype="u1"))[::-1],
    "broadcast": lambda: rnp.broadcast_to(of_host(np.arange(3.0)), (4, 3)),
    "complex": lambda: of_host(np.arange(5) + 2j),
    "bool": lambda: of_host(np.arange(5) > 2),
    "records": lambda: of_host(np.ones((3, 2), RECORD)),
    "reversed records": lambda: of_host(np.ones((3, 2), RECORD))[::-1, ::-1],
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_arrive_as_they_were(name, family):
    array = ARRAYS[name]()
    arrived = sent(array, family)
    assert type(arrived) is rnp.GPUArray
    assert (arrived.shape, arrived.dtype) == (array.shape, array.dtype)
    if array.flags.forc:
        assert arrived.flags.c_contiguous == array.flags.c_contiguous
        assert arrived.flags.f_contiguous == array.flags.f_contiguous
    np.testing.assert_array_equal(arrived.get(), array.get())


@pytest.mark.parametrize("family", FAMILIES)
def test_bfloat16(family):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = of_host(np.arange(5).astype(ml_dtypes.bfloat16))
    arrived = sent(array, family)
    assert arrived.dtype == array.dtype
    np.testing.assert_array_equal(arrived.get(), array.get())


def test_frames_of_the_family_cuda_are_the_memory_itself():
    array = of_host(np.arange(100.0))
    header, frames = serialize_module.serialize(array, serializers=["cuda"])
    (frame,) = frames
    assert (frame.shape, frame.dtype, frame.ptr) == ((800,), np.uint8, array.ptr)
    arrived = serialize_module.deserialize(header, frames)
    assert arrived.ptr == array.ptr
    # A frame of another library's, as UCX allocates for what it receives.
    arrived = serialize_module.deserialize(header, [DeviceBuffer(of_host(np.arange(100.0)[::-1]))])
    del frames
    np.testing.assert_array_equal(arrived.get(), np.arange(100)[::-1])
    # TCP has only memory of the host to give.
    arrived = serialize_module.deserialize(header, [memoryview(bytes(800))])
    assert not arrived.get().any()


class DeviceBuffer:
    """Memory with the interface and nothing else; it is freed with the object."""

    def __init__(self, array):
        self._kept = array.view(np.int8)
        self.nbytes = array.nbytes

    @property
    def __cuda_array_interface__(self):
        return self._kept.__cuda_array_interface__


def test_frames_of_the_wrong_size():
    for family in FAMILIES:
        with pytest.raises(ValueError, match=r"has 8 bytes; expected 16 for shape \(2,\) and dtype float64$"):
            sent(of_host(np.arange(2.0)), family, lambda frames: [frames[0][:8]])


@pytest.mark.parametrize("family", FAMILIES)
def test_pending_work_is_sent_with_its_results(family):
    """Of a stream that no other one waits for; frames of the family cuda say that nothing is pending."""
    stream = driver.Stream(driver.stream_flags.NON_BLOCKING)
    array, ones = rnp.zeros(1 << 18), rnp.ones(1 << 18)
    driver.Context.synchronize()
    add = ElementwiseKernel("double *z, const double *x", "for (int k = 0; k < 20; ++k) z[i] += x[i]")
    for _ in range(20):
        add(array, ones, stream=stream)
    header, frames = serialize_module.serialize(array, serializers=[family])
    if family == "cuda":
        assert stream.is_done()
    arrived = serialize_module.deserialize(header, frames)
    assert (arrived.get() == 400).all()


def test_arrays_of_another_device():
    if driver.Device.count() < 2:
        result = run_python(
            "import tests.python.test_dask_distributed as t; t.check_another_device()",
            RTCG_LIBCUDA="none", RTCG_VIRTUAL_DEVICES="2",
        )  # fmt: skip
        assert not result.stderr
    else:
        check_another_device()


def check_another_device():
    with devices.use(1):
        array = of_host(np.arange(12.0).reshape(3, 4))
    with devices.use(0):
        for given in (array, array[:, ::2]):
            for family in FAMILIES:
                arrived = sent(given, family)
                np.testing.assert_array_equal(arrived.get(), given.get())
                # What is in device memory stays where it is.
                assert arrived.device == driver.Device(int(family == "cuda"))


def test_kernels_are_left_to_pickle():
    kernel = ElementwiseKernel("int *z", "z[i] = 3")
    for family in FAMILIES:
        with pytest.raises(TypeError, match="Could not serialize"):
            sent(kernel, family)
    z = rnp.empty(3, np.int32)
    sent(kernel, "pickle")(z)
    assert (z.get() == 3).all()


@pytest.mark.parametrize("modules", ["distributed", "rtcg.numpy, distributed"])
def test_workers_that_know_the_type_alone_can_receive(modules):
    """In every order of imports, and distributed's own imports nothing of ours that opens a driver."""
    header, frames = serialize_module.serialize(of_host(np.arange(3)), serializers=["dask"])
    program = f"""
import sys
import {modules}
assert "rtcg.driver" not in sys.modules or "rtcg" in {modules!r}
assert not any("rtcg" in repr(finder) for finder in sys.meta_path)
from distributed.protocol.serialize import deserialize
print(deserialize({header!r}, [{bytes(frames[0])!r}]).get())
"""
    assert run_python(program, RTCG_VIRTUAL_DEVICES="1").stdout == "[0 1 2]\n"


def test_importing_dask_takes_no_time_for_us():
    """`rtcg` imports nothing of Dask's, and what Dask imports of ours takes 3 ms, nearly all of it `rtcg` itself."""
    program = """
import importlib.util, sys, time, typing
start = time.process_time()
import rtcg._dask_sizeof
seconds = time.process_time() - start
assert not {"dask", "distributed", "numpy"} & set(sys.modules)
import distributed
assert not {"rtcg.numpy", "rtcg.driver", "rtcg._dask_serializers"} & set(sys.modules)
print(seconds)
"""
    assert float(run_python(program).stdout) < 0.05


@pytest.mark.parametrize("virtual_devices", [None, "0"])
def test_a_host_without_a_gpu(virtual_devices):
    """The virtual one with its notice, or an array that says what to do where it is used, and can be sent on."""
    header, frames = serialize_module.serialize(of_host(np.arange(4.0)), serializers=["dask"])
    program = f"""
import os, pickle, socket, warnings
os.environ.pop("_RTCG_NOTICE_SHOWN", None)
from distributed.protocol.serialize import deserialize, serialize
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    a = deserialize({header!r}, [{bytes(frames[0])!r}])
said = [str(each.message) for each in caught]
if not {virtual_devices!r}:
    assert len(said) == 1 and said[0].startswith("no NVIDIA GPU is usable here"), said
    print(a.get())
else:
    origin, host = {header["sub-header"]["sender"]!r}, socket.gethostname()
    expected = (f"an array of {{origin}} cannot be placed on host {{host}}, which has no usable GPU and, by "
                "RTCG_VIRTUAL_DEVICES=0, no virtual one: set RTCG_VIRTUAL_DEVICES=1 there, or send the NumPy array "
                "a.get()")
    import numpy as np
    for use in (lambda: a.sum(), lambda: a + 1, lambda: 2 * a, lambda: a[0], lambda: np.asarray(a), lambda: len(a),
                lambda: np.sin(a), lambda: np.sum(a), lambda: a.shape, lambda: bool(a), lambda: a == 0, lambda: a()):
        try:
            use()
        except RuntimeError as error:
            assert str(error) == expected, error
        else:
            raise AssertionError("no error")
    import dask.sizeof
    assert dask.sizeof.sizeof(a) >= 32
    print(pickle.dumps(a).hex())
"""
    environment = {"RTCG_LIBCUDA": "none"} | ({"RTCG_VIRTUAL_DEVICES": virtual_devices} if virtual_devices else {})
    if not virtual_devices:
        program = "import os; os.environ.pop('RTCG_VIRTUAL_DEVICES', None)\n" + program
    result = run_python(program, **environment).stdout
    if virtual_devices:
        result = f"{pickle.loads(bytes.fromhex(result)).get()}\n"
    assert result == "[0. 1. 2. 3.]\n"


def test_a_cluster(tmp_path):
    """Arrays and kernels in tasks, a worker that is killed, one without a device; what remains of them is nothing."""
    shared = Path("/dev/shm")
    before = set(os.listdir(shared))
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "TMPDIR": str(tmp_path)}
    env |= {"RTCG_LIBCUDA": "none", "RTCG_VIRTUAL_DEVICES": "2"}
    command = [sys.executable, "tests/python/dask_cluster.py"]
    result = subprocess.run(command, capture_output=True, text=True, env=env, timeout=LIMIT_S, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    sent, embedded, tasks, pids = result.stdout.splitlines()
    host = socket.gethostname()
    for line, origin in [(sent, "of rtcg virtual GPU"), (embedded, "in a pickle")]:
        assert line.startswith(f"RuntimeError: an array {origin}"), line
        assert f"cannot be placed on host {host}, which has no usable GPU and, by RTCG_VIRTUAL_DEVICES=0" in line
    # The killed worker's tasks have run again.
    assert int(tasks.split()[0]) > 8
    for pid in pids.split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)
    assert not os.listdir(tmp_path)
    # Other programs may have files there.
    of_workers = [
        name for name in set(os.listdir(shared)) - before if "rtcg" in name or set(name.split("-")) & {*pids.split()}
    ]
    assert not of_workers


def test_entropy_of_points_on_workers(tmp_path):
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-W", "ignore", "-m", "apps.entropy.on_dask", *at_depth([], ["--workers", "3"])]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=LIMIT_S)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_wrong_options_of_the_application():
    command = [sys.executable, "-m", "apps.entropy.on_dask", "--points", "3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 2 and "--points is 3; expected at least 512" in done.stderr


def test_too_little_memory_is_an_error_where_the_array_is_used(monkeypatch):
    """Not where it arrives, for which distributed would wait for ever."""
    header, frames = serialize_module.serialize(of_host(np.arange(4.0)), serializers=["dask"])

    def refuse(host):
        raise driver.MemoryError("out of memory")

    monkeypatch.setattr(rnp, "to_gpu", refuse)
    arrived = serialize_module.deserialize(header, frames)
    monkeypatch.undo()
    with pytest.raises(RuntimeError, match="out of memory"):
        arrived + 1
    assert (pickle.loads(pickle.dumps(arrived)).get() == np.arange(4)).all()
