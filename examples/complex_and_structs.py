"""Complex numbers in kernels and arrays, and structures that Python and a kernel share."""

import sys

import numpy as np

import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel

COMPLEX = """
#include <pycuda-complex.hpp>
typedef pycuda::complex<double> number;

__global__ void julia(int *steps, const number *start, number c, int n, int limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    number z = start[i];
    int k = 0;
    while (k < limit && real(z) * real(z) + imag(z) * imag(z) <= 4) { z = z * z + c; ++k; }
    steps[i] = k;
}
"""

STRUCTS = """
struct Particle { float position[3]; float mass; int charge; double energy; };

__global__ void accelerate(Particle *particles, float seconds)
{
    Particle &p = particles[threadIdx.x];
    for (int axis = 0; axis < 3; ++axis) p.position[axis] += seconds * p.charge;
    p.energy += 0.5 * p.mass * seconds * seconds;
}
"""

# `align` lays the fields out as C does.
PARTICLE = np.dtype(
    [("position", np.float32, 3), ("mass", np.float32), ("charge", np.int32), ("energy", np.float64)], align=True
)


def julia_is_right(n=4096, limit=50):
    """Multiplication and addition of complex numbers, as many times as each point needs."""
    rng = np.random.default_rng(0)
    # Quarters: the first steps are exact, so that both count the same for all points that leave early.
    start = (rng.integers(-8, 9, n) + 1j * rng.integers(-8, 9, n)) / 4
    c = np.complex128(-0.75 + 0.25j)
    steps = np.empty(n, np.int32)
    kernel = SourceModule(COMPLEX).get_function("julia")
    kernel(cuda.Out(steps), cuda.In(start), c, np.int32(n), np.int32(limit), block=(128, 1, 1), grid=(n // 128, 1))

    z, expected, inside = start.copy(), np.zeros(n, np.int32), np.ones(n, bool)
    for _ in range(limit):
        inside &= z.real**2 + z.imag**2 <= 4
        expected += inside
        z[inside] = z[inside] ** 2 + c
    early = expected < 8
    return early.sum() > n // 2 and np.array_equal(steps[early], expected[early])


def arrays_are_right(n=10_000):
    """Conjugates, absolute values and a kernel's expression of complex arrays."""
    rng = np.random.default_rng(1)
    host = (rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(np.complex64)
    z = gpuarray.to_gpu(host)
    square = ElementwiseKernel("pycuda::complex<float> *out, const pycuda::complex<float> *z", "out[i] = z[i] * z[i]")
    out = gpuarray.empty_like(z)
    square(out, z)
    return (
        np.array_equal(z.conj().get(), host.conj())
        and np.allclose(abs(z).get(), abs(host), rtol=1e-6)
        and np.allclose(out.get(), host * host, rtol=1e-5, atol=1e-6)
    )


def structs_are_right():
    """An array of structures goes to the device and comes back with its fields changed."""
    particles = np.zeros(64, PARTICLE)
    particles["mass"], particles["charge"] = np.arange(64) + 1, np.where(np.arange(64) % 2, -1, 1)
    module = SourceModule(STRUCTS)
    changed = particles.copy()
    module.get_function("accelerate")(cuda.InOut(changed), np.float32(2), block=(64, 1, 1))
    return (
        np.array_equal(changed["position"], np.repeat(2.0 * particles["charge"], 3).reshape(64, 3))
        and np.array_equal(changed["energy"], 2.0 * particles["mass"])
        and np.array_equal(changed["charge"], particles["charge"])
    )


def main():
    print(f"device: {pycuda.autoinit.device.name()}")
    checks = {
        "complex numbers in a kernel": julia_is_right(),
        "complex arrays": arrays_are_right(),
        "structures": structs_are_right(),
    }
    for name, right in checks.items():
        print(f"{name}: {'equal to NumPy' if right else 'WRONG'}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
