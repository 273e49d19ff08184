"""Handlers of signals around compilations, and compilations that Ctrl-C ends."""

import os

import pytest

from tests.python.subprocesses import run_python

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

#: Reads what the kernel knows of a handler: its address and flags.
HANDLERS = """
import ctypes, signal, sys, time, threading, os
libc = ctypes.CDLL(None)
def handlers():
    found = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGXFSZ, signal.SIGQUIT):
        buffer = ctypes.create_string_buffer(256)
        assert libc.sigaction(int(number), None, buffer) == 0
        # Of glibc's structure: the handler and 64 signals of the mask; the flags. Further bytes are not written.
        found.append((buffer.raw[:16], buffer.raw[136:140]))
    return found
"""


def test_the_first_compilation_keeps_handlers_and_flags():
    run_python(
        HANDLERS
        + """
import pycuda.autoinit
from pycuda.compiler import SourceModule
signal.signal(signal.SIGTERM, lambda *_: None)
before = handlers()
for source in ("__global__ void k(int *a) { *a = 1; }", "__global__ void k(int *a) { *a = 2; }"):
    SourceModule(source, cache_dir=False)
    assert handlers() == before
try:
    SourceModule("__global__ void k(int *a) { *a = b; }", cache_dir=False)
except pycuda.driver.CompileError:
    pass
assert handlers() == before
""",
        PYCUDA_DISABLE_CACHE="1",
    )


#: Seconds in the front end, and seconds in the optimiser.
LONG = {
    "front end": """function = "template<class T> __device__ T g%d(T x) { return x * %d; }\\n"
source = "".join(function % (i, i) for i in range(20000))
source += "__global__ void k(float *a) {" + "".join("a[%d] = g%d(a[%d]);" % (i, i, i) for i in range(8000)) + "}"
options = dict(no_extern_c=True)
""",
    "optimiser": """source = "__global__ void k(int *a, int n) { int x = a[0];"
statement = "if (a[%d] > x) x = x * %d + n; else x -= a[%d];\\n"
source += "".join(statement % (i, i, i + 1) for i in range(6000)) + "a[0] = x; }"
options = {}
""",
}


@pytest.mark.parametrize("phase", LONG)
def test_ctrl_c_ends_a_compilation(phase):
    run_python(
        HANDLERS
        + LONG[phase]
        + """
import pycuda.autoinit
from pycuda.compiler import SourceModule
SourceModule("__global__ void k(int *a) { *a = 1; }", cache_dir=False)
sent = []
def interrupt():
    time.sleep(0.7)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    SourceModule(source, cache_dir=False, **options)
except KeyboardInterrupt:
    took = time.monotonic() - sent[0]
else:
    sys.exit("the compilation was not interrupted")
assert took < 1, took
""",
        PYCUDA_DISABLE_CACHE="1",
    )


def test_a_signal_in_the_first_compilation_is_the_programs_own():
    code = (
        HANDLERS
        + LONG["front end"]
        + """
import pycuda.autoinit
from pycuda.compiler import SourceModule
threading.Thread(target=lambda: (time.sleep(0.7), os.kill(os.getpid(), signal.SIGTERM))).start()
def stop(*_):
    raise SystemExit(7)
signal.signal(signal.SIGTERM, stop)
SourceModule(source, cache_dir=False, **options)
"""
    )
    assert run_python(code, check=False, PYCUDA_DISABLE_CACHE="1").returncode == 7
