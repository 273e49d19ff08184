"""A palette of twelve colours

k-means divides the colours of a picture into twelve clusters; reductions by label give the mean colour and the size of
each. The assignment is a product of matrices that keeps the nearest centre, so no distance is ever stored.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rtcg.autoinit  # noqa: F401
from rtcg.specialize import category_reduce, kmeans

SIDE, COLOURS = 160, 12


def landscape():
    """A sunset over hills, with some noise."""
    y, x = np.mgrid[:SIDE, : 2 * SIDE] / SIDE
    sun = np.exp(-(((x - 1.3) ** 2 + (y - 0.55) ** 2) / 0.05))
    sky = np.stack([0.35 + 0.5 * y + 0.5 * sun, 0.3 + 0.25 * y + 0.4 * sun, 0.55 - 0.2 * y + 0.1 * sun], axis=-1)
    for k, shade in enumerate((0.35, 0.22, 0.1)):
        hill = y > 0.62 + 0.12 * k + 0.05 * np.sin((5 - k) * x + 2 * k)
        sky[hill] = [shade, 0.7 * shade + 0.05, shade + 0.06]
    return np.clip(sky + np.random.default_rng(1).normal(0, 0.01, sky.shape), 0, 1).astype(np.float32)


def main(picture):
    """Find the palette, check it with NumPy, and draw the picture with it."""
    image = landscape()
    pixels = image.reshape(-1, 3)
    found = kmeans(pixels, COLOURS, random_state=2)
    labels = found.labels
    sizes = category_reduce(labels, labels, COLOURS, "count").get()
    means = category_reduce(pixels, labels, COLOURS, "mean").get()
    where = labels.get()
    assert sizes.sum() == len(pixels)
    np.testing.assert_allclose(means, [pixels[where == k].mean(0) for k in range(COLOURS)], rtol=1e-4)
    np.testing.assert_allclose(found.inertia, ((pixels - found.centers.get()[where]) ** 2).sum(), rtol=1e-4)
    figure, axes = plt.subplots(3, figsize=(6, 7.4), height_ratios=[4, 4, 1])
    axes[0].imshow(image)
    axes[1].imshow(means[where].reshape(image.shape))
    order = np.argsort(-sizes)
    axes[2].bar(np.arange(COLOURS), sizes[order], color=means[order].clip(0, 1), width=1)
    for one in axes:
        one.set_axis_off()
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "colours.png")
