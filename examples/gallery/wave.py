"""Waves in a square, as a graph

A drop falls into a basin. Sixty time steps are captured once; afterwards one launch of the graph does all of them. A
standing wave with the same kernel is what the exact solution says.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.driver as cuda
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

N, STEPS, COURANT = 130, 60, 0.5  # the number of steps is a multiple of three

SOURCE = f"""
#define N {N}
__global__ void step(const float *before, const float *now, float *next)
{{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= N - 1 || y >= N - 1) return;
    int i = y * N + x;
    float laplacian = now[i - 1] + now[i + 1] + now[i - N] + now[i + N] - 4 * now[i];
    next[i] = 2 * now[i] - before[i] + {COURANT**2}f * laplacian;
}}
"""


def capture(step, fields, stream):
    """A graph of all steps, after which the three fields have their roles again."""
    with stream.capture() as graph:
        for k in range(STEPS):
            before, now, following = (fields[(k + j) % 3] for j in range(3))
            step(before, now, following, block=(16, 16, 1), grid=(8, 8), stream=stream)
    return graph.instantiate()


def run(start, launches):
    """The field after so many launches, from rest."""
    step, stream = SourceModule(SOURCE).get_function("step"), cuda.Stream()
    fields = [rnp.to_gpu(start) for _ in range(3)]
    graph = capture(step, fields, stream)
    for _ in range(launches):
        graph.launch(stream)
    stream.synchronize()
    return fields[1].get()


def main(picture):
    """Compare a standing wave with the exact one, and save what a drop makes."""
    x = np.linspace(0, 1, N)
    mode = (np.sin(2 * np.pi * x) * np.sin(3 * np.pi * x)[:, None]).astype(np.float32)
    launches = 5
    # The frequency of this mode in the discrete equation.
    s = np.sin(np.pi / (N - 1)) ** 2 + np.sin(1.5 * np.pi / (N - 1)) ** 2
    phase = 2 * np.arcsin(COURANT * np.sqrt(s))
    expected = mode * np.cos(phase * (STEPS * launches + 0.5)) / np.cos(phase / 2)
    assert np.abs(run(mode, launches) - expected).max() < 0.01
    drop = np.exp(-((x - 0.4) ** 2 + (x[:, None] - 0.6) ** 2) / 0.001).astype(np.float32)
    matplotlib.image.imsave(picture, np.kron(run(drop, 3), np.ones((3, 3))), cmap="RdBu", vmin=-0.15, vmax=0.15)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "wave.png")
