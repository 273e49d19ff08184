"""Launches by type: what the kernel's source declares against what is given, options of launches, occupancy."""

import ctypes
import struct
import subprocess
import sys

import numpy as np
import pytest

import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
import pycuda.tools
from pycuda.compiler import SourceModule, compile
from tests.python.subprocesses import ROOT, run_python

pytestmark = pytest.mark.usefixtures("context")

SOURCE = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
typedef float real;
struct pair { int a; double b; };
__global__ void axpy(real *y, const float *x, float a, int n) { int i = threadIdx.x; if (i < n) y[i] += a * x[i]; }
#define SCALARS(call) call(bool, f_bool) call(signed char, f_int8) call(unsigned short, f_uint16) call(int, f_int32)
__global__ void f_bool(bool *out, bool value) { *out = value; }
__global__ void f_int8(signed char *out, signed char value) { *out = value; }
__global__ void f_uint16(unsigned short *out, unsigned short value) { *out = value; }
__global__ void f_int32(int *out, int value) { *out = value; }
__global__ void f_uint32(unsigned *out, unsigned value) { *out = value; }
__global__ void f_int64(long long *out, long long value) { *out = value; }
__global__ void f_uint64(size_t *out, size_t value) { *out = value; }
__global__ void f_float16(__half *out, __half value) { *out = value; }
__global__ void f_bfloat16(__nv_bfloat16 *out, __nv_bfloat16 value) { *out = value; }
__global__ void f_float32(float *out, float value) { *out = value; }
__global__ void f_float64(double *out, double value) { *out = value; }
__global__ void f_complex64(float2 *out, float2 value) { *out = value; }
__global__ void f_pair(pair *out, pair value) { *out = value; }
__global__ void f_address(unsigned long long *out, const void *value) { *out = (unsigned long long)value; }
__global__ void copy_words(unsigned *out, const unsigned *in) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void size_of_shared(int *out, int n) {
    extern __shared__ int s[]; s[n - 1] = n; __syncthreads(); *out = s[n - 1];
}
"""


@pytest.fixture(scope="module")
def module(context):
    return SourceModule(SOURCE)


@pytest.fixture(scope="module")
def axpy(module):
    return module.get_function("axpy")


def value_of(module, name, value, dtype):
    out = np.zeros(1, dtype)
    module.get_function(name)(cuda.Out(out), value, block=(1, 1, 1))
    return out[0]


def test_signatures_are_read(module, axpy):
    expected = [("real *", "y"), ("const float *", "x"), ("float", "a"), ("int", "n")]
    assert axpy.signature == expected
    ptx = cuda.module_from_buffer(b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry f() { ret; }\n\0")
    assert ptx.get_function("f").signature is None


CONVERTED = [
    ("f_bool", True, "?"), ("f_bool", 1, "?"), ("f_int8", -128, "i1"), ("f_uint16", 65535, "u2"),
    ("f_int32", -(2**31), "i4"), ("f_int32", 3.0, "i4"), ("f_int32", True, "i4"), ("f_uint32", 2**32 - 1, "u4"),
    ("f_int64", -(2**63), "i8"), ("f_uint64", 2**64 - 1, "u8"), ("f_float16", 0.1, "f2"), ("f_float32", 0.1, "f4"),
    ("f_float32", 1 << 24, "f4"), ("f_float32", float("inf"), "f4"), ("f_float64", 0.1, "f8"),
    ("f_complex64", 1 - 2j, "c8"), ("f_complex64", 3, "c8"),
]  # fmt: skip


@pytest.mark.parametrize("name, value, dtype", CONVERTED, ids=str)
def test_python_numbers_are_converted(module, name, value, dtype):
    assert value_of(module, name, value, dtype) == np.dtype(dtype).type(value)


UNFIT = [
    ("f_bool", 2, OverflowError), ("f_int8", 128, OverflowError), ("f_uint16", -1, OverflowError),
    ("f_int32", 2**31, OverflowError), ("f_uint32", -1, OverflowError), ("f_uint64", 2**64, OverflowError),
    ("f_int32", 2.5, TypeError), ("f_int32", 1j, TypeError), ("f_float32", 2**24 + 1, OverflowError),
    ("f_float32", float("1e300"), OverflowError), ("f_float64", 1j, TypeError), ("f_pair", 1, TypeError),
    ("f_address", 4096, TypeError), ("f_address", 1.5, TypeError),
]  # fmt: skip


@pytest.mark.parametrize("name, value, error", UNFIT, ids=str)
def test_numbers_that_do_not_fit(module, name, value, error):
    with pytest.raises(error, match=r"#1 \(0-based\).*" + name):
        module.get_function(name)(cuda.mem_alloc(16), value, block=(1, 1, 1))


def test_wrong_types_are_named(module, axpy):
    floats, doubles = gpuarray.zeros(4, np.float32), gpuarray.zeros(4, np.float64)
    host = np.zeros(4, np.float32)
    good = [floats, floats, np.float32(1), np.int32(4)]
    for index, bad, text in [
        (1, np.float64(1), r"declares 'const float \*x', got .*1.0"),
        (1, np.zeros(1), r"got an array of float64, which is not on the device; use rtcg.driver.In, Out or InOut"),
        (1, host, r"got an array of float32, which is not on the device"),
        (3, "text", r"declares 'int n', got 'text' \(of type str\)"),
    ]:
        args = list(good)
        args[index] = bad
        beginning = rf"invalid type on parameter #{index} \(0-based\): kernel 'axpy'.*"
        with pytest.raises(TypeError, match=beginning + text):
            axpy(*args, block=(4, 1, 1))
    for index in (2, 3):
        args = list(good)
        args[index] = floats
        with pytest.raises((TypeError, cuda.LogicError), match=f"#{index}"):
            axpy(*args, block=(4, 1, 1))
    axpy(doubles.gpudata, floats.gpudata, np.float32(1), np.uint32(4), block=(4, 1, 1))
    axpy(np.intp(doubles.ptr), np.uint64(floats.ptr), 1, 4, block=(4, 1, 1))


MISFITS = """
import warnings
import numpy as np, pycuda.autoinit, pycuda.driver as cuda, pycuda.gpuarray as g
from pycuda.compiler import SourceModule
f = SourceModule("__global__ void f(int *out, float *a, float x, int n) { *out = *(int *)a + *(int *)&x + n; }")
f = f.get_function("f")
out, a = g.zeros(4, np.int32), g.zeros(4, np.float32)
host = np.full(4, 1, np.int32)
ones = g.to_gpu(host)
CASES = [
    ("#1", "'float *a', got an array of int32 (of type GPUArray)", (out, ones, np.float32(0), np.int32(0)), 1),
    ("#1", "'float *a', got an array of int32 (of type ndarray)", (out, cuda.In(host), np.float32(0), np.int32(0)), 1),
    ("#1", "'float *a', got an array of float64 (of type GPUArray)", (out, g.zeros(4), np.float32(0), np.int32(0)), 0),
    ("#2", "'float x', got a value of type int32", (out, a, np.int32(5), np.int32(0)), 5),
    ("#3", "'int n', got a value of type float32", (out, a, np.float32(0), np.int32(6).view(np.float32)), 6),
]
"""


def test_bytes_of_another_type_are_taken_with_one_warning():
    run_python(
        MISFITS
        + """
for place, text, arguments, result in CASES:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            f(*arguments, block=(1, 1, 1))
        f(*arguments, block=(1, 1, 1), grid=(1, 1))
    assert int(out.get()[0]) == result, (text, out)
    (only,) = caught
    message = str(only.message)
    assert only.category is UserWarning and place in message and text in message and "strict" in message, message
"""
    )


def test_bytes_of_another_type_can_be_refused():
    run_python(
        MISFITS
        + """
for place, text, arguments, _ in CASES:
    try:
        f(*arguments, block=(1, 1, 1))
    except TypeError as error:
        assert place in str(error) and text.partition(",")[0] in str(error), error
    else:
        raise AssertionError(text)
""",
        RTCG_ARGUMENT_TYPES="strict",
    )


STRIDED = """
import warnings
import numpy as np
import pycuda.autoinit, pycuda.gpuarray as g
from pycuda.compiler import SourceModule
module = SourceModule("__global__ void scale(float *a, int n) { if (threadIdx.x < n) a[threadIdx.x] *= 2; }")
scale = module.get_function("scale")
b = g.to_gpu(np.ones((4, 4), np.float32))

class Other:
    __cuda_array_interface__ = dict(b[:, 1].__cuda_array_interface__)

STRIDED = (b[:, 1], b[::-1], Other())
FINE = (b, b.T, b[1], b[1:3], b[:, 1].copy(), np.intp(b[:, 1].ptr), b[:, :0])
"""


def test_strided_arrays_give_one_warning_for_each_layout():
    run_python(
        STRIDED
        + """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for a in FINE:
        scale(a, 1, block=(1, 1, 1))
    assert not caught, caught[0].message
for a in STRIDED:
    scale = module.get_function("scale")     # without a cached call, which would not look at strides
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for grid in ((1, 1), (2, 1), (1, 1)):
            scale(a, np.int32(0), block=(1, 1, 1), grid=grid)
    (only,) = caught
    for part in ("parameter #0", "'float *a'", "not contiguous", "strides (", "ascontiguousarray", "strict"):
        assert part in str(only.message), only.message
"""
    )


def test_strided_arrays_can_be_refused():
    """Also after a call that is cached."""
    run_python(
        STRIDED
        + """
for a in FINE:
    scale(a, 1, block=(1, 1, 1))
for a in STRIDED:
    scale(b, 1, block=(1, 1, 1))
    try:
        scale(a, 1, block=(1, 1, 1))
    except TypeError as error:
        assert "not contiguous" in str(error), error
    else:
        raise AssertionError(a)
""",
        RTCG_ARGUMENT_TYPES="strict",
    )


def test_the_check_of_types_can_be_switched_off():
    program = """
import numpy as np, pycuda.autoinit, pycuda.gpuarray as g
from pycuda.compiler import SourceModule
f = SourceModule("__global__ void f(float *a, int n) {}").get_function("f")
f(g.zeros(4, np.float64), np.float32(1), block=(1, 1, 1))
f(g.zeros(4, np.float32)[::2], np.int32(1), block=(1, 1, 1))
print("launched")
"""
    assert run_python(program, RTCG_ARGUMENT_TYPES=0).stdout == "launched\n"


def test_arrays_that_reinterpret(module):
    words = module.get_function("copy_words")
    for dtype in (np.int32, np.uint32):
        a, out = gpuarray.to_gpu(np.arange(4).astype(dtype)), gpuarray.zeros(4, np.uint32)
        words(out, a, block=(4, 1, 1))
        assert out.get().tolist() == [0, 1, 2, 3]
    raw = gpuarray.to_gpu(np.arange(4, dtype=np.uint32).view(np.uint8))
    out = gpuarray.zeros(4, np.uint32)
    words(out, raw, block=(4, 1, 1))
    assert out.get().tolist() == [0, 1, 2, 3]
    z = gpuarray.zeros(2, np.complex64)
    module.get_function("axpy")(z, z, 1.0, 4, block=(4, 1, 1))


def test_half_precision_is_passed_as_its_bits_too(module):
    half = np.float16(0.1)
    assert value_of(module, "f_float16", half, np.float16) == half
    assert value_of(module, "f_float16", half.view(np.uint16), np.float16) == half
    assert value_of(module, "f_uint16", half, np.float16) == half
    assert value_of(module, "f_bfloat16", 2.5, np.uint16) == 0x4020
    ml_dtypes = pytest.importorskip("ml_dtypes")
    value = ml_dtypes.bfloat16(2.5)
    assert value_of(module, "f_bfloat16", value, np.uint16) == 0x4020
    with pytest.warns(UserWarning, match="#1"):
        value_of(module, "f_float16", value, np.float16)


def test_structures_by_bytes(module):
    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_double)]

    dtype = np.dtype([("a", np.int32), ("b", np.float64)], align=True)
    for given in (Pair(3, 2.5), struct.pack("@id", 3, 2.5), np.array((3, 2.5), dtype)[()], np.array([(3, 2.5)], dtype)):
        assert value_of(module, "f_pair", given, dtype).tolist() == (3, 2.5)
    assert value_of(module, "f_int32", ctypes.c_int(7), np.int32) == 7
    assert value_of(module, "f_float32", ctypes.c_float(7.5), np.float32) == 7.5
    with pytest.warns(UserWarning, match="#1"):
        assert value_of(module, "f_int32", ctypes.c_float(7), np.int32) == np.float32(7).view(np.int32)
    with pytest.raises(cuda.LogicError, match=r"#1 \(0-based\) has 8 bytes.*'pair value'.*has 16"):
        value_of(module, "f_pair", bytes(8), dtype)


class Tensor:
    """What DLPack offers of an array, made by hand."""

    def __init__(self, memory, kind=2):
        self.kind, self.memory, self.freed = kind, memory, []
        words = struct.pack("@QiiiBBHQQQ", int(memory), kind, 0, 1, 2, 32, 1, 0, 0, 4)
        self.buffer = ctypes.create_string_buffer(words + bytes(64))

    def __dlpack_device__(self):
        return (self.kind, 0)

    def __dlpack__(self, *, stream=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.stream = stream
        return new(ctypes.addressof(self.buffer), b"dltensor", None)


def test_dlpack(module):
    memory = cuda.mem_alloc(16)
    tensor = Tensor(memory)
    assert value_of(module, "f_address", tensor, np.uint64) == int(memory) + 4
    assert tensor.stream == 1
    with pytest.warns(UserWarning, match="#0.*'int \\*out'"):
        module.get_function("f_int32")(tensor, 1, block=(1, 1, 1))
    with pytest.raises(TypeError, match="DLPack is not on a CUDA device"):
        value_of(module, "f_address", Tensor(memory, kind=1), np.uint64)


def test_memory_of_every_kind(module):
    memory = cuda.mem_alloc(16)
    managed = cuda.managed_zeros(4, np.float32)
    for given, expected in [(memory, int(memory)), (managed, int(managed.base)), (managed.base, int(managed.base))]:
        assert value_of(module, "f_address", given, np.uint64) == expected


# -- options ----------------------------------------------------------------------------------


def test_options_of_launches(module):
    kernel, out = module.get_function("f_int32"), cuda.mem_alloc(4)
    for options in (
        {"cooperative": True}, {"priority": 0}, {"programmatic_dependent": True}, {"mem_sync_domain": 0},
        {"cluster": (1, 1, 1)}, {"cooperative": False, "cluster": None},
    ):  # fmt: skip
        cuda.memset_d32(out, 0, 1)
        kernel(out, 5, block=(1, 1, 1), **options)
        assert cuda.from_device(out, 1, np.int32)[0] == 5
        cuda.memset_d32(out, 0, 1)
        kernel.prepare("Pi").prepared_call((1, 1), (1, 1, 1), out, 6, **options)
        assert cuda.from_device(out, 1, np.int32)[0] == 6
    with pytest.raises(
        TypeError, match="priority = 'high' is no integer; expected an integer from -2147483648 to 2147483647"
    ):
        kernel(out, 5, block=(1, 1, 1), priority="high")
    with pytest.raises(TypeError, match="programmatic_event is 3; expected an Event"):
        kernel(out, 5, block=(1, 1, 1), programmatic_event=3)
    if not cuda.Context.get_device().cluster_launch:
        with pytest.raises(cuda.Error, match="clusters of blocks are not supported by"):
            kernel(out, 5, block=(1, 1, 1), grid=(2, 1), cluster=(2, 1, 1))


def test_events_that_launches_record(module, on_virtual_device):
    if not on_virtual_device and not cuda.Context.get_device().cluster_launch:
        pytest.skip("needs compute capability 9.0")
    kernel, out, stream = module.get_function("f_int32"), cuda.mem_alloc(4), cuda.Stream()
    for wish in ("programmatic_event", "launch_completion_event"):
        event = cuda.Event(cuda.event_flags.DISABLE_TIMING)
        kernel(out, 5, block=(1, 1, 1), grid=(1000, 1), stream=stream, **{wish: event})
        other = cuda.Stream()
        other.wait_for_event(event)
        other.synchronize()
        assert event.synchronize().query()
        stream.synchronize()
        assert cuda.from_device(out, 1, np.int32)[0] == 5
        # Such an event has no time, and is not shared with other processes.
        with pytest.raises(cuda.Error):
            kernel(out, 6, block=(1, 1, 1), **{wish: cuda.Event()})
        event.close()
        with pytest.raises(cuda.Error):
            kernel(out, 6, block=(1, 1, 1), **{wish: event})
    cuda.Context.synchronize()
    assert cuda.from_device(out, 1, np.int32)[0] == 5


def test_events_of_captured_launches(module, on_virtual_device):
    """The event is where the capture forks to another stream."""
    if not on_virtual_device:
        pytest.skip("makes programmatic edges on a real device")
    kernel, out = module.get_function("f_int32"), cuda.mem_alloc(8)
    stream, other = cuda.Stream(), cuda.Stream()
    event, end = (cuda.Event(cuda.event_flags.DISABLE_TIMING) for _ in range(2))
    with stream.capture() as graph:
        kernel(out, 5, block=(1, 1, 1), stream=stream, launch_completion_event=event)
        other.wait_for_event(event)
        cuda.memcpy_dtod_async(int(out) + 4, out, 4, other)
        end.record(other)
        stream.wait_for_event(end)
    graph.instantiate().launch(stream)
    stream.synchronize()
    assert cuda.from_device(out, 2, np.int32).tolist() == [5, 5]


def test_too_large_cooperative_grids_are_explained(module):
    kernel, out = module.get_function("f_int32"), cuda.mem_alloc(4)
    with pytest.raises(cuda.Error, match=r"\d+ blocks can be resident at once"):
        kernel(out, 5, block=(1, 1, 1), grid=(1 << 20, 1), cooperative=True)


def test_occupancy(axpy):
    assert axpy.max_active_blocks_per_multiprocessor(64) >= 1
    grid, block = axpy.max_potential_block_size()
    assert grid >= 1 and block >= 32
    assert axpy.max_potential_block_size(limit=64)[1] <= 64
    assert axpy.available_dynamic_shared_memory(1, 64) >= 16 << 10


def test_shared_memory_is_raised_when_needed(module):
    n = 60 * 1024 // 4
    assert value_of(module, "f_int32", 1, np.int32) == 1
    out = np.zeros(1, np.int32)
    module.get_function("size_of_shared")(cuda.Out(out), n, block=(1, 1, 1), shared=4 * n)
    assert out[0] == n


def test_kernels_are_not_constructed(axpy):
    with pytest.raises(TypeError, match="get_function"):
        type(axpy)()
    assert isinstance(axpy, cuda.Function) and "axpy" in repr(axpy)
    assert cuda.Function.prepared_call.__text_signature__.startswith("($self, grid, block")


def test_calls_unlike_the_last_one(module, axpy):
    """A call like the last one takes a shorter way. Whatever differs must be seen, and everything must arrive."""
    y, x = gpuarray.zeros(64, np.float32), gpuarray.to_gpu(np.arange(64, dtype=np.float32))
    expected = np.zeros(64, np.float32)
    memory = cuda.mem_alloc(256)
    cuda.memcpy_htod(memory, x.get())
    stream, closed = cuda.Stream(), cuda.Stream()
    closed.close()
    pooled = pycuda.tools.DeviceMemoryPool().allocate(256)
    cuda.memcpy_htod(pooled, x.get())
    block, grid = (64, 1, 1), (1, 1)

    def check(n, factor):
        expected[:n] += np.float32(factor) * np.arange(n, dtype=np.float32)
        np.testing.assert_array_equal(y.get(), expected)

    sources, factors = (x, x.gpudata, memory, pooled, np.intp(int(memory))), (2.0, 2, np.float32(2), np.float64(2))
    for source in sources:
        for factor in factors[:3]:
            for n in (64, np.int32(32), 2**3, 64):
                for _ in range(2):
                    axpy(y, source, factor, n, block=block, grid=grid)
                    axpy(y, source, factor, n, block=(n, 1, 1) if type(n) is int else block, grid=(1,), stream=stream)
                    stream.synchronize()
                    check(int(n), 2 * factor)
    for bad, error in (
        (lambda: axpy(y, memory, 1.0, 2**31, block=block), OverflowError),
        (lambda: axpy(y, memory, 1e300, 64, block=block), OverflowError),
        (lambda: axpy(y, memory, 1.0, 64.5, block=block), TypeError),
        (lambda: axpy(y, memory, factors[3], 64, block=block), cuda.LogicError),
        (lambda: axpy(y, memory, 1.0, block=block), cuda.LogicError),
        (lambda: axpy(y, memory, 1.0, 64, 64, block=block), cuda.LogicError),
        (lambda: axpy(y.astype(np.int32), memory, 1.0, 64, block=block), UserWarning),
        (lambda: axpy(y, memory, 1.0, 64, block=(0, 1, 1)), cuda.LogicError),
        (lambda: axpy(y, memory, 1.0, 64, block=()), cuda.LogicError),
        (lambda: axpy(y, memory, 1.0, 64, block=(1.5, 1, 1)), TypeError),
        (lambda: axpy(y, memory, 1.0, 64, block=block, stream=closed), cuda.LogicError),
        (lambda: axpy(y, memory, 1.0, 64, block=block, stream=1), TypeError),
        (lambda: axpy(y, memory, 1.0, 64, grid=block), ValueError),
    ):
        axpy(y, memory, 1.0, 64, block=block)
        check(64, 1.0)
        with pytest.raises(error):
            bad()
        np.testing.assert_array_equal(y.get(), expected)
    axpy(y, memory, 1.0, 64, block=block)
    memory.free()
    with pytest.raises(cuda.LogicError, match="after free"):
        axpy(y, memory, 1.0, 64, block=block)


def test_prepared_calls_unlike_the_last_one(module, axpy):
    kernel = axpy.prepare("PPfi")
    y, x = gpuarray.zeros(64, np.float32), gpuarray.to_gpu(np.ones(64, np.float32))
    memory, stream, total = cuda.mem_alloc(256), cuda.Stream(), 0.0
    cuda.memcpy_htod(memory, x.get())
    for source in (x.gpudata, memory, int(memory)):
        for factor in (0.5, np.float32(0.25), np.float64(2), 3):
            for n in (64, np.int32(64), np.int64(64)):
                kernel.prepared_call((1, 1), (64, 1, 1), y.gpudata, source, factor, n)
                kernel.prepared_call((1, 1), (64, 1, 1), y.gpudata, source, factor, n, shared_size=0)
                kernel.prepared_call((1, 1), (64, 1, 1), y.gpudata, source, factor, n, shared_size=int(n))
                kernel.prepared_async_call((1,), (64,), stream, y.gpudata, source, factor, n)
                kernel.prepared_async_call((1,), (64,), None, y.gpudata, source, factor, n)
                total += 5 * float(factor)
                stream.synchronize()
                assert (y.get() == np.float32(total)).all()
    for _ in range(2):
        kernel.prepared_call((1, 1), (64, 1, 1), y.gpudata, memory, 0.0, 64)
        for count in (-(2**31) - 1, 2**31):
            with pytest.raises(OverflowError):
                kernel.prepared_call((1, 1), (64, 1, 1), y.gpudata, memory, 0.0, count)
        with pytest.raises(TypeError, match="4 arguments"):
            kernel.prepared_call((1, 1), (64, 1, 1), y.gpudata, memory, 0.0)
    kernel.prepare("QQfI")
    kernel.prepared_call((1, 1), (64, 1, 1), int(y.gpudata), int(memory), 1.0, 64)
    with pytest.raises(OverflowError):
        kernel.prepared_call((1, 1), (64, 1, 1), int(y.gpudata), int(memory), 1.0, -1)
    assert (y.get() == np.float32(total + 1)).all()


def test_cached_calls_see_a_changed_epoch(module):
    """A stream that was entered, a capture, a trace and a closed module are seen though the call is the same."""
    program = cuda.module_from_buffer(compile("__global__ void one_more(int *x) { ++*x; }"))
    kernel = program.get_function("one_more")
    x, stream = gpuarray.zeros(1, np.int32), cuda.Stream()

    def call():
        kernel(x, block=(1, 1, 1))

    call()
    call()
    with stream:
        call()
    stream.synchronize()
    assert x.get() == [3]
    with stream.capture() as graph:
        kernel(x, block=(1, 1, 1), stream=stream)
        kernel(x, block=(1, 1, 1), stream=stream)
    assert x.get() == [3]
    assert len(graph.get_nodes()) == 2
    call()
    assert x.get() == [4]
    program.close()
    with pytest.raises(cuda.LogicError, match="closed"):
        call()


def test_cached_calls_of_several_lines():
    """Lines that give the same keywords share what is cached; the order of the keywords counts."""
    source = "__global__ void shape(int *x, int n) { x[0] = n; x[1] = gridDim.x; x[2] = blockDim.x; }"
    kernel = SourceModule(source).get_function("shape")
    x = gpuarray.zeros(3, np.int32)

    def block_first(n, size, count):
        kernel(x, n, block=(size, 1, 1), grid=(count, 1))

    def block_first_too(n, size, count):
        kernel(x, n, block=(size, 1, 1), grid=(count, 1))

    def grid_first(n, size, count):
        kernel(x, n, grid=(count, 1), block=(size, 1, 1))

    for n, call in enumerate([block_first, block_first, block_first_too, grid_first, grid_first, block_first_too] * 2):
        call(n, 3 + n, 5 + n)
        assert x.get().tolist() == [n, 5 + n, 3 + n]


def test_launches_without_numpy():
    """What needs no NumPy does not import it."""
    code = """
        import sys
        import pycuda.autoinit
        import pycuda.driver as cuda
        from pycuda.compiler import SourceModule

        module = SourceModule("__global__ void fill(int *x, int n, float a) { x[threadIdx.x] = n + (int)a; }")
        kernel = module.get_function("fill")
        x, stream, event = cuda.mem_alloc(128), cuda.Stream(), cuda.Event()
        for _ in range(3):
            kernel(x, 3, 1.5, block=(32, 1, 1), grid=(1, 1))
            kernel(x, 3, 1.5, block=(32, 1, 1), stream=stream)
            kernel.prepare("Pif").prepared_call((1, 1), (32, 1, 1), x, 3, 1.5)
            kernel.prepare(["P", "i", "f"]).prepared_async_call((1, 1), (32, 1, 1), stream, x, 3, 1.5)
        event.record()
        event.synchronize()
        try:
            kernel("x", 3, 1.5, block=(32, 1, 1))
        except TypeError as error:
            assert "'int *x'" in str(error), error
        else:
            raise AssertionError
        assert "numpy" not in sys.modules

        import numpy as np

        kernel(x, np.int32(5), np.float32(1), block=(32, 1, 1))
        found = np.zeros(32, np.int32)
        cuda.memcpy_dtoh(found, x)
        assert (found == 6).all()
    """
    run_python(code)


def test_calls_by_unpacking(axpy):
    y = gpuarray.zeros(4, np.float32)
    args, options = [y, y, np.float32(1), np.int32(4)], {"block": (4, 1, 1), "grid": (1, 1)}
    axpy(*args, **options)
    axpy.__call__(*args, **options)
    with pytest.raises(ValueError, match="extra keyword arguments: colour"):
        axpy(*args, **options, colour=1)
    for method in (axpy.prepare("PPfi").prepared_call, axpy.prepared_timed_call):
        with pytest.raises(TypeError, match="grid and block"):
            method()
        with pytest.raises(TypeError, match="colour"):
            method((1, 1), (1, 1, 1), colour=1)


# -- streams, events, contexts ----------------------------------------------------------------


def test_in_and_out_follow_the_stream(axpy):
    x, y = np.arange(4, dtype=np.float32), np.ones(4, np.float32)
    with cuda.Stream(1) as stream:
        assert cuda.Stream.get_current() == stream
        axpy(cuda.InOut(y), cuda.In(x), 2, 4, block=(4, 1, 1))
    assert cuda.Stream.get_current() is None
    assert np.array_equal(y, 1 + 2 * x)

    class Foreign:
        def __cuda_stream__(self):
            return (0, stream.handle)

    axpy(cuda.InOut(y), cuda.In(x), 2, 4, block=(4, 1, 1), stream=Foreign())
    assert np.array_equal(y, 1 + 4 * x)
    cuda.Event().record(Foreign()).synchronize()
    with pytest.raises(TypeError, match="stream is 5; expected a Stream"):
        axpy(cuda.InOut(y), cuda.In(x), 2, 4, block=(4, 1, 1), stream=5)


def test_streams_of_others():
    stream = cuda.Stream(flags=1, priority=0)
    assert stream.__cuda_stream__() == (0, stream.handle)
    wrapped = cuda.Stream.from_handle(stream.handle, stream)
    assert wrapped == stream and hash(wrapped) == hash(stream) and wrapped.flags == 1 and wrapped.id == stream.id
    assert cuda.Stream.from_handle(stream) == stream
    with pytest.raises(TypeError, match="__cuda_stream__"):
        cuda.Stream.from_handle("stream")
    assert wrapped.query() is True
    wrapped.close()
    assert wrapped.is_closed and not stream.is_closed
    stream.synchronize()
    for default in (cuda.Stream.legacy_default(), cuda.Stream.per_thread_default()):
        default.synchronize()
        assert cuda.Event().record(default).synchronize().query()


def test_closing():
    stream, event = cuda.Stream(), cuda.Event()
    for thing, use in ((stream, stream.synchronize), (event, event.record)):
        assert not thing.is_closed
        thing.close()
        thing.close()
        assert thing.is_closed
        with pytest.raises(cuda.LogicError, match="was closed"):
            use()
    with cuda.Event() as event:
        event.record()
    assert event.is_closed
    with SourceModule("__global__ void f() {}").module as module:
        kernel = module.get_function("f")
        kernel(block=(1, 1, 1))
        cuda.Context.synchronize()
    assert module.is_closed
    with pytest.raises(cuda.LogicError, match="the module was closed"):
        kernel(block=(1, 1, 1))


def test_host_functions_in_stream_order(monkeypatch):
    log, lost = [], []
    monkeypatch.setattr(sys, "unraisablehook", lambda info: lost.append(str(info.exc_value)))
    stream, other, gate = cuda.Stream(1), cuda.Stream(1), cuda.mem_alloc(8)
    cuda.memset_d32(gate, 0, 2)
    stream.wait_value(gate, 7, 1)
    stream.launch_host_func(log.append, 1)
    stream.add_callback(lambda error: log.append(error))
    stream.launch_host_func(lambda: 1 / 0)
    stream.launch_host_func(log.append, 2)
    assert log == [] and not stream.query()
    other.write_value(gate, 7)
    stream.synchronize()
    assert log == [1, None, 2]
    assert lost == ["division by zero"]
    stream.write_value(gate, 1 << 40, size=8)
    stream.wait_value(gate, 1 << 40, 0, size=8)
    stream.synchronize()
    with pytest.raises(OverflowError, match="size=8"):
        stream.write_value(gate, 1 << 40)
    with pytest.raises(TypeError, match="must be callable"):
        stream.launch_host_func(3)


def test_host_functions_and_many_launches(axpy):
    """A full queue must not hold the interpreter that a host function waits for."""
    y, n_called, stream = gpuarray.zeros(4, np.float32), [], cuda.Stream()
    for _ in range(3000):
        stream.launch_host_func(n_called.append, 1)
        axpy(y, y, 1.0, 4, block=(4, 1, 1), stream=stream)
    stream.synchronize()
    assert len(n_called) == 3000


def test_unrecorded_events_are_explained():
    start, end = cuda.Event(), cuda.Event()
    with pytest.raises(cuda.LogicError, match="the first event was never recorded"):
        end.time_since(start)
    start.record()
    with pytest.raises(cuda.LogicError, match="the second event was never recorded"):
        start.time_till(end)


def test_contexts_in_blocks(context):
    device = context.get_device()
    with device.make_context() as inner:
        assert cuda.Context.get_current() == inner and inner.kind == "created" and inner.device == device
        with inner:
            cuda.mem_alloc(16)
            assert cuda.Context.get_current() == inner
        assert cuda.Context.get_current() == inner
    assert cuda.Context.get_current() == context
    with inner:
        inner.pop()
        assert cuda.Context.get_current() == context
    assert cuda.Context.get_current() == context
    inner.close()
    inner.close()
    assert not inner.is_alive
    with pytest.raises(cuda.LogicError), inner:
        pass
    assert cuda.Context.get_current() == context


def test_set_current(context):
    other = context.get_device().make_context()
    cuda.Context.set_current(context)
    assert cuda.Context.get_current() == context
    cuda.Context.set_current(None)
    assert cuda.Context.get_current() == context
    other.close()
    assert cuda.Context.get_flags() >= 0


def test_fork_says_what_to_do():
    program = """
import os, threading, pycuda.autoinit, pycuda.driver as cuda
memory = cuda.mem_alloc(16)

def fork():
    if os.fork() == 0:
        for call in (lambda: cuda.mem_alloc(16), cuda.Stream, cuda.Context.get_device):
            try:
                call()
            except cuda.Error as error:
                print(error, flush=True)
        os._exit(0)
    os.wait()

fork()
thread = threading.Thread(target=fork)
thread.start(), thread.join()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    said = 'forked after the driver was initialised; start processes with the method "spawn"'
    # `get_device` of a thread that has a context needs no driver.
    assert done.stdout.count(said) == 5, done.stdout + done.stderr


def test_arrays_whose_memory_was_freed_are_refused():
    function = SourceModule("__global__ void k(float *x) { x[0] = 1; }").get_function("k")
    arrays = [gpuarray.zeros(4, np.float32) for _ in range(3)]
    # The first call, and one like the call before.
    arrays[0].gpudata.free()
    with pytest.raises(cuda.LogicError, match=r"argument #0 .* of kernel 'k'.*: .*memory of the array was freed"):
        function(arrays[0], block=(1, 1, 1))
    function(arrays[1], block=(1, 1, 1))
    function(arrays[2], block=(1, 1, 1))
    arrays[2].gpudata.free()
    with pytest.raises(cuda.LogicError, match="memory of the array was freed"):
        function(arrays[2], block=(1, 1, 1))
    function(arrays[1], block=(1, 1, 1))
    assert arrays[1].get()[0] == 1


def test_what_to_pass_depends_on_the_declaration():
    kernel = SourceModule("__global__ void k(float *x, float s, int n) {}").get_function("k")
    x = gpuarray.zeros(4, np.float32)
    with pytest.raises(cuda.LogicError, match=r"int64\(4\).*; pass numpy.int32\(\.\.\.\) or a Python number"):
        kernel(x, 1.0, np.int64(4), block=(4, 1, 1))
    with pytest.raises(cuda.LogicError, match=r"float64\(2.0\).*; pass numpy.float32\(\.\.\.\)"):
        kernel(x, np.float64(2), 4, block=(4, 1, 1))
    with pytest.raises(TypeError, match=r"#2 .*'int n'.*expected a number, such as numpy.int32"):
        kernel(x, 1.0, x.shape, block=(4, 1, 1))
    with pytest.raises(TypeError, match=r"#0 .*'float \*x'.*expected a device allocation, an array.*null .*intp\(0\)"):
        kernel(None, 1.0, 4, block=(4, 1, 1))
    kernel(np.intp(0), 1.0, 4, block=4)


def test_dimensions_out_of_range_are_named():
    function = SourceModule("__global__ void k() {}").get_function("k")
    with pytest.raises(TypeError, match=r"grid.*\(-1, 1\).*from 1 to 4294967295"):
        function(block=(1, 1, 1), grid=(-1, 1))


def test_unknown_keywords_and_device_arrays_in_handlers_have_hints(module):
    kernel, a = module.get_function("copy_words"), gpuarray.zeros(4, np.uint32)
    with pytest.raises(ValueError, match=r"extra keyword arguments: blocks; did you mean block\?"):
        kernel(a, a, blocks=(4, 1, 1))
    with pytest.raises(ValueError, match="extra keyword arguments: n; arguments of the kernel are positional"):
        kernel(a, a, block=(4, 1, 1), n=3)
    with pytest.raises(TypeError, match="GPUArray, which is in device memory; .* without In, Out or InOut"):
        kernel(cuda.In(a), a, block=(4, 1, 1))
