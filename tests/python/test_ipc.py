"""Memory and events between two processes."""

import pytest

from tests.python.subprocesses import run_python

pytestmark = pytest.mark.usefixtures("context")

# The parent runs the child with the handles as arguments.
COMMON = '''
import subprocess, sys
import numpy as np
import pycuda.autoinit, pycuda.driver as cuda
from pycuda.compiler import SourceModule

def child(code, *args):
    result = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=100)
    assert result.returncode == 0 and result.stderr == "", result.stdout + result.stderr
    return result.stdout.strip()

class Other:
    """A process that tells a line whenever it has something, and goes on when it is told to."""

    def __init__(self, code, *args):
        command = [sys.executable, "-c", code, *args]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def hear(self):
        return self.process.stdout.readline().strip()

    def go_on(self):
        print("go on", file=self.process.stdin, flush=True)

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(100) == 0
        self.process.stdout.close()

def code_of(call):
    try:
        call()
    except cuda.Error as error:
        return str(error)
    return "no error"
'''


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


# A process that is told what to do next.
OTHER = '''
OTHER = """
import sys
import numpy as np
import pycuda.autoinit, pycuda.driver as cuda

def tell(*words):
    print(*words, flush=True)
    sys.stdin.readline()
"""
'''


def test_memory_that_the_other_process_made():
    """The same handle reads, writes and is an argument; what it stands for is the whole allocation."""
    run_python(
        COMMON
        + OTHER
        + '''
CODE = OTHER + """
memory = cuda.to_device(np.arange(256, dtype=np.int32))
tell(cuda.mem_get_ipc_handle(memory).hex())
tell((cuda.from_device(memory, 256, np.int32) == 2 * np.arange(256)).all())
"""
other = Other(CODE)
handle = bytes.fromhex(other.hear())
twice = SourceModule("__global__ void twice(int *a) { a[threadIdx.x] *= 2; }").get_function("twice")
with cuda.IPCMemoryHandle(handle, cuda.ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS) as shared:
    assert shared.nbytes >= 1024 and int(shared) == shared.__index__() != 0
    assert cuda.mem_get_address_range(int(shared) + 4) == (int(shared), shared.nbytes)
    assert (cuda.from_device(shared, 256, np.int32) == np.arange(256)).all()
    twice(shared, block=(128, 1, 1))
    twice.prepare("P").prepared_call((1, 1), (128, 1, 1), int(shared) + 512)
    cuda.Context.synchronize()
    assert "do not fit" in code_of(lambda: cuda.memcpy_htod(shared, np.zeros(shared.nbytes + 1, np.uint8)))
other.go_on()
assert other.hear() == "True"
for use in (lambda: int(shared), lambda: cuda.from_device(shared, 4, np.int32)):
    assert "memory of another process used after close()" in code_of(use)
other.go_on()
other.end()
'''
    )


def test_events_that_the_other_process_made():
    run_python(
        COMMON
        + OTHER
        + '''
CODE = OTHER + """
event = cuda.Event(cuda.event_flags.INTERPROCESS | cuda.event_flags.DISABLE_TIMING)
memory, stream = cuda.to_device(np.zeros(4, np.int32)), cuda.Stream(1)
tell(event.ipc_handle().hex(), cuda.mem_get_ipc_handle(memory).hex())
cuda.memset_d32_async(memory, 9, 4, stream)
event.record(stream)
tell("recorded")
"""
other = Other(CODE)
event, memory = [bytes.fromhex(word) for word in other.hear().split()]
event, shared = cuda.Event.from_ipc_handle(bytearray(event)), cuda.IPCMemoryHandle(bytearray(memory))
assert event.query(), "nothing was recorded yet"
other.go_on()
assert other.hear() == "recorded"
event.synchronize()
assert event.query() and cuda.from_device(shared, 4, np.int32).tolist() == [9] * 4
assert "cuEventElapsedTime failed" in code_of(lambda: event.time_since(event))
event.close()
shared.close()
assert "memory of another process used after close()" in code_of(lambda: int(shared))
shared = cuda.IPCMemoryHandle(bytearray(memory))
assert cuda.from_device(shared, 4, np.int32).tolist() == [9] * 4, "it can be opened again"
shared.close()
other.go_on()
other.end()
'''
    )


def test_events_and_handles_that_are_refused():
    run_python(
        COMMON
        + """
interprocess, untimed = cuda.event_flags.INTERPROCESS, cuda.event_flags.DISABLE_TIMING
assert "INTERPROCESS | DISABLE_TIMING" in code_of(cuda.Event().ipc_handle)
assert "INTERPROCESS | DISABLE_TIMING" in code_of(cuda.Event(untimed).ipc_handle)
assert "cuEventCreate failed" in code_of(lambda: cuda.Event(interprocess))
one, two = cuda.Event(interprocess | untimed), cuda.Event(interprocess | untimed)
assert one.ipc_handle() != two.ipc_handle() and len(one.ipc_handle()) == 64
assert "cuIpcOpenMemHandle failed" in code_of(lambda: cuda.IPCMemoryHandle(bytes(64)))
for opens in (cuda.Event.from_ipc_handle, cuda.IPCMemoryHandle):
    for wrong, kind, text in (
        (b"short", ValueError, "handle has 5 bytes; expected 64"),
        ("x" * 64, TypeError, "handle is of type str; expected 64 bytes"),
        (None, TypeError, "handle is of type NoneType; expected 64 bytes"),
        (7, TypeError, "handle is of type int; expected 64 bytes"),
    ):
        try:
            opens(wrong)
        except kind as error:
            assert text in str(error), error
        else:
            raise AssertionError((opens, wrong))
memory = cuda.mem_alloc(64)
memory.free()
assert "64 bytes at" in code_of(lambda: cuda.mem_get_ipc_handle(memory))
assert "cuIpcGetMemHandle failed" in code_of(lambda: cuda.mem_get_ipc_handle(8))
closed = cuda.Event(interprocess | untimed)
closed.close()
assert "the event was closed" in code_of(closed.ipc_handle)
"""
    )
