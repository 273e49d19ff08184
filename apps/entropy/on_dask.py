"""Entropy of points that are in pieces on the workers of a Dask cluster.

python -m apps.entropy.on_dask
RTCG_VIRTUAL_DEVICES=2 python -m apps.entropy.on_dask --workers 2 --points 65536

Silent where the results are those of one device and of the formula.
"""

import argparse
import sys

import numpy as np

from apps import _harness as harness
from rtcg import driver, neighbors

from . import reference
from .estimate import entropy, nearest_distances

DIMENSIONS = 3


def nearest(queries, points):
    """Distances of each query to the nearest of some points, in one column; both are chunks on the device."""
    return neighbors.knn(queries, points, 1)[0]


def distances_on_cluster(tests, others):
    """Distances of points to their nearest among others, as a Dask array; both are Dask arrays with whole rows.

    Each pair of chunks is a task. The smallest of the distances to all chunks of others are found in a tree, in which
    the workers send each other one number for each test point.
    """
    import dask.array as da

    pairs = da.blockwise(
        nearest, "ij", tests, "ik", others, "jk",
        concatenate=True, adjust_chunks={"j": lambda length: 1}, dtype=tests.dtype, meta=tests._meta,
    )  # fmt: skip
    return pairs.min(axis=1)


def cluster(workers):
    """As many processes, which share the devices of this machine by turns."""
    from distributed import Nanny, Scheduler, SpecCluster

    driver.init()
    devices = [{"CUDA_DEVICE": str(k % driver.Device.count())} for k in range(workers)]
    options = {"nthreads": 1, "host": "127.0.0.1", "silence_logs": "ERROR"}
    return SpecCluster(
        workers={k: {"cls": Nanny, "options": {**options, "env": env}} for k, env in enumerate(devices)},
        scheduler={"cls": Scheduler, "options": {"dashboard": False, "host": "127.0.0.1"}},
        silence_logs="ERROR",
    )


def check(client, points, checks):
    """Gaussian points that the workers draw: the distances against one device's, the entropy against the formula."""
    import dask
    import dask.array as da

    workers = len(client.scheduler_info()["workers"])
    with dask.config.set({"array.backend": "rtcg"}):
        draw = da.random.default_rng(2007).normal
        chunks = -(-points // (2 * workers)), DIMENSIONS
        tests, others = (
            draw(0, 8, size=(count, DIMENSIONS), chunks=chunks, dtype=np.float32) for count in (points // 2, points)
        )
        tests, others = dask.persist(tests, others)
        found = distances_on_cluster(tests, others).compute().get()
    expected = nearest_distances(tests.compute().get(), others.compute().get())
    checks.equal(f"distances on {workers} workers", found.astype(np.float64), expected)
    _, of_numpy = reference.nearest(tests[:64].compute().get(), others.compute().get(), 1)
    checks.equal("distances of NumPy", found[:64], of_numpy[:, 0].astype(np.float32))
    bits = entropy(found.astype(np.float64), points, DIMENSIONS)
    checks.close("entropy", bits, reference.gaussian_bits(DIMENSIONS, 8), rtol=0.02)


def main():
    parser = argparse.ArgumentParser(prog="python -m apps.entropy.on_dask", description=__doc__.partition("\n")[0])
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    parser.add_argument("--points", type=int, default=1 << 12, help="points in all, half as many tests (4096)")
    options = parser.parse_args()
    for name, least in (("workers", 1), ("points", 512)):
        if getattr(options, name) < least:
            parser.error(f"--{name} is {getattr(options, name)}; expected at least {least}")
    try:
        from distributed import Client
    except ImportError:
        parser.error("Dask is not installed: pip install 'dask[array]' distributed")
    checks = harness.Checks()
    with cluster(options.workers) as made, Client(made) as client:
        check(client, options.points, checks)
    return checks.report()


if __name__ == "__main__":
    sys.exit(main())
