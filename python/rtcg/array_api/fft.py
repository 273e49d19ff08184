"""The extension `fft` of the Array API standard, version 2024.12: `rtcg.array_api.fft`.

Names and signatures are those of the standard; the work is done by `rtcg.fft`, which keeps the precision of
floating-point and complex arrays and does not wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import fft as _f
from rtcg._messages import shown

if TYPE_CHECKING:
    from typing import Protocol

    from rtcg.numpy import GPUArray

    class _Transform1D(Protocol):
        def __call__(self, x: Any, /, *, n: Any = None, axis: Any = -1, norm: Any = "backward") -> GPUArray: ...

    class _TransformND(Protocol):
        def __call__(self, x: Any, /, *, s: Any = None, axes: Any = None, norm: Any = "backward") -> GPUArray: ...


__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip


def _make_1d_transform(name: str) -> _Transform1D:
    function = getattr(_f, name)

    def transform(x: Any, /, *, n: Any = None, axis: Any = -1, norm: Any = "backward") -> GPUArray:
        return function(x, n, axis, norm)

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = (
        f"As `rtcg.fft.{name}`, which documents dtypes, errors and the algorithm: a new array. Does not wait."
    )
    return transform


def _make_nd_transform(name: str) -> _TransformND:
    function = getattr(_f, name)

    def transform(x: Any, /, *, s: Any = None, axes: Any = None, norm: Any = "backward") -> GPUArray:
        if s is not None and axes is None:
            raise ValueError(f"{name}: axes is None and s is {shown(s)}; expected axes beside s, as many of them")
        return function(x, s, axes, norm)

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = (
        f"As `rtcg.fft.{name}`, which documents dtypes, errors and the algorithm: a new array. Does not wait."
    )
    return transform


fft, ifft, rfft, irfft, hfft, ihfft = map(_make_1d_transform, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
fftn, ifftn, rfftn, irfftn = map(_make_nd_transform, ("fftn", "ifftn", "rfftn", "irfftn"))


def _cast_frequencies(frequencies: GPUArray, dtype: Any) -> GPUArray:
    if dtype is None:
        return frequencies
    if not np.isdtype(dtype, "real floating"):
        raise ValueError(f"dtype is {dtype}; expected a real floating-point dtype")
    return frequencies.astype(dtype)


def fftfreq(n: Any, /, *, d: Any = 1.0, dtype: Any = None, device: Any = None) -> GPUArray:
    """The frequencies of the coefficients of `fft`: a new array, of float64 or `dtype`. Does not wait.

    Raises `ValueError` for a dtype that is not a real floating-point one; other errors are those of `rtcg.fft.fftfreq`.
    """
    return _cast_frequencies(_f.fftfreq(n, d, device), dtype)


def rfftfreq(n: Any, /, *, d: Any = 1.0, dtype: Any = None, device: Any = None) -> GPUArray:
    """The frequencies of the coefficients of `rfft`: a new array, of float64 or `dtype`. Does not wait.

    Raises `ValueError` for a dtype that is not a real floating-point one; other errors are those of
    `rtcg.fft.rfftfreq`.
    """
    return _cast_frequencies(_f.rfftfreq(n, d, device), dtype)


def fftshift(x: Any, /, *, axes: Any = None) -> GPUArray:
    """A copy with the coefficient of frequency 0 in the middle of `axes`, as `rtcg.fft.fftshift`. Does not wait."""
    return _f.fftshift(x, axes)


def ifftshift(x: Any, /, *, axes: Any = None) -> GPUArray:
    """The inverse of `fftshift`: a copy with the middle of `axes` moved to the start, as `rtcg.fft.ifftshift`. Does not
    wait.
    """
    return _f.ifftshift(x, axes)
