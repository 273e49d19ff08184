"""Dask arrays with chunks on the device: a mean, and a kernel of one's own for each chunk.

``python examples/dask_sum.py --cluster`` computes the same in two processes. Needs Dask, and for that distributed.
"""

import contextlib
import sys

import numpy as np

import rtcg.numpy as rnp
from rtcg.elementwise import ElementwiseKernel

try:
    import dask
    import dask.array as da
except ImportError:
    sys.exit("Dask is not installed: pip install 'dask[array]'")

smooth_step = ElementwiseKernel("double *z, const double *x", "double t = x[i]; z[i] = t * t * (3 - 2 * t)")


def stepped(chunk):
    result = rnp.empty_like(chunk)
    smooth_step(result, chunk)
    return result


def cluster():
    """A client of two processes, to which tasks, chunks and kernels are sent."""
    from distributed import Client

    return Client(n_workers=2, threads_per_worker=1, dashboard_address=None)


def main():
    with cluster() if "--cluster" in sys.argv[1:] else contextlib.nullcontext():
        with dask.config.set({"array.backend": "rtcg"}):
            x = da.random.default_rng(0).random(size=(2000, 1000), chunks=(500, 1000))
        means = x.map_blocks(stepped, meta=x._meta).mean(axis=0)
        print(means)
        found, host = dask.compute(means, x.to_backend("numpy"))
    right = np.allclose(found.get(), (host**2 * (3 - 2 * host)).mean(axis=0), rtol=1e-12)
    print(f"{type(found).__name__} of {found.shape}: {'equal to NumPy' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
