"""Roofline of sparse products

How fast a device multiplies sparse matrices by vectors, over the operations that it makes for each byte it has to
move. The slope is the rate at which the device copies; a point on it moves nothing twice and waits for nothing. Small
matrices lie below: the launch takes longer than they do.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.driver as drv
import rtcg.numpy as rnp
from rtcg.sparse import gallery

MATRICES = {
    "poisson2d": gallery.poisson2d(150, dtype=np.float32),
    "poisson3d": gallery.poisson3d(24, points=27, dtype=np.float32),
    "elasticity3d": gallery.elasticity3d(9, dtype=np.float32),
    "rmat": gallery.rmat(11, dtype=np.float32),
    "banded": gallery.banded(10_000, 50, dtype=np.float32),
}


def seconds(function, repeats=20):
    """Seconds of one call among many, on the device's clock."""
    function()
    begin, end = drv.Event(), drv.Event()
    begin.record()
    for _ in range(repeats):
        function()
    end.record()
    end.synchronize()
    return begin.time_till(end) / 1e3 / repeats


def compulsory_bytes(a):
    """What a product of compressed rows has to move: elements, indices, both vectors, each once."""
    return a.data.nbytes + a.indices.nbytes + a.indptr.nbytes + sum(a.shape) * a.dtype.itemsize


def main(picture):
    """Measure, compare with products on the host and draw."""
    source, target = rnp.empty(1 << 22, np.float32), rnp.empty(1 << 22, np.float32)
    copied = 2 * source.nbytes / seconds(lambda: drv.memcpy_dtod_async(target.gpudata, source.gpudata, source.nbytes))
    figure, axis = plt.subplots(figsize=(6, 4))
    intensity = np.array([0.1, 0.4])
    axis.loglog(intensity, intensity * copied / 1e9, "k-", label=f"copy, {copied / 1e9:.1f} GB/s")
    for name, a in MATRICES.items():
        x = rnp.to_gpu(np.random.default_rng(0).random(a.shape[1], np.float32))
        product = (a @ x).get()
        rows = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr.get()))
        host = np.bincount(rows, a.data.get().astype(float) * x.get()[a.indices.get()], minlength=a.shape[0])
        assert np.allclose(product, host, rtol=1e-4, atol=1e-4)
        flops = 2 * a.nnz / seconds(lambda a=a, x=x: a @ x)
        axis.plot(2 * a.nnz / compulsory_bytes(a), flops / 1e9, "o", label=f"{name}, {a.nnz} elements")
    axis.set(xlabel="operations for each byte", ylabel="GFLOP/s")
    axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "spmv_roofline.png")
