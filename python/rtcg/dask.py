"""Dask arrays whose chunks are on the device: a backend for ``dask.array``.

``dask.config.set({"array.backend": "rtcg"})`` makes creation functions give such arrays::

    import dask, dask.array as da

    with dask.config.set({"array.backend": "rtcg"}):
        x = da.random.default_rng(0).normal(size=(20_000, 20_000), chunks=5_000)
    print((x + x.T).mean().compute())

Importing this module does the same for chunks that come from elsewhere: ``da.from_array(a, asarray=False)`` of a device
array, ``map_blocks(rtcg.numpy.asarray)``. Tasks run in threads that take the default context (`rtcg.devices`), or in
processes, to which chunks and kernels are pickled. Dask's own schedulers decide where; nothing here does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask
import dask.array as da
import numpy as np
from dask.array import chunk_types, dispatch
from dask.array.backends import ArrayBackendEntrypoint, _numel_arraylike, percentile as _percentile

from rtcg import numpy as _xp, random as _random
from rtcg.numpy import GPUArray

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["to_device"]


def to_device(block: Any, **keywords: Any) -> Any:
    """A chunk on the device: what ``x.to_backend("rtcg")`` does to each. Waits for the copy of host data."""
    return _xp.asarray(block)


def _einsum(*operands: Any, casting: Any = None, order: Any = None, **keywords: Any) -> Any:
    return _xp.einsum(*operands, **keywords)


def _divide(a: Any, b: Any, dtype: Any = None, **keywords: Any) -> Any:
    """The quotient, converted to `dtype` if given: Dask divides sums by counts with it, for means."""
    quotient = _xp.true_divide(a, b)
    return quotient if dtype is None else quotient.astype(dtype)


def _to_numpy(block: GPUArray, **keywords: Any) -> np.ndarray[Any, Any]:
    return block.get()


def _register() -> None:
    for lookup, function in {
        dispatch.concatenate_lookup: _xp.concatenate,
        dispatch.take_lookup: _xp.take,
        dispatch.tensordot_lookup: _xp.tensordot,
        dispatch.einsum_lookup: _einsum,
        dispatch.empty_lookup: _xp.empty,
        dispatch.divide_lookup: _divide,
        dispatch.percentile_lookup: _percentile,
        dispatch.numel_lookup: _numel_arraylike,
        dispatch.to_numpy_dispatch: _to_numpy,
    }.items():
        lookup.register(GPUArray, function)
    if not chunk_types.is_valid_chunk_type(GPUArray):
        da.register_chunk_type(GPUArray)


class BitGenerator(_random.Philox):
    """Philox with a seed sequence, from which Dask spawns one generator for each chunk."""

    def __init__(self, seed: int | np.random.SeedSequence | None = None) -> None:
        self._seed_seq = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
        super().__init__(int(self._seed_seq.generate_state(1, np.uint64)[0]))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored_bit_generator, (self._seed_seq, self.state)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return "rtcg.dask.BitGenerator", sorted(self.state.items())


def _restored_bit_generator(seed: np.random.SeedSequence, state: dict[str, int]) -> BitGenerator:
    made = BitGenerator(seed)
    made.state = state
    return made


class RandomState:
    """The methods of `rtcg.random.Generator` under the names of ``numpy.random.RandomState``, as far as both have them.

    Parameters
    ----------
    seed : int or sequence of int, optional
    """

    _NAMES = {"random_sample": "random", "randint": "integers"}

    def __init__(self, seed: Any = None) -> None:
        self._generator = _random.Generator(BitGenerator(np.random.SeedSequence(seed)))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._generator, self._NAMES.get(name, name))

    def random_integers(self, low: int, high: int | None = None, size: Any = None) -> GPUArray:
        """Integers in [low, high], or [1, low] without `high`, as int64: a new array of shape `size`; does not wait."""
        low, high = (1, low) if high is None else (low, high)
        return self._generator.integers(low, high, size, endpoint=True)


class Backend(ArrayBackendEntrypoint):  # type: ignore[misc]  # Dask has no types
    """What ``array.backend: rtcg`` means to Dask."""

    def __init__(self) -> None:
        _register()

    @classmethod
    def to_backend_dispatch(cls) -> Callable[..., Any]:
        """The function that moves a chunk to the device."""
        return to_device

    @classmethod
    def to_backend(cls, data: Any, **keywords: Any) -> Any:
        """The Dask array with its chunks on the device; the array itself where they are."""
        if isinstance(data._meta, GPUArray):
            return data
        return data.map_blocks(to_device, meta=_xp.empty((0,) * data.ndim, data.dtype), **keywords)

    @property
    def RandomState(self) -> type:
        return RandomState

    @property
    def default_bit_generator(self) -> type:
        return BitGenerator

    @staticmethod
    def ones(*args: Any, **keywords: Any) -> Any:
        return _made("ones", *args, **keywords)

    @staticmethod
    def zeros(*args: Any, **keywords: Any) -> Any:
        return _made("zeros", *args, **keywords)

    @staticmethod
    def empty(*args: Any, **keywords: Any) -> Any:
        return _made("empty", *args, **keywords)

    @staticmethod
    def full(*args: Any, **keywords: Any) -> Any:
        return _made("full", *args, **keywords)

    @staticmethod
    def arange(*args: Any, like: Any = None, **keywords: Any) -> Any:
        return _made("arange", *args, model="like", like=like, **keywords)


def _made(function: str, /, *args: Any, model: str = "meta", **keywords: Any) -> Any:
    """What Dask's own function makes for NumPy, with chunks like its argument `model`, by default device arrays."""
    if keywords.get(model) is None:
        keywords[model] = _xp.empty(())
    with dask.config.set({"array.backend": "numpy"}):
        return getattr(da, function)(*args, **keywords)


_register()
