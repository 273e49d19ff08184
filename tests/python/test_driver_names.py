"""Names of `pycuda.driver` that other tests pass by: each test fails if the name did nothing or told another's value.

Beside `test_rare_functions.py`, which looks for the calls that reach the driver.
"""

import gc

import numpy as np
import pytest

import pycuda.driver
import pycuda.tools as tools
import rtcg.driver as cuda
from pycuda import compiler, gpuarray
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("context")

SOURCE = """
texture<float, 1, cudaReadModeElementType> line;
surface<void, 2> image;
__device__ int numbers[3] = {5, 6, 7};
extern "C" __global__ void store(int *a, int n) { *a = n; }
extern "C" __global__ void read(float *a) { a[threadIdx.x] = tex1Dfetch(line, threadIdx.x); }
extern "C" __global__ void paint(void) { surf2Dwrite(1.5f, image, threadIdx.x * 4, 0); }
"""


@pytest.fixture(scope="module")
def module(context):
    """As the driver loads it, without what `SourceModule` adds."""
    return cuda.module_from_buffer(compiler.compile(SOURCE, no_extern_c=True))


def array_of(shape, dtype=np.float32, flags=0):
    descr = cuda.ArrayDescriptor3D()
    descr.width, descr.height, descr.depth = [*shape, 0, 0][:3]
    descr.format, descr.num_channels, descr.flags = cuda.dtype_to_array_format(dtype), 1, flags
    return cuda.Array(descr)


# -- memory -----------------------------------------------------------------------------------


def host_memory():
    yield cuda.PagelockedHostAllocation(100, 0)
    yield cuda.AlignedHostAllocation(100, 64)
    yield cuda.RegisteredHostMemory(cuda.aligned_zeros(25, np.float32))
    yield cuda.ManagedAllocation(100, cuda.mem_attach_flags.GLOBAL)
    yield tools.PageLockedMemoryPool().allocate(25, np.float32).base
    yield cuda.mem_alloc(100)
    yield tools.DeviceMemoryPool().allocate(100)


@pytest.mark.parametrize("number", range(7))
def test_memory_has_a_size_and_is_given_back_once(number):
    memory = list(host_memory())[number]
    assert memory.nbytes == 100
    with memory as entered:
        assert entered is memory
    memory.close()
    give_back = memory.unregister if hasattr(memory, "unregister") else memory.free
    with pytest.raises(cuda.LogicError):
        give_back()


@pytest.mark.parametrize("number", range(7))
def test_memory_is_closed(number):
    memory = list(host_memory())[number]
    memory.close()
    with pytest.raises(cuda.LogicError):
        getattr(memory, "unregister", getattr(memory, "free", None))()


def test_device_memory_shows_itself():
    for memory, kind in ((cuda.mem_alloc(64), "DeviceAllocation"), (tools.DeviceMemoryPool().allocate(64), "Pooled")):
        assert kind in repr(memory) and f"{int(memory):#x}, 64 bytes>" in repr(memory)
        memory.free()
        assert repr(memory).endswith(", 64 bytes, freed>")


def test_buffers_over_addresses():
    managed = cuda.managed_zeros(8, np.uint8)
    address = managed.base.get_device_pointer()
    assert address == int(managed.base) == managed.base.__index__() == managed.ctypes.data

    class Holder(cuda.PointerHolderBase):
        def get_pointer(self):
            return address

    holder = Holder()
    assert int(holder) == holder.__index__() == address
    view = holder.as_buffer(3, 2)
    view[:] = b"abc"
    assert bytes(managed) == b"\0\0abc\0\0\0"
    with pytest.raises(NotImplementedError, match=r"get_pointer\(\)"):
        cuda.PointerHolderBase().get_pointer()
    cuda.memcpy_htod(holder, np.arange(8, dtype=np.uint8))
    assert bytes(managed) == bytes(range(8))


def test_buffers_over_device_memory_have_their_size():
    for memory in (cuda.mem_alloc(64), tools.DeviceMemoryPool().allocate(64)):
        view = memory.as_buffer(16, 8)
        assert (view.nbytes, view.readonly) == (16, False)
        assert np.frombuffer(view, np.uint8).ctypes.data == int(memory) + 8
        with pytest.raises(cuda.LogicError, match="64 bytes at offset 8 are outside an allocation of 64 bytes"):
            memory.as_buffer(64, 8)


@pytest.mark.parametrize("kind", ["pagelocked", "aligned", "managed"])
def test_arrays_like_others(kind):
    like = np.ones((3, 4), np.int16, order="F")
    for make, filled in (("empty", False), ("zeros", True)):
        made = getattr(cuda, f"{kind}_{make}_like")(like)
        assert (made.shape, made.dtype, made.strides) == (like.shape, like.dtype, like.strides)
        assert not filled or not made.any()
        assert made.base.nbytes == like.nbytes
        with pytest.raises(TypeError, match="array is of type list; expected a NumPy array"):
            getattr(cuda, f"{kind}_{make}_like")([1])


def test_host_pointers():
    assert issubclass(cuda.PagelockedHostAllocation, cuda.HostPointer)

    class Incomplete(cuda.HostPointer):
        pass

    with pytest.raises(TypeError, match="get_device_pointer"):
        Incomplete()
    assert cuda.HostPointer.get_device_pointer(cuda.PagelockedHostAllocation(4, 0)) is None


# -- pools ------------------------------------------------------------------------------------


@pytest.mark.parametrize("leave", ["close", "stop_holding", "with"])
@pytest.mark.parametrize("kind", [tools.PageLockedMemoryPool, tools.DeviceMemoryPool])
def test_pools_stop_holding(kind, leave):
    pool = kind()

    def allocate():
        return pool.allocate(100, np.uint8).base if kind is tools.PageLockedMemoryPool else pool.allocate(100)

    memory, other = allocate(), allocate()
    assert (pool.active_blocks, pool.active_bytes, pool.held_blocks) == (2, 200, 0)
    memory.free()
    assert (pool.active_blocks, pool.active_bytes, pool.held_blocks) == (1, 100, 1)
    assert pool.statistics()["held_blocks"] == 1 and pool.statistics()["active_bytes"] == 100
    pool.free_held()
    assert pool.held_blocks == 0 and pool.managed_bytes == pool.alloc_size(pool.bin_number(100)) >= 100
    memory = allocate()
    memory.free()
    assert pool.held_blocks == 1
    if leave == "with":
        with pool as entered:
            assert entered is pool
    else:
        getattr(pool, leave)()
    assert pool.held_blocks == 0
    other.free()
    assert (pool.active_blocks, pool.held_blocks, pool.managed_bytes) == (0, 0, 0)


@pytest.mark.parametrize("kind", [tools.PageLockedMemoryPool, tools.DeviceMemoryPool])
def test_bins_of_pools(kind):
    numbers = [kind.bin_number(size) for size in range(1, 5000)]
    assert numbers == sorted(numbers) and len(set(numbers)) > 20
    for size in (1, 100, 127, 128, 129, 4999):
        assert kind.alloc_size(kind.bin_number(size)) >= size
        assert kind.bin_number(kind.alloc_size(kind.bin_number(size))) == kind.bin_number(size)


def test_flags_of_allocators():
    flags = cuda.host_alloc_flags.PORTABLE | cuda.host_alloc_flags.DEVICEMAP
    allocator = tools.PageLockedAllocator(flags)
    assert allocator.flags == flags and tools.PageLockedAllocator().flags == 0


def test_pooled_memory_waits_for_the_streams_that_use_it():
    pool, stream, gate = tools.DeviceMemoryPool(), cuda.Stream(1), cuda.mem_alloc(4)
    cuda.memset_d32(gate, 0, 1)
    memory = pool.allocate(1000)
    address = int(memory)
    stream.wait_value(gate, 1)
    memory.used_in(stream)
    memory.free()
    other = pool.allocate(1000)
    assert int(other) != address, "the stream has not passed its work"
    cuda.memset_d32_async(gate, 1, 1, cuda.Stream(1))
    stream.synchronize()
    assert int(pool.allocate(1000)) == address


def test_pools_of_the_driver_are_keys_and_know_peaks():
    with cuda.MemoryPool() as pool:
        stream = cuda.Stream()
        memory = pool.allocate(1 << 16, stream)
        assert pool.peak_reserved_bytes >= pool.reserved_bytes >= pool.used_bytes >= 1 << 16
        memory.free()
        stream.synchronize()
        pool.trim()
        peak = pool.peak_reserved_bytes
        assert pool.reserved_bytes < peak
        pool.reset_peaks()
        assert pool.peak_reserved_bytes < peak
        assert {pool: 1}[pool] == 1 and pool != cuda.MemoryPool.get_default()
        default = cuda.MemoryPool.get_default()
        assert {default: 2}[cuda.MemoryPool.get_default()] == 2


# -- copies -----------------------------------------------------------------------------------

BLOCK = np.arange(4 * 5 * 6, dtype=np.int32).reshape(4, 5, 6)


def geometry(copy, kind):
    """A box of 3 x 2 x 2 elements out of the middle of `BLOCK`, to the middle of another of 7 x 4 x 3."""
    copy.src_pitch, copy.dst_pitch = 6 * 4, 7 * 4
    copy.src_x_in_bytes, copy.src_y = 2 * 4, 1
    copy.dst_x_in_bytes, copy.dst_y = 3 * 4, 2
    copy.width_in_bytes, copy.height = 3 * 4, 2
    if kind is not cuda.Memcpy2D:
        copy.src_height, copy.dst_height = 5, 4
        copy.src_z, copy.dst_z, copy.depth = 2, 1, 2
    expected = np.zeros((3, 4, 7), np.int32)
    if kind is cuda.Memcpy2D:
        expected[0, 2:4, 3:6] = BLOCK[0, 1:3, 2:5]
    else:
        expected[1:3, 2:4, 3:6] = BLOCK[2:4, 1:3, 2:5]
    return expected


def ends(kind, memory, side, host):
    """An end of a copy in `memory`, and a function that tells what is there."""
    depth = 0 if kind is cuda.Memcpy2D else host.shape[0]
    if memory == "host":
        return host, lambda: host
    if memory == "unified":
        pinned = cuda.pagelocked_empty_like(host)
        pinned[...] = host
        return pinned, lambda: pinned
    if memory == "device":
        device = cuda.to_device(host)
        return device, lambda: cuda.from_device(device, host.shape, host.dtype)
    array = array_of((host.shape[2], host.shape[1], depth), np.int32)
    shape = host.shape if depth else (1, *host.shape[1:])
    whole = cuda.Memcpy3D()
    whole.src_pitch = whole.dst_pitch = whole.width_in_bytes = 4 * shape[2]
    whole.src_height = whole.dst_height = whole.height = shape[1]
    whole.depth = shape[0]
    whole.set_src_host(np.ascontiguousarray(host[: shape[0]]))
    whole.set_dst_array(array)
    whole()

    def read():
        result = np.zeros_like(host)
        whole.set_src_array(array)
        whole.set_dst_host(result)
        whole()
        return result

    return array, read


@pytest.mark.parametrize("kind", [cuda.Memcpy2D, cuda.Memcpy3D, cuda.Memcpy3DPeer])
@pytest.mark.parametrize("source", ["host", "device", "array", "unified"])
@pytest.mark.parametrize("target", ["host", "device", "array", "unified"])
def test_structured_copies_from_everywhere_to_everywhere(kind, source, target):
    copy = kind()
    expected = geometry(copy, kind)
    end, _ = ends(kind, source, "src", BLOCK)
    getattr(copy, f"set_src_{source}")(end)
    end, read = ends(kind, target, "dst", np.zeros_like(expected))
    getattr(copy, f"set_dst_{target}")(end)
    copy(cuda.Stream()) if kind is cuda.Memcpy2D else copy()
    cuda.Context.synchronize()
    assert np.array_equal(read(), expected)


@pytest.mark.parametrize("kind", [cuda.Memcpy2D, cuda.Memcpy3D, cuda.Memcpy3DPeer])
def test_structures_tell_what_they_were_given(kind):
    copy = kind()
    names = [name for name in dir(copy) if not name.startswith(("_", "set_")) and "memory_type" not in name]
    names = [name for name in names if not name.endswith("_device")]
    assert len(names) == (8 if kind is cuda.Memcpy2D else 15)
    for number, name in enumerate(names):
        setattr(copy, name, 100 + number)
    assert [getattr(copy, name) for name in names] == list(range(100, 100 + len(names)))
    for side in ("src", "dst"):
        memory = cuda.mem_alloc(16)
        setattr(copy, f"{side}_device", memory)
        assert getattr(copy, f"{side}_device") == int(memory)
        getattr(copy, f"set_{side}_host")(np.zeros(4))
        assert getattr(copy, f"{side}_memory_type") == cuda.memory_type.HOST
        setattr(copy, f"{side}_memory_type", cuda.memory_type.DEVICE)
        assert getattr(copy, f"{side}_memory_type") == cuda.memory_type.DEVICE
        with pytest.raises(ValueError, match=f"{side}_memory_type is 9; expected a member of rtcg.driver.memory"):
            setattr(copy, f"{side}_memory_type", 9)
    with pytest.raises(OverflowError, match="height = -1 is out of range; expected an integer from 0 to"):
        copy.height = -1


@pytest.mark.parametrize("kind", [cuda.Memcpy2D, cuda.Memcpy3D, cuda.Memcpy3DPeer])
def test_ends_given_as_types_and_addresses(kind):
    source, target = cuda.to_device(np.arange(4, dtype=np.int32)), cuda.to_device(np.zeros(4, np.int32))
    copy = kind()
    copy.src_memory_type = copy.dst_memory_type = cuda.memory_type.DEVICE
    copy.src_device, copy.dst_device = source, int(target)
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 16
    copy.height = 1
    if kind is not cuda.Memcpy2D:
        copy.depth = copy.src_height = copy.dst_height = 1
    copy(cuda.Stream())
    cuda.Context.synchronize()
    assert cuda.from_device(target, 4, np.int32).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", [cuda.Memcpy3D, cuda.Memcpy3DPeer])
@pytest.mark.parametrize("name", ["src_lod", "dst_lod"])
def test_mip_levels_are_separate_arrays(kind, name):
    copy = kind()
    copy.set_src_host(np.zeros(4))
    copy.set_dst_device(cuda.mem_alloc(32))
    copy.width_in_bytes, copy.height, copy.depth = 32, 1, 1
    setattr(copy, name, 2)
    with pytest.raises(cuda.LogicError, match=f"{name} is 2; expected 0: a level of a MipmappedArray"):
        copy()


def test_array_copies_by_upstreams_names():
    assert cuda.py_memcpy_htoa is cuda.memcpy_htoa and cuda.py_memcpy_atoh is cuda.memcpy_atoh
    line, other = array_of((8,), np.int32), array_of((8,), np.int32)
    cuda.py_memcpy_htoa(line, 0, np.arange(8, dtype=np.int32))
    back = np.zeros(3, np.int32)
    cuda.py_memcpy_atoh(back, line, 8)
    assert back.tolist() == [2, 3, 4]
    cuda.py_memcpy_htoa(line, 20, np.array([9], np.int32))
    cuda.memcpy_atoa(other, 4, line, 12, 12)
    cuda.py_memcpy_atoh(back, other, 4)
    assert back.tolist() == [3, 4, 9]
    for call in (
        lambda: cuda.memcpy_htoa(line, 24, np.zeros(3, np.int32)),
        lambda: cuda.memcpy_atoh(back, line, 24),
        lambda: cuda.memcpy_atoa(other, 0, line, 24, 12),
        lambda: cuda.memcpy_dtoa(line, 24, cuda.mem_alloc(12), 12),
        lambda: cuda.memcpy_atod(cuda.mem_alloc(12), line, 24, 12),
    ):
        with pytest.raises(cuda.LogicError, match="12 bytes at index 24 of the array 8, 1 channel of SIGNED_INT32"):
            call()


@pytest.mark.parametrize("how", ["close", "with"])
def test_arrays_libraries_and_mappings_are_closed(how):
    descr = cuda.ArrayDescriptor3D()
    descr.width, descr.height, descr.num_channels, descr.format = 8, 8, 1, cuda.array_format.FLOAT
    library = cuda.library_from_buffer(compiler.compile("__global__ void f() {}"))
    mipmap = cuda.MipmappedArray(descr, 2)
    mapping = cuda.AddressRange(cuda.mem_get_granularity()).map(cuda.PhysicalMemory(1))
    event, stream = cuda.Event(), cuda.Stream()
    uses = {
        array_of((4,)): lambda array: array.get_descriptor(),
        mipmap: lambda mipmap: mipmap.get_level(0),
        library: lambda library: library.get_kernel("f"),
        mapping: int,
        event: lambda event: event.record(),
        cuda.MemoryPool(): lambda pool: pool.allocate(64),
    }
    for thing, use in uses.items():
        use(thing)
        if how == "with":
            with thing as entered:
                assert entered is thing
        else:
            thing.close()
        with pytest.raises(cuda.LogicError):
            use(thing)
        thing.close()
    stream.close()
    with pytest.raises(cuda.LogicError):
        stream.synchronize()


def test_graphs_record_the_event_they_are_told_to():
    first, second, stream = cuda.Event(), cuda.Event(), cuda.Stream()
    graph = cuda.Graph()
    node = graph.add_event_record_node(first)
    exec_graph = graph.instantiate()
    exec_graph.event_node_set_event(node, second)
    gate = cuda.mem_alloc(4)
    cuda.memset_d32(gate, 0, 1)
    stream.wait_value(gate, 1)
    exec_graph.launch(stream)
    assert first.query() and not second.query() and not stream.is_done()
    cuda.memset_d32_async(gate, 1, 1, cuda.Stream(1))
    second.synchronize()
    assert second.query()
    assert graph.dot().startswith("digraph") and graph.dot().rstrip().endswith("}")


def test_graphs_allocate_at_an_address_of_their_own():
    graph = cuda.Graph()
    node, memory = graph.add_memalloc_node(256)
    assert f"{int(memory):#x}" in repr(memory) and "256" in repr(memory)
    assert memory.nbytes == 256 and int(memory) == memory.__index__() == memory.get_pointer() != 0
    filled = graph.add_memset_node(memory, 7, 64, 4, dependencies=[node])
    back = np.zeros(64, np.int32)
    copied = graph.add_memcpy_dtoh_node(back, memory, dependencies=[filled])
    graph.add_memfree_node(memory, dependencies=[copied])
    graph.instantiate().launch()
    cuda.Context.synchronize()
    assert (back == 7).all()


def test_copies_of_a_graph_are_replaced():
    """In what was instantiated; the graph stays."""
    host, memory = np.arange(8, dtype=np.int32), [cuda.to_device(np.zeros(8, np.int32)) for _ in range(3)]
    box = cuda.Memcpy3D()
    box.set_src_device(memory[1])
    box.set_dst_device(memory[2])
    box.width_in_bytes = box.src_pitch = box.dst_pitch = 32
    box.height = box.depth = box.src_height = box.dst_height = 1
    graph = cuda.Graph()
    nodes = [graph.add_memcpy_htod_node(memory[0], host)]
    nodes.append(graph.add_memcpy_dtod_node(memory[1], memory[0], 32, nodes))
    nodes.append(graph.add_memcpy_node(box, nodes[-1:]))
    exec_graph = graph.instantiate()
    assert exec_graph.node_get_enabled(nodes[2]) is True
    exec_graph.memcpy_htod_node_set_params(nodes[0], memory[0], host[::-1].copy(), 16)
    exec_graph.memcpy_dtod_node_set_params(nodes[1], memory[1], memory[0], 12)
    box.src_x_in_bytes, box.width_in_bytes = 4, 8
    exec_graph.memcpy_node_set_params(nodes[2], box)
    exec_graph.launch()
    cuda.Context.synchronize()
    found = [cuda.from_device(one, 8, np.int32).tolist() for one in memory]
    assert found == [[7, 6, 5, 4, 0, 0, 0, 0], [7, 6, 5, 0, 0, 0, 0, 0], [6, 5, 0, 0, 0, 0, 0, 0]]


def test_handles_are_told_apart():
    pools = [cuda.MemoryPool() for _ in range(2)]
    graphs = [cuda.Graph() for _ in range(2)]
    nodes = [graph.add_empty_node() for graph in graphs]
    library = cuda.library_from_buffer(compiler.compile("__global__ void f() {} __global__ void g() {}"))
    kernels = library.get_kernels()
    arrays = [array_of((4,)) for _ in range(2)]
    execs = [graph.instantiate() for graph in graphs]
    streams = [cuda.Stream() for _ in range(2)]
    for things in (pools, graphs, nodes, kernels, arrays, execs, streams):
        handles = [thing.handle for thing in things]
        assert 0 not in handles and len(set(handles)) == 2 and handles == [thing.handle for thing in things]
    assert library.handle not in (0, kernels[0].handle)
    with pytest.raises(cuda.Error, match="cuLibraryGetUnifiedFunction failed"):
        library.get_unified_function("absent")


# -- modules, textures ------------------------------------------------------------------------


def test_modules_find_everything(module):
    numbers = module.get_global_array("numbers", np.int32)
    assert isinstance(numbers, gpuarray.GPUArray) and numbers.get().tolist() == [5, 6, 7]
    numbers[1] = 60
    assert module.get_global("numbers") == (int(numbers.gpudata), 12)
    assert module.get_global_array("numbers", np.int32, 2).get().tolist() == [5, 60]
    values, out = cuda.to_device(np.array([1.5, 2.5], np.float32)), np.zeros(2, np.float32)
    line = module.get_texref("line")
    line.set_format(cuda.array_format.FLOAT, 1)
    line.set_address(values, 8)
    module.get_function("read")(cuda.Out(out), block=(2, 1, 1), texrefs=[line])
    assert out.tolist() == [1.5, 2.5]
    target = array_of((4, 1), flags=cuda.array3d_flags.SURFACE_LDST)
    image = module.get_surfref("image")
    image.set_array(target)
    assert image.get_array().handle == target.handle
    module.get_function("paint")(block=(4, 1, 1))
    back, copy = np.zeros(4, np.float32), cuda.Memcpy2D()
    copy.set_src_array(target)
    copy.set_dst_host(back)
    copy.width_in_bytes = copy.dst_pitch = 16
    copy.height = 1
    copy()
    assert back.tolist() == [1.5] * 4


def test_texture_references_tell_what_they_were_given():
    texref, memory = cuda.TextureReference(), cuda.mem_alloc(1024)
    texref.set_format(cuda.array_format.SIGNED_INT16, 2)
    assert texref.get_format() == (cuda.array_format.SIGNED_INT16, 2)
    for dim, mode in enumerate((cuda.address_mode.WRAP, cuda.address_mode.MIRROR, cuda.address_mode.BORDER)):
        texref.set_address_mode(dim, mode)
        assert texref.get_address_mode(dim) == mode
    for mode in (cuda.filter_mode.LINEAR, cuda.filter_mode.POINT):
        texref.set_filter_mode(mode)
        assert texref.get_filter_mode() == mode
    for flags in (cuda.TRSF_READ_AS_INTEGER, cuda.TRSF_NORMALIZED_COORDINATES, 0):
        texref.set_flags(flags)
        assert texref.get_flags() == flags
    assert texref.set_address(memory, 1024) == 0
    assert texref.get_address() == int(memory)
    array = array_of((4, 4))
    texref.set_array(array)
    assert texref.get_array().handle == array.handle != array_of((4, 4)).handle
    assert texref.get_format() == (cuda.array_format.FLOAT, 1), "an array's format takes the place of the other"


def test_flags_of_textures_are_those_of_cuda():
    assert (cuda.TRSA_OVERRIDE_FORMAT, cuda.TR_DEFAULT) == (1, -1)
    assert (cuda.TRSF_READ_AS_INTEGER, cuda.TRSF_NORMALIZED_COORDINATES) == (1, 2)


def test_surface_objects_are_their_handles(module):
    array = array_of((4, 1), flags=cuda.array3d_flags.SURFACE_LDST)
    one, two = cuda.SurfaceObject(array), cuda.SurfaceObject(array)
    assert one.handle == one.get_pointer() != two.handle


def test_linking_of_binaries_and_files(tmp_path):
    ptx = compiler.compile("extern __device__ int five(); __global__ void f(int *a) { *a = five(); }", target="ptx",
                           options=["-rdc=true"])  # fmt: skip
    path = tmp_path / "five.ptx"
    path.write_bytes(compiler.compile("__device__ int five() { return 5; }", target="ptx", options=["-rdc=true"]))
    linked = compiler.DynamicModule().add_data(ptx, cuda.jit_input_type.PTX, "f.ptx")
    linked = linked.add_file(str(path), cuda.jit_input_type.PTX).link()
    out = np.zeros(1, np.int32)
    linked.get_function("f")(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 5


def test_standard_libraries_are_found(tmp_path):
    linked = compiler.DynamicModule(cuda_libdir=tmp_path)
    (tmp_path / "libodd.a").write_bytes(b"no archive")
    with pytest.raises(cuda.Error):
        linked.add_stdlib("odd").add_source("__global__ void f() {}").link()


# -- contexts, devices, events ----------------------------------------------------------------


def test_attached_contexts_are_pushed(context):
    own = cuda.Context.get_current()
    attached = cuda.Context.attach()
    try:
        assert attached == own and attached.kind == "foreign" and cuda.Context.get_current() == own
    finally:
        cuda.Context.pop()
    assert cuda.Context.get_current() == own


def test_contexts_say_whether_they_live():
    context = cuda.Device(0).make_context(cuda.ctx_flags.SCHED_YIELD)
    try:
        assert context.is_alive
        assert cuda.Context.get_flags() & cuda.ctx_flags.SCHED_MASK == cuda.ctx_flags.SCHED_YIELD
        assert context.get_api_version() in (3010, 3020, 4000, 12000, 13000, cuda.get_driver_version())
        cuda.Context.set_limit(cuda.limit.STACK_SIZE, 4096)
        assert cuda.Context.get_limit(cuda.limit.STACK_SIZE) == 4096
    finally:
        context.pop()
        context.detach()
    assert not context.is_alive


def test_priorities_of_streams():
    least, greatest = cuda.Context.get_stream_priority_range()
    assert greatest <= 0 <= least
    assert cuda.Stream(priority=greatest).priority == greatest
    assert cuda.Stream(priority=greatest - 5).priority == greatest, "the range is all there is"


def test_objects_show_themselves(module):
    device = cuda.Device(0)
    assert repr(device) == f"<rtcg.driver.Device 0: {device.name()}>"
    graph = cuda.Graph()
    node = graph.add_empty_node()
    exec_graph = graph.instantiate()
    assert "Graph" in repr(graph) and "GraphExec" in repr(exec_graph)
    assert len({repr(graph), repr(exec_graph), repr(node)}) == 3


def test_streams_and_events_differ():
    one, two = cuda.Stream(), cuda.Stream()
    assert one != two and not one == two and not one != one
    assert cuda.Event().handle != cuda.Event().handle or gc.collect() >= 0
    first, second = cuda.Event(), cuda.Event()
    assert 0 not in (first.handle, second.handle) and first.handle != second.handle


def test_versions_are_those_of_the_headers():
    assert cuda.get_version() == (13, 0, 0) and pycuda.driver.get_curand_version() == (10, 4, 0)
    assert cuda.get_driver_version() // 1000 in range(12, 20)
    assert [pycuda.driver.bitlog2(n) for n in (1, 2, 3, 1023, 1024)] == [0, 1, 1, 9, 10]


def test_arguments_of_generators_are_keys():
    one, other = tools.VectorArg(np.float32, "x"), tools.VectorArg(np.float32, "x")
    assert {one: 1}[other] == 1 and one != tools.VectorArg(np.float64, "x") and one != tools.ScalarArg(np.float32, "x")
    assert repr(one) == repr(other) != repr(tools.VectorArg(np.float32, "y"))
    with pytest.raises(NotImplementedError):
        tools.Argument(np.float32, "x").declarator()


def test_what_a_compiler_says_is_shown():
    error = cuda.CompileError("it failed", ["nvcc", "-O3", "a.cu"], "out", "err")
    assert str(error) == "it failed\n[command: nvcc -O3 a.cu]\n[stdout:\nout]\n[stderr:\nerr]"
    assert str(cuda.CompileError("it failed", [])) == "it failed"
    assert (error.msg, error.stdout, error.stderr) == ("it failed", "out", "err")
    with pytest.raises(cuda.CompileError) as caught:
        SourceModule("__global__ void f() { nonsense; }", options=["-DTHIS=1"], cache_dir=False)
    assert "nonsense" in str(caught.value) and "THIS=1" not in str(caught.value)
    assert "-DTHIS=1" in caught.value.command_line or "--define-macro=THIS=1" in caught.value.command_line


def test_preparing_opengl_is_not_needed():
    import pycuda.gl

    driver = pycuda.driver
    assert driver.gl_init is pycuda.gl.init and driver.make_gl_context is pycuda.gl.make_context
    with pytest.warns(DeprecationWarning, match="pycuda.gl.init is not needed any more"):
        driver.gl_init()
