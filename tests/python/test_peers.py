"""Two devices at once: copies between them, access of one to the other's memory, sharing with another process.

On the virtual GPU two virtual devices; with `--device real` two GPUs, where there are so many.
"""

import pytest

from tests.python.subprocesses import has_real_device, run_python

pytestmark = pytest.mark.usefixtures("context")

PROLOGUE = """
import subprocess, sys, threading
import numpy as np
import rtcg.driver as cuda
from pycuda.compiler import SourceModule

cuda.init()
first, second = cuda.Device(0), cuda.Device(1)
contexts = []
for device in (first, second):
    contexts.append(device.make_context())
    cuda.Context.pop()
values = np.arange(1 << 18, dtype=np.int32).reshape(512, 512)

def error_of(call):
    try:
        call()
    except cuda.Error as error:
        return str(error)
    raise AssertionError("no error")
"""

EPILOGUE = """
for context in contexts:
    context.detach()
"""


@pytest.fixture
def run():
    environment = {"RTCG_LIBCUDA": "none", "RTCG_VIRTUAL_DEVICES": 2}
    if has_real_device():
        import rtcg.driver as cuda

        if sum(not cuda.Device(i).is_virtual for i in range(cuda.Device.count())) < 2:
            pytest.skip("needs two GPUs")
        environment = {}
    return lambda code, **more: run_python(PROLOGUE + code + EPILOGUE, **environment, **more)


def test_copies_from_device_to_device(run):
    run(
        """
with contexts[0]:
    source = cuda.to_device(values)
with contexts[1]:
    target = cuda.mem_alloc(values.nbytes)
    cuda.memcpy_peer(target, source, values.nbytes, contexts[1], contexts[0])
    assert (cuda.from_device(target, values.shape, np.int32) == values).all()
    cuda.memset_d8(target, 0, values.nbytes)
    stream, done = cuda.Stream(), cuda.Event()
    cuda.memcpy_peer_async(target, source, values.nbytes // 2, src_context=contexts[0], stream=stream)
    done.record(stream).synchronize()
    half = cuda.from_device(target, values.shape, np.int32)
    assert (half[:256] == values[:256]).all() and (half[256:] == 0).all()

    # A rectangle of the other device's matrix.
    copy = cuda.Memcpy3DPeer()
    copy.set_src_device(source)
    copy.set_src_context(contexts[0])
    copy.set_dst_device(target)
    copy.set_dst_context(contexts[1])
    copy.src_pitch = copy.dst_pitch = 2048
    copy.src_height = copy.dst_height = 512
    copy.src_x_in_bytes, copy.src_y = 400, 300
    copy.dst_x_in_bytes, copy.dst_y = 40, 400
    copy.width_in_bytes, copy.height, copy.depth = 80, 30, 1
    copy()
    assert (cuda.from_device(target, values.shape, np.int32)[400:430, 10:30] == values[300:330, 100:120]).all()
    del target, stream, done
with contexts[0]:
    del source
"""
    )


def test_copies_in_every_form(run):
    """Whichever device is current, whether contexts are named or not, from the middle and to the middle."""
    run(
        """
data = np.arange(1000, dtype=np.int32)
memory = []
for context in contexts:
    with context:
        memory.append(cuda.to_device(data))

def check(copy, dest, src):
    for context in contexts:
        with contexts[src]:
            cuda.memcpy_htod(memory[src], data)
        with contexts[dest]:
            cuda.memset_d8(memory[dest], 255, data.nbytes)
        with context:
            copy(int(memory[dest]) + 40, int(memory[src]) + 80, 400)
            cuda.Context.synchronize()
        for one in contexts:  # Devices with one address space read each other's memory.
            with one:
                found = cuda.from_device(memory[dest], 1000, np.int32)
        assert (found[10:110] == data[20:120]).all() and (found[:10] == -1).all() and (found[110:] == -1).all()

def with_stream(call):
    def copy(*args):
        stream = cuda.Stream()
        call(*args, stream)
        stream.synchronize()
    return copy

for dest, src in ((0, 1), (1, 0)):
    to, of = contexts[dest], contexts[src]
    check(lambda d, s, n: cuda.memcpy_peer(d, s, n, to, of), dest, src)
    check(lambda d, s, n: cuda.memcpy_peer(d, s, n, dest_context=to, src_context=of), dest, src)
    check(with_stream(lambda d, s, n, stream: cuda.memcpy_peer_async(d, s, n, to, of, stream)), dest, src)
    check(lambda d, s, n: cuda.memcpy_peer_async(d, s, n, to, of), dest, src)
    check(lambda d, s, n: cuda.memcpy_dtod(d, s, n), dest, src)
    check(with_stream(lambda d, s, n, stream: cuda.memcpy_dtod_async(d, s, n, stream)), dest, src)
    with of:
        cuda.memcpy_peer(memory[dest], memory[src], 4, to)
    with to:
        cuda.memcpy_peer(memory[dest], memory[src], 4, src_context=of)

with contexts[0]:
    for call in (cuda.memcpy_peer, cuda.memcpy_peer_async):
        text = error_of(lambda: call(memory[0], memory[1], 4001, contexts[0], contexts[1]))
        assert "4001 bytes do not fit into an allocation of 4000 bytes" in text, text
        assert "failed" in error_of(lambda: call(memory[0], 8, 4, contexts[0], contexts[1]))
    freed = cuda.mem_alloc(8)
    freed.free()
    assert "8 bytes at" in error_of(lambda: cuda.memcpy_peer(freed, memory[1], 8))
gone = second.make_context()
gone.pop()
gone.detach()
with contexts[0]:
    for call in (cuda.memcpy_peer, cuda.memcpy_peer_async):
        assert "context" in error_of(lambda: call(memory[0], memory[1], 8, contexts[0], gone))
    copy = cuda.Memcpy3DPeer()
    copy.set_src_device(memory[1]), copy.set_src_context(gone), copy.set_dst_device(memory[0])
    copy.width_in_bytes, copy.height, copy.depth = 4, 1, 1
    assert "context of an end was detached" in error_of(copy)
    copy.set_src_context(contexts[1]), copy.set_dst_context(gone)
    assert "context of an end was detached" in error_of(copy)
    copy.set_dst_context(None)
    copy()
    del memory[0], freed
with contexts[1]:
    del memory[0]
"""
    )


def test_boxes_of_arrays_on_either_device(run):
    """Every offset counts, from an array to memory and to another array, and each end's context is its own."""
    run(
        """
block = np.arange(4 * 5 * 6, dtype=np.int32).reshape(4, 5, 6)
expected = np.zeros((3, 4, 7), np.int32)
expected[1:3, 2:4, 3:6] = block[2:4, 1:3, 2:5]

def whole(copy, shape):
    copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = 4 * shape[2]
    copy.src_height = copy.dst_height = copy.height = shape[1]
    copy.depth = shape[0]
    copy()

def read(source, how, shape):
    found, copy = np.zeros(shape, np.int32), cuda.Memcpy3D()
    getattr(copy, f"set_src_{how}")(source)
    copy.set_dst_host(found)
    whole(copy, shape)
    return found

def make(how, values):
    if how == "device":
        return cuda.to_device(values)
    array = cuda.np_to_array(values, "C")
    return array

for there, here in ((1, 0), (0, 1)):
    for source in ("array", "device"):
        for target in ("array", "device"):
            for stream in (False, True):
                with contexts[there]:
                    far = make(source, block)
                with contexts[here]:
                    near = make(target, np.zeros_like(expected))
                    copy = cuda.Memcpy3DPeer()
                    getattr(copy, f"set_src_{source}")(far)
                    copy.set_src_context(contexts[there])
                    getattr(copy, f"set_dst_{target}")(near)
                    copy.set_dst_context(contexts[here] if stream else None)
                    copy.src_pitch, copy.src_height = 24, 5
                    copy.dst_pitch, copy.dst_height = 28, 4
                    copy.src_x_in_bytes, copy.src_y, copy.src_z = 8, 1, 2
                    copy.dst_x_in_bytes, copy.dst_y, copy.dst_z = 12, 2, 1
                    copy.width_in_bytes, copy.height, copy.depth = 12, 2, 2
                    copy(cuda.Stream()) if stream else copy()
                    cuda.Context.synchronize()
                    assert (read(near, target, expected.shape) == expected).all(), (source, target, stream)
                    del near, copy
                with contexts[there]:
                    del far
"""
    )


def test_access_is_asked_for_and_given(run):
    run(
        """
assert not first.can_access_peer(first)
kinds = cuda.p2p_attribute
for one, other in ((first, second), (second, first)):
    assert one.get_p2p_attribute(kinds.ACCESS_SUPPORTED, other) == one.can_access_peer(other)
    assert one.get_p2p_attribute(kinds.PERFORMANCE_RANK, other) >= 0
    assert one.get_p2p_attribute(kinds.NATIVE_ATOMIC_SUPPORTED, other) in (0, 1)
    assert "cuDeviceGetP2PAttribute failed" in error_of(lambda: one.get_p2p_attribute(99, other))
    assert "cuDeviceGetP2PAttribute failed" in error_of(lambda: one.get_p2p_attribute(kinds.ACCESS_SUPPORTED, one))
gone = second.make_context()
gone.pop()
gone.detach()
with contexts[0]:
    enable, disable = cuda.Context.enable_peer_access, cuda.Context.disable_peer_access
    assert "cuCtxEnablePeerAccess failed" in error_of(lambda: enable(contexts[0]))
    assert "cuCtxEnablePeerAccess failed" in error_of(lambda: enable(contexts[1], 7))
    assert "cuCtxEnablePeerAccess failed" in error_of(lambda: enable(gone))
    assert "cuCtxDisablePeerAccess failed" in error_of(lambda: disable(contexts[1]))
"""
    )


def test_arrays_of_another_device_as_arguments(run):
    """With access kernels use them; operations between arrays of two contexts are refused."""
    run(
        """
import pycuda.gpuarray as gpuarray
SOURCE = "__global__ void add(float *z, const float *x) { z[threadIdx.x] += x[threadIdx.x]; }"
if first.can_access_peer(second):
    for near, far in ((0, 1), (1, 0)):
        with contexts[far]:
            there = gpuarray.to_gpu(np.arange(64, dtype=np.float32))
        with contexts[near]:
            cuda.Context.enable_peer_access(contexts[far])
            add = SourceModule(SOURCE).get_function("add")
            here = gpuarray.to_gpu(np.ones(64, np.float32))
            add(here, there, block=(64, 1, 1))
            add.prepare("PP").prepared_call((1, 1), (64, 1, 1), here.gpudata, there.gpudata)
            assert (here.get() == 2 * np.arange(64) + 1).all()
            try:
                here + there
            except ValueError as error:
                assert "operands live in different contexts" in str(error)
            else:
                raise AssertionError("whose pool the result would come from is not said")
            assert (there.get() == np.arange(64)).all()
            cuda.Context.disable_peer_access(contexts[far])
            del add, here
        with contexts[far]:
            del there
"""
    )


def test_generators_refuse_memory_out_of_reach(run):
    """Before the launch, until access is enabled, and again after it is taken back."""
    run(
        """
import pycuda.gpuarray as gpuarray
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from rtcg.scan import InclusiveScanKernel
add = ElementwiseKernel("int *z, const int *x", "z[i] += x[i]")
total = ReductionKernel(np.int32, "0", "a + b", "x[i]", "const int *x")
scan = InclusiveScanKernel(np.int32, "a + b")

def refused(name, call):
    here, there = cuda.Context.get_device(), first if cuda.Context.get_device() == second else second
    numbers = [(first, second).index(device) for device in (there, here)]
    text = f"argument '{name}' lies in memory of device {numbers[0]} ({there.name()}), which kernels of device "
    text += f"{numbers[1]} ({here.name()}) cannot reach; expected an array of the current context, or peer access"
    try:
        call()
    except ValueError as error:
        assert str(error).startswith(text), error
        return
    raise AssertionError(f"{name} is not refused")

if first.can_access_peer(second):
    for near, far in ((0, 1), (1, 0)):
        with contexts[far]:
            there, out = gpuarray.arange(64, dtype=np.int32), gpuarray.zeros((), np.int32)
            line = gpuarray.zeros(8, np.int32)
            plain = cuda.to_device(np.arange(64, dtype=np.int32))
            managed = cuda.managed_zeros(64, np.int32, mem_flags=cuda.mem_attach_flags.GLOBAL)
            nothing = gpuarray.zeros(0, np.int32)
        with contexts[near]:
            here = gpuarray.zeros(64, np.int32)
            add(here, here), add(here, here)  # The call that is made again is of this context.
            add(gpuarray.zeros(0, np.int32), nothing)
            for again in (1, 2):
                refused("x", lambda: add(here, there))
                refused("x", lambda: add(here, there[::-1]))
                refused("x", lambda: add(here, plain))
                refused("x", lambda: add(here, there, range=slice(0, 3)))
                refused("z", lambda: add(there, here))
                refused("x", lambda: total(there))
                refused("out", lambda: total(here, out=out))
                refused("x", lambda: total(there.reshape(8, 8), axis=0))
                refused("out", lambda: total(here.reshape(8, 8), axis=0, out=line))
                refused("input_ary", lambda: scan(there))
                refused("output_ary", lambda: scan(here, there))
                assert (here.get() == 0).all()
                cuda.Context.enable_peer_access(contexts[far])
                for _ in range(3):
                    add(here, there)
                add(here, plain)
                assert int(total(there).get()) == 63 * 32
                assert (here.get() == 4 * np.arange(64)).all()
                cuda.Context.disable_peer_access(contexts[far])
                here.fill(0)
            # What is made over memory of this context in the other one is within reach.
            contexts[far].push()
            wrapped = gpuarray.GPUArray(64, np.int32, gpudata=here.gpudata)
            contexts[far].pop()
            add(wrapped, wrapped)
            add(here, gpuarray.GPUArray(64, np.int32, gpudata=managed.base.get_device_pointer()))
            del here, wrapped
        with contexts[far]:
            del there, out, line, plain, managed, nothing
"""
    )


def test_copies_name_the_context_of_the_memory(run):
    run(
        """
import pycuda.gpuarray as gpuarray
memory, arrays = [], []
for context in contexts:
    with context:
        memory.append(cuda.to_device(values))
        arrays.append(gpuarray.to_gpu(values))

def box(dest, src, dest_context, src_context):
    copy = cuda.Memcpy3DPeer()
    copy.set_src_device(src), copy.set_src_context(src_context)
    copy.set_dst_device(dest), copy.set_dst_context(dest_context)
    copy.width_in_bytes, copy.height, copy.depth = 64, 1, 1
    return copy

copies = {
    "cuMemcpyPeer": lambda d, s, to, of: cuda.memcpy_peer(d, s, 64, to, of),
    "cuMemcpyPeerAsync": lambda d, s, to, of: cuda.memcpy_peer_async(d, s, 64, to, of),
    "cuMemcpy3DPeer": lambda *ends: box(*ends)(),
    "cuMemcpy3DPeer ": lambda *ends: box(*ends)(cuda.Stream()),
}
for here in contexts:
    with here:
        for call, copy in copies.items():
            dest = "dst" if "3D" in call else "dest"
            for d, s in ((memory[0], memory[1]), (int(memory[0]) + 64, int(memory[1]) + 64), (arrays[0], arrays[1])):
                if "3D" in call and d is arrays[0]:
                    continue
                copy(d, s, contexts[0], contexts[1])
                for to, of, name in ((1, 1, dest), (0, 0, "src"), (None, 0, "src"), (1, None, dest)):
                    ends = [None if end is None else contexts[end] for end in (to, of)]
                    text = error_of(lambda: copy(d, s, *ends))
                    owner, named = (1, 0) if name == "src" else (0, 1)
                    shown = [f"device {end} ({(first, second)[end].name()})" for end in (owner, named)]
                    wanted = f"memory of {shown[0]}, but {name}_context is of {shown[1]}"
                    assert text.startswith(call.strip()) and f" {name} is 0x" in text and wanted in text, text
        cuda.Context.synchronize()

# Memory that belongs to no device may be named as any's.
with contexts[0]:
    managed = cuda.managed_zeros(16, np.int32, mem_flags=cuda.mem_attach_flags.GLOBAL)
    for end in contexts:
        cuda.memcpy_peer(memory[0], managed.base.get_device_pointer(), 64, contexts[0], end)
    flags = cuda.host_alloc_flags
    locked = cuda.pagelocked_zeros(16, np.int32, mem_flags=flags.PORTABLE | flags.DEVICEMAP)
    for end in contexts:
        cuda.memcpy_peer(memory[0], locked.base.get_device_pointer(), 64, contexts[0], end)
    del managed, locked
while memory:
    with contexts[len(memory) - 1]:
        del memory[-1], arrays[-1], d, s
        d = s = None
"""
    )


@pytest.mark.parametrize(
    ("make", "lacking"),
    [("cuda.to_device(values)", "cuCtxEnablePeerAccess"), ("pool.allocate(64)", "cuMemPoolSetAccess")],
    ids=["memory", "pool"],
)
def test_kernels_without_access_are_stopped(run, make, lacking):
    """By a real GPU always, by the virtual one where it checks each access."""
    result = run(
        f"make, lacking = {make!r}, {lacking!r}"
        """
import os
with contexts[1]:
    pool = cuda.MemoryPool(second)
    far = eval(make)
    cuda.Context.synchronize()
contexts[0].push()
kernel = SourceModule("__global__ void put(int *a) { *a = 1; }").get_function("put")
def use():
    kernel(far, block=(1, 1, 1))
    cuda.Context.synchronize()
text = error_of(use)
assert "illegal memory access" in text, text
if first.is_virtual:
    assert lacking in text, text
print("refused", flush=True)
os._exit(0)  # The context is of no use any more.
""",
        check=False,  # What the virtual GPU finds it prints.
        RTCG_CHECK="memory",
    )
    assert result.stdout == "refused\n", result


def test_events_of_one_device_order_streams_of_the_other(run):
    run(
        """
with contexts[0]:
    gate, source = cuda.mem_alloc(4), cuda.to_device(np.full(4, 7, np.int32))
    cuda.memset_d32(gate, 0, 1)
    ahead, done, data = cuda.Stream(1), cuda.Event(), cuda.to_device(np.zeros(4, np.int32))
    ahead.wait_value(gate, 1)
    cuda.memcpy_dtod_async(data, source, 16, ahead)
    done.record(ahead)
with contexts[1]:
    behind, target = cuda.Stream(1), cuda.to_device(np.zeros(4, np.int32))
    behind.wait_for_event(done)
    cuda.memcpy_peer_async(target, data, 16, contexts[1], contexts[0], behind)
    assert not behind.is_done() and not done.query()
    assert "cuEventRecord failed" in error_of(lambda: done.record(behind))
with contexts[0]:
    other = cuda.Stream(1)
    cuda.memset_d32_async(gate, 1, 1, other)
with contexts[1]:
    behind.synchronize()
    assert cuda.from_device(target, 4, np.int32).tolist() == [7] * 4
    del behind, target
with contexts[0]:
    del gate, source, ahead, done, data, other
"""
    )


def test_pools_and_mappings_for_both_devices(run):
    run(
        """
SOURCE = "__global__ void put(int *a, int n) { a[threadIdx.x] = n; }"
access = cuda.mem_access_flags
if first.can_access_peer(second):
    kernels = []
    for context in contexts:
        with context:
            kernels.append(SourceModule(SOURCE).get_function("put"))
    with contexts[0]:
        pool = cuda.MemoryPool(first)
        assert pool.get_access(second) == access.PROT_NONE and pool.get_access(first) == access.PROT_READWRITE
        pool.set_access(second, access.PROT_READWRITE)
        assert pool.get_access(second) == access.PROT_READWRITE
        stream = cuda.Stream()
        shared = pool.allocate(128, stream)
        stream.synchronize()
        mapping = cuda.AddressRange(1 << 21).map(cuda.PhysicalMemory(1 << 21), devices=[first, second])
        assert mapping.nbytes == 1 << 21 and mapping.__index__() == int(mapping)
        assert mapping.get_access(second) == access.PROT_READWRITE
    with contexts[1]:
        for memory in (shared, mapping):
            kernels[1](memory, np.int32(5), block=(32, 1, 1))
        cuda.Context.synchronize()
    with contexts[0]:
        for memory in (shared, mapping):
            assert cuda.from_device(int(memory), 32, np.int32).tolist() == [5] * 32
        shared.free()
        mapping.set_access(second, access.PROT_NONE)
        assert mapping.get_access(second) == access.PROT_NONE
        mapping.close()
        pool.close()
        del stream, kernels[0]
    with contexts[1]:
        del kernels[0]
"""
    )


def test_kernels_reach_the_other_device(run):
    run(
        """
SOURCE = "__global__ void add(int *z, const int *x, int n)"
SOURCE += "{ for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) z[i] += x[i]; }"
if first.can_access_peer(second):
    with contexts[1]:
        far = cuda.to_device(values)
    with contexts[0]:
        cuda.Context.enable_peer_access(contexts[1])
        assert "peer access" in error_of(lambda: cuda.Context.enable_peer_access(contexts[1]))
        add = SourceModule(SOURCE).get_function("add")
        near = cuda.to_device(values)
        add(near, far, np.int32(values.size), block=(256, 1, 1), grid=(64, 1))
        assert (cuda.from_device(near, values.shape, np.int32) == 2 * values).all()
        add(far, near, np.int32(values.size), block=(256, 1, 1), grid=(64, 1))
        cuda.Context.synchronize()
    with contexts[1]:
        assert (cuda.from_device(far, values.shape, np.int32) == 3 * values).all()
    with contexts[0]:
        cuda.Context.disable_peer_access(contexts[1])
        assert "peer access" in error_of(lambda: cuda.Context.disable_peer_access(contexts[1]))
        del near, add
    with contexts[1]:
        del far
"""
    )


def test_both_work_at_once(run):
    run(
        """
SOURCE = "__global__ void twice(int *z, int n)"
SOURCE += "{ for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) z[i] *= 2; }"
failures = []

def work(context):
    try:
        with context:
            twice = SourceModule(SOURCE).get_function("twice")
            memory, stream = cuda.to_device(values), cuda.Stream()
            for _ in range(10):
                twice(memory, np.int32(values.size), block=(256, 1, 1), grid=(64, 1), stream=stream)
            stream.synchronize()
            assert (cuda.from_device(memory, values.shape, np.int32) == values << 10).all()
            del memory, stream, twice
    except BaseException as error:
        failures.append(error)

threads = [threading.Thread(target=work, args=(context,)) for context in contexts for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures
"""
    )


def test_another_process_shares_memory_of_either_device(run):
    run(
        '''
CHILD = """
import sys
import numpy as np
import rtcg.driver as cuda
cuda.init()
context = cuda.Device(int(sys.argv[1])).make_context()
shared = cuda.IPCMemoryHandle(bytes.fromhex(sys.argv[2]))
assert (cuda.from_device(shared, 1000, np.int32) == np.arange(1000)).all()
cuda.memcpy_htod(shared, np.full(10, -1, np.int32))
cuda.Context.synchronize()
shared.close()
context.pop()
context.detach()
print("done")
"""
for number, context in enumerate(contexts):
    with context:
        memory = cuda.to_device(np.arange(1000, dtype=np.int32))
        handle = bytes(cuda.mem_get_ipc_handle(memory)).hex()
        command = [sys.executable, "-c", CHILD, str(number), handle]
        result = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert result.stdout == "done\\n" and result.stderr == "", result
        after = cuda.from_device(memory, 1000, np.int32)
        assert (after[:10] == -1).all() and (after[10:] == np.arange(10, 1000)).all()
        del memory
'''
    )
