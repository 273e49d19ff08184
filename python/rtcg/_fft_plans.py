"""Transforms of batches whose elements lie in memory as cuFFT's plans describe: the work of `skcuda.fft` and `pyfft`.

Arrays have one axis for the batch, and then those that are transformed. Nothing is scaled unless a factor is given.
Results are computed in temporary memory and then stored, so that a transform may be done in place.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from rtcg._device_views import view
from rtcg._native import array_fft

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from rtcg.numpy import GPUArray


class Layout(NamedTuple):
    """Where the elements of a batch are: the lengths of its axes, and their distances in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def of(self, name: str, memory: Any, dtype: Any) -> GPUArray:
        """The batch in `memory`."""
        return view(name, memory, self.shape, dtype, self.strides)

    @property
    def is_contiguous(self) -> bool:
        return self == contiguous(self.shape[0], self.shape[1:])


def contiguous(batch: int, lengths: Sequence[int]) -> Layout:
    """A batch of arrays in C order, one after the other."""
    return embedded(batch, lengths, lengths, 1, math.prod(lengths))


def embedded(batch: int, lengths: Sequence[int], embed: Sequence[int], stride: int, distance: int) -> Layout:
    """A batch in cuFFT's advanced layout.

    Element ``x[b, i, j, k]`` is at ``b * distance + ((i * embed[1] + j) * embed[2] + k) * stride`` ("Advanced Data
    Layout" in the documentation of cuFFT). ``embed[0]`` has no meaning.
    """
    strides = [stride * math.prod(embed[axis + 1 :]) for axis in range(len(lengths))]
    return Layout((batch, *lengths), (distance, *strides))


def transform(kind: str, x: GPUArray, y: GPUArray, last_length: int, factor: float = 1.0) -> None:
    """Transform all axes of `x` but the first into `y`, times `factor`; does not wait.

    `kind` is "fft" or "ifft" for complex numbers, "rfft" from real ones, and "irfft" to real ones, whose last axis has
    `last_length` elements.
    """
    steps = [(kind.replace("r", ""), axis, x.shape[axis]) for axis in range(1, x.ndim - 1)]
    real_or_last = (kind, x.ndim - 1, last_length)
    steps = [*steps, real_or_last] if kind == "irfft" else [real_or_last, *steps[::-1]]
    for number, (name, axis, length) in enumerate(steps, 1):
        x = array_fft(x, name, length, axis, factor if number == len(steps) else 1.0)
    y[...] = x
