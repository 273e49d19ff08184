"""Convolution with kernels that may be separable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsFloat

import numpy as np

from rtcg import ndimage, numpy as _xp
from rtcg._conversions import as_float, shown

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import ArrayLike, NDArray

    from rtcg.numpy import GPUArray

    _Array: TypeAlias = GPUArray | ArrayLike

__all__ = ["convolve"]

_BORDERS = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap")
_EXTENTS = ("full", "same", "valid")
#: Products of one pass that take as long as those of several passes and the memory between them; estimated from the
#: bytes that passes move, not measured.
_PRODUCTS_OF_PASSES = 3
#: Rounding errors by which a product of vectors may differ from that of its lines: several times those of the test.
_MOST_ERRORS = 64


def convolve(image: _Array, kernel: _Array, mode: str = "reflect", cval: SupportsFloat = 0.0) -> GPUArray:
    """Convolve an image with a kernel, axis by axis if the kernel is a product of vectors. Does not wait.

    A kernel on the device is copied to the host first, which waits for it.

    Parameters
    ----------
    image : GPUArray or array-like
        Real or complex numbers, with one to three axes.
    kernel : array-like or GPUArray
        Weights, with as many axes as `image`.
    mode : str
        What lies beyond borders, as in `rtcg.ndimage`: the result then has the shape of `image`. Or, with zeros beyond
        borders, the extent of the result, as in `scipy.signal.convolve`: ``"full"``, ``"same"`` (around the middle of
        the full one; for kernels of odd lengths that is ``"constant"``) or ``"valid"`` (where the kernel fits).
    cval : float
        The value beyond borders in mode ``"constant"``.

    Returns
    -------
    GPUArray
        With an extent, of the dtype that `image` and `kernel` have together, as in `scipy.signal`: integers wrap, and
        are exact if sums of absolute products are below 2**53. With a mode of borders, of the dtype of `image`, as in
        `scipy.ndimage`, with fractions cut off for integers; if that is not complex but the kernel is, complex. Sums
        for integers and float64 are computed in float64, others in float32.

    Raises
    ------
    ValueError
        If numbers of axes differ or are above 3, the kernel is empty (or does not fit, in mode ``"valid"``), or `mode`
        is unknown.
    TypeError
        If elements are not numbers, or an array is masked.

    Notes
    -----
    A kernel is separable if it differs from the nearest product of vectors, which singular value decompositions give,
    by rounding errors of the computation. It is applied axis by axis if the image is of floats and that takes a third
    of the products at most, as for 7 x 7 or 5 x 5 x 5 weights. Results then differ by rounding.

    Examples
    --------
    >>> from rtcg.specialize import convolve
    >>> convolve([1.0, 2.0, 4.0], [1.0, 1.0], "full").get().tolist()
    [1.0, 3.0, 6.0, 4.0]
    """
    x = _xp._unmasked_to_device("image", image)
    if isinstance(kernel, np.ma.MaskedArray):
        raise TypeError("kernel is a masked array; expected one without a mask, such as kernel.filled(0)")
    weights = kernel.get() if isinstance(kernel, _xp.GPUArray) else np.asarray(kernel)
    if not 1 <= x.ndim <= 3:
        raise ValueError(f"image has shape {x.shape}; expected one to three axes")
    if weights.dtype.kind not in "biufc":
        raise TypeError(f"kernel is of dtype {weights.dtype}; expected numbers")
    if weights.ndim != x.ndim or weights.size == 0:
        raise ValueError(f"kernel has shape {weights.shape}; expected elements along {x.ndim} axes, as image")
    if mode not in _BORDERS + _EXTENTS:
        raise ValueError(f"mode is {shown(mode)}; expected one of {', '.join(map(repr, _BORDERS + _EXTENTS))}")
    border = as_float("cval", cval)
    if mode not in _EXTENTS:
        return _filtered(x, weights, mode, border)
    dtype = np.result_type(x.dtype, weights.dtype)
    if dtype.char in "gG":
        raise TypeError(f"kernel is of dtype {weights.dtype}; expected one that devices have, such as float64")
    if dtype.kind in "fc":
        return _extent(x.astype(dtype, copy=False), weights, mode, dtype)
    # Of integers in the widest dtype, because a conversion to a narrower integer wraps, one from a float does not.
    return _extent(x, weights, mode, np.dtype(np.uint64 if dtype == np.uint64 else np.int64)).astype(dtype, copy=False)


def _extent(x: GPUArray, weights: NDArray[Any], mode: str, dtype: np.dtype[Any]) -> GPUArray:
    """A part of the convolution with zeros beyond borders, of a dtype."""
    pairs = list(zip(x.shape, weights.shape, strict=True))
    if mode == "valid":
        if any(n < k for n, k in pairs):
            raise ValueError(f"kernel has shape {weights.shape}; expected at most {x.shape} in mode 'valid', as image")
        found = _filtered(x, weights, "constant", 0.0, dtype)
        return found[tuple(slice(k - 1 - k // 2, n - k // 2) for n, k in pairs)].copy()
    whole = _filtered(_xp.pad(x, [(k // 2, k - 1 - k // 2) for _, k in pairs]), weights, "constant", 0.0, dtype)
    if mode == "full":
        return whole
    return whole[tuple(slice((k - 1) // 2, (k - 1) // 2 + n) for n, k in pairs)].copy()


def _filtered(
    x: GPUArray, weights: NDArray[Any], mode: str, cval: float, dtype: np.dtype[Any] | None = None
) -> GPUArray:
    """The convolution, of the dtype of `x` unless one is given."""
    is_real = x.dtype.kind == "f" and weights.dtype.kind != "c"
    computed = np.dtype(np.float64 if x.dtype == np.float64 else np.float32)
    # Converted here, as they would be on the device.
    rounded = weights.astype(computed, copy=False) if is_real and dtype in (None, x.dtype) else weights
    is_long = weights.size >= _PRODUCTS_OF_PASSES * sum(weights.shape)
    if not is_real or not is_long or (mode == "constant" and cval != 0):
        return ndimage.convolve(x, rounded, dtype, mode=mode, cval=cval)
    factors = separate(weights, computed)
    if factors is None:
        return ndimage.convolve(x, rounded, dtype, mode=mode, cval=cval)
    found = x
    for axis, factor in enumerate(factors):
        output = x.dtype if axis == x.ndim - 1 else computed
        found = ndimage.convolve1d(found, factor, axis, output=output, mode=mode)
    return found


def separate(kernel: NDArray[Any], dtype: np.dtype[Any]) -> list[NDArray[Any]] | None:
    """Vectors whose outer product is a kernel up to rounding errors of a dtype, or None if there are none."""
    exact = np.asarray(kernel, np.float64)
    largest = np.abs(exact).max()
    if not np.isfinite(largest) or largest == 0:
        return None
    if not _is_nearly_product(exact / largest, _MOST_ERRORS * np.finfo(dtype).eps):
        return None
    factors = []
    product = np.ones(())
    for axis in range(exact.ndim):
        lines = np.moveaxis(exact / largest, axis, 0).reshape(exact.shape[axis], -1)
        vector = np.linalg.svd(lines, full_matrices=False)[0][:, 0]
        factors.append(vector)
        product = np.multiply.outer(product, vector)
    scale = (exact * product).sum()
    if np.abs(exact - scale * product).max() > 4 * np.finfo(dtype).eps * largest:
        return None
    factors[0] = factors[0] * scale
    return factors


def _is_nearly_product(kernel: NDArray[Any], tolerance: float) -> bool:
    """Whether weights, of which 1 is the largest, differ little from the product of the lines through the largest one.

    A product of vectors does; this takes less time than a decomposition.
    """
    at = np.unravel_index(np.abs(kernel).argmax(), kernel.shape)
    product = np.asarray(kernel[at])
    for axis in range(kernel.ndim):
        line = kernel[(*at[:axis], slice(None), *at[axis + 1 :])]
        product = np.multiply.outer(product, line / kernel[at])
    return bool(np.abs(product - kernel).max() <= tolerance)
