"""Reductions and scans that pass over NaN; part of `rtcg.numpy`.

Where a slice has nothing but NaN the result is NumPy's, without its warning, which would need the elements.
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
    """`argmax` of the elements that are not NaN; waits to see that there are any."""

def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> GPUArray:
    """`argmin` of the elements that are not NaN; waits to see that there are any."""

def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
    """Running products in which NaN counts as 1; does not wait."""

def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
    """Running sums in which NaN counts as 0; does not wait."""

def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
) -> GPUArray:
    """`max` of the elements that are not NaN, and NaN where there are none; does not wait."""

def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None
) -> GPUArray:
    """The mean of the elements that are not NaN; does not wait."""

def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
) -> GPUArray:
    """`min` of the elements that are not NaN, and NaN where there are none; does not wait."""

def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> GPUArray:
    """`prod` of the elements that are not NaN; does not wait."""

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
    """The standard deviation of the elements that are not NaN, NaN where there are too few; does not wait."""

def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> GPUArray:
    """`sum` of the elements that are not NaN; does not wait."""

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
    """The variance of the elements that are not NaN, NaN where there are too few; does not wait."""
