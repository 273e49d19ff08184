"""Ctrl-C while the virtual GPU works: KeyboardInterrupt comes at once and the context goes on."""

import sys

import pytest

from tests.python.subprocesses import run_python

pytestmark = pytest.mark.usefixtures("context")

PROGRAM = r"""
import faulthandler, os, signal, sys, threading, time
faulthandler.dump_traceback_later(100, exit=True)  # says where it hangs, should it hang
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

module = SourceModule('''
__global__ void spin(volatile int *go, int *done) { while (!*go) ; done[0] = 1; }
__global__ void fine(int *a) { a[threadIdx.x] = 5; }
''')
spin, fine = module.get_function("spin"), module.get_function("fine")
go, done = cuda.to_device(np.zeros(1, np.int32)), cuda.to_device(np.zeros(1, np.int32))
out = np.zeros(4, np.int32)
memory = cuda.mem_alloc(16)
event = cuda.Event()
stream = cuda.Stream()

# Compiled before it is timed: the signal must come while something waits, not while a launch compiles.
spin(cuda.In(np.ones(1, np.int32)), cuda.InOut(np.zeros(1, np.int32)), block=(64, 1, 1), grid=(3, 1))


def interrupted(name, wait):
    threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begun = time.perf_counter()
    try:
        wait()
    except KeyboardInterrupt:
        took = time.perf_counter() - begun
        assert took < 5, (name, took)
    else:
        sys.exit(f"{name}: no KeyboardInterrupt")
    fine(memory, block=(4, 1, 1))
    cuda.memcpy_dtoh(out, memory)
    assert (out == 5).all(), name
    out[:] = 0


def start(stream=None):
    spin(go, done, block=(64, 1, 1), grid=(3, 1), stream=stream)


def waits():
    yield "synchronize", lambda: (start(), cuda.Context.synchronize())
    yield "memcpy", lambda: (start(), cuda.memcpy_dtoh(out, memory))
    yield "event", lambda: (start(), event.record(), event.synchronize())
    yield "stream", lambda: (start(stream), stream.synchronize())
    yield "free", lambda: (start(), cuda.mem_alloc(100).free())
    yield "InOut", lambda: spin(cuda.InOut(np.zeros(1, np.int32)), done, block=(64, 1, 1))
    yield "array", lambda: (start(), pycuda.gpuarray.to_gpu(out).get())


import pycuda.gpuarray
for name, wait in waits():
    interrupted(name, wait)
assert cuda.from_device(done, (1,), np.int32)[0] == 0

# A handler that returns does not end the wait.
calls = []
signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.6)
interrupted("after a handler", lambda: (start(), cuda.Context.synchronize()))
assert calls == [1]
print("done")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent with kill")
def test_waits_are_interruptible(on_virtual_device):
    if not on_virtual_device:
        pytest.skip("a real driver cannot be interrupted")
    result = run_python(PROGRAM)
    assert result.stdout.endswith("done\n")


ENDLESS = r"""
import numpy as np
import pycuda.autoinit
from pycuda.compiler import SourceModule

module = SourceModule("__global__ void endless(volatile int *a) { while (!*a) ; }")
memory = pycuda.driver.to_device(np.zeros(1, np.int32))
module.get_function("endless")(memory, block=(32, 1, 1))
"""


def test_the_interpreter_ends_with_a_kernel_running(on_virtual_device):
    if not on_virtual_device:
        pytest.skip("what a real driver does is its business")
    result = run_python(ENDLESS, check=False)
    assert result.returncode == 0, result.stderr
    assert "still running at the end of the program, and stopped: kernel endless" in result.stderr


COMPILING = r"""
import faulthandler, os, signal, sys, threading, time
faulthandler.dump_traceback_later(100, exit=True)
os.environ["CUDA_CACHE_DISABLE"] = "1"  # machine code of an earlier run would leave nothing to wait for
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

N = 30000
step = "@%p bra $b{i}; add.u32 %r, %r, {i}; $b{i}: xor.b32 %r, %r, %q; setp.gt.u32 %p, %r, {i};\n"
tests = "".join(step.format(i=i) for i in range(N))
text = f'''.version 7.0
.target sm_70
.address_size 64
.visible .entry large(.param .u64 out) {{ .reg .b32 %r, %q; .reg .b64 %d; .reg .pred %p; ld.param.u64 %d, [out];
mov.u32 %r, %tid.x; mov.u32 %q, %tid.x; setp.gt.u32 %p, %r, 5; {tests} st.global.u32 [%d], %r; ret; }}'''
large = cuda.module_from_buffer(text.encode()).get_function("large")
memory = cuda.mem_alloc(16)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begun = time.perf_counter()
try:
    large(memory, block=(1, 1, 1))
    cuda.Context.synchronize()
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - begun < 3)
SourceModule("__global__ void fine(int *a) { a[threadIdx.x] = 5; }").get_function("fine")(memory, block=(4, 1, 1))
assert (cuda.from_device(memory, 4, np.int32) == 5).all()
print("done")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent with kill")
def test_the_virtual_gpus_compilations_are_interruptible(on_virtual_device):
    if not on_virtual_device:
        pytest.skip("a real driver cannot be interrupted")
    result = run_python(COMPILING)
    assert result.stdout.splitlines() == ["interrupted True", "done"]
