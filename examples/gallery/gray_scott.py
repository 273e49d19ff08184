"""Spots that grow and divide

Two substances react and diffuse (Gray and Scott). Each point is a `float2`, so one load brings both. The rates are
constants of the kernel; other rates make stripes, holes or nothing.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

N, STEPS, COMPARED, FEED, KILL = 128, 3000, 20, 0.035, 0.062

SOURCE = f"""
#define N {N}
__global__ void react(const float2 *now, float2 *next)
{{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float2 c = now[y * N + x];
    float2 w = now[y * N + (x + N - 1) % N], e = now[y * N + (x + 1) % N];
    float2 n = now[(y + N - 1) % N * N + x], s = now[(y + 1) % N * N + x];
    float reaction = c.x * c.y * c.y;
    next[y * N + x] = make_float2(
        c.x + 0.2f * (w.x + e.x + n.x + s.x - 4 * c.x) - reaction + {FEED}f * (1 - c.x),
        c.y + 0.1f * (w.y + e.y + n.y + s.y - 4 * c.y) + reaction - {FEED + KILL}f * c.y);
}}
"""


def on_the_host(a):
    """A step with NumPy."""
    spread = sum(np.roll(a, shift, axis) for shift in (-1, 1) for axis in (0, 1)) - 4 * a
    reaction = a[..., 0] * a[..., 1] ** 2
    growth = np.stack([FEED * (1 - a[..., 0]) - reaction, reaction - (FEED + KILL) * a[..., 1]], -1)
    return a + spread * [0.2, 0.1] + growth


def main(picture):
    """Compare the first steps with NumPy, and save the second substance."""
    start = np.zeros((N, N, 2), np.float32)
    start[..., 0] = 1
    for x, y in np.random.default_rng(5).integers(8, N - 8, (12, 2)):
        start[y - 4 : y + 4, x - 4 : x + 4] = 0.5, 0.25
    react = SourceModule(SOURCE).get_function("react")
    now, following, expected = rnp.to_gpu(start), rnp.to_gpu(start), start.astype(float)
    for step in range(STEPS):
        if step == COMPARED:
            assert np.abs(now.get() - expected).max() < 1e-4
        if step < COMPARED:
            expected = on_the_host(expected)
        react(now, following, block=(16, 16, 1), grid=(N // 16, N // 16))
        now, following = following, now
    found = now.get()
    assert np.isfinite(found).all() and 0.1 < found[..., 1].max() < 0.6
    matplotlib.image.imsave(picture, np.kron(found[..., 1], np.ones((3, 3))), cmap="viridis")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "gray_scott.png")
