"""Discrete Fourier transforms of device arrays under the names of `numpy.fft`.

The kernels are this package's own (no cuFFT is needed), for every length: butterflies of 2 to 16 elements for lengths
whose prime factors are at most 13, Bluestein's algorithm for others. float16, float32 and complex64 are transformed in
single precision, all else in double precision. Nothing here waits for the device. The twiddles and chirps of a length
are made on the device when they are first needed and kept, up to 64 MiB for each context.
"""

from collections.abc import Sequence
from typing import Literal, SupportsIndex, TypeAlias

from numpy.typing import ArrayLike

from rtcg.driver import Device
from rtcg.numpy import GPUArray

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

_Array: TypeAlias = GPUArray | ArrayLike
_Norm: TypeAlias = Literal["backward", "ortho", "forward"] | None

def fft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The discrete Fourier transform along an axis; does not wait. See `numpy.fft.fft`.

    Stockham's algorithm for lengths with prime factors up to 13, other lengths as a convolution (Bluestein).

    Parameters
    ----------
    a : array-like
        Of any shape with at least one axis, of numbers or bool. float16, float32 and complex64 give complex64, else
        the result is complex128.
    n : int, optional
        Length of the transform; shorter rows are padded with zeros, longer ones are cut.
    axis : int
    norm : str, optional
        backward (the default), ortho or forward, as NumPy's.
    out : GPUArray, optional
        Of the result's shape and dtype.

    Raises
    ------
    ValueError
        When `n` is less than 1, or for an unknown `norm`.
    TypeError
        When the elements are no numbers.
    """

def fft2(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The transform over two axes; see `numpy.fft.fft2`."""

def fftfreq(n: int, d: float = 1.0, device: Device | None = None) -> GPUArray:
    """The frequencies of the coefficients of `fft`, on the device; see `numpy.fft.fftfreq`."""

def fftn(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The transform over several axes; see `numpy.fft.fftn`."""

def fftshift(x: _Array, axes: int | Sequence[SupportsIndex] | None = None) -> GPUArray:
    """The coefficient of frequency 0 moved to the middle; see `numpy.fft.fftshift`."""

def hfft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The transform of numbers of which the second half are the conjugates; see `numpy.fft.hfft`."""

def ifft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The inverse of `fft`; see `numpy.fft.ifft`."""

def ifft2(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The inverse of `fft2`; see `numpy.fft.ifft2`."""

def ifftn(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The inverse of `fftn`; see `numpy.fft.ifftn`."""

def ifftshift(x: _Array, axes: int | Sequence[SupportsIndex] | None = None) -> GPUArray:
    """The inverse of `fftshift`; see `numpy.fft.ifftshift`."""

def ihfft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The inverse of `hfft`; see `numpy.fft.ihfft`."""

def irfft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The inverse of `rfft`; see `numpy.fft.irfft`."""

def irfft2(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The inverse of `rfft2`; see `numpy.fft.irfft2`."""

def irfftn(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The inverse of `rfftn`; see `numpy.fft.irfftn`."""

def rfft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The first half of the transform of real numbers; see `numpy.fft.rfft`."""

def rfft2(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The transform of real numbers over two axes; see `numpy.fft.rfft2`."""

def rfftfreq(n: int, d: float = 1.0, device: Device | None = None) -> GPUArray:
    """The frequencies of the coefficients of `rfft`, on the device; see `numpy.fft.rfftfreq`."""

def rfftn(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The transform of real numbers over several axes; see `numpy.fft.rfftn`."""
