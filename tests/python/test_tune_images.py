"""Textures and surfaces as arguments of tuned kernels, and results for sources that differ by literals."""

import os

import numpy as np
import pytest
from depth import ALL

import rtcg.numpy as xp
from rtcg import driver, tune


@pytest.fixture(autouse=True)
def _results(tmp_path, monkeypatch):
    """Every test has a folder of results of its own."""
    monkeypatch.setenv("RTCG_TUNING_DIR", str(tmp_path / "results"))


SHIFT = """
__global__ void shift(float *out, cudaTextureObject_t image, cudaSurfaceObject_t counts, int width, int height)
{
  const int x = blockIdx.x * bx + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  out[y * width + x] = tex2D<float>(image, x + 1.0f, y + 0.5f) + wrong;
  int2 count;
  surf2Dread(&count, counts, x * 8, y);
  surf2Dwrite(make_int2(count.x + 1, count.y + x), counts, x * 8, y);
}
"""


def arguments(width=40, height=3):
    pixels = np.arange(width * height, dtype=np.float32).reshape(height, width)
    texture = driver.texture_object(driver.np_to_array(pixels, "C"), filter_mode=driver.filter_mode.LINEAR)
    descr = driver.ArrayDescriptor3D()
    descr.width, descr.height, descr.num_channels = width, height, 2
    descr.format, descr.flags = driver.array_format.SIGNED_INT32, driver.array3d_flags.SURFACE_LDST
    array = driver.Array(descr)
    copy = driver.Memcpy2D()
    counts = np.stack([np.full((height, width), 5), np.zeros((height, width), int)], axis=2).astype(np.int32)
    copy.set_src_host(counts)
    copy.set_dst_array(array)
    copy.src_pitch = copy.width_in_bytes = width * 8
    copy.height = height
    copy(aligned=True)
    return pixels, xp.zeros((height, width), np.float32), texture, driver.SurfaceObject(array), counts


def contents(surface, like):
    copy, found = driver.Memcpy2D(), np.empty_like(like)
    copy.set_src_array(surface.array)
    copy.set_dst_host(found)
    copy.dst_pitch = copy.width_in_bytes = like.shape[1] * 8
    copy.height = like.shape[0]
    copy(aligned=True)
    return found


def shift_kernel():
    return tune.Kernel(
        SHIFT, "shift", tune.Space(bx=[32, 64], wrong=[0, 1]), block=("bx",), grid=("ceil_div(width, bx)", "height"),
        problem=("image", "counts"),
    )  # fmt: skip


@pytest.mark.parametrize("isolate", [False, True] if ALL else [os.name == "posix"])
def test_textures_and_surfaces_are_arguments(isolate, context):
    pixels, out, texture, surface, counts = arguments()
    kernel = shift_kernel()
    given = []

    def expected(out, image, count, width, height):
        given.append((image, count))
        right = np.pad(image, ((0, 0), (0, 1)), "edge")
        count = count.copy()
        count[..., 0] += 1
        count[..., 1] += np.arange(width, dtype=np.int32)
        return (right[:, :-1] + right[:, 1:]) / 2, count

    report = kernel.tune(out, texture, surface, 40, 3, verify=expected, isolate=isolate, budget="4 evaluations",
                         strategy="exhaustive", progress=False)  # fmt: skip
    kinds = {tuple(t["config"].values()): t["failure"] and t["failure"][0] for t in report.trials}
    assert kinds == {(32, 0): None, (64, 0): None, (32, 1): "correctness", (64, 1): "correctness"}
    np.testing.assert_array_equal(given[0][0], pixels)
    np.testing.assert_array_equal(given[0][1], counts)
    # The caller's stay as they were, until a call.
    np.testing.assert_array_equal(contents(surface, counts), counts)
    assert not out.get().any()
    assert report.best["wrong"] == 0 and f"bx={report.best['bx']}" in kernel.explain(out, texture, surface, 40, 3)
    kernel(out, texture, surface, 40, 3)
    np.testing.assert_array_equal(out.get()[:, 0], pixels[:, 0] + 0.5)
    assert (contents(surface, counts)[..., 0] == 6).all()


def test_a_texture_that_cannot_be_copied_is_named(context):
    _, out, _, surface, _ = arguments()
    memory = xp.zeros(40, np.float32)
    descr = driver.ArrayDescriptor()
    descr.format, descr.num_channels = driver.array_format.FLOAT, 1
    linear = driver.texture_object(memory.gpudata, descr=descr, nbytes=160)
    with pytest.raises(TypeError, match="argument 'image' is a texture of mip levels or of device memory"):
        shift_kernel().tune(out, linear, surface, 40, 3, progress=False)


TEXT = "__global__ void fill(float *out) { int i = blockIdx.x * bx + threadIdx.x; if (i < SIZE) out[i] = SIZE; }"


def fill_kernel(size, **options):
    return tune.Kernel(
        lambda bx: f"enum {{ SIZE = {size}, bx = {bx} }}; {TEXT}", "fill", tune.Space(bx=[32, 64, 128]), block="bx",
        grid="ceil_div(size, bx)", problem={"size": size}, **options,
    )  # fmt: skip


def test_results_of_one_size_are_found_for_another(context):
    def tuned(size, **options):
        kernel = fill_kernel(size, **options)
        out = xp.zeros(size, np.float32)
        return kernel.tune(out, budget="3 evaluations", strategy="exhaustive", progress=False, isolate=False)

    report = tuned(1000, identity=TEXT)
    kernel, out = fill_kernel(1100, identity=TEXT), xp.zeros(1100, np.float32)
    shown = ", ".join(f"{name}={value!r}" for name, value in report.best.items())
    assert shown in kernel.explain(out) and "size" in kernel.explain(out), kernel.explain(out)
    kernel(out)
    assert (out.get() == 1100).all()
    # Without a text of their own, sources with other literals are other kernels.
    assert "nothing is stored" in fill_kernel(1100).explain(out)
    with pytest.raises(TypeError, match="identity is 3; expected str"):
        fill_kernel(10, identity=3)
