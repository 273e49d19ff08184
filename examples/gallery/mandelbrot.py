"""The Mandelbrot set

One thread for each point. The number of iterations is a constant in the text of the kernel, so the compiler knows it.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

WIDTH, HEIGHT, ITERATIONS = 600, 400, 100

SOURCE = f"""
__global__ void mandelbrot(int *counts)
{{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= {WIDTH} || y >= {HEIGHT}) return;
    float re = -2.0f + 3.0f * x / {WIDTH - 1}, im = -1.0f + 2.0f * y / {HEIGHT - 1};
    float a = 0, b = 0;
    int n = 0;
    while (n < {ITERATIONS} && a * a + b * b <= 4) {{
        float t = a * a - b * b + re;
        b = 2 * a * b + im;
        a = t;
        ++n;
    }}
    counts[y * {WIDTH} + x] = n;
}}
"""


def compute():
    """The number of iterations after which each point is known to go to infinity."""
    counts = rnp.empty((HEIGHT, WIDTH), np.int32)
    kernel = SourceModule(SOURCE).get_function("mandelbrot")
    kernel(counts, block=(16, 16, 1), grid=(-(-WIDTH // 16), -(-HEIGHT // 16)))
    return counts.get()


def main(picture):
    """Compute, check and save the picture."""
    counts = compute()
    # 0 is in the set; the corner is outside of the circle of radius 2.
    assert counts[HEIGHT // 2, WIDTH * 2 // 3] == ITERATIONS and counts[0, 0] <= 1
    # The set is symmetric; rounding may differ for points at its edge.
    assert np.mean(counts != counts[::-1]) < 0.01
    matplotlib.image.imsave(picture, np.log(1.0 + counts), cmap="magma")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "mandelbrot.png")
