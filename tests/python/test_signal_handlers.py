"""The program's signal handlers are its own: whatever this library does, they are found again, flags included.

The virtual GPU's kernels need SIGSEGV, SIGBUS, SIGFPE and SIGILL. Their handlers stand before those of the program,
which get every signal that no kernel has raised.
"""

import signal
import sys

import pytest

from tests.python.subprocesses import has_real_device, run_python

pytestmark = [
    pytest.mark.usefixtures("context"),
    pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the flags of handlers"),
]

START = """
import ctypes, os, signal, sys
LIBC = ctypes.CDLL(None, use_errno=True)

class Action(ctypes.Structure):
    _fields_ = [("handler", ctypes.c_void_p), ("mask", ctypes.c_uint8 * 128), ("flags", ctypes.c_int),
                ("restorer", ctypes.c_void_p)]

SA_NOCLDSTOP, SA_RESTART, SA_NODEFER, SA_ONSTACK = 1, 0x10000000, 0x40000000, 0x08000000
FAULTS = [signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL]
OTHERS = [s for s in sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, *FAULTS})]
called = []
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(called.append)
# Of signals that may come at any time: a function of C without an effect.
quiet = ctypes.cast(LIBC.abs, ctypes.c_void_p).value

def action_of(number):
    action = Action()
    if LIBC.sigaction(int(number), None, ctypes.byref(action)):
        return None
    return action.handler, bytes(action.mask)[:8], action.flags & ~0x04000000

def install(number, flags):
    entry = ctypes.cast(handler, ctypes.c_void_p).value if number in FAULTS else quiet
    action = Action(entry, flags=flags)
    action.mask[(signal.SIGUSR1 - 1) // 8] = 1 << (signal.SIGUSR1 - 1) % 8
    assert LIBC.sigaction(int(number), ctypes.byref(action), None) == 0, number

def flags_of(i):
    return [SA_RESTART, SA_RESTART | SA_ONSTACK, SA_ONSTACK, SA_NODEFER | SA_RESTART, 0][i % 5]

for i, number in enumerate(OTHERS):
    # The C library keeps two for itself.
    if action_of(number) is not None and number < 32:
        install(number, flags_of(i) | (SA_NOCLDSTOP if number == signal.SIGCHLD else 0))
for i, number in enumerate(FAULTS):
    install(number, flags_of(i))
before = {number: action_of(number) for number in OTHERS + FAULTS}

def check(after, faults=True):
    for number, expected in before.items():
        if faults or number not in FAULTS:
            assert action_of(number) == expected, (after, number, action_of(number), expected)
"""

# NVRTC's first compilation of a process is looked at where compilations are tested.
COMPILED_BEFORE = """
import time
from rtcg.compiler import SourceModule, compile
compile(f"__global__ void at_{time.time_ns()}() {{}}", arch="sm_80", target="ptx")
"""

USES = """
import numpy as np
import rtcg, rtcg.driver as cuda
check("import")
import rtcg.autoinit
check("a context")
import rtcg.numpy as xp
module = SourceModule('''
    __global__ void twice(int *x) { x[threadIdx.x] *= 2; }
    __global__ void wild(int *x) { x[1ull << 45] = 1; }
    __global__ void divide(int *x) { x[0] = x[0] / x[1]; }''')
check("a compilation")
x = cuda.InOut(np.arange(4, dtype=np.int32))
module.get_function("twice")(x, block=(4, 1, 1))
assert x.array.tolist() == [0, 2, 4, 6]
check("a launch", faults=not VIRTUAL)
stream = cuda.Stream()
stream.launch_host_func(lambda: None)
stream.synchronize()
((xp.ones(1000) + 1).sum().get(), xp.sort(xp.arange(10)).get())
check("arrays", faults=not VIRTUAL)
from rtcg import tune
kernel = tune.Kernel("__global__ void fill(float *x) { x[threadIdx.x] = n; }", "fill", tune.Space(n=[4, 8]),
                     block=4, grid=1)
kernel.tune(xp.zeros(4, np.float32), budget="2 evaluations", isolate=True, progress=False)
check("a tuning worker", faults=not VIRTUAL)
try:
    compile("__global__ void broken( {")
except cuda.CompileError:
    pass
check("an error of the compiler", faults=not VIRTUAL)
try:
    module.get_function("wild")(cuda.mem_alloc(4), block=(1, 1, 1))
    cuda.Context.synchronize()
    raise SystemExit("the kernel did not fail")
except cuda.Error:
    pass
check("a fault of a kernel", faults=not VIRTUAL)
if VIRTUAL:
    # They are called, with what they asked for.
    for i, number in enumerate(FAULTS):
        flags = action_of(number)[2] & (SA_RESTART | SA_NODEFER)
        assert flags == flags_of(i) & (SA_RESTART | SA_NODEFER), (number, hex(flags))
        assert action_of(number)[1] == before[number][1], number
for number in FAULTS:
    os.kill(os.getpid(), number)
assert called == FAULTS, called
print("end", flush=True)
"""

DISPOSITIONS = """
import os, signal, sys
import numpy as np
number = getattr(signal, sys.argv[1])
signal.signal(number, getattr(signal, sys.argv[2]))
import rtcg.autoinit, rtcg.driver as cuda
from rtcg.compiler import SourceModule
SourceModule("__global__ void f() {}").get_function("f")(block=(1, 1, 1))
cuda.Context.synchronize()
os.kill(os.getpid(), number)
print("alive", flush=True)
os._exit(0)
"""


def test_handlers_are_found_again(context, tmp_path):
    run = run_python(COMPILED_BEFORE + START + f"VIRTUAL = {not has_real_device()}" + USES, RTCG_TUNING_DIR=tmp_path)
    assert run.stdout == "end\n"


@pytest.mark.parametrize("number", ["SIGSEGV", "SIGFPE"])
def test_signals_that_are_sent_do_what_they_did_before(context, number):
    ignored = run_python(DISPOSITIONS, number, "SIG_IGN", PYTHONFAULTHANDLER="")
    assert ignored.stdout == "alive\n"
    default = run_python(DISPOSITIONS, number, "SIG_DFL", check=False, PYTHONFAULTHANDLER="")
    assert (default.returncode, default.stdout) == (-getattr(signal, number), "")
