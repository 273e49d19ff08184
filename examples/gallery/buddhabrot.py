"""The Buddhabrot

Points that leave the neighbourhood of the Mandelbrot set leave a trace: each thread adds one to every pixel its orbit
visits, by atomic additions. Products and sums are rounded one by one (`-fmad=false`), as NumPy does, so the counts are
equal to the last one.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

SIZE, POINTS, SHORTEST, ITERATIONS = 256, 1 << 17, 5, 100

SOURCE = f"""
__device__ bool advance(double2 c, double2 *z)
{{
    *z = make_double2(z->x * z->x - z->y * z->y + c.x, 2 * z->x * z->y + c.y);
    return z->x * z->x + z->y * z->y <= 4;
}}
__global__ void orbits(const double2 *points, int n_points, unsigned *counts)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_points) return;
    double2 c = points[i], z = make_double2(0, 0);
    int n = 0;
    while (n < {ITERATIONS} && advance(c, &z)) ++n;
    if (n < {SHORTEST} || n == {ITERATIONS}) return;
    z = make_double2(0, 0);
    while (advance(c, &z)) {{
        int x = (z.y + 2) * {SIZE / 4}, y = (z.x + 2) * {SIZE / 4};
        if (x < {SIZE} && y < {SIZE}) atomicAdd(&counts[y * {SIZE} + x], 1);
    }}
}}
"""


def on_the_host(points):
    """The counts by NumPy, all orbits together."""
    counts, orbit = np.zeros((SIZE, SIZE), np.uint32), np.zeros_like(points)
    visited, is_inside, steps = [], np.ones(len(points), bool), np.zeros(len(points), int)
    for _ in range(ITERATIONS):
        re, im = orbit.T
        orbit = np.stack([re * re - im * im + points[:, 0], 2 * re * im + points[:, 1]], 1)
        is_inside &= (orbit**2).sum(1) <= 4
        orbit[~is_inside] = 0
        steps += is_inside
        visited.append((np.flatnonzero(is_inside), orbit[is_inside]))
    is_counted = (steps >= SHORTEST) & (steps < ITERATIONS)
    for who, where in visited:
        x, y = ((where[is_counted[who]][:, ::-1] + 2) * (SIZE / 4)).astype(int).T
        has_pixel = (x < SIZE) & (y < SIZE)
        np.add.at(counts, (y[has_pixel], x[has_pixel]), 1)
    return counts


def main(picture):
    """Count, compare with NumPy and save the picture."""
    points = np.random.default_rng(12).uniform(-2, 2, (POINTS, 2))
    counts = rnp.zeros((SIZE, SIZE), np.uint32)
    orbits = SourceModule(SOURCE, options=["-fmad=false"]).get_function("orbits")
    orbits(rnp.to_gpu(points), POINTS, counts, block=(128, 1, 1), grid=(-(-POINTS // 128), 1))
    found = counts.get()
    assert (found == on_the_host(points)).all()
    matplotlib.image.imsave(picture, np.sqrt(np.minimum(found, np.percentile(found, 99.8))), cmap="bone")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "buddhabrot.png")
