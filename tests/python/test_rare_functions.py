"""Names that few programs use: each test fails if the name did nothing.

Where an effect cannot be seen on every device, the driver's call is looked for in a trace.
"""

import json

import numpy as np
import pytest

import pycuda.tools as tools
import rtcg.driver as cuda
from pycuda import compiler
from pycuda.compiler import SourceModule
from rtcg import tracing

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def calls_of(tmp_path):
    """The driver's calls that a function makes, whether they succeed or not."""

    def run(function):
        path = tmp_path / "calls.json"
        with tracing.trace(path):
            try:
                function()
            except cuda.Error as error:
                assert "not supported" in str(error)
        events = json.loads(path.read_text())
        return [event["name"].removesuffix("_v2") for event in events if event["ph"] == "X"]

    return run


@pytest.mark.parametrize(
    "call, expected",
    [
        (lambda: cuda.start_profiler(), "cuProfilerStart"),
        (lambda: cuda.stop_profiler(), "cuProfilerStop"),
        (lambda: cuda.Context.get_shared_config(), "cuCtxGetSharedMemConfig"),
        (lambda: cuda.Context.set_shared_config(cuda.shared_config.DEFAULT_BANK_SIZE), "cuCtxSetSharedMemConfig"),
        (lambda: cuda.Context.get_cache_config(), "cuCtxGetCacheConfig"),
        (lambda: cuda.Context.set_cache_config(cuda.func_cache.PREFER_L1), "cuCtxSetCacheConfig"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_settings_reach_the_driver(calls_of, call, expected):
    assert expected in calls_of(call)


def test_settings_of_kernels_reach_the_driver(calls_of):
    kernel = SourceModule("__global__ void nothing() {}").get_function("nothing")
    assert "cuFuncSetCacheConfig" in calls_of(lambda: kernel.set_cache_config(cuda.func_cache.PREFER_SHARED))
    bank = cuda.shared_config.FOUR_BYTE_BANK_SIZE
    assert "cuFuncSetSharedMemConfig" in calls_of(lambda: kernel.set_shared_config(bank))


def test_hints_reach_the_driver(calls_of):
    """What makes programs quicker and changes nothing else."""
    managed, stream = cuda.managed_zeros(1024, np.uint8), cuda.Stream()
    assert "cuStreamAttachMemAsync" in calls_of(lambda: managed.base.attach(cuda.mem_attach_flags.GLOBAL, stream))
    calls = calls_of(lambda: managed.base.prefetch(cuda.Device(0), stream))
    assert any(call.startswith("cuMemPrefetchAsync") for call in calls)
    graph = cuda.Graph()
    graph.add_empty_node()
    exec_graph = graph.instantiate()
    assert "cuGraphUpload" in calls_of(lambda: exec_graph.upload(stream))
    with cuda.library_from_buffer(compiler.compile("__global__ void f() {}")) as library:
        kernel = library.get_kernel("f")
        assert "cuKernelSetCacheConfig" in calls_of(lambda: kernel.set_cache_config(cuda.func_cache.PREFER_L1))
    stream.synchronize()
    with cuda.MemoryPool() as pool:
        assert "cuMemPoolTrimTo" in calls_of(pool.trim)


def test_devices_and_contexts_are_keys(context):
    device, current = cuda.Device(0), cuda.Context.get_current()
    assert device == cuda.Device(0) and not device != cuda.Device(0)
    assert {device: 1}[cuda.Device(0)] == 1 and hash(device) == hash(cuda.Device(0))
    assert current == cuda.Context.get_current() and {current: 2}[cuda.Context.get_current()] == 2
    other = device.make_context()
    try:
        assert other != current and not other == current
        assert len({other, current, cuda.Context.get_current()}) == 2
    finally:
        other.pop()
        other.detach()


def test_the_device_that_is_wished_for(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CUDA_DEVICE", raising=False)
    assert tools.get_default_device() == tools.get_default_device(0) == cuda.Device(0)
    absent = cuda.Device.count()
    with pytest.raises(cuda.LogicError, match="cuDeviceGet"):
        tools.get_default_device(absent)
    monkeypatch.setenv("CUDA_DEVICE", "0")
    assert tools.get_default_device(absent) == cuda.Device(0)
    monkeypatch.delenv("CUDA_DEVICE")
    (tmp_path / ".cuda_device").write_text("0\n")
    assert tools.get_default_device(absent) == cuda.Device(0)


def test_numbers_of_pooled_memory():
    pool, host = tools.DeviceMemoryPool(), tools.PageLockedMemoryPool()
    memory = pool.allocate(100)
    array = np.arange(25, dtype=np.float32)
    assert len(memory) == memory.nbytes == 100
    cuda.memcpy_htod(int(memory), array)
    assert np.array_equal(cuda.from_device(memory, 25, np.float32), array)
    assert pool.active_bytes >= 100 and pool.active_blocks == 1
    assert len(host.allocate(25, np.float32).base) == 100
    held = pool.managed_bytes
    memory.free()
    assert (pool.active_bytes, pool.held_blocks, pool.managed_bytes) == (0, 1, held)
    pool.free_held()
    assert (pool.held_blocks, pool.managed_bytes) == (0, 0)
    kept = pool.allocate(100)
    pool.stop_holding()
    kept.free()
    assert (pool.held_blocks, pool.managed_bytes) == (0, 0)


@pytest.mark.parametrize("unified", [False, True])
def test_boxes_that_begin_anywhere(unified):
    """Every offset of a copy counts, on both ends."""
    source = np.arange(4 * 5 * 6, dtype=np.int32).reshape(4, 5, 6)
    target = cuda.to_device(np.zeros((3, 4, 8), np.int32))
    pinned = cuda.pagelocked_empty(source.shape, source.dtype)
    pinned[:] = source
    copy = cuda.Memcpy3D()
    if unified:
        copy.set_src_unified(pinned)
    else:
        copy.set_src_host(source)
    copy.set_dst_device(target)
    copy.src_pitch, copy.src_height = 6 * 4, 5
    copy.dst_pitch, copy.dst_height = 8 * 4, 4
    copy.src_x_in_bytes, copy.src_y, copy.src_z = 2 * 4, 1, 2
    copy.dst_x_in_bytes, copy.dst_y, copy.dst_z = 3 * 4, 2, 1
    copy.width_in_bytes, copy.height, copy.depth = 4 * 4, 2, 2
    copy()
    expected = np.zeros((3, 4, 8), np.int32)
    expected[1:3, 2:4, 3:7] = source[2:4, 1:3, 2:6]
    assert np.array_equal(cuda.from_device(target, (3, 4, 8), np.int32), expected)


def test_struct_letters_of_arguments():
    vector, scalar = tools.VectorArg(np.float32, "x"), tools.ScalarArg(np.int16, "n")
    assert (vector.struct_char, scalar.struct_char) == ("P", "h")
    assert (vector.declarator(), scalar.declarator()) == ("float *x", "short n")
    assert isinstance(vector, tools.Argument) and isinstance(scalar, tools.Argument)
