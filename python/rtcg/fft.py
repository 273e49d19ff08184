"""Discrete Fourier transforms of device arrays under the names of `numpy.fft`.

The kernels are this package's own (no cuFFT is needed) and handle every length: butterflies for lengths whose prime
factors are at most 47 (13 on the virtual GPU), and Bluestein's algorithm for others. float16, float32 and complex64 are
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

from __future__ import annotations

import sys as _sys
import warnings as _warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._conversions import as_integer as _as_integer, as_text as _as_text
from rtcg._messages import shown
from rtcg._native import array_fft as _array_fft
from rtcg.driver import Context as _Context

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal, SupportsIndex, TypeAlias

    from numpy.typing import ArrayLike

    from rtcg.driver import Device
    from rtcg.numpy import GPUArray

    _Array: TypeAlias = GPUArray | ArrayLike
    _Norm: TypeAlias = Literal["backward", "ortho", "forward"] | None

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

_INVERSE_NORMS = {"backward": "forward", None: "forward", "ortho": "ortho", "forward": "backward"}


def _inverse_norm(norm: Any) -> Any:
    try:
        return _INVERSE_NORMS[norm]
    except (KeyError, TypeError):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".') from None


def _norm_factor(n: int, norm: Any, is_forward: bool) -> float:
    """The factor for sums over `n` elements."""
    norm = _inverse_norm(norm) if is_forward else _inverse_norm(_inverse_norm(norm))
    return {"forward": 1.0, "ortho": n**-0.5, "backward": 1.0 / n}[norm]


def _transform_length(a: GPUArray, n: Any, axis: Any, default: Callable[[int], int]) -> int:
    length = _axis_length(a.shape, axis)
    n = default(length) if n is None else _as_integer("n", n)
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return n


def _check_input(a: _Array, kinds: str = "biufc", expected: str = "numbers or bool") -> GPUArray:
    """The argument `a` on the device; checks that its elements can be transformed."""
    a = _xp._named_to_device("a", a, f"an array of {expected}")
    if a.dtype.kind not in kinds:
        raise TypeError(f"a has dtype {a.dtype}; expected {expected}")
    return a


def _check_real_input(a: _Array) -> GPUArray:
    return _check_input(a, "biuf", "real numbers or bool")


def _transform_one_axis(
    kind: str,
    a: GPUArray,
    n: int,
    axis: Any,
    norm: _Norm,
    out: GPUArray | None,
    load: str | None = None,
    store: str | None = None,
    operands: dict[str, Any] | None = None,
) -> GPUArray:
    """The transform along one axis."""
    scale = _norm_factor(n, norm, kind in ("fft", "rfft"))
    for name, expression in (("load", load), ("store", store)):
        if expression is not None:
            _as_text(name, expression, "an expression of CUDA C")
    named = [(name, _xp._unmasked_to_device(name, array)) for name, array in (operands or {}).items()]
    result = _array_fft(a, kind, n, axis, scale, (load, store), named)
    if kind == "irfft" and a.dtype == np.float16:
        result = result.astype(np.float16)
    return _xp._copy_to_out(out, result)


def fft(
    a: _Array,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: _Norm = None,
    out: GPUArray | None = None,
    *,
    load: str | None = None,
    store: str | None = None,
    **operands: Any,
) -> GPUArray:
    """The discrete Fourier transform along an axis; does not wait. See `numpy.fft.fft`.

    Uses Stockham's algorithm for lengths with prime factors up to 47 (13 on the virtual GPU), and a convolution
    (Bluestein) for other lengths.

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
    load, store : str, optional
        CUDA C expressions that the kernels apply to each element as they read it, and as they write it: of the element
        `x`, its index `i` along the axis, the number `row` of its transform, and `operands`. `x` has the precision of
        the transform. What `load` gives may be complex; the result keeps its dtype. Zeros that pad rows are not loaded.
    **operands : array-like
        Arrays that the expressions read, by name. They have flat indices in C order, as in ``w[i]``, which are not
        checked; scalars and arrays without axes are values.

    Raises
    ------
    ValueError
        If `n` is less than 1, or for an unknown `norm`, an empty expression, or operands without one.
    TypeError
        If the elements are not numbers.
    pycuda.driver.CompileError
        If an expression does not compile.

    Examples
    --------
    >>> import numpy as np, rtcg.autoinit
    >>> from rtcg import fft
    >>> fft.fft(np.ones(4), load="x * w[i]", store="x * s", w=np.array([1.0, -1.0, 1.0, -1.0]), s=0.5).get().tolist()
    [0j, 0j, (2+0j), 0j]
    """
    a = _check_input(a)
    return _transform_one_axis("fft", a, _transform_length(a, n, axis, int), axis, norm, out, load, store, operands)


def ifft(
    a: _Array,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: _Norm = None,
    out: GPUArray | None = None,
    *,
    load: str | None = None,
    store: str | None = None,
    **operands: Any,
) -> GPUArray:
    """The inverse of `fft` along an axis: a new array of complex numbers; does not wait.

    Parameters, dtypes and errors are those of `fft`; with the norm "backward" the result is divided by `n`.
    """
    a = _check_input(a)
    return _transform_one_axis("ifft", a, _transform_length(a, n, axis, int), axis, norm, out, load, store, operands)


def rfft(
    a: _Array,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: _Norm = None,
    out: GPUArray | None = None,
    *,
    load: str | None = None,
    store: str | None = None,
    **operands: Any,
) -> GPUArray:
    """The transform of real numbers along an axis: its first ``n // 2 + 1`` coefficients; does not wait.

    The result is a new array (or `out`) of complex64 or complex128. Raises `TypeError` for complex numbers. Parameters
    and other errors are those of `fft`, but it does half the work.
    """
    a = _check_real_input(a)
    return _transform_one_axis("rfft", a, _transform_length(a, n, axis, int), axis, norm, out, load, store, operands)


def irfft(
    a: _Array,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: _Norm = None,
    out: GPUArray | None = None,
    *,
    load: str | None = None,
    store: str | None = None,
    **operands: Any,
) -> GPUArray:
    """The inverse of `rfft`: a new array of real numbers, with `n` elements along the axis; does not wait.

    `a` has the first ``n // 2 + 1`` coefficients, cut or padded with zeros; `n` is 2 (m - 1) for m coefficients by
    default. The result is float16, float32 or float64. Parameters and errors are otherwise those of `fft`.
    """
    a = _check_input(a)
    n = _transform_length(a, n, axis, lambda m: 2 * (m - 1))
    return _transform_one_axis("irfft", a, n, axis, norm, out, load, store, operands)


def hfft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The transform of a Hermitian-symmetric signal, of which the first half is given: real numbers; does not wait.

    The result is a new array or `out`. `a` has the first half; `n`, the length of the result, is by default 2 (m - 1)
    for m elements. Parameters and errors are otherwise those of `fft`.
    """
    a = _check_input(a)
    n = _transform_length(a, n, axis, lambda m: 2 * (m - 1))
    return _transform_one_axis("irfft", _xp.conj(a), n, axis, _inverse_norm(norm), out)


def ihfft(
    a: _Array, n: SupportsIndex | None = None, axis: SupportsIndex = -1, norm: _Norm = None, out: GPUArray | None = None
) -> GPUArray:
    """The inverse of `hfft`: the first ``n // 2 + 1`` elements of a Hermitian-symmetric signal; does not wait.

    `a` has real numbers; raises `TypeError` for complex ones. The result is a new array (or `out`) of complex64 or
    complex128. Parameters and other errors are those of `fft`.
    """
    a = _check_real_input(a)
    n = _transform_length(a, n, axis, int)
    return _xp._copy_to_out(out, _xp.conj(_transform_one_axis("rfft", a, n, axis, _inverse_norm(norm), None)))


# -- several axes -------------------------------------------------------------------------------------


def _warn_deprecated(message: str) -> None:
    """Issue a deprecation warning at the caller of this module."""
    frame, level = _sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals is globals():
        frame, level = frame.f_back, level + 1
    _warnings.warn(message, DeprecationWarning, stacklevel=level)


def _lengths_and_axes(
    a: GPUArray, s: Any, axes: Any, is_real: bool = False, is_inverse_real: bool = False
) -> tuple[list[int], list[Any]]:
    """The lengths of transforms and their axes, by NumPy's rules; transforms of real numbers require an axis."""
    has_lengths = s is not None
    if axes is not None:
        try:
            axes = list(axes)
        except TypeError:
            raise TypeError(f"axes is {shown(axes)}; expected a sequence of integers") from None
    if has_lengths:
        try:
            s = list(s)
        except TypeError:
            raise TypeError(f"s is {shown(s)}; expected a sequence of integers") from None
    else:
        s = list(a.shape) if axes is None else [_axis_length(a.shape, axis) for axis in axes]
    if axes is None:
        if has_lengths:
            _warn_deprecated(
                "s without axes is deprecated, as in NumPy 2.0: name the axes, for the first len(s) ones range(len(s))"
            )
        axes = list(range(-len(s), 0))
    if len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    if (is_real or is_inverse_real) and not axes:
        raise IndexError("axes is (); expected one axis at least")
    if is_inverse_real and not has_lengths:
        s[-1] = 2 * (_axis_length(a.shape, axes[-1]) - 1)
    if None in s:
        _warn_deprecated("None in s is deprecated, as in NumPy 2.0: use -1")
    return [_axis_length(a.shape, axis) if n == -1 else n for n, axis in zip(s, axes, strict=True)], axes


def _axis_length(shape: tuple[int, ...], axis: Any) -> int:
    axis = _as_integer("axis", axis)
    if not -len(shape) <= axis < len(shape):
        raise np.exceptions.AxisError(axis, len(shape))
    return shape[axis]


def _transform_axes(
    function: Callable[..., GPUArray], a: _Array, s: Any, axes: Any, norm: _Norm, out: GPUArray | None
) -> GPUArray:
    a = _check_input(a)
    s, axes = _lengths_and_axes(a, s, axes)
    for k in reversed(range(len(axes))):
        # Only the last result is one that the caller's array must have room for.
        a = function(a, s[k], axes[k], norm, out if k == 0 else None)
    return a if axes or out is None else _xp._copy_to_out(out, a)


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
    return _transform_axes(fft, a, s, axes, norm, out)


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
    return _transform_axes(ifft, a, s, axes, norm, out)


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
    return _transform_axes(fft, a, s, axes, norm, out)


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
    return _transform_axes(ifft, a, s, axes, norm, out)


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
    a = _check_real_input(a)
    s, axes = _lengths_and_axes(a, s, axes, is_real=True)
    a = rfft(a, s[-1], axes[-1], norm, out if len(axes) == 1 else None)
    for k in range(len(axes) - 2, -1, -1):
        a = fft(a, s[k], axes[k], norm, out if k == 0 else None)
    return a


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
    a = _check_input(a)
    s, axes = _lengths_and_axes(a, s, axes, is_inverse_real=True)
    for n, axis in zip(s[:-1], axes[:-1], strict=True):
        a = ifft(a, n, axis, norm)
    return irfft(a, s[-1], axes[-1], norm, out)


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
    return rfftn(a, s, axes, norm, out)


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
    return irfftn(a, s, axes, norm, out)


# -- frequencies --------------------------------------------------------------------------------------


def _frequency_spacing(n: Any, d: Any, device: Any) -> Any:
    """The spacing of adjacent frequencies."""
    if not isinstance(n, (int, np.integer)):
        raise ValueError(f"n should be an integer: n is {shown(n)}; expected an integer of 1 or more")
    if n < 0:
        raise ValueError(f"negative dimensions are not allowed: n is {n}; expected 1 or more")
    if not isinstance(d, (int, float, np.integer, np.floating)):
        raise TypeError(f"d is {shown(d)}; expected a real number, the distance of samples")
    if device is not None and device != _Context.get_device():
        raise ValueError(f"device is {shown(device)}; expected None or the device of the current context")
    return 1.0 / (n * d)


def fftfreq(n: int, d: float = 1.0, device: Device | None = None) -> GPUArray:
    """The frequencies of the `n` coefficients of `fft`: a new array of float64 on the device; does not wait.

    ``[0, 1, ..., -2, -1] / (n d)``, where `d` is the spacing of samples. `device` is None or that of the current
    context. Raises `ValueError` unless `n` is a positive integer, `TypeError` unless `d` is a real number, and
    `ZeroDivisionError` if `n` is 0.
    """
    spacing = _frequency_spacing(n, d, device)
    whole = _xp.arange(n)
    return (whole - n * (whole >= (n + 1) // 2)) * spacing


def rfftfreq(n: int, d: float = 1.0, device: Device | None = None) -> GPUArray:
    """The frequencies of the ``n // 2 + 1`` coefficients of `rfft`: a new array of float64; does not wait.

    ``[0, 1, ..., n // 2] / (n d)``. Parameters and errors are those of `fftfreq`.
    """
    spacing = _frequency_spacing(n, d, device)
    return _xp.arange(n // 2 + 1) * spacing


def _shift_by_half(x: _Array, axes: Any, sign: int) -> GPUArray:
    x = _xp._to_device(x)
    if axes is None:
        axes = tuple(range(x.ndim))
    if isinstance(axes, (int, np.integer)):
        return _xp.roll(x, sign * (_axis_length(x.shape, axes) // 2), axes)
    return _xp.roll(x, [sign * (_axis_length(x.shape, axis) // 2) for axis in axes], tuple(axes))


def fftshift(x: _Array, axes: int | Sequence[SupportsIndex] | None = None) -> GPUArray:
    """A copy with the coefficient of frequency 0 in the middle of `axes` (all by default); does not wait.

    `x` is array-like of any dtype; `axes` is an int or a tuple of int. Raises `AxisError` for an axis that `x` does not
    have.
    """
    return _shift_by_half(x, axes, 1)


def ifftshift(x: _Array, axes: int | Sequence[SupportsIndex] | None = None) -> GPUArray:
    """The inverse of `fftshift`: a copy with the middle of `axes` (all by default) moved to the start; does not wait.

    Parameters and errors are those of `fftshift`; the functions differ for odd lengths.
    """
    return _shift_by_half(x, axes, -1)
