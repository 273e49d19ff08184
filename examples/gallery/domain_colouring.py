"""A function of a complex variable, in colours

A formula is typed as text, and becomes a kernel of complex numbers. The hue is the angle of its value, so all colours
meet at each zero and at each pole. NumPy evaluates the same text for comparison.
"""

import sys

import matplotlib.colors
import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.elementwise import ElementwiseKernel

SIZE, FORMULA = 400, "(z * z - 1.0f) * (z - 2.0f - 1.0f * I) * (z - 2.0f - 1.0f * I) / (z * z + 2.0f + 2.0f * I)"


def kernel_of(formula):
    """A kernel that evaluates a formula of `z` and the imaginary unit `I`."""
    return ElementwiseKernel(
        "const pycuda::complex<float> *points, pycuda::complex<float> *values",
        f"pycuda::complex<float> z = points[i], I(0, 1); values[i] = {formula};",
        "evaluate",
    )


def colours(values):
    """Hue by the angle, brightness by the fractional part of the logarithm of the modulus."""
    hue = np.angle(values) / (2 * np.pi) % 1
    brightness = 0.6 + 0.4 * (np.log2(np.abs(values) + 1e-9) % 1)
    return matplotlib.colors.hsv_to_rgb(np.stack([hue, np.full_like(hue, 0.8), brightness], -1))


def winding_number(values, centre, radius=8):
    """How often the angle turns on the way around a point: zeros less poles."""
    angle = np.linspace(0, 2 * np.pi, 200)
    row, column = centre[1] + radius * np.sin(angle), centre[0] + radius * np.cos(angle)
    along = np.angle(values[np.round(row).astype(int), np.round(column).astype(int)])
    return round((np.unwrap(along)[-1] - np.unwrap(along)[0]) / (2 * np.pi))


def main(picture):
    """Evaluate, compare with NumPy, count zeros and poles, and save the colours."""
    axis = np.linspace(-3, 3, SIZE, dtype=np.float32)
    z = (axis + 1j * axis[:, None]).astype(np.complex64)
    values = rnp.empty((SIZE, SIZE), np.complex64)
    kernel_of(FORMULA)(rnp.to_gpu(z), values)
    found = values.get()
    expected = eval(FORMULA.replace("f", ""), {"z": z.astype(complex), "I": 1j})
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-3)
    pixel = lambda x, y: ((x + 3) / 6 * (SIZE - 1), (y + 3) / 6 * (SIZE - 1))  # noqa: E731
    assert winding_number(found, pixel(1, 0)) == 1 and winding_number(found, pixel(2, 1)) == 2
    pole = np.sqrt(-2 - 2j)
    assert winding_number(found, pixel(pole.real, pole.imag)) == -1
    matplotlib.image.imsave(picture, colours(found)[::-1])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "domain_colouring.png")
