"""PyCUDA's classes are subclassed with constructors of other arguments, and take attributes."""

import gc
import operator
import sys
import weakref
from collections import abc

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
from tests.python.depth import at_depth
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
    with pytest.raises(
        ValueError, match="shape: an array of shape .4, 4.*takes the bytes 0 to 64 .* the bytes 0 to 48"
    ):
        x.shape = (4, 4)
    with pytest.raises(ValueError, match="dtype: .*float64 takes the bytes 0 to 96 .* the bytes 0 to 48"):
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


class Owned(GPUArray):
    """As downstream packages have it: a constructor of other arguments, and results that know their owner."""

    def __init__(self, owner, shape, dtype):
        super().__init__(shape, dtype)
        self.owner = owner

    def _new_like_me(self, dtype=None, order="C"):
        return Owned(self.owner, self.shape, self.dtype if dtype is None else dtype)


def owned(values, dtype=np.float32):
    host = np.array(values, dtype)
    array = Owned("me", host.shape, host.dtype)
    array.set(host)
    return array


SCALARS = [2, 2.5, np.float32(3), np.array(2.0)]
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
          operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]  # fmt: skip
UNARY = [operator.neg, operator.abs, operator.pos, np.sqrt, np.exp, np.conj]


def test_results_of_a_subclass_that_makes_its_own():
    """Elementwise results are what `_new_like_me` of the subclass returns, as upstream; views and copies are plain."""
    host = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    a, plain = owned(host), gpuarray.to_gpu(host)
    cases = [(op, (a, other)) for op in BINARY for other in (a, plain, *SCALARS)]
    cases += [(lambda x, y, op=op: op(y, x), (a, other)) for op in BINARY for other in (2, 2.5)]
    cases += [(op, (a,)) for op in UNARY]
    cases += [(lambda x: x.astype(np.float64), (a,)), (lambda x: x.mul_add(2, plain, 3), (a,)),
              (lambda x: np.maximum(x, 2), (a,)), (lambda x: np.add(x, x), (a,))]  # fmt: skip
    for op, operands in cases:
        result = op(*operands)
        hosts = [x.get() if isinstance(x, GPUArray) else x for x in operands]
        expected = op(*hosts) if op is not cases[-4][0] and op is not cases[-3][0] else None
        assert type(result) is Owned and result.owner == "me", (op, operands)
        if expected is not None:
            assert result.dtype == expected.dtype, (op, operands)
            np.testing.assert_allclose(result.get(), expected, rtol=1e-6)
    complex_values = owned([1 + 2j, 3 - 4j], np.complex64)
    parts = [(complex_values.real, [1, 3]), (complex_values.imag, [2, -4]), (complex_values.conj(), [1 - 2j, 3 + 4j])]
    for result, expected in [*parts, (owned([1, 2, 3]).reverse(), [3, 2, 1])]:
        assert type(result) is Owned and result.get().tolist() == expected
    for result in (a[1:], a.T, a.reshape(3, 2), a.view(np.int32), a.copy(), a.sum(), owned(host[:1]) + plain):
        assert type(result) is GPUArray
    scalar = owned(2.0)
    assert (
        type(scalar + plain) is GPUArray
        and type(scalar * a) is Owned
        and (scalar * a).get().tolist() == (2 * host).tolist()
    )
    same = a
    for op in (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow):
        a = op(a, 2)
        assert a is same


def test_what_new_like_me_returns_must_be_an_array():
    class Wrong(GPUArray):
        def _new_like_me(self, dtype=None, order="C"):
            return "x" * 10**7

    array = Wrong((3,), np.float32)
    with pytest.raises(TypeError, match=r"^_new_like_me returned .{1,300}; expected a GPUArray$"):
        array + 1
    # What it raises arrives.
    with pytest.raises(ZeroDivisionError):
        type("Raising", (GPUArray,), {"_new_like_me": lambda *_: 1 // 0})((3,), np.float32) + 1


# Special methods that ours has and upstream's class has not, and why programs of upstream's lose nothing by it: what
# asks for a method (`hasattr`, an abstract base class) and goes another way when it is there would.
ADDED = {
    GPUArray: {
        "NumPy's operators": "__matmul__ __rmatmul__ __imatmul__ __floordiv__ __rfloordiv__ __ifloordiv__ __mod__ "
        "__rmod__ __imod__ __divmod__ __rdivmod__ __and__ __rand__ __iand__ __or__ __ror__ __ior__ __xor__ __rxor__ "
        "__ixor__ __lshift__ __rlshift__ __ilshift__ __rshift__ __rrshift__ __irshift__ __invert__",
        "NumPy's conversions of one element": "__int__ __round__ __float__ __complex__ __index__ __format__",
        "NumPy's protocols": "__array__ __array_function__ __array_ufunc__ __array_namespace__ __dlpack__ "
        "__dlpack_device__",
        "copy and pickle, which upstream registers elsewhere": "__copy__ __deepcopy__ __reduce__",
        "Dask's names of arrays": "__dask_tokenize__",
        "one kernel in place of one for each element": "__contains__",
        "beside __setitem__ in a native class": "__delitem__",
    },
    cuda.DeviceAllocation: {"close": "__enter__ __exit__", "address and size": "__repr__"},
    cuda.Stream: {
        "entered, it is the default": "__enter__ __exit__",
        "other libraries' protocol": "__cuda_stream__",
        "the same handle": "__eq__ __ne__ __hash__ __lt__ __le__ __gt__ __ge__",
    },
    cuda.Event: {"close": "__enter__ __exit__"},
    cuda.Function: {
        "its signature": "__repr__",
        "the interpreter's own": "__vectorcalloffset__ __new__",
        "says how to launch": "__getitem__",
    },
    cuda.Module: {"close": "__enter__ __exit__"},
    cuda.Context: {"entered, it is current": "__enter__ __exit__", "beside __eq__": "__lt__ __le__ __gt__ __ge__"},
    cuda.Device: {"what it is": "__repr__", "beside __eq__": "__lt__ __le__ __gt__ __ge__"},
    cuda.Array: {"close": "__enter__ __exit__", "its descriptor": "__repr__"},
    cuda.TextureReference: {},
    cuda.SurfaceReference: {},
    cuda.Memcpy2D: {},
    cuda.Memcpy3D: {},
    tools.DeviceMemoryPool: {"close": "__enter__ __exit__"},
    tools.PageLockedMemoryPool: {"close": "__enter__ __exit__"},
    cuda.PooledDeviceAllocation: {"close": "__enter__ __exit__", "address and size": "__repr__"},
}

# What upstream's classes have beyond what every class has.
UPSTREAM = {
    GPUArray: "__array_priority__ __cuda_array_interface__ __len__ __str__ __repr__ __hash__ __bool__ __abs__ "
    "__getitem__ __setitem__ __add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ "
    "__truediv__ __rtruediv__ __itruediv__ __pow__ __rpow__ __ipow__ __neg__ __pos__ __eq__ __ne__ __lt__ __le__ "
    "__gt__ __ge__",
    cuda.DeviceAllocation: "__int__ __index__",
    cuda.PooledDeviceAllocation: "__int__ __index__ __len__",
    cuda.Function: "__call__",
    cuda.Memcpy2D: "__call__",
    cuda.Memcpy3D: "__call__",
    cuda.Context: "__eq__ __ne__ __hash__",
    cuda.Device: "__eq__ __ne__ __hash__",
}
# The last one `copyreg` leaves behind.
OF_EVERY_CLASS = {*dir(type("Plain", (), {})), "__slotnames__"}


@pytest.mark.parametrize("cls", ADDED, ids=[cls.__name__ for cls in ADDED])
def test_special_methods_beyond_upstreams(cls):
    ours = {name for name in dir(cls) if getattr(cls, name) is not getattr(object, name, None)}
    ours = {name for name in ours if name.startswith("__")}
    explained = {name for names in ADDED[cls].values() for name in names.split()}
    upstream = set(UPSTREAM.get(cls, "").split())
    assert sorted(ours - upstream - explained - OF_EVERY_CLASS) == []
    assert sorted((upstream | explained) - ours) == []


# What `isinstance` says of an object, as of upstream's.
ABSTRACT = {
    GPUArray: {abc.Sized, abc.Hashable, abc.Container},
    cuda.PooledDeviceAllocation: {abc.Sized, abc.Hashable},
    cuda.Function: {abc.Callable, abc.Hashable},
    cuda.Memcpy2D: {abc.Callable, abc.Hashable},
    cuda.Memcpy3D: {abc.Callable, abc.Hashable},
}


@pytest.mark.parametrize("cls", ADDED, ids=[cls.__name__ for cls in ADDED])
def test_abstract_base_classes(cls):
    all_of_them = {getattr(abc, name) for name in abc.__all__}
    assert {base for base in all_of_them if issubclass(cls, base)} == ABSTRACT.get(cls, {abc.Hashable})


def test_arrays_are_iterated_by_the_sequence_protocol():
    a = gpuarray.to_gpu(np.arange(6, dtype=np.float32).reshape(3, 2))
    assert not hasattr(GPUArray, "__iter__") and not isinstance(a, abc.Iterable)
    assert [row.get().tolist() for row in a] == [[0, 1], [2, 3], [4, 5]]
    x, y, z = a
    assert z.get().tolist() == [4, 5] and list(gpuarray.zeros(0, np.float32)) == []
    assert [int(v) for v in reversed(a[:, 0])] == [4, 2, 0]
    assert max(a[:, 1]).get() == 5 and [*map(float, a[0])] == [0, 1]
    assert np.array([*a[0]]).tolist() == [0, 1] and dict(zip("abc", a, strict=True))["b"].get().tolist() == [2, 3]
    assert 3.0 in a and 7.0 not in a


CHAIN = """
import gc, resource, sys
import numpy as np
import rtcg.autoinit, rtcg.numpy as xp
from rtcg import sparse
from rtcg.sparse import gallery

class Wrapped:
    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__

class Tensor:
    def __init__(self, array):
        self.array = array
    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)
    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

STEPS = {
    "T": lambda a: a.T, "reshape": lambda a: a.reshape((4, 4)), "slice": lambda a: a[:], "reverse": lambda a: a[::-1],
    "ravel": lambda a: a.ravel().reshape(4, 4), "squeeze": lambda a: a.squeeze(), "axes": lambda a: a.swapaxes(0, 1),
    "view": lambda a: a.view(np.float32 if a.dtype == np.int32 else np.int32), "expand": lambda a: a[None][0],
    "broadcast": lambda a: xp.broadcast_to(a, (4, 4)), "asarray": xp.asarray, "from_dlpack": xp.from_dlpack,
    "real": lambda a: a.real, "sum": lambda a: a + 0,
}
# These keep what they were made from: each link is an object of the program.
LINKED = {
    "interface": lambda a: xp.asarray(Wrapped(a)), "tensor": lambda a: xp.from_dlpack(Tensor(a)),
    "base": lambda a: xp.GPUArray((4, 4), np.float32, base=a, gpudata=a.gpudata),
    "memory": lambda a: xp.GPUArray((4, 4), np.float32, gpudata=a.gpudata, base=Wrapped(a)),
}
n = int(sys.argv[1])
for name, step in {**STEPS, **LINKED}.items():
    a = xp.ones((4, 4), np.float32)
    for _ in range(200):
        a = step(a)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(n):
        a = step(a)
    kept = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / n
    assert name in LINKED or kept < 100, f"{name}: {kept} bytes for each"
    assert a.shape == (4, 4), name
    del a
    gc.collect()
matrix = gallery.poisson2d(4)
for step in (lambda m: m.T, lambda m: m.T.tocsr(), lambda m: m.copy()):
    for _ in range(100):
        matrix = step(matrix)
print("end")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="asks the system for memory used")
def test_chains_of_views_keep_one_owner_and_end(context):
    assert run_python(CHAIN, at_depth(20_000, 200_000), timeout_s=600).stdout == "end\n"
