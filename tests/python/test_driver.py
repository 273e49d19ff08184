"""`pycuda.driver`: devices, contexts, memory, copies, streams, the ways to call a kernel."""

import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("context")

SOURCE = """
#include <cuda_fp16.h>
struct pair { int i; double d; };
__global__ void axpy(float *z, float a, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] += a * x[i];
}
__global__ void scalars(double *out, bool b, signed char c, short s, int i, long long l, __half h, float f, double d,
                        float2 cf, double2 cd)
{
    out[0] = b; out[1] = c; out[2] = s; out[3] = i; out[4] = l; out[5] = __half2float(h); out[6] = f; out[7] = d;
    out[8] = cf.x; out[9] = cf.y; out[10] = cd.x; out[11] = cd.y;
}
__global__ void structure(double *out, int before, pair p) { out[0] = before; out[1] = p.i; out[2] = p.d; }
__global__ void spin(long long *out, long long n)
{
    long long x = 0;
    for (long long i = 0; i < n; ++i) x += i ^ (x >> 1);
    *out = x;
}
__global__ void shared_sum(int *out)
{
    extern __shared__ int cells[];
    cells[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < blockDim.x; ++i) sum += cells[i];
    out[threadIdx.x] = sum;
}
__device__ int counter[4] = {1, 2, 3, 4};
__global__ void nothing() {}
"""


@pytest.fixture(scope="module")
def module(context):
    return SourceModule(SOURCE)


@pytest.fixture
def axpy(module):
    return module.get_function("axpy")


@pytest.fixture
def device(context):
    return cuda.Context.get_device()


# -- devices and contexts ---------------------------------------------------------------------


def test_device(device):
    assert cuda.Device.count() >= 1
    assert device.name()
    assert device.compute_capability() >= (5, 0)
    assert device.total_memory() > 1 << 20
    assert device == cuda.Device(0) and hash(device) == hash(cuda.Device(0))
    assert device != object()
    assert device.warp_size == device.get_attribute(cuda.device_attribute.WARP_SIZE) == 32
    assert device.compute_capability() == (device.compute_capability_major, device.compute_capability_minor)
    attributes = device.get_attributes()
    assert attributes[cuda.device_attribute.WARP_SIZE] == 32
    assert isinstance(device.get_attribute(cuda.device_attribute.COMPUTE_MODE), cuda.compute_mode)
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = device.no_such_thing
    assert cuda.Device(device.pci_bus_id()) == device


@pytest.mark.parametrize("ordinal", [999, -1])
def test_no_such_device(ordinal):
    with pytest.raises((cuda.LogicError, TypeError)):
        cuda.Device(ordinal)


def test_enumerations():
    member = cuda.device_attribute.MAX_THREADS_PER_BLOCK
    assert isinstance(member, int) and member == 1
    assert member.name == str(member) == "MAX_THREADS_PER_BLOCK"
    assert cuda.device_attribute.names["WARP_SIZE"] is cuda.device_attribute.WARP_SIZE
    assert cuda.device_attribute.values[10].name == "WARP_SIZE"
    assert getattr(cuda.array3d_flags, "2DARRAY") == 1
    for name in (
        "ctx_flags event_flags ipc_mem_flags array_format address_mode filter_mode pointer_attribute func_cache "
        "profiler_output_mode shared_config function_attribute memory_type compute_mode jit_option jit_target "
        "jit_fallback jit_input_type mem_attach_flags limit graphics_register_flags array_cubemap_face"
    ).split():
        assert issubclass(getattr(cuda, name), int), name


def test_versions():
    assert cuda.get_driver_version() >= 11000
    assert len(cuda.get_version()) == 3


def test_context_stack(device):
    before = cuda.Context.get_current()
    inner = device.make_context()
    try:
        assert cuda.Context.get_current() == inner != before
        assert cuda.Context.get_device() == device
    finally:
        cuda.Context.pop()
    assert cuda.Context.get_current() == before
    inner.push()
    cuda.Context.pop()
    assert cuda.Context.get_current() == before
    inner.detach()
    with pytest.raises(cuda.LogicError):
        inner.detach()
    with pytest.raises(cuda.LogicError):
        inner.push()


def test_primary_context(device):
    flags = device.primary_context_flags
    if not device.is_primary_context_active:
        device.primary_context_flags = cuda.ctx_flags.SCHED_YIELD
        assert device.primary_context_flags == cuda.ctx_flags.SCHED_YIELD
        device.primary_context_flags = flags
    primary = device.retain_primary_context()
    assert device.is_primary_context_active
    assert cuda.Context.get_current() != primary
    primary.push()
    try:
        assert int(cuda.mem_alloc(16)) > 0
    finally:
        cuda.Context.pop()
        primary.detach()


def test_pop_of_an_empty_stack(no_default_context):
    def pop():
        with pytest.raises(cuda.LogicError, match="cannot pop non-current context"):
            cuda.Context.pop()
        with pytest.raises(cuda.LogicError, match="no currently active context"):
            cuda.mem_alloc(4)

    in_thread(pop)


def in_thread(function):
    failures = []

    def body():
        try:
            function()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


def test_context_of_another_thread(context, axpy):
    def work():
        context.push()
        try:
            z = np.ones(4, np.float32)
            axpy(cuda.InOut(z), np.float32(2), cuda.In(z), np.int32(4), block=(4, 1, 1))
            assert z.tolist() == [3, 3, 3, 3]
        finally:
            cuda.Context.pop()

    in_thread(work)


def test_limits_and_configurations():
    size = cuda.Context.get_limit(cuda.limit.STACK_SIZE)
    cuda.Context.set_limit(cuda.limit.STACK_SIZE, size)
    assert isinstance(cuda.Context.get_cache_config(), cuda.func_cache)
    free, total = cuda.mem_get_info()
    assert 0 < free <= total


# -- memory and copies ------------------------------------------------------------------------


def test_round_trip():
    a = np.random.rand(37, 5)
    memory = cuda.to_device(a)
    assert memory.nbytes == a.nbytes
    assert int(memory) == memory.__index__() > 0
    assert np.array_equal(cuda.from_device(memory, a.shape, a.dtype), a)
    assert np.array_equal(cuda.from_device_like(memory, a), a)
    fortran = np.asfortranarray(a)
    back = cuda.from_device(cuda.to_device(fortran), a.shape, a.dtype, order="F")
    assert back.flags.f_contiguous and np.array_equal(back, a)


@pytest.mark.parametrize("source", [b"abcdefgh", bytearray(b"abcdefgh"), memoryview(b"abcdefgh")])
def test_any_buffer_is_a_source(source):
    memory = cuda.mem_alloc(8)
    cuda.memcpy_htod(memory, source)
    back = bytearray(8)
    cuda.memcpy_dtoh(back, memory)
    assert bytes(back) == b"abcdefgh"


def test_copies_that_cannot_be():
    memory = cuda.mem_alloc(16)
    with pytest.raises((TypeError, ValueError)):
        cuda.memcpy_dtoh(b"12345678", memory)
    with pytest.raises((TypeError, ValueError)):
        cuda.memcpy_htod(memory, np.zeros((4, 4), np.float32)[:, ::2])
    with pytest.raises(TypeError):
        cuda.memcpy_htod("a string", np.zeros(4))
    frozen = np.zeros(4, np.float32)
    frozen.flags.writeable = False
    with pytest.raises((TypeError, ValueError)):
        cuda.memcpy_dtoh(frozen, memory)


def test_copies_are_checked_against_the_allocation():
    memory, other = cuda.mem_alloc(16), cuda.mem_alloc(32)
    big = np.zeros(32, np.uint8)
    for call in (
        lambda: cuda.memcpy_htod(memory, big),
        lambda: cuda.memcpy_dtoh(big, memory),
        lambda: cuda.memcpy_htod_async(memory, big),
        lambda: cuda.memcpy_dtod(memory, other, 32),
        lambda: cuda.memcpy_dtod(other, memory, 17),
        lambda: cuda.memset_d32(memory, 0, 5),
        lambda: cuda.memset_d2d8(memory, 8, 0, 8, 3),
    ):
        with pytest.raises(cuda.LogicError, match="16 bytes"):
            call()


def test_free():
    memory = cuda.mem_alloc(16)
    memory.free()
    with pytest.raises(cuda.LogicError):
        memory.free()
    with pytest.raises(cuda.LogicError):
        cuda.memcpy_htod(memory, b"1234")


def test_zero_bytes_are_an_error():
    with pytest.raises(cuda.LogicError):
        cuda.mem_alloc(0)


def test_more_memory_than_there_is():
    with pytest.raises(cuda.MemoryError) as info:
        cuda.mem_alloc(1 << 50)
    assert str(info.value).startswith("cuMemAlloc failed: out of memory")
    assert info.type.__module__ == "rtcg.driver" and not isinstance(info.value, MemoryError)


def test_memset():
    memory = cuda.mem_alloc(24)
    cuda.memset_d8(memory, 0xAB, 24)
    cuda.memset_d16(int(memory) + 2, 0x1234, 1)
    cuda.memset_d32(int(memory) + 4, 0xDEADBEEF, 2)
    back = cuda.from_device(memory, 24, np.uint8)
    assert back[:4].tolist() == [0xAB, 0xAB, 0x34, 0x12]
    assert back[4:12].view(np.uint32).tolist() == [0xDEADBEEF] * 2
    cuda.memset_d2d8(memory, 8, 7, 3, 3)
    back = cuda.from_device(memory, (3, 8), np.uint8)
    assert (back[:, :3] == 7).all() and (back[2, 3:] == 0xAB).all()


def test_pitched_memory():
    memory, pitch = cuda.mem_alloc_pitch(100, 4, 4)
    assert pitch >= 100
    assert cuda.mem_get_address_range(int(memory) + 5)[0] == int(memory)


def test_rectangles():
    host = np.arange(48, dtype=np.uint8).reshape(6, 8)
    memory = cuda.to_device(host)
    target = np.zeros((3, 4), np.uint8)
    copy = cuda.Memcpy2D()
    copy.set_src_device(memory)
    copy.src_pitch, copy.src_x_in_bytes, copy.src_y = 8, 2, 1
    copy.set_dst_host(target)
    copy.dst_pitch, copy.width_in_bytes, copy.height = 4, 4, 3
    assert (copy.src_pitch, copy.height) == (8, 3)
    copy(aligned=True)
    assert np.array_equal(target, host[1:4, 2:6])
    strided = np.zeros((3, 8), np.uint8)[:, 4:]
    copy.set_dst_host(strided)
    copy.dst_pitch = 8
    stream = cuda.Stream()
    copy(stream)
    stream.synchronize()
    assert np.array_equal(strided, host[1:4, 2:6])


def test_boxes():
    host = np.arange(60, dtype=np.uint8).reshape(3, 4, 5)
    memory = cuda.to_device(host)
    target = np.zeros((2, 2, 2), np.uint8)
    copy = cuda.Memcpy3D()
    copy.set_src_device(memory)
    copy.src_pitch, copy.src_height = 5, 4
    copy.src_x_in_bytes, copy.src_y, copy.src_z = 1, 1, 1
    copy.set_dst_host(target)
    copy.dst_pitch, copy.dst_height = 2, 2
    copy.width_in_bytes, copy.height, copy.depth = 2, 2, 2
    copy()
    assert np.array_equal(target, host[1:3, 1:3, 1:3])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("make", ["pagelocked", "aligned", "managed"])
def test_host_arrays(make, order):
    empty, zeros = getattr(cuda, f"{make}_empty"), getattr(cuda, f"{make}_zeros")
    a = zeros((3, 4), np.float32, order=order)
    assert a.shape == (3, 4) and a.dtype == np.float32 and not a.any()
    assert a.flags.f_contiguous if order == "F" else a.flags.c_contiguous
    assert a.flags.writeable
    assert empty(5, np.int8).shape == (5,)
    assert empty((0, 3), np.int8).size == 0
    like = getattr(cuda, f"{make}_zeros_like")(a)
    assert like.shape == a.shape and like.strides == a.strides
    with pytest.raises(ValueError):
        getattr(cuda, f"{make}_empty_like")(np.zeros((4, 4))[::2, ::2])
    with pytest.raises(cuda.LogicError):
        empty(3, np.int8, order="X")
    a[...] = 5
    memory = cuda.to_device(a)
    assert (cuda.from_device_like(memory, a) == 5).all()


def test_pagelocked_base():
    a = cuda.pagelocked_empty(10, np.int32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
    assert isinstance(a.base, cuda.PagelockedHostAllocation)
    assert a.base.get_flags() & cuda.host_alloc_flags.DEVICEMAP
    b = a[2:]
    del a
    gc.collect()
    b[...] = 3
    assert b.tolist() == [3] * 8


def test_aligned_address():
    a = cuda.aligned_empty(100, np.uint8, alignment=1 << 14)
    assert a.ctypes.data % (1 << 14) == 0
    with pytest.raises(cuda.LogicError):
        cuda.aligned_empty(100, np.uint8, alignment=3)


def test_managed_memory_in_a_kernel(axpy):
    z = cuda.managed_zeros(8, np.float32)
    x = cuda.managed_empty(8, np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL)
    x[...] = np.arange(8)
    axpy(z, np.float32(2), x, np.int32(8), block=(8, 1, 1))
    cuda.Context.synchronize()
    assert z.tolist() == (2 * np.arange(8)).tolist()


def test_registered_memory():
    a = np.arange(4096, dtype=np.float64)
    registered = cuda.register_host_memory(a)
    assert isinstance(registered.base, cuda.RegisteredHostMemory)
    assert np.shares_memory(registered, a)
    registered.base.unregister()


def test_pointer_holder(axpy):
    class Holder(cuda.PointerHolderBase):
        def __init__(self, memory):
            super().__init__()
            self.memory = memory

        def get_pointer(self):
            return int(self.memory)

    x = np.arange(4, dtype=np.float32)
    holder = Holder(cuda.to_device(x))
    assert int(holder) == holder.__index__() == int(holder.memory)
    assert np.array_equal(cuda.from_device_like(holder, x), x)
    axpy.prepare("PfPi").prepared_call((1, 1), (4, 1, 1), holder, 1.0, holder, 4)
    assert np.array_equal(cuda.from_device_like(holder, x), 2 * x)
    axpy(holder, np.float32(1), holder, np.int32(4), block=(4, 1, 1))
    assert np.array_equal(cuda.from_device_like(holder, x), 4 * x)


# -- streams and events -----------------------------------------------------------------------


def test_streams_and_events(module):
    spin = module.get_function("spin")
    stream, start, end = cuda.Stream(), cuda.Event(), cuda.Event()
    out = cuda.mem_alloc(8)
    assert start.record(stream) is start
    spin(out, np.int64(2_000_000), block=(1, 1, 1), stream=stream)
    end.record(stream)
    assert end.synchronize() is end
    assert stream.is_done() and end.query()
    assert end.time_since(start) == pytest.approx(start.time_till(end))
    assert end.time_since(start) > 0
    assert stream.handle and start.handle


def test_streams_wait_for_events(module):
    spin, axpy = module.get_function("spin"), module.get_function("axpy")
    first, second, event = cuda.Stream(), cuda.Stream(), cuda.Event()
    out = cuda.mem_alloc(8)
    spin(out, np.int64(3_000_000), block=(1, 1, 1), stream=first)
    event.record(first)
    second.wait_for_event(event)
    z = cuda.to_device(np.zeros(1, np.float32))
    axpy(z, np.float32(1), z, np.int32(1), block=(1, 1, 1), stream=second)
    second.synchronize()
    assert event.query() and first.is_done()


def test_async_copies_keep_their_buffers():
    stream = cuda.Stream()
    memories, expected = [], []
    for i in range(20):
        memory = cuda.mem_alloc(1 << 16)
        cuda.memcpy_htod_async(memory, np.full(1 << 14, i, np.int32), stream)
        memories.append(memory)
        expected.append(i)
        gc.collect()
    stream.synchronize()
    assert [int(cuda.from_device(m, 1 << 14, np.int32).min()) for m in memories] == expected
    back = cuda.pagelocked_empty(1 << 14, np.int32)
    cuda.memcpy_dtoh_async(back, memories[-1], stream)
    stream.synchronize()
    assert (back == 19).all()


def test_other_threads_run_while_one_waits(context, module):
    spin = module.get_function("spin")
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(1)
            stop.wait(0.001)

    ticker = threading.Thread(target=tick)
    out = cuda.mem_alloc(8)
    spin(out, np.int64(1), block=(1, 1, 1))
    cuda.Context.synchronize()
    ticker.start()
    try:
        before = len(ticks)
        spin(out, np.int64(100_000_000), block=(1, 1, 1))
        cuda.Context.synchronize()
        during = len(ticks) - before
    finally:
        stop.set()
        ticker.join()
    assert during >= 3


# -- calls ------------------------------------------------------------------------------------


def test_direct_call(axpy):
    x, z = np.random.rand(2, 1000).astype(np.float32)
    expected = z + np.float32(3) * x
    dev_x, dev_z = cuda.to_device(x), cuda.to_device(z)
    assert axpy(dev_z, np.float32(3), dev_x, np.int32(1000), block=(256, 1, 1), grid=(4, 1)) is None
    assert np.allclose(cuda.from_device_like(dev_z, z), expected)
    axpy(np.uintp(int(dev_z)), np.float32(1), np.intp(int(dev_z)), np.int32(1000), block=(256,), grid=(4,))
    assert np.allclose(cuda.from_device_like(dev_z, z), 2 * expected)


@pytest.mark.parametrize("stream", [False, True])
def test_in_out(axpy, stream):
    x, z = np.random.rand(2, 100).astype(np.float32)
    expected = z + np.float32(2) * x
    stream = cuda.Stream() if stream else None
    axpy(cuda.InOut(z), np.float32(2), cuda.In(x), np.int32(100), block=(128, 1, 1), stream=stream)
    assert np.allclose(z, expected)


def test_out_needs_no_input(module):
    out = np.zeros(64, np.int32)
    module.get_function("shared_sum")(cuda.Out(out), block=(64, 1, 1), shared=256)
    assert (out == 64 * 63 // 2).all()


def test_own_argument_handler(axpy):
    class Doubled(cuda.ArgumentHandler):
        def pre_call(self, stream):
            cuda.memcpy_htod(self.get_device_alloc(), self.array * 2)

    x, z = np.ones(4, np.float32), np.zeros(4, np.float32)
    axpy(cuda.InOut(z), np.float32(1), Doubled(x), np.int32(4), block=(4, 1, 1))
    assert z.tolist() == [2, 2, 2, 2]


def test_time_kernel(module):
    spin = module.get_function("spin")
    out = cuda.mem_alloc(8)
    seconds = spin(out, np.int64(1_000_000), block=(1, 1, 1), time_kernel=True)
    assert 0 < seconds < 60
    with pytest.raises(AssertionError):
        spin(out, np.int64(1), block=(1, 1, 1), time_kernel=True, stream=cuda.Stream())


SCALARS = [
    np.bool_(True), np.int8(-3), np.int16(-300), np.int32(-70000), np.int64(-(1 << 40)), np.float16(1.5),
    np.float32(2.25), np.float64(1 / 3), np.complex64(1 + 2j), np.complex128(3 - 4j),
]  # fmt: skip
EXPECTED = [1, -3, -300, -70000, -(1 << 40), 1.5, 2.25, 1 / 3, 1, 2, 3, -4]


def test_scalars_of_every_kind(module):
    out = np.zeros(12)
    module.get_function("scalars")(cuda.Out(out), *SCALARS, block=(1, 1, 1))
    assert out.tolist() == EXPECTED


def test_prepared_scalars_of_every_kind(module):
    out = cuda.mem_alloc(96)
    function = module.get_function("scalars")
    for types in ("P?bhilefdFD", [np.ndarray, *(type(s) for s in SCALARS)], ["P", *(s.dtype for s in SCALARS)]):
        cuda.memset_d8(out, 0, 96)
        function.prepare(types).prepared_call((1, 1), (1, 1, 1), out, *(s.item() for s in SCALARS))
        assert cuda.from_device(out, 12, np.float64).tolist() == EXPECTED


def test_structures_by_value(module):
    dtype = np.dtype([("i", np.int32), ("d", np.float64)], align=True)
    value = np.array((7, 2.5), dtype)
    for argument in (value, value[()]):
        out = np.zeros(3)
        module.get_function("structure")(cuda.Out(out), np.int32(5), argument, block=(1, 1, 1))
        assert out.tolist() == [5, 7, 2.5]
    out = cuda.mem_alloc(24)
    module.get_function("structure").prepare(["P", np.int32, dtype]).prepared_call((1, 1), (1, 1, 1), out, 5, value)
    assert cuda.from_device(out, 3, np.float64).tolist() == [5, 7, 2.5]


def test_prepared_calls(axpy):
    x = np.random.rand(1000).astype(np.float32)
    dev_x, dev_z = cuda.to_device(x), cuda.to_device(np.zeros_like(x))
    assert axpy.prepare("PfPi") is axpy
    axpy.prepared_call((4, 1), (256, 1, 1), dev_z, 2.0, dev_x, 1000)
    stream = cuda.Stream()
    stream.synchronize()
    cuda.Context.synchronize()
    axpy.prepared_async_call((4, 1), (256, 1, 1), stream, dev_z, 1, int(dev_x), 1000)
    stream.synchronize()
    axpy.prepared_async_call((4, 1), (256, 1, 1), None, dev_z, 1.0, dev_x, np.int32(1000), shared_size=16)
    time = axpy.prepared_timed_call((4, 1), (256, 1, 1), dev_z, 1.0, dev_x, 1000)
    assert 0 <= time() < 60
    assert np.allclose(cuda.from_device_like(dev_z, x), 5 * x, rtol=1e-5)


def test_prepared_calls_check_their_arguments(axpy, module):
    memory = cuda.mem_alloc(16)
    axpy.prepare("PfPi")
    for bad in [(memory,), (memory, 1.0, memory, 1, 2), (memory, "x", memory, 1), (memory, 1.0, memory, 1 << 40)]:
        with pytest.raises(Exception) as info:
            axpy.prepared_call((1, 1), (1, 1, 1), *bad)
        assert info.type is not SystemError
    with pytest.raises(cuda.LogicError, match="#1"):
        axpy.prepare("PdPi")
    with pytest.raises(cuda.LogicError, match="3"):
        axpy.prepare("PfP")
    with pytest.raises(ValueError):
        axpy.prepare("PfP!")
    with pytest.raises((cuda.LogicError, AttributeError)):
        module.get_function("nothing").prepared_call((1, 1), (1, 1, 1))


def test_wrong_arguments_are_named(axpy):
    memory = cuda.mem_alloc(16)
    good = [memory, np.float32(1), memory, np.int32(4)]

    def call(*args):
        axpy(*args, block=(4, 1, 1))

    with pytest.raises(cuda.LogicError, match=r"#1 .*8 bytes.*4.*2\.5.*float64"):
        call(memory, np.float64(2.5), memory, np.int32(4))
    with pytest.raises(cuda.LogicError, match="#3 .*missing"):
        call(*good[:3])
    with pytest.raises(cuda.LogicError, match="#4"):
        call(*good, np.int32(1))
    for index in range(4):
        # The kernel takes a pointer, a float, a pointer, and an int.
        numbers = {0: (3, 2.5), 1: (1j,), 2: (3, 2.5), 3: (2.5, 1j)}[index]
        for bad in (None, "text", [1], object(), *numbers):
            with pytest.raises(TypeError, match=f"#{index}"):
                call(*good[:index], bad, *good[index + 1 :])


def test_wrong_launches(axpy, device):
    memory = cuda.mem_alloc(16)
    args = (memory, np.float32(1), memory, np.int32(0))
    with pytest.raises(ValueError, match="must specify block size"):
        axpy(*args)
    with pytest.raises(ValueError, match="extra keyword arguments: colour"):
        axpy(*args, block=(1, 1, 1), colour=3)
    with pytest.raises(cuda.LogicError):
        axpy(*args, block=(1, 1, 1), grid=(1, 1, 1, 1))
    with pytest.raises(cuda.LogicError):
        axpy(*args, block=(0, 1, 1))
    with pytest.raises(cuda.Error):
        axpy(*args, block=(device.max_threads_per_block + 1, 1, 1))
    with pytest.raises(cuda.Error):
        axpy(*args, block=(1, 1, 1), shared=1 << 30)
    with pytest.raises(TypeError):
        axpy(*args, block=("a", 1, 1))
    # The context is still good.
    axpy(*args, block=(np.int32(4), 1, 1), grid=[1, 1])
    cuda.Context.synchronize()


def test_arrays_of_other_libraries(axpy):
    x = np.arange(4, dtype=np.float32)
    memory = cuda.to_device(x)

    class Foreign:
        __cuda_array_interface__ = {"shape": (4,), "typestr": "<f4", "data": (int(memory), False), "version": 3}

    class Holder:
        gpudata = memory

    axpy(Foreign(), np.float32(1), Holder(), np.int32(4), block=(4, 1, 1))
    assert np.array_equal(cuda.from_device_like(memory, x), 2 * x)


def test_function_attributes(axpy):
    assert axpy.max_threads_per_block >= 1
    assert axpy.num_regs >= 0
    assert axpy.shared_size_bytes == axpy.get_attribute(cuda.function_attribute.SHARED_SIZE_BYTES) == 0
    with pytest.raises(AttributeError):
        _ = axpy.no_such_attribute
    axpy.set_cache_config(cuda.func_cache.PREFER_L1)


def test_module_contents(module):
    pointer, size = module.get_global("counter")
    assert size == 16
    assert cuda.from_device(pointer, 4, np.int32).tolist() == [1, 2, 3, 4]
    for get in (module.get_function, module.get_global, module.get_texref, module.get_surfref):
        with pytest.raises(cuda.LogicError, match="missing_name"):
            get("missing_name")


def test_modules_that_do_not_load(tmp_path):
    with pytest.raises(cuda.Error):
        cuda.module_from_buffer(b"this is no module")
    with pytest.raises(cuda.Error):
        cuda.module_from_file(str(tmp_path / "missing.cubin"))


def test_message_handler():
    from pycuda.compiler import compile

    calls = []
    ptx = compile("__global__ void k() {}", target="ptx")
    cuda.module_from_buffer(ptx, message_handler=lambda *args: calls.append(args))
    with pytest.raises(cuda.Error):
        cuda.module_from_buffer(b".version 7.0\nnonsense", message_handler=lambda *args: calls.append(args))
    assert [call[0] for call in calls] == [True, False]
    assert all(isinstance(text, str) for call in calls for text in call[1:])


# -- ends -------------------------------------------------------------------------------------


def run_script(code, **environment):
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, timeout=120
    )
    assert result.returncode == 0, result.stderr
    assert "PyCUDA" not in result.stderr and "Exception" not in result.stderr, result.stderr
    return result.stdout


def test_exit_with_everything_alive():
    run_script(
        """
import numpy as np, pycuda.autoinit, pycuda.driver as cuda
from pycuda.compiler import SourceModule
keep = [cuda.mem_alloc(10), cuda.Stream(), cuda.Event(), cuda.pagelocked_empty(10, np.int8),
        SourceModule("__global__ void k() {}"), cuda.managed_empty(4, np.int8)]
keep.append(keep[4].get_function("k"))
"""
    )


def test_exit_with_a_context_on_the_stack():
    run_script(
        """
import pycuda.driver as cuda
cuda.init()
ctx = cuda.Device(0).make_context()
memory = cuda.mem_alloc(100)
"""
    )


def test_objects_outlive_their_context():
    run_script(
        """
import gc, pycuda.driver as cuda
cuda.init()
ctx = cuda.Device(0).make_context()
keep = [cuda.mem_alloc(100), cuda.Stream(), cuda.Event()]
ctx.pop(); ctx.detach()
del ctx
gc.collect()
del keep
gc.collect()
print("fine")
"""
    )


def test_objects_die_in_another_thread():
    run_script(
        """
import gc, threading, pycuda.autoinit, pycuda.driver as cuda
box = [cuda.mem_alloc(100), cuda.Stream(), cuda.Event()]
thread = threading.Thread(target=lambda: (box.clear(), gc.collect()))
thread.start(); thread.join()
free, total = cuda.mem_get_info()
"""
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork():
    out = run_script(
        """
import os, gc, warnings, pycuda.autoinit, pycuda.driver as cuda
warnings.simplefilter("ignore")
memory = cuda.mem_alloc(100)
pid = os.fork()
if pid == 0:
    del memory
    gc.collect()
    try:
        cuda.mem_alloc(10)
        os._exit(3)
    except cuda.Error:
        os._exit(0)
_, status = os.waitpid(pid, 0)
cuda.memcpy_htod(memory, bytes(100))
print(os.waitstatus_to_exitcode(status))
"""
    )
    assert out.strip() == "0"


def test_autoprimaryctx():
    run_script(
        """
import pycuda.autoprimaryctx as auto, pycuda.driver as cuda
assert cuda.Context.get_current() == auto.context
cuda.mem_alloc(10)
"""
    )


def test_the_virtual_gpu_is_announced_once():
    code = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import pycuda.driver as cuda
    cuda.init(); cuda.init()
print(len(caught), cuda.Device(0).name())
"""
    environment = {"RTCG_LIBCUDA": "none", "RTCG_VIRTUAL_DEVICES": ""}
    assert run_script(code, **environment).startswith("1 ")
    environment["RTCG_VIRTUAL_DEVICES"] = "2"
    assert run_script(code + "assert cuda.Device.count() == 2", **environment).startswith("0 ")
