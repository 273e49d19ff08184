"""`pycuda-helpers.hpp` for every type, arrays in texture references, and the names that other tests do not reach."""

import gc
import runpy
import weakref
from pathlib import Path

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.tools import dtype_to_ctype

pytestmark = pytest.mark.usefixtures("context")

SOURCE = """
#include <pycuda-helpers.hpp>

texture<TEXEL, 1> line;
static texture<TEXEL, 2> image;
texture<TEXEL, cudaTextureType2DLayered> stack;
texture<TEXEL, 3> volume;
static surface<void, cudaSurfaceType2DLayered> layers;
surface<void, cudaSurfaceType3D> box;

__global__ void from_line(VALUE *o) { o[threadIdx.x] = fp_tex1Dfetch(line, threadIdx.x); }
__global__ void from_image(VALUE *o)
{
    o[threadIdx.y * blockDim.x + threadIdx.x] = fp_tex2D(image, threadIdx.x, threadIdx.y);
}
__global__ void from_stack(VALUE *o)
{
    o[(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] =
        fp_tex2DLayered(stack, threadIdx.x, threadIdx.y, threadIdx.z);
}
__global__ void from_volume(VALUE *o)
{
    o[(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] =
        fp_tex3D(volume, threadIdx.x, threadIdx.y, threadIdx.z);
}
// Each texel goes to its neighbour in x, by way of a register.
__global__ void turn_layers(VALUE *unused)
{
    VALUE v;
    fp_surf2DLayeredread(&v, layers, threadIdx.x, threadIdx.y, threadIdx.z, cudaBoundaryModeZero);
    __syncthreads();
    fp_surf2DLayeredwrite(v, layers, (threadIdx.x + 1) % blockDim.x, threadIdx.y, threadIdx.z, cudaBoundaryModeZero);
}
__global__ void turn_box(VALUE *unused)
{
    VALUE v;
    fp_surf3Dread(&v, box, threadIdx.x, threadIdx.y, threadIdx.z);
    __syncthreads();
    fp_surf3Dwrite(v, box, (threadIdx.x + 1) % blockDim.x, threadIdx.y, threadIdx.z);
}
"""

DTYPES = ["float32", "float64", "complex64", "complex128", "int32", "uint32", "int16", "uint16", "int8", "uint8"]
SHAPE = (3, 4, 5)


def random(dtype, shape, seed=20):
    rng = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    values = rng.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


@pytest.fixture(scope="module", params=DTYPES)
def dtype(request):
    return np.dtype(request.param)


@pytest.fixture(scope="module")
def helpers(context, dtype):
    value = dtype_to_ctype(dtype)
    texel = {"signed char": "char"}.get(dtype_to_ctype(dtype, with_fp_tex_hack=True))
    texel = texel or dtype_to_ctype(dtype, with_fp_tex_hack=True)
    return SourceModule(SOURCE, options=[f"-DVALUE={value}", f"-DTEXEL={texel}"])


def run(module, name, dtype, shape, texrefs=()):
    out = np.zeros(shape, dtype)
    block = (*shape[::-1], 1, 1)[:3]
    module.get_function(name)(cuda.Out(out), block=block, texrefs=list(texrefs))
    return out


def reference(module, name, dtype):
    texref = module.get_texref(name)
    if np.issubdtype(dtype, np.integer):
        texref.set_flags(cuda.TRSF_READ_AS_INTEGER)
    return texref


def test_arrays_of_every_dtype(helpers, dtype):
    values = random(dtype, SHAPE)
    line = reference(helpers, "line", dtype)
    on_device = gpuarray.to_gpu(values.ravel())
    assert on_device.bind_to_texref_ext(line, allow_double_hack=True, allow_complex_hack=True) == 0
    np.testing.assert_array_equal(run(helpers, "from_line", dtype, (60,), [line]), values.ravel())
    image = reference(helpers, "image", dtype)
    image.set_array(cuda.np_to_array(values[0], "C"))
    np.testing.assert_array_equal(run(helpers, "from_image", dtype, SHAPE[1:], [image]), values[0])
    stack = reference(helpers, "stack", dtype)
    layer = cuda.np_to_array(values[1], "C", allowSurfaceBind=True)
    stack.set_array(layer)
    np.testing.assert_array_equal(run(helpers, "from_stack", dtype, (1, *SHAPE[1:]), [stack])[0], values[1])
    volume = reference(helpers, "volume", dtype)
    volume.set_array(cuda.gpuarray_to_array(gpuarray.to_gpu(values), "C"))
    np.testing.assert_array_equal(run(helpers, "from_volume", dtype, SHAPE, [volume]), values)


def test_surfaces_of_every_dtype(helpers, dtype):
    values = random(dtype, SHAPE, 21)
    layer = cuda.np_to_array(values[1], "C", allowSurfaceBind=True)
    helpers.get_surfref("layers").set_array(layer)
    assert helpers.get_surfref("layers").get_array().handle == layer.handle
    run(helpers, "turn_layers", dtype, (1, *SHAPE[1:]))
    stack = reference(helpers, "stack", dtype)
    stack.set_array(layer)
    np.testing.assert_array_equal(run(helpers, "from_stack", dtype, (1, *SHAPE[1:]))[0], np.roll(values[1], 1, -1))
    box = cuda.gpuarray_to_array(gpuarray.to_gpu(values), "C", allowSurfaceBind=True)
    helpers.get_surfref("box").set_array(box)
    run(helpers, "turn_box", dtype, SHAPE)
    volume = reference(helpers, "volume", dtype)
    volume.set_array(box)
    np.testing.assert_array_equal(run(helpers, "from_volume", dtype, SHAPE), np.roll(values, 1, -1))


# -- arrays on the device in references ---------------------------------------------------------

LINES = """
texture<float, 1> line;
texture<float4, 1> quads;
__global__ void fetch(float *o, int offset) { o[threadIdx.x] = tex1Dfetch(line, threadIdx.x + offset); }
__global__ void sums(float *o)
{
    float4 q = tex1Dfetch(quads, threadIdx.x);
    o[threadIdx.x] = q.x + 10 * q.y + 100 * q.z + 1000 * q.w;
}
"""


@pytest.fixture(scope="module")
def lines(context):
    return SourceModule(LINES)


def test_offsets_of_arrays(lines):
    values = random("float32", 200)
    memory = cuda.to_device(values)
    tail = gpuarray.GPUArray((60,), np.float32, base=memory, gpudata=int(memory) + 4 * 140)
    line = lines.get_texref("line")
    with pytest.raises(cuda.LogicError, match="offset"):
        tail.bind_to_texref(line)
    offset = tail.bind_to_texref(line, allow_offset=True)
    assert 4 * offset == (int(memory) + 560) % 512 or offset > 0
    out = np.zeros(60, np.float32)
    lines.get_function("fetch")(cuda.Out(out), np.int32(offset), block=(60, 1, 1), texrefs=[line])
    np.testing.assert_array_equal(out, values[140:])


def test_channels_of_arrays(lines):
    values = np.arange(32, dtype=np.float32)
    quads = lines.get_texref("quads")
    on_device = gpuarray.to_gpu(values)
    assert on_device.bind_to_texref_ext(quads, channels=4) == 0
    assert quads.get_format() == (cuda.array_format.FLOAT, 4)
    out = np.zeros(8, np.float32)
    lines.get_function("sums")(cuda.Out(out), block=(8, 1, 1), texrefs=[quads])
    np.testing.assert_array_equal(out, values.reshape(8, 4) @ [1, 10, 100, 1000])


def test_what_cannot_be_bound(lines):
    line = lines.get_texref("line")
    with pytest.raises(TypeError, match="float64"):
        gpuarray.to_gpu(np.zeros(4)).bind_to_texref_ext(line)
    with pytest.raises(TypeError, match="complex64"):
        gpuarray.to_gpu(np.zeros(4, np.complex64)).bind_to_texref_ext(line, allow_double_hack=True)
    with pytest.raises(ValueError, match="channels is 2"):
        gpuarray.to_gpu(np.zeros(4)).bind_to_texref_ext(line, 2, allow_double_hack=True)


def test_references_with_prepared_calls_and_functions(lines):
    line = lines.get_texref("line")
    values = random("float32", 8)
    memory = cuda.to_device(values)
    line.set_address(memory, values.nbytes)
    function = lines.get_function("fetch")
    function.param_set_texref(line)
    out = cuda.mem_alloc(32)
    function.prepare("Pi", texrefs=[line]).prepared_call((1, 1), (8, 1, 1), out, 0)
    np.testing.assert_array_equal(cuda.from_device(out, 8, np.float32), values)
    with pytest.raises(TypeError, match="TextureReference"):
        function(out, np.int32(0), block=(8, 1, 1), texrefs=["line"])


# -- what a reference says about itself ---------------------------------------------------------


def check_settings(texref):
    texref.set_format(cuda.array_format.UNSIGNED_INT16, 2)
    assert texref.get_format() == (cuda.array_format.UNSIGNED_INT16, 2)
    for dim, mode in enumerate([cuda.address_mode.WRAP, cuda.address_mode.MIRROR, cuda.address_mode.BORDER]):
        texref.set_address_mode(dim, mode)
        assert texref.get_address_mode(dim) == mode
    texref.set_filter_mode(cuda.filter_mode.LINEAR)
    assert texref.get_filter_mode() == cuda.filter_mode.LINEAR
    flags = cuda.TRSF_READ_AS_INTEGER | cuda.TRSF_NORMALIZED_COORDINATES
    texref.set_flags(flags)
    assert texref.get_flags() == flags


def test_settings_of_references(lines):
    check_settings(cuda.TextureReference())
    module = SourceModule(LINES)
    check_settings(module.get_texref("line"))
    # Settings stay with the module.
    assert module.get_texref("line").get_format() == (cuda.array_format.UNSIGNED_INT16, 2)


def test_pitched_memory_in_a_reference():
    module = SourceModule("""
        texture<float, 2> t;
        __global__ void f(float *o) { o[threadIdx.y * 6 + threadIdx.x] = tex2D(t, threadIdx.x, threadIdx.y); }
    """)
    values = random("float32", (4, 6))
    memory, pitch = cuda.mem_alloc_pitch(24, 4, 4)
    copy = cuda.Memcpy2D()
    copy.set_src_host(values)
    copy.set_dst_device(memory)
    copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = 24, pitch, 24, 4
    copy(aligned=True)
    descr = cuda.ArrayDescriptor()
    descr.width, descr.height, descr.format, descr.num_channels = 6, 4, cuda.array_format.FLOAT, 1
    t = module.get_texref("t")
    t.set_address_2d(memory, descr, pitch)
    assert t.get_address() == int(memory)
    np.testing.assert_array_equal(run(module, "f", np.float32, (4, 6), [t]), values)


def test_references_keep_their_arrays(lines):
    module = SourceModule("texture<float, 2> t; __global__ void f(float *o) { *o = tex2D(t, 0, 0); }")
    ary = cuda.matrix_to_array(np.full((2, 2), 7, np.float32), "C")
    handle, alive = ary.handle, weakref.ref(ary) if hasattr(ary, "__weakref__") else None
    t = module.get_texref("t")
    cuda.bind_array_to_texref(ary, t)
    del ary
    gc.collect()
    assert t.get_array().handle == handle and (alive is None or alive() is None)
    assert run(module, "f", np.float32, (1,), [t])[0] == 7


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(4, 6), (2, 3, 5)])
def test_orders_of_arrays(order, shape):
    values = np.asarray(random("float32", shape), order=order)
    for ary in (cuda.np_to_array(values, order), cuda.gpuarray_to_array(gpuarray.to_gpu(values), order)):
        told = ary.get_descriptor_3d()
        assert (told.width, told.height) == (shape[::-1] if order == "C" else shape)[:2]
        depth = (shape[0] if order == "C" else shape[-1]) if len(shape) == 3 else 0
        assert (told.depth, told.flags, told.num_channels) == (depth, 0, 1)
        back = np.zeros(shape if order == "C" else shape[::-1], np.float32)
        copy = cuda.Memcpy3D()
        copy.set_src_array(ary)
        copy.set_dst_host(back)
        copy.dst_pitch = copy.width_in_bytes = 4 * told.width
        copy.dst_height = copy.height = told.height
        copy.depth = max(told.depth, 1)
        copy()
        np.testing.assert_array_equal(back, values if order == "C" else values.T)
    with pytest.raises((ValueError, cuda.LogicError), match="order"):
        cuda.np_to_array(values, "K")


def test_the_transposition_of_the_talks(capsys):
    example = Path(__file__).resolve().parents[2] / "examples" / "transpose_texture.py"
    main = runpy.run_path(str(example))["main"]
    assert main() == 0
    assert "equal to NumPy's" in capsys.readouterr().out
