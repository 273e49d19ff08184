"""Square a matrix and multiply two, element by element, in blocks of 16 x 16: which element is whose.

Each step is one of a first lesson: an index from block and thread, a bound for sizes that blocks do not
divide, and the same without a kernel of one's own.
"""

import sys

import numpy as np

import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

SOURCE = """
__device__ bool index_of(int width, int height, int &i)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    i = row * width + column;
    return column < width && row < height;
}

__global__ void square(float *a, int width, int height)
{
    int i;
    if (index_of(width, height, i)) a[i] *= a[i];
}

__global__ void multiply(float *c, const float *a, const float *b, int width, int height)
{
    int i;
    if (index_of(width, height, i)) c[i] = a[i] * b[i];
}

// Where each element was computed: the block in its x and y, the thread in its z and w.
__global__ void places(ushort4 *place, int width, int height)
{
    int i;
    if (index_of(width, height, i)) place[i] = make_ushort4(blockIdx.x, blockIdx.y, threadIdx.x, threadIdx.y);
}
"""

HEIGHT, WIDTH, EDGE = 250, 333, 16
SIZE = (np.int32(WIDTH), np.int32(HEIGHT))
LAUNCH = {"block": (EDGE, EDGE, 1), "grid": (-(-WIDTH // EDGE), -(-HEIGHT // EDGE))}


def main():
    print(f"device: {pycuda.autoinit.device.name()}")
    module = SourceModule(SOURCE)
    a, b = np.random.default_rng(0).standard_normal((2, HEIGHT, WIDTH)).astype(np.float32)

    squared = a.copy()
    module.get_function("square")(cuda.InOut(squared), *SIZE, **LAUNCH)

    product = np.empty_like(a)
    module.get_function("multiply")(cuda.Out(product), cuda.In(a), cuda.In(b), *SIZE, **LAUNCH)

    place = np.empty((HEIGHT, WIDTH, 4), np.uint16)
    module.get_function("places")(cuda.Out(place), *SIZE, **LAUNCH)
    rows, columns = np.indices((HEIGHT, WIDTH))
    expected = np.stack([columns // EDGE, rows // EDGE, columns % EDGE, rows % EDGE], axis=-1)

    checks = {
        "a * a": np.array_equal(squared, a * a),
        "a * b": np.array_equal(product, a * b),
        "places": np.array_equal(place, expected),
        "GPUArray": np.array_equal((gpuarray.to_gpu(a) * gpuarray.to_gpu(b)).get(), a * b),
    }
    for name, right in checks.items():
        print(f"{name:>8}: {'equal to NumPy' if right else 'WRONG'}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
