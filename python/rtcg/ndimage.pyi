"""Filters of images on the device: correlation and convolution, and layers of models of vision."""

from collections.abc import Sequence
from typing import Literal, SupportsFloat, SupportsIndex, TypeAlias

from numpy.typing import ArrayLike, DTypeLike

from rtcg.numpy import GPUArray

__all__ = [
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "filter_bank",
    "gaussian_filter",
    "gaussian_filter1d",
    "local_norm",
    "pool",
    "uniform_filter",
    "uniform_filter1d",
]

_Array: TypeAlias = GPUArray | ArrayLike
_Output: TypeAlias = GPUArray | DTypeLike | None
_Modes: TypeAlias = str | Sequence[str]
_Integers: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_Numbers: TypeAlias = SupportsFloat | Sequence[SupportsFloat]

def correlate(
    input: _Array,
    weights: _Array,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: _Integers = 0,
    *,
    axes: _Integers | None = None,
) -> GPUArray: ...
def convolve(
    input: _Array,
    weights: _Array,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: _Integers = 0,
    *,
    axes: _Integers | None = None,
) -> GPUArray: ...
def correlate1d(
    input: _Array,
    weights: _Array,
    axis: SupportsIndex = -1,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: SupportsIndex = 0,
) -> GPUArray: ...
def convolve1d(
    input: _Array,
    weights: _Array,
    axis: SupportsIndex = -1,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: SupportsIndex = 0,
) -> GPUArray: ...
def uniform_filter(
    input: _Array,
    size: _Integers = 3,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: _Integers = 0,
    *,
    axes: _Integers | None = None,
) -> GPUArray: ...
def uniform_filter1d(
    input: _Array,
    size: SupportsIndex,
    axis: SupportsIndex = -1,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: SupportsIndex = 0,
) -> GPUArray: ...
def gaussian_filter(
    input: _Array,
    sigma: _Numbers,
    order: _Integers = 0,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    truncate: SupportsFloat = 4.0,
    *,
    radius: _Integers | None = None,
    axes: _Integers | None = None,
) -> GPUArray: ...
def gaussian_filter1d(
    input: _Array,
    sigma: SupportsFloat,
    axis: SupportsIndex = -1,
    order: SupportsIndex = 0,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    truncate: SupportsFloat = 4.0,
    *,
    radius: SupportsIndex | None = None,
) -> GPUArray: ...
def filter_bank(x: _Array, w: _Array, activation: str | None = None, out: GPUArray | None = None) -> GPUArray: ...
def pool(
    x: _Array,
    size: _Integers,
    strides: _Integers | None = None,
    exponent: SupportsFloat | Literal["max"] = "max",
) -> GPUArray: ...
def local_norm(
    x: _Array,
    size: _Integers,
    *,
    center: bool = True,
    stretch: SupportsFloat = 1.0,
    threshold: SupportsFloat = 1.0,
) -> GPUArray: ...
