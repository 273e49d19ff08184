"""Memory that is kept for later arrays: it is free, every allocation gets it, and other processes do after a while."""

from subprocesses import run_python

PROLOGUE = """
import time
import numpy as np
import pycuda.autoinit
import rtcg.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda import tools

SLACK = 8 << 20

def free():
    return cuda.mem_get_info()[0]

def empty(nbytes, **keywords):
    return gpuarray.empty(nbytes // 4, np.float32, **keywords)
"""


def run(code, **environment):
    run_python(PROLOGUE + code, RTCG_VIRTUAL_MEMORY="512M", **environment)


def test_free_memory_is_the_same_after_each_turn():
    run(
        """
before, seen = free(), []
for _ in range(5):
    seen.append(free())
    work = [empty(seen[-1] // 3), empty(seen[-1] // 4)]
    assert free() < seen[-1] // 2
    del work
assert max(abs(f - before) for f in seen + [free()]) < SLACK, (before, seen, free())
stream = cuda.Stream()
with stream:
    values = gpuarray.zeros(before // 16, np.float32) + 1
    del values
assert abs(free() - before) < SLACK
"""
    )


def test_nearly_everything_as_an_array_and_as_plain_memory():
    run(
        """
most = free() // 100 * 97
pool, stream = tools.DeviceMemoryPool(), cuda.Stream()
for _ in range(2):
    for allocate in (
        cuda.mem_alloc,
        empty,
        lambda n: cuda.mem_alloc_async(n, stream),
        pool.allocate,
        lambda n: empty(n, allocator=pool.allocate),
        lambda n: cuda.mem_alloc_pitch(4096, n // 4096, 4),
        lambda n: cuda.managed_empty(n, np.uint8),
        cuda.MemoryPool(pycuda.autoinit.device).allocate,
    ):
        memory = empty(most)
        del memory
        memory = allocate(most)
        del memory
descriptor = cuda.ArrayDescriptor()
descriptor.width, descriptor.height = 4096, min(most // 4096 // 4, 1 << 16)
descriptor.format, descriptor.num_channels = cuda.array_format.FLOAT, 1
memory = empty(most)
del memory
array = cuda.Array(descriptor)
array.free()
"""
    )


def test_other_processes_get_the_memory_of_an_idle_one():
    run(
        """
big = gpuarray.zeros(32 << 20, np.float32)
cuda.Context.synchronize()
address = int(big.gpudata)
del big
kept = gpuarray.empty(32 << 20, np.float32)
assert int(kept.gpudata) == address, "memory is kept for the next array"
del kept
start = time.monotonic()
while True:
    try:
        cuda.mem_get_address_range(address)
    except cuda.Error:
        break
    assert time.monotonic() - start < 20, "the memory stays"
    time.sleep(0.05)
assert gpuarray.zeros(32 << 20, np.float32).get().max() == 0
"""
    )
