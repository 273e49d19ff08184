"""Reductions and scans that pass over NaN; part of `rtcg.numpy`.

Where a slice has nothing but NaN the result is NumPy's, without its warning, which would need the elements.
"""

import numpy as np

from rtcg import numpy as _xp

__all__ = [
    "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum",
    "nanvar",
]  # fmt: skip


def _counted(a, where):
    """The mask of the elements that count; None for all."""
    if a.dtype.kind not in "fcV":
        return where
    mask = ~_xp.isnan(a)
    return mask if where is None or where is True else mask & where


def _filled(a, value):
    return _xp.where(_xp.isnan(a), a.dtype.type(value), a) if a.dtype.kind in "fcV" else a


def _total(name):
    def function(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
        a = _xp._array(a)
        return getattr(_xp, name)(
            a, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=_counted(a, where)
        )

    function.__name__ = function.__qualname__ = f"nan{name}"
    function.__doc__ = f"`{name}` of the elements that are not NaN; does not wait."
    return function


nansum, nanprod = _total("sum"), _total("prod")


def _extreme(name, start):
    def function(a, axis=None, out=None, keepdims=False, initial=None, where=None):
        a = _xp._array(a)
        reduce = getattr(_xp, name)
        if a.dtype.kind not in "fcV":
            return reduce(a, axis=axis, out=out, keepdims=keepdims, initial=initial, where=where)
        if np.prod([a.shape[k] for k in np.atleast_1d(range(a.ndim) if axis is None else axis)]) == 0:
            raise ValueError(f"zero-size array to reduction operation nan{name} which has no identity")
        mask = _counted(a, where)
        first = start if initial is None else initial
        result = reduce(a, axis=axis, keepdims=keepdims, initial=first, where=mask)
        if initial is None:
            result = _xp.where(mask.any(axis=axis, keepdims=keepdims), result, a.dtype.type(np.nan))
        return _xp._into(out, result)

    function.__name__ = function.__qualname__ = f"nan{name}"
    function.__doc__ = f"`{name}` of the elements that are not NaN, and NaN where there are none; does not wait."
    return function


nanmax, nanmin = _extreme("max", -np.inf), _extreme("min", np.inf)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None):
    """The mean of the elements that are not NaN; does not wait."""
    a = _xp._array(a)
    return _xp.mean(a, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=_counted(a, where))


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, correction=None):
    """The variance of the elements that are not NaN, NaN where there are too few; does not wait."""
    a = _xp._array(a)
    ddof = ddof if correction is None else correction
    mask = _counted(a, where)
    result = _xp.var(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=mask)
    if mask is not None:
        counts = mask.sum(axis=axis, keepdims=keepdims)
        result = _xp.where(counts > ddof, result, result.dtype.type(np.nan))
    return _xp._into(out, result)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, correction=None):
    """The standard deviation of the elements that are not NaN, NaN where there are too few; does not wait."""
    return _xp._into(out, _xp.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, where=where, correction=correction)))


def _arg_extreme(name, fill):
    def function(a, axis=None, out=None, *, keepdims=False):
        a = _xp._array(a)
        if a.dtype.kind in "fcV" and a.size and bool(_xp.isnan(a).all(axis=axis).any()):
            raise ValueError("All-NaN slice encountered")
        return getattr(_xp, name)(_filled(a, fill), axis=axis, out=out, keepdims=keepdims)

    function.__name__ = function.__qualname__ = f"nan{name}"
    function.__doc__ = f"`{name}` of the elements that are not NaN; waits to see that there are any."
    return function


nanargmax, nanargmin = _arg_extreme("argmax", -np.inf), _arg_extreme("argmin", np.inf)


def nancumsum(a, axis=None, dtype=None, out=None):
    """Running sums in which NaN counts as 0; does not wait."""
    return _xp.cumsum(_filled(_xp._array(a), 0), axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None):
    """Running products in which NaN counts as 1; does not wait."""
    return _xp.cumprod(_filled(_xp._array(a), 1), axis, dtype, out)
