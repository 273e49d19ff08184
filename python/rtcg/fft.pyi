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
    """The transform over two axes, the last ones by default: a new array of complex numbers, or `out`; does not wait.

    Parameters, dtypes and errors are those of `fftn`.
    """

def fftfreq(n: int, d: float = 1.0, device: Device | None = None) -> GPUArray:
    """The frequencies of the `n` coefficients of `fft`: a new array of float64 on the device; does not wait.

    ``[0, 1, ..., -2, -1] / (n d)``, where `d` is the distance of samples. `device` is None or that of the current
    context. Raises `ValueError` unless `n` is a positive integer, and `TypeError` unless `d` is a real number; n 0 is a
    `ZeroDivisionError`.
    """

def fftn(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The transform over several axes: a new array of complex numbers, or `out`; does not wait.

    `a` is array-like; `axes` are the axes, all by default, of which one named twice is transformed twice. `s` are their
    lengths, to which they are cut or filled up with zeros. `norm`, dtypes and errors are those of `fft`; a `ValueError`
    too for other numbers of lengths and axes. One axis after the other, the last one first.
    """

def fftshift(x: _Array, axes: int | Sequence[SupportsIndex] | None = None) -> GPUArray:
    """A copy with the coefficient of frequency 0 in the middle of `axes` (all by default); does not wait.

    `x` is array-like of any dtype; `axes` is an int or a tuple of int. Raises `AxisError` for one that it does not
    have.
    """

def hfft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The transform of numbers whose second half is the conjugate of the first: real numbers; does not wait.

    `a` has the first half; `n`, the length of the result, is 2 (m - 1) for m elements by default. Parameters and errors
    are otherwise those of `fft`.
    """

def ifft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The inverse of `fft` along an axis: a new array of complex numbers; does not wait.

    Parameters, dtypes and errors are those of `fft`; with the norm "backward" the result is divided by `n`.
    """

def ifft2(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The inverse of `fft2`: a new array of complex numbers, or `out`; does not wait.

    Parameters, dtypes and errors are those of `ifftn`.
    """

def ifftn(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The inverse of `fftn`: a new array of complex numbers, or `out`; does not wait.

    Parameters, dtypes and errors are those of `fftn`; with the norm "backward" the result is divided by the number of
    elements.
    """

def ifftshift(x: _Array, axes: int | Sequence[SupportsIndex] | None = None) -> GPUArray:
    """The inverse of `fftshift`: a copy with the middle of `axes` (all by default) at the beginning; does not wait.

    Parameters and errors are those of `fftshift`, from which it differs for odd lengths.
    """

def ihfft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The inverse of `hfft`: the first half of complex numbers, ``n // 2 + 1`` of them; does not wait.

    `a` are real numbers; raises `TypeError` for complex ones. The result is a new array (or `out`) of complex64 or
    complex128. Parameters and other errors are those of `fft`.
    """

def irfft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The inverse of `rfft`: a new array of real numbers, of `n` elements along the axis; does not wait.

    `a` has the first ``n // 2 + 1`` coefficients, cut or filled up with zeros; `n` is 2 (m - 1) for m coefficients by
    default. The result is float16, float32 or float64. Parameters and errors are otherwise those of `fft`.
    """

def irfft2(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The inverse of `rfft2`, as `irfftn`: a new array of real numbers, or `out`; does not wait.

    Parameters, dtypes and errors are those of `irfftn`.
    """

def irfftn(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The inverse of `rfftn`: a new array of real numbers, or `out`; does not wait.

    As `ifft` along all but the last of `axes`, then `irfft` along that, whose length is 2 (m - 1) for m coefficients
    unless `s` is given. Parameters and errors are otherwise those of `fftn`.
    """

def rfft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The transform of real numbers along an axis: its first ``n // 2 + 1`` coefficients; does not wait.

    Complex numbers are a `TypeError`. The result is a new array (or `out`) of complex64 or complex128. Parameters and
    other errors are those of `fft`; half the work of `fft`.
    """

def rfft2(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The transform of real numbers over two axes, as `rfftn`: a new array of complex numbers, or `out`; does not wait.

    Parameters, dtypes and errors are those of `rfftn`.
    """

def rfftfreq(n: int, d: float = 1.0, device: Device | None = None) -> GPUArray:
    """The frequencies of the ``n // 2 + 1`` coefficients of `rfft`: a new array of float64; does not wait.

    ``[0, 1, ..., n // 2] / (n d)``. Parameters and errors are those of `fftfreq`.
    """

def rfftn(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The transform of real numbers over several axes, the last with ``n // 2 + 1`` coefficients; does not wait.

    As `rfft` along the last of `axes`, then `fft` along the others. Complex numbers are a `TypeError`, no axis is an
    `IndexError`. Parameters, the result and other errors are those of `fftn`.
    """
