"""Several virtual devices in one process: contexts, copies between them, memory for each."""

import pytest

from tests.python.subprocesses import run_python

PROLOGUE = """
import numpy as np
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

cuda.init()
devices = [cuda.Device(i) for i in range(cuda.Device.count())]
assert len(devices) == 3 and all(d.is_virtual for d in devices)
contexts = []
for device in devices:
    contexts.append(device.make_context())
    cuda.Context.pop()

class current:
    def __init__(self, i):
        self.context = contexts[i]
    def __enter__(self):
        self.context.push()
    def __exit__(self, *_):
        cuda.Context.pop()

def raises(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}")
"""

EPILOGUE = """
for context in contexts:
    context.detach()
"""


def run(code, **environment):
    run_python(PROLOGUE + code + EPILOGUE, RTCG_LIBCUDA="none", RTCG_VIRTUAL_DEVICES=3, **environment)


def test_kernels_run_on_the_device_of_their_context():
    run(
        """
assert len({d.pci_bus_id() for d in devices}) == 3
for i in range(3):
    with current(i):
        assert cuda.Context.get_device() == devices[i]
        add = SourceModule("__global__ void add(int *p, int n) { p[threadIdx.x] += n; }").get_function("add")
        values = np.arange(64, dtype=np.int32)
        add(cuda.InOut(values), np.int32(i), block=(64, 1, 1))
        assert (values == np.arange(64) + i).all()
"""
    )


def test_memory_is_copied_from_device_to_device():
    run(
        """
values = np.arange(1000, dtype=np.float32)
with current(0):
    first = cuda.to_device(values)
with current(2):
    second = cuda.mem_alloc(values.nbytes)
    cuda.memcpy_peer(second, first, values.nbytes, contexts[2], contexts[0])
    assert (cuda.from_device_like(second, values) == values).all()
    stream = cuda.Stream()
    cuda.memset_d32(second, 0, 1000)
    cuda.memcpy_peer_async(second, first, values.nbytes, contexts[2], contexts[0], stream)
    stream.synchronize()
    assert (cuda.from_device_like(second, values) == values).all()
    second.free()
with current(0):
    first.free()
"""
    )


def test_peer_access_is_enabled_once_and_disabled_once():
    run(
        """
assert devices[0].can_access_peer(devices[1]) and not devices[1].can_access_peer(devices[1])
with current(0):
    cuda.Context.enable_peer_access(contexts[1])
    raises(cuda.LogicError, "peer access is already enabled", lambda: cuda.Context.enable_peer_access(contexts[1]))
    with current(1):
        values = cuda.to_device(np.full(32, 5, np.int32))
    double = SourceModule("__global__ void twice(int *p) { p[threadIdx.x] *= 2; }").get_function("twice")
    double(values, block=(32, 1, 1))
    cuda.Context.disable_peer_access(contexts[1])
    raises(cuda.LogicError, "peer access has not been enabled", lambda: cuda.Context.disable_peer_access(contexts[1]))
with current(1):
    assert (cuda.from_device(values, 32, np.int32) == 10).all()
    values.free()
"""
    )


def test_each_device_has_its_own_memory():
    run(
        """
assert [d.total_memory() for d in devices] == [64 << 20] * 3
with current(0):
    most = cuda.mem_alloc(60 << 20)
    assert cuda.mem_get_info()[0] <= 4 << 20
    raises(cuda.MemoryError, "out of memory", lambda: cuda.mem_alloc(8 << 20))
with current(1):
    assert cuda.mem_get_info() == (64 << 20, 64 << 20)
    cuda.mem_alloc(60 << 20).free()
with current(0):
    most.free()
    cuda.mem_alloc(60 << 20).free()
""",
        RTCG_VIRTUAL_MEMORY="64M",
    )


def test_a_fault_spoils_one_device_only():
    run(
        """
with current(1):
    bad = SourceModule("__global__ void bad(int *p) { *p = 1; }", options=["-lineinfo"]).get_function("bad")
    bad(np.intp(16), block=(1, 1, 1))
    raises(cuda.LogicError, "kernel.cu:1", lambda: cuda.Context.synchronize())
    raises(cuda.LogicError, "illegal memory access", lambda: cuda.mem_alloc(16))
for i in (0, 2):
    with current(i):
        cuda.mem_alloc(16).free()
        cuda.Context.synchronize()
contexts.pop(1).detach()
"""
    )


LIMITED = """
import resource, sys, warnings

limit = int(sys.argv[1]) << 20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
import numpy as np
import pycuda.driver as cuda
with warnings.catch_warnings(record=True) as notices:
    warnings.simplefilter("always")
    cuda.init()
    cuda.init()
(notice,) = [str(w.message) for w in notices]
device = cuda.Device(0)
context = device.make_context()
from pycuda.compiler import SourceModule

free, total = cuda.mem_get_info()
assert free == total == device.total_memory() and 1 << 20 < total < limit // 2
assert f"{limit >> 20} MiB" in notice and f"{total >> 20} MiB of memory" in notice, notice

kernels = SourceModule('''
__device__ int variable = 5;
__global__ void reverse(int *x) {
    __shared__ int s[1024];
    int local[64];
    for (int i = 0; i < 64; i++) local[(x[i % 1024] + i) & 63] = i;
    s[threadIdx.x] = x[threadIdx.x] + variable;
    __syncthreads();
    x[threadIdx.x] = s[1023 - threadIdx.x] + 0 * local[x[0] & 63];
}
__global__ void allocate(int **p) { *p = (int *)malloc(4096); (*p)[1000] = 7; }
__global__ void outside(int *x) { x[1 << 27] = 1; }
''')
x = np.arange(1024, dtype=np.int32)
kernels.get_function("reverse")(cuda.InOut(x), block=(1024, 1, 1))
assert (x == np.arange(1024)[::-1] + 5).all()
pointer = np.zeros(1, np.uint64)
kernels.get_function("allocate")(cuda.InOut(pointer), block=(1, 1, 1))

# Memory runs out at what was said, comes back, and is used again and again.
for _ in range(3):
    blocks = []
    try:
        while True:
            blocks.append(cuda.mem_alloc(16 << 20))
            cuda.memset_d8(blocks[-1], 1, 16 << 20)
    except cuda.MemoryError:
        pass
    assert len(blocks) >= (total >> 24) - 2, len(blocks)
    for block in blocks:
        block.free()
big = cuda.mem_alloc(total // 4 * 3)
cuda.memset_d8(big, 3, total // 4 * 3)
big.free()
for n in range(1, 200):
    cuda.mem_alloc(n << 16).free()

small = cuda.mem_alloc(4096)
try:
    kernels.get_function("outside")(small, block=(1, 1, 1))
    context.synchronize()
except cuda.Error as error:
    assert "illegal" in str(error).lower(), error
else:
    raise AssertionError("an access outside of all memory was not found")
print("done")
"""


@pytest.mark.parametrize("limit_mib", [2048, 4096])
def test_limited_addresses(limit_mib):
    """With a limit on addresses (`ulimit -v`) the device has as much memory as fits, and everything works."""
    result = run_python(LIMITED, limit_mib, check=False, CUDA_VISIBLE_DEVICES="", RTCG_VIRTUAL_DEVICES=1)
    assert result.returncode == 0 and "done" in result.stdout, result.stdout + result.stderr
