"""Noise away, edges kept

A bilateral filter: neighbours count less the further they are and the more they differ. They are read through a
texture, which clamps coordinates at the border, so the kernel has no conditions. The weights of distance are constants.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.driver as cuda
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

SIZE, RADIUS, NEAR, ALIKE = 256, 4, 2.5, 0.25

WEIGHTS = np.exp(-(np.arange(-RADIUS, RADIUS + 1) ** 2) / (2 * NEAR**2))

SOURCE = f"""
__global__ void denoise(cudaTextureObject_t picture, float *out)
{{
    const float weights[] = {{{", ".join(f"{w:.8e}f" for w in WEIGHTS)}}};
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float centre = tex2D<float>(picture, x + 0.5f, y + 0.5f), sum = 0, total = 0;
    #pragma unroll
    for (int j = -{RADIUS}; j <= {RADIUS}; ++j)
        #pragma unroll
        for (int i = -{RADIUS}; i <= {RADIUS}; ++i) {{
            float value = tex2D<float>(picture, x + i + 0.5f, y + j + 0.5f), d = value - centre;
            float weight = weights[i + {RADIUS}] * weights[j + {RADIUS}] * expf(-d * d / {2 * ALIKE**2}f);
            sum += weight * value;
            total += weight;
        }}
    out[y * {SIZE} + x] = sum / total;
}}
"""


def drawing():
    """Disks and stripes."""
    y, x = np.mgrid[:SIZE, :SIZE] / SIZE
    picture = 0.15 + 0.3 * (np.sin(30 * x + 20 * y) > 0.3)
    for cx, cy, radius, value in [(0.3, 0.35, 0.2, 0.9), (0.7, 0.6, 0.25, 0.7), (0.65, 0.65, 0.1, 0.1)]:
        picture = np.where(np.hypot(x - cx, y - cy) < radius, value, picture)
    return picture


def on_the_host(a):
    """The same with NumPy."""
    padded, total, weighted = np.pad(a.astype(float), RADIUS, mode="edge"), 0, 0
    for j, wj in enumerate(WEIGHTS):
        for i, wi in enumerate(WEIGHTS):
            value = padded[j : j + SIZE, i : i + SIZE]
            weight = wi * wj * np.exp(-((value - a) ** 2) / (2 * ALIKE**2))
            total, weighted = total + weight, weighted + weight * value
    return weighted / total


def main(picture):
    """Filter, compare with NumPy and save the pictures side by side."""
    clean = drawing()
    noisy = (clean + np.random.default_rng(1).normal(0, 0.1, clean.shape)).astype(np.float32)
    texture = cuda.texture_object(cuda.matrix_to_array(noisy, "C"), address_mode=cuda.address_mode.CLAMP)
    out = rnp.empty((SIZE, SIZE), np.float32)
    denoise = SourceModule(SOURCE).get_function("denoise")
    denoise(texture, out, block=(16, 16, 1), grid=(SIZE // 16, SIZE // 16))
    found = out.get()
    assert np.abs(found - on_the_host(noisy)).max() < 1e-4
    assert np.std(found - clean) < 0.5 * np.std(noisy - clean)
    matplotlib.image.imsave(picture, np.hstack([noisy, found]), cmap="gray", vmin=0, vmax=1)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "denoise.png")
