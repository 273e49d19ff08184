"""The sum of a Dask array whose chunks are on one GPU, beside CuPy's backend and what Dask takes for empty tasks.

``python benches/dask_sum.py`` sums 8 GiB in chunks of 128 MiB; ``--gib 0.5 --chunk-mib 16`` is for the virtual GPU. Where
there is no network, Dask comes in a folder of wheels (dask, and what ``pip show dask`` says that it requires)::

    python -m pip install --no-index --no-deps --target /tmp/site wheels/*.whl
    PYTHONPATH=/tmp/site python benches/dask_sum.py

The bound is 1.05 x (empty tasks + bytes / bandwidth): the same graph with functions that do nothing, and one reading of
all chunks. Tasks of a GPU overlap with those of Dask, so that less is possible.
"""

import argparse
import importlib.util
import math
import statistics
import sys
import time
from pathlib import Path

import numpy as np

# Dask would take `sparse.py` of this folder for the package of that name.
sys.path[:] = [path for path in sys.path if Path(path).resolve() != Path(__file__).resolve().parent]


def milliseconds(call, rounds):
    """The median of some calls, after one that compiles, and the last result."""
    call()
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        result = call()
        taken.append(1e3 * (time.perf_counter() - start))
    return statistics.median(taken), result


def chunks_on_device(backend, elements, chunk):
    """An array of ones whose chunks are in device memory."""
    import dask
    import dask.array as da

    if backend == "rtcg":
        # Where rtcg is on the path but not installed, Dask finds no entry point.
        from rtcg.dask import Backend

        da.backends.array_creation_dispatch.register_backend("rtcg", Backend())
    with dask.config.set({"array.backend": backend}):
        return da.ones(elements, dtype=np.float32, chunks=chunk).persist()


def empty_tasks(array, rounds):
    """What Dask takes for the graph of the sum, with functions that do nothing."""
    import dask.array as da

    zero = np.zeros(())

    def nothing(*args, **keywords):
        return zero

    graph = da.reduction(array, nothing, nothing, combine=nothing, dtype=np.float64, concatenate=False, meta=zero)
    return milliseconds(graph.compute, rounds)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gib", type=float, default=8, help="GiB of float32 in all (8)")
    parser.add_argument("--chunk-mib", type=float, default=128, help="MiB of a chunk (128)")
    parser.add_argument("--threads", type=int, default=4, help="threads of Dask's scheduler (4)")
    parser.add_argument("--rounds", type=int, default=20, help="calls of which the median counts (20)")
    parser.add_argument("--bandwidth", type=float, default=4.2, help="of the device's memory, in TB/s (4.2, an H200's)")
    options = parser.parse_args()
    for name in ("gib", "chunk_mib", "threads", "rounds", "bandwidth"):
        if not getattr(options, name) > 0:
            parser.error(f"--{name.replace('_', '-')} is {getattr(options, name)}; expected more than 0")
    try:
        import dask
    except ImportError as problem:
        parser.error(f"Dask cannot be imported ({problem}): pip install 'dask[array]'")
    from rtcg import driver

    dask.config.set(scheduler="threads", num_workers=options.threads)
    elements, chunk = round(options.gib * 2**28), round(options.chunk_mib * 2**18)
    driver.init()
    print(
        f"{driver.Device(0).name()}: {4 * elements / 2**30:g} GiB in {math.ceil(elements / chunk)} chunks, "
        f"Dask {dask.__version__}, {options.threads} threads"
    )
    bound = None
    print(f"{'':16} {'ms':>9} {'of the bound':>13}")
    for backend in ("rtcg", "cupy"):
        if importlib.util.find_spec(backend) is None:
            print(f"{backend:16} is not installed")
            continue
        array = chunks_on_device(backend, elements, chunk)
        if bound is None:
            empty = empty_tasks(array, options.rounds)
            bound = 1.05 * (empty + 4e3 * elements / (options.bandwidth * 1e12))
            print(f"{'empty tasks':16} {empty:9.3f} {empty / bound:13.2f}")
            print(f"{'bound':16} {bound:9.3f} {1:13.2f}")
        taken, total = milliseconds(lambda array=array: float(array.sum().compute()), options.rounds)
        remark = "" if total == elements else f"  WRONG: {total}, expected {elements}"
        print(f"{backend:16} {taken:9.3f} {taken / bound:13.2f}{remark}", flush=True)
        del array


if __name__ == "__main__":
    main()
