"""Statistics of arrays: order statistics, averages, covariances, histograms; part of `rtcg.numpy`.

Order statistics sort. Histograms sort and search, so that, except for weighted counts, they do not depend on the order
in which threads run. Everything stays on the device except the numbers that determine shapes.
"""

from typing import Any

from rtcg.numpy import GPUArray

__all__ = [
    "average",
    "bincount",
    "corrcoef",
    "cov",
    "digitize",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "median",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "quantile",
]

def average(a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = False) -> Any:
    """The mean of all elements or along `axis`, weighted by `weights` if given; does not wait.

    `a` is array-like; weights have its shape or that of the axes (`ValueError` for others, or `TypeError` for another
    shape without `axis`). Returns a new array, float64 for integers; with `returned`, a tuple of it and the sums of the
    weights. Weights whose sum is 0 give NaN or infinities, where NumPy raises `ZeroDivisionError`.
    """

def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> GPUArray:
    """How often each integer from 0 on occurs in `x`, or the sums of its weights: a new array with one axis.

    `x` is array-like with one axis of integers from 0 on (else `ValueError`, or `TypeError` for other dtypes). The
    result is int64, or float64 with `weights`, which have the shape of `x`; it has ``max(x) + 1`` elements, but at
    least `minlength`. Waits for the largest number. Counts by sorting, and sums weights by atomic additions, so that
    their rounding differs from call to call.
    """

def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> GPUArray:
    """The correlation coefficients of variables, between -1 and 1: a new matrix; does not wait.

    Variables and errors are those of `cov`, whose elements are divided by the standard deviations of both variables;
    NaN for constant variables.
    """

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

def digitize(x: Any, bins: Any, right: Any = False) -> GPUArray:
    """The indices of the bins that elements belong to: a new int64 array with the shape of `x`.

    `x` is array-like of real numbers (else `TypeError`); `bins` are array-like edges with one axis, ascending or
    descending, else raises `ValueError`. Index 0 means before the first edge. Bins are closed on the left, or on the
    right with `right`. Waits to check that the edges are in order. Uses binary searches.
    """

def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple[Any, ...]:
    """Counts of elements, or sums of weights, between edges: a tuple of two new arrays, counts and edges.

    `a` is array-like and is flattened. `bins` is a number of bins of equal width, ascending edges, or the name of an
    estimator ("auto", "fd", "rice", "scott", "sqrt", "sturges"; others raise `NotImplementedError`); `range` has the
    outer edges. Counts are int64, sums have the dtype of `weights`; with `density` they are divided by the bin widths
    and by their total. Raises `ValueError` for edges that do not ascend or are not finite. Waits for the smallest and
    the largest element unless edges or `range` are given, and for the order of edges on the device. Sorts the elements;
    weights are summed by atomic additions.
    """

def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, ...]:
    """Counts in two dimensions, float64, and the edges of both: a tuple of three new arrays.

    `x` and `y` are array-like with one axis and of equal length. `bins` is one number or array of edges for both, or
    one for each. Other parameters, errors and waiting are those of `histogramdd`.
    """

def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> GPUArray:
    """The edges that `histogram` would use: a new array with one more element than there are bins.

    Parameters and errors are those of `histogram`. Waits for the smallest and the largest element unless `bins` are
    edges or `range` is given.
    """

def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, ...]:
    """Counts in several dimensions, or sums of weights, as float64: a tuple of a new array and a list of the edges.

    `sample` is a device array of shape ``(n, d)``, or d arrays of n coordinates. `bins` and `range` are as in
    `histogram`, one for all dimensions or one for each (else `ValueError`). With `density` counts are divided by the
    volumes of the bins and by their total. Waits for the smallest and the largest coordinates unless edges or ranges
    are given.
    """

def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False) -> GPUArray:
    """The median of all elements or along `axis`: the middle one, or the mean of the two middle ones; does not wait.

    `a` is array-like; `axis` is None, an int or a tuple of int. The result, `out` or a new array, has the dtype of
    `mean`: float64 for integers. The median is NaN if any element is, or if there are none. `keepdims` keeps reduced
    axes with length 1; `overwrite_input` has no effect. Sorts the elements.
    """

def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False
) -> GPUArray:
    """The median, as by `median`, of the elements that are not NaN; NaN if there are none. Does not wait.

    Parameters, result and errors are those of `median`.
    """

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
