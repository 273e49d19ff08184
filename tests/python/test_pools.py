"""Memory pools, memory in stream order, virtual memory management, and what memory says about itself."""

import gc
import io
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import pycuda.tools as tools
import rtcg.driver as cuda
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def busy():
    """A non-blocking stream, and a function that keeps it busy until called again."""
    module = SourceModule(
        "__global__ void spin(volatile int *stop) { while (!*stop) ; }\n"
        "__global__ void add(int *a, int n) { for (int i = 0; i < 256; ++i) a[i] += n; }"
    )
    stop = cuda.pagelocked_zeros(1, np.int32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
    stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)

    class Busy:
        def __init__(self):
            self.stream, self.add = stream, module.get_function("add")

        def begin(self):
            stop[0] = 0
            module.get_function("spin")(np.uintp(stop.base.get_device_pointer()), block=(1, 1, 1), stream=stream)

        def end(self):
            stop[0] = 1
            stream.synchronize()

    busy = Busy()
    yield busy
    busy.end()


# -- pools ------------------------------------------------------------------------------------


def test_names():
    for name in ("DeviceMemoryPool", "PageLockedMemoryPool", "PageLockedAllocator", "PooledDeviceAllocation",
                 "PooledHostAllocation"):  # fmt: skip
        assert getattr(tools, name) is getattr(cuda, name)


def test_a_pool_keeps_what_is_freed():
    pool = tools.DeviceMemoryPool()
    first = pool.allocate(1000)
    address = int(first)
    assert len(first) == first.nbytes == 1000 and first.__index__() == address
    assert (pool.active_blocks, pool.held_blocks, pool.active_bytes, pool.managed_bytes) == (1, 0, 1000, 1023)
    del first
    assert (pool.active_blocks, pool.held_blocks, pool.active_bytes, pool.managed_bytes) == (0, 1, 0, 1023)
    again = pool.allocate(np.int64(1008))
    assert int(again) == address and int(pool.allocate(1024)) != address
    again.free()
    with pytest.raises(cuda.LogicError, match="pooled_device_allocation::free failed.*freed before"):
        again.free()
    with pytest.raises(cuda.LogicError, match="after free"):
        int(again)
    again.close()
    numbers = pool.statistics()
    assert numbers["allocations"] == 3 and numbers["reused"] == 1 and numbers["taken_from_driver"] == 2
    assert numbers["peak_active_bytes"] == 2032 and numbers["held_blocks"] == 2
    pool.free_held()
    assert pool.held_blocks == pool.managed_bytes == 0
    kept = pool.allocate(64)
    pool.stop_holding()
    del kept
    assert pool.held_blocks == pool.managed_bytes == 0


def test_bins_are_upstreams():
    pool = tools.DeviceMemoryPool()
    for size in [*range(1, 3000), 1 << 20, (1 << 20) + 1, (1 << 40) - 1]:
        log = size.bit_length() - 1
        mantissa = (size << 4 >> log) & 15
        assert pool.bin_number(size) == log << 4 | mantissa
        block = pool.alloc_size(pool.bin_number(size))
        assert size <= block <= size + size // 16 and pool.bin_number(block) == pool.bin_number(size)
        assert pool.bin_number(block + 1) > pool.bin_number(block)
    with pytest.raises(cuda.LogicError, match="there is no bin 5000"):
        pool.alloc_size(5000)


def test_pooled_memory_is_memory(busy):
    pool = tools.DeviceMemoryPool()
    a = np.arange(256, dtype=np.int32)
    with pool.allocate(a.nbytes) as memory:
        cuda.memcpy_htod(memory, a)
        busy.add(memory, np.int32(5), block=(1, 1, 1))
        busy.add.prepare("Pi").prepared_call((1, 1), (1, 1, 1), memory, 2)
        assert (cuda.from_device_like(memory, a) == a + 7).all()
        with pytest.raises(cuda.LogicError, match="src: 1028 bytes do not fit into an allocation of 1024 bytes"):
            cuda.memcpy_dtoh(np.zeros(257, np.int32), memory)
    assert pool.active_blocks == 0
    with pytest.raises(cuda.LogicError):
        cuda.memcpy_htod(memory, a)
    with pytest.raises((TypeError, OverflowError)):
        pool.allocate(-1)
    assert len(pool.allocate(0)) == 0


def test_arrays_from_a_pool():
    gpuarray = pytest.importorskip("pycuda.gpuarray")
    pool = tools.DeviceMemoryPool()
    a = gpuarray.to_gpu(np.arange(1000, dtype=np.float32), allocator=pool.allocate)
    assert pool.active_blocks == 1 and isinstance(a.gpudata, tools.PooledDeviceAllocation)
    assert (a.get() == np.arange(1000)).all()
    del a
    gc.collect()
    assert pool.active_blocks == 0


def test_a_block_is_not_taken_from_a_busy_stream(busy):
    pool, other = tools.DeviceMemoryPool(), cuda.Stream(cuda.stream_flags.NON_BLOCKING)
    busy.begin()
    memory = pool.allocate(4096, busy.stream)
    address = int(memory)
    del memory
    assert int(pool.allocate(4096, busy.stream)) == address
    assert int(pool.allocate(4096, other)) != address
    assert int(pool.allocate(4096)) != address
    busy.end()
    assert address in [int(memory) for memory in [pool.allocate(4096, other) for _ in range(3)]]


@pytest.mark.parametrize("how", ["launch", "prepared", "copy", "fill", "array"])
def test_streams_that_use_a_block_are_noticed(how, busy):
    """Programs allocate without a stream and use the memory in one."""
    pool, a = tools.DeviceMemoryPool(), cuda.pagelocked_zeros(256, np.int32)
    busy.begin()
    memory = pool.allocate(a.nbytes)
    address = int(memory)
    if how == "launch":
        busy.add(memory, np.int32(1), block=(1, 1, 1), stream=busy.stream)
    elif how == "prepared":
        busy.add.prepare("Pi").prepared_async_call((1, 1), (1, 1, 1), busy.stream, memory, 1)
    elif how == "copy":
        cuda.memcpy_htod_async(memory, a, busy.stream)
    elif how == "fill":
        cuda.memset_d32_async(memory, 0, 256, busy.stream)
    else:
        gpuarray = pytest.importorskip("pycuda.gpuarray")
        array = gpuarray.GPUArray(256, np.int32, gpudata=memory)
        busy.add(array, np.int32(1), block=(1, 1, 1), stream=busy.stream)
        del array
    del memory
    assert pool.held_blocks == 1
    assert int(pool.allocate(a.nbytes)) != address
    busy.end()
    assert address in [int(memory) for memory in [pool.allocate(a.nbytes) for _ in range(2)]]


def test_pools_outlive_contexts(context):
    pool = tools.DeviceMemoryPool()
    other = context.get_device().make_context()
    memory, held = pool.allocate(100), pool.allocate(200)
    host = tools.PageLockedMemoryPool()
    array = host.allocate(10, np.int32)
    del held
    other.detach()
    del memory, array
    assert pool.active_blocks == pool.held_blocks == pool.managed_bytes == host.managed_bytes == 0
    assert int(pool.allocate(100))


def test_pooled_memory_freed_by_another_thread():
    pool = tools.DeviceMemoryPool()
    memory = [pool.allocate(100)]
    thread = threading.Thread(target=memory.clear)
    thread.start()
    thread.join()
    assert pool.held_blocks == 1


def test_page_locked_pool():
    flags = cuda.host_alloc_flags
    pool = tools.PageLockedMemoryPool(tools.PageLockedAllocator(flags.PORTABLE))
    a = pool.allocate((3, 5), np.float64, order="F")
    assert a.shape == (3, 5) and a.flags.f_contiguous and not a.flags.owndata
    assert isinstance(a.base, tools.PooledHostAllocation) and len(a.base) == 120
    kind = cuda.pointer_get_attribute(cuda.pointer_attribute.MEMORY_TYPE, a.ctypes.data)
    assert kind == cuda.memory_type.HOST and kind.name == "HOST"
    a[...] = 3
    address, view = a.ctypes.data, a[1:]
    del a
    assert pool.active_blocks == 1 and (view == 3).all()
    del view
    assert pool.active_blocks == 0 and pool.held_blocks == 1
    assert pool.allocate(15, "f8").ctypes.data == address
    assert pool.allocate((0, 3), np.int8).size == 0
    cases = [(((2, -1), np.int8), ValueError), (((2,), "nonsense"), TypeError), ((2, np.int8, "K"), cuda.LogicError)]
    for bad, error in cases:
        with pytest.raises(error):
            pool.allocate(*bad)
    with pool:
        pass
    assert pool.held_blocks == 0
    base = pool.allocate(4, np.int8).base
    base.free()
    with pytest.raises(cuda.LogicError, match="pooled_host_allocation::free failed"):
        base.free()


def test_debug_pool(tmp_path, monkeypatch):
    log = io.StringIO()
    pool = tools.DebugMemoryPool(interactive=False, logfile=log)
    assert isinstance(pool, tools.DeviceMemoryPool)
    held = [pool.allocate(5000) for _ in range(3)]
    [(size, label, count)] = pool.describe()
    assert (size, count) == (5000, 3) and "test_debug_pool" in label
    assert log.getvalue().count("allocation of 5000 bytes") == 3 and "3 x         5000 bytes" in log.getvalue()
    written = len(log.getvalue())
    del held
    assert pool.describe() == []
    pool.allocate(5000)
    assert len(log.getvalue()) == written

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked = []
    monkeypatch.setattr("builtins.input", lambda prompt: asked.append(prompt) or "the matrix")
    for _ in range(2):
        pool = tools.DebugMemoryPool(logfile=log)
        for _ in range(2):
            memory = pool.allocate(7000)
            assert pool.describe() == [(7000, "the matrix", 1)]
            del memory
    assert len(asked) == 1 and "7000 bytes are allocated by" in asked[0]


# -- stream order -----------------------------------------------------------------------------


def test_memory_in_stream_order():
    stream = cuda.Stream()
    a = np.arange(1000, dtype=np.int32)
    memory = cuda.mem_alloc_async(a.nbytes, stream)
    assert isinstance(memory, cuda.DeviceAllocation) and memory.nbytes == a.nbytes
    cuda.memcpy_htod_async(memory, a, stream)
    back = np.zeros_like(a)
    cuda.memcpy_dtoh_async(back, memory, stream)
    memory.free()
    with pytest.raises(cuda.LogicError, match="freed before"):
        memory.free()
    stream.synchronize()
    assert (a == back).all()
    memory = cuda.mem_alloc_async(64)
    memory.free_async(stream)
    with pytest.raises(cuda.LogicError, match="not allocated in stream order"):
        cuda.mem_alloc(64).free_async(stream)
    for size, error in ((0, cuda.LogicError), (-1, OverflowError), (1 << 60, cuda.MemoryError)):
        with pytest.raises(error):
            cuda.mem_alloc_async(size, stream)


def test_the_drivers_pools():
    device, stream = cuda.Context.get_device(), cuda.Stream()
    default = cuda.MemoryPool.get_default()
    assert default == cuda.MemoryPool.get_current(device) and default.device == device
    with cuda.MemoryPool(device) as pool:
        assert pool != default and pool.handle != default.handle
        pool.release_threshold = 1 << 20
        assert pool.release_threshold == 1 << 20 == pool.get_attribute(cuda.mem_pool_attribute.RELEASE_THRESHOLD)
        pool.set_attribute(cuda.mem_pool_attribute.REUSE_ALLOW_OPPORTUNISTIC, 0)
        assert pool.get_attribute(cuda.mem_pool_attribute.REUSE_ALLOW_OPPORTUNISTIC) == 0
        memory, other = pool.allocate(5000, stream), cuda.mem_alloc_async(4096, stream, pool)
        assert pool.used_bytes >= 9000 and pool.reserved_bytes >= pool.used_bytes
        other.free()
        stream.synchronize()
        assert pool.peak_used_bytes >= 9000 > pool.used_bytes >= 5000
        pool.reset_peaks()
        assert pool.peak_used_bytes == pool.used_bytes
        assert pool.get_access(device) == cuda.mem_access_flags.PROT_READWRITE
        pool.make_current()
        assert cuda.MemoryPool.get_current() == pool
        default.make_current()
        pool.trim()
        memory.free()
    stream.synchronize()
    with pytest.raises(cuda.LogicError, match="the pool was closed"):
        pool.allocate(16)


def test_pools_of_the_driver_stay_until_their_memory_is_freed():
    default = cuda.MemoryPool.get_current()
    for make_current in (False, True):
        pool = cuda.MemoryPool()
        if make_current:
            pool.make_current()
            memory = cuda.mem_alloc_async(4000)
            assert cuda.MemoryPool.get_current() == pool and pool.used_bytes >= 4000
        else:
            memory = pool.allocate(4000)
        pool.close()
        pool.close()
        assert cuda.MemoryPool.get_current() == default
        with pytest.raises(cuda.LogicError, match="the pool was closed"):
            _ = pool.used_bytes
        del pool
        # The address is the pool's until the memory is freed.
        other = cuda.mem_alloc_async(4000)
        cuda.memset_d32(memory, 7, 1000)
        cuda.memset_d32(other, 8, 1000)
        assert (cuda.from_device(memory, 1000, np.int32) == 7).all()
        memory.free()
        cuda.Context.synchronize()


def test_a_current_pool_stays_while_it_is():
    default = cuda.MemoryPool.get_current()
    cuda.MemoryPool(max_size=1 << 26).make_current()
    gc.collect()
    memory = cuda.mem_alloc_async(4000)
    current = cuda.MemoryPool.get_current()
    assert current != default and current.used_bytes >= 4000
    current.close()
    assert cuda.MemoryPool.get_current() == current
    default.make_current()
    memory.free()
    cuda.Context.synchronize()


# -- virtual memory management ----------------------------------------------------------------


def test_mapped_memory():
    device = cuda.Context.get_device()
    unit = cuda.mem_get_granularity()
    memory, addresses = cuda.PhysicalMemory(100, exportable=True), cuda.AddressRange(2 * unit)
    assert memory.nbytes == unit and addresses.nbytes == 2 * unit and memory.device == device
    first, second = addresses.map(memory), addresses.map(memory, offset=unit)
    assert int(first) == addresses.ptr == int(second) - unit
    assert first.get_access(device) == cuda.mem_access_flags.PROT_READWRITE
    a = np.arange(100)
    cuda.memcpy_htod(first, a)
    assert (cuda.from_device_like(second, a) == a).all()
    with pytest.raises(cuda.LogicError, match="do not fit into an allocation"):
        cuda.memset_d8(first, 0, unit + 1)
    with pytest.raises(cuda.LogicError, match="outside the"):
        addresses.map(memory, offset=2 * unit)
    fd = memory.export_fd()
    same = cuda.PhysicalMemory.from_fd(fd, unit)
    os.close(fd)
    second.unmap()
    with pytest.raises(cuda.LogicError):
        second.unmap()
    with pytest.raises(cuda.LogicError, match="after unmap"):
        cuda.memset_d8(second, 0, 1)
    with addresses.map(same, offset=unit) as third:
        assert (cuda.from_device_like(third, a) == a).all()
        third.set_access(device, cuda.mem_access_flags.PROT_NONE)
        assert third.get_access(device) == cuda.mem_access_flags.PROT_NONE
    with pytest.raises(ValueError, match="flags is 7"):
        first.set_access(device, 7)
    with pytest.raises(ValueError, match="fd is -1"):
        cuda.PhysicalMemory.from_fd(-1, unit)


# -- what is known about memory ---------------------------------------------------------------


def test_pointer_attributes():
    attribute = cuda.pointer_attribute
    memory = cuda.mem_alloc(1000)
    inside = int(memory) + 10
    assert cuda.pointer_get_attribute(attribute.MEMORY_TYPE, memory) == cuda.memory_type.DEVICE
    assert cuda.pointer_get_attribute(attribute.RANGE_START_ADDR, inside) == int(memory)
    assert cuda.pointer_get_attribute(attribute.RANGE_SIZE, inside) >= 1000
    assert cuda.pointer_get_attribute(attribute.IS_MANAGED, memory) is False
    assert cuda.pointer_get_attribute(attribute.DEVICE_ORDINAL, memory) == 0
    assert cuda.pointer_get_attribute(attribute.CONTEXT, memory) == cuda.Context.get_current().handle
    managed = cuda.managed_zeros(10, np.int32)
    assert cuda.pointer_get_attribute(attribute.IS_MANAGED, managed.base) is True
    with pytest.raises(cuda.LogicError, match="cuPointerGetAttribute failed: invalid argument"):
        cuda.pointer_get_attribute(attribute.MEMORY_TYPE, 16)


def test_advice():
    device, stream = cuda.Context.get_device(), cuda.Stream()
    managed = cuda.managed_zeros(1 << 16, np.uint8).base
    advice, attribute = cuda.mem_advice, cuda.mem_range_attribute
    cuda.mem_advise(managed, managed.nbytes, advice.SET_READ_MOSTLY)
    assert cuda.mem_range_get_attribute(attribute.READ_MOSTLY, managed, managed.nbytes) == 1
    managed.advise(advice.SET_PREFERRED_LOCATION, device)
    assert cuda.mem_range_get_attribute(attribute.PREFERRED_LOCATION, managed, managed.nbytes) == 0
    managed.advise(advice.SET_PREFERRED_LOCATION)
    assert cuda.mem_range_get_attribute(attribute.PREFERRED_LOCATION, managed, managed.nbytes) == -1
    cuda.mem_prefetch_async(managed, managed.nbytes, device, stream)
    managed.prefetch(stream=stream)
    stream.synchronize()
    with pytest.raises(cuda.LogicError, match="devptr: 65537 bytes do not fit"):
        cuda.mem_advise(managed, managed.nbytes + 1, advice.SET_READ_MOSTLY)
    with pytest.raises(cuda.LogicError):
        cuda.mem_prefetch_async(cuda.mem_alloc(64), 64)


# -- other processes --------------------------------------------------------------------------

CHILD = """
import os, sys
import numpy as np
import pycuda.autoinit
import rtcg.driver as cuda

handle, shared, unit, pool, pointer = sys.argv[1:]
with cuda.IPCMemoryHandle(bytearray.fromhex(handle)) as memory:
    assert memory.nbytes >= 400, memory.nbytes
    a = cuda.from_device(memory, 100, np.int32)
    assert (a == np.arange(100)).all(), a
    cuda.memcpy_htod(memory, a + 1)
    cuda.Context.synchronize()
try:
    int(memory)
    raise SystemExit("closed memory has an address")
except cuda.LogicError:
    pass
memory = cuda.PhysicalMemory.from_fd(int(shared), int(unit))
with cuda.AddressRange(memory.nbytes).map(memory) as mapping:
    cuda.memset_d32(mapping, 7, 100)
pool = cuda.MemoryPool.from_fd(int(pool))
with pool.import_pointer(bytes.fromhex(pointer)) as memory:
    assert (cuda.from_device(memory, 100, np.int32) == 9).all()
    cuda.memset_d32(memory, 11, 100)
    cuda.Context.synchronize()
pool.close()
"""


def test_memory_of_other_processes(context):
    a = np.arange(100, dtype=np.int32)
    memory = cuda.to_device(a)
    shared = cuda.PhysicalMemory(1, exportable=True)
    mapping = cuda.AddressRange(shared.nbytes).map(shared)
    pool = cuda.MemoryPool(exportable=True)
    pooled = pool.allocate(400)
    cuda.memset_d32(pooled, 9, 100)
    cuda.Context.synchronize()
    fds = shared.export_fd(), pool.export_fd()
    try:
        handle, pointer = cuda.mem_get_ipc_handle(memory), cuda.MemoryPool.export_pointer(pooled)
        assert isinstance(handle, bytearray) and len(handle) == len(pointer) == 64
        arguments = [handle.hex(), str(fds[0]), str(shared.nbytes), str(fds[1]), pointer.hex()]
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, "-c", CHILD, *arguments]
        child = subprocess.run(command, capture_output=True, text=True, pass_fds=fds, timeout=120, env=environment)
        assert child.returncode == 0, child.stdout + child.stderr
    finally:
        for fd in fds:
            os.close(fd)
    assert (cuda.from_device_like(memory, a) == a + 1).all()
    assert (cuda.from_device(mapping, 100, np.int32) == 7).all()
    assert (cuda.from_device(pooled, 100, np.int32) == 11).all()


def test_unmapping_waits_for_the_kernels_that_use_the_memory(context):
    source = """__global__ void late(int *a, long long wait)
    { long long start = clock64(); while (clock64() - start < wait); a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }"""
    late, stream = SourceModule(source).get_function("late"), cuda.Stream()
    memory = cuda.PhysicalMemory(1)
    with cuda.AddressRange(memory.nbytes).map(memory) as mapping:
        late(mapping, np.int64(20_000_000), block=(64, 1, 1), grid=(64, 1), stream=stream)
    stream.synchronize()
    cuda.Context.synchronize()


# -- giving back ------------------------------------------------------------------------------


def resources():
    aligned = cuda.aligned_zeros(4096, np.uint8)
    return [
        cuda.mem_alloc(64), cuda.mem_alloc_async(64), cuda.mem_alloc_pitch(64, 4, 4)[0],
        tools.DeviceMemoryPool().allocate(64), tools.PageLockedMemoryPool().allocate(4, np.int8).base,
        cuda.managed_empty(4, np.int8).base, cuda.pagelocked_empty(4, np.int8).base,
        cuda.aligned_empty(4, np.int8).base, cuda.register_host_memory(aligned).base,
        cuda.AddressRange(1).map(cuda.PhysicalMemory(1)),
    ]  # fmt: skip


def test_with_statements():
    for memory in resources():
        with memory as same:
            assert same is memory
        memory.close()
        free = next(getattr(memory, name) for name in ("free", "unregister", "unmap") if hasattr(memory, name))
        with pytest.raises(cuda.LogicError, match="before"):
            free()
        with pytest.raises(ZeroDivisionError):
            with memory:
                1 / 0  # noqa: B018


def test_freeing_after_the_context_is_silent(context, capfd):
    other = context.get_device().make_context()
    memory = resources()
    other.detach()
    for each in memory[:-1]:
        each.close()
    del memory
    gc.collect()
    assert capfd.readouterr().err == ""


def test_freeing_in_another_thread():
    memory, failures = resources(), []

    def body():
        try:
            for each in memory:
                each.close()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert not failures


def test_views_stay_within():
    managed = cuda.managed_zeros(16, np.uint8).base
    assert len(managed.as_buffer(16)) == 16
    for size, offset in ((17, 0), (1, 16), (8, 9)):
        with pytest.raises(cuda.LogicError, match=f"{size} bytes at offset {offset} are outside an allocation of 16"):
            managed.as_buffer(size, offset)


def test_messages_name_address_and_size(on_virtual_device):
    with pytest.raises(cuda.LogicError, match="dest is 0x10, which lies in no allocation"):
        cuda.memcpy_htod(16, b"12345678")
    with pytest.raises(cuda.LogicError, match="ptr is 0x18, which lies in no allocation"):
        cuda.mem_get_address_range(24)
    free, total = cuda.mem_get_info()
    for allocate in (cuda.mem_alloc, cuda.mem_alloc_async, tools.DeviceMemoryPool().allocate):
        with pytest.raises(cuda.MemoryError, match=rf"bytes were asked for, \d+ of {total} are free"):
            allocate(2 * total)
    with pytest.raises(cuda.MemoryError, match=rf"{2 * total + 3} bytes were asked"):
        tools.DeviceMemoryPool().allocate(2 * total + 3)
    host = 2**42 + 3
    with pytest.raises(
        cuda.MemoryError, match=rf"{host} bytes were asked of the pool, which rounds up: \d+ bytes of page"
    ):
        tools.PageLockedMemoryPool().allocate((host,), np.uint8)
    if on_virtual_device:
        memory = cuda.mem_alloc(64)
        with pytest.raises(cuda.LogicError, match="32 bytes into an allocation of 64 bytes.*40 bytes do not fit"):
            cuda.memcpy_dtoh(bytearray(40), int(memory) + 32)


def test_numpy_integers_are_integers():
    memory = cuda.mem_alloc(np.uint16(64))
    cuda.memset_d8(np.uint64(int(memory)), np.uint8(7), np.int32(64))
    cuda.memset_d2d16(memory, np.int64(32), np.uint16(9), np.int8(2), np.uint32(2))
    cuda.memcpy_dtod(np.uint64(int(memory) + 48), memory, np.int64(4))
    back = cuda.from_device(memory, np.int64(64), np.uint8)
    assert back[:6].tolist() == [9, 0, 9, 0, 7, 7] and back[48:53].tolist() == [9, 0, 9, 0, 7]
    assert cuda.mem_alloc_pitch(np.int32(10), np.int64(4), np.int8(4))[1] >= 10
    cuda.pagelocked_zeros((np.int64(2), np.int8(3)), np.int8, mem_flags=np.uint32(0))
    tools.DeviceMemoryPool().allocate(np.int32(5), None)
    view = cuda.managed_zeros(np.int16(8), np.uint8, mem_flags=np.int64(1)).base.as_buffer(np.int8(2), np.int64(3))
    assert len(view) == 2
    copy = cuda.Memcpy2D()
    copy.height = copy.width_in_bytes = np.int16(4)
    assert copy.height == 4


def test_host_pointers():
    for memory in (cuda.pagelocked_empty(4, np.int8).base, cuda.aligned_empty(4, np.int8).base):
        assert isinstance(memory, cuda.HostPointer)
    assert not isinstance(cuda.mem_alloc(4), cuda.HostPointer)
    a = cuda.aligned_zeros(4096, np.uint8)
    registered = cuda.register_host_memory(a, cuda.mem_host_register_flags.DEVICEMAP)
    assert a.base.get_device_pointer() == registered.base.get_device_pointer()


# -- structured copies ------------------------------------------------------------------------


def test_ends_of_structured_copies():
    copy = cuda.Memcpy3D()
    assert copy.src_memory_type == 0 and copy.src_device == copy.depth == 0
    memory, a = cuda.mem_alloc(64), np.zeros(16, np.int32)
    copy.set_src_device(memory)
    assert copy.src_memory_type == cuda.memory_type.DEVICE and copy.src_device == int(memory)
    copy.set_dst_host(a)
    assert copy.dst_memory_type == cuda.memory_type.HOST
    copy.set_dst_unified(a)
    assert copy.dst_memory_type == cuda.memory_type.UNIFIED and copy.dst_device == a.ctypes.data
    copy.src_device, copy.src_memory_type = np.uint64(5), cuda.memory_type.UNIFIED
    assert copy.src_device == 5 and copy.src_memory_type == cuda.memory_type.UNIFIED
    with pytest.raises(TypeError, match="read-only"):
        copy.set_dst_host(b"1234")


def test_structured_copies_stay_within_their_buffers():
    memory, a = cuda.mem_alloc(64), np.zeros((4, 4), np.int32)
    copy = cuda.Memcpy2D()
    copy.set_src_host(a)
    copy.set_dst_device(memory)
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 16
    copy.height = 5
    with pytest.raises(cuda.LogicError, match="src: the copy reaches 80 bytes far into memory of 64 bytes"):
        copy()
    copy.height, copy.dst_y = 4, 1
    with pytest.raises(cuda.LogicError, match="dst: the copy reaches 80 bytes far into memory of 64 bytes"):
        copy()
    copy.dst_y = 0
    copy()
    # Every other column of an array of twice the width: the end of its memory is that of its last element.
    wide = np.arange(32, dtype=np.int32).reshape(4, 8)
    copy.set_src_host(wide[:, 4:])
    copy.src_pitch = 32
    copy(aligned=True)
    assert (cuda.from_device(memory, (4, 4), np.int32) == wide[:, 4:]).all()
    with pytest.raises(TypeError, match="aligned is a int"):
        copy(1)


@pytest.mark.parametrize("aligned", [None, True, False])
def test_structured_copies_hold_what_they_point_into(aligned):
    copy = cuda.Memcpy2D()
    copy.set_src_host(np.arange(64, dtype=np.uint8).reshape(8, 8))
    copy.set_dst_device(cuda.mem_alloc(64))
    gc.collect()
    copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = copy.height = 8
    copy(aligned)
    back = np.zeros(64, np.uint8)
    cuda.memcpy_dtoh(back, copy.dst_device)
    assert (back == np.arange(64)).all()


def test_peer_boxes_in_the_current_context(context):
    a = np.arange(64, dtype=np.uint8)
    source, target = cuda.to_device(a), cuda.mem_alloc(64)
    copy = cuda.Memcpy3DPeer()
    copy.set_src_device(source)
    copy.set_dst_device(target)
    copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = 8
    copy.src_height = copy.dst_height = copy.height = 8
    copy.depth = 1
    copy()
    assert (cuda.from_device_like(target, a) == a).all()
    cuda.memset_d8(target, 0, 64)
    copy.set_src_context(context)
    copy.set_dst_context(None)
    stream = cuda.Stream()
    copy(stream)
    stream.synchronize()
    assert (cuda.from_device_like(target, a) == a).all()
    gone = context.get_device().make_context()
    gone.detach()
    copy.set_src_context(gone)
    with pytest.raises(cuda.LogicError, match="detached"):
        copy()
