"""Diffusion that keeps edges

Noise is smoothed away where neighbours differ little, and edges stay sharp: the diffusion of Perona and Malik. One step
is a stencil, a Python function of relative indices; the picture shows the noisy image and eighty steps.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
from rtcg.specialize import stencil

N, STEPS, EDGE = 320, 80, 0.04


@stencil(boundary="reflect")
def smooth(u, edge):
    """One step: flows from the four neighbours, small where the difference is larger than `edge`."""
    differences = [u[k] - u[0, 0] for k in ((-1, 0), (1, 0), (0, -1), (0, 1))]
    return u[0, 0] + 0.2 * sum([d / (1 + (d / edge) * (d / edge)) for d in differences])


def shapes():
    """A disc, a ring and stripes."""
    y, x = np.mgrid[-1 : 1 : N * 1j, -1 : 1 : N * 1j]
    r = np.hypot(x + 0.3, y + 0.25)
    image = 0.25 + 0.5 * (r < 0.4) - 0.3 * ((r > 0.5) & (r < 0.56))
    return np.where((y > 0.45) & (np.sin(12 * x) > 0), 0.9, image).astype(np.float32)


def main(picture):
    """Smooth a noisy image, compare it with the image without noise, and save both."""
    clean = shapes()
    noisy = clean + np.random.default_rng(5).normal(0, 0.08, clean.shape).astype(np.float32)
    assert np.array_equal(smooth(noisy, EDGE).get(), smooth.reference(noisy, EDGE))
    found = smooth.iterate(noisy, EDGE, steps=STEPS).get()
    error, before = np.abs(found - clean).mean(), np.abs(noisy - clean).mean()
    assert error < 0.3 * before, (error, before)
    both = np.clip(np.concatenate([noisy, found], axis=1), 0, 1)
    matplotlib.image.imsave(picture, both, cmap="gray")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "edge_diffusion.png")
