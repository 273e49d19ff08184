"""Functions in depth: what may be an argument, geometry, prepared calls, attributes, modules, streams, events."""

import gc
import pickle
import threading

import numpy as np
import pytest

import rtcg.driver as cuda
from pycuda.compiler import SourceModule, compile

pytestmark = pytest.mark.usefixtures("context")

SOURCE = """
struct triple { char a; double b; short c; };
#define KERNEL(type, name) __global__ void put_##name(type *out, type value) { *out = value; }
KERNEL(signed char, int8) KERNEL(short, int16) KERNEL(int, int32) KERNEL(long long, int64)
KERNEL(unsigned char, uint8) KERNEL(unsigned short, uint16) KERNEL(unsigned int, uint32)
KERNEL(unsigned long long, uint64) KERNEL(bool, bool) KERNEL(unsigned short, float16) KERNEL(float, float32)
KERNEL(double, float64) KERNEL(float2, complex64) KERNEL(double2, complex128) KERNEL(triple, triple)
KERNEL(void *, pointer)
__global__ void where(int *out)
{
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}
__global__ void dynamic_size(unsigned *out) { unsigned n; asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(n)); *out = n; }
__global__ void nothing() {}
__global__ void many(int *out, char a, short b, int c, long long d, float e, double f, char g, const int *h)
{
    out[0] = a + b + c + d + e + f + g + *h;
}
__constant__ float factors[4];
__device__ int total;
__global__ void use_globals(float *out) { *out = factors[0] + factors[3]; total += 1; }
__global__ void spin(long long *out, long long n) { for (long long i = 0; i < n; ++i) *out += i ^ (*out >> 1); }
"""


@pytest.fixture(scope="module")
def module(context):
    return SourceModule(SOURCE)


# -- arguments of direct calls ----------------------------------------------------------------

SCALARS = [
    np.int8(-5), np.int16(-500), np.int32(-(1 << 30)), np.int64(-(1 << 60)), np.uint8(250), np.uint16(65000),
    np.uint32(4000000000), np.uint64((1 << 64) - 1), np.bool_(True), np.float16(0.1), np.float32(np.pi),
    np.float64(np.pi), np.complex64(1 - 2j), np.complex128(3 + 4j), np.float32("nan"), np.float64("-inf"),
]  # fmt: skip
ALIASES = [np.intp(-1), np.uintp(1), np.longlong(-2), np.ulonglong(2), np.intc(3), np.uintc(4)]


def kernel_for(module, dtype):
    return module.get_function(f"put_{np.dtype(dtype).name}")


@pytest.mark.parametrize("value", SCALARS + ALIASES, ids=lambda v: f"{type(v).__name__}-{v}")
def test_scalars(module, value):
    kernel = kernel_for(module, value.dtype)
    out = np.zeros(1, value.dtype)
    kernel(cuda.Out(out), value, block=(1, 1, 1))
    assert out.tobytes() == value.tobytes()
    # An array without dimensions, or with one element, is its bytes too.
    for array in (np.array(value), np.array([value])):
        out[...] = 0
        kernel(cuda.Out(out), array, block=(1, 1, 1))
        assert out.tobytes() == value.tobytes()


def test_structures(module):
    dtype = np.dtype([("a", "i1"), ("b", "f8"), ("c", "i2")], align=True)
    value = np.zeros(1, dtype)
    value[0] = (-3, 2.5, 700)
    kernel = module.get_function("put_triple")
    for argument in (value, value[0], value.reshape(()), value.view(f"V{dtype.itemsize}")[0]):
        out = np.zeros(1, dtype)
        kernel(cuda.Out(out), argument, block=(1, 1, 1))
        assert out[0] == value[0]
    packed = np.zeros(1, [("a", "i1"), ("b", "f8"), ("c", "i2")])
    with pytest.raises(cuda.LogicError, match=r"argument #1 \(0-based\) has 11 bytes.*has 24"):
        kernel(cuda.Out(out), packed, block=(1, 1, 1))


class WithInterface:
    def __init__(self, pointer):
        data = (pointer, True)
        self.__cuda_array_interface__ = {"shape": (1,), "typestr": "<f4", "data": data, "version": 3, "stream": 1}


class WithGpudata:
    def __init__(self, memory):
        self.gpudata = memory


class Holder(cuda.PointerHolderBase):
    def __init__(self, pointer):
        super().__init__()
        self.pointer = pointer

    def get_pointer(self):
        return self.pointer


def test_pointers(module):
    import pycuda.gpuarray as gpuarray

    memory = cuda.mem_alloc(16)
    array = gpuarray.zeros(4, np.float32)
    managed = cuda.managed_zeros(4, np.float32)
    arguments = {
        "allocation": (memory, int(memory)),
        "offset": (np.intp(int(memory) + 4), int(memory) + 4),
        "unsigned": (np.uint64(int(memory)), int(memory)),
        "interface": (WithInterface(int(memory)), int(memory)),
        "empty interface": (WithInterface(0), 0),
        "gpudata": (WithGpudata(memory), int(memory)),
        "integer gpudata": (WithGpudata(int(memory)), int(memory)),
        "empty gpudata": (WithGpudata(None), 0),
        "GPUArray": (array, array.ptr),
        "empty GPUArray": (gpuarray.empty(0, np.float32), 0),
        "managed array": (managed, int(managed.base)),
        "part of a managed array": (managed[2:], int(managed.base) + 8),
        "managed allocation": (managed.base, int(managed.base)),
        "holder": (Holder(12345), 12345),
    }
    for name, (argument, expected) in arguments.items():
        out = np.zeros(1, np.uint64)
        module.get_function("put_pointer")(cuda.Out(out), argument, block=(1, 1, 1))
        assert out[0] == expected, name


REFUSED = [
    None, 1, 1.5, 1j, True, "text", bytearray(b"12345678"), memoryview(b"12345678"), [1], (1,), {}, object(),
    np.int32, np.dtype("f4"),
]  # fmt: skip


@pytest.mark.parametrize("bad", REFUSED, ids=lambda v: type(v).__name__ if not isinstance(v, type) else "class")
def test_refused_arguments(module, bad):
    for index, args in enumerate([(bad, np.float32(1)), (cuda.mem_alloc(4), bad)]):
        with pytest.raises(TypeError, match=rf"invalid type on parameter #{index} \(0-based\)"):
            module.get_function("put_float32")(*args, block=(1, 1, 1))


def test_refused_arrays(module):
    kernel, memory = module.get_function("put_float64"), cuda.mem_alloc(8)
    with pytest.raises(ValueError, match=r"parameter #1 \(0-based\) is not contiguous"):
        kernel(memory, np.zeros((4, 4))[:, 0], block=(1, 1, 1))
    with pytest.raises(cuda.LogicError, match=r"argument #1 \(0-based\) has 32 bytes"):
        kernel(memory, np.zeros(4), block=(1, 1, 1))
    freed = cuda.mem_alloc(8)
    freed.free()
    with pytest.raises(cuda.LogicError, match="used after free"):
        kernel(freed, np.float64(1), block=(1, 1, 1))


MANY = ["int8", "int16", "int32", "int64", "float32", "float64", "int8"]


def test_wrong_sizes_name_the_argument(module):
    kernel, memory = module.get_function("many"), cuda.to_device(np.ones(1, np.int32))
    good = [memory, *(np.dtype(name).type(1) for name in MANY), memory]
    kernel(*good, block=(1, 1, 1))
    assert cuda.from_device(memory, 1, np.int32)[0] == 8
    for index in range(len(good)):
        wrong = list(good)
        wrong[index] = np.complex128(1)
        with pytest.raises(
            cuda.LogicError, match=rf"cuLaunchKernel failed: .*argument #{index} \(0-based\) has 16 bytes"
        ):
            kernel(*wrong, block=(1, 1, 1))
        with pytest.raises(cuda.LogicError, match=rf"takes 9 arguments, {index} (was|were) given; argument #{index} "):
            kernel(*good[:index], block=(1, 1, 1))
    with pytest.raises(cuda.LogicError, match=r"'many' takes 9 arguments, but argument #9 \(0-based\) was given"):
        kernel(*good, np.int32(1), block=(1, 1, 1))
    with pytest.raises(cuda.LogicError, match=r"'many' takes 9 arguments, but argument #9 \(0-based\) was given"):
        kernel(*good, 1, block=(1, 1, 1))
    with pytest.raises(cuda.LogicError, match=r"'nothing' takes 0 arguments"):
        module.get_function("nothing")(np.int32(1), block=(1, 1, 1))


# -- geometry and keywords --------------------------------------------------------------------


@pytest.mark.parametrize(
    "grid, block",
    [
        ((1,), (7,)),
        ((3, 2), (4, 2, 2)),
        ((2, 3, 4), (1, 5, 1)),
        (5, 6),
        ([2, 2], [3, 3]),
        ((np.int64(2), 1), (np.uint8(3), 1, 1)),
    ],
    ids=str,
)
def test_geometry(module, grid, block):
    sizes = [int(np.prod(d)) for d in (grid, block)]
    out = np.zeros(sizes[0] * sizes[1], np.int32)
    expected = (1000 * np.arange(sizes[0])[:, None] + np.arange(sizes[1])).ravel()
    kernel = module.get_function("where")
    kernel(cuda.Out(out), grid=grid, block=block)
    assert (out == expected).all()
    memory = cuda.mem_alloc_like(out)
    kernel.prepare("P").prepared_call(grid, block, memory)
    assert (cuda.from_device_like(memory, out) == expected).all()


@pytest.mark.parametrize("bad", ["abc", (1.5, 1, 1), (None,), (-1, 1, 1), 2.5, None, (1 << 40, 1, 1)], ids=repr)
def test_geometry_that_is_no_geometry(module, bad):
    kernel = module.get_function("nothing")
    for options in ({"block": bad}, {"block": (1, 1, 1), "grid": bad}):
        with pytest.raises((TypeError, OverflowError), match="block|grid"):
            kernel(**options)
    with pytest.raises((TypeError, OverflowError), match="grid"):
        kernel.prepare("").prepared_call(bad, (1, 1, 1))


@pytest.mark.parametrize("bad", [(), (1, 1, 1, 1)], ids=repr)
def test_numbers_of_dimensions(module, bad):
    with pytest.raises(cuda.LogicError, match="expected one to three"):
        module.get_function("nothing")(block=bad)
    with pytest.raises(cuda.LogicError, match="expected one to three"):
        module.get_function("nothing")(block=(1, 1, 1), grid=bad)


def test_keywords(module):
    kernel = module.get_function("dynamic_size")
    out = np.zeros(1, np.uint32)
    kernel(cuda.Out(out), block=(1, 1, 1), shared=1024, stream=None, texrefs=[], time_kernel=False)
    assert out[0] == 1024
    kernel(cuda.Out(out), block=(1, 1, 1), cooperative=True, shared=512)
    assert out[0] == 512
    memory = cuda.mem_alloc(4)
    kernel.prepare("P").prepared_call((1, 1), (1, 1, 1), memory, shared_size=256)
    assert cuda.from_device(memory, 1, np.uint32)[0] == 256
    for bad in ({"stream": 5}, {"shared": "much"}, {"shared": -1}):
        with pytest.raises((TypeError, OverflowError)):
            kernel(memory, block=(1, 1, 1), **bad)
    with pytest.raises(ValueError, match="extra keyword arguments: size, colour"):
        kernel(memory, block=(1, 1, 1), size=1, colour=2)
    with pytest.raises(TypeError, match="texrefs is .*TextureReference"):
        kernel(memory, block=(1, 1, 1), texrefs=[object()])
    with pytest.raises(TypeError):
        kernel.prepared_call((1, 1), (1, 1, 1), memory, shared=16)


def test_dynamic_shared_memory_beyond_the_default(module):
    device, kernel = cuda.Context.get_device(), module.get_function("dynamic_size")
    most = device.max_shared_memory_per_block_optin
    if most <= device.max_shared_memory_per_block:
        pytest.skip("the device has no more")
    out = np.zeros(1, np.uint32)
    with pytest.raises(cuda.LogicError, match=f"{most + 1} bytes of dynamic shared memory asked for.* has {most} "):
        kernel(cuda.Out(out), block=(1, 1, 1), shared=most + 1)
    kernel(cuda.Out(out), block=(1, 1, 1), shared=most)
    assert out[0] == most
    assert kernel.max_dynamic_shared_size_bytes == most
    kernel.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, most - 4096)
    kernel.prepare("P").prepared_call((1, 1), (1, 1, 1), cuda.mem_alloc(4), shared_size=most)
    assert kernel.max_dynamic_shared_size_bytes == most


# -- handlers ---------------------------------------------------------------------------------


def test_handlers_are_called_in_order(module):
    log = []

    class Logged(cuda.InOut):
        def get_device_alloc(self):
            log.append("memory")
            return super().get_device_alloc()

        def pre_call(self, stream):
            log.append(("before", stream))
            super().pre_call(stream)

        def post_call(self, stream):
            log.append(("after", stream))
            super().post_call(stream)

    for stream in (None, cuda.Stream()):
        log.clear()
        handler = Logged(np.zeros(1, np.float32))
        module.get_function("put_float32")(handler, np.float32(3), block=(1, 1, 1), stream=stream)
        assert handler.array[0] == 3 and isinstance(handler.dev_alloc, cuda.DeviceAllocation)
        steps = [step for step in log if step != "memory"]
        assert steps == [("before", stream), ("after", stream)] and log[0] == "memory"


def test_handlers_may_fail(module):
    class Failing(cuda.In):
        def pre_call(self, stream):
            raise KeyError("on purpose")

    with pytest.raises(KeyError, match="on purpose"):
        module.get_function("put_float32")(Failing(np.zeros(1, np.float32)), np.float32(1), block=(1, 1, 1))
    with pytest.raises(TypeError, match="could not determine array length"):
        module.get_function("put_float32")(cuda.In(object()), np.float32(1), block=(1, 1, 1))
    frozen = np.zeros(1, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(TypeError, match="read-only"):
        module.get_function("put_float32")(cuda.Out(frozen), np.float32(1), block=(1, 1, 1))


# -- prepared calls ---------------------------------------------------------------------------

LETTERS = {
    "b": (-5, "i1"), "B": (250, "u1"), "c": (b"x", "S1"), "h": (-500, "i2"), "H": (65000, "u2"), "i": (-7, "i4"),
    "I": (4000000000, "u4"), "l": (-8, "i8"), "L": (9, "u8"), "q": (-(1 << 62), "i8"), "Q": ((1 << 64) - 1, "u8"),
    "n": (-10, "i8"), "N": (11, "u8"), "?": (True, "?"), "e": (0.1, "f2"), "f": (0.1, "f4"), "d": (0.1, "f8"),
    "F": (1 - 2j, "c8"), "D": (3 + 4j, "c16"), "P": (1 << 40, "u8"),
}  # fmt: skip
SIZED = {1: "int8", 2: "int16", 4: "int32", 8: "int64", 16: "complex128"}


@pytest.mark.parametrize("letter", LETTERS)
def test_letters(module, letter):
    value, dtype = LETTERS[letter]
    expected = np.array([value], dtype)
    memory = cuda.mem_alloc(16)
    kernel = module.get_function(f"put_{SIZED[expected.itemsize] if letter != 'F' else 'complex64'}")
    kernel.prepare(f"P{letter}").prepared_call((1, 1), (1, 1, 1), memory, value)
    assert cuda.from_device(memory, 1, dtype).tobytes() == expected.tobytes()


OUT_OF_RANGE = {
    "b": 128, "B": -1, "h": 40000, "H": 1 << 16, "i": 1 << 31, "I": -1, "q": 1 << 63, "Q": 1 << 64, "Q ": -1,
}  # fmt: skip


@pytest.mark.parametrize("letter", OUT_OF_RANGE)
def test_letters_out_of_range(module, letter):
    size = {"b": 1, "h": 2, "i": 4, "q": 8}[letter.strip().lower()]
    kernel = module.get_function(f"put_{SIZED[size]}").prepare("P" + letter)
    with pytest.raises(OverflowError, match=r"argument #1 \(0-based\)"):
        kernel.prepared_call((1, 1), (1, 1, 1), cuda.mem_alloc(8), OUT_OF_RANGE[letter])


def test_types_of_prepared_arguments(module):
    kernel = module.get_function("many")
    memory = cuda.to_device(np.array([1], np.int32))
    expected = 1 + 2 + 3 + 4 + 5 + 6 + 7
    for types in (
        "PbhiqfdbP",
        "P bh iq fd b P",
        ["P", np.int8, np.int16, np.int32, np.int64, np.float32, np.float64, np.int8, "P"],
        [np.uintp, *(np.dtype(name) for name in MANY), object],
        (np.ndarray, "bhi", np.int64, np.dtype("f4"), "db", cuda.DeviceAllocation),
        iter(["P", "b", "h", "i", "q", "f", "d", "b", "P"]),
    ):
        cuda.memcpy_htod(memory, np.array([1], np.int32))
        kernel.prepare(types)
        kernel.prepared_call((1, 1), (1, 1, 1), memory, 1, 2, 3, 4, 5.0, 6.0, 7, memory)
        assert cuda.from_device(memory, 1, np.int32)[0] == expected + 1


def test_counts_and_blobs(module):
    dtype = np.dtype([("a", "i1"), ("b", "f8"), ("c", "i2")], align=True)
    value = np.zeros(1, dtype)
    value[0] = (-3, 2.5, 700)
    memory = cuda.mem_alloc(24)
    kernel = module.get_function("put_triple")
    for types in ("P24s", ["P", dtype], ["P", "24s"]):
        kernel.prepare(types)
        for argument in (value, value[0], value.tobytes(), bytearray(value)):
            cuda.memset_d8(memory, 0, 24)
            kernel.prepared_call((1, 1), (1, 1, 1), memory, argument)
            assert cuda.from_device(memory, 1, dtype)[0] == value[0]
    with pytest.raises(ValueError, match=r"argument #1 \(0-based\): the value has 25 bytes"):
        kernel.prepared_call((1, 1), (1, 1, 1), memory, bytes(25))
    assert module.get_function("put_int32").prepare("1P1i") is not None


@pytest.mark.parametrize(
    "types, error, text",
    [
        ("Pz", ValueError, "'z'"),
        ("PP", None, ""),
        ("Pi", cuda.LogicError, r"argument #1 \(0-based\) has 4 bytes"),
        ("P", cuda.LogicError, "takes 2 arguments, 1 was given"),
        ("Pdd", cuda.LogicError, r"argument #2 \(0-based\) was given"),
        (["P", "U5"], ValueError, "'U'"),
        (["P", np.dtype("U5")], (TypeError, cuda.LogicError), "U5|bytes"),
        (5, TypeError, "not iterable"),
        ("99999999999999999999s", ValueError, "4096"),
    ],
)
def test_types_that_do_not_fit(module, types, error, text):
    kernel = module.get_function("put_float64")
    if error is None:
        kernel.prepare(types)
        return
    with pytest.raises(error, match=text):
        kernel.prepare(types)


def test_wrong_prepared_arguments(module):
    kernel, memory = module.get_function("put_float32").prepare("Pf"), cuda.mem_alloc(4)
    for bad, error in [
        ((memory, "1"), TypeError), ((memory, None), TypeError), ((None, 1.0), TypeError), (("x", 1.0), TypeError),
        ((1.5, 1.0), TypeError), ((memory, 1j), TypeError), ((np.zeros(1), 1.0), TypeError),
    ]:  # fmt: skip
        index = 0 if bad[1] == 1.0 else 1
        with pytest.raises(error, match=rf"argument #{index} \(0-based\)"):
            kernel.prepared_call((1, 1), (1, 1, 1), *bad)
    for bad in ((), (memory,), (memory, 1.0, 2.0)):
        with pytest.raises(TypeError, match=f"prepared for 2 arguments, {len(bad)} (was|were) given"):
            kernel.prepared_call((1, 1), (1, 1, 1), *bad)
    fresh = module.get_function("put_float32")
    with pytest.raises(cuda.LogicError, match="'put_float32' was not prepared"):
        fresh.prepared_call((1, 1), (1, 1, 1), memory, 1.0)


def test_the_three_prepared_calls(module):
    kernel, memory, stream = module.get_function("put_float32").prepare("Pf"), cuda.mem_alloc(4), cuda.Stream()

    def result():
        return float(cuda.from_device(memory, 1, np.float32)[0])

    assert kernel.prepared_call((1, 1), (1, 1, 1), memory, 1) is None and result() == 1
    assert kernel.prepared_async_call((1, 1), (1, 1, 1), stream, memory, 2) is None
    stream.synchronize()
    assert result() == 2
    kernel.prepared_async_call((1, 1), (1, 1, 1), None, memory, np.float32(3), shared_size=64)
    assert result() == 3
    wait = kernel.prepared_timed_call((1, 1), (1, 1, 1), memory, 4)
    first = wait()
    assert 0 <= first < 10 and wait() == first and result() == 4


# -- attributes -------------------------------------------------------------------------------


def test_all_function_attributes(module):
    kernel = module.get_function("many")
    for name in ("max_threads_per_block", "shared_size_bytes", "const_size_bytes", "local_size_bytes", "num_regs",
                 "ptx_version", "binary_version", "cache_mode_ca", "max_dynamic_shared_size_bytes",
                 "preferred_shared_memory_carveout"):  # fmt: skip
        member = getattr(cuda.function_attribute, name.upper())
        assert getattr(kernel, name) == kernel.get_attribute(member) >= -1, name
    assert kernel.ptx_version >= 50 and kernel.max_threads_per_block >= 128
    assert module.get_function("nothing").name == "nothing" and "nothing" in repr(module.get_function("nothing"))
    with pytest.raises(AttributeError, match="no attribute 'num_reg'"):
        kernel.num_reg
    assert not hasattr(kernel, "max")
    with pytest.raises(cuda.LogicError):
        kernel.get_attribute(4711)
    with pytest.raises(cuda.LogicError, match="NUM_REGS of kernel '.*' cannot be set to 3"):
        kernel.set_attribute(cuda.function_attribute.NUM_REGS, 3)


def test_all_device_attributes():
    device = cuda.Context.get_device()
    everything = device.get_attributes()
    for name, member in cuda.device_attribute.names.items():
        # `pci_bus_id` is a method.
        if member in everything and name not in ("MAX", "PCI_BUS_ID"):
            value = device.get_attribute(member)
            assert getattr(device, name.lower()) == value == everything[member], name
            assert isinstance(value, cuda.compute_mode if name == "COMPUTE_MODE" else int)
    assert all(isinstance(member, cuda.device_attribute) for member in everything)
    # Every name that upstream documents.
    names = """
    MAX_SHARED_MEMORY_PER_BLOCK SHARED_MEMORY_PER_BLOCK REGISTERS_PER_BLOCK GPU_OVERLAP TCC_DRIVER
    MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO
    HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED MEMORY_POOLS_SUPPORTED
    """
    for name in names.split():
        assert isinstance(device.get_attribute(getattr(cuda.device_attribute, name)), int), name
    with pytest.raises(cuda.LogicError, match="cuDeviceGetAttribute failed: invalid argument"):
        device.get_attribute(100000)


# -- modules ----------------------------------------------------------------------------------


def test_globals_and_constants(module):
    address, size = module.get_global("factors")
    assert size == 16 and isinstance(address, int)
    cuda.memcpy_htod(address, np.array([1, 2, 3, 4], np.float32))
    out = np.zeros(1, np.float32)
    module.get_function("use_globals")(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 5
    address, size = module.get_global("total")
    assert size == 4 and cuda.from_device(address, 1, np.int32)[0] == 1


def test_missing_symbols(module):
    for get, call in ((module.get_function, "cuModuleGetFunction"), (module.get_global, "cuModuleGetGlobal")):
        with pytest.raises(cuda.LogicError, match=f"^{call} failed: named symbol not found - .*'missing'"):
            get("missing")
        with pytest.raises(TypeError):
            get(5)
        with pytest.raises((ValueError, cuda.LogicError)):
            get("a\0b")
    with pytest.raises(cuda.LogicError, match="'missing'; the module has [a-z_0-9]+, "):
        module.get_function("missing")


def test_modules_from_files_and_buffers(tmp_path):
    binary = compile("__global__ void five(int *a) { *a = 5; }")
    path = tmp_path / "five.bin"
    path.write_bytes(binary)
    out = np.zeros(1, np.int32)
    modules = [cuda.module_from_file(str(path)), cuda.module_from_file(path)]
    modules += [cuda.module_from_buffer(kind(binary)) for kind in (bytes, bytearray, memoryview)]
    options = [(cuda.jit_option.MAX_REGISTERS, 32), (cuda.jit_option.OPTIMIZATION_LEVEL, 3)]
    modules.append(cuda.module_from_buffer(binary, options=options))
    for module in modules:
        out[0] = 0
        module.get_function("five")(cuda.Out(out), block=(1, 1, 1))
        assert out[0] == 5
    with pytest.raises(cuda.RuntimeError, match="cuModuleLoad failed: file not found"):
        cuda.module_from_file(tmp_path / "missing")
    with pytest.raises(TypeError):
        cuda.module_from_buffer(5)


def test_text_with_errors_is_explained(context):
    broken = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { frobnicate.u32 %r1; }\n"
    calls = []
    with pytest.raises(cuda.LogicError, match="PTX") as info:
        cuda.module_from_buffer(broken, message_handler=lambda *args: calls.append(args))
    assert "frobnicate" in str(info.value) or "frobnicate" in calls[0][2]
    assert calls[0][0] is False


def test_linker(context):
    device_code = """
    extern "C" __device__ int helper(int x);
    extern "C" __global__ void use(int *a) { *a = helper(*a); }
    """
    helper = 'extern "C" __device__ int helper(int x) { return 3 * x; }'
    first, second = (
        compile(source, options=["-rdc=true"], no_extern_c=True, target="ptx") for source in (device_code, helper)
    )
    calls = []
    linker = cuda.Linker(message_handler=lambda *args: calls.append(args))
    linker.add_data(first, cuda.jit_input_type.PTX, "first")
    linker.add_data(second, cuda.jit_input_type.PTX, name="second")
    module = linker.link_module()
    assert [call[0] for call in calls] == [True]
    out = np.array([14], np.int32)
    module.get_function("use")(cuda.InOut(out), block=(1, 1, 1))
    assert out[0] == 42
    calls.clear()
    linker = cuda.Linker(lambda *args: calls.append(args), [], True)
    linker.add_data(first, cuda.jit_input_type.PTX)
    # A real linker says no more than "unknown error" beside its log.
    with pytest.raises(cuda.Error, match="helper"):
        linker.link_module()
    assert calls and calls[0][0] is False


def test_functions_hold_their_modules():
    function = SourceModule("__global__ void five(int *a) { *a = 5; }").get_function("five")
    gc.collect()
    out = np.zeros(1, np.int32)
    function(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 5


# -- streams, events --------------------------------------------------------------------------


def test_events_before_during_and_after(module):
    stream, event, never = cuda.Stream(), cuda.Event(), cuda.Event()
    assert event.query()
    out = cuda.to_device(np.zeros(1, np.int64))
    module.get_function("spin")(out, np.int64(1 << 24), block=(1, 1, 1), stream=stream)
    event.record(stream)
    assert not event.query() and not stream.is_done()
    with pytest.raises(cuda.RuntimeError, match="cuEventElapsedTime failed: device not ready"):
        event.time_since(event)
    event.synchronize()
    assert event.query() and stream.is_done()
    assert event.time_since(event) == 0
    with pytest.raises(cuda.LogicError, match="cuEventElapsedTime failed: invalid resource handle"):
        event.time_since(never)


def test_event_flags():
    untimed = cuda.Event(cuda.event_flags.DISABLE_TIMING)
    timed = cuda.Event(cuda.event_flags.BLOCKING_SYNC)
    untimed.record().synchronize()
    timed.record().synchronize()
    with pytest.raises(cuda.LogicError):
        timed.time_since(untimed)
    with pytest.raises(cuda.LogicError):
        cuda.Event(1 << 20)


def test_times_of_events_are_those_of_the_work(module):
    import time

    stream, start, end = cuda.Stream(), cuda.Event(), cuda.Event()
    out = cuda.to_device(np.zeros(1, np.int64))
    begin = time.perf_counter()
    start.record(stream)
    module.get_function("spin")(out, np.int64(1 << 22), block=(1, 1, 1), stream=stream)
    end.record(stream).synchronize()
    wall = 1e3 * (time.perf_counter() - begin)
    assert 0 < end.time_since(start) <= wall
    assert start.time_till(end) == end.time_since(start)


def test_stream_flags_and_priorities():
    least, greatest = cuda.Context.get_stream_priority_range()
    assert cuda.Stream(priority=greatest).priority == greatest
    assert cuda.Stream(cuda.stream_flags.NON_BLOCKING).handle
    with pytest.raises(cuda.LogicError):
        cuda.Stream(1 << 20)
    with pytest.raises(TypeError):
        cuda.Stream("fast")


def test_default_stream_waits_for_blocking_streams(module):
    stream = cuda.Stream()
    out = cuda.to_device(np.zeros(1, np.int64))
    module.get_function("spin")(out, np.int64(1 << 22), block=(1, 1, 1), stream=stream)
    # A copy in the default stream follows work in other streams.
    cuda.from_device(out, 1, np.int64)
    assert stream.is_done()


# -- errors -----------------------------------------------------------------------------------


def test_error_classes():
    for name in ("LaunchError", "MemoryError", "RuntimeError", "LogicError", "CompileError"):
        error = getattr(cuda, name)
        assert issubclass(error, cuda.Error) and error.__module__ == "rtcg.driver" and error.__name__ == name
    assert not issubclass(cuda.MemoryError, MemoryError) and not issubclass(cuda.RuntimeError, RuntimeError)
    again = pickle.loads(pickle.dumps(cuda.LogicError("cuInit failed: why")))
    assert str(again) == "cuInit failed: why" and type(again) is cuda.LogicError
    error = cuda.CompileError("it failed", ["nvcc", "-O3"], "out", "err")
    assert str(error) == "it failed\n[command: nvcc -O3]\n[stdout:\nout]\n[stderr:\nerr]"
    assert (error.msg, error.command_line, error.stdout, error.stderr) == ("it failed", ["nvcc", "-O3"], "out", "err")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


# -- contexts ---------------------------------------------------------------------------------


def test_stack_of_one_context_twice(context):
    context.push()
    context.push()
    cuda.Context.pop()
    context.pop()
    assert cuda.Context.get_current() == context
    cuda.mem_alloc(4)


def test_detach_in_the_middle_of_a_stack(context):
    device = cuda.Context.get_device()
    below, above = device.make_context(), device.make_context()
    below.detach()
    assert cuda.Context.get_current() == above
    cuda.mem_alloc(4)
    above.detach()
    assert cuda.Context.get_current() == context
    with pytest.raises(cuda.LogicError, match="cuCtxDetach failed: invalid device context"):
        above.detach()
    assert above != context and above == above and hash(above) is not None


def test_detach_in_another_thread(context):
    made = context.get_device().make_context()
    failures = []

    def body():
        try:
            made.detach()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert not failures
    with pytest.raises(cuda.Error):
        cuda.mem_alloc(4)
    cuda.Context.pop()
    assert cuda.Context.get_current() == context
    cuda.mem_alloc(4)


def test_context_needs_a_device():
    with pytest.raises(TypeError):
        cuda.Context()
    current = cuda.Context.get_current()
    assert current.handle != 0 and current.get_api_version() >= 3020
    with pytest.raises(cuda.LogicError):
        cuda.Context.get_limit(4711)
    with pytest.raises(cuda.LogicError):
        cuda.Context.get_device().make_context(1 << 20)


def test_objects_of_another_context(context, module):
    other = context.get_device().make_context()
    try:
        memory = cuda.to_device(np.zeros(1, np.float32))
        with pytest.raises(cuda.LogicError, match="loaded in another context"):
            module.get_function("put_float32")(memory, np.float32(1), block=(1, 1, 1))
    finally:
        other.pop()
    # Freed while another context is current.
    del memory
    cuda.Context.synchronize()


def test_no_context(no_default_context):
    failures = []

    def body():
        try:
            assert cuda.Context.get_current() is None
            for use in (
                lambda: cuda.mem_alloc(4), cuda.Stream, cuda.Event, cuda.mem_get_info, cuda.Context.synchronize,
                cuda.Context.get_device, lambda: cuda.pagelocked_empty(4, np.int8),
                lambda: cuda.managed_empty(4, np.int8),
                lambda: cuda.module_from_buffer(b""), lambda: SourceModule("__global__ void k() {}"),
                lambda: cuda.memset_d8(16, 0, 1), cuda.Context.attach, cuda.Context.pop,
            ):  # fmt: skip
                with pytest.raises(cuda.LogicError, match="invalid device context"):
                    use()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


def test_keywords_of_a_call_are_named_with_their_value(context):
    function = SourceModule("__global__ void nothing() {}").get_function("nothing")
    with pytest.raises(TypeError, match=r"shared is -1; expected bytes"):
        function(block=(1, 1, 1), shared=-1)
    with pytest.raises(TypeError, match=r"stream is 0; expected a Stream"):
        function(block=(1, 1, 1), stream=0)
    with pytest.raises(
        ValueError, match=r"must specify block size, for instance .* CuPy has kernel\(grid, block, arguments\)"
    ):
        function()


def test_allocations_say_what_was_asked_for(context):
    with pytest.raises(cuda.LogicError, match="0 bytes were asked for; expected 1 or more"):
        cuda.mem_alloc(0)
    _, total = cuda.mem_get_info()
    with pytest.raises(cuda.MemoryError, match=f"{2 * total} bytes were asked for"):
        cuda.mem_alloc(2 * total)
