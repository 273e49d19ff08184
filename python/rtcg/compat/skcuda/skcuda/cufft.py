"""cuFFT's functions under scikit-cuda's names, computed by `rtcg.fft`.

A plan is an integer, and arrays are passed as device pointers. There is no library behind it: work areas have 0 bytes,
the functions that estimate them return 0, and compatibility modes change nothing. No function waits for the device.
"""

from __future__ import annotations

import ctypes
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg._conversions import as_integer
from rtcg._fft_plans import Layout, contiguous, embedded, transform
from rtcg._messages import shown
from rtcg.driver import Stream
from rtcg.numpy import _run_in_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

CUFFT_SUCCESS = 0
CUFFT_INVALID_PLAN = 1
CUFFT_ALLOC_FAILED = 2
CUFFT_INVALID_TYPE = 3
CUFFT_INVALID_VALUE = 4
CUFFT_INTERNAL_ERROR = 5
CUFFT_EXEC_FAILED = 6
CUFFT_SETUP_FAILED = 7
CUFFT_INVALID_SIZE = 8
CUFFT_UNALIGNED_DATA = 9

CUFFT_R2C = 0x2A
CUFFT_C2R = 0x2C
CUFFT_C2C = 0x29
CUFFT_D2Z = 0x6A
CUFFT_Z2D = 0x6C
CUFFT_Z2Z = 0x69

CUFFT_FORWARD = -1
CUFFT_INVERSE = 1

CUFFT_COMPATIBILITY_NATIVE = 0x00
CUFFT_COMPATIBILITY_FFTW_PADDING = 0x01
CUFFT_COMPATIBILITY_FFTW_ASYMMETRIC = 0x02
CUFFT_COMPATIBILITY_FFTW_ALL = 0x03


class cufftError(Exception):
    """An error of a function of this module."""


class cufftInvalidPlan(cufftError):
    """No plan has this handle."""


class cufftAllocFailed(cufftError):
    """Memory could not be allocated."""


class cufftInvalidType(cufftError):
    """The plan is for elements of other types, or the type of the transform is unknown."""


class cufftInvalidValue(cufftError):
    """An argument has a value that it may not have."""


class cufftInternalError(cufftError):
    """The driver failed."""


class cufftExecFailed(cufftError):
    """The transform failed."""


class cufftSetupFailed(cufftError):
    """The library failed to start."""


class cufftInvalidSize(cufftError):
    """A transform cannot have this size."""


class cufftUnalignedData(cufftError):
    """Memory is not aligned."""


cufftExceptions = {
    CUFFT_INVALID_PLAN: cufftInvalidPlan,
    CUFFT_ALLOC_FAILED: cufftAllocFailed,
    CUFFT_INVALID_TYPE: cufftInvalidType,
    CUFFT_INVALID_VALUE: cufftInvalidValue,
    CUFFT_INTERNAL_ERROR: cufftInternalError,
    CUFFT_EXEC_FAILED: cufftExecFailed,
    CUFFT_SETUP_FAILED: cufftSetupFailed,
    CUFFT_INVALID_SIZE: cufftInvalidSize,
    CUFFT_UNALIGNED_DATA: cufftUnalignedData,
}

# Of each type: dtypes of input and output, and the kinds of its forward and its inverse transform.
_TYPES = {
    CUFFT_C2C: (np.complex64, np.complex64, "fft", "ifft"),
    CUFFT_R2C: (np.float32, np.complex64, "rfft", None),
    CUFFT_C2R: (np.complex64, np.float32, None, "irfft"),
    CUFFT_Z2Z: (np.complex128, np.complex128, "fft", "ifft"),
    CUFFT_D2Z: (np.float64, np.complex128, "rfft", None),
    CUFFT_Z2D: (np.complex128, np.float64, None, "irfft"),
}


@dataclass
class _Plan:
    """What a handle stands for; there is no layout before `cufftMakePlan*`."""

    fft_type: int | None = None
    lengths: tuple[int, ...] = ()
    input: Layout | None = None
    output: Layout | None = None
    stream: Stream | None = None

    def execute(self, x: Any, y: Any, direction: int, factor: float = 1.0) -> None:
        """Transform `x` into `y`, pointers or arrays; does not wait."""
        if self.fft_type is None or self.input is None or self.output is None:
            raise cufftInvalidPlan("the plan has no transform; expected a call of cufftMakePlanMany or the like before")
        in_dtype, out_dtype, forward, inverse = _TYPES[self.fft_type]
        kind = forward if direction == CUFFT_FORWARD else inverse
        source, target = self.input.of("x_gpu", x, in_dtype), self.output.of("y_gpu", y, out_dtype)
        _run_in_stream(self.stream, lambda: transform(str(kind), source, target, self.lengths[-1], factor))


_PLANS: dict[int, _Plan] = {}
_HANDLES = itertools.count(1)


def _find(plan: Any) -> _Plan:
    try:
        return _PLANS[int(plan)]
    except (KeyError, TypeError, ValueError):
        raise cufftInvalidPlan(f"plan is {shown(plan)}; expected a handle of cufftCreate that exists") from None


def cufftCheckStatus(status: int) -> None:
    """Raise the exception of a status code; 0 is success."""
    if status:
        raise cufftExceptions.get(status, cufftError)


def cufftGetVersion() -> int:
    """The version of cuFFT whose functions these are."""
    return 11000


_cufft_version = cufftGetVersion()


def cufftCreate() -> int:
    """The handle of a new plan, which has no transform yet."""
    handle = next(_HANDLES)
    _PLANS[handle] = _Plan()
    return handle


def cufftDestroy(plan: int) -> None:
    """Forget a plan."""
    _find(plan)
    del _PLANS[int(plan)]


def cufftSetStream(plan: int, stream: Any) -> None:
    """Execute a plan in a stream from now on: a `Stream` or its handle; None or 0 is the default stream."""
    if stream is None or isinstance(stream, Stream):
        _find(plan).stream = stream or None
    else:
        handle = as_integer("stream", stream, least=0, expected="a Stream or the handle of one")
        _find(plan).stream = Stream.from_handle(handle) if handle else None


def cufftSetCompatibilityMode(plan: int, mode: int) -> None:
    """Accept a mode, which changes nothing: cuFFT has had no modes since CUDA 9.2."""
    _find(plan)


def cufftSetAutoAllocation(plan: int, auto_allocate: bool) -> None:
    """Accept a flag, which changes nothing: temporary memory is always taken from the pool of arrays."""
    _find(plan)


def cufftSetWorkArea(plan: int, work_area: Any) -> None:
    """Accept a work area, which is not used."""
    _find(plan)


def cufftMakePlanMany(
    plan: int,
    rank: int,
    n: Any,
    inembed: Any,
    istride: int,
    idist: int,
    onembed: Any,
    ostride: int,
    odist: int,
    fft_type: int,
    batch: int,
) -> int:
    """Give a plan its transform; returns the size of its work area, 0.

    `n`, `inembed` and `onembed` are addresses of int32, such as ``array.ctypes.data``, or sequences. If `inembed` or
    `onembed` is None or 0, batches are contiguous, and strides and distances have no meaning.
    """
    body = _find(plan)
    if fft_type not in _TYPES:
        raise cufftInvalidType(f"fft_type is {shown(fft_type)}; expected one of CUFFT_C2C, CUFFT_R2C and the like")
    lengths = _read_sizes("n", n, rank)
    batch = _positive("batch", batch)
    half = (*lengths[:-1], lengths[-1] // 2 + 1)
    in_dtype, out_dtype, *_ = _TYPES[fft_type]
    in_lengths = half if np.dtype(out_dtype).kind == "f" else lengths
    out_lengths = half if np.dtype(in_dtype).kind == "f" else lengths
    if _is_null(inembed) or _is_null(onembed):
        body.input, body.output = contiguous(batch, in_lengths), contiguous(batch, out_lengths)
    else:
        body.input = _embedded_layout("i", batch, in_lengths, _read_sizes("inembed", inembed, rank), istride, idist)
        body.output = _embedded_layout("o", batch, out_lengths, _read_sizes("onembed", onembed, rank), ostride, odist)
    body.fft_type, body.lengths = fft_type, lengths
    return 0


def _embedded_layout(
    side: str, batch: int, lengths: Sequence[int], embed: Sequence[int], stride: Any, distance: Any
) -> Layout:
    for axis in range(1, len(lengths)):
        if embed[axis] < lengths[axis]:
            raise cufftInvalidValue(f"{side}nembed[{axis}] is {embed[axis]}; expected at least {lengths[axis]}")
    distance = as_integer(f"{side}dist", distance, least=1 if side == "o" and batch > 1 else 0)
    return embedded(batch, lengths, embed, _positive(f"{side}stride", stride), distance)


def _is_null(pointer: Any) -> bool:
    return pointer is None or (np.ndim(pointer) == 0 and not int(pointer))


def _positive(name: str, value: Any) -> int:
    number = as_integer(name, value)
    if number < 1:
        raise cufftInvalidSize(f"{name} is {number}; expected 1 or more")
    return number


def _read_sizes(name: str, sizes: Any, rank: int) -> tuple[int, ...]:
    if np.ndim(sizes) == 0:
        sizes = (ctypes.c_int32 * _positive("rank", rank)).from_address(int(sizes))
    checked = tuple(_positive(f"{name}[{axis}]", size) for axis, size in enumerate(sizes))
    if len(checked) != rank:
        raise cufftInvalidValue(f"{name} has {len(checked)} elements; expected rank, which is {rank}")
    return checked


def _make_contiguous(plan: int, lengths: Sequence[int], fft_type: int, batch: int) -> int:
    return cufftMakePlanMany(plan, len(lengths), list(lengths), None, 1, 0, None, 1, 0, fft_type, batch)


def cufftMakePlan1d(plan: int, nx: int, fft_type: int, batch: int) -> int:
    """Give a plan a batch of transforms of `nx` elements; returns 0, the size of its work area."""
    return _make_contiguous(plan, [nx], fft_type, batch)


def cufftMakePlan2d(plan: int, nx: int, ny: int, fft_type: int) -> int:
    """Give a plan a transform of `nx` x `ny` elements; returns 0, the size of its work area."""
    return _make_contiguous(plan, [nx, ny], fft_type, 1)


def cufftMakePlan3d(plan: int, nx: int, ny: int, nz: int, fft_type: int) -> int:
    """Give a plan a transform of `nx` x `ny` x `nz` elements; returns 0, the size of its work area."""
    return _make_contiguous(plan, [nx, ny, nz], fft_type, 1)


def cufftPlan1d(nx: int, fft_type: int, batch: int) -> int:
    """A new plan for a batch of transforms of `nx` elements."""
    plan = cufftCreate()
    cufftMakePlan1d(plan, nx, fft_type, batch)
    return plan


def cufftPlan2d(nx: int, ny: int, fft_type: int) -> int:
    """A new plan for a transform of `nx` x `ny` elements."""
    plan = cufftCreate()
    cufftMakePlan2d(plan, nx, ny, fft_type)
    return plan


def cufftPlan3d(nx: int, ny: int, nz: int, fft_type: int) -> int:
    """A new plan for a transform of `nx` x `ny` x `nz` elements."""
    plan = cufftCreate()
    cufftMakePlan3d(plan, nx, ny, nz, fft_type)
    return plan


def cufftPlanMany(
    rank: int,
    n: Any,
    inembed: Any,
    istride: int,
    idist: int,
    onembed: Any,
    ostride: int,
    odist: int,
    fft_type: int,
    batch: int,
) -> int:
    """A new plan with the transform that `cufftMakePlanMany` describes."""
    plan = cufftCreate()
    cufftMakePlanMany(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, fft_type, batch)
    return plan


def _execute(plan: int, fft_type: int, idata: Any, odata: Any, direction: int) -> None:
    body = _find(plan)
    if body.fft_type is not None and body.fft_type != fft_type:
        raise cufftInvalidType(f"the plan is of type {body.fft_type:#x}; expected {fft_type:#x}")
    body.execute(idata, odata, direction)


def _check_direction(direction: int) -> int:
    if direction not in (CUFFT_FORWARD, CUFFT_INVERSE):
        raise cufftInvalidValue(f"direction is {shown(direction)}; expected CUFFT_FORWARD or CUFFT_INVERSE")
    return direction


def cufftExecC2C(plan: int, idata: Any, odata: Any, direction: int) -> None:
    """Transform complex64 at `idata` to complex64 at `odata`, which may be the same memory."""
    _execute(plan, CUFFT_C2C, idata, odata, _check_direction(direction))


def cufftExecR2C(plan: int, idata: Any, odata: Any) -> None:
    """Transform float32 at `idata` to the first half of its coefficients at `odata`."""
    _execute(plan, CUFFT_R2C, idata, odata, CUFFT_FORWARD)


def cufftExecC2R(plan: int, idata: Any, odata: Any) -> None:
    """Transform the first half of coefficients at `idata` to float32 at `odata`, without scaling."""
    _execute(plan, CUFFT_C2R, idata, odata, CUFFT_INVERSE)


def cufftExecZ2Z(plan: int, idata: Any, odata: Any, direction: int) -> None:
    """Transform complex128 at `idata` to complex128 at `odata`, which may be the same memory."""
    _execute(plan, CUFFT_Z2Z, idata, odata, _check_direction(direction))


def cufftExecD2Z(plan: int, idata: Any, odata: Any) -> None:
    """Transform float64 at `idata` to the first half of its coefficients at `odata`."""
    _execute(plan, CUFFT_D2Z, idata, odata, CUFFT_FORWARD)


def cufftExecZ2D(plan: int, idata: Any, odata: Any) -> None:
    """Transform the first half of coefficients at `idata` to float64 at `odata`, without scaling."""
    _execute(plan, CUFFT_Z2D, idata, odata, CUFFT_INVERSE)


def cufftGetSize(plan: int) -> int:
    """The size of a plan's work area: 0."""
    _find(plan)
    return 0


def cufftGetSize1d(plan: int, nx: int, fft_type: int, batch: int = 1) -> int:
    """The size of a work area: 0."""
    return cufftGetSize(plan)


def cufftGetSize2d(plan: int, nx: int, ny: int, fft_type: int) -> int:
    """The size of a work area: 0."""
    return cufftGetSize(plan)


def cufftGetSize3d(plan: int, nx: int, ny: int, nz: int, fft_type: int) -> int:
    """The size of a work area: 0."""
    return cufftGetSize(plan)


def cufftGetSizeMany(
    plan: int,
    rank: int,
    n: Any,
    inembed: Any,
    istride: int,
    idist: int,
    onembed: Any,
    ostride: int,
    odist: int,
    fft_type: int,
    batch: int,
) -> int:
    """The size of a work area: 0."""
    return cufftGetSize(plan)


def cufftEstimate1d(nx: int, fft_type: int, batch: int = 1) -> int:
    """The size of a work area: 0."""
    return 0


def cufftEstimate2d(nx: int, ny: int, fft_type: int) -> int:
    """The size of a work area: 0."""
    return 0


def cufftEstimate3d(nx: int, ny: int, nz: int, fft_type: int) -> int:
    """The size of a work area: 0."""
    return 0


def cufftEstimateMany(
    rank: int,
    n: Any,
    inembed: Any,
    istride: int,
    idist: int,
    onembed: Any,
    ostride: int,
    odist: int,
    fft_type: int,
    batch: int,
) -> int:
    """The size of a work area: 0."""
    return 0
