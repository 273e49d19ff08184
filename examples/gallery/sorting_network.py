"""A sorting network as code

Batcher's network says which elements to compare, whatever they are. Python writes all comparisons of 16 elements into
the kernel, so each thread sorts a row in registers: no loop, no index, no branch. The picture is the network.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

WIDTH, ROWS = 16, 5000


def network(n):
    """The comparisons of Batcher's odd-even merge sort of n elements, a power of two, step by step."""
    p = 1
    while p < n:
        k = p
        while k >= 1:
            pairs = [(i + j, i + j + k) for j in range(k % p, n - k, 2 * k) for i in range(min(k, n - j - k))]
            yield [(a, b) for a, b in pairs if a // (2 * p) == b // (2 * p)]
            k //= 2
        p *= 2


def kernel(n):
    """A kernel that sorts rows of n numbers."""
    load = "\n".join(f"    float v{k} = row[{k}];" for k in range(n))
    compare = "\n".join(
        f"    t = fminf(v{a}, v{b}); v{b} = fmaxf(v{a}, v{b}); v{a} = t;" for step in network(n) for a, b in step
    )
    store = "\n".join(f"    row[{k}] = v{k};" for k in range(n))
    return SourceModule(f"""
__global__ void sort_rows(float *rows, int n_rows)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_rows) return;
    float *row = rows + i * {n}, t;
{load}
{compare}
{store}
}}
""").get_function("sort_rows")


def main(picture):
    """Sort rows, compare with NumPy and draw the network."""
    rows = np.random.default_rng(9).random((ROWS, WIDTH), np.float32)
    a = rnp.to_gpu(rows)
    kernel(WIDTH)(a, ROWS, block=(128, 1, 1), grid=(-(-ROWS // 128), 1))
    assert (a.get() == np.sort(rows, axis=1)).all()
    assert sum(map(len, network(WIDTH))) == 63
    figure, axes = plt.subplots(figsize=(8, 4))
    axes.hlines(range(WIDTH), 0, 44, color="lightgray", lw=1)
    x = 1.0
    for step in network(WIDTH):
        for a, b in step:
            axes.plot([x, x], [a, b], "o-", ms=3, lw=1)
            x += 0.6
        x += 0.6
    axes.axis("off")
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "sorting_network.png")
