"""Kernels that go wrong: the error CUDA gives, what it says, and what still works afterwards.

Every program runs in a process of its own, because its context is spoilt.
"""

import json
import re

import pytest

from tests.python.subprocesses import has_real_device, run_python

pytestmark = pytest.mark.usefixtures("context")

PROGRAM = r"""
import json, sys
import numpy as np
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

cuda.init()
context = cuda.Device(0).make_context()
SOURCE = r'''
#include <cassert>
extern "C" {
__global__ void fine(int *a) { a[threadIdx.x] = 5; }
__global__ void null_write(int *a) { if (threadIdx.x == 3 && blockIdx.x == 2) *(volatile int *) 16 = 1; }
__global__ void far_read(int *a) { a[0] = a[(1LL << 40) + threadIdx.x]; }
__global__ void after_free(int *a) { a[threadIdx.x] = 1; }
__global__ void unaligned(int *a) { *(volatile int *) ((char *) a + 2) = 1; }
__global__ void traps(int *a) { if (threadIdx.x == 1) __trap(); }
__global__ void asserts(int *a) { assert(a[threadIdx.x] == 0 && "as it should be"); }
}
'''
module = SourceModule(SOURCE, options=["-lineinfo"], no_extern_c=True)
memory = cuda.to_device(np.arange(4, dtype=np.int32))
fine = module.get_function("fine")
fine(memory, block=(4, 1, 1))
kernel = module.get_function(sys.argv[1])
if sys.argv[1] == "after_free":
    victim = cuda.mem_alloc(1 << 26)
    address = np.uintp(int(victim))
    victim.free()
else:
    address = memory
    cuda.memset_d32(memory, 1, 4)
stream = cuda.Stream()
outcome = {"line": SOURCE[: SOURCE.index(sys.argv[1] + "(")].count("\n") + 1, "later": {}}

def attempt(use):
    try:
        use()
    except cuda.Error as error:
        return [type(error).__name__, str(error)]
    return None

def go_wrong():
    if sys.argv[2] == "stream":
        kernel(address, block=(4, 1, 1), grid=(4, 1), stream=stream)
        stream.synchronize()
    elif sys.argv[2] == "prepared":
        kernel.prepare("P").prepared_call((4, 1), (4, 1, 1), address)
        cuda.Context.synchronize()
    elif sys.argv[2] == "copy":
        kernel(address, block=(4, 1, 1), grid=(4, 1))
        cuda.from_device(memory, 4, np.int32)
    elif sys.argv[2] == "event":
        kernel(address, block=(4, 1, 1), grid=(4, 1))
        cuda.Event().record().synchronize()
    else:
        out = np.zeros(4, np.int32)
        kernel(address, block=(4, 1, 1), grid=(4, 1), time_kernel=True)

outcome["first"] = attempt(go_wrong)
for name, use in {
    "alloc": lambda: cuda.mem_alloc(16),
    "launch": lambda: fine(memory, block=(4, 1, 1)),
    "copy": lambda: cuda.memcpy_htod(memory, np.zeros(4, np.int32)),
    "synchronize": lambda: cuda.Context.synchronize(),
    "stream": lambda: stream.synchronize(),
}.items():
    outcome["later"][name] = attempt(use)

if cuda.Device(0).is_virtual:
    # The other contexts of the process are good, also one made afterwards.
    del kernel, fine, module, stream, memory
    context.detach()
    context = cuda.Device(0).make_context()
    memory = cuda.mem_alloc(16)
    SourceModule(SOURCE, no_extern_c=True).get_function("fine")(memory, block=(4, 1, 1))
    outcome["after"] = cuda.from_device(memory, 4, np.int32).tolist()
print(json.dumps(outcome))
"""

ILLEGAL = ("LogicError", "an illegal memory access was encountered")
FAULTS = {
    "null_write": (*ILLEGAL, r"write of 4 bytes at 0x10\b.*block \(2, 0, 0\), thread \(3, 0, 0\)"),
    "far_read": (*ILLEGAL, r"read of 4 bytes at 0x[0-9a-f]+"),
    "after_free": (*ILLEGAL, r"write of 4 bytes at 0x[0-9a-f]+"),
    "unaligned": ("LogicError", "misaligned address", r"thread \(\d, 0, 0\)"),
    "traps": ("LaunchError", "unspecified launch failure", r"threads? \(\d, 0, 0\)"),
    "asserts": ("LogicError", "device-side assert triggered", r"thread \(\d, 0, 0\)"),
}


def run_fault(kernel, how):
    result = run_python(PROGRAM, kernel, how, check=False)
    assert result.returncode == 0, result.stderr
    if kernel == "asserts":
        assert "as it should be" in result.stdout + result.stderr
    else:
        assert result.stderr == ""
    return json.loads(result.stdout.splitlines()[-1])


def check_fault(outcome, kernel):
    class_name, text, detail = FAULTS[kernel]
    assert outcome["first"] is not None, "the fault went unnoticed"
    assert outcome["first"][0] == class_name
    message = outcome["first"][1]
    assert re.match(rf"cu\w+ failed: {text}", message)
    for name, later in outcome["later"].items():
        assert later is not None, f"{name} works in a spoilt context"
        assert later[0] == class_name and text in later[1], (name, later)
    if has_real_device():
        return
    assert f"kernel {kernel}" in message
    assert re.search(detail, message, re.DOTALL), message
    assert re.search(rf":{outcome['line']}\b|line {outcome['line']}\b", message), message
    assert outcome["after"] == [5, 5, 5, 5]


@pytest.mark.parametrize("kernel", FAULTS)
def test_fault(kernel):
    check_fault(run_fault(kernel, "direct"), kernel)


@pytest.mark.parametrize("how", ["stream", "prepared", "copy", "event"])
def test_faults_surface_wherever_one_waits(how):
    check_fault(run_fault("null_write", how), "null_write")


def test_exit_after_a_fault():
    """Clean-up in a spoilt context is silent."""
    run_python(
        """
import numpy as np
import pycuda.autoinit, pycuda.driver as cuda, pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

kernel = SourceModule("__global__ void wrong(int *a) { *(volatile int *) 16 = 1; }").get_function("wrong")
keep = [cuda.mem_alloc(10), cuda.Stream(), cuda.Event(), cuda.pagelocked_zeros(3, np.int8), gpuarray.zeros(4, np.int32)]
kernel(keep[0], block=(1, 1, 1))
try:
    cuda.Context.synchronize()
except cuda.LogicError:
    pass
else:
    raise AssertionError("no error")
"""
    )


def test_a_fault_that_nobody_waits_for():
    run_python(
        """
import pycuda.autoinit, pycuda.driver as cuda
from pycuda.compiler import SourceModule

kernel = SourceModule("__global__ void wrong(int *a) { *(volatile int *) 16 = 1; }").get_function("wrong")
kernel(cuda.mem_alloc(16), block=(1, 1, 1))
"""
    )


def test_refused_launches_do_not_spoil_the_context():
    run_python(
        """
import numpy as np
import pycuda.autoinit, pycuda.driver as cuda
from pycuda.compiler import SourceModule

kernel = SourceModule("__global__ void k(int *a) { a[threadIdx.x] = 5; }").get_function("k")
a = np.zeros(4, np.int32)
for options in (dict(block=(2000, 1, 1)), dict(block=(1, 1, 65)), dict(block=(4, 1, 1), shared=1 << 24),
                dict(block=(0, 1, 1)), dict(block=(1, 1, 1), grid=(1, 1 << 20))):
    try:
        kernel(cuda.Out(a), **options)
    except cuda.Error as error:
        assert str(error).startswith("cuLaunchKernel failed: "), error
    else:
        raise AssertionError(options)
kernel(cuda.Out(a), block=(4, 1, 1))
assert (a == 5).all()
"""
    )
