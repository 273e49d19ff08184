"""What is dropped while work is in flight: nothing waits with the interpreter held."""

import re
import sys

import pytest

import rtcg.driver as cuda
from tests.python.subprocesses import ROOT, run_python

START = """
import faulthandler, gc, threading, time
faulthandler.dump_traceback_later(60, exit=True)
import numpy as np
import rtcg.driver as cuda
cuda.init()
device = cuda.Device(0)
ctx = device.make_context()
"""

DROPS = """
from pycuda.compiler import SourceModule

def array():
    descriptor = cuda.ArrayDescriptor()
    descriptor.width, descriptor.height, descriptor.num_channels = 4, 4, 1
    descriptor.format = cuda.array_format.FLOAT
    return cuda.Array(descriptor)

def executable():
    graph = cuda.Graph()
    graph.add_memset_node(memory, 0, 4)
    return graph.instantiate()

def used_pool():
    import pycuda.tools as tools
    pool = tools.DeviceMemoryPool()
    pool.allocate(1 << 16).free()
    return pool

memory = cuda.mem_alloc(64)
stream = cuda.Stream()
kinds = {
    "memory": lambda: cuda.mem_alloc(1 << 20),
    "managed": lambda: cuda.managed_empty(4, np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL),
    "host": lambda: cuda.pagelocked_empty(1 << 16, np.uint8),
    "registered": lambda: cuda.register_host_memory(np.empty(1 << 16, np.uint8)),
    "array": array,
    "module": lambda: SourceModule("__global__ void f() {}"),
    "kernel": lambda: SourceModule("__global__ void g() {}").get_function("g"),
    "stream": cuda.Stream,
    "event": cuda.Event,
    "graph": cuda.Graph,
    "executable": executable,
    "pool": used_pool,
}
made = {name: make() for name, make in kinds.items()}
log = []
for name in list(made):
    started = threading.Event()

    def slow(name=name):
        started.set()
        # Without the interpreter; afterwards it is needed again.
        time.sleep(0.03)
        log.append(name)

    stream.launch_host_func(slow)
    started.wait()
    del made[name]
    gc.collect()
stream.synchronize()
assert log == list(kinds), log

# A context goes with its last reference.
started = threading.Event()
inner = device.make_context()
stream = cuda.Stream()
stream.launch_host_func(slow)
started.wait()
del stream
cuda.Context.pop()
del inner
gc.collect()
ctx.pop()
ctx.detach()
print("done")
"""

THREADS = """
import os
from pathlib import Path
gate, n, called = threading.Event(), 100, []
names = lambda: [Path(f"/proc/self/task/{t}/comm").read_text().strip() for t in os.listdir("/proc/self/task")]
for i in range(n):
    stream = cuda.Stream()
    stream.launch_host_func(lambda i=i: (gate.wait(), called.append(i)))
    del stream
time.sleep(0.2)
assert sum(name in ("rtcg-host", "rtcg-stream") for name in names()) < 20, names()
gate.set()
while len(called) < n:
    time.sleep(0.01)
assert sorted(called) == list(range(n))
ctx.pop()
ctx.detach()
print("done")
"""


def test_drops_while_a_host_function_needs_the_interpreter(context):
    assert run_python(START + DROPS).stdout.endswith("done\n")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_streams_dropped_with_callbacks_keep_no_threads(context):
    assert run_python(START + THREADS).stdout.endswith("done\n")


def test_captured_host_functions_go_with_the_graph(context):
    class Function:
        n_calls = 0

        def __call__(self):
            self.n_calls += 1

    import gc
    import weakref

    function, stream = Function(), cuda.Stream()
    alive = weakref.ref(function)
    with stream.capture() as graph:
        stream.launch_host_func(function)
    run = graph.instantiate()
    run.launch(stream)
    run.launch(stream)
    stream.synchronize()
    assert function.n_calls == 2
    del function, graph
    gc.collect()
    assert alive() is not None
    del run
    gc.collect()
    assert alive() is None


# Of everything that owns something of a driver: what makes one, by name.
OWNERS = """
import rtcg, rtcg.numpy as xp, rtcg.elementwise, rtcg.reduction, rtcg.scan, rtcg.random, rtcg.tools as tools
from rtcg import sparse
from rtcg.compiler import SourceModule
from rtcg.sparse import gallery
ctx_sum = xp.ones(100, np.float32)
memory = cuda.mem_alloc(4096)

def stopped_pool():
    pool = tools.DeviceMemoryPool()
    block = pool.allocate(100)
    pool.stop_holding()
    return block

def last_of_a_pool(pool):
    return pool.allocate(100)

def texture():
    descriptor = cuda.ArrayDescriptor()
    descriptor.width, descriptor.height, descriptor.num_channels = 4, 4, 1
    descriptor.format = cuda.array_format.FLOAT
    return cuda.TextureReference(), cuda.Array(descriptor)

OWNERS = {
    "elementwise kernel": lambda: used(rtcg.elementwise.ElementwiseKernel("float *x", "x[i] = 1"), ctx_sum),
    "reduction kernel": lambda: used(
        rtcg.reduction.ReductionKernel(np.float32, "0", "a+b", arguments="float *x"), ctx_sum),
    "scan kernel": lambda: used(rtcg.scan.InclusiveScanKernel(np.float32, "a+b"), ctx_sum),
    "block of a stopped pool": stopped_pool,
    "last block of a pool": lambda: last_of_a_pool(tools.DeviceMemoryPool()),
    "last page-locked block": lambda: tools.PageLockedMemoryPool().allocate(100, np.float32),
    "array over an allocation": lambda: rtcg.numpy.GPUArray((4,), np.float32, gpudata=cuda.mem_alloc(16)),
    "array of an allocator": lambda: xp.zeros(4, np.float32, allocator=cuda.mem_alloc) + 1,
    "array from a pool": lambda: xp.zeros(4, np.float32, allocator=tools.DeviceMemoryPool().allocate),
    "sparse matrix": lambda: gallery.poisson2d(4),
    "sparse plan": lambda: sparse.plan(gallery.poisson2d(4)),
    "generator": lambda: used(rtcg.random.default_rng(1).random, 10),
    "physical memory": lambda: mapped(),
    "texture": texture,
    "function": lambda: SourceModule("__global__ void only_here() {}").get_function("only_here"),
    "caches of arrays": lambda: (xp.ones(1000) * 2.5).sum(),
}

def used(thing, argument):
    thing(argument)
    return thing

def mapped():
    size = cuda.mem_get_granularity()
    range_ = cuda.AddressRange(size)
    return range_.map(cuda.PhysicalMemory(size))
"""

DROP_OWNERS = """
blocking, log = cuda.Stream(), []
for name, make in OWNERS.items():
    made = make()
    cuda.Context.synchronize()
    started = threading.Event()
    # Waits without the interpreter; afterwards it is needed again.
    blocking.launch_host_func(lambda: (started.set(), time.sleep(0.03), log.append(name)))
    started.wait()
    del made
    if name == "caches of arrays":
        tools.clear_context_caches()
    gc.collect()
    blocking.synchronize()
assert log == list(OWNERS), log
print("done")
"""

END_WITH_OWNERS = """
kept = {name: make() for name, make in OWNERS.items()}
blocking = cuda.Stream()
for _ in range(2):
    blocking.launch_host_func(lambda: time.sleep(0.1))
print("done")
"""


@pytest.mark.parametrize("how", [DROP_OWNERS, END_WITH_OWNERS], ids=["drop", "end of the process"])
def test_nothing_that_owns_device_resources_waits_with_the_interpreter_held(context, how):
    start = START.replace("ctx = device.make_context()", "import rtcg.autoinit")
    assert run_python(start + OWNERS + how).stdout.endswith("done\n")


def test_every_drop_of_the_driver_lets_the_interpreter_go():
    """A `Drop` calls the driver by a function that lets go of the interpreter where the device may need it."""
    calls = re.compile(r"call_driver!|call_if_alive!|call_in_current_context!")
    safe = re.compile(r"free_on_drop|free_in_context|releasing_region")
    seen = 0
    for path in (ROOT / "crates/driver/src").rglob("*.rs"):
        text = path.read_text()
        for found in re.finditer(r"^impl(?:<.*?>)? Drop for (\w+).*?^}", text, re.MULTILINE | re.DOTALL):
            seen += 1
            if calls.search(found[0]):
                why = f"{path}: the drop of {found[1]} calls the driver in no releasing region"
                assert safe.search(found[0]), why
    assert seen > 25
