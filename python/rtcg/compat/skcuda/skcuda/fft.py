"""Fourier transforms by plans, as scikit-cuda has them, computed by `rtcg.fft` (no cuFFT is needed).

A plan fixes lengths, dtypes, batch and memory layout. `fft` and `ifft` use the memory of arrays as cuFFT does: only
their addresses count, not their shapes. Transforms are not scaled unless ``scale=True``, and nothing waits for the
device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rtcg._conversions import as_dtype, as_integer
from rtcg._messages import shown
from rtcg.numpy import GPUArray, _run_in_stream

from . import cufft
from .cufft import (
    CUFFT_COMPATIBILITY_FFTW_ALL,
    CUFFT_COMPATIBILITY_FFTW_ASYMMETRIC,
    CUFFT_COMPATIBILITY_FFTW_PADDING,
    CUFFT_COMPATIBILITY_NATIVE,
)

__all__ = [
    "CUFFT_COMPATIBILITY_FFTW_ALL",
    "CUFFT_COMPATIBILITY_FFTW_ASYMMETRIC",
    "CUFFT_COMPATIBILITY_FFTW_PADDING",
    "CUFFT_COMPATIBILITY_NATIVE",
    "Plan",
    "fft",
    "ifft",
]

_FUNCTIONS = {
    cufft.CUFFT_C2C: cufft.cufftExecC2C,
    cufft.CUFFT_R2C: cufft.cufftExecR2C,
    cufft.CUFFT_C2R: cufft.cufftExecC2R,
    cufft.CUFFT_Z2Z: cufft.cufftExecZ2Z,
    cufft.CUFFT_D2Z: cufft.cufftExecD2Z,
    cufft.CUFFT_Z2D: cufft.cufftExecZ2D,
}


class Plan:
    """A plan for transforms of one shape, which `fft` and `ifft` execute.

    Parameters
    ----------
    shape : int or sequence of int
        Lengths of the axes that are transformed.
    in_dtype, out_dtype : dtype-like
        float32 and complex64, complex64 and float32, complex64 twice, or the same in double precision.
    batch : int
        Number of transforms.
    stream : Stream, optional
        In which the plan is executed; the default stream otherwise.
    mode : int
        Accepted and without meaning, as in cuFFT since CUDA 9.2.
    inembed, onembed : sequence of int, optional
        Lengths of the axes of the arrays that input and output lie in. If either is None, batches are contiguous, and
        the strides and distances have no meaning.
    istride, ostride : int
        Elements between neighbours along the last axis.
    idist, odist : int
        Elements between the beginnings of two transforms of the batch.
    auto_allocate : bool
        Accepted and without meaning: `worksize`, the size of the work area, is 0.

    Raises
    ------
    ValueError
        For other dtypes, a batch or a length below 1, or a layout in which an array does not fit.
    """

    def __init__(
        self,
        shape: Any,
        in_dtype: Any,
        out_dtype: Any,
        batch: int = 1,
        stream: Any = None,
        mode: int = 0x01,
        inembed: Any = None,
        istride: int = 1,
        idist: int = 0,
        onembed: Any = None,
        ostride: int = 1,
        odist: int = 0,
        auto_allocate: bool = True,
    ) -> None:
        self.shape = (shape,) if np.ndim(shape) == 0 else shape
        self.in_dtype, self.out_dtype = in_dtype, out_dtype
        self.batch = as_integer("batch", batch)
        if self.batch < 1:
            raise ValueError(f"batch is {batch}; expected 1 or more")
        self.fft_type = _type_of(as_dtype("in_dtype", in_dtype), as_dtype("out_dtype", out_dtype))
        self.fft_func = _FUNCTIONS[self.fft_type]
        lengths = [as_integer("shape", length, least=1) for length in self.shape]
        if not lengths:
            raise ValueError("shape is (); expected one axis at least")
        self.handle = cufft.cufftCreate()
        embeds = [_as_embed(name, embed) for name, embed in (("inembed", inembed), ("onembed", onembed))]
        layout = (embeds[0], istride, idist, embeds[1], ostride, odist)
        try:
            self.worksize = cufft.cufftMakePlanMany(
                self.handle, len(lengths), lengths, *layout, self.fft_type, self.batch
            )
        except cufft.cufftError as error:
            raise ValueError(str(error)) from None
        cufft.cufftSetStream(self.handle, stream)

    def set_work_area(self, work_area: Any) -> None:
        """Accept a work area, which is not used."""
        cufft.cufftSetWorkArea(self.handle, work_area)

    def __del__(self) -> None:
        cufft._PLANS.pop(getattr(self, "handle", 0), None)


def _type_of(in_dtype: Any, out_dtype: Any) -> int:
    for fft_type, (given, returned, *_) in cufft._TYPES.items():
        if (in_dtype, out_dtype) == (given, returned):
            return fft_type
    raise ValueError(
        f"in_dtype is {in_dtype} and out_dtype is {out_dtype}; expected float32 and complex64, complex64 and float32, "
        "complex64 and complex64, or the same in double precision"
    )


def _as_embed(name: str, embed: Any) -> list[int] | None:
    return None if embed is None else [as_integer(name, length, least=1) for length in np.atleast_1d(embed)]


def _check_arrays(x_gpu: Any, y_gpu: Any, plan: Any) -> None:
    if not isinstance(plan, Plan):
        raise TypeError(f"plan is {shown(plan)}; expected a Plan")
    dtypes = cufft._TYPES[plan.fft_type][:2]
    for name, array, dtype in zip(("x_gpu", "y_gpu"), (x_gpu, y_gpu), dtypes, strict=True):
        if not isinstance(array, GPUArray):
            raise TypeError(f"{name} is {shown(array)}; expected a GPUArray")
        # Complex numbers may be given as their parts.
        if array.dtype.kind not in "fc" or np.finfo(array.dtype).dtype != np.finfo(dtype).dtype:
            raise ValueError(f"{name} has dtype {array.dtype}; expected {np.dtype(dtype)}, as the plan says")
        if not array.flags.forc:
            raise ValueError(f"{name} is a view whose elements are not adjacent; expected contiguous memory")
    is_complex = plan.fft_type in (cufft.CUFFT_C2C, cufft.CUFFT_Z2Z)
    if not is_complex and x_gpu.size and y_gpu.size and int(x_gpu.gpudata) == int(y_gpu.gpudata):
        raise ValueError("y_gpu has the memory of x_gpu; only complex data can be transformed in place")


def _execute(x_gpu: GPUArray, y_gpu: GPUArray, plan: Plan, direction: int, divisor: float) -> None:
    """Execute the plan; the results, or all of `y_gpu` if the plan does not write all of it, are divided."""
    body = cufft._find(plan.handle)
    written = body.output
    assert written is not None
    if divisor == 1 or (written.is_contiguous and y_gpu.size == np.prod(written.shape)):
        body.execute(x_gpu, y_gpu, direction, 1 / divisor)
        return
    body.execute(x_gpu, y_gpu, direction)
    _run_in_stream(body.stream, lambda: y_gpu.__imul__(y_gpu.dtype.type(1 / divisor)))


def fft(x_gpu: GPUArray, y_gpu: GPUArray, plan: Plan, scale: bool = False) -> None:
    """Transform `x_gpu` into `y_gpu`; does not wait.

    Parameters
    ----------
    x_gpu, y_gpu : GPUArray
        Memory with the layout of the plan. Both may be the same array if the plan is for complex numbers.
    plan : Plan
        From real numbers it computes the first ``n // 2 + 1`` coefficients of the last axis.
    scale : bool
        Divide `y_gpu` by the number of elements of `x_gpu` in one transform of the batch.

    Raises
    ------
    ValueError
        If the plan is for real output, if real numbers are transformed in place, or if an array is too small, has
        another precision or is not contiguous.
    """
    _check_arrays(x_gpu, y_gpu, plan)
    if plan.fft_type in (cufft.CUFFT_C2R, cufft.CUFFT_Z2D):
        raise ValueError("plan transforms complex numbers to real ones; expected ifft, or a plan for complex output")
    _execute(x_gpu, y_gpu, plan, cufft.CUFFT_FORWARD, x_gpu.size / plan.batch if scale else 1)


def ifft(x_gpu: GPUArray, y_gpu: GPUArray, plan: Plan, scale: bool = False) -> None:
    """Transform `x_gpu` back into `y_gpu`; does not wait.

    Parameters
    ----------
    x_gpu, y_gpu : GPUArray
        Memory with the layout of the plan. Both may be the same array if the plan is for complex numbers.
    plan : Plan
        To real numbers it takes the first ``n // 2 + 1`` coefficients of the last axis.
    scale : bool
        Divide `y_gpu` by its number of elements in one transform of the batch, so that ``ifft(fft(x))`` is x.

    Raises
    ------
    ValueError
        If the plan is for real input, if real numbers are computed in place, or if an array is too small, has
        another precision or is not contiguous.
    """
    _check_arrays(x_gpu, y_gpu, plan)
    if plan.fft_type in (cufft.CUFFT_R2C, cufft.CUFFT_D2Z):
        raise ValueError("plan transforms real numbers to complex ones; expected fft, or a plan for complex input")
    _execute(x_gpu, y_gpu, plan, cufft.CUFFT_INVERSE, y_gpu.size / plan.batch if scale else 1)
