"""Exports of memory whose writers are still running: the stream that consumers get, and exports that wait."""

import functools
import threading
import warnings

import numpy as np
import pytest

import pycuda.driver as cuda
import rtcg
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule
from tests.python.subprocesses import run_python

NON_BLOCKING = 1


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


@functools.cache
def add_kernel():
    """Kept, because unloading a module waits for the device."""
    return SourceModule("__global__ void add(double *x) { *x += 1; }").get_function("add")


class Writer:
    """A stream of its own whose next kernel waits until it is let go."""

    def __init__(self, array):
        self.array, self.stream, self.opener = array, cuda.Stream(NON_BLOCKING), cuda.Stream(NON_BLOCKING)
        # Of the pool: freeing memory of one's own waits for the device. Not zeros, which the default stream would write
        # later, when what it waits for is done.
        self.gate = rnp.empty(1, np.int32)
        self.add = add_kernel()
        self.timer = None

    def let_go(self):
        self.opener.write_value(self.gate.gpudata, 1)

    def let_go_soon(self):
        self.timer = threading.Timer(0.05, self.let_go)
        self.timer.start()

    def __enter__(self):
        self.opener.write_value(self.gate.gpudata, 0)
        self.opener.synchronize()
        self.stream.wait_value(self.gate.gpudata, 1)
        self.add(self.array, block=(1, 1, 1), stream=self.stream)
        return self

    def __exit__(self, *error):
        self.let_go()
        if self.timer is not None:
            # The gate's memory is another one's after this.
            self.timer.join()
        self.stream.synchronize()
        self.opener.synchronize()


@pytest.fixture
def array():
    return rnp.zeros(4, np.float64)


def exported_stream(array):
    return array.__cuda_array_interface__["stream"]


def test_only_a_pending_writer_is_exported(array):
    cuda.Context.synchronize()
    assert exported_stream(array) is None
    with Writer(array) as writer:
        assert exported_stream(array) == writer.stream.handle
        assert exported_stream(array[1:]) == writer.stream.handle, "views have the memory's writers"
        assert exported_stream(rnp.zeros(0)) is None
    assert exported_stream(array) is None


def test_one_stream_comes_after_all_writers(array):
    """The stream that is named waits for the others."""
    first, second = Writer(array), Writer(array[1:])
    with first, second:
        named = exported_stream(array)
        assert named in (first.stream.handle, second.stream.handle)
        named, other = (first, second) if named == first.stream.handle else (second, first)
        named.let_go()
        done = cuda.Event()
        done.record(named.stream)
        assert not done.query()
        other.let_go()
        done.synchronize()
    np.testing.assert_array_equal(array.get(), [1, 1, 0, 0])


def test_exports_wait_in_a_block_of_the_thread(array):
    with Writer(array) as writer:
        writer.let_go_soon()
        with rtcg.exports_wait():
            assert exported_stream(array) is None
            assert writer.stream.is_done() and array.get()[0] == 1
    with Writer(array) as writer:
        # After the block, and in other threads, nothing waits.
        assert exported_stream(array) == writer.stream.handle
        array.__dlpack__(stream=-1)
        assert not writer.stream.is_done()
        seen = []
        with rtcg.exports_wait():
            thread = threading.Thread(target=lambda: seen.append(exported_stream(array)))
            thread.start()
            thread.join()
        assert seen == [writer.stream.handle]
        writer.let_go_soon()
        with rtcg.exports_wait(), rtcg.exports_wait():
            array.__dlpack__(stream=-1)
        assert writer.stream.is_done()


def test_the_environment_lets_all_exports_wait():
    program = """
import numpy as np
import rtcg.driver as drv, rtcg.numpy as rnp
from rtcg.compiler import SourceModule
x, stream = rnp.zeros(1), drv.Stream(1)
adds = "for (int k = 0; k < 20000000; k++) *(volatile double *)x += 1;"
slow = SourceModule("__global__ void slow(double *x) { " + adds + " }")
slow.get_function("slow")(x, block=(1, 1, 1), stream=stream)
named = x.__cuda_array_interface__["stream"]
print(named, stream.is_done(), x.get()[0])
"""
    assert run_python(program, RTCG_EXPORT_WAITS="1").stdout == "None True 20000000.0\n"


def test_checked_mode_reports_what_a_consumer_cannot_wait_for():
    program = """
import numpy as np
import rtcg.driver as drv, rtcg.numpy as rnp
from rtcg import checking
from rtcg.compiler import SourceModule
x, stream = rnp.zeros(1), drv.Stream(1)
adds = "for (int k = 0; k < 3000000; k++) *(volatile double *)x += 1;"
slow = SourceModule("__global__ void slow(double *x) { " + adds + " }")
slow.get_function("slow")(x, block=(1, 1, 1), stream=stream)
x.__dlpack__(stream=1)
x.__dlpack__(stream=-1)
stream.synchronize()
x.__dlpack__(stream=-1)
(found,) = checking.findings()
print(found["kind"], found["kernel"], found["source"][1], found["size"])
"""
    ran = run_python(program, check=False, RTCG_CHECK="race", RTCG_LIBCUDA="none", RTCG_VIRTUAL_DEVICES=1)
    assert ran.stdout == "pending-export slow 11 8\n"
    assert "with rtcg.exports_wait()" in ran.stderr


@pytest.mark.parametrize("consumer", [None, 1, 2, "own"])
def test_dlpack_orders_the_consumers_stream(array, consumer):
    """Without a wait of the host: a consumer's work comes after what is pending."""
    stream = {None: None, 1: None, 2: cuda.Stream.per_thread_default() if consumer == 2 else None}.get(consumer)
    if consumer == "own":
        stream = cuda.Stream(NON_BLOCKING)
    with Writer(array) as writer:
        array.__dlpack__(stream=stream.handle if consumer == "own" else consumer)
        assert not writer.stream.is_done()
        done = cuda.Event()
        done.record(stream)
        assert not done.query()
        writer.let_go()
        done.synchronize()
    assert array.get()[0] == 1


def test_what_dlpack_cannot_express_falls_through_to_the_next_protocol(array):
    """mpi4py takes `NotImplementedError` for a reason to try the CUDA array interface, NumPy expects `BufferError`."""
    records = rnp.zeros(3, [("a", "<f4"), ("b", "<i4")])
    gaps = rnp.zeros(3, [("a", "<f8"), ("b", "<i4")])["a"]
    for odd, reason in ((records, "no records"), (gaps, r"strides \(12,\) are no multiples of the item size 8")):
        for kind in (BufferError, NotImplementedError):
            with pytest.raises(kind, match=reason):
                odd.__dlpack__()
        assert odd.__cuda_array_interface__["shape"] == (3,)


def test_memory_of_the_virtual_gpu_is_host_memory(array, on_virtual_device):
    if not on_virtual_device:
        with pytest.raises(BufferError, match="without a copy"):
            array.__dlpack__(dl_device=(1, 0), copy=False)
        return
    with Writer(array) as writer:
        writer.let_go_soon()
        host = np.from_dlpack(array, device="cpu", copy=False)
        assert host[0] == 1
    host[1] = 5
    np.testing.assert_array_equal(array.get(), [1, 5, 0, 0])


def test_other_owners_of_memory_are_asked_for_the_default_stream():
    """Of memory that no pool holds nothing is known but what this thread's streams do."""
    plain = cuda.mem_alloc(64)
    array = rnp.GPUArray(8, np.float64, gpudata=plain)
    array.fill(0)
    cuda.Context.synchronize()
    assert exported_stream(array) is None
    with Writer(array) as writer, warnings.catch_warnings():
        with writer.stream:
            assert exported_stream(array) == writer.stream.handle
        assert exported_stream(array) is None


def test_an_export_during_a_capture_asks_no_stream(array):
    stream = cuda.Stream(NON_BLOCKING)
    stream.begin_capture()
    with stream:
        array += 1
        assert isinstance(exported_stream(array), int)
    graph = stream.end_capture()
    graph.instantiate().launch(stream)
    stream.synchronize()
    assert array.get()[0] == 1
