"""NVIDIA's cuFFT for device arrays, where it is asked for: rtcg itself does not use it.

::

    import rtcg.numpy as xp
    from rtcg import cufft

    x = xp.ones((16, 1000), "complex64")
    plan = cufft.Plan(1000, "C2C", batch=16)
    spectra = plan.execute(x)                             # as rtcg.fft.fft(x)
    plan.execute(spectra, out=x, inverse=True)            # 1000 times x: nothing is divided

A plan is for arrays of the context in which it was made, and transforms in the current stream, with a work area from
the pool of arrays. Its last use destroys it.

The functions and constants of C have their C names (`cufft.cufftExecC2C`, `cufft.CUFFT_FORWARD`), for device pointers:
see `rtcg._library_calls.RawFunction`.

The library is opened by the first plan: that which `RTCG_CUFFT` names, else that of the wheel ``nvidia-cufft`` (or
``nvidia-cufft-cu12``), of a toolkit or of the system. On the virtual GPU a plan raises an error that names `rtcg.fft`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _library_calls
from rtcg._conversions import as_integer
from rtcg._messages import shown
from rtcg._native import CufftError, CufftPlan, LibraryError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CufftError", "CufftPlan", "LibraryError", "Plan", "path", "plan_many", "version"]

#: Whether plans would work here: with a GPU and the library, which is opened to find out.
available: bool


def version() -> tuple[int, int]:
    """The version of the library, which is opened.

    Raises
    ------
    CufftError
        When there is none; the message lists what was tried, and the wheel to install.
    """
    return _library_calls.version_and_path("cufft")[0]


def path() -> str:
    """The file of the library as a str. Opens it, and raises as `version` does."""
    return _library_calls.version_and_path("cufft")[1]


def _lengths(name: str, value: Any) -> list[int]:
    if np.ndim(value) > 1:
        raise TypeError(f"{name} is {shown(value)}; expected an integer or a sequence of integers")
    return [as_integer(name, n) for n in np.atleast_1d(np.asarray(value, object))]


def Plan(shape: int | Sequence[int], kind: str, batch: int = 1) -> CufftPlan:  # noqa: N802
    """A plan of transforms of adjacent elements, one after the other.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of one transform, along 1 to 3 axes: of its real side, if it has one.
    kind : str
        "C2C", "R2C", "C2R" for complex64 and float32, "Z2Z", "D2Z", "Z2D" for complex128 and float64. "HC2HC", "H2HC",
        "HC2H" are those of float16, and "BC2BC", "B2BC", "BC2B" of bfloat16; their complex numbers are pairs along a
        last axis, and their lengths powers of 2.
    batch : int
        The number of transforms.

    Raises
    ------
    CufftError
        On the virtual GPU, without the library, and when it knows no such transform.
    """
    return CufftPlan(_lengths("shape", shape), kind, as_integer("batch", batch))


def plan_many(
    shape: int | Sequence[int],
    kind: str,
    batch: int = 1,
    *,
    inembed: int | Sequence[int],
    istride: int = 1,
    idist: int = 0,
    onembed: int | Sequence[int],
    ostride: int = 1,
    odist: int = 0,
) -> CufftPlan:
    """A new plan of transforms of elements that lie apart: cuFFT's advanced data layout.

    Element ``(i, j)`` of transform ``t`` is at ``t * idist + (i * inembed[1] + j) * istride`` of the input, in
    elements; `onembed`, `ostride` and `odist` say the same of the output. Other parameters and errors are those of
    `Plan`.
    """
    sides = [
        (_lengths("inembed", inembed), as_integer("istride", istride), as_integer("idist", idist)),
        (_lengths("onembed", onembed), as_integer("ostride", ostride), as_integer("odist", odist)),
    ]
    return CufftPlan(_lengths("shape", shape), kind, as_integer("batch", batch), sides)


def __getattr__(name: str) -> Any:
    return _library_calls.attribute(__name__, name)


def __dir__() -> list[str]:
    return _library_calls.directory("cufft", list(globals()))
