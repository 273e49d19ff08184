"""Reductions and scans that ignore NaN; part of `rtcg.numpy`.

If a slice has nothing but NaN, the result is NumPy's, but without its warning, which would have to wait for the
elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._docstrings import wrap_paragraphs

if TYPE_CHECKING:
    from typing import Protocol

    from rtcg.numpy import GPUArray

    class _Reduction(Protocol):
        def __call__(
            self,
            a: Any,
            axis: Any = None,
            dtype: Any = None,
            out: Any = None,
            keepdims: Any = False,
            initial: Any = None,
            where: Any = None,
        ) -> GPUArray: ...

    class _Extremum(Protocol):
        def __call__(
            self,
            a: Any,
            axis: Any = None,
            out: Any = None,
            keepdims: Any = False,
            initial: Any = None,
            where: Any = None,
        ) -> GPUArray: ...

    class _ArgExtremum(Protocol):
        def __call__(self, a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> GPUArray: ...


__all__ = [
    "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum",
    "nanvar",
]  # fmt: skip


def _non_nan_mask(a: GPUArray, where: Any) -> Any:
    """The mask of the elements that count, or None if all do."""
    if a.dtype.kind not in "fcV":
        return where
    mask = ~_xp.isnan(a)
    return mask if where is None or where is True else mask & where


def _replace_nan(a: GPUArray, value: float) -> GPUArray:
    return _xp.where(_xp.isnan(a), a.dtype.type(value), a) if a.dtype.kind in "fcV" else a


def _make_nan_reduction(name: str, what: str, start: int) -> _Reduction:
    def nan_function(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> GPUArray:
        a = _xp._to_device(a)
        return getattr(_xp, name)(
            a, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=_non_nan_mask(a, where)
        )

    nan_function.__name__ = nan_function.__qualname__ = f"nan{name}"
    nan_function.__doc__ = wrap_paragraphs(f"""
The {what} of the elements that are not NaN, of all or along `axis`; does not wait.

`a` is array-like. The result, `out` or a new array, has the dtype of `{name}`; for no elements it is {start}.
Parameters and errors are those of `{name}`.
""")
    return nan_function


nansum, nanprod = _make_nan_reduction("sum", "sum", 0), _make_nan_reduction("prod", "product", 1)


def _make_nan_extremum(name: str, start: float) -> _Extremum:
    def nan_function(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
    ) -> GPUArray:
        a = _xp._to_device(a)
        reduce = getattr(_xp, name)
        if a.dtype.kind not in "fcV":
            return reduce(a, axis=axis, out=out, keepdims=keepdims, initial=initial, where=where)
        if np.prod([a.shape[k] for k in np.atleast_1d(range(a.ndim) if axis is None else axis)]) == 0:
            raise ValueError(f"zero-size array to reduction operation nan{name} which has no identity")
        mask = _non_nan_mask(a, where)
        first = start if initial is None else initial
        result = reduce(a, axis=axis, keepdims=keepdims, initial=first, where=mask)
        if initial is None:
            result = _xp.where(mask.any(axis=axis, keepdims=keepdims), result, a.dtype.type(np.nan))
        return _xp._convert_to_out(out, result)

    nan_function.__name__ = nan_function.__qualname__ = f"nan{name}"
    nan_function.__doc__ = wrap_paragraphs(f"""
The {name}imum of the elements that are not NaN, NaN where there are none; does not wait.

`a` is array-like. The result, `out` or a new array, has its dtype. Raises ValueError for axes without elements.
Parameters are those of `{name}`. NumPy warns of slices with nothing but NaN; there is no warning here, since it would
have to wait for the elements.
""")
    return nan_function


nanmax, nanmin = _make_nan_extremum("max", -np.inf), _make_nan_extremum("min", np.inf)


def _check_inexact(a: GPUArray, out: GPUArray | None) -> None:
    """Refuse an integer `out`, which cannot hold a mean of NaN."""
    if out is not None and a.dtype.kind in "fcV" and out.dtype.kind not in "fcV":
        raise TypeError(f"out is of dtype {out.dtype}; expected one of floats, as that of a, {a.dtype}")


def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None
) -> GPUArray:
    """The mean of the elements that are not NaN, of all or along `axis`; does not wait.

    `a` is array-like. The result, `out` or a new array, has the dtype of `mean`, and is NaN where there are no
    elements. Parameters and errors are those of `mean`.
    """
    a = _xp._to_device(a)
    _check_inexact(a, out)
    return _xp.mean(a, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=_non_nan_mask(a, where))


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
    a = _xp._to_device(a)
    ddof = ddof if correction is None else correction
    mask = _non_nan_mask(a, where)
    _check_inexact(a, out)
    result = _xp.var(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=mask)
    if mask is not None:
        counts = mask.sum(axis=axis, keepdims=keepdims)
        result = _xp.where(counts > ddof, result, result.dtype.type(np.nan))
    return _xp._convert_to_out(out, result)


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
    return _xp._copy_to_out(
        out, _xp.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, where=where, correction=correction))
    )


def _make_nan_arg_extremum(name: str, what: str, fill: float) -> _ArgExtremum:
    def nan_function(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> GPUArray:
        a = _xp._to_device(a)
        if a.dtype.kind in "fcV" and a.size and bool(_xp.isnan(a).all(axis=axis).any()):
            raise ValueError("All-NaN slice encountered")
        return getattr(_xp, name)(_replace_nan(a, fill), axis=axis, out=out, keepdims=keepdims)

    nan_function.__name__ = nan_function.__qualname__ = f"nan{name}"
    nan_function.__doc__ = wrap_paragraphs(f"""
The index of the first {what} element that is not NaN; waits to check that there is one.

`a` is array-like. The result, `out` or a new array of int64, has the remaining axes, if any; with `axis` None
it is an index into the flattened array. Raises ValueError if a slice has nothing but NaN.
""")
    return nan_function


nanargmax = _make_nan_arg_extremum("argmax", "largest", -np.inf)
nanargmin = _make_nan_arg_extremum("argmin", "smallest", np.inf)


def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
    """Cumulative sums in which NaN counts as 0; does not wait.

    Parameters, result, errors and algorithm are those of `cumsum`.
    """
    return _xp.cumsum(_replace_nan(_xp._to_device(a), 0), axis, dtype, out)


def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
    """Cumulative products in which NaN counts as 1; does not wait.

    Parameters, result, errors and algorithm are those of `cumprod`.
    """
    return _xp.cumprod(_replace_nan(_xp._to_device(a), 1), axis, dtype, out)
