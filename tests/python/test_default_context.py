"""Programs that make no context work in the primary context of the default device, as with CUDA's runtime."""

import pytest

from tests.python.subprocesses import run_python

pytestmark = pytest.mark.usefixtures("context")

FIRST_CALLS = {
    "alloc": "int(cuda.mem_alloc(16))",
    "copy": "assert cuda.from_device(cuda.to_device(np.arange(4)), (4,), np.int64).tolist() == [0, 1, 2, 3]",
    "array": "assert (gpuarray.arange(4, dtype=np.int32) + 1).get().tolist() == [1, 2, 3, 4]",
    "stream": "cuda.Stream().synchronize()",
    "event": "cuda.Event().record().synchronize()",
    "info": "assert cuda.mem_get_info()[1] > 0",
    "device": "assert cuda.Context.get_device() == cuda.Device(0)",
    "synchronize": "cuda.Context.synchronize()",
    "pinned": "cuda.pagelocked_zeros(4, np.int32)",
    "module": "SourceModule('__global__ void f(int *a) {}').get_function('f')(cuda.mem_alloc(4), block=(1, 1, 1))",
    "elementwise": "ElementwiseKernel('int *x', 'x[i] = i')(gpuarray.empty(4, np.int32))",
    "rand": "rand(4).get()",
    "limit": "cuda.Context.get_limit(cuda.limit.STACK_SIZE)",
    "pool": "DeviceMemoryPool().allocate(16)",
    "data": "DeviceData()",
    "compile": "compile('__global__ void f() {}')",
}

IMPORTS = """
import threading
import numpy as np
import pycuda.driver as cuda, pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule, compile
from pycuda.curandom import rand
from pycuda.elementwise import ElementwiseKernel
from pycuda.tools import DeviceData, DeviceMemoryPool
"""


@pytest.mark.parametrize("call", FIRST_CALLS.values(), ids=FIRST_CALLS)
def test_the_first_call_needs_no_context(call):
    """In the main thread and in another one, which gets the same context."""
    run_python(
        IMPORTS
        + f"""
def work():
    {call}
    seen.append(cuda.Context.get_current())
seen = []
work()
thread = threading.Thread(target=work)
thread.start(), thread.join()
a, b = seen
assert a == b
if a is not None:
    assert a == cuda.Device(0).retain_primary_context()
"""
    )


def test_a_program_that_popped_its_context_is_told():
    run_python(
        IMPORTS
        + """
cuda.init()
context = cuda.Device(0).make_context()
cuda.Context.pop()
for call in (lambda: cuda.mem_alloc(16), cuda.Stream, cuda.mem_get_info, lambda: gpuarray.zeros(4, np.int32),
             lambda: SourceModule("__global__ void f() {}"), cuda.Context.get_device):
    try:
        call()
    except cuda.LogicError as error:
        assert "invalid device context" in str(error), error
    else:
        raise AssertionError("no error")
assert cuda.Context.get_current() is None
with context:
    cuda.mem_alloc(16)
"""
    )


def test_contexts_of_the_program_stand_above_it():
    run_python(
        IMPORTS
        + """
a = gpuarray.arange(4, dtype=np.int32)
default = cuda.Context.get_current()
context = cuda.Device(0).make_context()
assert cuda.Context.get_current() == context != default
cuda.Context.pop()
assert cuda.Context.get_current() == default and (a + a).get().tolist() == [0, 2, 4, 6]
"""
    )


def test_the_default_device_can_be_named():
    code = IMPORTS + "print(cuda.Context.get_device().pci_bus_id() == cuda.Device(1).pci_bus_id())"
    environment = {"RTCG_LIBCUDA": "none", "RTCG_VIRTUAL_DEVICES": 2}
    assert run_python(code, CUDA_DEVICE="1", **environment).stdout == "True\n"
    assert run_python(code, CUDA_DEVICE="0", **environment).stdout == "False\n"
    result = run_python(code, check=False, CUDA_DEVICE="none", **environment)
    assert "expected the number of a device" in result.stderr


def test_another_device_for_a_moment_leaves_it_the_default_one():
    run_python(
        """
import threading
from rtcg import devices
import rtcg.numpy as rnp

a = rnp.arange(5)
found = []

def use_the_other():
    with devices.use(1):
        assert rnp.zeros(1).device.pci_bus_id() != a.device.pci_bus_id()

def work(use):
    use()
    found.append(rnp.arange(3).device.pci_bus_id())

for use in (lambda: None, use_the_other, a.__dask_tokenize__, lambda: a.to_device(1), lambda: None):
    thread = threading.Thread(target=work, args=(use,))
    thread.start()
    thread.join()
assert found == [a.device.pci_bus_id()] * 5, found
""",
        RTCG_LIBCUDA="none",
        RTCG_VIRTUAL_DEVICES="2",
    )


def test_libraries_that_use_devices_leave_threads_their_default():
    """The first call may be theirs, in any thread, and the thread that declares a default is as any other."""
    run_python(
        """
import threading
from rtcg import devices, driver, nccl
import rtcg.numpy as rnp

found = []

def work():
    device = rnp.zeros(1).device
    found.append(next(k for k in range(2) if device == driver.Device(k)))

def use(k):
    with devices.use(k):
        rnp.zeros(1)

def use_primary_context(k):
    with devices.primary_context(k):
        rnp.zeros(1)

def work_everywhere():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    work()

use(1)
work_everywhere()
for library in (lambda: devices.map(str, range(2)), lambda: nccl.init_all(2), lambda: use_primary_context(1)):
    library()
    work_everywhere()
assert found == [0] * 8, found
found.clear()

def declare_and(library):
    devices.set_default(1)
    library()
    work()

for library in (lambda: use(0), lambda: use_primary_context(0), lambda: devices.map(str, range(2))):
    thread = threading.Thread(target=declare_and, args=(library,))
    thread.start()
    thread.join()
assert found == [1] * 3, found
""",
        RTCG_LIBCUDA="none",
        RTCG_VIRTUAL_DEVICES="2",
    )


def test_a_thread_that_pops_a_context_itself_has_no_default_then():
    run_python(
        """
from rtcg import devices, driver
import rtcg.numpy as rnp

driver.init()
context = driver.Device(0).make_context()
devices.set_default(context)
with context:
    rnp.zeros(1)
try:
    rnp.zeros(1)
except driver.LogicError as error:
    assert "no currently active context" in str(error)
else:
    raise AssertionError("no error")
"""
    )


def test_another_device_after_the_thread_has_popped_the_declared_one():
    run_python(
        """
from rtcg import devices, driver
import rtcg.numpy as rnp

driver.init()
devices.set_default(0)
for k in (0, 1, 0):
    with devices.use(k):
        assert rnp.zeros(1).device == driver.Device(k)
""",
        RTCG_LIBCUDA="none",
        RTCG_VIRTUAL_DEVICES="2",
    )
