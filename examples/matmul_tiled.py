"""Multiply two 1024x1024 matrices of doubles through tiles in shared memory.

The kernel text is filled in by Python (run-time code generation at its
simplest), called through a prepared function, timed with events, and then
launched wrongly on purpose: the error is an exception, and the context goes on
working.
"""

import sys
import time

import numpy as np

import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

N = 1024
TILE = 32

KERNEL = """
__global__ void matmul(const double *a, const double *b, double *c)
{
    __shared__ double a_tile[%(TILE)d][%(TILE)d];
    __shared__ double b_tile[%(TILE)d][%(TILE)d];

    const unsigned int tx = threadIdx.x, ty = threadIdx.y;
    const unsigned int column = blockIdx.x * %(TILE)d + tx;
    const unsigned int row = blockIdx.y * %(TILE)d + ty;

    double sum = 0;
    for (unsigned int start = 0; start < %(N)d; start += %(TILE)d) {
        // Each thread of the block brings one element of either tile.
        a_tile[ty][tx] = a[row * %(N)d + start + tx];
        b_tile[ty][tx] = b[(start + ty) * %(N)d + column];
        __syncthreads();

        for (unsigned int k = 0; k < %(TILE)d; ++k)
            sum += a_tile[ty][k] * b_tile[k][tx];
        // The tiles are overwritten in the next round.
        __syncthreads();
    }
    c[row * %(N)d + column] = sum;
}
""" % {"N": N, "TILE": TILE}  # noqa: UP031

GRID = (N // TILE, N // TILE, 1)
BLOCK = (TILE, TILE, 1)


def time_on_device_ms(call, at_least_ms=500, at_most=100):
    """The mean time of `call` by the device's clock, and the number of repetitions."""

    def timed(count):
        start, end = cuda.Event(), cuda.Event()
        start.record()
        for _ in range(count):
            call()
        end.record()
        end.synchronize()
        return start.time_till(end) / count

    # Launches only join a queue, so their number has to be settled beforehand.
    count = max(1, min(at_most, int(at_least_ms / max(timed(1), 1e-3))))
    return timed(count), count


def time_on_host_ms(call, at_least_s=0.5):
    """The mean time of `call` by the host's clock, and the number of repetitions."""
    began, count = time.perf_counter(), 0
    while count == 0 or time.perf_counter() - began < at_least_s:
        call()
        count += 1
    return 1e3 * (time.perf_counter() - began) / count, count


def launch_wrongly(matmul, *pointers):
    """Ask for more threads than a block can have; the exception's text, or None."""
    try:
        matmul.prepared_call(GRID, (TILE + 1, TILE + 1, 1), *pointers)
    except cuda.LogicError as error:
        return f"{type(error).__name__}: {error}"
    return None


def main():
    print(f"device: {pycuda.autoinit.device.name()}")
    rng = np.random.default_rng(0)
    a, b = rng.random((N, N)), rng.random((N, N))
    expected = a @ b

    start = time.perf_counter()
    matmul = SourceModule(KERNEL).get_function("matmul").prepare("PPP")
    compile_ms = 1e3 * (time.perf_counter() - start)

    a_gpu, b_gpu, c_gpu = gpuarray.to_gpu(a), gpuarray.to_gpu(b), gpuarray.zeros((N, N), np.float64)
    pointers = (a_gpu.gpudata, b_gpu.gpudata, c_gpu.gpudata)
    start = time.perf_counter()
    matmul.prepared_call(GRID, BLOCK, *pointers)
    error = np.abs(c_gpu.get() - expected).max() / expected.max()
    first_ms = 1e3 * (time.perf_counter() - start)
    # Both sum 1024 products, in different orders.
    right = error < N * np.finfo(np.float64).eps

    gpu_ms, gpu_count = time_on_device_ms(lambda: matmul.prepared_call(GRID, BLOCK, *pointers))
    numpy_ms, numpy_count = time_on_host_ms(lambda: a @ b)
    gflop = 2 * N**3 / 1e9
    print(f"{N}x{N} doubles, largest relative difference from NumPy: {error:.1e} ({'right' if right else 'WRONG'})")
    print(f"{'':<24}{'time [ms]':>12}{'GFLOP/s':>12}{'runs':>8}")
    print(f"{'compile or load':<24}{compile_ms:12.2f}{'':>12}{1:8}")
    print(f"{'first call and copy':<24}{first_ms:12.2f}{'':>12}{1:8}")
    print(f"{'tiled kernel':<24}{gpu_ms:12.3f}{1e3 * gflop / gpu_ms:12.1f}{gpu_count:8}")
    print(f"{'NumPy':<24}{numpy_ms:12.3f}{1e3 * gflop / numpy_ms:12.1f}{numpy_count:8}")

    message = launch_wrongly(matmul, *pointers)
    print(f"expected error, for a block of {TILE + 1}x{TILE + 1} threads: {message or 'NOT REFUSED'}")

    c_gpu.fill(0)
    matmul.prepared_call(GRID, BLOCK, *pointers)
    usable = np.abs(c_gpu.get() - expected).max() / expected.max() < N * np.finfo(np.float64).eps
    print(f"the context afterwards: {'usable' if usable else 'BROKEN'}")
    return 0 if right and message and usable else 1


if __name__ == "__main__":
    sys.exit(main())
