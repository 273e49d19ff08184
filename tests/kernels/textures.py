"""Textures and surfaces: kernels, and an oracle of the documented addressing and filtering.

The oracle follows the programming guide's appendix on texture fetching with NumPy and shares no
code with the virtual GPU. Texels are given as numbers (normalised formats already divided) in an
array with the axes (layer or z, y, x, channel).
"""

from __future__ import annotations

import pathlib

import numpy as np

WRAP, CLAMP, MIRROR, BORDER = range(4)

SOURCE = """
#define FETCH(NAME, TYPE, N, CALL) \\
extern "C" __global__ void NAME(cudaTextureObject_t t, const float *c, TYPE *o, int n) { \\
    int i = blockIdx.x * blockDim.x + threadIdx.x; \\
    if (i >= n) return; \\
    c += N * i; \\
    o[i] = CALL; \\
}
#define ALL(TYPE) \\
FETCH(tex1_##TYPE, TYPE, 1, tex1D<TYPE>(t, c[0])) \\
FETCH(tex2_##TYPE, TYPE, 2, tex2D<TYPE>(t, c[0], c[1])) \\
FETCH(tex3_##TYPE, TYPE, 3, tex3D<TYPE>(t, c[0], c[1], c[2]))
ALL(float) ALL(float2) ALL(float4)
FETCH(fetch1_float, float, 1, tex1Dfetch<float>(t, (int)c[0]))
FETCH(fetch1_int2, int2, 1, tex1Dfetch<int2>(t, (int)c[0]))
#define INTEGERS(TYPE) FETCH(tex2_##TYPE, TYPE, 2, tex2D<TYPE>(t, c[0], c[1]))
INTEGERS(uchar1) INTEGERS(uchar2) INTEGERS(uchar4) INTEGERS(char1) INTEGERS(char2) INTEGERS(char4)
INTEGERS(ushort1) INTEGERS(ushort2) INTEGERS(ushort4) INTEGERS(short1) INTEGERS(short2) INTEGERS(short4)
INTEGERS(uint1) INTEGERS(uint2) INTEGERS(uint4) INTEGERS(int1) INTEGERS(int2) INTEGERS(int4)
FETCH(layered1, float, 2, tex1DLayered<float>(t, c[0], (int)c[1]))
FETCH(layered2, float, 3, tex2DLayered<float>(t, c[0], c[1], (int)c[2]))
FETCH(cube, float, 3, texCubemap<float>(t, c[0], c[1], c[2]))
FETCH(cubes, float, 4, texCubemapLayered<float>(t, c[0], c[1], c[2], (int)c[3]))
FETCH(lod2, float, 3, tex2DLod<float>(t, c[0], c[1], c[2]))
FETCH(grad2, float, 6, tex2DGrad<float>(t, c[0], c[1], make_float2(c[2], c[3]), make_float2(c[4], c[5])))
FETCH(gather_r, float4, 2, tex2Dgather<float4>(t, c[0], c[1], 0))
FETCH(gather_a, float4, 2, tex2Dgather<float4>(t, c[0], c[1], 3))

// Only every third lane, each third of them with another texture.
extern "C" __global__ void divergent(const cudaTextureObject_t *ts, const float *c, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i % 3 == 0) o[i] = tex2D<float>(ts[(i / 3) % 3], c[2 * i], c[2 * i + 1]);
    else o[i] = -1;
}

// What a format lacks, and whether a texel is there.
extern "C" __global__ void raw4(cudaTextureObject_t t, unsigned *o) {
    unsigned r, g, b, a;
    asm volatile("tex.2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %5}];"
                 : "=r"(r), "=r"(g), "=r"(b), "=r"(a) : "l"(t), "f"(0.5f));
    o[0] = r; o[1] = g; o[2] = b; o[3] = a;
    asm volatile("txq.width.b32 %0, [%1];" : "=r"(o[4]) : "l"(t));
    asm volatile("txq.height.b32 %0, [%1];" : "=r"(o[5]) : "l"(t));
}

#define SURFACE(TYPE) \\
extern "C" __global__ void surf_##TYPE(cudaSurfaceObject_t s, TYPE *o, int w, int h) { \\
    int x = threadIdx.x, y = threadIdx.y; \\
    TYPE v = surf2Dread<TYPE>(s, x * (int)sizeof(TYPE), y); \\
    o[y * w + x] = v; \\
    surf2Dwrite<TYPE>(v, s, (w - 1 - x) * (int)sizeof(TYPE), h + y); \\
}
SURFACE(uchar1) SURFACE(uchar4) SURFACE(short2) SURFACE(float) SURFACE(float2) SURFACE(float4) SURFACE(int4)

extern "C" __global__ void surf_bounds(cudaSurfaceObject_t s, float *o) {
    int i = threadIdx.x;
    o[i] = surf2Dread<float>(s, (i - 4) * 4, i / 2 - 3, cudaBoundaryModeZero);
    o[32 + i] = surf2Dread<float>(s, (i - 4) * 4, i / 2 - 3, cudaBoundaryModeClamp);
    __syncthreads();
    surf2Dwrite<float>(100 + i, s, (i - 4) * 4, 2, cudaBoundaryModeZero);
}

extern "C" __global__ void surf_shapes(cudaSurfaceObject_t one, cudaSurfaceObject_t three, cudaSurfaceObject_t layers) {
    int i = threadIdx.x;
    surf1Dwrite<int>(i * i, one, i * 4);
    surf3Dwrite<int>(i, three, (i % 4) * 4, i / 4 % 4, i / 16);
    surf2DLayeredwrite<int>(-i, layers, (i % 4) * 4, i / 4 % 4, i / 16);
}

extern "C" __global__ void surf_reduce(cudaSurfaceObject_t s) {
    int i = threadIdx.x;
    asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;" :: "l"(s), "r"(0), "r"(0), "r"(i) : "memory");
    asm volatile("sured.b.max.2d.s32.trap [%0, {%1, %2}], %3;" :: "l"(s), "r"(4), "r"(0), "r"(-5 + i % 3) : "memory");
    asm volatile("sured.b.min.2d.u32.trap [%0, {%1, %2}], %3;" :: "l"(s), "r"(8), "r"(0), "r"(7 + i) : "memory");
    asm volatile("sured.b.or.2d.b32.trap [%0, {%1, %2}], %3;" :: "l"(s), "r"(12), "r"(0), "r"(1 << i) : "memory");
}

extern "C" __global__ void surf_outside(cudaSurfaceObject_t s) { surf2Dwrite<float>(1, s, 1 << 20, 0); }
"""

#: Coordinates whose meaning CUDA leaves open; the virtual GPU gives them one.
ODD = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e10, -1e10], np.float32)


def coordinates(n, size, normalized, rng):
    """`n` positions around an axis of `size` texels: random ones, texel centres, edges, ties of the weights."""
    centre = np.arange(-size, 2 * size) + 0.5
    ties = 0.5 + rng.integers(0, size, 16) + (2 * rng.integers(0, 256, 16) + 1) / 512
    some = np.concatenate([centre, centre - 0.5, ties, [-0.0, 1e-6, -1e-6, size - 1e-4]])
    free = rng.uniform(-1.5 * size, 2.5 * size, max(n - some.size, 0))
    positions = np.concatenate([some, free])
    rng.shuffle(positions)
    positions = positions[:n]
    return (positions / size if normalized else positions).astype(np.float32)


def _position(x, size, mode, normalized):
    """Positions in texels as float64, near the texture."""
    x = x.astype(np.float64)
    finite = np.isfinite(x)
    if normalized and mode in (WRAP, MIRROR):
        period = 1.0 if mode == WRAP else 2.0
        turned = np.where(finite, x, 0.0)
        turned = turned - period * np.floor(turned / period)
        return turned * size
    u = x * size if normalized else x
    return np.clip(np.where(np.isnan(u), 0.0, u), -4.0, size + 4.0)


def _texel(i, size, mode, normalized):
    """Texel numbers for numbers around the texture; -1 is the border."""
    if mode == BORDER:
        return np.where((i >= 0) & (i < size), i, -1)
    if normalized and mode == WRAP:
        return i % size
    if normalized and mode == MIRROR:
        j = i % (2 * size)
        return np.where(j < size, j, 2 * size - 1 - j)
    return np.clip(i, 0, size - 1)


def axis_nearest(x, size, mode, normalized):
    """The texel that each position lies in."""
    return _texel(np.floor(_position(x, size, mode, normalized)).astype(np.int64), size, mode, normalized)


def axis_linear(x, size, mode, normalized):
    """Lower and upper texel of each position, and the weight of the upper one."""
    fixed = np.floor((_position(x, size, mode, normalized) - 0.5) * 256 + 0.5).astype(np.int64)
    i = fixed >> 8
    return _texel(i, size, mode, normalized), _texel(i + 1, size, mode, normalized), (fixed & 255) / 256


def _pick(texels, z, y, x, border):
    """Texels by number, or the border colour where a number is negative."""
    outside = (x < 0) | (y < 0) | (z < 0)
    found = texels[np.maximum(z, 0), np.maximum(y, 0), np.maximum(x, 0)]
    return np.where(outside[:, None], np.asarray(border, np.float64)[: texels.shape[3]], found)


def sample(texels, coords, modes, linear, normalized, layer=None, border=(0, 0, 0, 0)):
    """What a texture gives for `coords`, of shape (n, dimensions): float32 of shape (n, channels)."""
    return weighted_sum(texels, coords, modes, linear, normalized, layer, border).astype(np.float32)


def filter_integers(texels, coords, modes):
    """Filtered integers of 8 or 16 bits, read as numbers: they are widened to 16 bits, and so is their mean, halves up."""
    info = np.iinfo(texels.dtype)
    wide = np.maximum(texels.astype(np.int64), -info.max)
    if info.bits == 8:
        wide = wide * 257 if info.min == 0 else wide * 258 + np.trunc(wide / 64).astype(np.int64)
    unit = 65535 if info.min == 0 else 32767
    return (np.floor(weighted_sum(wide, coords, modes, True, False) + 0.5) / unit).astype(np.float32)


def weighted_sum(texels, coords, modes, linear, normalized, layer=None, border=(0, 0, 0, 0)):
    """The mean of texels as float64."""
    n, dims = coords.shape
    sizes = texels.shape[2], texels.shape[1], texels.shape[0]
    zero = np.zeros(n, np.int64)
    axes = []
    for axis in range(3):
        if axis == 1 and dims == 1 and linear and modes[1] == BORDER:
            # A line is filtered half into the border beside it.
            axes.append([(zero - 1, np.full(n, 0.5)), (zero, np.full(n, 0.5))])
            continue
        if axis >= dims:
            axes.append([(zero if layer is None or axis < 2 else layer, np.ones(n))])
            continue
        given = coords[:, axis], sizes[axis], modes[axis], normalized
        if linear:
            low, high, weight = axis_linear(*given)
            axes.append([(low, 1 - weight), (high, weight)])
        else:
            axes.append([(axis_nearest(*given), np.ones(n))])
    total = np.zeros((n, texels.shape[3]))
    for z, wz in axes[2]:
        for y, wy in axes[1]:
            for x, wx in axes[0]:
                weight = (wx * wy * wz)[:, None]
                total += np.where(weight == 0, 0, weight * _pick(texels, z, y, x, border))
    return total


def gather(texels, coords, modes, normalized, component):
    """The four texels of `tex2Dgather`."""
    x0, x1, _ = axis_linear(coords[:, 0], texels.shape[2], modes[0], normalized)
    y0, y1, _ = axis_linear(coords[:, 1], texels.shape[1], modes[1], normalized)
    z = np.zeros(len(coords), np.int64)
    corners = [(x0, y1), (x1, y1), (x1, y0), (x0, y0)]
    return np.stack([_pick(texels, z, y, x, (0,) * 4)[:, component] for x, y in corners], 1).astype(np.float32)


def cube_face(directions):
    """Face and place on it of each direction: the table of the programming guide."""
    x, y, z = directions.astype(np.float64).T
    ax, ay, az = abs(x), abs(y), abs(z)
    is_z = (az >= ax) & (az >= ay)
    is_y = ~is_z & (ay >= ax)
    face = np.where(is_z, np.where(z >= 0, 4, 5), np.where(is_y, np.where(y >= 0, 2, 3), np.where(x >= 0, 0, 1)))
    m = np.where(is_z, az, np.where(is_y, ay, ax))
    s = np.choose(face, [-z, z, x, x, x, -x])
    t = np.choose(face, [-y, -y, z, -z, -y, -y])
    return face, np.stack([(s / m + 1) / 2, (t / m + 1) / 2], 1)


def srgb_to_linear(v):
    """Linear intensities of sRGB bytes as float32: the table that a real device was asked for."""
    answers = pathlib.Path(__file__).parent.parent / "fidelity/answers/h200.txt"
    (line,) = (x for x in answers.read_text().splitlines() if x.startswith("q28|sRGB uint8x4, red of all|"))
    table = np.array([int(word, 16) for word in line.split("|")[2].split()], np.uint32).view(np.float32)
    return table[np.asarray(v, np.uint8)]
