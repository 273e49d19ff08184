"""Double a 4x4 matrix on the GPU: with explicit memory, with automatic copies, with a GPUArray.

The first program that the talks on PyCUDA show, in its three forms.
"""

import sys
import time

import numpy as np

import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

SOURCE = """
__global__ void twice(float *a)
{
    int idx = threadIdx.x + threadIdx.y * 4;
    a[idx] *= 2;
}
"""


def with_explicit_memory(a):
    """Allocate, copy in, launch, copy out."""
    a_gpu = cuda.mem_alloc(a.nbytes)
    cuda.memcpy_htod(a_gpu, a)

    twice = SourceModule(SOURCE).get_function("twice")
    twice(a_gpu, block=(4, 4, 1))

    a_doubled = np.empty_like(a)
    cuda.memcpy_dtoh(a_doubled, a_gpu)
    return a_doubled


def with_automatic_copies(a):
    """Let the call move the array to the device and back."""
    a_doubled = a.copy()
    SourceModule(SOURCE).get_function("twice")(cuda.InOut(a_doubled), block=(4, 4, 1))
    return a_doubled


def with_a_gpuarray(a):
    """Write no kernel at all."""
    return (2 * gpuarray.to_gpu(a)).get()


def main():
    device = pycuda.autoinit.device
    print(f"device: {device.name()}, compute capability {'.'.join(map(str, device.compute_capability()))}")

    a = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
    print("original:", a, sep="\n")
    failed = False
    for variant in (with_explicit_memory, with_automatic_copies, with_a_gpuarray):
        start = time.perf_counter()
        a_doubled = variant(a)
        elapsed_ms = 1e3 * (time.perf_counter() - start)
        right = np.array_equal(a_doubled, 2 * a)
        failed |= not right
        print(f"{variant.__name__:>22}: {'equal to NumPy' if right else 'WRONG'}, {elapsed_ms:.1f} ms")
    print("doubled:", a_doubled, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
