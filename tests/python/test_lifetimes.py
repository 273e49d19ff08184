"""What is dropped while work is in flight: nothing waits with the interpreter held."""

import sys

import pytest

import rtcg.driver as cuda
from tests.python.subprocesses import run_python

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
