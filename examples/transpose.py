"""Transpose matrices on the device: the plain way, and through shared memory.

A transposition only moves data, so its bandwidth is held against that of a
device-to-device copy of the same size.
"""

import sys
from functools import partial

import numpy as np

import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

TILE = 32
ROWS = 8

SOURCE = """
// Neighbouring threads read neighbouring elements but write a column apart.
__global__ void naive(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[x * height + y] = in[y * width + x];
}

// A tile is read by rows and written by rows; the turn happens in shared memory. The extra column
// keeps the elements of a tile's column in different banks.
__global__ void tiled(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();

    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
"""

SHAPES = [(64, 64), (1000, 70), (1024, 1024), (2048, 1536)]


def bandwidth_gb_s(run, nbytes, runs=10):
    """Bytes read and written per second over several runs, by the device's clock."""
    run()
    start, end = cuda.Event(), cuda.Event()
    start.record()
    for _ in range(runs):
        run()
    end.record()
    end.synchronize()
    return 2 * nbytes * runs / (start.time_till(end) * 1e-3) / 1e9


def blocks(length, size):
    """How many blocks of `size` cover `length`."""
    return -(-length // size)


def main():
    print(f"device: {pycuda.autoinit.device.name()}")
    module = SourceModule(SOURCE, options=[f"-DTILE={TILE}", f"-DROWS={ROWS}"])
    kernels = {"naive": (16, 16, 1), "tiled": (TILE, ROWS, 1)}
    covered = {"naive": (16, 16), "tiled": (TILE, TILE)}
    failed = False
    print(f"{'shape':>12}{'copy':>12}" + "".join(f"{name:>12}" for name in kernels) + "   GB/s, read and written")
    for height, width in SHAPES:
        a = np.random.default_rng(height).random((height, width), dtype=np.float32)
        a_gpu, out_gpu = cuda.mem_alloc(a.nbytes), cuda.mem_alloc(a.nbytes)
        cuda.memcpy_htod(a_gpu, a)
        line = [bandwidth_gb_s(partial(cuda.memcpy_dtod, out_gpu, a_gpu, a.nbytes), a.nbytes)]
        for name, block in kernels.items():
            function = module.get_function(name).prepare("PPii")
            grid = (blocks(width, covered[name][0]), blocks(height, covered[name][1]), 1)
            cuda.memset_d8(out_gpu, 0xFF, a.nbytes)
            call = partial(function.prepared_call, grid, block, out_gpu, a_gpu, width, height)
            line.append(bandwidth_gb_s(call, a.nbytes))
            out = np.empty((width, height), np.float32)
            cuda.memcpy_dtoh(out, out_gpu)
            if not np.array_equal(out, a.T):
                failed = True
                print(f"{name} transposition of {height}x{width} is WRONG")
        print(f"{f'{height}x{width}':>12}" + "".join(f"{v:12.2f}" for v in line))
    print("WRONG" if failed else "all transpositions are equal to NumPy's")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
