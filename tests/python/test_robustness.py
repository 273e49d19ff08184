"""Objects die in any order, in any thread, after fork, at exit: no crash, no banner, no leak."""

import os

import pytest

from tests.python.subprocesses import run_python

pytestmark = pytest.mark.usefixtures("context")

# One object of every kind that holds something of the driver.
ALL_KINDS = """
import gc, sys, threading
import numpy as np
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

SOURCE = "__device__ int g[4]; __global__ void k(float *a) { a[threadIdx.x] += 1; }"

def one_of_each():
    module = SourceModule(SOURCE)
    function = module.get_function("k")
    prepared = module.get_function("k").prepare("P")
    memory = cuda.mem_alloc(1 << 12)
    stream, start, end = cuda.Stream(), cuda.Event(), cuda.Event()
    locked = cuda.pagelocked_zeros(64, np.float32)
    registered = cuda.register_host_memory(cuda.aligned_zeros(4096, np.uint8))
    managed = cuda.managed_zeros(64, np.float32)
    start.record(stream)
    function(memory, block=(32, 1, 1), stream=stream)
    cuda.memcpy_dtoh_async(locked, memory, stream)
    timed = prepared.prepared_timed_call((1, 1), (32, 1, 1), memory)
    end.record(stream)
    array = gpuarray.zeros(64, np.float32)
    copy = cuda.Memcpy2D()
    copy.set_src_device(memory)
    return [
        module, function, prepared, memory, stream, start, end, locked, registered, managed, timed, array, array + 1,
        copy, cuda.InOut(np.zeros(4, np.float32)), cuda.mem_alloc_pitch(100, 10, 4)[0], locked[3:],
    ]
"""


@pytest.mark.parametrize("order", ["forwards", "backwards", "shuffled"])
def test_everything_dies_at_exit(order):
    run_python(
        ALL_KINDS
        + """
import random
import pycuda.autoinit
objects = one_of_each()
if sys.argv[1] == "backwards":
    objects.reverse()
if sys.argv[1] == "shuffled":
    random.Random(1).shuffle(objects)
# Module globals die one by one, in an order that differs from that of a list.
for number, thing in enumerate(objects):
    globals()[f"thing_{number}"] = thing
""",
        order,
    )


def test_everything_outlives_a_popped_and_detached_context():
    run_python(
        ALL_KINDS
        + """
cuda.init()
for how in ("pop", "detach", "drop", "detach below"):
    context = cuda.Device(0).make_context()
    objects = one_of_each()
    if how == "pop":
        context.pop()
    elif how == "detach":
        context.detach()
    elif how == "detach below":
        other = cuda.Device(0).make_context()
        context.detach()
        other.pop()
        del other
    else:
        context.pop()
        del context
        gc.collect()
    assert cuda.Context.get_current() is None, how
    del objects
    gc.collect()
context = None
"""
    )


def test_uses_after_the_context_are_errors_and_not_crashes():
    run_python(
        ALL_KINDS
        + """
cuda.init()
context = cuda.Device(0).make_context()
objects = one_of_each()
module, function, prepared, memory, stream, start, end, locked, registered, managed, timed, array = objects[:12]
context.detach()
for again in (False, True):
    if again:  # Another context is current, perhaps with the handles of the first.
        second = cuda.Device(0).make_context()
    for name, use in {
        "get_function": lambda: module.get_function("k"),
        "get_global": lambda: module.module.get_global("g"),
        "call": lambda: function(memory, block=(1, 1, 1)),
        "prepared": lambda: prepared.prepared_call((1, 1), (1, 1, 1), memory),
        "stream": lambda: stream.synchronize(),
        "is_done": lambda: stream.is_done(),
        "record": lambda: start.record(stream),
        "query": lambda: start.query(),
        "wait": lambda: end.synchronize(),
        "timed": lambda: timed(),
        "num_regs": lambda: function.num_regs,
        "copy": lambda: cuda.memcpy_htod_async(memory, np.zeros(4), stream),
        "wait_for_event": lambda: stream.wait_for_event(start),
        "get": lambda: array.get(),
        "add": lambda: array + array,
        "push": lambda: context.push(),
    }.items():
        try:
            use()
        except cuda.Error:
            pass
        else:
            raise AssertionError(name)
"""
    )


def test_the_context_dies_before_its_array():
    run_python(
        """
import numpy as np, gc
import pycuda.driver as cuda, pycuda.gpuarray as gpuarray
cuda.init()
context = cuda.Device(0).make_context()
array = gpuarray.to_gpu(np.arange(10))
assert array.get().sum() == 45
cuda.Context.pop()
del context
gc.collect()
del array
gc.collect()
"""
    )


def test_exit_with_contexts_on_the_stacks_of_threads():
    run_python(
        """
import threading
import pycuda.driver as cuda
cuda.init()
contexts = [cuda.Device(0).make_context(), cuda.Device(0).make_context()]
held = []

def body():
    context = cuda.Device(0).make_context()
    held.append(cuda.mem_alloc(100))

threads = [threading.Thread(target=body) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
# Another thread is still busy when the interpreter goes.
threading.Thread(target=lambda: [cuda.Device(0).name() for _ in range(2000)], daemon=True).start()
"""
    )


def test_exit_while_a_daemon_thread_computes():
    run_python(
        """
import threading, time
import numpy as np
import pycuda.autoinit, pycuda.gpuarray as gpuarray
started = threading.Event()

def body():
    pycuda.autoinit.context.push()
    array = gpuarray.zeros(1000, np.float32)
    while True:
        array += 1
        array.get()
        started.set()

threading.Thread(target=body, daemon=True).start()
started.wait(60)
""",
        check=False,
    ).check_returncode()


def test_freed_by_other_threads():
    run_python(
        ALL_KINDS
        + """
import pycuda.autoinit
for with_context in (False, True):
    objects = one_of_each()
    def clear():
        if with_context:
            other = cuda.Device(0).make_context()
        while objects:
            objects.pop()
        gc.collect()
        if with_context:
            other.pop()
    thread = threading.Thread(target=clear)
    thread.start()
    thread.join()
    assert cuda.Context.get_current() == pycuda.autoinit.context
    assert gpuarray.zeros(4, np.float32).get().sum() == 0
"""
    )


def test_reference_cycles():
    run_python(
        ALL_KINDS
        + """
import pycuda.autoinit
class Node:
    pass
for _ in range(20):
    a, b = Node(), Node()
    a.other, b.other = b, a
    a.objects, b.array = one_of_each(), gpuarray.zeros(1000, np.float32)
    del a, b
gc.collect()
survivor = Node()
survivor.self = survivor
survivor.objects = one_of_each()
"""
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("way", ["exit", "_exit"])
def test_fork(way):
    result = run_python(
        ALL_KINDS
        + """
import os, warnings
import pycuda.autoinit
objects = one_of_each()
# Python 3.12 warns of the driver's threads, which the child does not have.
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
pid = os.fork()
if pid == 0:
    refused = 0
    for use in (
        lambda: cuda.mem_alloc(10),
        lambda: cuda.memcpy_htod(objects[3], np.zeros(4)),
        lambda: objects[1](objects[3], block=(1, 1, 1)),
        lambda: objects[4].synchronize(),
        lambda: cuda.Context.synchronize(),
        lambda: gpuarray.zeros(4, np.float32),
        lambda: cuda.Device(0).make_context(),
    ):
        try:
            use()
        except cuda.Error as error:
            assert "forked" in str(error), error
            refused += 1
    del objects
    gc.collect()
    if refused != 7:
        os._exit(5)
    if sys.argv[1] == "_exit":
        os._exit(0)
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert objects[11].get().sum() == 0
print("the parent works on")
""",
        way,
    )
    assert result.stdout == "the parent works on\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork_before_init():
    run_python(
        """
import os
import numpy as np
import pycuda.driver as cuda
pid = os.fork()
import pycuda.autoinit, pycuda.gpuarray as gpuarray
assert gpuarray.to_gpu(np.arange(4)).get().sum() == 6
if pid:
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""
    )


def test_many_threads_launch_at_once():
    run_python(
        """
import threading
import numpy as np
import pycuda.autoinit, pycuda.driver as cuda
from pycuda.compiler import SourceModule

function = SourceModule('''
__global__ void add(int *a, int n, int by) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] += by; }
''').get_function("add")
failures = []

def body(number):
    try:
        pycuda.autoinit.context.push()
        stream = cuda.Stream()
        host = np.full(500, number, np.int32)
        memory = cuda.to_device(host)
        for _ in range(100):
            function(memory, np.int32(500), np.int32(1), grid=(4, 1), block=(128, 1, 1), stream=stream)
        function(cuda.InOut(host), np.int32(500), np.int32(5), grid=(4, 1), block=(128, 1, 1))
        stream.synchronize()
        assert (cuda.from_device(memory, 500, np.int32) == number + 100).all()
        assert (host == number + 5).all()
        cuda.Context.pop()
    except BaseException as error:
        failures.append(error)

threads = [threading.Thread(target=body, args=(i,)) for i in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures
"""
    )


def test_nothing_leaks():
    run_python(
        ALL_KINDS
        + """
import resource
import pycuda.autoinit

def round():
    for _ in range(10):
        objects = one_of_each()
        cuda.Context.synchronize()
        del objects
    array = gpuarray.zeros(1 << 20, np.float32)
    for _ in range(10):
        array = array * 2 + 1
    x = np.zeros(1 << 18, np.float32)
    for _ in range(10):
        SourceModule(SOURCE).get_function("k")(cuda.InOut(x), block=(32, 1, 1))
    del array
    gc.collect()

round()
cuda.Context.synchronize()
free = cuda.mem_get_info()[0]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(5):
    round()
cuda.Context.synchronize()
assert cuda.mem_get_info()[0] >= free, (free, cuda.mem_get_info())
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
assert grown < 40 << 10, f"{grown} KiB more after five rounds"
"""
    )


def test_contexts_do_not_leak():
    run_python(
        """
import pycuda.driver as cuda
cuda.init()
device = cuda.Device(0)
outer = device.make_context()
free = None
for _ in range(30):
    context = device.make_context()
    memory = cuda.mem_alloc(1 << 20)
    context.pop()
    del context, memory
    free = free or cuda.mem_get_info()[0]
assert cuda.mem_get_info()[0] >= free
"""
    )


def test_buffers_of_async_copies_are_let_go():
    run_python(
        """
import gc, weakref
import numpy as np
import pycuda.autoinit, pycuda.driver as cuda

from pycuda.compiler import SourceModule

spin = SourceModule('''
__global__ void spin(long long *out, long long n) { for (long long i = 0; i < n; ++i) *out += i ^ (*out >> 1); }
''').get_function("spin")
stream, memory = cuda.Stream(), cuda.mem_alloc(1 << 20)
for wait in (stream.synchronize, cuda.Context.synchronize, lambda: cuda.Event().record(stream).synchronize()):
    source = cuda.pagelocked_zeros(1 << 20, np.uint8)
    spin(memory, np.int64(1 << 24), block=(1, 1, 1), stream=stream)
    alive = weakref.ref(source)
    cuda.memcpy_htod_async(memory, source, stream)
    del source
    gc.collect()
    wait()
    assert alive() is None, wait
"""
    )


def test_kernels_keep_nothing_that_the_user_dropped():
    """Memory may be freed while kernels that use it are queued: freeing waits for them."""
    run_python(
        ALL_KINDS
        + """
import pycuda.autoinit
function = SourceModule(SOURCE).get_function("k")
for _ in range(50):
    stream = cuda.Stream()
    memory = cuda.mem_alloc(128)
    cuda.memset_d8(memory, 0, 128)
    for _ in range(20):
        function(memory, block=(32, 1, 1), stream=stream)
    del memory, stream
cuda.Context.synchronize()
"""
    )
