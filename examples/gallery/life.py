"""Conway's Game of Life

A block loads its cells and their neighbours into shared memory once, and each thread counts from there. The board is a
torus.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

SIZE, STEPS, TILE = 256, 200, 16

SOURCE = f"""
#define N {SIZE}
#define T {TILE}
__global__ void step(const unsigned char *now, unsigned char *next)
{{
    __shared__ unsigned char cells[T + 2][T + 2];
    int x0 = blockIdx.x * T, y0 = blockIdx.y * T;
    for (int k = threadIdx.y * T + threadIdx.x; k < (T + 2) * (T + 2); k += T * T) {{
        int y = k / (T + 2), x = k % (T + 2);
        cells[y][x] = now[(y0 + y - 1 + N) % N * N + (x0 + x - 1 + N) % N];
    }}
    __syncthreads();
    int x = threadIdx.x + 1, y = threadIdx.y + 1, count = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            if (dx || dy) count += cells[y + dy][x + dx];
    next[(y0 + y - 1) * N + x0 + x - 1] = count == 3 || (count == 2 && cells[y][x]);
}}
"""


def on_the_host(board):
    """A step with NumPy."""
    shifts = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx]
    count = sum(np.roll(board, shift, (0, 1)) for shift in shifts)
    return ((count == 3) | ((count == 2) & (board == 1))).astype(np.uint8)


def main(picture):
    """Run, compare with NumPy and save the last board."""
    board = np.random.default_rng(1).integers(0, 2, (SIZE, SIZE), dtype=np.uint8)
    step = SourceModule(SOURCE).get_function("step")
    now, following = rnp.to_gpu(board), rnp.empty_like(rnp.to_gpu(board))
    for _ in range(STEPS):
        step(now, following, block=(TILE, TILE, 1), grid=(SIZE // TILE, SIZE // TILE))
        now, following = following, now
        board = on_the_host(board)
    assert (now.get() == board).all()
    matplotlib.image.imsave(picture, np.kron(board, np.ones((2, 2), np.uint8)), cmap="gray_r")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "life.png")
