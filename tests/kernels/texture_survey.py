"""What a device does where the documentation of textures leaves room; run it on a real GPU.

    python -m tests.kernels.texture_survey

Prints for each question the device's answers beside those of `tests.kernels.textures`, which are
what the virtual GPU gives. `=` means that all agree.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import pycuda.autoinit
import rtcg.driver as cuda
from pycuda.compiler import SourceModule
from tests.kernels import textures as oracle
from tests.python.test_textures import CLAMP, SIZES, array_of, positions, run

SOURCE = (
    oracle.SOURCE
    + """
extern "C" __global__ void whole2(cudaTextureObject_t t, const int *c, float *o, int n) {
    int i = threadIdx.x;
    float g, b, a;
    if (i < n) asm volatile("tex.2d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
        : "=f"(o[i]), "=f"(g), "=f"(b), "=f"(a) : "l"(t), "r"(c[2 * i]), "r"(c[2 * i + 1]));
}
"""
)

MODES = {"wrap": oracle.WRAP, "clamp": CLAMP, "mirror": oracle.MIRROR, "border": oracle.BORDER}


def report(question, got, want, inputs=None):
    """One line for what agrees, and a few examples of what does not."""
    got, want = np.asarray(got).reshape(len(want), -1), np.asarray(want).reshape(len(want), -1)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    bad = np.flatnonzero(~same.all(axis=1))
    if bad.size == 0:
        print(f"= {question} ({len(want)})")
        return
    with np.errstate(invalid="ignore"):
        worst = np.nanmax(abs(got[bad].astype(float) - want[bad].astype(float)))
    print(f"! {question}: {bad.size} of {len(want)} differ, at most by {worst:.3g}")
    for i in bad[:6]:
        given = "" if inputs is None else f" at {np.asarray(inputs)[i].tolist()}"
        print(f"    {got[i].tolist()}, oracle {want[i].tolist()}{given}")


def filtering(module):
    for dims in (1, 2, 3):
        shape = [*SIZES[:dims], 1, 1][:3][::-1]
        rng = np.random.default_rng(dims)
        texels = rng.uniform(-1, 1, (*shape, 1)).astype(np.float32)
        array = array_of(texels, dims)
        for name, mode in MODES.items():
            for linear in (False, True):
                for normalized in (False, True):
                    flags = 2 if normalized else 0
                    texture = cuda.texture_object(array, address_mode=mode, filter_mode=int(linear), flags=flags)
                    coords = positions(dims, 3000, normalized, rng)
                    got = run(module, f"tex{dims}_float", texture, coords)
                    want = oracle.sample(texels, coords, [mode] * 3, linear, normalized)
                    what = f"{dims}D {name} {'linear' if linear else 'point'} {'normalized' if normalized else 'texels'}"
                    report(what, got, want, coords)


def weights(module):
    texels = np.array([0, 1], np.float32).reshape(1, 1, 2, 1)
    texture = cuda.texture_object(array_of(texels, 1), filter_mode=1)
    coords = (0.5 + np.arange(0, 4097) / 4096).astype(np.float32)[:, None]
    got = run(module, "tex1_float", texture, coords)
    report("weights of linear filtering", got, oracle.sample(texels, coords, [CLAMP] * 3, True, False), coords)


def odd_coordinates(module):
    texels = np.arange(1, 92, dtype=np.float32).reshape(1, 7, 13, 1)
    array = array_of(texels, 2)
    coords = np.column_stack([oracle.ODD, np.full(oracle.ODD.size, 0.5, np.float32)])
    for name, mode in MODES.items():
        for linear in (False, True):
            texture = cuda.texture_object(array, address_mode=mode, filter_mode=int(linear), flags=2)
            got = run(module, "tex2_float", texture, coords)
            want = oracle.sample(texels, coords, [mode] * 3, linear, True)
            report(f"NaN, infinite and huge coordinates, {name} {'linear' if linear else 'point'}", got, want, coords)


def weight_zero(module):
    texels = np.array([1, np.inf, 3, np.nan, 5], np.float32).reshape(1, 1, 5, 1)
    texture = cuda.texture_object(array_of(texels, 1), filter_mode=1)
    coords = np.array([[0.5], [2.5], [4.5], [1.0]], np.float32)
    got = run(module, "tex1_float", texture, coords)
    report("texels of weight 0 that are infinite or NaN", got, np.array([1, 3, 5, np.inf]), coords)


def formats(module):
    for name, divisor in (("uint8", 255), ("int8", 127), ("uint16", 65535), ("int16", 32767)):
        info = np.iinfo(name)
        values = np.arange(info.min, info.max + 1).astype(name)
        texels = values.reshape(1, -1, 256, 1)
        y, x = np.mgrid[: texels.shape[1], :256]
        coords = np.stack([x.ravel() + 0.5, y.ravel() + 0.5], 1)
        got = run(module, "tex2_float", cuda.texture_object(array_of(texels, 2)), coords)
        want = np.maximum(values / np.float64(divisor), -1).astype(np.float32)
        report(f"{name} as a number", got, want, values)
        coords = positions(2, 3000, False, np.random.default_rng(1), (256, texels.shape[1]))
        got = run(module, "tex2_float", cuda.texture_object(array_of(texels, 2), filter_mode=1), coords)
        report(f"{name} filtered", got, oracle.filter_integers(texels, coords, [CLAMP] * 3), coords)
    halves = np.random.default_rng(2).normal(size=(1, 9, 9, 1)).astype(np.float16)
    coords = positions(2, 3000, False, np.random.default_rng(1), (9, 9))
    got = run(module, "tex2_float", cuda.texture_object(array_of(halves, 2), filter_mode=1), coords)
    want = oracle.weighted_sum(halves, coords, [CLAMP] * 3, True, False).astype(np.float16)
    report("float16 filtered", got, want.astype(np.float32), coords)
    texels = np.arange(256, dtype=np.uint8).reshape(1, 8, 8, 4)
    y, x = np.mgrid[:8, :8]
    coords = np.stack([x.ravel(), y.ravel()], 1) + 0.5
    got = run(module, "tex2_float4", cuda.texture_object(array_of(texels, 2), flags=cuda.TRSF_SRGB), coords, channels=4)
    report("sRGB", got[:, :3], oracle.srgb_to_linear(texels).reshape(-1, 4)[:, :3], texels.reshape(-1, 4))


def missing_channels(module):
    for dtype, flags in ((np.uint8, 1), (np.uint8, 0), (np.float32, 0)):
        texture = cuda.texture_object(array_of(np.ones((1, 2, 2, 1), dtype), 2), flags=flags)
        out = np.zeros(6, np.uint32)
        module.get_function("raw4")(texture, cuda.Out(out), block=(1, 1, 1))
        report(f"channels that {np.dtype(dtype)} lacks (flags {flags})", out[1:4], np.zeros(3, np.uint32))


def whole_numbers(module):
    texels = np.arange(1, 13, dtype=np.float32).reshape(1, 3, 4, 1)
    coords = np.array([[0, 0], [3, 2], [4, 0], [0, 3], [-1, 0], [0, -1], [1 << 30, 0]], np.int32)
    for name, mode in (("clamp", CLAMP), ("border", oracle.BORDER)):
        texture = cuda.texture_object(array_of(texels, 2), address_mode=mode)
        out = np.zeros(7, np.float32)
        module.get_function("whole2")(texture, cuda.In(coords), cuda.Out(out), np.int32(7), block=(32, 1, 1))
        report(f"texels of an array by number, {name}", out, np.array([1, 12, 0, 0, 0, 0, 0]), coords)


def cubes(module):
    texels = np.broadcast_to(np.arange(6, dtype=np.float32)[:, None, None, None], (6, 4, 4, 1))
    array = array_of(texels, 2, cuda.array3d_flags.CUBEMAP)
    axis = np.array([-1, 0, 1], np.float32)
    ties = np.stack([v.ravel() for v in np.meshgrid(axis, axis, axis)], 1)
    ties = ties[abs(ties).sum(axis=1) > 1]
    got = run(module, "cube", cuda.texture_object(array, flags=2), ties)
    report("faces of directions with equal components", got, oracle.cube_face(ties)[0], ties)
    zero = run(module, "cube", cuda.texture_object(array, flags=2), np.zeros((1, 3)))
    report("the face of the zero vector", zero, np.array([4]))


def layers(module):
    texels = np.arange(4, dtype=np.float32).reshape(4, 1, 1, 1)
    array = array_of(texels, 2, cuda.array3d_flags.ARRAY3D_LAYERED)
    coords = np.array([[0, 0, i] for i in (-2, -1, 0, 3, 4, 1000)], np.float32)
    got = run(module, "layered2", cuda.texture_object(array), coords)
    report("layers outside", got, np.array([3, 3, 0, 3, 3, 3]), coords[:, 2])


def details(module):
    descr = cuda.ArrayDescriptor3D()
    descr.width = descr.height = 16
    descr.format, descr.num_channels = cuda.array_format.FLOAT, 1
    mipmap = cuda.MipmappedArray(descr, 5)
    for k in range(5):
        values = np.full(256 >> 2 * k, k, np.float32)
        cuda.memcpy_htoa(mipmap.get_level(k), 0, values) if k > 2 else fill_level(mipmap.get_level(k), values)
    detail = np.linspace(-0.5, 5, 2817).astype(np.float32)
    coords = np.column_stack([np.full((2817, 2), 0.5, np.float32), detail])
    clipped = np.clip(detail.astype(np.float64), 0, 4)
    got = run(module, "lod2", cuda.texture_object(mipmap, flags=2), coords)
    report("the nearest level of detail", got, np.floor(clipped + 0.5).clip(0, 4), detail)
    got = run(module, "lod2", cuda.texture_object(mipmap, flags=2, mipmap_filter_mode=1), coords)
    report("weights between levels", got, np.floor(clipped * 256 + 0.5) / 256, detail)


def fill_level(array, values):
    from tests.python.test_textures import fill

    side = int(values.size**0.5)
    fill(array, values.reshape(1, side, side, 1))


FAULTS = {
    "a handle that is no object": "module.get_function('raw4')(np.uint64(0x123450), memory, block=(1, 1, 1))",
    "a destroyed texture": "h = np.uint64(texture.handle); del texture; "
    "module.get_function('raw4')(h, memory, block=(1, 1, 1))",
    "a store outside a surface": "module.get_function('surf_outside')(surface, block=(1, 1, 1))",
}


def fault(name):
    """Runs one of `FAULTS` in this process."""
    module = SourceModule(SOURCE, no_extern_c=True)
    array = array_of(np.ones((1, 2, 2, 1), np.float32), 2, cuda.array3d_flags.SURFACE_LDST)
    names = {"module": module, "np": np, "memory": cuda.mem_alloc(64), "surface": cuda.SurfaceObject(array)}
    names["texture"] = cuda.texture_object(array)
    try:
        exec(FAULTS[name], names)
        cuda.Context.synchronize()
        print("no error")
    except cuda.Error as error:
        print(f"{type(error).__name__}: {str(error).splitlines()[0]}")


def faults():
    for name in FAULTS:
        command = [sys.executable, "-m", "tests.kernels.texture_survey", name]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        print(f"? {name}: {said.strip()}")


def main():
    if len(sys.argv) > 1:
        return fault(sys.argv[1])
    print(pycuda.autoinit.device.name())
    module = SourceModule(SOURCE, no_extern_c=True)
    for question in (
        weights, filtering, odd_coordinates, weight_zero, formats, missing_channels, whole_numbers, cubes, layers,
        details,
    ):  # fmt: skip
        try:
            question(module)
        except Exception as error:
            print(f"! {question.__name__}: {type(error).__name__}: {error}")
    return faults()


if __name__ == "__main__":
    main()
