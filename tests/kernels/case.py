"""What a kernel case is: source, buffers, launches, oracle, comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.kernels.compare import Comparison, Exact

Buffers = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Ptr:
    """A kernel argument: the address of buffer `name`, plus `offset` bytes."""

    name: str
    offset: int = 0


@dataclass(frozen=True)
class RawPtr:
    """A kernel argument: an address given as a number (for wild pointers)."""

    address: int


@dataclass(frozen=True, eq=False)
class Texture:
    """A kernel argument: a texture object over an array of `texels` with the axes (z, y, x, channel).

    `mode` is a `CUaddress_mode`; bytes are read as numbers from 0 to 1 unless `as_integer`.
    """

    texels: np.ndarray
    linear: bool = False
    mode: int = 1
    normalized: bool = False
    as_integer: bool = False

    def flags(self) -> int:
        """The flags of a `CUDA_TEXTURE_DESC`."""
        return 2 * self.normalized + self.as_integer

    def extent(self) -> tuple[int, int, int]:
        """Width, height and depth of the array; a depth of 0 makes it a plane."""
        depth, height, width, _ = self.texels.shape
        return width, height, depth if depth > 1 else 0


#: A buffer's name, a pointer, a texture, a NumPy scalar, or a structured NumPy scalar.
Arg = Any


@dataclass(frozen=True)
class Launch:
    """One kernel launch."""

    args: Sequence[Arg]
    grid: tuple[int, ...] = (1,)
    block: tuple[int, ...] = (1,)
    kernel: str = "k"
    shared: int = 0


@dataclass(frozen=True)
class ExpectedError:
    """The failure that CUDA defines for a case.

    `codes` are the names of the acceptable `CUresult` values, `text` the words
    of ``cuGetErrorString`` one of which must be in the message, `classes` the
    `pycuda.driver` exception classes. `phase` is where it may first be seen.
    """

    codes: tuple[str, ...]
    text: tuple[str, ...]
    classes: tuple[str, ...]
    phase: tuple[str, ...] = ("launch", "sync")


@dataclass(frozen=True)
class KernelCase:
    """One kernel with inputs and an oracle.

    `buffers` hold the initial contents of device memory; those named in the
    result of `expect` are read back and compared. `globals_in` are written to
    the module's symbols before the first launch, `globals_out` are read after
    the last. `stdout` is the set of lines that ``printf`` must have written,
    in any order. A case that is `faulting` (its error makes the context
    unusable) or `spins` (a wrong scheduler would hang) runs in a process of
    its own.
    """

    name: str
    source: str
    launches: Sequence[Launch]
    buffers: Buffers = field(default_factory=dict)
    expect: Callable[[Buffers], Buffers] = lambda _: {}
    compare: Comparison | Mapping[str, Comparison] = Exact()
    options: tuple[str, ...] = ()
    arch: str | None = None
    no_extern_c: bool = False
    globals_in: Buffers = field(default_factory=dict)
    globals_out: Callable[[Buffers], Buffers] = lambda _: {}
    stdout: tuple[str, ...] | None = None
    error: ExpectedError | None = None
    faulting: bool = False
    spins: bool = False
    feature: str = ""

    def comparison(self, name: str) -> Comparison:
        """How buffer `name` is compared."""
        if isinstance(self.compare, Mapping):
            return self.compare.get(name, Exact())
        return self.compare


class Suite:
    """The cases of one feature, in order; names are unique."""

    def __init__(self, feature: str) -> None:
        self.feature = feature
        self.cases: list[KernelCase] = []

    def add(self, name: str, source: str, launches: Sequence[Launch] | Launch, **rest: Any) -> None:
        """Append a case; `rest` are the fields of `KernelCase`."""
        if isinstance(launches, Launch):
            launches = (launches,)
        if any(c.name == name for c in self.cases):
            raise ValueError(f"duplicate case {name!r}")
        self.cases.append(
            KernelCase(name=name, source=source, launches=tuple(launches), feature=self.feature, **rest)
        )


def poisoned(shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """An output buffer whose contents are recognisably unwritten."""
    out = np.empty(shape, dtype)
    out.view(np.uint8)[...] = 0xA5
    return out
