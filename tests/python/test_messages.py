"""What users read when they forget something, and small conveniences of objects."""

import ast
import os
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.linalg import LinAlgError

import rtcg.driver as cuda
from pycuda import cumath, curandom, gpuarray
from pycuda.compiler import SourceModule, compile
from rtcg import linalg, random as rrandom
from rtcg.elementwise import ElementwiseKernel
from rtcg.reduction import ReductionKernel
from tests.python.subprocesses import run_python

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture(scope="module")
def module(context):
    return SourceModule("__global__ void one(int *p) {} __global__ void two(int *p, int n) {} __device__ int x;")


def error_of(kind, call):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (3, "3"),
        (2.5, "2.5"),
        (None, "None"),
        (["__global__"], r"\['__global__'\]"),
        (b"__global__", "of type bytes"),
        (object(), "<object object at .*>"),
        (str, "<class 'str'>"),
    ],
)
def test_a_source_that_is_no_text(source, shown):
    for make in (SourceModule, compile):
        with pytest.raises(TypeError, match=f"source is {shown}; expected str, or an object with str"):
            make(source)


def test_no_error_shows_a_value_without_a_bound():
    """A value is shown by `shown`; `!r` is for paths, which are shown whole."""
    found = []
    for path in sorted((Path(__file__).parents[2] / "python" / "rtcg").rglob("*.py")):
        raised = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Raise))
        fields = (f for node in raised for f in ast.walk(node) if isinstance(f, ast.FormattedValue))
        shown = [ast.unparse(f.value) for f in fields if f.conversion == ord("r")]
        found += [
            f"{path.name}: {value}"
            for value in shown
            if not re.search(r"name|path|file|kind|stage|what|^(self.)?format$|^options.other|^str\(", value)
        ]
    assert found == []


def test_unknown_kernels_name_those_there_are(module):
    assert "'three'; the module has one, two" in error_of(cuda.LogicError, lambda: module.get_function("three"))
    none = SourceModule("__device__ int x;")
    assert "'one'; the module has no kernels" in error_of(cuda.LogicError, lambda: none.get_function("one"))


def test_one_was_and_two_were_given(module):
    one, two = module.get_function("one"), module.get_function("two")
    p, n = np.intp(0), np.int32(0)

    def launch(kernel, *args):
        return error_of(cuda.LogicError, lambda: kernel(*args, block=(1, 1, 1)))

    assert "kernel 'two' takes 2 arguments, 1 was given; argument #1 (0-based) is missing" in launch(two, p)
    assert "kernel 'two' takes 2 arguments, 0 were given" in launch(two)
    assert "kernel 'one' takes 1 argument, 0 were given" in launch(one)
    assert "kernel 'one' takes 1 argument, but argument #1 (0-based) was given" in launch(one, p, n)
    two.prepare("Pi")
    call = two.prepared_call
    assert "prepared for 2 arguments, 1 was given" in error_of(TypeError, lambda: call((1, 1), (1, 1, 1), 0))
    one.prepare("P")
    call = one.prepared_call
    assert "prepared for 1 argument, 2 were given" in error_of(TypeError, lambda: call((1, 1), (1, 1, 1), 0, 0))


@pytest.mark.parametrize("kind", [cuda.Memcpy2D, cuda.Memcpy3D, cuda.Memcpy3DPeer])
def test_structured_copies_say_what_is_missing(kind):
    copy = kind()
    assert "nothing to copy from was set; call set_src_host, " in error_of(cuda.LogicError, copy)
    source, target = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
    copy.set_src_host(source)
    assert "nothing to copy to was set; call set_dst_host, " in error_of(cuda.LogicError, copy)
    copy.set_dst_host(target)
    assert "width_in_bytes was not set" in error_of(cuda.LogicError, copy)
    copy.width_in_bytes = 64
    assert "height was not set" in error_of(cuda.LogicError, copy)
    copy.height = 1
    if kind is not cuda.Memcpy2D:
        assert "depth was not set" in error_of(cuda.LogicError, copy)
        copy.depth = 1
        copy.src_height = copy.dst_height = 1
    copy.src_pitch = copy.dst_pitch = 64
    copy()
    assert (target == source).all()
    copy.width_in_bytes = 0
    copy()


def test_structured_copies_of_addresses():
    memory = cuda.to_device(np.arange(4, dtype=np.int32))
    copy = cuda.Memcpy2D()
    copy.src_memory_type, copy.src_device = cuda.memory_type.DEVICE, memory
    target = np.zeros(4, np.int32)
    copy.set_dst_host(target)
    copy.width_in_bytes, copy.height = 16, 1
    copy()
    assert (target == np.arange(4)).all()


def descriptor(shape, levels=False):
    d = cuda.ArrayDescriptor3D() if levels or len(shape) == 3 else cuda.ArrayDescriptor()
    d.width, d.height = shape[0], shape[1] if len(shape) > 1 else 0
    if isinstance(d, cuda.ArrayDescriptor3D):
        d.depth, d.flags = shape[2] if len(shape) > 2 else 0, 0
    d.format, d.num_channels = cuda.array_format.FLOAT, 1
    return d


@pytest.mark.parametrize(("shape", "text"), [((5,), "5"), ((5, 4), "5 x 4"), ((5, 4, 3), "5 x 4 x 3")])
def test_arrays_show_themselves(shape, text):
    array = cuda.Array(descriptor(shape))
    assert repr(array) == f"<rtcg.driver.Array {text}, 1 channel of FLOAT>"
    array.free()
    assert repr(array) == "<rtcg.driver.Array, gone>"


def test_arrays_are_closed():
    with cuda.Array(descriptor((4, 4))) as array:
        array.get_descriptor()
    array.close()
    assert "the array was freed" in error_of(cuda.LogicError, array.get_descriptor)
    assert "it was freed before" in error_of(cuda.LogicError, array.free)


def test_mipmapped_arrays_are_closed():
    with cuda.MipmappedArray(descriptor((8, 4), levels=True), 3) as mipmap:
        level = mipmap.get_level(1)
        assert repr(mipmap) == "<rtcg.driver.MipmappedArray 8 x 4, 1 channel of FLOAT>"
        assert repr(level) == "<rtcg.driver.Array 4 x 2, 1 channel of FLOAT>"
    mipmap.close()
    assert repr(mipmap) == "<rtcg.driver.MipmappedArray, gone>"
    for use in (level.get_descriptor, lambda: mipmap.get_level(0)):
        assert "the mipmapped array was closed" in error_of(cuda.LogicError, use)


def test_a_single_node_as_dependency():
    graph = cuda.Graph()
    first = graph.add_empty_node()
    second = graph.add_empty_node(dependencies=first)
    third = graph.add_empty_node(second)
    assert (second.dependencies, third.dependencies) == ([first], [second])
    for wrong, shown in ((3, "3"), ([first, 3], r"\[.*, 3\]"), ("ab", "'ab'")):
        with pytest.raises(TypeError, match=f"dependencies is {shown}; expected a GraphNode or a sequence of them"):
            graph.add_empty_node(dependencies=wrong)


@pytest.mark.parametrize("what", ["stream.synchronize()", "stream.is_done()", "cuda.Context.synchronize()"])
def test_waiting_while_a_stream_is_captured(what):
    stream = cuda.Stream()
    with pytest.raises(cuda.LogicError, match="a stream is being captured into a graph"), stream.capture():
        eval(what, {"stream": stream, "cuda": cuda})


def test_debug_information_names_no_file_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = "__global__ void f(int *p) { *p = 1; }"
    text = compile(source, options=["-lineinfo"], target="ptx", arch="compute_80", cache_dir=False).decode()
    names = re.findall(r'^\s*\.file\s+\d+\s+"(.*?)"', text, re.MULTILINE)
    assert "/<source in memory>/kernel.cu" in names
    assert not [name for name in names if name.startswith(os.fspath(tmp_path))]


def test_debug_information_names_the_kept_file(capfd):
    source = "__global__ void f(int *p) { *p = 1; }"
    options = {"keep": True, "target": "ptx", "arch": "compute_80", "cache_dir": False}
    text = compile(source, options=["-lineinfo"], **options).decode()
    names = [name for name in re.findall(r'^\s*\.file\s+\d+\s+"(.*?)"', text, re.MULTILINE) if "kernel.cu" in name]
    assert [Path(name).read_text() for name in names] == [source]
    assert str(Path(names[0]).parent.parent) in capfd.readouterr().out


def test_a_fault_is_not_blamed_on_the_call_that_finds_it(on_virtual_device):
    text = run_python(
        """
import pycuda.autoinit, pycuda.driver as cuda
from pycuda.compiler import SourceModule
module = SourceModule("__global__ void bad() { *(volatile int *) 16 = 1; } __global__ void good() {}")
good = module.get_function("good")
module.get_function("bad")(block=(1, 1, 1))
for call in (cuda.Context.synchronize, lambda: good(block=(1, 1, 1)), lambda: cuda.mem_alloc(4)):
    try:
        call()
    except cuda.LogicError as error:
        print(str(error).splitlines()[0])
"""
    ).stdout.splitlines()
    what = "an illegal memory access was encountered - an earlier launch failed"
    kernel = ": kernel bad: illegal memory access, write of 4 bytes at 0x10" if on_virtual_device else ""
    for line, call in zip(text, ("cuCtxSynchronize", "cuLaunchKernel", "cuMemAlloc"), strict=True):
        assert line.startswith(f"{call} failed: {what}{kernel}")


def test_numpy_is_imported_when_an_array_comes():
    run_python(
        """
import sys
import pycuda.autoinit, pycuda.driver as cuda
from pycuda.compiler import SourceModule
memory = cuda.mem_alloc(16)
cuda.memset_d32(memory, 7, 4)
stream = cuda.Stream()
cuda.Event().record(stream).synchronize()
kernel = SourceModule("__global__ void store(int *a) { *a = 1; }").get_function("store")
kernel.prepare("P").prepared_call((1, 1), (1, 1, 1), memory)
for name in ("numpy", "json", "ctypes", "subprocess", "traceback", "pycuda.gpuarray", "pycuda.elementwise"):
    assert name not in sys.modules, name
from pycuda.tools import get_or_register_dtype
assert get_or_register_dtype("float").itemsize == 4 and "numpy" in sys.modules
"""
    )


def test_host_tables_of_sobol_generators():
    from pycuda import _driver

    assert _driver.get_curand_version() == curandom.get_curand_version()
    kinds = curandom.direction_vector_set
    vectors = np.zeros((3, 32), np.uint32)
    _driver._get_direction_vectors(kinds.VECTOR_32, vectors, 3)
    assert vectors[0].tolist() == [1 << (31 - i) for i in range(32)]
    wide = np.zeros((2, 64), np.uint64)
    _driver._get_direction_vectors(kinds.SCRAMBLED_VECTOR_64, wide, 2)
    assert wide[0].tolist() == [1 << (63 - i) for i in range(64)]
    short, long = np.zeros(5, np.uint32), np.zeros(5, np.uint64)
    _driver._get_scramble_constants32(short, 5)
    _driver._get_scramble_constants64(long, 5)
    assert len(set(long.tolist())) == 5 and (short == long >> np.uint64(32)).all()
    assert (curandom.generate_scramble_constants64(5).get() == long).all()
    with pytest.raises(ValueError, match="set is 5; expected a member of pycuda.curandom.direction_vector_set"):
        _driver._get_direction_vectors(5, vectors, 3)
    with pytest.raises(TypeError, match=r"dst is a uint32 array of shape \(5,\); expected a NumPy array of uint64"):
        _driver._get_scramble_constants64(short, 5)


TEXTURES = """
texture<float, 1, cudaReadModeElementType> tex, other;
__device__ float at(int x) { return tex1Dfetch(tex, x); }
extern "C" __global__ void reads(float *z, int n) { z[0] = n > 0 ? at(0) : 0; }
extern "C" __global__ void reads_not(float *z, int n) { z[0] = n; }
"""


def test_launches_name_texture_references_that_are_not_bound():
    module = SourceModule(TEXTURES, no_extern_c=True)
    z = cuda.mem_alloc(4)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        module.get_function("reads_not")(z, np.int32(1), block=(1, 1, 1))
        assert told == []
        for _ in range(2):
            # Reading is left out: it is the launch that tells.
            module.get_function("reads")(z, np.int32(0), block=(1, 1, 1))
    expected = "kernel 'reads' is launched with nothing bound to the texture reference 'tex' that it reads; "
    assert [str(warning.message).startswith(expected) for warning in told] == [True, True]
    assert {warning.filename for warning in told} == {__file__}


def test_launches_are_silent_about_texture_references_that_are_bound():
    module = SourceModule(TEXTURES, no_extern_c=True)
    texref, z = module.get_texref("tex"), cuda.mem_alloc(4)
    texref.set_format(cuda.array_format.FLOAT, 1)
    memory = cuda.to_device(np.array([3.5], np.float32))
    texref.set_address(memory, 4)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        module.get_function("reads")(z, np.int32(1), block=(1, 1, 1), texrefs=[texref])
    assert told == [] and cuda.from_device(z, 1, np.float32)[0] == 3.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: cuda.texture_object(np.zeros(3)), "source is of type ndarray; expected an Array"),
        (lambda a: cuda.texture_object(a), "source is of type GPUArray; .* descr= beside memory"),
        (lambda a: cuda.texture_object(a, filter_mode="linear"), "filter_mode is 'linear'; expected one of"),
        (lambda a: cuda.texture_object(a, address_mode="wrap"), "address_mode is 'wrap'; expected one of"),
        (lambda a: cumath.sin("x"), "sin: array is of type str; expected a GPUArray"),
        (lambda a: cumath.fmod(a, 2.0), "fmod: mod is of type float; expected a GPUArray"),
        (lambda a: cumath.ldexp(a, None), "ldexp: exponent is of type NoneType"),
        (lambda a: rrandom.Generator(7), "bit_generator is 7; expected a Philox or Threefry"),
        (lambda a: rrandom.default_rng("x"), "key is 'x'; expected an integer"),
        (lambda a: rrandom.default_rng(1).integers(0.5), "high is 0.5; expected an integer"),
    ],
)
def test_arguments_of_a_wrong_type_are_named(call, message):
    with pytest.raises(TypeError, match=message):
        call(gpuarray.zeros(4, np.float32))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda m: cuda.mem_alloc(-1), OverflowError, "-1 is out of range; expected an integer from 0 to 18446"),
        (lambda m: cuda.mem_alloc(1 << 64), OverflowError, "18446744073709551616 is out of range"),
        (lambda m: cuda.mem_alloc("x"), TypeError, "'x' is no integer; expected an integer from 0 to"),
        (lambda m: cuda.mem_alloc(2.5), TypeError, "2.5 is no integer"),
        (lambda m: cuda.mem_alloc(float("nan")), TypeError, "nan is no integer"),
        (lambda m: cuda.memset_d8(m, 256, 1), OverflowError, "256 is out of range; expected an integer from 0 to 255"),
        (lambda m: cuda.memset_d8(None, 1, 1), TypeError, "None is no device pointer; expected an allocation, or"),
        (lambda m: cuda.memset_d8(-1, 1, 1), TypeError, "-1 is no device pointer; .* an integer from 0 to 1844"),
        (lambda m: cuda.mem_alloc_like(3), TypeError, "ary is of type int; expected an array, which has nbytes"),
        (lambda m: cuda.from_device(m, "x", np.int8), ValueError, "shape is 'x'; expected an integer or several"),
        (lambda m: cuda.from_device(m, float("nan"), np.int8), ValueError, "shape is nan; expected an integer"),
        (lambda m: cuda.from_device(m, -1, np.int8), ValueError, r"shape is \(-1,\); expected no negative length"),
        (lambda m: cuda.from_device(m, 4, np.int8, "A"), cuda.LogicError, "order is 'A'; expected 'C' or 'F'"),
        (lambda m: cuda.from_device_like(m, 3), TypeError, "other_ary is of type int; expected an array"),
        (lambda m: cuda.pagelocked_empty("x", np.int8), ValueError, "shape is 'x'; expected an integer or several"),
        (lambda m: cuda.register_host_memory([1]), TypeError, "ary is of type list; expected a NumPy array"),
        (lambda m: cuda.matrix_to_array(3, "C"), TypeError, "matrix is of type int; expected an array"),
        (lambda m: cuda.np_to_array(3, "C"), TypeError, "nparray is of type int; expected an array"),
        (lambda m: cuda.gpuarray_to_array(3, "C"), TypeError, "gpuarray is of type int; expected an array"),
        (lambda m: cuda.make_multichannel_2d_array(3, "C"), TypeError, "ndarray is of type int; expected an array"),
        (lambda m: cuda.bind_array_to_texref(3, cuda.TextureReference()), TypeError, "ary is of type int; exp"),
        (lambda m: cuda.dtype_to_array_format("odd"), TypeError, "cannot convert dtype \"'odd'\" to an array format"),
        (lambda m: gpuarray.zeros(4, np.int8).get(3), TypeError, "ary is 3; expected a NumPy array"),
        (lambda m: cuda.Memcpy3D().set_src_host(3), TypeError, "buffer is a int; expected an array or another contig"),
        (lambda m: setattr(cuda.Memcpy3D(), "depth", "x"), TypeError, "depth = 'x' is no integer; expected an"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_shown_with_what_was_expected(call, kind, message):
    with pytest.raises(kind, match=message):
        call(cuda.mem_alloc(16))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda m: cuda.mem_alloc(-1), "bytes"),
        (lambda m: cuda.memset_d2d32(m, 16, 1, -1, 1), "width"),
        (lambda m: cuda.memcpy_dtod(m, None, 8), "src"),
        (lambda m: cuda.Stream(-1), "flags"),
        (lambda m: m.as_buffer(-1), "size"),
        (lambda m: cuda.Event().time_since(3), "event"),
        (lambda m: cuda.memcpy_htod_async(m, np.zeros(1), 3), "stream"),
    ],
)
def test_wrong_arguments_are_named(call, name):
    with pytest.raises((TypeError, OverflowError)) as caught:
        call(cuda.mem_alloc(16))
    assert caught.value.__notes__ == [f"while processing '{name}'"]


def test_memory_that_was_freed_is_shown(module):
    memory = cuda.mem_alloc(48)
    shown = f"device allocation of 48 bytes at {int(memory):#x} used after free()"
    memory.free()
    two, argument = module.get_function("two"), "argument #0 (0-based)"
    prepared = module.get_function("two").prepare("Pi")
    for use, where in (
        (lambda: int(memory), ""),
        (lambda: cuda.memcpy_dtoh(np.zeros(4), memory), ""),
        (lambda: two(memory, np.int32(1), block=(1, 1, 1)), f"{argument} of kernel 'two', declared as 'int *p': "),
        (lambda: prepared.prepared_call((1, 1), (1, 1, 1), memory, 1), f"{argument}: "),
    ):
        assert error_of(cuda.LogicError, use) == where + shown


# -- reasons ----------------------------------------------------------------------------------


def test_an_event_of_another_context(context):
    event = cuda.Event()
    other = context.get_device().make_context()
    try:
        stream = cuda.Stream()
        message = error_of(cuda.LogicError, lambda: event.record(stream))
        assert "the event belongs to another context than the stream" in message
        stream.close()
    finally:
        other.detach()


def test_captures_in_the_wrong_state():
    stream = cuda.Stream()
    assert "the stream was not being captured" in error_of(cuda.LogicError, stream.end_capture)
    stream.begin_capture()
    assert "the stream is being captured already" in error_of(cuda.LogicError, stream.begin_capture)
    stream.end_capture()


def test_fetching_while_a_stream_is_captured():
    array, stream = gpuarray.zeros(10, np.float32), cuda.Stream()
    stream.begin_capture()
    message = error_of(cuda.LogicError, array.get)
    assert "being captured into a graph" in message and "default stream" in message
    assert "end the capture" in error_of(cuda.LogicError, lambda: array.get_async(stream))
    error_of(cuda.LogicError, stream.end_capture)
    assert (array.get() == 0).all()


def test_no_devices_before_init():
    """What needs a context initialises, too (`test_default_context.py`)."""
    program = """
import rtcg.driver as cuda
for call in (lambda: cuda.Device(0), cuda.Device.count, lambda: cuda.Device("0000:00:00.0")):
    try:
        call()
        print("nothing")
    except cuda.LogicError as error:
        print(error)
"""
    lines = run_python(program).stdout.lower().splitlines()
    assert len(lines) == 3 and all("call init() first" in line for line in lines), lines


def test_integers_of_functions_and_graphs(module):
    one, graph, stream = module.get_function("one"), cuda.Graph(), cuda.Stream()
    device = cuda.mem_alloc(64)
    calls = {
        "attribute": lambda n: one.get_attribute(n),
        "block_threads": lambda n: one.max_active_blocks_per_multiprocessor(n),
        "limit": lambda n: one.max_potential_block_size(0, n),
        "blocks": lambda n: one.available_dynamic_shared_memory(n, 32),
        "shared": lambda n: graph.add_kernel_node(device, func=one, block=(1, 1, 1), shared=n),
        "count": lambda n: graph.add_memset_node(device, 0, n),
        "size": lambda n: graph.add_memalloc_node(n),
        "flags": lambda n: graph.instantiate(n),
    }
    for name, call in calls.items():
        for wrong in (2**70, -(2**70)):
            with pytest.raises(OverflowError, match=f"{wrong} is out of range; expected an integer from") as caught:
                call(wrong)
            assert f"'{name}'" in "".join(getattr(caught.value, "__notes__", [f"'{name}'"]))
        with pytest.raises(TypeError, match="'x' is no integer; expected"):
            call("x")
    stream.close()


def out_of_range(name, value, least, greatest):
    """What says so, in the message or in its note."""
    return rf"{name} = {value} is out of range; expected an integer from {least} to {greatest}"


def test_optional_integers_of_graphs_and_streams(module):
    one, graph = module.get_function("one"), cuda.Graph()
    device, host = cuda.mem_alloc(64), np.zeros(16, np.int32)
    kernel = graph.add_kernel_node(device, func=one, block=(1, 1, 1))
    copy, fetch = graph.add_memcpy_htod_node(device, host), graph.add_memcpy_dtoh_node(host, device)
    fill = graph.add_memset_node(device, 0, 4, 4, 1)
    ready = graph.instantiate()
    calls = {
        "priority": (lambda n: cuda.Stream(priority=n), -(2**31), 2**31 - 1),
        "default": (graph.conditional_handle, 0, 2**32 - 1),
        "size": (lambda n: graph.add_memcpy_htod_node(device, host, n), 0, 2**64 - 1),
        "size ": (lambda n: graph.add_memcpy_dtoh_node(host, device, n), 0, 2**64 - 1),
        "size  ": (lambda n: ready.memcpy_htod_node_set_params(copy, device, host, n), 0, 2**64 - 1),
        "size   ": (lambda n: ready.memcpy_dtoh_node_set_params(fetch, host, device, n), 0, 2**64 - 1),
        "pitch": (lambda n: graph.add_memset_node(device, 0, 4, 4, 2, n), 0, 2**64 - 1),
        "pitch ": (lambda n: ready.memset_node_set_params(fill, device, 0, 4, 4, 1, n), 0, 2**64 - 1),
        "shared": (lambda n: kernel.kernel_node_set_params(device, shared=n), 0, 2**32 - 1),
        "shared ": (lambda n: ready.kernel_node_set_params(device, kernel_node=kernel, shared=n), 0, 2**32 - 1),
    }
    for name, (call, least, greatest) in calls.items():
        expected = f"expected an integer from {least} to {greatest}"
        for wrong in (greatest + 1, least - 1, 2**70):
            with pytest.raises(OverflowError, match=f"{wrong} is out of range; {expected}") as caught:
                call(wrong)
            note = f"while processing '{name.strip()}'"
            assert getattr(caught.value, "__notes__", [note]) == [note]
        with pytest.raises(TypeError, match=f"2.5 is no integer; {expected}"):
            call(2.5)
    # None is what is not said.
    cuda.Stream(0, None).close()
    ready.memcpy_htod_node_set_params(copy, device, host, None)
    kernel.kernel_node_set_params(device, shared=None)


@pytest.mark.parametrize(
    ("name", "least", "greatest"),
    [
        ("priority", -(2**31), 2**31 - 1), ("shared_carveout", 0, 2**32 - 1),
        ("cluster_scheduling", 0, 2**32 - 1), ("mem_sync_domain", 0, 2**32 - 1),
    ],
)  # fmt: skip
def test_integers_of_launch_options(module, name, least, greatest):
    one = module.get_function("one")
    prepared = module.get_function("one").prepare("P").prepared_call
    for wrong in (greatest + 1, least - 1, -(2**70)):
        for call in (
            lambda wrong=wrong: one(np.intp(0), block=(1, 1, 1), **{name: wrong}),
            lambda wrong=wrong: prepared((1, 1), (1, 1, 1), 0, **{name: wrong}),
        ):
            assert re.match(out_of_range(name, wrong, least, greatest), error_of(OverflowError, call))
    text = error_of(TypeError, lambda: one(np.intp(0), block=(1, 1, 1), **{name: "x"}))
    assert text == f"{name} = 'x' is no integer; expected an integer from {least} to {greatest}"


def test_numbers_of_domains(module):
    one = module.get_function("one")

    def launch(domains):
        one(np.intp(0), block=(1, 1, 1), mem_sync_domain_map=domains)

    text = error_of(OverflowError, lambda: launch((0, 256)))
    assert re.match(out_of_range(r"mem_sync_domain_map\[1\]", 256, 0, 255), text)
    text = error_of(TypeError, lambda: launch(("x", 0)))
    assert text == "mem_sync_domain_map[0] = 'x' is no integer; expected an integer from 0 to 255"
    for wrong in (3, (1, 2, 3), ()):
        text = error_of(TypeError, lambda wrong=wrong: launch(wrong))
        assert text == f"mem_sync_domain_map is {wrong}; expected two integers, for default and remote"
    for right in ((0, 1), [1, 0], np.array([0, 1])):
        launch(right)


def test_integers_of_geometry_and_of_prepared_calls(module):
    two = module.get_function("two")
    prepared = module.get_function("two").prepare("Pi").prepared_call
    p, n = np.intp(0), np.int32(0)
    many = "an integer, or a tuple of one to three, from 1 to 4294967295"

    def check_geometry(wrong):
        for call, text in (
            (lambda: two(p, n, block=(1, 1, 1), shared=wrong), f"shared is {wrong}; expected bytes, an integer from 0"),
            (lambda: two(p, n, block=(1, wrong, 1)), f"block is (1, {wrong}, 1); expected {many}"),
            (lambda: two(p, n, block=[1, wrong, 1]), f"block is [1, {wrong}, 1]; expected {many}"),
            (lambda: two(p, n, block=wrong), f"block is {wrong}; expected {many}"),
            (lambda: prepared((1, wrong), (1, 1, 1), 0, 0), f"grid is (1, {wrong}); expected {many}"),
        ):
            assert error_of(TypeError, call).startswith(text)

    for wrong in (2**32, -1, -(2**70)):
        check_geometry(wrong)
    for wrong in (2**31, -(2**31) - 1, 2**64, 2**70, -(2**70)):
        text = error_of(OverflowError, lambda wrong=wrong: prepared((1, 1), (1, 1, 1), 0, wrong))
        assert text == f"argument #1 (0-based): {wrong} is outside -2147483648..2147483647"
    assert error_of(TypeError, lambda: two(p, n, block=("x",))).startswith("block is ('x',); expected an integer")


def test_values_of_configurations(module):
    message = error_of(cuda.LogicError, lambda: module.get_function("one").set_cache_config(77))
    assert "config is 77; expected a CUfunc_cache, 0 to 3" in message


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda a: linalg.qr(a, "full"),
            ValueError,
            "Unrecognized mode 'full'; expected 'reduced', 'complete', 'r' or 'raw'",
        ),
        (lambda a: linalg.qr(a, 3), TypeError, "mode is 3; expected 'reduced'"),
        (lambda a: linalg.tensorinv(a, 1.5), ValueError, "ind is 1.5; expected a positive integer"),
        (lambda a: linalg.lstsq(a, a, "x"), TypeError, "rcond is 'x'; expected None or a real number"),
        (lambda a: linalg.norm(a, "x"), ValueError, "ord is 'x'; expected None, 'fro', 'nuc', 1"),
        (lambda a: linalg.norm(a[0], "fro"), ValueError, "Invalid norm order 'fro' for vectors; expected a number"),
        (lambda a: linalg.norm(a, axis=(1, 1)), ValueError, r"axis is \(1, 1\); expected two different ones of 2"),
        (lambda a: linalg.norm(a[None], 1), ValueError, "x has 3; expected 1 or 2"),
        (lambda a: linalg.norm(a, 1, ()), ValueError, r"axis is \(\); expected one axis or two"),
        (lambda a: linalg.cond(a, "x"), ValueError, "p is 'x'; expected None, 'fro'"),
        (lambda a: linalg.matrix_power(a[:, :2], 0.5), TypeError, "exponent must be an integer; n is 0.5"),
        (lambda a: linalg.matrix_power(a, 2), LinAlgError, r"must be square; its shape is \(2, 3\)"),
        (lambda a: linalg.inv(a), LinAlgError, r"must be square; its shape is \(2, 3\)"),
        (
            lambda a: linalg.det(a[0]),
            LinAlgError,
            r"1-dimensional array given. Array must be at least two-dimensional; its shape is \(3,\)",
        ),
        (lambda a: linalg.lstsq(a[None], a), LinAlgError, r"Array must be two-dimensional; its shape is \(1, 2, 3\)"),
        (lambda a: linalg.multi_dot([a]), ValueError, "Expecting at least two arrays. 1 were given"),
        (lambda a: linalg.multi_dot([a, a[0], a]), LinAlgError, "array 1 has 1 axes; expected 2"),
        (lambda a: linalg.tensorinv(a, 0), ValueError, "ind is 0; expected a positive integer"),
        (lambda a: linalg.tensorsolve(a, a[0]), LinAlgError, r"a has shape \(2, 3\) and b 1 axes; expected prod"),
        (lambda a: linalg.pinv(a, 0.1, rtol=0.2), ValueError, "can't be both set. They are 0.2 and 0.1"),
        (lambda a: linalg.matrix_rank(a, 0.1, rtol=0.2), ValueError, "can't be both set. They are 0.1 and 0.2"),
    ],
)
def test_what_linear_algebra_is_given(call, kind, message):
    with pytest.raises(kind, match=message):
        call(gpuarray.to_gpu(np.ones((2, 3))))


def test_objects_say_what_they_are():
    stream, event = cuda.Stream(), cuda.Event()
    module = SourceModule("__global__ void f() {}  __global__ void g() {}")
    assert repr(module) == "<rtcg.compiler.SourceModule with f, g>"
    assert repr(stream) == f"<rtcg.driver.Stream {stream.handle:#x}>"
    assert repr(event) == f"<rtcg.driver.Event {event.handle:#x}>"
    assert repr(cuda.Context.get_current()).startswith("<rtcg.driver.Context of device 0: ")
    kernel = ElementwiseKernel("float *z, const float *x", "z[i] = " + "x[i] + " * 20 + "1", "k")
    assert repr(kernel).startswith("<rtcg.elementwise.ElementwiseKernel k(float *z, const float *x): z[i] = x[i] + ")
    assert repr(kernel).endswith(" ...>") and len(repr(kernel)) < 150
    total = ReductionKernel(np.float32, "0", "a + b", "x[i]", "const float *x")
    assert repr(total) == "<rtcg.reduction.ReductionKernel reduce_kernel(const float *x): a + b of x[i]>"


def test_workers_do_not_repeat_the_notice():
    code = """
        import subprocess, sys, warnings
        import rtcg.driver
        rtcg.driver.init()
        subprocess.run([sys.executable, "-c", "import rtcg.driver; rtcg.driver.init()"], check=True)
    """
    environment = {"RTCG_LIBCUDA": "none", "RTCG_VIRTUAL_DEVICES": "", "_RTCG_NOTICE_SHOWN": ""}
    told = run_python(code, check=False, **environment).stderr
    assert told.count("no NVIDIA GPU is usable") == 1
