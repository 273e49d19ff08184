"""Random numbers on the device, under PyCUDA's names.

:func:`rand` uses Philox 4x32-10, as `rtcg.random` does. The classes named after cuRAND's generators keep their states
on the device: 65536 for XORWOW and MRG32k3a, 16384 dimensions for Sobol, regardless of the device, so that results are
the same everywhere. cuRAND is not needed.
"""

import numpy as np

from pycuda import gpuarray
from pycuda._driver import (
    _get_direction_vectors,
    _get_scramble_constants32,
    _get_scramble_constants64,
    get_curand_version,
)
from pycuda.driver import direction_vector_set
from rtcg import _native
from rtcg.random import shape_from_size

__all__ = [
    "MRG32k3aRandomNumberGenerator", "ScrambledSobol32RandomNumberGenerator",
    "ScrambledSobol64RandomNumberGenerator", "Sobol32RandomNumberGenerator", "Sobol64RandomNumberGenerator",
    "XORWOWRandomNumberGenerator", "direction_vector_set", "generate_direction_vectors",
    "generate_scramble_constants32", "generate_scramble_constants64", "get_curand_version", "rand",
    "seed_getter_uniform", "seed_getter_unique",
]  # fmt: skip


def rand(shape, dtype=np.float32, stream=None):
    """Uniform numbers in [0, 1), or random bits of a 32-bit integer type.

    The key comes from NumPy's global generator, so that ``np.random.seed`` makes results reproducible.
    """
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64, np.int32, np.uint32):
        raise NotImplementedError(f"rand of dtype {dtype}; expected float32, float64, int32 or uint32")
    key = int(np.random.randint(0, 2**32, dtype=np.uint32)) << 32 | int(np.random.randint(0, 2**32, dtype=np.uint32))
    state = _native.CounterGenerator("philox", key, 0)
    out = gpuarray.empty(shape_from_size(shape), dtype)
    state.fill("half_open" if dtype.kind == "f" else "bits", out, 0.0, 1.0, stream)
    return out


# -- generators with states on the device -----------------------------------------------------------


def seed_getter_uniform(n):
    """One random seed for all of `n` generators."""
    import random

    return gpuarray.to_gpu(np.full(n, random.randint(-(2**31), 2**31 - 1), np.int32))


def seed_getter_unique(n):
    """A random seed for each of `n` generators."""
    return gpuarray.to_gpu(np.random.randint(-(2**31), 2**31 - 1, n).astype(np.int32))


def generate_direction_vectors(count, direction=None):
    """Direction vectors for `count` dimensions, a device array of shape (count, 32) or (count, 64).

    There are 20000 dimensions; after the last one they start again. The scrambled sets equal the plain ones: only
    constants scramble the numbers. The default `direction` is ``direction_vector_set.VECTOR_32``.
    """
    direction = direction_vector_set.VECTOR_32 if direction is None else direction
    bits = 64 if direction in (direction_vector_set.VECTOR_64, direction_vector_set.SCRAMBLED_VECTOR_64) else 32
    vectors = np.empty((count, bits), f"u{bits // 8}")
    _get_direction_vectors(direction, vectors, count)
    return gpuarray.to_gpu(vectors)


def generate_scramble_constants32(count):
    """Scrambling constants for `count` dimensions; fixed random words."""
    constants = np.empty(count, np.uint32)
    _get_scramble_constants32(constants, count)
    return gpuarray.to_gpu(constants)


def generate_scramble_constants64(count):
    """Scrambling constants for `count` dimensions; fixed random words."""
    constants = np.empty(count, np.uint64)
    _get_scramble_constants64(constants, count)
    return gpuarray.to_gpu(constants)


class _RandomNumberGeneratorBase:
    """The common methods of all classes below. Element ``k`` of an array comes from generator ``k mod count``."""

    generator_bits = 32
    has_box_muller = False

    def _check_dtype(self, what, dtype, allowed):
        dtype = np.dtype(dtype)
        if dtype not in [np.dtype(t) for t in allowed]:
            raise NotImplementedError(
                f"{what} of dtype {dtype}; expected {', '.join(np.dtype(t).name for t in allowed)}"
            )
        return dtype

    def fill_uniform(self, data, stream=None):
        """Fill with uniform numbers in (0, 1], or integers with random bits, of which narrow integers get the upper
        ones.
        """
        allowed = [np.float32, np.float64, np.int32, np.uint32]
        allowed += [np.int64, np.uint64] if self.generator_bits == 64 else []
        dtype = self._check_dtype("fill_uniform", data.dtype, allowed)
        self._states.fill("uniform" if dtype.kind == "f" else "bits", data, stream=stream)

    def fill_normal(self, data, stream=None):
        """Fill with normal numbers with mean 0 and standard deviation 1."""
        self._check_dtype("fill_normal", data.dtype, [np.float32, np.float64])
        self._states.fill("normal", data, 0.0, 1.0, stream)

    def fill_log_normal(self, data, mean, stddev, stream=None):
        """Fill with numbers whose logarithm is normal with `mean` and `stddev`."""
        self._check_dtype("fill_log_normal", data.dtype, [np.float32, np.float64])
        self._states.fill("log_normal", data, float(mean), float(stddev), stream)

    def fill_poisson(self, data, lambda_value=None, stream=None):
        """Fill with Poisson numbers with mean `lambda_value`, or with the mean that each element contains."""
        if lambda_value is None:
            self._check_dtype("fill_poisson", data.dtype, [np.float32, np.float64, np.uint32])
            self._states.fill("poisson_in_place", data, stream=stream)
        else:
            self._check_dtype("fill_poisson", data.dtype, [np.uint32, np.float32, np.float64])
            self._states.fill("poisson", data, float(lambda_value), 0.0, stream)

    def _generate_array(self, fill, shape, dtype, *args):
        result = gpuarray.empty(shape_from_size(shape), dtype)
        fill(result, *args)
        return result

    def gen_uniform(self, shape, dtype, stream=None):
        """A new array of uniform numbers in (0, 1], or of random bits."""
        return self._generate_array(self.fill_uniform, shape, dtype, stream)

    def gen_normal(self, shape, dtype, stream=None):
        """A new array of normal numbers."""
        return self._generate_array(self.fill_normal, shape, dtype, stream)

    def gen_log_normal(self, shape, dtype, mean, stddev, stream=None):
        """A new array of log-normal numbers."""
        return self._generate_array(self.fill_log_normal, shape, dtype, mean, stddev, stream)

    def gen_poisson(self, shape, dtype, lambda_value, stream=None):
        """A new array of Poisson numbers."""
        return self._generate_array(self.fill_poisson, shape, dtype, lambda_value, stream)

    def _skip_states(self, what, counts, stream):
        if stream is not None:
            stream.synchronize()
        counts = counts.get() if hasattr(counts, "get") else counts
        self._states.skip_ahead(what, [int(count) % 2**64 for count in np.atleast_1d(counts)])

    def call_skip_ahead(self, i, stream=None):
        """Skip `i` numbers of every generator; waits."""
        self._skip_states("numbers", i, stream)

    def call_skip_ahead_array(self, i, stream=None):
        """Skip the number of values that the array `i` gives for each generator; waits."""
        self._skip_states("numbers", i, stream)


class _PseudoRandomNumberGenerator(_RandomNumberGeneratorBase):
    """
    Parameters
    ----------
    seed_getter : callable, optional
        Called with the number of generators; returns an int32 device array of as many seeds.
    offset : int
        Numbers to skip.
    """

    block_count = 256
    generators_per_block = 256
    has_box_muller = True

    def __init__(self, seed_getter=None, offset=0):
        count = self.block_count * self.generators_per_block
        seeds = (seed_getter_uniform if seed_getter is None else seed_getter)(count)
        if not (getattr(seeds, "dtype", None) == np.int32 and tuple(seeds.shape) == (count,) and hasattr(seeds, "get")):
            raise TypeError(f"seed_getter must return an int32 GPUArray of length {count}")
        # As in C, a negative seed is extended to 64 bits.
        seeds = seeds.get().astype(np.int64).astype(np.uint64)
        self._states = _native.SequentialGenerators.from_seeds(self._engine, seeds.tolist(), int(offset))

    def call_skip_ahead_sequence(self, i, stream=None):
        """Skip `i` sequences of every generator; waits."""
        self._skip_states("sequences", i, stream)

    def call_skip_ahead_sequence_array(self, i, stream=None):
        """Skip the number of sequences that the array `i` gives for each generator; waits."""
        self._skip_states("sequences", i, stream)


class XORWOWRandomNumberGenerator(_PseudoRandomNumberGenerator):
    __doc__ = "XORWOW (Marsaglia, 2003), seeded as cuRAND does; generators are 2**67 numbers apart.\n" + (
        _PseudoRandomNumberGenerator.__doc__ or ""
    )
    _engine = "xorwow"
    state_type = "curandStateXORWOW"


class MRG32k3aRandomNumberGenerator(_PseudoRandomNumberGenerator):
    __doc__ = "MRG32k3a (L'Ecuyer, 1999), seeded as cuRAND does; generators are 2**76 numbers apart.\n" + (
        _PseudoRandomNumberGenerator.__doc__ or ""
    )
    _engine = "mrg32k3a"
    state_type = "curandStateMRG32k3a"

    def call_skip_ahead_subsequence(self, i, stream=None):
        """Skip `i` subsequences of 2**76 numbers of every generator; waits."""
        self._skip_states("subsequences", i, stream)

    def call_skip_ahead_subsequence_array(self, i, stream=None):
        """Skip the number of subsequences that the array `i` gives for each generator; waits."""
        self._skip_states("subsequences", i, stream)


class _SobolRandomNumberGenerator(_RandomNumberGeneratorBase):
    """Parameters ---------- dir_vector : GPUArray, optional
        Direction vectors, with one row per generator.
    offset : int
        Numbers to skip.
    """

    block_count = 64
    generators_per_block = 256
    _scrambled = False

    def __init__(self, dir_vector=None, offset=0):
        self._init_states(dir_vector, None, offset)

    def _init_states(self, dir_vector, scramble_vector, offset):
        bits, count = self.generator_bits, self.block_count * self.generators_per_block
        dtype = np.dtype(f"u{bits // 8}")
        if dir_vector is None:
            vectors = _native.sobol_vectors(bits, count)
        else:
            if not (getattr(dir_vector, "dtype", None) == dtype and tuple(dir_vector.shape) == (count, bits)):
                raise TypeError(f"dir_vector must be a {dtype} GPUArray of shape ({count}, {bits})")
            vectors = dir_vector.get().ravel().tolist()
        scramble = [0] * count
        if self._scrambled and scramble_vector is None:
            scramble = [c >> (64 - bits) for c in _native.scramble_constants(count)]
        elif self._scrambled:
            if not (getattr(scramble_vector, "dtype", None) == dtype and tuple(scramble_vector.shape) == (count,)):
                raise TypeError(f"scramble_vector must be a {dtype} GPUArray of length {count}")
            scramble = scramble_vector.get().tolist()
        self._states = _native.SequentialGenerators.from_direction_vectors(
            f"sobol{bits}", vectors, scramble, int(offset)
        )


class _ScrambledSobolRandomNumberGenerator(_SobolRandomNumberGenerator):
    """Parameters ---------- dir_vector : GPUArray, optional
        Direction vectors, with one row per generator.
    scramble_vector : GPUArray, optional
        The constants that are combined with the numbers of each generator (exclusive or).
    offset : int
        Numbers to skip.
    """

    _scrambled = True

    def __init__(self, dir_vector=None, scramble_vector=None, offset=0):
        self._init_states(dir_vector, scramble_vector, offset)


class Sobol32RandomNumberGenerator(_SobolRandomNumberGenerator):
    __doc__ = "A Sobol sequence of 32 bits, a dimension for each generator.\n" + (
        _SobolRandomNumberGenerator.__doc__ or ""
    )
    state_type = "curandStateSobol32"


class Sobol64RandomNumberGenerator(_SobolRandomNumberGenerator):
    __doc__ = "A Sobol sequence of 64 bits, a dimension for each generator.\n" + (
        _SobolRandomNumberGenerator.__doc__ or ""
    )
    state_type = "curandStateSobol64"
    generator_bits = 64


class ScrambledSobol32RandomNumberGenerator(_ScrambledSobolRandomNumberGenerator):
    __doc__ = "A scrambled Sobol sequence of 32 bits, a dimension for each generator.\n" + (
        _ScrambledSobolRandomNumberGenerator.__doc__ or ""
    )
    state_type = "curandStateScrambledSobol32"


class ScrambledSobol64RandomNumberGenerator(_ScrambledSobolRandomNumberGenerator):
    __doc__ = "A scrambled Sobol sequence of 64 bits, a dimension for each generator.\n" + (
        _ScrambledSobolRandomNumberGenerator.__doc__ or ""
    )
    state_type = "curandStateScrambledSobol64"
    generator_bits = 64
