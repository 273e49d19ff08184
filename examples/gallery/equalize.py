"""A dark picture made clear

Histogram equalization. Each block counts in shared memory and adds its counts to those of the whole picture, which
saves most of the atomic operations on memory. The cumulative sum of the counts is the new brightness.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

SIZE = 320

SOURCE = """
__global__ void histogram(const unsigned char *picture, int n, unsigned *counts)
{
    __shared__ unsigned part[256];
    part[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&part[picture[i]], 1);
    __syncthreads();
    if (part[threadIdx.x]) atomicAdd(&counts[threadIdx.x], part[threadIdx.x]);
}
"""


def dark_picture():
    """Hills in bad light, 8 bits for each pixel."""
    y, x = np.mgrid[:SIZE, :SIZE] / SIZE
    hills = np.sin(9 * x + 4 * np.sin(5 * y)) + np.sin(11 * y + 3 * x * x) + 0.5 * np.cos(40 * x * y)
    noise = np.random.default_rng(2).normal(0, 0.05, hills.shape)
    return np.clip(24 + 9 * (hills + noise), 0, 255).astype(np.uint8)


def main(picture):
    """Equalize, compare with NumPy and save both pictures side by side."""
    dark = dark_picture()
    image, counts = rnp.to_gpu(dark), rnp.zeros(256, np.uint32)
    histogram = SourceModule(SOURCE).get_function("histogram")
    histogram(image, image.size, counts, block=(256, 1, 1), grid=(8, 1))
    table = (rnp.cumsum(counts) * (255.0 / image.size)).astype(np.uint8)
    clear = table[image].get()

    expected_counts = np.bincount(dark.ravel(), minlength=256)
    assert (counts.get() == expected_counts).all()
    assert (clear == (np.cumsum(expected_counts) * (255.0 / dark.size)).astype(np.uint8)[dark]).all()
    # Brightness is now spread evenly: a quarter of all pixels in each quarter of the scale.
    assert np.abs(np.histogram(clear, 4, (0, 256))[0] / clear.size - 0.25).max() < 0.05
    matplotlib.image.imsave(picture, np.hstack([dark, clear]), cmap="gray", vmin=0, vmax=255)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "equalize.png")
