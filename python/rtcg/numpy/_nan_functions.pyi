"""Reductions and scans that ignore NaN; part of `rtcg.numpy`.

If a slice has nothing but NaN, the result is NumPy's, but without its warning, which would have to wait for the
elements.
"""

from typing import Any

from rtcg.numpy import GPUArray

__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]

def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> GPUArray:
    """The index of the first largest element that is not NaN; waits to check that there is one.

    `a` is array-like. The result, `out` or a new array of int64, has the remaining axes, if any; with `axis` None
    it is an index into the flattened array. Raises ValueError if a slice has nothing but NaN.
    """

def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> GPUArray:
    """The index of the first smallest element that is not NaN; waits to check that there is one.

    `a` is array-like. The result, `out` or a new array of int64, has the remaining axes, if any; with `axis` None
    it is an index into the flattened array. Raises ValueError if a slice has nothing but NaN.
    """

def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
    """Cumulative products in which NaN counts as 1; does not wait.

    Parameters, result, errors and algorithm are those of `cumprod`.
    """

def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
    """Cumulative sums in which NaN counts as 0; does not wait.

    Parameters, result, errors and algorithm are those of `cumsum`.
    """

def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
) -> GPUArray:
    """The maximum of the elements that are not NaN, NaN where there are none; does not wait.

    `a` is array-like. The result, `out` or a new array, has its dtype. Raises ValueError for axes without elements.
    Parameters are those of `max`. NumPy warns of slices with nothing but NaN; there is no warning here, since it
    would have to wait for the elements.
    """

def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None
) -> GPUArray:
    """The mean of the elements that are not NaN, of all or along `axis`; does not wait.

    `a` is array-like. The result, `out` or a new array, has the dtype of `mean`, and is NaN where there are no
    elements. Parameters and errors are those of `mean`.
    """

def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
) -> GPUArray:
    """The minimum of the elements that are not NaN, NaN where there are none; does not wait.

    `a` is array-like. The result, `out` or a new array, has its dtype. Raises ValueError for axes without elements.
    Parameters are those of `min`. NumPy warns of slices with nothing but NaN; there is no warning here, since it
    would have to wait for the elements.
    """

def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> GPUArray:
    """The product of the elements that are not NaN, of all or along `axis`; does not wait.

    `a` is array-like. The result, `out` or a new array, has the dtype of `prod`; for no elements it is 1.
    Parameters and errors are those of `prod`.
    """

def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = None,
    correction: Any = None,
) -> GPUArray:
    """The standard deviation of the elements that are not NaN, the square root of `nanvar`; does not wait.

    Parameters, result and errors are those of `nanvar`.
    """

def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> GPUArray:
    """The sum of the elements that are not NaN, of all or along `axis`; does not wait.

    `a` is array-like. The result, `out` or a new array, has the dtype of `sum`; for no elements it is 0. Parameters
    and errors are those of `sum`.
    """

def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = None,
    correction: Any = None,
) -> GPUArray:
    """The variance of the elements that are not NaN, with the divisor ``n - ddof``; does not wait.

    `a` is array-like; n counts the elements that are not NaN. The result, `out` or a new array, has the dtype of `var`,
    and is NaN where there are too few elements. `correction` is another name for `ddof`; other parameters and errors
    are those of `var`.
    """
