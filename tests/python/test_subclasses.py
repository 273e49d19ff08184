"""PyCUDA's classes are subclassed with constructors of other arguments, and take attributes."""

import gc
import weakref

import numpy as np
import pytest

import pycuda.curandom as curandom
import pycuda.gpuarray as gpuarray
import pycuda.scan as scan
import pycuda.tools as tools
import rtcg.driver as cuda
from pycuda.compiler import DynamicModule, SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.gpuarray import GPUArray
from pycuda.reduction import ReductionKernel
from tests.python.subprocesses import run_python

pytestmark = pytest.mark.usefixtures("context")

SOURCE = "__global__ void twice(int *a) { a[threadIdx.x] *= 2; }"


def descriptor(width=4, height=2):
    d = cuda.ArrayDescriptor()
    d.width, d.height, d.format, d.num_channels = width, height, cuda.array_format.FLOAT, 1
    return d


def use_copy(copy):
    source = np.arange(6, dtype=np.int32).reshape(2, 3)
    target = np.zeros_like(source)
    copy.set_src_host(source)
    copy.set_dst_host(target)
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 12
    copy.height = 2
    if isinstance(copy, cuda.Memcpy2D):
        copy(aligned=False)
    else:
        copy.depth = 1
        copy.src_height = copy.dst_height = 2
        copy()
    assert (source == target).all()


def use_stream(stream):
    a = cuda.InOut(np.arange(4, dtype=np.int32))
    SourceModule(SOURCE).get_function("twice")(a, block=(4, 1, 1), stream=stream)
    stream.synchronize()
    with stream:
        assert stream.is_done()


def use_array(array):
    host = np.arange(12, dtype=np.float32)
    array.set(host)
    assert (array.get() == host).all() and ((array + array).get() == 2 * host).all()


def use_scan(kernel):
    a = gpuarray.to_gpu(np.arange(6, dtype=np.int32))
    assert kernel(a).get()[-1] in (10, 15)


def use_linker(linker):
    from pycuda.compiler import compile

    linker.add_data(compile(SOURCE, target="ptx"), cuda.jit_input_type.PTX)
    assert linker.link_module().get_function("twice")


def use_elementwise(kernel):
    a = gpuarray.zeros(5, np.float32)
    kernel(a)
    assert a.get().tolist() == [0, 1, 2, 3, 4]


def use_texture(texref):
    texref.set_array(cuda.Array(descriptor()))
    assert texref.get_array().get_descriptor().width == 4


def use_pool(pool):
    memory = pool.allocate(300)
    memory.label = "of the pool"
    assert len(memory) >= 300 and gpuarray.zeros(4, np.int32, allocator=pool.allocate).get().sum() == 0
    memory.free()


def use_handler(handler):
    SourceModule(SOURCE).get_function("twice")(handler, block=(4, 1, 1))


def use_generator(generator):
    assert (generator.gen_uniform(16, np.float32).get() > 0).all()


ARY = np.arange(4, dtype=np.int32)

# Class, arguments of its constructor, and what is done with an object.
CLASSES = [
    (cuda.Device, (0,), lambda d: d.name() and d.warp_size and d == cuda.Device(0)),
    (cuda.Stream, (), use_stream),
    (cuda.Event, (), lambda e: e.record().synchronize().query()),
    (cuda.ArrayDescriptor, (), lambda d: d.width == 0),
    (cuda.ArrayDescriptor3D, (), lambda d: d.depth == 0),
    (cuda.Array, (descriptor(),), lambda a: a.get_descriptor().width == 4 and a.free() is None),
    (cuda.TextureReference, (), use_texture),
    (cuda.Memcpy2D, (), use_copy),
    (cuda.Memcpy3D, (), use_copy),
    (cuda.Memcpy3DPeer, (), None),
    (cuda.Linker, (), use_linker),
    (cuda.PointerHolderBase, (), None),
    (cuda.ArgumentHandler, (ARY,), lambda h: h.get_device_alloc()),
    (cuda.In, (ARY,), use_handler),
    (cuda.Out, (ARY.copy(),), use_handler),
    (cuda.InOut, (ARY.copy(),), use_handler),
    (cuda.CompileError, ("message", ("nvcc",)), lambda e: "message" in str(e)),
    (tools.DeviceMemoryPool, (), use_pool),
    (tools.PageLockedAllocator, (0,), lambda a: tools.PageLockedMemoryPool(a).allocate((3,), np.int32)),
    (tools.PageLockedMemoryPool, (), lambda p: p.allocate((3,), np.int32).sum()),
    (tools.DebugMemoryPool, (False, open("/dev/null", "w")), use_pool),  # noqa: SIM115
    (tools.DeviceData, (), lambda d: d.max_threads),
    (tools.OccupancyRecord, (tools.DeviceData((8, 0)), 128), lambda r: r.occupancy),
    (tools.Argument, (np.float32, "x"), lambda a: a.name == "x"),
    (tools.VectorArg, (np.float32, "x"), lambda a: a.declarator()),
    (tools.ScalarArg, (np.float32, "x"), lambda a: a.declarator()),
    (GPUArray, ((12,), np.float32), use_array),
    (ElementwiseKernel, ("float *x", "x[i] = i"), use_elementwise),
    (ReductionKernel, (np.int32, "0", "a + b"), lambda k: k(gpuarray.to_gpu(ARY)).get() == 6),
    (scan.InclusiveScanKernel, (np.int32, "a + b"), use_scan),
    (scan.ExclusiveScanKernel, (np.int32, "a + b", "0"), use_scan),
    (SourceModule, (SOURCE,), lambda m: m.get_function("twice")),
    (DynamicModule, (), lambda m: m.add_source(SOURCE).link().get_function("twice")),
    (curandom.XORWOWRandomNumberGenerator, (), use_generator),
    (curandom.MRG32k3aRandomNumberGenerator, (), use_generator),
    (curandom.Sobol32RandomNumberGenerator, (), use_generator),
    # Additions to PyCUDA.
    (cuda.Graph, (), lambda g: g.instantiate()),
    (cuda.MemoryPool, (), None),
    (cuda.PhysicalMemory, (1,), lambda m: m.nbytes),
    (cuda.AddressRange, (1,), None),
    (cuda.ManagedAllocation, (16, 1), lambda m: m.nbytes == 16),
    (cuda.PagelockedHostAllocation, (16, 0), lambda m: m.nbytes == 16),
    (cuda.AlignedHostAllocation, (16, 64), lambda m: m.nbytes >= 16),
]


@pytest.mark.parametrize(("base", "args", "use"), CLASSES, ids=[base.__name__ for base, _, _ in CLASSES])
def test_constructors_of_other_arguments(base, args, use):
    class Sub(base):
        def __init__(self, tag, *, other=None):
            self.tag = tag
            base.__init__(self, *args)
            self.other = other

    for make in (Sub, lambda tag, other: type("Deeper", (Sub,), {})(tag, other=other)):
        made = make("a tag", other=[1])
        assert isinstance(made, base) and made.tag == "a tag" and made.other == [1]
        made.label = "later"
        assert made.label == "later" and made.__dict__["label"] == "later"
        if use is not None:
            assert use(made) is not False
    with pytest.raises(TypeError):
        Sub()


@pytest.mark.parametrize(("base", "args", "use"), CLASSES, ids=[base.__name__ for base, _, _ in CLASSES])
def test_objects_of_the_classes_themselves(base, args, use):
    made = base(*args)
    made.label = "mine"
    assert made.label == "mine"
    if use is not None:
        assert use(made) is not False
    with pytest.raises(TypeError):
        base(*args, no_such_keyword=1)


def test_objects_without_constructors_take_attributes(context):
    module = cuda.module_from_buffer(__import__("pycuda.compiler").compiler.compile(SOURCE))
    function, memory = module.get_function("twice"), cuda.mem_alloc(16)
    pooled = tools.DeviceMemoryPool().allocate(16)
    pinned = cuda.pagelocked_empty(4, np.int32).base
    for thing in (context, module, function, memory, pooled, pinned, gpuarray.zeros(3, np.int32) + 1):
        thing.label = {"a": 1}
        assert thing.label == {"a": 1} and weakref.ref(thing)() is thing
    function(memory, block=(1, 1, 1))
    function(memory, block=(1, 1, 1))
    assert function.label == {"a": 1}


def test_base_must_be_initialised():
    for base in (cuda.Stream, cuda.Event, GPUArray, cuda.Device):

        class Sub(base):
            def __init__(self):
                pass

        made = Sub()
        made.label = 1
        with pytest.raises(BaseException, match="__init__"):  # noqa: B017, PT011
            str(made.size if base is GPUArray else made.name() if base is cuda.Device else made.handle)
    with pytest.raises(TypeError, match="__init__"):
        made.warp_size  # noqa: B018


def test_a_second_init_is_refused_where_it_cannot_be_meant():
    stream = cuda.Stream()
    with pytest.raises(RuntimeError, match="second time"):
        stream.__init__()
    array = gpuarray.zeros(3, np.int32)
    array.__init__((2, 2), np.float64)
    assert array.shape == (2, 2) and array.dtype == np.float64 and array.nbytes == 32


class Tagged(GPUArray):
    def __init__(self, tag, n):
        GPUArray.__init__(self, (n,), np.float32)
        self.tag = tag


def test_results_of_subclasses_are_plain():
    a = Tagged("a", 12)
    a.fill(1)
    results = [a + 1, 1 - a, a + a, a[2:5], a[np.array([1, 2])], a.T, a.reshape(3, 4), a.view(np.int32), a.copy(), -a,
               abs(a), a.astype(np.int32), a > 0, gpuarray.empty_like(a), gpuarray.zeros_like(a), np.add(a, a),
               a._new_like_me(), a.sum(), a.ravel(), a.squeeze()]  # fmt: skip
    assert [type(result) for result in results] == [GPUArray] * len(results)
    assert a[2:5].base is a
    a += 1
    assert type(a) is Tagged and a.tag == "a" and (a.get() == 2).all()
    a[:] = 5
    assert (a.get() == 5).all()
    with pytest.raises(AttributeError):
        results[0].tag  # noqa: B018


def test_memory_of_an_array_can_be_replaced():
    x = gpuarray.to_gpu(np.arange(3, dtype=np.float32))
    memory = cuda.mem_alloc(12)
    cuda.memcpy_htod(memory, np.full(3, 7, np.float32))
    x.gpudata = memory
    assert x.gpudata is memory and x.ptr == int(memory) and (x.get() == 7).all()
    assert ((x + x).get() == 14).all() and (x * 2).get().tolist() == [14] * 3
    view = x[1:]
    x.gpudata = int(cuda.mem_alloc(12))
    assert view.get().tolist() == [7, 7]
    before = weakref.ref(memory)
    del memory
    assert before() is not None
    del view
    gc.collect()
    assert before() is None
    x.gpudata = None
    assert x.gpudata is None


def test_calls_like_the_last_one_see_replaced_memory():
    twice = SourceModule(SOURCE).get_function("twice")
    add = ElementwiseKernel("int *x", "x[i] += 1")
    x = gpuarray.to_gpu(np.arange(4, dtype=np.int32))
    for _ in range(3):
        twice(x, block=(4, 1, 1))
        add(x)
    old, x.gpudata = x.copy(), cuda.to_device(np.arange(4, dtype=np.int32))
    for _ in range(3):
        twice(x, block=(4, 1, 1))
        add(x)
    assert (x.get() == old.get()).all()


def test_attributes_of_an_array_can_be_set():
    x = gpuarray.to_gpu(np.arange(12, dtype=np.float32))
    x.shape = (3, 4)
    assert x.shape == (3, 4) and x.strides == (16, 4) and (x.get() == np.arange(12).reshape(3, 4)).all()
    x.strides = (4, 12)
    assert (x.get() == np.arange(12).reshape(3, 4, order="F")).all()
    x.dtype = np.int32
    assert x.dtype == np.int32 and x.get()[1, 0] == np.float32(1).view(np.int32)
    with pytest.raises(ValueError, match="does not fit"):
        x.shape = (4, 4)
    with pytest.raises(ValueError, match="does not fit"):
        x.dtype = np.float64
    with pytest.raises(ValueError, match="strides"):
        x.strides = (4,)
    x.shape = 5
    assert x.shape == (5,)
    x.size = x.mem_size = 4
    x.nbytes = 16
    assert (x.size, x.mem_size, x.nbytes, x.shape) == (4, 4, 16, (5,))
    owner, allocator = object(), tools.DeviceMemoryPool().allocate
    x.base, x.allocator = owner, allocator
    assert x.base is owner and x.allocator is allocator
    x.base = None
    assert x.base is None


def test_replaced_memory_is_freed():
    """Each of many replacements gives the memory before it back."""
    run_python(
        """
        import numpy as np, pycuda.autoinit, pycuda.driver as cuda, pycuda.gpuarray as gpuarray, weakref
        x = gpuarray.zeros(3, np.float32)
        seen = []
        for _ in range(50):
            memory = cuda.mem_alloc(1 << 20)
            seen.append(weakref.ref(memory))
            x.gpudata = memory
            del memory
        assert [ref() is not None for ref in seen] == [False] * 49 + [True]
        """
    )


def test_cycles_through_attributes_are_collected():
    array = gpuarray.zeros(3, np.float32)
    array.me, stream = array, cuda.Stream()
    stream.me = stream
    gone = [weakref.ref(array), weakref.ref(stream)]
    del array, stream
    gc.collect()
    assert [ref() for ref in gone] == [None, None]
