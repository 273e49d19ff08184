"""Image filters on the device: correlation, convolution, and layers of vision models."""

from collections.abc import Sequence
from typing import Literal, SupportsFloat, SupportsIndex, TypeAlias

from numpy.typing import ArrayLike, DTypeLike

from rtcg.numpy import GPUArray

__all__ = [
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "filter_bank",
    "gaussian_filter",
    "gaussian_filter1d",
    "local_norm",
    "pool",
    "uniform_filter",
    "uniform_filter1d",
]

_Array: TypeAlias = GPUArray | ArrayLike
_Output: TypeAlias = GPUArray | DTypeLike | None
_Modes: TypeAlias = str | Sequence[str]
_Integers: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_Numbers: TypeAlias = SupportsFloat | Sequence[SupportsFloat]

def correlate(
    input: _Array,
    weights: _Array,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: _Integers = 0,
    *,
    axes: _Integers | None = None,
) -> GPUArray:
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

def convolve(
    input: _Array,
    weights: _Array,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: _Integers = 0,
    *,
    axes: _Integers | None = None,
) -> GPUArray:
    """`correlate` with reversed weights: same parameters, result and errors. See `scipy.ndimage.convolve`.

    Does not wait.
    """

def correlate1d(
    input: _Array,
    weights: _Array,
    axis: SupportsIndex = -1,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: SupportsIndex = 0,
) -> GPUArray:
    """`correlate` along one axis, with weights that have one axis: an array with the shape of `input`. Does not wait.

    See `scipy.ndimage.correlate1d`.
    """

def convolve1d(
    input: _Array,
    weights: _Array,
    axis: SupportsIndex = -1,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: SupportsIndex = 0,
) -> GPUArray:
    """`convolve` along one axis, with weights that have one axis: an array with the shape of `input`. Does not wait.

    See `scipy.ndimage.convolve1d`.
    """

def uniform_filter(
    input: _Array,
    size: _Integers = 3,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: _Integers = 0,
    *,
    axes: _Integers | None = None,
) -> GPUArray:
    """The mean over windows, one axis after the other. See `scipy.ndimage.uniform_filter`.

    `size`, `mode` and `origin` are one value per filtered axis, or one for all. Between axes, results are rounded to
    the dtype of the result, as in SciPy. Other parameters and errors are those of `correlate`.
    """

def uniform_filter1d(
    input: _Array,
    size: SupportsIndex,
    axis: SupportsIndex = -1,
    output: _Output = None,
    mode: _Modes = "reflect",
    cval: SupportsFloat = 0.0,
    origin: SupportsIndex = 0,
) -> GPUArray:
    """`uniform_filter` along one axis: an array with the shape of `input`. Does not wait.

    See `scipy.ndimage.uniform_filter1d`.
    """

def gaussian_filter(
    input: _Array,
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

def gaussian_filter1d(
    input: _Array,
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

def pool(
    x: _Array,
    size: _Integers,
    strides: _Integers | None = None,
    exponent: SupportsFloat | Literal["max"] = "max",
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

def local_norm(
    x: _Array,
    size: _Integers,
    *,
    center: bool = True,
    stretch: SupportsFloat = 1.0,
    threshold: SupportsFloat = 1.0,
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
