"""Random numbers on the device.

:func:`rand` and :func:`default_rng` use Philox 4x32-10, whose numbers depend on key and position alone. The classes
named after cuRAND's generators keep states on the device: 65536 of XORWOW and MRG32k3a, 16384 dimensions of Sobol,
whatever the device, so that results are the same everywhere. Nothing here needs cuRAND.
"""

import math
import operator

import numpy as np

from pycuda import _rtcg, gpuarray
from pycuda._driver import (
    _get_direction_vectors,
    _get_scramble_constants32,
    _get_scramble_constants64,
    get_curand_version,
)
from pycuda._enums import direction_vector_set

__all__ = [
    "Generator", "MRG32k3aRandomNumberGenerator", "Philox", "ScrambledSobol32RandomNumberGenerator",
    "ScrambledSobol64RandomNumberGenerator", "Sobol32RandomNumberGenerator", "Sobol64RandomNumberGenerator", "Threefry",
    "XORWOWRandomNumberGenerator", "default_rng", "direction_vector_set", "generate_direction_vectors",
    "generate_scramble_constants32", "generate_scramble_constants64", "get_curand_version", "rand",
    "seed_getter_uniform", "seed_getter_unique",
]  # fmt: skip


# -- counter-based generators ---------------------------------------------------------------------


def _random_key():
    import secrets

    return secrets.randbits(64)


def _whole(name, value):
    """A Python integer."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; expected an integer") from None


class Philox:
    """Philox 4x32-10 (Salmon et al., 2011): a position in the sequence of a key.

    Parameters
    ----------
    key : int, optional
        64 bits; random by default.
    stream : int
        One of 2**32 sequences of the key.
    """

    _engine = "philox"

    def __init__(self, key=None, stream=0):
        key = _random_key() if key is None else _whole("key", key) % 2**64
        self._state = _rtcg.CounterGenerator(self._engine, key, _whole("stream", stream))

    @property
    def state(self):
        """``{"key", "stream", "position"}``; positions count blocks of four words. May be assigned."""
        s = self._state
        return {"key": s.key, "stream": s.stream_number, "position": s.position}

    @state.setter
    def state(self, value):
        self._state = _rtcg.CounterGenerator(self._engine, value["key"], value["stream"])
        self._state.set_position(value["position"])

    def advance(self, delta):
        """Skip `delta` blocks of four words; returns the generator."""
        self._state.advance(_whole("delta", delta) % 2**64)
        return self

    def jumped(self, jumps=1):
        """A new generator on the sequence `jumps` streams further."""
        new = type(self)(self._state.key, (self._state.stream_number + jumps) % 2**32)
        return new

    def __reduce__(self):
        return _restored, (type(self), self.state)


def _restored(cls, state):
    new = cls(state["key"])
    new.state = state
    return new


class Threefry(Philox):
    """Threefry 4x32-20 (Salmon et al., 2011). The parameters are those of :class:`Philox`."""

    _engine = "threefry"


def _shape_of(size):
    if size is None:
        return ()
    return tuple(size) if hasattr(size, "__len__") else (_whole("size", size),)


class Generator:
    """Distributions, with NumPy's names, over a :class:`Philox` or :class:`Threefry`.

    Results are arrays on the device, for `size` None of no dimension; nothing waits. The numbers depend on the
    generator alone, not on the device.
    """

    def __init__(self, bit_generator):
        if not isinstance(bit_generator, Philox):
            raise TypeError(
                f"bit_generator is {bit_generator!r}; expected a Philox or Threefry (default_rng(seed) makes one)"
            )
        self.bit_generator = bit_generator

    @property
    def _state(self):
        return self.bit_generator._state

    def __repr__(self):
        return f"Generator({type(self.bit_generator).__name__})"

    def _drawn(self, draw, size, dtype, p=0.0, q=1.0, out=None, stream=None, kinds="f"):
        dtype = np.dtype(dtype)
        if dtype.kind not in kinds or dtype.itemsize > 8:
            raise TypeError(f"Unsupported dtype {dtype} for {draw}")
        if out is None:
            out = gpuarray.empty(_shape_of(size), dtype)
        elif out.dtype != dtype or (size is not None and tuple(out.shape) != _shape_of(size)):
            raise ValueError(f"out has shape {out.shape} and dtype {out.dtype}; expected {_shape_of(size)} and {dtype}")
        self._state.fill(draw, out, float(p), float(q), stream)
        return out

    def random(self, size=None, dtype=np.float64, out=None, stream=None):
        """Uniform numbers in [0, 1)."""
        return self._drawn("half_open", size, dtype, 0, 1, out, stream)

    def uniform(self, low=0.0, high=1.0, size=None, dtype=np.float64, stream=None):
        """Uniform numbers in [low, high)."""
        if not math.isfinite(high - low):
            raise OverflowError("Range exceeds valid bounds")
        return self._drawn("half_open", size, dtype, low, high, None, stream)

    def standard_normal(self, size=None, dtype=np.float64, out=None, stream=None):
        """Normal numbers of mean 0 and standard deviation 1."""
        return self._drawn("normal", size, dtype, 0, 1, out, stream)

    def normal(self, loc=0.0, scale=1.0, size=None, dtype=np.float64, stream=None):
        """Normal numbers of mean `loc` and standard deviation `scale`."""
        if scale < 0:
            raise ValueError("scale < 0")
        return self._drawn("normal", size, dtype, loc, scale, None, stream)

    def lognormal(self, mean=0.0, sigma=1.0, size=None, dtype=np.float64, stream=None):
        """Numbers whose logarithm is normal of `mean` and `sigma`."""
        if sigma < 0:
            raise ValueError("sigma < 0")
        return self._drawn("log_normal", size, dtype, mean, sigma, None, stream)

    def standard_exponential(self, size=None, dtype=np.float64, out=None, stream=None):
        """Exponential numbers of mean 1."""
        return self._drawn("exponential", size, dtype, 1, 0, out, stream)

    def exponential(self, scale=1.0, size=None, dtype=np.float64, stream=None):
        """Exponential numbers of mean `scale`."""
        if scale < 0:
            raise ValueError("scale < 0")
        return self._drawn("exponential", size, dtype, scale, 0, None, stream)

    def poisson(self, lam=1.0, size=None, dtype=np.int64, stream=None):
        """Poisson numbers of mean `lam`."""
        if not 0 <= lam <= 2**62:
            raise ValueError("lam < 0 or lam is NaN or too large")
        return self._drawn("poisson", size, dtype, lam, 0, None, stream, kinds="iuf")

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False, stream=None):
        """Integers in [low, high), or [0, low) without `high`; with `endpoint` the upper end is included."""
        if high is None:
            low, high = 0, low
        low, high, dtype = _whole("low", low), _whole("high", high) + bool(endpoint), np.dtype(dtype)
        if dtype.kind not in "iub":
            raise TypeError(f"Unsupported dtype {dtype} for integers")
        limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if low >= high:
            raise ValueError("low > high" if endpoint else "low >= high")
        if low < limits[0]:
            raise ValueError(f"low is out of bounds for {dtype}")
        if high - 1 > limits[1]:
            raise ValueError(f"high is out of bounds for {dtype}")
        out = gpuarray.empty(_shape_of(size), dtype)
        self._state.fill_integers(out, low % 2**64, (high - low) % 2**64, stream)
        return out

    def bytes(self, length):
        """Random bytes, on the host."""
        out = gpuarray.empty(-(-length // 4), np.uint32)
        self._state.fill("bits", out)
        return out.get().tobytes()[:length]

    def permutation(self, x, stream=None):
        """A random order of ``range(x)``, or a shuffled copy of an array along its first axis."""
        if not hasattr(x, "shape"):
            out = gpuarray.empty(operator.index(x), np.int64)
            self._state.fill_permutation(out, stream)
            return out
        if not x.shape:
            raise TypeError("x must be an integer or at least 1-dimensional")
        new = gpuarray.empty(tuple(x.shape), x.dtype)
        self._take_rows(x, new, stream)
        return new

    def shuffle(self, x, stream=None):
        """Put an array into a random order along its first axis, in place."""
        if not x.shape:
            raise TypeError("Argument must be at least 1-dimensional")
        self._take_rows(x.copy(), x, stream)

    def _take_rows(self, source, target, stream):
        from pycuda.elementwise import ElementwiseKernel
        from pycuda.tools import VectorArg

        order = gpuarray.empty(source.shape[0], np.int64)
        self._state.fill_permutation(order, stream)
        row = int(np.prod(source.shape[1:], dtype=np.int64))
        kernel = _ROW_KERNELS.get(source.dtype)
        if kernel is None:
            arguments = [VectorArg(source.dtype, "dst"), VectorArg(source.dtype, "src", True)]
            kernel = _ROW_KERNELS[source.dtype] = ElementwiseKernel(
                [*arguments, VectorArg(np.int64, "order", True), "long row"],
                "dst[i] = src[order[i / row] * row + i % row]", "take_rows",
            )  # fmt: skip
        if source.size:
            kernel(target, source, order, row, stream=stream)

    def choice(self, a, size=None, replace=True, stream=None):
        """Elements of ``range(a)``; without `replace` all different."""
        n = _whole("a", a)
        if replace:
            return self.integers(0, n, size, stream=stream)
        shape = _shape_of(size)
        count = int(np.prod(shape, dtype=np.int64))
        if count > n:
            raise ValueError("Cannot take a larger sample than population when replace is False")
        order = self.permutation(n, stream=stream)
        return gpuarray.GPUArray(shape, np.int64, base=order, gpudata=order.gpudata)

    def spawn(self, n_children):
        """New generators on the next `n_children` streams."""
        return [Generator(self.bit_generator.jumped(k + 1)) for k in range(n_children)]


_ROW_KERNELS = {}


def default_rng(seed=None):
    """A :class:`Generator` over :class:`Philox` with the key `seed` (random by default)."""
    if isinstance(seed, Generator):
        return seed
    return Generator(seed if isinstance(seed, Philox) else Philox(seed))


def rand(shape, dtype=np.float32, stream=None):
    """Uniform numbers in [0, 1), or random bits of a 32-bit integer type.

    The key comes from NumPy's global generator, so that ``np.random.seed`` makes results repeat.
    """
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64, np.int32, np.uint32):
        raise NotImplementedError(f"rand of dtype {dtype}; expected float32, float64, int32 or uint32")
    key = int(np.random.randint(0, 2**32, dtype=np.uint32)) << 32 | int(np.random.randint(0, 2**32, dtype=np.uint32))
    state = _rtcg.CounterGenerator("philox", key, 0)
    out = gpuarray.empty(_shape_of(shape), dtype)
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
    """Direction vectors of `count` dimensions, a device array of shape (count, 32) or (count, 64).

    There are 20000 dimensions; after the last one they begin again. The scrambled sets are the plain ones: numbers
    are scrambled by constants alone. The default `direction` is ``direction_vector_set.VECTOR_32``.
    """
    direction = direction_vector_set.VECTOR_32 if direction is None else direction
    bits = 64 if direction in (direction_vector_set.VECTOR_64, direction_vector_set.SCRAMBLED_VECTOR_64) else 32
    vectors = np.empty((count, bits), f"u{bits // 8}")
    _get_direction_vectors(direction, vectors, count)
    return gpuarray.to_gpu(vectors)


def generate_scramble_constants32(count):
    """Scrambling constants of `count` dimensions; fixed random words."""
    constants = np.empty(count, np.uint32)
    _get_scramble_constants32(constants, count)
    return gpuarray.to_gpu(constants)


def generate_scramble_constants64(count):
    """Scrambling constants of `count` dimensions; fixed random words."""
    constants = np.empty(count, np.uint64)
    _get_scramble_constants64(constants, count)
    return gpuarray.to_gpu(constants)


class _RandomNumberGeneratorBase:
    """What all classes below can do. Element ``k`` of an array comes from generator ``k mod count``."""

    generator_bits = 32
    has_box_muller = False

    def _dtypes(self, what, dtype, allowed):
        dtype = np.dtype(dtype)
        if dtype not in [np.dtype(t) for t in allowed]:
            raise NotImplementedError(
                f"{what} of dtype {dtype}; expected {', '.join(np.dtype(t).name for t in allowed)}"
            )
        return dtype

    def fill_uniform(self, data, stream=None):
        """Fill with uniform numbers in (0, 1], integers with random bits: the upper ones for the narrower integers."""
        allowed = [np.float32, np.float64, np.int32, np.uint32]
        allowed += [np.int64, np.uint64] if self.generator_bits == 64 else []
        dtype = self._dtypes("fill_uniform", data.dtype, allowed)
        self._states.fill("uniform" if dtype.kind == "f" else "bits", data, stream=stream)

    def fill_normal(self, data, stream=None):
        """Fill with normal numbers of mean 0 and standard deviation 1."""
        self._dtypes("fill_normal", data.dtype, [np.float32, np.float64])
        self._states.fill("normal", data, 0.0, 1.0, stream)

    def fill_log_normal(self, data, mean, stddev, stream=None):
        """Fill with numbers whose logarithm is normal of `mean` and `stddev`."""
        self._dtypes("fill_log_normal", data.dtype, [np.float32, np.float64])
        self._states.fill("log_normal", data, float(mean), float(stddev), stream)

    def fill_poisson(self, data, lambda_value=None, stream=None):
        """Fill with Poisson numbers of mean `lambda_value`, or of the mean that each element holds."""
        if lambda_value is None:
            self._dtypes("fill_poisson", data.dtype, [np.float32, np.float64, np.uint32])
            self._states.fill("poisson_in_place", data, stream=stream)
        else:
            self._dtypes("fill_poisson", data.dtype, [np.uint32, np.float32, np.float64])
            self._states.fill("poisson", data, float(lambda_value), 0.0, stream)

    def _generated(self, fill, shape, dtype, *args):
        result = gpuarray.empty(_shape_of(shape), dtype)
        fill(result, *args)
        return result

    def gen_uniform(self, shape, dtype, stream=None):
        """A new array of uniform numbers in (0, 1], or of random bits."""
        return self._generated(self.fill_uniform, shape, dtype, stream)

    def gen_normal(self, shape, dtype, stream=None):
        """A new array of normal numbers."""
        return self._generated(self.fill_normal, shape, dtype, stream)

    def gen_log_normal(self, shape, dtype, mean, stddev, stream=None):
        """A new array of log-normal numbers."""
        return self._generated(self.fill_log_normal, shape, dtype, mean, stddev, stream)

    def gen_poisson(self, shape, dtype, lambda_value, stream=None):
        """A new array of Poisson numbers."""
        return self._generated(self.fill_poisson, shape, dtype, lambda_value, stream)

    def _skip(self, what, counts, stream):
        if stream is not None:
            stream.synchronize()
        counts = counts.get() if hasattr(counts, "get") else counts
        self._states.skip(what, [int(count) % 2**64 for count in np.atleast_1d(counts)])

    def call_skip_ahead(self, i, stream=None):
        """Skip `i` numbers of every generator; waits."""
        self._skip("numbers", i, stream)

    def call_skip_ahead_array(self, i, stream=None):
        """Skip as many numbers of each generator as the array `i` says; waits."""
        self._skip("numbers", i, stream)


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
        self._states = _rtcg.SequentialGenerators.seeded(self._engine, seeds.tolist(), int(offset))

    def call_skip_ahead_sequence(self, i, stream=None):
        """Skip `i` sequences of every generator; waits."""
        self._skip("sequences", i, stream)

    def call_skip_ahead_sequence_array(self, i, stream=None):
        """Skip as many sequences of each generator as the array `i` says; waits."""
        self._skip("sequences", i, stream)


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
        self._skip("subsequences", i, stream)

    def call_skip_ahead_subsequence_array(self, i, stream=None):
        """Skip as many subsequences of each generator as the array `i` says; waits."""
        self._skip("subsequences", i, stream)


class _SobolRandomNumberGenerator(_RandomNumberGeneratorBase):
    """
    Parameters
    ----------
    dir_vector : GPUArray, optional
        Direction vectors, one row for each generator.
    offset : int
        Numbers to skip.
    """

    block_count = 64
    generators_per_block = 256
    _scrambled = False

    def __init__(self, dir_vector=None, offset=0):
        self._start(dir_vector, None, offset)

    def _start(self, dir_vector, scramble_vector, offset):
        bits, count = self.generator_bits, self.block_count * self.generators_per_block
        dtype = np.dtype(f"u{bits // 8}")
        if dir_vector is None:
            vectors = _rtcg.sobol_vectors(bits, count)
        else:
            if not (getattr(dir_vector, "dtype", None) == dtype and tuple(dir_vector.shape) == (count, bits)):
                raise TypeError(f"dir_vector must be a {dtype} GPUArray of shape ({count}, {bits})")
            vectors = dir_vector.get().ravel().tolist()
        scramble = [0] * count
        if self._scrambled and scramble_vector is None:
            scramble = [c >> (64 - bits) for c in _rtcg.scramble_constants(count)]
        elif self._scrambled:
            if not (getattr(scramble_vector, "dtype", None) == dtype and tuple(scramble_vector.shape) == (count,)):
                raise TypeError(f"scramble_vector must be a {dtype} GPUArray of length {count}")
            scramble = scramble_vector.get().tolist()
        self._states = _rtcg.SequentialGenerators.directed(f"sobol{bits}", vectors, scramble, int(offset))


class _ScrambledSobolRandomNumberGenerator(_SobolRandomNumberGenerator):
    """
    Parameters
    ----------
    dir_vector : GPUArray, optional
        Direction vectors, one row for each generator.
    scramble_vector : GPUArray, optional
        What the numbers of each generator are combined with (exclusive or).
    offset : int
        Numbers to skip.
    """

    _scrambled = True

    def __init__(self, dir_vector=None, scramble_vector=None, offset=0):
        self._start(dir_vector, scramble_vector, offset)


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
