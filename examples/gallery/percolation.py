"""Does water find a way?

A grid with some fields closed at random. Open fields that touch get one label: each takes the least label around it by
an atomic minimum, and labels of labels are followed (union-find). Below the critical share of open fields no cluster
reaches from top to bottom; above it one does.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
import rtcg.random
from rtcg.compiler import SourceModule

N, SHARES = 192, (0.5, 0.593, 0.66)

SOURCE = f"""
#define N {N}
__device__ int root(volatile const int *labels, int i)
{{
    while (labels[i] != i) i = labels[i];
    return i;
}}
__device__ void join(int *labels, int a, int b)
{{
    while (true) {{
        a = root(labels, a);
        b = root(labels, b);
        if (a == b) return;
        if (a < b) {{ int t = a; a = b; b = t; }}
        // The larger root points at the smaller one, unless another thread was quicker: then again with its choice.
        int old = atomicMin(&labels[a], b);
        if (old == a) return;
        a = old;
    }}
}}
__global__ void unite(const bool *open, int *labels)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!open[i]) return;
    if (i % N && open[i - 1]) join(labels, i, i - 1);
    if (i >= N && open[i - N]) join(labels, i, i - N);
}}
__global__ void flatten(const bool *open, const int *labels, int *roots)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    roots[i] = open[i] ? root(labels, i) : -1;
}}
"""


def on_the_host(is_open):
    """The least index in each cluster, by spreading until nothing changes."""
    labels = np.where(is_open, np.arange(N * N).reshape(N, N), N * N)
    while True:
        padded = np.pad(labels, 1, constant_values=N * N)
        around = np.minimum.reduce([padded[1:-1, :-2], padded[1:-1, 2:], padded[:-2, 1:-1], padded[2:, 1:-1], labels])
        # Labels are fields themselves, whose labels may be less.
        spread = np.where(is_open, np.append(np.minimum(around, labels).ravel(), N * N)[around], N * N)
        if (spread == labels).all():
            return np.where(is_open, labels, -1)
        labels = spread


def main(picture):
    """Label the clusters for three shares, compare with NumPy and save them."""
    module, rng = SourceModule(SOURCE), rtcg.random.default_rng(3)
    unite, flatten = module.get_function("unite"), module.get_function("flatten")
    pictures, is_connected = [], []
    for share in SHARES:
        is_open = rng.random((N, N), dtype=np.float32) < share
        labels, roots = rnp.arange(N * N, dtype=np.int32), rnp.empty((N, N), np.int32)
        unite(is_open, labels, block=(128, 1, 1), grid=(N * N // 128, 1))
        flatten(is_open, labels, roots, block=(128, 1, 1), grid=(N * N // 128, 1))
        found = roots.get()
        assert (found == on_the_host(is_open.get())).all()
        is_connected.append(bool(set(found[0]) & set(found[-1]) - {-1}))
        pictures.append(np.pad(np.where(found < 0, 0, found * 7919 % 200 + 55), 2))
    assert not is_connected[0] and is_connected[-1]
    matplotlib.image.imsave(picture, np.kron(np.hstack(pictures), np.ones((2, 2))), cmap="nipy_spectral")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "percolation.png")
