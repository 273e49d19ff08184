"""Contours of images by gPb: gradients of brightness, colour and texture, and eigenvectors of affinities.

python -m apps.contours --check
python -m apps.contours --size seed --bench
python -m apps.contours --plot contours.png
"""

import numpy as np

import rtcg.numpy as xp
from apps import _harness as harness

from . import contours as steps, reference, scenes

#: Rows and columns of the images; and the least F-measure against the known boundaries.
SIZES = {
    "small": {"shape": (60, 90), "least": 0.85},
    "seed": {"shape": (321, 481), "least": 0.85},
    "h200": {"shape": (1280, 1920), "least": 0.85},
}


def check(size, checks):
    """Steps against NumPy, and the contours of a scene against its boundaries."""
    rng = np.random.default_rng(3)
    colours = rng.random((5, 7, 3)).astype(np.float32)
    expected = [[reference.lab(colour) for colour in row] for row in colours]
    checks.close("L*a*b*", steps.lab(colours).get(), expected, atol=2e-3)
    labels = rng.integers(0, 9, (17, 23)).astype(np.int32)
    found = steps.half_disc_differences(xp.asarray(labels), 5, 9, False).get()
    for o, y, x in [(0, 8, 11), (3, 0, 0), (5, 16, 22), (7, 4, 20)]:
        expected = reference.half_disc_difference(labels, y, x, 5, 9, o, steps.ORIENTATIONS)
        checks.close(f"half discs, orientation {o}", found[o, y, x], expected, rtol=1e-4)
    strength = rng.random((11, 13)).astype(np.float32) * 0.2
    dense = reference.affinities(strength, steps.REACH, steps.RHO)
    matrix, _ = steps.affinity(xp.asarray(strength))
    checks.close("affinities", matrix.toarray().get(), dense, rtol=1e-4, atol=1e-7)
    cuts, _ = steps.eigenvectors(xp.asarray(strength), tol=1e-6)
    checks.close("eigenvalues", cuts, 1 - np.linalg.eigvalsh(dense)[::-1][1 : steps.EIGENVECTORS + 1], rtol=1e-3)
    image, regions = scenes.scene(*size["shape"])
    measure, precision, recall = _measure(steps.contours(image)[0].get(), regions)
    checks.true(
        "contours of a scene", measure >= size["least"],
        f"F-measure {measure:.3f} (precision {precision:.3f}, recall {recall:.3f}); expected {size['least']} at least",
    )  # fmt: skip


def _measure(strength, regions):
    """The F-measure; contours may be off by 0.75 % of the diagonal, as in the benchmark of Berkeley, and 2 pixels."""
    return scenes.f_measure(strength, scenes.boundaries(regions), max(0.0075 * np.hypot(*regions.shape), 2))


def bench(size, tables):
    """The whole detector and its steps, in images a second."""
    image, regions = scenes.scene(*size["shape"])
    table = harness.Table(f"images of {size['shape'][1]} x {size['shape'][0]}", "images/s", error_name="1 - F")
    tables.append(table)
    table.row(
        "contours, whole", 1, lambda: steps.contours(image)[0].get(), lambda found: 1 - _measure(found, regions)[0]
    )
    table.row("textons", 1, lambda: steps.textons(image))
    local = table.row("gradients with textons", 1, lambda: steps.multiscale(image))
    thin = steps.thinned(local)
    found = table.row("eigenvectors", 1, lambda: steps.eigenvectors(thin))
    table.row("derivatives of eigenvectors", 1, lambda: steps.spectral(*found))
    table.published("gPb, CUDA by hand", 1 / 1.8, "GTX 280, photographs of 481 x 321 (2009)")


def plot(size):
    """A scene, or the photograph of scikit-image's wheel, with its textons, an eigenvector and its contours."""
    from matplotlib.figure import Figure

    images = {"scene": scenes.scene(*size["shape"])[0]}
    try:
        from skimage import data
    except ImportError:
        pass
    else:
        rows, columns = size["shape"]
        photograph = data.astronaut()
        stride = max(512 // max(rows, columns), 1)
        images["photograph"] = (photograph[::stride, ::stride][:rows, :columns] / 255).astype(np.float32)
    figure = Figure(figsize=(14, 3.2 * len(images)))
    axes = figure.subplots(len(images), 4, squeeze=False)
    for line, (name, image) in zip(axes, images.items(), strict=True):
        strength, parts = steps.contours(image)
        shown = {
            name: image, "gradients": parts["local"].max(axis=0).get(),
            "an eigenvector": parts["eigenvectors"][0].get(), "contours": 1 - strength.get(),
        }  # fmt: skip
        for axis, (title, picture) in zip(line, shown.items(), strict=True):
            axis.imshow(picture, cmap="gray" if title == "contours" else "viridis")
            axis.set_title(title)
            axis.set_axis_off()
    return figure


if __name__ == "__main__":
    harness.run(__doc__, SIZES, check, bench, plot)
