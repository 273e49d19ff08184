"""Memory and events between two processes."""

import pytest

from tests.python.subprocesses import run_python

pytestmark = pytest.mark.usefixtures("context")

# The parent runs the child with the handles as arguments.
COMMON = """
import subprocess, sys
import numpy as np
import pycuda.autoinit, pycuda.driver as cuda
from pycuda.compiler import SourceModule

def child(code, *args):
    result = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=100)
    assert result.returncode == 0 and result.stderr == "", result.stdout + result.stderr
    return result.stdout.strip()

def code_of(call):
    try:
        call()
    except cuda.Error as error:
        return str(error)
    return "no error"
"""


def test_memory_of_another_process():
    run_python(
        COMMON
        + '''
CHILD = """
import sys
import numpy as np
import pycuda.autoinit, pycuda.driver as cuda, pycuda.gpuarray as gpuarray
shared = cuda.IPCMemoryHandle(bytes.fromhex(sys.argv[1]))
view = gpuarray.GPUArray((1000,), np.float32, gpudata=shared)
assert (view.get() == np.arange(1000)).all()
cuda.memcpy_htod(int(shared), np.full(10, -1, np.float32))
pycuda.autoinit.context.synchronize()
del view
shared.close()
print("done")
"""
memory = cuda.to_device(np.arange(1000, dtype=np.float32))
handle = cuda.mem_get_ipc_handle(memory)
assert len(handle) == 64
assert child(CHILD, handle.hex()) == "done"
after = cuda.from_device(memory, 1000, np.float32)
assert (after[:10] == -1).all() and (after[10:] == np.arange(10, 1000)).all()
'''
    )


def test_handles_that_are_good_for_nothing():
    run_python(
        COMMON
        + '''
CHILD = """
import sys
import pycuda.autoinit, pycuda.driver as cuda
try:
    cuda.IPCMemoryHandle(bytes.fromhex(sys.argv[1]))
except cuda.Error as error:
    print(error)
"""
MAKES = """
import pycuda.autoinit, pycuda.driver as cuda
memory = cuda.mem_alloc(1000)
print(cuda.mem_get_ipc_handle(memory).hex())
"""
memory = cuda.mem_alloc(1000)
handle = cuda.mem_get_ipc_handle(memory)
assert "cuIpcOpenMemHandle failed" in code_of(lambda: cuda.IPCMemoryHandle(handle))
memory.free()
assert "cuIpcOpenMemHandle failed" in child(CHILD, handle.hex())
of_the_dead = bytes.fromhex(child(MAKES))
assert "cuIpcOpenMemHandle failed" in code_of(lambda: cuda.IPCMemoryHandle(of_the_dead))
'''
    )


def test_events_of_another_process():
    run_python(
        COMMON
        + '''
CHILD = """
import sys
import numpy as np
import pycuda.autoinit, pycuda.driver as cuda
event = cuda.Event.from_ipc_handle(bytes.fromhex(sys.argv[1]))
shared = cuda.IPCMemoryHandle(bytes.fromhex(sys.argv[2]))
stream, out = cuda.Stream(), cuda.pagelocked_empty(32, np.int32)
stream.wait_for_event(event)
cuda.memcpy_dtoh_async(out, int(shared), stream)
stream.synchronize()
print(out.tolist() == [1] * 32, event.query())
"""
kernel = SourceModule("""
__global__ void slow(int *a, long long n) {
    int v = threadIdx.x;
    for (long long i = 0; i < n; i++) v = v * v + 1;
    a[threadIdx.x] = v == 12345 ? 0 : 1;
}""").get_function("slow")
event = cuda.Event(cuda.event_flags.INTERPROCESS | cuda.event_flags.DISABLE_TIMING)
memory, stream = cuda.to_device(np.zeros(32, np.int32)), cuda.Stream()
kernel(memory, np.int64(50_000_000), block=(32, 1, 1), stream=stream)
event.record(stream)
assert child(CHILD, event.ipc_handle().hex(), cuda.mem_get_ipc_handle(memory).hex()) == "True True"
'''
    )
