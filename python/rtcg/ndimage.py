"""Filters of images on the device: correlation and convolution, and layers of models of vision.

`correlate`, `convolve`, their variants for one axis, `gaussian_filter` and `uniform_filter` have the names, arguments
and results of `scipy.ndimage`, in any number of dimensions. `filter_bank`, `pool` and `local_norm` take images of rows,
columns and channels, and give results where a window fits.

float16, bfloat16 and float32 are summed in float32, all else in float64. Nothing waits for the device.

Modes, of what is beyond a border: ``"reflect"`` (``d c b a | a b c d | d c b a``), ``"nearest"``, ``"mirror"``
(``d c b | a b c d | c b a``), ``"constant"`` (`cval`), ``"wrap"``.
"""

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_dtype, as_flag, as_float, as_integer, as_list, as_text

__all__ = [
    "convolve", "convolve1d", "correlate", "correlate1d", "filter_bank", "gaussian_filter", "gaussian_filter1d",
    "local_norm", "pool", "uniform_filter", "uniform_filter1d",
]  # fmt: skip


_INTEGERS = "an integer, or one for each axis"


def _counts(value, name, least=0):
    numbers = as_list(name, value, as_integer, _INTEGERS)
    for number in numbers:
        if number < least:
            raise ValueError(f"{name} is {number}; expected integers of at least {least}")
    return numbers


def _placement(output, mode, cval, origin, axes):
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


def _result(found, output):
    """The array that the caller has given, with what was found; else that."""
    if not isinstance(output, _xp.GPUArray):
        return found
    if tuple(output.shape) != found.shape:
        raise ValueError(f"output has shape {tuple(output.shape)}; expected {found.shape}")
    output[...] = found
    return output


def _filter(image, weights, output, placement, is_convolution):
    image, weights = _xp._unmasked_to_device("input", image), _xp._unmasked_to_device("weights", weights)
    return _result(_native.ndimage_correlate(image, weights, placement, is_convolution), output)


def correlate(input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):  # noqa: A002
    """The weighted sum of each pixel's neighbours. See `scipy.ndimage.correlate`.

    ``out[p] = sum(input[p - n // 2 - origin + i] * weights[i])`` on each axis, for weights of length n.

    Parameters
    ----------
    input : array-like
        Real numbers, with any number of axes.
    weights : array-like
        With as many axes as are filtered, and at least one element. Unlike in SciPy, NaN times a weight of 0 is NaN.
    output : dtype or GPUArray, optional
        The dtype of the result, by default that of `input`; or the array for it, which is returned.
    mode : str or sequence of str
        See the module; one for each axis, or one for all.
    cval : float
        What is beyond borders with mode ``"constant"``.
    origin : int or sequence of int
        By how much the middle of the weights is moved.
    axes : int or sequence of int, optional
        The axes that are filtered; by default all.

    Raises
    ------
    ValueError
        If `weights` have another number of axes, or `origin` leaves them.
    TypeError
        If elements are not real numbers.
    """
    return _filter(input, weights, output, _placement(output, mode, cval, origin, axes), False)


def convolve(input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):  # noqa: A002
    """`correlate` with weights in reverse order: the same arguments, result and errors. See `scipy.ndimage.convolve`.

    Does not wait.
    """
    return _filter(input, weights, output, _placement(output, mode, cval, origin, axes), True)


def correlate1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):  # noqa: A002
    """`correlate` along one axis, with weights of one axis: an array of the shape of `input`. Does not wait.

    See `scipy.ndimage.correlate1d`.
    """
    return correlate(input, weights, output, mode, cval, origin, axes=as_integer("axis", axis))


def convolve1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):  # noqa: A002
    """`convolve` along one axis, with weights of one axis: an array of the shape of `input`. Does not wait.

    See `scipy.ndimage.convolve1d`.
    """
    return convolve(input, weights, output, mode, cval, origin, axes=as_integer("axis", axis))


def uniform_filter(input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):  # noqa: A002
    """The mean of windows, by one axis after the other. See `scipy.ndimage.uniform_filter`.

    `size`, `mode` and `origin` are one for each axis that is filtered, or one for all. Between axes results are rounded
    to the dtype of the result, as in SciPy. Other parameters and errors are those of `correlate`.
    """
    placement = _placement(output, mode, cval, origin, axes)
    found = _native.ndimage_uniform_filter(_xp._unmasked_to_device("input", input), _counts(size, "size", 1), placement)
    return _result(found, output)


def uniform_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):  # noqa: A002
    """`uniform_filter` along one axis: an array of the shape of `input`. Does not wait.

    See `scipy.ndimage.uniform_filter1d`.
    """
    return uniform_filter(input, size, output, mode, cval, origin, axes=as_integer("axis", axis))


def gaussian_filter(
    input,  # noqa: A002
    sigma,
    order=0,
    output=None,
    mode="reflect",
    cval=0.0,
    truncate=4.0,
    *,
    radius=None,
    axes=None,
):
    """A Gaussian filter or its derivatives, by one axis after the other. See `scipy.ndimage.gaussian_filter`.

    Parameters
    ----------
    input : array-like
    sigma : float or sequence of float
        Standard deviations in pixels; 0 leaves an axis as it is.
    order : int or sequence of int
        Which derivative of the Gaussian.
    truncate : float
        Weights end at so many standard deviations.
    radius : int or sequence of int, optional
        Where weights end, instead of `truncate`.
    output, mode, cval, axes
        As in `correlate`.

    Raises
    ------
    ValueError
        If `sigma`, `order` or `truncate` is negative or NaN, a standard deviation infinite, or a radius above 2**24.
    """
    radii = [] if radius is None else _counts(radius, "radius")
    found = _native.ndimage_gaussian_filter(
        _xp._unmasked_to_device("input", input),
        as_list("sigma", sigma, as_float, "a number, or one for each axis"), _counts(order, "order"), radii,
        as_float("truncate", truncate), _placement(output, mode, cval, 0, axes),
    )  # fmt: skip
    return _result(found, output)


def gaussian_filter1d(
    input,  # noqa: A002
    sigma,
    axis=-1,
    order=0,
    output=None,
    mode="reflect",
    cval=0.0,
    truncate=4.0,
    *,
    radius=None,
):
    """`gaussian_filter` along one axis: an array of the shape of `input`. Does not wait.

    See `scipy.ndimage.gaussian_filter1d`.
    """
    return gaussian_filter(
        input, sigma, order, output, mode, cval, truncate, radius=radius, axes=as_integer("axis", axis)
    )


def _pair(value, name):
    numbers = _counts(value, name, 1)
    if len(numbers) > 2:
        raise ValueError(f"{name} is {value!r}; expected one integer, or one for rows and one for columns")
    return numbers * (3 - len(numbers)) if numbers else _pair(1, name)


def filter_bank(x, w, activation=None, out=None):
    """The correlation of images with filters, at all places where a filter fits; does not wait.

    All sizes are literals of the compiled kernel, which is made anew for others; but of images of up to 4096 pixels
    only the width of filters is.

    Parameters
    ----------
    x : GPUArray or array-like of shape (..., rows, columns, channels)
        Real numbers. bfloat16 and integers of 8 and 16 bits are taken as float32, other integers as float64.
    w : GPUArray or array-like of shape (filters, height, width, channels)
    activation : str, optional
        What is stored of each sum: an expression of CUDA C of the sum `acc` and the number `f` of the filter, such as
        ``"fmaxf(acc, 0.0f)"`` or ``"clip(acc, -1, 1)"``; or ``"clip"``, to 0 and 1, or ``"relu"``.
    out : GPUArray, optional
        For the result, of its shape and of a dtype that it may be cast to by NumPy's rule "same_kind"; it may be `x`.

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


def pool(x, size, strides=None, exponent="max"):
    """One number for each window of each channel, where windows fit; does not wait.

    Parameters
    ----------
    x : GPUArray or array-like of shape (..., rows, columns, channels)
        Real numbers, taken as in `filter_bank`.
    size : int or pair of int
        Rows and columns of a window.
    strides : int or pair of int, optional
        From a window to the next; by default `size`.
    exponent : float or "max"
        ``p``, for ``sum(abs(x) ** p) ** (1 / p)``, where infinity is the largest absolute value; or ``"max"``, for the
        largest element.

    Returns
    -------
    GPUArray of shape (..., (rows - size) // stride + 1, (columns - size) // stride + 1, channels)
        A window with NaN has NaN.

    Raises
    ------
    ValueError
        If a window does not fit, or `exponent` is 0, negative, NaN or another str.
    TypeError
        If elements are not real numbers, or `exponent` is no number.
    """
    size = _pair(size, "size")
    strides = size if strides is None else _pair(strides, "strides")
    expected = "a number above 0 or 'max'"
    if isinstance(exponent, str) and exponent != "max":
        raise ValueError(f"exponent is {exponent!r}; expected {expected}")
    power = None if isinstance(exponent, str) else as_float("exponent", exponent, expected)
    return _native.ndimage_pool(_xp._unmasked_to_device("x", x), size, strides, power)


def local_norm(x, size, *, center=True, stretch=1.0, threshold=1.0):
    """Local contrast normalisation, where windows fit; does not wait.

    Of each window (all channels) the middle pixel, less the window's mean, times `stretch`, and divided by the window's
    norm where that is above `threshold`. The norm is `stretch` times the root of the sum of squares, less the mean.

    Parameters
    ----------
    x : GPUArray or array-like of shape (..., rows, columns, channels)
        Real numbers, taken as in `filter_bank`.
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
    size = _pair(size, "size")
    return _native.ndimage_local_norm(
        _xp._unmasked_to_device("x", x), size, as_flag("center", center), as_float("stretch", stretch),
        as_float("threshold", threshold),
    )  # fmt: skip
