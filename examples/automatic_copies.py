"""`In`, `Out` and `InOut`: NumPy arrays as kernel arguments, copied as their role says."""

import sys
import time

import numpy as np

import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

SOURCE = """
__global__ void multiply_them(float *dest, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dest[i] = a[i] * b[i];
}

__global__ void accumulate(double *total, const float *x, double weight, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        total[i] += weight * x[i];
}
"""

N = 100_000
BLOCK = (256, 1, 1)
GRID = (-(-N // BLOCK[0]), 1)


def main():
    print(f"device: {pycuda.autoinit.device.name()}")
    module = SourceModule(SOURCE)
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, N)).astype(np.float32)

    # In is copied to the device, Out only back.
    start = time.perf_counter()
    dest = np.empty_like(a)
    multiply_them = module.get_function("multiply_them")
    multiply_them(cuda.Out(dest), cuda.In(a), cuda.In(b), np.int32(N), block=BLOCK, grid=GRID)
    out_ms = 1e3 * (time.perf_counter() - start)
    out_right = np.array_equal(dest, a * b)

    # InOut goes both ways; time_kernel gives the seconds that the launch took.
    total = rng.standard_normal(N)
    expected = total.copy()
    seconds = []
    for weight in (0.5, -2.0, 1024.0):
        accumulate = module.get_function("accumulate")
        args = (cuda.InOut(total), cuda.In(a), np.float64(weight), np.int32(N))
        seconds.append(accumulate(*args, block=BLOCK, grid=GRID, time_kernel=True))
        expected += weight * a.astype(np.float64)
    # Powers of two: a product is exact, so one rounding each is left, fused or not.
    inout_right = np.array_equal(total, expected)

    # What is only read stays untouched on the host.
    kept = a.copy()
    module.get_function("multiply_them")(cuda.In(a), cuda.In(b), cuda.In(b), np.int32(N), block=BLOCK, grid=GRID)
    in_right = np.array_equal(a, kept)

    print(f"Out   {'equal to NumPy' if out_right else 'WRONG'}, {out_ms:.2f} ms with copies and the kernel's load")
    print(f"InOut {'equal to NumPy' if inout_right else 'WRONG'}, {1e3 * min(seconds):.3f} ms the kernel alone")
    print(f"In    {'leaves the array alone' if in_right else 'WRONG: the array changed'}")
    return 0 if out_right and inout_right and in_right else 1


if __name__ == "__main__":
    sys.exit(main())
