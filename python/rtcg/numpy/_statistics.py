"""Statistics of arrays: order statistics, averages, covariances, histograms; part of `rtcg.numpy`.

Order statistics sort. Histograms sort and search, so that, except for weighted counts, they do not depend on the order
in which threads run. Everything stays on the device except the numbers that determine shapes.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._axes import normalize_axis as _normalize_axis
from rtcg._messages import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtcg.numpy import GPUArray

__all__ = [
    "average", "bincount", "corrcoef", "cov", "digitize", "histogram", "histogram2d", "histogram_bin_edges",
    "histogramdd", "median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile",
]  # fmt: skip


# -- order statistics ---------------------------------------------------------------------------------


def _normalize_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Unique axes, counted from 0."""
    given: Any = range(ndim) if axis is None else (axis,) if isinstance(axis, (int, np.integer)) else axis
    axes = tuple(_normalize_axis(each, ndim) for each in given)
    if len(set(axes)) < len(axes):
        raise ValueError("repeated axis")
    return axes


def _sorted_rows(a: GPUArray, axis: Any) -> tuple[GPUArray, tuple[int, ...]]:
    """The elements over `axis` sorted along one last axis, and the shape of the result with `keepdims`."""
    axes = _normalize_axes(axis, a.ndim)
    kept = [k for k in range(a.ndim) if k not in axes]
    shape = tuple(1 if k in axes else a.shape[k] for k in range(a.ndim))
    rows = a.transpose((*kept, *axes)).reshape(*(a.shape[k] for k in kept), int(np.prod([a.shape[k] for k in axes])))
    return _xp.sort(rows, -1), shape


def _propagate_nan(result: GPUArray, rows: GPUArray) -> GPUArray:
    """`result`, with NaN where a sorted row ends with one."""
    if rows.dtype.kind not in "fcV":
        return result
    return _xp.where(_xp.isnan(rows[..., -1]), rows[..., -1].astype(result.dtype), result)


def _apply_keepdims_and_out(
    result: GPUArray, shape: tuple[int, ...], keepdims: Any, out: Any, ahead: tuple[int, ...] = ()
) -> GPUArray:
    if keepdims:
        result = result.reshape(*ahead, *shape)
    return _xp._copy_to_out(out, result)


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False) -> GPUArray:
    """The median of all elements or along `axis`: the middle one, or the mean of the two middle ones; does not wait.

    `a` is array-like; `axis` is None, an int or a tuple of int. The result, `out` or a new array, has the dtype of
    `mean`: float64 for integers. The median is NaN if any element is, or if there are none. `keepdims` keeps reduced
    axes with length 1; `overwrite_input` has no effect. Sorts the elements.
    """
    rows, shape = _sorted_rows(_xp._to_device(a), axis)
    n = rows.shape[-1]
    middle = rows[..., builtins.max(n - 1, 0) // 2 : n // 2 + 1]
    result = _xp.mean(middle, axis=-1)
    result = _propagate_nan(result, rows) if n else result
    return _xp._convert_to_out(out, _apply_keepdims_and_out(result, shape, keepdims, None))


# The place of a quantile among n sorted elements, by Hyndman and Fan's parameters.
_CONTINUOUS_METHODS = {
    "interpolated_inverted_cdf": (0, 1), "hazen": (0.5, 0.5), "weibull": (0, 0), "linear": (1, 1),
    "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
}  # fmt: skip


def _discrete_position(index: Any, takes_lower: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """The element below `index` if `takes_lower` of its fraction and of itself, else the one above."""
    below = np.floor(index)
    return below + np.where(takes_lower(index - below, below), 0.0, 1.0), 0.0


def _quantile_position(method: str, n: Any, q: Any) -> tuple[Any, Any]:
    """The index of the element below a quantile and the weight of the one above, for a number or an array `n`."""
    if method in _CONTINUOUS_METHODS:
        alpha, beta = _CONTINUOUS_METHODS[method]
        index = (n - 1) * q if method == "linear" else n * q + (alpha + q * (1 - alpha - beta)) - 1
    elif method in ("lower", "higher", "nearest"):
        return {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}[method]((n - 1) * q), 0.0
    elif method == "midpoint":
        index = 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q))
    elif method == "inverted_cdf":
        return _discrete_position(n * q - 1, lambda fraction, _: fraction == 0)
    elif method == "closest_observation":
        return _discrete_position(n * q - 1 - 0.5, lambda fraction, below: (fraction == 0) & (below % 2 == 1))
    elif method == "averaged_inverted_cdf":
        index = n * q - 1
        fraction = index - np.floor(index)
        return np.floor(index), np.where(fraction == 0, 0.5, 1.0)
    else:
        raise ValueError(f"{shown(method)} is not a valid method")
    below = np.floor(index)
    return below, index - below


_EXACT_METHODS = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")


def _interpolate(low: GPUArray, high: GPUArray, weight: Any) -> GPUArray:
    """Linear interpolation between two elements, computed from the nearer one."""
    step = high - low
    near_high = weight >= 0.5
    if isinstance(weight, _xp.GPUArray):
        return _xp.where(near_high, high - step * (1 - weight), low + step * weight)
    return high - step * (1 - weight) if near_high else low + step * weight


def _quantile_of_rows(rows: GPUArray, q: Any, method: str, weak: bool) -> GPUArray:
    """One quantile of sorted, non-empty rows."""
    n = rows.shape[-1]
    # float16 counts too few elements.
    below, weight = (
        np.asarray(each) for each in _quantile_position(method, n, np.promote_types(q.dtype, "f4").type(q))
    )
    low = int(np.clip(below, 0, n - 1))
    if method in _EXACT_METHODS or (method == "linear" and q.dtype.kind in "iub"):
        return _propagate_nan(rows[..., low], rows)
    high = int(np.clip(below + 1, 0, n - 1))
    if below < 0 or below >= n - 1:
        low = high = 0 if below < 0 else n - 1
    part = float(weight) if weak else weight.astype(q.dtype if q.dtype.kind == "f" else np.float64)[()]
    return _propagate_nan(_interpolate(rows[..., low], rows[..., high], part), rows)


def _check_quantiles(a: GPUArray, q: Any, scale: int, name: str) -> tuple[np.ndarray[Any, Any], bool]:
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    weak = type(q) in (int, float)
    q = q.get() if isinstance(q, _xp.GPUArray) else q
    # Percents of floats are divided in their dtype, as NumPy does it.
    q = np.asarray(q if scale == 1 else np.true_divide(q, a.dtype.type(scale) if a.dtype.kind == "f" else scale))
    if not np.all((q >= 0) & (q <= 1)):
        raise ValueError(f"{name} must be in the range [0, {scale}]")
    return q, weak


def _quantiles(
    a: Any,
    q: Any,
    axis: Any,
    out: Any,
    method: str,
    keepdims: Any,
    weights: Any,
    scale: int,
    name: str,
    of_rows: Callable[..., GPUArray],
) -> GPUArray:
    if weights is not None:
        raise NotImplementedError(
            f"{name.lower()} with weights: cumulated weights of sorted rows are not searched here"
        )
    a = _xp._to_device(a)
    q, weak = _check_quantiles(a, q, scale, name)
    rows, shape = _sorted_rows(a, axis)
    if rows.shape[-1] == 0:
        raise IndexError("cannot take quantiles of no elements")
    each = [of_rows(rows, one, method, weak) for one in q.ravel()]
    if q.ndim == 0:
        return _apply_keepdims_and_out(each[0], shape, keepdims, out)
    kept = each[0].shape if each else rows.shape[:-1]
    result = _xp.stack(each) if each else _xp.empty((0, *kept), np.result_type(rows.dtype, np.float64))
    return _apply_keepdims_and_out(result.reshape(*q.shape, *kept), shape, keepdims, out, q.shape)


def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> GPUArray:
    """Quantiles of all elements or along `axis`; NaN if any element is NaN. Does not wait for `a`.

    `a` is array-like of real numbers (else `TypeError`); `q`, a number or an array in [0, 1] (else `ValueError`), is
    copied to the host. `method` is one of NumPy's thirteen; all but four are those of Hyndman and Fan (1996). The
    result, `out` or a new array, has the axes of `q` in front. Raises `IndexError` if there are no elements, and
    `NotImplementedError` for `weights`. Sorts once for all quantiles.
    """
    return _quantiles(a, q, axis, out, method, keepdims, weights, 1, "Quantiles", _quantile_of_rows)


def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> GPUArray:
    """Quantiles in percent: `quantile` with `q` in [0, 100]. Does not wait for `a`.

    Parameters, result and errors are otherwise those of `quantile`.
    """
    return _quantiles(a, q, axis, out, method, keepdims, weights, 100, "Percentiles", _quantile_of_rows)


def _elements_at_positions(rows: GPUArray, places: GPUArray, counts: GPUArray) -> GPUArray:
    """The element of each row at its position, limited to the elements that count."""
    places = _xp.maximum(_xp.minimum(places, counts - 1), 0).astype(np.int64)
    return _xp.take_along_axis(rows, places[..., None], -1)[..., 0]


def _nanquantile_of_rows(rows: GPUArray, q: Any, method: str, weak: bool) -> GPUArray:
    """One quantile of the elements of sorted rows that are not NaN."""
    if rows.dtype.kind not in "fV":
        return _quantile_of_rows(rows, q, method, weak)
    counts = (~_xp.isnan(rows)).sum(-1)
    below, weight = _quantile_position(method, counts.astype(np.float64), float(q))
    if method in _EXACT_METHODS:
        return _elements_at_positions(rows, below, counts)
    low, high = _elements_at_positions(rows, below, counts), _elements_at_positions(rows, below + 1, counts)
    return _interpolate(low, high, weight).astype(rows.dtype if weak else np.result_type(rows.dtype, np.float64))


def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> GPUArray:
    """Quantiles, as by `quantile`, of the elements that are not NaN; NaN if there are none. Does not wait for `a`.

    Parameters, result and errors are those of `quantile`.
    """
    return _quantiles(a, q, axis, out, method, keepdims, weights, 1, "Quantiles", _nanquantile_of_rows)


def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> GPUArray:
    """Quantiles in percent, as by `percentile`, of the elements that are not NaN; NaN if there are none.

    Parameters, result and errors are those of `percentile`. Does not wait for `a`.
    """
    return _quantiles(a, q, axis, out, method, keepdims, weights, 100, "Percentiles", _nanquantile_of_rows)


def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False
) -> GPUArray:
    """The median, as by `median`, of the elements that are not NaN; NaN if there are none. Does not wait.

    Parameters, result and errors are those of `median`.
    """
    a = _xp._to_device(a)
    if a.dtype.kind not in "fcV":
        return median(a, axis, out, overwrite_input, keepdims)
    rows, shape = _sorted_rows(a, axis)
    if rows.shape[-1] == 0:
        return _apply_keepdims_and_out(_xp.mean(rows, axis=-1), shape, keepdims, out)
    counts = (~_xp.isnan(rows)).sum(-1)
    middle = _xp.stack(
        [_elements_at_positions(rows, (counts - 1) // 2, counts), _elements_at_positions(rows, counts // 2, counts)]
    )
    return _apply_keepdims_and_out(_xp.mean(middle, axis=0), shape, keepdims, out)


# -- averages and covariances -------------------------------------------------------------------------


def average(a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = False) -> Any:
    """The mean of all elements or along `axis`, weighted by `weights` if given; does not wait.

    `a` is array-like; weights have its shape or that of the axes (`ValueError` for others, or `TypeError` for another
    shape without `axis`). Returns a new array, float64 for integers; with `returned`, a tuple of it and the sums of the
    weights. Weights whose sum is 0 give NaN or infinities, where NumPy raises `ZeroDivisionError`.
    """
    a = _xp._to_device(a)
    if weights is None:
        result = _xp.mean(a, axis=axis, keepdims=keepdims)
        total = _xp.full(result.shape, a.size / builtins.max(result.size, 1), result.dtype)
        return (result, total) if returned else result
    weights = _xp._to_device(weights)
    if weights.shape != a.shape:
        weights = _broadcast_weights(weights, a, axis)
    if a.dtype.kind in "iub":
        dtype = np.result_type(a.dtype, weights.dtype, np.float64)
    else:
        dtype = np.result_type(a.dtype, weights.dtype)
    total = _xp.sum(_xp.broadcast_to(weights, a.shape), axis=axis, dtype=dtype, keepdims=keepdims)
    result = _xp.sum(_xp.multiply(a, weights, dtype=dtype), axis=axis, keepdims=keepdims) / total
    return (result, total) if returned else result


def _broadcast_weights(weights: GPUArray, a: GPUArray, axis: Any) -> GPUArray:
    """Weights of one or several axes of `a`, broadcast to its number of axes."""
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = _normalize_axes(axis, a.ndim)
    if weights.shape != tuple(a.shape[k] for k in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    weights = weights.transpose(tuple(int(k) for k in np.argsort(axes)))
    return weights.reshape(*(a.shape[k] if k in axes else 1 for k in range(a.ndim)))


def cov(
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> GPUArray:
    """The covariance matrix of variables in rows (in columns if `rowvar` is false): a new array; does not wait.

    `m` and the additional variables `y` are array-like with at most two axes. The divisor is ``n - ddof``, where `ddof`
    is 1 by default and 0 with `bias`. `fweights` are integer counts of the observations and `aweights` their weights,
    one for each; raises `RuntimeError` for any other number. `dtype` is at least float64 by default. A single variable
    gives an array without axes. Raises `ValueError` for more than two axes or a `ddof` that is not an integer.
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    m = _xp._to_device(m)
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    given = [m] if y is None else [m, _xp._to_device(y)]
    if given[-1].ndim > 2:
        raise ValueError("y has more than 2 dimensions")
    dtype = np.result_type(*(each.dtype for each in given), np.float64) if dtype is None else np.dtype(dtype)
    parts = []
    for each in given:
        each = _xp.atleast_2d(each).astype(dtype)
        parts.append(each.T if not rowvar and each.shape[0] != 1 else each)
    x = parts[0] if y is None else _xp.concatenate(parts)
    if x.shape[0] == 0:
        return _xp.zeros((0, 0), dtype)
    w = _observation_weights(fweights, aweights, x.shape[1])
    ddof = (0 if bias else 1) if ddof is None else ddof
    centre, total = average(x, axis=1, weights=w, returned=True)
    # As NumPy, which computes these in place: `dtype` stays where weights are float64.
    x = _xp.subtract(x, centre[:, None], out=_xp.empty_like(x))
    products = x @ (x if w is None else (x * w).astype(dtype)).T.conj()
    factor = _covariance_divisor(x.shape[1], ddof, w, aweights, total)
    if isinstance(factor, _xp.GPUArray):
        return (products / factor).astype(dtype).squeeze()
    return (products * (1 / factor if factor else float("inf"))).squeeze()


def _observation_weights(fweights: Any, aweights: Any, n: int) -> GPUArray | None:
    """The product of the weights of `n` observations, or None if there are no weights."""
    w = None
    for name, each in (("fweights", fweights), ("aweights", aweights)):
        if each is None:
            continue
        each = _xp._to_device(each)
        if each.ndim > 1:
            raise RuntimeError(f"cannot handle multidimensional {name}")
        if each.shape[0] != n:
            raise RuntimeError(f"incompatible numbers of samples and {name}")
        if name == "fweights" and each.dtype.kind not in "iu":
            raise TypeError("fweights must be integer")
        w = each if w is None else w * each
    return None if w is None else w.astype(np.float64)


def _covariance_divisor(n: int, ddof: Any, w: GPUArray | None, aweights: Any, total: Any) -> Any:
    """The divisor of the sums of products."""
    if w is None:
        return builtins.max(n - ddof, 0)
    total = total[0]
    if ddof == 0:
        return total
    return total - ddof if aweights is None else total - ddof * (w * _xp._to_device(aweights)).sum() / total


def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> GPUArray:
    """The correlation coefficients of variables, between -1 and 1: a new matrix; does not wait.

    Variables and errors are those of `cov`, whose elements are divided by the standard deviations of both variables;
    NaN for constant variables.
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    deviation = _xp.sqrt(c.diagonal().real)
    c = c / deviation[:, None] / deviation[None, :]
    if c.dtype.kind != "c":
        return _xp.clip(c, -1, 1)
    parts = c.view(np.float32 if c.dtype == np.complex64 else np.float64)
    parts[...] = _xp.clip(parts, -1, 1)
    return c


# -- counting -----------------------------------------------------------------------------------------


def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> GPUArray:
    """How often each integer from 0 on occurs in `x`, or the sums of its weights: a new array with one axis.

    `x` is array-like with one axis of integers from 0 on (else `ValueError`, or `TypeError` for other dtypes). The
    result is int64, or float64 with `weights`, which have the shape of `x`; it has ``max(x) + 1`` elements, but at
    least `minlength`. Waits for the largest number. Bits are the same in every call.
    """
    x = _xp._to_device(x)
    if x.ndim != 1:
        raise ValueError(f"object of {x.ndim} axes, expected one")
    if x.dtype.kind not in "biu" and x.size:
        raise TypeError(f"Cannot cast array data from {shown(x.dtype)} to dtype('int64') according to the rule 'safe'")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    n = int(minlength)
    if x.size:
        low, high = _xp.stack([x.min(), x.max()]).get()
        if low < 0 or high > np.iinfo(np.int64).max:
            raise ValueError(f"x has the element {low if low < 0 else high}; expected numbers from 0 to 2**63 - 1")
        n = builtins.max(n, int(high) + 1)
        x = x.astype(np.int64) if x.dtype == np.uint64 else x
    x = x if x.dtype.kind in "iu" else x.astype(np.uint8)
    if weights is None:
        return _reduce_by_label(x, x, n, "count")
    weights = _xp._to_device(weights)
    if weights.shape != x.shape:
        raise ValueError("The weights and list don't have the same length.")
    return _reduce_by_label(weights.astype(np.float64), x, n, "sum")


def _reduce_by_label(values: GPUArray, labels: GPUArray, n: int, op: str) -> GPUArray:
    return _native.specialize_category_reduce(values, labels, n, op, None, None, None, False, True)


def digitize(x: Any, bins: Any, right: Any = False) -> GPUArray:
    """The indices of the bins that elements belong to: a new int64 array with the shape of `x`.

    `x` is array-like of real numbers (else `TypeError`); `bins` are array-like edges with one axis, ascending or
    descending, else raises `ValueError`. Index 0 means before the first edge. Bins are closed on the left, or on the
    right with `right`. Waits to check that the edges are in order. Uses binary searches.
    """
    x, bins = _xp._to_device(x), _xp._to_device(bins)
    if x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    if bins.ndim != 1:
        raise ValueError("bins must be one-dimensional")
    falls, rises = _xp.stack([(bins[1:] < bins[:-1]).any(), (bins[1:] > bins[:-1]).any()]).get()
    if rises and falls:
        raise ValueError("bins must be monotonically increasing or decreasing")
    # The same edges in ascending order: which bin an edge belongs to does not depend on the order they were given in.
    places = _xp.searchsorted(_xp.flip(bins) if falls else bins, x, side="left" if right else "right")
    return bins.size - places if falls else places


_BIN_WIDTH_ESTIMATORS = {
    "sqrt": lambda a, spread: spread / np.sqrt(a.size),
    "sturges": lambda a, spread: spread / (np.log2(a.size) + 1.0),
    "rice": lambda a, spread: spread / (2.0 * a.size ** (1.0 / 3)),
    "scott": lambda a, spread: (24.0 * np.pi**0.5 / a.size) ** (1.0 / 3.0) * float(a.std()),
    "fd": lambda a, spread: 2.0 * float(np.subtract(*percentile(a, [75, 25]).get())) * a.size ** (-1.0 / 3.0),
}


def _estimate_bin_width(a: GPUArray, name: str, spread: float) -> Any:
    """The bin width that an estimator chooses."""
    if name == "auto":
        sturges = _BIN_WIDTH_ESTIMATORS["sturges"](a, spread)
        fd = _BIN_WIDTH_ESTIMATORS["fd"](a, spread)
        # Half of the elements may be equal.
        return np.minimum(np.maximum(fd, _BIN_WIDTH_ESTIMATORS["sqrt"](a, spread) / 2), sturges)
    if name in ("doane", "stone"):
        raise NotImplementedError(f"bins={shown(name)}: this estimator is not there for arrays on a device")
    if name not in _BIN_WIDTH_ESTIMATORS:
        raise ValueError(f"{shown(name)} is not a valid estimator for `bins`")
    return _BIN_WIDTH_ESTIMATORS[name](a, spread)


def _outer_edges(a: GPUArray, range: Any) -> tuple[Any, Any]:  # noqa: A002
    if range is not None:
        low, high = range
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError(f"supplied range of [{low}, {high}] is not finite")
    elif a.size == 0:
        low, high = 0, 1
    else:
        low, high = _xp.stack([a.min(), a.max()]).get()
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError(f"autodetected range of [{low}, {high}] is not finite")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _bin_edges(a: GPUArray, bins: Any, range: Any, weights: Any) -> Any:  # noqa: A002
    """The edges of bins on the host, or on the device if they were given there."""
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
        low, high = _outer_edges(a, range)
        inside = a if range is None else a[(a >= low) & (a <= high)]
        width = _estimate_bin_width(inside, bins, float(high) - float(low)) if inside.size else 0
        if a.dtype.kind in "iu" and 0 < width < 1:
            width = 1
        bins = int(np.ceil((float(high) - float(low)) / width)) if width else 1
    elif np.ndim(bins) == 1:
        if not isinstance(bins, _xp.GPUArray):
            bins = np.asarray(bins)
        if (bins[:-1] > bins[1:]).any():
            raise ValueError("`bins` must increase monotonically, when an array")
        return bins
    elif np.ndim(bins) != 0:
        raise ValueError("`bins` must be 1d, when an array")
    else:
        try:
            bins = bins.__index__()
        except AttributeError:
            raise TypeError("`bins` must be an integer, a string, or an array") from None
        if bins < 1:
            raise ValueError("`bins` must be positive, when an integer")
        low, high = _outer_edges(a, range)
    dtype = np.result_type(low, high, a.dtype)
    return np.linspace(low, high, bins + 1, dtype=dtype if dtype.kind in "fc" else np.result_type(dtype, float))


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> GPUArray:  # noqa: A002
    """The edges that `histogram` would use: a new array with one more element than there are bins.

    Parameters and errors are those of `histogram`. Waits for the smallest and the largest element unless `bins` are
    edges or `range` is given.
    """
    return _xp.asarray(_bin_edges(_xp._to_device(a).ravel(), bins, range, weights))


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple[Any, ...]:  # noqa: A002
    """Counts of elements, or sums of weights, between edges: a tuple of two new arrays, counts and edges.

    `a` is array-like and is flattened. `bins` is a number of bins of equal width, ascending edges, or the name of an
    estimator ("auto", "fd", "rice", "scott", "sqrt", "sturges"; others raise `NotImplementedError`); `range` has the
    outer edges. Counts are int64, sums have the dtype of `weights`; with `density` they are divided by the bin widths
    and by their total. Raises `ValueError` for edges that do not ascend or are not finite. Waits for the smallest and
    the largest element unless edges or `range` are given, and for the order of edges on the device. Bits are the same
    in every call.
    """
    a = _xp._to_device(a).ravel()
    a = a.astype(np.uint8) if a.dtype.kind == "b" else a
    ends = _bin_edges(a, bins, range, weights)
    width = float(ends[-1] - ends[0]) if isinstance(bins, str) or np.ndim(bins) == 0 else 0.0
    edges = _xp.asarray(ends)
    bins_per_unit = (edges.size - 1) / width if width > 0 else 0.0
    counts = _sum_between_edges(a, edges, bins_per_unit, None if weights is None else _xp._to_device(weights).ravel())
    if density:
        return counts / _xp.diff(edges).astype(np.float64) / counts.sum(), edges
    return counts, edges


def _bin_indices(a: GPUArray, edges: GPUArray) -> GPUArray:
    """The bin of each element, counted from 1; 0 and the number of edges mean outside."""
    places = _xp.searchsorted(edges, a, side="right")
    return places - (a == edges[-1])


def _sum_between_edges(a: GPUArray, edges: GPUArray, bins_per_unit: float, weights: GPUArray | None) -> GPUArray:
    """Counts, or sums of weights in float64; the last bin includes its right edge."""
    if weights is not None and weights.shape != a.shape:
        raise ValueError("weights should have the same shape as a.")
    if edges.size < 2:
        return _xp.zeros(0, np.int64 if weights is None else weights.dtype)
    if weights is None:
        return _native.specialize_histogram(a, edges, bins_per_unit, None)
    if weights.dtype.kind == "c":
        parts = (part.astype(np.float64) for part in (weights.real, weights.imag))
        real, imag = (_native.specialize_histogram(a, edges, bins_per_unit, part) for part in parts)
        return (real + 1j * imag).astype(weights.dtype)
    return _native.specialize_histogram(a, edges, bins_per_unit, weights.astype(np.float64)).astype(weights.dtype)


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, ...]:  # noqa: A002
    """Counts in several dimensions, or sums of weights, as float64: a tuple of a new array and a list of the edges.

    `sample` is a device array of shape ``(n, d)``, or d arrays of n coordinates. `bins` and `range` are as in
    `histogram`, one for all dimensions or one for each (else `ValueError`). With `density` counts are divided by the
    volumes of the bins and by their total. Waits for the smallest and the largest coordinates unless edges or ranges
    are given.
    """
    columns = list(sample.T) if isinstance(sample, _xp.GPUArray) else [_xp._to_device(each) for each in sample]
    if isinstance(sample, _xp.GPUArray) and sample.ndim == 1:
        columns = [sample]
    count = len(columns)
    each_bins = list(bins) if hasattr(bins, "__len__") else [bins] * count
    if len(each_bins) != count:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    ranges = [None] * count if range is None else list(range)
    if len(ranges) != count:
        raise ValueError("range argument must have one entry per dimension")
    edges = [
        _xp.asarray(_bin_edges(x, one, limits, weights))
        for x, one, limits in zip(columns, each_bins, ranges, strict=True)
    ]
    place = _xp.zeros(columns[0].shape, np.int64)
    for x, edge in zip(columns, edges, strict=True):
        place = place * (edge.size + 1) + _bin_indices(x, edge)
    shape = tuple(edge.size + 1 for edge in edges)
    counts = bincount(place, weights, int(np.prod(shape))).astype(np.float64).reshape(shape)
    counts = counts[(slice(1, -1),) * count]
    if density:
        total = counts.sum()
        for axis, edge in enumerate(edges):
            counts = counts / _xp.diff(edge).reshape(*(-1 if k == axis else 1 for k in builtins.range(count)))
        counts = counts / total
    return counts, edges


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, ...]:  # noqa: A002
    """Counts in two dimensions, float64, and the edges of both: a tuple of three new arrays.

    `x` and `y` are array-like with one axis and of equal length. `bins` is one number or array of edges for both, or
    one for each. Other parameters, errors and waiting are those of `histogramdd`.
    """
    if hasattr(bins, "__len__") and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, *edges
