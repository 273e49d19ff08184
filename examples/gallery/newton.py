"""Newton's fractal

The coefficients of a polynomial are known when the program runs, so polynomial and derivative are written into the
kernel as constants. Each point goes to one of the roots, and is coloured by which.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

SIZE, COEFFICIENTS = 400, [1, 0, 0, -2, 2]  # z^4 - 2 z + 2


def horner(coefficients):
    """A C expression of a polynomial of the complex number `z`."""
    text = f"C({float(coefficients[0])}f)"
    for c in coefficients[1:]:
        text = f"({text} * z + C({float(c)}f))"
    return text


SOURCE = f"""
#include <pycuda-complex.hpp>
typedef pycuda::complex<float> C;
__global__ void newton(C *ends, int *steps)
{{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= {SIZE} || y >= {SIZE}) return;
    C z(-2 + 4.0f * x / {SIZE - 1}, -2 + 4.0f * y / {SIZE - 1});
    int n = 0;
    for (; n < 60; ++n) {{
        C step = {horner(COEFFICIENTS)} / {horner(np.polyder(COEFFICIENTS))};
        z -= step;
        if (norm(step) < 1e-10f) break;
    }}
    ends[y * {SIZE} + x] = z;
    steps[y * {SIZE} + x] = n;
}}
"""


def main(picture):
    """Iterate, compare the ends with the roots by NumPy and save the basins."""
    ends, steps = rnp.empty((SIZE, SIZE), np.complex64), rnp.empty((SIZE, SIZE), np.int32)
    newton = SourceModule(SOURCE).get_function("newton")
    newton(ends, steps, block=(16, 16, 1), grid=(SIZE // 16, SIZE // 16))
    roots, n = np.roots(COEFFICIENTS), steps.get()
    distances = np.abs(ends.get()[..., None] - roots)
    has_ended = n < 60
    assert distances.min(-1)[has_ended].max() < 1e-3 and has_ended.mean() > 0.9
    basins = distances.argmin(-1)
    # Complex conjugates go to complex conjugate roots.
    conjugate = np.abs(roots[:, None] - roots.conj()).argmin(1)
    assert np.mean(conjugate[basins[::-1]] == basins) > 0.98
    colours = np.array([[0.9, 0.4, 0.2], [0.2, 0.5, 0.9], [0.95, 0.8, 0.3], [0.3, 0.7, 0.4]])
    matplotlib.image.imsave(picture, colours[basins] * (1 - np.minimum(n, 40) / 50)[..., None])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "newton.png")
