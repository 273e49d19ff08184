"""The extension `fft` of the Array API standard, version 2024.12: `rtcg.array_api.fft`.

Names and signatures are the standard's; the work is done by `rtcg.fft`, which keeps the precision of floating-point
and complex arrays and does not wait.
"""

import numpy as np

from rtcg import fft as _f

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip


def _along_axis(name):
    function = getattr(_f, name)

    def call(x, /, *, n=None, axis=-1, norm="backward"):
        return function(x, n, axis, norm)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"`rtcg.fft.{name}`, as the standard has it."
    return call


def _over_axes(name):
    function = getattr(_f, name)

    def call(x, /, *, s=None, axes=None, norm="backward"):
        if s is not None and axes is None:
            raise ValueError(f"{name}: axes is None and s is {s!r}; expected axes beside s, as many of them")
        return function(x, s, axes, norm)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"`rtcg.fft.{name}`, as the standard has it."
    return call


fft, ifft, rfft, irfft, hfft, ihfft = map(_along_axis, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
fftn, ifftn, rfftn, irfftn = map(_over_axes, ("fftn", "ifftn", "rfftn", "irfftn"))


def _in_dtype(frequencies, dtype):
    if dtype is None:
        return frequencies
    if not np.isdtype(dtype, "real floating"):
        raise ValueError(f"dtype is {dtype}; expected a real floating-point dtype")
    return frequencies.astype(dtype)


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of the coefficients of `fft`."""
    return _in_dtype(_f.fftfreq(n, d, device), dtype)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of the coefficients of `rfft`."""
    return _in_dtype(_f.rfftfreq(n, d, device), dtype)


def fftshift(x, /, *, axes=None):
    """The coefficient of frequency 0 moved to the middle."""
    return _f.fftshift(x, axes)


def ifftshift(x, /, *, axes=None):
    """The inverse of `fftshift`."""
    return _f.ifftshift(x, axes)
