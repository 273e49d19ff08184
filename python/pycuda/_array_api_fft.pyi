"""The extension `fft` of the Array API standard, version 2024.12: `pycuda.array_api.fft`.

Names and signatures are the standard's; the work is done by `pycuda.fft`, which keeps the precision of floating-point
and complex arrays and does not wait.
"""

from typing import Any

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

def __getattr__(name: str) -> Any: ...
