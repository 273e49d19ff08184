"""Image filters on the device: correlation, convolution, and layers of vision models.

`correlate`, `convolve`, their variants for one axis, `gaussian_filter` and `uniform_filter` have the names, arguments
and results of `scipy.ndimage`, in any number of dimensions. `filter_bank`, `pool` and `local_norm` take images of rows,
columns and channels, and compute results where a window fits.

float16, bfloat16, float32 and complex64 are summed in float32, other dtypes in float64. No function waits for the
device.

Modes, which define the values beyond a border: ``"reflect"`` (``d c b a | a b c d | d c b a``), ``"nearest"``,
``"mirror"`` (``d c b | a b c d | c b a``), ``"constant"`` (`cval`), ``"wrap"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_dtype, as_flag, as_float, as_integer, as_list, as_text
from rtcg._messages import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal, SupportsFloat, SupportsIndex, TypeAlias

    from numpy.typing import ArrayLike, DTypeLike

    from rtcg.numpy import GPUArray

    _Array: TypeAlias = GPUArray | ArrayLike
    _Output: TypeAlias = GPUArray | DTypeLike | None
    _Modes: TypeAlias = str | Sequence[str]
    _Integers: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
    _Numbers: TypeAlias = SupportsFloat | Sequence[SupportsFloat]

__all__ = [
    "convolve", "convolve1d", "correlate", "correlate1d", "filter_bank", "gaussian_filter", "gaussian_filter1d",
    "local_norm", "pool", "uniform_filter", "uniform_filter1d",
]  # fmt: skip


_INTEGERS = "an integer, or one for each axis"


def _counts(value: _Integers, name: str, least: int = 0) -> list[int]:
    numbers = as_list(name, value, as_integer, _INTEGERS)
    for number in numbers:
        if number < least:
            raise ValueError(f"{name} is {number}; expected integers of at least {least}")
    return numbers


def _placement(output: Any, mode: _Modes, cval: Any, origin: _Integers, axes: _Integers | None) -> dict[str, Any]:
    if isinstance(output, np.ndarray):
        raise TypeError("output is a NumPy array; expected a dtype or a GPUArray")
    dtype = output.dtype if isinstance(output, _xp.GPUArray) else as_dtype("output", output)
    return {
        "dtype": None if dtype is None else dtype.name,
        "modes": as_list("mode", mode, as_text, "the name of a mode, or one for each axis"),
        "cval": as_float("cval", cval),
        "origins": as_list("origin", origin, as_integer, _INTEGERS),
        "axes": None if axes is None else as_list("axes", axes, as_integer, "an integer, or a sequence of them", True),
    }


def _result(found: GPUArray, output: _Output) -> GPUArray:
    """The result in the caller's array if given, else the result itself."""
    if not isinstance(output, _xp.GPUArray):
        return found
    if tuple(output.shape) != found.shape:
        raise ValueError(f"output has shape {tuple(output.shape)}; expected {found.shape}")
    output[...] = found
    return output


def _run(
    compute: Callable[[GPUArray, Any, dict[str, Any]], GPUArray],
    image: _Array,
    weights: GPUArray | None,
    output: _Output,
    mode: _Modes,
    cval: Any,
    origin: _Integers,
    axes: _Integers | None,
) -> GPUArray:
    """`compute` for an image and weights with a placement; complex ones are split into real and imaginary parts."""
    image = _xp._unmasked_to_device("input", image)
    kinds = {image.dtype.kind, None if weights is None else weights.dtype.kind}
    if "c" not in kinds:
        return _result(compute(image, weights, _placement(output, mode, cval, origin, axes)), output)
    if image.dtype.kind != "c" and np.iscomplexobj(cval):
        raise ValueError(f"cval is {shown(cval)}; expected a real number for a real image")
    dtype = _complex_dtype(image.dtype, output)
    part = np.empty(0, dtype).real.dtype

    def real_filter(image: GPUArray, weights: Any, cval: Any) -> GPUArray:
        return compute(image, weights, _placement(part, mode, cval, origin, axes))

    images = [(image.real, np.real(cval)), (image.imag, np.imag(cval))] if image.dtype.kind == "c" else [(image, cval)]
    if weights is None or weights.dtype.kind != "c":
        parts = [real_filter(each, weights, value) for each, value in images]
    else:
        parts = [real_filter(images[0][0], each, images[0][1]) for each in (weights.real, weights.imag)]
        if len(images) > 1:
            parts[0] -= real_filter(images[1][0], weights.imag, images[1][1])
            parts[1] += real_filter(images[1][0], weights.real, images[1][1])
    found = _xp.empty(parts[0].shape, dtype)
    numbers = found.view(part)
    numbers[..., ::2], numbers[..., 1::2] = parts
    return _result(found, output)


def _complex_dtype(image: np.dtype[Any], output: Any) -> np.dtype[Any]:
    """The dtype of a complex result, by SciPy's rules."""
    if isinstance(output, _xp.GPUArray):
        if output.dtype.kind != "c":
            raise RuntimeError(f"output has dtype {output.dtype}; expected a complex one for complex images or weights")
        return output.dtype
    dtype = as_dtype("output", output)
    return np.result_type(image if dtype is None else dtype, np.complex64)


def _filter(
    image: _Array,
    weights: _Array,
    output: _Output,
    mode: _Modes,
    cval: Any,
    origin: _Integers,
    axes: _Integers | None,
    is_convolution: bool,
) -> GPUArray:
    weights = _xp._unmasked_to_device("weights", weights)
    if weights.dtype.kind == "c" and not is_convolution:
        weights = weights.conj()
    return _run(
        lambda image, weights, placement: _native.ndimage_correlate(image, weights, placement, is_convolution),
        image, weights, output, mode, cval, origin, axes,
    )  # fmt: skip


def correlate(
    input: _Array,
    weights: _Array,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: _Integers = 0,
    *,
    axes: _Integers | None = None,
) -> GPUArray:  # noqa: A002
    """The weighted sum of each pixel's neighbours. See `scipy.ndimage.correlate`.

    ``out[p] = sum(input[p - n // 2 - origin + i] * weights[i])`` on each axis, for weights of length n.

    Parameters
    ----------
    input : array-like
        Real or complex numbers, with any number of axes.
    weights : array-like
        Real or complex numbers; complex ones are conjugated (not in `convolve`). They have as many axes as are
        filtered, and at least one element. Unlike in SciPy, NaN times a weight of 0 is NaN.
    output : dtype or GPUArray, optional
        The dtype of the result, by default that of `input`; or the array that receives it and is returned. The result
        is complex if `input` or `weights` are; real and imaginary parts are filtered separately.
    mode : str or sequence of str
        See the module; one per axis, or one for all.
    cval : float or complex
        The value beyond borders with mode ``"constant"``.
    origin : int or sequence of int
        The offset of the centre of the weights.
    axes : int or sequence of int, optional
        The axes to filter; all by default.

    Raises
    ------
    ValueError
        If `weights` have another number of axes, `origin` is outside them, or `cval` is complex for a real `input`.
    RuntimeError
        If `output` is a real array for a complex result.
    TypeError
        If elements are not numbers.
    """
    return _filter(input, weights, output, mode, cval, origin, axes, False)


def convolve(
    input: _Array,
    weights: _Array,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: _Integers = 0,
    *,
    axes: _Integers | None = None,
) -> GPUArray:  # noqa: A002
    """`correlate` with reversed weights: same parameters, result and errors. See `scipy.ndimage.convolve`.

    Does not wait.
    """
    return _filter(input, weights, output, mode, cval, origin, axes, True)


def correlate1d(
    input: _Array,
    weights: _Array,
    axis: SupportsIndex = -1,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: SupportsIndex = 0,
) -> GPUArray:  # noqa: A002
    """`correlate` along one axis, with weights that have one axis: an array with the shape of `input`. Does not wait.

    See `scipy.ndimage.correlate1d`.
    """
    return correlate(input, weights, output, mode, cval, origin, axes=as_integer("axis", axis))


def convolve1d(
    input: _Array,
    weights: _Array,
    axis: SupportsIndex = -1,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: SupportsIndex = 0,
) -> GPUArray:  # noqa: A002
    """`convolve` along one axis, with weights that have one axis: an array with the shape of `input`. Does not wait.

    See `scipy.ndimage.convolve1d`.
    """
    return convolve(input, weights, output, mode, cval, origin, axes=as_integer("axis", axis))


def uniform_filter(
    input: _Array,
    size: _Integers = 3,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: _Integers = 0,
    *,
    axes: _Integers | None = None,
) -> GPUArray:  # noqa: A002
    """The mean over windows, one axis after the other. See `scipy.ndimage.uniform_filter`.

    `size`, `mode` and `origin` are one value per filtered axis, or one for all. Between axes, results are rounded to
    the dtype of the result, as in SciPy. Other parameters and errors are those of `correlate`.
    """
    sizes = _counts(size, "size", 1)
    return _run(
        lambda image, _, placement: _native.ndimage_uniform_filter(image, sizes, placement),
        input, None, output, mode, cval, origin, axes,
    )  # fmt: skip


def uniform_filter1d(
    input: _Array,
    size: SupportsIndex,
    axis: SupportsIndex = -1,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: SupportsIndex = 0,
) -> GPUArray:  # noqa: A002
    """`uniform_filter` along one axis: an array with the shape of `input`. Does not wait.

    See `scipy.ndimage.uniform_filter1d`.
    """
    return uniform_filter(input, size, output, mode, cval, origin, axes=as_integer("axis", axis))


def gaussian_filter(
    input: _Array,  # noqa: A002
    sigma: _Numbers,
    order: _Integers = 0,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    truncate: SupportsFloat = 4.0,
    *,
    radius: _Integers | None = None,
    axes: _Integers | None = None,
) -> GPUArray:
    """A Gaussian filter or its derivatives, one axis after the other. See `scipy.ndimage.gaussian_filter`.

    Parameters
    ----------
    input : array-like
    sigma : float or sequence of float
        Standard deviations in pixels; 0 leaves an axis as it is.
    order : int or sequence of int
        The order of the derivative of the Gaussian.
    truncate : float
        The number of standard deviations at which weights end.
    radius : int or sequence of int, optional
        The distance in pixels at which weights end, instead of `truncate`.
    output, mode, cval, axes
        As in `correlate`.

    Raises
    ------
    ValueError
        If `sigma`, `order` or `truncate` is negative or NaN, a standard deviation infinite, or a radius above 2**24.
    """
    radii = [] if radius is None else _counts(radius, "radius")
    sigmas, orders = as_list("sigma", sigma, as_float, "a number, or one for each axis"), _counts(order, "order")
    truncate = as_float("truncate", truncate)

    def compute(image: GPUArray, _: Any, placement: dict[str, Any]) -> GPUArray:
        return _native.ndimage_gaussian_filter(image, sigmas, orders, radii, truncate, placement)

    return _run(compute, input, None, output, mode, cval, 0, axes)


def gaussian_filter1d(
    input: _Array,  # noqa: A002
    sigma: SupportsFloat,
    axis: SupportsIndex = -1,
    order: SupportsIndex = 0,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    truncate: SupportsFloat = 4.0,
    *,
    radius: SupportsIndex | None = None,
) -> GPUArray:
    """`gaussian_filter` along one axis: an array with the shape of `input`. Does not wait.

    See `scipy.ndimage.gaussian_filter1d`.
    """
    return gaussian_filter(
        input, sigma, order, output, mode, cval, truncate, radius=radius, axes=as_integer("axis", axis)
    )


def _pair(value: _Integers, name: str) -> list[int]:
    numbers = _counts(value, name, 1)
    if len(numbers) > 2:
        raise ValueError(f"{name} is {shown(value)}; expected one integer, or one for rows and one for columns")
    return numbers * (3 - len(numbers)) if numbers else _pair(1, name)


def filter_bank(x: _Array, w: _Array, activation: str | None = None, out: GPUArray | None = None) -> GPUArray:
    """The correlation of images with filters, at all positions where a filter fits; does not wait.

    All sizes are constants of the compiled kernel, so that other sizes compile another kernel; for images of up to 4096
    pixels only the width of filters is a constant.

    Parameters
    ----------
    x : GPUArray or array-like of shape (..., rows, columns, channels)
        Real numbers. bfloat16 and integers of 8 and 16 bits are converted to float32, other integers to float64.
    w : GPUArray or array-like of shape (filters, height, width, channels)
    activation : str, optional
        The value to store for each sum: a CUDA C expression of the sum `acc` and the index `f` of the filter, such as
        ``"fmaxf(acc, 0.0f)"`` or ``"clip(acc, -1, 1)"``; or ``"clip"``, which limits to 0 and 1, or ``"relu"``.
    out : GPUArray, optional
        Receives the result; has its shape and a dtype to which NumPy's rule "same_kind" allows a cast; may be `x`.

    Returns
    -------
    GPUArray of shape (..., rows - height + 1, columns - width + 1, filters)
        Of float16, float32 or float64, the wider of `x` and `w`. float16 is summed in float32 and rounded once.

    Raises
    ------
    ValueError
        If shapes do not fit, or filters are larger than images.
    TypeError
        If elements are not real numbers, or the result may not be cast to the dtype of `out`.
    pycuda.driver.CompileError
        If `activation` does not compile.
    """
    if activation is not None:
        as_text("activation", activation, "an expression of CUDA C, 'clip' or 'relu'")
    if out is not None:
        _xp._require_array("out", out)
    return _native.ndimage_filter_bank(
        _xp._unmasked_to_device("x", x), _xp._unmasked_to_device("w", w), activation, out
    )


def pool(
    x: _Array, size: _Integers, strides: _Integers | None = None, exponent: SupportsFloat | Literal["max"] = "max"
) -> GPUArray:
    """Combine each window of each channel to one number, where windows fit; does not wait.

    Parameters
    ----------
    x : GPUArray or array-like of shape (..., rows, columns, channels)
        Real numbers, converted as in `filter_bank`.
    size : int or pair of int
        Rows and columns of a window.
    strides : int or pair of int, optional
        The distance between windows; by default `size`.
    exponent : float or "max"
        ``p``, for ``sum(abs(x) ** p) ** (1 / p)``, where infinity gives the largest absolute value; or ``"max"``, for
        the largest element.

    Returns
    -------
    GPUArray of shape (..., (rows - size) // stride + 1, (columns - size) // stride + 1, channels)
        A window that contains NaN gives NaN.

    Raises
    ------
    ValueError
        If a window does not fit, or `exponent` is 0, negative, NaN or another str.
    TypeError
        If elements are not real numbers, or `exponent` is not a number.
    """
    window = _pair(size, "size")
    steps = window if strides is None else _pair(strides, "strides")
    expected = "a number above 0 or 'max'"
    if isinstance(exponent, str) and exponent != "max":
        raise ValueError(f"exponent is {shown(exponent)}; expected {expected}")
    power = None if isinstance(exponent, str) else as_float("exponent", exponent, expected)
    return _native.ndimage_pool(_xp._unmasked_to_device("x", x), window, steps, power)


def local_norm(
    x: _Array, size: _Integers, *, center: bool = True, stretch: SupportsFloat = 1.0, threshold: SupportsFloat = 1.0
) -> GPUArray:
    """Local contrast normalisation, where windows fit; does not wait.

    For each window (over all channels), takes the middle pixel minus the window's mean, times `stretch`, and divides it
    by the window's norm if that is above `threshold`. The norm is `stretch` times the square root of the sum of
    squares, after the mean is subtracted.

    Parameters
    ----------
    x : GPUArray or array-like of shape (..., rows, columns, channels)
        Real numbers, converted as in `filter_bank`.
    size : int or pair of int
        Rows and columns of the window.
    center : bool
        Whether the mean is subtracted.
    stretch, threshold : float

    Returns
    -------
    GPUArray of shape (..., rows - size + 1, columns - size + 1, channels)

    Raises
    ------
    ValueError
        If a window does not fit, or `stretch` or `threshold` are negative or not finite.

    Notes
    -----
    As in Pinto, Doukhan, DiCarlo and Cox, "A high-throughput screening approach to discovering good forms of
    biologically inspired visual representation", 2009.
    """
    window = _pair(size, "size")
    return _native.ndimage_local_norm(
        _xp._unmasked_to_device("x", x), window, as_flag("center", center), as_float("stretch", stretch),
        as_float("threshold", threshold),
    )  # fmt: skip
