"""Bodies under gravity

Every body attracts every other. A block goes through the bodies tile by tile, each loaded into shared memory once for
all threads of the block. The sum of momenta stays what it was.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

BODIES, STEPS, BLOCK = 512, 100, 128

SOURCE = f"""
#define N {BODIES}
__global__ void accelerate(const float4 *bodies, float4 *speeds, float dt)
{{
    __shared__ float4 tile[{BLOCK}];
    int i = blockIdx.x * {BLOCK} + threadIdx.x;
    float4 me = bodies[i];
    float ax = 0, ay = 0, az = 0;
    for (int start = 0; start < N; start += {BLOCK}) {{
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < {BLOCK}; ++k) {{
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float f = tile[k].w * r * r * r;
            ax += f * dx; ay += f * dy; az += f * dz;
        }}
        __syncthreads();
    }}
    speeds[i].x += dt * ax; speeds[i].y += dt * ay; speeds[i].z += dt * az;
}}
__global__ void move(float4 *bodies, const float4 *speeds, float dt)
{{
    int i = blockIdx.x * {BLOCK} + threadIdx.x;
    bodies[i].x += dt * speeds[i].x; bodies[i].y += dt * speeds[i].y; bodies[i].z += dt * speeds[i].z;
}}
"""


def start():
    """A turning disk: positions with masses, and speeds."""
    rng = np.random.default_rng(3)
    radius, angle = np.sqrt(rng.random(BODIES)), 2 * np.pi * rng.random(BODIES)
    bodies, speeds = np.zeros((2, BODIES, 4), np.float32)
    bodies[:] = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0.05 * rng.random(BODIES), 0 * angle], 1)
    bodies[:, 3] = 1 / BODIES
    speeds[:, 0], speeds[:, 1] = -0.8 * bodies[:, 1], 0.8 * bodies[:, 0]
    return bodies, speeds


def main(picture):
    """Let the bodies move, check the momentum and draw the paths."""
    host_bodies, host_speeds = start()
    bodies, speeds = rnp.to_gpu(host_bodies), rnp.to_gpu(host_speeds)
    module = SourceModule(SOURCE)
    accelerate, move = module.get_function("accelerate"), module.get_function("move")
    paths = [host_bodies]
    for _ in range(STEPS):
        accelerate(bodies, speeds, 0.02, block=BLOCK, grid=BODIES // BLOCK)
        move(bodies, speeds, 0.02, block=BLOCK, grid=BODIES // BLOCK)
        paths.append(bodies.get())
    change = speeds.get().sum(0) - host_speeds.sum(0)
    assert np.abs(change).max() < 1e-2 and np.abs(paths[-1] - paths[0]).max() > 0.1
    figure, axes = plt.subplots(figsize=(6, 6))
    for body in np.array(paths)[-15:].transpose(1, 2, 0):
        axes.plot(body[0], body[1], lw=0.5, alpha=0.6)
    axes.scatter(*paths[-1][:, :2].T, s=3, color="black")
    axes.set_aspect("equal")
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "nbody.png")
