"""Elementwise kernels, reductions, scans and random numbers on a real GPU, beside CuPy, cuRAND and PyTorch.

Everything is measured in this process and this run, by device events, with 64 Mi elements. Peers that are not installed are
shown as such. `python benches/generators.py [MEBI-ELEMENTS]`
"""

import ctypes
import statistics
import sys

import numpy as np
from common import attempt, per_call_us, show

import pycuda.autoprimaryctx  # noqa: F401
import pycuda.curandom as curandom
import pycuda.driver as drv
import pycuda.gpuarray as gpuarray
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import get_dot_kernel, get_sum_kernel
from pycuda.scan import InclusiveScanKernel
from rtcg import random as rrandom

N = int(sys.argv[1]) << 20 if len(sys.argv) > 1 else 64 << 20


def seconds(call, rounds=9, repeat=10):
    """Median device time of one call."""
    call()
    times = []
    for _ in range(rounds):
        start, end = drv.Event(), drv.Event()
        start.record()
        for _ in range(repeat):
            call()
        end.record()
        end.synchronize()
        times.append(end.time_since(start) * 1e-3 / repeat)
    return statistics.median(times)


def rate(call, amount):
    return amount / seconds(call)


def curand(kind, name):
    """Numbers per second of cuRAND's host API (kinds: 121 XORWOW, 131 MRG32k3a, 161 Philox)."""
    library = ctypes.CDLL("libcurand.so.10")
    handle = ctypes.c_void_p()
    if library.curandCreateGenerator(ctypes.byref(handle), kind):
        raise RuntimeError("curandCreateGenerator failed")
    out = gpuarray.empty(N, np.float32)
    pointer = ctypes.c_void_p(out.ptr)
    count = ctypes.c_size_t(N)
    if name == "uniform":
        return rate(lambda: library.curandGenerateUniform(handle, pointer, count), N) / 1e9
    zero, one = ctypes.c_float(0), ctypes.c_float(1)
    return rate(lambda: library.curandGenerateNormal(handle, pointer, count, zero, one), N) / 1e9


def cupy_rates():
    import cupy

    x, y, z = (cupy.ones(N, cupy.float32) for _ in range(3))
    k = cupy.arange(N, dtype=cupy.int32)
    kernel = cupy.ElementwiseKernel("float32 a, float32 x, float32 b, float32 y", "float32 z", "z = a*x + b*y", "lin")
    return {
        "lin": rate(lambda: kernel(2, x, 3, y, z), 12 * N) / 1e12,
        "sum": rate(lambda: x.sum(), 4 * N) / 1e12,
        "dot": rate(lambda: cupy.dot(x, y), 8 * N) / 1e12,
        "scan": rate(lambda: cupy.cumsum(k, dtype=cupy.int32), 8 * N) / 1e12,
    }


def torch_rates():
    import torch

    x, y = (torch.ones(N, device="cuda") for _ in range(2))
    k = torch.arange(N, device="cuda", dtype=torch.int32)
    out = torch.empty_like(k)
    return {
        "lin": rate(lambda: torch.add(x, y, alpha=2.0), 12 * N) / 1e12,
        "sum": rate(lambda: x.sum(), 4 * N) / 1e12,
        "dot": rate(lambda: torch.dot(x, y), 8 * N) / 1e12,
        "scan": rate(lambda: torch.cumsum(k, 0, dtype=torch.int32, out=out), 8 * N) / 1e12,
        "uniform": rate(lambda: x.uniform_(), N) / 1e9,
        "normal": rate(lambda: x.normal_(), N) / 1e9,
    }


def main():
    x, y, z = (gpuarray.to_gpu(np.ones(N, np.float32)) for _ in range(3))
    k, sums = gpuarray.to_gpu(np.arange(N, dtype=np.int32)), gpuarray.empty(N, np.int32)
    floor = rate(lambda: drv.memcpy_dtod_async(z.gpudata, x.gpudata, 4 * N, None), 8 * N) / 1e12
    lin = ElementwiseKernel("float a, const float *x, float b, const float *y, float *z", "z[i] = a*x[i] + b*y[i]")
    total, dot, scan = (
        get_sum_kernel(None, np.float32),
        get_dot_kernel(np.float32, np.float32),
        InclusiveScanKernel(np.int32, "a+b"),
    )
    cupy = attempt("cupy", cupy_rates)
    torch = attempt("torch", torch_rates)
    peer = lambda rates, name: rates.get(name, "-") if isinstance(rates, dict) else rates  # noqa: E731
    rows = [("copy on the device (floor)", floor, "TB/s")]
    ours = {
        "lin": lambda: rate(lambda: lin(2, x, 3, y, z), 12 * N),
        "sum": lambda: rate(lambda: total(x), 4 * N),
        "dot": lambda: rate(lambda: dot(x, y), 8 * N),
        "scan": lambda: rate(lambda: scan(k, sums), 8 * N),
    }
    for name, measure in ours.items():
        figure = attempt(name, measure)
        rows.append((name, figure / 1e12 if isinstance(figure, float) else figure, "TB/s"))
        rows += [(f"  {name} CuPy", peer(cupy, name), "TB/s"), (f"  {name} PyTorch", peer(torch, name), "TB/s")]
    show(f"{N >> 20} Mi elements, float32 (scan: int32)", rows)

    rows = []
    rng = rrandom.default_rng(1)
    sequential = {
        "XORWOW": (curandom.XORWOWRandomNumberGenerator, 121),
        "MRG32k3a": (curandom.MRG32k3aRandomNumberGenerator, 131),
    }
    for name, fill in (("uniform", rng.random), ("normal", rng.standard_normal)):
        rows.append(
            (
                f"{name} Philox",
                attempt(name, lambda f=fill: rate(lambda: f(dtype=np.float32, out=x), N) / 1e9),
                "Gnum/s",
            )
        )
        rows.append((f"  {name} cuRAND Philox", attempt(name, lambda n=name: curand(161, n)), "Gnum/s"))
        rows.append((f"  {name} PyTorch", peer(torch, name), "Gnum/s"))
        for kind, (cls, number) in sequential.items():
            generator = cls()
            fill = getattr(generator, f"fill_{name}")
            rows.append((f"{name} {kind}", attempt(name, lambda f=fill: rate(lambda: f(x), N) / 1e9), "Gnum/s"))
            rows.append((f"  {name} cuRAND {kind}", attempt(name, lambda n=name, k=number: curand(k, n)), "Gnum/s"))
    show(f"{N >> 20} Mi random float32", rows)

    a, b, c = (gpuarray.zeros(1024, np.float32) for _ in range(3))
    synchronize = drv.Context.synchronize
    show(
        "1024 elements, host time of a call",
        [
            ("ElementwiseKernel", per_call_us(lambda: lin(2, a, 3, b, c), synchronize), "us"),
            ("sum", per_call_us(lambda: total(a), synchronize), "us"),
            ("scan", per_call_us(lambda: scan(k[:1024], sums[:1024]), synchronize), "us"),
        ],
    )


if __name__ == "__main__":
    main()
