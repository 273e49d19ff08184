"""How the corpus writes cases: sources with ``$names``, launches with plain numbers, oracles on a namespace."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from string import Template
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.compare import Comparison, Exact
from tests.kernels.inputs import rng

__all__ = ["Family", "L", "NUMPY", "cdiv", "ints", "normal", "out", "rng", "uniform", "zeros"]

#: NumPy's types by the names of CUDA.
NUMPY = {"float": np.float32, "double": np.float64, "int": np.int32, "unsigned": np.uint32, "long long": np.int64,
         "unsigned long long": np.uint64, "short": np.int16, "unsigned short": np.uint16, "signed char": np.int8, "unsigned char": np.uint8, "__half": np.float16}


def cdiv(a: int, b: int) -> int:
    """The number of pieces of `b` that cover `a`."""
    return -(-a // b)


def ints(seed: int, shape: Any, low: int = -9, high: int = 10, dtype: Any = np.int32) -> np.ndarray:
    """Whole numbers; in a float type their sums are exact."""
    return rng(seed).integers(low, high, shape).astype(dtype)


def normal(seed: int, shape: Any, dtype: Any = np.float32) -> np.ndarray:
    """Normally distributed numbers."""
    return rng(seed).normal(size=shape).astype(dtype)


def uniform(seed: int, shape: Any, low: float = 0.0, high: float = 1.0, dtype: Any = np.float32) -> np.ndarray:
    """Numbers spread evenly."""
    return rng(seed).uniform(low, high, shape).astype(dtype)


def out(shape: Any, dtype: Any = np.float32) -> np.ndarray:
    """An output that nothing has written."""
    return poisoned(shape, dtype)


def zeros(shape: Any, dtype: Any = np.float32) -> np.ndarray:
    """An output that starts at nought."""
    return np.zeros(shape, dtype)


def L(kernel: str, grid: Any, block: Any, *args: Any, shared: int = 0) -> Launch:
    """A launch whose whole numbers are ``int`` and whose fractions are ``float``."""
    def convert(a: Any) -> Any:
        return np.int32(a) if type(a) is int else np.float32(a) if type(a) is float else a

    grid, block = (d if isinstance(d, tuple) else (d,) for d in (grid, block))
    return Launch([convert(a) for a in args], grid, block, kernel, shared)


class Family(Suite):
    """The cases of one family of the corpus; their names begin with the family's."""

    def __init__(self, name: str) -> None:
        super().__init__(f"corpus.{name}")
        self.prefix = name

    def run(self, name: str, source: str, launches: Any, expect: Callable[[Any], dict[str, np.ndarray]], *, given: dict[str, Any] | None = None,
            compare: Comparison | dict[str, Comparison] = Exact(), cpp: bool | None = None, options: tuple[str, ...] = (),
            constants: dict[str, np.ndarray] | None = None, **buffers: np.ndarray) -> None:
        """Add a case: `given` replaces the ``$names`` of the source, `expect` gets the buffers' first contents."""
        text = Template(source).substitute(given or {})
        inputs = SimpleNamespace(**buffers, **(constants or {}))
        once = cache(lambda: {k: _as(v, buffers[k]) for k, v in expect(inputs).items()})
        self.add(f"{self.prefix}_{name}", text, launches, buffers=buffers, expect=lambda _: once(), compare=compare, options=options,
                 globals_in=constants or {}, no_extern_c=('extern "C"' in text) if cpp is None else cpp)


def _as(value: np.ndarray, buffer: np.ndarray) -> np.ndarray:
    """The oracle's value in the buffer's type and shape."""
    return np.asarray(value).astype(buffer.dtype).reshape(buffer.shape)
