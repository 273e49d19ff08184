"""Computed tomography with parallel beams: the ramp filter by Fourier transforms, and backprojection.

python -m apps.tomography --check
python -m apps.tomography --size seed --bench
python -m apps.tomography --plot head.png
"""

import ctypes
import sys
from pathlib import Path

import numpy as np

import rtcg.numpy as xp
from apps import _harness as harness

from . import kernels, reference
from .tomography import HEAD, Scanner, ellipse_image, ellipse_sinogram, ramp_filter, texture_of

SIZES = {
    "small": {"pixels": 131, "views": 97, "detectors": 133},
    "seed": {"pixels": 512, "views": 512, "detectors": 512},
    "h200": {"pixels": 2048, "views": 2048, "detectors": 2048},
}

VARIANTS = [
    {"fetch": "slopes", "bx": 16, "by": 4, "items": 5, "stage": 16},
    {"fetch": "shared", "bx": 64, "by": 2, "items": 8, "stage": 8},
    {"fetch": "global", "items": 1, "stage": 64},
    {"fetch": "filtered", "bx": 16, "by": 16, "items": 2},
]


def _head(size):
    """Angles, sinogram on the device, and scanner of a size."""
    angles = np.arange(size["views"]) * (np.pi / size["views"])
    sinogram = ellipse_sinogram(HEAD, size["pixels"], angles, size["detectors"])
    return angles, sinogram, Scanner(angles, size["detectors"], (size["pixels"], size["pixels"]))


def check(size, checks):
    """Against direct convolution and interpolation in NumPy; a disc of known projections; linearity."""
    angles, sinogram, scanner = _head(size)
    pixels = size["pixels"]
    axis, center = ((pixels - 1) / 2,) * 2, (size["detectors"] - 1) / 2
    expected = reference.reconstruct(sinogram, angles, pixels, pixels, axis, center)
    for config in [{}, *VARIANTS]:
        # Weights of the texture units are exact to 1/512 of the difference of two bins.
        tolerance = 3e-3 if config.get("fetch") == "filtered" else 1e-5
        checks.close(f"head {config}", scanner.reconstruct(sinogram, **config).get(), expected, atol=tolerance)
    aside = Scanner(angles, size["detectors"], (77, 90), axis=(40, 70.5), center=60)
    expected = reference.reconstruct(sinogram, angles, 77, 90, (40, 70.5), 60)
    checks.close("axis aside of the middle", aside.reconstruct(sinogram).get(), expected, atol=1e-5)
    checks.equal("twice the sinogram", scanner.reconstruct(2 * sinogram).get(), 2 * scanner.reconstruct(sinogram).get())
    _check_disc(size, scanner, checks)


def _check_disc(size, scanner, checks):
    radius, pixels = 0.31 * size["pixels"], size["pixels"]
    image = scanner.reconstruct(reference.disc(radius, size["detectors"], size["views"])).get()
    from_axis = np.hypot(*(np.mgrid[:pixels, :pixels] - (pixels - 1) / 2))
    inside, outside = image[from_axis < radius - 3], image[(from_axis > radius + 3) & (from_axis < pixels / 2 - 2)]
    checks.close("mean within the disc", inside.mean(), 1, atol=2e-3)
    checks.close("within the disc", inside, np.ones_like(inside), atol=0.02)
    checks.close("mean around the disc", outside.mean(), 0, atol=2e-3)
    checks.close("around the disc", outside, np.zeros_like(outside), atol=0.04)


def _on_one_core(scanner, rows, count):
    """Some rows of the image by C on one core, compiled when it is called."""
    function = harness.compile_c(Path(__file__).with_name("reference.c")).backproject
    data, (height, width) = rows.get(), scanner.shape
    directions = np.stack([np.cos(scanner.angles), np.sin(scanner.angles)], axis=1)
    image = np.empty((count, width))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (data, directions, image)]
    numbers = [(width - 1) / 2, (height - 1) / 2, (scanner.detectors - 1) / 2 + scanner.margin]

    def call():
        function(*pointers[:2], *data.shape, *map(ctypes.c_double, numbers), width, count,
                 ctypes.c_double(np.pi / len(directions)), pointers[2])  # fmt: skip
        return image

    return call


def _astra(sinogram, angles, pixels):
    """ASTRA's filtered backprojection on its GPU, from and to arrays of the host."""
    import astra

    projections = astra.create_proj_geom("parallel", 1.0, sinogram.shape[1], angles)
    volume = astra.create_vol_geom(pixels, pixels)
    ids = [astra.data2d.create("-sino", projections, sinogram), astra.data2d.create("-vol", volume)]
    config = astra.astra_dict("FBP_CUDA")
    config |= {"ProjectionDataId": ids[0], "ReconstructionDataId": ids[1], "option": {"FilterType": "Ram-Lak"}}
    algorithm = astra.algorithm.create(config)
    try:
        astra.algorithm.run(algorithm)
        return astra.data2d.get(ids[1])
    finally:
        astra.algorithm.delete(algorithm)
        astra.data2d.delete(ids)


def _iradon(sinogram, angles, pixels):
    """scikit-image's filtered backprojection, on the host."""
    from skimage.transform import iradon

    return iradon(sinogram.T.astype(float), np.degrees(angles), pixels, filter_name="ramp", circle=False)


def bench(size, tables):
    """Backprojection alone, and the whole way from and to the host, beside C, ASTRA and scikit-image."""
    angles, sinogram, scanner = _head(size)
    pixels, work = size["pixels"], len(angles) * size["pixels"] ** 2 / 1e9
    rate = harness.instruction_rate()
    limits = rate and f"9 instructions each; texture units: {rate / 32e9:.4g}"
    table = harness.Table(
        f"backprojection of {len(angles)} views to {pixels} x {pixels} pixels", "Gupdates/s", rate and rate / 9 / 1e9,
        limits,
    )  # fmt: skip
    tables.append(table)
    rows = scanner.rows(ramp_filter(xp.asarray(sinogram)))
    count = int(np.clip(3e8 / (len(angles) * pixels), 1, pixels))
    on_host = table.row("C, one core, float64", work * count / pixels, _on_one_core(scanner, rows, count),
                        on_device=False, rounds=1, remarks=f"{count} rows")  # fmt: skip

    def error(image):
        return abs(image[:count].get() - on_host).max()

    for name in kernels.FETCHES:
        launch, texture = scanner.variant(fetch=name), texture_of(rows) if name == "filtered" else None
        table.row(f"rtcg, {name}, default", work, lambda f=launch, t=texture: f(rows, t), error)
    report = scanner.kernel.tune(xp.empty(scanner.shape, np.float32), rows, np.uint64(0), scanner.directions,
                                 budget=harness.budget, rtol=1e-4, atol=1e-4, progress=False)  # fmt: skip
    best, texture = scanner.variant(**report.best), texture_of(rows)
    table.row("rtcg, tuned", work, lambda: best(rows), error, remarks=harness.tuned(report))
    report = scanner.filtered.tune(xp.empty(scanner.shape, np.float32), rows, texture, scanner.directions,
                                   budget=harness.budget, rtol=1e-4, atol=1e-4, progress=False)  # fmt: skip
    filtered = scanner.variant(**report.best)
    table.row("rtcg, filtered, tuned", work, lambda: filtered(rows, texture), error, remarks=harness.tuned(report))
    whole = table.row("rtcg, with filter and copies", work, lambda: scanner.reconstruct(sinogram).get())
    table.row("ASTRA, FBP_CUDA, the same", work, lambda: _astra(sinogram, angles, pixels),
              lambda image: abs(image - whole).max(), on_device=False, remarks="difference from ours")  # fmt: skip
    if pixels % 2 == 0:
        # scikit-image's axis of rotation is the pixel and bin beside the middle.
        whole = Scanner(angles, size["detectors"], scanner.shape, axis=(pixels // 2,) * 2,
                        center=size["detectors"] // 2).reconstruct(sinogram).get()  # fmt: skip
    y, x = np.mgrid[:pixels, :pixels] - (pixels - 1) / 2
    inside = np.hypot(x, y) < pixels / 2 - 2
    table.row("scikit-image, iradon, the same", work, lambda: _iradon(sinogram, angles, pixels),
              lambda image: abs(image - whole)[inside].max(), on_device=False, rounds=1,
              remarks="on the host; difference from ours")  # fmt: skip


def plot(size):
    """Shepp and Logan's head, its sinogram, its image, and what differs."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    pixels = max(size["pixels"], 256)
    size = {"pixels": pixels, "views": max(size["views"], 360), "detectors": max(size["detectors"], pixels)}
    angles, sinogram, scanner = _head(size)
    head, image = ellipse_image(HEAD, pixels), scanner.reconstruct(sinogram).get()
    figure, axes = plt.subplots(1, 4, figsize=(15, 4))
    for axis, (title, picture, low, high) in zip(
        axes,
        [("head", head, 0, 0.5), (f"sinogram, {len(angles)} views", sinogram, None, None),
         ("filtered backprojection", image, 0, 0.5), ("difference", image - head, -0.1, 0.1)],
        strict=True,
    ):  # fmt: skip
        axis.imshow(picture, cmap="gray", vmin=low, vmax=high, aspect="auto" if low is None else "equal")
        axis.set(title=title, xticks=[], yticks=[])
    figure.tight_layout()
    return figure


if __name__ == "__main__":
    sys.exit(harness.run(__doc__, SIZES, check, bench, plot))
