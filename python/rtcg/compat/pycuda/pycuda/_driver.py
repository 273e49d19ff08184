"""The contents of PyCUDA's native module: exception classes, enumerations, driver objects."""

from pycuda.driver import *  # noqa: F403
from pycuda.driver import get_curand_version as get_curand_version
from rtcg import _native


def _direction_vector_bits(kind):
    """The number of direction numbers per dimension of a set, each with as many bits."""
    bits = {101: 32, 102: 32, 103: 64, 104: 64}
    if kind not in bits:
        raise ValueError(f"set is {kind!r}; expected a member of pycuda.curandom.direction_vector_set")
    return bits[kind]


def _fill_host_array(dst, values, bits, shape):
    """Put `values` into the host array `dst`."""
    import numpy as np

    if not isinstance(dst, np.ndarray) or dst.dtype != f"u{bits // 8}" or dst.size < len(values):
        shown = f"{dst.dtype} array of shape {dst.shape}" if isinstance(dst, np.ndarray) else type(dst).__name__
        raise TypeError(f"dst is a {shown}; expected a NumPy array of uint{bits} of shape {shape}")
    dst.flat[: len(values)] = values


def _get_direction_vectors(set, dst, count):
    """Put Sobol's direction numbers of the first `count` dimensions into the host array `dst`."""
    bits = _direction_vector_bits(set)
    _fill_host_array(dst, _native.sobol_vectors(bits, count), bits, (count, bits))


def _get_scramble_constants32(dst, count):
    """Put the 32-bit scrambling constants of the first `count` dimensions into the host array `dst`."""
    _fill_host_array(dst, [value >> 32 for value in _native.scramble_constants(count)], 32, (count,))


def _get_scramble_constants64(dst, count):
    """Put the 64-bit scrambling constants of the first `count` dimensions into the host array `dst`."""
    _fill_host_array(dst, _native.scramble_constants(count), 64, (count,))
