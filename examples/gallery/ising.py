"""A magnet that is heated

Spins on a grid point up or down (the Ising model). The grid is a chessboard: all black fields can be flipped at once,
as their neighbours are white. Random numbers come from `rtcg.random`. Below the critical temperature the spins agree as
much as Onsager's exact solution says; above it they do not.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
import rtcg.random
from rtcg.compiler import SourceModule

N, SWEEPS, TEMPERATURES = 128, 300, (1.8, 2.27, 3.5)

SOURCE = f"""
#define N {N}
__global__ void flip(signed char *spins, const float *random, int colour, float temperature)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x, y = i / (N / 2), x = i % (N / 2) * 2 + (y + colour) % 2;
    int around = spins[y * N + (x + 1) % N] + spins[y * N + (x + N - 1) % N]
               + spins[(y + 1) % N * N + x] + spins[(y + N - 1) % N * N + x];
    signed char &spin = spins[y * N + x];
    if (random[i] < expf(-2.0f * spin * around / temperature)) spin = -spin;
}}
"""


def settled(flip, rng, temperature):
    """The spins after some sweeps from all up, and the mean magnetization of the second half of the sweeps."""
    spins, half = rnp.ones((N, N), np.int8), N * N // 2
    magnetizations = []
    for sweep in range(SWEEPS):
        random = rng.random((2, half), dtype=np.float32)
        for colour in (0, 1):
            flip(spins, random[colour], colour, temperature, block=(256, 1, 1), grid=(half // 256, 1))
        if sweep >= SWEEPS // 2:
            magnetizations.append(rnp.mean(spins, dtype=np.float64))
    return spins.get(), np.mean([float(m) for m in magnetizations])


def main(picture):
    """Heat, compare with the exact magnetization and save the spins at three temperatures."""
    flip, rng = SourceModule(SOURCE).get_function("flip"), rtcg.random.default_rng(7)
    found = {t: settled(flip, rng, t) for t in TEMPERATURES}
    cold, _, hot = TEMPERATURES
    assert abs(found[cold][1] - (1 - np.sinh(2 / cold) ** -4) ** 0.125) < 0.01
    assert abs(found[hot][1]) < 0.05
    side_by_side = np.hstack([np.pad(spins, 2) for spins, _ in found.values()])
    matplotlib.image.imsave(picture, np.kron(side_by_side, np.ones((2, 2))), cmap="coolwarm")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "ising.png")
