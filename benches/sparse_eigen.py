"""Eigenvalues and singular values of sparse matrices beside CuPy and SciPy (as far as they are installed), in one run.

    python benches/sparse_eigen.py [--small]

Each row has the time of a whole call, the largest residual ``norm(A v - w v)`` of its results, and for `eigsh` of rtcg the
products and restarts that it took. On the virtual GPU, or with ``--small``, matrices are smaller.
"""

import argparse
import statistics
import time

import numpy as np
import scipy.sparse.linalg as scipy_linalg

import pycuda.autoprimaryctx  # noqa: F401  which the peers use too
import rtcg.driver as cuda
from rtcg import _native, numpy as rnp
from rtcg.sparse import gallery, linalg

DEVICE = cuda.Device(0)
wait = cuda.Context.synchronize


def seconds_of(call, rounds=3):
    """The median of some calls behind one that loads, and the last result."""
    call()
    times = []
    for _ in range(rounds):
        wait()
        start = time.perf_counter()
        result = call()
        wait()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result


def row(name, host, seconds, w, v, more=""):
    w, v = (np.asarray(x.get()) if hasattr(x, "get") else x for x in (w, v))
    residual = np.linalg.norm(host @ v - v * w, axis=0).max()
    print(f"    {name:12} {seconds * 1e3:10.1f} ms, largest residual {residual:.1e}{more}")


def lanczos(title, a, **options):
    print(f"  eigsh, {title}: {a.shape[0]} rows, {options}")
    host = a.get()
    seconds, (w, v) = seconds_of(lambda: linalg.eigsh(a, **options))
    limits = {"ncv": options.get("ncv"), "maxiter": None, "tol": float(options["tol"]), "seed": 0}
    report = _native.sparse_eigsh(
        a._native, np.dtype(np.float64), None, k=options["k"], which=options["which"], shift=None, **limits
    )[2]
    row("rtcg", host, seconds, w, v, f", {report['products']} products, {report['restarts']} restarts")
    try:
        import cupyx.scipy.sparse
        import cupyx.scipy.sparse.linalg as theirs

        matrix = cupyx.scipy.sparse.csr_matrix(host)
        row("cupy", host, *flat(seconds_of(lambda: theirs.eigsh(matrix, **options))))
    except ImportError:
        pass
    row("scipy", host, *flat(seconds_of(lambda: scipy_linalg.eigsh(host, **options), 1)))


def flat(timed):
    seconds, (w, v, *_) = timed
    return seconds, w, v


def blocks(title, a, k, **options):
    print(f"  lobpcg, {title}: {a.shape[0]} rows, {k} vectors, {options}")
    host, x = a.get(), np.random.default_rng(0).standard_normal((a.shape[0], k))
    on_device = rnp.to_gpu(x)
    row("rtcg", host, *flat(seconds_of(lambda: linalg.lobpcg(a, on_device, **options))))
    try:
        import cupy
        import cupyx.scipy.sparse
        import cupyx.scipy.sparse.linalg as theirs

        matrix, block = cupyx.scipy.sparse.csr_matrix(host), cupy.asarray(x)
        row("cupy", host, *flat(seconds_of(lambda: theirs.lobpcg(matrix, block, **options))))
    except ImportError:
        pass
    row("scipy", host, *flat(seconds_of(lambda: scipy_linalg.lobpcg(host, x, **options), 1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="smaller matrices")
    side = 64 if parser.parse_args().small or DEVICE.is_virtual else 512
    print(DEVICE.name())
    lanczos(f"poisson2d {side}^2", gallery.poisson2d(side), k=6, which="LA", tol=1e-6)
    lanczos(f"poisson2d {side}^2", gallery.poisson2d(side), k=6, which="SA", tol=1e-6, ncv=60)
    blocks(f"poisson2d {side}^2", gallery.poisson2d(side), 8, tol=1e-3, maxiter=100, largest=True)


if __name__ == "__main__":
    main()
