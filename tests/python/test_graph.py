"""Graphs: made of nodes, captured from streams, changed, drawn."""

import contextlib
import gc
import weakref

import numpy as np
import pytest

import pycuda.gpuarray as gpuarray
import rtcg.driver as cuda
from pycuda import tools
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel

pytestmark = pytest.mark.usefixtures("context")

SOURCE = """
__global__ void scale(float *a, float by, int n) { int i = threadIdx.x; if (i < n) a[i] *= by; }
__global__ void fill(float *a, float with) { a[threadIdx.x] = with; }
extern __shared__ int words[];
__global__ void sizes(int *out)
{
    unsigned bytes;
    asm("mov.u32 %0, %dynamic_smem_size;" : "=r"(bytes));
    if (!threadIdx.x) { out[0] = gridDim.x; out[1] = blockDim.x; out[2] = bytes; }
}
"""
N = 16


@pytest.fixture(scope="module")
def module(context):
    return SourceModule(SOURCE)


@pytest.fixture(scope="module")
def scale(module):
    return module.get_function("scale")


@pytest.fixture
def a():
    return cuda.to_device(np.ones(N, np.float32))


def values(memory, dtype=np.float32, n=N):
    return cuda.from_device(memory, n, dtype)


def node(graph, scale, a, by, dependencies=()):
    return graph.add_kernel_node(
        a, np.float32(by), np.int32(N), func=scale, block=(32, 1, 1), dependencies=dependencies
    )


def run(graph):
    stream = cuda.Stream()
    graph.instantiate().launch(stream)
    stream.synchronize()


def test_nodes_in_their_order(scale, a):
    graph = cuda.Graph()
    host, back = np.full(N, 2, np.float32), np.zeros(N, np.float32)
    calls = []
    upload = graph.add_memcpy_htod_node(a, host)
    twice = node(graph, scale, a, 2, [upload])
    thrice = node(graph, scale, a, 3, [twice])
    download = graph.add_memcpy_dtoh_node(back, a, dependencies=[thrice])
    said = graph.add_host_node(lambda: calls.append(back[0]), [download])
    last = graph.add_empty_node([said])
    assert [n.type for n in graph.get_nodes()] == [
        upload.type,
        twice.type,
        thrice.type,
        download.type,
        said.type,
        last.type,
    ]
    assert (twice.type, said.type, last.type) == (
        cuda.graph_node_type.KERNEL, cuda.graph_node_type.HOST, cuda.graph_node_type.EMPTY,
    )  # fmt: skip
    assert graph.get_root_nodes() == [upload] and len(graph) == 6
    assert (twice, thrice) in graph.get_edges() and len(graph.get_edges()) == 5
    assert thrice.dependencies == [twice] and thrice.dependents == [download] and thrice.graph == graph
    assert len({twice, thrice, twice}) == 2

    exec_graph = graph.instantiate()
    assert exec_graph.flags == 0
    stream = cuda.Stream()
    exec_graph.upload(stream)
    for round_ in range(1, 4):
        back[:] = 0
        exec_graph.launch(stream)
        stream.synchronize()
        assert (back == 12).all() and calls == [12] * round_
    # The host's memory is read when the graph runs.
    host[:] = 5
    exec_graph.launch()
    cuda.Context.synchronize()
    assert (back == 30).all()


def test_order_can_be_changed(module, scale, a):
    graph = cuda.Graph()
    product = node(graph, scale, a, 4)
    filled = graph.add_kernel_node(a, np.float32(3), func=module.get_function("fill"), block=(N, 1, 1))
    graph.add_dependencies([(filled, product)])
    run(graph)
    assert (values(a) == 12).all()
    graph.remove_dependencies([(filled, product)])
    graph.add_dependencies([(product, filled)])
    run(graph)
    assert (values(a) == 3).all()
    product.remove()
    assert graph.get_nodes() == [filled] and graph.get_edges() == []
    with pytest.raises(cuda.LogicError, match="the node was removed from its graph"):
        _ = product.type
    with pytest.raises(cuda.LogicError, match="a node of another graph"):
        cuda.Graph().add_empty_node([filled])
    one, two = graph.add_empty_node(), graph.add_empty_node()
    with pytest.raises(cuda.LogicError):
        graph.add_dependencies([(one, two), (two, one)])
        graph.instantiate()


def test_fills_and_copies_on_the_device(a):
    b = cuda.mem_alloc(4 * N)
    graph = cuda.Graph()
    ones = graph.add_memset_node(a, 0x3F800000, N, element_size=4)
    rows = graph.add_memset_node(a, 0, 2, element_size=4, height=4, pitch=16, dependencies=[ones])
    graph.add_memcpy_dtod_node(b, a, 4 * N, [rows])
    run(graph)
    assert (values(b).reshape(4, 4) == [0, 0, 1, 1]).all()
    with pytest.raises(cuda.LogicError, match="do not fit"):
        graph.add_memset_node(a, 0, 4 * N + 1)
    with pytest.raises(ValueError, match="element_size is 3"):
        graph.add_memset_node(a, 0, 4, 3)
    with pytest.raises(cuda.LogicError, match="do not fit"):
        graph.add_memcpy_htod_node(a, np.zeros(N + 1, np.float32))


def test_boxes_are_copied(a):
    host = np.arange(64, dtype=np.float32).reshape(8, 8)
    copy = cuda.Memcpy3D()
    copy.set_src_host(host)
    copy.set_dst_device(int(a))
    copy.src_pitch, copy.dst_pitch = 32, 16
    copy.src_x_in_bytes, copy.src_y = 8, 1
    copy.width_in_bytes, copy.height, copy.depth = 16, 4, 1
    graph = cuda.Graph()
    graph.add_memcpy_node(copy)
    run(graph)
    assert (values(a).reshape(4, 4) == host[1:5, 2:6]).all()


def test_what_nodes_do_can_be_changed(module, scale, a):
    b = cuda.to_device(np.ones(N, np.float32))
    graph = cuda.Graph()
    zero = graph.add_memset_node(a, 0x3F800000, N, 4)
    twice = node(graph, scale, a, 2, [zero])
    back = np.zeros(N, np.float32)
    download = graph.add_memcpy_dtoh_node(back, a, dependencies=[twice])
    calls = []
    said = graph.add_host_node(lambda: calls.append("one"), [download])
    exec_graph = graph.instantiate()

    def result():
        exec_graph.launch()
        cuda.Context.synchronize()
        return back[0]

    assert result() == 2
    exec_graph.kernel_node_set_params(a, np.float32(7), np.int32(N), kernel_node=twice)
    exec_graph.host_node_set_params(said, lambda: calls.append("two"))
    assert result() == 7 and calls == ["one", "two"]
    exec_graph.kernel_node_set_params(
        b, np.float32(5), kernel_node=twice, func=module.get_function("fill"), block=(N, 1, 1)
    )
    exec_graph.memcpy_dtoh_node_set_params(download, back, b)
    assert result() == 5
    other = np.zeros(N, np.float32)
    exec_graph.memset_node_set_params(zero, b, 0x40000000, N, 4)
    exec_graph.kernel_node_set_params(b, np.float32(3), np.int32(N), kernel_node=twice, func=scale)
    exec_graph.memcpy_dtoh_node_set_params(download, other, b)
    result()
    assert (other == 6).all()
    exec_graph.node_set_enabled(twice, False)
    assert not exec_graph.node_get_enabled(twice)
    result()
    assert (other == 2).all()
    # The graph itself has not changed; an update brings the executable one back to it.
    exec_graph.update(graph)
    exec_graph.node_set_enabled(twice, True)
    back[:] = 0
    assert result() == 2
    # Nor do nodes change that were changed in the graph afterwards, until an update.
    twice.kernel_node_set_params(a, np.float32(9), np.int32(N))
    assert result() == 2
    exec_graph.update(graph)
    assert result() == 9
    with pytest.raises(cuda.LogicError, match="the graphs differ: "):
        exec_graph.update(cuda.Graph())


def test_a_launch_that_is_wrong_is_explained(scale, a):
    graph = cuda.Graph()
    with pytest.raises(cuda.LogicError, match="takes 3 arguments, 1 was given"):
        graph.add_kernel_node(a, func=scale, block=(32, 1, 1))
    with pytest.raises(cuda.LogicError, match="has an empty direction"):
        graph.add_kernel_node(a, np.float32(1), np.int32(1), func=scale, block=(0, 1, 1))
    with pytest.raises(cuda.LogicError, match="InOut copies around a single launch"):
        graph.add_kernel_node(
            cuda.InOut(np.ones(4, np.float32)), np.float32(1), np.int32(1), func=scale, block=(4, 1, 1)
        )
    with pytest.raises(TypeError, match="block"):
        graph.add_kernel_node(a, np.float32(1), np.int32(1), func=scale)
    with pytest.raises(TypeError, match="not callable"):
        graph.add_host_node(3)
    assert len(graph) == 0 and graph


def test_grid_block_and_shared_memory(module):
    out = cuda.mem_alloc(12)
    graph = cuda.Graph()
    kernel = graph.add_kernel_node(out, func=module.get_function("sizes"), block=(32, 1, 1), grid=(3, 1), shared=256)
    exec_graph = graph.instantiate()
    exec_graph.launch()
    assert values(out, np.int32, 3).tolist() == [3, 32, 256]
    exec_graph.kernel_node_set_params(out, kernel_node=kernel, block=64)
    exec_graph.launch()
    assert values(out, np.int32, 3).tolist() == [3, 64, 256]
    exec_graph.kernel_node_set_params(out, kernel_node=kernel, grid=(5, 2), shared=8)
    exec_graph.launch()
    assert values(out, np.int32, 3).tolist() == [5, 64, 8]


def test_graphs_within_graphs(scale, a):
    inner = cuda.Graph()
    node(inner, scale, a, 3)
    outer = cuda.Graph()
    first = outer.add_child_graph_node(inner)
    outer.add_child_graph_node(inner, [first])
    assert first.type == cuda.graph_node_type.GRAPH and len(first.child_graph) == 1
    exec_graph = outer.instantiate()
    exec_graph.launch()
    assert (values(a) == 9).all()
    other = cuda.Graph()
    node(other, scale, a, 5)
    exec_graph.child_graph_node_set_params(first, other)
    exec_graph.launch()
    assert (values(a) == 9 * 15).all()


def test_clones(scale, a):
    graph = cuda.Graph()
    twice = node(graph, scale, a, 2)
    clone = graph.clone()
    assert clone != graph and len(clone) == 1
    twin = twice.find_in_clone(clone)
    assert twin != twice and twin.graph == clone
    twin.remove()
    assert (len(clone), len(graph)) == (0, 1)
    run(graph)
    assert (values(a) == 2).all()


def test_events_in_graphs(scale, a):
    before, after, other = (cuda.Event(cuda.event_flags.DISABLE_TIMING) for _ in range(3))
    graph = cuda.Graph()
    wait = graph.add_event_wait_node(before)
    twice = node(graph, scale, a, 2, [wait])
    record = graph.add_event_record_node(after, [twice])
    assert (wait.type, record.type) == (cuda.graph_node_type.WAIT_EVENT, cuda.graph_node_type.EVENT_RECORD)
    exec_graph = graph.instantiate()
    exec_graph.event_node_set_event(record, other)
    stream = cuda.Stream()
    before.record(stream)
    exec_graph.launch(stream)
    other.synchronize()
    assert (values(a) == 2).all()


def test_memory_of_a_graph(module, a):
    graph = cuda.Graph()
    alloc, memory = graph.add_memalloc_node(4 * N)
    assert memory.nbytes == 4 * N and int(memory) == memory.get_pointer() != 0
    filled = graph.add_kernel_node(
        memory, np.float32(8), func=module.get_function("fill"), block=(N, 1, 1), dependencies=[alloc]
    )
    copied = graph.add_memcpy_dtod_node(a, memory, 4 * N, [filled])
    freed = graph.add_memfree_node(memory, [copied])
    assert (alloc.type, freed.type) == (cuda.graph_node_type.MEM_ALLOC, cuda.graph_node_type.MEM_FREE)
    exec_graph = graph.instantiate()
    for _ in range(2):
        cuda.memset_d32(a, 0, N)
        exec_graph.launch()
        assert (values(a) == 8).all()
    with pytest.raises(cuda.LogicError):
        graph.clone()


def test_pictures(scale, a, tmp_path):
    graph = cuda.Graph()
    first = node(graph, scale, a, 2)
    node(graph, scale, a, 2, [first])
    path = tmp_path / "graph.dot"
    graph.debug_dot_print(path, cuda.graph_debug_dot_flags.VERBOSE)
    text = path.read_text()
    assert text.startswith("digraph") and "scale" in text and "->" in text
    assert "->" in graph.dot()
    with pytest.raises(cuda.Error, match="no/such/directory"):
        graph.debug_dot_print("/no/such/directory/graph.dot")


def test_arguments_live_as_long_as_they_are_used(scale):
    class Holder(cuda.PointerHolderBase):
        def __init__(self):
            self.memory = cuda.to_device(np.ones(N, np.float32))

        def get_pointer(self):
            return int(self.memory)

    one, two = Holder(), Holder()
    alive = weakref.ref(one)
    graph = cuda.Graph()
    kernel = node(graph, scale, one, 2)
    exec_graph = graph.instantiate()
    del one, graph
    gc.collect()
    exec_graph.launch()
    cuda.Context.synchronize()
    assert (values(alive().memory) == 2).all()
    exec_graph.kernel_node_set_params(two, np.float32(2), np.int32(N), kernel_node=kernel)
    kernel.kernel_node_set_params(two, np.float32(2), np.int32(N))
    gc.collect()
    assert alive() is None
    exec_graph.launch()
    cuda.Context.synchronize()
    assert (values(two.memory) == 2).all()


def test_what_a_host_function_raises(a):
    graph = cuda.Graph()
    graph.add_host_node(lambda: 1 / 0)
    seen = []

    def hook(unraisable):
        seen.append(unraisable.exc_type)

    import sys

    before, sys.unraisablehook = sys.unraisablehook, hook
    try:
        run(graph)
    finally:
        sys.unraisablehook = before
    assert seen == [ZeroDivisionError]


CONDITIONS = """
__device__ void cudaGraphSetConditional(unsigned long long, unsigned);
__global__ void countdown(unsigned long long handle, int *n) { cudaGraphSetConditional(handle, --*n); }
__global__ void choose(unsigned long long handle, unsigned value) { cudaGraphSetConditional(handle, value); }
"""


@pytest.fixture(scope="module")
def conditions(context, on_virtual_device):
    from pycuda.compiler import DynamicModule

    module = DynamicModule().add_source(CONDITIONS)
    if not on_virtual_device:
        try:
            module.add_stdlib("cudadevrt")
        except (OSError, RuntimeError) as error:
            pytest.skip(f"no cudadevrt here: {error}")
    return module.link()


def test_loops(conditions, scale, a):
    n = cuda.mem_alloc(4)
    graph = cuda.Graph()
    handle = graph.conditional_handle(1)
    start = graph.add_memset_node(n, 4, 1, 4)
    loop, (body,) = graph.add_conditional_node(handle, cuda.graph_conditional_node_type.WHILE, dependencies=[start])
    assert loop.type == cuda.graph_node_type.CONDITIONAL
    twice = node(body, scale, a, 2)
    countdown = conditions.get_function("countdown")
    body.add_kernel_node(np.uint64(handle), n, func=countdown, block=(1, 1, 1), dependencies=[twice])
    run(graph)
    assert (values(a) == 16).all()


@pytest.mark.parametrize("value, factor", [(0, 2), (1, 3), (2, 5), (3, 1)])
def test_choices(conditions, scale, a, value, factor):
    graph = cuda.Graph()
    handle = graph.conditional_handle()
    choose = conditions.get_function("choose")
    chosen = graph.add_kernel_node(np.uint64(handle), np.uint32(value), func=choose, block=(1, 1, 1))
    kind = cuda.graph_conditional_node_type.SWITCH
    _, bodies = graph.add_conditional_node(handle, kind, 3, [chosen])
    for body, by in zip(bodies, [2, 3, 5], strict=True):
        node(body, scale, a, by)
    run(graph)
    assert (values(a) == factor).all()


# -- captures -----------------------------------------------------------------------------------


def launch(scale, a, by, stream):
    scale(a, np.float32(by), np.int32(N), block=(32, 1, 1), stream=stream)


def test_capture(scale, a):
    stream = cuda.Stream()
    host = np.full(N, 5, np.float32)
    assert stream.capture_status == cuda.capture_status.NONE and stream.get_capture_info() is None
    stream.begin_capture(cuda.capture_mode.THREAD_LOCAL)
    assert stream.is_capturing() and stream.capture_status == cuda.capture_status.ACTIVE
    cuda.memcpy_htod_async(a, host, stream)
    launch(scale, a, 2, stream)
    scale.prepare("Pfi").prepared_async_call((1, 1), (32, 1, 1), stream, a, 3, N)
    status, number, so_far, last = stream.get_capture_info()
    assert status == cuda.capture_status.ACTIVE and number > 0 and len(so_far) == 3
    assert len(last) == 1 and last[0].type == cuda.graph_node_type.KERNEL
    graph = stream.end_capture()
    assert not stream.is_capturing() and len(graph) == 3
    assert (values(a) == 1).all()
    exec_graph = graph.instantiate()
    for _ in range(2):
        exec_graph.launch(stream)
        stream.synchronize()
        assert (values(a) == 30).all()
    # Captured kernels can be changed too, when all is said.
    kernel = graph.get_nodes()[1]
    with pytest.raises(TypeError, match="func must be given"):
        exec_graph.kernel_node_set_params(a, np.float32(4), np.int32(N), kernel_node=kernel)
    exec_graph.kernel_node_set_params(a, np.float32(4), np.int32(N), kernel_node=kernel, func=scale, block=(32, 1, 1))
    exec_graph.launch(stream)
    stream.synchronize()
    assert (values(a) == 60).all()


def test_capture_as_a_block(scale, a):
    stream, side = cuda.Stream(), cuda.Stream()
    fork, join = (cuda.Event(cuda.event_flags.DISABLE_TIMING) for _ in range(2))
    with stream.capture() as graph:
        launch(scale, a, 2, stream)
        fork.record(stream)
        side.wait_for_event(fork)
        launch(scale, a, 3, side)
        join.record(side)
        stream.wait_for_event(join)
    assert len(graph) == 2
    # More can be captured into the same graph.
    with stream.capture(cuda.capture_mode.RELAXED, graph) as same:
        stream.update_capture_dependencies(graph.get_nodes()[1:])
        launch(scale, a, 5, stream)
    assert same == graph and len(graph) == 3 and len(graph.get_root_nodes()) == 1
    run(graph)
    assert (values(a) == 30).all()


def test_captured_arguments_live_as_long_as_the_graph(scale):
    class Memory(cuda.PointerHolderBase):
        def __init__(self):
            self.memory = cuda.to_device(np.ones(N, np.float32))

        def get_pointer(self):
            return int(self.memory)

    memory, host, stream = Memory(), np.full(N, 4, np.float32), cuda.Stream()
    alive, alive_too = weakref.ref(memory), weakref.ref(host)
    with stream.capture() as graph:
        cuda.memcpy_htod_async(memory.get_pointer(), host, stream)
        launch(scale, memory, 2, stream)
    del memory, host
    gc.collect()
    run(graph)
    assert (values(alive().memory) == 8).all() and alive_too() is not None
    del graph
    gc.collect()
    cuda.Graph().instantiate()
    gc.collect()
    assert alive() is None and alive_too() is None


def test_captured_arrays_and_temporaries_stay_with_the_graph(scale):
    stream, total = cuda.Stream(), gpuarray.zeros(1000, np.float32)

    def add():
        with stream:
            total.__iadd__(gpuarray.zeros(1000, np.float32) * 2 + 3)

    add()
    with stream.capture() as graph:
        add()
    run_graph = graph.instantiate()
    others = [gpuarray.zeros(1000, np.float32) for _ in range(4)]
    with stream:
        others += [gpuarray.zeros(1000, np.float32) for _ in range(4)]
    stream.synchronize()
    cuda.Context.synchronize()
    run_graph.launch(stream)
    stream.synchronize()
    assert (total.get() == 6).all()
    assert not any(other.get().any() for other in others)


@pytest.mark.parametrize("how", ["mem_alloc", "pool", "allocator", "entered", "elementwise"])
def test_captured_memory_of_every_kind_stays_with_the_graph(module, how):
    """The kernel and its module, too."""
    stream, pool = cuda.Stream(), tools.DeviceMemoryPool()
    kernel = SourceModule(SOURCE).get_function("fill")

    def empty():
        if how in ("pool", "allocator"):
            memory = pool.allocate(4 * N)
            return memory if how == "pool" else gpuarray.GPUArray(N, np.float32, gpudata=memory)
        return cuda.mem_alloc(4 * N)

    memory, as_entered = empty(), contextlib.nullcontext()
    double = ElementwiseKernel("float *x", "x[i] = 5", "five")
    double(gpuarray.GPUArray(N, np.float32, gpudata=memory) if how == "elementwise" else gpuarray.zeros(N, np.float32))
    if how == "entered":
        as_entered = stream
    with as_entered, stream.capture() as graph:
        if how == "elementwise":
            double(gpuarray.GPUArray(N, np.float32, gpudata=memory), stream=stream)
        else:
            keywords = {} if how == "entered" else {"stream": stream}
            kernel(memory, np.float32(5), block=(N, 1, 1), **keywords)
    run_graph = graph.instantiate()
    del memory, kernel
    gc.collect()
    others = [empty() for _ in range(32)]
    for other in others:
        cuda.memset_d8(getattr(other, "gpudata", other), 0, 4 * N)
    run_graph.launch(stream)
    stream.synchronize()
    for other in others:
        assert not cuda.from_device(getattr(other, "gpudata", other), N, np.float32).any()


def test_what_cannot_be_captured(scale, a):
    stream = cuda.Stream()
    with pytest.raises(cuda.LogicError), stream.capture():
        stream.synchronize()
    assert stream.capture_status == cuda.capture_status.NONE
    with pytest.raises(cuda.LogicError, match="Out copies around a single launch"), stream.capture():
        scale(cuda.Out(np.ones(N, np.float32)), np.float32(1), np.int32(N), block=(32, 1, 1), stream=stream)
    with pytest.raises(KeyError), stream.capture():
        raise KeyError("the program's own error is not hidden")
    with pytest.raises(cuda.LogicError):
        stream.end_capture()
    launch(scale, a, 2, stream)
    stream.synchronize()
    assert (values(a) == 2).all()


def test_capture_modes_of_threads():
    assert cuda.exchange_capture_mode(cuda.capture_mode.RELAXED) == cuda.capture_mode.GLOBAL
    assert cuda.exchange_capture_mode(cuda.capture_mode.GLOBAL) == cuda.capture_mode.RELAXED
