"""Textures, surfaces and arrays: objects, references, every format, against an oracle in NumPy.

The oracle follows the formulas that CUDA documents. A GPU, and with it the virtual GPU, rounds positions and weights
in its own way, so results may differ by a few 256ths. The bits themselves are held by the answers of a GPU that
`tests/fidelity` records.
"""

import numpy as np
import pytest

import rtcg.driver as cuda
import rtcg.numpy as xp
from pycuda.compiler import SourceModule
from tests.kernels import textures as oracle
from tests.kernels.textures import BORDER, CLAMP, MIRROR, WRAP

pytestmark = pytest.mark.usefixtures("context")

SIZES = (13, 7, 5)


@pytest.fixture(scope="module")
def module(context):
    return SourceModule(oracle.SOURCE, no_extern_c=True)


def check(got, want):
    """Compares a result with the oracle's, as exactly as CUDA defines it.

    The weight is now and then another 256th, and a position on the edge of a texel falls on the other side.
    """
    scale = np.nanmax(abs(want[np.isfinite(want)]), initial=1)
    near = np.isclose(got, want, rtol=0, atol=scale * 4 / 256, equal_nan=True)
    assert near.mean() >= 0.95, f"{(~near).sum()} of {near.size} are far from what is right"


def descriptor(shape, dtype, channels, flags=0):
    descr = cuda.ArrayDescriptor3D()
    descr.width, descr.height, descr.depth = shape
    descr.format, descr.num_channels, descr.flags = cuda.dtype_to_array_format(dtype), channels, flags
    return descr


def fill(array, texels):
    """Copies texels with the axes (z, y, x, channel) to an array."""
    texels = np.ascontiguousarray(texels)
    copy = cuda.Memcpy3D()
    copy.set_src_host(texels)
    copy.set_dst_array(array)
    copy.src_pitch = copy.width_in_bytes = texels.shape[2] * texels.shape[3] * texels.itemsize
    copy.src_height = copy.height = texels.shape[1]
    copy.depth = texels.shape[0]
    copy()
    return array


def contents(array, shape, dtype):
    """The texels of an array."""
    texels = np.empty(shape, dtype)
    copy = cuda.Memcpy3D()
    copy.set_src_array(array)
    copy.set_dst_host(texels)
    copy.dst_pitch = copy.width_in_bytes = shape[2] * shape[3] * texels.itemsize
    copy.dst_height = copy.height = shape[1]
    copy.depth = shape[0]
    copy()
    return texels


def array_of(texels, dims, flags=0):
    depth, height, width, channels = texels.shape
    shape = (width, height if dims > 1 else 0, depth if dims > 2 or flags & 5 else 0)
    return fill(cuda.Array(descriptor(shape, texels.dtype, channels, flags)), texels)


def run(module, kernel, texture, coords, dtype=np.float32, channels=1):
    coords = np.ascontiguousarray(coords, np.float32)
    out = np.zeros((len(coords), channels), dtype)
    grid = (-(-len(coords) // 96), 1)
    module.get_function(kernel)(
        texture, cuda.In(coords), cuda.Out(out), np.int32(len(coords)), block=(96, 1, 1), grid=grid
    )
    return out


def positions(dims, n, normalized, rng, sizes=SIZES):
    return np.stack([oracle.coordinates(n, sizes[d], normalized, rng) for d in range(dims)], 1)


# -- filtering and addressing -----------------------------------------------------------------


@pytest.mark.parametrize("normalized", [False, True], ids=["texels", "normalized"])
@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_every_address_mode(module, dims, linear, normalized):
    rng = np.random.default_rng(dims)
    shape = [*SIZES[:dims], 1, 1][:3][::-1]
    texels = rng.uniform(-1, 1, (*shape, 1)).astype(np.float32)
    array = array_of(texels, dims)
    flags = cuda.TRSF_NORMALIZED_COORDINATES if normalized else 0
    for modes in ([CLAMP] * 3, [BORDER] * 3, [WRAP] * 3, [MIRROR] * 3, [WRAP, CLAMP, MIRROR], [MIRROR, BORDER, CLAMP]):
        texture = cuda.texture_object(array, address_mode=modes, filter_mode=int(linear), flags=flags)
        coords = positions(dims, 1000, normalized, rng)
        got = run(module, f"tex{dims}_float", texture, coords)
        check(got, oracle.sample(texels, coords, modes, linear, normalized))


@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
def test_coordinates_that_are_no_positions(module, linear):
    texels = np.arange(1, 92, dtype=np.float32).reshape(1, 7, 13, 1)
    array = array_of(texels, 2)
    x, y = np.meshgrid(oracle.ODD, np.append(oracle.ODD, np.float32(0.5)))
    coords = np.stack([x.ravel(), y.ravel()], 1)
    for mode in (CLAMP, BORDER, WRAP, MIRROR):
        flags = cuda.TRSF_NORMALIZED_COORDINATES
        texture = cuda.texture_object(array, address_mode=mode, filter_mode=int(linear), flags=flags)
        got = run(module, "tex2_float", texture, coords)
        assert ((got >= 0) & (got <= 91)).all()


def test_border_colour(module):
    texels = np.ones((1, 3, 4, 4), np.float32)
    colour = (0.25, -1.0, 7.0, 0.5)
    texture = cuda.texture_object(array_of(texels, 2), address_mode=BORDER, filter_mode=1, border_color=colour)
    coords = positions(2, 300, False, np.random.default_rng(3), (4, 3))
    got = run(module, "tex2_float4", texture, coords, channels=4)
    check(got, oracle.sample(texels, coords, [BORDER] * 3, True, False, border=colour))


# -- formats ----------------------------------------------------------------------------------

NAMES = {"uint8": "uchar", "int8": "char", "uint16": "ushort", "int16": "short", "uint32": "uint", "int32": "int"}
DIVISORS = {"uint8": 255, "int8": 127, "uint16": 65535, "int16": 32767}


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("name", NAMES)
def test_integers(module, name, channels):
    rng = np.random.default_rng(channels)
    info = np.iinfo(name)
    texels = rng.integers(info.min, info.max, (1, 5, 6, channels), name, endpoint=True)
    texture = cuda.texture_object(array_of(texels, 2), flags=cuda.TRSF_READ_AS_INTEGER)
    coords = positions(2, 200, False, rng, (6, 5))
    got = run(module, f"tex2_{NAMES[name]}{channels}", texture, coords, name, channels)
    x = oracle.axis_nearest(coords[:, 0], 6, CLAMP, False)
    y = oracle.axis_nearest(coords[:, 1], 5, CLAMP, False)
    np.testing.assert_array_equal(got, texels[0, y, x])


@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("name", [*DIVISORS, "float16", "float32"])
def test_numbers(module, name, channels, linear):
    rng = np.random.default_rng(channels + 10)
    if name.startswith("float"):
        texels = rng.normal(size=(1, 5, 6, channels)).astype(name)
        numbers = texels.astype(np.float64)
    else:
        info = np.iinfo(name)
        texels = rng.integers(info.min, info.max, (1, 5, 6, channels), name, endpoint=True)
        texels[0, 0, 0] = info.min
        numbers = np.maximum(texels.astype(np.float64) / DIVISORS[name], -1)
    texture = cuda.texture_object(array_of(texels, 2), filter_mode=int(linear))
    coords = positions(2, 300, False, rng, (6, 5))
    got = run(module, f"tex2_float{channels if channels > 1 else ''}", texture, coords, channels=channels)
    want = oracle.sample(numbers, coords, [CLAMP] * 3, linear, False)
    if linear and name in DIVISORS:
        want = oracle.filter_integers(texels, coords, [CLAMP] * 3)
    if linear and name == "float16":
        want = oracle.weighted_sum(numbers, coords, [CLAMP] * 3, True, False).astype(np.float16).astype(np.float32)
    check(got, want)


def test_srgb(module):
    texels = np.arange(256, dtype=np.uint8).reshape(1, 8, 8, 4)
    texture = cuda.texture_object(array_of(texels, 2), flags=cuda.TRSF_SRGB)
    y, x = np.mgrid[:8, :8]
    got = run(module, "tex2_float4", texture, np.stack([x.ravel(), y.ravel()], 1) + 0.5, channels=4)
    want = oracle.srgb_to_linear(texels).reshape(-1, 4)
    want[:, 3] = (texels.reshape(-1, 4)[:, 3] / np.float64(255)).astype(np.float32)
    np.testing.assert_allclose(got, want, rtol=0, atol=4e-3)


def test_channels_that_a_format_lacks(module):
    texels = np.full((1, 3, 4, 1), 42, np.uint8)
    texture = cuda.texture_object(array_of(texels, 2), flags=cuda.TRSF_READ_AS_INTEGER)
    out = np.zeros(6, np.uint32)
    module.get_function("raw4")(texture, cuda.Out(out), block=(1, 1, 1))
    assert list(out) == [42, 0, 0, 0, 4, 3]


# -- other resources --------------------------------------------------------------------------


def test_linear_memory(module):
    values = np.arange(100, dtype=np.float32)
    memory = cuda.to_device(values)
    descr = cuda.ArrayDescriptor()
    descr.format, descr.num_channels = cuda.array_format.FLOAT, 1
    texture = cuda.texture_object(memory, descr=descr)
    coords = np.array([[0], [99], [50], [100], [-1], [1e9]], np.float32)
    assert run(module, "fetch1_float", texture, coords).ravel().tolist() == [0, 99, 50, 0, 0, 0]
    descr.format, descr.num_channels = cuda.array_format.SIGNED_INT32, 2
    texture = cuda.texture_object(memory, descr=descr, nbytes=80)
    got = run(module, "fetch1_int2", texture, np.array([[3], [10]], np.float32), np.int32, 2)
    assert got.tolist() == [values[6:8].view(np.int32).tolist(), [0, 0]]


@pytest.mark.parametrize("mode", [CLAMP, WRAP], ids=["clamp", "wrap"])
def test_pitched_memory(module, mode):
    rng = np.random.default_rng(5)
    texels = rng.random((1, 7, 13, 1), np.float32)
    memory, pitch = cuda.mem_alloc_pitch(13 * 4, 7, 4)
    copy = cuda.Memcpy2D()
    copy.set_src_host(texels)
    copy.set_dst_device(memory)
    copy.src_pitch = copy.width_in_bytes = 52
    copy.dst_pitch, copy.height = pitch, 7
    copy(aligned=True)
    descr = cuda.ArrayDescriptor()
    descr.width, descr.height, descr.format, descr.num_channels = 13, 7, cuda.array_format.FLOAT, 1
    flags = cuda.TRSF_NORMALIZED_COORDINATES
    texture = cuda.texture_object(memory, descr=descr, pitch=pitch, filter_mode=1, address_mode=mode, flags=flags)
    coords = positions(2, 500, True, rng)
    check(run(module, "tex2_float", texture, coords), oracle.sample(texels, coords, [mode] * 3, True, True))


def test_layers(module):
    rng = np.random.default_rng(6)
    layers = np.repeat(np.arange(-1, 5), 50)
    for dims in (1, 2):
        texels = rng.random((4, 7 if dims == 2 else 1, 13, 1), np.float32)
        array = array_of(texels, dims, cuda.array3d_flags.ARRAY3D_LAYERED)
        texture = cuda.texture_object(array, filter_mode=1)
        coords = positions(dims, 300, False, rng)
        # A negative layer is a very large unsigned one.
        inside = np.where(layers < 0, 3, np.minimum(layers, 3))
        want = oracle.sample(texels, coords, [CLAMP] * 3, True, False, layer=inside)
        check(run(module, f"layered{dims}", texture, np.column_stack([coords, layers])), want)


@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
def test_cube_maps(module, linear):
    rng = np.random.default_rng(7)
    texels = rng.random((12, 8, 8, 1), np.float32)
    directions = rng.normal(size=(600, 3)).astype(np.float32)
    face, places = oracle.cube_face(directions)
    flags = cuda.TRSF_NORMALIZED_COORDINATES
    cubes = np.arange(600) % 2
    for count, kernel in ((6, "cube"), (12, "cubes")):
        kind = cuda.array3d_flags.CUBEMAP | (cuda.array3d_flags.ARRAY3D_LAYERED if count > 6 else 0)
        texture = cuda.texture_object(array_of(texels[:count], 2, kind), filter_mode=int(linear), flags=flags)
        layer = face + 6 * cubes if count > 6 else face
        coords = np.column_stack([directions, cubes]) if count > 6 else directions
        want = oracle.sample(texels[:count], places, [CLAMP] * 3, linear, True, layer=layer)
        got = run(module, kernel, texture, coords)
        if linear:
            # Places on a face are quotients, which a device may round another way.
            np.testing.assert_allclose(got, want, atol=1 / 256)
        else:
            check(got, want)


def test_a_seamless_cube_has_no_edges(module):
    """A function of the direction alone is sampled without a step at an edge."""
    n = 16
    place = (np.arange(n) * 2 + 1) / n - 1
    s, t = np.meshgrid(place, place)
    one = np.ones_like(s)
    faces = [(one, -t, -s), (-one, -t, s), (s, one, t), (s, -one, -t), (s, -t, one), (-s, -t, -one)]
    texels = np.stack([x / np.sqrt(x * x + y * y + z * z) for x, y, z in faces])[..., None].astype(np.float32)
    array = array_of(texels, 2, cuda.array3d_flags.CUBEMAP)
    angle = np.linspace(0, 2 * np.pi, 721)
    ring = np.stack([np.cos(angle), 0.03 + 0 * angle, np.sin(angle)], 1)
    flags = cuda.TRSF_NORMALIZED_COORDINATES | cuda.TRSF_SEAMLESS_CUBEMAP
    got = run(module, "cube", cuda.texture_object(array, filter_mode=1, flags=flags), ring).ravel()
    assert abs(got - np.cos(angle)).max() < 0.01
    assert abs(np.diff(got)).max() < 0.012


# -- mipmaps ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pyramid(context):
    """A mipmapped array and the texels of its levels."""
    rng = np.random.default_rng(8)
    mipmap = cuda.MipmappedArray(descriptor((16, 8, 0), np.float32, 1), 5)
    levels = [rng.random((1, max(8 >> k, 1), 16 >> k, 1), np.float32) for k in range(5)]
    for number, texels in enumerate(levels):
        fill(mipmap.get_level(number), texels)
    return mipmap, levels


def of_levels(levels, coords, detail, between):
    """The oracle for mip levels."""
    detail = np.clip(detail.astype(np.float64), 0, len(levels) - 1)
    each = np.stack([oracle.sample(t, coords, [CLAMP] * 3, True, True)[:, 0] for t in levels]).astype(np.float64)
    rows = np.arange(len(coords))
    if not between:
        return each[np.floor(detail + 0.5).astype(int).clip(0, len(levels) - 1), rows]
    fixed = np.floor(detail * 256).astype(int)
    low, weight = fixed >> 8, (fixed & 255) / 256
    return each[low, rows] * (1 - weight) + each[np.minimum(low + 1, len(levels) - 1), rows] * weight


@pytest.mark.parametrize("between", [False, True], ids=["point", "linear"])
def test_levels_of_detail(module, pyramid, between):
    mipmap, levels = pyramid
    rng = np.random.default_rng(9)
    coords = rng.random((400, 2), np.float32)
    detail = rng.uniform(-1, 6, 400).astype(np.float32)
    flags = cuda.TRSF_NORMALIZED_COORDINATES
    texture = cuda.texture_object(mipmap, filter_mode=1, mipmap_filter_mode=int(between), flags=flags)
    got = run(module, "lod2", texture, np.column_stack([coords, detail])).ravel()
    check(got, of_levels(levels, coords, detail, between))
    clamped = cuda.texture_object(
        mipmap, filter_mode=1, flags=flags, mipmap_level_bias=1.0, mipmap_level_clamp=(2.0, 3.0)
    )
    got = run(module, "lod2", clamped, np.column_stack([coords, detail])).ravel()
    want = of_levels(levels, coords, np.clip(detail + 1, 2, 3), False)
    check(got, want)
    base = run(module, "tex2_float", cuda.texture_object(mipmap, filter_mode=1, flags=flags), coords)
    check(base, oracle.sample(levels[0], coords, [CLAMP] * 3, True, True))


def test_gradients_choose_the_level(module, pyramid):
    mipmap, levels = pyramid
    coords = np.random.default_rng(10).random((200, 2), np.float32)
    # Steps of 4 and 2 texels: levels 2 and 1.
    for step, level in ((4, 2), (2, 1), (1, 0)):
        gradient = np.tile([step / 16, 0, 0, step / 16], (200, 1))
        texture = cuda.texture_object(mipmap, filter_mode=1, flags=cuda.TRSF_NORMALIZED_COORDINATES)
        got = run(module, "grad2", texture, np.column_stack([coords, gradient]))
        np.testing.assert_allclose(got, oracle.sample(levels[level], coords, [CLAMP] * 3, True, True), atol=0.03)


# -- lanes ------------------------------------------------------------------------------------


def test_gather(module):
    rng = np.random.default_rng(11)
    texels = rng.random((1, 7, 13, 4), np.float32)
    array = array_of(texels, 2, cuda.array3d_flags.TEXTURE_GATHER)
    texture = cuda.texture_object(array, address_mode=CLAMP)
    coords = positions(2, 300, False, rng)
    for kernel, component in (("gather_r", 0), ("gather_a", 3)):
        got = run(module, kernel, texture, coords, channels=4)
        check(got, oracle.gather(texels, coords, [CLAMP] * 3, False, component))


def test_lanes_with_different_textures(module):
    rng = np.random.default_rng(12)
    several = [rng.random((1, 7, 13, 1), np.float32) for _ in range(3)]
    textures = [cuda.texture_object(array_of(t, 2), filter_mode=1) for t in several]
    handles = np.array([t.handle for t in textures], np.uint64)
    coords = positions(2, 500, False, rng)
    out = np.zeros(500, np.float32)
    module.get_function("divergent")(
        cuda.In(handles), cuda.In(coords), cuda.Out(out), np.int32(500), block=(96, 1, 1), grid=(6, 1)
    )
    want = np.full(500, -1, np.float32)
    for i in range(0, 500, 3):
        want[i] = oracle.sample(several[i // 3 % 3], coords[i : i + 1], [CLAMP] * 3, True, False)[0, 0]
    check(out, want)


# -- surfaces ---------------------------------------------------------------------------------

LDST = 2  # array3d_flags.SURFACE_LDST


@pytest.mark.parametrize(
    ("name", "dtype", "channels"),
    [
        ("uchar1", "uint8", 1), ("uchar4", "uint8", 4), ("short2", "int16", 2), ("float", "float32", 1),
        ("float2", "float32", 2), ("float4", "float32", 4), ("int4", "int32", 4),
    ],
)  # fmt: skip
def test_surfaces_are_read_and_written(module, name, dtype, channels):
    rng = np.random.default_rng(13)
    texels = rng.integers(0, 100, (1, 6, 8, channels)).astype(dtype)
    array = array_of(texels, 2, LDST)
    out = np.zeros((3, 8, channels), dtype)
    surface = cuda.SurfaceObject(array)
    kernel = module.get_function(f"surf_{name}")
    kernel(surface, cuda.Out(out), np.int32(8), np.int32(3), block=(8, 3, 1))
    np.testing.assert_array_equal(out, texels[0, :3])
    after = contents(array, texels.shape, dtype)
    np.testing.assert_array_equal(after[0, 3:], texels[0, :3, ::-1])


def test_surface_bounds(module):
    texels = np.arange(1, 41, dtype=np.float32).reshape(1, 5, 8, 1)
    array = array_of(texels, 2, LDST)
    surface = cuda.SurfaceObject(array)
    out = np.zeros((2, 32), np.float32)
    module.get_function("surf_bounds")(surface, cuda.Out(out), block=(32, 1, 1))
    x, y = np.arange(32) - 4, np.arange(32) // 2 - 3
    inside = (x >= 0) & (x < 8) & (y >= 0) & (y < 5)
    clamped = texels[0, y.clip(0, 4), x.clip(0, 7), 0]
    np.testing.assert_array_equal(out, [np.where(inside, clamped, 0), clamped])
    assert contents(array, texels.shape, np.float32)[0, 2, :, 0].tolist() == [104 + i for i in range(8)]


def test_surfaces_of_other_shapes(module):
    one = cuda.Array(descriptor((64, 0, 0), np.int32, 1, LDST))
    three = cuda.Array(descriptor((4, 4, 4), np.int32, 1, LDST))
    layers = cuda.Array(descriptor((4, 4, 4), np.int32, 1, LDST | cuda.array3d_flags.ARRAY3D_LAYERED))
    surfaces = [cuda.SurfaceObject(a) for a in (one, three, layers)]
    module.get_function("surf_shapes")(*surfaces, block=(64, 1, 1))
    i = np.arange(64)
    assert (contents(one, (1, 1, 64, 1), np.int32).ravel() == i * i).all()
    assert (contents(three, (4, 4, 4, 1), np.int32).ravel() == i).all()
    assert (contents(layers, (4, 4, 4, 1), np.int32).ravel() == -i).all()


def test_surface_reductions(module):
    array = array_of(np.array([0, -100, 1000, 0], np.int32).reshape(1, 1, 4, 1), 2, LDST)
    module.get_function("surf_reduce")(cuda.SurfaceObject(array), block=(32, 1, 1))
    assert contents(array, (1, 1, 4, 1), np.int32).ravel().tolist() == [496, -3, 7, -1]


# -- references, as PyCUDA programs use them --------------------------------------------------

REFERENCES = """
texture<float, 2> tex;
texture<unsigned char, cudaTextureType2D, cudaReadModeNormalizedFloat> image;
texture<float, 1> line;
texture<float4, 2> colours;
texture<float, cudaTextureType2DLayered> stack;
texture<float, 3> volume;
surface<void, cudaSurfaceType2DLayered> target;

__global__ void copy(float *o, int w)
{
    int x = threadIdx.x, y = threadIdx.y;
    o[y * w + x] = tex2D(tex, x, y);
}

__global__ void between(float *o)
{
    o[threadIdx.x] = tex2D(image, threadIdx.x * 0.25f, 1.0f);
}

__global__ void fetch(float *o)
{
    o[threadIdx.x] = tex1Dfetch(line, threadIdx.x);
}

__global__ void third(float *o)
{
    o[threadIdx.x] = tex2D(colours, threadIdx.x + 0.5f, 0.5f).z;
}

__global__ void deep(float *o)
{
    o[threadIdx.x] = tex3D(volume, 1.5f, 0.5f, threadIdx.x + 0.5f) + tex2DLayered(stack, 1.5f, 0.5f, threadIdx.x);
}

__global__ void mark(void)
{
    surf2DLayeredwrite(2.5f * threadIdx.x, target, threadIdx.x * 4, 1, 0);
}
"""


@pytest.fixture(scope="module")
def references(context):
    return SourceModule(REFERENCES)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_in_a_texture(references, order):
    matrix = np.random.default_rng(14).random((5, 7)).astype(np.float32)
    tex = references.get_texref("tex")
    cuda.matrix_to_texref(matrix, tex, order)
    width, height = (7, 5) if order == "C" else (5, 7)
    out = np.zeros((height, width), np.float32)
    references.get_function("copy")(cuda.Out(out), np.int32(width), block=(width, height, 1), texrefs=[tex])
    np.testing.assert_array_equal(out, matrix if order == "C" else matrix.T)
    assert tex.get_address_mode(1) == cuda.address_mode.CLAMP
    assert tex.get_filter_mode() == cuda.filter_mode.POINT
    assert tex.get_format() == (cuda.array_format.FLOAT, 1)
    assert tex.get_flags() == 0


def test_settings_take_effect_after_binding(references):
    image = references.get_texref("image")
    texels = np.array([[0, 255], [0, 255]], np.uint8)
    image.set_array(cuda.matrix_to_array(texels, "C"))
    kernel = references.get_function("between")
    out = np.zeros(9, np.float32)
    kernel(cuda.Out(out), block=(9, 1, 1), texrefs=[image])
    assert out.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1]
    image.set_filter_mode(cuda.filter_mode.LINEAR)
    kernel(cuda.Out(out), block=(9, 1, 1), texrefs=[image])
    np.testing.assert_allclose(out, [0, 0, 0, 0.25, 0.5, 0.75, 1, 1, 1], atol=1e-5)


def test_linear_memory_in_a_reference(references):
    line = references.get_texref("line")
    values = np.arange(40, dtype=np.float32)
    memory = cuda.to_device(values)
    assert line.set_address(memory, values.nbytes) == 0
    out = np.zeros(48, np.float32)
    references.get_function("fetch")(cuda.Out(out), block=(48, 1, 1), texrefs=[line])
    assert out.tolist() == [*values, *[0] * 8]
    assert line.get_address() == int(memory)
    with pytest.raises(cuda.LogicError, match="offset"):
        line.set_address(int(memory) + 4, 100)
    assert line.set_address(int(memory) + 4, 100, allow_offset=True) == 4


def test_channels_layers_and_volumes(references):
    colours = references.get_texref("colours")
    picture = np.random.default_rng(15).random((3, 6, 4)).astype(np.float32)
    colours.set_array(cuda.make_multichannel_2d_array(picture, "C"))
    out = np.zeros(6, np.float32)
    references.get_function("third")(cuda.Out(out), block=(6, 1, 1), texrefs=[colours])
    np.testing.assert_array_equal(out, picture[0, :, 2])
    on_device = xp.asarray(picture + 1)
    colours.set_array(cuda.make_multichannel_2d_array(on_device, "C"))
    references.get_function("third")(cuda.Out(out), block=(6, 1, 1), texrefs=[colours])
    np.testing.assert_array_equal(out, picture[0, :, 2] + 1)
    with pytest.raises(ValueError, match="the array is not contiguous in order 'F'"):
        cuda.make_multichannel_2d_array(on_device, "F")
    cubes = np.random.default_rng(16).random((4, 3, 5)).astype(np.float32)
    references.get_texref("volume").set_array(cuda.np_to_array(cubes, "C"))
    layered = array_of(cubes[..., None], 2, cuda.array3d_flags.ARRAY3D_LAYERED)
    references.get_texref("stack").set_array(layered)
    out = np.zeros(4, np.float32)
    references.get_function("deep")(cuda.Out(out), block=(4, 1, 1))
    np.testing.assert_array_equal(out, 2 * cubes[:, 0, 1])


def test_a_surface_reference(references):
    array = cuda.np_to_array(np.zeros((3, 6), np.float32), "C", allowSurfaceBind=True)
    references.get_surfref("target").set_array(array)
    references.get_function("mark")(block=(6, 1, 1))
    after = contents(array, (1, 3, 6, 1), np.float32)[0, :, :, 0]
    assert after.tolist() == [[0] * 6, [0, 2.5, 5, 7.5, 10, 12.5], [0] * 6]


def test_names_that_are_no_references(references):
    with pytest.raises(cuda.LogicError, match="missing"):
        references.get_texref("missing")


# -- arrays -----------------------------------------------------------------------------------


def test_arrays_of_one_dimension_are_copied():
    descr = cuda.ArrayDescriptor()
    descr.width, descr.format, descr.num_channels = 16, cuda.array_format.FLOAT, 1
    a, b = cuda.Array(descr), cuda.Array(descr)
    values = np.arange(16, dtype=np.float32)
    cuda.memcpy_htoa(a, 0, values)
    cuda.memcpy_atoa(b, 0, a, 16, 48)
    back = np.zeros(12, np.float32)
    cuda.memcpy_atoh(back, b, 0)
    assert back.tolist() == list(range(4, 16))
    memory = cuda.mem_alloc(64)
    cuda.memcpy_atod(memory, a, 0, 64)
    cuda.memcpy_dtoa(b, 32, memory, 32)
    cuda.py_memcpy_atoh(back, b, 16)
    assert back.tolist() == [8, 9, 10, 11, *range(8)]
    with pytest.raises(cuda.LogicError):
        cuda.memcpy_htoa(a, 60, values)
    assert a.get_descriptor().width == 16
    a.free()
    with pytest.raises(cuda.LogicError, match="freed"):
        a.free()


def test_doubles_travel_as_integers():
    matrix = np.random.default_rng(17).random((3, 4))
    ary = cuda.matrix_to_array(matrix, "C", allow_double_hack=True)
    told = ary.get_descriptor_3d()
    assert (told.width, told.height, told.num_channels) == (4, 3, 2)
    assert told.format == cuda.array_format.SIGNED_INT32
    assert (contents(ary, (1, 3, 4, 2), np.int32).view(np.float64)[0, :, :, 0] == matrix).all()
    with pytest.raises(TypeError, match="float64"):
        cuda.matrix_to_array(matrix, "C")
