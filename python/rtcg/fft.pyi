"""Discrete Fourier transforms of device arrays under the names of `numpy.fft`.

The kernels are this package's own (no cuFFT is needed) and handle every length: butterflies of 2 to 16 elements for
lengths whose prime factors are at most 13, and Bluestein's algorithm for others. float16, float32 and complex64 are
transformed in single precision, everything else in double precision. No function waits for the device. The twiddles and
chirps of a length are computed on the device when first needed and are kept, up to 64 MiB per context. The first
transform of a length and dtype compiles its kernels, which takes some tenths of a second, or one or two seconds on the
virtual GPU. Later transforms, and other processes, take them from the caches.

Parameters are NumPy's. `a`: an array of numbers or bool of any layout (host arrays are copied to the device; no
bfloat16). `n`: the length along `axis`, to which rows are cut or padded with zeros; by default that of the array, or 2
(m - 1) for m elements in `irfft` and `hfft`. `norm`: "backward" (the default; inverse transforms divide by n),
"forward" (the others do) or "ortho" (both divide by the square root of n). `out`: a GPUArray with the shape of the
result. Transforms over several axes take the lengths `s` of `axes`. Results are `out`, or new arrays from the allocator
of `a`. Errors: IndexError for axes that do not exist, ValueError for lengths below 1, other norms and shapes of `out`,
TypeError for elements that cannot be transformed.
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

    Uses Stockham's algorithm for lengths with prime factors up to 13, and a convolution (Bluestein) for other lengths.

    Parameters
    ----------
    a : array-like
        Of any shape with at least one axis, with numbers or bools. float16, float32 and complex64 give complex64; other
        dtypes give complex128.
    n : int, optional
        Length of the transform; shorter rows are padded with zeros, longer ones are cut.
    axis : int
    norm : str, optional
        backward (the default), ortho or forward, as in NumPy.
    out : GPUArray, optional
        Has the shape and dtype of the result.

    Raises
    ------
    ValueError
        If `n` is less than 1, or for an unknown `norm`.
    TypeError
        If the elements are not numbers.
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

    ``[0, 1, ..., -2, -1] / (n d)``, where `d` is the spacing of samples. `device` is None or that of the current
    context. Raises `ValueError` unless `n` is a positive integer, `TypeError` unless `d` is a real number, and
    `ZeroDivisionError` if `n` is 0.
    """

def fftn(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The transform over several axes: a new array of complex numbers, or `out`; does not wait.

    `a` is array-like; `axes` are the axes, all by default; an axis that occurs twice is transformed twice. `s` has
    their lengths, to which they are cut or padded with zeros. `norm`, dtypes and errors are those of `fft`; also raises
    `ValueError` if the numbers of lengths and axes differ. Transforms one axis after the other, beginning with the
    last.
    """

def fftshift(x: _Array, axes: int | Sequence[SupportsIndex] | None = None) -> GPUArray:
    """A copy with the coefficient of frequency 0 in the middle of `axes` (all by default); does not wait.

    `x` is array-like of any dtype; `axes` is an int or a tuple of int. Raises `AxisError` for an axis that `x` does not
    have.
    """

def hfft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The transform of a Hermitian-symmetric signal, of which the first half is given: real numbers; does not wait.

    The result is a new array or `out`. `a` has the first half; `n`, the length of the result, is by default 2 (m - 1)
    for m elements. Parameters and errors are otherwise those of `fft`.
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
    """The inverse of `fftshift`: a copy with the middle of `axes` (all by default) moved to the start; does not wait.

    Parameters and errors are those of `fftshift`; the functions differ for odd lengths.
    """

def ihfft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The inverse of `hfft`: the first ``n // 2 + 1`` elements of a Hermitian-symmetric signal; does not wait.

    `a` has real numbers; raises `TypeError` for complex ones. The result is a new array (or `out`) of complex64 or
    complex128. Parameters and other errors are those of `fft`.
    """

def irfft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The inverse of `rfft`: a new array of real numbers, with `n` elements along the axis; does not wait.

    `a` has the first ``n // 2 + 1`` coefficients, cut or padded with zeros; `n` is 2 (m - 1) for m coefficients by
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

    Applies `ifft` along all but the last of `axes`, then `irfft` along the last one, whose length is 2 (m - 1) for m
    coefficients unless `s` is given. Parameters and errors are otherwise those of `fftn`.
    """

def rfft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The transform of real numbers along an axis: its first ``n // 2 + 1`` coefficients; does not wait.

    The result is a new array (or `out`) of complex64 or complex128. Raises `TypeError` for complex numbers. Parameters
    and other errors are those of `fft`, but it does half the work.
    """

def rfft2(
    a: _Array,
    s: Sequence[SupportsIndex | None] | None = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: _Norm = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The transform of real numbers over two axes, as `rfftn`: a new complex array, or `out`; does not wait.

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

    Applies `rfft` along the last of `axes`, then `fft` along the others. Raises `TypeError` for complex numbers, and
    `IndexError` if there is no axis. Parameters, result and other errors are those of `fftn`.
    """
