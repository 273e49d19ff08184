"""Random numbers on the device, with the names of `numpy.random`.

The numbers of Philox 4x32-10 (:func:`default_rng`) and Threefry 4x32-20 depend only on key and position. cuRAND is not
needed.
"""

from __future__ import annotations

import inspect
import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._messages import shown

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Sequence
    from typing import Concatenate, ParamSpec, TypeAlias, TypeVar

    from rtcg._native import GPUArray, Stream
    from rtcg.elementwise import ElementwiseKernel

    _Size: TypeAlias = int | Sequence[int] | None
    _P = ParamSpec("_P")
    _R = TypeVar("_R")

__all__ = [
    "Generator", "Philox", "Threefry", "bytes", "choice", "default_rng", "exponential", "lognormal", "normal",
    "permutation", "poisson", "rand", "randint", "randn", "random", "random_sample", "ranf", "sample", "seed",
    "shuffle", "standard_exponential", "standard_normal", "uniform",
]  # fmt: skip


def _random_key() -> int:
    import secrets

    return secrets.randbits(64)


def as_integer(name: str, value: Any) -> int:
    """A Python integer."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {shown(value)}; expected an integer") from None


class Philox:
    """Philox 4x32-10 (Salmon et al., 2011): a position in the sequence of a key.

    Parameters
    ----------
    key : int, optional
        64-bit key; random by default.
    stream : int
        One of 2**32 sequences of the key.
    """

    _engine = "philox"

    def __init__(self, key: int | None = None, stream: int = 0) -> None:
        key = _random_key() if key is None else as_integer("key", key) % 2**64
        self._state = _native.CounterGenerator(self._engine, key, as_integer("stream", stream))

    @property
    def state(self) -> dict[str, int]:
        """``{"key", "stream", "position"}``; positions count blocks of four words. Can be assigned."""
        s = self._state
        return {"key": s.generator_key, "stream": s.stream_number, "position": s.counter_position}

    @state.setter
    def state(self, value: dict[str, int]) -> None:
        self._state = _native.CounterGenerator(self._engine, value["key"], value["stream"])
        self._state.set_counter_position(value["position"])

    def advance(self, delta: int) -> Philox:
        """Skip `delta` blocks of four words; returns the generator itself."""
        self._state.advance(as_integer("delta", delta) % 2**64)
        return self

    def jumped(self, jumps: int = 1) -> Philox:
        """A new generator on the sequence that is `jumps` streams further."""
        new = type(self)(self._state.generator_key, (self._state.stream_number + jumps) % 2**32)
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.state)


def _restored(cls: type[Philox], state: dict[str, int]) -> Philox:
    new = cls(state["key"])
    new.state = state
    return new


class Threefry(Philox):
    """Threefry 4x32-20 (Salmon et al., 2011). Parameters are those of :class:`Philox`."""

    _engine = "threefry"


def shape_from_size(size: _Size) -> tuple[int, ...]:
    """The shape that NumPy's `size` means, a tuple."""
    if size is None:
        return ()
    return (as_integer("size", size),) if isinstance(size, int) or not hasattr(size, "__len__") else tuple(size)


class Generator:
    """Distributions, with NumPy's names, over a :class:`Philox` or :class:`Threefry`.

    Results are arrays on the device, without axes if `size` is None; no method waits. The numbers depend only on the
    generator, not on the device.
    """

    def __init__(self, bit_generator: Philox) -> None:
        if not isinstance(bit_generator, Philox):
            raise TypeError(
                f"bit_generator is {shown(bit_generator)}; expected a Philox or Threefry (default_rng(seed) makes one)"
            )
        self.bit_generator = bit_generator

    @property
    def _state(self) -> _native.CounterGenerator:
        return self.bit_generator._state

    def __repr__(self) -> str:
        return f"Generator({type(self.bit_generator).__name__})"

    def _fill_random(
        self,
        draw: str,
        size: _Size,
        dtype: Any,
        p: float = 0.0,
        q: float = 1.0,
        out: GPUArray | None = None,
        stream: Stream | None = None,
        kinds: str = "f",
    ) -> GPUArray:
        dtype = np.dtype(dtype)
        if dtype.kind not in kinds or dtype.itemsize > 8:
            raise TypeError(f"Unsupported dtype {dtype} for {draw}")
        if out is None:
            out = _xp.empty(shape_from_size(size), dtype)
        elif out.dtype != dtype or (size is not None and tuple(out.shape) != shape_from_size(size)):
            raise ValueError(
                f"out has shape {out.shape} and dtype {out.dtype}; expected {shape_from_size(size)} and {dtype}"
            )
        self._state.fill(draw, out, float(p), float(q), stream)
        return out

    def random(
        self, size: _Size = None, dtype: Any = np.float64, out: GPUArray | None = None, stream: Stream | None = None
    ) -> GPUArray:
        """Uniform numbers in [0, 1): a new array with the shape `size`, or `out`; does not wait.

        `size` is None (no axes), an int or a tuple of int. `dtype` is a floating-point dtype of at most 8 bytes, else
        raises `TypeError`. Raises `ValueError` if `out` has another shape or dtype. Drawn in `stream` if given. The
        sequence depends on the key and on the numbers drawn before, not on the device.
        """
        return self._fill_random("half_open", size, dtype, 0, 1, out, stream)

    def uniform(
        self,
        low: float = 0.0,
        high: float = 1.0,
        size: _Size = None,
        dtype: Any = np.float64,
        stream: Stream | None = None,
    ) -> GPUArray:
        """Uniform numbers in [low, high): a new array with the shape `size`; does not wait.

        `low` and `high` are numbers on the host; raises `OverflowError` if their difference is not finite. Other
        parameters and errors are those of `random`.
        """
        if not math.isfinite(high - low):
            raise OverflowError("Range exceeds valid bounds")
        return self._fill_random("half_open", size, dtype, low, high, None, stream)

    def standard_normal(
        self, size: _Size = None, dtype: Any = np.float64, out: GPUArray | None = None, stream: Stream | None = None
    ) -> GPUArray:
        """Normal numbers with mean 0 and standard deviation 1: a new array of shape `size`, or `out`; does not wait.

        Uses the Box-Muller transform of uniform numbers. Parameters and errors are those of `random`.
        """
        return self._fill_random("normal", size, dtype, 0, 1, out, stream)

    def normal(
        self,
        loc: float = 0.0,
        scale: float = 1.0,
        size: _Size = None,
        dtype: Any = np.float64,
        stream: Stream | None = None,
    ) -> GPUArray:
        """Normal numbers with mean `loc` and standard deviation `scale`: a new array of shape `size`; does not wait.

        Both are numbers on the host; raises `ValueError` for a negative `scale`. Other parameters and errors are those
        of `random`.
        """
        if scale < 0:
            raise ValueError("scale < 0")
        return self._fill_random("normal", size, dtype, loc, scale, None, stream)

    def lognormal(
        self,
        mean: float = 0.0,
        sigma: float = 1.0,
        size: _Size = None,
        dtype: Any = np.float64,
        stream: Stream | None = None,
    ) -> GPUArray:
        """Numbers whose logarithm is normal with `mean` and `sigma`: a new array with the shape `size`; does not wait.

        Both are numbers on the host; raises `ValueError` for a negative `sigma`. Other parameters and errors are those
        of `random`.
        """
        if sigma < 0:
            raise ValueError("sigma < 0")
        return self._fill_random("log_normal", size, dtype, mean, sigma, None, stream)

    def standard_exponential(
        self, size: _Size = None, dtype: Any = np.float64, out: GPUArray | None = None, stream: Stream | None = None
    ) -> GPUArray:
        """Exponential numbers with mean 1: a new array with the shape `size`, or `out`; does not wait.

        Computed as logarithms of uniform numbers. Parameters and errors are those of `random`.
        """
        return self._fill_random("exponential", size, dtype, 1, 0, out, stream)

    def exponential(
        self, scale: float = 1.0, size: _Size = None, dtype: Any = np.float64, stream: Stream | None = None
    ) -> GPUArray:
        """Exponential numbers with mean `scale`, a number on the host: a new array of shape `size`; does not wait.

        Raises `ValueError` if `scale` is negative. Other parameters and errors are those of `random`.
        """
        if scale < 0:
            raise ValueError("scale < 0")
        return self._fill_random("exponential", size, dtype, scale, 0, None, stream)

    def poisson(
        self, lam: float = 1.0, size: _Size = None, dtype: Any = np.int64, stream: Stream | None = None
    ) -> GPUArray:
        """Poisson numbers with mean `lam`, a number on the host: a new array with the shape `size`; does not wait.

        `dtype` is an integer or floating-point dtype of at most 8 bytes, else raises `TypeError`. Raises `ValueError`
        for a mean that is negative, NaN or above 2**62. Uses Hoermann's transformed rejection (PTRS, 1993), and
        inversion for small means.
        """
        if not 0 <= lam <= 2**62:
            raise ValueError("lam < 0 or lam is NaN or too large")
        return self._fill_random("poisson", size, dtype, lam, 0, None, stream, kinds="iuf")

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: _Size = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
        stream: Stream | None = None,
    ) -> GPUArray:
        """Integers in [low, high), or [0, low) without `high`: a new array with the shape `size`; does not wait.

        With `endpoint` the upper end is included. `dtype` is an integer dtype or bool, else raises `TypeError`. Raises
        `ValueError` if the range is empty or does not fit the dtype. Unbiased, by Lemire's method (2019). Drawn in
        `stream` if given.
        """
        if high is None:
            low, high = 0, low
        low, high, dtype = as_integer("low", low), as_integer("high", high) + bool(endpoint), np.dtype(dtype)
        if dtype.kind not in "iub":
            raise TypeError(f"Unsupported dtype {dtype} for integers")
        limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if low >= high:
            raise ValueError("low > high" if endpoint else "low >= high")
        if low < limits[0]:
            raise ValueError(f"low is out of bounds for {dtype}")
        if high - 1 > limits[1]:
            raise ValueError(f"high is out of bounds for {dtype}")
        out = _xp.empty(shape_from_size(size), dtype)
        self._state.fill_integers(out, low % 2**64, (high - low) % 2**64, stream)
        return out

    def bytes(self, length: int) -> builtins.bytes:
        """Random bytes, `length` of them, as a `bytes` object on the host; the call waits for them."""
        out = _xp.empty(-(-length // 4), np.uint32)
        self._state.fill("bits", out)
        return out.get().tobytes()[:length]

    def permutation(self, x: Any, stream: Stream | None = None) -> GPUArray:
        """A random permutation of ``range(x)``, as int64, or of the first axis of an array: a new array.

        Raises `TypeError` for an array without axes. Each position is computed from its index alone, by a cipher (a
        Feistel network) over the numbers below `x`. Runs in `stream` if given; does not wait.
        """
        if not hasattr(x, "shape"):
            out = _xp.empty(operator.index(x), np.int64)
            self._state.fill_permutation(out, stream)
            return out
        if not x.shape:
            raise TypeError("x must be an integer or at least 1-dimensional")
        new = _xp.empty(tuple(x.shape), x.dtype)
        self._permute_rows(x, new, stream)
        return new

    def shuffle(self, x: GPUArray, stream: Stream | None = None) -> None:
        """Shuffle the device array `x` along its first axis, in place; does not wait. Returns None.

        Raises `TypeError` for an array without axes. Rows stay together. Runs in `stream` if given.
        """
        if not x.shape:
            raise TypeError("Argument must be at least 1-dimensional")
        self._permute_rows(x.copy(), x, stream)

    def _permute_rows(self, source: GPUArray, target: GPUArray, stream: Stream | None) -> None:
        from rtcg.elementwise import ElementwiseKernel, VectorArg

        order = _xp.empty(source.shape[0], np.int64)
        self._state.fill_permutation(order, stream)
        row = int(np.prod(source.shape[1:], dtype=np.int64))
        kernel = _PERMUTE_ROWS_KERNELS.get(source.dtype)
        if kernel is None:
            arguments = [VectorArg(source.dtype, "dst"), VectorArg(source.dtype, "src", True)]
            kernel = _PERMUTE_ROWS_KERNELS[source.dtype] = ElementwiseKernel(
                [*arguments, VectorArg(np.int64, "order", True), "long row"],
                "dst[i] = src[order[i / row] * row + i % row]", "take_rows",
            )  # fmt: skip
        if source.size:
            kernel(target, source, order, row, stream=stream)

    def choice(self, a: int, size: _Size = None, replace: bool = True, stream: Stream | None = None) -> GPUArray:
        """Random elements of ``range(a)`` as a new array of int64 with the shape `size`; does not wait.

        Without `replace` all are different; raises `ValueError` for more of them than `a`. Unlike in NumPy, `a` is an
        integer, and there are no weights; use the result as indices to choose from an array. Runs in `stream` if given.
        """
        n = as_integer("a", a)
        if replace:
            return self.integers(0, n, size, stream=stream)
        shape = shape_from_size(size)
        count = int(np.prod(shape, dtype=np.int64))
        if count > n:
            raise ValueError("Cannot take a larger sample than population when replace is False")
        order = self.permutation(n, stream=stream)
        return _xp.GPUArray(shape, np.int64, base=order, gpudata=order.gpudata)

    def spawn(self, n_children: int) -> list[Generator]:
        """Create `n_children` new generators, on the next streams of the same key: a list; does not wait.

        Their numbers do not overlap with those of this one.
        """
        return [Generator(self.bit_generator.jumped(k + 1)) for k in range(n_children)]


_PERMUTE_ROWS_KERNELS: dict[np.dtype[Any], ElementwiseKernel] = {}


def default_rng(seed: int | Philox | Generator | None = None) -> Generator:
    """A :class:`Generator` over :class:`Philox` with the key `seed`, random by default.

    Parameters
    ----------
    seed : int, Philox, Threefry or Generator, optional
        The same seed gives the same numbers on every device. A generator is returned unchanged.

    Notes
    -----
    Does not wait, and needs no device until numbers are drawn.
    """
    if isinstance(seed, Generator):
        return seed
    return Generator(seed if isinstance(seed, Philox) else Philox(seed))


_process_generator: Generator | None = None


def _generator() -> Generator:
    """The generator behind the functions of this module."""
    global _process_generator
    if _process_generator is None:
        _process_generator = default_rng()
    return _process_generator


def seed(seed: int | Philox | Generator | None = None) -> None:
    """Restart the generator of this module's functions from a key; does not wait. Returns None."""
    global _process_generator
    _process_generator = default_rng(seed)


def _shape_of(sizes: tuple[int, ...]) -> tuple[int, ...] | None:
    return sizes if sizes else None


def rand(*sizes: int) -> GPUArray:
    """Uniform numbers in [0, 1), float64, in a new array whose axes have the lengths `sizes`; does not wait."""
    return _generator().random(_shape_of(sizes))


def randn(*sizes: int) -> GPUArray:
    """Standard normal numbers, float64, in a new array whose axes have these lengths; does not wait."""
    return _generator().standard_normal(_shape_of(sizes))


def randint(low: int, high: int | None = None, size: _Size = None, dtype: Any = np.int64) -> GPUArray:
    """Integers in [low, high), or in [0, low) without `high`, in a new array; does not wait.

    `size` is an int or a tuple of int, `dtype` an integer dtype. Raises ValueError if there is no such integer.
    """
    return _generator().integers(low, high, size, dtype)


def _method(of_generator: Callable[Concatenate[Generator, _P], _R]) -> Callable[_P, _R]:
    """A method of the generator that all of these functions share."""

    def draw(*args: _P.args, **keywords: _P.kwargs) -> _R:
        return of_generator(_generator(), *args, **keywords)

    draw.__name__ = draw.__qualname__ = of_generator.__name__
    draw.__doc__ = of_generator.__doc__
    parameters = list(inspect.signature(of_generator).parameters.values())[1:]
    made: Any = draw
    made.__signature__ = inspect.Signature(parameters)
    return made


bytes = _method(Generator.bytes)
choice = _method(Generator.choice)
exponential = _method(Generator.exponential)
lognormal = _method(Generator.lognormal)
normal = _method(Generator.normal)
permutation = _method(Generator.permutation)
poisson = _method(Generator.poisson)
random = _method(Generator.random)
shuffle = _method(Generator.shuffle)
standard_exponential = _method(Generator.standard_exponential)
standard_normal = _method(Generator.standard_normal)
uniform = _method(Generator.uniform)
random_sample = ranf = sample = random
