"""Hashes of what textures give: 2^20 coordinates for each format, address mode, filter and kind of coordinates.

`python gpu_textures.py [--coordinates N] [--only REGEX] [--against FILE] [--hashes FILE] [--dump CASE FIRST COUNT]`,
from the project's root. Kernels make coordinates from their number alone. The number modulo 8 is the style
(`coordinate`): uniform over twice the texture (0 to 2), near centres and edges of texels, near the limits of weights,
near the edges of the texture, unusual numbers, any bits. Texels come from `random.Random` with the name of the format
as the seed; `near` are floats of a few exponents, `any` have any bits, and of `weights` one channel is 1, which the
place tells.

A line is `gpu_textures|case|hash of the first 2^15 coordinates, hash of all, first results`. A chunk is 2048
coordinates; `--hashes` writes a hash of each. `--against` reads such a file of another device, says which chunks
differ, and writes the results of the first that does to `gpu_textures.zip` in the folder `$OUT` (four words for each
coordinate, for one case of each kind). `--dump` writes coordinates and results of the named case there: eight words, x,
y, z, layer or level, and the four results.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import random
import re
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass

from common import (
    Results,
    alloc,
    byref,
    c_uint64,
    c_void_p,
    compile_cuda,
    cu,
    err,
    function,
    get,
    h8,
    init,
    launch,
    load,
    ok,
    say,
    u32,
)

Q = "gpu_textures"
CHUNK, PER_THREAD = 2048, 64

PRELUDE = r"""
typedef unsigned long long u64;
__device__ __forceinline__ unsigned mix(unsigned x) {
  x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ x >> 16; }
__constant__ unsigned unusual[16] = {0x7fffffffu, 0xffc12345u, 0x7f800000u, 0xff800000u, 0x80000000u, 0u, 1u, 0x80000001u,
  0x807fffffu, 0x4f000000u, 0xcf000000u, 0x5f000000u, 0x7f7fffffu, 0xff7fffffu, 0x4b800001u, 0x3f7fffffu};
// One coordinate along an axis of n texels.
__device__ __noinline__ float coordinate(unsigned r, unsigned style, unsigned n, bool normalized) {
  unsigned q = mix(r ^ 0x9e3779b9u); float size = (float)n, u;
  if (style == 6) return __uint_as_float(unusual[q & 15]);
  if (style == 7) return __uint_as_float(normalized && q & 1 ? (r & 0x83ffffffu) | 0x3c000000u : r);
  if (style < 3) u = __fmul_rn(__fadd_rn(__fmul_rn((float)(r >> 8), 1.1920929e-7f), -0.5f), size);
  else if (style == 3) u = __fmul_rn((float)((int)(q % (4 * n)) - (int)n), 0.5f);
  else if (style == 4) u = __fmul_rn((float)((int)(q % (n << 10)) - (int)(n << 8)), 0.001953125f);
  else u = q & 256 ? size : 0.0f;
  if (normalized) u = __fdiv_rn(u, size);
  // A few units in the last place more or less.
  return style < 3 ? u : __uint_as_float(__float_as_uint(u) + (int)(r % 5) - (u == 0.0f ? 0 : 2)); }
// One component of a direction.
__device__ __noinline__ float component(unsigned r, unsigned style) {
  unsigned q = mix(r ^ 0x9e3779b9u);
  if (style == 6) return __uint_as_float(q & 0x300 ? 0x3f000000u + (q & 0x80800000u) : unusual[q & 15]);
  if (style == 7) return __uint_as_float(r);
  if (style == 3) return __fmul_rn((float)((int)(q % 17) - 8), 0.125f);
  if (style == 4) return __fmul_rn((float)((int)(q % 49) - 24), 0.083333336f);
  return __fadd_rn(__fmul_rn((float)(r >> 8), 1.1920929e-7f), -1.0f); }
__device__ __forceinline__ float level_of(unsigned r, unsigned style) {
  unsigned q = mix(r ^ 0x85ebca6bu);
  if (style == 6) return __uint_as_float(unusual[q & 15]);
  if (style & 1) return __fadd_rn(__fmul_rn((float)(r >> 8), 2.9802322e-7f), -0.5f);
  return __uint_as_float(__float_as_uint(__fmul_rn((float)((int)(q % 2048) - 256), 0.001953125f)) + (r & 3)); }
"""  # noqa: E501

KERNEL = r"""
extern "C" __global__ void NAME(u64 *out, unsigned *raw, u64 t, unsigned first, unsigned per_thread, unsigned nx,
    unsigned ny, unsigned nz, unsigned layers, unsigned normalized) {
  unsigned id = blockIdx.x * blockDim.x + threadIdx.x; u64 sum = 0;
  #pragma unroll 1
  for (unsigned i = 0; i < per_thread; i++) {
    unsigned n = first + id * per_thread + i, style = n & 7, s = mix(n + 1), layer = 0, r0, r1, r2, r3;
    unsigned rx = mix(s + 1), ry = mix(s + 2), rz = mix(s + 3), rw = mix(s + 4);
    float x = 0.0f, y = 0.0f, z = 0.0f, w = 0.0f;
    COORDINATES
    asm volatile("INSTRUCTION" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "l"(t), INPUTS);
    sum = sum * 0x100000001b3ull + (mix(r0 + mix(r1 + mix(r2 + mix(r3 + 1)))));
    if (raw) { unsigned *p = raw + 8 * (u64)(n - first);
      p[0] = __float_as_uint(x); p[1] = __float_as_uint(y); p[2] = __float_as_uint(z); p[3] = LAST;
      p[4] = r0; p[5] = r1; p[6] = r2; p[7] = r3; } }
  out[id] = sum; }
"""

X, Y, Z = (f"{v} = coordinate(r{v}, AXIS{v}, n{v}, normalized);" for v in "xyz")
#: Only one axis is unusual, so that others are not hidden.
AXES = {v: f"(style >= 5 && n / 8 % 3 != {i} ? n / 8 % 3 : style)" for i, v in enumerate("xyz")}
LAYER = "layer = rw & 0x700 ? rw % layers : rw;"
DIRECTION = "x = component(rx, style); y = component(ry, style); z = component(rz, n & 64 ? style : 0);"
INTEGERS = (
    "x = __int_as_float((int)(rx % (nx + 8)) - 4); y = __int_as_float((int)(ry % (ny + 8)) - 4); "
    "z = __int_as_float((int)(rz % (nz + 8)) - 4); if (style == 7) x = __uint_as_float(rx);"
)
LEVEL = "w = level_of(rw, style);"
GRADIENT = "z = __fmul_rn((float)(rz >> 8), 1.4901161e-8f); w = __fmul_rn((float)(rw >> 8), 1.4901161e-8f);"
#: Geometry: what coordinates are made of, instruction (the type is %T), inputs, last word of a dump.
GEOMETRIES = {
    "1d": (X, "tex.1d.v4.%T.f32 R, [%4, {%5}];", "x", "layer"),
    "2d": (X + Y, "tex.2d.v4.%T.f32 R, [%4, {%5, %6}];", "x y", "layer"),
    "3d": (X + Y + Z, "tex.3d.v4.%T.f32 R, [%4, {%5, %6, %7, %7}];", "x y z", "layer"),
    "a1d": (X + LAYER, "tex.a1d.v4.%T.f32 R, [%4, {%5, %6}];", "layer x", "layer"),
    "a2d": (X + Y + LAYER, "tex.a2d.v4.%T.f32 R, [%4, {%5, %6, %7, %7}];", "layer x y", "layer"),
    "cube": (DIRECTION, "tex.cube.v4.%T.f32 R, [%4, {%5, %6, %7, %7}];", "x y z", "layer"),
    "acube": (DIRECTION + LAYER, "tex.acube.v4.%T.f32 R, [%4, {%5, %6, %7, %8}];", "layer x y z", "layer"),
    "level": (X + Y + LEVEL, "tex.level.2d.v4.%T.f32 R, [%4, {%5, %6}], %7;", "x y w", "__float_as_uint(w)"),
    "grad": (
        X + Y + GRADIENT,
        "tex.grad.2d.v4.%T.f32 R, [%4, {%5, %6}], {%7, %8}, {%8, %7};",
        "x y z w",
        "__float_as_uint(w)",
    ),
    "gather": (X + Y, "tld4.g.2d.v4.%T.f32 R, [%4, {%5, %6}];", "x y", "layer"),
    "i1d": (INTEGERS, "tex.1d.v4.%T.s32 R, [%4, {%5}];", "x", "layer"),
    "i2d": (INTEGERS, "tex.2d.v4.%T.s32 R, [%4, {%5, %6}];", "x y", "layer"),
    "i3d": (INTEGERS, "tex.3d.v4.%T.s32 R, [%4, {%5, %6, %7, %7}];", "x y z", "layer"),
}
TYPES = ("f32", "u32", "s32")


def kernel(geometry: str, ty: str) -> str:
    """CUDA C of the kernel `k_GEOMETRY_TYPE`."""
    coordinates, instruction, inputs, last = GEOMETRIES[geometry]
    for v, axis in AXES.items():
        coordinates = coordinates.replace(f"AXIS{v}", axis)
    instruction = instruction.replace("%T", ty).replace(" R,", " {%0, %1, %2, %3},")
    places = {"NAME": f"k_{geometry}_{ty}", "COORDINATES": coordinates, "INSTRUCTION": instruction, "LAST": last}

    def word(v):
        return '"r"(layer)' if v == "layer" else f'"r"(__float_as_uint({v}))'

    places["INPUTS"] = ", ".join(word(v) for v in inputs.split())
    return re.sub(r"\b(NAME|COORDINATES|INSTRUCTION|INPUTS|LAST)\b", lambda m: places[m[0]], KERNEL)


@dataclass(frozen=True)
class Format:
    """How texels are stored and read."""

    name: str
    code: int
    size: int
    flags: int = 0
    ty: str = "f32"

    def texels(self, width: int, height: int, depth: int, channels: int) -> bytes:
        """Texels, always the same."""
        if self.name.endswith("weights"):
            places = ((x, y, z) for z in range(depth) for y in range(height) for x in range(width))
            rows = ([float(c == (x % 2 + 2 * (y % 2) + z) % 4) for c in range(channels)] for x, y, z in places)
            return b"".join(struct.pack(f"<{channels}f", *row) for row in rows)
        data = bytearray(random.Random(self.name).randbytes(width * height * depth * channels * self.size))
        if self.name.endswith("near"):
            for i in range(0, len(data), self.size):
                high = int.from_bytes(data[i + self.size - 2 : i + self.size], "little")
                if self.size == 2:  # Exponents 12 to 17 of 15.
                    high = high & 0x83FF | (12 + (high >> 10 & 31) % 6) << 10
                else:
                    high = high & 0x807F | (124 + (high >> 7 & 255) % 6) << 7
                data[i + self.size - 2 : i + self.size] = high.to_bytes(2, "little")
        return bytes(data)

    @property
    def filterable(self) -> bool:
        """Whether linear filtering is defined."""
        return self.ty == "f32"


FORMATS = [
    Format("u8", 1, 1), Format("s8", 8, 1), Format("u16", 2, 2), Format("s16", 9, 2), Format("srgb", 1, 1, 0x10),
    Format("f16 near", 0x10, 2), Format("f16 any", 0x10, 2), Format("f32 near", 0x20, 4), Format("f32 any", 0x20, 4),
    Format("u8 integers", 1, 1, 1, "u32"), Format("s8 integers", 8, 1, 1, "s32"),
    Format("u16 integers", 2, 2, 1, "u32"),
    Format("s16 integers", 9, 2, 1, "s32"), Format("u32", 3, 4, 0, "u32"), Format("s32", 10, 4, 0, "s32"),
    Format("f32 weights", 0x20, 4),
]  # fmt: skip
#: Extents and layers (faces counted) of an array, and its flags.
SHAPES = {
    "1d": ((37, 0, 0), 1, 0), "2d": ((37, 18, 0), 1, 0x08), "3d": ((13, 11, 5), 1, 0), "a1d": ((37, 0, 5), 5, 1),
    "a2d": ((19, 18, 5), 5, 1),
    "cube": ((12, 12, 6), 1, 4), "acube": ((12, 12, 18), 3, 5), "level": ((32, 16, 0), 1, 0),
}  # fmt: skip
SHAPE_OF = {"grad": "level", "gather": "2d", "i1d": "1d", "i2d": "2d", "i3d": "3d"}
MODES = {"wrap": (0, 0, 0), "clamp": (1, 1, 1), "mirror": (2, 2, 2), "border": (3, 3, 3), "mixed": (0, 3, 2)}
BORDERS = ((0.3, -0.6, 0.9, 0.1), (2.0, float("nan"), -1e-3, 70000.0))


@dataclass(frozen=True)
class Case:
    """One texture object and how it is read."""

    geometry: str
    format: Format
    channels: int
    mode: str
    linear: int
    normalized: int
    mip_linear: int = 0
    seamless: int = 0
    border: int = 0

    @property
    def name(self) -> str:
        """The key of the answer."""
        words = [self.geometry, f"{self.format.name} x{self.channels}", self.mode, ("point", "linear")[self.linear]]
        words.append(("texels", "normalised")[self.normalized])
        words += ["mip linear"] * self.mip_linear + ["seamless"] * self.seamless + ["second border"] * self.border
        return " ".join(words)


def cases() -> Iterator[Case]:
    """All cases."""
    for form in FORMATS:
        filters = (0, 1) if form.filterable else (0,)
        for linear in filters:
            for geometry in ("1d", "2d", "3d", "a1d", "a2d"):
                for mode in MODES:
                    for normalized in (1, 0) if mode in ("clamp", "border") else (1,):
                        yield Case(geometry, form, 4, mode, linear, normalized)
            for channels in (1, 2):
                for mode in ("clamp", "border"):
                    yield Case("2d", form, channels, mode, linear, 1)
                    yield Case("1d", form, channels, mode, linear, 0)
            yield Case("2d", form, 4, "border", linear, 1, border=1)
            for geometry in ("cube", "acube"):
                for seamless in (0, 1):
                    yield Case(geometry, form, 4, "clamp", linear, 1, seamless=seamless)
            for mip_linear in filters:
                for mode in MODES:
                    yield Case("level", form, 4, mode, linear, 1, mip_linear)
                yield Case("grad", form, 4, "clamp", linear, 1, mip_linear)
        for mode in MODES:
            yield Case("gather", form, 4, mode, 1 if form.filterable else 0, 1)
            yield Case("gather", form, 2, mode, 0, 0)
        for geometry in ("i1d", "i2d", "i3d"):
            yield Case(geometry, form, 4, "clamp", 0, 0)


class Arrays:
    """Arrays by shape, format and channels."""

    def __init__(self) -> None:
        self.made: dict[tuple[str, str, int], c_void_p] = {}

    def get(self, case: Case) -> c_void_p:
        """The array of a case."""
        shape = SHAPE_OF.get(case.geometry, case.geometry)
        key = (shape, case.format.name, case.channels)
        if key not in self.made:
            self.made[key] = self.mipmap(case) if shape == "level" else self.array(case, *SHAPES[shape])
        return self.made[key]

    @staticmethod
    def description(extents: tuple[int, int, int], case: Case, flags: int) -> ctypes.Array:
        """`CUDA_ARRAY3D_DESCRIPTOR`"""
        d = ctypes.create_string_buffer(40)
        struct.pack_into("<QQQIII", d, 0, *extents, case.format.code, case.channels, flags)
        return d

    def array(self, case: Case, extents: tuple[int, int, int], _: int, flags: int) -> c_void_p:
        """An array with its texels."""
        a = c_void_p()
        ok("cuArray3DCreate_v2", byref(a), self.description(extents, case, flags))
        self.fill(a, case, extents)
        return a

    def mipmap(self, case: Case) -> c_void_p:
        """A mipmapped array of four levels."""
        (width, height, _), _, flags = SHAPES["level"]
        m = c_void_p()
        ok("cuMipmappedArrayCreate", byref(m), self.description((width, height, 0), case, flags), 4)
        for level in range(4):
            a = c_void_p()
            ok("cuMipmappedArrayGetLevel", byref(a), m, level)
            self.fill(a, case, (width >> level, height >> level, 0))
        return m

    @staticmethod
    def fill(array: c_void_p, case: Case, extents: tuple[int, int, int]) -> None:
        """Copies the texels."""
        width, height, depth = extents[0], max(extents[1], 1), max(extents[2], 1)
        data = case.format.texels(width, height, depth, case.channels)
        source, row = ctypes.create_string_buffer(data, len(data)), width * case.channels * case.format.size
        c = ctypes.create_string_buffer(200)
        struct.pack_into("<QQQQI4xQQQQQQ", c, 0, 0, 0, 0, 0, 1, ctypes.addressof(source), 0, 0, 0, row, height)
        struct.pack_into("<QQQQI4xQQQQQQ", c, 88, 0, 0, 0, 0, 3, 0, 0, array.value, 0, 0, 0)
        struct.pack_into("<QQQ", c, 176, row, height, depth)
        ok("cuMemcpy3D_v2", c)


def texture(array: c_void_p, case: Case) -> int:
    """The texture object of a case."""
    mip = SHAPE_OF.get(case.geometry, case.geometry) == "level"
    resource, sampler = ctypes.create_string_buffer(144), ctypes.create_string_buffer(104)
    struct.pack_into("<II Q", resource, 0, 1 if mip else 0, 0, array.value)
    flags = case.format.flags | 2 * case.normalized | 0x20 * case.seamless
    levels = (0.0, 0.0, 3.0) if mip else (0.0, 0.0, 0.0)
    struct.pack_into("<3IIII I3f", sampler, 0, *MODES[case.mode], case.linear, flags, 0, case.mip_linear, *levels)
    struct.pack_into("<4f", sampler, 40, *BORDERS[case.border])
    t = c_uint64()
    r = cu("cuTexObjectCreate", byref(t), resource, sampler, None)
    if r:
        raise RuntimeError("cuTexObjectCreate " + err(r))
    return t.value


class Device:
    """Runs cases."""

    def __init__(self, coordinates: int):
        self.chunks, self.arrays, self.archive = coordinates // CHUNK, Arrays(), Results("gpu_textures.zip")
        self.out = alloc(8 * coordinates // PER_THREAD)
        source = PRELUDE + "".join(kernel(g, ty) for g in GEOMETRIES for ty in TYPES)
        self.module = load(compile_cuda(source))
        self.kernels = {(g, ty): function(self.module, f"k_{g}_{ty}") for g in GEOMETRIES for ty in TYPES}

    def run(self, case: Case, t: int, raw: int, first: int, per_thread: int, grid: int, block: int) -> None:
        """One launch."""
        (nx, ny, nz), layers, _ = SHAPES[SHAPE_OF.get(case.geometry, case.geometry)]
        sizes = (nx, max(ny, 1), max(nz, 1), layers, case.normalized)
        handle = self.kernels[case.geometry, case.format.ty]
        launch(handle, grid, block, (self.out, raw, t, first, per_thread, *sizes))

    def hashes(self, case: Case, t: int) -> list[str]:
        """A hash of each chunk."""
        threads = self.chunks * CHUNK // PER_THREAD
        block = min(threads, 256)
        self.run(case, t, 0, 0, PER_THREAD, threads // block, block)
        data, n = get(self.out, 8 * threads), 8 * CHUNK // PER_THREAD
        return [hashlib.sha1(data[n * i : n * (i + 1)]).hexdigest()[:6] for i in range(self.chunks)]

    def results(self, case: Case, t: int, first: int, count: int) -> bytes:
        """Coordinates and results."""
        raw = alloc(32 * count)
        self.run(case, t, raw, first, count // 32, 1, 32)
        data = get(raw, 32 * count)
        cu("cuMemFree_v2", raw)
        return data

    def write_results(self, case: Case, t: int, first: int, count: int, whole: bool) -> None:
        """Writes results, and coordinates with `whole`, to the archive."""
        data = self.results(case, t, first, count)
        if not whole:
            data = b"".join(data[i + 16 : i + 32] for i in range(0, len(data), 32))
        name = re.sub(r"\W+", "_", f"{case.name} {first}") + ".bin"
        if self.archive.write(name, data):
            say(Q, case.name + " results", f"coordinates {first}..{first + count - 1}, {name}")


def main() -> None:
    """See the head of this file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--coordinates", type=int, default=1 << 20)
    parser.add_argument("--only", default="")
    parser.add_argument("--against")
    parser.add_argument("--hashes")
    parser.add_argument("--dump", nargs=3, metavar=("CASE", "FIRST", "COUNT"))
    parser.add_argument(
        "--dumps", type=int, default=1, help="cases of a format and shape that --against writes at most"
    )
    parser.add_argument("--times", action="store_true")
    arguments = parser.parse_args()
    init()
    device, all_hashes = Device(arguments.coordinates), {}
    other = json.load(open(arguments.against)) if arguments.against else {}
    pattern, dumps = "^" + re.escape(arguments.dump[0]) + "$" if arguments.dump else arguments.only, {}
    for case in cases():
        if not re.search(pattern, case.name):
            continue
        start = time.monotonic()
        try:
            t = texture(device.arrays.get(case), case)
            if arguments.dump:
                device.write_results(case, t, int(arguments.dump[1]), int(arguments.dump[2]), True)
                continue
            hashes = device.hashes(case, t)
            first = [w for i, w in enumerate(u32(device.results(case, t, 0, 32))) if i % 8 >= 4][:8]
        except RuntimeError as e:
            say(Q, case.name, f"error {e}")
            continue
        joined = "".join(hashes)
        all_hashes[case.name] = joined
        first_hash, hash_of_all = (hashlib.sha1(x.encode()).hexdigest()[:12] for x in (joined[:96], joined))
        took = f" {time.monotonic() - start:.2f} s" if arguments.times else ""
        say(Q, case.name, f"{first_hash} {hash_of_all} {h8(first)}{took}")
        theirs = other.get(case.name, joined)
        theirs = [theirs[i : i + 6] for i in range(0, len(theirs), 6)]
        differing = [i for i, (x, y) in enumerate(zip(hashes, theirs, strict=False)) if x != y]
        if differing:
            compared = min(len(hashes), len(theirs))
            say(Q, case.name + " differs", f"{len(differing)} of {compared} chunks, the first {differing[0]}")
            kind = (case.geometry, case.format.name, case.linear, case.normalized)
            dumps[kind] = dumps.get(kind, 0) + 1
            if dumps[kind] <= arguments.dumps:
                device.write_results(case, t, differing[0] * CHUNK, CHUNK, False)
        cu("cuTexObjectDestroy", t)
    device.archive.close()
    if arguments.hashes:
        with open(arguments.hashes, "w") as file:
            json.dump(all_hashes, file)


if __name__ == "__main__":
    main()
