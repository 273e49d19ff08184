"""Heat in a plate

The temperature at each point becomes the mean of its four neighbours, again and again. The boundary keeps its
temperature: one side is hot. Compared with the exact solution, a series of sines.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

N, STEPS = 66, 8000

SOURCE = f"""
#define N {N}
__global__ void relax(const float *now, float *next)
{{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= N - 1 || y >= N - 1) return;
    int i = y * N + x;
    next[i] = 0.25f * (now[i - 1] + now[i + 1] + now[i - N] + now[i + N]);
}}
"""


def exact():
    """The steady temperature of a square with one side at 1 and the others at 0."""
    x, y = np.meshgrid(np.linspace(0, 1, N), np.linspace(0, 1, N))
    k = np.arange(1, 80, 2)[:, None, None] * np.pi
    # sinh(k (1 - y)) / sinh(k), written so that nothing overflows.
    decay = np.exp(-k * y) * (1 - np.exp(-2 * k * (1 - y))) / (1 - np.exp(-2 * k))
    return (4 / k * np.sin(k * x) * decay).sum(0)


def main(picture):
    """Iterate, compare and save the temperatures."""
    plate = np.zeros((N, N), np.float32)
    plate[0, 1:-1] = 1
    now, following = rnp.to_gpu(plate), rnp.to_gpu(plate)
    relax = SourceModule(SOURCE).get_function("relax")
    for _ in range(STEPS):
        relax(now, following, block=(16, 16, 1), grid=(4, 4))
        now, following = following, now
    found = now.get()
    assert np.abs(found - exact())[4:-4, 4:-4].max() < 0.01
    matplotlib.image.imsave(picture, np.kron(found, np.ones((6, 6))), cmap="inferno")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "heat.png")
