"""Clusters

k-means. A kernel finds the nearest centre of each point; sums of the points of each cluster are matrix products with a
matrix of zeros and ones, so the rest is arithmetic of arrays on the device.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

POINTS, CLUSTERS, ROUNDS = 3000, 5, 12

SOURCE = f"""
__global__ void assign(const float2 *points, const float2 *centres, int n, int *labels)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float least = 1e30f;
    for (int k = 0; k < {CLUSTERS}; ++k) {{
        float dx = points[i].x - centres[k].x, dy = points[i].y - centres[k].y;
        if (dx * dx + dy * dy < least) {{ least = dx * dx + dy * dy; labels[i] = k; }}
    }}
}}
"""


def on_the_host(points, centres):
    """The same rounds with NumPy."""
    for _ in range(ROUNDS):
        labels = ((points[:, None] - centres) ** 2).sum(-1).argmin(1)
        centres = np.array([points[labels == k].mean(0) for k in range(CLUSTERS)])
    return labels, centres


def main(picture):
    """Find the clusters, compare with NumPy and draw them."""
    rng = np.random.default_rng(8)
    means = rng.uniform(-4, 4, (CLUSTERS, 2))
    host = (means[rng.integers(CLUSTERS, size=POINTS)] + rng.normal(0, 0.6, (POINTS, 2))).astype(np.float32)
    assign = SourceModule(SOURCE).get_function("assign")
    points, centres, labels = rnp.to_gpu(host), rnp.to_gpu(host[:CLUSTERS]), rnp.empty(POINTS, np.int32)
    for _ in range(ROUNDS):
        assign(points, centres, POINTS, labels, block=(128, 1, 1), grid=(-(-POINTS // 128), 1))
        is_member = (labels[None, :] == rnp.arange(CLUSTERS, dtype=np.int32)[:, None]).astype(np.float32)
        centres = is_member @ points / is_member.sum(1, keepdims=True)
    expected_labels, expected_centres = on_the_host(host, host[:CLUSTERS])
    assert np.abs(centres.get() - expected_centres).max() < 1e-3
    assert np.mean(labels.get() != expected_labels) < 1e-3
    figure, axes = plt.subplots(figsize=(6, 5))
    axes.scatter(*host.T, c=labels.get(), s=3, cmap="tab10")
    axes.plot(*centres.get().T, "k+", ms=14, mew=2)
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "kmeans.png")
