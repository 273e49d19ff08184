"""The extension `fft` of the Array API standard, version 2024.12: `rtcg.array_api.fft`.

Names and signatures are those of the standard; the work is done by `rtcg.fft`, which keeps the precision of
floating-point and complex arrays and does not wait.
"""

import numpy as np

from rtcg import fft as _f
from rtcg._messages import shown

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip


def _make_1d_transform(name):
    function = getattr(_f, name)

    def transform(x, /, *, n=None, axis=-1, norm="backward"):
        return function(x, n, axis, norm)

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = (
        f"As `rtcg.fft.{name}`, which documents dtypes, errors and the algorithm: a new array. Does not wait."
    )
    return transform


def _make_nd_transform(name):
    function = getattr(_f, name)

    def transform(x, /, *, s=None, axes=None, norm="backward"):
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


def _cast_frequencies(frequencies, dtype):
    if dtype is None:
        return frequencies
    if not np.isdtype(dtype, "real floating"):
        raise ValueError(f"dtype is {dtype}; expected a real floating-point dtype")
    return frequencies.astype(dtype)


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of the coefficients of `fft`: a new array, of float64 or `dtype`. Does not wait.

    Raises `ValueError` for a dtype that is not a real floating-point one; other errors are those of `rtcg.fft.fftfreq`.
    """
    return _cast_frequencies(_f.fftfreq(n, d, device), dtype)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of the coefficients of `rfft`: a new array, of float64 or `dtype`. Does not wait.

    Raises `ValueError` for a dtype that is not a real floating-point one; other errors are those of
    `rtcg.fft.rfftfreq`.
    """
    return _cast_frequencies(_f.rfftfreq(n, d, device), dtype)


def fftshift(x, /, *, axes=None):
    """A copy with the coefficient of frequency 0 in the middle of `axes`, as `rtcg.fft.fftshift`. Does not wait."""
    return _f.fftshift(x, axes)


def ifftshift(x, /, *, axes=None):
    """The inverse of `fftshift`: a copy with the middle of `axes` moved to the start, as `rtcg.fft.ifftshift`. Does not
    wait.
    """
    return _f.ifftshift(x, axes)
