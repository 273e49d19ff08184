"""The Mandelbrot set: tail recursion for each element, complex numbers as tuples."""

import builtins
import sys

import numpy as np
from harness import check, options

from rtcg.copperhead import cu, float32, map, range


@cu
def squared(z):
    real, imag = z
    return real * real - imag * imag, float32(2.0) * real * imag


@cu
def added(z, w):
    z_real, z_imag = z
    w_real, w_imag = w
    return z_real + w_real, z_imag + w_imag


@cu
def squared_modulus(z):
    real, imag = z
    return real * real + imag * imag


@cu
def escape_time(z0, z, i, threshold, limit):
    z = added(squared(z), z0)
    done = squared_modulus(z) > threshold or i > limit
    if not done:
        return escape_time(z0, z, i + 1, threshold, limit)
    else:
        return i


@cu(contract=True)
def mandelbrot(lower, scale, shape, threshold, limit):
    width, height = shape

    def point(i):
        scale_x, scale_y = scale
        lower_x, lower_y = lower
        return float32(i % width) * scale_x + lower_x, float32(i // width) * scale_y + lower_y

    def time(z):
        return escape_time(z, z, 0, threshold, limit)

    return map(time, map(point, range(width * height)))


def by_numpy(lower, scale, shape, threshold, limit):
    width, height = shape
    i = np.arange(width * height)
    real0 = (i % width).astype(np.float32) * scale[0] + lower[0]
    imag0 = (i // width).astype(np.float32) * scale[1] + lower[1]
    real, imag, times = real0, imag0, np.full(i.shape, -1, np.int64)
    with np.errstate(all="ignore"):
        for step in builtins.range(limit + 2):
            real, imag = real * real - imag * imag + real0, np.float32(2) * real * imag + imag0
            modulus = real * real + imag * imag
            times[(times < 0) & ((modulus > threshold) | (step > limit))] = step
    return times


def main(arguments=None):
    chosen = options(__doc__, arguments, size=200, size_here=16, limit=(100, 30))
    shape = (chosen.size, chosen.size)
    lower = (np.float32(-2.5), np.float32(-2.0))
    scale = (np.float32(4) / np.float32(chosen.size),) * 2
    with chosen.place:
        times = mandelbrot(lower, scale, shape, np.float32(4), chosen.limit)
    expected = by_numpy(lower, scale, shape, np.float32(4), chosen.limit)
    # A device may round a product and a sum once: a point at the border may take another step.
    found = check(times, expected, atol=0 if chosen.place.name == "here" else chosen.limit)
    differing = np.count_nonzero(found != expected)
    if differing > expected.size // 100:
        raise AssertionError(f"{differing} of {expected.size} points differ from NumPy")
    inside = np.count_nonzero(found > chosen.limit)
    print(f"Mandelbrot set, {chosen.size} x {chosen.size} at {chosen.place.name}: {inside} points are inside")


if __name__ == "__main__":
    sys.exit(main())
