"""Edges in a picture

Sobel's operator. Its weights are Python numbers that become the text of the kernel, so what is multiplied by 0 is not
even read.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

SIZE = 384
WEIGHTS = [[1, 0, -1], [2, 0, -2], [1, 0, -1]]


def weighted_sum(weights):
    """A C expression of the sum of neighbours; without those of weight 0."""
    terms = [
        f"{w}.0f * in[(y + {j - 1}) * n + x + {i - 1}]" for j, row in enumerate(weights) for i, w in enumerate(row) if w
    ]
    return " + ".join(terms)


SOURCE = f"""
__global__ void sobel(const float *in, float *out, int n)
{{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    float gx = {weighted_sum(WEIGHTS)};
    float gy = {weighted_sum(list(zip(*WEIGHTS, strict=True)))};
    out[y * n + x] = sqrtf(gx * gx + gy * gy);
}}
"""


def drawing():
    """Overlapping disks of several brightnesses."""
    y, x = np.mgrid[:SIZE, :SIZE] / SIZE
    picture = 0.2 * x
    for cx, cy, radius, value in [(0.35, 0.4, 0.25, 0.5), (0.6, 0.6, 0.3, 0.9), (0.7, 0.25, 0.12, 0.7)]:
        picture = np.where(np.hypot(x - cx, y - cy) < radius, value, picture)
    return picture.astype(np.float32)


def on_the_host(a):
    """The same with NumPy."""

    def part(weights):
        shifted = [
            w * a[j : SIZE - 2 + j, i : SIZE - 2 + i] for j, row in enumerate(weights) for i, w in enumerate(row)
        ]
        return sum(shifted)

    return np.hypot(part(WEIGHTS), part(list(zip(*WEIGHTS, strict=True))))


def main(picture):
    """Find the edges, compare with NumPy and save both pictures side by side."""
    image = drawing()
    edges = rnp.zeros((SIZE, SIZE), np.float32)
    sobel = SourceModule(SOURCE).get_function("sobel")
    sobel(rnp.to_gpu(image), edges, SIZE, block=(16, 16, 1), grid=(SIZE // 16, SIZE // 16))
    found = edges.get()
    assert np.allclose(found[1:-1, 1:-1], on_the_host(image), atol=1e-4)
    matplotlib.image.imsave(picture, np.hstack([image, found / found.max()]), cmap="gray")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "sobel.png")
